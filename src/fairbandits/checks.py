"""Checks of hyper-parameters, with messages that name the value and what is allowed."""

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

#: Rounding error allowed in the load of targets that need every round.
SLACK = 1e-9


def one_of(name: str, value, allowed: Sequence) -> None:
    """Raise ValueError unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value!r}")


def whole(name: str, value: Any, at_least: int = 1, hint: str = "") -> int:
    """Return a whole number; ValueError for anything else, or a smaller one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(
            f"{name} must be a whole number of at least {at_least}, got {value!r}{hint}"
        )
    return int(value)


def length(name: str, values: Sequence, n_arms: int) -> None:
    """Raise ValueError unless there is one value per arm."""
    if len(values) != n_arms:
        raise ValueError(f"{name} must have one entry per arm ({n_arms}), got {len(values)}")


def per_arm(name: str, value: float | tuple[float, ...], n_arms: int) -> np.ndarray:
    """Return rates as an array, shape (n_arms,)."""
    if isinstance(value, tuple):
        length(name, value, n_arms)
    return np.full(n_arms, value)


def floats(values: Any) -> np.ndarray:
    """Return numbers as an array of floats; an empty one for anything else."""
    try:
        array = np.asarray(values)
        kind = array.dtype.kind
        fits = kind in "biuf" or (
            kind == "O" and all(isinstance(each, Real | Decimal) for each in array.flat)
        )
        if fits and not np.ma.is_masked(values):
            return array.astype(float, copy=False)
    except (ValueError, OverflowError):  # of lists of unequal length, and of huge numbers
        pass
    return np.empty(0)


def load(means: Sequence[float], targets: Sequence[float]) -> float:
    """Return sum target / mean, which must not exceed 1 (BanditQ Eq. 2); inf if a mean is 0."""
    means, targets = np.asarray(means, float), np.asarray(targets, float)
    wanted = targets > 0
    if (means[wanted] <= 0).any():
        return np.inf
    return float((targets[wanted] / means[wanted]).sum())
