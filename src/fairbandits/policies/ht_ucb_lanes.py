"""HT-UCB for a block of replicates at once, with the choices of one replicate at a time.

Quotas and pulls are whole numbers in floating point, exact since `fits` says which denominators a
block can have. There is no leader, as in `ucb1_lanes`.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairbandits.engine.lanes import fits, numbers_along_lanes, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import every, greatest, load, pick, put, select
from fairbandits.policies import ht_ucb
from fairbandits.policies.ucb1_lanes import (
    LASTING,
    Means,
    bonus_of,
    never_pulled_first,
    no_pulls,
    take,
)


class HTUCBLanes(NamedTuple):
    """`ht_ucb.HTUCBState` in every lane, as far as it is needed; ties go to the lowest arm."""

    means: Means
    penalties: np.ndarray
    quotas: np.ndarray
    scaled_pulls: np.ndarray
    denominator: float
    previous: bool
    soft: bool


def _block(state: ht_ucb.HTUCBState, wide: Callable) -> HTUCBLanes | None:
    """Return the block of a state before the first round; None for random ties.

    Without penalties it is UCB1, and pays as long as that.
    """
    pays = state.soft or (state.quotas * state.penalties).any() or state.horizon < LASTING
    if state.random_ties or not (fits(state.denominator) and pays):
        return None
    return HTUCBLanes(
        no_pulls(state.index.size),
        wide(state.penalties),
        numbers_along_lanes(state.quotas),
        numbers_along_lanes(state.scaled_pulls),
        float(state.denominator),
        state.previous,
        state.soft,
    )


plays_in_lanes(ht_ucb.HTUCBState, make=_block)


@implements("choose", HTUCBLanes)
def _choose(state, t, coin):
    means = state.means
    bonus = bonus_of(t, state.previous)
    arm, best = every(0.0), every(-math.inf)
    for k in range(means.pulls.shape[0]):
        entitled = load(state.quotas, k) * float(t)
        missing = entitled - load(state.scaled_pulls, k)
        raised = load(state.penalties, k)
        if state.soft:
            raised = raised * (greatest(every(0.0), missing) / greatest(every(1.0), entitled))
        else:
            raised = select(missing > 0.0, raised, 0.0)
        index = load(means.mean, k) + raised + bonus * load(means.inverse_root, k)
        higher = index > best
        arm = select(higher, float(k), arm)
        best = select(higher, index, best)
    return never_pulled_first(means, arm)


@implements("learn", HTUCBLanes)
def _learn(state, t, arm, reward):
    put(state.scaled_pulls, arm, pick(state.scaled_pulls, arm) + state.denominator)
    take(state.means, arm, reward)
