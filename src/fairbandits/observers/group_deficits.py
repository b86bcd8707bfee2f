"""How far the groups of BF-UCB, GEF or UCB over groups are behind their quotas."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import numbers_along_lanes, plays_in_lanes
from fairbandits.engine.loops import NEVER
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import LANES, greatest, load, select, store
from fairbandits.observers.refusal import refuse
from fairbandits.policies.bf_ucb import BFUCBState
from fairbandits.policies.group_ucb import GroupUCBState
from fairbandits.policies.initial_rounds import GROUP


class ServedState(NamedTuple):
    """Of each group the numerator of its largest deficit right before it was served.

    This is of BF-UCB, which says which group it serves.
    """

    worst: np.ndarray


class PulledState(NamedTuple):
    """The same where the pulled arm's group is the one that is served."""

    worst: np.ndarray


class ServedLanes(NamedTuple):
    """Of either in every lane, where the policy says which group it served."""

    worst: np.ndarray


@dataclass(frozen=True)
class GroupDeficits:
    """The rounds that each group was served, and by how many it was behind at most.

    Notes
    -----
    The columns are, the same for all arms of a group, ``group_plays`` N_g and
    ``group_deficit_sup``, the largest floor(beta_g s) - N_g(s) of the rounds s <= t, in exact
    integers.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Definition 2, Theorem 2.
    """

    probes: ClassVar[tuple[str, ...]] = ("group_plays", "group_deficit_sup")

    def start(
        self, policy: Any, state: Any, n_arms: int, horizon: int
    ) -> ServedState | PulledState:
        """Return the state before the first round."""
        if not isinstance(state, BFUCBState | GroupUCBState):
            refuse(self, policy, "BF-UCB, GEF and UCB over groups")
        kind = ServedState if isinstance(state, BFUCBState) else PulledState
        return kind(np.full(state.quotas.size, NEVER))


@implements("watch", ServedState)
def _watch_served(observer, state, t, arm, reward):
    _take(observer, state, t, nonnegative(state.now[GROUP]))


@implements("watch", PulledState)
def _watch_pulled(observer, state, t, arm, reward):
    _take(observer, state, t, nonnegative(state.group_of[arm]))


@register_jitable(**INLINE)
def _take(observer, state, t, g):
    if t > 1:  # a group is furthest behind right before it is served
        owed = state.quotas[g] * (t - 1) - state.denominator * (state.served[g] - 1)
        observer.worst[g] = max(observer.worst[g], owed)


def _report(observer, state, out):
    # The loop calls this at the end of a round, which is the one its counts add up to.
    t = 0
    for g in range(state.served.size):
        t += state.served[g]
    for arm in range(state.group_of.size):
        g = state.group_of[arm]
        owed = state.quotas[g] * t - state.denominator * state.served[g]
        out[0, arm] = state.served[g]
        out[1, arm] = max(observer.worst[g], owed) // state.denominator


implements("report", ServedState)(_report)
implements("report", PulledState)(_report)


# ------------------------------------------------------------------------------------------ lanes


def _block(state: ServedState | PulledState, wide: Any) -> ServedLanes:
    return ServedLanes(numbers_along_lanes(state.worst))


plays_in_lanes(ServedState, make=_block)
plays_in_lanes(PulledState, make=_block)


@implements("watch", ServedLanes)
def _watch_lanes(observer, state, t, arm, reward):
    if t > 1:
        served = load(state.now, GROUP)
        for g in range(observer.worst.shape[0]):
            before = load(state.served, g) - 1.0
            owed = load(state.quotas, g) * (t - 1.0) - state.denominator * before
            worst = load(observer.worst, g)
            own = served == float(g)
            store(observer.worst, g, select(own, greatest(worst, owed), worst))


@implements("report", ServedLanes)
def _report_lanes(observer, state, out):
    for i in range(LANES):
        t = 0
        for g in range(state.served.shape[0]):
            t += int(state.served[g, i])
        for g in range(state.served.shape[0]):
            served = int(state.served[g, i])
            owed = int(state.quotas[g, i]) * t - state.denominator * served
            behind = max(int(observer.worst[g, i]), owed) // state.denominator
            for arm in range(state.start[g], state.start[g + 1]):
                out[0, arm, i] = served
                out[1, arm, i] = behind
