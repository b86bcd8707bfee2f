"""BanditQ's measures, and what its claims ask, on numbers done by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import real
from fairbandits.audit.runs import Evidence
from fairbandits.data.store import StoreError, write_table
from fairbandits.theory.simplex_work import log_barrier_root, solver_advantage
from made_cells import asked, cell_of, claims_module, end, run_of, value
from naive import BanditQFull

BANDITQ = claims_module("banditq")


def cell(rounds, means, targets, *, parameters=None, **values):
    """Return a cell with these recorded columns, (n_replicates, n_rounds, n_arms)."""
    given = {name: values.pop(name) for name in ("swept", "name") if name in values}
    values = {name: np.array(column, float) for name, column in values.items()}
    given = {"policy": "banditq", "law": "uniform02", "parameters": parameters or {}} | given
    return cell_of("banditq", values, rounds, means=tuple(means), targets=targets, **given)


#: Numbers as they are read off a figure, of two arms at rounds of their own.
VALUES = [
    {"series": f"arm {arm}", "quantity": "value", "round": t, "value": value}
    for arm, t, value in ((1, 10, 3.0), (1, 20, 5.0), (2, 5, 4.0), (2, 20, 6.0))
]
READ_OFF = {"figures": {"fig": {"horizon": 20, "values": VALUES}}}
CURVES = {"round": [0, 5, 10, 20], "queue_1": [0, 1, 3.5, 5], "queue_2": [9, 4, 2, 6.5]}


def replayed(**changes):
    """Return what a claim has of a replay with these curves."""
    runs = SimpleNamespace(replay=lambda name: pa.table(CURVES | changes), published=READ_OFF)
    return [array.tolist() for array in BANDITQ.replayed(runs, "some", "queue", "fig")]


def test_replays_are_compared_where_curves_were_read_off():
    ours, theirs, whole = replayed()
    assert ours == [[3.5, 4], [5, 6.5]]
    assert theirs == [[3, 4], [5, 6]]
    assert whole == [[0, 9], [1, 4], [3.5, 2], [5, 6.5]]
    with pytest.raises(ValueError, match=r"some must be recorded at the rounds \[10, 20\] of fig"):
        replayed(round=[0, 5, 9, 20])
    with pytest.raises(ValueError, match="must end in round 20, got 19"):
        replayed(round=[0, 5, 10, 19])


def test_a_replay_must_be_of_todays_code(tmp_path):
    evidence = Evidence(real.config(), "banditq", tmp_path)
    (tmp_path / "banditq").mkdir()
    write_table(tmp_path / "banditq" / "some.parquet", pa.table(CURVES), {"code": "other"})
    with pytest.raises(StoreError, match="does not belong here: its code is 'other'"):
        evidence.replay("some")


def test_regrets_rates_and_missing_rewards():
    # x* = (1/2, 1/2), b* = 3/4
    made = cell([4, 10], [0.5, 1], [0.25, 0], plays=[[[2, 2], [8, 2]]], reward=[[[1, 2], [3, 2]]])
    assert value("pseudo_regret", made).tolist() == [0, 1.5]
    assert value("realised_regret", made).tolist() == [0, 2.5]
    assert end("rate", made) == [0.3, 0.2]
    assert value("missing", made).tolist() == [[0, -2], [-0.5, -2]]
    assert end("shortfall", made) == [0, 0]
    assert BANDITQ.protected(run_of(made)).tolist() == [0]
    assert value("V", made) == math.sqrt(10)


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
    made = cell([16], [0.5, 1], [0.25, 0], parameters=parameters, swept=swept)
    assert value("V", made) == weight


def test_the_most_that_a_protected_arm_misses_in_each_run():
    reward = [[[0, 3, 9]], [[0, 2, 9]], [[4, 0, 9]], [[2, 3, 9]]]
    made = cell([10], [1, 1, 1], [0.4, 0.3, 0], reward=reward)
    assert BANDITQ.most_missed(run_of(made)).tolist() == [4, 4, 3, 2]
    assert BANDITQ.held_out(made.column("reward")[:, 0, :2]).tolist() == [0, 3]
    assert BANDITQ.held_out(made.column("reward")[:, :1, :2]).tolist() == [[0], [3]]


def test_average_regret_is_that_of_all_rounds():
    arms = [1, 0, 0, 1, 0]
    plays = np.cumsum(np.eye(2)[arms], axis=0)
    each = cell([1, 2, 3, 4, 5], [0.5, 1], [0.25, 0], plays=[plays])
    both = cell([1, 5], [0.5, 1], [0.25, 0], plays_sum=[[plays[0], plays.sum(axis=0)]])
    assert end("average_regret", both) == pytest.approx([value("pseudo_regret", each).mean()])
    assert value("average_regret", both) == pytest.approx([-0.25, 0.05])


def test_largest_possible_values():
    # b* = 3/4 with x* = (1/2, 1/2): the worst arm alone loses 1/4 per round
    columns = {"plays": [[[4, 0], [9, 0]]], "plays_sum": [[[10, 0], [45, 0]]]}
    made = cell([4, 9], [0.5, 1], [0.25, 0], **columns)
    assert value("most_regret", made) == pytest.approx(value("pseudo_regret", made))
    assert value("most_average_regret", made) == pytest.approx(value("average_regret", made))


def test_self_bounding_excess_has_the_difference_as_its_mean():
    rounds, V, N = [1, 9], 3.0, 2
    plays = [[[1, 0], [6, 3]], [[0, 1], [3, 6]]]
    queue = [[[1, 0], [4, 0]], [[0, 0], [2, 0]]]
    squares = [[[1, 0], [60, 0]], [[0, 0], [30, 0]]]
    made = {"plays": plays, "queue": queue, "squares": squares, "parameters": {"V": V}}
    cells = [cell(rounds, [0.5, 1], [0.25, 0], name=key, **made) for key in ("banditq", "reversed")]
    (test,) = asked("banditq", "banditq-eq14", *cells)
    means = test.data["values"].mean(axis=0)
    for at, t in enumerate(rounds):
        regrets = [0.75 * t - 0.5 * run[at][0] - run[at][1] for run in plays]
        left = np.mean([run[at][0] ** 2 for run in queue]) + 2 * V * np.mean(regrets)
        so_far = np.mean([run[at][0] for run in squares])
        right = 2 * t + 4 * math.sqrt(2 * so_far) + 4 * V * math.sqrt(2 * N * t)
        assert (means[at], test.data["against"][at]) == pytest.approx((left, right))


def test_queues_are_bounded_by_the_learners_bound():
    made = {"gain_sum": [[[3, -7]]], "gain_squares": [[[4, 5]]], "gain_max": [[[2, 1]]]}
    made |= {"queue": [[[3, 0]]], "plays": [[[4, 4]]], "parameters": {"V": 5}}
    names = ("post", "pre", "reversed")
    cells = [cell([8], [0.5, 1], [0.25, 0], name=name, **made) for name in names]
    post, pre = asked("banditq", "banditq-eq19", *cells)
    assert (post.readings, pre.readings) == (("post",), ("pre",))
    assert post.data["values"] == pytest.approx(9 + 10 * 0)
    assert post.data["against"] == pytest.approx(16 + 2 * 23 * (2 + math.log(8)))


@pytest.mark.parametrize(("gain", "regret"), [(10, 3), (0.1, 3), (-10, 4.5)])
def test_regret_of_losses_is_against_the_smallest_mean(gain, regret):
    made = cell([10], [0.25, 0.5, 1], [], plays=[[[2, 3, 5]]], swept={"gain": gain})
    assert value("unscaled_regret", made) == regret


def test_spread_is_the_distance_from_the_median():
    assert BANDITQ.deviations(np.array([1, 2, 9])).tolist() == [1, 0, 7]


def test_numbers_that_were_read_off():
    runs = Evidence(real.config(), "banditq", None)
    for key, wanted in (
        (("fig5", "arm 1"), 1637.2),
        (("fig5", "arm 1", "maximum"), 4488),
        (("fig7", "BanditQ"), 112914),
        (("fig7", "BanditQ", "value", 100_000), 46253),
    ):
        assert BANDITQ.published(runs, *key) == wanted
    assert BANDITQ.reading_error(runs, "fig2") == 10


def test_counted_log_barrier_step_is_the_solver_s(rng):
    z = 10 * rng.standard_normal((5, 7))
    gaps, roots = z.max(axis=1, keepdims=True) - z, np.empty(5)
    BANDITQ.solver_errors.__globals__["solver"]()(gaps, 1e-10, roots)
    counted = [log_barrier_root(row, 1e-10) for row in gaps]
    assert [root for root, _ in counted] == pytest.approx(roots.tolist())
    assert min(passes for _, passes in counted) > 1
    assert (solver_advantage(4, 3, 1e-10, 0, 1, "a") > 1).all()


def test_solver_errors_see_a_wrong_root(monkeypatch):
    def largest(tolerance):
        return BANDITQ.solver_errors(200, 20, tolerance, 0, 3, "a").max()

    assert largest(1e-10) < 1e-8
    assert largest(1e-1) > 1e-4
    names = BANDITQ.solver_errors.__globals__
    right = names["solver"]()

    def too_large(gaps, tolerance, out):
        right(gaps, tolerance, out)
        out *= 1.01

    monkeypatch.setitem(names, "solver", lambda: too_large)
    assert largest(1e-10) > 1e-4


def test_adversary_is_played_as_the_library_plays_it():
    """The naive BanditQ on the same rewards misses as much; so does the equilibrium, T / 16."""
    horizon, target = 400, 1 / 8
    policy = BanditQFull((target, 0.0), math.sqrt(horizon))
    earned = 0.0
    for t in range(1, horizon + 1):
        rewards = [1 / 2 if t <= horizon // 2 else 0.0, 1.0]
        earned += policy.x[0] * rewards[0]
        policy.advance(rewards)
    assert BANDITQ.missed(horizon) == pytest.approx(target * horizon - earned)
    assert BANDITQ.missed(20_000) / 20_000 == pytest.approx(1 / 16, rel=0.1)
    assert min(BANDITQ.outgrown(5000, 2)) > 0
