"""For how long no arm gets behind its quota: known beforehand, as quotas and pulls are integers."""

from collections.abc import Sequence

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE


def paces(quotas: Sequence[int]) -> np.ndarray:
    """Return in how many rounds each arm's deficit grows by 1, in units of the denominator.

    Infinite for an arm without a quota.
    """
    return np.array([1.0 / quota if quota else np.inf for quota in quotas])


@register_jitable(**INLINE)
def wait(room, pace):
    """Return for how many rounds an arm of this pace stays within `room`, before rounding down.

    `room` is how much its deficit may grow, a whole number of at least 0.
    """
    return room * pace if room > 0 else 0.0


@register_jitable(**INLINE)
def whole(rounds):
    """Return a whole number of rounds that is at most the exact wait, and mostly equal to it."""
    return int(min(rounds, 2.0**60) * (1.0 - 2.0**-50))
