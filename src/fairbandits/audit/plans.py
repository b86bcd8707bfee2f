"""The plan of a test, from its record: cells, repetitions, inputs.

The ledger makes plans and checks every name and unit in them; `fairbandits.audit.cases` asks them
of recorded runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fairbandits.audit import measures
from fairbandits.audit.cells import COORDINATES
from fairbandits.audit.expressions import (
    CELLS,
    Expression,
    ExpressionError,
    parse,
    same_unit,
    unknown,
)

#: Inputs taken from the ledger as they are: text with its digits, and lists of numbers.
LITERAL = ("contrasts",)
#: Data parameters that must have the same unit.
LIKE = (
    ("sample", "limit"),
    ("samples", "limits"),
    ("one", "other"),
    ("larger", "smaller"),
    ("wider", "narrower"),
    ("sample", "printed"),
)


@dataclass(frozen=True)
class Selection:
    """Cells of some experiments or suites, selected by coordinates.

    `wanted` has a value, or a list of values, for each coordinate; ``arm`` selects one of their
    arms. `where` is an expression that has to hold, if not empty. `match` lists the coordinates
    that a companion shares with its cell; by default those that the test is repeated for.
    """

    experiments: tuple[str, ...] = ()
    wanted: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""
    match: tuple[str, ...] | None = None

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> "Selection":
        """Return the selection of a block of the ledger."""
        own = ("experiments", "where", "match")
        match = block.get("match")
        return cls(
            tuple(block.get("experiments", ())),
            {name: value for name, value in block.items() if name not in own},
            block.get("where", ""),
            None if match is None else tuple(match),
        )


@dataclass(frozen=True)
class Plan:
    """A test's question, from its record.

    Attributes
    ----------
    cells : Selection, optional
        None for a test that reads no recorded run.
    companions : mapping of str to Selection
        Companion cells by the name used in expressions.
    each : mapping of str
        Coordinates that the test is repeated for; with their values where no cell has them.
    over : str
        An expression, mostly a coordinate, by whose value cells are stacked as points, or empty.
    arms, rounds, keep : str
        Expressions: the arms and rounds that it is repeated for, and the replicates that count.
    reading : str, sequence of str, or mapping of str
        Coordinates that name the reading, or an expression for each reading; empty if the cells
        belong to all of them.
    inputs : mapping of str
        Data parameter of the procedure -> number, expression, or list of these.
    procedure : str
        Name of the procedure that judges the inputs.
    paired : bool
        Whether replicates of a cell and its companions belong together.
    """

    cells: Selection | None
    inputs: Mapping[str, Any]
    procedure: str
    companions: Mapping[str, Selection] = field(default_factory=dict)
    each: Mapping[str, Sequence] = field(default_factory=dict)
    over: str = ""
    arms: str = ""
    rounds: str = ""
    keep: str = ""
    reading: Any = ""
    paired: bool = True

    @cached_property
    def expressions(self) -> list[Expression]:
        """All expressions, but for those that select companions."""
        texts = [self.cells.where] if self.cells else []
        if isinstance(self.reading, Mapping):
            texts += [one for one in self.reading.values() if isinstance(one, str)]
        return [*self.judged, *(parse(text) for text in texts if text)]

    @cached_property
    def judged(self) -> list[Expression]:
        """Expressions of the values that are judged."""
        texts = [self.arms, self.rounds, self.keep, self.over]
        for name, value in self.inputs.items():
            texts += texts_of(self.procedure, name, value)
        return [parse(text) for text in texts if text]

    @property
    def varies(self) -> bool:
        """Whether judged values can differ between machines (`measures.Function`)."""
        known = measures.functions()
        return any(known[name].varies for one in self.judged for name in one.calls())

    @property
    def is_joint(self) -> bool:
        """Whether inputs refer to all stacked cells together, instead of being points of each."""
        return any(one.is_joint for one in self.judged)

    def columns(self, companion: str = "") -> list[str]:
        """Return the recorded columns that cells, or companions of this name, need."""
        known, called = measures.measures(), measures.functions()
        expressions = list(self.expressions)
        found = {
            column
            for one in expressions
            for name, place in one.names()
            if place == companion and name in known
            for column in known[name].columns
        }
        if companion and self.companions[companion].where:
            where = parse(self.companions[companion].where)
            names = [name for name, _ in where.names() if name in known]
            found |= {column for name in names for column in known[name].columns}
        for one in expressions:
            for name in one.calls():
                found |= set(called[name].columns)
        return sorted(found)

    @property
    def experiments(self) -> tuple[str, ...]:
        """All experiments and suites that are read."""
        own = self.cells.experiments if self.cells else ()
        of_companions = [one for with_ in self.companions.values() for one in with_.experiments]
        return tuple(dict.fromkeys((*own, *of_companions)))


def texts_of(procedure: str, name: str, value: Any) -> list[str]:
    """Return the expressions of an input; printed text is none."""
    if name in LITERAL or (name == "printed" and procedure == "printed_number"):
        return []
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str)]


@dataclass(frozen=True)
class Words:
    """Names that a test's expressions can use: see `fairbandits.audit.expressions.Vocabulary`."""

    parameters: frozenset[str]
    given: frozenset[str]
    companions: frozenset[str]

    def check_name(self, name: str) -> str:
        """Return the unit of a name, empty if it has none."""
        if name in measures.measures():
            return measures.measures()[name].unit
        known = {*COORDINATES, *self.parameters, *self.given}
        if name in known:
            return "rounds" if name in ("T", "round") else ""
        if name in measures.OF_THE_LIBRARY:
            raise ExpressionError(f"{name!r} is {measures.OF_THE_LIBRARY[name]!r} in a ledger")
        raise unknown("measure or coordinate", name, sorted({*measures.measures(), *known}))

    def check_call(self, name: str, n_arguments: int) -> None:
        """Raise ExpressionError unless the function exists."""
        found = measures.functions().get(name)
        if found is None:
            raise unknown("function", name, sorted(measures.functions()))
        least, most = found.arguments
        if not least <= n_arguments <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise ExpressionError(f"{name} takes {wanted} values, got {n_arguments}")

    def check_companion(self, name: str) -> None:
        """Raise ExpressionError unless the companion exists."""
        if name not in self.companions:
            raise unknown("companion", name, sorted(self.companions))


def check_plan(plan: Plan, parameters: Iterable[str]) -> None:
    """Check every name and unit of a plan; ExpressionError for the first that is wrong."""
    given = frozenset(name for name, values in plan.each.items() if values)
    words = Words(frozenset(parameters), given, frozenset(plan.companions))
    for selection in (*filter(None, [plan.cells]), *plan.companions.values()):
        for name in (*selection.wanted, *(selection.match or ())):
            words.check_name(name)
        if selection.where:
            parse(selection.where).check(words)
    for name in plan.each:
        words.check_name(name)
    if plan.is_joint and not plan.over:
        raise ExpressionError(f"{CELLS}(x) needs cells that are stacked: say `over` what")
    units: dict[str, str] = {}
    for one in plan.expressions:
        one.check(words)
    for name, given in plan.inputs.items():
        found = [parse(text).check(words) for text in texts_of(plan.procedure, name, given)]
        # several excesses are separate checks, and not compared
        units[name] = "" if name == "excess" else same_unit(found)
    for pair in LIKE:
        try:
            same_unit([units.get(name, "") for name in pair])
        except ExpressionError as error:
            raise ExpressionError(f"{' and '.join(pair)}: {error}") from None
