"""Each policy and observer gives the same numbers compiled and interpreted, alone and in a block.

Every type of state is compiled once for one replicate, and once for a block if it can be played in
one. What is compared is bits, of the record and of all arrays of the state.
"""

import itertools
from functools import partial

import numpy as np
import pytest

from examples import CASES, EXAMPLES, WATCHED, arms_of, instance_of
from fairbandits import run
from fairbandits.engine import laws
from fairbandits.engine.lanes import block_of, lane_of
from fairbandits.engine.loops import LOOPS, new_record
from fairbandits.engine.sources import stream_source
from fairbandits.engine.vectors import LANES, Rows
from fairbandits.engine.watching import watched
from fairbandits.observers import OBSERVERS
from fairbandits.policies import POLICIES

LONG = 3000
#: What must play in blocks, since published runs are long; that it does could be lost unseen.
IN_BLOCKS = {
    *("banditq", "bf_ucb", "fair_learn", "fairx_ucb", "group_ucb", "ht_ucb", "late", "lfg"),
    *("own_reward", "queue_ucb", "t_fair_learn", "ucb1"),
}


def begun(policy, observers, instance, replicate, horizon):
    """Return the state, the source and the record of one replicate before the first round."""
    n_arms = instance.n_arms
    state = policy.start(n_arms, horizon)
    n_probes = [len(played.probes) for played in (policy, *observers)]
    if observers:
        states = [observer.start(policy, state, n_arms, horizon) for observer in observers]
        state = watched(state, states, n_probes[:-1])
    source = stream_source(
        instance.law, np.array(instance.means), instance.spread, 5, "forms", replicate
    )
    checkpoints = np.unique([1, 2, 3, horizon // 2, horizon - 1, horizon])
    quotas = (range(n_arms), n_arms**2) if policy.feedback == "bandit" else None
    return state, source, new_record(policy.feedback, n_arms, checkpoints, sum(n_probes), quotas)


def played(start, loop, cuts):
    """Return the record and the bits of the state after playing the pieces between the cuts."""
    state, source, record = start
    for first, last in itertools.pairwise(cuts):
        loop(state, source, record, first, last)
    return record, [array.tobytes() for array in arrays_of(state)]


def arrays_of(value):
    if isinstance(value, np.ndarray | Rows):
        return [getattr(value, "array", value)]
    parts = value if isinstance(value, tuple) else ()
    return [array for part in parts for array in arrays_of(part)]


def bits(record):
    return [np.asarray(part).tobytes() for part in arrays_of(record)]


def in_block(start):
    """Return state, source and record of a block, each of them None if there can be none."""
    return list(map(block_of, zip(*map(start, range(LANES)), strict=True)))


@pytest.mark.parametrize("name", CASES)
def test_one_form(name):
    for at, (policy, observers) in enumerate(CASES[name]):
        law = list(laws.CODES)[(len(name) + at) % len(laws.CODES)]
        instance = instance_of(law, arms_of(policy))
        horizon = getattr(policy, "initial_rounds", 0) + 60
        cuts = [0, 1, 2, 20, horizon - 20, horizon]
        loop = LOOPS[policy.feedback]
        interpreted = getattr(loop, "py_func", loop)

        def start(replicate, horizon=horizon, case=(policy, observers, instance)):
            return begun(*case, replicate, horizon)

        alone = [played(start(lane), interpreted, [0, horizon]) for lane in range(LANES)]
        record, state = played(start(0), loop, cuts)
        assert (bits(record), state) == (bits(alone[0][0]), alone[0][1]), policy

        blocks = in_block(start)
        if blocks[0] is None:
            assert name not in IN_BLOCKS or not plays_in_lanes(policy), policy
            continue
        record, state = played(blocks, interpreted, [0, horizon])
        for lane, (single, _) in enumerate(alone):
            assert bits(lane_of(record, lane, single)) == bits(single), (policy, lane)
        compiled, compiled_state = played(in_block(start), loop, cuts)
        assert (bits(compiled), compiled_state) == (bits(record), state), policy
        if at == 0 and loop is not interpreted:  # what adds up for long
            record, _ = played(in_block(partial(start, horizon=LONG)), loop, [0, LONG])
            for lane in (2, LANES - 1):
                single, _ = played(start(lane, LONG), loop, [0, LONG])
                assert bits(lane_of(record, lane, single)) == bits(single), (policy, lane)


def plays_in_lanes(policy):
    """Return whether a policy of a kind that plays in blocks does: not with every learner."""
    return getattr(policy, "subroutine", None) not in ("exp3p", "adahedge", "squint") and getattr(
        policy, "learner", None
    ) not in ("thompson", "fair_learn")


@pytest.mark.parametrize("name", WATCHED)
def test_watching_changes_nothing(name):
    for policy, *observers in WATCHED[name]:
        instance = instance_of("uniform02", arms_of(policy))
        options = {"checkpoints": [3, 40, 400], "compiled": False}
        watched, plain = (
            run(policy, instance, 400, 2, observe=observe, **options).columns()
            for observe in (observers, ())
        )
        for column, values in plain.items():
            assert watched[column].tobytes() == values.tobytes(), column


def test_examples_cover_the_registries():
    for name, examples in EXAMPLES.items():
        assert {type(example) for example in examples} == {POLICIES[name]}
    watched = [case[1:] for cases in WATCHED.values() for case in cases]
    assert {type(observer) for some in watched for observer in some} == {*OBSERVERS.values()}
