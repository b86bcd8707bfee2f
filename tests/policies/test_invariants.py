"""What must hold for every input of the kernels on the simplex, on inputs of Hypothesis."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
from fairbandits.policies.learners import ascend, oga
from fairbandits.policies.simplex import log_barrier_shift, mass_and_logs, sample

many = settings(deadline=None, derandomize=True, max_examples=200)


class Metered(np.ndarray):
    """An array that cannot be read forever."""

    reads = 0

    def __getitem__(self, index):
        self.reads += 1
        assert self.reads < 100 * self.size**2, "the kernel does not end"
        return super().__getitem__(index)


def ascended(x, g, step=None):
    """Return where gradient ascent moves from x, and the point that it projects.

    By default the step is as long as the gains.
    """
    policy = SimpleNamespace(step_c=math.hypot(*g) if step is None else step)
    learner = oga(policy, np.array(x, float), 1)
    learner = learner._replace(moved=learner.moved.view(Metered))
    ascend(learner, np.array(g))
    rate = learner.step / math.sqrt(learner.squares[0]) if learner.squares[0] else 0.0
    return learner.x, [a + rate * b for a, b in zip(x, g, strict=True)]


def exactly_projected(y):
    return [float(value) for value in naive.project_simplex([Fraction(value) for value in y])]


def assert_projected(x, y):
    scale = max(1.0, *map(abs, y)) * len(y) * 2.0**-52
    np.testing.assert_allclose(x, exactly_projected(y), rtol=0, atol=2 * scale)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1, abs=2 * len(y) * scale)


COORDINATES = (
    st.floats(-3, 3)
    | st.floats(-1e12, 1e12)
    | st.sampled_from([0.0, 0.25, 1.0, -1.0, 0.1, 1e-150, 1e6])
)


@many
@given(st.lists(COORDINATES, min_size=2, max_size=60), st.data())
def test_projection_is_that_of_sorting(g, data):
    """From a vertex or the centre, by steps of any length up to that of the gains."""
    corner = data.draw(st.none() | st.integers(0, len(g) - 1))
    x = [1 / len(g)] * len(g) if corner is None else naive.one_hot(corner, len(g))
    step = data.draw(st.sampled_from([None, 1.0, 1e-3, 1e-9]))
    assert_projected(*ascended(x, g, step))


def test_projection_ends_when_an_entry_lies_at_the_threshold():
    """Rounding put the last arm now above, now below the threshold of those above it."""
    hexes = ("0x0.0p+0", "0x1.dfbf3d77200adp-1", "0x1.02061446ffa9ap-4", "0x0.0p+0")
    x = [float.fromhex(text) for text in hexes]
    rate = float.fromhex("0x1.08564347418a1p-23")
    for ulps in range(-20, 21):
        step = rate * math.sqrt(3e12) * (1 + ulps * 2.0**-52)
        assert_projected(*ascended(x, [0.0, 1e6, 1e6, 1e6], step))


def test_projection_of_endless_steps_stays():
    """When an entry plus 1 is the entry, there is nothing to tell the arms apart."""
    for g in ([1e17, 1e17, 0.0], [1e20, 0.0, 0.0], [5.0, 5.0, 5.0]):
        x, _ = ascended([0.5, 0.25, 0.25], g, 1e20)
        assert x.tolist() == [0.5, 0.25, 0.25]


@many
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 2**64 - 1))
@example([0.5, 0.5], 0)
@example([0.0, 1.0], 0)
@example([1.0, 0.0], 2**64 - 1)
@example([0.0, 0.0, 0.0], 2**64 - 1)
def test_sample_is_the_inverse_of_the_cumulated_probabilities(x, coin):
    arm = sample(np.array(x), np.uint64(coin))
    assert arm == naive.sample(x, coin)
    assert 0 <= arm < len(x)


GAPS = st.lists(
    st.floats(0, 10) | st.floats(0, 1e12) | st.sampled_from([0.0, 1e-300, 1e300]), max_size=60
)


@many
@given(GAPS, st.floats(1e-3, 1e6), st.sampled_from([1e-10, 1e-8]))
@example([1e300] * 3, 1e6, 1e-10)
@example([0.0] * 59, 1e-3, 1e-10)
def test_log_barrier_shift_solves_its_equation(gaps, start, tolerance):
    gaps = np.array([*gaps, 0.0])
    shift = log_barrier_shift(gaps, start, tolerance)
    q = 1 / (gaps + shift)
    assert 1 <= shift <= gaps.size * (1 + 1e-12)
    assert q.sum() == pytest.approx(1, abs=1e-12)
    # the root is that close in exact arithmetic
    sides = [Fraction(shift) * (1 + Fraction(sign, 10**11)) for sign in (-1, 1)]
    totals = [sum(1 / (Fraction(gap) + side) for gap in gaps.tolist()) for side in sides]
    assert totals[0] > 1 > totals[1]


FACTORS = st.floats(1e-75, 1e75) | st.floats(0.5, 2) | st.sampled_from([1e-75, 1.0, 1e75])


@many
@given(st.lists(st.tuples(FACTORS, FACTORS), min_size=1, max_size=200))
@example([(1e75, 1e75)] * 200)
@example([(1e-75, 1e-75)] * 200)
@example([(1e75, 1e75), (1e-75, 1e-75)] * 100)
def test_mass_and_logs_are_the_sums(pairs):
    factors, others = np.array(pairs).T.copy()
    logs = [math.log(value) for pair in pairs for value in pair]
    mass, total = mass_and_logs(factors, 0.0, others)
    assert mass == pytest.approx(math.fsum(1 / factors), rel=1e-12)
    scale = math.fsum(map(abs, logs))
    assert total == pytest.approx(math.fsum(logs), rel=1e-12, abs=1e-13 * (len(logs) + scale))
