"""Readings of BF-UCB that work out every arm in each round, for a block of replicates at once.

These are the optimistic means that are cut, and the released draw by a rounded number. All groups
are worked out in every lane; a lane keeps what is of the group that it serves.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE, NOT_INLINED
from fairbandits.engine.lanes import along_lanes, numbers_along_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import (
    LANES,
    anywhere,
    every,
    greatest,
    least,
    load,
    logarithm,
    nearest,
    pick,
    put,
    root,
    select,
    store,
)
from fairbandits.policies import bf_ucb
from fairbandits.policies import merit as merits
from fairbandits.policies.groups_lanes import products, served_group, tree
from fairbandits.policies.initial_lanes import (
    InitialLanes,
    choose_each,
    initial_lanes,
    learn_each,
)
from fairbandits.policies.initial_rounds import GROUP, InitialState


class CutLanes(NamedTuple):
    """`bf_ucb.BFUCBState` in every lane, as far as it is needed.

    Rows of arms stand one group after the other, padded; so do the ``ends`` of their blocks, of
    which a group's last has infinity. ``row_of`` is each arm's row, ``order`` the places of a
    group's arms by increasing probability.
    """

    first: InitialLanes
    quotas: np.ndarray
    served: np.ndarray
    value: np.ndarray
    total: np.ndarray
    width: np.ndarray
    now: np.ndarray
    wrong: np.ndarray
    row_of: np.ndarray
    group_of: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    weight: np.ndarray
    policy: np.ndarray
    probability: np.ndarray
    order: np.ndarray
    ends: np.ndarray
    start: np.ndarray
    n_blocks: np.ndarray
    columns: int
    most_blocks: int
    denominator: int
    log_factor: float
    factor: float
    cap: float
    released_mean: bool
    rounded: bool


def cut_lanes(state: bf_ucb.BFUCBState) -> CutLanes:
    """Return the block of a state before the first round."""

    def rows(n: int, of: float = 0.0) -> np.ndarray:
        return along_lanes([np.full(n, of)] * LANES)

    n_groups, columns = state.mean.shape
    most_blocks = columns // merits.BLOCK
    scratch = {"weight": columns, "policy": columns, "ends": most_blocks}
    first = {name: getattr(state, name) for name in InitialState._fields}
    first |= {name: np.zeros(size) for name, size in scratch.items()}
    places = np.arange(state.group_of.size) - state.start[state.group_of]
    of_arms = ("pulls", "sums", "mean", "weight", "policy", "probability")
    kept = ("start", "denominator", "log_factor", "factor", "cap", "released_mean", "rounded")
    return CutLanes(
        **{name: rows(n_groups * columns) for name in of_arms},
        **{name: rows(n_groups) for name in ("served", "value", "total", "width")},
        **{name: getattr(state, name) for name in kept},
        first=initial_lanes(InitialState(**first)),
        quotas=numbers_along_lanes(state.quotas),
        now=rows(1),
        wrong=rows(1),
        row_of=numbers_along_lanes(columns * state.group_of + places),
        group_of=numbers_along_lanes(state.group_of),
        inverse_root=numbers_along_lanes(state.inverse_root.ravel()),
        order=numbers_along_lanes(state.order.ravel()),
        ends=rows(n_groups * most_blocks, np.inf),
        n_blocks=-(-np.diff(state.start) // merits.BLOCK),
        columns=columns,
        most_blocks=most_blocks,
    )


@implements("choose", CutLanes)
def _choose(state, t, coin):
    if t <= state.first.initial_rounds:
        return choose_each(state.first, t, coin)
    group = served_group(state, t)
    store(state.now, GROUP, group)
    first, last, total = every(0.0), every(0.0), every(0.0)
    for g in range(state.n_blocks.size):
        own = group == float(g)
        n_arms = state.start[g + 1] - state.start[g]
        first = select(own, float(state.start[g]), first)
        last = select(own, n_arms - 1.0, last)
        total = select(own, load(state.total, g), total)
        _expose(state, g, n_arms, own)
    if state.rounded:
        k = _draw_rounded(state, group, last, nearest(1000.0 * coin) / 1000.0)
        return select(k < 0.0, 0.0, first + k)
    return first + _draw(state, group, last, coin * total)


@register_jitable(**INLINE)
def _expose(state, g, n_arms, own):
    """Account for the probabilities of a group, in its own lanes."""
    total = load(state.total, g)
    share = select(total > 0.0, 1.0 / total, 0.0)
    for k in range(n_arms):
        row = g * state.columns + k
        weight = load(state.weight, row)
        p = weight / total if state.rounded else weight * share
        store(state.policy, row, select(own, p, load(state.policy, row)))
        before = load(state.probability, row)
        store(state.probability, row, select(own, before + p, before))


@register_jitable(**INLINE)
def _draw(state, group, last, target):
    """Return the place in its group of each lane's arm, as `merit.draw_by_weight` does."""
    block, limit = every(0.0), every(0.0)
    ends = group * float(state.most_blocks)
    for b in range(state.most_blocks - 1):
        block = block + select(pick(state.ends[b:], ends) > target, 0.0, 1.0)
        limit = limit + select(last >= merits.BLOCK * (b + 1.0), 1.0, 0.0)
    block = least(block, limit)
    cumulated = select(block > 0.0, pick(state.ends, ends + greatest(block - 1.0, 0.0)), 0.0)
    k = merits.BLOCK * block
    row = group * float(state.columns) + k
    for j in range(merits.BLOCK - 1):
        cumulated = cumulated + pick(state.weight[j:], row)
        k = k + select(cumulated > target, 0.0, 1.0)
    return least(k, last)


