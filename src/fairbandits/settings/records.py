"""What the other YAML files can say: claims, their history, and what is shown of them."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from fairbandits.policies.parameters import number, one_of, whole
from fairbandits.rationals import LONGEST
from fairbandits.settings.models import (
    Count,
    Exact,
    Model,
    Name,
    Number,
    Slug,
    Some,
    Text,
    Unique,
    Words,
    either,
    matching,
    of,
    validated,
)
from fairbandits.settings.papers import LAWS, Ends, Numbers, Rates
from fairbandits.settings.schemas import meant

Texts = Annotated[list[Words], Some, Unique]
OrNone = Words | None
Coordinate = str | Number | list | None


def blocks(block: Any, key: Any = str) -> Any:
    """Return the type of at least one block by name."""
    return Annotated[dict[key, block], Some]


def choice(*values: Any) -> Any:
    """Return the type of one of these values."""
    return Annotated[Any, of(one_of(*values))]


# ----------------------------------------------------------------------- papers/SLUG/claims.yaml


class Reason(Model):
    """Why a rule or a record was changed."""

    version: Annotated[Any, of(whole(at_least=2))]  # that the change made
    reason: Words


class FamilyBlock(Model):
    """Claims that are corrected together."""

    what: Words  # which claims are in it
    #: confidence that no verdict of the family is wrong; of each claim without correction
    level: Annotated[Any, of(number(at_least=0.5, below=1))]
    correction: choice("holm", "none")  # for the number of claims in it


class RuleBlock(Model):
    """A procedure with its margins and levels."""

    version: Count  # starts at 1; every change of procedure or settings is a new one
    procedure: Words  # of fairbandits.audit.procedures
    #: keyword-only parameters of the procedure; its level is the family's if it has none
    settings: dict[str, Any] = Field(default={})
    changes: list[Reason] = Field(default=[])  # the reason for every version after the first


class Cells(Model):
    """Cells of recorded runs: of experiments or suites, with some coordinates."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Coordinate]  # a value, or a list of values
    experiments: Texts | None = None
    where: OrNone = None  # an expression over coordinates and measures


class Companion(Cells):
    """Cells that go with each of those: one like it in the coordinates `match`, or in `each`."""

    match: list[Words] | None = None


class Control(Companion):
    """Cells in place of a test's, found like companions, under which it must not be reproduced."""

    with_: dict[Name, Companion] | None = Field(default=None, alias="with")  # of its own


class Asking(Model):
    """Which data a record or a test judges; what a test says adds to its record."""

    cells: Cells | None = None
    with_: dict[Name, Companion] | None = Field(default=None, alias="with")  # names in x[name]
    #: coordinates with a finding each, which must agree; with values if no cell has them
    each: either(Texts, dict[str, list]) | None = None
    over: OrNone = None  # the coordinate whose cells are stacked, as points
    arms: OrNone = None  # which arms it is repeated for: an expression over arms
    rounds: OrNone = None  # which rounds it is repeated for: an expression
    keep: OrNone = None  # which replicates are meant: an expression; all if left out
    #: coordinates whose value is the reading, or an expression for each reading that says which
    #: cells or replicates belong to it; cells belong to all readings if it is left out
    reading: Words | Texts | dict[str, Words | Literal[True]] | None = None


class TestBlock(Asking):
    """A test of a claim."""

    rule: Words
    settings: dict[str, Any] = Field(default={})  # what it adds to the rule's, or replaces
    #: each data parameter of the procedure, as a number, text or list
    inputs: blocks(str | Number | list)
    decides: bool = True  # or is only reported
    meaning: OrNone = None  # of a test that does not decide: what it asks, in words
    control: Control | None = None  # a test that holds of these cells too is TRIVIAL
    uncontrolled: OrNone = None  # one sentence: why no control is possible


