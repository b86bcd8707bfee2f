"""How far the groups of BF-UCB, GEF or UCB over groups are behind their quotas."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.loops import NEVER
from fairbandits.engine.protocol import implements, plays_in_lanes
from fairbandits.engine.width import greatest, where, whole_part
from fairbandits.observers.common import refuse
from fairbandits.policies.groups import Groups, owed


@plays_in_lanes
class DeficitsState(NamedTuple):
    """The numerator of each group's largest deficit right before it was served."""

    worst: np.ndarray


@dataclass(frozen=True)
class GroupDeficits:
    """The rounds that each group was served, and by how many it was behind at most.

    Notes
    -----
    All comparisons are of exact integers.

    Columns
    -------
    group_plays : pulls
        Rounds 1..t in which the arm's group was served. Range: whole number, 0 to t. One value for
        each replicate, round and group; the same at every arm of the group.
    group_deficit_sup : pulls
        Largest floor(beta_g s) - N_g(s) of the arm's group in rounds s <= t, beta_g its quota.
        Range: whole number. One value for each replicate, round and group; the same at every arm of
        the group.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Definition 2, Theorem 2.
    """

    probes: ClassVar[tuple[str, ...]] = ("group_plays", "group_deficit_sup")

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> DeficitsState:
        if not isinstance(getattr(state, "groups", None), Groups):
            refuse(self, policy, "BF-UCB, GEF, UCB over groups and their oracles")
        return DeficitsState(np.full(state.groups.served.size, NEVER))


@implements("watch", DeficitsState)
def _watch(observer, state, t, arm, reward):
    if t > 1:  # a group is furthest behind right before it is served
        groups = state.groups
        for g in range(len(observer.worst)):
            behind = owed(groups, g, t) + groups.denominator
            worst = observer.worst[g]
            observer.worst[g] = where((groups.now[0] == g) & (behind > worst), behind, worst)


@implements("report", DeficitsState)
def _report(observer, state, out):
    # The loop calls this at the end of a round, which is the one its counts add up to.
    groups = state.groups
    t = 0
    for g in range(len(groups.served)):
        t = t + groups.served[g]
    for g in range(len(groups.served)):
        most = greatest(observer.worst[g], owed(groups, g, t + 1))
        behind = whole_part(most, groups.denominator)
        for arm in range(groups.start[g], groups.start[g + 1]):
            out[0][arm] = groups.served[g]
            out[1][arm] = behind
