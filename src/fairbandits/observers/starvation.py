"""Waiting times of the arms of any policy."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements, plays_in_lanes
from fairbandits.engine.width import assign, greatest, where
from fairbandits.observers.common import part

#: An arm with a probability of at most this is starved in the round.
RARE = 0.01


@plays_in_lanes
class StarvationState(NamedTuple):
    """The rounds since each arm was last played, and the largest number of them so far."""

    run: np.ndarray
    longest: np.ndarray


@dataclass(frozen=True)
class Starvation:
    """The longest run of rounds so far, the present one included, in which an arm is starved.

    Notes
    -----
    Under bandit feedback it is starved in rounds without a pull of it, with full information in
    those with x_i(t) <= 0.01.

    Columns
    -------
    starvation : rounds
        Longest run of rounds up to t without a pull of the arm; with full information, of rounds in
        which its probability is at most 0.01. Range: whole number, 0 to t. Never falls.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", remark after Eq. 4.
    """

    probes: ClassVar[tuple[str, ...]] = ("starvation",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> StarvationState:
        return StarvationState(*np.zeros((2, n_arms)))


@implements("watch", StarvationState)
def _watch(observer, state, t, action, reward):
    for k in range(len(observer.run)):
        run = where(part(action, k) <= RARE, observer.run[k] + 1.0, 0.0)
        observer.run[k] = run
        observer.longest[k] = greatest(observer.longest[k], run)


@implements("report", StarvationState)
def _report(observer, state, out):
    assign(out[0], observer.longest)
