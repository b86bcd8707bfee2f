"""Explicit bounds of BanditQ's theorems that take more than a line; the ledger has the others.

V is the weight of the reward against the queues. Rounds can be arrays.
"""

import math

import numpy as np


def squared_queue(n_arms: int, V: float, rounds: np.ndarray | float) -> np.ndarray:
    """Return the bound of Proposition 1 on the mean of Q_i(t)^2.

    It is 2 (V + 1) t + 4 sqrt(2 sum_i sum_{s <= t} s^2) + 4 V sqrt(2 N t).
    """
    t = np.asarray(rounds, float)
    squares = n_arms * t * (t + 1) * (2 * t + 1) / 6
    return 2 * (V + 1) * t + 4 * np.sqrt(2 * squares) + 4 * V * np.sqrt(2 * n_arms * t)


def regret(n_arms: int, V: float, rounds: np.ndarray | float) -> np.ndarray:
    """Return the bound of Proposition 3 on the regret, from Eq. 14.

    It is (2 t + 4 sqrt(2) B + 4 V sqrt(2 N t)) / (2 V), where
    B = (4 sqrt(2) t + sqrt(32 t^2 + 4 (2 (V + 1) t^2 + 4 sqrt(2 N) V t^(3/2)))) / 2 bounds the root
    of the sum of the squared queues so far.
    """
    t = np.asarray(rounds, float)
    inside = 2 * (V + 1) * t**2 + 4 * math.sqrt(2 * n_arms) * V * t**1.5
    root = (4 * math.sqrt(2) * t + np.sqrt(32 * t**2 + 4 * inside)) / 2
    return (2 * t + 4 * math.sqrt(2) * root + 4 * V * np.sqrt(2 * n_arms * t)) / (2 * V)


def log_barrier_learner(
    rounds: np.ndarray | float,
    gain_sum: np.ndarray,
    gain_squares: np.ndarray,
    gain_max: np.ndarray,
) -> np.ndarray:
    """Return Theorem 2's bound on the regret against the gains up to t, shape (..., n_rounds).

    It is (2 + log(1 + S_inf)) (1 + sqrt(2 N L_2) + 2 L_inf sqrt(N t)), S_inf being the largest sum
    of any arm's gains, L_2 the sum of the squared norms and L_inf the largest gain; the last axis
    of arrays is the arm.
    """
    n_arms = gain_sum.shape[-1]
    size = 1 + np.sqrt(2 * n_arms * gain_squares.sum(axis=-1))
    size += 2 * gain_max.max(axis=-1) * np.sqrt(n_arms * np.asarray(rounds, float))
    return (2 + np.log(1 + np.abs(gain_sum).max(axis=-1))) * size
