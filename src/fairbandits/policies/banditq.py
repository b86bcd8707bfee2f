"""BanditQ: queues for the reward targets, and an adversarial learner fed with their lengths."""

import math
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import inlined, plays_in_lanes
from fairbandits.engine.width import Shared, absolute, assign, greatest, where
from fairbandits.policies import learners
from fairbandits.policies.learners import absorb, ascend
from fairbandits.policies.parameters import (
    Exponent,
    NonNegative,
    Policy,
    Positive,
    Targets,
    not_zero,
    number,
    one_of,
    power,
)
from fairbandits.policies.simplex import sample
from fairbandits.policies.ties import better
from fairbandits.policies.ucb1 import Means, bonus_of, no_pulls, take

PROBES = ("queue", "idleness", "queue_max", "probability")


@plays_in_lanes
class Queues(NamedTuple):
    """Queues of the arms' shortfalls, and the weight V of the reward against them."""

    targets: np.ndarray
    protected: Shared
    length: np.ndarray
    idleness: np.ndarray
    longest: np.ndarray
    penalty: float


@inlined
def surrogate_gain(queues, length, reward):
    """Return (Q_i + V) r_i for a queue of this length."""
    return (length + queues.penalty) * reward


@inlined
def lengthen(queues, k, served):
    """Move the queue of arm k by a round with `served` of its reward: Q_i + lambda_i - r_i x_i."""
    level = queues.length[k] + queues.targets[k] - served
    below = level < 0.0
    queues.idleness[k] -= where(below, level, 0.0)
    level = where(below, 0.0, level)
    queues.length[k] = level
    queues.longest[k] = greatest(queues.longest[k], level)
    return level


@inlined
def probe_queues(state, out):
    assign(out[0], state.queues.length)
    assign(out[1], state.queues.idleness)
    assign(out[2], state.queues.longest)


@plays_in_lanes
class FullState(NamedTuple):
    """BanditQ with full information: queues of the protected arms, and a learner."""

    learner: NamedTuple
    queues: Queues
    surrogate: np.ndarray
    seen: np.ndarray  # by the learner
    gain: float
    post: bool

    def distribute(state, t, coin, out):
        assign(out, state.learner.x)

    def learn(state, t, x, reward):
        queues, surrogate, seen = state.queues, state.surrogate, state.seen
        for k in range(len(surrogate)):  # without a target the queue stays 0
            surrogate[k] = queues.penalty * reward[k]
        for k in queues.protected:
            length = queues.length[k]
            level = lengthen(queues, k, reward[k] * x[k])
            surrogate[k] = surrogate_gain(queues, level if state.post else length, reward[k])
        for k in range(len(seen)):
            seen[k] = state.gain * surrogate[k]
        ascend(state.learner, seen)

    probe = probe_queues


@plays_in_lanes
class BanditState(NamedTuple):
    """BanditQ with bandit feedback: the queues are moved by one arm's reward a round."""

    learner: NamedTuple
    queues: Queues
    probability: np.ndarray
    gain: float
    post: bool

    def choose(state, t, coin):
        x = state.learner.x
        for k in range(len(x)):
            state.probability[k] += x[k]
        return sample(x, coin)

    def learn(state, t, arm, reward):
        queues = state.queues
        length = queues.length[arm]
        for k in queues.protected:
            pulled = arm == k
            level = lengthen(queues, k, where(pulled, reward, 0.0))
            if state.post:
                length = where(pulled, level, length)
        absorb(state.learner, t, arm, state.gain * surrogate_gain(queues, length, reward))

    def probe(state, out):
        probe_queues(state, out)
        assign(out[3], state.probability)


