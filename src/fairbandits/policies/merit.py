"""Merit functions, the most optimistic point of a confidence box, and draws by merit.

The arms of a group stand in rows whose number is a multiple of `BLOCK`, padded with zeros. The
order of all additions is fixed: the last bits decide ties in the released program. That program
sorts the arms by probability in each round. So for its draws each arm has a place in its group's
order besides. What is read in that order is kept by places, in rows one after the other, which the
lanes of a block can read together.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairbandits.engine.elementary import exp
from fairbandits.engine.protocol import inlined, not_inlined, plays_in_lanes
from fairbandits.engine.streams import unit
from fairbandits.engine.width import (
    Shared,
    anywhere,
    at,
    entry,
    greatest,
    lane,
    lanes_of,
    least,
    nearest,
    nonnegative,
    put_entry,
    ratio,
    sqrt,
    where,
)
from fairbandits.policies.groups import size_of, starts

BLOCK = 8
#: Ends of an interval whose gains differ by at most this tie. Rounding must not decide, since the
#: largest of equal ends can come out below the Phi of all of them.
TIE = 1e-13
POWER, EXPONENTIAL = range(2)
MERITS = {"power": POWER, "exponential": EXPONENTIAL}


def numbering(groups: Sequence[int]) -> np.ndarray:
    """Return the arms in the order of the released program, with the first group's rest last."""
    arms = np.arange(sum(groups))
    return np.concatenate([arms[:1], arms[groups[0] :], arms[1 : groups[0]]])


@plays_in_lanes
class Arms(NamedTuple):
    """Statistics of the arms, in ``columns`` rows for each group."""

    start: Shared  # of each group
    row_of: np.ndarray  # each arm's
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray  # 1 / sqrt(pulls)
    weight: np.ndarray
    place_of: np.ndarray  # row of each arm's place; the arm's own unless draws are rounded
    policy: np.ndarray  # by places: probabilities of the last draw from the group
    probability: np.ndarray  # by places: summed over the rounds
    placed_mean: np.ndarray  # by places
    placed_root: np.ndarray  # by places: 1 / sqrt(pulls)
    placed_weight: np.ndarray  # by places
    rank: np.ndarray  # by places: the arm's rank, which decides ties
    arm_of: np.ndarray  # arms by rank
    ends: np.ndarray  # sums of weights up to the end of each block but a group's last
    columns: int
    most_blocks: int
    cap: float
    rounded: bool
    ranked: bool


