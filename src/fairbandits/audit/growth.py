"""The procedure `slope`: whether a mean grows, or falls, like a power."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from fairbandits.audit.finding import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding, decide
from fairbandits.audit.inputs import confidence, number, numbers
from fairbandits.audit.limits import CARRIERS, Skewed, carriers, hardly_varies, is_heavy, mean_test
from fairbandits.checks import one_of

#: Fewest replicates at a point, and fewest points of a line.
FEWEST, POINTS = 10, 3
#: Error of a log mean that is taken at least, for the weights: no mean is an exact power.
LEAST_ERROR = 0.01
#: A claim "at most" is LOOSE when the upper limit is so far below its exponent.
LOOSE = 0.1


def slope(
    values: Sequence[Sequence[float]],
    horizons: Sequence[float],
    *,
    claim: Literal["at most", "at least", "equal"],
    exponent: float,
    margin: float,
    level: float,
    window: Literal["all", "top decade"],
    asymptotic: bool,
) -> Finding:
    """Judge a claim that a mean grows like a power: the slope of log mean on log horizon.

    `values` has the replicates at each horizon. With as many at all of them, replicate r at all is
    one unit; else horizons are independent. Means that are not positive cannot be fitted (SIGN):
    with none positive a claim "at most" can hold, with fewer than three there is no verdict.
    """
    one_of("claim", claim, ("at most", "at least", "equal"))
    confidence(level)
    exponent, margin = number("exponent", exponent), number("margin", margin)
    if margin < 0:
        raise ValueError(f"margin must be at least 0, got {margin!r}")
    horizons, samples = _in_window(horizons, values, window)
    means = np.array([sample.mean() for sample in samples])
    n = min(map(len, samples))
    positive = int((means > 0).sum())
    if positive < POINTS:
        verdict, tags, p = _unfitted(samples, claim, level, asymptotic)
        ends = (-np.inf, np.inf) if positive else (np.nan, np.nan)
        return Finding(np.nan, *ends, n, p, verdict, tags)
    value, skewed, rare = _line(np.log(horizons), samples)
    low, high = -np.inf, np.inf
    p_values = {"at most": (1.0, 1.0), "at least": (1.0, 1.0)}
    if not rare:
        down, up = skewed.widths(level)
        low, high = value - down * skewed.error, value + up * skewed.error
        most, least = value - (exponent + margin), value - (exponent - margin)
        p_values["at most"] = skewed.below(most), skewed.above(most)
        p_values["at least"] = skewed.above(least), skewed.below(least)
    # of the two sides of a claim of equality only one can be false
    sides = [p_values[side] for side in p_values if claim in (side, "equal")]
    p_for, p_against = max(side[0] for side in sides), min(side[1] for side in sides)
    verdict, p = decide(p_for, p_against, level)
    tags = ("SIGN",) * (positive < means.size)
    if asymptotic and claim != "equal" and verdict == NOT_REPRODUCED:
        verdict, tags = INCONCLUSIVE, (*tags, "PRE-ASYMPTOTIC")
    tags += ("RARE",) * rare
    tags += ("LOOSE",) * (claim == "at most" and high < exponent - LOOSE)
    return Finding(value, low, high, n, p, verdict, tags)


def _in_window(
    horizons: Sequence[float], values: Sequence[Sequence[float]], window: str
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the horizons that count and the replicates there, or raise ValueError."""
    one_of("window", window, ("all", "top decade"))
    horizons = numbers("horizons", horizons)
    if len(values) != horizons.size:
        raise ValueError(
            f"values must have one entry per horizon ({horizons.size}), got {len(values)}"
        )
    if horizons[0] <= 0 or (np.diff(horizons) <= 0).any():
        raise ValueError(f"horizons must be above 0 and increase, got {horizons.tolist()}")
    samples = [
        numbers(f"values at {t:g}", sample, least=FEWEST)
        for t, sample in zip(horizons, values, strict=True)
    ]
    if window == "top decade":
        first = int((horizons < horizons[-1] / 10 * (1 - 1e-9)).sum())
        horizons, samples = horizons[first:], samples[first:]
    if horizons.size < POINTS:
        raise ValueError(
            f"at least {POINTS} horizons are needed in the window, got {horizons.size}"
        )
    return horizons, samples


def _unfitted(
    samples: Sequence[np.ndarray], claim: str, level: float, asymptotic: bool
) -> tuple[str, tuple[str, ...], float]:
    """Return verdict, tags and p where fewer than three means are positive."""
    if any(sample.mean() > 0 for sample in samples):
        return INCONCLUSIVE, ("SIGN",), 1.0
    if claim == "at least" and asymptotic:
        return INCONCLUSIVE, ("SIGN", "PRE-ASYMPTOTIC"), 1.0
    tests = [mean_test(sample, 0.0, level) for sample in samples]
    p = max(test.below for test in tests)
    if p <= 1 - level:
        return REPRODUCED if claim == "at most" else NOT_REPRODUCED, ("SIGN",), p
    return INCONCLUSIVE, ("SIGN", "RARE") if any(test.rare for test in tests) else ("SIGN",), p


def _line(x: np.ndarray, samples: Sequence[np.ndarray]) -> tuple[float, Skewed, bool]:
    """Return the slope of log mean on x, its error, and whether too few replicates carry it."""
    means = np.array([sample.mean() for sample in samples])
    errors = np.array([sample.std(ddof=1) / np.sqrt(sample.size) for sample in samples])
    usable = means > 0
    safe = np.where(usable, means, 1.0)
    weights = usable / np.maximum(errors / safe, LEAST_ERROR) ** 2
    centred = x - (weights @ x) / weights.sum()
    pull = weights * centred / (weights @ centred**2)
    parts = [
        weight / mean * (sample - sample.mean()) / sample.size
        for weight, mean, sample in zip(pull, safe, samples, strict=True)
    ]
    skewed = Skewed.of(parts)
    if len({part.size for part in parts}) == 1:
        parts, apart = [np.sum(parts, axis=0)], skewed
        skewed = Skewed.of(parts)
        if any(map(is_heavy, samples)):
            # tails that cancel in the sum do not where a sample lacks its own
            skewed = apart._replace(error=max(apart.error, skewed.error))
    fitted = [sample for sample, used in zip(samples, usable, strict=True) if used]
    scarce = any(map(hardly_varies, fitted)) or not skewed.error
    rare = scarce or carriers(np.concatenate(parts)) < CARRIERS
    return float(pull @ np.log(safe)), skewed, rare
