"""BF-UCB and its baselines: blocks give the numbers of one replicate at a time, bit for bit."""

import numpy as np
import pytest
from test_lanes import SPREADS, assert_same_results, block_run, compiled_only, started

from fairbandits import (
    BFUCB,
    FairXUCB,
    GroupDeficits,
    GroupUCB,
    InitialPhase,
    Instance,
    MeritRegret,
    OptionalPulls,
    RandomInstance,
    run,
)
from fairbandits.engine import laws
from fairbandits.engine.lanes import block_of
from fairbandits.engine.loops import LOOPS
from fairbandits.engine.vectors import LANES

LOOKING = (InitialPhase(), GroupDeficits(), OptionalPulls())
UNEVEN, FOUR = (9, 2, 4), (1, 3, 17, 1)
SHADOW = tuple(np.linspace(0.9, 0.2, 15).tolist())
#: Name -> (groups, what makes the policy). The readings are run-time values, so that each policy
#: with its observers is one kernel, BF-UCB with its weights and with its sums (``uncut``) two.
POLICIES = {
    "bf": (UNEVEN, lambda groups: BFUCB(groups, ("1/5", "1/3", 0.3), box="uncut")),
    "bf-owed": (UNEVEN, lambda groups: BFUCB(groups, ("1/3",) * 3, box="uncut")),
    "bf-free": (FOUR, lambda groups: BFUCB(groups, (0,) * 4, box="uncut")),
    "bf-readings": (
        FOUR,
        lambda groups: BFUCB(
            *(groups, (0.25, 0, 0.1, 0.5), None),
            box="uncut",
            width="released",
            running_mean="released",
        ),
    ),
    "bf-horizon": ((5,), lambda groups: BFUCB(groups, (0,), box="uncut", width="horizon")),
    "bf-random": (
        UNEVEN,
        lambda groups: BFUCB(
            *(groups, (0.1, 0.2, 0.1)), box="uncut", initialisation="released", learner="random"
        ),
    ),
    "owed": (
        UNEVEN,
        lambda groups: BFUCB(groups, (0.2, 0.1, 0.3), learner="least_owed"),
    ),
    "exact": (UNEVEN, lambda groups: BFUCB(groups, (0.2, 0.1, 0.3), box="exact")),
    "mean": (
        UNEVEN,
        lambda groups: BFUCB(
            groups, (0.2, 0.1, 0.3), policy_from="mean", width="horizon", learner="first"
        ),
    ),
    "exponential": (
        UNEVEN,
        lambda groups: BFUCB(groups, (0.2, 0.1, 0.3), merit="exponential", box="uncut"),
    ),
    "cut": (UNEVEN, lambda groups: BFUCB(groups, ("1/5", "1/3", 0.3))),
    "cut-readings": (
        FOUR,
        lambda groups: BFUCB(
            *(groups, (0.25, 0, 0.1, 0.5), None),
            width="released",
            running_mean="released",
            initialisation="released",
        ),
    ),
    "released": (
        UNEVEN,
        lambda groups: BFUCB(groups, ("1/5", "1/3", 0.3), version="released"),
    ),
    "rounded": (
        FOUR,
        lambda groups: BFUCB(groups, (0, 0.5, 0.1, 0), draw="released"),
    ),
    "rounded-uncut": (
        (20,),
        lambda groups: BFUCB(groups, (0.5,), draw="released", box="uncut"),
    ),
    "gef": (UNEVEN, lambda groups: GroupUCB(groups, ("1/5", "1/3", 0.3), box="uncut")),
    "gef-released": (
        FOUR,
        lambda groups: GroupUCB(groups, (0.25, 0, 0.1, 0.5), version="released"),
    ),
    "gef-random": (
        UNEVEN,
        lambda groups: GroupUCB(groups, ("1/3",) * 3, index="paper", ties="random", cap=True),
    ),
    "ucb": (FOUR, lambda groups: GroupUCB(groups)),
    "ucb-random": (UNEVEN, lambda groups: GroupUCB(groups, ties="random", cap=True)),
    "mf": (UNEVEN, lambda groups: FairXUCB(groups, box="uncut")),
    "mf-cut": (FOUR, lambda groups: FairXUCB(groups, None)),
    "mf-readings": (
        (3, 3),
        lambda groups: FairXUCB(
            groups, width="released", running_mean="released", initialisation="released"
        ),
    ),
    "mf-round": (
        UNEVEN,
        lambda groups: FairXUCB(groups, clock="round", draw="released"),
    ),
    "mf-released": (
        UNEVEN,
        lambda groups: FairXUCB(
            *(groups,), version="released", quotas=(0.2, 0.1, 0.3), shadow_means=SHADOW
        ),
    ),
    "mf-counts": (
        UNEVEN,
        lambda groups: FairXUCB(
            *(groups,), counts="bf_ucb", quotas=(0.2, 0.1, 0.3), shadow_means=SHADOW, box="uncut"
        ),
    ),
}


