"""BF-UCB for a block of replicates at once, with the numbers of one replicate at a time.

A lane does the operations of `bf_ucb` in their order. Groups are as many in all lanes, so that what
follows from sums over their arms is worked out for every group. As printed, nothing cuts the
optimistic means: they need sums only, and arms are looked up lane by lane. The readings that work
out every arm in each round are in `bf_ucb_cut_lanes`.
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
    greatest,
    least,
    load,
    logarithm,
    pick,
    put,
    root,
    select,
    store,
)
from fairbandits.policies import bf_ucb
from fairbandits.policies import merit as merits
from fairbandits.policies.bf_ucb_cut_lanes import CutLanes, cut_lanes
from fairbandits.policies.groups_lanes import products, served_group, tree
from fairbandits.policies.initial_rounds import GROUP

#: Place in `now` of the block of arms that was drawn from.
DRAWN = 1


class BFUCBLanes(NamedTuple):
    """`bf_ucb.BFUCBState` in every lane, as far as it is needed.

    Rows of arms stand one group after the other, padded; so do blocks, and the five ``moments`` of
    each. ``eight`` holds the means and the inverse roots of the block that was drawn from, as they
    were then. ``given`` and ``last`` are two arrays each, so are the ``shares`` and ``widths`` that
    `bf_ucb.BFUCBState` has in ``taken``. ``ends`` has infinity for the last block of a group.
    """

    quotas: np.ndarray
    served: np.ndarray
    value: np.ndarray
    total: np.ndarray
    width: np.ndarray
    given_shares: np.ndarray
    given_widths: np.ndarray
    drawn: np.ndarray
    last_share: np.ndarray
    last_width: np.ndarray
    now: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    probability: np.ndarray
    policy: np.ndarray
    taken_shares: np.ndarray
    taken_widths: np.ndarray
    eight: np.ndarray
    ends: np.ndarray
    moments: np.ndarray
    start: np.ndarray
    n_blocks: np.ndarray
    columns: int
    most_blocks: int
    denominator: int
    initial_rounds: int
    log_factor: float
    factor: float
    horizon: float
    by_horizon: bool
    released_mean: bool


def _block(state: bf_ucb.BFUCBState, wide: Any) -> BFUCBLanes | CutLanes | None:
    """Return the block of a state before the first round; None for other readings of BF-UCB."""
    if state.learner != bf_ucb.OPTIMISTIC or not (state.plain and fits(state.denominator)):
        return None
    if not state.summed:
        return None if state.by_horizon else cut_lanes(state)
    if state.sequential:
        return None

    def rows(n: int, of: float = 0.0) -> np.ndarray:
        return along_lanes([np.full(n, of)] * LANES)

    n_groups, columns = state.mean.shape
    most_blocks = columns // merits.BLOCK
    of_groups = ("served", "value", "total", "width", "given_shares", "given_widths")
    of_groups += ("last_share", "last_width")
    of_arms = ("pulls", "sums", "mean", "inverse_root", "probability", "policy")
    of_arms += ("taken_shares", "taken_widths")
    kept = ("start", "denominator", "initial_rounds", "log_factor", "factor", "horizon")
    kept += ("by_horizon", "released_mean")
    return BFUCBLanes(
        **{name: rows(n_groups) for name in of_groups},
        **{name: rows(n_groups * columns) for name in of_arms},
        **{name: getattr(state, name) for name in kept},
        quotas=numbers_along_lanes(state.quotas),
        drawn=rows(n_groups, -1.0),
        now=rows(2),
        eight=rows(2 * merits.BLOCK),
        ends=rows(n_groups * most_blocks, np.inf),
        moments=rows(5 * n_groups * most_blocks),
        n_blocks=-(-np.diff(state.start) // merits.BLOCK),
        columns=columns,
        most_blocks=most_blocks,
    )


plays_in_lanes(bf_ucb.BFUCBState, make=_block)


@implements("choose", BFUCBLanes)
def _choose(state, t, coin):
    n_groups = state.n_blocks.size
    if t <= state.initial_rounds:
        g = (t - 1) % n_groups
        turn = (t - 1) // n_groups
        group = every(g)
        store(state.now, GROUP, group)
        if turn < state.start[g + 1] - state.start[g]:
            row = g * state.columns + turn
            store(state.probability, row, load(state.probability, row) + 1.0)
            _fetch(state, group, every(turn // merits.BLOCK))
            return every(state.start[g] + turn)
    else:
        group = served_group(state, t)
        store(state.now, GROUP, group)
    return _expose(state, group, coin)


@register_jitable(**INLINE)
def _fetch(state, group, block):
    """Read the means and inverse roots of a block of each lane's group; return its first row."""
    store(state.now, DRAWN, block)
    row = group * float(state.columns) + merits.BLOCK * block
    for j in range(merits.BLOCK):
        store(state.eight, j, pick(state.mean[j:], row))
        store(state.eight, merits.BLOCK + j, pick(state.inverse_root[j:], row))
    return row


