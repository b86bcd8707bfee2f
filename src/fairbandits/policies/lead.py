"""By how much the leader leads, kept up from pull to pull without a division or a square root.

For policies whose index is S_k / N_k + b(t) / sqrt(N_k), with the sum S_k of the rewards of arm k's
N_k pulls; see `fairbandits.policies.leader` for blocks and bounds. The leader's index with b = LOW
lies above RIVAL if

    S - RIVAL N + LOW sqrt(N) > 0,

and between two numbers of pulls sqrt(N) lies above its chord. So a bound of the left side changes
by the reward minus a constant in each pull. The leader stands as long as this bound is above
`MARGIN`, which is many times all that rounding can have done to it and to the computed index: what
stands is what the full comparison would give. The leader's own mean and 1 / sqrt(N) are computed
only when it has to be compared.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.protocol import Streak
from fairbandits.policies import leader
from fairbandits.policies.leader import ARM, HIGH, LOW, RIVAL, UNTIL, Leader

BOUND, STEP, MARGIN, MOST, HIGHEST = range(5)
#: Sixteen times the distance of 1 to the next double.
ROUNDING = 2.0**-48


class Lead(NamedTuple):
    """Pulls and reward sums, the leader's index among the others, and the numbers named above.

    `STEP` is what a pull takes off the bound. `MARGIN` holds for bounds below `MOST` and indices
    below `HIGHEST`; beyond them nothing is known. `last` is the number of pulls up to which the
    chord lies below the square root.
    """

    pulls: np.ndarray
    sums: np.ndarray
    leader: Leader
    numbers: np.ndarray
    last: np.ndarray


def nobody(n_arms: int) -> Lead:
    """Return the start: no pulls, and no leader."""
    return Lead(
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms),
        leader.nobody(n_arms),
        np.zeros(5),
        np.zeros(1, np.int64),
    )


@register_jitable(**INLINE)
def stands(lead, clock, extra=0.0):
    """Return whether the leader's index is known to be the largest at this clock.

    `extra` >= 0 is added to its index, and to no other arm's.
    """
    marks, numbers = lead.leader.marks, lead.numbers
    bound = numbers[BOUND]
    if extra > 0.0:
        bound += extra * (1.0 - ROUNDING) * lead.pulls[nonnegative(marks[ARM])]
    return clock <= marks[UNTIL] and bound > numbers[MARGIN]


@register_jitable(**INLINE)
def settle(lead):
    """Compute the leader's mean and 1 / sqrt(N), for a comparison."""
    arm = nonnegative(lead.leader.marks[ARM])
    if lead.pulls[arm] > 0:
        _compute(lead, arm)
        lead.leader.upper[arm] = (
            lead.leader.mean[arm] + lead.leader.bounds[HIGH] * lead.leader.inverse_root[arm]
        )


@register_jitable(**INLINE)
def _compute(lead, arm):
    pulls = lead.pulls[arm]
    lead.leader.mean[arm] = lead.sums[arm] / pulls
    lead.leader.inverse_root[arm] = 1.0 / math.sqrt(pulls)


@register_jitable(**INLINE)
def measure(lead, clock):
    """Measure by how much the leader leads, as found at this clock and until its block ends."""
    numbers, bounds, marks = lead.numbers, lead.leader.bounds, lead.leader.marks
    arm = nonnegative(marks[ARM])
    pulls = lead.pulls[arm]
    rounds = marks[UNTIL] - clock + 1
    low, rival = bounds[LOW], bounds[RIVAL]
    root = math.sqrt(pulls)
    numbers[STEP] = rival - low / (root + math.sqrt(pulls + rounds))
    highest = 2.0 * (abs(rival) + abs(lead.leader.mean[arm]) + low + 1.0)
    numbers[HIGHEST] = highest
    most = highest * (pulls + rounds)
    numbers[MOST] = most
    numbers[MARGIN] = ROUNDING * (rounds + 16) * most
    lead.last[0] = pulls + rounds
    _set_bound(lead, lead.sums[arm] - rival * pulls + low * root)


@register_jitable(**INLINE)
def _set_bound(lead, bound):
    numbers = lead.numbers
    numbers[BOUND] = bound if abs(bound) < numbers[MOST] else -math.inf


@register_jitable(**INLINE)
def streak(lead, t, clock, scale):
    """Return on what terms the leader may be pulled from round `t` on; see `engine.protocol`."""
    arm = nonnegative(lead.leader.marks[ARM])
    numbers = lead.numbers
    rounds = min(lead.leader.marks[UNTIL] - clock + 1, lead.last[0] - lead.pulls[arm])
    return Streak(
        t - 1 + rounds,
        lead.sums[arm],
        scale,
        numbers[BOUND],
        numbers[STEP],
        numbers[MARGIN],
        numbers[MOST],
    )


@register_jitable(**INLINE)
def streaked(lead, arm, terms, n):
    """Take note of a streak of `n` pulls."""
    lead.pulls[arm] += n
    lead.sums[arm] = terms.total
    _set_bound(lead, terms.ahead)


@register_jitable(**INLINE)
def give_up(lead):
    """Take back what was known of the leader."""
    lead.numbers[BOUND] = -math.inf


@register_jitable(**INLINE)
def learn(lead, arm, reward):
    """Take the reward of a pull; return the arm's number of pulls."""
    numbers, marks = lead.numbers, lead.leader.marks
    pulls = lead.pulls[arm] + 1
    lead.pulls[arm] = pulls
    lead.sums[arm] += reward
    if arm == marks[ARM]:
        _set_bound(lead, numbers[BOUND] + (reward - numbers[STEP]))
        if pulls > lead.last[0]:
            give_up(lead)
        return pulls
    rival = lead.leader.bounds[RIVAL]
    _compute(lead, arm)
    leader.update(lead.leader, arm)
    now = lead.leader.bounds[RIVAL]
    if now > rival:
        rise = now - rival
        _set_bound(lead, numbers[BOUND] - rise * lead.pulls[nonnegative(marks[ARM])])
        numbers[STEP] += rise
        if not now < numbers[HIGHEST]:
            give_up(lead)
    return pulls
