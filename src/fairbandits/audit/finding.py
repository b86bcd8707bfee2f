"""What a procedure finds, what it is worth, and the words for both."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairbandits.checks import one_of

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
INCONCLUSIVE = "inconclusive"
NOT_TESTABLE = "not testable"
#: Verdict of a claim whose readings disagree; never the verdict of one finding.
DEPENDS = "depends on the reading"
#: Outcome of a claim that the audit could not judge; no verdict.
FAILED = "failed"
OUTCOMES = (REPRODUCED, NOT_REPRODUCED, DEPENDS, INCONCLUSIVE, NOT_TESTABLE, FAILED)

CONFIRMATORY, EXPLORATORY = "confirmatory", "exploratory"
#: Status of a verdict -> meaning.
STATUSES = {
    CONFIRMATORY: "it is as it came out of the release's run, whose rules were frozen before",
    EXPLORATORY: "its rule, or its data, are not those of the release's run",
}

#: Meaning of a verdict on an inconsistency: it judges the paper's statement, not the inconsistency.
OF_INCONSISTENCY = {
    REPRODUCED: "the ways agree, or the paper's statement holds all the same",
    NOT_REPRODUCED: "the ways differ, or the paper's statement does not hold",
    DEPENDS: "whether it makes a difference depends on what else the paper leaves open",
    INCONCLUSIVE: "whether it makes a difference is not decided",
}

#: Tag -> meaning.
TAGS = {
    "TRIVIAL": "the same holds of the control, so that it supports nothing",
    "VACUOUS": "it could not have failed: all runs are equal, or the bound is far off",
    "LOOSE": "the claimed upper bound on growth is far above what is seen",
    "SIGN": "the quantity is positive at some horizons only, which are fitted, or at none",
    "CONSTANT": "all replicates are equal; how far a run may deviate is not known",
    "RARE": "too few replicates determine the mean: nearly all agree, or hardly any carries it",
    "THIN": "one more replicate could undo it that is less than 3 times as far out as any seen",
    "TIE": "equal in most replicates, or the difference is proven smaller than what matters",
    "IMMATERIAL": "there is a difference, but smaller than what matters",
    "TRUNCATED": "the printed number is the cut-off one, not the rounded one",
    "ROUNDING": "broken by less than the numerical tolerance only",
    "HOLM": "decided by itself, but not after the correction for its family",
    "PRE-ASYMPTOTIC": "the slope seen is beyond the claimed rate, which is one of the limit",
    "SOME-READINGS": "decided under some readings only, and under these alike",
    "UNDERPOWERED": "there are too few replicates for this verdict at the level asked for",
    "CONDITIONAL": "the statement judged is reconstructed: the text lost it, or never printed it",
    "PREMISE": "it is derived from a claim that is not shown, or is itself derived from one",
    "IN-PART": "less is tested than the sentence says; the record names the part",
}


#: Tag of what holds and supports nothing -> why.
EMPTY = {
    "TRIVIAL": "as the same holds of the control",
    "VACUOUS": "as nothing could have failed",
}
#: Grade of what is reproduced or not, strongest first -> when.
GRADES = {
    "exact": "by enumeration, exact arithmetic, a counterexample or a checked proof",
    "measured": "the bounds exclude the limit; if the claim holds, a control policy fails the test",
    "consistent": "the test could have failed and did not, but it is of a rate, a curve or a loose "
    "bound, no control policy clearly fails it, or the verdict is THIN",
}


def tally(outcomes: Iterable[str]) -> dict[str, int]:
    """Count each outcome, in the order of `OUTCOMES`, omitting zeros."""
    counts = Counter(outcomes)
    return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}


def empty_by(verdict: str, tags: Iterable[str]) -> str:
    """Return the tag for which a case that holds supports nothing; empty if it is no such case."""
    return next((tag for tag in EMPTY if verdict == INCONCLUSIVE and tag in tags), "")


@dataclass(frozen=True)
class Finding:
    """Result of a procedure on one set of data.

    `low` and `high` are one-sided limits; `n` counts replicates (the fewest) or checks; `p` is of
    the verdict given, or the smaller of the two that were not small enough for one.
    """

    statistic: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p: float | None = None
    verdict: str = FAILED
    tags: tuple[str, ...] = ()
    also: Mapping[str, float] = field(default_factory=dict)
    control: str = ""
    grade: str = ""

    def __post_init__(self) -> None:
        one_of("verdict", self.verdict, OUTCOMES)
        for tag in self.tags:
            one_of("tag", tag, tuple(TAGS))


@dataclass(frozen=True, kw_only=True)
class Answer(Finding):
    """A test's finding on one case, or the reason why there is none; it can be read alone."""

    claim: str
    test: str = ""  # what tells it from the claim's other tests; empty where it fails before any
    phrase: str = ""  # what the number is
    unit: str = ""
    reading: str = ""  # empty under all readings of the claim
    each: str = ""  # what tells the case from others of the test
    decides: bool = True
    procedure: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    given: bool = False  # nothing is read from runs, nothing is drawn
    uncontrolled: str = ""  # why no policy could fail it
    against: Mapping[str, float] = field(default_factory=dict)  # references, the main one first
    data: tuple[str, ...] = ()  # datasets that the claim has read by then, below the results
    message: str = ""


def decide(p_for: float, p_against: float, level: float) -> tuple[str, float]:
    """Return the verdict and its p-value, from those of the claim's falsehood and of its truth."""
    alpha = 1 - level
    if p_for <= alpha and p_for <= p_against:
        return REPRODUCED, float(p_for)
    if p_against <= alpha:
        return NOT_REPRODUCED, float(p_against)
    return INCONCLUSIVE, float(min(p_for, p_against))
