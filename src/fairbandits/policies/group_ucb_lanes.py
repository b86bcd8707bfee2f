"""UCB over arms in groups for a block of replicates at once, with the numbers of one at a time.

Every lane compares all arms in every round, which is what a leader that stands spares a replicate
by itself; eight replicates at once take less time than that.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import (
    along_lanes,
    fits,
    numbers_along_lanes,
    plays_in_lanes,
)
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import (
    LANES,
    every,
    least,
    load,
    pick,
    put,
    root,
    select,
    store,
)
from fairbandits.policies import group_ucb, groups_lanes
from fairbandits.policies.initial_lanes import (
    InitialLanes,
    choose_each,
    initial_lanes,
    learn_each,
)
from fairbandits.policies.initial_rounds import GROUP


class GroupUCBLanes(NamedTuple):
    """`group_ucb.GroupUCBState` in every lane, without its leaders.

    ``order`` has the arms as they come where indices are equal, ``group_of`` each arm's group as a
    number in every lane, and ``inside`` whether a group's arms can be chosen: 1 or 0.
    """

    first: InitialLanes
    start: np.ndarray
    quotas: np.ndarray
    served: np.ndarray
    now: np.ndarray
    inside: np.ndarray
    group_of: np.ndarray
    of_arm: np.ndarray
    order: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    index: np.ndarray
    denominator: int
    inverse_delta: float
    kind: int
    cap: float
    grouped: bool
    random_ties: bool
    released_mean: bool


def _block(state: group_ucb.GroupUCBState, wide: Any) -> GroupUCBLanes | None:
    """Return the block of a state before the first round; None if its quotas are too fine."""
    if not fits(state.denominator):
        return None

    def rows(n: int) -> np.ndarray:
        return along_lanes([np.zeros(n)] * LANES)

    n_groups, n_arms = state.quotas.size, state.pulls.size
    kept = ("start", "denominator", "inverse_delta", "kind", "cap", "random_ties", "released_mean")
    of_arms = ("pulls", "sums", "mean", "inverse_root", "index")
    return GroupUCBLanes(
        first=initial_lanes(state.first),
        quotas=numbers_along_lanes(state.quotas),
        served=rows(n_groups),
        now=rows(1),
        inside=rows(n_groups),
        group_of=numbers_along_lanes(state.group_of),
        of_arm=state.group_of,
        order=np.argsort(state.rank),
        grouped=bool(state.quotas.any()),
        **{name: getattr(state, name) for name in kept},
        **{name: rows(n_arms) for name in of_arms},
    )


plays_in_lanes(group_ucb.GroupUCBState, make=_block)


@implements("choose", GroupUCBLanes)
def _choose(state, t, coin):
    if t <= state.first.initial_rounds:
        return choose_each(state.first, t, coin)
    n_arms, n_groups = state.order.size, state.served.shape[0]
    bonus = every(group_ucb.bonus_of(state, n_arms, t))
    if state.grouped:
        scope = groups_lanes.most_owed(state.quotas, state.denominator, state.served, t)
        for g in range(n_groups):
            own = scope == float(g)
            size = state.start[g + 1] - state.start[g]
            bonus = select(own, group_ucb.bonus_of(state, size, t), bonus)
            store(state.inside, g, select(own | (scope < 0.0), 1.0, 0.0))
    best, arm = every(-np.inf), every(0.0)
    for j in range(n_arms):
        k = state.order[j]
        index = least(state.cap, load(state.mean, k) + bonus * load(state.inverse_root, k))
        if state.grouped:
            index = select(load(state.inside, state.of_arm[k]) > 0.0, index, -np.inf)
        if state.random_ties:
            store(state.index, k, index)
        above = index > best
        best = select(above, index, best)
        arm = select(above, float(k), arm)
    if state.random_ties:
        return _any_of_best(state, best, coin)
    return arm


@register_jitable(**INLINE)
def _any_of_best(state, best, coin):
    """Return one of the arms of largest index by the coin, as `ties.best_arm` does."""
    tied = every(0.0)
    for k in range(state.index.shape[0]):
        tied = tied + select(load(state.index, k) == best, 1.0, 0.0)
    skip = coin * tied
    before, arm = every(0.0), every(0.0)
    for k in range(state.index.shape[0]):
        # of the tied arms the one before which there are as many as the whole part of `skip`
        own = load(state.index, k) == best
        arm = select(own & (before <= skip), float(k), arm)
        before = before + select(own, 1.0, 0.0)
    return arm


@implements("learn", GroupUCBLanes)
def _learn(state, t, arm, reward):
    early = t <= state.first.initial_rounds
    if early:
        learn_each(state.first, t, arm, reward)
    group = pick(state.group_of, arm)
    store(state.now, GROUP, group)
    for g in range(state.served.shape[0]):
        served = load(state.served, g)
        store(state.served, g, select(group == float(g), served + 1.0, served))
    n = pick(state.pulls, arm) + 1.0
    put(state.pulls, arm, n)
    if state.released_mean and not early:
        mean = (n * pick(state.mean, arm) + reward) / (n + 1.0)
    else:
        sums = pick(state.sums, arm) + reward
        put(state.sums, arm, sums)
        mean = sums / n
    put(state.mean, arm, mean)
    put(state.inverse_root, arm, 1.0 / root(n))


@implements("probe", GroupUCBLanes)
def _probe(state, out):
    pass
