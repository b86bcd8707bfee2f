"""Limits and p-values of a mean that hold where replicates are skewed, or nearly all agree.

Limits are those of a gamma law with the skewness that the sample's L-moments show (J. Hosking,
Journal of the Royal Statistical Society B 52, 1990); of `rare` samples a bet decides (I.
Waudby-Smith and A. Ramdas, ibid. 86, 2024).
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import scipy

from fairbandits.audit.inputs import confidence, number

#: Spread, relative to the largest replicate, that is rounding only.
ROUNDING = 1e-12
#: Fewest replicates that must carry the variance, of samples at least twice as large.
CARRIERS = 3
#: The skewness that limits allow for: `LEAST_SKEW` + `PER_L_SKEW` times the sample's L-skewness, up
#: to that of an exponential law. Where the L-skewness is above that of such a law, the tail can be
#: heavier: then `HEAVY` times the sample's skewness, whose largest values it lacks.
LEAST_SKEW, PER_L_SKEW, EXPONENTIAL, HEAVY = 0.25, 5.8, 2.0, 3.0
#: Fractions of the capital that bets stake, and how the capital is spread over them.
STAKES = 0.5 ** np.arange(8)
SHARES = np.array([0.5, *[0.5 / 7] * 7])
#: Smallest p-value.
LEAST_P = float(np.finfo(float).tiny)


class Skewed(NamedTuple):
    """The error of an estimate, its degrees of freedom, and the skewness to allow for."""

    error: float
    up: float
    down: float
    df: float

    @classmethod
    def of(cls, parts: Sequence[np.ndarray], df: float | None = None) -> Self:
        """Return those of a sum of independent samples, e.g. ``[sample / n]`` for a mean."""
        errors = [part.std(ddof=1) * np.sqrt(part.size) for part in parts]
        error = float(np.hypot.reduce(errors))
        skews = [
            sum(
                allowance(side * part) / np.sqrt(part.size) * (part_error / error) ** 3
                for part, part_error in zip(parts, errors, strict=True)
                if part_error
            )
            for side in (1, -1)
        ]
        return cls(
            error, *map(float, skews), min(part.size for part in parts) - 1 if df is None else df
        )

    def below(self, distance: float) -> float:
        """Return the p-value that the truth is below the value, at a distance from the estimate."""
        return self._p_value(-distance, self.up)

    def above(self, distance: float) -> float:
        return self._p_value(distance, self.down)

    def _p_value(self, score: float, skew: float) -> float:
        """Return the level whose limit is so many errors away."""
        score /= self.error
        if score <= stretched(0, skew):
            quantile = score - stretched(0, skew)
        else:
            quantile = scipy.optimize.brentq(lambda at: stretched(at, skew) - score, 0, score)
        return max(LEAST_P, float(scipy.special.stdtr(self.df, -quantile)))

    def widths(self, level: float) -> tuple[float, float]:
        """Return the distances of the lower and the upper limit, in standard errors."""
        quantile = float(scipy.special.stdtrit(self.df, level))
        return tuple(float(stretched(quantile, skew)) for skew in (self.down, self.up))


class MeanTest(NamedTuple):
    """Limits of a mean, and the p-values that it is below, and above, a value."""

    mean: float
    low: float
    high: float
    below: float
    above: float
    constant: bool
    rare: bool


def mean_test(
    sample: np.ndarray,
    value: float,
    level: float,
    least: float | None = None,
    most: float | None = None,
) -> MeanTest:
    confidence(level)
    if sample.size < 2:
        raise ValueError(f"a mean needs at least 2 replicates, got {sample.size}")
    least = None if least is None else number("least", least)
    most = None if most is None else number("most", most)
    if least is not None and sample.min() < least:
        raise ValueError(f"sample must be at least {least}, the least possible, got {sample.min()}")
    if most is not None and sample.max() > most:
        raise ValueError(f"sample must be at most {most}, the most possible, got {sample.max()}")
    mean, n = float(sample.mean()), sample.size
    constant = is_constant(sample)
    skew = 0.0 if constant else skewness(sample)
    scarce = constant or rare(sample)
    if constant:
        low, high, below, above = -np.inf, np.inf, 1.0, 1.0
    else:
        skewed = Skewed.of([sample / n])
        below, above = skewed.below(mean - value), skewed.above(mean - value)
        down, up = skewed.widths(level)
        low, high = mean - down * skewed.error, mean + up * skewed.error
    if constant or (scarce and (skew > 0 or most is not None)):
        below, high = bet(sample, value, level, most)
    if constant or (scarce and (skew < 0 or least is not None)):
        above, low = bet(-sample, -value, level, None if least is None else -least)
        low = -low
    below, above = max(below, LEAST_P), max(above, LEAST_P)
    return MeanTest(mean, float(low), float(high), float(below), float(above), constant, scarce)


def is_constant(sample: np.ndarray) -> bool:
    return bool(np.ptp(sample) <= ROUNDING * np.abs(sample).max())


def skewness(sample: np.ndarray) -> float:
    centred = sample - sample.mean()
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)


def carriers(parts: np.ndarray) -> float:
    """Return how many deviations carry the variance: k if k are equal and the others 0."""
    scaled = parts / np.abs(parts).max()
    return float((scaled**2).sum() ** 2 / (scaled**4).sum())


def rare(sample: np.ndarray) -> bool:
    """Return whether too few replicates carry the variance for a limit on the mean."""
    if is_constant(sample):
        return True
    return carriers(sample - sample.mean()) < min(CARRIERS, sample.size / 2)


def informative_part(sample: np.ndarray) -> np.ndarray:
    """Return the informative replicates: all, or where most agree the others."""
    same = np.abs(sample - np.median(sample)) <= 1e-6 * np.ptp(sample)
    return sample[~same] if sample.size < 2 * same.sum() < 2 * sample.size else sample


def hardly_varies(sample: np.ndarray) -> bool:
    """Return whether most replicates agree, but for rounding, and a few decide the mean."""
    return is_constant(sample) or (informative_part(sample).size < sample.size and rare(sample))


def allowance(sample: np.ndarray) -> float:
    """Return the skewness that the upper limit of a mean allows for; `make sizes` checks it."""
    part = informative_part(sample)
    if part.size < sample.size:
        apart = part - np.median(sample)
        uneven = 0.0 if is_constant(part) else allowance(part)
        skew = max(uneven, (apart**3).mean() / (apart**2).mean() ** 1.5)
        return float(skew * np.sqrt(sample.size / part.size))
    tail, n = l_skewness(sample), sample.size
    # the largest that passes for that of an exponential law
    if tail <= most_l_skewness(max(n, 64)) * min(1.0, (n / 64) ** 0.45):
        return float(np.clip(LEAST_SKEW + PER_L_SKEW * tail, 0, EXPONENTIAL))
    return max(EXPONENTIAL, HEAVY * (skewness(sample) + np.sqrt(6 / n)))


def most_l_skewness(n: int) -> float:
    """Return the L-skewness that one in a hundred exponential samples exceeds; the law has 1/3."""
    return 1 / 3 + 1.1 / np.sqrt(n)


def is_heavy(sample: np.ndarray) -> bool:
    return not is_constant(sample) and l_skewness(sample) > most_l_skewness(sample.size)


def l_skewness(sample: np.ndarray) -> float:
    """Return what `scipy.stats.lmoment` does, a hundred times as fast; NaN below 3 replicates."""
    n, rank = sample.size, np.arange(sample.size)
    if n < 3:
        return np.nan
    centred = np.sort(sample - sample.mean())
    first = (centred * rank).sum() / (n * (n - 1))
    second = (centred * rank * (rank - 1)).sum() / (n * (n - 1) * (n - 2))
    return float((6 * second - 6 * first) / (2 * first))


def stretched(quantile: float, skew: float) -> float:
    """Return a quantile by Cornish and Fisher's first term, and one fitted to gamma laws."""
    return quantile + skew * (2 * quantile**2 + 1) / 6 + skew**2 * quantile**3 / 5


