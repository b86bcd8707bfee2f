"""Policies whose arm has the largest index: blocks give the numbers of one replicate at a time."""

import numpy as np
import pytest
from test_lanes import SPREADS, assert_same_results, block_run, compiled_only, started

from fairbandits import (
    HTUCB,
    LFG,
    UCB1,
    FairLearn,
    FairLearnDeficits,
    Instance,
    Starvation,
    TFairLearn,
    run,
)
from fairbandits.engine import laws
from fairbandits.engine.lanes import block_of
from fairbandits.engine.loops import LOOPS
from fairbandits.engine.vectors import LANES

ROUNDS = 700


def quotas_of(rng, arms, total):
    """Return exact quotas, of some arms none, that sum to about `total`."""
    parts = rng.integers(0, 10, arms) * (rng.random(arms) < 0.8)
    parts[rng.integers(arms)] += 1
    return [f"{part}/{int(parts.sum() / total) + 1}" for part in parts.tolist()]


def lfg(rng, arms, **parameters):
    return LFG(quotas_of(rng, arms, rng.choice([0.3, 0.98])), **parameters)


def fair_ucb(rng, arms, **parameters):
    return FairLearn(quotas_of(rng, arms, rng.choice([0.3, 0.95])), **parameters)


def ht_ucb(rng, arms, **parameters):
    penalties = rng.uniform(0, 1, arms) * (rng.random(arms) < 0.8)
    return HTUCB(quotas_of(rng, arms, rng.choice([0.3, 0.95])), penalties, **parameters)


#: Name -> (arms, what makes the policy); readings of a policy are run-time values of one kernel.
POLICIES = {
    "lfg": (5, lfg),
    "lfg-uncapped": (9, lambda rng, arms: lfg(rng, arms, cap=None, eta=3.0, constant=2)),
    "lfg-before": (4, lambda rng, arms: lfg(rng, arms, eta_exponent=0.5, arrivals="before")),
    "lfg-weights": (3, lambda rng, arms: lfg(rng, arms, weights=rng.uniform(0, 2, arms), eta=1)),
    "lfg-random": (4, lambda rng, arms: lfg(rng, arms, ties="random")),
    "lfg-queues": (6, lambda rng, arms: lfg(rng, arms, eta=0)),
    "ucb1": (5, lambda rng, arms: UCB1()),
    "ucb1-random": (4, lambda rng, arms: UCB1(clock="own", ties="random")),
    "ucb1-previous": (3, lambda rng, arms: UCB1(scale=2.5, clock="previous")),
    "fair_ucb": (5, fair_ucb),
    "fair_ucb-tolerance": (3, lambda rng, arms: fair_ucb(rng, arms, tolerance="21/2")),
    "fair_ucb-scaled": (
        8,
        lambda rng, arms: fair_ucb(rng, arms, learner_parameters={"scale": 3, "clock": "previous"}),
    ),
    "fair_ucb-turns": (6, lambda rng, arms: fair_ucb(rng, arms, first_rounds="round_robin")),
    "fair_ucb-random": (
        5,
        lambda rng, arms: fair_ucb(rng, arms, learner_parameters={"ties": "random"}),
    ),
    "t_fair_ucb": (4, lambda rng, arms: TFairLearn(quotas_of(rng, arms, 0.7))),
    "t_fair_ucb-sequential": (
        4,
        lambda rng, arms: TFairLearn(quotas_of(rng, arms, 0.7), order="sequential"),
    ),
    "ht_ucb": (5, ht_ucb),
    "ht_ucb-random": (5, lambda rng, arms: ht_ucb(rng, arms, ties="random")),
    "ht_ucb-previous": (3, lambda rng, arms: ht_ucb(rng, arms, clock="previous")),
    "ht_ucb-soft": (8, lambda rng, arms: ht_ucb(rng, arms, threshold="soft")),
    "ht_ucb-rates": (4, lambda rng, arms: HTUCB(quotas_of(rng, arms, 0.9), 50)),
}
#: What looks on, by the first word of the name.
OBSERVED = {"lfg": (Starvation(),), "fair_ucb": (FairLearnDeficits(),)}


def looking_on(name):
    return OBSERVED.get(name.partition("-")[0], ())


def instances_of(rng, law, arms):
    """Return an instance at random, and one whose arms are alike, so that ties abound."""
    means = rng.uniform(0.05, 0.95, arms), np.full(arms, 0.5)
    return [Instance(some, law, SPREADS.get(law)) for some in means]


@compiled_only
@pytest.mark.parametrize("law", laws.CODES)
@pytest.mark.parametrize("name", POLICIES)
def test_a_block_gives_what_each_replicate_gives(name, law, rng):
    arms, make = POLICIES[name]
    observe = looking_on(name)
    options = {"stream": "lanes", "checkpoints": [1, 2, arms, 100, ROUNDS], "observe": observe}
    replicates = [5, 0, 3, 11, 7]
    for instance in instances_of(rng, law, arms):
        policy = make(rng, arms)
        assert block_of([started(policy, observe, arms, ROUNDS)] * LANES) is not None
        together = run(policy, instance, ROUNDS, replicates, **options)
        apart = [run(policy, instance, ROUNDS, [one], **options) for one in replicates]
        assert_same_results(together, apart)


@compiled_only
@pytest.mark.parametrize("name", ["lfg", "fair_ucb", "ht_ucb"])
def test_long_runs_and_deficits(name, rng):
    _, make = POLICIES[name]
    for arms in (2, 5, 20):
        instance = Instance(rng.uniform(0.2, 0.8, arms))
        options = {
            "checkpoints": [10, 5000, 20_000],
            "quotas": quotas_of(rng, arms, 0.6),
            "observe": looking_on(name),
        }
        policy = make(rng, arms)
        together = run(policy, instance, 20_000, LANES, **options)
        apart = [run(policy, instance, 20_000, [one], **options) for one in range(LANES)]
        assert_same_results(together, apart)


@pytest.mark.parametrize("name", POLICIES)
def test_blocks_in_pieces_compiled_and_interpreted(name, rng):
    arms, make = POLICIES[name]
    loop = LOOPS["bandit"]
    observe = looking_on(name)
    for law in ("bernoulli", "deterministic", "gaussian"):
        policy = make(rng, arms)
        instance = instances_of(rng, law, arms)[law == "deterministic"]
        whole = block_run(policy, instance, [0, 60], loop, observe)
        assert whole == block_run(policy, instance, [0, 1, 2, 20, 21, 60], loop, observe)
        interpreted = getattr(loop, "py_func", loop)
        assert whole == block_run(policy, instance, [0, 60], interpreted, observe)


FINE = ("1/1000000007", 0, "1/2")
WITHOUT = {
    "lfg-fine": LFG(FINE),
    "fair_ucb-fine": FairLearn(FINE),
    "ht_ucb-fine": HTUCB(FINE, 1),
    "fair-own": FairLearn((0.3, 0, 0.3), learner_parameters={"clock": "own"}),
    "fair-thompson": FairLearn((0.3, 0, 0.3), learner="thompson"),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_without_a_block(name):
    """Multiples must be exact, and a learner must not change when a lane asks it in vain."""
    policy = WITHOUT[name]
    assert block_of([policy.start(3, 10**8)] * LANES) is None
    assert block_of([started(policy, (Starvation(),), 3, 10**8)] * LANES) is None
