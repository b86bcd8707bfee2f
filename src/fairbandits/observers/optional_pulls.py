"""The pulls in rounds when no group is behind its quota."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.lanes import plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import assign, where
from fairbandits.observers.refusal import refuse
from fairbandits.policies import bf_ucb, bf_ucb_sums
from fairbandits.policies.group_ucb import GroupUCBState
from fairbandits.policies.groups import GROUP

#: States that say which group was served.
WITH_GROUPS = (bf_ucb.BFUCBState, bf_ucb_sums.BFUCBState, GroupUCBState)


class OptionalState(NamedTuple):
    """Pulls of each arm so far."""

    optional: np.ndarray
    rounds: int  # of the initial phase


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

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> OptionalState:
        """Return the state before the first round."""
        if not isinstance(state, WITH_GROUPS):
            refuse(self, policy, "BF-UCB, GEF and UCB over groups")
        return OptionalState(np.zeros(n_arms, np.int64), policy.initial_rounds)


plays_in_lanes(OptionalState)


@implements("watch", OptionalState)
def _watch(observer, state, t, arm, reward):
    if t > observer.rounds:
        served = state.now[GROUP]
        optional = 1
        for g in range(len(state.quotas)):
            before = state.served[g] - where(served == g, 1, 0)
            behind = state.quotas[g] * (t - 1) > state.denominator * before
            optional = where(behind, 0, optional)
        observer.optional[arm] += optional


@implements("report", OptionalState)
def _report(observer, state, out):
    assign(out[0], observer.optional)
