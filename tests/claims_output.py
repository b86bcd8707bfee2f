"""The form of what `fairbandits claims --json` prints."""

from fairbandits.policies.parameters import number, whole
from fairbandits.settings import models as m
from fairbandits.settings.models import Model
from fairbandits.settings.records import OrNone

About = m.choice("text", "later version", "project", "assumption")
Basis = m.choice("printed", "lost", "recalled")
Outcome = m.choice(
    *("reproduced", "not reproduced", "depends on the reading", "inconclusive", "not testable"),
    "failed",  # could not be judged
)


class ReadingVerdict(Model):
    """What a claim is judged under a reading, or under all of them."""

    reading: OrNone  # its name; null for none, and for all of several
    verdict: Outcome
    #: of what is reproduced or not: exact, measured or consistent
    grade: m.choice("exact", "measured", "consistent") | None
    tags: list[m.matching("[A-Z-]+")]  # see docs/procedures.md
    statistic: m.Number | None  # the estimate that decides, if there is one and it is finite
    low: m.Number | None
    high: m.Number | None
    n: m.of(whole(at_least=0)) | None  # replicates, or what was checked
    p: m.of(number(at_least=0, at_most=1)) | None  # one-sided, of the family
    phrase: OrNone  # what the number is
    unit: OrNone
    each: OrNone  # the case that decides
    procedure: OrNone
    settings: dict[str, object]  # of the procedure
    data: list[m.Words]  # datasets, relative to the folder of results
    code: OrNone  # fingerprint of the simulation code that made them
    data_hash: OrNone  # of what they hold
    rules: OrNone  # digest of the files that ask
    audit_code: OrNone  # fingerprint of the audit's code
    message: OrNone  # why it failed


class ClaimVerdict(Model):
    """A claim and what it is judged."""

    id: m.Words
    paper: m.Words
    place: m.Words
    statement: m.Words
    kind: m.Words
    primary: bool
    about: About
    part: OrNone
    exploratory: bool
    figure: OrNone
    basis: Basis
    reconstructed: OrNone
    alias_of: OrNone
    judged_by: list[m.Words]
    #: why it is in no total; null for a claim that counts
    left_out: (
        m.choice(
            *("inconsistency", "alias", "judged by other claims", "merely reported"),
            *("definition", "later version", "project", "assumption"),
        )
        | None
    )
    verdict: Outcome  # of the headline
    data_older_than_rule: bool  # it reads runs of figures, which no change of its rule draws anew
    headline: ReadingVerdict  # stands for the claim; no finding if its readings disagree
    readings: list[ReadingVerdict]  # of several readings
    qualified_by: list[m.Words] | None  # what qualifies the verdict without deciding it


class VerdictsOutput(Model):
    """All claims and their verdicts."""

    source: m.Words  # the file that the verdicts come from
    scale: m.choice("paper", "smoke")  # of the datasets behind them
    exploratory: bool  # a seed does not follow from the rules
    claims: list[ClaimVerdict]  # in the order of the papers


def check(content):
    """Raise ConfigError unless the output has its form."""
    m.validated(content, VerdictsOutput, "the output")
