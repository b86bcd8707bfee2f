"""Policies whose arm has the largest index: blocks give the numbers of one replicate at a time."""

import numpy as np
import pytest
from numba import config
from test_lanes import SPREADS, assert_same_results, block_run, compiled_only, started

from fairbandits import LFG, Instance, run
from fairbandits.engine import laws
from fairbandits.engine.lanes import BLOCKS, block_of
from fairbandits.engine.vectors import LANES

ROUNDS = 700


def quotas_of(rng, arms, total):
    """Return exact quotas, of some arms none, that sum to about `total`."""
    parts = rng.integers(0, 10, arms) * (rng.random(arms) < 0.8)
    parts[rng.integers(arms)] += 1
    return [f"{part}/{int(parts.sum() / total) + 1}" for part in parts.tolist()]


def lfg(rng, arms, **parameters):
    return LFG(quotas_of(rng, arms, rng.choice([0.3, 0.98])), **parameters)


#: Name -> (arms, what makes the policy); readings of a policy are run-time values of one kernel.
POLICIES = {
    "lfg": (5, lfg),
    "lfg-uncapped": (9, lambda rng, arms: lfg(rng, arms, cap=None, eta=3.0, constant=2)),
    "lfg-before": (4, lambda rng, arms: lfg(rng, arms, eta_exponent=0.5, arrivals="before")),
    "lfg-weights": (3, lambda rng, arms: lfg(rng, arms, weights=rng.uniform(0, 2, arms), eta=1)),
    "lfg-queues": (6, lambda rng, arms: lfg(rng, arms, eta=0)),
}
OBSERVED = {}


def instances_of(rng, law, arms):
    """Return an instance at random, and one whose arms are alike, so that ties abound."""
    means = rng.uniform(0.05, 0.95, arms), np.full(arms, 0.5)
    return [Instance(some, law, SPREADS.get(law)) for some in means]


@compiled_only
@pytest.mark.parametrize("law", laws.CODES)
@pytest.mark.parametrize("name", POLICIES)
def test_a_block_gives_what_each_replicate_gives(name, law, rng):
    arms, make = POLICIES[name]
    observe = OBSERVED.get(name, ())
    options = {"stream": "lanes", "checkpoints": [1, 2, arms, 100, ROUNDS], "observe": observe}
    replicates = [5, 0, 3, 11, 7]
    for instance in instances_of(rng, law, arms):
        policy = make(rng, arms)
        assert block_of(started(policy, observe, arms, ROUNDS)) is not None
        together = run(policy, instance, ROUNDS, replicates, **options)
        apart = [run(policy, instance, ROUNDS, [one], **options) for one in replicates]
        assert_same_results(together, apart)


@compiled_only
@pytest.mark.parametrize("name", [name for name in POLICIES if "-" not in name])
def test_long_runs_and_deficits(name, rng):
    _, make = POLICIES[name]
    for arms in (2, 5, 20):
        instance = Instance(rng.uniform(0.2, 0.8, arms))
        options = {
            "checkpoints": [10, 5000, 20_000],
            "quotas": quotas_of(rng, arms, 0.6),
            "observe": OBSERVED.get(name, ()),
        }
        policy = make(rng, arms)
        together = run(policy, instance, 20_000, LANES, **options)
        apart = [run(policy, instance, 20_000, [one], **options) for one in range(LANES)]
        assert_same_results(together, apart)


@pytest.mark.parametrize("name", POLICIES)
def test_blocks_in_pieces_compiled_and_interpreted(name, rng):
    arms, make = POLICIES[name]
    loop = BLOCKS["bandit"]
    observe = OBSERVED.get(name, ())
    for law in ("bernoulli", "deterministic", "gaussian"):
        policy = make(rng, arms)
        instance = instances_of(rng, law, arms)[law == "deterministic"]
        whole = block_run(policy, instance, [0, 60], loop, observe)
        assert whole == block_run(policy, instance, [0, 1, 2, 20, 21, 60], loop, observe)
        interpreted = getattr(loop, "py_func", loop)
        assert whole == block_run(policy, instance, [0, 60], interpreted, observe)


WITHOUT = {
    "lfg-random": lambda rng: LFG(quotas_of(rng, 3, 0.5), ties="random"),
    "lfg-fine": lambda rng: LFG(["1/1000000007", 0, "1/2"]),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_without_a_form_for_blocks_replicates_run_one_by_one(name, rng):
    """Random ties have none, nor have quotas whose multiples are not exact in floating point."""
    policy = WITHOUT[name](rng)
    assert block_of(started(policy, (), 3, 10**8)) is None
    if not config.DISABLE_JIT:
        run(policy, Instance((0.2, 0.4, 0.6)), 50, 3, checkpoints=[50])
