"""Bounds of the Fair-Learn paper's theorems (Patil, Ghalme, Nair and Narahari).

`gaps` are Delta_i, 0 for the best arm; `quotas` are r_i, `tolerance` is alpha and `horizon` T. S(T)
are the arms with r_i T - alpha < 8 ln T / Delta_i^2: those that learning pulls more often than
fairness does. The last axis of arrays is the arm, which bounds are sums over; others are broadcast.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

#: UCB1's regret beyond its logarithm, in units of the sum of gaps.
CONSTANT = 1 + math.pi**2 / 3


def learning_pulls(horizon: ArrayLike, gaps: ArrayLike) -> np.ndarray:
    """Return 8 ln T / Delta_i^2; infinite for arms without a gap."""
    logs, gaps = np.broadcast_arrays(8 * np.log(horizon), np.asarray(gaps, float))
    return np.divide(logs, gaps**2, out=np.full(gaps.shape, np.inf), where=gaps > 0)


def still_learning(horizon: ArrayLike, gaps: ArrayLike, forced: ArrayLike) -> np.ndarray:
    """Return which arms are in S(T) and not best; `forced` has r_i T - alpha."""
    return (np.asarray(gaps) > 0) & (forced < learning_pulls(horizon, gaps))


def r_regret_bound(
    horizon: ArrayLike,
    gaps: ArrayLike,
    quotas: ArrayLike,
    tolerance: float = 0,
    *,
    clipped: bool = False,
) -> np.ndarray:
    """Return Theorem 2's bound on the r-Regret; with tolerance 0 it is Theorem 8's.

    It is (1 + pi^2/3) sum Delta_i, plus Delta_i (8 ln T / Delta_i^2 - (r_i T - alpha)) for each arm
    of S(T) that is not best. As printed it grows without limit with the tolerance; `clipped` it has
    max(0, r_i T - alpha), as the definition of r-Regret has.
    """
    forced = np.asarray(quotas, float) * horizon - tolerance
    learning = still_learning(horizon, gaps, forced)
    forced = np.maximum(forced, 0.0) if clipped else forced
    beyond = np.where(learning, learning_pulls(horizon, gaps), forced) - forced
    return (np.asarray(gaps) * (CONSTANT + beyond)).sum(axis=-1)


def fair_regret_bound(
    horizon: ArrayLike, gaps: ArrayLike, quotas: ArrayLike, tolerance: float = 0
) -> np.ndarray:
    """Return Theorem 4's bound on the conventional regret.

    It is (1 + pi^2/3) sum Delta_i, plus 8 ln T / Delta_i for each arm of S(T) that is not best and
    Delta_i (r_i T - alpha) for each arm outside.
    """
    forced = np.asarray(quotas, float) * horizon - tolerance
    learning = still_learning(horizon, gaps, forced)
    pulls = np.where(learning, learning_pulls(horizon, gaps), forced)
    return (np.asarray(gaps) * (CONSTANT + pulls)).sum(axis=-1)


def ucb1_bound(horizon: ArrayLike, gaps: ArrayLike) -> np.ndarray:
    """Return Theorem 6's bound on the regret of UCB1: that of Theorem 4 without quotas."""
    return fair_regret_bound(horizon, gaps, np.zeros(np.shape(gaps)))
