"""The procedure `mean`: whether means are below, above or near what they are compared with."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy

from fairbandits.audit.finding import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding, decide
from fairbandits.audit.inputs import confidence, number, numbers
from fairbandits.audit.limits import MeanTest, Reach, Skewed, hardly_varies, is_constant, mean_test
from fairbandits.checks import one_of

#: The smallest or largest possible value: none known, one for all points, or one for each.
Ends = Sequence[float] | float | None
#: Confidence of the limits that must both be immaterial for a TIE.
OF_A_TIE = 0.95
#: A verdict is THIN whose reach is less than so many times as far out as the farthest replicate.
THIN = 3.0


def mean(
    values: Sequence[float] | Sequence[Sequence[float]],
    against: Any,
    least: Ends = None,
    most: Ends = None,
    *,
    claim: Literal["at most", "at least", "equal"],
    level: float,
    paired: bool = True,
    materiality: float = 0.0,
    ratio: Sequence[float] | None = None,
    difference: Sequence[float] | None = None,
) -> Finding:
    """Judge whether an expectation is at most, at least or about equal to a bound or another mean.

    `values` has shape (n_replicates,) or (n_replicates, n_points); `against` is a bound, one for
    each point, or other replicates; `least` and `most` are the ends of possible values, or
    differences. `ratio` or `difference` are the ends of what counts as equal.
    """
    one_of("claim", claim, ("at most", "at least", "equal"))
    confidence(level)
    if not 0 <= number("materiality", materiality) < 1:
        raise ValueError(f"materiality must be at least 0 and less than 1, got {materiality!r}")
    if claim == "equal":
        return _equal(values, against, level, paired, ratio, difference)
    if ratio is not None or difference is not None:
        raise ValueError(f"ratio and difference are margins of a claim of equal, not of {claim!r}")
    if not paired:
        return _apart(values, against, claim, level)
    values = _columns("values", values)
    n, points = values.shape
    bounds, others = _against(against, values)
    samples = values if others is None else values - others
    zeros = np.zeros(points) if bounds is None else bounds
    lows, highs = (
        [None] * points if end is None else _per_point(name, end, points).tolist()
        for name, end in (("least", least), ("most", most))
    )
    sign, ends = (1, lows) if claim == "at least" else (-1, highs)
    can_break = [end is None or sign * end < sign * at for end, at in zip(ends, zeros, strict=True)]
    kept = np.flatnonzero(can_break) if any(can_break) else np.arange(points)

    def tested(k: int, confidence: float) -> MeanTest:
        return mean_test(samples[:, k], zeros[k], confidence, lows[k], highs[k])

    tests = [tested(k, level) for k in kept]
    p_for, p_against = np.array([[test.above, test.below][::sign] for test in tests]).T
    verdict, p = decide(p_for.max(), min(1.0, kept.size * p_against.min()), level)
    index = int(p_against.argmin() if verdict == NOT_REPRODUCED else p_for.argmax())
    test, k = tests[index], int(kept[index])
    also = _bounded(values, bounds, k, sign)
    also |= {"worst point": float(k)} if points > 1 else {}
    also |= {"vacuous points": float(points - sum(can_break))} if not all(can_break) else {}
    strict = tested(k, 1 - (1 - level) / kept.size)
    low, high = (test.low, strict.high) if sign > 0 else (strict.low, test.high)
    if not any(can_break):
        return Finding(test.mean, low, high, n, 1.0, INCONCLUSIVE, ("VACUOUS",), also)
    matters = 0.0
    if others is not None:
        matters = materiality * (abs(values[:, k].mean()) + abs(others[:, k].mean())) / 2
    tags = ("CONSTANT",) * test.constant + ("RARE",) * test.rare
    if materiality and verdict != INCONCLUSIVE and abs(test.mean - zeros[k]) <= matters:
        verdict, tags = INCONCLUSIVE, (*tags, "IMMATERIAL")
    if verdict == INCONCLUSIVE and _is_tie(samples[:, k] - zeros[k], matters):
        tags = (*tags, "TIE")
    if verdict != INCONCLUSIVE:
        held = verdict == REPRODUCED
        side, needed = (-sign, kept) if held else (sign, [k])
        alpha = (1 - level) / (1 if held else kept.size)
        ends = highs if side > 0 else lows
        reaches = {j: Reach.of(samples[:, j], zeros[j], alpha, side, ends[j]) for j in needed}
        also |= {"reach": reaches[k].value, "farthest": reaches[k].farthest}
        tags += ("THIN",) * any(reach.times < THIN for reach in reaches.values())
    return Finding(test.mean, low, high, n, p, verdict, tags, also)


def _columns(name: str, values: Any) -> np.ndarray:
    array = numbers(name, values, ndim=min(2, max(1, np.ndim(values))), least=2)
    return array[:, None] if array.ndim == 1 else array


def _against(against: Any, values: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return one bound for each point, or else the other replicates."""
    n, points = values.shape
    if np.ndim(against) == 0 or (np.ndim(against) == 1 and points > 1):
        return _per_point("against", against, points), None
    others = _columns("against", against)
    if len(others) != n:
        raise ValueError(f"against must have one entry per replicate ({n}), got {len(others)}")
    if others.shape[1] not in (1, points):
        raise ValueError(f"against must have one entry per point ({points}), got {others.shape[1]}")
    return None, np.broadcast_to(others, values.shape)


