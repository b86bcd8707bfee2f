"""Common parts of the bootstraps."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import scipy

#: With fewer resamples beyond a value, its p-value is read off a fitted tail.
EDGE = 10
#: Variance, relative to the sample's, that is rounding only.
ROUNDING = 1e-12


def studentised(samples: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return (mean* - mean) / standard error* of resampled replicates, (resamples, points).

    A resample without spread counts as infinite, with the sign of its mean's deviation. Where
    nearly all replicates agree, many resamples have none, and the limit on the side of the others
    is infinite: the sample has too few of them for one.
    """
    n = len(samples)
    centred = samples - samples.mean(axis=0)
    parts = []
    for start in range(0, resamples, batch(n)):
        size = min(batch(n), resamples - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size) / n
        mean = weights @ centred
        variance = (weights @ centred**2 - mean**2) / (n - 1)
        spread = variance > ROUNDING * centred.var(axis=0) / (n - 1)
        deviation = mean / np.sqrt(np.where(spread, variance, 1.0))
        parts.append(np.where(spread, deviation, np.copysign(np.inf, mean)))
    return np.concatenate(parts)


def tail(distribution: np.ndarray, value: float, df: float) -> float:
    """Return the bootstrap p-value of a value in the upper tail of a studentised statistic.

    With fewer than `EDGE` resamples at or above the value, counting them says little, and never
    less than 1 / (resamples + 1): too much to survive Holm's correction in a large family. The tail
    beyond is then taken to be that of Student's t with `df`, stretched until it has as much as the
    resamples above the `EDGE`-th largest of them, and never shrunk. NaN among the resampled
    statistics counts as infinite.
    """
    drawn = np.where(np.isnan(distribution), np.inf, distribution)
    count, size = int((drawn >= value).sum()), drawn.size
    counted = (1 + count) / (1 + size)
    if count >= EDGE or size <= EDGE:
        return float(counted)
    edge = np.partition(drawn, size - EDGE)[size - EDGE]
    stretch = max(1.0, -edge / scipy.special.stdtrit(df, (1 + EDGE) / (1 + size)))
    beyond = scipy.special.stdtr(df, -value / stretch)
    endless = np.isinf(drawn).sum() / size
    return float(min(counted, max(beyond, endless, np.finfo(float).tiny)))


def needed(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the generator, or raise ValueError without one."""
    if rng is None:
        raise ValueError("a bootstrap needs rng, a generator with a seed")
    return rng


@contextmanager
def without_interval() -> Iterator[None]:
    """Silence SciPy's warnings about its own bootstrap interval.

    For callers that take the distribution alone, and count resamples without a statistic
    themselves.
    """
    from scipy.stats import DegenerateDataWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        yield


def batch(n: int) -> int:
    """Return the number of resamples of n replicates that are drawn at once, to limit memory."""
    return max(1, 2_000_000 // n)
