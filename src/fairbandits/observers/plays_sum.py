"""The plays of any policy, summed over the rounds."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements, plays_in_lanes
from fairbandits.engine.width import assign
from fairbandits.observers.common import part


@plays_in_lanes
class PlaysState(NamedTuple):
    """Pulls of each arm so far, or summed probabilities; and their sum over the rounds so far."""

    plays: np.ndarray
    total: np.ndarray


@dataclass(frozen=True)
class PlaysSum:
    """The sum over the rounds so far of the plays of each arm up to that round.

    Notes
    -----
    It gives the regret averaged over the rounds, b* (t + 1) / 2 - sum_i mu_i plays_sum_i / t for a
    benchmark of b* a round.

    Columns
    -------
    plays_sum : pulls x rounds
        Sum of N_k(s) over rounds s = 1..t. Range: at least 0. Never falls.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", Prop. 4.
    """

    probes: ClassVar[tuple[str, ...]] = ("plays_sum",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> PlaysState:
        return PlaysState(*np.zeros((2, n_arms)))


@implements("watch", PlaysState)
def _watch(observer, state, t, action, reward):
    for k in range(len(observer.plays)):
        observer.plays[k] += part(action, k)
        observer.total[k] += observer.plays[k]


@implements("report", PlaysState)
def _report(observer, state, out):
    assign(out[0], observer.total)
