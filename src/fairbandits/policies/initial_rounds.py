"""The initial rounds that BF-UCB and its baselines share, pull for pull.

The functions take any state that has the fields they name, BF-UCB's too.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE, NOT_INLINED
from fairbandits.engine.lanes import plays_in_lanes
from fairbandits.engine.protocol import choose, implements, learn
from fairbandits.engine.streams import unit
from fairbandits.engine.width import Shared, anywhere, log, sqrt, where, whole
from fairbandits.policies import groups as layout
from fairbandits.policies import merit as merits

#: Optimistic means of a draw by merit: cut at 1, or not.
BOXES = ("upper", "uncut")


class InitialState(NamedTuple):
    """State of the initial rounds, without BF-UCB itself.

    Each group has ``columns`` rows, padded with zeros (see `fairbandits.policies.merit`), and
    ``row_of`` is each arm's row.
    """

    start: Shared
    row_of: np.ndarray
    served: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    probability: np.ndarray
    weight: np.ndarray
    policy: np.ndarray
    order: np.ndarray
    arm_of: np.ndarray
    ends: np.ndarray
    columns: int
    most_blocks: int
    initial_rounds: int
    largest: int
    log_factor: float
    factor: float
    sequential: bool
    rounded: bool
    ranked: bool
    cap: float


plays_in_lanes(InitialState)


def n_rounds(groups: tuple[int, ...]) -> int:
    """Return the number m max k_g of initial rounds."""
    return len(groups) * max(groups)


def width_factors(delta: float, outside: bool) -> tuple[float, float]:
    """Return the factors of the logarithm's argument, and of the logarithm, in `group_width`."""
    return (4.0, 2.0 / delta) if outside else (4.0 / delta, 2.0)


def begin(
    groups: tuple[int, ...],
    delta: float,
    sequential: bool,
    outside: bool,
    rounded: bool,
    uncut: bool,
) -> InitialState:
    """Return the state before the first round; the switches follow the released program.

    With `sequential` the groups come one after the other, else in turn; with `outside` delta stands
    outside the logarithm of the width; with `rounded` draws are by a rounded number; with `uncut`
    nothing cuts the optimistic means at 1.
    """
    log_factor, factor = width_factors(delta, outside)
    return InitialState(
        **rows_of(groups, uncut),
        served=np.zeros(len(groups), np.int64),
        initial_rounds=n_rounds(groups),
        largest=max(groups),
        log_factor=log_factor,
        factor=factor,
        sequential=sequential,
        rounded=rounded,
    )


def rows_of(groups: tuple[int, ...], uncut: bool) -> dict[str, Any]:
    """Return the fields of a state with the places and the statistics of the arms."""
    columns = merits.padded(max(groups))
    n_rows = len(groups) * columns
    rows = layout.row_of(groups, columns)
    inverse_root = np.zeros(n_rows)
    inverse_root[rows] = 0.0 if uncut else np.inf
    names = ("sums", "mean", "probability", "weight", "policy")
    return {
        "start": layout.starts(groups),
        "row_of": rows,
        "pulls": np.zeros(n_rows, np.int64),
        **{name: np.zeros(n_rows) for name in names},
        "inverse_root": inverse_root,
        "order": np.tile(np.arange(columns), len(groups)),
        "arm_of": np.arange(columns),
        "ends": np.full(n_rows // merits.BLOCK, np.inf),
        "columns": columns,
        "most_blocks": columns // merits.BLOCK,
        "ranked": False,
        "cap": math.inf if uncut else 1.0,
    }


@register_jitable(**INLINE)
def turn_of(state, t):
    """Return the group of round t of the initial phase, and the number of its earlier turns."""
    if state.sequential:
        return (t - 1) // state.largest, (t - 1) % state.largest
    n_groups = state.start.size - 1
    return (t - 1) % n_groups, (t - 1) // n_groups


@register_jitable(**INLINE)
def fixed_arm(state, g, turn, coin):
    """Return the arm of a turn without merit: the next one of the group, or any of it."""
    size = state.start[g + 1] - state.start[g]
    row = g * state.columns
    if turn < size:
        state.probability[row + turn] += 1.0
        return state.start[g] + turn
    for k in range(size):
        state.probability[row + k] += 1.0 / size
    return state.start[g] + whole(unit(coin) * size)


@register_jitable(**INLINE)
def group_width(state, count, size):
    """Return the numerator of the widths of a group of this size with this count."""
    return sqrt(state.factor * log(state.log_factor * count * size))


@register_jitable(**INLINE)
def serve(state, group):
    """Count a round of the served group, and compute its width."""
    count, size = state.horizon, 0
    for g in range(len(state.quotas)):
        own = group == g
        if anywhere(own):
            served = state.served[g] + where(own, 1, 0)
            state.served[g] = served
            count = where(own, state.horizon if state.by_horizon else served, count)
            size = where(own, state.start[g + 1] - state.start[g], size)
    width = group_width(state, count, size)
    for g in range(len(state.quotas)):
        own = group == g
        if anywhere(own):
            state.width[g] = where(own, width, state.width[g])


@implements("choose", InitialState)
def _choose(state, t, coin):
    g, turn = turn_of(state, t)
    size = state.start[g + 1] - state.start[g]
    if turn < size or state.sequential:
        return fixed_arm(state, g, turn, coin)
    total, _ = merits.weigh(state, g, group_width(state, state.served[g], size))
    merits.expose(state, g * state.columns, size, total, True)
    k = merits.draw(state, g, size - 1, total, coin)
    return where(k < 0, 0, state.start[g] + k)


@implements("learn", InitialState)
def _learn(state, t, arm, reward):
    g, _ = turn_of(state, t)
    state.served[g] += 1
    row = state.row_of[arm]
    n = state.pulls[row] + 1
    state.pulls[row] = n
    state.mean[row] = layout.new_mean(state, row, n, reward, False)
    state.inverse_root[row] = 1.0 / sqrt(n)


# These rounds are few: inlined, they would slow down all others.


@register_jitable(**NOT_INLINED)
def choose_early(first, t, coin):
    """Return the arm of one of the initial rounds."""
    return choose(first, t, coin)


@register_jitable(**NOT_INLINED)
def learn_early(first, t, arm, reward):
    """Learn from the reward of one of the initial rounds."""
    learn(first, t, arm, reward)
