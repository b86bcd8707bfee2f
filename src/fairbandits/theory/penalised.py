"""The oracle of penalised pulls: the division of the horizon with the least loss, and its loss.

It fills an arm's quota only if that costs no more than the penalty (hard-threshold paper, Sec. 3).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairbandits.rationals import quota_numerators, rational


class ArmSets(NamedTuple):
    """Which arms are optimal (Delta_k = 0), critical (A_k >= Delta_k > 0) or non-critical."""

    optimal: np.ndarray
    critical: np.ndarray
    non_critical: np.ndarray


def arm_sets(means: Sequence, penalties: float | Sequence) -> ArmSets:
    """Return the sets of arms; numbers count in decimals, since 0.9 - 0.6 > 0.3 in floats."""
    exact = [rational("means", mean) for mean in means]
    scalar = isinstance(penalties, str) or np.ndim(penalties) == 0
    rates = [rational("penalties", rate) for rate in ([penalties] if scalar else penalties)]
    rates = rates * len(exact) if scalar else rates
    gaps = [max(exact) - mean for mean in exact]
    pairs = list(zip(gaps, rates, strict=True))
    return ArmSets(
        np.array([gap == 0 for gap in gaps]),
        np.array([0 < gap <= rate for gap, rate in pairs]),
        np.array([gap > rate for gap, rate in pairs]),
    )


def oracle_allocation(means: Sequence, quotas: Sequence, penalties: float | Sequence) -> np.ndarray:
    """Return the fractions of pulls y_k with the least loss, shape (n_arms,) (Eqs 7-8).

    They are 0 for non-critical arms, tau_k for others, and the rest for the first optimal arm.
    """
    numerators, denominator = quota_numerators(quotas)
    sets = arm_sets(means, penalties)
    shares = np.where(sets.non_critical, 0, numerators)
    first = int(np.argmax(sets.optimal))
    shares[first] = 0
    shares[first] = denominator - shares.sum()
    return shares / denominator


def oracle_loss(
    rounds: np.ndarray, means: np.ndarray, quotas: Sequence, penalties: float | np.ndarray
) -> np.ndarray:
    """Return L*(t) = t sum_k min(Delta_k, A_k) tau_k (Eq. 9), shape (..., n_rounds).

    It is a lower bound of the loss, not always attained if some tau_k t is not a whole number.
    """
    means = np.asarray(means, float)
    numerators, denominator = quota_numerators(quotas)
    gaps = means.max(axis=-1, keepdims=True) - means
    rate = (np.minimum(gaps, penalties) * numerators).sum(axis=-1) / denominator
    return rate[..., None] * np.asarray(rounds)
