"""Procedures about expectations: bounds, comparisons, equivalence, shapes, spreads, shares.

What all of them mean by the same words:

- a sample has the statistic of each replicate; `samples` have shape (n_replicates, n_points);
- `level` is the confidence of each of the one-sided limits;
- `least` and `most` are the smallest and largest possible value of a replicate. They make a verdict
  possible where nearly all replicates agree;
- limits and p-values of a mean are those of `fairbandits.audit.limits`; a procedure that resamples
  needs `resamples` and the generator `rng`.

RARE is said where too few replicates carry the variance: then an upper limit needs `most`, a lower
one `least`, and is infinite without it.
"""

from collections.abc import Sequence
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
    LEAST_P,
    MeanTest,
    Skewed,
    bet,
    hardly_varies,
    is_constant,
    mean_test,
    rare,
    within,
)
from fairbandits.audit.resampling import batch, needed, studentised, tail

#: Fewest replicates of a curve.
FEWEST = 10
#: Points at which most values are bounded one by one, or all by one number.
Ends = Sequence[float] | float | None


def bound(
    sample: Sequence[float],
    limit: float,
    least: float | None = None,
    most: float | None = None,
    *,
    side: Literal["at most", "at least"],
    level: float,
) -> Finding:
    """Judge whether an expectation is at most, or at least, an explicit number, the `limit`.

    Reproduced when the limit on the far side keeps the bound, not reproduced when the limit on the
    near side breaks it. ``tightness`` is mean / limit. VACUOUS where no possible value breaks the
    bound.
    """
    one_of("side", side, ("at most", "at least"))
    limit, sample = number("limit", limit), numbers("sample", sample)
    test = mean_test(sample, limit, level, least, most)
    p_for, p_against = test.below, test.above
    end, vacuous = most, most is not None and limit >= most
    if side == "at least":
        p_for, p_against = p_against, p_for
        end, vacuous = least, least is not None and limit <= least
    verdict, p = decide(p_for, p_against, level)
    also = {"limit": limit} | ({"tightness": test.mean / limit} if limit > 0 else {})
    if end is not None:
        also["possible"] = float(end)
    also |= _unseen(test.constant, sample.size, level)
    tags = _scarce(test)
    if vacuous:
        verdict, p, tags = INCONCLUSIVE, 1.0, (*tags, "VACUOUS")
    return Finding(test.mean, test.low, test.high, sample.size, p, verdict, tags, also)


