"""The policies for guaranteed reward rates and KL-UCB: against naive twins, and their refusals."""

import math
import re

import numpy as np
import pytest

import naive
import naive_guarantees as twins
from fairbandits import (
    KLUCB,
    GuaranteeAnytime,
    GuaranteeBaseline,
    GuaranteeETC,
    GuaranteeKLUCB,
    GuaranteeKnapsack,
    RewardFairUCB,
)
from fairbandits.audit.claims import OWN
from fairbandits.engine import protocol, streams
from fairbandits.policies import kl
from fairbandits.settings.schemas import ROOT
from fairbandits.settings.seeds import seed_of

ROUNDS = 80
SEED = 20240507

#: Means and guarantees.
PROBLEMS = {
    "published": ((0.6, 0.7, 0.5), (0.2, 0.1, 0.25)),
    "no gap": ((0.8, 0.9, 0.7), (0.8 / 3, 0.3, 0.7 / 3)),
    "some without": ((0.3, 0.4, 0.95, 0.1), (0, 0.3, 0, 0)),
    "one arm": ((0.5,), (0.3,)),
    "none": ((0.4, 0.5, 0.6), (0, 0, 0)),
    "infeasible": ((0.3, 0.2, 0.9), (0.25, 0.15, 0.4)),
    "far too much": ((0.05, 0.5), (0.3, 0.7)),
    "ties": ((1.0, 0.5, 1.0, 0.0), (0.25, 0, 0.25, 0)),
    "all alike": ((0.9,) * 5, (0.15,) * 5),
}
LAWS = ("bernoulli", "uniform02")
problems = pytest.mark.parametrize("problem", PROBLEMS)
laws = pytest.mark.parametrize("law", LAWS)

#: Policy and twin for guarantees.
PAIRS = {
    "kl_ucb": lambda rates: (KLUCB(), twins.KLUCB(len(rates))),
    "kl_ucb, 3": lambda rates: (KLUCB(3), twins.KLUCB(len(rates), 3)),
    "baseline": lambda rates: (GuaranteeBaseline(rates), twins.GuaranteeBaseline(rates)),
    "anytime": lambda rates: (GuaranteeAnytime(rates), twins.GuaranteeAnytime(rates)),
    "etc": lambda rates: (GuaranteeETC(rates), twins.GuaranteeETC(rates, ROUNDS)),
    "etc, 1/5": lambda rates: (GuaranteeETC(rates, 0.2), twins.GuaranteeETC(rates, ROUNDS, 0.2)),
    "knapsack": lambda rates: (GuaranteeKnapsack(rates), twins.GuaranteeKnapsack(rates, ROUNDS)),
    "fair": lambda rates: (RewardFairUCB(rates), twins.RewardFairUCB(rates, ROUNDS, len(rates))),
    "fair, one agent": lambda rates: (
        RewardFairUCB(),
        twins.RewardFairUCB([0] * len(rates), ROUNDS, 1),
    ),
}
for estimate in ("mean", "upper", "lower"):
    for excess in ("upper", "normalise"):
        PAIRS[f"{estimate}, {excess}"] = lambda rates, options=(estimate, 1.5, excess): (
            GuaranteeKLUCB(rates, *options),
            twins.GuaranteeKLUCB(rates, *options),
        )
pairs = pytest.mark.parametrize("pair", PAIRS)


def tables(means, law, rounds, replicate=0):
    """Return the rewards by arm and number of pull, and the words of the coins."""
    address = (SEED, "guarantees", replicate)
    every = range(1, rounds + 1)
    rewards = [
        [naive.reward(law, mean, naive.draw(*address, "reward", k, n)) for n in every]
        for k, mean in enumerate(means)
    ]
    return rewards, [naive.draw(*address, "coin", 0, t) for t in every]


def assert_same_arms(policy, choose, learn, means, law, rounds, replicate=0):
    """Play a policy; whoever is given must choose the same arm in every round."""
    rewards, coins = tables(means, law, rounds, replicate)
    state = policy.start(len(means), rounds)
    pulls = [0] * len(means)
    for t, coin in enumerate(coins, start=1):
        arm = protocol.choose(state, t, coin)
        assert arm == choose(naive.unit(coin)), f"round {t}"
        reward = rewards[arm][pulls[arm]]
        pulls[arm] += 1
        protocol.learn(state, t, arm, reward)
        learn(arm, reward)


