"""The initial rounds that BF-UCB and its baselines share, pull for pull.

The functions take any state that has the fields they name, BF-UCB's too.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.protocol import implements
from fairbandits.engine.streams import unit
from fairbandits.policies import groups as layout
from fairbandits.policies import merit as merits

#: What is drawn by merit: with optimistic means that are cut at 1, or not.
BOXES = ("upper", "uncut")
#: Place in `now` of the group that is served.
GROUP = 0


class InitialState(NamedTuple):
    """What the initial rounds of a policy need that is not BF-UCB itself.

    Rows are those of BF-UCB's state; ``weight``, ``ends`` and ``policy`` are scratch.
    """

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


def n_rounds(groups: tuple[int, ...]) -> int:
    """Return the number m max k_g of initial rounds."""
    return len(groups) * max(groups)


def width_factors(delta: float, outside: bool) -> tuple[float, float]:
    """Return what `group_width` multiplies the argument of the logarithm and the logarithm by."""
    return (4.0, 2.0 / delta) if outside else (4.0 / delta, 2.0)


def begin(
    groups: tuple[int, ...],
    delta: float,
    sequential: bool,
    outside: bool,
    rounded: bool,
    uncut: bool,
) -> InitialState:
    """Return the state before the first round.

    Parameters
    ----------
    groups : tuple of int
        Sizes of the groups.
    delta : float
        Confidence.
    sequential : bool
        Whether the groups come one after the other, as released, or in turn.
    outside : bool
        Whether delta stands outside the logarithm of the width, as released.
    rounded : bool
        Whether draws are by a rounded number, as released.
    uncut : bool
        Whether nothing cuts the optimistic means at 1.
    """
    sizes = np.array(groups)
    n_groups, columns = sizes.size, merits.padded(max(groups))
    shape, blocks = (n_groups, columns), columns // merits.BLOCK
    log_factor, factor = width_factors(delta, outside)
    return InitialState(
        start=layout.starts(groups),
        group_of=layout.group_of(groups),
        served=np.zeros(n_groups, np.int64),
        now=np.zeros(1, np.int64),
        pulls=np.zeros(shape, np.int64),
        sums=np.zeros(shape),
        mean=np.zeros(shape),
        inverse_root=np.where(np.arange(columns) < sizes[:, None], np.inf, 0.0),
        probability=np.zeros(shape),
        weight=np.zeros(columns),
        ends=np.zeros(blocks),
        policy=np.zeros(columns),
        order=np.tile(np.arange(columns), (n_groups, 1)),
        ranks=np.tile(np.arange(columns), (n_groups, 1)),
        ascending=np.zeros(shape),
        ascending_ends=np.zeros((n_groups, blocks)),
        initial_rounds=n_rounds(groups),
        largest=max(groups),
        log_factor=log_factor,
        factor=factor,
        sequential=sequential,
        rounded=rounded,
        cap=math.inf if uncut else 1.0,
    )


@register_jitable(**INLINE)
def fixed_arm(state, t, coin):
    """Return the arm of round t of the initial phase, or -1 if it is to be drawn by merit."""
    n_groups = state.start.size - 1
    if state.sequential:
        g = (t - 1) // state.largest
        turn = (t - 1) % state.largest
    else:
        g = (t - 1) % n_groups
        turn = (t - 1) // n_groups
    state.now[GROUP] = g
    size = state.start[g + 1] - state.start[g]
    if turn < size:
        state.probability[g, turn] += 1.0
        return state.start[g] + turn
    if state.sequential:
        for k in range(size):
            state.probability[g, k] += 1.0 / size
        return state.start[g] + int(unit(coin) * size)
    return -1


@register_jitable(**INLINE)
def n_blocks(state, g):
    """Return the number of blocks that hold the arms of group g."""
    size = state.start[g + 1] - state.start[g]
    return (size + merits.BLOCK - 1) // merits.BLOCK


@register_jitable(**INLINE)
def group_width(state, count, size):
    """Return the numerator of the widths of a group of this size with this count."""
    return math.sqrt(state.factor * math.log(state.log_factor * count * size))


@register_jitable(**INLINE)
def draw(state, g, weight, ends, total, policy, coin):
    """Draw an arm of group g by these weights, and account for the probabilities."""
    size = state.start[g + 1] - state.start[g]
    # what passes the number 1.000 depends on the last bits: divide, as they do
    merits.expose(weight, total, state.rounded, n_blocks(state, g), policy, state.probability[g])
    if state.rounded:
        drawn = merits.draw_rounded(
            *(policy, state.order[g], state.ranks[g], size, coin),
            *(state.ascending[g], state.ascending_ends[g]),
        )
        return 0 if drawn < 0 else state.start[g] + drawn
    drawn = merits.draw_by_weight(weight, ends, size, unit(coin) * total)
    return state.start[g] + drawn


@register_jitable(**INLINE)
def credited(state, g, arm):
    """Return the group whose arm was pulled, g unless the rounded draw let all its arms go by."""
    if arm < state.start[g] or arm >= state.start[g + 1]:
        return nonnegative(state.group_of[arm])
    return g


@implements("choose", InitialState)
def _choose(state, t, coin):
    arm = fixed_arm(state, t, coin)
    if arm >= 0:
        return arm
    g = nonnegative(state.now[GROUP])
    size = state.start[g + 1] - state.start[g]
    width = group_width(state, float(state.served[g]), size)
    blocks, weight = n_blocks(state, g), state.weight
    merits.upper_bounds(
        state.mean[g], state.inverse_root[g], width, state.cap, blocks, weight, -1, 0.0, 0.0
    )
    total = merits.sum_blocks(weight, blocks, state.ends)
    return nonnegative(draw(state, g, weight, state.ends, total, state.policy, coin))


@implements("learn", InitialState)
def _learn(state, t, arm, reward):
    g = nonnegative(state.now[GROUP])
    state.served[g] += 1
    own = credited(state, g, arm)
    k = nonnegative(arm - state.start[own])
    n = state.pulls[own, k] + 1
    state.pulls[own, k] = n
    state.mean[own, k] = layout.new_mean(state.sums[own], state.mean[own], n, k, reward, False)
    state.inverse_root[own, k] = 1.0 / math.sqrt(n)
