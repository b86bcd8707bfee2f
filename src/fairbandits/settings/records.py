"""Models of claims.yaml, own claims, deviations, referees, findings, glossary and arena.yaml."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field

from fairbandits.policies.parameters import number, whole
from fairbandits.rationals import LONGEST
from fairbandits.settings import models as m
from fairbandits.settings.models import Model
from fairbandits.settings.papers import LAWS, Ends, Numbers, Rates
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

Texts = Annotated[list[m.Words], m.Some, m.Unique]
OrNone = m.Words | None
Later = m.of(whole(at_least=2))  # a version that a change made
Coordinate = str | m.Number | list | None


def blocks(block: Any, key: Any = str) -> Any:
    """Return the type of at least one block by name."""
    return Annotated[dict[key, block], m.Some]


def _by_name(each: Any) -> dict[str, Any]:
    return each if isinstance(each, dict) else {name: [] for name in each}


class Reason(Model):
    """Why a rule or a record was changed."""

    version: Later  # that the change made
    reason: m.Words


class FamilyBlock(Model):
    """Claims that are corrected together."""

    what: m.Words  # which claims are in it
    #: confidence that no verdict of the family is wrong; of each claim without correction
    level: m.of(number(at_least=0.5, below=1))
    correction: m.choice("holm", "none")  # for the number of claims in it


class RuleBlock(Model):
    """A procedure with its margins and levels."""

    version: m.Count  # starts at 1; every change of procedure or settings is a new one
    procedure: m.Words  # of fairbandits.audit.procedures
    #: keyword-only parameters of the procedure; its level is the family's if it has none
    settings: dict[str, Any] = Field(default={})
    changes: list[Reason] = Field(default=[])  # the reason for every version after the first


class Cells(Model):
    """Cells of recorded runs: of experiments or suites, with some coordinates."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Coordinate]  # a value, or a list of values
    experiments: Texts = Field(default=())
    where: m.Words = ""  # an expression over coordinates and measures

    @property
    def wanted(self) -> dict[str, Coordinate]:
        """The coordinates that select them; ``arm`` selects an arm of theirs."""
        return self.__pydantic_extra__


class Companion(Cells):
    """Cells that go with each of those: one like it in the coordinates `match`, or in `each`."""

    match: list[m.Words] | None = None


class Control(Companion):
    """Cells in place of a test's, found like companions, under which it must not be reproduced."""

    companions: dict[m.Name, Companion] = Field(default={}, alias="with")  # of its own


class Asking(Model):
    """Which data a record or a test judges; what a test says adds to its record."""

    cells: Cells | None = None
    companions: dict[m.Name, Companion] = Field(default={}, alias="with")  # names in x[name]
    #: coordinates with a finding each, which must agree; with values if no cell has them
    each: Annotated[m.either(Texts, dict[str, list]), AfterValidator(_by_name)] = Field(default={})
    over: m.Words = ""  # the coordinate whose cells are stacked, as points
    arms: m.Words = ""  # which arms it is repeated for: an expression over arms
    rounds: m.Words = ""  # which rounds it is repeated for: an expression
    keep: m.Words = ""  # which replicates are meant: an expression; all if left out
    #: coordinates whose value is the reading, or an expression for each reading that says which
    #: cells or replicates belong to it; cells belong to all readings if it is left out
    reading: m.Words | Texts | dict[str, m.Words | Literal[True]] = ""


class TestBlock(Asking):
    """A test of a claim."""

    rule: m.Words
    settings: dict[str, Any] = Field(default={})  # what it adds to the rule's, or replaces
    #: each data parameter of the procedure, as a number, text or list
    inputs: blocks(str | m.Number | list)
    decides: bool = True  # or is only reported
    meaning: m.Words = ""  # of a test that does not decide: what it asks, in words
    control: Control | None = None  # a test that holds of these cells too is TRIVIAL
    uncontrolled: m.Words = ""  # one sentence: why no control is possible


