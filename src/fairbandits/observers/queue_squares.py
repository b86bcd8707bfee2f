"""The squared queues of BanditQ, summed over the rounds."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.arrays import assign
from fairbandits.engine.lanes import copy_rows, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import load, store
from fairbandits.observers.refusal import refuse
from fairbandits.policies import banditq


class SquaresState(NamedTuple):
    """Sum of each queue's squares."""

    total: np.ndarray


class SquaresLanes(SquaresState):
    """`SquaresState` in every lane."""


@dataclass(frozen=True)
class QueueSquares:
    """The sum over the rounds so far of Q_i(t)^2, of BanditQ with either feedback.

    Notes
    -----
    The column is ``squares``.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", Eq. 14.
    """

    probes: ClassVar[tuple[str, ...]] = ("squares",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> SquaresState:
        """Return the state before the first round."""
        if not isinstance(state, banditq.FullState | banditq.BanditState):
            refuse(self, policy, "BanditQ")
        return SquaresState(np.zeros(n_arms))


@implements("watch", SquaresState)
def _watch(observer, state, t, action, reward):
    for k in range(observer.total.size):
        observer.total[k] += state.queue[k] * state.queue[k]


@implements("report", SquaresState)
def _report(observer, state, out):
    assign(out[0], observer.total)


# ------------------------------------------------------------------------------------------ lanes


plays_in_lanes(SquaresState, SquaresLanes)


@implements("watch", SquaresLanes)
def _watch_lanes(observer, state, t, action, reward):
    for k in range(observer.total.shape[0]):
        length = load(state.queue, k)
        store(observer.total, k, load(observer.total, k) + length * length)


@implements("report", SquaresLanes)
def _report_lanes(observer, state, out):
    copy_rows(out[0], observer.total)
