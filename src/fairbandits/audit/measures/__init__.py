"""The words of the ledgers: measures of a cell, recorded columns, and functions.

A word is a Python function whose arguments are found by their names: in the cell, among the other
words, or in the expression that calls it. A measure comes from `fairbandits.measures` or
`fairbandits.theory`, and has one meaning for all papers. Expressions can name these and
coordinates, but nothing else.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from fairbandits.audit.cells import Cell
from fairbandits.audit.expressions import UNITS
from fairbandits.data.dictionary import RECORDED
from fairbandits.settings.schemas import paper_file, read_yaml

#: Axes of all values: replicate, time, arm.
AXES = "rta"
#: Measures of the library with another name in ledgers.
OF_THE_LIBRARY = {
    "group_regret": "reward_regret_pulls",
    "target_regret": "pseudo_regret",
    "target_violation": "violation",
    "unfairness": "total(lack)",
}
#: Recorded columns that are no words: those that identify a row, and what `mu` and `quota` tell.
NOT_WORDS = ("run", "policy", "law", "replicate", "round", "arm", "horizon", "mean", "quota")
#: Recorded columns that are taken once, not for each arm.
ONCE = ("surrogate_regret", "gain_norm")


@dataclass(frozen=True)
class Measure:
    """A quantity of a cell, described in one line by `what`.

    `of` gives its values, with `axes`, some of `AXES` in this order; None for what only other words
    use. Its arguments are those of `found`: a name, or a constant that is no text. It reads the
    `own` columns besides those of its arguments. `unit` is one of
    `fairbandits.audit.expressions.UNITS`.
    """

    name: str
    what: str
    unit: str
    axes: str | None
    of: Callable[..., Any]
    found: Mapping[str, Any] = field(default_factory=dict)
    own: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Recorded columns that it needs."""
        return tuple(dict.fromkeys((*columns_of(self.found.values()), *self.own)))

    def value(self, cell: Cell) -> Any:
        """Return the cell's value as other words take it."""
        return self.of(
            **{
                name: value_of(cell, given) if isinstance(given, str) else given
                for name, given in self.found.items()
            }
        )

    def __call__(self, cell: Cell) -> np.ndarray:
        """Return the cell's values with all three axes."""
        return with_axes(self.value(cell), self.axes)


@dataclass(frozen=True)
class Function:
    """A function that expressions can call, described in one line by `what`.

    It takes a number of `arguments` from the first to the second, and those of its parameters that
    are `found` in the case. `varies` says that its value can differ between machines, as a time
    does, or the result of another library's solver.
    """

    name: str
    what: str
    of: Callable[..., Any]
    arguments: tuple[int, int]
    found: tuple[str, ...] = ()
    axes: str | None = None
    varies: bool = False

    @property
    def is_common(self) -> bool:
        """Whether it is plain arithmetic, of no paper."""
        return self.of.__module__ == f"{__name__}.common"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Recorded columns that it needs besides those of its arguments."""
        return columns_of(one for one in self.found if one not in OF_CASE)

    def __call__(self, scope: Any, arguments: list[Any]) -> Any:
        """Return the value in a case (`fairbandits.audit.cases.CaseScope`)."""
        found = {
            name: OF_CASE[name](scope) if name in OF_CASE else value_of(scope.cell, name)
            for name in self.found
        }
        value = self.of(*arguments, **found)
        return value if self.axes is None else with_axes(value, self.axes)


@cache
def _read_off(paper: str) -> Mapping[str, Any]:
    return read_yaml(paper_file(paper, "published"))


#: What functions find in a case, rather than in its cell.
OF_CASE: dict[str, Callable[[Any], Any]] = {
    "scope": lambda scope: scope,
    "seed": lambda scope: scope.evidence.seed,
    "read_off": lambda scope: _read_off(scope.evidence.paper),
}
_MEASURES: dict[str, Measure] = {}
_FUNCTIONS: dict[str, Function] = {}


def value_of(cell: Cell, name: str) -> Any:
    """Return a cell's value of a name, with the axes that it has by itself."""
    if name == "cell":
        return cell
    return _MEASURES[name].value(cell) if name in _MEASURES else cell.column(name)


