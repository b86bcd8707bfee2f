"""Measures of penalised pulls: unfairness levels, loss, and the regret against the oracle.

All are pathwise: they take the pulls and the true means, not the noisy rewards. Arrays have the
arm as their last axis and the round before it, as `fairbandits.run` records them; `rounds` has
shape (n_rounds,). Means and penalty rates have shape (n_arms,), or (n_replicates, n_arms) where
each replicate has its own instance; one penalty rate can stand for all arms. Quotas are exact
numbers, length n_arms, of sum below 1, and pulls are compared with them in integers.

References
----------
"A new look at fairness in stochastic multi-armed bandit problems", submission to ICLR 2022,
Eqs 3-10.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairbandits.rationals import quota_numerators


def unfairness_levels(rounds: np.ndarray, plays: np.ndarray, quotas: Sequence) -> np.ndarray:
    """Return (tau_k t - N_k(t))+, shape (..., n_rounds, n_arms): pulls that an arm lacks."""
    surplus, denominator = _surplus(rounds, plays, quotas)
    return np.maximum(-surplus, 0) / denominator


def unfairness(rounds: np.ndarray, plays: np.ndarray, quotas: Sequence) -> np.ndarray:
    """Return U = sum_k (tau_k t - N_k(t))+, shape (..., n_rounds)."""
    surplus, denominator = _surplus(rounds, plays, quotas)
    return np.maximum(-surplus, 0).sum(axis=-1) / denominator


def mean_reward(plays: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return sum_k mu_k N_k(t), shape (..., n_rounds): the expected reward of these pulls."""
    return (plays * _of_rounds(means)).sum(axis=-1)


def penalised_loss(
    rounds: np.ndarray,
    plays: np.ndarray,
    means: np.ndarray,
    quotas: Sequence,
    penalties: float | np.ndarray,
) -> np.ndarray:
    """Return L(t) = sum_k Delta_k N_k(t) + A_k (tau_k t - N_k(t))+ (Eq. 5), shape (..., n_rounds).

    It is the best arm's reward less the penalised reward.
    """
    gaps, rates = _gaps(means), _of_rounds(penalties)
    return (gaps * plays + rates * unfairness_levels(rounds, plays, quotas)).sum(axis=-1)


def penalised_regret(
    rounds: np.ndarray,
    plays: np.ndarray,
    means: np.ndarray,
    quotas: Sequence,
    penalties: float | np.ndarray,
) -> np.ndarray:
    """Return R(t) = L(t) - L*(t) (Eq. 10), shape (..., n_rounds).

    Notes
    -----
    The difference is taken arm by arm, where it is a sum of three terms of which none is negative:
    Delta_k for every pull beyond the quota, (A_k - Delta_k)+ for every pull that lacks, and
    (Delta_k - A_k)+ for every pull within the quota. So no digits cancel, and R >= 0 for every
    policy at every round.
    """
    return sum(regret_parts(rounds, plays, means, quotas, penalties))


class RegretParts(NamedTuple):
    """The three sums that the penalised regret is made of, each of shape (..., n_rounds).

    Attributes
    ----------
    beyond : sum_k Delta_k (N_k - tau_k t)+, pulls beyond the quota
    lacking : sum_k (A_k - Delta_k)+ (tau_k t - N_k)+, pulls that lack
    within : sum_k (Delta_k - A_k)+ min(N_k, tau_k t), pulls that cost more than their penalty
    """

    beyond: np.ndarray
    lacking: np.ndarray
    within: np.ndarray


def regret_parts(
    rounds: np.ndarray,
    plays: np.ndarray,
    means: np.ndarray,
    quotas: Sequence,
    penalties: float | np.ndarray,
) -> RegretParts:
    """Return the parts of the penalised regret; arguments as in `penalised_regret`."""
    gaps, rates = _gaps(means), _of_rounds(penalties)
    surplus, denominator = _surplus(rounds, plays, quotas)
    beyond = np.maximum(surplus, 0) / denominator
    lacking = np.maximum(-surplus, 0) / denominator
    within = plays - beyond
    return RegretParts(
        (gaps * beyond).sum(axis=-1),
        (np.maximum(rates - gaps, 0.0) * lacking).sum(axis=-1),
        (np.maximum(gaps - rates, 0.0) * within).sum(axis=-1),
    )


def _surplus(rounds: np.ndarray, plays: np.ndarray, quotas: Sequence) -> tuple[np.ndarray, int]:
    """Return N_k(t) - tau_k t as numerators, and their denominator."""
    numerators, denominator = quota_numerators(quotas, np.max(rounds, initial=1))
    entitled = np.asarray(rounds, np.int64)[:, None] * np.array(numerators)
    return denominator * np.asarray(plays) - entitled, denominator


def _of_rounds(values: float | np.ndarray) -> np.ndarray:
    """Return values of arms with an axis for the rounds."""
    values = np.asarray(values, float)
    return values[..., None, :] if values.ndim else values


def _gaps(means: np.ndarray) -> np.ndarray:
    means = _of_rounds(means)
    return means.max(axis=-1, keepdims=True) - means
