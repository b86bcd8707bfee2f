"""Functions of arrays that claims use, on numbers done by hand."""

import numpy as np
import pytest

from fairbandits.audit import arrays

ROUNDS = np.array([1, 10, 95, 1000, 9000, 10000])


def test_log_spaced_rounds_are_recorded_ones():
    assert arrays.logspaced(ROUNDS, 3, 90).tolist() == [95, 1000, 10000]
    assert arrays.logspaced(ROUNDS, 9, 90).tolist() == [95, 1000, 9000, 10000]


def test_whole_numbers_come_back_exactly():
    wanted = [-7, 0, 5, 10**9 + 1]
    given = np.array(wanted) / 10000
    assert arrays.numerators(given, 10000).tolist() == wanted
    with pytest.raises(ValueError, match="must be whole numbers"):
        arrays.numerators(given, 100)


def test_a_ratio_of_nothing_is_1():
    assert arrays.ratio(np.array([0, 3]), np.array([0, 2])).tolist() == [1, 1.5]


def test_a_root_is_linear_at_the_mean_and_0_at_0():
    values = np.array([[1.0, 0], [7, 0]])
    assert arrays.root_of_mean(values).tolist() == [[1.25, 0], [2.75, 0]]


def test_late_means_do_not_depend_on_how_dense_the_rounds_are():
    for rounds in (np.arange(1, 101), np.array([1, 10, 50, 51, 60, 100])):
        assert arrays.late_weights(rounds) @ (2.0 * rounds) == pytest.approx(150)


def test_windows_are_of_evenly_spaced_rounds():
    """Of rounds 2, 4, .. 20 the windows of 4 rounds; round 5 is left out."""
    rounds = np.array([2, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20])
    late = np.where(rounds <= 8, rounds / 2, np.maximum(4, rounds / 2 - 2))
    rates = arrays.window_rate(late[None], 20**0.4, 10, rounds=rounds)
    assert rates.tolist() == [[0.5, 0.5, 0.5, 0.25, 0, 0.25, 0.5, 0.5, 0.5]]


def test_the_worst_is_chosen_on_other_replicates(rng):
    samples = rng.normal(size=(40, 3, 5))
    samples[:20, -1, 2] += 5
    samples[:20, 0, 4] += 50
    column, rest = arrays.held_out(samples)
    assert column == 2
    assert np.array_equal(rest, samples[20:, :, 2])
    with pytest.raises(ValueError, match="at least 4"):
        arrays.held_out(np.ones((3, 2)))