@problems
@laws
@pairs
def test_same_arms_as_the_twin(pair, law, problem):
    means, rates = PROBLEMS[problem]
    policy, twin = PAIRS[pair](rates)
    assert_same_arms(policy, twin.choose, twin.advance, means, law, ROUNDS)


@pytest.mark.parametrize("arms", [2, 6])
@pairs
def test_choices_after_random_histories(pair, arms, rng):
    """Also where other arms were pulled, and for rewards outside [0, 1]."""
    rates = (rng.random(arms) / arms * (rng.random(arms) < 0.7)).tolist()
    policy, twin = PAIRS[pair](rates)
    state = policy.start(arms, ROUNDS)
    for t in range(1, ROUNDS + 1):
        coin = int(rng.integers(0, streams.MASK, dtype=np.uint64, endpoint=True))
        chosen = protocol.choose(state, t, coin)
        assert chosen == twin.choose(naive.unit(coin)), t
        arm = int(rng.integers(arms)) if rng.random() < 0.5 else chosen
        reward = float(rng.choice([0.0, 0.5, 1.0, rng.random(), 1.3, -0.2]))
        protocol.learn(state, t, arm, reward)
        twin.advance(arm, reward)


def test_constants_of_the_knapsack_policy():
    """In few rounds they hardly change what is chosen."""
    state = GuaranteeKnapsack((0.2, 0.1, 0)).start(3, 10_000)
    twin = twins.GuaranteeKnapsack((0.2, 0.1, 0), 10_000)
    assert (state.exploration, state.step) == pytest.approx((twin.gamma, twin.gamma / 9))
    assert state.bonus == pytest.approx(twin.gamma / 9 * twin.alpha / math.sqrt(30_000))
    assert twin.gamma < 0.1


def test_limits_are_those_of_bisection(rng):
    means = [0.0, 1e-9, 1e-3, 0.5, 0.97, 1 - 1e-9, *rng.random(20)]
    for p in map(float, means):
        for divergence in map(float, [1e-8, 1e-3, 0.3, 2.0, 40.0, *rng.exponential(size=4)]):
            x = kl.log_gap(p, kl.negentropy(p), divergence, kl.UNKNOWN)
            near = kl.log_gap(p, kl.negentropy(p), divergence * 1.01, kl.UNKNOWN)
            for found in (x, kl.log_gap(p, kl.negentropy(p), divergence, near)):
                expected = twins.kl_upper(p, divergence)
                assert 1 - math.exp(found) == pytest.approx(expected, rel=0, abs=3e-12)


@pytest.mark.parametrize("rounds", [1200])
@pytest.mark.parametrize(
    "means", [(0.5, 0.52, 0.48), (0.9, 0.99, 0.2, 0.95), (0.3,) * 4, (0.02, 0.01), (0.6,)]
)
def test_the_leader_is_that_of_a_full_comparison(means, rounds, rng):
    floor = (0.0, 0.4, 0.0, 0.1)[: len(means)]
    limits = kl.no_pulls(len(means), 2.0, floor)
    known = 0
    for clock in range(rounds):
        asked = clock < 200 or rng.random() < 0.8  # with gaps, as policies ask
        known += clock <= limits.marks[kl.UNTIL] and kl._leads(limits, kl.level(limits, clock))
        arm = kl.largest(limits, clock) if asked else int(rng.integers(len(means)))
        if asked:
            level = kl.level(limits, clock)
            every = [kl.upper_limit(limits, k, level) for k in range(len(means))]
            assert every.index(max(every)) == arm
        kl.learn(limits, arm, float(rng.random() < means[arm]))
    if len(means) in (2, 3, 4) and means[0] != means[1]:
        assert known > rounds / 4  # so that the shortcut is what is tested


def test_the_seed_on_the_page_follows_from_the_rules_that_were_frozen():
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    digest = re.search(r"digest `(\w{16})`", page)[1]
    command, seed = re.search(r"judge (papers/\S+) --seed (\d+)`", page).groups()
    assert int(seed) == seed_of(digest, OWN)
    assert f"--seed {seed}`" in (ROOT / command).read_text(encoding="utf-8")
