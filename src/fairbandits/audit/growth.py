"""Procedures about growth: exponents, logarithms, bounded remainders, proportionality.

All fit means over replicates and resample the replicates: inside each horizon, or the same ones at
all horizons if `clustered`: replicate r is then the same run, or shares its randomness, at all of
them. `level` is the confidence of each one-sided limit; `resamples` and `rng` are the bootstrap's.
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
    carriers,
    cautious,
    effective,
    hardly_varies,
    mean_test,
    reach,
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

    Parameters
    ----------
    horizons : sequence of float, length n_horizons
        Increasing horizons T, or whatever the statistic is claimed to grow with.
    samples : sequence of sequence of float
        The statistic's replicates at each horizon; their numbers may differ.
    claim : {"at most", "at least", "equal"}
        How the true exponent relates to the claimed one.
    exponent : float
        The claimed exponent a.
    margin : float
        How far the slope may be beyond a, for finite horizons and logarithms.
    fit : {"weighted", "ordinary"}
        Least squares weighted by the precision of each log mean, which is taken to be 1 % at
        best since no mean is an exact power, or unweighted.
    of : {"T", "ln T"}
        Base of the power.
    window : {"all", "top decade"}
        Horizons that are fitted.
    points : int
        The fewest horizons, of those fitted.
    loose : float
        LOOSE is said of a claim "at most" when the upper limit is below a by more than this.
    asymptotic : bool
        Whether a claim "at most" or "at least" is about the limit, O(T^a) or Omega(T^a), as
        papers mean it; if not it is about these horizons.

    Returns
    -------
    Finding
        About the slope. A slope that keeps a claim "at most" or "at least" supports it. One that
        does not refutes it only if it is not asymptotic: a finite window cannot contradict O(T^a),
        so that the verdict is inconclusive, PRE-ASYMPTOTIC, and the same of Omega(T^a). A claim
        "equal" is about the exponent that is seen, and can be refuted.
        Means that are not positive cannot be fitted: with none positive a claim "at most" holds if
        that is shown with confidence (TRIVIAL), with fewer than three there is no verdict, and else
        the others are fitted (SIGN). RARE, and inconclusive, where too few replicates carry the
        slope's variance, or nearly all agree at a horizon. All means, the window, the local
        exponents per decade and by how much these change per decade (``curvature``) are in `also`.
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
    also = _described(horizons, means)
    positive = means > 0
    if positive.sum() < 3:
        if positive.any():
            return Finding(np.nan, -np.inf, np.inf, n, 1.0, INCONCLUSIVE, ("SIGN",), also)
        if claim == "at least" and asymptotic:
            tags = ("TRIVIAL", "PRE-ASYMPTOTIC")
            return Finding(np.nan, np.nan, np.nan, n, 1.0, INCONCLUSIVE, tags, also)
        return _never_positive(samples, level, REPRODUCED if claim == "at most" else None, also)
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
    verdict, tags = _of_a_limit(verdict, tags, asymptotic and claim != "equal")
    if slope.rare:
        tags = (*tags, "RARE")
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
    asymptotic: bool = True,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge a claim O(log T) by the local exponent over the last decade of horizons.

    Parameters
    ----------
    horizons, samples, points, asymptotic
        As in `growth_exponent`.
    ceiling : float
        Reproduced when the upper limit is at most this, or twice the exponent of ln T itself
        between the median horizon of the decade and the last.
    refuted_above : float
        When the lower limit is above this, not reproduced if the claim is not asymptotic, and else
        inconclusive, PRE-ASYMPTOTIC.
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
    also = _described(horizons, means)
    if (means <= 0).all():
        return _never_positive(samples, level, REPRODUCED, also)
    if (means > 0).sum() < 3:
        return Finding(np.nan, -np.inf, np.inf, n, 1.0, INCONCLUSIVE, ("SIGN",), also)
    slope = _Slope(np.log(horizons), samples, "ordinary", clustered, level, resamples, rng)
    middle, last = float(np.median(horizons)), horizons[-1]
    own = np.log(np.log(last) / np.log(middle)) / np.log(last / middle)
    allowed = max(ceiling, 2 * own)
    verdict, p = decide(slope.below(allowed), slope.above(max(refuted_above, allowed)), level)
    tags = () if (means > 0).all() else ("SIGN",)
    verdict, tags = _of_a_limit(verdict, tags, asymptotic)
    if slope.rare:
        tags = (*tags, "RARE")
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
    asymptotic: bool = True,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge a claim that a mean is at most g(T) + O(1).

    Parameters
    ----------
    horizons, samples, points, asymptotic
        As in `growth_exponent`; the horizons must span two decades.
    reference : sequence of float, length n_horizons
        g(T).
    level, level_against : float
        Confidence of the one-sided limit for, and of the one against.
    slack, slack_part : float
        The positive remainder may rise from the median horizon to the last by `slack`, or by
        `slack_part` of its value there, whichever is more.

    Returns
    -------
    Finding
        About that rise. Reproduced when the mean is at most g everywhere, or the upper limit of
        the rise is within the slack. When the slope of the remainder on ln T over the upper half is
        above 0 with confidence, and the remainder at the end is at least twice that at the median,
        not reproduced if the claim is not asymptotic, and else inconclusive, PRE-ASYMPTOTIC. RARE,
        and inconclusive, where too few replicates carry the variance of the rise.
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
    # the allowance for skewness, for the difference of means that the rise is
    part = max(0.0, 1 + (slack_part if slack_part * rest[middle] > slack else 0.0))
    ends = np.zeros(len(samples))
    ends[-1], ends[middle] = 1.0, -part if rest[middle] > 0 else 0.0
    risen = _Linear(ends, samples, clustered)
    up = np.zeros(len(samples))
    up[middle:] = upper - upper.mean()
    sloped = _Linear(up, samples, clustered)
    p_for = p_against = 1.0
    if not risen.rare:
        excess = float(excess_rise(means))
        p_for = max(_share(rises >= 0, rises), risen.below(excess)) if rest.any() else 1.0
    if not rest.any():
        # at most g everywhere, so far as that is shown
        p_for = max(
            mean_test(sample - at, 0.0, level).below
            for sample, at in zip(samples, reference, strict=True)
        )
    if not sloped.rare:
        rise = float(slope(means)) * ((upper - upper.mean()) ** 2).sum()
        p_against = max(_share(slopes <= 0, slopes), sloped.above(rise))
    doubled = rest[-1] >= 2 * rest[middle] and rest[-1] > 0
    n = min(map(len, samples))
    verdict, p = INCONCLUSIVE, min(p_for, p_against)
    if p_for <= 1 - level:
        verdict, p = REPRODUCED, p_for
    elif p_against <= 1 - level_against and doubled:
        verdict, p = NOT_REPRODUCED, p_against
    tags = () if rest.any() else ("TRIVIAL",)
    verdict, tags = _of_a_limit(verdict, tags, asymptotic)
    if (risen.rare and rest.any()) or sloped.rare:
        tags = (*tags, "RARE")
    allowed = max(slack, slack_part * rest[middle])
    also = {
        f"remainder at {t:g}": float(m) for t, m in zip(horizons, means - reference, strict=True)
    }
    also |= {"allowed rise": float(allowed), "slope on ln T": float(slope(means))}
    also |= {"first horizon": float(horizons[0]), "last horizon": float(horizons[-1])}
    return Finding(
        float(rest[-1] - rest[middle]),
        float(np.quantile(rises, 1 - level) + allowed),
        float(np.quantile(rises, level) + allowed),
        n,
        float(p),
        verdict,
        tags,
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
    """Judge a claim that a mean is proportional to x > 0, which increases over the points.

    Parameters
    ----------
    x, samples : sequence
        Length n_points; the replicates at each point.
    inside : (float, float)
        Reproduced when the limits of the log-log slope are inside this.
    outside : (float, float)
        Not reproduced when both limits are outside this, on the same side.

    Returns
    -------
    Finding
        About the log-log slope, with R^2 of y = b x (against y = 0) and of y = a + b x in `also`.
        RARE as in `growth_exponent`.
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
    also |= _described(x, means)
    n, tags = min(map(len, samples)), ("RARE",) if slope.rare else ()
    return Finding(slope.value, slope.low, slope.high, n, p, verdict, tags, also)


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


