"""Measures of pulls: regret, the regret beyond the cost of the quotas, and unfairness.

All take arrays whose last axis is the arm and whose axis before it is the round, as
`fairbandits.run` records them; `rounds` has shape (n_rounds,).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairbandits.rationals import quota_numerators, rational


def gaps(means: Sequence[float]) -> np.ndarray:
    """Return Delta_i = max mu - mu_i, shape (n_arms,)."""
    means = np.asarray(means, float)
    return means.max() - means


def regret(plays: np.ndarray, means: Sequence[float]) -> np.ndarray:
    """Return sum_i Delta_i N_i(t), shape (..., n_rounds): the conventional pseudo-regret."""
    return (plays * gaps(means)).sum(axis=-1)


def floors(rounds: np.ndarray, numerators: Sequence[int], denominator: int) -> np.ndarray:
    """Return floor(r_i t), integers of shape (n_rounds, n_quotas), exact."""
    return np.asarray(rounds, np.int64)[:, None] * np.array(numerators) // denominator


def entitled(rounds: np.ndarray, quotas: Sequence, tolerance: Any = 0) -> np.ndarray:
    """Return max(0, floor(r_i t) - alpha), shape (n_rounds, n_arms), with exact floors.

    Quotas r_i, length n_arms, and tolerance alpha >= 0 are exact numbers or text.
    """
    whole = floors(rounds, *quota_numerators(quotas, np.max(rounds, initial=1)))
    return free(whole, float(rational("tolerance", tolerance)))


def free(owed: np.ndarray, tolerance: float) -> np.ndarray:
    """Return max(0, floor(r_i t) - alpha) from given floors."""
    return np.maximum(0.0, owed - tolerance)


def r_regret(
    rounds: np.ndarray,
    plays: np.ndarray,
    means: Sequence[float],
    quotas: Sequence,
    tolerance: Any = 0,
) -> np.ndarray:
    """Return sum_i Delta_i (N_i(t) - max(0, floor(r_i t) - alpha)), shape (..., n_rounds).

    It is the regret beyond that of the best fair policy, so it can be negative for a policy that
    is not fair (Patil et al., Definition 4, with the floor that Definition 2 has).
    """
    return ((plays - entitled(rounds, quotas, tolerance)) * gaps(means)).sum(axis=-1)


def violation(deficits: np.ndarray) -> np.ndarray:
    """Return the largest deficit of any arm, shape (..., n_rounds).

    `deficits` is one of the four that `fairbandits.run` records: real or floored, of the round or
    the largest so far.
    """
    return deficits.max(axis=-1)
