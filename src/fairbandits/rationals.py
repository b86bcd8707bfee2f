"""Exact fractions: a quota of 0.09 is 9/100, and so is every comparison made with it."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any


def rational(name: str, value: Any) -> Fraction:
    """Return `value` as an exact fraction; decimal strings and fractions such as "1/3" are exact.

    Raises
    ------
    ValueError
        If it is not a rational number; a float counts as its shortest decimal form.
    """
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f'{name} must be a number such as 0.05 or "1/3", got {value!r}') from None


def common_denominator(name: str, values: Sequence) -> tuple[list[int], int]:
    """Return exact numerators over one common denominator.

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
    return list(numerators), denominator


@lru_cache(maxsize=1024)  # a policy starts anew for each replicate, with the same quotas
def _common_denominator(name: str, values: tuple[str, ...]) -> tuple[tuple[int, ...], int]:
    fractions = [rational(name, value) for value in values]
    denominator = math.lcm(*(fraction.denominator for fraction in fractions))
    if denominator > 2**31:
        raise ValueError(
            f"{name} must have a common denominator of at most 2**31, got {denominator}"
        )
    return tuple(int(fraction * denominator) for fraction in fractions), denominator


def quota_numerators(values: Sequence) -> tuple[list[int], int]:
    """Return quotas as exact numerators over one common denominator.

    Raises
    ------
    ValueError
        If one is not rational or below 0, or if they sum to 1 or more.
    """
    numerators, denominator = common_denominator("quotas", values)
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
