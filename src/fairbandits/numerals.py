"""Numbers for reading: thousands apart, a true minus sign, and powers of ten in full."""

import math

#: Digits of an exponent.
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 0) -> str:
    """Return a number with so many digits behind the point.

    >>> number(-13982.4)
    '−13\u202f982'
    """
    rounded = round(float(value), digits) + 0.0  # no minus before zero
    return f"{rounded:,.{digits}f}".replace(",", "\u202f").replace("-", "−")


def counted(n: int, what: str) -> str:
    """Return a number of things: 1 file, 2 files.

    >>> counted(1, "file"), counted(0, "file")
    ('1 file', '0 files')
    """
    return f"{n} {what}{'s' * (n != 1)}"


def first_digits(value: float, digits: int = 6) -> str:
    """Return a number's first digits as a program reads them.

    Sums differ in their last bits between processors, which must not decide how a half is rounded.

    >>> first_digits(-110.8625), first_digits(-110.86249999999998), first_digits(1e-9)
    ('-110.862', '-110.862', '1e-09')
    """
    return f"{float(f'{value:.12g}'):.{digits}g}"


def significant(value: float | None, digits: int = 4, *, trimmed: bool = False) -> str:
    """Return a number with so many significant digits; empty if there is none.

    Whole numbers are written out. A `trimmed` number has no zeros at its end: it was chosen, and
    its digits say nothing of how well it is known.

    >>> significant(0.5), significant(-1234.56), significant(3.0), significant(7.588e-15)
    ('0.5000', '−1\u202f235', '3', '7.588·10⁻¹⁵')
    >>> significant(0.5, trimmed=True), significant(1e-05, trimmed=True)
    ('0.5', '1·10⁻⁵')
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if float(value).is_integer() and abs(value) < 1e12:
        return number(value)
    leading, _, power = f"{value:.{digits - 1}e}".partition("e")
    is_written_out = -5 < int(power) < 12
    shown = number(value, max(0, digits - 1 - int(power))) if is_written_out else leading
    if trimmed and "." in shown:
        shown = shown.rstrip("0").rstrip(".")
    if is_written_out:
        return shown
    return f"{shown}·10".replace("-", "−") + str(int(power)).translate(RAISED)


def measured(value: float | None) -> str:
    """Return a number that was computed: an error of rounding is 0."""
    return significant(0.0 if value is not None and abs(value) < 1e-12 else value)
