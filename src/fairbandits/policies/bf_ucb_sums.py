"""BF-UCB as printed, where optimistic means are not cut off: sums over arms follow from moments.

A pull changes the mean and r = 1 / sqrt(pulls) of one arm, and with them the sums of mean, r,
mean**2, mean * r and r**2 over one block of eight arms, its ``moments``, from which those of the
optimistic means mean + width * r and their squares follow for any width. Probabilities are added up
when an arm is pulled: ``given_shares`` and ``given_widths`` hold each group's sums of 1 / total and
width / total over the rounds, ``taken_shares`` and ``taken_widths`` each arm's sums that are added
to ``probability`` already.
"""

from typing import Any, NamedTuple

import numpy as np

from fairbandits.engine.protocol import inlined, plays_in_lanes
from fairbandits.engine.streams import unit
from fairbandits.engine.width import anywhere, at, least, ratio, where, whole
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits


@plays_in_lanes
class BFUCBState(NamedTuple):
    """As in `bf_ucb`, and each group's last draw: the arm's place, 1 / total and the width."""

    first: initial.InitialState
    groups: layout.Groups
    value: np.ndarray
    total: np.ndarray
    width: np.ndarray
    learner: int
    released_mean: bool
    given_shares: np.ndarray
    given_widths: np.ndarray
    last_share: np.ndarray
    last_width: np.ndarray
    taken_shares: np.ndarray
    taken_widths: np.ndarray
    drawn: np.ndarray
    block: np.ndarray  # that was drawn from
    eight: np.ndarray  # means and inverse roots of that block
    moments: np.ndarray

    def choose(state, t, coin):
        group = next_group(state, t, coin)
        if not initial.by_merit(state.first, t):
            g, _ = initial.turn_of(state.first, t)
            arm = initial.fixed_arm(state.first, t, coin)
            _fetch(state, g, whole((arm - state.groups.start[g]) / merits.BLOCK))
            return arm
        return _expose(state, group, coin)

    def learn(state, t, arm, reward):
        arms, block = state.first.arms, state.block[0]
        group = serve(state)
        row = arms.row_of[arm]
        shares, widths = 0.0, 0.0
        for g in range(len(state.total)):
            chosen = group == g
            shares = where(chosen, state.given_shares[g], shares)
            widths = where(chosen, state.given_widths[g], widths)
        arms.probability[row] += _not_taken(state, row, shares, widths)
        state.taken_shares[row] = shares
        state.taken_widths[row] = widths
        as_released = state.released_mean and t > state.first.rounds
        mean, inverse_root = merits.learn_arm(arms, row, reward, as_released)
        inside = row - (group * arms.columns + merits.BLOCK * block)
        means = _eight(state, 0, inside, mean)
        roots = _eight(state, merits.BLOCK, inside, inverse_root)
        _sum_groups(state, group, block, means, roots)

    def policy_of(state, g, row, mean, inverse_root):
        """Return an arm's probability in the last draw from its group, by its statistics then."""
        return (mean + state.last_width[g] * inverse_root) * state.last_share[g]

    def probe(state, out):
        arms = state.first.arms
        for g in range(len(state.total)):
            for k in range(layout.size_of(arms, g)):
                row, arm = g * arms.columns + k, arms.start[g] + k
                missing = _not_taken(state, row, state.given_shares[g], state.given_widths[g])
                out[0][arm] = arms.probability[row] + missing
                bound = arms.mean[row] + state.last_width[g] * arms.inverse_root[row]
                policy = bound * state.last_share[g]
                out[1][arm] = where(state.drawn[g] == k, arms.policy[row], policy)


def begin(common: tuple[Any, ...]) -> BFUCBState:
    """Return the state before the first round, with the fields that all readings share."""
    arms, n_groups = common[0].arms, len(common[1].served)
    return BFUCBState(
        *common,
        *np.zeros((4, n_groups)),
        *np.zeros((2, arms.mean.size)),
        np.full(n_groups, -1),
        np.zeros(1, np.int64),
        np.zeros(2 * merits.BLOCK),
        np.zeros(5 * arms.ends.size),
    )


@inlined
def next_group(state, t, coin):
    """Note which group is served in a round, in either kind of state, and return it."""
    groups = state.groups
    if t <= state.first.rounds:
        groups.now[0], _ = initial.turn_of(state.first, t)
    else:
        groups.now[0] = layout.served_group(groups, state.learner, state.value, t, coin)
    return groups.now[0]


