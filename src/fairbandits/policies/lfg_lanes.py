"""LFG for a block of replicates at once, with the numbers of one replicate at a time.

Queues and pulls are whole numbers in floating point, exact since `fits` says which denominators a
block can have. All lanes have the same logarithm.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairbandits.engine.lanes import fits, numbers_along_lanes, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import every, greatest, least, load, pick, put, root, select, store
from fairbandits.policies import lfg


class LFGLanes(NamedTuple):
    """`lfg.LFGState` in every lane, as far as it is needed; ties go to the lowest arm."""

    pulls: np.ndarray
    sums: np.ndarray
    queue: np.ndarray
    fractions: np.ndarray
    denominator: float
    weights: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    top: np.ndarray
    constant: float
    cap: float


def _block(state: lfg.LFGState, wide: Callable) -> LFGLanes | None:
    """Return the block of a state before the first round; None for random ties."""
    if state.random_ties or not fits(state.denominator):
        return None
    return LFGLanes(
        numbers_along_lanes(state.pulls),
        wide(state.sums),
        numbers_along_lanes(state.queue),
        numbers_along_lanes(state.fractions),
        float(state.denominator),
        wide(state.weights),
        wide(state.mean),
        wide(state.inverse_root),
        wide(state.top),
        state.constant,
        state.cap,
    )


plays_in_lanes(lfg.LFGState, make=_block)


@implements("choose", LFGLanes)
def _choose(state, t, coin):
    bonus = math.sqrt(state.constant * math.log(t))
    arm, best = every(0.0), every(-math.inf)
    for k in range(state.queue.shape[0]):
        bound = load(state.mean, k) + bonus * load(state.inverse_root, k)
        bound = least(bound, load(state.top, k))
        index = load(state.queue, k) / state.denominator + load(state.weights, k) * bound
        higher = index > best
        arm = select(higher, float(k), arm)
        best = select(higher, index, best)
    return arm


@implements("learn", LFGLanes)
def _learn(state, t, arm, reward):
    pulls = pick(state.pulls, arm) + 1.0
    sums = pick(state.sums, arm) + reward
    put(state.pulls, arm, pulls)
    put(state.sums, arm, sums)
    put(state.mean, arm, sums / pulls)
    put(state.inverse_root, arm, 1.0 / root(pulls))
    put(state.top, arm, every(state.cap))
    for k in range(state.queue.shape[0]):
        queue = load(state.queue, k) + load(state.fractions, k)
        queue = select(arm == float(k), queue - state.denominator, queue)
        store(state.queue, k, greatest(every(0.0), queue))


@implements("probe", LFGLanes)
def _probe(state, out):
    for k in range(state.queue.shape[0]):
        store(out[0], k, load(state.queue, k) / state.denominator)