def _per_point(name: str, values: Any, points: int) -> np.ndarray:
    if np.ndim(values) == 0:
        return np.full(points, number(name, values))
    array = numbers(name, values)
    if array.size != points:
        raise ValueError(f"{name} must have one entry per point ({points}), got {array.size}")
    return array


def _bounded(values: np.ndarray, bounds: np.ndarray | None, k: int, sign: int) -> dict[str, float]:
    """Return the bound that decides, and how near a mean comes to its bound at most."""
    if bounds is None:
        return {}
    also, positive = {"limit": float(bounds[k])}, bounds > 0
    if positive.any():
        shares = values.mean(axis=0)[positive] / bounds[positive]
        also["tightness"] = float(shares.max() if sign < 0 else shares.min())
    return also


def _is_tie(difference: np.ndarray, matters: float) -> bool:
    """Return whether most replicates are equal, or the means differ by less than matters."""
    if 2 * np.count_nonzero(difference) < difference.size:
        return True
    narrow = mean_test(difference, 0.0, OF_A_TIE)
    return bool(matters and -matters <= narrow.low and narrow.high <= matters)


def _apart(values: Any, against: Any, claim: str, level: float) -> Finding:
    """Judge means of separate replicates, whose numbers may differ."""
    sample, other = _one_point("values", values), _one_point("against", against)
    test = _contrast(sample, other, 0.0, level, paired=False)
    pair = (test.above, test.below) if claim == "at least" else (test.below, test.above)
    if scarce := test.rare or hardly_varies(sample) or hardly_varies(other):
        pair, test = (1.0, 1.0), test._replace(low=-np.inf, high=np.inf)
    verdict, p = decide(*pair, level)
    n = min(sample.size, other.size)
    return Finding(test.mean, test.low, test.high, n, p, verdict, ("RARE",) * scarce)


