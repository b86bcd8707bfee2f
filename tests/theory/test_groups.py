"""Quotas and fair policies of groups, counted and drawn."""

import math

import numpy as np
import pytest

from fairbandits.theory import group_counts as groups
from fairbandits.theory.derivations import group_regret


def test_floors_that_rise_together():
    assert groups.floors_that_jump(["1/4"], 100) == 0
    assert groups.floors_that_jump(["1/4", "1/4"], 3) == -1
    assert groups.floors_that_jump(["1/4", "1/4"], 4) == 1


def test_turns():
    assert groups.short_in_turn([50, 10], ["2/5", "2/5"], 1, 50) == 20
    assert groups.short_in_turn([50, 10], ["2/5", "2/5"], 0, 100) == 0
    assert groups.short_in_turn([3, 1], ["3/5", "0"], 0, 6) == 0
    assert groups.short_in_turn([3, 1], ["3/5", "0"], 0, 10) == 1  # 6 owed, 5 made
    assert groups.most_above_turns(["2/5", "2/5"], 1) == 2
    assert groups.most_above_turns(["1/4", "1/4"], 2) == 1
    assert groups.short_of_quotas(60, 100, 0, "a") == 0
    assert groups.short_of_quotas(15, 100, 1, "a") > 0


def test_fair_policies_and_optima(monkeypatch):
    assert groups.optimum_off(20, "a") == 0
    assert sorted(groups.splits(2, 2)) == [(0, 2), (1, 1), (2, 0)]
    # all free rounds for whatever group is first
    monkeypatch.setattr(groups, "splits", lambda total, parts: [(total, *[0] * (parts - 1))])
    assert groups.optimum_off(20, "a") > 0


def test_boxes():
    assert groups.corners_lost(300, "half", "a") == groups.corners_lost(300, "cut", "a") == 0
    assert groups.corners_lost(300, "uncut", "a") > 100
    assert groups.optimism_lost(300, 500, 1, "a") == 0
    assert groups.optimism_lost(3000, 0, 1, "a") > 0
    with pytest.raises(ValueError, match="kind must be one of half, cut, uncut"):
        groups.corners_lost(1, "x", "a")


def test_coverage():
    ratio = groups.coverage_ratio(1, [10], "unit")
    assert ratio == pytest.approx(0.01**2 / (16 * 10))
    assert groups.coverage_ratio(2, [10, 100], "unit") < ratio
    # of 40 fair signs more than 4.4 roots are off: |sum| of 28 or more
    assert math.sqrt(2 * math.log(4 * 40 / 0.01)) == pytest.approx(4.4, abs=0.01)
    ways = sum(math.comb(40, wins) for wins in range(41) if abs(2 * wins - 40) > 4.4 * 40**0.5)
    wanted = ways / 2**40 / (1e-4 / (8 * 1600))
    assert groups.coverage_ratio(1, [40], "symmetric") == pytest.approx(wanted)
    with pytest.raises(ValueError, match="span must be one of unit, symmetric"):
        groups.coverage_ratio(1, [1], "x")


def test_the_fluid_equation_has_the_limit_of_the_derivation():
    """With w at its end, 2 c w sqrt(N) is what all rounds cost; most come late."""
    means = np.random.default_rng(1).uniform(0.5, 1, 10)
    rounds, delta = 1e12, 0.01
    width = math.sqrt(2 * math.log(4 * rounds * 10 / delta))
    value = (means**2).sum() / means.sum()
    wanted = 2 * ((value - means) / np.sqrt(means.sum() * means)).sum()
    regret, distance = group_regret.fluid(means, np.array([0, 10, rounds]), delta)
    assert regret[0] == distance[0] == distance[1] == 0
    assert regret[1] == pytest.approx(10 * value - means.sum())
    assert regret[2] == pytest.approx(wanted * width * math.sqrt(rounds), rel=0.05)
    # a probability is off by the derivative of (mu_i + e sqrt(M / mu_i)) / sum_j (mu_j + ...)
    total, small = means.sum(), 1e-6
    raised = means + small * np.sqrt(total / means)
    moved = np.abs(raised / raised.sum() - means / total).sum() / small
    assert distance[2] == pytest.approx(2 * moved * width * math.sqrt(rounds), rel=0.05)
