"""Logarithm and exponential in sums, products, quotients: on every machine the same bits.

Those of C libraries differ in their last bits, even between processors. The steps are those of
fdlibm's e_log.c and e_exp.c (Sun Microsystems, 1993), the coefficients our own minimax fits.
"""

import math
import sys

import numpy as np

from fairbandits.engine.protocol import inlined, not_inlined
from fairbandits.engine.vectors import Vector
from fairbandits.engine.width import as_float, bits_of, compiled_as, of_bits, where

#: The least positive number with all its digits, and the greatest number.
LEAST, GREATEST = sys.float_info.min, sys.float_info.max
#: What is stored of the square root of 1/2; and what makes the exponent change there, not at 1/2.
ROOT_HALF = 0x3FE6_A09E_667F_3BCD
SHIFT, FRACTION = 0x3FF0_0000_0000_0000 - ROOT_HALF, 2**52 - 1
#: The logarithm of 2: 33 bits, whose multiples up to 2**20 are exact, and the rest.
HIGH, REST = 0.6931471803691238, 1.9082149292705877e-10
#: Of log((1 + s) / (1 - s)) / s - 2 the powers of s^2 from the first, for |s| <= 3 - sqrt(8).
OF_LOG = (
    *(0.6666666666666734, 0.3999999999941468, 0.28571428742387023, 0.22222198573260976),
    *(0.18183564321552453, 0.1531405068080525, 0.1479594831948716),
)
#: Of r (e^r + 1) / (e^r - 1) - 2 the powers of r^2 from the first, for |r| <= log(2) / 2.
OF_EXP = (
    *(0.16666666666666602, -0.002777777777701553, 6.61375632148231e-05),
    *(-1.6533902281614613e-06, 4.138140066840036e-08),
)


def _split(x):
    word = bits_of(x) + np.uint64(SHIFT)
    near_one = of_bits((word & np.uint64(FRACTION)) + np.uint64(ROOT_HALF))
    return as_float(word >> np.uint64(52)) - 1023.0, near_one


@compiled_as(_split, _split)
def split(x):
    """Return k and m with x = 2^k m, where m is at least sqrt(1/2) and below sqrt(2)."""
    if isinstance(x, Vector):
        return _split(x)
    m, k = math.frexp(x if LEAST <= x <= GREATEST else 1.0)
    return (k - 1.0, 2.0 * m) if m < math.sqrt(0.5) else (float(k), m)


@inlined
def log(x):
    """Return the natural logarithm; NaN of what is not positive, infinite or below 2^-1022.

    It is wrong by less than 0.9 units in the last place.
    """
    k, m = split(x)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = z * (OF_LOG[0] + w * (OF_LOG[2] + w * (OF_LOG[4] + w * OF_LOG[6])))
    even = w * (OF_LOG[1] + w * (OF_LOG[3] + w * OF_LOG[5]))
    half = 0.5 * f * f
    value = k * HIGH - ((half - (s * (half + (odd + even)) + k * REST)) - f)
    return where((x >= LEAST) & (x <= GREATEST), value, math.nan)


@compiled_as(lambda k: of_bits(np.uint64((k + 1023) * 2**52)))
def power_of_two(k):
    return 2.0**k


@not_inlined
def exp(x):
    """Return e^x of one number, wrong by less than 0.9 units in the last place."""
    if not -745.2 < x <= 709.782712893384:  # what is more overflows
        return 0.0 if x < 0.0 else math.inf if x > 0.0 else math.nan
    k = math.floor(x / (HIGH + REST) + 0.5)
    high, rest = x - k * HIGH, k * REST
    r = high - rest
    z = r * r
    c = OF_EXP[0] + z * (OF_EXP[1] + z * (OF_EXP[2] + z * (OF_EXP[3] + z * OF_EXP[4])))
    c = r - z * c
    y = 1.0 - ((rest - r * c / (2.0 - c)) - high)
    half = k // 2  # of 2^k, which can be too great for a number, or too small
    return y * power_of_two(half) * power_of_two(k - half)
