"""The normal quantile against two other implementations, and at its edges."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from fairbandits.engine import streams
from fairbandits.engine.normal import quantile

fixed = settings(deadline=None, derandomize=True, max_examples=300)
PROBABILITIES = st.floats(2.0**-53, 1.0 - 2.0**-53)
BREAKS = (0.075, 0.925, math.exp(-25.0), 0.5)


@fixed
@given(PROBABILITIES)
def test_quantile_equals_statistics_and_scipy(p):
    z = quantile(p)
    assert z == pytest.approx(NormalDist().inv_cdf(p), rel=4 * 2.0**-52)
    assert z == pytest.approx(float(special.ndtri(p)), rel=1e-12, abs=1e-15)


@fixed
@given(st.integers(0, 2**52 - 1))
def test_quantile_is_odd_bit_for_bit(numerator):
    p = (numerator + 0.5) * 2.0**-52  # 1 - p is exact here
    assert quantile(1.0 - p) == -quantile(p)


@pytest.mark.parametrize("p", BREAKS)
def test_pieces_meet_and_rise(p):
    around = [p]
    for _ in range(4):
        around = [math.nextafter(around[0], 0), *around, math.nextafter(around[-1], 1)]
    values = [quantile(q) for q in around]
    assert np.ptp(values) < 1e-13 * max(1.0, abs(values[0]))
    wide = [quantile(p * (1.0 + k * 1e-9)) for k in range(-5, 6)]
    assert wide == sorted(set(wide))


def test_middle_and_ends():
    assert quantile(0.5) == 0.0
    ends = [streams.standard_normal(0), streams.standard_normal(streams.MASK)]
    assert ends == [quantile(2.0**-53), quantile(1.0 - 2.0**-53)]
    assert ends[0] == -ends[1]
    assert ends[1] == pytest.approx(NormalDist().inv_cdf(1 - 2.0**-53), rel=1e-14)
    assert 8.2 < ends[1] < 8.3