def _of_a_limit(
    verdict: str, tags: tuple[str, ...], asymptotic: bool
) -> tuple[str, tuple[str, ...]]:
    """Return a verdict and its tags where finite horizons cannot refute the claim."""
    if asymptotic and verdict == NOT_REPRODUCED:
        return INCONCLUSIVE, (*tags, "PRE-ASYMPTOTIC")
    return verdict, tags


def _never_positive(
    samples: list[np.ndarray], level: float, kept: str | None, also: dict[str, float]
) -> Finding:
    """Return the finding on growth where no mean is above 0.

    Where each mean is at most 0 with confidence its verdict is `kept`; None is a verdict against.
    """
    tests = [mean_test(sample, 0.0, level) for sample in samples]
    p = max(test.below for test in tests)
    tags = ("TRIVIAL",)
    verdict = INCONCLUSIVE
    if p <= 1 - level:
        verdict = kept or NOT_REPRODUCED
    elif any(test.rare for test in tests):
        tags = ("TRIVIAL", "RARE")
    n = min(map(len, samples))
    return Finding(np.nan, np.nan, np.nan, n, p, verdict, tags, also)


class _Linear:
    """A weighted sum of the means at several horizons, with its error and the allowance for skew.

    `rare`: too few replicates carry its variance, or nearly all agree at a horizon with a weight.
    """

    def __init__(self, weights: np.ndarray, samples: list[np.ndarray], clustered: bool) -> None:
        parts = [
            weight * (sample - sample.mean()) / sample.size
            for weight, sample in zip(weights, samples, strict=True)
        ]
        if clustered:
            parts = [np.sum(parts, axis=0)]
        pooled = np.concatenate(parts)
        self.n = min(map(effective, samples))
        self.df = max(1, self.n - 1)
        # n / (n - 1), as a variance has it
        self.error = float(
            np.sqrt(sum((part**2).sum() * part.size / (part.size - 1) for part in parts))
        )
        self.skew = float((pooled**3).sum() / self.error**3) if self.error else 0.0
        still = any(
            hardly_varies(sample) for weight, sample in zip(weights, samples, strict=True) if weight
        )
        self.rare = still or not self.error
        self.rare = self.rare or carriers(pooled) < CARRIERS

    def below(self, distance: float) -> float:
        """Return the p-value that the true sum is below the estimate less `distance`."""
        return cautious(distance / self.error, self.skew, self.n, self.df)

    def above(self, distance: float) -> float:
        """Return the p-value that the true sum is above the estimate less `distance`."""
        return cautious(-distance / self.error, -self.skew, self.n, self.df)


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
        samples: list[np.ndarray],
        fit: str,
        clustered: bool,
        level: float,
        resamples: int,
        rng: np.random.Generator | None,
    ) -> None:
        def fitted(*drawn: np.ndarray, axis: int = -1) -> np.ndarray:
            return np.stack(_slope_and_error(x, drawn, fit, clustered)[:2])

        slope, error, pull = _slope_and_error(x, samples, fit, clustered)
        self.value, self.error = float(slope), float(error)
        self.linear = _Linear(pull, samples, clustered)
        self.rare = self.linear.rare
        self.low, self.high = -np.inf, np.inf
        slopes, errors = _distribution(fitted, samples, clustered, resamples, rng)
        if self.rare:
            return
        with np.errstate(invalid="ignore", divide="ignore"):
            self.deviation = (slopes - self.value) / errors
        n, df, skew = self.linear.n, self.linear.df, self.linear.skew
        # a resample without a slope counts as the limit that decides nothing
        high = -_quantile(self.deviation, 1 - level, -np.inf)
        low = _quantile(self.deviation, level, np.inf)
        self.high = self.value + max(high, reach(level, skew, n, df)) * self.error
        self.low = self.value - max(low, reach(level, -skew, n, df)) * self.error

    def below(self, value: float) -> float:
        """Return the p-value against the slope being `value` or more."""
        if self.rare:
            return 1.0
        distance = self.value - value
        resampled = tail(-self.deviation, -distance / self.error, self.linear.df)
        return max(resampled, self.linear.below(distance))

    def above(self, value: float) -> float:
        """Return the p-value against the slope being `value` or less."""
        if self.rare:
            return 1.0
        distance = self.value - value
        resampled = tail(self.deviation, distance / self.error, self.linear.df)
        return max(resampled, self.linear.above(distance))


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