def looking_on(policy, arms):
    """Return the observers of a policy, all that can watch it."""
    if isinstance(policy, BFUCB):
        return (MeritRegret((0.5,) * arms), *LOOKING)
    return LOOKING[:1] if isinstance(policy, FairXUCB) else LOOKING


def instances_of(rng, law, arms):
    """Return an instance at random, and one whose arms are alike, so that ties abound."""
    means = rng.uniform(0.05, 0.95, arms), np.full(arms, 0.5)
    return [Instance(some, law, SPREADS.get(law)) for some in means]


@compiled_only
@pytest.mark.parametrize("law", laws.CODES)
@pytest.mark.parametrize("name", POLICIES)
def test_a_block_gives_what_each_replicate_gives(name, law, rng):
    groups, make = POLICIES[name]
    policy, arms, rounds = make(groups), sum(groups), 600
    observe = looking_on(policy, arms)
    first = policy.initial_rounds
    options = {"checkpoints": [1, 2, first, first + 1, rounds], "observe": observe}
    replicates = [5, 0, 3, 11, 7]
    assert block_of([started(policy, observe, arms, rounds)] * LANES) is not None
    for instance in instances_of(rng, law, arms):
        together = run(policy, instance, rounds, replicates, **options)
        apart = [run(policy, instance, rounds, [one], **options) for one in replicates]
        assert_same_results(together, apart)


@compiled_only
@pytest.mark.parametrize(
    "name", ["bf", "bf-readings", "cut", "released", "gef", "ucb-random", "mf"]
)
def test_long_runs(name):
    groups, make = POLICIES[name]
    policy, arms = make(groups), sum(groups)
    instance = RandomInstance(arms, 0.3, 0.95, law="bernoulli")
    options = {"seed": 1, "checkpoints": [100, 5000, 20_000], "observe": looking_on(policy, arms)}
    together = run(policy, instance, 20_000, LANES, **options)
    apart = [run(policy, instance, 20_000, [one], **options) for one in range(LANES)]
    assert_same_results(together, apart)


@pytest.mark.parametrize("name", POLICIES)
def test_blocks_in_pieces_compiled_and_interpreted(name, rng):
    groups, make = POLICIES[name]
    policy, loop = make(groups), LOOPS["bandit"]
    observe = looking_on(policy, sum(groups))
    last = policy.initial_rounds + 12
    for instance in instances_of(rng, "bernoulli", sum(groups)):
        whole = block_run(policy, instance, [0, last], loop, observe)
        assert whole == block_run(policy, instance, [0, 1, 2, last - 12, last], loop, observe)
        interpreted = getattr(loop, "py_func", loop)
        assert whole == block_run(policy, instance, [0, last], interpreted, observe)


def test_quotas_too_fine_have_no_block():
    fine = (f"1/{2**20 + 1}", 0, 0)
    for policy in (BFUCB(UNEVEN, fine, box="uncut"), BFUCB(UNEVEN, fine), GroupUCB(UNEVEN, fine)):
        assert block_of([policy.start(15, 500)] * LANES) is None
        assert block_of([started(policy, (InitialPhase(),), 15, 500)] * LANES) is None
