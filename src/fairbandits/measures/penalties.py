"""Penalty rates of the arms, apart from instances, so that figures need no Numba for them."""

from collections.abc import Sequence

import numpy as np

#: Name of a penalty rate for all arms: half the range of the means.
HALF_RANGE = "half_range"


def penalty_rates(penalties: float | Sequence[float] | str, means: np.ndarray) -> np.ndarray:
    """Return the penalty rates of the arms, shape (..., n_arms), one row for each row of means.

    They are a single number for all arms, a number per arm, or "half_range": (max mu - min mu) / 2.

    Examples
    --------
    >>> penalty_rates("half_range", [0.75, 0.5, 0.25])
    array([0.25, 0.25, 0.25])
    """
    means = np.asarray(means, float)
    if isinstance(penalties, str):
        if penalties != HALF_RANGE:
            raise ValueError(f"penalties must be numbers or {HALF_RANGE!r}, got {penalties!r}")
        rates = (means.max(axis=-1, keepdims=True) - means.min(axis=-1, keepdims=True)) / 2
    else:
        rates = np.asarray(penalties, float)
        if rates.ndim and rates.shape != means.shape[-1:]:
            raise ValueError(
                f"penalties must have one entry per arm ({means.shape[-1]}), got {rates.size}"
            )
    return np.broadcast_to(rates, means.shape).copy()
