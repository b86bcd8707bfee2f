"""Queues for reward targets with upper confidence bounds in place of an adversarial learner."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements, plays_in_lanes
from fairbandits.engine.width import Shared, absolute, assign, greatest, where
from fairbandits.policies.banditq import BanditQ, lengthen, surrogate_gain
from fairbandits.policies.parameters import (
    Exponent,
    NonNegative,
    Policy,
    Positive,
    Targets,
    one_of,
)
from fairbandits.policies.ties import better
from fairbandits.policies.ucb1 import Means, bonus_of, never_pulled_first, no_pulls, take


@plays_in_lanes
class QueueUCBState(NamedTuple):
    """Queues, the means of what is observed, and the largest surrogate reward so far."""

    targets: np.ndarray
    protected: Shared
    queue: np.ndarray
    idleness: np.ndarray
    queue_max: np.ndarray
    means: Means
    largest: np.ndarray
    penalty: float
    scale: float
    max_weight: bool


@dataclass(frozen=True)
class QueueUCB(Policy):
    """BanditQ's queues, and the arm of the largest upper confidence bound.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        Target reward rate lambda_i of each arm, 0 for the unprotected.
    index : {"surrogate", "max_weight"}
        Of what: UCB1 on the surrogate rewards r'(t) = (Q_i + V) r_i(t), as if they were i.i.d.; or
        the weight Q_i(t-1) + V times UCB1's bound of the reward itself.
    V : float, optional
        Weight of the reward against the queues, >= 0. Default: ``horizon ** V_exponent``.
    V_exponent : float
        See `V`.
    scale : float
        With ``max_weight``, the range of the rewards: the bound is mean + scale sqrt(2 log t / n).

    Notes
    -----
    Arms never pulled go first, the lowest first; ties go to the lowest index. Surrogate rewards
    have no known range. The bound has the largest one seen so far, mean + largest
    sqrt(2 log t / n), which is UCB1 on all of them divided by that. The range that is certain,
    T + V, would make the bonus so large that the arms are pulled about equally often. The queue in
    r'(t) is the one after the round's update, as in the printed algorithms.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", section 3, says that neither will do; the
    first is UCB1 (Auer, Cesa-Bianchi and Fischer 2002) as its black box, the second has max-weight
    scheduling (Tassiulas and Ephremides 1992) in place of a black box.
    """

    targets: Targets
    index: Annotated[str, one_of("surrogate", "max_weight")] = "surrogate"
    V: NonNegative | None = None
    V_exponent: Exponent = 0.5
    scale: Positive = 1.0
    probes: ClassVar[tuple[str, ...]] = ("queue", "idleness", "queue_max")

    def start(self, n_arms: int, horizon: int) -> QueueUCBState:
        queues = BanditQ(self.targets, V=self.V, V_exponent=self.V_exponent).start(n_arms, horizon)
        return QueueUCBState(
            queues.targets,
            queues.protected,
            queues.queue,
            queues.idleness,
            queues.queue_max,
            no_pulls(n_arms),
            np.zeros(1),
            queues.penalty,
            float(self.scale),
            self.index == "max_weight",
        )


@implements("choose", QueueUCBState)
def _choose(state, t, coin):
    means = state.means
    bonus = bonus_of(t) * (state.scale if state.max_weight else state.largest[0])
    arm, best = 0, -math.inf
    for k in range(len(means.mean)):
        bound = means.mean[k] + bonus * means.inverse_root[k]
        index = (state.queue[k] + state.penalty) * bound if state.max_weight else bound
        arm, best = better(k, index, arm, best)
    return never_pulled_first(means, arm)


@implements("learn", QueueUCBState)
def _learn(state, t, arm, reward):
    for j in range(state.protected.size):
        k = state.protected[j]
        lengthen(state, k, where(arm == k, reward, 0.0))
    observed = reward
    if not state.max_weight:
        observed = surrogate_gain(state, state.queue[arm], reward)
        state.largest[0] = greatest(state.largest[0], absolute(observed))
    take(state.means, arm, observed)


@implements("probe", QueueUCBState)
def _probe(state, out):
    assign(out[0], state.queue)
    assign(out[1], state.idleness)
    assign(out[2], state.queue_max)
