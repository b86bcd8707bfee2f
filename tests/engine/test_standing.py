"""Choices known without a look at all arms are those of a full comparison, in every round."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numba import config

import full_comparisons
from fairbandits import HTUCB, UCB1, FairLearn, GroupUCB, Instance, Starvation, TFairLearn, run
from fairbandits.engine import loops, protocol
from fairbandits.engine.sources import stream_source
from fairbandits.policies import leader
from fairbandits.policies.groups import group_quotas, released_rank, starts
from fairbandits.policies.waits import paces, wait, whole
from fairbandits.rationals import quota_numerators

INTERPRETED = bool(config.DISABLE_JIT)
INSTANCES = 8 if INTERPRETED else 500
STREAM = "standing"
CLOCKS = ("round", "previous", "own")


def arms_of(policy, instance, rounds, seed, observe=()):
    """Return the arm of each round."""
    options = {"checkpoints": range(1, rounds + 1), "observe": observe}
    result = run(policy, instance, rounds, seed=seed, stream=STREAM, **options)
    return np.diff(result.plays[0], axis=0, prepend=0).argmax(axis=1)


def an_instance(rng):
    """Return an instance on which arms are near, alike, sure, or far from each other."""
    n_arms = int(rng.choice([2, 3, 5, 10, 18, 33]))
    law = str(rng.choice(["bernoulli", "deterministic", "uniform02", "gaussian", "beta"]))
    means = [
        rng.uniform(0.05, 0.95, n_arms),
        np.full(n_arms, 0.5),
        rng.choice([0.25, 0.5, 1.0], n_arms) if law != "beta" else np.full(n_arms, 0.3),
        1.0 - 0.02 * rng.uniform(0.01, 1.0, n_arms),
    ][rng.integers(4)]
    return Instance(tuple(means.tolist()), law, {"gaussian": 0.5, "beta": 2.0}.get(law))


def some_quotas(rng, n_arms):
    """Return quotas of one size or of many, zeros among them, with a sum from small to near 1."""
    denominator = int(rng.integers(4 * n_arms, 60 * n_arms))
    most = int(rng.choice([denominator // 5, denominator // 2, denominator - 1]))
    if rng.random() < 0.5:
        return [f"{most // n_arms}/{denominator}"] * n_arms
    weights = rng.dirichlet(np.full(n_arms + 1, rng.choice([0.3, 3.0])))
    return [f"{share}/{denominator}" for share in rng.multinomial(most, weights)[:n_arms]]


def exact_quotas(quotas):
    numerators, denominator = quota_numerators(quotas)
    return np.array(numerators, np.int64), denominator


def ucb1(rng, instance, drawn):
    quotas, denominator = np.zeros(instance.n_arms, np.int64), 1
    scale = float(rng.choice([1.0, 1.6]))
    clock, random = int(rng.integers(3)), bool(rng.integers(2))
    policy = UCB1(scale, CLOCKS[clock], "random" if random else "lowest")
    return policy, full_comparisons.overruled(*drawn, quotas, denominator, 0, clock, random, scale)


def fair_learn(rng, instance, drawn):
    quotas = some_quotas(rng, instance.n_arms)
    tolerance = Fraction(str(rng.choice([0, 0, 1, 2.5, 40, 1e6])))
    numerators, denominator = exact_quotas(quotas)
    clock, random = int(rng.integers(3)), bool(rng.integers(2))
    learner = {"clock": CLOCKS[clock], "ties": "random" if random else "lowest"}
    twice = 2 * numerators, 2 * denominator, int(tolerance * 2 * denominator)
    policy = FairLearn(quotas, tolerance, learner_parameters=learner)
    return policy, full_comparisons.overruled(*drawn, *twice, clock, random, 1.0)


def ht_ucb(rng, instance, drawn):
    quotas = some_quotas(rng, instance.n_arms)
    penalties = rng.choice([0.0, 0.05, 1.0, 9.0], instance.n_arms)
    if rng.random() < 0.5:
        penalties[:] = penalties[0]
    threshold = int(rng.random() < 0.2)
    previous, random = bool(rng.integers(2)), bool(rng.integers(2))
    policy = HTUCB(
        quotas,
        penalties.tolist(),
        "previous" if previous else "round",
        ("hard", "soft")[threshold],
        "random" if random else "lowest",
    )
    return policy, full_comparisons.penalised(
        *drawn, *exact_quotas(quotas), penalties, threshold, previous, random
    )


def group_ucb(rng, instance, drawn):
    left, sizes = instance.n_arms, []
    while left:
        sizes.append(int(rng.integers(1, left + 1)))
        left -= sizes[-1]
    quotas = [f"1/{len(sizes) + int(rng.integers(4))}"] * len(sizes)
    quotas = quotas if rng.random() < 0.7 else [0] * len(sizes)
    kind, cap = int(rng.integers(3)), bool(rng.integers(2))
    ties = str(rng.choice(["lowest", "random", "released"]))
    policy = GroupUCB(
        sizes, quotas, index=("ucb1", "paper", "released")[kind], cap=cap, ties=ties, delta=0.05
    )
    rounds = drawn[1].size - 1
    first = arms_of(policy, instance, rounds, 0)[: policy.initial_rounds]
    numerators, denominator = group_quotas(quotas, len(sizes))
    return policy, full_comparisons.grouped(
        *drawn,
        first,
        starts(sizes),
        np.array(numerators, np.int64),
        denominator,
        kind,
        1.0 / 0.05,
        1.0 if cap else math.inf,
        released_rank(sizes) if ties == "released" else np.arange(instance.n_arms),
        ties == "random",
    )


@pytest.mark.parametrize("make", [ucb1, fair_learn, ht_ucb, group_ucb])
def test_every_arm_is_that_of_a_full_comparison(make, rng):
    for _ in range(INSTANCES):
        instance = an_instance(rng)
        rounds = int(rng.choice([150] if INTERPRETED else [300, 300, 300, 4000]))
        rounds = max(rounds, instance.n_arms**2)  # the initial rounds of groups
        drawn = full_comparisons.drawn(instance, rounds, 0, STREAM, 0)
        policy, expected = make(rng, instance, drawn)
        observe = [Starvation()] * bool(rng.random() < 0.3)  # under observation are no streaks
        found = arms_of(policy, instance, rounds, 0, observe)
        assert np.array_equal(found, expected), (policy, instance)


@pytest.mark.skipif(INTERPRETED, reason="long runs")
@pytest.mark.parametrize("make", [ucb1, fair_learn, ht_ucb, group_ucb])
def test_long_runs_are_those_of_full_comparisons(make, rng):
    for _ in range(6):
        instance = Instance(tuple(rng.uniform(0.4, 0.9, int(rng.choice([3, 10, 24])))))
        drawn = full_comparisons.drawn(instance, 100_000, 0, STREAM, 0)
        policy, expected = make(rng, instance, drawn)
        assert np.array_equal(arms_of(policy, instance, 100_000, 0), expected), (policy, instance)


def test_most_choices_of_a_long_run_are_known(monkeypatch):
    policy, rounds = UCB1(), 4000
    means = np.array((0.2, 0.5, 0.9))
    state = policy.start(3, rounds)
    asked = []
    monkeypatch.setattr(
        loops, "choose", lambda *arguments: asked.append(1) or protocol.choose(*arguments)
    )
    source = stream_source("bernoulli", means, 0.0, 0, STREAM, 0)
    record = loops.new_record("bandit", 3, np.array([rounds]), 0)
    getattr(loops.bandit_rounds, "py_func", loops.bandit_rounds)(state, source, record, 0, rounds)
    assert len(asked) < rounds / 5


def test_a_policy_without_the_verb_is_asked_in_every_round():
    state = TFairLearn(("1/4", "1/4"), learner="thompson").start(2, 100)
    assert protocol.standing(state, 1) == -1
    assert protocol.standing(object(), 1) == -1


def test_no_arm_gets_behind_while_it_waits(rng):
    for _ in range(2000):
        quota, room = int(rng.integers(1, 2**31)), int(rng.integers(0, 2**62))
        rounds = whole(wait(room, paces([quota])[0]))
        assert rounds * quota <= room
        assert (rounds + 1) * quota > room - max(room >> 45, quota)
    assert whole(wait(1, paces([0])[0])) > 10**17


def test_blocks_are_short_beside_what_has_been_played():
    for clock in (1, 10**4, 10**7):
        assert clock < leader.ahead(clock) <= clock + clock // 1000 + 32
