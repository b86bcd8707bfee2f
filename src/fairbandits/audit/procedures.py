"""The vocabulary of the audit: every procedure that a ledger can name, in one place.

Each is a pure function from data (its positional parameters) and settings fixed beforehand (its
keyword-only parameters) to a `Finding`. Data that cannot be judged, being empty, too few or not
finite, raise ValueError and never give a verdict.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairbandits.audit.exact import invariant, printed_number
from fairbandits.audit.finding import Finding
from fairbandits.audit.growth import (
    growth_exponent,
    logarithmic_growth,
    proportionality,
)
from fairbandits.audit.means import (
    bound,
    bound_everywhere,
    curve_inside,
    equivalence,
    paired_comparison,
    prediction_interval,
    proportion,
    shape,
    spread_comparison,
)

#: Name in a ledger -> procedure.
PROCEDURES: dict[str, Callable[..., Finding]] = {
    one.__name__: one
    for one in (
        invariant,
        bound,
        bound_everywhere,
        growth_exponent,
        logarithmic_growth,
        paired_comparison,
        equivalence,
        proportionality,
        proportion,
        printed_number,
        prediction_interval,
        curve_inside,
        shape,
        spread_comparison,
    )
}


class Parameters(NamedTuple):
    """Data and settings of a procedure, required and optional."""

    data: tuple[str, ...]
    optional_data: tuple[str, ...]
    settings: tuple[str, ...]
    optional_settings: tuple[str, ...]


def parameters_of(name: str) -> Parameters:
    """Return a procedure's parameters, without the random generator, which the caller makes."""
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for one in inspect.signature(PROCEDURES[name]).parameters.values():
        if one.name != "rng":
            place = (one.kind is one.KEYWORD_ONLY, one.default is not one.empty)
            kinds.setdefault(place, []).append(one.name)
    places = ((False, False), (False, True), (True, False), (True, True))
    return Parameters(*(tuple(kinds.get(place, ())) for place in places))


#: Procedure -> name of its finding's statistic.
STATISTICS = {
    "invariant": "largest excess",
    "bound": "mean",
    "bound_everywhere": "largest mean minus bound",
    "growth_exponent": "growth exponent",
    "logarithmic_growth": "local growth exponent",
    "paired_comparison": "mean difference",
    "equivalence": "ratio of means, or their difference",
    "proportionality": "log-log slope",
    "proportion": "share",
    "printed_number": "value",
    "prediction_interval": "mean",
    "curve_inside": "largest deviation",
    "shape": "weakest contrast",
    "spread_comparison": "ratio of spreads",
}


def judged_against(
    name: str, data: Mapping[str, Any], settings: Mapping[str, Any], finding: Finding
) -> dict[str, float]:
    """Return the reference values of a finding's statistic, the main one first."""
    match name:
        case "bound":
            found = {"limit": data["limit"]}
        case "growth_exponent":
            found = {"exponent": settings["exponent"], "margin": settings["margin"]}
        case "logarithmic_growth":
            allowed = max(settings["ceiling"], 2 * finding.also.get("exponent of ln T", 0.0))
            found = {"largest": allowed, "refuted above": max(settings["refuted_above"], allowed)}
        case "equivalence" if settings.get("difference") is not None:
            smallest, largest = settings["difference"]
            found = {"equal": 0.0, "smallest": smallest, "largest": largest}
        case "equivalence":
            smallest, largest = settings["ratio"]
            found = {"equal": 1.0, "smallest": smallest, "largest": largest}
        case "proportionality":
            (smallest, largest), (low, high) = settings["inside"], settings["outside"]
            found = {"proportional": 1.0, "smallest": smallest, "largest": largest}
            found |= {"refuted below": low, "refuted above": high}
        case "proportion":
            found = {"limit": settings["limit"]}
        case "printed_number" | "prediction_interval":
            found = {"printed": finding.also["printed"]}
        case "curve_inside":
            found = {"largest inside": finding.also["largest inside"]}
        case "spread_comparison":
            found = {"equal": 1.0}
        case _:  # an excess, a difference or a contrast
            found = {"zero": 0.0}
    return {key: float(value) for key, value in found.items()}
