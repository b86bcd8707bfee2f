"""Checks of what procedures are given."""

import numpy as np


def numbers(name: str, values: object, ndim: int = 1, least: int = 1) -> np.ndarray:
    """Return finite numbers as doubles, with so many axes and rows, or raise ValueError."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got {array.ndim}")
    if array.size == 0 or len(array) < least:
        raise ValueError(f"{name} must have at least {least} entries, got {len(array)}")
    finite = np.isfinite(array)
    if not finite.all():
        index = np.argwhere(~finite)[0].tolist()
        raise ValueError(f"{name} must be finite, got {array[tuple(index)]} at {index}")
    return array


def number(name: str, value: object) -> float:
    if np.ndim(value):
        raise ValueError(f"{name} must be one number, got {np.size(value)}")
    return float(numbers(name, [value])[0])


def confidence(level: float) -> float:
    if not 0.5 <= number("level", level) < 1:
        raise ValueError(f"level must be at least 0.5 and less than 1, got {level!r}")
    return level
