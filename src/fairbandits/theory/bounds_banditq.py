"""Explicit bounds of BanditQ's theorems that take more than a line; the ledger has the others.

Rounds can be arrays. N is the number of arms, `weight` is V.

References
----------
"BanditQ: fair bandits with guaranteed rewards", Eqs 12 to 16, Proposition 1 and Theorem 2.
"""

import math

import numpy as np


def squared_queue(n_arms: int, weight: float, t: np.ndarray | float) -> np.ndarray:
    """Return 2 (V + 1) t + 4 sqrt(2 sum_i sum_{s <= t} s^2) + 4 V sqrt(2 N t) >= E Q^2."""
    t = np.asarray(t, float)
    squares = n_arms * t * (t + 1) * (2 * t + 1) / 6
    return 2 * (weight + 1) * t + 4 * np.sqrt(2 * squares) + 4 * weight * np.sqrt(2 * n_arms * t)


def squared_queue_bandit(n_arms: int, weight: float, t: np.ndarray | float) -> np.ndarray:
    """Return the bound of E Q^2 under bandit feedback, by Eq. 21 and Theorem 2.

    It is 2 (V + 1) t plus twice `log_barrier_learner`, for gains of at most s + V in round s, since
    a queue is at most s and a reward at most 1.
    """
    t = np.asarray(t, float)
    sums = t * (t + 1) / 2 + weight * t
    squares = t * (t + 1) * (2 * t + 1) / 6 + weight * t * (t + 1) + weight**2 * t
    each = (np.repeat(one[..., None], n_arms, axis=-1) for one in (sums, squares, t + weight))
    return 2 * (weight + 1) * t + 2 * log_barrier_learner(t, *each)


def regret(n_arms: int, weight: float, t: np.ndarray | float) -> np.ndarray:
    """Return the bound of the regret that follows from Eq. 14.

    It is (2 t + 4 sqrt(2) B + 4 V sqrt(2 N t)) / (2 V), where
    B = (4 sqrt(2) t + sqrt(32 t^2 + 4 (2 (V + 1) t^2 + 4 sqrt(2 N) V t^(3/2)))) / 2 bounds the root
    of the sum of the squared queues so far.
    """
    t = np.asarray(t, float)
    inside = 2 * (weight + 1) * t**2 + 4 * math.sqrt(2 * n_arms) * weight * t**1.5
    root = (4 * math.sqrt(2) * t + np.sqrt(32 * t**2 + 4 * inside)) / 2
    return (2 * t + 4 * math.sqrt(2) * root + 4 * weight * np.sqrt(2 * n_arms * t)) / (2 * weight)


def log_barrier_learner(
    t: np.ndarray | float, sums: np.ndarray, squares: np.ndarray, largest: np.ndarray
) -> np.ndarray:
    """Return Theorem 2's bound of the regret against the gains up to t, shape (..., n_rounds).

    It is (2 + log(1 + S_inf)) (1 + sqrt(2 N L_2) + 2 L_inf sqrt(N t)), S_inf being the largest sum
    of any arm's gains, L_2 the sum of the squared norms and L_inf the largest gain. `sums`,
    `squares` and `largest`, shape (..., n_rounds, n_arms), are the sums of each arm's gains and of
    their squares, and its largest gain so far.
    """
    n_arms = sums.shape[-1]
    size = 1 + np.sqrt(2 * n_arms * squares.sum(axis=-1))
    size += 2 * largest.max(axis=-1) * np.sqrt(n_arms * np.asarray(t, float))
    return (2 + np.log(1 + np.abs(sums).max(axis=-1))) * size
