"""Procedures about expectations: bounds, comparisons, equivalence, shapes, spreads, shares."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

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
from fairbandits.audit.resampling import batch, needed, studentised, tail

#: How limits of a mean are found.
METHODS = ("t", "bca", "bootstrap-t")
#: A bootstrap of fewer replicates than these says nothing.
FEWEST = {"t": 2, "bca": 10, "bootstrap-t": 10}


class MeanTest(NamedTuple):
    """A mean against a value: limits, and the p-values that it is below, and above."""

    mean: float
    low: float
    high: float
    below: float
    above: float
    constant: bool


def bound(
    sample: Sequence[float],
    limit: float,
    *,
    side: Literal["at most", "at least"],
    level: float,
    method: Literal["t", "bca", "bootstrap-t"],
    resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge whether an expectation is at most, or at least, an explicit number.

    Parameters
    ----------
    sample : sequence of float, shape (n_replicates,)
        The statistic in each replicate.
    limit : float
        The claimed bound.
    side : {"at most", "at least"}
        Which of the two is claimed.
    level : float
        Confidence of each of the one-sided limits.
    method : {"t", "bca", "bootstrap-t"}
        Student's t, or a bootstrap where the statistic is skewed.
    resamples : int
        Of a bootstrap.
    rng : numpy.random.Generator
        Of a bootstrap; needed by the two bootstrap methods.

    Returns
    -------
    Finding
        Reproduced when the limit on the far side keeps the bound, not reproduced when the limit on
        the near side breaks it. ``tightness`` is mean / limit.
    """
    one_of("side", side, ("at most", "at least"))
    limit = number("limit", limit)
    test = _test_mean(numbers("sample", sample), limit, level, method, resamples, rng)
    p_for, p_against = test.below, test.above
    if side == "at least":
        p_for, p_against = p_against, p_for
    if test.mean == limit and test.constant:  # the bound is not strict
        p_for, p_against = 0.0, 1.0
    verdict, p = decide(p_for, p_against, level)
    also = {"limit": limit} | ({"tightness": test.mean / limit} if limit else {})
    return Finding(
        test.mean, test.low, test.high, len(sample), p, verdict, _constant(test.constant), also
    )


