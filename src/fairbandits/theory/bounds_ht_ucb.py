"""Bounds of the hard-threshold paper's theorems, without their O(.) terms.

`gaps` are Delta_k, 0 for the best arm, `penalties` A_k, `quotas` tau_k and `horizon` T. The last
axis of arrays is the arm, which bounds on the regret are sums over; others are broadcast.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from fairbandits.theory.bounds_fair_ucb import learning_pulls


def raised_pulls(horizon: ArrayLike, gaps: ArrayLike, penalties: ArrayLike) -> np.ndarray:
    """Return 8 ln T / (Delta_k - A_k)^2; infinite for arms that are not non-critical."""
    return learning_pulls(horizon, np.maximum(np.asarray(gaps, float) - penalties, 0.0))


def critical_pulls(horizon: ArrayLike, gaps: ArrayLike, quotas: ArrayLike) -> np.ndarray:
    """Return Theorem 2's bound on the pulls of a critical arm, max(8 ln T / Delta^2, tau T)."""
    return np.maximum(learning_pulls(horizon, gaps), np.asarray(quotas, float) * horizon)


def non_critical_pulls(
    horizon: ArrayLike, gaps: ArrayLike, penalties: ArrayLike, quotas: ArrayLike
) -> np.ndarray:
    """Return Theorem 2's bound on the pulls of a non-critical arm.

    It is max(min(8 ln T / (Delta - A)^2, tau T), 8 ln T / Delta^2).
    """
    within = np.minimum(raised_pulls(horizon, gaps, penalties), np.asarray(quotas, float) * horizon)
    return np.maximum(within, learning_pulls(horizon, gaps))


def regret(
    horizon: ArrayLike,
    gaps: ArrayLike,
    penalties: ArrayLike,
    quotas: ArrayLike,
    *,
    as_printed: bool,
) -> np.ndarray:
    """Return Eq. 13's bound on the penalised regret.

    The term of a critical arm is printed as (8 ln T / Delta - tau T)+. The bound on its pulls gives
    (8 ln T / Delta - Delta tau T)+, which is used unless `as_printed`.
    """
    gaps, penalties, quotas = (np.asarray(one, float) for one in (gaps, penalties, quotas))
    owed, logs = quotas * horizon, 8 * np.log(horizon)
    more, margin = gaps > 0, np.maximum(gaps - penalties, 0.0)
    learning = np.divide(logs, gaps, out=np.zeros(np.broadcast(logs, gaps).shape), where=more)
    beyond = np.maximum(learning - (owed if as_printed else gaps * owed), 0.0)
    shape = np.broadcast(logs, margin).shape
    raised = np.divide(logs, margin, out=np.full(shape, np.inf), where=margin > 0)
    within = np.maximum(np.minimum(raised, margin * owed), learning)
    return np.where(margin > 0, within, np.where(more, beyond, 0.0)).sum(axis=-1)


def maximal_coefficients(means: ArrayLike, penalties: ArrayLike) -> np.ndarray:
    """Return a_j of Theorem 3 (Eq. 14) for each arm; infinite where two sums mu + A are equal."""
    means, penalties = np.asarray(means, float), np.asarray(penalties, float)
    sums = means + penalties
    order = np.argsort(-sums, kind="stable")
    with np.errstate(divide="ignore"):
        above = 1 / (sums[:, None] - means[None, :]) ** 2
        below = 1 / (sums[:, None] - sums[None, :]) ** 2
    steps = [
        above[arm, order[:place]].sum() + below[arm, order[place + 1 :]].sum()
        for place, arm in enumerate(order)
    ]
    found = np.empty(means.size)
    # sums of (j - d + 1) b_d over d <= j are those of sums
    found[order] = 8 * np.cumsum(np.cumsum(steps))
    return found


def gap_free_terms(horizon: ArrayLike, penalties: ArrayLike, quotas: ArrayLike) -> np.ndarray:
    """Return the three terms of Theorem 4 (Eq. 15), shape (..., 3)."""
    quotas = np.asarray(quotas, float)
    horizon, n_arms = np.asarray(horizon, float), quotas.shape[-1]
    logs = np.log(horizon)
    return np.stack(
        [
            8 * np.sqrt(horizon * logs) * np.sqrt(quotas).sum(),
            8 * np.sqrt((1 - quotas.min()) * n_arms * horizon * logs),
            np.max(penalties) * n_arms * horizon ** (2 / 3) * np.sqrt(2 * logs),
        ],
        axis=-1,
    )


def committing_regret(n_arms: int, share: float, horizon: float) -> float:
    """Return an upper bound on the regret of a policy that all but ignores the means.

    It fills each arm's quota (1 - share) T / K, then commits to the largest sample mean; penalty
    rates are 1, rewards normal with variance 1. What costs is share T times the mean gap of the
    arm chosen: with m pulls of each arm at most the sum over other arms of x exp(-m x^2 / 4),
    whatever their gaps x, and none of these is above sqrt(2 / (m e)).
    """
    pulls = (1 - share) * horizon / n_arms
    return share * horizon * (n_arms - 1) * math.sqrt(2 / (pulls * math.e))


def least_worst_regret(n_arms: int, quota: float, horizon: float, constant: float) -> float:
    """Return Theorem 7's bound C (1 - 2 max tau) sqrt((K - 1) T)."""
    return constant * (1 - 2 * quota) * math.sqrt((n_arms - 1) * horizon)
