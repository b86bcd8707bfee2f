"""Claims, their tests, and the ledgers that hold them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairbandits.audit.plans import Plan
from fairbandits.settings.formulas import plain
from fairbandits.settings.records import FamilyBlock

#: Where a sentence pauses, outside of brackets.
PAUSE = re.compile(r"[,;:.](?= )(?![^\[(]*[\])])")


@dataclass(frozen=True)
class Test(Plan):
    """One test of a claim, complete with all margins and levels."""

    name: str = ""
    rule: str = ""
    version: int = 1  # of the rule
    settings: Mapping[str, Any] = field(default_factory=dict)
    asks: Mapping[str, Any] = field(default_factory=dict)  # the data as the record states them
    decides: bool = True
    meaning: str = ""  # of a test that does not decide: what it asks, in words
    uncontrolled: str = ""  # why it has no control

    @property
    def is_exact(self) -> bool:
        """Whether neither chance nor rounding can decide: no run is read, and nothing is drawn."""
        exact = self.procedure == "exact" and not self.settings["tolerance"]
        return self.is_given and (exact or not self.derives)

    def under(self, readings: Sequence[str]) -> list[str]:
        """Return the claim's readings that the test asks about: all, unless it names some."""
        own = self.reading
        return [one for one in readings if not isinstance(own, Mapping) or one in own]


@dataclass(frozen=True)
class Claim:
    """One record; see the schema for its fields."""

    id: str
    paper: str
    place: str
    statement: str
    kind: str
    primary: bool
    about: str = "text"
    part: str = ""
    conditional: tuple[str, ...] = ()
    exploratory: bool = False
    basis: str = "printed"
    reconstructed: str = ""
    version: int = 0
    estimand: str = ""
    experiments: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    family: str = ""
    figure: str = ""
    combine: str = "all"
    tests: tuple[Test, ...] = ()
    note: str = ""
    between: tuple[str, ...] = ()
    alias_of: str = ""
    judged_by: tuple[str, ...] = ()
    untestable: str = ""
    rests_on: tuple[str, ...] = ()

    @property
    def varies(self) -> bool:
        """Whether its number can differ between machines; then no committed table has it."""
        return any(test.varies for test in self.tests)

    @property
    def bases(self) -> tuple[str, ...]:
        """Claims that this one, if it is the paper's, rests on, is judged by, or is an alias of."""
        if self.kind == "inconsistency":
            return self.rests_on
        named = (*self.rests_on, *self.judged_by, *filter(None, [self.alias_of]))
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True)
class Change:
    """A recorded change of rules, data or code; it decides nothing."""

    when: str
    what: str
    where: tuple[str, ...]  # claims, experiments and rules, `ALL_CLAIMS`, or after `FORMERLY`
    before: str
    after: str
    why: str
    verdict_before: str = "no verdict yet"
    verdict_after: str = "no verdict yet"
    version: int = 0  # of the new rules or records, 0 if they kept theirs


@dataclass(frozen=True)
class Ledger:
    """The ledger of one paper."""

    paper: str
    title: str
    readings: Mapping[str, str]
    families: Mapping[str, FamilyBlock]
    claims: Mapping[str, Claim] = field(default_factory=dict)
    digest: str = ""  # hash of all that decides its verdicts
    changes: tuple[Change, ...] = ()
    #: experiment or suite -> policy -> its name in figures
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def short_title(self) -> str:
        return self.title.partition(":")[0]

    def test(self, claim: str, name: str) -> Test | None:
        """Return the test of a claim with this name, if there is one."""
        tests = self.claims[claim].tests if claim in self.claims else ()
        return next((test for test in tests if test.name == name), None)

    def reading(self, name: str) -> str:
        """Return a reading's description up to the first pause, or all of it if others begin so."""
        texts = {key: plain(" ".join(said.split())) for key, said in self.readings.items()}
        short = {key: PAUSE.split(said, maxsplit=1)[0].rstrip(".") for key, said in texts.items()}
        if list(short.values()).count(short.get(name)) > 1:
            return texts[name].rstrip(".")
        return short.get(name, name)


#: The ledgers of several papers, by paper.
Ledgers = Mapping[str, Ledger]