@register_jitable(**INLINE)
def _expose(state, group, coin):
    """Draw an arm of each lane's group by merit."""
    target, width, share = every(0.0), every(0.0), every(0.0)
    block, first, last, limit = every(0.0), every(0.0), every(0.0), every(0.0)
    for g in range(state.n_blocks.size):
        own = group == float(g)
        total, own_width = load(state.total, g), load(state.width, g)
        own_share = select(own & (total > 0.0), 1.0 / total, 0.0)
        width, share = select(own, own_width, width), select(own, own_share, share)
        shares, widths = load(state.given_shares, g), load(state.given_widths, g)
        store(state.given_shares, g, shares + own_share)
        store(state.given_widths, g, widths + own_share * own_width)
        store(state.last_share, g, select(own, own_share, load(state.last_share, g)))
        store(state.last_width, g, select(own, own_width, load(state.last_width, g)))
        target = select(own, coin * total, target)
        first = select(own, float(state.start[g]), first)
        last = select(own, state.start[g + 1] - state.start[g] - 1.0, last)
        limit = select(own, state.n_blocks[g] - 1.0, limit)
    ends = group * float(state.most_blocks)
    for b in range(state.most_blocks - 1):
        block = block + select(pick(state.ends[b:], ends) > target, 0.0, 1.0)
    block = least(block, limit)
    cumulated = select(block > 0.0, pick(state.ends, ends + greatest(block - 1.0, 0.0)), 0.0)
    row = _fetch(state, group, block)
    inside = every(0.0)
    for j in range(merits.BLOCK - 1):
        weight = load(state.eight, j) + width * load(state.eight, merits.BLOCK + j)
        cumulated = cumulated + weight
        inside = inside + select(cumulated > target, 0.0, 1.0)
    k = least(merits.BLOCK * block + inside, last)
    inside = k - merits.BLOCK * block
    weight = pick(state.eight, inside) + width * pick(state.eight[merits.BLOCK :], inside)
    put(state.policy, row + inside, weight * share)
    for g in range(state.n_blocks.size):
        store(state.drawn, g, select(group == float(g), k, load(state.drawn, g)))
    return first + k


