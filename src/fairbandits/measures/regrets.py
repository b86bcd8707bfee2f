"""The measures of `fairbandits.metrics` with one convention of shapes.

Recorded arrays come as `fairbandits.run` records them: plays and rewards have shape
(n_replicates, n_checkpoints, n_arms), or lack the first axis for one replicate; `rounds` has shape
(n_checkpoints,), `means` (n_arms,), or (n_replicates, n_arms) where each replicate has its own. A
measure has shape (n_replicates, n_checkpoints), with a third axis if it is of each arm or group.
None averages over replicates. Arguments come in this order: rounds, recorded arrays, means, then
groups, quotas, targets and penalties.

Further measures are in `fairbandits.measures.rates`, ``penalised``, ``penalties`` and ``groups``,
and take any leading axes.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairbandits import checks
from fairbandits.measures import groups as of_groups
from fairbandits.measures import pulls, rates
from fairbandits.rationals import quota_numerators


def regret(plays: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return sum_i Delta_i N_i(t), the conventional pseudo-regret.

    Parameters
    ----------
    plays : ndarray, shape (n_replicates, n_checkpoints, n_arms)
        Pulls N_i(t), or summed probabilities.
    means : ndarray, shape (n_arms,) or (n_replicates, n_arms)
        True means mu_i; Delta_i = max mu - mu_i.

    Returns
    -------
    ndarray, shape (n_replicates, n_checkpoints)

    Raises
    ------
    ValueError
        If there are not as many means as arms, or neither one row nor one for each replicate.

    Examples
    --------
    >>> regret([[[8, 2], [15, 5]]], [0.75, 0.5])
    array([[0.5 , 1.25]])
    """
    return _by_replicate(pulls.regret, plays, means)


def r_regret(
    rounds: np.ndarray, plays: np.ndarray, means: np.ndarray, quotas: Sequence, tolerance: Any = 0
) -> np.ndarray:
    """Return sum_i Delta_i (N_i(t) - max(0, floor(r_i t) - alpha)), the regret beyond the quotas'.

    It can be negative for a policy that is not fair.

    Parameters
    ----------
    rounds : ndarray of int, shape (n_checkpoints,)
        Rounds t.
    plays, means
        As in `regret`.
    quotas : sequence of number or str, length n_arms
        Required fractions of pulls r_i, exact.
    tolerance : number or str
        alpha >= 0.

    Returns
    -------
    ndarray, shape (n_replicates, n_checkpoints)

    References
    ----------
    Patil et al., Definition 4.
    """

    def of_one(found: np.ndarray, mu: np.ndarray) -> np.ndarray:
        return pulls.r_regret(rounds, found, mu, quotas, tolerance)

    return _by_replicate(of_one, plays, means)


def violation(rounds: np.ndarray, plays: np.ndarray, quotas: Sequence) -> np.ndarray:
    """Return the largest r_i t - N_i(t) of an arm: the pulls that it lacks.

    Parameters
    ----------
    rounds : ndarray of int, shape (n_checkpoints,)
        Rounds t.
    plays : ndarray, shape (n_replicates, n_checkpoints, n_arms)
        Pulls N_i(t).
    quotas : sequence of number or str, length n_arms
        Required fractions of pulls r_i, exact.

    Returns
    -------
    ndarray, shape (n_replicates, n_checkpoints)
        Negative where all arms have more than their quotas.

    Raises
    ------
    ValueError
        If there are not as many quotas as arms.

    Examples
    --------
    >>> violation([10, 20], [[[8, 2], [15, 5]]], ["1/2", "1/4"])
    array([[0.5, 0. ]])
    """
    plays = np.asarray(plays)
    checks.length("quotas", quotas, plays.shape[-1])
    numerators, denominator = quota_numerators(quotas, np.max(rounds, initial=1))
    owed = np.asarray(rounds, np.int64)[:, None] * np.array(numerators)
    return pulls.violation(owed - denominator * plays) / denominator


def target_regret(
    rounds: np.ndarray, plays: np.ndarray, means: np.ndarray, targets: Sequence[float]
) -> np.ndarray:
    """Return b* t - sum_i mu_i N_i(t): the regret against the best distribution with the targets.

    It can be negative for a policy that misses the targets.

    Parameters
    ----------
    rounds : ndarray of int, shape (n_checkpoints,)
        Rounds t.
    plays, means
        As in `regret`.
    targets : sequence of float, length n_arms
        Reward rates lambda_i; 0 is none.

    Returns
    -------
    ndarray, shape (n_replicates, n_checkpoints)

    Raises
    ------
    ValueError
        If no distribution meets the targets.

    References
    ----------
    BanditQ, Eqs 1-3.
    """

    def of_one(found: np.ndarray, mu: np.ndarray) -> np.ndarray:
        return rates.pseudo_regret(np.asarray(rounds), found, mu, targets)

    return _by_replicate(of_one, plays, means)


