"""Merit functions, the most optimistic point of a confidence box, and draws by merit.

Vectors of arms stand in rows whose length is a multiple of `BLOCK`, padded with zeros: sums are
then taken block by block, eight additions side by side instead of one after the other, and a draw
looks for the block first. The order of all additions is fixed.
"""

import math

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.inlining import INLINE, NOT_INLINED
from fairbandits.engine.streams import unit

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

    It is what a group earns a round if its arms have the means x and are drawn by merit.
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
    """Write the point of the box [lower, upper] with the largest Phi, and return that Phi.

    At the maximum lam = Phi(x), x maximises sum f(x_i)(x_i - lam), entry by entry. For f = x**c and
    f = exp(c x) with c >= 0 that function of x_i first falls and then rises, so an end of the
    interval is best: iterating this (Dinkelbach) climbs to the maximum over all vertices. For
    f(x) = x the upper end is taken if lower + upper >= lam. Ties go to the upper end: while all
    intervals are [0, 1] every vertex but 0 has Phi = 1, and the draw stays uniform.

    Parameters
    ----------
    lower, upper : ndarray of float, shape (>= size,)
        The box, 0 <= lower <= upper.
    size : int
        Number of arms.
    kind, c
        The merit function, see `merit_of`.
    out : ndarray of float, shape (>= size,)
        The maximiser.

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
def block_sum(w, o):
    """Return the sum of the eight entries from `o`."""
    return ((w[o] + w[o + 1]) + (w[o + 2] + w[o + 3])) + (
        (w[o + 4] + w[o + 5]) + (w[o + 6] + w[o + 7])
    )


@register_jitable(**INLINE)
def upper_bounds(mean, inverse_root, width, cap, n_blocks, out, changed, new_mean, new_root):
    """Write min(cap, mean + width * inverse_root), not below 0, over the first blocks.

    Entry `changed`, if it is not -1, gets its new mean and inverse root here: a processor that
    reads several numbers at once waits for one of them that was just written alone.
    """
    for k in range(BLOCK * n_blocks):
        m = new_mean if k == changed else mean[k]
        r = new_root if k == changed else inverse_root[k]
        out[k] = min(cap, max(0.0, m + width * r))
    if changed >= 0:
        mean[changed] = new_mean
        inverse_root[changed] = new_root


@register_jitable(**INLINE)
def sum_blocks(weight, n_blocks, ends):
    """Write the sum up to the end of each block; return the sum of all."""
    total = 0.0
    for b in range(n_blocks):
        part = block_sum(weight, BLOCK * b)
        total += part
        ends[b] = total
    return total


@register_jitable(**INLINE)
def block_product(v, w, o):
    """Return the sum of v w over the eight entries from `o`."""
    return ((v[o] * w[o] + v[o + 1] * w[o + 1]) + (v[o + 2] * w[o + 2] + v[o + 3] * w[o + 3])) + (
        (v[o + 4] * w[o + 4] + v[o + 5] * w[o + 5]) + (v[o + 6] * w[o + 6] + v[o + 7] * w[o + 7])
    )


@register_jitable(**INLINE)
def sum_squares(w, n_blocks):
    """Return the sum of the squares of the first blocks."""
    total = 0.0
    for b in range(n_blocks):
        total += block_product(w, w, BLOCK * b)
    return total


@register_jitable(**INLINE)
def expose(weight, total, divide, n_blocks, policy, probability):
    """Write the probabilities weight / total of the first blocks, and add them up."""
    if divide:
        for k in range(BLOCK * n_blocks):
            p = weight[k] / total
            policy[k] = p
            probability[k] += p
    else:  # nearly the same, and a division less for each arm
        share = 1.0 / total if total > 0.0 else 0.0  # never 0 for rewards in [0, 1]
        for k in range(BLOCK * n_blocks):
            p = weight[k] * share
            policy[k] = p
            probability[k] += p


@register_jitable(**INLINE)
def draw_by_weight(weight, ends, size, target):
    """Return the first index whose cumulated weight exceeds `target`, else the last one.

    `ends` are the cumulated weights at the ends of the blocks. Cumulated weights do not decrease,
    so counting those not above the target finds it, without a branch that nobody can predict.
    """
    return draw_inside(weight, ends, block_of(ends, size, target), size, target)


@register_jitable(**INLINE)
def block_of(ends, size, target):
    """Return the block that `draw_by_weight` draws from."""
    block = 0
    for b in range((size - 1) // BLOCK):
        block += 0 if ends[b] > target else 1
    return block


@register_jitable(**INLINE)
def draw_inside(weight, ends, block, size, target):
    """Return the index that `draw_by_weight` draws, of which the block is known."""
    cumulated = ends[block - 1] if block > 0 else 0.0
    place = BLOCK * block
    for k in range(BLOCK * block, BLOCK * block + BLOCK - 1):
        cumulated += weight[k]
        place += 0 if cumulated > target else 1
    return min(place, size - 1)


@register_jitable(**NOT_INLINED)
def _sort(p, order, ranks, size):
    """Sort by increasing p, equal ones by rank; by insertion, since nearly all are in place."""
    for j in range(1, size):
        arm, rank = order[j], ranks[j]
        place = j
        while place > 0:
            before = order[place - 1]
            if p[before] < p[arm] or (p[before] == p[arm] and ranks[place - 1] < rank):
                break
            order[place] = before
            ranks[place] = ranks[place - 1]
            place -= 1
        order[place] = arm
        ranks[place] = rank


@register_jitable(**INLINE)
def _ascending(p, order, ranks, size, out):
    """Write p in the order given; return how many neighbours are in the wrong order."""
    for j in range(size):
        out[j] = p[nonnegative(order[j])]
    wrong = 0
    for j in range(1, size):
        tie = out[j - 1] == out[j] and ranks[j - 1] > ranks[j]
        wrong += 1 if out[j - 1] > out[j] or tie else 0
    return wrong


@register_jitable(**INLINE)
def draw_rounded(p, order, ranks, size, coin, ascending, ends):
    """Draw as the released program does; return -1 if its rounded number lets every arm go by.

    The uniform number is rounded to thousandths, half to even. The arms go by increasing
    probability, equal ones by their ranks; the first whose cumulated probability is strictly above
    the number is drawn. The number 1.000 passes all of them, unless the sum rounds to above 1.

    The program adds up one after the other, and bits decide where a sum meets the number. Sums by
    blocks differ from its sums by less than a margin, so they are enough unless one is as near.

    Parameters
    ----------
    p : ndarray of float, shape (>= size,)
        Probabilities.
    order, ranks : ndarray of int, shape (>= size,)
        The arms in any order, e.g. the last round's, which is nearly this round's, and distinct
        numbers that settle ties; sorted here.
    size : int
        Number of arms.
    coin : int
        64-bit word.
    ascending, ends : ndarray of float, shape (a row,) and (blocks of a row,)
        Scratch, zero where no arm is.
    """
    while _ascending(p, order, ranks, size, ascending) > 0:
        _sort(p, order, ranks, size)
    number = np.rint(1000.0 * unit(coin)) / 1000.0
    total = sum_blocks(ascending, (size + BLOCK - 1) // BLOCK, ends)
    margin = 1e-14 * size
    place = draw_by_weight(ascending, ends, size, number + margin)
    if number + margin < total and place == draw_by_weight(ascending, ends, size, number - margin):
        return order[place]
    cumulated = 0.0
    for j in range(size):
        cumulated += ascending[j]
        if number < cumulated:
            return order[j]
    return -1