@dataclass(frozen=True)
class BanditQ(Policy):
    """Keep targets of reward by queues; the learner sees the surrogate gains (Q_i + V) r_i.

    The data dictionary describes the probes.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        Target reward rate lambda_i of each arm, 0 for the unprotected.
    feedback : {"bandit", "full"}
        Whether the policy sees the reward of the pulled arm after a round, or all rewards.
    subroutine : {"oga", "adahedge", "squint"} or {"ftrl", "exp3p"}
        The learner: the first three for full information (default ``oga``), the others for bandit
        feedback (default ``ftrl``).
    V, V_exponent : float
        Weight V >= 0 of the reward against the queues. By default it is ``horizon ** V_exponent``,
        with the exponent 1/2: the published sqrt(T).
    surrogate_index : {"post", "pre"}
        Whether the surrogate uses the queue after the round's update, as in the printed algorithms,
        or before it, as in Eqs 9 and 18.
    step_c : float
        Step c of online gradient ascent; default 1/sqrt(2) (Algorithm 1). Theorem 1 gives 1.
    gamma_rule : {1, 2}
        Exploration rate of the scale-free learner: sqrt(N/t), or adaptive.
    tolerance : float
        How near to 1 the sum of the probabilities is before the optimiser's last step; the released
        program has 1e-5.
    gain : float
        Nonzero factor of the gains that the learner sees; if it is negative, they are losses.

    Notes
    -----
    Squint and EXP3.P need gains of a known range; they take the largest seen, doubled when
    exceeded, and restart then.

    Columns
    -------
    queue : reward (BanditQ, Hedge, queue UCB), pulls (LFG)
        Length Q_k(t) of the policy's queue for the arm: the arm's shortfall in reward or pulls, as
        the policy counts it. Range: at least 0.
    idleness : reward
        Sum over rounds 1..t of the amounts by which the queue was cut off at 0. It is Q_k(t) -
        lambda_k t + R_k(t), with lambda_k the arm's target. Range: at least 0. Never falls.
    queue_max : reward
        Largest `queue` of the arm in any of the rounds 1..t. Range: at least `queue`. Never falls.
    probability : pulls
        Sum over rounds 1..t of the arm's probability. BanditQ with full information has this sum in
        `plays`, and 0 here. Range: 0 to t. Never falls.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", Algorithm 1 (full information), App. 7.8 and
    7.9 (bandit feedback; Alg. 2 and 3 of the UAI 2024 version).

    Examples
    --------
    >>> BanditQ(targets=(0.2, 0.0)).start(n_arms=2, horizon=100).queues.penalty
    10.0
    """

    targets: Targets
    feedback: Annotated[str, one_of(*learners.STARTS)] = "bandit"
    subroutine: Annotated[str | None, one_of(*chain(*learners.STARTS.values()))] = None
    V: NonNegative | None = None
    V_exponent: Exponent = 0.5
    surrogate_index: Annotated[str, one_of("post", "pre")] = "post"
    step_c: Positive = math.sqrt(0.5)
    gamma_rule: Annotated[int, one_of(1, 2)] = 1
    tolerance: Positive = 1e-10
    gain: Annotated[float, not_zero(number())] = 1.0
    probes: ClassVar[tuple[str, ...]] = PROBES

    def __post_init__(self):
        super().__post_init__()
        fitting = tuple(learners.STARTS[self.feedback])
        if self.subroutine is None:
            object.__setattr__(self, "subroutine", fitting[0])
        checks.one_of(f"subroutine with {self.feedback} feedback", self.subroutine, fitting)

    def start(self, n_arms: int, horizon: int) -> FullState | BanditState:
        checks.length("targets", self.targets, n_arms)
        targets = np.array(self.targets)
        penalty = power(horizon, self.V_exponent) if self.V is None else float(self.V)
        queues = Queues(targets, np.flatnonzero(targets > 0), *np.zeros((3, n_arms)), penalty)
        uniform = np.full(n_arms, 1.0 / n_arms)
        learner = learners.STARTS[self.feedback][self.subroutine](self, uniform, horizon)
        how = float(self.gain), self.surrogate_index == "post"
        if self.feedback == "full":
            return FullState(learner, queues, *np.zeros((2, n_arms)), *how)
        return BanditState(learner, queues, np.zeros(n_arms), *how)


@dataclass(frozen=True)
class Hedge(Policy):
    """Exponential weights on the rewards themselves, tuned as AdaHedge tunes them.

    It is BanditQ with that learner, no targets and V = 1. See S. de Rooij, T. van Erven, P.
    Grunwald and W. Koolen, "Follow the leader if you can, hedge if you must", JMLR 15 (2014).
    """

    feedback: ClassVar[str] = "full"
    probes: ClassVar[tuple[str, ...]] = PROBES

    def start(self, n_arms: int, horizon: int) -> FullState:
        unfair = BanditQ((0.0,) * n_arms, feedback="full", subroutine="adahedge", V=1.0)
        return unfair.start(n_arms, horizon)


@plays_in_lanes
class QueueUCBState(NamedTuple):
    """Queues, the means of observed rewards, and the largest: given, or so far."""

    queues: Queues
    means: Means
    largest: np.ndarray
    max_weight: bool

    def choose(state, t, coin):
        queues, means = state.queues, state.means
        bonus = bonus_of(means, t) * state.largest[0]
        arm, best = 0, -math.inf
        for k in range(len(means.mean)):
            bound = means.mean[k] + bonus * means.inverse_root[k]
            if state.max_weight:  # an arm never pulled goes first, also with the weight 0
                weight = queues.length[k] + queues.penalty
                bound = where(bound < math.inf, weight, 1.0) * bound
            arm, best = better(k, bound, arm, best)
        return arm

    def learn(state, t, arm, reward):
        for k in state.queues.protected:
            lengthen(state.queues, k, where(arm == k, reward, 0.0))
        observed = reward
        if not state.max_weight:
            observed = surrogate_gain(state.queues, state.queues.length[arm], reward)
            state.largest[0] = greatest(state.largest[0], absolute(observed))
        take(state.means, arm, observed)

    probe = probe_queues


@dataclass(frozen=True)
class QueueUCB(Policy):
    """BanditQ's queues, with the arm of the largest upper confidence bound.

    Arms never pulled go first, the lowest first; ties go to the lowest index. Surrogate rewards
    have no known range: the bound is mean + L sqrt(2 log t / n), where L is the largest reward seen
    so far. The queue in r'(t) is the one after the round's update, as in the printed algorithms.
    Section 3 of BanditQ's paper says that neither index works; ``max_weight`` is max-weight
    scheduling (Tassiulas and Ephremides 1992).

    Parameters
    ----------
    targets, V, V_exponent
        As in `BanditQ`.
    index : {"surrogate", "max_weight"}
        UCB1's index of the surrogate rewards r'(t) = (Q_i + V) r_i(t), as if they were i.i.d.; or
        the weight Q_i(t-1) + V times UCB1's bound of the reward itself.
    scale : float
        With ``max_weight``, the range of the rewards: the bound is mean + scale sqrt(2 log t / n).
    """

    targets: Targets
    index: Annotated[str, one_of("surrogate", "max_weight")] = "surrogate"
    V: NonNegative | None = None
    V_exponent: Exponent = 0.5
    scale: Positive = 1.0
    probes: ClassVar[tuple[str, ...]] = ("queue", "idleness", "queue_max")

    def start(self, n_arms: int, horizon: int) -> QueueUCBState:
        like = BanditQ(self.targets, V=self.V, V_exponent=self.V_exponent)
        queues, max_weight = like.start(n_arms, horizon).queues, self.index == "max_weight"
        ranges = np.full(1, self.scale if max_weight else 0.0)
        return QueueUCBState(queues, no_pulls(n_arms), ranges, max_weight)
