"""The addressable streams: reference vectors, the naive twin, compiled code, and randomness."""

import hashlib
import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import config, njit
from scipy import stats

import naive
from fairbandits.engine import streams

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
fixed = settings(deadline=None, derandomize=True, max_examples=100)

WORDS = st.integers(0, streams.MASK)
COUNTS = st.integers(1, 2**62)
EXTREMES = (0, 1, 2, 2**11 - 1, 2**11, 2**12 - 1, 2**12, 2**32, 2**52, 2**53, 2**63 - 1, 2**63)
EXTREME_WORDS = sorted({*EXTREMES, *(streams.MASK - value for value in EXTREMES)})
ADDRESSES = st.tuples(
    st.integers(0, 2**64),
    st.text(max_size=12),
    st.integers(0, 10**6),
    st.sampled_from(["reward", "coin", "instance"]),
    st.integers(0, 2000),
)


def test_splitmix64_reference_vector():
    outputs = [streams.word(1234567, streams.GOLDEN, n) for n in range(1, 6)]
    assert outputs == [
        *(6457827717110365317, 3203168211198807973, 9817491932198370423),
        *(4593380528125082431, 16408922859458223821),
    ]
    assert outputs == [streams.inner(1234567, j) for j in range(1, 6)]


@fixed
@given(ADDRESSES, COUNTS)
def test_key_and_word_equal_naive(address, n):
    base, gamma = streams.stream_key(*address)
    assert (base, gamma) == naive.key(*address)
    assert streams.word(base, gamma, n) == naive.draw(*address, n)


def test_too_regular_gammas_are_repaired():
    repaired = 0
    for index in range(1000):
        text = f"fairbandits-1/0/s/0/reward/{index}"
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        raw = int.from_bytes(digest[8:], "little") | 1
        _, gamma = streams.stream_key(0, "s", 0, "reward", index)
        assert gamma in (raw, raw ^ 0xAAAAAAAAAAAAAAAA)
        repaired += gamma != raw
    assert 0 < repaired < 50  # P(Binomial(63, 1/2) < 24) = 0.022


@fixed
@given(WORDS, st.integers(1, 2**40))
def test_word_functions_equal_naive(w, j):
    assert streams.inner(w, j) == naive.inner(w, j)
    assert streams.unit(w) == naive.unit(w)
    assert streams.open_unit(w) == naive.open_unit(w)


@fixed
@given(WORDS)
@example(0)
@example(streams.MASK)
def test_units_lie_in_their_intervals(w):
    u, v = streams.unit(w), streams.open_unit(w)
    assert 0.0 <= u < 1.0
    assert (u * 2.0**53).is_integer()
    assert 0.0 < v < 1.0
    assert v * 2.0**53 % 2.0 == 1.0
    assert 0.0 < 1.0 - v < 1.0


@compiled_only
def test_compiled_words_equal_interpreted(rng):
    drawn = rng.integers(0, streams.MASK, size=(200, 2), dtype=np.uint64, endpoint=True)
    pairs = [tuple(pair) for pair in drawn.tolist()]
    pairs += itertools.product(EXTREME_WORDS, EXTREME_WORDS)
    counts = np.array([1, 2, 3, 2**31, 2**32, 2**53 + 1, 2**63 - 1])

    def functions(base, gamma, n):
        w = streams.word(base, gamma, n)
        return w, streams.inner(w, n), streams.unit(w), streams.open_unit(w)

    compiled = njit(functions)
    for (base, gamma), n in itertools.product(pairs, counts.tolist()):
        assert compiled(np.uint64(base), np.uint64(gamma), n) == functions(base, gamma, n)


# Statistics. The addresses are fixed, so these pass or fail for good; the thresholds were set
# beforehand for a false alarm in a thousand over all the p-values of a test.


def words_of(seed, replicate, index, count, kind="reward"):
    """Return the first words of one stream as an array, by NumPy's own wrapping arithmetic."""
    base, gamma = (
        np.uint64(part) for part in streams.stream_key(seed, "t", replicate, kind, index)
    )
    z = base + np.arange(1, count + 1, dtype=np.uint64) * gamma
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def test_words_of_this_test_are_those_of_the_streams():
    words = words_of(1, 2, 3, 50)
    assert words.tolist() == [naive.draw(1, "t", 2, "reward", 3, n) for n in range(1, 51)]


@pytest.mark.parametrize("shift", [56, 33, 11, 0], ids="bits {}".format)
def test_bytes_are_uniform(shift):
    values = []
    for index in range(8):
        octets = (words_of(0, 0, index, 2**15) >> np.uint64(shift)) & np.uint64(255)
        values.append(stats.chisquare(np.bincount(octets.astype(np.int64), minlength=256)).pvalue)
    assert min(values) > 1e-3 / 8
    assert max(values) < 1 - 1e-3 / 8  # nor suspiciously even


def test_streams_are_uncorrelated():
    count = 2**15
    rows = [
        (words_of(0, replicate, index, count) >> np.uint64(11)) * 2.0**-53
        for replicate in range(2)
        for index in range(4)
    ]
    rows += [(words_of(0, 0, 0, count, "coin") >> np.uint64(11)) * 2.0**-53]
    pairs = [np.corrcoef(a, b)[0, 1] for a, b in itertools.combinations(rows, 2)]
    lagged = [np.corrcoef(a[lag:], a[:-lag])[0, 1] for a in rows for lag in (1, 2)]
    across = [np.corrcoef(a[1:], b[:-1])[0, 1] for a, b in itertools.permutations(rows, 2)]
    correlations = np.array(pairs + lagged + across)
    limit = stats.norm.isf(1e-3 / correlations.size / 2) / np.sqrt(count)
    assert np.abs(correlations).max() < limit
