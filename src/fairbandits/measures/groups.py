"""Measures for arms in groups: reward regret, exposure, and the distance to the fair policy.

`groups` holds the groups' sizes, in the order of the arms. The merit function is f(x) = x**c, or
exp(c x), as in `fairbandits.policies.BFUCB`. Sections are those of the paper, AAMAS 2024.
"""

from collections.abc import Sequence

import numpy as np

from fairbandits.measures.pulls import dot, fitted, floors, gaps, pseudo_reward
from fairbandits.rationals import common_denominator


def merits(means: np.ndarray, merit: str = "power", c: float = 1.0) -> np.ndarray:
    """Return f(mu_i), shape (..., n_arms)."""
    means = np.asarray(means, float)
    if merit not in ("power", "exponential"):
        raise ValueError(f"merit must be one of power, exponential, got {merit!r}")
    return means**c if merit == "power" else np.exp(c * means)


def per_group(values: np.ndarray, groups: Sequence[int]) -> np.ndarray:
    """Return the sums over the arms of each group, shape (..., n_groups)."""
    first = np.concatenate([[0], np.cumsum(groups)[:-1]])
    return np.add.reduceat(values, first, axis=-1)


def fair_policy(
    means: np.ndarray, groups: Sequence[int], merit: str = "power", c: float = 1.0
) -> np.ndarray:
    """Return pi*_g(i) = f(mu_i) / sum_{j in g} f(mu_j), shape (..., n_arms) (Section 3.2)."""
    f = merits(means, merit, c)
    return f / np.repeat(per_group(f, groups), groups, axis=-1)


def group_values(
    means: np.ndarray, groups: Sequence[int], merit: str = "power", c: float = 1.0
) -> np.ndarray:
    """Return R*_g = sum_i pi*_g(i) mu_i, shape (..., n_groups)."""
    return per_group(fair_policy(means, groups, merit, c) * np.asarray(means, float), groups)


def owed(rounds: np.ndarray, quotas: Sequence) -> np.ndarray:
    """Return floor(beta_g t), integers of shape (n_checkpoints, n_groups), exact."""
    return floors(rounds, *common_denominator("quotas", quotas, np.max(rounds, initial=1)))


def fair_optimum(
    rounds: np.ndarray,
    means: np.ndarray,
    groups: Sequence[int],
    quotas: Sequence,
    merit: str = "power",
    c: float = 1.0,
) -> np.ndarray:
    """Return R*_beta(t), the reward of the best fair policy, shape (..., n_checkpoints) (Eq. 1)."""
    values = group_values(means, groups, merit, c)[..., None, :]
    best = np.asarray(rounds) * values.max(axis=-1)
    return best - dot(owed(rounds, quotas), gaps(values))


def group_regret(
    rounds: np.ndarray,
    plays: np.ndarray,
    means: np.ndarray,
    groups: Sequence[int],
    quotas: Sequence,
    merit: str = "power",
    c: float = 1.0,
) -> np.ndarray:
    """Return the reward of the best policy that is fair to groups, minus sum_i mu_i N_i(t).

    It is BF-UCB's reward regret (Definition 5), shape (..., n_checkpoints).

    Parameters
    ----------
    rounds, plays, means
        As in `r_regret`; or the probe ``probability`` in place of pulls, which has less noise.
    groups : sequence of int
        Sizes of the groups, in the order of the arms.
    quotas : sequence of number or str, one per group
        Quotas beta_g, fractions of the rounds, exact.
    merit, c
        The merit function, mu**c for "power" or exp(c mu) for "exponential".
    """
    earned = pseudo_reward(plays, means)
    return fair_optimum(rounds, means, groups, quotas, merit, c) - earned


def released_regret(
    rounds: np.ndarray,
    rewards: np.ndarray,
    initial_rewards: np.ndarray,
    means: np.ndarray,
    groups: Sequence[int],
    quotas: Sequence,
) -> np.ndarray:
    """Return R*_beta(t - 1) minus rewards since the initial rounds, as in the released program."""
    optimum = fair_optimum(np.asarray(rounds) - 1, means, groups, quotas)
    return optimum - (rewards - initial_rewards).sum(axis=-1)


def decomposition(
    rounds: np.ndarray,
    plays: np.ndarray,
    probability: np.ndarray,
    means: np.ndarray,
    groups: Sequence[int],
    quotas: Sequence,
    merit: str = "power",
    c: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the two parts of the reward regret, each (..., n_checkpoints) (Theorem 4, Eq. 5).

    They are the cost of rounds of suboptimal groups beyond their quotas, and of the policies within
    the groups, from summed probabilities of being drawn, or from pulls.
    """
    plays, means = fitted(plays, means)
    values = group_values(means, groups, merit, c)
    served = per_group(plays, groups)
    between = dot(served - owed(rounds, quotas), gaps(values))
    earned = per_group(probability * means, groups)
    return between, (served * values - earned).sum(axis=-1)


def policy_distance(
    policy: np.ndarray,
    means: np.ndarray,
    groups: Sequence[int],
    merit: str = "power",
    c: float = 1.0,
) -> np.ndarray:
    """Return sum_{i in g} |pi_g(i) - pi*_g(i)|, shape (..., n_checkpoints, n_groups) (Fig. 2).

    `policy` has the probabilities within each group, e.g. the probe ``share``: those of the last
    round that drew from the group by merit. Before the first such round the distance is 1.
    """
    policy, means = fitted(policy, means)
    return per_group(np.abs(policy - fair_policy(means, groups, merit, c)), groups)


def group_deficits(
    rounds: np.ndarray, plays: np.ndarray, groups: Sequence[int], quotas: Sequence
) -> np.ndarray:
    """Return floor(beta_g t) - N_g(t), the shortfall of each group in whole pulls, as integers.

    Group exposure is fair if no shortfall is above 0 (Definition 2); the shape is (...,
    n_checkpoints, n_groups), and arguments are those of `group_regret`.
    """
    return owed(rounds, quotas) - per_group(plays, groups)


def jain_index(plays: np.ndarray) -> np.ndarray:
    """Return (sum N)^2 / (n sum N^2) over the last axis, 1 if all are pulled alike."""
    plays = np.asarray(plays, float)
    return plays.sum(axis=-1) ** 2 / (plays.shape[-1] * (plays**2).sum(axis=-1))
