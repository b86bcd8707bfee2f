"""Measures of pulls: regret, the regret beyond the cost of the quotas, and violation.

See `fairbandits.measures` for shapes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairbandits import checks
from fairbandits.rationals import quota_numerators, rational


def fitted(recorded: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both as arrays, the means with an axis for rounds; ValueError unless they fit."""
    recorded, means = np.asarray(recorded), np.asarray(means, float)
    if means.shape[-1:] != recorded.shape[-1:]:
        raise ValueError(
            f"means must have one entry per arm, got shapes {means.shape} and {recorded.shape}"
        )
    per_replicate = means.ndim == 2 and recorded.ndim == 3 and len(means) in (1, len(recorded))
    if means.ndim != 1 and not per_replicate:
        raise ValueError(
            "means must have shape (n_arms,), or (n_replicates, n_arms) with plays of shape "
            f"(n_replicates, n_checkpoints, n_arms); got {means.shape} with {recorded.shape}"
        )
    return recorded, means[..., None, :] if recorded.ndim > 1 else means


def dot(recorded: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return sums over arms of products with values that have an axis for rounds."""
    return (recorded @ values.swapaxes(-1, -2))[..., 0]


def gaps(means: Sequence[float]) -> np.ndarray:
    """Return Delta_i = max mu - mu_i, shape (..., n_arms)."""
    means = np.asarray(means, float)
    return means.max(axis=-1, keepdims=True) - means


def regret(plays: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the conventional pseudo-regret sum_i Delta_i N_i(t), shape (..., n_checkpoints).

    It is the cost of all pulls of suboptimal arms, also of pulls that quotas or targets demand.

    Parameters
    ----------
    plays : ndarray, shape (..., n_checkpoints, n_arms)
        Pulls N_i(t), or summed probabilities.
    means : ndarray, shape (n_arms,) or (n_replicates, n_arms)
        True means mu_i; Delta_i = max mu - mu_i.

    Examples
    --------
    >>> regret([[[8, 2], [15, 5]]], [0.75, 0.5])
    array([[0.5 , 1.25]])
    """
    plays, means = fitted(plays, means)
    return (plays * gaps(means)).sum(axis=-1)


def pseudo_reward(
    plays: np.ndarray, means: np.ndarray, initial_plays: np.ndarray | float = 0
) -> np.ndarray:
    """Return sum_i mu_i (N_i(t) - initial pulls), shape (..., n_checkpoints), as a dot product."""
    return dot(*fitted(np.asarray(plays) - initial_plays, means))


def floors(rounds: np.ndarray, numerators: Sequence[int], denominator: int) -> np.ndarray:
    """Return floor(r_i t), integers of shape (n_checkpoints, n_quotas), exact."""
    return np.asarray(rounds, np.int64)[:, None] * np.array(numerators) // denominator


def r_regret(
    rounds: np.ndarray, plays: np.ndarray, means: np.ndarray, quotas: Sequence, tolerance: Any = 0
) -> np.ndarray:
    """Return the r-Regret, sum_i Delta_i (N_i(t) - max(0, floor(r_i t) - alpha)).

    This is the regret against the best policy that meets the quotas in whole pulls. It can be
    negative for a policy that misses them (Patil et al., Definition 4, with the floor of Definition
    2).

    Parameters
    ----------
    rounds : ndarray of int, shape (n_checkpoints,)
        Rounds t.
    plays, means
        As in `regret`.
    quotas : sequence of number or str, length n_arms
        Quotas r_i, fractions of the pulls, exact.
    tolerance : number or str
        alpha >= 0, exact.
    """
    plays, means = fitted(plays, means)
    owed = floors(rounds, *quota_numerators(quotas, np.max(rounds, initial=1)))
    free = np.maximum(0.0, owed - float(rational("tolerance", tolerance)))
    return ((plays - free) * gaps(means)).sum(axis=-1)


def lacking(rounds: np.ndarray, plays: np.ndarray, quotas: Sequence) -> tuple[np.ndarray, int]:
    """Return r_i t - N_i(t) as exact numerators, shape of the plays, and their denominator."""
    plays = np.asarray(plays)
    checks.length("quotas", quotas, plays.shape[-1])
    numerators, denominator = quota_numerators(quotas, np.max(rounds, initial=1))
    entitled = np.asarray(rounds, np.int64)[:, None] * np.array(numerators)
    return entitled - denominator * plays, denominator


def violation(rounds: np.ndarray, plays: np.ndarray, quotas: Sequence) -> np.ndarray:
    """Return the largest r_i t - N_i(t) of any arm, in pulls, shape (..., n_checkpoints).

    It is negative if all arms have more than their quotas. Arguments are those of `r_regret`.

    Examples
    --------
    >>> violation([10, 20], [[[8, 2], [15, 5]]], ["1/2", "1/4"])
    array([[0.5, 0. ]])
    """
    lacks, denominator = lacking(rounds, plays, quotas)
    return lacks.max(axis=-1) / denominator
