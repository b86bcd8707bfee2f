"""What the bootstraps share."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

#: The least standard error of a resample, as a part of the sample's.
LEAST_SCALE = 0.5


def studentised(samples: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return (mean* - mean) / standard error* of resampled replicates, (resamples, points).

    A resample's standard error counts as at least `LEAST_SCALE` of the sample's. Where nearly all
    replicates agree, resamples without the others have next to none, and dividing by it would give
    limits that depend on nothing else.
    """
    n = len(samples)
    middle = samples.mean(axis=0)
    centred = samples - middle
    parts = []
    for start in range(0, resamples, batch(n)):
        size = min(batch(n), resamples - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size) / n
        mean = weights @ centred
        variance = (weights @ centred**2 - mean**2) / (n - 1)
        least = LEAST_SCALE**2 * centred.var(axis=0) / (n - 1)
        parts.append(mean / np.sqrt(np.maximum(variance, np.where(least > 0, least, 1.0))))
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
