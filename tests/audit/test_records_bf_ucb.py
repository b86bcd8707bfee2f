"""BF-UCB's words on numbers done by hand."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import real
from fairbandits.audit import cases
from fairbandits.audit.expressions import evaluate, parse
from fairbandits.audit.measures import bf_ucb
from fairbandits.settings.schemas import paper_file, read_yaml
from fairbandits.theory import bounds
from fairbandits.theory import group_counts as groups
from fairbandits.theory.derivations import group_regret
from small_records import cell_of, numbers


def made_cell(values, rounds, *, means, groups, low=None, **parameters):
    """Return a cell of made-up columns; with `low` each replicate draws these means."""
    spec = {"policy": "bf_ucb", "parameters": {"groups": "instance", **parameters}}
    spec |= {"means": () if low else tuple(means), "groups": tuple(groups)}
    if low:
        replicates = max([1, *map(len, values.values())])
        drawn = np.broadcast_to(means, (replicates, len(rounds), len(means)))
        values = values | {"mean": drawn}
        spec["drawn_means"] = {"arms": len(means), "low": low, "high": 1}
    return cell_of(values, rounds, **spec)


QUOTAS = ["1/5", "2/5"]
#: Two groups: R* = (.25 + .09) / .8 = .425, and .8.
MEANS = [0.5, 0.3, 0.8]
PLAYS = [[[1, 1, 1], [4, 2, 4]]]
CHANCES = [[[1, 1, 1], [3.5, 2.5, 4]]]
THREE_ARMS = {"means": MEANS, "groups": (2, 1), "quotas": QUOTAS}


@pytest.mark.parametrize("low", [None, 0.25])
def test_regret_and_its_parts_by_hand(low):
    """Of ten rounds the quotas ask for 2 and 4; the second group is best, so that 8 are its."""
    columns = {"plays": PLAYS, "probability": CHANCES}
    cell = made_cell(columns, [3, 10], low=low, **THREE_ARMS)
    best = 2 * 0.425 + 8 * 0.8
    assert numbers("reward_regret @ T", cell) == pytest.approx(
        [best - (3.5 * 0.5 + 2.5 * 0.3 + 4 * 0.8)]
    )
    assert numbers("reward_regret_pulls @ T", cell) == pytest.approx([best - (2 + 0.6 + 3.2)])
    assert numbers("between_regret @ T", cell) == pytest.approx([(6 - 2) * 0.375])
    assert numbers("within_regret @ T", cell) == pytest.approx([6 * 0.425 - (1.75 + 0.75)])
    assert numbers("most_between_regret @ T", cell) == pytest.approx([4 * 0.375])
    assert numbers("group_gap", cell) == pytest.approx([0.375, 0])
    assert numbers("fair_share", cell) == pytest.approx([0.625, 0.375, 1])
    assert numbers("number_of_largest(group_values)", cell) == [2]
    assert numbers("beta", cell) == [0.2]


def test_other_merits_change_the_fair_policy():
    cell = made_cell({}, [1], **THREE_ARMS, merit_parameter=2)
    assert numbers("fair_share", cell) == pytest.approx([0.25 / 0.34, 0.09 / 0.34, 1])


def test_rewards_and_the_notebooks_regret_by_hand():
    columns = {
        "plays": PLAYS,
        "initial_plays": [[[1, 1, 1], [1, 1, 2]]],
        "reward": [[[1, 0, 1], [2, 1, 3]]],
        "initial_reward": [[[1, 0, 1], [1, 0, 2]]],
    }
    cell = made_cell(columns, [3, 10], **THREE_ARMS)
    assert numbers("reward_after_start @ T", cell) == pytest.approx([1.5 + 0.3 + 1.6])
    # nine rounds, of which the quotas ask for 1 and 3; six less three rewards
    assert numbers("notebook_regret @ T", cell) == pytest.approx([0.425 + 8 * 0.8 - 3])


def test_groups_in_place_of_arms():
    cell = made_cell({"plays": PLAYS, "share": [[[1, 0, 1], [0.5, 0.5, 1]]]}, [3, 10], **THREE_ARMS)
    assert numbers("per_group(plays) @ T", cell) == [6, 4]
    assert numbers("of_group(per_group(plays), 2)", cell) == [1, 4]
    assert numbers("least_of_group(plays, 1) @ T", cell) == [2]
    assert numbers("arms_of_group(plays, 2)", cell) == [1, 4]
    assert numbers("evenness(plays @ T, 1)", cell) == pytest.approx([36 / (2 * 20)])
    assert numbers("distance @ T", cell) == pytest.approx([0.25, 0])
    assert numbers("first_at_most(of_group(distance, 1), 0.3)", cell) == [10]
    assert numbers("first_at_most(of_group(distance, 1), 0.1)", cell) == [10]
    assert numbers("first_at_most(of_group(distance, 1), 0.9)", cell) == [3]
    assert numbers("group_size", cell) == [2, 1]
    assert numbers("least_mean", cell) == [0.3, 0.8]


def test_over_replicates():
    columns = {"plays": np.array([[[1, 5]], [[3, 4]], [[8, 0]]])}
    cell = made_cell(columns, [9], means=[0.9, 0.1], groups=(1, 1), quotas=[0, 0])
    assert numbers("spread_of_runs(arms_of_group(plays, 1))", cell) == [3, 1, 4]
    assert numbers("sorted_by(plays, plays)", cell) == [1, 5, 3, 4, 0, 8]
    assert numbers("off_class(arms_of_group(plays, 1), plays @ T > 6)", cell) == [-1, 1, 0]
    assert numbers("ratio(arms_of_group(plays, 2), arms_of_group(plays, 2))", cell) == [1, 1, 1]
    assert numbers("ratio(plays - plays, plays - plays)", cell) == [1] * 6


def test_numbers_of_the_notebook():
    for row in read_yaml(paper_file("bf_ucb", "published"))["regret"]["values"]:
        cell = made_cell({}, [1], means=MEANS, groups=(2, 1), quotas=[row["quota"]] * 2)
        scope = cases.CaseScope(
            SimpleNamespace(paper="bf_ucb", config=SimpleNamespace(most={})), cell, {}
        )
        assert evaluate(parse("notebook('regret')"), scope) == row["value"]
    assert evaluate(parse("notebook('distance', 2)"), scope) == 0.009


def lemma_5(t, served, sizes, gaps, quotas, delta, ratio, clipped):
    least = min(gap for gap in gaps if gap > 0)
    total = (1 + math.pi**2 / 3) * sum(gaps)
    for n, k, gap, beta in zip(served, sizes, gaps, quotas, strict=True):
        inside = 8 / least**2 * math.log(4 * n * k / delta) + math.sqrt(n * math.log(k / delta) / 2)
        share = k * ratio * inside - beta * t
        total += (max(0, share) if clipped else share) * gap
    return total


def test_lemma_5_and_theorem_7_by_hand():
    cell = made_cell({"plays": np.array(PLAYS) * 10**6}, [3 * 10**6, 10**7], **THREE_ARMS)
    given = (10**7, (6e6, 4e6), (2, 1), (0.375, 0), (0.2, 0.4), 0.01, 0.8 / 0.3)
    for name, clipped in (("", False), ("_clipped", True)):
        wanted = lemma_5(*given, clipped)
        assert numbers(f"group_bound{name} @ T", cell) == pytest.approx([wanted])
        wanted += 0.99 * (math.sqrt(12e6) + math.sqrt(4e6)) + 0.01 * 10**7
        both = f"(group_bound{name} + within_bound) @ T"
        assert numbers(both, cell) == pytest.approx([wanted])
    assert lemma_5(*given, False) < 0 < lemma_5(*given, True)


def test_theorem_3_by_hand():
    cell = made_cell({"plays": PLAYS}, [3, 10], **THREE_ARMS)
    wanted = []
    for n, k, least in ((6, 2, 0.3), (4, 1, 0.8)):
        azuma = math.sqrt(2 * n * math.log(400))
        width = math.sqrt(2 * math.log(400 * k * n))
        wanted.append(2 / least * width * (azuma + 2 * math.sqrt(n * k)))
    assert numbers("merit_bound @ T", cell) == pytest.approx(wanted)
    assert numbers("azuma_bound @ T", cell)[0] == pytest.approx(math.sqrt(12 * math.log(400)))
    roots = 1 + 1 / math.sqrt(2) + 1 / math.sqrt(3)
    assert numbers("root_sum @ T", cell) == pytest.approx([roots, 1, roots])
    assert bounds.root_sum(np.array([0, 1, 2])).tolist() == [0, 0, 1]


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
    assert groups.merit_ratios_off(40, "a") == groups.optimum_off(20, "a") == 0
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


def test_best_groups_of_the_settings():
    scope = SimpleNamespace(evidence=SimpleNamespace(config=real.config(), paper="bf_ucb"))

    def first(experiment, number):
        return (bf_ucb.drawn_best_group(experiment, number, "a", scope=scope) == 1).mean()

    assert first("high", 200) == 1
    assert 0.3 < first("low", 200) < 0.7
    assert first("low_released", 300) > 0.55


def test_the_fluid_equation_has_the_limit_of_the_derivation():
    """With w at its end, 2 c w sqrt(N) is what all rounds cost; most come late."""
    means = np.random.default_rng(1).uniform(0.5, 1, 10)
    rounds, delta = 1e12, 0.01
    width = math.sqrt(2 * math.log(4 * rounds * 10 / delta))
    value = (means**2).sum() / means.sum()
    wanted = 2 * ((value - means) / np.sqrt(means.sum() * means)).sum()
    found, distance = group_regret.fluid(means, np.array([0, 10, rounds]), delta)
    assert found[0] == distance[0] == distance[1] == 0
    assert found[1] == pytest.approx(10 * value - means.sum())
    assert found[2] == pytest.approx(wanted * width * math.sqrt(rounds), rel=0.05)
    # a probability is off by the derivative of (mu_i + e sqrt(M / mu_i)) / sum_j (mu_j + ...)
    total, small = means.sum(), 1e-6
    raised = means + small * np.sqrt(total / means)
    moved = np.abs(raised / raised.sum() - means / total).sum() / small
    assert distance[2] == pytest.approx(2 * moved * width * math.sqrt(rounds), rel=0.05)


def test_the_first_line_of_theorem_3():
    """Means (1/2, 1) and optimistic ones (1, 1): 1/3 against 1/4, or 1/2 without the factor."""
    given = ["1/2", "1"], ["1", "1"]
    assert bf_ucb.first_line_excess(*given, 0) == Fraction(1, 12).numerator
    assert bf_ucb.first_line_excess(*given, 1) == Fraction(-1, 6).numerator