def begin(
    sizes: Sequence[int], uncut: bool, rounded: bool, numbering: Sequence[int] | None = None
) -> Arms:
    """Return the arms of groups before the first round; `numbering` decides ties if `rounded`."""
    columns = -(-max(sizes) // BLOCK) * BLOCK
    n_rows = len(sizes) * columns
    rows = np.concatenate([columns * g + np.arange(size) for g, size in enumerate(sizes)])
    inverse_root = np.zeros(n_rows)
    inverse_root[rows] = 0.0 if uncut else np.inf
    arm_of = np.arange(columns)
    if numbering is not None:
        arm_of[: len(numbering)] = numbering
    place_of = np.arange(n_rows)
    if rounded:
        place_of[:columns] = np.argsort(arm_of)
    names = ("sums", "mean", "weight", "policy", "probability", "placed_mean", "placed_weight")
    return Arms(
        start=starts(sizes),
        row_of=rows,
        pulls=np.zeros(n_rows, np.int64),
        **{name: np.zeros(n_rows) for name in names},
        inverse_root=inverse_root,
        place_of=place_of,
        placed_root=inverse_root.copy(),
        rank=np.tile(np.arange(columns), len(sizes)),
        arm_of=arm_of,
        ends=np.full(n_rows // BLOCK, np.inf),
        columns=columns,
        most_blocks=columns // BLOCK,
        cap=math.inf if uncut else 1.0,
        rounded=rounded,
        ranked=numbering is not None,
    )


@inlined
def learn_mean(arms, row, reward, as_released):
    """Count a pull of the arm in a row; return its number, and the arm's new mean."""
    n = arms.pulls[row] + 1
    arms.pulls[row] = n
    if as_released:  # counting the mean of the initial rewards once too often
        mean = (n * arms.mean[row] + reward) / (n + 1)
    else:
        total = arms.sums[row] + reward
        arms.sums[row] = total
        mean = total / n
    arms.mean[row] = mean
    return n, mean


@inlined
def learn_arm(arms, row, reward, as_released):
    """Count a pull of the arm in a row; return its new mean and 1 / sqrt(pulls)."""
    n, mean = learn_mean(arms, row, reward, as_released)
    inverse_root = 1.0 / sqrt(n)
    arms.inverse_root[row] = inverse_root
    return mean, inverse_root


@inlined
def learn_placed(arms, row, reward, as_released):
    """Do the same as `learn_arm`, by places too."""
    mean, inverse_root = learn_arm(arms, row, reward, as_released)
    if arms.rounded:
        place = arms.place_of[row]
        arms.placed_mean[place] = mean
        arms.placed_root[place] = inverse_root


@inlined
def merit_of(x, kind, c):
    """Return f(x): x ** c (0 ** 0 being 1), or exp(c x)."""
    if kind == EXPONENTIAL:
        return exp(c * x)
    if c == 1.0:
        return x
    if c == 0.0:
        return 1.0
    if c == 2.0:
        return x * x
    if c == 0.5:
        return math.sqrt(x)
    return x**c


@inlined
def fair_value(x, size, kind, c):
    """Return Phi(x) = sum f(x_i) x_i / sum f(x_i) over `size` entries, 0 if sum f is 0."""
    mass = 0.0
    total = 0.0
    for k in range(size):
        f = merit_of(x[k], kind, c)
        mass += f
        total += f * x[k]
    return total / mass if mass > 0.0 else 0.0


@inlined
def best_vertex(lower, upper, size, kind, c, out):
    """Write the point of the box [lower, upper] with the largest Phi into `out`; return that Phi.

    At the maximum lam = Phi(x), x maximises sum f(x_i)(x_i - lam). Each term first falls and then
    rises, so an end of its interval is best; ties go to the upper end. Iterating this climbs to the
    maximum over all vertices (Dinkelbach 1967).
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


@inlined
def products(v, w):
    (a, b, c, d), (e, f, g, h) = v
    (i, j, k, m), (n, o, p, q) = w
    return (a * i, b * j, c * k, d * m), (e * n, f * o, g * p, h * q)


@inlined
def tree(values):
    (a, b, c, d), (e, f, g, h) = values
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@inlined
def block_sum(rows, o):
    """Return the sum of the eight rows from `o`."""
    o = nonnegative(o)
    return tree(
        (
            (at(rows, o, 0), at(rows, o, 1), at(rows, o, 2), at(rows, o, 3)),
            (at(rows, o, 4), at(rows, o, 5), at(rows, o, 6), at(rows, o, 7)),
        )
    )


@inlined
def weigh(arms, g, width):
    """Write the optimistic means of group g as its weights; return sums of them and of squares."""
    total, squares = 0.0, 0.0
    n_blocks = blocks_of(arms, g)
    for b in range(n_blocks):
        o = nonnegative(g * arms.columns + BLOCK * b)
        weights = (_four(arms, o, width), _four(arms, o + 4, width))
        total = total + tree(weights)
        if b < n_blocks - 1:
            arms.ends[g * arms.most_blocks + b] = total
        squares = squares + tree(products(weights, weights))
    if arms.rounded:
        first = nonnegative(g * arms.columns)
        for k in range(size_of(arms, g)):
            place = first + k
            bound = _cut(arms, arms.placed_mean[place] + width * arms.placed_root[place])
            arms.placed_weight[place] = bound
    return total, squares


@inlined
def sum_weights(arms, g):
    """Return the sum of the weights of group g, and write those up to the ends of its blocks."""
    total = 0.0
    n_blocks = blocks_of(arms, g)
    for b in range(n_blocks):
        total = total + block_sum(arms.weight, g * arms.columns + BLOCK * b)
        if b < n_blocks - 1:
            arms.ends[g * arms.most_blocks + b] = total
    return total


@inlined
def blocks_of(arms, g):
    return (size_of(arms, g) + BLOCK - 1) // BLOCK


@inlined
def _four(arms, o, width):
    return (
        _weigh_one(arms, o, width),
        _weigh_one(arms, o + 1, width),
        _weigh_one(arms, o + 2, width),
        _weigh_one(arms, o + 3, width),
    )


@inlined
def _weigh_one(arms, row, width):
    weight = bound_of(arms, row, width)
    arms.weight[row] = weight
    return weight


@inlined
def bound_of(arms, row, width):
    """Return the optimistic mean of the arm in a row."""
    return _cut(arms, arms.mean[row] + width * arms.inverse_root[row])


@inlined
def _cut(arms, bound):
    return least(arms.cap, greatest(0.0, bound))


@inlined
def expose(arms, first, size, total, chosen):
    """Write and add up the probabilities weight / total of the rows where `chosen` holds."""
    share = ratio(1.0, total)
    first = nonnegative(first)
    for k in range(size):
        row = first + k
        p = arms.weight[row] * share
        arms.policy[row] = where(chosen, p, arms.policy[row])
        before = arms.probability[row]
        arms.probability[row] = where(chosen, before + p, before)


@inlined
def draw(arms, group, last, total, coin):
    """Return the place in its group, up to `last`, of the arm drawn by weight."""
    target = unit(coin) * total
    # cumulative weights do not decrease: counting those not above it needs no branch
    block = draw_block(arms, group, last, target)
    cumulated = sum_before(arms, group, block)
    place = BLOCK * block
    row = nonnegative(group * arms.columns + place)
    for j in range(BLOCK - 1):
        cumulated = cumulated + at(arms.weight, row, j)
        place = place + where(cumulated > target, 0, 1)
    return least(place, last)


@inlined
def draw_block(arms, group, last, target):
    """Return the block that is drawn from."""
    block, most = 0, 0
    ends = nonnegative(group * arms.most_blocks)
    for b in range(arms.most_blocks - 1):
        block = block + where(at(arms.ends, ends, b) > target, 0, 1)
        most = most + where(last >= BLOCK * (b + 1), 1, 0)
    return least(block, most)


@inlined
def sum_before(arms, group, block):
    """Return the sum of the weights of a group before a block."""
    before = arms.ends[group * arms.most_blocks + greatest(block - 1, 0)]
    return where(block > 0, before, 0.0)


@inlined
def draw_rounded(arms, g, chosen, total, coin):
    """Draw an arm of group g as the released program does; return it, or -1 if none is drawn.

    The arms are sorted by increasing probability, equal arms by their ranks. The first arm whose
    cumulative probability is strictly above a number rounded to thousandths is drawn; 1.000 can
    pass every arm. Probabilities are written and added up where `chosen` holds; the arm returned
    elsewhere means nothing.
    """
    first, size = nonnegative(g * arms.columns), size_of(arms, g)
    before, behind, wrong = 0.0, -1, 0
    for k in range(size):
        place = first + k
        # the last bits decide which arms pass the number 1.000: divide, as the program does
        p = where(chosen, arms.placed_weight[place] / total, arms.policy[place])
        arms.policy[place] = p
        summed = arms.probability[place]
        arms.probability[place] = where(chosen, summed + p, summed)
        rank = arms.rank[place]
        wrong = where(chosen & ((before > p) | ((before == p) & (behind > rank))), 1, wrong)
        before, behind = p, rank
    if anywhere(wrong > 0):
        _sort(arms, first, size, wrong)
    number = nearest(1000.0 * unit(coin)) / 1000.0
    passed, cumulated = 0, 0.0
    for k in range(size):
        cumulated = cumulated + arms.policy[first + k]
        passed = passed + where(number < cumulated, 0, 1)
    rank = arms.rank[first + least(passed, size - 1)]
    return where(passed < size, arms.arm_of[rank] if arms.ranked else rank, -1)


@not_inlined
def _sort(arms, first, size, wrong):
    """Sort by insertion where a group's arms are not in order: nearly all are in place."""
    for i in range(lanes_of(arms.rank)):
        if lane(wrong, i) > 0:
            for last in range(first + 1, first + size):
                place = last
                while place > first and _is_before(arms, place, place - 1, i):
                    _exchange(arms, place, place - 1, i)
                    place -= 1
            for place in range(first, first + size):
                row = int(entry(arms.rank, place, i))
                if arms.ranked:
                    row = int(entry(arms.arm_of, row, i))
                put_entry(arms.place_of, first + row, i, place)


@inlined
def _is_before(arms, place, other, i):
    p, q = entry(arms.policy, place, i), entry(arms.policy, other, i)
    return p < q or (p == q and entry(arms.rank, place, i) < entry(arms.rank, other, i))


@inlined
def _exchange(arms, place, other, i):
    _exchange_entries(arms.policy, place, other, i)
    _exchange_entries(arms.probability, place, other, i)
    _exchange_entries(arms.placed_mean, place, other, i)
    _exchange_entries(arms.placed_root, place, other, i)
    _exchange_entries(arms.placed_weight, place, other, i)
    _exchange_entries(arms.rank, place, other, i)


@inlined
def _exchange_entries(rows, place, other, i):
    value = entry(rows, place, i)
    put_entry(rows, place, i, entry(rows, other, i))
    put_entry(rows, other, i, value)