@inlined
def serve(state):
    """Count a round of the served group, and compute its width; return it."""
    groups = state.groups
    group = groups.now[0]
    count, size = 1.0, 0
    for g in range(len(state.width)):
        chosen = group == g
        if anywhere(chosen):
            served = groups.served[g] + where(chosen, 1, 0)
            groups.served[g] = served
            count = where(chosen, served, count)
            size = where(chosen, layout.size_of(groups, g), size)
    width = initial.group_width(state.first, count, size)
    for g in range(len(state.width)):
        chosen = group == g
        if anywhere(chosen):
            state.width[g] = where(chosen, width, state.width[g])
    return group


@inlined
def _fetch(state, group, block):
    """Read the means and inverse roots of a block of the group; return its first row."""
    arms = state.first.arms
    state.block[0] = block
    row = group * arms.columns + merits.BLOCK * block
    for j in range(merits.BLOCK):
        state.eight[j] = at(arms.mean, row, j)
        state.eight[merits.BLOCK + j] = at(arms.inverse_root, row, j)
    return row


@inlined
def _expose(state, group, coin):
    """Draw an arm of the group by merit."""
    arms = state.first.arms
    target, width, share = 0.0, 0.0, 0.0
    first, last = 0, 0
    for g in range(len(state.total)):
        chosen = group == g
        if anywhere(chosen):
            total, own_width = state.total[g], state.width[g]
            own_share = where(chosen, ratio(1.0, total), 0.0)
            width, share = where(chosen, own_width, width), where(chosen, own_share, share)
            state.given_shares[g] += own_share
            state.given_widths[g] += own_share * own_width
            state.last_share[g] = where(chosen, own_share, state.last_share[g])
            state.last_width[g] = where(chosen, own_width, state.last_width[g])
            target = where(chosen, unit(coin) * total, target)
            first = where(chosen, arms.start[g], first)
            last = where(chosen, layout.size_of(arms, g) - 1, last)
    block = merits.draw_block(arms, group, last, target)
    cumulated = merits.sum_before(arms, group, block)
    row = _fetch(state, group, block)
    inside = 0
    for j in range(merits.BLOCK - 1):
        weight = state.eight[j] + width * state.eight[merits.BLOCK + j]
        cumulated = cumulated + weight
        inside = inside + where(cumulated > target, 0, 1)
    k = least(merits.BLOCK * block + inside, last)
    inside = k - merits.BLOCK * block
    weight = state.eight[inside] + width * at(state.eight, inside, merits.BLOCK)
    arms.policy[row + inside] = weight * share
    for g in range(len(state.total)):
        state.drawn[g] = where(group == g, k, state.drawn[g])
    return first + k


@inlined
def _not_taken(state, row, shares, widths):
    """Return the probability that an arm had in the rounds since its last pull."""
    arms = state.first.arms
    missing = arms.mean[row] * (shares - state.taken_shares[row])
    return missing + arms.inverse_root[row] * (widths - state.taken_widths[row])


@inlined
def _eight(state, first, inside, value):
    """Return eight rows, of which the arm's own has a new value."""
    rows = state.eight
    return _four(rows, first, inside, value), _four(rows, first + 4, inside - 4, value)


@inlined
def _four(rows, first, inside, value):
    return (
        where(inside == 0, value, rows[first]),
        where(inside == 1, value, rows[first + 1]),
        where(inside == 2, value, rows[first + 2]),
        where(inside == 3, value, rows[first + 3]),
    )


@inlined
def _sum_groups(state, group, block, means, roots):
    """Compute the total of optimistic means and the value of the group whose block has changed."""
    new_means, new_roots = merits.tree(means), merits.tree(roots)
    new_squares = merits.tree(merits.products(means, means))
    new_products = merits.tree(merits.products(means, roots))
    new_inverses = merits.tree(merits.products(roots, roots))
    arms = state.first.arms
    for g in range(len(state.total)):
        chosen = group == g
        if anywhere(chosen):
            width = state.width[g]
            n_blocks = merits.blocks_of(arms, g)
            total, squares = 0.0, 0.0
            for b in range(n_blocks):
                at_block = g * arms.most_blocks + b
                changed = chosen & (block == b)
                m = 5 * at_block
                first = _moment(state, m, changed, new_means)
                total = total + (first + width * _moment(state, m + 1, changed, new_roots))
                if b < n_blocks - 1:
                    arms.ends[at_block] = total
                crossed = _moment(state, m + 3, changed, new_products)
                inverses = _moment(state, m + 4, changed, new_inverses)
                mixed = 2.0 * crossed + width * inverses
                second = _moment(state, m + 2, changed, new_squares)
                squares = squares + (second + width * mixed)
            state.total[g] = total
            state.value[g] = ratio(squares, total)


@inlined
def _moment(state, row, changed, new):
    value = where(changed, new, state.moments[row])
    state.moments[row] = value
    return value
