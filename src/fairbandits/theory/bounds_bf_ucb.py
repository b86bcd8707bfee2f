"""Bounds of the BF-UCB paper's theorems (AAMAS 2024, section 5), with f(mu) = mu.

`served` are the rounds N_g of each group, `sizes` are k_g; the last axis of arrays is the group,
the one before it the round. With f(mu) = mu and means of at least 1/2 a group's reward moves by at
most as much as its means do, so that the paper's constants L and L_1 are 1.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

#: Factor of the sum of gaps.
CONSTANT = 1 + math.pi**2 / 3


def group_bound(
    rounds: ArrayLike,
    served: np.ndarray,
    sizes: np.ndarray,
    gaps: np.ndarray,
    quotas: ArrayLike,
    delta: float,
    merit_ratio: float,
    *,
    clipped: bool = False,
) -> np.ndarray:
    """Return Lemma 5's bound on sum_g (N_g - floor(beta_g T)) Delta_g.

    It is (1 + pi^2 / 3) sum Delta_g plus, for each group, Delta_g times
    k_g gamma_2 / gamma_1 (8 / Delta_min^2 ln(4 N_g k_g / delta) + sqrt(N_g ln(k_g / delta) / 2))
    less beta_g T, which `clipped` is not below 0; `merit_ratio` is gamma_2 / gamma_1.
    """
    positive = np.where(gaps > 0, gaps, np.inf).min(axis=-1, keepdims=True)
    served = np.maximum(served, 1)
    learning = 8 / positive**2 * np.log(4 * served * sizes / delta)
    chance = np.sqrt(served * np.log(sizes / delta) / 2)
    share = sizes * merit_ratio * (learning + chance) - np.asarray(quotas) * rounds
    if clipped:
        share = np.maximum(share, 0.0)
    return ((CONSTANT + share) * gaps).sum(axis=-1)


def within_bound(
    rounds: np.ndarray, served: np.ndarray, sizes: np.ndarray, delta: float
) -> np.ndarray:
    """Return Theorem 7's addition to Lemma 5: (1 - delta) sum_g sqrt(N_g k_g) + delta T."""
    return (1 - delta) * np.sqrt(served * sizes).sum(axis=-1) + delta * rounds


def merit_bound(
    served: np.ndarray, sizes: np.ndarray, delta: float, least_merit: ArrayLike
) -> np.ndarray:
    """Return the last line of Theorem 3's proof, for each group.

    It is 2 / gamma_1 sqrt(2 ln(4 k_g N_g / delta)) (sqrt(2 N_g ln(4 / delta)) + 2 sqrt(N_g k_g)).
    """
    served = np.maximum(served, 1)
    width = np.sqrt(2 * np.log(4 * sizes * served / delta))
    roots = azuma_bound(served, delta) + 2 * np.sqrt(served * sizes)
    return 2 / np.asarray(least_merit) * width * roots


def azuma_bound(served: np.ndarray, delta: float) -> np.ndarray:
    """Return the right side of Eq. 4, sqrt(2 N_g ln(4 / delta))."""
    return np.sqrt(2 * served * math.log(4 / delta))


def root_sum(pulls: np.ndarray) -> np.ndarray:
    """Return the sum of 1 / sqrt(n) over n = 1, ..., N - 1: the roots before each later pull."""
    return _roots(int(pulls.max()))[np.maximum(pulls - 1, 0)]


@cache
def _roots(most: int) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(1 / np.sqrt(np.arange(1, most + 1)))])
