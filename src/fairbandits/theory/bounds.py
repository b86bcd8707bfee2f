"""Bounds of the four papers' theorems that take more than a line; the ledgers have the others.

`rounds` t are a number or an array; other arrays have the arm, or the group, as their last axis and
a round as the one before it. `gap` is Delta_i, 0 for the best arm, `quota` r_i, `penalty` A_k. A
bound on a regret is the sum over arms, without its O(.) term.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

#: UCB1's regret beyond its logarithm, in units of the sum of gaps.
CONSTANT = 1 + math.pi**2 / 3

# --------------------------------------------- BanditQ; V is the weight of reward against queues


def squared_queue_bound(n_arms: int, V: float, rounds: ArrayLike) -> np.ndarray:
    """Return the bound of Proposition 1 on the mean of Q_i(t)^2."""
    t = np.asarray(rounds, float)
    squares = n_arms * t * (t + 1) * (2 * t + 1) / 6
    return 2 * (V + 1) * t + 4 * np.sqrt(2 * squares) + 4 * V * np.sqrt(2 * n_arms * t)


def regret_bound(n_arms: int, V: float, rounds: ArrayLike) -> np.ndarray:
    """Return the bound of Proposition 3 on the regret, from Eq. 14."""
    t = np.asarray(rounds, float)
    inside = 2 * (V + 1) * t**2 + 4 * math.sqrt(2 * n_arms) * V * t**1.5
    # bounds the root of the sum of the squared queues so far
    root = (4 * math.sqrt(2) * t + np.sqrt(32 * t**2 + 4 * inside)) / 2
    return (2 * t + 4 * math.sqrt(2) * root + 4 * V * np.sqrt(2 * n_arms * t)) / (2 * V)


def learner_bound(
    rounds: ArrayLike, gain_sum: np.ndarray, gain_squares: np.ndarray, gain_max: np.ndarray
) -> np.ndarray:
    """Return Theorem 2's bound on the regret against surrogate rewards, from the arms' gains."""
    n_arms = gain_sum.shape[-1]
    size = 1 + np.sqrt(2 * n_arms * gain_squares.sum(axis=-1))
    size += 2 * gain_max.max(axis=-1) * np.sqrt(n_arms * np.asarray(rounds, float))
    return (2 + np.log(1 + np.abs(gain_sum).max(axis=-1))) * size


# ---------------------------------------------------------- Fair-Learn; alpha is the tolerance


def learning_pulls(rounds: ArrayLike, gap: ArrayLike) -> np.ndarray:
    """Return 8 ln t / Delta_i^2; infinite for arms without a gap."""
    return _over(8 * np.log(np.asarray(rounds)[..., None]), np.asarray(gap, float) ** 2)


def _over(logs: np.ndarray, gap: np.ndarray, without: float = np.inf) -> np.ndarray:
    """Return a ratio, and another value for arms without a gap."""
    logs, gap = np.broadcast_arrays(logs, gap)
    return np.divide(logs, gap, out=np.full(gap.shape, without), where=gap > 0)


def quota_pulls(rounds: ArrayLike, quota: ArrayLike) -> np.ndarray:
    """Return r_i t."""
    return np.asarray(quota, float) * np.asarray(rounds)[..., None]


def still_learning(rounds: ArrayLike, gap: ArrayLike, forced: ArrayLike) -> np.ndarray:
    """Return which arms are in S(t), r_i t - alpha < 8 ln t / Delta_i^2, and not best."""
    return (np.asarray(gap) > 0) & (forced < learning_pulls(rounds, gap))


def r_regret_bound(
    rounds: ArrayLike, gap: ArrayLike, quota: ArrayLike, alpha: float, *, clipped: bool = False
) -> np.ndarray:
    """Return Theorem 2's bound on the r-Regret; `clipped`, with max(0, r_i T - alpha) in it."""
    forced = quota_pulls(rounds, quota) - alpha
    learning = still_learning(rounds, gap, forced)
    forced = np.maximum(forced, 0.0) if clipped else forced
    beyond = np.where(learning, learning_pulls(rounds, gap), forced) - forced
    return (np.asarray(gap) * (CONSTANT + beyond)).sum(axis=-1)


