"""What the released program of BF-UCB's authors does in another way than their paper."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from fairbandits.engine.protocol import inlined, not_inlined
from fairbandits.engine.width import anywhere, entry, lane, lanes_of, put_entry, where
from fairbandits.policies.parameters import one_of

#: Two readings of BF-UCB: as printed, and as in its authors' program.
VERSIONS = ("paper", "released")
#: The type of a switch between them.
Version = Annotated[str, one_of(*VERSIONS)]


def numbering(groups: Sequence[int]) -> np.ndarray:
    """Return the arms in the order of the released program, in which tied ones are tried.

    Its first arm is that of the first group; the other groups come next, and the rest of the first
    group last.
    """
    arms = np.arange(sum(groups))
    return np.concatenate([arms[:1], arms[groups[0] :], arms[1 : groups[0]]])


@inlined
def running_mean(mean, n, reward):
    """Return the program's mean after the n-th reward.

    It is updated after the count has grown, so that the mean of the initial rewards counts once too
    often. It is computed as there, since its rounding decides ties.
    """
    return (n * mean + reward) / (n + 1)


@inlined
def draw_rounded(arms, group, last, number):
    """Draw as the released program does; return -1 if its rounded number passes every arm.

    The uniform number is rounded to thousandths, half to even. The arms go by increasing
    probability, equal ones by their ranks; the first whose cumulated probability is strictly above
    the number is drawn. The number 1.000 passes all of them, unless the sum rounds to above 1. The
    sums are added in the program's order, since the last bits decide whether one reaches a number.

    `order` has the ranks of each group's arms in the last round's order, which is nearly this
    round's.
    """
    row = group * arms.columns
    while True:
        arm, cumulated = -1, 0.0
        before, behind, wrong = 0.0, -1, 0
        for j in range(arms.columns):
            rank = arms.order[j]
            for g in range(1, len(arms.order) // arms.columns):
                rank = where(group == g, arms.order[g * arms.columns + j], rank)
            k = arms.arm_of[rank] if arms.ranked else rank
            p = arms.policy[row + k]
            counts = last >= j
            wrong = where(counts & ((before > p) | ((before == p) & (behind > rank))), 1, wrong)
            before, behind = p, rank
            cumulated = where(counts, cumulated + p, cumulated)
            arm = where(counts & (arm < 0) & (number < cumulated), k, arm)
        if not anywhere(wrong > 0):
            return arm
        _sort(arms, row, last, wrong)


@not_inlined
def _sort(arms, row, last, wrong):
    """Sort by insertion where a group's arms are not in order: nearly all are in place."""
    for i in range(lanes_of(arms.order)):
        if lane(wrong, i) > 0:
            first = int(lane(row, i))
            for j in range(first + 1, first + int(lane(last, i)) + 1):
                rank = entry(arms.order, j, i)
                p = _of_rank(arms, first, rank, i)
                place = j
                while place > first:
                    before = entry(arms.order, place - 1, i)
                    other = _of_rank(arms, first, before, i)
                    if other < p or (other == p and before < rank):
                        break
                    put_entry(arms.order, place, i, before)
                    place -= 1
                put_entry(arms.order, place, i, rank)


@inlined
def _of_rank(arms, first, rank, i):
    k = int(rank)
    if arms.ranked:
        k = int(entry(arms.arm_of, k, i))
    return entry(arms.policy, first + k, i)
