"""Penalised pulls: the oracle, which divides the horizon with the least loss, and the fluid law.

The oracle fills an arm's quota only if that costs no more than the penalty (Section 3).
"""

import math
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
    """Return the fractions of pulls with least loss (Eqs 7-8): 0 or tau_k, the rest to the best."""
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
    """Return L*(t) = t sum_k min(Delta_k, A_k) tau_k (Eq. 9), a lower bound, (..., n_rounds)."""
    means = np.asarray(means, float)
    numerators, denominator = quota_numerators(quotas)
    gaps = means.max(axis=-1, keepdims=True) - means
    rate = (np.minimum(gaps, penalties) * numerators).sum(axis=-1) / denominator
    return rate[..., None] * np.asarray(rounds)


def fluid_pulls(
    means: Sequence[float], quotas: Sequence, penalties: float | Sequence[float], horizon: int
) -> np.ndarray:
    """Return each arm's pulls by HT-UCB at the end of a long run; without penalty rates, by UCB1.

    By our derivation the arms that are still pulled have the same index, mu* + L x with L = sqrt(2
    ln T). An arm above its quota has (Delta_k / L + x)^(-2) pulls, one below it, by its penalty
    rate, ((Delta_k - A_k) / L + x)^(-2). Between the two an arm has exactly its quota.
    """
    if horizon < 2:
        raise ValueError(f"horizon must be at least 2, got {horizon!r}")
    means = np.asarray(means, float)
    numerators, denominator = quota_numerators(quotas, horizon)
    entitled = np.array(numerators) * horizon / denominator
    scale = math.sqrt(2.0 * math.log(horizon))
    gaps = (means.max() - means) / scale
    raised = gaps - np.asarray(penalties, float) / scale

    def pulls(x: float) -> np.ndarray:
        above = (gaps + x) ** -2.0
        # the penalty rate keeps an arm at its quota where no number of pulls brings it down
        short = np.maximum(raised + x, 0.0)
        below = np.divide(1.0, short**2, out=np.full(means.size, math.inf), where=short > 0)
        return np.where(above > entitled, above, np.minimum(below, entitled))

    from scipy.optimize import brentq  # most figures do not need it

    # the best arm alone fills the horizon at one end; at the other all arms together leave some
    free = 1.0 - sum(numerators) / denominator
    ends = 1.0 / math.sqrt(horizon), math.sqrt(means.size / (free * horizon))
    x = brentq(lambda x: pulls(x).sum() - horizon, *ends, xtol=1e-15)
    return pulls(x)