def with_axes(values: Any, axes: str) -> np.ndarray:
    """Return values that have some of the axes with all of them."""
    return np.expand_dims(values, [k for k, axis in enumerate(AXES) if axis not in axes])


def columns_of(names: Any) -> tuple[str, ...]:
    """Return the recorded columns that values of these names need."""
    found: dict[str, None] = {}
    for name in names:
        if name in _MEASURES:
            found |= dict.fromkeys(_MEASURES[name].columns)
        elif isinstance(name, str) and name != "cell":
            found[name] = None
    return tuple(found)


def measure_of(
    of: Callable[..., Any],
    axes: str | None,
    unit: str = "",
    *,
    name: str = "",
    what: str = "",
    columns: tuple[str, ...] = (),
    **given: Any,
) -> None:
    """Register a function as a measure, of its own name and first line unless others are given.

    Its parameters are found in the cell by their names, or by those that are `given` for them.
    """
    name, what = name or of.__name__, what or _first_line(of)
    parameters = inspect.signature(of).parameters.values()
    found = {one.name: one.name for one in parameters if one.default is one.empty} | given
    _add(_MEASURES, Measure(name, what, unit, axes, of, found, columns))


def measure(
    axes: str | None, unit: str = "", *columns: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the measure of its name; without axes only other words use it."""

    def register(of: Callable[..., Any]) -> Callable[..., Any]:
        measure_of(of, axes, unit, columns=columns)
        return of

    return register


def parts_of(value: str, axes: str, unit: str, **parts: tuple[Any, str]) -> None:
    """Register parts of another value as measures, each with its index and what it is."""
    for name, (place, what) in parts.items():

        def part(value: Any, place: Any = place) -> Any:
            return value[place]

        measure_of(part, axes, unit, name=name, what=what, value=value)


def function_of(
    of: Callable[..., Any],
    what: str = "",
    name: str = "",
    axes: str | None = None,
    varies: bool = False,
) -> None:
    """Register a function that expressions can call; keyword-only parameters are found by name."""
    parameters = inspect.signature(of).parameters.values()
    given = [one for one in parameters if one.kind is not one.KEYWORD_ONLY]
    found = tuple(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)
    many = any(one.kind is one.VAR_POSITIONAL for one in given)
    least = sum(one.default is one.empty for one in given) - many
    name, what = name or of.__name__.rstrip("_"), what or _first_line(of)
    most = 99 if many else len(given)
    _add(_FUNCTIONS, Function(name, what, of, (least, most), found, axes, varies))


def function(axes: str | None = None, *, varies: bool = False) -> Callable[[Callable], Callable]:
    """Register a function that expressions can call, whose value has some of the axes, or all."""

    def register(of: Callable) -> Callable:
        function_of(of, axes=axes, varies=varies)
        return of

    return register


def _first_line(of: Callable) -> str:
    """Return what a function gives: the first lines of its documentation, without shapes."""
    said = (inspect.getdoc(of) or "").split("\n\n")[0].replace("\n", " ")
    said = re.sub(r", shape \([^)]*\)", "", said).removeprefix("Return ")
    word = said.split(" ")[0]
    return said[:1].upper() + said[1:] if len(word) > 1 and word.isalpha() else said


def _add(entries: dict[str, Any], one: Any) -> None:
    if one.name in _MEASURES or one.name in _FUNCTIONS:
        raise ValueError(f"there are two measures or functions {one.name!r}")
    entries[one.name] = one


@cache
def _load() -> None:
    for name in RECORDED:
        if name not in NOT_WORDS:
            _recorded(name)
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)


def _recorded(name: str) -> None:
    """Register a recorded column as the measure of its name."""

    def of(cell: Cell) -> np.ndarray:
        return cell.column(name)[:, :, 0] if name in ONCE else cell.column(name)

    column = RECORDED[name]
    unit = column.unit.partition(" (")[0]
    axes, unit = "rt" if name in ONCE else AXES, unit if unit in UNITS else ""
    measure_of(of, axes, unit, name=name, what=column.meaning, columns=(name,))


@cache
def measures() -> Mapping[str, Measure]:
    """Return all measures by name."""
    _load()
    return {name: one for name, one in _MEASURES.items() if one.axes is not None}


def functions() -> Mapping[str, Function]:
    """Return all functions by name."""
    _load()
    return _FUNCTIONS
