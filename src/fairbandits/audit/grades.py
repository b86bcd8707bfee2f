"""What a finding is worth: its grade (docs/procedures.md), and how many replicates it needs."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from fairbandits.audit.finding import GRADES, INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding
from fairbandits.audit.procedures import PROCEDURES, judged_against, range_of, settings_of

EXACT, MEASURED, CONSISTENT = GRADES
#: Procedures whose passing says that the data agree with the claim, not that it is so: rates over
#: a window, and curves inside what one more run could give.
AGREEING = ("slope", "curve")
#: Share of a bound's value below which meeting it supports nothing, and below which it is weak.
FAR_OFF, LOOSE = 0.01, 0.1
#: Key in `also` of an undecided finding: the number of replicates that would decide it.
NEEDED = "n that decides"
#: Largest number of replicates that is tried, and the power that is wanted.
CEILING, POWER = 10**7, 0.9


def weighed(
    test: Any, finding: Finding, control: Finding | None, data: Mapping[str, Any] | None
) -> Finding:
    """Return a finding with its control's verdict and its grade; `data` are the control's.

    `test` has its procedure, its settings, and whether all is `given` without chance.
    """
    if control is not None:
        if _fails_in_all_runs(test, control):
            control = replace(control, verdict=NOT_REPRODUCED)
        finding = replace(finding, control=control.verdict)
    if finding.verdict == NOT_REPRODUCED:  # by arithmetic or a counterexample, or measured
        exact = test.given or test.procedure == "exact"
        thin = "THIN" in finding.tags
        return replace(finding, grade=EXACT if exact else CONSISTENT if thin else MEASURED)
    if finding.verdict != REPRODUCED:
        return finding
    share = finding.also.get("tightness", 1.0)  # how near a mean comes to its bound
    if test.settings.get("claim") == "at least":
        share = 1 / share if share > 0 else 1.0
    failed = control is not None and fails(test, finding, control, data)
    unsigned = "SIGN" in finding.tags and np.isnan(finding.statistic)
    certain = unsigned or share < FAR_OFF or "CONSTANT" in finding.tags
    if not failed and (certain or control is not None):
        tag = "VACUOUS" if control is None else "TRIVIAL"
        return replace(finding, verdict=INCONCLUSIVE, p=1.0, tags=(*finding.tags, tag))
    refuted = control is not None and control.verdict == NOT_REPRODUCED
    weak = share < LOOSE or "THIN" in finding.tags
    agrees = not refuted or test.procedure in AGREEING or weak
    return replace(finding, grade=EXACT if test.given else CONSISTENT if agrees else MEASURED)


def fails(test: Any, finding: Finding, control: Finding, data: Mapping[str, Any]) -> bool:
    """Return whether the claim is not reproduced of its control, or would be by its estimate."""
    if control.verdict != INCONCLUSIVE:
        return control.verdict == NOT_REPRODUCED
    bounded = np.isfinite([control.low, control.high]).all()
    if bounded and not control.low <= finding.statistic <= control.high:
        return True
    changes = {"level": 0.5, "asymptotic": False}
    known = changes.keys() & {*settings_of(test.procedure)}
    settings = dict(test.settings) | {name: changes[name] for name in known}
    return PROCEDURES[test.procedure](**data, **settings).verdict == NOT_REPRODUCED


def _fails_in_all_runs(test: Any, control: Finding) -> bool:
    """Return whether a control has one value in all runs, and the claim is wrong of that."""
    claimed, limit = test.settings.get("claim"), control.also.get("limit")
    if control.verdict != INCONCLUSIVE or claimed not in ("at most", "at least"):
        return False
    if limit is None:  # a difference that has to be positive
        is_zero = control.statistic == 0 and not np.isfinite([control.low, control.high]).all()
        return test.procedure == "mean" and claimed == "at least" and is_zero
    beyond = control.statistic > limit if claimed == "at most" else control.statistic < limit
    return "CONSTANT" in control.tags and beyond


def weakest(grades: Iterable[str]) -> str:
    """Return the weakest of some grades; none if there is none."""
    return max(grades, key=("", *GRADES).index, default="")


def replicates_needed(
    procedure: str, settings: Mapping[str, Any], finding: Finding
) -> float | None:
    """Return how many replicates decide a question if the estimate is the truth.

    None where the procedure does not average replicates; infinite where no number decides. A limit
    is z_level standard errors away, the margin must be z_level + z_power, and these shrink as
    1 / sqrt(n). The allowance for skewness shrinks faster, so the number is on the safe side.
    """
    if procedure == "share":
        return _of_a_proportion(finding.statistic, settings)
    if procedure not in ("slope", "mean"):
        return None
    value, claim = finding.statistic, settings.get("claim")
    against = judged_against(procedure, settings, finding)
    low, high = range_of(procedure, settings, against)
    level = scipy.stats.norm.ppf(settings["level"])
    stretch = 1 + scipy.stats.norm.ppf(POWER) / level

    def needed(half: float, gap: float) -> float:
        if not (gap > 0 and np.isfinite(half)):
            return math.inf
        # Student's limits are wider than normal ones, by as much as some more replicates make up
        return math.ceil(finding.n * (half * stretch / gap) ** 2 + level**2 / 2)

    down, up = value - finding.low, finding.high - value
    if low < value < high:
        ends = [(down, value - low), (up, high - value)]
        return max((needed(*end) for end in ends if np.isfinite(end[1])), default=math.inf)
    # no number of replicates makes a slope decide against a limit
    if settings.get("asymptotic") and claim != "equal":
        return math.inf
    return needed(up, low - value) if value < low else needed(down, value - high)


def _of_a_proportion(share: float, settings: Mapping[str, Any]) -> float:
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
        enough = (least <= n) & (scipy.stats.binom.sf(least - 1, n, share) >= POWER)
        if enough.any():
            return float(n[enough.argmax()])
        start, size = start + size, 2 * size
    return math.inf
