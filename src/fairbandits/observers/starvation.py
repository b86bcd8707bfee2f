"""Waiting times of the arms of any policy."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import assign, greatest, where

#: An arm with a probability of at most this is starved in the round.
RARE = 0.01


class PulledState(NamedTuple):
    """The rounds since each arm's last pull, and the largest number of them so far."""

    run: np.ndarray
    longest: np.ndarray


class PlayedState(NamedTuple):
    """The same, where arms are played with probabilities."""

    run: np.ndarray
    longest: np.ndarray


@dataclass(frozen=True)
class Starvation:
    """The longest run of rounds so far, the present one included, in which an arm is starved.

    Notes
    -----
    Under bandit feedback it is starved in rounds without a pull of it, with full information in
    those with x_i(t) <= 0.01. The column is ``starvation``.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", remark after Eq. 4.
    """

    probes: ClassVar[tuple[str, ...]] = ("starvation",)

    def start(
        self, policy: Any, state: Any, n_arms: int, horizon: int
    ) -> PulledState | PlayedState:
        """Return the state before the first round."""
        kind = PulledState if policy.feedback == "bandit" else PlayedState
        return kind(*np.zeros((2, n_arms)))


@implements("watch", PulledState)
def _watch_pull(observer, state, t, arm, reward):
    for k in range(len(observer.run)):
        _count(observer, k, arm != k)


@implements("watch", PlayedState)
def _watch_play(observer, state, t, x, reward):
    for k in range(len(observer.run)):
        _count(observer, k, x[k] <= RARE)


@register_jitable(**INLINE)
def _count(observer, k, starved):
    run = where(starved, observer.run[k] + 1.0, 0.0)
    observer.run[k] = run
    observer.longest[k] = greatest(observer.longest[k], run)


def _report(observer, state, out):
    assign(out[0], observer.longest)


for state_class in (PulledState, PlayedState):
    plays_in_lanes(state_class)
    implements("report", state_class)(_report)
