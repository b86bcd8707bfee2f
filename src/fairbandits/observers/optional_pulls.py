"""The pulls in rounds when no group is behind its quota."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements, plays_in_lanes
from fairbandits.engine.width import assign, where
from fairbandits.observers.common import refuse
from fairbandits.policies.groups import Groups, owed


@plays_in_lanes
class OptionalState(NamedTuple):
    """Pulls of each arm so far."""

    optional: np.ndarray
    rounds: int  # of the initial phase


@dataclass(frozen=True)
class OptionalPulls:
    """The pulls of each arm after the initial rounds when no group is behind its quota.

    Notes
    -----
    A group is behind in round t if beta_g (t-1) - N_g is above 0.

    Columns
    -------
    optional : pulls
        Pulls of the arm after the initial rounds, in rounds when no group was behind its quota.
        Range: whole number, 0 to `plays`.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Algorithm 1.
    """

    probes: ClassVar[tuple[str, ...]] = ("optional",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> OptionalState:
        in_groups = isinstance(getattr(state, "groups", None), Groups)
        if not (in_groups and hasattr(policy, "initial_rounds")):
            refuse(self, policy, "BF-UCB, GEF and UCB over groups")
        return OptionalState(np.zeros(n_arms, np.int64), policy.initial_rounds)


@implements("watch", OptionalState)
def _watch(observer, state, t, arm, reward):
    if t > observer.rounds:
        groups = state.groups
        optional = 1
        for g in range(len(groups.served)):
            before = owed(groups, g, t) + where(groups.now[0] == g, groups.denominator, 0)
            optional = where(before > 0, 0, optional)
        observer.optional[arm] += optional


@implements("report", OptionalState)
def _report(observer, state, out):
    assign(out[0], observer.optional)