def fair_regret_bound(
    rounds: ArrayLike, gap: ArrayLike, quota: ArrayLike, alpha: float
) -> np.ndarray:
    """Return Theorem 4's bound on the conventional regret."""
    forced = quota_pulls(rounds, quota) - alpha
    learning = still_learning(rounds, gap, forced)
    pulls = np.where(learning, learning_pulls(rounds, gap), forced)
    return (np.asarray(gap) * (CONSTANT + pulls)).sum(axis=-1)


def ucb1_bound(rounds: ArrayLike, gap: ArrayLike) -> np.ndarray:
    """Return Theorem 6's bound on the regret of UCB1: that of Theorem 4 without quotas."""
    return fair_regret_bound(rounds, gap, np.zeros(np.shape(gap)), 0)


# ---------------------------- HT-UCB; an arm with Delta_k > A_k is non-critical, else critical


def raised_pulls(rounds: ArrayLike, gap: ArrayLike, penalty: ArrayLike) -> np.ndarray:
    """Return 8 ln t / (Delta_k - A_k)^2; infinite for arms that are not non-critical."""
    return learning_pulls(rounds, np.maximum(np.asarray(gap, float) - penalty, 0.0))


def critical_pulls(rounds: ArrayLike, gap: ArrayLike, quota: ArrayLike) -> np.ndarray:
    """Return Theorem 2's bound on the pulls of a critical arm, max(8 ln t / Delta^2, tau t)."""
    return np.maximum(learning_pulls(rounds, gap), quota_pulls(rounds, quota))


def non_critical_pulls(
    rounds: ArrayLike, gap: ArrayLike, penalty: ArrayLike, quota: ArrayLike
) -> np.ndarray:
    """Return Theorem 2's bound on the pulls of a non-critical arm."""
    within = np.minimum(raised_pulls(rounds, gap, penalty), quota_pulls(rounds, quota))
    return np.maximum(within, learning_pulls(rounds, gap))


def penalised_bound(
    rounds: ArrayLike, gap: ArrayLike, penalty: ArrayLike, quota: ArrayLike, *, as_printed: bool
) -> np.ndarray:
    """Return Eq. 13's bound on the penalised regret, printed or by the bound on critical pulls."""
    gap, penalty = (np.asarray(values, float) for values in (gap, penalty))
    owed, logs = quota_pulls(rounds, quota), 8 * np.log(np.asarray(rounds)[..., None])
    margin, learning = np.maximum(gap - penalty, 0.0), _over(logs, gap, 0.0)
    beyond = np.maximum(learning - (owed if as_printed else gap * owed), 0.0)
    within = np.maximum(np.minimum(_over(logs, margin), margin * owed), learning)
    return np.where(margin > 0, within, np.where(gap > 0, beyond, 0.0)).sum(axis=-1)


def maximal_coefficients(means: ArrayLike, penalty: ArrayLike) -> np.ndarray:
    """Return a_j of Theorem 3 (Eq. 14) for each arm; infinite where two sums mu + A are equal."""
    means, penalty = np.asarray(means, float), np.ravel(penalty)
    sums = means + penalty
    order = np.argsort(-sums, kind="stable")
    with np.errstate(divide="ignore"):
        above = 1 / (sums[:, None] - means[None, :]) ** 2
        below = 1 / (sums[:, None] - sums[None, :]) ** 2
    steps = [
        above[arm, order[:rank]].sum() + below[arm, order[rank + 1 :]].sum()
        for rank, arm in enumerate(order)
    ]
    coefficients = np.empty(means.size)
    # sums of (j - d + 1) b_d over d <= j are those of sums
    coefficients[order] = 8 * np.cumsum(np.cumsum(steps))
    return coefficients