@register_jitable(**INLINE)
def _draw_rounded(state, group, last, number):
    """Return the place in its group of each lane's arm, as `merit.draw_rounded` does, or -1.

    The sums are those of the released program, one after the other.
    """
    row = group * float(state.columns)
    while True:
        arm, cumulated = every(-1.0), every(0.0)
        before, rank = every(0.0), every(-1.0)
        wrong = every(0.0)
        for j in range(state.columns):
            k = load(state.order, j)
            for g in range(1, state.n_blocks.size):
                k = select(group == float(g), load(state.order, g * state.columns + j), k)
            p = pick(state.policy, row + k)
            counts = last >= float(j)
            behind = (before > p) | ((before == p) & (rank > k))
            wrong = select(counts & behind, 1.0, wrong)
            before, rank = p, k
            cumulated = select(counts, cumulated + p, cumulated)
            arm = select(counts & (arm < 0.0) & (number < cumulated), k, arm)
        if not anywhere(wrong > 0.0):
            return arm
        store(state.wrong, 0, wrong)
        _sort(state, last)


@register_jitable(**NOT_INLINED)
def _sort(state, last):
    """Sort the arms of a group where they are in the wrong order, as `merit.draw_rounded` does."""
    order, policy = state.order, state.policy
    for i in range(LANES):
        if state.wrong[0, i] > 0.0:
            g = int(state.now[GROUP, i])
            first = g * state.columns
            for j in range(first + 1, first + state.start[g + 1] - state.start[g]):
                arm = order[j, i]
                p = policy[first + int(arm), i]
                place = j
                while place > first:
                    before = order[place - 1, i]
                    other = policy[first + int(before), i]
                    if other < p or (other == p and before < arm):
                        break
                    order[place, i] = before
                    place -= 1
                order[place, i] = arm


@implements("learn", CutLanes)
def _learn(state, t, arm, reward):
    early = t <= state.first.initial_rounds
    if early:
        learn_each(state.first, t, arm, reward)
        _copy(state, t)
    group = load(state.now, GROUP)
    count, size = every(0.0), every(0.0)
    for g in range(state.n_blocks.size):
        own = group == float(g)
        served = load(state.served, g)
        served = select(own, served + 1.0, served)
        store(state.served, g, served)
        count = select(own, served, count)
        size = select(own, float(state.start[g + 1] - state.start[g]), size)
    width = root(state.factor * logarithm(state.log_factor * count * size))
    for g in range(state.n_blocks.size):
        store(state.width, g, select(group == float(g), width, load(state.width, g)))
    row = pick(state.row_of, arm)
    n = pick(state.pulls, row) + 1.0
    put(state.pulls, row, n)
    if state.released_mean and not early:
        mean = (n * pick(state.mean, row) + reward) / (n + 1.0)
    else:
        sums = pick(state.sums, row) + reward
        put(state.sums, row, sums)
        mean = sums / n
    put(state.mean, row, mean)
    put(state.inverse_root, row, 1.0 / root(n))
    for g in range(state.n_blocks.size):
        _refresh(state, g)


@register_jitable(**NOT_INLINED)
def _copy(state, t):
    """Take what a round of the initial phase has done besides its pull."""
    first = state.first
    for i in range(LANES):
        g = first.now[i, GROUP]
        state.now[GROUP, i] = g
        size = first.start[g + 1] - first.start[g]
        drawn = not first.sequential and (t - 1) // state.n_blocks.size >= size
        for k in range(size):
            row = g * state.columns + k
            state.probability[row, i] = first.probability[i, g, k]
            if drawn:
                state.policy[row, i] = first.policy[i, k]


@register_jitable(**INLINE)
def _refresh(state, g):
    """Work out a group's optimistic means, their total and the value."""
    width = load(state.width, g)
    total, squares = every(0.0), every(0.0)
    for b in range(state.n_blocks[g]):
        o = g * state.columns + merits.BLOCK * b
        weights = (_four(state, o, width), _four(state, o + 4, width))
        total = total + tree(weights)
        if b < state.n_blocks[g] - 1:
            store(state.ends, g * state.most_blocks + b, total)
        squares = squares + tree(products(weights, weights))
    store(state.total, g, total)
    store(state.value, g, select(total > 0.0, squares / total, 0.0))


@register_jitable(**INLINE)
def _four(state, o, width):
    return (
        _weight(state, o, width),
        _weight(state, o + 1, width),
        _weight(state, o + 2, width),
        _weight(state, o + 3, width),
    )


@register_jitable(**INLINE)
def _weight(state, row, width):
    bound = load(state.mean, row) + width * load(state.inverse_root, row)
    weight = least(state.cap, greatest(0.0, bound))
    store(state.weight, row, weight)
    return weight


@implements("probe", CutLanes)
def _probe(state, out):
    for g in range(state.n_blocks.size):
        for arm in range(state.start[g], state.start[g + 1]):
            row = g * state.columns + arm - state.start[g]
            store(out[0], arm, load(state.probability, row))
            store(out[1], arm, load(state.policy, row))
