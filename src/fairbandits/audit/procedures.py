"""The five procedures that a ledger can name: pure functions from data to a `Finding`."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairbandits.audit.exact import curve, exact, share
from fairbandits.audit.finding import Finding
from fairbandits.audit.growth import slope
from fairbandits.audit.means import mean

#: Name in a ledger -> procedure.
PROCEDURES: dict[str, Callable[..., Finding]] = {
    one.__name__: one for one in (mean, slope, share, curve, exact)
}
#: Procedure -> name of its finding's statistic.
STATISTICS = {
    "mean": "mean",
    "slope": "growth exponent",
    "share": "share",
    "curve": "largest deviation",
    "exact": "largest value",
}


class Parameters(NamedTuple):
    """Data and settings of a procedure, required and optional."""

    data: tuple[str, ...]
    optional_data: tuple[str, ...]
    settings: tuple[str, ...]
    optional_settings: tuple[str, ...]


def parameters_of(name: str) -> Parameters:
    """Return a procedure's parameters."""
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for one in inspect.signature(PROCEDURES[name]).parameters.values():
        place = (one.kind is one.KEYWORD_ONLY, one.default is not one.empty)
        kinds.setdefault(place, []).append(one.name)
    places = ((False, False), (False, True), (True, False), (True, True))
    return Parameters(*(tuple(kinds.get(place, ())) for place in places))


def judged_against(name: str, settings: Mapping[str, Any], finding: Finding) -> dict[str, float]:
    """Return the reference values of a finding's statistic, the main one first."""
    match name:
        case "mean" if pair := settings.get("ratio") or settings.get("difference"):
            equal = 1.0 if settings.get("ratio") else 0.0
            found = {"equal": equal, "smallest": pair[0], "largest": pair[1]}
        case "mean":
            limit = finding.also.get("limit")
            found = {"zero": 0.0} if limit is None else {"limit": limit}
        case "slope":
            found = {"exponent": settings["exponent"], "margin": settings["margin"]}
        case "share":
            found = {"limit": settings["limit"]}
        case "curve":
            found = {"largest inside": finding.also["largest inside"]}
        case _:
            printed = finding.also.get("printed")
            found = {"zero": 0.0} if printed is None else {"printed": printed}
    return {key: float(value) for key, value in found.items()}
