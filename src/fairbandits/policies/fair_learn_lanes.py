"""Fair-Learn for a block of replicates at once, with the choices of one replicate at a time.

Quotas and pulls are whole numbers in floating point, exact since `fits` says which denominators a
block can have. The learner is asked in every round, also for lanes that do not need it, so that a
choice must not change it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fairbandits.engine.lanes import fits, numbers_along_lanes, plays_in_lanes
from fairbandits.engine.protocol import choose, implements, learn
from fairbandits.engine.vectors import every, load, pick, put, select
from fairbandits.policies import fair_learn, ucb1_lanes
from fairbandits.policies.ucb1 import UCB1State

#: Fraction of rounds with a pull that is owed from which on, however long the run, a block is
#: faster: it takes 8 ns a round, one replicate at a time 3 to 4 without such pulls, 7 with a fifth,
#: 12 to 20 with a half.
OFTEN = 0.25


class FairLearnLanes(NamedTuple):
    """`fair_learn.FairLearnState` in every lane, as far as it is needed."""

    learner: Any
    quotas: np.ndarray
    scaled_pulls: np.ndarray
    denominator: float
    tolerance: float
    forced_start: int


def _block(state: fair_learn.FairLearnState, wide: Callable) -> FairLearnLanes | None:
    """Return the block of a state before the first round; None for most learners."""
    if not (isinstance(state.learner, UCB1State) and fits(state.denominator) and _pays(state)):
        return None
    learner = ucb1_lanes.in_lanes(state.learner)
    return learner and FairLearnLanes(
        learner,
        numbers_along_lanes(state.quotas),
        numbers_along_lanes(state.scaled_pulls),
        float(state.denominator),
        float(state.tolerance),
        state.forced_start,
    )


def _pays(state: fair_learn.FairLearnState) -> bool:
    """Return whether a block is faster than leaders who stand."""
    owed = np.maximum(state.quotas - state.tolerance / state.horizon, 0.0).sum()
    return state.horizon < ucb1_lanes.LASTING or owed > OFTEN * state.denominator


plays_in_lanes(fair_learn.FairLearnState, make=_block)


@implements("choose", FairLearnLanes)
def _choose(state, t, coin):
    if t <= state.forced_start:
        return every(t - 1.0)
    arm, worst = every(0.0), every(state.tolerance)
    for k in range(state.quotas.shape[0]):
        deficit = load(state.quotas, k) * (t - 1.0) - load(state.scaled_pulls, k)
        behind = deficit > worst
        arm = select(behind, float(k), arm)
        worst = select(behind, deficit, worst)
    return select(worst > state.tolerance, arm, choose(state.learner, t, coin))


@implements("learn", FairLearnLanes)
def _learn(state, t, arm, reward):
    put(state.scaled_pulls, arm, pick(state.scaled_pulls, arm) + state.denominator)
    learn(state.learner, t, arm, reward)
