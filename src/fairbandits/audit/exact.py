"""Procedures without chance: invariants, and printed numbers that can be computed again."""

from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Literal

import numpy as np

from fairbandits.audit.finding import (
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Finding,
    number,
    numbers,
    one_of,
)


def invariant(
    excess: Sequence[float],
    scale: Sequence[float] | float = 1.0,
    *,
    exact: bool,
    tolerance: float,
    small: Literal["inconclusive", "reproduced"],
) -> Finding:
    """Judge whether something holds in every run and round.

    Parameters
    ----------
    excess : sequence of number, any shape
        Amount by which it is broken in each; 0 or less where it holds.
    scale : sequence of float or float
        Size of the numbers that `excess` is a difference of; the tolerance is relative to it.
    exact : bool
        Whether `excess` comes from exact arithmetic; it must then be whole numbers.
    tolerance : float
        Relative size of rounding errors; 0 if exact.
    small : {"inconclusive", "reproduced"}
        Verdict on excesses within the tolerance.

    Returns
    -------
    Finding
        The statistic is the largest excess, n the number of checks; ``first`` is the index of the
        first one broken beyond the tolerance, in the order given.
    """
    array = np.asarray(excess)
    one_of("small", small, ("inconclusive", "reproduced"))
    if exact and (tolerance or not np.issubdtype(array.dtype, np.integer)):
        raise ValueError(
            "an exact invariant needs whole numbers and tolerance 0, "
            f"got {array.dtype} and {tolerance!r}"
        )
    if not exact and not number("tolerance", tolerance) > 0:
        raise ValueError(f"tolerance must be above 0 unless exact, got {tolerance!r}")
    # whole numbers stay whole: as doubles, large ones could be off by one
    checked = array.reshape(-1) if exact else numbers("excess", array.reshape(-1))
    if not checked.size:
        raise ValueError("excess must have at least 1 entries, got 0")
    allowed = tolerance * np.abs(np.broadcast_to(scale, array.shape)).reshape(-1)
    if not np.isfinite(allowed).all():
        raise ValueError("scale must be finite")
    broken = np.flatnonzero(checked > allowed)
    positive = int((checked > 0).sum())
    tags: tuple[str, ...] = ()
    verdict = REPRODUCED
    also = {"broken": float(broken.size)}
    if broken.size:
        verdict = NOT_REPRODUCED
        also["first"] = float(broken[0])
    elif positive:
        tags = ("ROUNDING",)
        verdict = INCONCLUSIVE if small == "inconclusive" else REPRODUCED
    largest = float(checked.max())
    return Finding(largest, largest, largest, checked.size, None, verdict, tags, also)


def printed_number(value: float, printed: str) -> Finding:
    """Judge whether a number computed again rounds to the printed one, as "0.167".

    Its digits say how it was rounded. Reproduced if equal after rounding, halves up or to even;
    TRUNCATED if it is equal only after cutting off.
    """
    exact = Decimal(repr(number("value", value)))
    try:
        wanted = Decimal(printed)
    except (InvalidOperation, TypeError, ValueError):
        raise ValueError(f"printed must be a number as text, got {printed!r}") from None
    if not isinstance(printed, str) or not wanted.is_finite():
        raise ValueError(f"printed must be a number as text, got {printed!r}")
    digit = Decimal(1).scaleb(wanted.as_tuple().exponent)

    def cut(rounding: str) -> bool:
        return exact.quantize(digit, rounding=rounding) == wanted

    rounded = cut(ROUND_HALF_UP) or cut(ROUND_HALF_EVEN)
    tags = ("TRUNCATED",) if not rounded and cut(ROUND_DOWN) else ()
    verdict = REPRODUCED if rounded else NOT_REPRODUCED
    also = {"printed": float(wanted)}
    return Finding(float(exact), float(exact), float(exact), 1, None, verdict, tags, also)
