"""Procedures about growth: exponents, logarithms, bounded remainders, proportionality.

All fit means over replicates and resample the replicates: inside each horizon, or the same ones at
all horizons where these are read off the same runs (`clustered`).
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import scipy

from fairbandits.audit.finding import (
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Finding,
    confidence,
    decide,
    number,
    numbers,
    one_of,
)
from fairbandits.audit.resampling import LEAST_SCALE, batch, needed, without_interval

#: A bootstrap of fewer replicates than these says nothing.
FEWEST = 10


def growth_exponent(
    horizons: Sequence[float],
    samples: Sequence[Sequence[float]],
    *,
    claim: Literal["at most", "at least", "equal"],
    exponent: float,
    margin: float,
    level: float,
    fit: Literal["weighted", "ordinary"],
    of: Literal["T", "ln T"],
    window: Literal["all", "top decade"],
    points: int,
    clustered: bool,
    loose: float,
    resamples: int,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge a claim that a mean grows like a power: the slope of log mean on log horizon.

    Parameters
    ----------
    horizons : sequence of float, length n_horizons
        Increasing horizons T, or whatever the statistic is claimed to grow with.
    samples : sequence of sequence of float
        The statistic's replicates at each horizon; their numbers may differ.
    claim : {"at most", "at least", "equal"}
        How the exponent relates to `exponent`.
    exponent : float
        The claimed one, a.
    margin : float
        What the slope may be beyond a, for finite horizons and logarithms.
    level : float
        Confidence of each of the one-sided limits of the slope.
    fit : {"weighted", "ordinary"}
        Least squares weighted by the precision of each log mean, which is taken to be 1 % at
        best since no mean is an exact power, or unweighted.
    of : {"T", "ln T"}
        What the power is of.
    window : {"all", "top decade"}
        Which horizons are fitted.
    points : int
        The fewest horizons, of those fitted.
    clustered : bool
        Whether replicate r is the same run, or shares its randomness, at all horizons.
    loose : float
        LOOSE is said of a claim "at most" when the upper limit is below a by more than this.
    resamples : int
        Of the bootstrap.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    Finding
        About the slope. Means that are not positive cannot be fitted: with none positive a claim
        "at most" holds (TRIVIAL), with fewer than three there is no verdict, and else the others
        are fitted (SIGN). All means, and the local exponents per decade, are in `also`.
    """
    one_of("claim", claim, ("at most", "at least", "equal"))
    one_of("fit", fit, ("weighted", "ordinary"))
    one_of("of", of, ("T", "ln T"))
    horizons, samples = _grid(horizons, samples, window, points, clustered)
    confidence(level)
    exponent, margin = number("exponent", exponent), number("margin", margin)
    if margin < 0 or number("loose", loose) < 0:
        raise ValueError(f"margin and loose must be at least 0, got {margin!r} and {loose!r}")
    if of == "ln T" and horizons[0] <= 1:
        raise ValueError(f"horizons must be above 1 to take ln ln T, got {horizons[0]}")
    x = np.log(np.log(horizons)) if of == "ln T" else np.log(horizons)
    means = np.array([sample.mean() for sample in samples])
    n = min(map(len, samples))
    also = {f"mean at {t:g}": float(m) for t, m in zip(horizons, means, strict=True)}
    positive = means > 0
    if positive.sum() < 3:
        if positive.any():
            return Finding(np.nan, -np.inf, np.inf, n, None, INCONCLUSIVE, ("SIGN",), also)
        verdict = REPRODUCED if claim == "at most" else NOT_REPRODUCED
        return Finding(np.nan, np.nan, np.nan, n, None, verdict, ("TRIVIAL",), also)
    also |= _local_exponents(horizons, means)
    slope = _Slope(x, samples, fit, clustered, level, resamples, rng)
    above, below = slope.above, slope.below
    most, least = exponent + margin, exponent - margin
    p_for, p_against = {
        "at most": (below(most), above(most)),
        "at least": (above(least), below(least)),
        "equal": (max(below(most), above(least)), min(above(most), below(least))),
    }[claim]
    verdict, p = decide(p_for, p_against, level)
    tags = () if positive.all() else ("SIGN",)
    if claim == "at most" and slope.high < exponent - loose:
        tags = (*tags, "LOOSE")
    return Finding(slope.value, slope.low, slope.high, n, p, verdict, tags, also)


