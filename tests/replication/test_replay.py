"""The released program, run again: against the naive twin, and where the published curve ends."""

import numpy as np
import pytest
from numba import config

import naive
from commands import said
from fairbandits.data.provenance import replay_code
from fairbandits.data.store import read_footer, read_table
from fairbandits.replication import banditq_uai2024 as program
from fairbandits.replication.banditq_uai2024 import HORIZONS, draw_start, replay
from fairbandits.settings.schemas import paper_file, read_yaml

#: Rounds in which the naive twin plays along, by the number of arms.
ROUNDS = {5: 1000, 1000: 100}
FEW = 300 if config.DISABLE_JIT else 2500
either_feedback = pytest.mark.parametrize("feedback", ["full", "bandit"])


def same(columns, other):
    assert columns.keys() == other.keys()
    for name in columns:
        np.testing.assert_array_equal(columns[name], other[name], err_msg=name)


@pytest.mark.skipif(config.DISABLE_JIT, reason="two million rounds need the compiled loop")
def test_bandit_replay_ends_where_the_published_curve_does():
    columns = replay(5, "bandit")
    assert columns["round"][-1] == 2_000_000
    assert columns["queue_1"][-1] == pytest.approx(1637.08, abs=0.01)
    assert columns["queue_2"][-1] == pytest.approx(3509.34, abs=0.01)
    # highest points of the published curves, as read off them; every thousandth round is recorded
    for name, height, at in (("queue_1", 4488, 130_000), ("queue_2", 7634, 116_000)):
        highest = columns[name].argmax()
        assert columns[name][highest] == pytest.approx(height, rel=0.01)
        assert columns["round"][highest] == pytest.approx(at, abs=5000)


def history_of(arms, feedback, rounds):
    """Return the naive history of a replay, drawing one number at a time."""
    source, means = naive.replay_source(arms)
    targets, weight = naive.replay_targets(means), HORIZONS[arms] ** 0.5

    def reward_at(_t, arm):
        return 2 * means[arm] * float(source.random_sample())

    def reward_of_all(t, _n, pulled):
        return [reward_at(t, arm) for arm in range(arms)][pulled]

    def coin(_t):
        return naive.word_of(source.random_sample())

    if feedback == "full":
        twin = naive.BanditQFull(targets, weight)
        return naive.play_full(twin, arms, rounds, reward_at)
    twin = naive.BanditQBandit(targets, weight, tol=1e-5)
    return naive.play_bandit(twin, arms, rounds, reward_of_all, coin)


@pytest.mark.parametrize("arms", ROUNDS)
@either_feedback
def test_first_rounds_equal_the_naive_twin(arms, feedback):
    rounds = ROUNDS[arms]
    columns = replay(arms, feedback, rounds=rounds)
    assert columns["round"].tolist() == list(range(1, rounds + 1))
    history = history_of(arms, feedback, rounds)
    _, means = naive.replay_source(arms)
    _, benchmark = naive.static_benchmark(means, naive.replay_targets(means))
    regret = naive.earned_regret(history, benchmark)
    np.testing.assert_allclose(columns["regret"], regret, rtol=0, atol=1e-8)
    for k in (0, 1):
        rates = [record["accrued"][k] / record["t"] for record in history]
        np.testing.assert_allclose(columns[f"rate_{k + 1}"], rates, rtol=1e-9, atol=1e-15)
        queues = [record["queue"][k] for record in history]
        np.testing.assert_allclose(columns[f"queue_{k + 1}"], queues, rtol=1e-9)


@pytest.mark.parametrize("arms", [5, 1000])
def test_means_and_first_draws(arms):
    generator = np.random.RandomState(100)
    means = draw_start(generator, arms)
    source, wanted = naive.replay_source(arms)
    assert means.tolist() == list(wanted)
    assert generator.random_sample(7).tolist() == source.random_sample(7).tolist()
    if arms == 1000:
        assert means[:2].round(8).tolist() == [0.54340494, 0.27836939]


@pytest.mark.parametrize("block", [1, 60, 333, 10**6])
@either_feedback
def test_size_of_the_blocks_does_not_matter(monkeypatch, feedback, block):
    whole = replay(5, feedback, rounds=FEW)
    monkeypatch.setattr(program, "BLOCK", block)
    same(replay(5, feedback, rounds=FEW), whole)


def test_published_rounds_are_those_that_values_were_read_off_at():
    file = paper_file("banditq", "published")
    figures = read_yaml(file)["figures"]
    rounds = program.published_rounds(figures, HORIZONS[1000])
    wanted = {value["round"] for k in range(8, 14) for value in figures[f"fig{k}"]["values"]}
    assert rounds == sorted(wanted)
    assert rounds[-1] == 3_000_000
    assert len(rounds) > 40
    # extremes of a curve are at no recorded round, and other figures are of other runs
    assert program.published_rounds(figures, HORIZONS[5]) == [2_000_000]


@pytest.mark.parametrize(("also", "rounds"), [([7, 2501, 4997], 5000), ([3, 3, 9], 10), ([], 20)])
def test_rounds_are_recorded_besides_the_even_ones(also, rounds):
    if config.DISABLE_JIT and rounds > 300:
        pytest.skip("long runs need the compiled loop")
    even = replay(5, "bandit", rounds=rounds)
    columns = replay(5, "bandit", rounds=rounds, also=[*also, rounds + 1])
    assert columns["round"].tolist() == sorted({*even["round"].tolist(), *also})
    assert columns["round"].dtype == even["round"].dtype
    kept = np.isin(columns["round"], even["round"])
    same({name: values[kept] for name, values in columns.items()}, even)


def test_rounds_begin_with_1():
    with pytest.raises(ValueError, match="also must be rounds of at least 1, got 0"):
        replay(5, "full", rounds=10, also=(3, 0))


@either_feedback
def test_replay_command(monkeypatch, tmp_path, feedback):
    monkeypatch.setitem(HORIZONS, 5, 300)
    out = tmp_path / "folder" / "replay.parquet"
    said("replay", "banditq-uai2024", "--arms", "5", "--feedback", feedback, "--out", out)
    table = read_table(out)
    same({name: table[name].to_numpy() for name in table.column_names}, replay(5, feedback))
    assert table["round"][-1].as_py() == 300
    footer = read_footer(out)
    assert footer["kind"] == "replay"
    assert (footer["arms"], footer["feedback"], footer["horizon"]) == (5, feedback, 300)
    assert footer["code"] == replay_code()
    assert footer["means"] == list(naive.CODE4)
    assert footer["targets"] == [naive.CODE4[0] / 2, naive.CODE4[1] / 3, 0, 0, 0]
