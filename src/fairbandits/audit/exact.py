"""The procedures `exact`, `share` and `curve`, whose verdicts hold whatever the law of the runs."""

from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Literal

import numpy as np
import scipy

from fairbandits.audit.finding import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding, decide
from fairbandits.audit.inputs import confidence, number, numbers
from fairbandits.checks import one_of

#: Fewest replicates of a curve.
FEWEST = 10


def exact(
    values: Sequence[float] | float,
    scale: Sequence[float] | float = 1.0,
    printed: str = "",
    *,
    tolerance: float,
) -> Finding:
    """Judge whether something holds in every run and round, or a number is the printed one.

    `values` has by how much it is broken, 0 or less where it holds, or the number computed again.
    The `tolerance` for rounding is relative to `scale`; with 0, values are whole numbers.
    """
    if printed != "":
        return _printed(number("values", values), printed)
    array = np.asarray(values)
    if number("tolerance", tolerance) < 0:
        raise ValueError(f"tolerance must be at least 0, got {tolerance!r}")
    if not tolerance and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"with tolerance 0 values must be whole numbers, got {array.dtype}")
    # whole numbers stay whole: as doubles, large ones could be off by one
    checked = numbers("values", array.reshape(-1)) if tolerance else array.reshape(-1)
    if not checked.size:
        raise ValueError("values must have at least 1 entries, got 0")
    allowed = tolerance * np.abs(np.broadcast_to(scale, array.shape)).reshape(-1)
    if not np.isfinite(allowed).all():
        raise ValueError("scale must be finite")
    broken = np.count_nonzero(checked > allowed)
    verdict, tags, also = REPRODUCED, (), {"broken": float(broken)}
    if broken:
        verdict = NOT_REPRODUCED
    elif (checked > 0).any():
        tags = ("ROUNDING",)
    largest = float(checked.max())
    return Finding(largest, largest, largest, checked.size, None, verdict, tags, also)


def _printed(value: float, printed: str) -> Finding:
    computed = Decimal(repr(value))
    try:
        wanted = Decimal(printed)
    except (InvalidOperation, TypeError, ValueError):
        raise ValueError(f"printed must be a number as text, got {printed!r}") from None
    if not isinstance(printed, str) or not wanted.is_finite():
        raise ValueError(f"printed must be a number as text, got {printed!r}")
    digit = Decimal(1).scaleb(wanted.as_tuple().exponent)
    up, even, down = (
        computed.quantize(digit, rounding=rounding) == wanted
        for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN)
    )
    verdict = REPRODUCED if up or even else NOT_REPRODUCED
    tags = ("TRUNCATED",) * (down and verdict == NOT_REPRODUCED)
    also = {"printed": float(wanted)}
    return Finding(value, value, value, 1, None, verdict, tags, also)


def share(
    values: Sequence[bool], *, claim: Literal["at most", "at least"], limit: float, level: float
) -> Finding:
    """Judge whether a probability is at least, or at most, a limit (Clopper-Pearson)."""
    array = np.asarray(values)
    if array.ndim != 1 or not array.size or not np.isin(array, (0, 1)).all():
        raise ValueError("values must be a list of true and false, not empty")
    one_of("claim", claim, ("at most", "at least"))
    if not 0 <= number("limit", limit) <= 1:
        raise ValueError(f"limit must be in [0, 1], got {limit!r}")
    successes, n = int(array.sum()), array.size
    test = scipy.stats.binomtest(successes, n)
    interval = test.proportion_ci(2 * confidence(level) - 1, method="exact")
    more, less = (
        scipy.stats.binomtest(successes, n, limit, alternative=side).pvalue
        for side in ("greater", "less")
    )
    verdict, p = decide(*((more, less) if claim == "at least" else (less, more)), level)
    also = {"limit": float(limit)}
    return Finding(successes / n, interval.low, interval.high, n, p, verdict, (), also)


def curve(
    values: Sequence[Sequence[float]] | Sequence[float],
    printed: Sequence[float] | float,
    within: Sequence[float] | float = 0.0,
    *,
    level: float,
) -> Finding:
    """Judge whether a published curve, or number, is one that a run like ours could have given.

    A conformal test (V. Vovk, A. Gammerman and G. Shafer, "Algorithmic learning in a random
    world", 2005) of the largest deviation in standard deviations; `within` is the reading error.
    """
    values = np.asarray(values)
    samples = numbers("values", values[:, None] if values.ndim == 1 else values, 2, FEWEST)
    printed = numbers("printed", np.atleast_1d(printed))
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
    also = {
        "worst point": float(worst),
        "printed": float(printed[worst]),
        "mean": float(mean[worst]),
        "lowest of ours": float(samples[:, worst].min()),
        "highest of ours": float(samples[:, worst].max()),
        "largest inside": inside,
    }
    verdict, tags = (REPRODUCED, ()) if p > 1 - level else (NOT_REPRODUCED, ())
    if verdict == REPRODUCED and p * (n + 1) < 1.5 and its > 0:
        verdict, tags = INCONCLUSIVE, ("UNDERPOWERED",)
    return Finding(its, 0.0, inside, n, p, verdict, tags, also)
