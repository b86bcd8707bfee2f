"""Sweeps: one run for several values of a policy's parameter."""

import itertools
from typing import Any

from fairbandits.rationals import rational


def cells(sweep: dict[str, list]) -> list[dict[str, Any]]:
    """Return what each cell of a sweep sets; without a sweep there is one cell that sets nothing.

    Examples
    --------
    >>> cells({"eta": [1, 10]})
    [{'eta': 1}, {'eta': 10}]
    """
    return [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]


def swept(value: float | str) -> float:
    """Return a swept value as the number that stands in its column."""
    return float(rational("a swept value", value))
