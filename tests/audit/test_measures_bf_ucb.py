"""BF-UCB's measures, and what its claims ask, on numbers done by hand."""

from fractions import Fraction

import numpy as np
import pytest

import real
from fairbandits.audit.runs import Evidence
from fairbandits.theory import bounds
from made_cells import cell_of, claims_module, end, run_of, value

BF_UCB = claims_module("bf_ucb")
QUOTAS = ["1/5", "2/5"]
#: Two groups: R* = (.25 + .09) / .8 = .425, and .8.
MEANS = [0.5, 0.3, 0.8]
PLAYS = [[[1, 1, 1], [4, 2, 4]]]
CHANCES = [[[1, 1, 1], [3.5, 2.5, 4]]]
THREE_ARMS = {"means": MEANS, "groups": (2, 1), "quotas": QUOTAS}


def made_cell(values, rounds, *, means, groups, low=None, **parameters):
    """Return a cell of made-up columns; with `low` each replicate draws these means."""
    spec = {"policy": "bf_ucb", "parameters": {"groups": "instance", **parameters}}
    spec |= {"means": () if low else tuple(means), "groups": tuple(groups)}
    if low:
        replicates = max([1, *map(len, values.values())])
        drawn = np.broadcast_to(means, (replicates, len(rounds), len(means)))
        values = values | {"mean": drawn}
        spec["drawn_means"] = {"arms": len(means), "low": low, "high": 1}
    return cell_of("bf_ucb", values, rounds, **spec)


@pytest.mark.parametrize("low", [None, 0.25])
def test_regret_and_its_parts_by_hand(low):
    """Of ten rounds the quotas ask for 2 and 4; the second group is best, so that 8 are its."""
    columns = {"plays": PLAYS, "probability": CHANCES}
    cell = made_cell(columns, [3, 10], low=low, **THREE_ARMS)
    best = 2 * 0.425 + 8 * 0.8
    for name, wanted in {
        "reward_regret": [best - (3.5 * 0.5 + 2.5 * 0.3 + 4 * 0.8)],
        "between_regret": [(6 - 2) * 0.375],
        "within_regret": [6 * 0.425 - (1.75 + 0.75)],
        "most_between_regret": [4 * 0.375],
        "group_gap": [0.375, 0],
        "fair_share": [0.625, 0.375, 1],
        "beta": [0.2],
    }.items():
        assert end(name, cell) == pytest.approx(wanted)


def test_other_merits_change_the_fair_policy():
    cell = made_cell({}, [1], **THREE_ARMS, merit_parameter=2)
    assert value("fair_share", cell) == pytest.approx([0.25 / 0.34, 0.09 / 0.34, 1])


def test_rewards_and_the_notebooks_regret_by_hand():
    columns = {"plays": PLAYS, "initial_plays": [[[1, 1, 1], [1, 1, 2]]]}
    columns |= {"reward": [[[1, 0, 1], [2, 1, 3]]], "initial_reward": [[[1, 0, 1], [1, 0, 2]]]}
    cell = made_cell(columns, [3, 10], **THREE_ARMS)
    assert end("reward_after_start", cell) == pytest.approx([1.5 + 0.3 + 1.6])
    # nine rounds, of which the quotas ask for 1 and 3; six less three rewards
    assert end("notebook_regret", cell) == pytest.approx([0.425 + 8 * 0.8 - 3])


def test_groups_in_place_of_arms():
    cell = made_cell({"plays": PLAYS, "share": [[[1, 0, 1], [0.5, 0.5, 1]]]}, [3, 10], **THREE_ARMS)
    run = run_of(cell)
    assert BF_UCB.of_groups(run, "plays").tolist() == [[6, 4]]
    assert BF_UCB.arms_of(run, 1, run["plays"]).tolist() == [[[1], [4]]]
    assert BF_UCB.of_fair_share(run)[0] == pytest.approx([4 / 6 / 0.625, 2 / 6 / 0.375, 1])
    assert BF_UCB.uniform_distance(run, 0) == pytest.approx([0.25])
    assert end("distance", cell) == pytest.approx([0.25, 0])
    assert end("group_size", cell) == [2, 1]
    assert end("least_mean", cell) == [0.3, 0.8]


@pytest.mark.parametrize(("share", "first"), [(0.6, 3), (0.9, 10)])
def test_the_first_round_near_the_fair_policy(share, first):
    """A quarter of 0.25; the last round if there is none."""
    share = [[[share, 1 - share, 1], [0.5, 0.5, 1]]]
    cell = made_cell({"share": share}, [3, 10], **THREE_ARMS)
    assert BF_UCB.first_near(run_of(cell), 0).tolist() == [first]


def test_bounds_of_a_cell_are_those_of_its_instance():
    cell = made_cell({"plays": np.array(PLAYS) * 10**6}, [3 * 10**6, 10**7], **THREE_ARMS)
    served, sizes, gaps = np.array([6e6, 4e6]), np.array([2, 1]), np.array([0.375, 0])
    given = 10**7, served, sizes, gaps, (0.2, 0.4), 0.01, 0.8 / 0.3
    for name, clipped in (("group_bound", False), ("group_bound_clipped", True)):
        assert end(name, cell) == pytest.approx([bounds.group_bound(*given, clipped=clipped)])
    assert end("within_bound", cell) == [bounds.within_bound(10**7, served, sizes, 0.01)]
    wanted = bounds.merit_bound(served, sizes, 0.01, np.array([0.3, 0.8]))
    assert end("merit_bound", cell) == pytest.approx(wanted)


def test_best_groups_of_the_settings():
    runs = Evidence(real.config(), "bf_ucb", None)

    def first(experiment, number):
        return BF_UCB.majority_is_best(runs, experiment, number, "a").mean()

    assert first("high", 200) == 1
    assert 0.3 < first("low", 200) < 0.7
    assert first("low_released", 300) > 0.55


def test_the_first_line_of_theorem_3():
    """Means (1/2, 1) and optimistic ones (1, 1): 1/3 against 1/4, or 1/2 without the factor."""
    given = ["1/2", "1"], ["1", "1"]
    assert BF_UCB.first_line_excess(*given, 0) == Fraction(1, 12).numerator
    assert BF_UCB.first_line_excess(*given, 1) == Fraction(-1, 6).numerator
    # the triangle inequality, whatever the means
    assert max(BF_UCB.excess_of_drawn(50, "a")) <= 0
