"""The words of the ledgers: measures of a cell, recorded columns, and functions.

A measure comes from `fairbandits.measures` or `fairbandits.theory`, and has one meaning for all
papers. Expressions can name these and coordinates, but nothing else.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fairbandits.audit.cells import Cell

#: Axes of all values.
AXES = "rta"
#: Measures of the library with another name in ledgers.
OF_THE_LIBRARY = {
    "group_regret": "reward_regret_pulls",
    "target_regret": "pseudo_regret",
    "target_violation": "violation",
    "unfairness": "total(lack)",
}


@dataclass(frozen=True)
class Measure:
    """A quantity of a cell, described in one line by `what`.

    `columns` are the recorded columns that it needs; `of` maps a cell to an array with `axes`, some
    of "rta" (replicate, time, arm) in this order; `unit` is one of
    `fairbandits.audit.expressions.UNITS`.
    """

    name: str
    what: str
    unit: str
    columns: tuple[str, ...]
    axes: str
    of: Callable[[Cell], Any]

    def __call__(self, cell: Cell) -> np.ndarray:
        """Return the cell's values with all three axes."""
        found = np.asarray(self.of(cell))
        return np.expand_dims(found, [k for k, axis in enumerate(AXES) if axis not in self.axes])


@dataclass(frozen=True)
class Function:
    """A function that expressions can call, described in one line by `what`.

    Its number of `arguments` is from the first to the second; `of` gets the scope before them if
    `in_cell`. It needs recorded `columns` besides those of its arguments. `varies` says that its
    value can differ between machines, as a time does, or the result of another library's solver.
    """

    name: str
    what: str
    of: Callable[..., Any]
    arguments: tuple[int, int]
    in_cell: bool = False
    columns: tuple[str, ...] = ()
    varies: bool = False


_MEASURES: dict[str, Measure] = {}
_FUNCTIONS: dict[str, Function] = {}


def measure(*columns: str, axes: str, unit: str = "") -> Callable[[Callable], Callable]:
    """Register a function of a cell as the measure of its name."""

    def register(of: Callable[[Cell], Any]) -> Callable[[Cell], Any]:
        _add(_MEASURES, Measure(of.__name__, _first_line(of), unit, columns, axes, of))
        return of

    return register


def recorded(unit: str = "", axes: str = AXES, **columns: str) -> None:
    """Register recorded columns as measures, name to description; `axes` "rt" has no arms."""
    for name, what in columns.items():

        def of(cell: Cell, name: str = name) -> np.ndarray:
            values = cell.column(name)
            return values if axes == AXES else values[:, :, 0]

        _add(_MEASURES, Measure(name, what, unit, (name,), axes, of))


def function(
    *, in_cell: bool = False, columns: tuple[str, ...] = (), varies: bool = False
) -> Callable[[Callable], Callable]:
    """Register a function that expressions can call; with `in_cell` it gets the scope first."""

    def register(of: Callable) -> Callable:
        given = list(inspect.signature(of).parameters.values())[int(in_cell) :]
        least = sum(
            one.default is one.empty and one.kind is not one.VAR_POSITIONAL for one in given
        )
        many = any(one.kind is one.VAR_POSITIONAL for one in given)
        name = of.__name__.rstrip("_")
        what = _first_line(of)
        arguments = (least, 99 if many else len(given))
        _add(_FUNCTIONS, Function(name, what, of, arguments, in_cell, columns, varies))
        return of

    return register


def _first_line(of: Callable) -> str:
    return (inspect.getdoc(of) or "").split("\n\n")[0].replace("\n", " ")


def _add(entries: dict[str, Any], one: Any) -> None:
    if one.name in _MEASURES or one.name in _FUNCTIONS:
        raise ValueError(f"there are two measures or functions {one.name!r}")
    entries[one.name] = one


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)


def measures() -> Mapping[str, Measure]:
    """Return all measures by name."""
    _load()
    return _MEASURES


def functions() -> Mapping[str, Function]:
    """Return all functions by name."""
    _load()
    return _FUNCTIONS
