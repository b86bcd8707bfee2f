"""The plays of any policy, summed over the rounds."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.arrays import assign
from fairbandits.engine.lanes import copy_rows, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import load, select, store


class PulledState(NamedTuple):
    """Pulls of each arm so far, and their sum over the rounds so far."""

    plays: np.ndarray
    total: np.ndarray


class PlayedState(NamedTuple):
    """The same of summed probabilities."""

    plays: np.ndarray
    total: np.ndarray


class PulledLanes(PulledState):
    """`PulledState` in every lane."""


class PlayedLanes(PlayedState):
    """`PlayedState` in every lane."""


@dataclass(frozen=True)
class PlaysSum:
    """The sum over the rounds so far of the plays of each arm up to that round.

    Notes
    -----
    It gives the regret averaged over the rounds, b* (t + 1) / 2 - sum_i mu_i plays_sum_i / t for a
    benchmark of b* a round. The column is ``plays_sum``.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", Prop. 4.
    """

    probes: ClassVar[tuple[str, ...]] = ("plays_sum",)

    def start(
        self, policy: Any, state: Any, n_arms: int, horizon: int
    ) -> PulledState | PlayedState:
        """Return the state before the first round."""
        kind = PulledState if policy.feedback == "bandit" else PlayedState
        return kind(*np.zeros((2, n_arms)))


@implements("watch", PulledState)
def _watch_pull(observer, state, t, arm, reward):
    observer.plays[arm] += 1.0
    for k in range(observer.plays.size):
        observer.total[k] += observer.plays[k]


@implements("watch", PlayedState)
def _watch_play(observer, state, t, x, reward):
    for k in range(observer.plays.size):
        observer.plays[k] += x[k]
        observer.total[k] += observer.plays[k]


def _report(observer, state, out):
    assign(out[0], observer.total)


implements("report", PulledState)(_report)
implements("report", PlayedState)(_report)


# ------------------------------------------------------------------------------------------ lanes


plays_in_lanes(PulledState, PulledLanes)
plays_in_lanes(PlayedState, PlayedLanes)


@implements("watch", PulledLanes)
def _watch_pulls(observer, state, t, arm, reward):
    for k in range(observer.plays.shape[0]):
        plays = load(observer.plays, k) + select(arm == k, 1.0, 0.0)
        store(observer.plays, k, plays)
        store(observer.total, k, load(observer.total, k) + plays)


@implements("watch", PlayedLanes)
def _watch_plays(observer, state, t, x, reward):
    for k in range(observer.plays.shape[0]):
        plays = load(observer.plays, k) + load(x, k)
        store(observer.plays, k, plays)
        store(observer.total, k, load(observer.total, k) + plays)


def _report_lanes(observer, state, out):
    copy_rows(out[0], observer.total)


implements("report", PulledLanes)(_report_lanes)
implements("report", PlayedLanes)(_report_lanes)
