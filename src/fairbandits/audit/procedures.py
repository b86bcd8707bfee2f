"""The five procedures that a claim can ask: pure functions from data to a `Finding`."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from fairbandits.audit.exact import curve, exact, share
from fairbandits.audit.finding import Finding
from fairbandits.audit.growth import slope
from fairbandits.audit.means import mean

#: Name -> procedure.
PROCEDURES: dict[str, Callable[..., Finding]] = {
    procedure.__name__: procedure for procedure in (mean, slope, share, curve, exact)
}


def settings_of(name: str) -> list[str]:
    """Return the settings that a procedure has, which are its keyword-only parameters."""
    parameters = inspect.signature(PROCEDURES[name]).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def judged_against(name: str, settings: Mapping[str, Any], finding: Finding) -> dict[str, float]:
    """Return the reference values of a finding's statistic, the main one first."""
    match name:
        case "mean" if pair := settings.get("ratio") or settings.get("difference"):
            equal = 1.0 if settings.get("ratio") else 0.0
            against = {"equal": equal, "smallest": pair[0], "largest": pair[1]}
        case "mean":
            limit = finding.also.get("limit")
            against = {"zero": 0.0} if limit is None else {"limit": limit}
        case "slope":
            against = {"exponent": settings["exponent"], "margin": settings["margin"]}
        case "share":
            against = {"limit": settings["limit"]}
        case "curve":
            against = {"largest inside": finding.also["largest inside"]}
        case _:
            printed = finding.also.get("printed")
            against = {"zero": 0.0} if printed is None else {"printed": printed}
    return {key: float(value) for key, value in against.items()}


def range_of(
    name: str, settings: Mapping[str, Any], against: Mapping[str, float]
) -> tuple[float, float]:
    """Return the range of a finding's statistic in which the claim holds."""
    low = high = next(iter(against.values()), None)
    claim = settings.get("claim", "at most")
    match name:
        case "exact" if "printed" in against:
            return low, high
        case "exact":
            return -math.inf, settings.get("tolerance") or 0.0
        case "mean" if claim == "equal":
            return against["smallest"], against["largest"]
        case "slope":
            low, high = low - against["margin"], high + against["margin"]
    return -math.inf if claim == "at most" else low, math.inf if claim == "at least" else high
