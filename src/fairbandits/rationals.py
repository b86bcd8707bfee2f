"""Exact fractions: a quota of 0.09 is 9/100, and so is every comparison made with it."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

#: Most rounds of a run: up to here floating-point numbers hold every whole one.
LONGEST = 2**53
#: Largest common denominator, and largest product of one with a number of rounds: sums and
#: differences of such products stay within 64 bits.
FINEST, LARGEST = 2**31, 2**62
#: The ends of what is taken for a number other than 0, as a power of ten: what is beyond them would
#: be nothing, or infinite, as soon as it is a floating-point number.
DECADES = 300


class Exact(Fraction):
    """An exact fraction that is shown as it is written: 1/5.

    Examples
    --------
    >>> quota = Exact("1/5")
    >>> quota, f"{quota:.2f}", quota * 15 - 1
    (1/5, '0.20', Fraction(2, 1))
    """

    __repr__ = Fraction.__str__

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)


def exact(name: str, values: Sequence) -> tuple[Exact, ...]:
    """Return numbers that are written in whatever way as exact fractions; see `rational`."""
    return tuple(Exact(rational(name, value)) for value in values)


def rational(name: str, value: Any) -> Fraction:
    """Return `value` as an exact fraction; decimal strings and fractions such as "1/3" are exact.

    Raises
    ------
    ValueError
        If it is not a rational number, or neither 0 nor between 1e-300 and 1e300 in size; a float
        counts as its shortest decimal form.
    """
    try:
        text = str(value)
        exponent = re.search(r"e([+-]?\d+)\s*$", text, re.IGNORECASE)
        # before it is worked out, which takes as long as it has digits
        extreme = exponent is not None and abs(int(exponent[1])) > 2 * DECADES
        found = Fraction(0 if extreme else text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f'{name} must be a number such as 0.05 or "1/3", got {value!r}') from None
    if extreme or (found and not Fraction(1, 10**DECADES) <= abs(found) <= 10**DECADES):
        raise ValueError(
            f"{name} must be 0, or between 1e-{DECADES} and 1e{DECADES} in size, got {value!r}"
        )
    return found


def without_quotes(value: Any) -> str:
    """Return what a message says of a number that is given as text."""
    try:
        float(value if isinstance(value, str) else "none")
    except ValueError:
        return ""
    return f"; write {value.strip()} without quotes"


def common_denominator(
    name: str, values: Sequence, rounds: int | None = None
) -> tuple[list[int], int]:
    """Return exact numerators over one common denominator.

    Parameters
    ----------
    name : str
        What messages call them.
    values : sequence of number or str
        Numbers, exact.
    rounds : int, optional
        Largest number of rounds that they are multiplied by, if it is known.

    Raises
    ------
    ValueError
        If a value is not rational, or if products with round numbers could leave 64 bits.
    """
    try:
        numerators, denominator = _common_denominator(name, tuple(map(str, values)))
    except ValueError:
        for value in values:
            rational(name, value)  # says what was given, not how it is written
        raise
    if denominator > FINEST:
        raise ValueError(
            f"{name} must have a common denominator of at most 2**31, got {denominator}"
            f"{_as_fraction(values)}"
        )
    if rounds is not None and denominator * int(rounds) > LARGEST:
        raise ValueError(
            f"{name} must have a common denominator of at most {LARGEST // int(rounds)} in "
            f"{rounds} rounds, got {denominator}"
        )
    return list(numerators), denominator


def _as_fraction(values: Sequence) -> str:
    """Return how to write a float that is the nearest one to a simple fraction, if there is one."""
    for value in values:
        if isinstance(value, float):  # NumPy's too
            simple = rational("", value).limit_denominator(1000)
            if simple.denominator > 1 and float(simple) == value != float(f"{value:.6g}"):
                return f'; write "{simple}" in place of {float(value)!r}'
    return ""


@lru_cache(maxsize=1024)  # a policy starts anew for each replicate, with the same quotas
def _common_denominator(name: str, values: tuple[str, ...]) -> tuple[tuple[int, ...], int]:
    fractions = [rational(name, value) for value in values]
    denominator = math.lcm(*(fraction.denominator for fraction in fractions))
    return tuple(int(fraction * denominator) for fraction in fractions), denominator


def quota_numerators(values: Sequence, rounds: int | None = None) -> tuple[list[int], int]:
    """Return quotas as exact numerators over one common denominator.

    `rounds` is as in `common_denominator`.

    Raises
    ------
    ValueError
        If one is not rational or below 0, if they sum to 1 or more, or if products with round
        numbers could leave 64 bits.
    """
    numerators, denominator = common_denominator("quotas", values, rounds)
    for k, numerator in enumerate(numerators):
        if numerator < 0:
            raise ValueError(f"quotas must be at least 0, got {values[k]} for arm {k + 1}")
    if sum(numerators) >= denominator:
        total = Fraction(sum(numerators), denominator)
        raise ValueError(f"quotas must sum to less than 1, got {total}")
    return numerators, denominator


def below_equal_share(quotas: Sequence) -> bool:
    """Return whether every quota is below one over the number of arms."""
    numerators, denominator = quota_numerators(quotas)
    return max(numerators) * len(numerators) < denominator
