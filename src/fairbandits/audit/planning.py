"""How many replicates a mean needs, so that their number is fixed before the runs."""

from bisect import bisect_left

import numpy as np
import scipy

from fairbandits.audit.inputs import confidence, number
from fairbandits.audit.limits import EXPONENTIAL, LEAST_SKEW, PER_L_SKEW, stretched

#: Fewest replicates, and of laws with a skewness above 1, which shorter samples do not show.
FEWEST, FEWEST_SKEWED = 32, 64
#: Largest number that is tried.
MOST = 10**7


def n_for(
    effect: float, sd: float, skewness: float = 0.0, level: float = 0.99, power: float = 0.95
) -> int:
    """Return how many replicates show with this power that a mean is `effect` from its limit.

    `skewness` is that of replicates, or of paired differences: positive if the long tail points to
    the limit, and at most 2, that of an exponential law. An event of probability p that matters
    needs 10 / p replicates besides.

    >>> n_for(effect=0.5, sd=1), n_for(effect=0.5, sd=1, skewness=2)
    (71, 118)
    """
    confidence(level)
    if not (number("effect", effect) > 0 and number("sd", sd) > 0):
        raise ValueError(f"effect and sd must be above 0, got {effect} and {sd}")
    if number("skewness", skewness) > EXPONENTIAL:
        raise ValueError(f"skewness must be at most {EXPONENTIAL:g}, got {skewness}")
    if not 0 < number("power", power) < 1:
        raise ValueError(f"power must be above 0 and below 1, got {power}")

    def is_enough(n: int) -> bool:
        return power_of_mean(n, effect / sd, skewness, level) >= power

    fewest = FEWEST_SKEWED if skewness > 1 else FEWEST
    n = bisect_left(range(MOST + 1), True, lo=fewest, key=is_enough)
    if n > MOST:
        raise ValueError(f"more than {MOST} replicates would be needed")
    return n


def power_of_mean(n: int, effect: float, skewness: float, level: float) -> float:
    """Return the power for gamma laws with this skewness, of an effect in standard deviations."""
    # the L-skewness is a sixth of the skewness, exactly so of the exponential law
    allowed = np.clip(LEAST_SKEW + PER_L_SKEW * skewness / 6, 0, EXPONENTIAL)
    width = stretched(scipy.special.stdtrit(n - 1, level), allowed / np.sqrt(n))
    # the variance of the distance in standard errors, of which the deviation is estimated
    kurtosis = 3 + 1.5 * skewness**2
    spread = 1 + effect * skewness + effect**2 * (kurtosis - 1) / 4
    return float(scipy.special.ndtr((effect * np.sqrt(n) - width) / np.sqrt(spread)))
