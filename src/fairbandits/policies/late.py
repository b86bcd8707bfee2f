"""States of policies whose feedback is late or comes in batches; see `fairbandits.Delayed`.

The policy's state is started twice. The `learner` learns from a round when its feedback arrives.
The `counter` is given every round at once, but only its counts of pulls are read. The `chooser` has
the counts of the counter and all else of the learner: the same arrays. So quotas count the pulls
made, and confidence bounds the rewards seen.

What `choose` notes for `learn`, such as the probabilities of a draw, is kept until the round's
feedback arrives.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload

from fairbandits.engine.protocol import (
    INLINE,
    choose,
    distribute,
    inlined,
    learn,
    plays_in_lanes,
    probe,
    verb,
)
from fairbandits.engine.vectors import Rows, RowsType
from fairbandits.engine.width import Shared, assign
from fairbandits.policies import bf_ucb, bf_ucb_sums, merit

#: Fields that count pulls and do not depend on rewards, by file and class of a state. They stand
#: here because recorded data name the code of those files; another state has them in `at_once`.
AT_ONCE = {
    "fair_learn:FairLearnState": ("scaled_pulls",),
    "fair_learn:TFairLearnState": ("pulls", "owed", "total"),
    "groups:Groups": ("served",),
    "ht_ucb:HTUCBState": ("scaled_pulls",),
    "initial_rounds:InitialState": ("served",),
    "lfg:LFGState": ("queue",),
    "simple:DeficitState": ("deficit",),
}
#: Likewise the fields that `choose` leaves for `learn`, or `noted` of another state: after `learn`
#: their values do not matter.
NOTED = {
    "baselines:EXP3State": ("x",),
    "bf_ucb_sums:BFUCBState": ("block",),
    "fairx_ucb:FairXUCBState": ("shadow_arm",),
    "groups:Groups": ("now",),
    "guarantees:GuaranteeAnytimeState": ("second",),
    "guarantees_by_horizon:GuaranteeKnapsackState": ("x",),
    "learners:AdaHedge": ("x",),
    "learners:EXP3P": ("x",),
    "learners:FTRL": ("x",),
    "learners:Squint": ("x",),
    "wrapping:OwnRewardState": ("arm",),
}

keep, recall = verb("keep"), verb("recall")


@plays_in_lanes
class Nothing(NamedTuple):
    """The end of a chain of notes, and the counter of a policy that counts nothing."""

    empty: int = 0

    def keep(notes, row, wanted):
        pass

    def recall(notes, row):
        pass

    def learn(state, t, action, reward):
        pass


@plays_in_lanes
class Note(NamedTuple):
    """A field of learner and counter, and what it was in the rounds whose feedback is to come."""

    rest: Any
    field: np.ndarray
    counted: np.ndarray
    kept: np.ndarray

    def keep(notes, row, wanted):
        assign(notes.counted, notes.field)
        if wanted:
            assign(notes.kept[row], notes.field)
        keep(notes.rest, row, wanted)

    def recall(notes, row):
        assign(notes.field, notes.kept[row])
        recall(notes.rest, row)


@plays_in_lanes
class Fetched(NamedTuple):
    """A BF-UCB that has a copy of the statistics of the block that it drew from: a stale one."""

    rest: Any
    state: bf_ucb_sums.BFUCBState

    def keep(notes, row, wanted):
        keep(notes.rest, row, wanted)

    def recall(notes, row):
        recall(notes.rest, row)
        state = notes.state
        bf_ucb_sums._fetch(state, state.groups.now[0], state.block[0])


@plays_in_lanes
class Late(NamedTuple):
    """A policy, and a ring of `size` rounds; the feedback of no round after `last` arrives."""

    chooser: Any
    learner: Any
    counter: Any
    notes: Any
    actions: np.ndarray
    rewards: np.ndarray
    schedule: Shared
    size: int
    last: int

    def choose(state, t, coin):
        return choose(state.chooser, t, coin)

    def distribute(state, t, coin, out):
        distribute(state.chooser, t, coin, out)

    def learn(state, t, action, reward):
        row, wanted = (t - 1) % state.size, t <= state.last
        keep(state.notes, row, wanted)
        if wanted:
            _put(state.actions, row, action)
            _put(state.rewards, row, reward)
        learn(state.counter, t, action, reward)
        for s in range(seen(state.schedule, t - 1) + 1, seen(state.schedule, t) + 1):
            row = (s - 1) % state.size
            recall(state.notes, row)
            learn(state.learner, s, state.actions[row], state.rewards[row])

    def probe(state, out):
        probe(state.chooser, out)


def begin(
    states: tuple[Any, Any],
    schedule: np.ndarray,
    n_arms: int | None,
    horizon: int,
    at_once: Sequence[str],
    noted: Sequence[str],
) -> Late:
    """Return the state of a policy of which two fresh states are given.

    `n_arms` is None under bandit feedback; `at_once` and `noted` are fields beside those of the
    tables.
    """
    learner, counter = states
    chooser = _with_counts(learner, counter, at_once)
    if chooser is learner:
        counter = Nothing()
    last = seen(schedule, horizon)
    size = max(1, min(waiting(schedule), last))
    notes: Any = Nothing()
    for state, twin, names in _pairs(*states, noted):
        for name in names:
            field = getattr(state, name)
            counted = field if counter is not states[1] else getattr(twin, name)
            notes = Note(notes, field, counted, np.zeros((size, *field.shape), field.dtype))
    for state, _, _ in _pairs(*states, ()):
        if isinstance(state, bf_ucb_sums.BFUCBState):
            notes = Fetched(notes, state)
        if isinstance(state, bf_ucb.BFUCBState | bf_ucb_sums.BFUCBState):
            _give_merit(state)
    shape, dtype = ((size,), np.int64) if n_arms is None else ((size, n_arms), np.float64)
    ring = np.zeros(shape, dtype), np.zeros(shape)
    return Late(chooser, learner, counter, notes, *ring, schedule, size, last)


def _fields(table: dict[str, tuple[str, ...]], attribute: str, state: Any) -> tuple[str, ...]:
    kind = type(state)
    key = f"{kind.__module__.rpartition('.')[2]}:{kind.__name__}"
    return table.get(key) or getattr(kind, attribute, ())


def _with_counts(state: Any, counter: Any, more: Sequence[str] = ()) -> Any:
    """Return a state with the counts of another: itself if it has none."""
    changed = {}
    for name, mine, its in zip(state._fields, state, counter, strict=True):
        if name in more or name in _fields(AT_ONCE, "at_once", state):
            changed[name] = its
        elif hasattr(mine, "_fields") and (merged := _with_counts(mine, its)) is not mine:
            changed[name] = merged
    return state._replace(**changed) if changed else state


def _pairs(
    state: Any, other: Any, more: Sequence[str]
) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    """Yield the parts of two states that are states themselves, with their noted fields."""
    yield state, other, (*more, *_fields(NOTED, "noted", state))
    for mine, its in zip(state, other, strict=True):
        if hasattr(mine, "_fields"):
            yield from _pairs(mine, its, ())


def _give_merit(state: Any) -> None:
    """Give BF-UCB's arms the optimistic mean 1 until a reward: there can be draws before it."""
    arms, sums = state.first.arms, bf_ucb_sums
    arms.mean[arms.row_of] = 1.0
    for g in range(len(state.total)):
        if isinstance(state, bf_ucb.BFUCBState):
            arms.weight[arms.row_of] = 1.0
            state.total[g], state.value[g] = merit.sum_weights(arms, g), 1.0
            continue
        for block in range(merit.blocks_of(arms, g)):
            sums._fetch(state, g, block)
            eights = (sums._eight(state, first, -1, 0.0) for first in (0, merit.BLOCK))
            sums._sum_groups(state, g, block, *eights)


@inlined
def seen(schedule, t):
    """Return of how many rounds, the first ones, the feedback has arrived by the end of round t.

    A row of the schedule is a wrapper, the innermost first: rounds of a batch, and of a delay.
    """
    for i in range(len(schedule)):
        t = max(0, t - t % schedule[i, 0] - schedule[i, 1])
    return t


def waiting(schedule: np.ndarray) -> int:
    """Return for how many rounds at most, the present one included, feedback is to come."""
    return 1 + int((schedule - [1, 0]).sum())


def _put(rows, row, value):
    """Write a number or, under full information, one for each arm."""
    if isinstance(value, Rows):
        assign(rows[row], value)
    else:
        rows[row] = value


@overload(_put, jit_options=INLINE)
def _compiled_put(rows, row, value):
    if isinstance(value, types.Array | RowsType):
        return lambda rows, row, value: assign(rows[row], value)

    def put(rows, row, value):
        rows[row] = value

    return put