class ClaimBlock(Asking):
    """A claim: tested, an alias, judged by others, or untestable."""

    needs: ClassVar = {
        "tests": ("version", "estimand", "family"),
        **dict.fromkeys(("estimand", "cells", "family", "version", "combine"), ("tests",)),
    }
    place: m.Words  # section, theorem or figure of the paper
    statement: m.Words  # what is claimed, in our own words
    kind: m.choice(
        *("invariant", "bound", "rate", "comparison", "shape", "number", "explanation"),
        *("qualitative", "definition", "opinion", "literature", "inconsistency"),
    )
    primary: bool  # whether the paper stands on it
    #: who makes it; only what the audited text claims is in totals
    about: m.choice("text", "later version", "project", "assumption") = "text"
    part: m.Words = ""  # which part of the sentence is tested, where that is less than it says
    basis: m.choice("printed", "lost", "recalled") = "printed"  # of the statement that is judged
    reconstructed: m.Words = ""  # what had to be, for a basis other than printed
    #: readings whose runs are of a program that was reconstructed: their verdicts are conditional
    conditional: list[m.Words] = Field(default=[])
    exploratory: bool = False  # reported without counting: the paper claims nothing firm
    version: m.Count = 0  # of the record's tests; starts at 1
    changes: list[Reason] = Field(default=[])  # the reason for every version after the first
    estimand: m.Words = ""  # the quantity that the verdict is about
    readings: Texts = Field(default=())  # that it is judged under, each with a verdict
    family: m.Words = ""  # for the correction
    figure: m.Figure = ""  # that shows it
    #: how deciding tests make a verdict: reproduced needs all of them, or any one, and not
    #: reproduced the opposite; universal needs that no case is lost and two thirds are won
    combine: m.choice("all", "any", "universal") = "all"
    tests: blocks(TestBlock, m.Name) | None = None
    note: m.Words = ""  # what must be said beside the verdict
    #: of an inconsistency: the places or statements that contradict each other
    between: Annotated[list[m.Words], m.Pair] = Field(default=())
    alias_of: m.Words = ""  # the id whose verdict it carries
    judged_by: Texts = Field(default=())  # ids of the claims whose verdicts decide it
    untestable: m.Words = ""  # why there can be no verdict
    #: ids of claims whose truth the argument for this one uses, as a theorem uses its lemmas; it
    #: decides nothing
    rests_on: Texts = Field(default=())


class RulesFile(Model):
    """papers/rules.yaml: families and rules of all ledgers."""

    families: blocks(FamilyBlock, m.Name)
    rules: blocks(RuleBlock, m.Name)


class ClaimsFile(Model):
    """papers/SLUG/claims.yaml, the ledger of a paper."""

    paper: m.Slug  # the folder's name
    title: m.Words
    readings: dict[m.Name, m.Words]  # what the paper leaves open
    #: of its own, beside those of papers/rules.yaml
    families: dict[m.Name, FamilyBlock] = Field(default={})
    rules: dict[m.Name, RuleBlock] = Field(default={})
    claims: blocks(ClaimBlock, m.matching("[a-z0-9]+(-[a-zA-Z0-9]+)+"))  # by id


class OwnInstance(Model):
    """What policies are played on: named, with given means, or with means that are drawn."""

    needs: ClassVar = {
        "arguments": ("named",),
        "arms": ("low", "high"),
        **dict.fromkeys(("low", "high"), ("arms",)),
    }
    named: str | None = None  # one of fairbandits.instances
    arguments: dict[str, Any] | None = None  # what it is called with, e.g. {number: 2}
    means: Numbers | None = None
    arms: m.Arms | None = None  # whose means each replicate draws
    low: Ends | None = None  # of drawn means, for all arms or for each group
    high: Ends | None = None
    law: m.choice(*LAWS) = "bernoulli"
    spread: m.Exact | None = None  # sd of gaussian and m of beta rewards
    quotas: Annotated[list[m.Exact], m.Pair] | None = None
    targets: Numbers | None = None
    penalties: Rates | None = None
    groups: Annotated[list[m.Count], m.Some] | None = None


class OwnPolicy(Model):
    """A policy that is played on every instance."""

    policy: str  # a registered name; or FILE.py:CLASS, the file beside this one; or module:Class
    parameters: dict[str, Any] = Field(default={})  # `instance` stands for the instance's own
    sweep: dict[str, Annotated[list, m.Some]] = Field(default={})  # each value a cell of its own
    observe: Annotated[list[str | dict], m.Some] | None = None  # by name, or name with parameters


Rounds = m.of(whole(at_least=1, at_most=LONGEST))


class OwnClaimsFile(Model):
    """Claims on policies of one's own, judged by `fairbandits judge`."""

    title: Annotated[m.Text, m.Some]
    instances: blocks(OwnInstance, m.matching("(?!.*_[0-9]{3,}$)[a-z0-9_]+"))
    policies: blocks(OwnPolicy, m.Name)
    #: rounds T; or several, increasing, each a run of its own that is recorded at its end
    horizon: Rounds | Annotated[list[Rounds], m.Pair]
    replicates: m.of(whole(at_least=2, at_most=1_000_000))
    readings: dict[str, Any] = Field(default={})  # this and the rest: as in a paper's claims.yaml
    families: dict[str, dict] = Field(default={})  # beside those of papers/rules.yaml
    rules: dict[str, dict] = Field(default={})
    claims: blocks(dict)


