"""Drawn means, penalties, spreads, horizons: from configuration to dataset."""

import re
from dataclasses import replace

import numpy as np
import pytest

import naive
import shrunk
from fairbandits import HTUCB, LFG, UCB1, BanditQ, Instance, Prophet, RandomInstance, run
from fairbandits.library.simulation import checkpoint_grid
from fairbandits.measures.penalties import penalty_rates
from fairbandits.replication.simulate import simulate_chunk

SEED = 20240911
HORIZON = 1200
QUOTAS = ("1/25",) * 5


def spec_of(name):
    experiment = shrunk.experiment_of("ht_ucb", "regret_5_02", SEED, horizon=HORIZON)
    return next(run.spec for run in experiment.runs if run.name == name)


def drawn_naively(stream, replicate, arms):
    """Return the means that the documentation of `RandomInstance` says a replicate has."""
    coins = [naive.draw(SEED, stream, replicate, "instance", 0, k) for k in range(1, arms + 1)]
    return [naive.open_unit(word) for word in coins]


@pytest.mark.parametrize("law", ["gaussian", "bernoulli", "beta"])
def test_means_come_from_the_documented_stream(law):
    arms = RandomInstance(4, law=law)
    for replicate in (0, 7):
        drawn = arms.draw(SEED, "mine", replicate)
        assert list(drawn.means) == drawn_naively("mine", replicate, 4)
        assert (drawn.law, drawn.spread) == (law, Instance((0.5, 0.5), law).spread)
    between = RandomInstance(4, 2, 5, law="gaussian").draw(SEED, "mine", 7)
    assert list(between.means) == [2 + 3 * u for u in drawn_naively("mine", 7, 4)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1,), "n_arms must be a whole number of at least 2, got 1"),
        ((2.5,), "n_arms must be a whole number of at least 2, got 2.5"),
        ((3, 1, 1), "low must be below high, both finite; got 1.0, 1.0"),
        ((3, 0, float("inf")), "low must be below high, both finite; got 0.0, inf"),
        ((3, 0, 2), "means under law bernoulli must be in"),
        ((3, -1, 1), "means under law bernoulli must be in"),
        ((3, 0.04, 1, "beta", None, 1), "means under law beta must be in (0, 1), got 0.0"),
        ((3, 0, 1, "normal"), "law must be one of"),
        ((3, 0, 1, "bernoulli", None, None, [(1, 0.2), (1, 0.3)]), "fixed must name each arm once"),
        ((3, 0, 1, "gaussian", 0), "spread must be a finite number above 0, got 0"),
    ],
)
def test_random_instance_is_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        RandomInstance(*arguments)


def test_a_run_meets_the_instance_of_each_replicate():
    arms = RandomInstance(5, law="gaussian", spread=0.2)
    checkpoints = [10, 100]
    both = run(UCB1(), arms, 100, [3, 1], seed=SEED, stream="s", checkpoints=checkpoints)
    assert both.means.tolist() == [drawn_naively("s", k, 5) for k in (3, 1)]
    by_round = both.columns()["mean"].reshape(2, 2, 5)
    assert by_round.tolist() == [[drawn_naively("s", k, 5)] * 2 for k in (3, 1)]
    for at, replicate in enumerate((3, 1)):
        fixed = Instance(drawn_naively("s", replicate, 5), "gaussian", 0.2)
        alone = run(UCB1(), fixed, 100, [replicate], seed=SEED, stream="s", checkpoints=checkpoints)
        assert np.array_equal(alone.plays[0], both.plays[at])
        assert np.array_equal(alone.rewards[0], both.rewards[at])
        assert alone.means is None
        assert "mean" not in alone.columns()


