"""FairX-UCB for a block of replicates at once, with the numbers of one replicate at a time.

This is the policy as printed: it divides by its own counts, its widths have the horizon, and the
draw is not rounded.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE, NOT_INLINED
from fairbandits.engine.lanes import along_lanes, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import (
    LANES,
    every,
    greatest,
    least,
    load,
    pick,
    put,
    root,
    select,
    store,
)
from fairbandits.policies import fairx_ucb
from fairbandits.policies import merit as merits
from fairbandits.policies.initial_lanes import (
    InitialLanes,
    choose_each,
    initial_lanes,
    learn_each,
)
from fairbandits.policies.initial_rounds import InitialState


class FairXUCBLanes(NamedTuple):
    """`fairx_ucb.FairXUCBState` in every lane, as far as it is needed.

    ``drawn`` is the block of arms that was drawn from.
    """

    first: InitialLanes
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    weight: np.ndarray
    blocks: np.ndarray
    ends: np.ndarray
    policy: np.ndarray
    probability: np.ndarray
    width: np.ndarray
    n_arms: int
    cap: float
    horizon: int
    inverse_delta: float
    outside: bool
    released_mean: bool


def _block(state: fairx_ucb.FairXUCBState, wide: Any) -> FairXUCBLanes | None:
    """Return the block of a state before the first round; None for other readings."""
    if state.by_round or state.rounded or not isinstance(state.first, InitialState):
        return None

    def rows(n: int) -> np.ndarray:
        return along_lanes([np.zeros(n)] * LANES)

    of_arms = ("pulls", "sums", "mean", "inverse_root", "weight", "policy", "probability")
    kept = ("width", "cap", "horizon", "inverse_delta", "outside", "released_mean")
    return FairXUCBLanes(
        first=initial_lanes(state.first),
        blocks=rows(state.blocks.size),
        ends=rows(state.blocks.size),
        n_arms=state.order.size,
        **{name: getattr(state, name) for name in kept},
        **{name: rows(state.mean.size) for name in of_arms},
    )


plays_in_lanes(fairx_ucb.FairXUCBState, make=_block)


@register_jitable(**NOT_INLINED)
def _begin(state):
    """Work out the width, and all optimistic means, after the initial rounds."""
    argument = 4.0 * state.horizon * state.n_arms
    if state.outside:
        state.width[0] = math.sqrt(2.0 * math.log(argument) * state.inverse_delta)
    else:
        state.width[0] = math.sqrt(2.0 * math.log(argument * state.inverse_delta))
    for k in range(state.weight.shape[0]):
        store(state.weight, k, _weight(state, load(state.mean, k), load(state.inverse_root, k)))
    for b in range(state.blocks.shape[0]):
        store(state.blocks, b, _block_sum(state.weight, every(b)))


@register_jitable(**INLINE)
def _weight(state, mean, inverse_root):
    return least(state.cap, greatest(0.0, mean + state.width[0] * inverse_root))


@register_jitable(**INLINE)
def _block_sum(weight, block):
    """Return the sum over a block of each lane, added up as `merit.block_sum` does."""
    o = merits.BLOCK * block
    left = (pick(weight, o) + pick(weight[1:], o)) + (pick(weight[2:], o) + pick(weight[3:], o))
    right = (pick(weight[4:], o) + pick(weight[5:], o)) + (
        pick(weight[6:], o) + pick(weight[7:], o)
    )
    return left + right


@implements("choose", FairXUCBLanes)
def _choose(state, t, coin):
    last = state.first.initial_rounds
    if t <= last:
        return choose_each(state.first, t, coin)
    if t == last + 1:
        _begin(state)
    total = every(0.0)
    for b in range(state.blocks.shape[0]):
        total = total + load(state.blocks, b)
        store(state.ends, b, total)
    share = select(total > 0.0, 1.0 / total, 0.0)
    for k in range(state.n_arms):
        p = load(state.weight, k) * share
        store(state.policy, k, p)
        store(state.probability, k, load(state.probability, k) + p)
    target = coin * total
    block = every(0.0)
    for b in range(state.blocks.shape[0] - 1):
        block = block + select(load(state.ends, b) > target, 0.0, 1.0)
    before = greatest(block - 1.0, 0.0)
    cumulated = select(block > 0.0, pick(state.ends, before), 0.0)
    o = merits.BLOCK * block
    arm = o
    for j in range(merits.BLOCK - 1):
        cumulated = cumulated + pick(state.weight[j:], o)
        arm = arm + select(cumulated > target, 0.0, 1.0)
    return least(arm, state.n_arms - 1.0)


@implements("learn", FairXUCBLanes)
def _learn(state, t, arm, reward):
    early = t <= state.first.initial_rounds
    if early:
        learn_each(state.first, t, arm, reward)
        _copy_probabilities(state)
    n = pick(state.pulls, arm) + 1.0
    put(state.pulls, arm, n)
    if state.released_mean and not early:
        mean = (n * pick(state.mean, arm) + reward) / (n + 1.0)
    else:
        sums = pick(state.sums, arm) + reward
        put(state.sums, arm, sums)
        mean = sums / n
    inverse_root = 1.0 / root(n)
    put(state.mean, arm, mean)
    put(state.inverse_root, arm, inverse_root)
    if not early:
        put(state.weight, arm, _weight(state, mean, inverse_root))
        block = every(0.0)
        for b in range(1, state.blocks.shape[0]):
            block = block + select(arm >= float(merits.BLOCK * b), 1.0, 0.0)
        put(state.blocks, block, _block_sum(state.weight, block))


@register_jitable(**NOT_INLINED)
def _copy_probabilities(state):
    first = state.first
    for i in range(LANES):
        for k in range(state.n_arms):
            g = first.group_of[k]
            state.probability[k, i] = first.probability[i, g, k - first.start[g]]


@implements("probe", FairXUCBLanes)
def _probe(state, out):
    for k in range(state.n_arms):
        store(out[0], k, load(state.probability, k))
        store(out[1], k, load(state.policy, k))
