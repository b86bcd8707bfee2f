"""Claims and their ledgers, the tests of claims, and what a test asks of which cells."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from pydantic import Field

from fairbandits.audit import measures
from fairbandits.audit.expressions import CELLS, called, names_in, parse
from fairbandits.settings.formulas import plain
from fairbandits.settings.records import Cells, ClaimBlock, Deviation, FamilyBlock, TestBlock

#: Coordinates of a case that no cell has.
OF_A_CASE = ("arm", "round")
#: Where a sentence pauses, outside of brackets.
PAUSE = re.compile(r"[,;:.](?= )(?![^\[(]*[\])])")


class Test(TestBlock):
    """One test of a claim: what it asks of which cells, complete with all margins and levels."""

    __test__ = False  # pytest looks for classes of this name

    name: str = ""
    rule: str = ""
    procedure: str
    version: int | None = None  # of the rule
    asks: dict[str, Any] = Field(default={})  # the data as the record states them

    @property
    def paired(self) -> bool:
        """Whether replicates of a cell and its companions belong together."""
        return self.settings.get("paired", True)

    @property
    def selections(self) -> list[Cells]:
        """The selections of the cells, of all their companions, and of the control and its own."""
        own = self.control.companions if self.control else {}
        found = [self.cells, *self.companions.values(), self.control, *own.values()]
        return [one for one in found if one]

    @cached_property
    def expressions(self) -> list[ast.expr]:
        """All expressions, but for those that select companions."""
        texts = [one.where for one in (self.cells, self.control) if one]
        if isinstance(self.reading, Mapping):
            texts += [rule for rule in self.reading.values() if isinstance(rule, str)]
        return [*self.judged, *(parse(text) for text in texts if text)]

    @cached_property
    def judged(self) -> list[ast.expr]:
        """Expressions of the values that are judged."""
        inputs = chain.from_iterable(map(self.texts, self.inputs))
        texts = [self.arms, self.rounds, self.keep, self.over, *inputs]
        return [parse(text) for text in texts if text]

    @property
    def _called(self) -> list[measures.Word]:
        return _functions(self.judged)

    @property
    def varies(self) -> bool:
        """Whether judged values can differ between machines (`measures.Word`)."""
        return any(one.varies for one in self._called)

    @property
    def reads_runs(self) -> bool:
        """Whether recorded columns are read, of cells or of companions."""
        return any(self.columns(name) for name in ("", *self.companions))

    @property
    def derives(self) -> bool:
        """Whether functions of a paper are called, beside those of plain arithmetic."""
        return any(not one.is_common for one in self._called)

    @property
    def is_given(self) -> bool:
        """Whether all is known without chance: nothing is read from runs, nothing is drawn."""
        return not self.reads_runs and not any("seed" in one.found for one in self._called)

    @property
    def is_algebra(self) -> bool:
        """Whether only numbers of the configuration are put together."""
        return self.cells is not None and self.is_given and not self.derives

    @property
    def is_joint(self) -> bool:
        """Whether inputs refer to all stacked cells together, instead of being points of each."""
        return any(CELLS in called(one) for one in self.judged)

    @property
    def is_bound(self) -> bool:
        """Whether what means are put against has no replicates: numbers, and facts of a cell."""
        expressions = [*map(parse, self.texts("against"))]
        return not _columns(expressions, [name for one in expressions for name, _ in names_in(one)])

    @property
    def is_pooled(self) -> bool:
        """Whether a case has all its cells, and all rounds, one after the other."""
        return self.procedure == "exact" and "printed" not in self.inputs

    @property
    def of_cells(self) -> list[str]:
        """The coordinates of `each` that are cells' own."""
        return [name for name, values in self.each.items() if not (values or name in OF_A_CASE)]

    @property
    def is_exact(self) -> bool:
        """Whether neither chance nor rounding can decide: no run is read, and nothing is drawn."""
        exact = self.procedure == "exact" and not self.settings["tolerance"]
        return self.is_given and (exact or not self.derives)

    def texts(self, name: str) -> list[str]:
        """Return the expressions of an input; a printed number, taken with its digits, is none."""
        if name == "printed" and self.procedure == "exact":
            return []
        return [one for one in listed(self.inputs.get(name, 0)) if isinstance(one, str)]

    def columns(self, companion: str = "") -> list[str]:
        """Return the recorded columns that cells, or companions of this name, need."""
        names = [name for one in self.expressions for name, of in names_in(one) if of == companion]
        if companion and self.companions[companion].where:
            names += [name for name, _ in names_in(parse(self.companions[companion].where))]
        return _columns(self.expressions, names)

    @property
    def experiments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for one in self.selections for name in one.experiments))

    def under(self, readings: Sequence[str]) -> list[str]:
        """Return the claim's readings that the test asks about: all, unless it names some."""
        own = self.reading
        return [one for one in readings if not isinstance(own, Mapping) or one in own]


class Claim(ClaimBlock):
    """A record with its tests, each complete, and the experiments and suites that they read."""

    id: str
    paper: str
    tests: tuple[Test, ...] = ()
    experiments: tuple[str, ...] = ()

    @property
    def varies(self) -> bool:
        """Whether its number can differ between machines; then no committed table has it."""
        return any(test.varies for test in self.tests)

    @property
    def bases(self) -> tuple[str, ...]:
        """Claims that this one, if it is the paper's, rests on, is judged by, or is an alias of."""
        if self.kind == "inconsistency":
            return tuple(self.rests_on)
        named = (*self.rests_on, *self.judged_by, *filter(None, [self.alias_of]))
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True)
class Ledger:
    """The ledger of one paper."""

    paper: str
    title: str
    readings: Mapping[str, str]
    families: Mapping[str, FamilyBlock]
    claims: Mapping[str, Claim] = field(default_factory=dict)
    digest: str = ""  # hash of all that decides its verdicts
    changes: Sequence[Deviation] = ()  # of its rules, data or code; they decide nothing
    #: experiment or suite -> policy -> its name in figures
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()  # datasets that no change of a rule draws anew

    @property
    def short_title(self) -> str:
        return self.title.partition(":")[0]

    def test(self, claim: str, name: str) -> Test | None:
        tests = self.claims[claim].tests if claim in self.claims else ()
        return next((test for test in tests if test.name == name), None)

    def reading(self, name: str) -> str:
        """Return a reading's description up to the first pause.

        All of it is returned if others begin so, or if it begins with a mere condition.
        """
        texts = {key: plain(" ".join(said.split())) for key, said in self.readings.items()}
        short = {key: PAUSE.split(said, maxsplit=1)[0].rstrip(".") for key, said in texts.items()}
        alike = list(short.values()).count(short.get(name)) > 1
        if alike or short.get(name, "").startswith("With "):
            return texts[name].rstrip(".")
        return short.get(name, name)


#: The ledgers of several papers, by paper.
Ledgers = Mapping[str, Ledger]


def _functions(expressions: Iterable[ast.expr]) -> list[measures.Word]:
    known = measures.functions()
    return [known[name] for one in expressions for name in called(one) if name != CELLS]


def _columns(expressions: Iterable[ast.expr], names: Iterable[str]) -> list[str]:
    """Return the recorded columns behind names, and behind the functions that are called."""
    known = measures.measures()
    found = [known[name] for name in names if name in known]
    found += _functions(expressions)
    return sorted({column for one in found for column in one.columns})


def listed(value: Any) -> list[Any]:
    """Return a list or tuple as a list, and anything else as the one entry of a list."""
    return list(value) if isinstance(value, list | tuple) else [value]
