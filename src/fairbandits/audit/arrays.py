"""Functions of arrays that claims of several papers use; the axes are replicate, round, arm."""

import math

import numpy as np


def ratio(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the ratio of two values; 1 where both are 0."""
    both = (np.asarray(x) == 0) & (np.asarray(y) == 0)
    return np.where(both, 1.0, x / np.where(both, 1.0, y))


def numerators(x: np.ndarray, parts: int = 1) -> np.ndarray:
    """Return values times a denominator, exact: they must be whole numbers that a double holds."""
    scaled = np.asarray(x, float) * parts
    nearest = np.rint(scaled)
    off = np.abs(scaled - nearest).max(initial=0.0)
    if off > 0.01 or np.abs(scaled).max(initial=0.0) > 2**50:
        raise ValueError(f"values times {parts} must be whole numbers, got one {off:g} off")
    return nearest.astype(np.int64)


def late_weights(rounds: np.ndarray) -> np.ndarray:
    """Return the weight of each recorded round in a mean over [T/2, T], by the trapezoid rule.

    >>> late_weights(np.array([1, 4, 6, 8])).tolist()
    [0.0, 0.25, 0.5, 0.25]
    """
    inside = rounds >= rounds[-1] / 2
    kept = rounds[inside].astype(float)
    if kept.size == 1:
        return inside.astype(float)
    gaps = np.diff(kept)
    weights = np.zeros(rounds.size)
    weights[inside] = (np.append(gaps, 0.0) + np.append(0.0, gaps)) / 2
    return weights / weights.sum()


def logspaced(rounds: np.ndarray, count: int, first: float = 1) -> np.ndarray:
    """Return log-spaced recorded rounds, of a given number, from `first` to the last."""
    start = min(int(np.searchsorted(rounds, float(first))), rounds.size - 1)
    if rounds.size - start <= count:
        return rounds[start:]
    wanted = np.geomspace(rounds[start], rounds[-1], count)
    distance = np.abs(np.log(rounds[start:, None] / wanted))
    return rounds[sorted({start + int(index) for index in distance.argmin(axis=0)})]


def root_of_mean(x: np.ndarray) -> np.ndarray:
    """Return the root of the mean m, split over replicates: sqrt(m) + (x - m) / (2 sqrt(m))."""
    middle = x.mean(axis=0, keepdims=True)
    root = np.sqrt(middle)
    # a mean of 0 has nothing to linearise
    slope = np.divide(0.5, root, out=np.zeros_like(root), where=root > 0)
    return root + (x - middle) * slope


def window_rate(x: np.ndarray, length: float, starts: int, *, rounds: np.ndarray) -> np.ndarray:
    """Return the rise per round of x in windows of a length, one every T / `starts` rounds.

    The length is rounded up to a multiple of that, and x is 0 before round 1.
    """
    step = max(1, int(rounds[-1]) // starts)
    grid = x[:, rounds % step == 0]
    grid = np.concatenate([np.zeros_like(grid[:, :1]), grid], axis=1)
    steps = math.ceil(float(length) / step)
    return (grid[:, steps:] - grid[:, :-steps]) / (steps * step)


def held_out(samples: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the largest column by the first half of the replicates, and its other half.

    `samples` has shape (n_replicates, ..., n_columns); the last horizon of any between decides.
    """
    samples = np.asarray(samples)
    if samples.ndim < 2 or len(samples) < 4 or not samples.shape[-1]:
        raise ValueError(
            f"samples must have at least 4 replicates, and columns, got shape {samples.shape}"
        )
    half = len(samples) // 2
    column = int(samples[:half].mean(axis=0).reshape(-1, samples.shape[-1])[-1].argmax())
    return column, samples[half:, ..., column]
