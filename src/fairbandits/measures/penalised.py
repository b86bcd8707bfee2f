"""Measures of penalised pulls: unfairness levels, loss, and the regret against the oracle.

All are pathwise: they take the pulls and the true means, not the noisy rewards. Penalty rates have
the shape of the means, or are a single number for all arms. Equations are those of the submission
to ICLR 2022.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairbandits.measures.pulls import fitted, gaps, lacking


def unfairness_levels(rounds: np.ndarray, plays: np.ndarray, quotas: Sequence) -> np.ndarray:
    """Return (tau_k t - N_k(t))+, shape (..., n_checkpoints, n_arms): the shortfall in pulls."""
    lacks, denominator = lacking(rounds, plays, quotas)
    return np.maximum(lacks, 0) / denominator


def unfairness(rounds: np.ndarray, plays: np.ndarray, quotas: Sequence) -> np.ndarray:
    """Return sum_k (tau_k t - N_k(t))+, shape (..., n_checkpoints): the shortfall of all arms."""
    lacks, denominator = lacking(rounds, plays, quotas)
    return np.maximum(lacks, 0).sum(axis=-1) / denominator


def mean_reward(plays: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return sum_k mu_k N_k(t), shape (..., n_checkpoints): the expected reward of these pulls."""
    plays, means = fitted(plays, means)
    return (plays * means).sum(axis=-1)


def penalised_loss(
    rounds: np.ndarray,
    plays: np.ndarray,
    means: np.ndarray,
    quotas: Sequence,
    penalties: float | np.ndarray,
) -> np.ndarray:
    """Return sum_k Delta_k N_k(t) + A_k (tau_k t - N_k(t))+, shape (..., n_checkpoints) (Eq. 5)."""
    plays, means = fitted(plays, means)
    lacks = unfairness_levels(rounds, plays, quotas)
    return (gaps(means) * plays + _of_rounds(penalties) * lacks).sum(axis=-1)


def penalised_regret(
    rounds: np.ndarray,
    plays: np.ndarray,
    means: np.ndarray,
    quotas: Sequence,
    penalties: float | np.ndarray,
) -> np.ndarray:
    """Return the regret if each missing pull has a price, R(t) = L(t) - L*(t) (Eq. 10).

    `penalties` are the rates A_k; the other arguments are those of `r_regret`, and the shape is
    (..., n_checkpoints). It is the sum of the `regret_parts`, which are never negative.
    """
    return sum(regret_parts(rounds, plays, means, quotas, penalties))


class RegretParts(NamedTuple):
    """The three parts of the penalised regret, each of shape (..., n_checkpoints).

    Pulls beyond the quota cost sum_k Delta_k (N_k - tau_k t)+. Missing pulls cost sum_k (A_k -
    Delta_k)+ (tau_k t - N_k)+. Pulls that cost more than their penalty add sum_k (Delta_k - A_k)+
    min(N_k, tau_k t).
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
    plays, means = fitted(plays, means)
    costs, rates = gaps(means), _of_rounds(penalties)
    lacks, denominator = lacking(rounds, plays, quotas)
    beyond = np.maximum(-lacks, 0) / denominator
    return RegretParts(
        (costs * beyond).sum(axis=-1),
        (np.maximum(rates - costs, 0.0) * (np.maximum(lacks, 0) / denominator)).sum(axis=-1),
        (np.maximum(costs - rates, 0.0) * (plays - beyond)).sum(axis=-1),
    )


def _of_rounds(rates: float | np.ndarray) -> np.ndarray:
    """Return penalty rates with an axis for rounds."""
    rates = np.asarray(rates, float)
    return rates[..., None, :] if rates.ndim else rates