def bound_everywhere(
    samples: Sequence[Sequence[float]],
    limits: Sequence[float],
    *,
    level: float,
    resamples: int,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge whether several expectations are each at most their bounds, all at once.

    Parameters
    ----------
    samples : shape (n_replicates, n_points)
        The statistic of each replicate at each point, such as a round.
    limits : shape (n_points,)
        The claimed bounds.
    level : float
        Simultaneous confidence of the limits, of each side.
    resamples : int
        Bootstrap resamples of replicates.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    Finding
        About the largest mean minus bound: ``statistic``, ``low`` and ``high`` are its values for
        the means and for the lower and upper ends of the simultaneous band of studentised
        maxima. ``worst point`` is the index of the largest, ``tightness`` the largest mean / bound.
    """
    samples = numbers("samples", samples, ndim=2, least=FEWEST["bootstrap-t"])
    limits = numbers("limits", limits)
    n, points = samples.shape
    if limits.size != points:
        raise ValueError(f"limits must have one entry per point ({points}), got {limits.size}")
    confidence(level)
    excess = samples - limits
    mean, error = excess.mean(axis=0), excess.std(axis=0, ddof=1) / np.sqrt(n)
    varies = error > 1e-12 * np.abs(excess).max(axis=0)
    fixed = mean[~varies]
    also = {"worst point": float(mean.argmax())}
    positive = limits > 0
    if positive.any():
        also["tightness"] = float((samples.mean(axis=0)[positive] / limits[positive]).max())
    if not varies.any():
        kept = bool((fixed <= 0).all())
        verdict = REPRODUCED if kept else NOT_REPRODUCED
        worst = float(mean.max())
        return Finding(worst, worst, worst, n, 0.0, verdict, ("CONSTANT",), also)
    moved, spread = excess[:, varies], error[varies]
    deviation = studentised(moved, resamples, needed(rng))
    up, down = (-deviation).max(axis=1), deviation.max(axis=1)
    reach_up, reach_down = np.quantile(up, level), np.quantile(down, level)
    score = (mean[varies] / spread).max()
    p_for, p_against = tail(up, -score), tail(down, score)
    if fixed.size and fixed.max() > 0:
        p_for, p_against = 1.0, 0.0
    verdict, p = decide(p_for, p_against, level)
    ends = [
        max([(mean[varies] + reach * spread).max(), *fixed])
        for reach in (-reach_down, 0.0, reach_up)
    ]
    return Finding(float(ends[1]), float(ends[0]), float(ends[2]), n, p, verdict, (), also)


def paired_comparison(
    larger: Sequence[float],
    smaller: Sequence[float] | float,
    *,
    level: float,
    materiality: float,
    method: Literal["t", "bca", "bootstrap-t"],
    resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge whether one expectation is larger than another, replicate by replicate.

    Parameters
    ----------
    larger : sequence of float, shape (n_replicates,)
        What is claimed to be larger.
    smaller : sequence of float, shape (n_replicates,), or float
        What is claimed to be smaller, in the same replicates, or a number.
    level : float
        Confidence of each of the one-sided limits of the mean difference.
    materiality : float
        Part of the mean size of the two that a difference must exceed to count; 0 for none.
    method : {"t", "bca", "bootstrap-t"}
        As in `bound`.
    resamples : int
        Of a bootstrap.
    rng : numpy.random.Generator
        Of a bootstrap.

    Returns
    -------
    Finding
        Reproduced for a difference that is above 0 with confidence, and material; not reproduced
        for one that is not above 0 with confidence, and material. ``share larger`` is the part of
        replicates in which `larger` is, ``sign p`` and ``wilcoxon p`` are of the two-sided tests.
        TIE: the 90 % interval is within the materiality.
    """
    larger = numbers("larger", larger)
    smaller = np.broadcast_to(_same_length("smaller", smaller, larger), larger.shape)
    if not 0 <= number("materiality", materiality) < 1:
        raise ValueError(f"materiality must be at least 0 and less than 1, got {materiality!r}")
    difference = larger - smaller
    test = _test_mean(difference, 0.0, level, method, resamples, rng)
    p_for, p_against = test.above, test.below
    if test.constant and test.mean == 0:  # equal is not larger
        p_for, p_against = 1.0, 0.0
    verdict, p = decide(p_for, p_against, level)
    matters = materiality * (abs(larger.mean()) + abs(smaller.mean())) / 2
    tags = list(_constant(test.constant))
    if materiality and verdict != INCONCLUSIVE and abs(test.mean) <= matters:
        verdict = INCONCLUSIVE
        tags.append("IMMATERIAL")
    if materiality:
        narrow = _test_mean(difference, 0.0, 0.95, method, resamples, rng)
        if -matters <= narrow.low and narrow.high <= matters:
            tags.append("TIE")
    unequal = difference[difference != 0]
    also = {"share larger": float((difference > 0).mean()), "material from": float(matters)}
    if unequal.size:
        above = int((unequal > 0).sum())
        also["sign p"] = float(scipy.stats.binomtest(above, unequal.size).pvalue)
        also["wilcoxon p"] = float(scipy.stats.wilcoxon(unequal).pvalue)
    return Finding(test.mean, test.low, test.high, difference.size, p, verdict, tuple(tags), also)


def universal_comparison(findings: Sequence[Finding], *, share: float) -> Finding:
    """Judge a claim that one is always larger, from the comparisons of all cells.

    Parameters
    ----------
    findings : sequence of Finding
        Of `paired_comparison` in each cell, after Holm within the family.
    share : float
        Part of cells that must be won.

    Returns
    -------
    Finding
        Reproduced without a loss and with at least `share` of the cells won, not reproduced with
        any loss. The statistic is the share won.
    """
    if not findings:
        raise ValueError("findings must have at least one cell")
    if not 0 < number("share", share) <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share!r}")
    wins, losses = (
        sum(one.verdict == verdict for one in findings) for verdict in (REPRODUCED, NOT_REPRODUCED)
    )
    won = wins / len(findings)
    verdict = INCONCLUSIVE
    if losses:
        verdict = NOT_REPRODUCED
    elif won >= share:
        verdict = REPRODUCED
    ties = sum("TIE" in one.tags and one.verdict == INCONCLUSIVE for one in findings)
    also = {"wins": float(wins), "losses": float(losses), "ties": float(ties)}
    return Finding(won, won, won, len(findings), None, verdict, (), also)


