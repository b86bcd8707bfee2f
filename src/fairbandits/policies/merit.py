"""Merit functions, the most optimistic point of a confidence box, and draws by merit.

The arms of a group stand in rows whose number is a multiple of `BLOCK`, padded with zeros: sums are
then taken block by block, eight additions side by side instead of one after the other, and a draw
looks for the block first. The order of all additions is fixed. Functions of a state take any with
the fields that they name: BF-UCB's or those of its baselines.
"""

import math

from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE, NOT_INLINED
from fairbandits.engine.streams import unit
from fairbandits.engine.width import (
    anywhere,
    at,
    entry,
    greatest,
    lane,
    lanes_of,
    least,
    nearest,
    put_entry,
    ratio,
    where,
)

BLOCK = 8
#: Ends of an interval that gain alike up to this tie. Rounding must not decide, since the largest
#: of equal ends can come out below the Phi of all of them.
TIE = 1e-13
POWER, EXPONENTIAL = range(2)
MERITS = {"power": POWER, "exponential": EXPONENTIAL}


def padded(n: int) -> int:
    """Return the length of a row for `n` arms."""
    return -(-n // BLOCK) * BLOCK


@register_jitable(**INLINE)
def merit_of(x, kind, c):
    """Return f(x): x ** c (0 ** 0 being 1), or exp(c x)."""
    if kind == EXPONENTIAL:
        return math.exp(c * x)
    if c == 1.0:
        return x
    if c == 0.0:
        return 1.0
    if c == 2.0:
        return x * x
    if c == 0.5:
        return math.sqrt(x)
    return x**c


@register_jitable(**INLINE)
def fair_value(x, size, kind, c):
    """Return Phi(x) = sum f(x_i) x_i / sum f(x_i) over the first `size` entries, 0 if sum f is 0.

    It is a group's reward per round if its arms have the means x and are drawn by merit.
    """
    mass = 0.0
    total = 0.0
    for k in range(size):
        f = merit_of(x[k], kind, c)
        mass += f
        total += f * x[k]
    return total / mass if mass > 0.0 else 0.0


@register_jitable(**INLINE)
def best_vertex(lower, upper, size, kind, c, out):
    """Write the point of the box [lower, upper] with the largest Phi into `out`; return that Phi.

    At the maximum lam = Phi(x), x maximises sum f(x_i)(x_i - lam), entry by entry. For f = x**c and
    f = exp(c x) with c >= 0 that function of x_i first falls and then rises, so an end of the
    interval is best: iterating this (Dinkelbach) climbs to the maximum over all vertices. For
    f(x) = x the upper end is taken if lower + upper >= lam. Ties go to the upper end: while all
    intervals are [0, 1] every vertex but 0 has Phi = 1, and the draw stays uniform.

    Arrays have at least `size` entries, 0 <= lower <= upper; `merit_of` explains `kind` and `c`.

    References
    ----------
    W. Dinkelbach, "On nonlinear fractional programming", Management Science 13 (1967), 492-498.
    """
    for k in range(size):
        out[k] = upper[k]
    lam = fair_value(out, size, kind, c)
    for _ in range(64):  # a few suffice
        for k in range(size):
            low, high = lower[k], upper[k]
            if kind == POWER and c == 1.0:
                keep = low + high >= lam - TIE
            else:
                gain = merit_of(high, kind, c) * (high - lam)
                keep = gain >= merit_of(low, kind, c) * (low - lam) - TIE
            out[k] = high if keep else low
        value = fair_value(out, size, kind, c)
        if value <= lam + 1e-15:
            break
        lam = value
    return fair_value(out, size, kind, c)


@register_jitable(**INLINE)
def products(v, w):
    """Return the products of eight values and eight others."""
    (a, b, c, d), (e, f, g, h) = v
    (i, j, k, m), (n, o, p, q) = w
    return (a * i, b * j, c * k, d * m), (e * n, f * o, g * p, h * q)


@register_jitable(**INLINE)
def tree(values):
    """Return the sum of eight values."""
    (a, b, c, d), (e, f, g, h) = values
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@register_jitable(**INLINE)
def block_sum(rows, o):
    """Return the sum of the eight rows from `o`."""
    return tree(
        (
            (at(rows, o, 0), at(rows, o, 1), at(rows, o, 2), at(rows, o, 3)),
            (at(rows, o, 4), at(rows, o, 5), at(rows, o, 6), at(rows, o, 7)),
        )
    )


@register_jitable(**INLINE)
def weigh(state, g, width):
    """Write the optimistic means of group g as its weights; return their sum, and that of squares.

    They are mean_i + width / sqrt(N_i), cut off at the cap and at 0. The sums up to the end of each
    block but the last, which has infinity, go into `ends`.
    """
    total, squares = 0.0, 0.0
    n_blocks = blocks_of(state, g)
    for b in range(n_blocks):
        o = g * state.columns + BLOCK * b
        weights = (_four(state, o, width), _four(state, o + 4, width))
        total = total + tree(weights)
        if b < n_blocks - 1:
            state.ends[g * state.most_blocks + b] = total
        squares = squares + tree(products(weights, weights))
    return total, squares


@register_jitable(**INLINE)
def sum_weights(state, g):
    """Return the sum of the weights of group g, and write those up to the ends of its blocks."""
    total = 0.0
    n_blocks = blocks_of(state, g)
    for b in range(n_blocks):
        total = total + block_sum(state.weight, g * state.columns + BLOCK * b)
        if b < n_blocks - 1:
            state.ends[g * state.most_blocks + b] = total
    return total


@register_jitable(**INLINE)
def blocks_of(state, g):
    """Return the number of blocks that hold the arms of group g."""
    return (state.start[g + 1] - state.start[g] + BLOCK - 1) // BLOCK


@register_jitable(**INLINE)
def _four(state, o, width):
    return (
        _weigh_one(state, o, width),
        _weigh_one(state, o + 1, width),
        _weigh_one(state, o + 2, width),
        _weigh_one(state, o + 3, width),
    )


@register_jitable(**INLINE)
def _weigh_one(state, row, width):
    weight = bound_of(state, row, width)
    state.weight[row] = weight
    return weight


@register_jitable(**INLINE)
def bound_of(state, row, width):
    """Return the optimistic mean of the arm in a row."""
    bound = state.mean[row] + width * state.inverse_root[row]
    return least(state.cap, greatest(0.0, bound))


@register_jitable(**INLINE)
def expose(state, first, size, total, own):
    """Write and add up the probabilities weight / total of the rows where `own` holds."""
    share = ratio(1.0, total)
    for row in range(first, first + size):
        # the last bits decide which arms pass the number 1.000: divide, as the program does
        p = state.weight[row] / total if state.rounded else state.weight[row] * share
        state.policy[row] = where(own, p, state.policy[row])
        before = state.probability[row]
        state.probability[row] = where(own, before + p, before)


@register_jitable(**INLINE)
def draw(state, group, last, total, coin):
    """Return the place in its group of the arm that the coin draws by weight, or -1.

    `last` is the place of the last arm, and `total` the sum of the weights.
    """
    if state.rounded:
        return _draw_rounded(state, group, last, nearest(1000.0 * unit(coin)) / 1000.0)
    return draw_by_weight(state, group, last, unit(coin) * total)


@register_jitable(**INLINE)
def draw_by_weight(state, group, last, target):
    """Return the first place whose cumulated weight exceeds `target`, else the last one.

    Cumulated weights do not decrease, so counting those not above the target finds it without an
    unpredictable branch: first the block, and then the place in it.
    """
    block = draw_block(state, group, last, target)
    cumulated = sum_before(state, group, block)
    place = BLOCK * block
    row = group * state.columns + place
    for j in range(BLOCK - 1):
        cumulated = cumulated + at(state.weight, row, j)
        place = place + where(cumulated > target, 0, 1)
    return least(place, last)


@register_jitable(**INLINE)
def draw_block(state, group, last, target):
    """Return the block that is drawn from."""
    block, most = 0, 0
    ends = group * state.most_blocks
    for b in range(state.most_blocks - 1):
        block = block + where(at(state.ends, ends, b) > target, 0, 1)
        most = most + where(last >= BLOCK * (b + 1), 1, 0)
    return least(block, most)


@register_jitable(**INLINE)
def sum_before(state, group, block):
    """Return the sum of the weights of a group before a block."""
    before = state.ends[group * state.most_blocks + greatest(block - 1, 0)]
    return where(block > 0, before, 0.0)


@register_jitable(**INLINE)
def _draw_rounded(state, group, last, number):
    """Draw as the released program does; return -1 if its rounded number passes every arm.

    The uniform number is rounded to thousandths, half to even. The arms go by increasing
    probability, equal ones by their ranks; the first whose cumulated probability is strictly above
    the number is drawn. The number 1.000 passes all of them, unless the sum rounds to above 1. The
    sums are added in the program's order, since the last bits decide whether one reaches a number.

    `order` has the ranks of each group's arms in the last round's order, which is nearly this
    round's.
    """
    row = group * state.columns
    while True:
        arm, cumulated = -1, 0.0
        before, behind, wrong = 0.0, -1, 0
        for j in range(state.columns):
            rank = state.order[j]
            for g in range(1, len(state.order) // state.columns):
                rank = where(group == g, state.order[g * state.columns + j], rank)
            k = state.arm_of[rank] if state.ranked else rank
            p = state.policy[row + k]
            counts = last >= j
            wrong = where(counts & ((before > p) | ((before == p) & (behind > rank))), 1, wrong)
            before, behind = p, rank
            cumulated = where(counts, cumulated + p, cumulated)
            arm = where(counts & (arm < 0) & (number < cumulated), k, arm)
        if not anywhere(wrong > 0):
            return arm
        _sort(state, row, last, wrong)


@register_jitable(**NOT_INLINED)
def _sort(state, row, last, wrong):
    """Sort by insertion where a group's arms are not in order: nearly all are in place."""
    for i in range(lanes_of(state.order)):
        if lane(wrong, i) > 0:
            first = int(lane(row, i))
            for j in range(first + 1, first + int(lane(last, i)) + 1):
                rank = entry(state.order, j, i)
                p = _of_rank(state, first, rank, i)
                place = j
                while place > first:
                    before = entry(state.order, place - 1, i)
                    other = _of_rank(state, first, before, i)
                    if other < p or (other == p and before < rank):
                        break
                    put_entry(state.order, place, i, before)
                    place -= 1
                put_entry(state.order, place, i, rank)


@register_jitable(**INLINE)
def _of_rank(state, first, rank, i):
    k = int(rank)
    if state.ranked:
        k = int(entry(state.arm_of, k, i))
    return entry(state.policy, first + k, i)
