"""Procedures about growth: exponents, logarithms, proportionality.

All fit means over replicates and resample the replicates: inside each horizon, or the same ones at
all horizons if `clustered`: replicate r is then the same run, or shares its randomness, at all of
them. What all of them mean by the same words:

- `horizons` increase: T, or whatever the statistic is claimed to grow with; `samples` has the
  replicates at each of them, whose numbers may differ, at least `points` horizons of them;
- `level` is the confidence of each one-sided limit, `resamples` and `rng` are the bootstrap's;
- with `asymptotic` a claim is about the limit, O(.) or Omega(.), as papers mean it. A finite window
  cannot contradict it: the verdict against it is then inconclusive, PRE-ASYMPTOTIC.

RARE, and inconclusive, where too few replicates carry the variance, or nearly all agree at a
horizon. All means, the window, the local exponents per decade and by how much these change per
decade (``curvature``) are in `also`.
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
from fairbandits.audit.limits import (
    CARRIERS,
    Skewed,
    carriers,
    hardly_varies,
    mean_test,
)
from fairbandits.audit.resampling import batch, needed, tail, without_interval

#: Fewest replicates for a bootstrap.
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
    asymptotic: bool = True,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge a claim that a mean grows like a power: the slope of log mean on log horizon.

    The slope is at most, at least or equal to the claimed `exponent`, but for a `margin` for finite
    horizons and logarithms. The fit is by least squares, `weighted` by the precision of each log
    mean, which is taken to be 1 % at best since no mean is an exact power, or `ordinary`; `of` is
    the base of the power. LOOSE is said of a claim "at most" when the upper limit is below the
    exponent by more than `loose`. A claim "equal" is about the exponent that is seen, and can be
    refuted.

    Means that are not positive cannot be fitted: with none positive a claim "at most" holds if that
    is shown with confidence, with fewer than three there is no verdict, and else the others are
    fitted (SIGN).
    """
    one_of("claim", claim, ("at most", "at least", "equal"))
    one_of("fit", fit, ("weighted", "ordinary"))
    one_of("of", of, ("T", "ln T"))
    grid = _Grid(horizons, samples, window, points, clustered)
    confidence(level)
    exponent, margin = number("exponent", exponent), number("margin", margin)
    if margin < 0 or number("loose", loose) < 0:
        raise ValueError(f"margin and loose must be at least 0, got {margin!r} and {loose!r}")
    if of == "ln T" and grid.horizons[0] <= 1:
        raise ValueError(f"horizons must be above 1 to take ln ln T, got {grid.horizons[0]}")
    if not (grid.means > 0).any() and claim == "at least" and asymptotic:
        return grid.finding(INCONCLUSIVE, ("SIGN", "PRE-ASYMPTOTIC"), limits=(np.nan, np.nan))
    if found := grid.unfitted(level, REPRODUCED if claim == "at most" else NOT_REPRODUCED):
        return found
    x = np.log(np.log(grid.horizons)) if of == "ln T" else np.log(grid.horizons)
    slope = _Slope(x, grid, fit, level, resamples, rng)
    above, below = slope.above, slope.below
    most, least = exponent + margin, exponent - margin
    p_for, p_against = {
        "at most": (below(most), above(most)),
        "at least": (above(least), below(least)),
        "equal": (max(below(most), above(least)), min(above(most), below(least))),
    }[claim]
    loose_tag = ("LOOSE",) * (claim == "at most" and slope.high < exponent - loose)
    return slope.finding(p_for, p_against, asymptotic and claim != "equal", loose_tag)


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
    asymptotic: bool = True,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge a claim O(log T) by the local exponent over the last decade of horizons.

    Reproduced when the upper limit is at most `ceiling`, or twice the exponent of ln T itself
    between the median horizon of the decade and the last; against it when the lower limit is above
    `refuted_above`.
    """
    grid = _Grid(horizons, samples, "top decade", points, clustered)
    confidence(level)
    if grid.horizons[0] <= 1:
        raise ValueError(f"horizons must be above 1, got {grid.horizons[0]}")
    if not 0 < number("ceiling", ceiling) <= number("refuted_above", refuted_above):
        raise ValueError(
            f"0 < ceiling <= refuted_above is needed, got {ceiling!r} and {refuted_above!r}"
        )
    if found := grid.unfitted(level, REPRODUCED):
        return found
    slope = _Slope(np.log(grid.horizons), grid, "ordinary", level, resamples, rng)
    middle, last = float(np.median(grid.horizons)), grid.horizons[-1]
    own = np.log(np.log(last) / np.log(middle)) / np.log(last / middle)
    allowed = max(ceiling, 2 * own)
    grid.also["exponent of ln T"] = float(own)
    p_against = slope.above(max(refuted_above, allowed))
    return slope.finding(slope.below(allowed), p_against, asymptotic)


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
    """Judge a claim that a mean is proportional to x > 0, which increases over the points.

    Reproduced when the limits of the log-log slope are within the numbers `inside`, not reproduced
    when both are beyond those of `outside`, on the same side. R^2 of y = b x (against y = 0) and of
    y = a + b x are in `also`.
    """
    grid = _Grid(x, samples, "all", 3, clustered)
    x, means = grid.horizons, grid.means
    confidence(level)
    inner, outer = numbers("inside", inside, least=2), numbers("outside", outside, least=2)
    if not 0 < outer[0] <= inner[0] < 1 < inner[1] <= outer[1]:
        raise ValueError(
            f"inside must be around 1 and outside around it, got {list(inside)}, {list(outside)}"
        )
    if (means <= 0).any():
        raise ValueError(f"means must be above 0 for a log-log slope, got {means.min()}")
    slope = _Slope(np.log(x), grid, "ordinary", level, resamples, rng)
    p_for = max(slope.above(inner[0]), slope.below(inner[1]))
    p_against = min(slope.below(outer[0]), slope.above(outer[1]))
    through = (x @ means) / (x @ x)
    line = scipy.stats.linregress(x, means)
    fits = {
        "R2 of b x": float(1 - ((means - through * x) ** 2).sum() / (means**2).sum()),
        "R2 of a + b x": float(line.rvalue**2),
        "a": float(line.intercept),
        "b": float(through),
    }
    grid.also = fits | grid.also
    return slope.finding(p_for, p_against, False)


class _Grid:
    """The horizons of a window and the samples there, checked, and what is found of them."""

    def __init__(
        self,
        horizons: Sequence[float],
        samples: Sequence[Sequence[float]],
        window: str,
        points: int,
        clustered: bool,
    ) -> None:
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
            first = int((horizons < horizons[-1] / 10 * (1 - 1e-9)).sum())
            horizons, arrays = horizons[first:], arrays[first:]
        if points < 3 or horizons.size < points:
            raise ValueError(
                f"at least {max(points, 3)} horizons are needed in the window, got {horizons.size}"
            )
        if clustered and len({array.size for array in arrays}) > 1:
            raise ValueError("clustered samples must have the same replicates at all horizons")
        self.horizons, self.samples, self.clustered = horizons, arrays, clustered
        self.means = np.array([sample.mean() for sample in arrays])
        self.also = _described(horizons, self.means)

    def finding(
        self,
        verdict: str,
        tags: tuple[str, ...],
        p: float = 1.0,
        value: float = np.nan,
        limits: Sequence[float] = (-np.inf, np.inf),
    ) -> Finding:
        """Return a finding; without a value it is that nothing can be fitted."""
        return Finding(value, *limits, min(map(len, self.samples)), p, verdict, tags, self.also)

    def unfitted(self, level: float, kept: str) -> Finding | None:
        """Return the finding on means of which fewer than three are positive, None if they are.

        Where each mean is at most 0 with confidence its verdict is `kept`.
        """
        positive = int((self.means > 0).sum())
        if positive:
            return self.finding(INCONCLUSIVE, ("SIGN",)) if positive < 3 else None
        tests = [mean_test(sample, 0.0, level) for sample in self.samples]
        p, tags, verdict = max(test.below for test in tests), ("SIGN",), INCONCLUSIVE
        if p <= 1 - level:
            verdict = kept
        elif any(test.rare for test in tests):
            tags = ("SIGN", "RARE")
        return self.finding(verdict, tags, p, limits=(np.nan, np.nan))

    def linear(self, weights: np.ndarray) -> tuple[Skewed, bool]:
        """Return the error of a weighted sum of the means, and whether too few carry its variance.

        That is also said where nearly all replicates agree at a horizon with a weight.
        """
        parts = [
            weight * (sample - sample.mean()) / sample.size
            for weight, sample in zip(weights, self.samples, strict=True)
        ]
        if self.clustered:
            parts = [np.sum(parts, axis=0)]
        weighted = [sample for sample, weight in zip(self.samples, weights, strict=True) if weight]
        skewed = Skewed.of(parts)
        scarce = any(map(hardly_varies, weighted)) or not skewed.error
        return skewed, scarce or carriers(np.concatenate(parts)) < CARRIERS

    @without_interval()
    def resampled(
        self,
        statistic: Callable[..., np.ndarray],
        resamples: int,
        rng: np.random.Generator | None,
    ) -> np.ndarray:
        """Return the bootstrap distribution of a function of the samples, on the last axis."""
        return scipy.stats.bootstrap(
            self.samples,
            statistic,
            n_resamples=resamples,
            batch=batch(sum(map(len, self.samples))),
            paired=self.clustered,
            method="percentile",
            vectorized=True,
            rng=needed(rng),
        ).bootstrap_distribution


def _of_a_limit(
    verdict: str, tags: tuple[str, ...], asymptotic: bool
) -> tuple[str, tuple[str, ...]]:
    """Return a verdict and its tags where finite horizons cannot refute the claim."""
    if asymptotic and verdict == NOT_REPRODUCED:
        return INCONCLUSIVE, (*tags, "PRE-ASYMPTOTIC")
    return verdict, tags


class _Slope:
    """The slope of log mean on x, with studentised bootstrap limits and p-values.

    Percentiles of the resampled slopes would be too narrow where few replicates are skewed, most
    of all at the high levels that Holm's correction asks for. Neither limits nor p-values are
    better than those of the linearised slope, with the allowance for skewness of
    `fairbandits.audit.limits`.
    """

    def __init__(
        self,
        x: np.ndarray,
        grid: _Grid,
        fit: str,
        level: float,
        resamples: int,
        rng: np.random.Generator | None,
    ) -> None:
        def fitted(*drawn: np.ndarray, axis: int = -1) -> np.ndarray:
            return np.stack(_slope_and_error(x, drawn, fit, grid.clustered)[:2])

        slope, error, pull = _slope_and_error(x, grid.samples, fit, grid.clustered)
        self.grid, self.level = grid, level
        self.value, self.error = float(slope), float(error)
        self.linear, self.rare = grid.linear(pull)
        self.low, self.high = -np.inf, np.inf
        slopes, errors = grid.resampled(fitted, resamples, rng)
        if self.rare:
            return
        with np.errstate(invalid="ignore", divide="ignore"):
            self.deviation = (slopes - self.value) / errors
        # a resample without a slope counts as the limit that decides nothing
        high = -_quantile(self.deviation, 1 - level, -np.inf)
        low = _quantile(self.deviation, level, np.inf)
        down, up = self.linear.widths(level)
        self.high = self.value + max(high, up) * self.error
        self.low = self.value - max(low, down) * self.error

    def below(self, value: float) -> float:
        """Return the p-value against the slope being `value` or more."""
        return self._p_value(self.value - value, -1)

    def above(self, value: float) -> float:
        """Return the p-value against the slope being `value` or less."""
        return self._p_value(self.value - value, 1)

    def _p_value(self, distance: float, side: int) -> float:
        if self.rare:
            return 1.0
        df = self.linear.df
        resampled = tail(side * self.deviation, side * distance / self.error, df)
        smooth = self.linear.above if side > 0 else self.linear.below
        return max(resampled, smooth(distance))

    def finding(
        self, p_for: float, p_against: float, asymptotic: bool, more: tuple[str, ...] = ()
    ) -> Finding:
        """Return the finding on the slope, from the p-values that the claim is false, and true."""
        verdict, p = decide(p_for, p_against, self.level)
        tags = () if (self.grid.means > 0).all() else ("SIGN",)
        verdict, tags = _of_a_limit(verdict, tags, asymptotic)
        tags = (*tags, *("RARE",) * self.rare, *more)
        return self.grid.finding(verdict, tags, p, self.value, (self.low, self.high))


def _slope_and_error(
    x: np.ndarray, samples: Sequence[np.ndarray], fit: str, clustered: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the slope of log mean on x, its standard error, and its derivative by each mean.

    Samples have replicates on their last axis. The error is that of the linearised slope, a sum
    over replicates. All is NaN below two positive means.
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
        return slope, np.sqrt(parts.var(axis=-1, ddof=1) / parts.shape[-1]), pull
    return slope, np.sqrt((pull**2 * variances).sum(axis=-1)), pull


def _quantile(drawn: np.ndarray, level: float, missing: float) -> float:
    """Return a quantile; resamples without a slope count as `missing`, which decides nothing."""
    return float(np.quantile(np.where(np.isnan(drawn), missing, drawn), level, method="nearest"))


def _share(against: np.ndarray, drawn: np.ndarray) -> float:
    """Return a bootstrap p-value; a resample without a slope counts against a verdict."""
    return float((1 + (against | np.isnan(drawn)).sum()) / (1 + drawn.size))


def _described(horizons: np.ndarray, means: np.ndarray) -> dict[str, float]:
    """Return the means, their window, the local exponents, and how fast these change.

    The curvature is the change of the local exponent per decade, from a parabola in log T.
    """
    also = {f"mean at {t:g}": float(m) for t, m in zip(horizons, means, strict=True)}
    also |= {"first horizon": float(horizons[0]), "last horizon": float(horizons[-1])}
    also |= _local_exponents(horizons, means)
    positive = means > 0
    if positive.sum() >= 3:
        x, y = np.log10(horizons[positive]), np.log10(means[positive])
        also["curvature"] = float(2 * np.polyfit(x - x.mean(), y, 2)[0])
    return also


def _local_exponents(horizons: np.ndarray, means: np.ndarray) -> dict[str, float]:
    """Return the exponent over each stretch of about a decade."""
    found = {}
    for start, (t, mean) in enumerate(zip(horizons, means, strict=True)):
        end = int(np.argmin(np.abs(np.log(horizons / (10 * t)))))
        if end > start and mean > 0 and means[end] > 0 and horizons[end] > 5 * t:
            slope = np.log(means[end] / mean) / np.log(horizons[end] / t)
            found[f"exponent from {t:g} to {horizons[end]:g}"] = float(slope)
    return found
