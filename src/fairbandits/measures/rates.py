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
    <x(s), r(s)> (BanditQ Eq. 3). The published figures show these two regrets.
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
    """Return max over protected arms of the mean of lambda_i t - R_i(t), shape (n_rounds,).

    It is a maximum of means over replicates, not a mean of maxima (BanditQ Eq. 5); it can be
    negative. `rewards` R_i(t) have shape (n_replicates, n_rounds, n_arms); arms with a target of 0
    are unprotected.
    """
    targets = np.asarray(targets, float)
    owed = targets * np.asarray(rounds, float)[:, None] - rewards.mean(axis=0)
    return owed[:, targets > 0].max(axis=-1)
