"""BanditQ's measures: three regrets, reward rates and the rate violation.

All take arrays whose last axis is the arm and whose axis before it is the round, as
`fairbandits.run` records them; `rounds` has shape (n_rounds,).
"""

from collections.abc import Sequence

import numpy as np

from fairbandits.theory.static import static_benchmark


def realised_regret(
    rounds: np.ndarray, rewards: np.ndarray, means: Sequence[float], targets: Sequence[float]
) -> np.ndarray:
    """Return b* t minus the accrued reward, shape (..., n_rounds).

    Under bandit feedback the reward is that of the pulled arms, under full information
    <x(s), r(s)> (BanditQ Eq. 3): whichever `rewards` holds. These are the two regrets that the
    published figures show.
    """
    return static_benchmark(means, targets).reward * rounds - rewards.sum(axis=-1)


def pseudo_regret(
    rounds: np.ndarray, plays: np.ndarray, means: Sequence[float], targets: Sequence[float]
) -> np.ndarray:
    """Return sum_s <x* - x(s), mu>, shape (..., n_rounds).

    `plays` holds summed probabilities, or pulls, which have the same mean and more noise.
    """
    return static_benchmark(means, targets).reward * rounds - plays @ np.asarray(means, float)


def reward_rates(rounds: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """Return each arm's accrued reward per round, shape (..., n_rounds, n_arms)."""
    return rewards / np.asarray(rounds, float)[:, None]


def rate_violation(rounds: np.ndarray, rewards: np.ndarray, targets: Sequence[float]) -> np.ndarray:
    """Return max over protected arms of the mean of lambda_i t - R_i(t) (BanditQ Eq. 5).

    Parameters
    ----------
    rounds : ndarray, shape (n_rounds,)
        Rounds t.
    rewards : ndarray, shape (n_replicates, n_rounds, n_arms)
        R_i(t).
    targets : sequence of float, length n_arms
        lambda; arms with 0 are unprotected.

    Returns
    -------
    ndarray, shape (n_rounds,)
        A maximum of means, not a mean of maxima; it can be negative.
    """
    targets = np.asarray(targets, float)
    owed = targets * np.asarray(rounds, float)[:, None] - rewards.mean(axis=0)
    return owed[:, targets > 0].max(axis=-1)
