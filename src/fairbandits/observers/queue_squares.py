"""The squared queues of BanditQ, summed over the rounds."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements, plays_in_lanes
from fairbandits.engine.width import assign
from fairbandits.observers.common import refuse
from fairbandits.policies import banditq


@plays_in_lanes
class SquaresState(NamedTuple):
    """Sum of each queue's squares."""

    total: np.ndarray


@dataclass(frozen=True)
class QueueSquares:
    """The sum over the rounds so far of Q_i(t)^2, of BanditQ with either feedback.

    Columns
    -------
    squares : reward squared
        Sum of Q_k(s)^2 over rounds s = 1..t. Range: at least 0. Never falls.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", Eq. 14.
    """

    probes: ClassVar[tuple[str, ...]] = ("squares",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> SquaresState:
        if not isinstance(state, banditq.FullState | banditq.BanditState):
            refuse(self, policy, "BanditQ")
        return SquaresState(np.zeros(n_arms))


@implements("watch", SquaresState)
def _watch(observer, state, t, action, reward):
    for k in range(len(observer.total)):
        observer.total[k] += state.queue[k] * state.queue[k]


@implements("report", SquaresState)
def _report(observer, state, out):
    assign(out[0], observer.total)
