"""The words of the ledgers: measures of a cell, recorded columns, and functions.

A word is a Python function whose arguments are found by their names: among the other words, in the
cell, or in the expression that calls it.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from fairbandits.audit.cells import Cell
from fairbandits.audit.expressions import UNITS, Vocabulary
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


_published = cache(lambda paper: read_yaml(paper_file(paper, "published")))
#: What functions find in a case, rather than in its cell.
OF_CASE: dict[str, Callable[[Any], Any]] = {
    "scope": lambda scope: scope,
    "seed": lambda scope: scope.evidence.seed,
    "read_off": lambda scope: _published(scope.evidence.paper),
}


@dataclass(frozen=True)
class Word:
    """A measure of a cell or a function of values, described in one line by `what`."""

    name: str
    what: str
    of: Callable[..., Any]
    axes: str | None  # of its value, some of `AXES`
    found: Mapping[str, Any]  # parameter -> the name by which it is found, or a constant
    unit: str = ""
    own: tuple[str, ...] = ()  # columns that are read besides
    arguments: tuple[int, int] = (0, 0)  # of a function: least and largest number
    varies: bool = False  # between machines, as what another library's solver gives

    @property
    def is_common(self) -> bool:
        """Whether it is plain arithmetic, of no paper."""
        return self.of.__module__ == f"{__name__}.common"

    @cached_property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return list(inspect.signature(self.of).parameters)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Recorded columns that it needs, besides those of a function's arguments."""
        names = (one for one in self.found.values() if one not in OF_CASE)
        return tuple(dict.fromkeys((*_columns_of(names), *self.own)))

    def value(self, cell: Cell) -> Any:
        """Return a measure of a cell, as other words take it."""
        given = self.found.items()
        return self.of(
            **{name: _value_of(cell, one) if isinstance(one, str) else one for name, one in given}
        )

    def measured(self, cell: Cell) -> np.ndarray:
        """Return a measure of a cell with all three axes, computed once for all questions."""
        if self.name not in cell.measured:
            values = with_axes(self.value(cell), self.axes)
            values.flags.writeable = False
            cell.measured[self.name] = values
        return cell.measured[self.name]

    def called(self, scope: Any, arguments: list[Any]) -> Any:
        """Return a function's value in a case (`fairbandits.audit.cases.CaseScope`)."""
        found = {
            name: OF_CASE[name](scope) if name in OF_CASE else _value_of(scope.cell, name)
            for name in self.found
        }
        value = self.of(*arguments, **found)
        return value if self.axes is None else with_axes(value, self.axes)


_MEASURES: dict[str, Word] = {}
_FUNCTIONS: dict[str, Word] = {}


def _value_of(cell: Cell, name: str) -> Any:
    if name in _MEASURES:
        return _MEASURES[name].value(cell)
    if name == "cell":
        return cell
    return getattr(cell, name) if hasattr(Cell, name) else cell.column(name)


def _columns_of(names: Iterable[Any]) -> Iterable[str]:
    """Yield the recorded columns that values of these names need."""
    for name in names:
        if name in _MEASURES:
            yield from _MEASURES[name].columns
        elif isinstance(name, str) and name != "cell" and not hasattr(Cell, name):
            yield name


def with_axes(values: Any, axes: str) -> np.ndarray:
    """Return values that have some of the axes with all of them."""
    return np.expand_dims(values, [k for k, axis in enumerate(AXES) if axis not in axes])


def measure(
    axes: str | None, unit: str = "", *own: str, name: str = "", what: str = "", **given: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a measure, whose parameters are found by name, or as `given`."""

    def register(of: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(of).parameters.values()
        found = {one.name: one.name for one in parameters if one.default is one.empty} | given
        _add(_MEASURES, name or of.__name__, what, of, axes, found, unit=unit, own=own)
        return of

    return register


def function(
    axes: str | None = None, *, name: str = "", what: str = "", varies: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for expressions, whose keyword-only parameters are found by name."""

    def register(of: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(of).parameters.values()
        given = [one for one in parameters if one.kind is not one.KEYWORD_ONLY]
        found = {one.name: one.name for one in parameters if one.kind is one.KEYWORD_ONLY}
        many = any(one.kind is one.VAR_POSITIONAL for one in given)
        least = sum(one.default is one.empty for one in given) - many
        of_word = {"arguments": (least, 99 if many else len(given)), "varies": varies}
        _add(_FUNCTIONS, name or of.__name__.rstrip("_"), what, of, axes, found, **of_word)
        return of

    return register


def _add(words: dict[str, Word], name: str, what: str, of: Callable, *rest: Any, **more: Any):
    if name in _MEASURES or name in _FUNCTIONS:
        raise ValueError(f"there are two measures or functions {name!r}")
    words[name] = Word(name, what or _first_line(of), of, *rest, **more)


def _first_line(of: Callable) -> str:
    said = (inspect.getdoc(of) or "").split("\n\n")[0].replace("\n", " ")
    said = re.sub(r", shape \([^)]*\)", "", said).removeprefix("Return ")
    word = said.split(" ")[0]
    return said[:1].upper() + said[1:] if len(word) > 1 and word.isalpha() else said


@cache
def _load() -> None:
    for name, column in RECORDED.items():
        if name not in NOT_WORDS:
            unit, own = column.unit.partition(" (")[0], {"name": name, "what": column.meaning}
            given = unit if unit in UNITS else "", name
            if name in ONCE:
                measure("rt", *given, **own)(lambda cell, name=name: cell.column(name)[:, :, 0])
            else:
                measure(AXES, *given, **own)(lambda cell, name=name: cell.column(name))
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)


@cache
def measures() -> Mapping[str, Word]:
    _load()
    return {name: one for name, one in _MEASURES.items() if one.axes is not None}


def functions() -> Mapping[str, Word]:
    _load()
    return _FUNCTIONS


def vocabulary(names: Iterable[str], companions: Collection[str]) -> Vocabulary:
    """Return all measures and functions, and other names and companions that there are."""
    units = {name: one.unit for name, one in measures().items()}
    arguments = {name: one.arguments for name, one in functions().items()}
    others = dict.fromkeys(names, "") | dict.fromkeys(("T", "round"), "rounds")
    return Vocabulary(others | units, arguments, companions, OF_THE_LIBRARY)