@implements("learn", BFUCBLanes)
def _learn(state, t, arm, reward):
    group, block = load(state.now, GROUP), load(state.now, DRAWN)
    count, size, first = every(state.horizon), every(0.0), every(0.0)
    shares, widths = every(0.0), every(0.0)
    for g in range(state.n_blocks.size):
        own = group == float(g)
        served = load(state.served, g)
        served = select(own, served + 1.0, served)
        store(state.served, g, served)
        if not state.by_horizon:
            count = select(own, served, count)
        first = select(own, float(state.start[g]), first)
        size = select(own, float(state.start[g + 1] - state.start[g]), size)
        shares = select(own, load(state.given_shares, g), shares)
        widths = select(own, load(state.given_widths, g), widths)
    width = root(state.factor * logarithm(state.log_factor * count * size))
    for g in range(state.n_blocks.size):
        store(state.width, g, select(group == float(g), width, load(state.width, g)))
    k = arm - first
    row = group * float(state.columns) + k
    n = pick(state.pulls, row) + 1.0
    put(state.pulls, row, n)
    before = pick(state.mean, row)
    if state.released_mean and t > state.initial_rounds:
        mean = (n * before + reward) / (n + 1.0)
    else:
        sums = pick(state.sums, row) + reward
        put(state.sums, row, sums)
        mean = sums / n
    missing = before * (shares - pick(state.taken_shares, row))
    missing = missing + pick(state.inverse_root, row) * (widths - pick(state.taken_widths, row))
    put(state.probability, row, pick(state.probability, row) + missing)
    put(state.taken_shares, row, shares)
    put(state.taken_widths, row, widths)
    inverse_root = 1.0 / root(n)
    put(state.mean, row, mean)
    put(state.inverse_root, row, inverse_root)
    inside = k - merits.BLOCK * block
    means = _eight(state.eight, inside, mean)
    roots = _eight(state.eight[merits.BLOCK :], inside, inverse_root)
    _sum_groups(state, group, block, means, roots)


@register_jitable(**INLINE)
def _eight(array, inside, value):
    """Return eight rows, of which one has a new value in each lane."""
    return (
        (
            select(inside == 0.0, value, load(array, 0)),
            select(inside == 1.0, value, load(array, 1)),
            select(inside == 2.0, value, load(array, 2)),
            select(inside == 3.0, value, load(array, 3)),
        ),
        (
            select(inside == 4.0, value, load(array, 4)),
            select(inside == 5.0, value, load(array, 5)),
            select(inside == 6.0, value, load(array, 6)),
            select(inside == 7.0, value, load(array, 7)),
        ),
    )


@register_jitable(**INLINE)
def _sum_groups(state, group, block, means, roots):
    """Work out every group's total of optimistic means and its value, a block having new entries.

    What is written entry by entry cannot be read as a vector at once, so the moments are replaced.
    """
    new_means, new_roots = tree(means), tree(roots)
    new_squares = tree(products(means, means))
    new_products, new_inverses = tree(products(means, roots)), tree(products(roots, roots))
    for g in range(state.n_blocks.size):
        own = group == float(g)
        width = load(state.width, g)
        n_blocks = state.n_blocks[g]
        total, squares = every(0.0), every(0.0)
        for b in range(n_blocks):
            at = g * state.most_blocks + b
            changed = own & (block == float(b))
            moments = state.moments[5 * at :]
            total = total + (
                _moment(moments, 0, changed, new_means)
                + width * _moment(moments, 1, changed, new_roots)
            )
            if b < n_blocks - 1:
                store(state.ends, at, total)
            crossed = _moment(moments, 3, changed, new_products)
            inverses = _moment(moments, 4, changed, new_inverses)
            mixed = 2.0 * crossed + width * inverses
            squares = squares + (_moment(moments, 2, changed, new_squares) + width * mixed)
        store(state.total, g, total)
        store(state.value, g, select(total > 0.0, squares / total, 0.0))


@register_jitable(**INLINE)
def _moment(moments, place, changed, new):
    value = select(changed, new, load(moments, place))
    store(moments, place, value)
    return value


@implements("probe", BFUCBLanes)
def _probe(state, out):
    for g in range(state.n_blocks.size):
        shares, widths = load(state.given_shares, g), load(state.given_widths, g)
        share, width = load(state.last_share, g), load(state.last_width, g)
        for k in range(state.start[g + 1] - state.start[g]):
            row, arm = g * state.columns + k, state.start[g] + k
            mean, r = load(state.mean, row), load(state.inverse_root, row)
            missing = mean * (shares - load(state.taken_shares, row))
            missing = missing + r * (widths - load(state.taken_widths, row))
            store(out[0], arm, load(state.probability, row) + missing)
            policy = (mean + width * r) * share
            drawn = load(state.drawn, g) == float(k)
            store(out[1], arm, select(drawn, load(state.policy, row), policy))