def bet(sample: np.ndarray, value: float, level: float, most: float | None) -> tuple[float, float]:
    """Return the p-value that a mean is below a value (`betting_p_value`), and the upper limit."""
    if most is None:
        return 1.0, np.inf
    mean = float(sample.mean())
    end = most - 1e-9 * (most - mean)
    if mean >= most or betting_p_value(sample, end, most) > 1 - level:
        return betting_p_value(sample, value, most), most
    high = scipy.optimize.brentq(
        lambda at: np.log(betting_p_value(sample, at, most)) - np.log(1 - level), mean, end
    )
    return betting_p_value(sample, value, most), float(high)


def betting_p_value(sample: np.ndarray, value: float, most: float) -> float:
    """Return the p-value that a mean is below a value, by betting against a mean of at least that.

    A stake of a fraction u on (value - x) / (most - value) before each replicate x leaves a capital
    that is expected to be at most 1 if the mean is `value` or more (Markov's inequality).
    """
    if value > most:
        return LEAST_P
    if value == most:
        return LEAST_P if sample.min() < most else 1.0
    gain = (value - sample) / (most - value)
    with np.errstate(divide="ignore"):
        logs = np.log1p(np.maximum(np.outer(STAKES, gain), -1.0)).sum(axis=1)
    return float(np.exp(-max(0.0, min(scipy.special.logsumexp(logs, b=SHARES), 700.0))))


