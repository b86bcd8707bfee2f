"""What a finding is worth: whether it could have come out otherwise, its grade, its power.

Grades are those of `fairbandits.audit.finding.GRADES`; docs/procedures.md has the rules in words.
Power is the number of replicates that a test needs, estimated from its finding with the present
ones.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from fairbandits.audit.claims import Test
from fairbandits.audit.finding import (
    GRADES,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Finding,
    number,
)
from fairbandits.audit.procedures import PROCEDURES, judged_against, parameters_of

EXACT, MEASURED, CONSISTENT = GRADES
#: Procedures of which a pass says that the data agree with the claim, not that it is so: rates over
#: a window, and curves inside what one more run could give.
AGREEING = ("slope", "curve")
#: Share of a bound's value below which meeting it supports nothing, and below which it is weak.
FAR_OFF, LOOSE = 0.01, 0.1
#: Key in `also` of an undecided finding: the number of replicates that would decide it.
NEEDED = "n that decides"
#: Largest number of replicates that is tried.
CEILING = 10**7


def weighed(
    test: Test, finding: Finding, control: Finding | None, data: Mapping[str, Any] | None
) -> Finding:
    """Return a finding with the verdict on its control and its grade.

    `control` is the finding on the control, and `data` what it was made of. What the control passes
    too is TRIVIAL, and what could not have failed VACUOUS, unless the control fails: both support
    nothing and are inconclusive.
    """
    if control is not None:
        finding = replace(finding, control=control.verdict)
    if finding.verdict == NOT_REPRODUCED:  # by arithmetic or a counterexample, or measured
        exact = test.is_exact or test.procedure == "exact"
        return replace(finding, grade=EXACT if exact else MEASURED)
    if finding.verdict != REPRODUCED:
        return finding
    failed = control is not None and fails(test, finding, control, data)
    tag = "" if failed else "TRIVIAL" if control is not None else _empty(test, finding)
    if tag:
        return replace(finding, verdict=INCONCLUSIVE, p=1.0, tags=(*finding.tags, tag))
    return replace(finding, grade=_for(test, finding, failed))


def fails(test: Test, finding: Finding, control: Finding, data: Mapping[str, Any]) -> bool:
    """Return whether the claim is not reproduced of its control.

    A control whose replicates cannot decide fails if its interval leaves out what was found, since
    one without any effect would else fail by chance. Where the interval does not, the control's
    estimate decides: it is on one side of the margin at a level of one half, also of a claim about
    a limit. One value in all runs is beyond the bound or not; a difference of 0 is no difference.
    """
    if control.verdict != INCONCLUSIVE:
        return control.verdict == NOT_REPRODUCED
    bounded = test.settings.get("claim") in ("at most", "at least") and "limit" in control.also
    if bounded and "CONSTANT" in control.tags:
        beyond = control.statistic - control.also["limit"]
        return beyond > 0 if test.settings["claim"] == "at most" else beyond < 0
    above_0 = test.procedure == "mean" and test.settings["claim"] == "at least"
    is_difference = above_0 and "limit" not in control.also
    if np.isfinite([control.low, control.high]).all():
        if not control.low <= finding.statistic <= control.high:
            return True
    elif is_difference and control.statistic == 0:
        return True
    changes = {"level": 0.5, "asymptotic": False}
    takes = parameters_of(test.procedure)
    settings = dict(test.settings) | {
        name: value
        for name, value in changes.items()
        if name in (*takes.settings, *takes.optional_settings)
    }
    found = PROCEDURES[test.procedure](**data, **settings)
    return found.verdict == NOT_REPRODUCED


def weakest(grades: Iterable[str]) -> str:
    """Return the weakest of some grades; none if there is none.

    Examples
    --------
    >>> weakest(["exact", "consistent", "measured"])
    'consistent'
    >>> weakest([""])
    ''
    """
    order = ("", *GRADES)
    return max(grades, key=order.index, default="")


def _for(test: Test, finding: Finding, failed: bool) -> str:
    if test.is_exact:
        return EXACT
    agrees = not failed or test.procedure in AGREEING
    return CONSISTENT if agrees or _tightness(test, finding) < LOOSE else MEASURED


def _empty(test: Test, finding: Finding) -> str:
    """Return VACUOUS if it could not have failed, by what was asked or what was found."""
    unsigned = "SIGN" in finding.tags and np.isnan(finding.statistic)
    far_off = _tightness(test, finding) < FAR_OFF
    constant = "CONSTANT" in finding.tags
    return "VACUOUS" if test.is_algebra or unsigned or far_off or constant else ""


def _tightness(test: Test, finding: Finding) -> float:
    """Return how near a mean comes to its bound, as a share of the larger; 1 without a bound."""
    share = finding.also.get("tightness", 1.0)
    if test.settings.get("claim") == "at least":
        return 1 / share if share > 0 else 1.0
    return share


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
