"""What a finding is worth: beside its control, whether it could have come out otherwise, its grade.

Grades are those of `fairbandits.audit.finding.GRADES`; docs/procedures.md has the rules in words.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fairbandits.audit.claims import Test
from fairbandits.audit.finding import (
    GRADES,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Finding,
)
from fairbandits.audit.procedures import PROCEDURES, parameters_of

EXACT, MEASURED, CONSISTENT = GRADES
#: Procedures of which a pass says that the data agree with the claim, not that it is so: rates over
#: a window, and curves inside what one more run could give.
AGREEING = ("slope", "curve")
#: Share of a bound's value below which meeting it supports nothing, and below which it is weak.
FAR_OFF, LOOSE = 0.01, 0.1


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
    a limit; a difference that is 0 in all runs is no difference.
    """
    if control.verdict != INCONCLUSIVE:
        return control.verdict == NOT_REPRODUCED
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