def equivalence(
    one: Sequence[float],
    other: Sequence[float] | float,
    *,
    ratio: Sequence[float],
    level: float,
    paired: bool,
) -> Finding:
    """Judge whether two means are comparable: two one-sided tests on their ratio (TOST).

    Parameters
    ----------
    one : sequence of float, shape (n_replicates,)
        Numerator.
    other : sequence of float or float
        Denominator: a sample, or a reference value.
    ratio : (float, float)
        Smallest and largest ratio that counts as comparable, both above 0.
    level : float
        Confidence of each of the two tests.
    paired : bool
        Whether the two samples are of the same replicates.

    Returns
    -------
    Finding
        Reproduced when the ratio is inside the margin with confidence, not reproduced when it is
        outside with confidence. Limits are Fieller's; infinite where the denominator may be 0.

    Notes
    -----
    one / other > r is tested as one - r * other > 0, so that nothing is divided by. Where both
    means are negative, both signs are turned.
    """
    one = numbers("one", one, least=2)
    smallest, largest = numbers("ratio", ratio, least=2)
    if not 0 < smallest <= 1 <= largest:
        raise ValueError(f"ratio must be two numbers around 1 and above 0, got {list(ratio)}")
    confidence(level)
    if np.ndim(other) == 0:
        other, paired = np.full(one.size, number("other", other)), True
    other = numbers("other", other, least=2)
    if paired:
        _same_length("other", other, one)
    if other.mean() < 0:
        one, other = -one, -other
    above_low = _contrast(one, other, smallest, paired)
    above_high = _contrast(one, other, largest, paired)
    p_for = max(above_low.above, above_high.below)
    # each side is another way to be outside, and only one of the two can be true
    p_against = min(above_low.below, above_high.above)
    verdict, p = decide(p_for, p_against, level)
    low, high = _fieller(one, other, level, paired)
    denominator = other.mean()
    statistic = float(one.mean() / denominator) if denominator else np.nan
    constant = above_low.constant and above_high.constant
    n = min(one.size, other.size)
    return Finding(statistic, low, high, n, p, verdict, _constant(constant))


def shape(
    samples: Sequence[Sequence[float]],
    contrasts: Sequence[Sequence[float]],
    *,
    level: float,
) -> Finding:
    """Judge a shape that is turned into one to three contrasts, all claimed to be above 0.

    Parameters
    ----------
    samples : shape (n_replicates, n_points)
        The curve of each replicate.
    contrasts : shape (n_contrasts, n_points)
        Weights; ``contrasts @ curve`` must be above 0, each by a paired t test.
    level : float
        Confidence of each verdict.

    Returns
    -------
    Finding
        Reproduced when each contrast is above 0 with confidence; not reproduced when one is not
        above 0 with the confidence that is left to each. Statistic and limits are those of the
        contrast with the least support.
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
    tests = [_test_mean(column, 0.0, level, "t", 0, None) for column in values.T]
    ups = [1.0 if one.constant and one.mean == 0 else one.above for one in tests]
    downs = [0.0 if one.constant and one.mean == 0 else one.below for one in tests]
    verdict, p = decide(max(ups), min(1.0, len(tests) * min(downs)), level)
    least = tests[int(np.argmax(ups))]
    also = {f"contrast {k}": one.mean for k, one in enumerate(tests, start=1)}
    also |= {
        f"share above 0, contrast {k}": float((column > 0).mean())
        for k, column in enumerate(values.T, start=1)
    }
    return Finding(
        least.mean, least.low, least.high, len(samples), p, verdict, _constant(least.constant), also
    )


def spread_comparison(
    wider: Sequence[float],
    narrower: Sequence[float],
    *,
    level: float,
    resamples: int,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Judge whether one sample scatters more than another (Brown-Forsythe, by permutation).

    Parameters
    ----------
    wider, narrower : sequence of float
        Independent samples.
    level : float
        Confidence of either verdict.
    resamples : int
        Permutations, and bootstrap resamples for the limits.
    rng : numpy.random.Generator
        For both.

    Returns
    -------
    Finding
        About the ratio of the mean distances from the median.
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
    """Judge whether a probability is at least, or at most, a number (Clopper-Pearson).

    Parameters
    ----------
    outcomes : sequence of bool, shape (n_replicates,)
        Success in each replicate.
    side : {"at most", "at least"}
        Which of the two is claimed.
    limit : float
        The claimed probability, in [0, 1].
    level : float
        Confidence of each of the one-sided limits.
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

    Parameters
    ----------
    sample : sequence of float, shape (n_replicates,)
        The statistic in each of our replicates.
    printed : float
        The published number.
    level : float
        Two-sided confidence of the interval for the number to come.
    runs : int
        Runs whose mean was printed; 1 for a single run.
    reading_error : float
        Half width of the rounding, or of the reading from a plot; widens the interval.

    Returns
    -------
    Finding
        Reproduced inside the interval mean +- t s sqrt(1/runs + 1/n), not reproduced outside; p is
        of the two-sided test that the printed number comes from the same normal law. ``printed``
        stands in `also`, ``low`` and ``high`` are the interval's ends.
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
    inside = abs(printed - mean) <= half + reading_error
    beyond = max(0.0, abs(printed - mean) - reading_error)
    p = float(2 * scipy.stats.t.sf(beyond / error, n - 1)) if error else float(beyond == 0)
    return Finding(
        float(mean),
        float(mean - half - reading_error),
        float(mean + half + reading_error),
        n,
        p,
        REPRODUCED if inside else NOT_REPRODUCED,
        _constant(not error),
        {"printed": printed},
    )


