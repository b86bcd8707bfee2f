"""The plays of any policy, summed over the rounds."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.lanes import plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import assign, where


class PulledState(NamedTuple):
    """Pulls of each arm so far, and their sum over the rounds so far."""

    plays: np.ndarray
    total: np.ndarray


class PlayedState(NamedTuple):
    """The same with summed probabilities."""

    plays: np.ndarray
    total: np.ndarray


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
    for k in range(len(observer.plays)):
        observer.plays[k] += where(arm == k, 1.0, 0.0)
        observer.total[k] += observer.plays[k]


@implements("watch", PlayedState)
def _watch_play(observer, state, t, x, reward):
    for k in range(len(observer.plays)):
        observer.plays[k] += x[k]
        observer.total[k] += observer.plays[k]


def _report(observer, state, out):
    assign(out[0], observer.total)


for state_class in (PulledState, PlayedState):
    plays_in_lanes(state_class)
    implements("report", state_class)(_report)
