"""What the bootstraps share."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


def studentised(samples: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return (mean* - mean) / standard error* of resampled replicates, (resamples, points).

    A resample in which a point takes one value only says nothing of that point's scale; its
    deviation there is 0.
    """
    n = len(samples)
    middle = samples.mean(axis=0)
    centred = samples - middle
    parts = []
    for start in range(0, resamples, batch(n)):
        size = min(batch(n), resamples - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size) / n
        mean = weights @ centred
        variance = np.maximum(weights @ centred**2 - mean**2, 0.0) / (n - 1)
        usable = variance > 1e-20 * centred.var(axis=0)
        parts.append(np.where(usable, mean / np.sqrt(np.where(usable, variance, 1.0)), 0.0))
    return np.concatenate(parts)


def tail(distribution: np.ndarray, value: float) -> float:
    """Return the bootstrap p-value of a value in the upper tail."""
    return float((1 + (distribution >= value).sum()) / (1 + distribution.size))


def needed(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the generator, or raise ValueError without one."""
    if rng is None:
        raise ValueError("a bootstrap needs rng, a generator with a seed")
    return rng


@contextmanager
def without_interval() -> Iterator[None]:
    """Keep SciPy's bootstrap still about its own interval, where resamples have no statistic.

    For those who take the distribution alone, and count such resamples themselves.
    """
    from scipy.stats import DegenerateDataWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        yield


def batch(n: int) -> int:
    """Return how many resamples of n replicates are drawn at once, to bound the memory."""
    return max(1, 2_000_000 // n)
