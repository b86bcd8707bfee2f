"""The leader: the arm of largest index, known in most rounds without a look at all arms.

An upper confidence index is mean_k + b(t) / sqrt(N_k), where b grows slowly with the clock, and
mean_k and N_k, its number of pulls, change only when arm k is pulled. A block of rounds is from one
clock to a later one, `UNTIL`; b lies between `LOW` and `HIGH` in all of them. Floating-point
multiplication and addition are monotone, so that no arm's computed index lies above `upper`, the
one with b = `HIGH`. The arm whose index with b = `LOW` lies strictly above all others' `upper` is
what the full comparison would give: the same arm, without any tolerance. As long as that can be
said, neither a logarithm nor the other arms are needed.

Of many arms, those with the largest `upper` are the contenders. An arm whose index lies strictly
above `REST`, the largest `upper` of the others, has to be compared with contenders only.

b is the square root of a logarithm. A computed logarithm is off by less than a unit in the last
place, and those of two clocks below 2**42 differ by more than that, so that b is monotone as well.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.inlining import INLINE, NOT_INLINED

ARM, UNTIL, COUNT = range(3)
RIVAL, LOW, HIGH, REST = range(4)
CONTENDERS = 16


class Leader(NamedTuple):
    """Indices mean_k + b / sqrt(N_k), and who leads: `marks` and `bounds`, see the constants above.

    `RIVAL` is at least the largest `upper` of all arms but the leader, and `COUNT` the number of
    contenders.
    """

    mean: np.ndarray
    inverse_root: np.ndarray
    upper: np.ndarray
    contenders: np.ndarray
    marks: np.ndarray
    bounds: np.ndarray


def nobody(n_arms: int) -> Leader:
    """Return the start: no leader, as no block has begun."""
    contenders = np.zeros(min(n_arms, CONTENDERS), np.int64)
    return Leader(*np.zeros((3, n_arms)), contenders, np.zeros(3, np.int64), np.zeros(4))


@register_jitable(**INLINE)
def ahead(clock):
    """Return the end of the block that begins at this clock: long enough to pay, yet sharp."""
    return clock + clock // 1024 + 32


@register_jitable(**INLINE)
def begin(leader, low, high, until, most):
    """Begin a block for the arms low .. high - 1, in which b is at most `most`."""
    leader.marks[UNTIL] = until
    leader.bounds[HIGH] = most
    leader.bounds[RIVAL] = math.inf  # nobody leads yet
    for k in range(low, high):
        leader.upper[k] = leader.mean[k] + most * leader.inverse_root[k]
    _choose_contenders(leader, low, high)


@register_jitable(**NOT_INLINED)
def _choose_contenders(leader, low, high):
    """Choose the arms of largest `upper`."""
    upper, contenders = leader.upper, leader.contenders
    chosen = 0
    rest = -math.inf
    for k in range(low, high):
        value = upper[k]
        if chosen == contenders.size:
            last = upper[contenders[chosen - 1]]
            if value <= last:
                rest = max(rest, value)
                continue
            rest = max(rest, last)
            chosen -= 1
        place = chosen
        for j in range(chosen, 0, -1):  # they stand in decreasing order
            if upper[contenders[j - 1]] >= value:
                break
            contenders[j] = contenders[j - 1]
            place = j - 1
        contenders[place] = k
        chosen += 1
    leader.marks[COUNT] = chosen
    leader.bounds[REST] = rest


@register_jitable(**INLINE)
def find(leader, low, high, bonus, lowest, cap=math.inf):
    """Return the arm of largest index for b = `bonus`, and make it the leader.

    Asked are the arms low .. high - 1. If `lowest`, that arm of several with the same index is
    returned. Without it they are told apart by a full comparison, as those at the `cap` are where
    indices are cut off: -1.
    """
    bounds = leader.bounds
    arm, best, equal = _best_contender(leader, bonus, lowest)
    if not best > bounds[REST]:
        _choose_contenders(leader, low, high)
        arm, best, equal = _best_contender(leader, bonus, lowest)
    if equal or not bounds[REST] < best < cap:
        return -1
    _crown(leader, arm, bonus)
    return arm


@register_jitable(**INLINE)
def _best_contender(leader, bonus, lowest):
    """Return the contender of largest index, this index, and whether others that matter have it."""
    arm = nonnegative(leader.contenders[0])
    best = leader.mean[arm] + bonus * leader.inverse_root[arm]
    equal = False
    for j in range(1, leader.marks[COUNT]):
        k = nonnegative(leader.contenders[j])
        value = leader.mean[k] + bonus * leader.inverse_root[k]
        if value == best:
            equal = not lowest
            arm = min(arm, k)
        elif value > best:
            equal = False
            arm = k
            best = value
    return arm, best, equal


@register_jitable(**INLINE)
def _crown(leader, arm, bonus):
    rival = leader.bounds[REST]
    for j in range(leader.marks[COUNT]):
        k = nonnegative(leader.contenders[j])
        rival = max(rival, leader.upper[k] if k != arm else -math.inf)
    leader.marks[ARM] = arm
    leader.bounds[LOW] = bonus
    leader.bounds[RIVAL] = rival


@register_jitable(**INLINE)
def crown(leader, low, high, arm, bonus):
    """Make `arm` the leader, which a full comparison with b = `bonus` has found."""
    rival = -math.inf
    for k in range(low, high):
        rival = max(rival, leader.upper[k] if k != arm else -math.inf)
    leader.marks[ARM] = arm
    leader.bounds[LOW] = bonus
    leader.bounds[RIVAL] = rival
    leader.bounds[REST] = math.inf  # it need not be a contender: they have to be chosen anew


@register_jitable(**INLINE)
def update(leader, arm):
    """Take note that an arm's mean and 1 / sqrt(N) have changed."""
    bounds = leader.bounds
    upper = leader.mean[arm] + bounds[HIGH] * leader.inverse_root[arm]
    leader.upper[arm] = upper
    if arm != leader.marks[ARM]:
        bounds[RIVAL] = max(bounds[RIVAL], upper)
        bounds[REST] = max(bounds[REST], upper)
