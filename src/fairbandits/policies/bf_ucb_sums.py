"""BF-UCB as printed, where nothing cuts the optimistic means: sums over arms follow from moments.

A pull changes the mean and 1 / sqrt(pulls), r, of one arm, and with them the sums of mean, r,
mean**2, mean * r and r**2 over one block of eight arms, its ``moments``. The sum of the optimistic
means mean + width * r and of their squares follow from these for any width. Probabilities are added
up when an arm is pulled: ``given_shares`` and ``given_widths`` hold each group's sums of 1 / total
and width / total over the rounds, ``taken_shares`` and ``taken_widths`` their parts that are
already in ``probability``.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import fits, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.streams import unit
from fairbandits.engine.width import Shared, anywhere, at, least, ratio, sqrt, where, whole
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies.groups import GROUP

#: Place in `now` of the block of arms that was drawn from.
DRAWN = 1


class BFUCBState(NamedTuple):
    """Statistics of the groups and of the arms, in rows as in `initial_rounds.InitialState`.

    At the last draw of each group: ``eight`` has the means and inverse roots of the block drawn
    from, ``drawn`` the arm's place, ``last_share`` and ``last_width`` 1 / total and the width.
    """

    start: Shared
    row_of: np.ndarray
    group_of: np.ndarray
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
    columns: int
    most_blocks: int
    denominator: int
    initial_rounds: int
    largest: int
    log_factor: float
    factor: float
    horizon: float
    by_horizon: bool
    learner: int
    sequential: bool
    released_mean: bool


def begin(groups: tuple[int, ...], common: dict[str, Any]) -> BFUCBState:
    """Return the state before the first round, with these fields that all readings share."""
    rows = initial.rows_of(groups, True)
    kept = ("start", "row_of", "pulls", "sums", "mean", "probability", "policy", "ends", "columns")
    n_rows = rows["mean"].size
    of_groups = ("given_shares", "given_widths", "last_share", "last_width")
    return BFUCBState(
        **common,
        **{name: rows[name] for name in (*kept, "most_blocks")},
        **{name: np.zeros(len(groups)) for name in of_groups},
        inverse_root=np.zeros(n_rows),
        taken_shares=np.zeros(n_rows),
        taken_widths=np.zeros(n_rows),
        drawn=np.full(len(groups), -1),
        eight=np.zeros(2 * merits.BLOCK),
        moments=np.zeros(5 * n_rows // merits.BLOCK),
    )


plays_in_lanes(BFUCBState, lambda state: fits(state.denominator))


@implements("choose", BFUCBState)
def _choose(state, t, coin):
    if t <= state.initial_rounds:
        g, turn = initial.turn_of(state, t)
        state.now[GROUP] = g
        if turn < state.start[g + 1] - state.start[g] or state.sequential:
            arm = initial.fixed_arm(state, g, turn, coin)
            _fetch(state, g, whole((arm - state.start[g]) / merits.BLOCK))
            return arm
    else:
        state.now[GROUP] = layout.served_group(state, t, coin)
    return _expose(state, state.now[GROUP], coin)


@register_jitable(**INLINE)
def _fetch(state, group, block):
    """Read the means and inverse roots of a block of the group; return its first row."""
    state.now[DRAWN] = block
    row = group * state.columns + merits.BLOCK * block
    for j in range(merits.BLOCK):
        state.eight[j] = at(state.mean, row, j)
        state.eight[merits.BLOCK + j] = at(state.inverse_root, row, j)
    return row


@register_jitable(**INLINE)
def _expose(state, group, coin):
    """Draw an arm of the group by merit."""
    target, width, share = 0.0, 0.0, 0.0
    first, last = 0, 0
    for g in range(len(state.quotas)):
        own = group == g
        if anywhere(own):
            total, own_width = state.total[g], state.width[g]
            own_share = where(own, ratio(1.0, total), 0.0)
            width, share = where(own, own_width, width), where(own, own_share, share)
            state.given_shares[g] += own_share
            state.given_widths[g] += own_share * own_width
            state.last_share[g] = where(own, own_share, state.last_share[g])
            state.last_width[g] = where(own, own_width, state.last_width[g])
            target = where(own, unit(coin) * total, target)
            first = where(own, state.start[g], first)
            last = where(own, state.start[g + 1] - state.start[g] - 1, last)
    block = merits.draw_block(state, group, last, target)
    cumulated = merits.sum_before(state, group, block)
    row = _fetch(state, group, block)
    inside = 0
    for j in range(merits.BLOCK - 1):
        weight = state.eight[j] + width * state.eight[merits.BLOCK + j]
        cumulated = cumulated + weight
        inside = inside + where(cumulated > target, 0, 1)
    k = least(merits.BLOCK * block + inside, last)
    inside = k - merits.BLOCK * block
    weight = state.eight[inside] + width * at(state.eight, inside, merits.BLOCK)
    state.policy[row + inside] = weight * share
    for g in range(len(state.quotas)):
        state.drawn[g] = where(group == g, k, state.drawn[g])
    return first + k


@implements("learn", BFUCBState)
def _learn(state, t, arm, reward):
    group, block = state.now[GROUP], state.now[DRAWN]
    initial.serve(state, group)
    row = state.row_of[arm]
    n = state.pulls[row] + 1
    state.pulls[row] = n
    shares, widths = 0.0, 0.0
    for g in range(len(state.quotas)):
        own = group == g
        shares = where(own, state.given_shares[g], shares)
        widths = where(own, state.given_widths[g], widths)
    state.probability[row] += _not_taken(state, row, shares, widths)
    state.taken_shares[row] = shares
    state.taken_widths[row] = widths
    released = state.released_mean and t > state.initial_rounds
    mean = layout.new_mean(state, row, n, reward, released)
    inverse_root = 1.0 / sqrt(n)
    state.mean[row] = mean
    state.inverse_root[row] = inverse_root
    inside = row - (group * state.columns + merits.BLOCK * block)
    means = _eight(state, 0, inside, mean)
    roots = _eight(state, merits.BLOCK, inside, inverse_root)
    _sum_groups(state, group, block, means, roots)


@register_jitable(**INLINE)
def _not_taken(state, row, shares, widths):
    """Return the probability that an arm had in the rounds since its last pull."""
    missing = state.mean[row] * (shares - state.taken_shares[row])
    return missing + state.inverse_root[row] * (widths - state.taken_widths[row])


@register_jitable(**INLINE)
def _eight(state, first, inside, value):
    """Return eight rows, of which the arm's own has a new value."""
    rows = state.eight
    return (
        (
            where(inside == 0, value, rows[first]),
            where(inside == 1, value, rows[first + 1]),
            where(inside == 2, value, rows[first + 2]),
            where(inside == 3, value, rows[first + 3]),
        ),
        (
            where(inside == 4, value, rows[first + 4]),
            where(inside == 5, value, rows[first + 5]),
            where(inside == 6, value, rows[first + 6]),
            where(inside == 7, value, rows[first + 7]),
        ),
    )


