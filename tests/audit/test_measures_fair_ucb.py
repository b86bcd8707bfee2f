"""Fair-UCB's measures on numbers done by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from fairbandits.audit.arrays import numerators
from fairbandits.theory import bounds
from fairbandits.theory.fair_learn_counts import Counted
from made_cells import cell_of, end, run_of, value

THREE = {"means": [0.7, 0.5, 0.4], "quotas": ["1/5", "3/10", "1/4"]}


def made_cell(values, rounds, *, means=(1.0, 0.0), quotas=(), **given):
    return cell_of("fair_ucb", values, rounds, means=tuple(means), quotas=tuple(quotas), **given)


def test_bounds_of_a_cell_are_those_of_its_instance():
    """At each recorded round, and of replicates that draw their quotas each its own."""
    rounds = [100, 3000]
    drawn = {"span": "kth", "denominator": 10}
    values = {"quota": np.repeat([[[4, 4]], [[1, 3]]], 2, axis=1)}
    cell = made_cell(values, rounds, means=[0.9, 0.4], drawn_quotas=drawn)
    gaps = np.array([0, 0.5])
    wanted = [
        [bounds.r_regret_bound(t, gaps, quotas, 0) for t in rounds]
        for quotas in ([0.4, 0.4], [0.1, 0.3])
    ]
    assert value("r_regret_bound", cell) == pytest.approx(np.array(wanted))


def test_rounds_are_those_recorded_at_or_below():
    run = run_of(made_cell({}, [1, 10, 95, 1000, 9000, 10000]))
    wanted = [run.T / 1000, run.T / 100, run.T / 10, run.T, 0.5, 2]
    picked = [int(run.pick(run.rounds, t, replicates=False)) for t in wanted]
    assert picked == [10, 95, 1000, 10000, 1, 1]


def test_r_regret_in_whole_numbers():
    """Gaps 1/5 and 3/10, T = 10: quotas owe 3 and 2 pulls, a tolerance of 1/2 half a pull less."""
    wanted = Fraction(1, 5) * (5 - Fraction(5, 2)) + Fraction(3, 10) * (1 - Fraction(3, 2))
    cell = made_cell({"plays": [[[4, 5, 1]]]}, [10], **THREE, parameters={"tolerance": "1/2"})
    assert numerators(value("r_regret", cell), 20) == wanted * 20
    gaps = [Fraction(0), Fraction(1, 5), Fraction(3, 10)]
    counted = Counted(10, gaps, list(map(Fraction, THREE["quotas"])), Fraction(1, 2))
    assert counted.r_regret_numerator([4, 5, 1]) == wanted * 20
    assert end("owed", cell) == [2, 3, 2]
    assert value("first_phase", cell) == 2 + 3 + 3


def test_random_instances_have_regrets_and_bounds_of_their_own(rng):
    """Each replicate has its own means and quotas; all are counted anew in fractions."""
    t, tolerance, shape = 5000, 100, (10, 1, 3)
    means, quotas = rng.uniform(size=shape), rng.integers(0, 333, shape)
    plays = rng.multinomial(t, [0.6, 0.3, 0.1], (10, 1))
    drawn = {"drawn_means": {"arms": 3, "low": 0, "high": 1}, "means": ()}
    drawn |= {"drawn_quotas": {"span": "kth", "denominator": 1000}}
    drawn |= {"parameters": {"tolerance": tolerance}}
    cell = made_cell({"plays": plays, "mean": means, "quota": quotas}, [t], **drawn)
    regrets = zip(*(end(name, cell) for name in ("r_regret", "r_regret_bound")), strict=True)
    for replicate, (total, bound) in enumerate(regrets):
        wanted = allowed = 0.0
        columns = (column[replicate, 0].tolist() for column in (means, quotas, plays))
        best = means[replicate].max()
        for mean, quota, n in zip(*columns, strict=True):
            owed = Fraction(quota, 1000) * t
            wanted += (best - mean) * (n - max(0, math.floor(owed) - tolerance))
            allowed += bounds.CONSTANT * (best - mean)
            if mean < best and (need := 8 * math.log(t) / (best - mean) ** 2) > owed - tolerance:
                allowed += (best - mean) * (need - float(owed - tolerance))
        assert (total, bound) == pytest.approx((wanted, allowed))


def test_the_largest_r_regret_is_that_of_the_worst_arm():
    """Of 100 rounds 30 and 25 are free, less a tolerance of 5: 0.3 * 100 - 0.2 * 25 - 0.3 * 20."""
    cell = made_cell({"plays": [[[0, 0, 100]]]}, [100], **THREE, parameters={"tolerance": 5})
    assert value("r_regret_most", cell) == pytest.approx(19)
    assert value("r_regret", cell) == pytest.approx(19)
