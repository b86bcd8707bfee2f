"""Queues for reward targets with upper confidence bounds in place of an adversarial learner."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import assign
from fairbandits.policies.banditq import BanditQ, lengthen, surrogate_gain
from fairbandits.policies.parameters import Targets, number, one_of
from fairbandits.policies.ties import best_arm


class QueueUCBState(NamedTuple):
    """Queues, and the number, sum, mean and 1 / sqrt(number) of each arm's observations."""

    targets: np.ndarray
    protected: np.ndarray
    queue: np.ndarray
    idleness: np.ndarray
    queue_max: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    index: np.ndarray
    memory: np.ndarray  # largest surrogate reward; arms never pulled
    penalty: float
    scale: float
    max_weight: bool


LARGEST, UNPULLED = range(2)


@dataclass(frozen=True)
class QueueUCB:
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

    Raises
    ------
    ValueError
        If a parameter is out of its range.

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
    V: Annotated[float | None, number(at_least=0)] = None
    V_exponent: float = 0.5
    scale: Annotated[float, number(above=0)] = 1.0
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ("queue", "idleness", "queue_max")

    def __post_init__(self):
        object.__setattr__(self, "targets", tuple(float(target) for target in self.targets))
        self._queues()
        checks.one_of("index", self.index, ("surrogate", "max_weight"))
        checks.positive("scale", self.scale)

    def _queues(self) -> BanditQ:
        return BanditQ(self.targets, V=self.V, V_exponent=self.V_exponent)

    def start(self, n_arms: int, horizon: int) -> QueueUCBState:
        """Return the state before the first round."""
        start = self._queues().start(n_arms, horizon)
        return QueueUCBState(
            start.targets,
            start.protected,
            start.queue,
            start.idleness,
            start.queue_max,
            np.zeros(n_arms, np.int64),
            *np.zeros((4, n_arms)),
            np.array([0.0, n_arms]),
            start.penalty,
            float(self.scale),
            self.index == "max_weight",
        )


@implements("choose", QueueUCBState)
def _choose(state, t, coin):
    if state.memory[UNPULLED] > 0.0:
        for k in range(state.pulls.size):
            if state.pulls[k] == 0:
                return k
    bonus = math.sqrt(2.0 * math.log(t))
    bonus *= state.scale if state.max_weight else state.memory[LARGEST]
    for k in range(state.index.size):
        bound = state.mean[k] + bonus * state.inverse_root[k]
        state.index[k] = (state.queue[k] + state.penalty) * bound if state.max_weight else bound
    return best_arm(state.index, False, coin)


@implements("learn", QueueUCBState)
def _learn(state, t, arm, reward):
    for j in range(state.protected.size):
        k = state.protected[j]
        lengthen(state, k, reward if k == arm else 0.0)
    observed = reward
    if not state.max_weight:
        observed = surrogate_gain(state, state.queue[arm], reward)
        state.memory[LARGEST] = max(state.memory[LARGEST], abs(observed))
    pulls = state.pulls[arm] + 1
    if pulls == 1:
        state.memory[UNPULLED] -= 1.0
    state.pulls[arm] = pulls
    state.sums[arm] += observed
    state.mean[arm] = state.sums[arm] / pulls
    state.inverse_root[arm] = 1.0 / math.sqrt(pulls)


@implements("probe", QueueUCBState)
def _probe(state, out):
    assign(out[0], state.queue)
    assign(out[1], state.idleness)
    assign(out[2], state.queue_max)
