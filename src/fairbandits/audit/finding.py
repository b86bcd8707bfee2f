"""Findings of procedures, and the checks that every procedure makes of its input."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
INCONCLUSIVE = "inconclusive"
NOT_TESTABLE = "not testable"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, NOT_TESTABLE)
#: Verdict of a claim whose readings disagree; never the verdict of one finding.
DEPENDS = "depends on the reading"
#: Outcome of a claim that the audit could not judge; no verdict.
FAILED = "failed"
OUTCOMES = (REPRODUCED, NOT_REPRODUCED, DEPENDS, INCONCLUSIVE, NOT_TESTABLE, FAILED)

#: Meaning of a verdict on an inconsistency: it judges the paper's statement, not the inconsistency.
OF_INCONSISTENCY = {
    REPRODUCED: "both ways give the same, or what the paper says holds all the same",
    NOT_REPRODUCED: "the ways differ, or what the paper says does not hold",
    DEPENDS: "whether it makes a difference depends on what else the paper leaves open",
    INCONCLUSIVE: "whether it makes a difference is not decided",
}

#: Tag -> meaning.
TAGS = {
    "LOOSE": "the claimed upper bound on growth is far above what is seen",
    "TRIVIAL": "the quantity is nowhere positive, so that any bound on its growth holds",
    "SIGN": "the quantity is positive at some horizons only; the others are left out of the fit",
    "CONSTANT": "all replicates are equal; how far a run may deviate is not known",
    "RARE": "the mean hangs on too few replicates: nearly all agree, or hardly any carries it",
    "TIE": "equal in most replicates, or the difference is proven smaller than what matters",
    "IMMATERIAL": "there is a difference, but smaller than what matters",
    "TRUNCATED": "the printed number is the cut-off one, not the rounded one",
    "ROUNDING": "broken by less than the numerical tolerance only",
    "HOLM": "decided by itself, but not after the correction for its family",
    "VACUOUS": "no data could have broken the bound",
    "PRE-ASYMPTOTIC": "the slope seen is beyond the claimed rate, which is one of the limit",
    "UNDERPOWERED": "there are too few replicates for this verdict at the level asked for",
    "CONDITIONAL": "the statement judged is reconstructed: the text lost it, or never printed it",
    "EXPLORATORY": "the rules were written, or changed, after the runs they judge were seen",
}


def tally(outcomes: Iterable[str]) -> dict[str, int]:
    """Count each outcome, in the order of `OUTCOMES`, omitting zeros."""
    counts = Counter(outcomes)
    return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}


@dataclass(frozen=True)
class Finding:
    """Result of a procedure on one set of data.

    Attributes
    ----------
    statistic : float
        The estimate; NaN where there is none.
    low, high : float
        One-sided limits, each at the procedure's level: with level 0.99 the statistic's true value
        is below `high` with 99 % confidence, and above `low` with 99 % confidence.
    n : int
        Number of replicates (the fewest, where numbers differ), or of checks.
    p : float or None
        One-sided p-value of the verdict given, or the smaller of the two that were not small
        enough for a verdict; None where nothing is random.
    verdict : str
        One of `VERDICTS`.
    tags : tuple of str
        Of `TAGS`.
    also : mapping of str to float
        Numbers reported beside the statistic that decide nothing.
    """

    statistic: float
    low: float
    high: float
    n: int
    p: float | None
    verdict: str
    tags: tuple[str, ...] = ()
    also: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, got {self.verdict!r}")
        for tag in self.tags:
            if tag not in TAGS:
                raise ValueError(f"tag must be one of {', '.join(TAGS)}, got {tag!r}")


def decide(p_for: float, p_against: float, level: float) -> tuple[str, float]:
    """Return the verdict and its p-value, from the p-values that the claim is false, and true.

    `p_for` tests the hypothesis that the claim is false, `p_against` the one that it is true.
    """
    alpha = 1 - level
    if p_for <= alpha and p_for <= p_against:
        return REPRODUCED, float(p_for)
    if p_against <= alpha:
        return NOT_REPRODUCED, float(p_against)
    return INCONCLUSIVE, float(min(p_for, p_against))


def numbers(name: str, values: object, ndim: int = 1, least: int = 1) -> np.ndarray:
    """Return finite numbers as an array of doubles, of `ndim` axes and at least `least` rows.

    Raises ValueError for anything else.
    """
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got {array.ndim}")
    if array.size == 0 or len(array) < least:
        raise ValueError(f"{name} must have at least {least} entries, got {len(array)}")
    finite = np.isfinite(array)
    if not finite.all():
        place = np.argwhere(~finite)[0].tolist()
        raise ValueError(f"{name} must be finite, got {array[tuple(place)]} at {place}")
    return array


def number(name: str, value: object) -> float:
    """Return a finite number as a double, or raise ValueError."""
    if np.ndim(value):
        raise ValueError(f"{name} must be one number, got {np.size(value)}")
    return float(numbers(name, [value])[0])


def one_of(name: str, value: object, allowed: Sequence) -> None:
    """Raise ValueError unless a setting has one of the allowed values."""
    if value not in allowed:
        listed = ", ".join(repr(one) for one in allowed)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")


def confidence(level: float) -> float:
    """Return a level of confidence, or raise ValueError unless it is in [0.5, 1)."""
    if not 0.5 <= number("level", level) < 1:
        raise ValueError(f"level must be at least 0.5 and less than 1, got {level!r}")
    return level
