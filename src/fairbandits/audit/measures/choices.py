"""Functions that choose among values, rounds and stacked cells, and that make whole numbers."""

from fractions import Fraction
from typing import Any

import numpy as np

from fairbandits.audit.cases import CaseScope
from fairbandits.audit.measures import function


@function()
def choose(condition: Any, x: Any, y: Any) -> np.ndarray:
    """First value where a condition holds, and the second where it does not."""
    return np.where(condition, x, y)


@function()
def any_(x: np.ndarray) -> bool:
    """Whether it holds anywhere."""
    return bool(np.any(x))


# ------------------------------------------------------------------------------------- rounds


@function()
def those(values: Any, which: np.ndarray) -> np.ndarray:
    """Those of some rounds at which it holds in any replicate, for any arm."""
    return np.ravel(values)[which.any(axis=(0, 2))]


@function(in_cell=True)
def earliest(scope: CaseScope, which: np.ndarray) -> float:
    """First recorded round at which it holds in any replicate, for any arm."""
    found = those(scope.cell.rounds, which)
    if not found.size:
        raise ValueError("there is no recorded round at which it holds")
    return float(found[0])


@function(in_cell=True)
def recorded_round(scope: CaseScope, r: Any) -> int:
    """Return a round, which must be a recorded one."""
    wanted = int(np.asarray(r).reshape(()))
    if wanted not in scope.cell.rounds:
        raise ValueError(f"round {wanted} is not recorded")
    return wanted


# -------------------------------------------------------------------------- cells side by side


@function()
def chosen(x: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Values of the stacked cells for which it holds."""
    return x[:, :, np.broadcast_to(which, (1, 1, x.shape[2])).ravel()]


@function()
def first_cell(x: np.ndarray) -> np.ndarray:
    """Value of the first stacked cell."""
    return _some(x)[:, :, :1]


@function()
def last_cell(x: np.ndarray) -> np.ndarray:
    """Value of the last stacked cell."""
    return _some(x)[:, :, -1:]


def _some(x: np.ndarray) -> np.ndarray:
    if not x.shape[2]:
        raise ValueError("no stacked cell is what is chosen")
    return x


@function()
def rises(x: np.ndarray) -> np.ndarray:
    """Difference of each stacked cell to the one before."""
    return np.diff(x, axis=2)


@function()
def slopes(x: np.ndarray, y: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Rise of a value over that of another, between neighbours of the stacked cells chosen."""
    return rises(chosen(x, which)) / rises(chosen(y, which))


@function()
def spaced(x: np.ndarray, least: Any) -> np.ndarray:
    """Whether a stacked cell is far enough above the last one kept; the first one is kept."""
    kept: list[bool] = []
    before = -np.inf
    for value in x.ravel().tolist():
        kept.append(value - before >= float(np.asarray(least).reshape(())))
        before = value if kept[-1] else before
    return np.array(kept).reshape(1, 1, -1)


# -------------------------------------------------------------------------------- whole numbers


@function()
def denominator(x: Fraction) -> int:
    """Denominator of a coordinate, which is an exact fraction."""
    return Fraction(x).denominator


@function()
def numerators(x: np.ndarray, parts: Any = 1) -> np.ndarray:
    """Values times a denominator, exact: they must be whole numbers that a double can hold."""
    scaled = np.asarray(x, float) * parts
    nearest = np.rint(scaled)
    off = np.abs(scaled - nearest).max(initial=0.0)
    if off > 0.01 or np.abs(scaled).max(initial=0.0) > 2**50:
        raise ValueError(f"values times {parts} must be whole numbers, got one {off:g} off")
    return nearest.astype(np.int64)