class Deviation(Model):
    """A change since a rule, margin or claim was first written down."""

    when: m.matching(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}")  # UTC, of the commit
    what: m.choice("rule", "margin", "replicates", "experiment", "claim", "seed", "statistics")
    #: claims, experiments, suites and rules by name; `formerly NAME`, or `all claims`
    where: Texts
    version: Later | None = None  # of rule or record that it made
    before: m.Words
    after: m.Words
    why: m.Words  # the reason that is recorded, or that none is
    verdict_before: m.Words = "no verdict yet"  # what the claims were judged by then
    verdict_after: m.Words = "no verdict yet"  # what they were judged next


class DeviationsFile(Model):
    """papers/SLUG/deviations.yaml: history in true order, which decides nothing."""

    changes: list[Deviation]


class SharedStatement(Model):
    """What several papers say."""

    title: m.Words
    statement: m.Words  # one sentence, formulas between dollar signs
    claims: Annotated[list[m.Words], m.Pair, m.Unique]  # that say it or bear on it


class AcrossFile(Model):
    """papers/across.yaml."""

    statements: blocks(SharedStatement, m.matching("[a-z]+(-[a-z]+)*"))


class Notable(Model):
    """A finding that matters most, numbers as {NAME} of a papers/*/numbers.yaml."""

    needs: ClassVar = {"figure": ("shows",), "shows": ("figure",), "qualified_by": ("claims",)}
    says: m.Words  # one sentence, the result first and by how much
    setting: m.Words  # which text, instance, rounds, weight or version, and how many replicates
    against: m.Words  # what speaks most against it, with its number
    figure: OrNone = None  # that shows it, PAPER/FIGURE
    shows: OrNone = None  # the quantity that the figure shows, as sentence and figure call it
    arena: OrNone = None  # the contract of the arena that it is about
    claims: blocks(m.Words) = Field(default={})  # ids, each with the verdict that it stands on
    #: for each of these claims, its tags and the tests that come out otherwise without deciding,
    #: each with the words of this finding that say so
    qualified_by: blocks(blocks(m.Words)) = Field(default={})


class FindingsFile(Model):
    """papers/findings.yaml, in the order in which they are shown."""

    findings: Annotated[list[Notable], Field(min_length=1, max_length=7)]


class Card(Model):
    """The paper on the report's first page."""

    figure: str  # that stands for the paper
    says: m.Words  # what the paper is about in one sentence


class GlossaryFile(Model):
    """papers/SLUG/glossary.yaml."""

    setting: m.Words  # what the paper is about, in a few sentences
    card: Card | None = None
    terms: blocks(m.Words)  # words and symbols, as a ledger writes them, with what they mean
    formulas: dict[str, m.Words] = Field(default={})  # of claims that state a bound, in LaTeX


class ContractBlock(Model):
    """A contract that is judged, by its name in fairbandits.contracts."""

    suite: str  # of papers/arena/experiments.yaml, on whose instances it is judged
    title: m.Text
    says: m.Text  # what is owed


class Translation(Model):
    """How a policy that was made for another contract is run under this one."""

    #: needs the true means, estimates them, needs neither, or has no contract
    kind: m.choice("oracle", "plug-in", "declared", "control")
    says: m.Text  # what becomes of the contract


class NoRole(Model):
    """Why a contract makes no sense for a policy."""

    none: m.Text


class ArenaFile(Model):
    """papers/arena/arena.yaml."""

    contracts: blocks(
        ContractBlock,
        m.choice("minimum_pulls", "minimum_reward", "group_exposure", "group_merit"),
    )
    translations: dict[str, Translation]
    needs_horizon: dict[str, m.Text]  # policies that use the number of rounds, and what for
    #: how each policy of the suites meets each contract: own, the name of a translation, or none
    policies: blocks(dict[str, m.either(str, NoRole)])


def load_glossary(paper: str, claims: Iterable[str], root: Path = ROOT) -> GlossaryFile:
    """Return a paper's glossary (empty without a file); ConfigError for unknown claims in it."""
    file = paper_file(paper, "glossary", root)
    if not file.is_file():
        return GlossaryFile.model_construct(setting="", terms={})
    where = str(file.relative_to(root))
    glossary = m.validated(read_yaml(file), GlossaryFile, where)
    claims = list(claims)
    for key in glossary.formulas:
        m.expect_known(key, claims, f"{where}: formulas: no claim {key!r}")
    return glossary
