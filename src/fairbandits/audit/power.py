"""Number of replicates that a test needs, estimated from its finding with the present ones."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy

from fairbandits.audit.finding import Finding, number
from fairbandits.audit.procedures import judged_against

#: Key in `also` of an undecided finding: the number of replicates that would decide it.
NEEDED = "n that decides"
#: Largest number of replicates that is tried.
CEILING = 10**7


class Regions(NamedTuple):
    """Values of a statistic that support a claim (between two), and that refute it (beyond two)."""

    low: float = -math.inf
    high: float = math.inf
    below: float = -math.inf
    above: float = math.inf


def replicates_needed(
    procedure: str, settings: Mapping[str, Any], finding: Finding, power: float = 0.9
) -> float | None:
    """Return how many replicates decide a question with this power, if the estimate is the truth.

    It is infinite where the estimate is between the two verdicts, on the margin itself, or has no
    limit; None where the procedure does not average replicates. A limit is z_level standard errors
    from the estimate, and the verdict needs the margin to be z_level + z_power of them away; these
    shrink as 1 / sqrt(n). The allowance for skewness in a limit shrinks faster, so that the number
    is on the safe side. That of a proportion is exact. Of several points the deciding one counts.
    """
    if not 0.5 <= number("power", power) < 1:
        raise ValueError(f"power must be at least 0.5 and less than 1, got {power!r}")
    if procedure == "share":
        return _of_a_proportion(finding.statistic, settings, power)
    regions = regions_of(procedure, settings, judged_against(procedure, settings, finding))
    if regions is None:
        return None
    value, low, high = finding.statistic, finding.low, finding.high
    level = scipy.stats.norm.ppf(settings["level"])
    stretch = 1 + scipy.stats.norm.ppf(power) / level

    def needed(half: float, gap: float) -> float:
        if not (gap > 0 and np.isfinite(half)):
            return math.inf
        # Student's limits are wider than normal ones, by as much as some more replicates make up
        return math.ceil(finding.n * (half * stretch / gap) ** 2 + level**2 / 2)

    if regions.low < value < regions.high:
        ends = ((value - low, value - regions.low), (high - value, regions.high - value))
        finite = (needed(half, gap) for half, gap in ends if np.isfinite(gap))
        return max(finite, default=math.inf)
    if value < regions.below:
        return needed(high - value, regions.below - value)
    if value > regions.above:
        return needed(value - low, value - regions.above)
    return math.inf


def why_none(procedure: str, settings: Mapping[str, Any], finding: Finding) -> str:
    """Return why `replicates_needed` has no finite number for a question."""
    regions = regions_of(procedure, settings, judged_against(procedure, settings, finding))
    if regions is None:
        return "it does not average replicates"
    if procedure == "share" or finding.statistic in (regions.low, regions.high):
        return "the estimate is the limit itself"
    if not (np.isfinite(finding.low) and np.isfinite(finding.high)):
        return "the estimate has no limit on a side"
    if settings.get("asymptotic"):
        return "what is seen at these horizons, beyond the rate, says nothing of the limit"
    return "the estimate lies between what confirms the claim and what refutes it"


def regions_of(
    procedure: str, settings: Mapping[str, Any], against: Mapping[str, float]
) -> Regions | None:
    """Return where a statistic supports and refutes its claim; None if it is no average.

    `against` has its reference values (`fairbandits.audit.procedures.judged_against`).
    """
    claim = settings.get("claim")
    match procedure:
        case "mean" if claim == "equal":
            pair = against["smallest"], against["largest"]
            return Regions(*pair, *pair)
        case "mean" | "share":
            end = next(iter(against.values()))
            return (
                Regions(high=end, above=end) if claim == "at most" else Regions(low=end, below=end)
            )
        case "slope":
            most = settings["exponent"] + settings["margin"]
            least = settings["exponent"] - settings["margin"]
            if claim == "equal":
                return Regions(least, most, least, most)
            # no number of replicates makes a slope decide about a limit
            limit = settings["asymptotic"]
            if claim == "at most":
                return Regions(high=most, above=math.inf if limit else most)
            return Regions(low=least, below=-math.inf if limit else least)
    return None


def _of_a_proportion(share: float, settings: Mapping[str, Any], power: float) -> float:
    """Return the least number of replicates with which Clopper and Pearson's limit decides."""
    end, alpha = float(settings["limit"]), 1 - settings["level"]
    if share == end:
        return math.inf
    if share < end:  # count the more frequent outcome
        share, end = 1 - share, 1 - end
    start, size = 1, 64
    while start < CEILING:
        n = np.arange(start, start + size)
        # successes from which on a share of `end` is refused
        least = scipy.stats.binom.isf(alpha, n, end) + 1
        enough = (least <= n) & (scipy.stats.binom.sf(least - 1, n, share) >= power)
        if enough.any():
            return float(n[enough.argmax()])
        start, size = start + size, 2 * size
    return math.inf
