"""UCB1 for a block of replicates at once, with the choices of one replicate at a time.

There is no leader: in every round the indices of all arms are compared, as the leader's turns stand
for this comparison.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import along_lanes, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import LANES, anywhere, every, load, pick, put, root, select, store
from fairbandits.policies import ucb1

#: From here on a leader stands for so long that one replicate at a time is faster, if nothing but
#: its index decides: with 3 to 50 arms 3 to 16 ns a round, in lanes 6 to 13; at a third of it 7 to
#: 38 and 7 to 13.
LASTING = 300_000


class Means(NamedTuple):
    """Of each arm in every lane what its index needs, and how many arms were never pulled."""

    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    unpulled: np.ndarray


class UCB1Lanes(NamedTuple):
    """`ucb1.UCB1State` in every lane, as far as it is needed; ties go to the lowest arm."""

    means: Means
    scale: float
    previous: bool


def no_pulls(n_arms: int) -> Means:
    """Return the start, in every lane."""
    rows = [along_lanes([np.zeros(n_arms)] * LANES) for _ in range(4)]
    return Means(*rows, along_lanes([np.array([float(n_arms)])] * LANES))


@register_jitable(**INLINE)
def never_pulled_first(means, arm):
    """Return the lowest arm never pulled where there is one, elsewhere `arm`."""
    waiting = load(means.unpulled, 0) > 0.0
    if anywhere(waiting):
        for k in range(means.pulls.shape[0] - 1, -1, -1):
            arm = select(waiting & (load(means.pulls, k) == 0.0), float(k), arm)
    return arm


@register_jitable(**INLINE)
def take(means, arm, reward):
    """Take the reward of a pull."""
    pulls = pick(means.pulls, arm) + 1.0
    sums = pick(means.sums, arm) + reward
    put(means.pulls, arm, pulls)
    put(means.sums, arm, sums)
    put(means.mean, arm, sums / pulls)
    put(means.inverse_root, arm, 1.0 / root(pulls))
    unpulled = load(means.unpulled, 0)
    store(means.unpulled, 0, select(pulls == 1.0, unpulled - 1.0, unpulled))


@register_jitable(**INLINE)
def bonus_of(t, previous):
    """Return sqrt(2 log n) for round `t`, whose logarithm all lanes have."""
    clock = max(t - 1, 1) if previous else t  # in round 1 no arm has an index yet
    return math.sqrt(2.0 * math.log(clock))


def in_lanes(state: ucb1.UCB1State) -> UCB1Lanes | None:
    """Return the block of a state before the first round; None for random ties.

    None as well for a clock of its own, which would differ between lanes.
    """
    if state.random_ties or state.clock == ucb1.OWN:
        return None
    return UCB1Lanes(no_pulls(state.index.size), state.scale, state.clock == ucb1.PREVIOUS)


plays_in_lanes(
    ucb1.UCB1State,
    make=lambda state, wide: in_lanes(state) if state.horizon < LASTING else None,
)


@implements("choose", UCB1Lanes)
def _choose(state, t, coin):
    means = state.means
    bonus = bonus_of(t, state.previous)
    arm, best = every(0.0), every(-math.inf)
    for k in range(means.pulls.shape[0]):
        index = load(means.mean, k) + bonus * load(means.inverse_root, k)
        higher = index > best
        arm = select(higher, float(k), arm)
        best = select(higher, index, best)
    return never_pulled_first(means, arm)


@implements("learn", UCB1Lanes)
def _learn(state, t, arm, reward):
    take(state.means, arm, reward if state.scale == 1.0 else reward / state.scale)
