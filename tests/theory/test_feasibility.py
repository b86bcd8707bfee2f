"""Targets that can be met, and the work of steps on the simplex."""

import numpy as np
import pytest

from fairbandits.theory import feasibility, simplex_work
from fairbandits.theory.draws import generator

MEANS, AIMS = np.array([[0.5, 1], [0.5, 1]]), np.array([[0.25, 0], [0.4, 0.4]])


def test_linear_programmes_by_hand():
    assert feasibility.least_slack(MEANS, AIMS) == pytest.approx([-1 / 6, 1 / 15])
    assert feasibility.largest_reward(MEANS[:1], AIMS[:1]) == pytest.approx([0.75])
    with pytest.raises(RuntimeError, match="not solved"):
        feasibility.largest_reward(MEANS, AIMS)


def test_disagreement_is_seen(monkeypatch):
    assert feasibility.disagreements(MEANS, AIMS, 1e-9).tolist() == [False, False]
    monkeypatch.setattr(feasibility, "load", lambda *_: 0.5)
    assert feasibility.disagreements(MEANS, AIMS, 1e-9).tolist() == [False, True]


def test_random_instances_are_as_many_and_as_loaded_as_said():
    loads, arms = [], set()
    for means, aims in feasibility.random_instances(10_000, 2, 20, 0.5, 1.5, "a", best=False):
        loads += (aims / means).sum(axis=1).tolist()
        arms.add(means.shape[1])
        assert (np.take_along_axis(aims, means.argmax(axis=1)[:, None], axis=1) == 0).all()
    assert len(loads) == 10_000
    assert arms == set(range(2, 21))
    assert 0.5 <= min(loads) < 0.51 < 1.49 < max(loads) <= 1.5


def test_released_benchmark_forgets_the_rest_when_the_best_arm_is_protected():
    means = np.array([0.5, 0.25, 1])
    for targets, wanted in (([0.2, 0.05, 0], [0.4, 0.2, 0.4]), ([0.2, 0.05, 0.1], [0.4, 0.2, 0.1])):
        assert feasibility.released_benchmark(means, np.array(targets)) == pytest.approx(wanted)


def test_projection_is_counted_and_right():
    point, count = simplex_work.projection(np.array([0.5, 0.9, -1.0]))
    assert point == pytest.approx([0.3, 0.7, 0])
    # the step and the result, a pass that drops one entry, and one that drops none
    assert count == 6 + 3 + 2
    assert simplex_work.projection_work([3, 30], 4, "a").shape == (4, 2)


def test_random_numbers_belong_to_their_name():
    names = ("a-claim", "a-claim", "another")
    first, again, other = (generator(name).integers(2**62) for name in names)
    assert first == again != other