class ClaimBlock(Asking):
    """A claim: tested, an alias, judged by others, or untestable."""

    needs: ClassVar = {
        "tests": ("version", "estimand", "family"),
        **dict.fromkeys(("estimand", "cells", "family", "version", "combine"), ("tests",)),
    }
    place: Words  # section, theorem or figure of the paper
    statement: Words  # what is claimed, in our own words
    kind: choice(
        *("invariant", "bound", "rate", "comparison", "shape", "number", "explanation"),
        *("qualitative", "definition", "opinion", "literature", "inconsistency"),
    )
    primary: bool  # whether the paper stands on it
    #: who makes it; only what the audited text claims is in totals
    about: choice("text", "later version", "project", "assumption") = "text"
    part: OrNone = None  # which part of the sentence is tested, where that is less than it says
    basis: choice("printed", "lost", "recalled") = "printed"  # of the statement that is judged
    reconstructed: OrNone = None  # what had to be, for a basis other than printed
    #: readings whose runs are of a program that was reconstructed: their verdicts are conditional
    conditional: list[Words] = Field(default=[])
    exploratory: bool = False  # reported without counting: the paper claims nothing firm
    version: Count | None = None  # of the record's tests; starts at 1
    changes: list[Reason] = Field(default=[])  # the reason for every version after the first
    estimand: OrNone = None  # the quantity that the verdict is about
    readings: Texts | None = None  # that it is judged under, each with a verdict
    family: OrNone = None  # for the correction
    figure: Annotated[Any, matching(r"fig[0-9]+[a-z]?")] | None = None  # that shows it
    #: how deciding tests make a verdict: reproduced needs all of them, or any one, and not
    #: reproduced the opposite; universal needs that no case is lost and two thirds are won
    combine: choice("all", "any", "universal") = "all"
    tests: blocks(TestBlock, Name) | None = None
    note: OrNone = None  # what must be said beside the verdict
    #: of an inconsistency: the places or statements that contradict each other
    between: Annotated[list[Words], Field(min_length=2)] | None = None
    alias_of: OrNone = None  # the id whose verdict it carries
    judged_by: Texts | None = None  # ids of the claims whose verdicts decide it
    untestable: OrNone = None  # why there can be no verdict
    #: ids of claims whose truth the argument for this one uses, as a theorem uses its lemmas; it
    #: decides nothing
    rests_on: Texts | None = None


class RulesFile(Model):
    """papers/rules.yaml: families and rules of all ledgers."""

    families: blocks(FamilyBlock, Name)
    rules: blocks(RuleBlock, Name)


class ClaimsFile(Model):
    """The ledger of a paper."""

    paper: Slug  # the folder's name
    title: Words
    readings: dict[Name, Words]  # what the paper leaves open
    #: of its own, beside those of papers/rules.yaml
    families: dict[Name, FamilyBlock] = Field(default={})
    rules: dict[Name, RuleBlock] = Field(default={})
    claims: blocks(ClaimBlock, Annotated[Any, matching("[a-z0-9]+(-[a-zA-Z0-9]+)+")])  # by id


# --------------------------------------------------------------- claims on policies of one's own


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
    arms: Annotated[Any, of(whole(at_least=2))] | None = None  # whose means each replicate draws
    low: Ends | None = None  # of drawn means, for all arms or for each group
    high: Ends | None = None
    law: choice(*LAWS) = "bernoulli"
    spread: Exact | None = None  # sd of gaussian and m of beta rewards
    quotas: Annotated[list[Exact], Field(min_length=2)] | None = None
    targets: Numbers | None = None
    penalties: Rates | None = None
    groups: Annotated[list[Count], Some] | None = None


class OwnPolicy(Model):
    """A policy that is played on every instance."""

    policy: str  # a registered name; or FILE.py:CLASS, the file beside this one; or module:Class
    parameters: dict[str, Any] = Field(default={})  # `instance` stands for the instance's own
    sweep: dict[str, Annotated[list, Some]] = Field(default={})  # each value a cell of its own
    observe: Annotated[list[str | dict], Some] | None = None  # by name, or name with parameters


Rounds = Annotated[Any, of(whole(at_least=1, at_most=LONGEST))]


