"""The oracle of penalised pulls: the division of the horizon with the least loss, and its loss.

An arm that is pulled less often than its quota costs its penalty rate for every missing pull.
With gaps Delta_k, quotas tau_k and penalty rates A_k, a policy that knows all of them fills the
quota of an arm only where that costs no more than the penalty.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairbandits.rationals import quota_numerators, rational


class ArmSets(NamedTuple):
    """Three boolean arrays, shape (n_arms,), of which exactly one is true for each arm.

    Attributes
    ----------
    optimal : Delta_k = 0
    critical : A_k >= Delta_k > 0, worth their quota
    non_critical : Delta_k > A_k, not worth it
    """

    optimal: np.ndarray
    critical: np.ndarray
    non_critical: np.ndarray


def arm_sets(means: Sequence, penalties: float | Sequence) -> ArmSets:
    """Return which arms are optimal, critical and non-critical.

    Parameters
    ----------
    means : sequence of number or str, length n_arms
        Mean rewards mu_k.
    penalties : number or str, or sequence of them, length n_arms
        Penalty rates A_k >= 0.

    Notes
    -----
    Numbers count as their shortest decimal form, so that an arm with a mean 0.3 below the best and
    a penalty rate of 0.3 is critical, although 0.9 - 0.6 > 0.3 in floating point.

    References
    ----------
    "A new look at fairness in stochastic multi-armed bandit problems", submission to ICLR 2022,
    Section 3.
    """
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
    """Return the fractions of pulls y_k that lose least, shape (n_arms,).

    They are tau_k for critical arms and for optimal ones other than the lowest, 0 for non-critical
    arms, and the rest for the lowest of the optimal arms.

    Parameters
    ----------
    means, penalties
        As in `arm_sets`.
    quotas : sequence of number or str, length n_arms
        Required fractions of pulls tau_k, exact, of sum below 1.

    References
    ----------
    The same, Eqs 7-8.
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
    """Return L*(t) = t sum_k min(Delta_k, A_k) tau_k (Eq. 9), the loss of the oracle.

    It is a lower bound, not always attained where some tau_k t is not a whole number.

    Parameters
    ----------
    rounds : ndarray of int, shape (n_rounds,)
        Rounds t.
    means, penalties : array_like of float, shape (n_arms,) or (n_replicates, n_arms)
        Mean rewards mu_k and penalty rates A_k >= 0; one rate can stand for all arms.
    quotas : sequence of number or str, length n_arms
        Required fractions of pulls tau_k, exact, of sum below 1.

    Returns
    -------
    ndarray of float, shape (n_rounds,) or (n_replicates, n_rounds)
    """
    means = np.asarray(means, float)
    numerators, denominator = quota_numerators(quotas)
    gaps = means.max(axis=-1, keepdims=True) - means
    rate = (np.minimum(gaps, penalties) * numerators).sum(axis=-1) / denominator
    return rate[..., None] * np.asarray(rounds)