class Reach(NamedTuple):
    """The farthest replicate that one more could be without undoing a verdict, and that seen."""

    value: float
    farthest: float
    times: float  # how much farther from the mean; infinite if no value beyond it is possible

    @classmethod
    def of(
        cls, sample: np.ndarray, value: float, alpha: float, side: int, end: float | None = None
    ) -> Self:
        """Return those of a mean that is below a value (`side` 1) or above it (-1).

        The verdict holds for every law without replicates beyond, as far as `tail` is a p-value.
        """
        sample = side * sample
        mean, farthest = float(sample.mean()), float(sample.max())
        found = most_unseen(sample, side * value, alpha)
        seen = farthest - mean
        times = (found - mean) / seen if seen > 0 else np.inf
        if end is not None and found >= side * end:
            found, times = side * end, np.inf
        return cls(side * found, side * farthest, times)


def most_unseen(sample: np.ndarray, value: float, alpha: float) -> float:
    """Return the largest replicate that, had it been seen as well, leaves `value` too large."""
    top = max(float(sample.max()), value)
    scale = top - float(sample.mean())

    def one_more(log: float) -> tuple[float, float]:
        """Return the replicate with which a border is at `value`, and the p-value there."""
        beyond = scale * np.exp(log)
        gaps, border = beyond + (top - sample), beyond + (top - value)
        left = sample.size + 1 - (border / gaps).sum()
        if left <= 0:
            return -np.inf, 0.0
        gap = border / left
        return top + beyond - gap, tail(np.append(gaps, gap))

    widest = np.log(20 * sample.size)  # where the p-value is nearly a half
    if one_more(widest)[1] <= alpha:
        return float(one_more(widest)[0])
    log = scipy.optimize.brentq(lambda log: one_more(log)[1] - alpha, -30, widest, xtol=1e-9)
    return float(one_more(log)[0])


def tail(gaps: np.ndarray) -> float:
    """Return the probability that a mean with random weights is beyond a border.

    Weights are uniform on the simplex; as a p-value N. Gaffke proposed it (Mathematical Methods of
    Statistics 14, 2005). Replicates are given by their gaps to an end beyond all of them, and the
    border is the gaps' harmonic mean away from it: so the saddlepoint of R. Lugannani and S. Rice
    (Advances in Applied Probability 12, 1980) needs no search.
    """
    ratios = 1 / gaps
    ratios /= ratios.mean()
    w, u = np.sqrt(-2 * np.log(ratios).sum()), np.linalg.norm(ratios - 1)
    density = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
    return float(np.clip(scipy.special.ndtr(-w) + density * (1 / u - 1 / w), 0, 1))