def bound_everywhere(
    samples: Sequence[Sequence[float]],
    limits: Sequence[float],
    least: Ends = None,
    most: Ends = None,
    *,
    level: float,
    resamples: int,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge whether several expectations are each at most their bounds, all at once.

    The points are rounds, or arms, and either verdict has simultaneous confidence. About the
    largest mean minus bound: reproduced when every upper limit keeps its bound, not reproduced when
    the lower end of the simultaneous band breaks one. ``worst point`` is the index of the largest,
    ``tightness`` the largest mean / bound where the bound is above 0. Points whose bound no
    possible value breaks are no evidence and left out (``vacuous points``); VACUOUS if none is
    left. RARE if it stands in the way.

    Notes
    -----
    To show that all means keep their bounds, each is tested at the full level (the p-value is the
    largest). That one of them does not is shown by the band of studentised maxima, or where too few
    replicates carry the variance at a point, by Bonferroni's correction.
    """
    samples = numbers("samples", samples, ndim=2, least=FEWEST)
    limits = numbers("limits", limits)
    n, points = samples.shape
    if limits.size != points:
        raise ValueError(f"limits must have one entry per point ({points}), got {limits.size}")
    confidence(level)
    rng = needed(rng)
    lowest, highest = _ends("least", least, points), _ends("most", most, points)
    for column, low, high in zip(samples.T, lowest, highest, strict=True):
        within("samples", column, low, high)
    mean = samples.mean(axis=0)
    also = {"worst point": float((mean - limits).argmax())}
    positive = limits > 0
    if positive.any():
        also["tightness"] = float((mean[positive] / limits[positive]).max())
    can_break = np.array(
        [high is None or limit < high for limit, high in zip(limits, highest, strict=True)]
    )
    if not can_break.all():
        also["vacuous points"] = float((~can_break).sum())
    if not can_break.any():
        worst = float((mean - limits).max())
        return Finding(worst, -np.inf, np.inf, n, 1.0, INCONCLUSIVE, ("VACUOUS",), also)
    kept = np.flatnonzero(can_break)
    scarce = np.array([rare(samples[:, k]) for k in kept])
    groups = int(scarce.any()) + int(not scarce.all())
    # one group of points has a band, the other Bonferroni's correction
    alpha = (1 - level) / groups

    def each(confidence: float) -> list[MeanTest]:
        return [
            mean_test(samples[:, k], limits[k], confidence, least=lowest[k], most=highest[k])
            for k in kept
        ]

    tests = each(level)
    below, above = (np.array([getattr(one, name) for one in tests]) for name in ("below", "above"))
    high = np.array([one.high for one in tests]) - limits[kept]
    strict = each(1 - alpha / max(1, scarce.sum()))
    low = np.array([one.low for one in strict]) - limits[kept]
    p_against = 1.0
    if scarce.any():
        p_against = groups * scarce.sum() * above[scarce].min()
    if not scarce.all():
        usual = ~scarce
        excess = samples[:, kept[usual]] - limits[kept[usual]]
        middle, error = excess.mean(axis=0), excess.std(axis=0, ddof=1) / np.sqrt(n)
        deviation = studentised(excess, resamples, rng)
        score, down = middle / error, deviation.max(axis=1)
        up = -np.quantile(deviation, 1 - level, axis=0, method="lower")
        own = [tail(-one, -at, n - 1) for one, at in zip(deviation.T, score, strict=True)]
        high[usual] = np.maximum(high[usual], middle + up * error)
        below[usual] = np.maximum(below[usual], own)
        band = middle - np.quantile(down, 1 - alpha, method="higher") * error
        low[usual] = np.minimum(low[usual], band)
        p_band = max(tail(down, float(score.max()), n - 1), float(above[usual].min()))
        p_against = min(p_against, groups * p_band)
        for place in np.flatnonzero(usual)[np.isinf(up)]:
            k, scarce[place] = kept[place], True
            below[place], end = bet(samples[:, k], limits[k], level, highest[k])
            high[place] = end - limits[k]
    p_for = float(below.max())
    verdict, p = decide(p_for, min(1.0, float(p_against)), level)
    tags = ("CONSTANT",) if all(one.constant for one in tests) else ()
    if scarce.any() and verdict == INCONCLUSIVE and below[scarce].max() > 1 - level:
        tags = (*tags, "RARE")
    also |= _unseen("CONSTANT" in tags, n, level)
    worst = float((mean - limits)[kept].max())
    return Finding(worst, float(low.max()), float(high.max()), n, p, verdict, tags, also)


def paired_comparison(
    larger: Sequence[float],
    smaller: Sequence[float] | float,
    least: float | None = None,
    most: float | None = None,
    *,
    level: float,
    materiality: float,
) -> Finding:
    """Judge whether one expectation is larger than another, replicate by replicate.

    `smaller` is a sample of the same replicates, or a number; `least` and `most` bound the
    difference. Reproduced for one that is above 0 with confidence, and exceeds `materiality` times
    the mean size of the two; not reproduced for one that is below 0 with confidence, and material:
    a tie refutes nothing. ``share larger`` is the part of replicates in which `larger` is, ``sign
    p`` and ``wilcoxon p`` are of the two-sided tests. TIE: inconclusive, and equal in most
    replicates, or the 90 % interval is within the materiality.
    """
    larger = numbers("larger", larger)
    smaller = np.broadcast_to(_same_length("smaller", smaller, larger), larger.shape)
    if not 0 <= number("materiality", materiality) < 1:
        raise ValueError(f"materiality must be at least 0 and less than 1, got {materiality!r}")
    difference = larger - smaller
    test = mean_test(difference, 0.0, level, least, most)
    verdict, p = decide(test.above, test.below, level)
    matters = materiality * (abs(larger.mean()) + abs(smaller.mean())) / 2
    tags = list(_scarce(test))
    if materiality and verdict != INCONCLUSIVE and abs(test.mean) <= matters:
        verdict = INCONCLUSIVE
        tags.append("IMMATERIAL")
    tied = verdict == INCONCLUSIVE and 2 * np.count_nonzero(difference) < difference.size
    if materiality:
        narrow = mean_test(difference, 0.0, 0.95, least, most)
        tied = tied or (-matters <= narrow.low and narrow.high <= matters)
    if tied:
        tags.append("TIE")
    unequal = difference[difference != 0]
    also = {"share larger": float((difference > 0).mean()), "material from": float(matters)}
    if unequal.size:
        above = int((unequal > 0).sum())
        also["sign p"] = float(scipy.stats.binomtest(above, unequal.size).pvalue)
        also["wilcoxon p"] = float(scipy.stats.wilcoxon(unequal).pvalue)
    also |= _unseen(test.constant, difference.size, level)
    return Finding(test.mean, test.low, test.high, difference.size, p, verdict, tuple(tags), also)


def equivalence(
    one: Sequence[float],
    other: Sequence[float] | float,
    *,
    level: float,
    paired: bool,
    ratio: Sequence[float] | None = None,
    difference: Sequence[float] | None = None,
) -> Finding:
    """Judge whether two means are comparable: two one-sided tests (TOST).

    `other` is a sample, `paired` if of the same replicates, or a reference value. `ratio` has the
    smallest and largest ratio one / other that counts as comparable; or `difference` those of
    one - other, for means that may be 0 or change their sign. Reproduced when it is inside the
    margin with confidence, not reproduced when it is outside with confidence. Limits of a ratio are
    Fieller's, moved outwards by the allowance for skewness; infinite where the denominator may be
    0. RARE, and inconclusive, where too few replicates carry the variance of a sample.

    Notes
    -----
    one / other > r is tested as one - r * other > 0, so that nothing is divided by. Where both
    means are negative, both signs are turned.
    """
    one = numbers("one", one, least=2)
    if (ratio is None) == (difference is None):
        raise ValueError("either ratio or difference is needed, and not both")
    smallest, largest = numbers(
        "ratio" if difference is None else "difference",
        ratio if difference is None else difference,
        least=2,
    )
    if difference is None and not 0 < smallest <= 1 <= largest:
        raise ValueError(f"ratio must be two numbers around 1 and above 0, got {list(ratio)}")
    if difference is not None and not smallest < 0 < largest:
        raise ValueError(f"difference must be two numbers around 0, got {list(difference)}")
    confidence(level)
    samples = [one]
    if np.ndim(other) == 0:
        other, paired = np.full(one.size, number("other", other)), True
    else:
        samples.append(numbers("other", other, least=2))
        other = samples[1]
    if paired:
        _same_length("other", other, one)
    n = min(one.size, other.size)
    if difference is None:
        if other.mean() < 0:
            one, other = -one, -other
        over_low = _contrast(one, smallest * other, 0.0, level, paired)
        over_high = _contrast(one, largest * other, 0.0, level, paired)
        denominator = other.mean()
        statistic = float(one.mean() / denominator) if denominator else np.nan
        low, high = _ratios(one, other, level, paired)
    else:
        over_low = _contrast(one, other, smallest, level, paired)
        over_high = _contrast(one, other, largest, level, paired)
        statistic, low, high = over_low.mean, over_low.low, over_low.high
    p_for = max(over_low.above, over_high.below)
    # each side is another way to be outside, and only one of the two can be true
    p_against = min(over_low.below, over_high.above)
    # paired samples may differ by rare events only, which have to be known as well
    scarce = any(map(hardly_varies, samples)) or over_low.rare or over_high.rare
    if scarce:
        p_for = p_against = 1.0
        low, high = -np.inf, np.inf
    verdict, p = decide(p_for, p_against, level)
    tags = ("CONSTANT",) if all(map(is_constant, samples)) else ()
    tags = (*tags, "RARE") if scarce else tags
    also = {"mean of one": float(samples[0].mean()), "mean of the other": float(other.mean())}
    return Finding(statistic, low, high, n, p, verdict, tags, also)


def shape(
    samples: Sequence[Sequence[float]],
    contrasts: Sequence[Sequence[float]],
    *,
    level: float,
) -> Finding:
    """Judge a shape: one to three contrasts, ``contrasts @ curve``, are claimed to be above 0.

    Reproduced when each is above 0 with confidence, by a paired t test; not reproduced when one is
    below 0 with the confidence that is left to each. Statistic and limits are those of the contrast
    with the least support. TIE as in `paired_comparison`.
    """
    samples = numbers("samples", samples, ndim=2, least=2)
    contrasts = numbers("contrasts", contrasts, ndim=2)
    if not 1 <= len(contrasts) <= 3:
        raise ValueError(f"contrasts must be 1 to 3, got {len(contrasts)}")
    if contrasts.shape[1] != samples.shape[1]:
        raise ValueError(
            f"contrasts must have one weight per point ({samples.shape[1]}), "
            f"got {contrasts.shape[1]}"
        )
    values = samples @ contrasts.T
    tests = [mean_test(column, 0.0, level) for column in values.T]
    ups, downs = [one.above for one in tests], [one.below for one in tests]
    verdict, p = decide(max(ups), min(1.0, len(tests) * min(downs)), level)
    least = tests[int(np.argmax(ups))]
    also = {f"contrast {k}": one.mean for k, one in enumerate(tests, start=1)}
    also |= {
        f"share above 0, contrast {k}": float((column > 0).mean())
        for k, column in enumerate(values.T, start=1)
    }
    tags = _scarce(least)
    if verdict == INCONCLUSIVE and 2 * np.count_nonzero(values[:, int(np.argmax(ups))]) < len(
        values
    ):
        tags = (*tags, "TIE")
    return Finding(least.mean, least.low, least.high, len(samples), p, verdict, tags, also)


def spread_comparison(
    wider: Sequence[float],
    narrower: Sequence[float],
    *,
    level: float,
    resamples: int,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge whether one sample scatters more than another (Brown-Forsythe, by permutation).

    The finding is about the ratio of the mean distances from the median. `resamples` is the number
    of permutations, and of bootstrap resamples for the limits; the samples are independent.
    """
    wider, narrower = numbers("wider", wider, least=10), numbers("narrower", narrower, least=10)
    confidence(level)
    rng = needed(rng)
    apart = [np.abs(sample - np.median(sample)) for sample in (wider, narrower)]
    if not apart[1].any():
        raise ValueError("narrower has no spread at all: a ratio of spreads cannot be taken")
    test = scipy.stats.permutation_test(
        apart,
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        n_resamples=resamples,
        batch=batch(wider.size + narrower.size),
        alternative="greater",
        rng=rng,
    )
    p_for = float(test.pvalue)
    p_against = float((1 + (test.null_distribution <= test.statistic).sum()) / (1 + resamples))
    interval = scipy.stats.bootstrap(
        apart,
        lambda x, y, axis: np.log(x.mean(axis=axis) / y.mean(axis=axis)),
        n_resamples=resamples,
        batch=batch(wider.size + narrower.size),
        confidence_level=2 * level - 1,
        method="percentile",
        rng=rng,
    ).confidence_interval
    verdict, p = decide(p_for, p_against, level)
    also = {"ratio of standard deviations": float(wider.std(ddof=1) / narrower.std(ddof=1))}
    return Finding(
        float(apart[0].mean() / apart[1].mean()),
        float(np.exp(interval.low)),
        float(np.exp(interval.high)),
        min(wider.size, narrower.size),
        p,
        verdict,
        (),
        also,
    )


def proportion(
    outcomes: Sequence[bool], *, side: Literal["at most", "at least"], limit: float, level: float
) -> Finding:
    """Judge whether a probability is at least, or at most, a limit (Clopper-Pearson).

    `outcomes` has the success of each replicate; `level` is the confidence of each one-sided limit.
    """
    array = np.asarray(outcomes)
    if array.ndim != 1 or not array.size or not np.isin(array, (0, 1)).all():
        raise ValueError("outcomes must be a list of true and false, not empty")
    one_of("side", side, ("at most", "at least"))
    if not 0 <= number("limit", limit) <= 1:
        raise ValueError(f"limit must be in [0, 1], got {limit!r}")
    successes, n = int(array.sum()), array.size
    test = scipy.stats.binomtest(successes, n)
    interval = test.proportion_ci(2 * confidence(level) - 1, method="exact")
    more = scipy.stats.binomtest(successes, n, limit, alternative="greater").pvalue
    less = scipy.stats.binomtest(successes, n, limit, alternative="less").pvalue
    p_for, p_against = (more, less) if side == "at least" else (less, more)
    verdict, p = decide(p_for, p_against, level)
    also = {"successes": float(successes), "limit": float(limit)}
    return Finding(successes / n, interval.low, interval.high, n, p, verdict, (), also)


def prediction_interval(
    sample: Sequence[float], printed: float, *, level: float, runs: int, reading_error: float
) -> Finding:
    """Judge whether a printed number is one that runs like ours could have given.

    It is a mean of so many `runs`, known up to `reading_error`, the half width of the rounding or
    of the reading from a plot. Reproduced inside the interval mean +- t s sqrt(1/runs + 1/n) of
    two-sided confidence `level`, not reproduced outside; p is of the two-sided test that the number
    comes from the same normal law.
    """
    sample = numbers("sample", sample, least=2)
    printed = number("printed", printed)
    if runs < 1 or number("reading_error", reading_error) < 0:
        raise ValueError(
            f"runs must be at least 1 and reading_error at least 0, got {runs}, {reading_error}"
        )
    n, mean = sample.size, sample.mean()
    error = sample.std(ddof=1) * np.sqrt(1 / runs + 1 / n)
    half = float(scipy.stats.t.ppf((1 + confidence(level)) / 2, n - 1) * error)
    beyond = max(0.0, abs(printed - mean) - reading_error)
    verdict = REPRODUCED if beyond <= half else NOT_REPRODUCED
    tags: tuple[str, ...] = ()
    if is_constant(sample):
        # that one more run is the only one that deviates has this chance
        tags, p = ("CONSTANT",), 1 / (n + 1) if beyond > half else 1.0
        if beyond > half and p > 1 - level:
            verdict, tags = INCONCLUSIVE, ("CONSTANT", "UNDERPOWERED")
    else:
        p = max(LEAST_P, float(2 * scipy.stats.t.sf(beyond / error, n - 1)))
    return Finding(
        float(mean),
        float(mean - half - reading_error),
        float(mean + half + reading_error),
        n,
        p,
        verdict,
        tags,
        {"printed": printed},
    )


def curve_inside(
    samples: Sequence[Sequence[float]],
    printed: Sequence[float],
    within: Sequence[float] | float = 0.0,
    *,
    level: float,
) -> Finding:
    """Judge whether a published curve is one that a run like ours could have given.

    `within` is the half width of what the reading leaves open at each point: the published curve is
    moved towards our mean by that much at most. The statistic is its largest deviation over all
    points, in standard deviations; ``largest inside`` the one up to which a curve is inside, at all
    points at once. p is the chance that a run deviates as much. Reproduced when it is above 1 -
    level, else not reproduced. If the published curve deviates more than all of ours and these are
    fewer than level / (1 - level), the smallest possible p, 1 / (n + 1), is above 1 - level: then
    inconclusive, UNDERPOWERED. ``worst point`` is where it deviates most, ``t tail p`` what
    Student's law would make of it there, for information.

    Notes
    -----
    The means and standard deviations are those of all n + 1 curves, so that under the claim every
    one of them is as likely as another to have the largest deviation, whatever their law and
    however their points hang together (a conformal test; V. Vovk, A. Gammerman and G. Shafer,
    "Algorithmic learning in a random world", 2005). Deviations from the mean of the others in
    their standard deviations would give the same order.
    """
    samples = numbers("samples", samples, ndim=2, least=FEWEST)
    printed = numbers("printed", printed)
    n, points = samples.shape
    if printed.size != points:
        raise ValueError(f"printed must have one entry per point ({points}), got {printed.size}")
    reading = np.broadcast_to(np.asarray(within, dtype=float), (points,))
    if not (reading >= 0).all() or not np.isfinite(reading).all():
        raise ValueError(f"within must be at least 0, got {np.min(within)}")
    confidence(level)
    mean = samples.mean(axis=0)
    moved = np.clip(mean, printed - reading, printed + reading)
    curves = np.vstack([samples, moved])
    spread = curves.std(axis=0)
    varies = spread > 1e-12 * np.abs(curves).max(axis=0)
    deviations = np.abs(curves - curves.mean(axis=0)) / np.where(varies, spread, 1.0)
    deviations[:, ~varies] = 0.0
    scores = deviations.max(axis=1)
    ours, its = np.sort(scores[:-1]), float(scores[-1])
    # equal but for rounding counts as equal
    p = float((1 + (ours >= its * (1 - 1e-9)).sum()) / (n + 1))
    allowed = int(np.ceil(level * (n + 1) - 1e-9))
    inside = float(ours[allowed - 1]) if allowed <= n else np.inf
    worst = int(deviations[-1].argmax())
    own = samples[:, worst].std(ddof=1) * np.sqrt(1 + 1 / n)
    also = {
        "worst point": float(worst),
        "printed": float(printed[worst]),
        "mean": float(mean[worst]),
        "lowest of ours": float(samples[:, worst].min()),
        "highest of ours": float(samples[:, worst].max()),
        "largest inside": inside,
    }
    if own > 0:
        score = abs(moved[worst] - mean[worst]) / own
        also["t tail p"] = float(min(1.0, 2 * points * scipy.stats.t.sf(score, n - 1)))
    verdict, tags = (REPRODUCED, ()) if p > 1 - level else (NOT_REPRODUCED, ())
    if verdict == REPRODUCED and p * (n + 1) < 1.5 and its > 0:
        verdict, tags = INCONCLUSIVE, ("UNDERPOWERED",)
    return Finding(its, 0.0, inside, n, p, verdict, tags, also)


def _contrast(
    one: np.ndarray, other: np.ndarray, value: float, level: float, paired: bool
) -> MeanTest:
    """Test the mean of one sample minus that of the other against a value."""
    if paired:
        return mean_test(one - other, value, level)
    mean = float(one.mean() - other.mean())
    if is_constant(one) and is_constant(other):
        return MeanTest(mean, -np.inf, np.inf, 1.0, 1.0, True, True)
    parts = [sample.var(ddof=1) / sample.size for sample in (one, other)]
    df = sum(parts) ** 2 / sum(
        part**2 / (sample.size - 1) for part, sample in zip(parts, (one, other), strict=True)
    )
    skewed, distance = Skewed.of([one / one.size, -other / other.size], df), mean - value
    down, up = skewed.widths(level)
    limits = float(mean - down * skewed.error), float(mean + up * skewed.error)
    return MeanTest(mean, *limits, skewed.below(distance), skewed.above(distance), False, False)


def _ratios(one: np.ndarray, other: np.ndarray, level: float, paired: bool) -> tuple[float, float]:
    """Return the limits of ratios that `_contrast` does not refute; infinite if no interval."""
    low, high = _fieller(one, other, level, paired)
    return _outwards(one, other, level, paired, low, -1), _outwards(
        one, other, level, paired, high, 1
    )


def _outwards(
    one: np.ndarray, other: np.ndarray, level: float, paired: bool, start: float, side: int
) -> float:
    """Return the first ratio that `_contrast` refutes, from a start outwards."""

    def excess(ratio: float) -> float:
        test = _contrast(one, ratio * other, 0.0, level, paired)
        return (test.below if side > 0 else test.above) - (1 - level)

    if np.isinf(start) or excess(start) <= 0:
        return start
    inner, step = start, max(abs(start), 1e-9) / 8
    for _ in range(20):
        outer = inner + side * step
        if excess(outer) <= 0:
            return float(scipy.optimize.brentq(excess, inner, outer))
        inner, step = outer, 2 * step
    return side * np.inf


def _fieller(one: np.ndarray, other: np.ndarray, level: float, paired: bool) -> tuple[float, float]:
    """Return the limits of ratios that a t test does not refute; infinite if no interval."""
    a, b = one.mean(), other.mean()
    v, w = one.var(ddof=1) / one.size, other.var(ddof=1) / other.size
    c = np.cov(one, other)[0, 1] / one.size if paired else 0.0
    q = scipy.stats.t.ppf(level, min(one.size, other.size) - 1) ** 2
    square, linear, constant = b * b - q * w, a * b - q * c, a * a - q * v
    if square <= 0:
        return -np.inf, np.inf
    root = np.sqrt(max(linear * linear - square * constant, 0.0))
    return float((linear - root) / square), float((linear + root) / square)


def _same_length(name: str, values: object, like: np.ndarray) -> np.ndarray:
    if np.ndim(values) == 0:
        return np.asarray(number(name, values))
    array = numbers(name, values)
    if array.size != like.size:
        raise ValueError(
            f"{name} must have one entry per replicate ({like.size}), got {array.size}"
        )
    return array


def _ends(name: str, ends: Ends, points: int) -> list[float | None]:
    """Return the smallest or largest possible value at each point."""
    if np.ndim(ends) == 0:
        return [None if ends is None else number(name, ends)] * points
    array = numbers(name, ends)
    if array.size != points:
        raise ValueError(f"{name} must have one entry per point ({points}), got {array.size}")
    return array.tolist()


def _scarce(test: MeanTest) -> tuple[str, ...]:
    """Return the tags of a mean that too few replicates carry."""
    return ("CONSTANT",) * test.constant + ("RARE",) * test.rare


def _unseen(constant: bool, n: int, level: float) -> dict[str, float]:
    """Return the share of runs that may deviate although none of n did."""
    return {"runs that may deviate": 1 - (1 - level) ** (1 / n)} if constant else {}