def logarithmic_growth(
    horizons: Sequence[float],
    samples: Sequence[Sequence[float]],
    *,
    level: float,
    ceiling: float,
    refuted_above: float,
    points: int,
    clustered: bool,
    resamples: int,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge a claim O(log T) by the local exponent over the last decade of horizons.

    Parameters
    ----------
    horizons, samples, points, clustered, resamples, rng
        As in `growth_exponent`.
    level : float
        Confidence of each of the one-sided limits of the exponent.
    ceiling : float
        Reproduced when the upper limit is at most this, or twice the exponent of ln T itself
        between the median horizon of the decade and the last.
    refuted_above : float
        Not reproduced when the lower limit is above this.
    """
    horizons, samples = _grid(horizons, samples, "top decade", points, clustered)
    confidence(level)
    if horizons[0] <= 1:
        raise ValueError(f"horizons must be above 1, got {horizons[0]}")
    if not 0 < number("ceiling", ceiling) <= number("refuted_above", refuted_above):
        raise ValueError(
            f"0 < ceiling <= refuted_above is needed, got {ceiling!r} and {refuted_above!r}"
        )
    means = np.array([sample.mean() for sample in samples])
    n = min(map(len, samples))
    also = {f"mean at {t:g}": float(m) for t, m in zip(horizons, means, strict=True)}
    if (means <= 0).all():
        return Finding(np.nan, np.nan, np.nan, n, None, REPRODUCED, ("TRIVIAL",), also)
    if (means > 0).sum() < 3:
        return Finding(np.nan, -np.inf, np.inf, n, None, INCONCLUSIVE, ("SIGN",), also)
    slope = _Slope(np.log(horizons), samples, "ordinary", clustered, level, resamples, rng)
    middle, last = float(np.median(horizons)), horizons[-1]
    own = np.log(np.log(last) / np.log(middle)) / np.log(last / middle)
    allowed = max(ceiling, 2 * own)
    verdict, p = decide(slope.below(allowed), slope.above(max(refuted_above, allowed)), level)
    tags = () if (means > 0).all() else ("SIGN",)
    also |= {"exponent of ln T": float(own)}
    return Finding(slope.value, slope.low, slope.high, n, p, verdict, tags, also)


def bounded_remainder(
    horizons: Sequence[float],
    samples: Sequence[Sequence[float]],
    reference: Sequence[float],
    *,
    level: float,
    level_against: float,
    slack: float,
    slack_part: float,
    points: int,
    clustered: bool,
    resamples: int,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge a claim that a mean is at most g(T) + O(1).

    Parameters
    ----------
    horizons, samples, points, clustered, resamples, rng
        As in `growth_exponent`; the horizons must span two decades.
    reference : sequence of float, length n_horizons
        g(T).
    level, level_against : float
        Confidence of the one-sided limit for, and of the one against.
    slack, slack_part : float
        The positive remainder may rise from the median horizon to the last by `slack`, or by
        `slack_part` of what it is there, whichever is more.

    Returns
    -------
    Finding
        About that rise. Reproduced when the mean is at most g everywhere, or the upper limit of
        the rise is within the slack. Not reproduced when the slope of the remainder on ln T over
        the upper half is above 0 with confidence, and the remainder at the end is at least twice
        that at the median.
    """
    horizons, samples = _grid(horizons, samples, "all", points, clustered)
    reference = numbers("reference", reference)
    if reference.size != horizons.size:
        raise ValueError(
            f"reference must have one entry per horizon ({horizons.size}), got {reference.size}"
        )
    if horizons[-1] < 100 * horizons[0] * (1 - 1e-9):
        raise ValueError(f"horizons must span two decades, got {horizons[0]:g} to {horizons[-1]:g}")
    confidence(level), confidence(level_against)
    for name, value in {"slack": slack, "slack_part": slack_part}.items():
        if number(name, value) < 0:
            raise ValueError(f"{name} must be at least 0, got {value!r}")
    middle = (len(horizons) - 1) // 2
    upper = np.log(horizons[middle:])

    def excess_rise(means: np.ndarray) -> np.ndarray:
        rest = np.maximum(means - reference, 0)
        at, end = rest[..., middle], rest[..., -1]
        return end - at - np.maximum(slack, slack_part * at)

    def slope(means: np.ndarray) -> np.ndarray:
        rest = (means - reference)[..., middle:]
        centred = upper - upper.mean()
        return (rest * centred).sum(axis=-1) / (centred**2).sum()

    means = np.array([sample.mean() for sample in samples])
    rest = np.maximum(means - reference, 0)
    drawn = _resampled(
        samples, lambda m: np.stack([excess_rise(m), slope(m)]), clustered, resamples, rng
    )
    rises, slopes = drawn
    p_for = 0.0 if not rest.any() else _share(rises >= 0, rises)
    p_against = _share(slopes <= 0, slopes)
    doubled = rest[-1] >= 2 * rest[middle] and rest[-1] > 0
    n = min(map(len, samples))
    verdict, p = INCONCLUSIVE, min(p_for, p_against)
    if p_for <= 1 - level:
        verdict, p = REPRODUCED, p_for
    elif p_against <= 1 - level_against and doubled:
        verdict, p = NOT_REPRODUCED, p_against
    allowed = max(slack, slack_part * rest[middle])
    also = {
        f"remainder at {t:g}": float(m) for t, m in zip(horizons, means - reference, strict=True)
    }
    also |= {"allowed rise": float(allowed), "slope on ln T": float(slope(means))}
    return Finding(
        float(rest[-1] - rest[middle]),
        float(np.quantile(rises, 1 - level) + allowed),
        float(np.quantile(rises, level) + allowed),
        n,
        float(p),
        verdict,
        () if rest.any() else ("TRIVIAL",),
        also,
    )


def proportionality(
    x: Sequence[float],
    samples: Sequence[Sequence[float]],
    *,
    inside: Sequence[float],
    outside: Sequence[float],
    level: float,
    clustered: bool,
    resamples: int,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge a claim that a mean is proportional to something.

    Parameters
    ----------
    x : sequence of float, length n_points
        What the mean is claimed to be proportional to, above 0, increasing.
    samples : sequence of sequence of float
        Replicates at each point.
    inside : (float, float)
        Reproduced when the limits of the log-log slope are inside this.
    outside : (float, float)
        Not reproduced when both limits are outside this, on the same side.
    level : float
        Confidence of each of the one-sided limits of the slope.
    clustered, resamples, rng
        As in `growth_exponent`.

    Returns
    -------
    Finding
        About the log-log slope, with R^2 of y = b x (against y = 0) and of y = a + b x in `also`.
    """
    x, samples = _grid(x, samples, "all", 3, clustered)
    confidence(level)
    inner, outer = numbers("inside", inside, least=2), numbers("outside", outside, least=2)
    if not 0 < outer[0] <= inner[0] < 1 < inner[1] <= outer[1]:
        raise ValueError(
            f"inside must be around 1 and outside around it, got {list(inside)}, {list(outside)}"
        )
    means = np.array([sample.mean() for sample in samples])
    if (means <= 0).any():
        raise ValueError(f"means must be above 0 for a log-log slope, got {means.min()}")
    slope = _Slope(np.log(x), samples, "ordinary", clustered, level, resamples, rng)
    p_for = max(slope.above(inner[0]), slope.below(inner[1]))
    p_against = min(slope.below(outer[0]), slope.above(outer[1]))
    verdict, p = decide(p_for, p_against, level)
    through = (x @ means) / (x @ x)
    line = scipy.stats.linregress(x, means)
    also = {
        "R2 of b x": float(1 - ((means - through * x) ** 2).sum() / (means**2).sum()),
        "R2 of a + b x": float(line.rvalue**2),
        "a": float(line.intercept),
        "b": float(through),
    }
    n = min(map(len, samples))
    return Finding(slope.value, slope.low, slope.high, n, p, verdict, (), also)


def _grid(
    horizons: Sequence[float],
    samples: Sequence[Sequence[float]],
    window: str,
    points: int,
    clustered: bool,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the horizons of the window and their samples, checked."""
    one_of("window", window, ("all", "top decade"))
    horizons = numbers("horizons", horizons)
    if len(samples) != horizons.size:
        raise ValueError(
            f"samples must have one entry per horizon ({horizons.size}), got {len(samples)}"
        )
    if horizons[0] <= 0 or (np.diff(horizons) <= 0).any():
        raise ValueError(f"horizons must be above 0 and increase, got {horizons.tolist()}")
    arrays = [
        numbers(f"samples at {t:g}", sample, least=FEWEST)
        for t, sample in zip(horizons, samples, strict=True)
    ]
    if window == "top decade":
        kept = horizons >= horizons[-1] / 10 * (1 - 1e-9)
        arrays = [array for array, keep in zip(arrays, kept, strict=True) if keep]
        horizons = horizons[kept]
    if points < 3 or horizons.size < points:
        raise ValueError(
            f"at least {max(points, 3)} horizons are needed in the window, got {horizons.size}"
        )
    if clustered and len({array.size for array in arrays}) > 1:
        raise ValueError("clustered samples must have the same replicates at all horizons")
    return horizons, arrays


class _Slope:
    """The slope of log mean on x, with studentised bootstrap limits and p-values.

    Percentiles of the resampled slopes would be too narrow where few replicates are skewed, most
    of all at the high levels that Holm's correction asks for. A resample's standard error counts as
    at least `LEAST_SCALE` of the sample's (see `studentised`).
    """

    def __init__(
        self,
        x: np.ndarray,
        samples: list[np.ndarray],
        fit: str,
        clustered: bool,
        level: float,
        resamples: int,
        rng: np.random.Generator | None,
    ) -> None:
        def fitted(*drawn: np.ndarray, axis: int = -1) -> np.ndarray:
            return np.stack(_slope_and_error(x, drawn, fit, clustered))

        value, self.error = fitted(*samples)
        self.value = float(value)
        slopes, errors = _distribution(fitted, samples, clustered, resamples, rng)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.deviation = (slopes - self.value) / np.maximum(errors, LEAST_SCALE * self.error)
        # the limit that a resample without a slope would give is the one that decides nothing
        high = _quantile(self.deviation, 1 - level, -np.inf)
        low = _quantile(self.deviation, level, np.inf)
        self.high = self.value - high * self.error if self.error else self.value
        self.low = self.value - low * self.error if self.error else self.value

    def below(self, value: float) -> float:
        """Return the p-value against the slope being `value` or more."""
        if not self.error:
            return float(self.value > value)
        return _share(self.deviation <= (self.value - value) / self.error, self.deviation)

    def above(self, value: float) -> float:
        """Return the p-value against the slope being `value` or less."""
        if not self.error:
            return float(self.value < value)
        return _share(self.deviation >= (self.value - value) / self.error, self.deviation)


def _slope_and_error(
    x: np.ndarray, samples: Sequence[np.ndarray], fit: str, clustered: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slope of log mean on x and its standard error; NaN below two positive means.

    Samples have replicates on their last axis. The error is that of the linearised slope, a sum
    over replicates.
    """
    means = np.stack([sample.mean(axis=-1) for sample in samples], axis=-1)
    variances = np.stack(
        [sample.var(axis=-1, ddof=1) / sample.shape[-1] for sample in samples], axis=-1
    )
    usable = means > 0
    safe = np.where(usable, means, 1.0)
    weights = usable.astype(float)
    if fit == "weighted":
        weights /= np.maximum(variances / safe**2, 0.01**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = weights.sum(axis=-1, keepdims=True)
        centred = x - (weights * x).sum(axis=-1, keepdims=True) / total
        pull = weights * centred / (weights * centred**2).sum(axis=-1, keepdims=True)
    pull = np.where((usable.sum(axis=-1) >= 2)[..., None], pull, np.nan)
    slope = (pull * np.log(safe)).sum(axis=-1)
    pull = pull / safe
    if clustered:
        parts = sum(pull[..., [k]] * sample for k, sample in enumerate(samples))
        return slope, np.sqrt(parts.var(axis=-1, ddof=1) / parts.shape[-1])
    return slope, np.sqrt((pull**2 * variances).sum(axis=-1))


def _resampled(
    samples: list[np.ndarray],
    statistic: Callable[[np.ndarray], np.ndarray],
    clustered: bool,
    resamples: int,
    rng: np.random.Generator | None,
) -> np.ndarray:
    """Return the bootstrap distribution of a function of the means, on the last axis."""

    def of_samples(*drawn: np.ndarray, axis: int) -> np.ndarray:
        means = np.stack([sample.mean(axis=axis) for sample in drawn], axis=-1)
        return statistic(means)

    return _distribution(of_samples, samples, clustered, resamples, rng)


@without_interval()
def _distribution(
    of_samples: Callable[..., np.ndarray],
    samples: list[np.ndarray],
    clustered: bool,
    resamples: int,
    rng: np.random.Generator | None,
) -> np.ndarray:
    return scipy.stats.bootstrap(
        samples,
        of_samples,
        n_resamples=resamples,
        batch=batch(sum(map(len, samples))),
        paired=clustered,
        method="percentile",
        vectorized=True,
        rng=needed(rng),
    ).bootstrap_distribution


def _quantile(drawn: np.ndarray, level: float, missing: float) -> float:
    """Return a quantile; a resample without a slope counts as the value that decides nothing."""
    return float(np.quantile(np.where(np.isnan(drawn), missing, drawn), level, method="nearest"))


def _share(against: np.ndarray, drawn: np.ndarray) -> float:
    """Return a bootstrap p-value; a resample without a slope counts against a verdict."""
    return float((1 + (against | np.isnan(drawn)).sum()) / (1 + drawn.size))


def _local_exponents(horizons: np.ndarray, means: np.ndarray) -> dict[str, float]:
    """Return the exponent over each stretch of about a decade."""
    found = {}
    for start, (t, mean) in enumerate(zip(horizons, means, strict=True)):
        end = int(np.argmin(np.abs(np.log(horizons / (10 * t)))))
        if end > start and mean > 0 and means[end] > 0 and horizons[end] > 5 * t:
            slope = np.log(means[end] / mean) / np.log(horizons[end] / t)
            found[f"exponent from {t:g} to {horizons[end]:g}"] = float(slope)
    return found
