"""Regrets and rates of recorded runs against naive histories; what queues say of regret."""

import functools

import numpy as np
import pytest
from numba import config

import naive
from fairbandits import BanditQ, Instance, run
from fairbandits.measures.rates import realised_regret, reward_rates, target_regret

SEED = 20240718
ROUNDS = 60 if config.DISABLE_JIT else 300
LONG = 500 if config.DISABLE_JIT else 20_000
REPLICATES = 3
MEANS, TARGETS = naive.CODE4, naive.CODE4_TARGETS
FEEDBACKS = pytest.mark.parametrize("feedback", ["full", "bandit"])


@functools.cache
def recorded(feedback, law="uniform02"):
    """Return a run recorded after every round, and the naive histories of the same."""
    policy, every = BanditQ(TARGETS, feedback=feedback), range(1, ROUNDS + 1)
    where = {"seed": SEED, "checkpoints": every, "stream": "metrics"}
    result = run(policy, Instance(MEANS, law), ROUNDS, REPLICATES, **where)
    weight, histories = ROUNDS**0.5, []
    for replicate in range(REPLICATES):
        given = (MEANS, law, ROUNDS, SEED, "metrics", replicate)
        if feedback == "full":
            histories.append(naive.run_full(naive.BanditQFull(TARGETS, weight), *given))
        else:
            twin = naive.BanditQBandit(TARGETS, weight, ROUNDS)
            histories.append(naive.run_bandit(twin, *given))
    return result, histories


@pytest.mark.parametrize("law", ["uniform02", "bernoulli"])
@FEEDBACKS
def test_regrets_and_rates_are_those_of_naive_histories(feedback, law):
    result, histories = recorded(feedback, law)
    x_star, benchmark = naive.static_benchmark(MEANS, TARGETS)
    measured = realised_regret(result.rounds, result.rewards, MEANS, TARGETS)
    wanted = [naive.earned_regret(history, benchmark) for history in histories]
    np.testing.assert_allclose(measured, wanted, rtol=0, atol=1e-8)
    summed = result.plays if feedback == "full" else result.probes["probability"]
    measured = target_regret(result.rounds, summed, MEANS, TARGETS)
    wanted = [naive.regret_pseudo(history, x_star, MEANS) for history in histories]
    np.testing.assert_allclose(measured, wanted, rtol=0, atol=1e-8)
    measured = reward_rates(result.rounds, result.rewards)
    wanted = [[[a / r["t"] for a in r["accrued"]] for r in history] for history in histories]
    np.testing.assert_allclose(measured, wanted, rtol=1e-9, atol=1e-12)


def test_regret_by_hand():
    means, targets = [0.2, 0.8], [0.1, 0]  # x* = (1/2, 1/2), b* = 1/2
    rounds = np.array([1, 10])
    plays = np.array([[1, 0], [2, 8]])
    np.testing.assert_allclose(target_regret(rounds, plays, means, targets), [0.3, 5 - 6.8])
    rewards = np.array([[0.4, 0], [0.5, 7]])
    np.testing.assert_allclose(realised_regret(rounds, rewards, means, targets), [0.1, -2.5])


@pytest.mark.parametrize("options", [{}, {"V": 0}, {"surrogate_index": "pre"}], ids=str)
def test_queues_are_the_regret_where_rewards_are_their_means(options):
    """E2 holds on the path itself when no reward is random."""
    policy = BanditQ(TARGETS, feedback="full", **options)
    instance = Instance(MEANS, "deterministic")
    result = run(policy, instance, LONG, 2, seed=SEED, stream="balance")
    regret = realised_regret(result.rounds, result.rewards, MEANS, TARGETS)
    same = target_regret(result.rounds, result.plays, MEANS, TARGETS)
    np.testing.assert_allclose(regret, same, rtol=0, atol=1e-6)
    means, wanted = np.array(MEANS), np.array(TARGETS) > 0
    kept = result.probes["queue"] - result.probes["idleness"]
    price = np.where(wanted, means.max() / means - 1.0, 0.0)
    right = result.plays @ np.where(wanted, 0.0, means.max() - means) - kept @ price
    np.testing.assert_allclose(right, regret, rtol=1e-6, atol=1e-6)
    assert np.abs(regret[:, -1]).min() > 1  # there is something to agree on
