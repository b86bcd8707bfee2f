"""Penalised pulls on random instances, in fractions where it can be."""

import math

import numpy as np
import pytest

from fairbandits.theory import bounds
from fairbandits.theory import penalised_instances as problem

SEED = 20240919


def test_committing_costs_less_than_its_bound():
    for share in (0.1, 0.01):
        gaps = np.geomspace(0.1, 10, 15)
        regrets = problem.committing_regrets(10, share, 100_000, gaps, 20_000, seed=SEED)
        assert regrets.mean(axis=0).max() < bounds.committing_regret(10, share, 100_000)
    m, step = 9000.0, np.linspace(0, 1, 100_001)
    largest = (step * np.exp(-m * step**2 / 4)).max()
    assert bounds.committing_regret(10, 0.1, 100_000) == pytest.approx(1e4 * 9 * largest, rel=1e-3)


def test_committing_is_counted_as_a_plain_loop_does():
    """Two arms, gap in units of sqrt(2 / T); the best is missed with the normal tail's chance."""
    regrets = problem.committing_regrets(2, 0.5, 200, [1.0], 40_000, seed=SEED)[:, 0]
    gap = math.sqrt(2 / 200)
    assert set(np.round(regrets, 9)) == {0.0, round(100 * gap, 9)}
    chance = 0.5 * math.erfc(gap / math.sqrt(2 / 50) / math.sqrt(2))
    assert (regrets > 0).mean() == pytest.approx(chance, abs=0.01)


def test_section_2_is_right_in_exact_fractions():
    for word in (problem.wrong_minimisers, problem.not_one_set, problem.out_of_order):
        assert set(word(200, seed=SEED)) == {0}
    assert max(problem.optimum_errors(200, seed=SEED)) < 1e-12


def test_wrong_statements_about_the_optimum_are_seen(monkeypatch):
    monkeypatch.setattr(problem, "loss", lambda gap, rate, quota, y: gap * y)
    assert 1 in problem.wrong_minimisers(50, seed=SEED)
    first = lambda means, quotas, rates: np.eye(len(means))[0]  # noqa: E731
    monkeypatch.setattr(problem, "oracle_allocation", first)
    assert max(problem.optimum_errors(20, seed=SEED)) > 0.01
    monkeypatch.setattr(problem, "arm_sets", lambda means, rates: [np.ones(len(means))] * 2)
    assert 1 in problem.not_one_set(5, seed=SEED)


def test_a_constraint_for_each_round_cannot_be_met():
    assert problem.least_lack(["1/20"] * 9, 100) == 8
    assert problem.least_lack(["1/2", "0"], 100) == 0