def gap_free_terms(rounds: ArrayLike, penalty: ArrayLike, quota: ArrayLike) -> np.ndarray:
    """Return the three terms of Theorem 4 (Eq. 15), shape (..., 3)."""
    quota, t = np.ravel(quota), np.asarray(rounds, float)
    n_arms, logs = quota.size, np.log(t)
    terms = [
        8 * np.sqrt(t * logs) * np.sqrt(quota).sum(),
        8 * np.sqrt((1 - quota.min()) * n_arms * t * logs),
        np.max(penalty) * n_arms * t ** (2 / 3) * np.sqrt(2 * logs),
    ]
    return np.stack(terms, axis=-1)


def committing_regret(n_arms: int, share: float, horizon: float) -> float:
    """Return an upper bound on the regret of filling quotas (1 - share) T / K, then committing.

    Penalty rates are 1, rewards normal with variance 1. With m pulls of each arm the mean gap of
    the best-looking arm is at most the sum of x exp(-m x^2 / 4) <= sqrt(2 / (m e)) over gaps x.
    """
    pulls = (1 - share) * horizon / n_arms
    return share * horizon * (n_arms - 1) * math.sqrt(2 / (pulls * math.e))


def least_worst_regret(n_arms: int, quota: float, horizon: float, constant: float) -> float:
    """Return Theorem 7's bound C (1 - 2 max tau) sqrt((K - 1) T)."""
    return constant * (1 - 2 * quota) * math.sqrt((n_arms - 1) * horizon)


# ------------- BF-UCB with f(mu) = mu; `served` are the rounds N_g of groups, `group_size` is k_g
# With means of at least 1/2 the paper's constants L and L_1 are 1.


def group_bound(
    rounds: ArrayLike,
    served: np.ndarray,
    group_size: np.ndarray,
    gap: np.ndarray,
    quotas: ArrayLike,
    delta: float,
    merit_ratio: float,
    *,
    clipped: bool = False,
) -> np.ndarray:
    """Return Lemma 5's bound on sum_g (N_g - floor(beta_g T)) Delta_g; `clipped`, no part < 0."""
    positive = np.where(gap > 0, gap, np.inf).min(axis=-1, keepdims=True)
    served = np.maximum(served, 1)
    learning = 8 / positive**2 * np.log(4 * served * group_size / delta)
    chance = np.sqrt(served * np.log(group_size / delta) / 2)
    share = group_size * merit_ratio * (learning + chance) - quota_pulls(rounds, quotas)
    share = np.maximum(share, 0.0) if clipped else share
    return ((CONSTANT + share) * gap).sum(axis=-1)


def within_bound(
    rounds: np.ndarray, served: np.ndarray, group_size: np.ndarray, delta: float
) -> np.ndarray:
    """Return Theorem 7's addition to Lemma 5: (1 - delta) sum_g sqrt(N_g k_g) + delta T."""
    return (1 - delta) * np.sqrt(served * group_size).sum(axis=-1) + delta * rounds


def merit_bound(
    served: np.ndarray, group_size: np.ndarray, delta: float, least_mean: ArrayLike
) -> np.ndarray:
    """Return the last line of Theorem 3's proof, for each group."""
    served = np.maximum(served, 1)
    width = np.sqrt(2 * np.log(4 * group_size * served / delta))
    roots = azuma_bound(served, delta) + 2 * np.sqrt(served * group_size)
    return 2 / np.asarray(least_mean) * width * roots


def azuma_bound(served: np.ndarray, delta: float) -> np.ndarray:
    """Return the right side of Eq. 4, sqrt(2 N_g ln(4 / delta))."""
    return np.sqrt(2 * served * math.log(4 / delta))


def root_sum(plays: np.ndarray) -> np.ndarray:
    """Return the sum of 1 / sqrt(n) over n = 1, ..., N - 1: the roots before each later pull."""
    return _roots(int(plays.max()))[np.maximum(plays - 1, 0)]


@cache
def _roots(most: int) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(1 / np.sqrt(np.arange(1, most + 1)))])
