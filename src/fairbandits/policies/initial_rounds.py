"""Common parts of BF-UCB and its baselines: groups, quotas, switches, and the initial rounds."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.elementary import log
from fairbandits.engine.protocol import choose, inlined, learn, not_inlined, plays_in_lanes
from fairbandits.engine.streams import unit
from fairbandits.engine.width import sqrt, where, whole
from fairbandits.policies import merit as merits
from fairbandits.policies.groups import check_quotas, size_of
from fairbandits.policies.parameters import VERSIONS, Policy

#: Optimistic means of a draw by merit: cut at 1, or not.
BOXES = ("upper", "uncut")


@plays_in_lanes
class InitialState(NamedTuple):
    """The arms, the rounds of each group, and the constants of the rounds and of the widths."""

    arms: merits.Arms
    served: np.ndarray
    rounds: int
    largest: int
    log_factor: float
    factor: float
    sequential: bool

    def choose(state, t, coin):
        if not by_merit(state, t):
            return fixed_arm(state, t, coin)
        arms = state.arms
        g, _ = turn_of(state, t)
        size = size_of(arms, g)
        total, _ = merits.weigh(arms, g, group_width(state, state.served[g], size))
        if arms.rounded:
            k = merits.draw_rounded(arms, g, True, total, coin)
        else:
            merits.expose(arms, g * arms.columns, size, total, True)
            k = merits.draw(arms, g, size - 1, total, coin)
        return where(k < 0, 0, arms.start[g] + k)

    def learn(state, t, arm, reward):
        g, _ = turn_of(state, t)
        state.served[g] += 1
        merits.learn_placed(state.arms, state.arms.row_of[arm], reward, False)


class Grouped(Policy):
    """Base of BF-UCB and its baselines."""

    #: Each switch with its values in the paper's and in the released version.
    switches: ClassVar[Mapping[str, tuple[Any, Any]]]

    def __post_init__(self):
        super().__post_init__()
        if self.quotas is not None:
            check_quotas(self.quotas, self.groups)
        for name, values in self.switches.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, values[VERSIONS.index(self.version)])

    @property
    def initial_rounds(self) -> int:
        """Number of rounds m max k_g of the initial phase."""
        return len(self.groups) * max(self.groups)

    def _delta(self, horizon: int) -> float:
        """Return delta, at most 1/2; None stands for 1 / sqrt(T)."""
        return min(0.5, 1.0 / math.sqrt(horizon)) if self.delta is None else float(self.delta)

    def _first(self, horizon: int, outside: bool, rounded: bool, sequential: bool) -> InitialState:
        """Return the first state; delta can be `outside` the logarithm, draws `rounded`."""
        delta = self._delta(horizon)
        return InitialState(
            merits.begin(self.groups, self.box == "uncut", rounded),
            np.zeros(len(self.groups), np.int64),
            self.initial_rounds,
            max(self.groups),
            *((4.0, 2.0 / delta) if outside else (4.0 / delta, 2.0)),
            sequential,
        )


@inlined
def turn_of(first, t):
    """Return the group of round t of the initial phase, and the number of its earlier turns."""
    if first.sequential:
        return (t - 1) // first.largest, (t - 1) % first.largest
    n_groups = len(first.served)
    return (t - 1) % n_groups, (t - 1) // n_groups


@inlined
def by_merit(first, t):
    """Return whether round t draws an arm of its group by merit."""
    if t > first.rounds:
        return True
    g, turn = turn_of(first, t)
    return turn >= size_of(first.arms, g) and not first.sequential


@inlined
def fixed_arm(first, t, coin):
    """Return the arm of a round without merit: the next one of the group, or any of it."""
    arms = first.arms
    g, turn = turn_of(first, t)
    size = size_of(arms, g)
    row = g * arms.columns
    if turn < size:
        arms.probability[row + turn] += 1.0
        return arms.start[g] + turn
    for k in range(size):
        arms.probability[row + k] += 1.0 / size
    return arms.start[g] + whole(unit(coin) * size)


@inlined
def group_width(first, count, size):
    """Return the numerator of the widths of a group of this size with this count."""
    return sqrt(first.factor * log(first.log_factor * count * size))


@inlined
def width_of(clock, n_arms, inverse_delta, outside):
    """Return sqrt(2 log(4 t n / delta)); or delta is `outside` the logarithm."""
    if outside:
        return math.sqrt(2.0 * log(4.0 * clock * n_arms) * inverse_delta)
    return math.sqrt(2.0 * log(4.0 * clock * n_arms * inverse_delta))


# These rounds are few: if inlined, they would slow down all others.


@not_inlined
def choose_early(first, t, coin):
    return choose(first, t, coin)


@not_inlined
def learn_early(first, t, arm, reward):
    learn(first, t, arm, reward)
