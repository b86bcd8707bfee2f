"""The vocabulary of the audit: every procedure that a ledger can name, in one place.

Each is a pure function from data (its positional parameters) and settings fixed beforehand (its
keyword-only parameters) to a `Finding`. Data that cannot be judged, being empty, too few or not
finite, raise ValueError and never give a verdict.
"""

import inspect
from collections.abc import Callable
from typing import NamedTuple

from fairbandits.audit.exact import invariant, printed_number
from fairbandits.audit.finding import Finding
from fairbandits.audit.growth import (
    bounded_remainder,
    growth_exponent,
    logarithmic_growth,
    proportionality,
)
from fairbandits.audit.means import (
    bound,
    bound_everywhere,
    equivalence,
    paired_comparison,
    prediction_interval,
    proportion,
    shape,
    spread_comparison,
    universal_comparison,
)

#: Name in a ledger -> procedure.
PROCEDURES: dict[str, Callable[..., Finding]] = {
    one.__name__: one
    for one in (
        invariant,
        bound,
        bound_everywhere,
        bounded_remainder,
        growth_exponent,
        logarithmic_growth,
        paired_comparison,
        universal_comparison,
        equivalence,
        proportionality,
        proportion,
        printed_number,
        prediction_interval,
        shape,
        spread_comparison,
    )
}


class Parameters(NamedTuple):
    """What a procedure takes: data and settings, each with those that may be left out."""

    data: tuple[str, ...]
    optional_data: tuple[str, ...]
    settings: tuple[str, ...]
    optional_settings: tuple[str, ...]


def parameters_of(name: str) -> Parameters:
    """Return what a procedure takes; the generator of random numbers is the caller's affair."""
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for one in inspect.signature(PROCEDURES[name]).parameters.values():
        if one.name != "rng":
            place = (one.kind is one.KEYWORD_ONLY, one.default is not one.empty)
            kinds.setdefault(place, []).append(one.name)
    places = ((False, False), (False, True), (True, False), (True, True))
    return Parameters(*(tuple(kinds.get(place, ())) for place in places))