def realised_regret(
    rounds: np.ndarray, rewards: np.ndarray, means: np.ndarray, targets: Sequence[float]
) -> np.ndarray:
    """Return b* t less the reward that was seen; `rewards` in place of plays in `target_regret`."""

    def of_one(found: np.ndarray, mu: np.ndarray) -> np.ndarray:
        return rates.realised_regret(np.asarray(rounds), found, mu, targets)

    return _by_replicate(of_one, rewards, means)


def target_violation(
    rounds: np.ndarray, rewards: np.ndarray, targets: Sequence[float]
) -> np.ndarray:
    """Return the largest lambda_i t - R_i(t) of a protected arm: the reward that it lacks.

    Parameters
    ----------
    rounds : ndarray of int, shape (n_checkpoints,)
        Rounds t.
    rewards : ndarray, shape (n_replicates, n_checkpoints, n_arms)
        R_i(t).
    targets : sequence of float, length n_arms
        lambda_i; arms with 0 are unprotected.

    Returns
    -------
    ndarray, shape (n_replicates, n_checkpoints)
        Negative where all protected arms have more than their targets.

    Raises
    ------
    ValueError
        If no arm has a target.

    Notes
    -----
    The paper's violation is a maximum of means over replicates
    (`fairbandits.metrics.rates.rate_violation`); the mean of this one is at least as large.

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


def group_regret(
    rounds: np.ndarray,
    plays: np.ndarray,
    means: np.ndarray,
    groups: Sequence[int],
    quotas: Sequence,
    merit: str = "power",
    c: float = 1.0,
) -> np.ndarray:
    """Return the reward of the best policy that is fair to groups, less sum_i mu_i N_i(t).

    Parameters
    ----------
    rounds : ndarray of int, shape (n_checkpoints,)
        Rounds t.
    plays, means
        As in `regret`.
    groups : sequence of int
        Sizes of the groups, in the order of the arms.
    quotas : sequence of number or str, one per group
        Required fractions of rounds, exact.
    merit, c
        The merit function, mu**c or exp(c mu).

    Returns
    -------
    ndarray, shape (n_replicates, n_checkpoints)

    References
    ----------
    BF-UCB, Definition 5.
    """

    def of_one(found: np.ndarray, mu: np.ndarray) -> np.ndarray:
        return of_groups.reward_regret(rounds, found, mu, groups, quotas, merit, c)

    return _by_replicate(of_one, plays, means)


def group_deficits(
    rounds: np.ndarray, plays: np.ndarray, groups: Sequence[int], quotas: Sequence
) -> np.ndarray:
    """Return floor(beta_g t) - N_g(t): the whole pulls that each group lacks.

    Parameters
    ----------
    rounds, groups, quotas
        As in `group_regret`.
    plays : ndarray, shape (n_replicates, n_checkpoints, n_arms)
        Pulls N_i(t); those of a group are N_g(t).

    Returns
    -------
    ndarray, shape (n_replicates, n_checkpoints, n_groups)
        Group exposure is fair where none is above 0.

    References
    ----------
    BF-UCB, Definition 2.
    """
    return of_groups.group_deficits(rounds, of_groups.per_group(plays, groups), quotas)


def policy_distance(
    policy: np.ndarray,
    means: np.ndarray,
    groups: Sequence[int],
    merit: str = "power",
    c: float = 1.0,
) -> np.ndarray:
    """Return sum_{i in g} |pi_g(i) - pi*_g(i)|, how far each group's policy is from the fair one.

    Parameters
    ----------
    policy : ndarray, shape (n_replicates, n_checkpoints, n_arms)
        Probabilities within each group, e.g. the probe ``share``.
    means
        As in `regret`.
    groups, merit, c
        As in `group_regret`.

    Returns
    -------
    ndarray, shape (n_replicates, n_checkpoints, n_groups)

    References
    ----------
    BF-UCB, the quantity of Fig. 2.
    """

    def of_one(found: np.ndarray, mu: np.ndarray) -> np.ndarray:
        return of_groups.policy_distance(found, mu, groups, merit, c)

    return _by_replicate(of_one, policy, means)


def _by_replicate(measure: Callable, recorded: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return a measure of a recorded array, by each replicate's own means where these differ."""
    recorded, means = np.asarray(recorded), np.asarray(means, float)
    if means.shape[-1:] != recorded.shape[-1:]:
        raise ValueError(
            f"means must have one entry per arm, got shapes {means.shape} and {recorded.shape}"
        )
    if means.ndim == 1:
        return measure(recorded, means)
    if means.ndim != 2 or recorded.ndim != 3 or len(means) != len(recorded):
        raise ValueError(
            "means must have shape (n_arms,), or (n_replicates, n_arms) with plays of shape "
            f"(n_replicates, n_checkpoints, n_arms); got {means.shape} with {recorded.shape}"
        )
    return np.stack([measure(one, mu) for one, mu in zip(recorded, means, strict=True)])
