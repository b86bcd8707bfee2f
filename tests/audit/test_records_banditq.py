"""BanditQ's words, and inputs of its ledger, on numbers done by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import real
from fairbandits.audit import cases
from fairbandits.audit.cells import Evidence
from fairbandits.audit.expressions import evaluate, parse
from fairbandits.audit.measures import banditq
from fairbandits.data.store import StoreError, write_table
from fairbandits.theory import bounds, feasibility, simplex_work
from fairbandits.theory.draws import generator
from naive import BanditQFull
from small_records import cell_of, value, written


def cell(rounds, means, targets, *, parameters=None, swept=None, **values):
    """Return a cell with these recorded columns, (n_replicates, n_rounds, n_arms)."""
    values = {name: np.array(one, float) for name, one in values.items()}
    given = {"policy": "banditq", "law": "uniform02", "parameters": parameters or {}}
    return cell_of(values, rounds, means=tuple(means), targets=targets, swept=swept, **given)


# ------------------------------------------------------------------------------------- replays

#: Numbers as they are read off a figure, of two arms at rounds of their own.
READ_OFF = {
    "figures": {
        "fig": {
            "horizon": 20,
            "values": [
                {"series": f"arm {arm}", "quantity": "value", "round": t, "value": value}
                for arm, t, value in ((1, 10, 3.0), (1, 20, 5.0), (2, 5, 4.0), (2, 20, 6.0))
            ],
        }
    }
}
CURVES = {"round": [0, 5, 10, 20], "queue_1": [0, 1, 3.5, 5], "queue_2": [9, 4, 2, 6.5]}


def replay_of(**changes):
    """Return the scope of a replay with these curves."""
    evidence = SimpleNamespace(replay=lambda name: pa.table(CURVES | changes))
    return {"scope": SimpleNamespace(evidence=evidence, known={}), "read_off": READ_OFF}


def test_replays_are_compared_where_curves_were_read_off():
    given = replay_of()
    assert banditq.published_at("fig", **given).tolist() == [[[3, 4], [5, 6]]]
    assert banditq.replayed_at("some", "queue", "fig", **given).tolist() == [[[3.5, 4], [5, 6.5]]]
    assert banditq.replayed("some", "queue", "fig", **given)[0, :, 0].tolist() == [0, 1, 3.5, 5]
    given["scope"].known["arm"] = 2
    assert banditq.replayed("some", "queue", "fig", **given)[0, :, 0].tolist() == [9, 4, 2, 6.5]
    with pytest.raises(ValueError, match=r"some must be recorded at the rounds \[10, 20\] of fig"):
        banditq.replayed_at("some", "queue", "fig", **replay_of(round=[0, 5, 9, 20]))
    with pytest.raises(ValueError, match="must end in round 20, as the published run does, got 19"):
        banditq.replayed("some", "queue", "fig", **replay_of(round=[0, 5, 10, 19]))


def test_a_replay_must_be_of_todays_code(tmp_path):
    evidence = Evidence(real.config(), "banditq", tmp_path)
    (tmp_path / "banditq").mkdir()
    write_table(tmp_path / "banditq" / "some.parquet", pa.table(CURVES), {"code": "other"})
    with pytest.raises(StoreError, match="does not belong here: its code is 'other'"):
        evidence.replay("some")


# ------------------------------------------------------------------------------------- by hand


def test_regrets_rates_and_missing_rewards():
    # x* = (1/2, 1/2), b* = 3/4
    one = cell([4, 10], [0.5, 1], [0.25, 0], plays=[[[2, 2], [8, 2]]], reward=[[[1, 2], [3, 2]]])
    assert value("pseudo_regret", one).tolist() == [0, 1.5]
    assert value("realised_regret", one).tolist() == [0, 2.5]
    assert value("rate @ T", one).tolist() == [0.3, 0.2]
    assert value("missing", one, arm=1).tolist() == [0, -0.5]
    assert value("protected(missing)", one).tolist() == [0, -0.5]
    assert value("shortfall @ T", one).tolist() == [0, 0]
    assert (value("T", one), value("V", one)) == (10, math.sqrt(10))


def test_regret_is_of_probabilities_where_they_are_recorded():
    pulls = [[[8, 2]]]
    bandit = cell([10], [0.5, 1], [0.25, 0], plays=pulls, probability=[[[6, 4]]])
    assert value("pseudo_regret", bandit) == 0.5
    full = cell([10], [0.5, 1], [0.25, 0], plays=pulls, probability=[[[0, 0]]])
    assert value("pseudo_regret", full) == 1.5


@pytest.mark.parametrize(
    ("parameters", "swept", "weight"),
    [
        ({"V": 0}, {}, 0),
        ({"V": None}, {}, 4),
        ({}, {"V_exponent": 0.25}, 2),
        ({}, {"V": 7}, 7),
        ({"learner_parameters": {"V_exponent": 0.25}}, {}, 2),
    ],
)
def test_weight_is_given_or_a_power_of_the_horizon(parameters, swept, weight):
    one = cell([16], [0.5, 1], [0.25, 0], parameters=parameters, swept=swept)
    assert value("V", one) == weight


def test_violation_is_the_most_that_an_arm_misses_in_each_run():
    reward = [[[0, 3, 9]], [[0, 2, 9]], [[4, 0, 9]], [[2, 3, 9]]]
    one = cell([10], [1, 1, 1], [0.4, 0.3, 0], reward=reward)
    violation = written("banditq-prop2-violation", "in_rounds", "values")
    assert value(violation, one).tolist() == [4, 4, 3, 2]
    both = value("worst(protected(missing)) @ T", one)
    assert both.tolist() == [4, 4, 0, 2]


def test_worst_arm_is_that_of_the_last_round():
    reward = [[[3, 0], [2, 6]]] * 3 + [[[1, 0], [1, 7]]]
    one = cell([5, 10], [1, 1], [0.6, 0.6], reward=reward)
    assert value("worst_held_out(missing)", one).tolist() == [[0, 4], [2, 5]]


def test_average_regret_is_that_of_all_rounds():
    arms = [1, 0, 0, 1, 0]
    plays = np.cumsum(np.eye(2)[arms], axis=0)
    each = cell([1, 2, 3, 4, 5], [0.5, 1], [0.25, 0], plays=[plays])
    both = cell([1, 5], [0.5, 1], [0.25, 0], plays_sum=[[plays[0], plays.sum(axis=0)]])
    assert value("average_regret @ T", both) == pytest.approx(value("pseudo_regret", each).mean())
    assert value("average_regret", both) == pytest.approx([-0.25, 0.05])


def test_late_mean_and_spread_do_not_depend_on_how_dense_the_rounds_are():
    for rounds in (np.arange(1, 101), np.array([1, 10, 50, 51, 60, 100])):
        one = cell(rounds.tolist(), [1], [0], queue=rounds[None, :, None] * 2.0)
        assert value("late(queue)", one) == pytest.approx(150)
        assert value("late_spread(0 * queue + 3)", one) == pytest.approx(0, abs=1e-12)
    ends = cell([50, 100], [1], [0], queue=[[[0], [2]]])
    assert value("late_spread(queue)", ends) == 1


def test_worst_window_is_that_of_other_replicates():
    # of evenly spaced rounds 2, 4, .. 20 the window of 20^0.4 -> 4 rounds; round 5 is left out
    rounds = [2, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20]
    steady = np.array(rounds) / 2.0
    late = np.where(np.array(rounds) <= 8, steady, np.maximum(4, steady - 2))
    early = np.where(np.array(rounds) <= 4, 0, steady - 2)
    # rounds 9 to 12 bring nothing in two of the three replicates that choose, rounds 1 to 4 in one
    own = np.stack([late, early, late, late, early, late])[:, :, None]
    reward = np.concatenate([own, np.zeros_like(own)], axis=2)
    one = cell(rounds, [1, 1], [0.5, 0], reward=reward)
    found = value("peak_held_out(target - window_rate(reward, T ** 0.4, 10))", one, arm=1)
    assert found.tolist() == [0.5, 0, 0.5]


def test_lowest_and_highest_of_the_second_half():
    one = cell([1, 5, 8, 10], [1], [0], queue=[[[9], [2], [4], [3]]])
    assert value("late_lowest(queue)", one) == 2
    assert value("late_highest(queue)", one) == 4


def test_largest_possible_values():
    # b* = 3/4 with x* = (1/2, 1/2): the worst arm alone loses 1/4 per round
    one = cell(
        [4, 9], [0.5, 1], [0.25, 0], plays=[[[4, 0], [9, 0]]], plays_sum=[[[10, 0], [45, 0]]]
    )
    assert value("most_regret", one) == pytest.approx(value("pseudo_regret", one))
    assert value("most_average_regret", one) == pytest.approx(value("average_regret", one))
    runs = cell([4], [0.5, 1], [0.25, 0], queue=[[[1, 2]], [[5, 0]]])
    assert value("most_of_runs(largest(queue))", runs) == 5


def test_self_bounding_excess_has_the_difference_as_its_mean():
    rounds, V, N = [1, 9], 3.0, 2
    plays = [[[1, 0], [6, 3]], [[0, 1], [3, 6]]]
    queue = [[[1, 0], [4, 0]], [[0, 0], [2, 0]]]
    squares = [[[1, 0], [60, 0]], [[0, 0], [30, 0]]]
    one = cell(rounds, [0.5, 1], [0.25, 0], plays=plays, queue=queue, squares=squares)
    found = value(written("banditq-eq14", "all_rounds", "values"), one).mean(axis=0)
    for at, t in enumerate(rounds):
        regrets = [0.75 * t - 0.5 * run[at][0] - run[at][1] for run in plays]
        left = np.mean([run[at][0] ** 2 for run in queue]) + 2 * V * np.mean(regrets)
        so_far = np.mean([run[at][0] for run in squares])
        right = 2 * t + 4 * math.sqrt(2 * so_far) + 4 * V * math.sqrt(2 * N * t)
        assert found[at] == pytest.approx(left - right)


def test_bounds_by_hand():
    assert bounds.squared_queue_bound(3, 0.0, 2.0) == pytest.approx(4 + 4 * math.sqrt(2 * 15))
    assert bounds.squared_queue_bound(2, 1.0, 1.0) == pytest.approx(4 + 4 * math.sqrt(4) + 4 * 2)
    # the number that the derivation of this bound was checked with
    assert bounds.regret_bound(5, math.sqrt(2e6), 2e6) == pytest.approx(2.4e5, rel=0.02)


def test_bound_of_the_learner():
    sums = {"gain_sum": [[[3, -7]]], "gain_squares": [[[4, 5]]], "gain_max": [[[2, 1]]]}
    one = cell(
        [8],
        [0.5, 1],
        [0.25, 0],
        **sums,
        surrogate_regret=[[[9, 9]]],
        queue=[[[3, 0]]],
        plays=[[[4, 4]]],
        parameters={"V": 5},
    )
    limit = 23 * (2 + math.log(8))
    assert value("learner_bound", one) == pytest.approx(limit)
    of_queues = written("banditq-eq19", "bound_in_runs", "values")
    assert value(of_queues, one) == pytest.approx(9 + 10 * 0 - 16 - 2 * limit)


@pytest.mark.parametrize(("gain", "regret"), [(10, 3), (0.1, 3), (-10, 4.5)])
def test_regret_of_losses_is_against_the_smallest_mean(gain, regret):
    one = cell([10], [0.25, 0.5, 1], [], plays=[[[2, 3, 5]]], swept={"gain": gain})
    assert value("unscaled_regret", one) == regret


# ---------------------------------------------------------------------------- what needs no run


def configured(**experiments):
    """Return a scope of experiments that have means and targets alone."""
    config = SimpleNamespace(
        most={}, experiment=lambda paper, name: SimpleNamespace(**experiments[name])
    )
    return cases.CaseScope(SimpleNamespace(config=config, paper="banditq"), None, {})


def test_instances_are_as_configured():
    arms = {"means": (0.5, 0.25, 1), "targets": (0.2, 0.05, 0), "horizon": 9}
    scope = configured(own=arms, paper={"means": (1, 0.5), "targets": (0.5, 0)})
    for text, wanted in (
        ("total(targets_of('own') / means_of('own')) - 1", -0.4),
        ("targets_of('paper', 1) / means_of('paper', 1)", 0.5),
        ("means_of('own', 2)", 0.25),
        ("targets_of('own', 2)", 0.05),
        ("number_of_largest(means_of('own'))", 3),
        ("sqrt(horizon_of('own'))", 3),
        ("diameter(means_of('own'), targets_of('own'))", 0.4 * math.sqrt(2)),
        ("1 - total(released_benchmark(means_of('own'), targets_of('own')))", 0),
    ):
        assert np.squeeze(evaluate(parse(text), scope)) == pytest.approx(wanted, abs=1e-12), text


def test_linear_programmes_by_hand():
    means = np.array([[0.5, 1], [0.5, 1]])
    aims = np.array([[0.25, 0], [0.4, 0.4]])
    assert feasibility.least_slack(means, aims) == pytest.approx([-1 / 6, 1 / 15])
    assert feasibility.largest_reward(means[:1], aims[:1]) == pytest.approx([0.75])
    with pytest.raises(RuntimeError, match="not solved"):
        feasibility.largest_reward(means, aims)


def test_disagreement_is_seen(monkeypatch):
    means, aims = np.array([[0.5, 1], [0.5, 1]]), np.array([[0.25, 0], [0.4, 0.4]])
    assert feasibility.disagreements(means, aims, 1e-9).tolist() == [False, False]
    monkeypatch.setattr(feasibility, "load", lambda *one: 0.5)
    assert feasibility.disagreements(means, aims, 1e-9).tolist() == [False, True]


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
    arms = {"means": (0.5, 0.25, 1), "targets": (0.2, 0.05, 0)}
    # the ledger gives the best arm a tenth of its mean
    excess = parse(written("banditq-inconsistency-10", "sums_to_one", "values"))
    assert np.squeeze(evaluate(excess, configured(full_information=arms))) == pytest.approx(0.3)


def test_numbers_that_were_read_off():
    scope = configured()
    for text, wanted in (
        ("published('fig5', 1, 'value')", 1637.2),
        ("published('fig5', 1, 'maximum')", 4488),
        ("published('fig7', 'BanditQ', 'value')", 112914),
        ("published('fig7', 'BanditQ', 'value', 100_000)", 46253),
        ("reading_error('fig2')", 10),
        ("published_target(2)", 0.067695),
    ):
        assert evaluate(parse(text), scope) == wanted


def test_projection_is_counted_and_right():
    point, count = simplex_work.projection(np.array([0.5, 0.9, -1.0]))
    assert point == pytest.approx([0.3, 0.7, 0])
    # the step and the result, a pass that drops one entry, and one that drops none
    assert count == 6 + 3 + 2
    assert simplex_work.projection_work([3, 30], 4, "a").shape == (4, 2)


def test_counted_log_barrier_step_is_the_solver_s(rng):
    z = 10 * rng.standard_normal((5, 7))
    gaps, found = z.max(axis=1, keepdims=True) - z, np.empty(5)
    banditq.solver()(gaps, 1e-10, found)
    own = [simplex_work.log_barrier_root(one, 1e-10) for one in gaps]
    assert [root for root, _ in own] == pytest.approx(found.tolist())
    assert min(passes for _, passes in own) > 1
    assert (simplex_work.solver_advantage(4, 3, 1e-10, 0, 1, "a") > 1).all()


def test_solver_errors_see_a_wrong_root(rng, monkeypatch):
    z = rng.standard_normal((20, 7)) * 100
    assert banditq.errors_of(z, 1e-10).max() < 1e-8
    assert banditq.errors_of(z, 1e-1).max() > 1e-4

    def too_large(gaps, tolerance, out):
        right(gaps, tolerance, out)
        out *= 1.01

    right = banditq.solver()
    monkeypatch.setattr(banditq, "solver", lambda: too_large)
    assert (banditq.errors_of(z, 1e-10)[:, 1] > 1e-4).all()


def test_random_numbers_belong_to_their_name():
    first, again, other = (
        generator(name).integers(2**62) for name in ("a-claim", "a-claim", "another")
    )
    assert first == again != other


def test_what_is_put_back_gives_eq_22_up_to_the_fourth_root_of_t():
    assert banditq.put_back_excess([2, 3], 16, 4) == [0, 65]
    assert banditq.put_back_excess([2, 3, 5], 16, 2) == [-12, -7, 9]


def test_adversary_is_played_as_the_library_plays_it():
    """The naive BanditQ on the same rewards misses as much; so does the equilibrium, T / 16."""
    horizon, target = 400, 1 / 8
    policy = BanditQFull((target, 0.0), math.sqrt(horizon))
    earned = 0.0
    for t in range(1, horizon + 1):
        rewards = [1 / 2 if t <= horizon // 2 else 0.0, 1.0]
        earned += policy.x[0] * rewards[0]
        policy.advance(rewards)
    assert banditq.missed(horizon) == pytest.approx(target * horizon - earned)
    assert banditq.missed(20_000) / 20_000 == pytest.approx(1 / 16, rel=0.1)
    assert min(banditq.outgrown(5000, 2)) > 0