def test_penalty_rates():
    means = np.array([[0.2, 0.8, 0.4], [0.5, 0.5, 0.5]])
    np.testing.assert_allclose(penalty_rates("half_range", means), [[0.3] * 3, [0] * 3])
    assert penalty_rates(0.45, means[0]).tolist() == [0.45] * 3
    assert penalty_rates([1, 2, 3], means).tolist() == [[1, 2, 3]] * 2
    for wrong, says in (
        ("range", "be numbers or 'half_range', got 'range'"),
        ([1, 2], r"have one entry per arm \(3\), got 2"),
    ):
        with pytest.raises(ValueError, match=f"penalties must {says}"):
            penalty_rates(wrong, means)


@pytest.mark.parametrize("name", ["ht_ucb-gaussian", "soft-gaussian", "prophet-gaussian"])
def test_policies_have_the_penalties_and_means_of_their_replicate(name):
    spec = spec_of(name)
    columns = simulate_chunk(spec, SEED, [0, 2])
    ends = columns["round"] == HORIZON
    plays = columns["plays"][ends].reshape(2, 5)
    for at, replicate in enumerate((0, 2)):
        means = drawn_naively(spec.stream, replicate, 5)
        rate = (max(means) - min(means)) / 2
        if name.startswith("prophet"):
            policy = Prophet(means, QUOTAS, rate)
        else:
            policy = HTUCB(QUOTAS, rate, threshold=spec.parameters["threshold"])
        arms = Instance(means, "gaussian", 0.2)
        alone = run(policy, arms, HORIZON, [replicate], seed=SEED, stream=spec.stream)
        assert alone.plays[0, -1].tolist() == plays[at].tolist()


def test_each_horizon_is_a_run_of_its_own():
    spec = spec_of("lfg-gaussian")
    assert spec.horizons == (500, 1000, 1200)
    assert spec.total_rounds == 2 * 2700
    columns = simulate_chunk(spec, SEED, [1])
    cells = spec.cells
    size = columns["round"].size // len(cells)
    assert size == 5
    for at, cell in enumerate(cells):
        arms = Instance(drawn_naively(spec.stream, 1, 5), "gaussian", 0.2)
        weight = cell["horizon"] ** cell["eta_exponent"]
        policy = LFG(QUOTAS, eta=weight, constant=2, arrivals="before")
        alone = run(policy, arms, cell["horizon"], [1], seed=SEED, stream=spec.stream)
        part = slice(at * size, (at + 1) * size)
        assert columns["plays"][part].tolist() == alone.plays[0, -1].tolist()
        assert set(columns["horizon"][part]) == set(columns["round"][part]) == {cell["horizon"]}
        assert set(columns["eta_exponent"][part]) == {cell["eta_exponent"]}


def test_horizons_apart_have_their_own_rounds_and_rewards():
    """With a sweep in each."""
    limits = {"horizon": 6901, "checkpoints": {"linear": 6, "log": 4}}
    experiment = shrunk.experiment_of("banditq", "trade_off", SEED, **limits)
    spec = replace(experiment.runs[0].spec, sweep={"V_exponent": [0, 0.25, 0.75]})
    columns, start, sizes = simulate_chunk(spec, SEED, range(3)), 0, set()
    for cell in spec.cells:
        horizon, exponent = cell["horizon"], cell["V_exponent"]
        feedback = spec.parameters["feedback"]
        policy = BanditQ(experiment.targets, feedback, V_exponent=exponent)
        alone = run(
            *(policy, Instance(spec.means, spec.law), horizon, 3),
            **{"seed": SEED, "stream": f"banditq/trade_off/{horizon}"},
            checkpoints=checkpoint_grid(horizon, **limits["checkpoints"]),
        )
        part = slice(start, start := start + alone.plays.size)
        sizes.add(alone.plays.size)
        assert (columns["horizon"][part] == horizon).all()
        assert (columns["V_exponent"][part] == exponent).all()
        assert columns["plays"][part].tolist() == alone.plays.ravel().tolist()
        assert columns["reward"][part].tolist() == alone.rewards.ravel().tolist()
    assert start == columns["plays"].size
    assert len(sizes) > 1  # so that even parts would be wrong
