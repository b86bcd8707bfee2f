"""The initial rounds that BF-UCB's baselines share, lane by lane.

They are few, so every lane runs `initial_rounds` itself, on its own part of arrays whose first axis
is the lane.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import NOT_INLINED
from fairbandits.engine.lanes import along_lanes
from fairbandits.engine.protocol import choose, learn
from fairbandits.engine.vectors import LANES, load, store
from fairbandits.policies.initial_rounds import InitialState

#: A coin in [0, 1) is a multiple of 2**-53, and its word has these bits first.
BITS, REST = 2.0**53, np.uint64(11)
COIN, ARM, REWARD = range(3)


class InitialLanes(NamedTuple):
    """`InitialState` in every lane, and the rows of coins, arms and rewards."""

    start: np.ndarray
    group_of: np.ndarray
    served: np.ndarray
    now: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    probability: np.ndarray
    weight: np.ndarray
    ends: np.ndarray
    policy: np.ndarray
    order: np.ndarray
    ranks: np.ndarray
    ascending: np.ndarray
    ascending_ends: np.ndarray
    initial_rounds: int
    largest: int
    log_factor: float
    factor: float
    sequential: bool
    rounded: bool
    cap: float
    numbers: np.ndarray


def initial_lanes(state: InitialState) -> InitialLanes:
    """Return the block of a state before the first round."""
    shared = ("start", "group_of")
    own = {
        name: np.repeat(value[None], LANES, axis=0)
        if isinstance(value, np.ndarray) and name not in shared
        else value
        for name, value in state._asdict().items()
    }
    return InitialLanes(**own, numbers=along_lanes([np.zeros(3)] * LANES))


@register_jitable(**NOT_INLINED)
def _of_lane(first, i):
    return InitialState(
        first.start,
        first.group_of,
        first.served[i],
        first.now[i],
        first.pulls[i],
        first.sums[i],
        first.mean[i],
        first.inverse_root[i],
        first.probability[i],
        first.weight[i],
        first.ends[i],
        first.policy[i],
        first.order[i],
        first.ranks[i],
        first.ascending[i],
        first.ascending_ends[i],
        first.initial_rounds,
        first.largest,
        first.log_factor,
        first.factor,
        first.sequential,
        first.rounded,
        first.cap,
    )


@register_jitable(**NOT_INLINED)
def choose_each(first, t, coin):
    """Return the arm of each lane in round t of the initial phase."""
    numbers = first.numbers
    store(numbers, COIN, coin)
    for i in range(LANES):
        word = np.uint64(numbers[COIN, i] * BITS) << REST
        numbers[ARM, i] = choose(_of_lane(first, i), t, word)
    return load(numbers, ARM)


@register_jitable(**NOT_INLINED)
def learn_each(first, t, arm, reward):
    """Take each lane's reward."""
    numbers = first.numbers
    store(numbers, ARM, arm)
    store(numbers, REWARD, reward)
    for i in range(LANES):
        learn(_of_lane(first, i), t, int(numbers[ARM, i]), numbers[REWARD, i])
