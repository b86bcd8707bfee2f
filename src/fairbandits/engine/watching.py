"""A policy played unchanged, with observers; without any its own state is played."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from numba.extending import overload

from fairbandits.engine.protocol import (
    INLINE,
    choose,
    distribute,
    learn,
    plays_in_lanes,
    probe,
    report,
    watch,
)


@plays_in_lanes
class Watched(NamedTuple):
    """A policy's state, its observers' states, and the row where each one's columns begin."""

    policy: Any
    observers: tuple
    rows: tuple[int, ...]

    def choose(state, t, coin):
        return choose(state.policy, t, coin)

    def distribute(state, t, coin, out):
        distribute(state.policy, t, coin, out)

    def learn(state, t, action, reward):
        learn(state.policy, t, action, reward)
        _watch_each(state.observers, state.policy, t, action, reward)

    def probe(state, out):
        probe(state.policy, out[: state.rows[0]])
        _report_each(state.observers, state.rows, state.policy, out)


def watched(policy: Any, observers: Sequence[Any], n_probes: Sequence[int]) -> Watched:
    """Return a policy's state with observers'; `n_probes` are the columns of all but the last."""
    rows = [sum(n_probes[: place + 1]) for place in range(len(observers))]
    return Watched(policy, tuple(observers), tuple(rows))


def _watch_each(observers, state, t, action, reward):
    for observer in observers:
        watch(observer, state, t, action, reward)


def _report_each(observers, rows, state, out):
    for observer, row in zip(observers, rows, strict=True):
        report(observer, state, out[row:])


# Compiled, a loop over observers, which differ in type, has to be unrolled: the first, the rest.


@overload(_watch_each, jit_options=INLINE)
def _compiled_watch_each(observers, state, t, action, reward):
    def unrolled(observers, state, t, action, reward):
        watch(observers[0], state, t, action, reward)
        _watch_each(observers[1:], state, t, action, reward)

    return unrolled if len(observers) else lambda observers, state, t, action, reward: None


@overload(_report_each, jit_options=INLINE)
def _compiled_report_each(observers, rows, state, out):
    def unrolled(observers, rows, state, out):
        report(observers[0], state, out[rows[0] :])
        _report_each(observers[1:], rows[1:], state, out)

    return unrolled if len(observers) else lambda observers, rows, state, out: None