def _test_mean(
    sample: np.ndarray,
    value: float,
    level: float,
    method: str,
    resamples: int,
    rng: np.random.Generator | None,
) -> MeanTest:
    one_of("method", method, METHODS)
    confidence(level)
    if sample.size < FEWEST[method]:
        raise ValueError(
            f"method {method} needs at least {FEWEST[method]} replicates, got {sample.size}"
        )
    mean = float(sample.mean())
    # a sample without spread: the limits are its value, and what it says is certain
    if np.ptp(sample) <= 1e-12 * np.abs(sample).max():
        return MeanTest(mean, mean, mean, float(mean >= value), float(mean <= value), True)
    if method == "t":
        below = scipy.stats.ttest_1samp(sample, value, alternative="less")
        above = scipy.stats.ttest_1samp(sample, value, alternative="greater")
        low = above.confidence_interval(level).low
        high = below.confidence_interval(level).high
        p_below, p_above = below.pvalue, above.pvalue
    elif method == "bca":
        low, high, p_below, p_above = _bca(sample, value, level, resamples, needed(rng))
    else:
        error = sample.std(ddof=1) / np.sqrt(sample.size)
        deviation = studentised(sample[:, None], resamples, needed(rng))[:, 0]
        low = mean - np.quantile(deviation, level) * error
        high = mean - np.quantile(deviation, 1 - level) * error
        score = (mean - value) / error
        p_below, p_above = tail(-deviation, -score), tail(deviation, score)
    return MeanTest(mean, float(low), float(high), float(p_below), float(p_above), False)


def _bca(
    sample: np.ndarray, value: float, level: float, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    def interval(level: float, drawn: object = None):
        return scipy.stats.bootstrap(
            (sample,),
            np.mean,
            n_resamples=0 if drawn else resamples,
            batch=batch(sample.size),
            confidence_level=2 * level - 1,
            method="BCa",
            bootstrap_result=drawn,
            rng=rng,
        )

    drawn = interval(level)
    low, high = drawn.confidence_interval

    # the p-value is one minus the level at which the interval just reaches the value
    def reach(level: float) -> float:
        ends = interval(level, drawn).confidence_interval
        return (ends.high if above_middle else ends.low) - value

    finest = 1 - 1 / (resamples + 1)
    above_middle = value > interval(0.5 + 1e-9, drawn).confidence_interval.high
    at_edge, at_middle = reach(finest), reach(0.5 + 1e-9)
    if at_edge * at_middle >= 0:
        p = 1 - finest if abs(at_edge) < abs(at_middle) else 0.5
    else:
        p = 1 - scipy.optimize.brentq(reach, 0.5 + 1e-9, finest, xtol=1e-7)
    return low, high, *((p, 1 - p) if above_middle else (1 - p, p))


def _contrast(one: np.ndarray, other: np.ndarray, ratio: float, paired: bool) -> MeanTest:
    if paired:
        return _test_mean(one - ratio * other, 0.0, 0.5, "t", 0, None)
    scaled = ratio * other
    mean = float(one.mean() - scaled.mean())
    if not np.ptp(one) and not np.ptp(scaled):
        return MeanTest(mean, mean, mean, float(mean >= 0), float(mean <= 0), True)
    below = scipy.stats.ttest_ind(one, scaled, equal_var=False, alternative="less").pvalue
    return MeanTest(mean, mean, mean, float(below), float(1 - below), False)


def _fieller(one: np.ndarray, other: np.ndarray, level: float, paired: bool) -> tuple[float, float]:
    """Return the ratios that a t test does not refuse; without limits if it is no interval."""
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


def _constant(constant: bool) -> tuple[str, ...]:
    return ("CONSTANT",) if constant else ()