class OwnClaimsFile(Model):
    """Claims on policies of one's own, judged by `fairbandits judge`."""

    title: Annotated[Text, Some]
    instances: blocks(OwnInstance, Annotated[Any, matching("(?!.*_[0-9]{3,}$)[a-z0-9_]+")])
    policies: blocks(OwnPolicy, Name)
    #: rounds T; or several, increasing, each a run of its own that is recorded at its end
    horizon: Rounds | Annotated[list[Rounds], Field(min_length=2)]
    replicates: Annotated[Any, of(whole(at_least=2, at_most=1_000_000))]
    readings: dict[str, Any] = Field(default={})  # this and the rest: as in a paper's claims.yaml
    families: dict[str, dict] = Field(default={})  # beside those of papers/rules.yaml
    rules: dict[str, dict] = Field(default={})
    claims: blocks(dict)


# ------------------------------------------------------------------------ what is said of claims


class Deviation(Model):
    """A change since a rule, margin or claim was first written down."""

    when: Annotated[Any, matching(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}")]  # UTC, of the commit
    what: choice("rule", "margin", "replicates", "experiment", "claim", "seed", "statistics")
    #: claims, experiments, suites and rules by name; `formerly NAME`, or `all claims`
    where: Texts
    version: Annotated[Any, of(whole(at_least=2))] | None = None  # of rule or record that it made
    before: Words
    after: Words
    why: Words  # the reason that is recorded, or that none is
    verdict_before: OrNone = None  # what the claims were judged by then; left out: no verdict
    verdict_after: OrNone = None  # what they were judged next


class DeviationsFile(Model):
    """papers/SLUG/deviations.yaml: history in true order, which decides nothing."""

    changes: list[Deviation]


class Refereed(Model):
    """What a referee found of a claim's verdict, and what was done about it."""

    class_: Words = Field(alias="class")  # one of the file's classes
    said: Words
    done: Words


class Uncovered(Model):
    """A sentence of a paper for which there was no record."""

    said: Words
    done: Words  # the claim that has it now, or why there is none


class RefereesFile(Model):
    """papers/referees.yaml."""

    classes: blocks(Words)  # each with its meaning
    claims: blocks(Refereed)
    uncovered: dict[Slug, list[Uncovered]]

    @model_validator(mode="after")
    def _knows_its_classes(self):
        for key, one in self.claims.items():
            if one.class_ not in self.classes:
                known = sorted(self.classes)
                raise ValueError(
                    f".claims.{key}.class: {one.class_!r} is unknown{meant(one.class_, known)}"
                )
        return self


class SharedStatement(Model):
    """What several papers say."""

    title: Words
    statement: Words  # one sentence, formulas between dollar signs
    claims: Annotated[list[Words], Field(min_length=2), Unique]  # that say it or bear on it


class AcrossFile(Model):
    """papers/across.yaml."""

    statements: blocks(SharedStatement, Annotated[Any, matching("[a-z]+(-[a-z]+)*")])


class Notable(Model):
    """A finding that matters most, numbers as {NAME} of a papers/*/numbers.yaml."""

    needs: ClassVar = {"figure": ("shows",), "shows": ("figure",), "qualified_by": ("claims",)}
    says: Words  # one sentence, the result first and by how much
    setting: Words  # which text, instance, rounds, weight or version, and how many replicates
    against: Words  # what speaks most against it, with its number
    figure: OrNone = None  # that shows it, e.g. banditq/fig2
    shows: OrNone = None  # the quantity that the figure shows, as sentence and figure call it
    arena: OrNone = None  # the contract of the arena that it is about
    claims: blocks(Words) | None = None  # ids, each with the verdict that it stands on
    #: for each of these claims, its tags and the tests that come out otherwise without deciding,
    #: each with the words of this finding that say so
    qualified_by: blocks(blocks(Words)) | None = None


class FindingsFile(Model):
    """papers/findings.yaml, in the order in which they are shown."""

    findings: Annotated[list[Notable], Field(min_length=1, max_length=7)]


class Card(Model):
    """The paper on the report's first page."""

    figure: str  # that stands for the paper
    says: Words  # what the paper is about in one sentence


class GlossaryFile(Model):
    """papers/SLUG/glossary.yaml."""

    setting: Words  # what the paper is about, in a few sentences
    card: Card | None = None
    terms: blocks(Words)  # words and symbols, as a ledger writes them, with what they mean
    formulas: dict[str, Words] = Field(default={})  # of claims that state a bound, in LaTeX


# ------------------------------------------------------------------------ papers/arena/arena.yaml


class ContractBlock(Model):
    """A contract that is judged, by its name in fairbandits.contracts."""

    suite: str  # of papers/arena/experiments.yaml, on whose instances it is judged
    title: Text
    says: Text  # what is owed


class Translation(Model):
    """How a policy that was made for another contract is run under this one."""

    #: needs the true means, estimates them, needs neither, or has no contract
    kind: choice("oracle", "plug-in", "declared", "control")
    says: Text  # what becomes of the contract


class NoRole(Model):
    """Why a contract makes no sense for a policy."""

    none: Text


class ArenaFile(Model):
    """The arena."""

    contracts: blocks(
        ContractBlock,
        choice("minimum_pulls", "minimum_reward", "group_exposure", "group_merit"),
    )
    translations: dict[str, Translation]
    needs_horizon: dict[str, Text]  # policies that use the number of rounds, and what for
    #: how each policy of the suites meets each contract: own, the name of a translation, or none
    policies: blocks(dict[str, either(str, NoRole)])


# ------------------------------------------------------- what `fairbandits claims --json` prints

OUTCOME = choice(
    *("reproduced", "not reproduced", "depends on the reading", "inconclusive", "not testable"),
    "failed",  # could not be judged
)


class ReadingVerdict(Model):
    """What a claim is judged under a reading, or under all of them."""

    reading: OrNone  # its name in the ledger; null for none, and for all of several
    verdict: OUTCOME
    #: of what is reproduced or not: exact, measured or consistent
    grade: choice("exact", "measured", "consistent") | None
    tags: list[Annotated[Any, matching("[A-Z-]+")]]  # see docs/procedures.md
    statistic: Number | None  # the estimate that decides, if there is one and it is finite
    low: Number | None
    high: Number | None
    n: Annotated[Any, of(whole(at_least=0))] | None  # replicates, or what was checked
    p: Annotated[Any, of(number(at_least=0, at_most=1))] | None  # one-sided, of the family
    rule: OrNone
    rule_version: Count | None
    data: list[Words]  # datasets, relative to the folder of results
    code: OrNone  # fingerprint of the simulation code that made them
    data_hash: OrNone  # of what they hold
    rules: OrNone  # digest of the ledger's rules
    audit_code: OrNone  # fingerprint of the audit's code
    message: OrNone  # why it failed


class ClaimVerdict(Model):
    """A claim and what it is judged."""

    id: Words
    paper: Words
    place: Words
    statement: Words
    kind: Words
    primary: bool
    about: choice("text", "later version", "project", "assumption")
    part: OrNone
    exploratory: bool
    figure: OrNone
    basis: choice("printed", "lost", "recalled")
    reconstructed: OrNone
    alias_of: OrNone
    judged_by: list[Words]
    #: why it is in no total; null for a claim that counts
    left_out: (
        choice(
            *("inconsistency", "alias", "judged by other claims", "merely reported"),
            *("definition", "later version", "project", "assumption"),
        )
        | None
    )
    verdict: OUTCOME  # of the headline
    headline: ReadingVerdict  # stands for the claim; no finding if its readings disagree
    readings: list[ReadingVerdict]  # of several readings
    qualified_by: list[Words] | None  # what qualifies the verdict without deciding it


class VerdictsOutput(Model):
    """All claims and their verdicts."""

    source: Words  # the file that the verdicts come from
    scale: choice("paper", "smoke")  # of the datasets behind them
    exploratory: bool  # a seed does not follow from the rules
    stale: list[Words]  # why the verdicts are stale; only --anyway shows such
    claims: list[ClaimVerdict]  # in the order of the ledgers


MODELS: dict[str, type[Model]] = {
    "across": AcrossFile,
    "arena": ArenaFile,
    "claims": ClaimsFile,
    "rules": RulesFile,
    "deviations": DeviationsFile,
    "findings": FindingsFile,
    "glossary": GlossaryFile,
    "own_claims": OwnClaimsFile,
    "referees": RefereesFile,
    "verdicts": VerdictsOutput,
}


def check(content: Any, record: str, where: str) -> Any:
    """Return a file's content as one of `MODELS`; ConfigError for its first departure from it."""
    return validated(content, MODELS[record], where)
