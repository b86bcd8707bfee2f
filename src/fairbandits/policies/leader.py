"""The leader: the arm of largest index, known in most rounds without a look at all arms.

An upper confidence index is mean_k + b(t) w_k, where b grows slowly with the clock, and mean_k and
w_k change only when arm k is pulled. A block of rounds is from one clock to a later one, `UNTIL`;
b lies between `LOW` and `HIGH` in all of them. Floating-point multiplication and addition are
monotone, so that no arm's computed index lies above `upper`, the one with b = `HIGH`. The arm whose
index with b = `LOW` lies strictly above all others' `upper` is what the full comparison would give:
the same arm, without any tolerance. As long as that can be said, neither a logarithm nor the other
arms are needed.

b is the square root of a logarithm. A computed logarithm is off by less than a unit in the last
place, and those of two clocks below 2**42 differ by more than that, so that b is monotone as well.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import NOT_NEGATIVE
from fairbandits.engine.inlining import INLINE

ARM, UNTIL = range(2)
RIVAL, LOW, HIGH = range(3)


class Leader(NamedTuple):
    """Indices mean_k + b w_k, and who leads: `marks` and `bounds`, see the constants above.

    `RIVAL` is the largest `upper` of all arms but the leader.
    """

    mean: np.ndarray
    width: np.ndarray
    upper: np.ndarray
    marks: np.ndarray
    bounds: np.ndarray


def nobody(n_arms: int) -> Leader:
    """Return the start: no leader, as no block has begun."""
    return Leader(*np.zeros((3, n_arms)), np.zeros(2, np.int64), np.zeros(3))


@register_jitable(**INLINE)
def ahead(clock):
    """Return the end of the block that begins at this clock: long enough to pay, yet sharp."""
    return clock + clock // 4096 + 16


@register_jitable(**INLINE)
def leads(leader, clock):
    """Return whether the leader's index is known to be the largest at this clock."""
    marks, bounds = leader.marks, leader.bounds
    arm = marks[ARM] & NOT_NEGATIVE
    return (
        clock <= marks[UNTIL]
        and leader.mean[arm] + bounds[LOW] * leader.width[arm] > bounds[RIVAL]
    )


@register_jitable(**INLINE)
def find(leader, clock):
    """Return the arm of largest index if the block says it, and make it the leader; else -1."""
    upper, bounds = leader.upper, leader.bounds
    if clock > leader.marks[UNTIL]:
        return -1
    arm = 0
    best = upper[0]
    rival = -math.inf
    for k in range(1, upper.size):
        value = upper[k]
        ahead_of_all = value > best
        rival = max(rival, best if ahead_of_all else value)
        arm = k if ahead_of_all else arm
        best = max(best, value)
    if leader.mean[arm] + bounds[LOW] * leader.width[arm] > rival:
        leader.marks[ARM] = arm
        bounds[RIVAL] = rival
        return arm
    return -1


@register_jitable(**INLINE)
def begin(leader, until, low, high):
    """Begin a block, in which b lies between `low` and `high`."""
    leader.marks[UNTIL] = until
    leader.bounds[LOW] = low
    leader.bounds[HIGH] = high
    for k in range(leader.upper.size):
        leader.upper[k] = leader.mean[k] + high * leader.width[k]


@register_jitable(**INLINE)
def crown(leader, arm, low):
    """Make `arm` the leader, which a full comparison with b = `low` has found."""
    rival = -math.inf
    for k in range(leader.upper.size):
        rival = max(rival, leader.upper[k] if k != arm else -math.inf)
    leader.marks[ARM] = arm
    leader.bounds[RIVAL] = rival
    leader.bounds[LOW] = low


@register_jitable(**INLINE)
def update(leader, arm, mean, width):
    """Take the new mean and width of an arm."""
    leader.mean[arm] = mean
    leader.width[arm] = width
    upper = mean + leader.bounds[HIGH] * width
    leader.upper[arm] = upper
    if arm != leader.marks[ARM]:
        leader.bounds[RIVAL] = max(leader.bounds[RIVAL], upper)
