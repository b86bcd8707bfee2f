"""A policy played unchanged, with observers; without any its own state is played."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from numba.extending import overload

from fairbandits.engine import protocol
from fairbandits.engine.protocol import INLINE, plays_in_lanes


@plays_in_lanes
class Watched(NamedTuple):
    """A state, perhaps watched itself; one more observer's, and the row where its columns begin."""

    policy: Any
    observer: Any
    row: int

    def choose(state, t, coin):
        return protocol.choose(state.policy, t, coin)

    def distribute(state, t, coin, out):
        protocol.distribute(state.policy, t, coin, out)

    def learn(state, t, action, reward):
        protocol.learn(state.policy, t, action, reward)
        protocol.watch(state.observer, unwatched(state), t, action, reward)

    def probe(state, out):
        protocol.probe(state.policy, out[: state.row])
        protocol.report(state.observer, unwatched(state), out[state.row :])


def watched(policy: Any, observers: Sequence[Any], n_probes: Sequence[int]) -> Watched:
    """Return a policy's state with observers'; `n_probes` are the columns of all but the last."""
    for number, observer in enumerate(observers, 1):
        policy = Watched(policy, observer, sum(n_probes[:number]))
    return policy


def unwatched(state):
    """Return the policy's own state."""
    return unwatched(state.policy) if isinstance(state, Watched) else state


@overload(unwatched, jit_options=INLINE)
def _unwatched(state):
    if state.instance_class is Watched:
        return lambda state: unwatched(state.policy)
    return lambda state: state
