"""Exact fractions: a quota of 0.09 is 9/100, and so is every comparison made with it."""

import math
import re
import reprlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

#: Most rounds of a run: floats hold every integer up to here.
LONGEST = 2**53
#: Largest common denominator, and product of one with a number of rounds: sums fit in 64 bits.
FINEST, LARGEST = 2**31, 2**62
#: Decimal exponents of the smallest and largest numbers, other than 0, that floats can hold.
DECADES = 300
#: Most characters of a number: to read one takes time with its length.
LONG = 1000


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
    """Return numbers in any notation as exact fractions; see `rational`."""
    return tuple(Exact(rational(name, value)) for value in values)


def rational(name: str, value: Any) -> Fraction:
    """Return 0.05 (its shortest decimal form), "0.05" or "1/3" exactly, or raise ValueError."""
    if type(value) is int and abs(value) < 10**DECADES:
        return Fraction(value)
    try:
        text = str(value)
        exponent = re.search(r"e([+-]?[\d_]+)\s*$", text, re.IGNORECASE)
        # checked first, since evaluating it takes time with its number of digits
        decades = abs(int(exponent[1])) if exponent else 0
        extreme = len(text) > LONG or decades > 2 * DECADES
        number = Fraction(0 if extreme else text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f'{name} must be a number such as 0.05 or "1/3", got {reprlib.repr(value)}'
        ) from None
    if extreme or (number and not Fraction(1, 10**DECADES) <= abs(number) <= 10**DECADES):
        raise ValueError(
            f"{name} must be 0, or between 1e-{DECADES} and 1e{DECADES} in size, and written in "
            f"at most {LONG} characters, got {reprlib.repr(value)}"
        )
    return number


def without_quotes(value: Any) -> str:
    """Return a message's text for a number that is given as text."""
    try:
        float(value if isinstance(value, str) else "none")
    except ValueError:
        return ""
    return f"; write {value.strip()} without quotes"


def common_denominator(
    name: str, values: Sequence, rounds: int | None = None
) -> tuple[list[int], int]:
    """Return exact numerators over a common denominator; ValueError if products leave 64 bits."""
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
    """Return the simple fraction whose nearest float was given, as text; empty without one."""
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


class Quotas(tuple):
    """Exact fractions as they were written, with numerators over one common denominator.

    Compares, prints and serialises as the tuple of what was written.

    Examples
    --------
    >>> quotas = Quotas((0.2, "1/3"))
    >>> quotas, quotas.numerators, quotas.denominator
    ((0.2, '1/3'), (3, 5), 15)
    """

    numerators: tuple[int, ...]
    denominator: int

    def __new__(cls, values: Iterable, name: str = "quotas") -> Self:
        """Return values as quotas; ValueError for what is no exact fraction."""
        if isinstance(values, cls):
            return values
        made = super().__new__(cls, values)
        numerators, made.denominator = common_denominator(name, made)
        made.numerators = tuple(numerators)
        return made

    @property
    def fractions(self) -> list[Fraction]:
        """Exact values."""
        return [Fraction(numerator, self.denominator) for numerator in self.numerators]

    @property
    def total(self) -> Fraction:
        """Exact sum."""
        return Fraction(sum(self.numerators), self.denominator)

    def check(
        self,
        name: str = "quotas",
        per: str = "arm",
        *,
        below: int | None = None,
        at_most: int | None = None,
    ) -> None:
        """Raise ValueError unless all are at least 0, and their sum is in a range."""
        for k, numerator in enumerate(self.numerators):
            if numerator < 0:
                raise ValueError(f"{name} must be at least 0, got {self[k]} for {per} {k + 1}")
        got, is_share = f"got {self.total}", [0 < quota < 1 for quota in self.fractions]
        if self.total > 1 and not any(is_share):
            got += '; write shares: "1/4", or 0.05 for 5 per cent'
        if below is not None and self.total >= below:
            raise ValueError(f"{name} must sum to less than {below}, {got}")
        if at_most is not None and self.total > at_most:
            raise ValueError(f"{name} must sum to at most {at_most}, {got}")

    def over(self, rounds: int, name: str = "quotas") -> tuple[list[int], int]:
        """Return numerators and denominator; ValueError if products with rounds leave 64 bits."""
        if self.denominator * int(rounds) > LARGEST:
            raise ValueError(
                f"{name} must have a common denominator of at most {LARGEST // int(rounds)} in "
                f"{rounds} rounds, got {self.denominator}"
            )
        return list(self.numerators), self.denominator


def quota_numerators(values: Sequence, rounds: int = 1) -> tuple[list[int], int]:
    """Return quotas of sum below 1 as numerators over one denominator, or raise ValueError."""
    quotas = Quotas(values)
    quotas.check(below=1)
    return quotas.over(rounds)
