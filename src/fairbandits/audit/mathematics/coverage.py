"""How likely a mean is outside its confidence interval, against what Eq. 3 of BF-UCB allows."""

import math
from collections.abc import Sequence
from fractions import Fraction

#: The paper's confidence.
DELTA = 0.01


def largest_ratio(arms: int, pulls: Sequence[int], span: str) -> float:
    """Return the largest ratio of the chance to delta^2 / (8 N_g^2 k_g), over these N_g.

    With rewards in [0, 1] (``unit``) the chance is bounded by Hoeffding's inequality, with
    2 exp(-2 w^2), summed over all N_i up to N_g. With rewards of -1 and 1, each with probability
    1/2 (``symmetric``), it is exact for an arm that has all of the group's pulls but for one of
    each other arm.
    """
    if span not in ("unit", "symmetric"):
        raise ValueError(f"span must be one of unit, symmetric, got {span!r}")
    found = 0.0
    for served in pulls:
        allowed = DELTA**2 / (8 * served**2 * arms)
        square = 2 * math.log(4 * served * arms / DELTA)
        if span == "unit":
            chance = served * 2 * math.exp(-2 * square)
        else:
            chance = _outside(served - arms + 1, square)
        found = max(found, chance / allowed)
    return found


def _outside(pulls: int, square: float) -> float:
    """Return the chance that |sum of n signs| / sqrt(n) exceeds the root of `square`."""
    ways = sum(
        math.comb(pulls, wins)
        for wins in range(pulls + 1)
        if (2 * wins - pulls) ** 2 > square * pulls
    )
    return float(Fraction(ways, 2**pulls))
