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
    procedure: str,
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    finding: Finding,
    power: float = 0.9,
) -> float | None:
    """Return how many replicates decide a question with this power, if the estimate is the truth.

    It is infinite where the estimate is between the two verdicts, on the margin itself, or has no
    limit; None where the procedure does not average replicates. A limit is z_level standard errors
    from the estimate, and the verdict needs the margin to be z_level + z_power of them away; these
    shrink as 1 / sqrt(n). The allowance for skewness in a limit shrinks faster, so that the number
    is on the safe side. That of a proportion is exact. Of a band it is that of its worst point.
    """
    if not 0.5 <= number("power", power) < 1:
        raise ValueError(f"power must be at least 0.5 and less than 1, got {power!r}")
    if procedure == "proportion":
        return _of_a_proportion(finding.statistic, settings, power)
    regions = regions_of(procedure, settings, judged_against(procedure, data, settings, finding))
    if regions is None:
        return None
    given = (finding.statistic, finding.low, finding.high)
    value, low, high = (place(procedure, one) for one in given)
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


def place(procedure: str, value: float) -> float:
    """Return a statistic on the scale of its regions: that of a ratio of spreads is logarithmic."""
    if procedure != "spread_comparison":
        return value
    return math.log(value) if value > 0 else -math.inf


def why_none(
    procedure: str, data: Mapping[str, Any], settings: Mapping[str, Any], finding: Finding
) -> str:
    """Return why `replicates_needed` has no finite number for a question."""
    regions = regions_of(procedure, settings, judged_against(procedure, data, settings, finding))
    if regions is None:
        return "it does not average replicates"
    if procedure == "proportion" or finding.statistic in (regions.low, regions.high):
        return "the estimate is the limit itself"
    if not (np.isfinite(finding.low) and np.isfinite(finding.high)):
        return "the estimate has no limit on a side"
    if procedure in OF_THE_LIMIT and settings.get("asymptotic", True):
        return "what is seen at these horizons, beyond the rate, says nothing of the limit"
    return "the estimate lies between what confirms the claim and what refutes it"


#: Procedures whose claims are about the limit of many rounds.
OF_THE_LIMIT = ("growth_exponent", "logarithmic_growth")


def regions_of(
    procedure: str, settings: Mapping[str, Any], against: Mapping[str, float]
) -> Regions | None:
    """Return where a statistic supports and refutes its claim; None if it is no average.

    `against` has its reference values (`fairbandits.audit.procedures.judged_against`).
    """
    limit = settings.get("asymptotic", True)
    match procedure:
        case "bound" | "proportion":
            end = against["limit"]
            if settings["side"] == "at most":
                return Regions(high=end, above=end)
            return Regions(low=end, below=end)
        case "bound_everywhere":
            return Regions(high=0.0, above=0.0)
        case "paired_comparison" | "shape" | "spread_comparison":  # of the last the logarithm
            return Regions(low=0.0, below=0.0)
        case "equivalence":
            pair = settings.get("ratio") or settings["difference"]
            return Regions(*pair, *pair)
        case "proportionality":
            return Regions(*settings["inside"], *settings["outside"])
        case "growth_exponent":
            most = settings["exponent"] + settings["margin"]
            least = settings["exponent"] - settings["margin"]
            if settings["claim"] == "equal":
                return Regions(least, most, least, most)
            # no number of replicates makes a slope decide about a limit
            if settings["claim"] == "at most":
                return Regions(high=most) if limit else Regions(high=most, above=most)
            return Regions(low=least) if limit else Regions(low=least, below=least)
        case "logarithmic_growth":
            refuted = math.inf if limit else against["refuted above"]
            return Regions(high=against["largest"], above=refuted)
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
