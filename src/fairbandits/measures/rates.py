"""Measures of rewards against BanditQ's targets; see `fairbandits.measures` for shapes."""

from collections.abc import Sequence

import numpy as np

from fairbandits.measures.pulls import fitted, pseudo_reward
from fairbandits.theory.static import static_benchmark


def _best(rounds: np.ndarray, means: np.ndarray, targets: Sequence[float]) -> np.ndarray:
    """Return b* t, the mean reward of the best distribution that meets the targets."""
    best = np.apply_along_axis(lambda mu: [static_benchmark(mu, targets).reward], -1, means)
    return best * np.asarray(rounds)


def target_regret(
    rounds: np.ndarray, plays: np.ndarray, means: np.ndarray, targets: Sequence[float]
) -> np.ndarray:
    """Return b* t - sum_i mu_i N_i(t), the regret against the best distribution that meets targets.

    It can be negative for a policy that misses the targets (BanditQ, Eqs 1-3).

    Arguments are those of `r_regret`, and `targets`, the reward rates lambda_i, 0 for arms without
    a target. Raise ValueError if no distribution meets them.
    """
    earned = pseudo_reward(plays, means)
    return _best(rounds, means, targets) - earned


def realised_regret(
    rounds: np.ndarray, rewards: np.ndarray, means: np.ndarray, targets: Sequence[float]
) -> np.ndarray:
    """Return b* t minus the reward earned; arguments as in `target_regret`, with rewards for plays.

    With full information the reward is <x(s), r(s)>. BanditQ's figures show this regret.
    """
    rewards, _ = fitted(rewards, means)
    return _best(rounds, means, targets) - rewards.sum(axis=-1)


def reward_rates(rounds: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """Return each arm's accrued reward per round, shape (..., n_checkpoints, n_arms)."""
    return rewards / np.asarray(rounds, float)[:, None]


def target_violation(
    rounds: np.ndarray, rewards: np.ndarray, targets: Sequence[float]
) -> np.ndarray:
    """Return the largest lambda_i t - R_i(t) of any protected arm, in reward.

    It is negative if all of them have more than their targets. The paper's violation (Eq. 5) is a
    maximum of means over replicates; the mean of this violation is at least as large.

    Examples
    --------
    >>> target_violation([10, 20], [[[3, 5], [6, 12]]], [0.5, 0])
    array([[2., 4.]])
    """
    targets = np.asarray(targets, float)
    if not (targets > 0).any():
        raise ValueError("targets must be above 0 for one arm at least, or nothing can be violated")
    owed = targets * np.asarray(rounds, float)[:, None] - np.asarray(rewards)
    return owed[..., targets > 0].max(axis=-1)
