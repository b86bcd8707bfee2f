"""How far the groups of BF-UCB, GEF or UCB over groups are behind their quotas."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.lanes import plays_in_lanes
from fairbandits.engine.loops import NEVER
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import greatest, where, whole_part
from fairbandits.observers.refusal import refuse
from fairbandits.policies import bf_ucb, bf_ucb_sums
from fairbandits.policies.group_ucb import GroupUCBState
from fairbandits.policies.groups import GROUP

#: States that say which group was served.
WITH_GROUPS = (bf_ucb.BFUCBState, bf_ucb_sums.BFUCBState, GroupUCBState)


class DeficitsState(NamedTuple):
    """The numerator of each group's largest deficit right before it was served."""

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

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> DeficitsState:
        """Return the state before the first round."""
        if not isinstance(state, WITH_GROUPS):
            refuse(self, policy, "BF-UCB, GEF and UCB over groups")
        return DeficitsState(np.full(state.quotas.size, NEVER))


plays_in_lanes(DeficitsState)


@implements("watch", DeficitsState)
def _watch(observer, state, t, arm, reward):
    if t > 1:  # a group is furthest behind right before it is served
        served = state.now[GROUP]
        for g in range(len(observer.worst)):
            owed = state.quotas[g] * (t - 1) - state.denominator * (state.served[g] - 1)
            worst = observer.worst[g]
            observer.worst[g] = where((served == g) & (owed > worst), owed, worst)


@implements("report", DeficitsState)
def _report(observer, state, out):
    # The loop calls this at the end of a round, which is the one its counts add up to.
    t = 0
    for g in range(len(state.served)):
        t = t + state.served[g]
    for g in range(len(state.served)):
        owed = state.quotas[g] * t - state.denominator * state.served[g]
        behind = whole_part(greatest(observer.worst[g], owed), state.denominator)
        for arm in range(state.start[g], state.start[g + 1]):
            out[0][arm] = state.served[g]
            out[1][arm] = behind