@register_jitable(**INLINE)
def _sum_groups(state, group, block, means, roots):
    """Compute the total of optimistic means and the value of the group whose block has changed.

    The moments are replaced as a whole: after writes entry by entry the processor would wait for
    its cache before it reads them as one vector.
    """
    new_means, new_roots = merits.tree(means), merits.tree(roots)
    new_squares = merits.tree(merits.products(means, means))
    new_products = merits.tree(merits.products(means, roots))
    new_inverses = merits.tree(merits.products(roots, roots))
    for g in range(len(state.quotas)):
        own = group == g
        if anywhere(own):
            width = state.width[g]
            n_blocks = merits.blocks_of(state, g)
            total, squares = 0.0, 0.0
            for b in range(n_blocks):
                at_block = g * state.most_blocks + b
                changed = own & (block == b)
                m = 5 * at_block
                first = _moment(state, m, changed, new_means)
                total = total + (first + width * _moment(state, m + 1, changed, new_roots))
                if b < n_blocks - 1:
                    state.ends[at_block] = total
                crossed = _moment(state, m + 3, changed, new_products)
                inverses = _moment(state, m + 4, changed, new_inverses)
                mixed = 2.0 * crossed + width * inverses
                second = _moment(state, m + 2, changed, new_squares)
                squares = squares + (second + width * mixed)
            state.total[g] = total
            state.value[g] = ratio(squares, total)


@register_jitable(**INLINE)
def _moment(state, row, changed, new):
    value = where(changed, new, state.moments[row])
    state.moments[row] = value
    return value


@implements("probe", BFUCBState)
def _probe(state, out):
    for g in range(len(state.quotas)):
        for k in range(state.start[g + 1] - state.start[g]):
            row, arm = g * state.columns + k, state.start[g] + k
            missing = _not_taken(state, row, state.given_shares[g], state.given_widths[g])
            out[0][arm] = state.probability[row] + missing
            bound = state.mean[row] + state.last_width[g] * state.inverse_root[row]
            policy = bound * state.last_share[g]
            out[1][arm] = where(state.drawn[g] == k, state.policy[row], policy)