def _equal(
    values: Any,
    against: Any,
    level: float,
    paired: bool,
    ratio: Sequence[float] | None,
    difference: Sequence[float] | None,
) -> Finding:
    """Judge whether two means are about equal: one / other > r is tested as one - r * other > 0."""
    sample = _one_point("values", values)
    if (ratio is None) == (difference is None):
        raise ValueError("either ratio or difference is needed, and not both")
    kind = "ratio" if difference is None else "difference"
    smallest, largest = numbers(kind, ratio if difference is None else difference, least=2)
    if difference is None and not 0 < smallest <= 1 <= largest:
        raise ValueError(f"ratio must be two numbers around 1 and above 0, got {list(ratio)}")
    if difference is not None and not smallest < 0 < largest:
        raise ValueError(f"difference must be two numbers around 0, got {list(difference)}")
    samples = [sample]
    if np.ndim(against) == 0:
        other, paired = np.full(sample.size, number("against", against)), True
    else:
        other = _one_point("against", against)
        samples.append(other)
    if paired and other.size != sample.size:
        raise ValueError(
            f"against must have one entry per replicate ({sample.size}), got {other.size}"
        )
    ratios, borders = (1.0, 1.0), (smallest, largest)
    if difference is None:
        ratios, borders = borders, (0.0, 0.0)
        if other.mean() < 0:
            sample, other = -sample, -other
    contrasts = [
        _contrast(sample, share * other, border, level, paired)
        for share, border in zip(ratios, borders, strict=True)
    ]
    over_low, over_high = contrasts
    if difference is None:
        statistic = float(sample.mean() / other.mean()) if other.mean() else np.nan
        low, high = (_limit_of_ratio(sample, other, level, paired, side) for side in (-1, 1))
    else:
        statistic, low, high = over_low.mean, over_low.low, over_low.high
    p_for = max(over_low.above, over_high.below)
    p_against = min(over_low.below, over_high.above)
    # paired samples may differ by rare events only, which have to be known as well
    scarce = any(map(hardly_varies, samples)) or over_low.rare or over_high.rare
    if scarce:
        p_for = p_against = 1.0
        low, high = -np.inf, np.inf
    verdict, p = decide(p_for, p_against, level)
    tags = ("CONSTANT",) * all(map(is_constant, samples)) + ("RARE",) * scarce
    also: dict[str, float] = {}
    if paired and verdict != INCONCLUSIVE:
        held, low_side = verdict == REPRODUCED, over_low.below <= over_high.above
        reaches = [
            Reach.of(sample - share * other, border, 1 - level, side if held else -side)
            for share, border, side in zip(ratios, borders, (-1, 1), strict=True)
            if held or low_side == (side < 0)
        ]
        least = min(reaches, key=lambda reach: reach.times)
        also = {"reach": least.value, "farthest": least.farthest}
        tags += ("THIN",) * (least.times < THIN)
    n = min(sample.size, other.size)
    return Finding(statistic, low, high, n, p, verdict, tags, also)


def _one_point(name: str, values: Any) -> np.ndarray:
    if np.ndim(values) == 2:
        raise ValueError(
            f"{name} must have one value for each replicate, got (replicates, points) = "
            f"{np.shape(values)}; choose a round, and an arm"
        )
    return numbers(name, values, least=2)


def _contrast(
    first: np.ndarray, other: np.ndarray, value: float, level: float, paired: bool
) -> MeanTest:
    """Test the mean of one sample minus that of the other against a value."""
    if paired:
        return mean_test(first - other, value, level)
    mean = float(first.mean() - other.mean())
    if is_constant(first) and is_constant(other):
        return MeanTest(mean, -np.inf, np.inf, 1.0, 1.0, True, True)
    parts = [sample.var(ddof=1) / sample.size for sample in (first, other)]
    df = sum(parts) ** 2 / sum(
        part**2 / (sample.size - 1) for part, sample in zip(parts, (first, other), strict=True)
    )
    skewed, distance = Skewed.of([first / first.size, -other / other.size], df), mean - value
    down, up = skewed.widths(level)
    limits = float(mean - down * skewed.error), float(mean + up * skewed.error)
    return MeanTest(mean, *limits, skewed.below(distance), skewed.above(distance), False, False)


def _limit_of_ratio(
    sample: np.ndarray, other: np.ndarray, level: float, paired: bool, side: int
) -> float:
    """Return the first ratio that `_contrast` refutes, from the estimate outwards."""

    def excess(ratio: float) -> float:
        test = _contrast(sample, ratio * other, 0.0, level, paired)
        return (test.below if side > 0 else test.above) - (1 - level)

    if not other.mean():
        return side * np.inf
    inner = float(sample.mean() / other.mean())
    step = max(abs(inner), 1e-9) / 64
    for _ in range(24):
        outer = inner + side * step
        if excess(outer) <= 0:
            return float(scipy.optimize.brentq(excess, inner, outer))
        inner, step = outer, 2 * step
    return side * np.inf
