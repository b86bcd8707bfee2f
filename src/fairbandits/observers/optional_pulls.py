"""The pulls in rounds when no group is behind its quota."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import assign
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import copy_rows, numbers_along_lanes, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import every, load, pick, put, select
from fairbandits.observers.refusal import refuse
from fairbandits.policies.bf_ucb import BFUCBState
from fairbandits.policies.group_ucb import GroupUCBState
from fairbandits.policies.initial_rounds import GROUP


class ServedState(NamedTuple):
    """Pulls of each arm so far, of BF-UCB, which says which group it serves."""

    optional: np.ndarray
    rounds: int  # of the initial phase


class PulledState(NamedTuple):
    """The same where the pulled arm's group is the one that is served."""

    optional: np.ndarray
    rounds: int


class ServedLanes(NamedTuple):
    """Of either in every lane, where the policy says which group it served."""

    optional: np.ndarray
    rounds: int


@dataclass(frozen=True)
class OptionalPulls:
    """The pulls of each arm after the initial rounds when no group is behind its quota.

    Notes
    -----
    A group is behind in round t if beta_g (t-1) - N_g is above 0. The column is ``optional``.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Algorithm 1.
    """

    probes: ClassVar[tuple[str, ...]] = ("optional",)

    def start(
        self, policy: Any, state: Any, n_arms: int, horizon: int
    ) -> ServedState | PulledState:
        """Return the state before the first round."""
        if not isinstance(state, BFUCBState | GroupUCBState):
            refuse(self, policy, "BF-UCB, GEF and UCB over groups")
        kind = ServedState if isinstance(state, BFUCBState) else PulledState
        return kind(np.zeros(n_arms, np.int64), policy.initial_rounds)


@implements("watch", ServedState)
def _watch_served(observer, state, t, arm, reward):
    _take(observer, state, t, arm, state.now[GROUP])


@implements("watch", PulledState)
def _watch_pulled(observer, state, t, arm, reward):
    _take(observer, state, t, arm, state.group_of[arm])


@register_jitable(**INLINE)
def _take(observer, state, t, arm, served):
    if t <= observer.rounds:
        return
    for g in range(state.quotas.size):
        before = state.served[g] - 1 if g == served else state.served[g]
        if state.quotas[g] * (t - 1) > state.denominator * before:
            return
    observer.optional[arm] += 1


def _report(observer, state, out):
    assign(out[0], observer.optional)


implements("report", ServedState)(_report)
implements("report", PulledState)(_report)


# ------------------------------------------------------------------------------------------ lanes


def _block(state: ServedState | PulledState, wide: Any) -> ServedLanes:
    return ServedLanes(numbers_along_lanes(state.optional), state.rounds)


plays_in_lanes(ServedState, make=_block)
plays_in_lanes(PulledState, make=_block)


@implements("watch", ServedLanes)
def _watch_lanes(observer, state, t, arm, reward):
    if t > observer.rounds:
        served = load(state.now, GROUP)
        optional = every(1.0)
        for g in range(state.quotas.shape[0]):
            after = load(state.served, g)
            before = select(served == float(g), after - 1.0, after)
            behind = load(state.quotas, g) * (t - 1.0) > state.denominator * before
            optional = select(behind, 0.0, optional)
        put(observer.optional, arm, pick(observer.optional, arm) + optional)


@implements("report", ServedLanes)
def _report_lanes(observer, state, out):
    copy_rows(out[0], observer.optional)
