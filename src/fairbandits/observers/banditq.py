"""BanditQ's queues: their squares, and the inequalities in its proofs that hold on every path."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import inlined
from fairbandits.engine.width import assign, fill, largest
from fairbandits.observers.common import Observer, refuse, report_columns, reports_columns
from fairbandits.policies import banditq, learners
from fairbandits.policies.parameters import Means
from fairbandits.theory.static import static_benchmark

#: Places in `totals`.
EARNED, SQUARES, QUEUES, REGRET, REALISED, WEIGHTED = range(6)
#: Columns.
EQ6, EQ8, EQ11, EQ12, EQ13, QUEUE, FLOOR = range(7)


@reports_columns
class SquaresState(NamedTuple):
    columns: np.ndarray

    def watch(observer, state, t, action, reward):
        length = state.queues.length
        for k in range(len(length)):
            observer.columns[0][k] += length[k] * length[k]


class InequalitiesState(NamedTuple):
    """The largest left minus right side so far, and sums over the rounds so far."""

    columns: np.ndarray
    means: np.ndarray
    benchmark: np.ndarray  # x*
    factor: float  # of the root in Theorem 1
    before: np.ndarray  # queues before the round; at first they are empty
    missed: np.ndarray
    ceiling: np.ndarray
    gains: np.ndarray
    totals: np.ndarray

    report = report_columns

    def watch(observer, state, t, x, reward):
        before, totals, excess = observer.before, observer.totals, observer.columns
        queues = state.queues
        n = x.size
        drift = 0.0
        drift_bound = 2.0
        squared_queues = 0.0
        for k in range(n):
            queue, target = queues.length[k], queues.targets[k]
            served = reward[k] * x[k]
            g = state.surrogate[k]
            totals[EARNED] += x[k] * g
            totals[SQUARES] += g * g
            observer.gains[k] += g
            totals[REGRET] += (observer.benchmark[k] - x[k]) * observer.means[k]
            totals[REALISED] += reward[k] * (observer.benchmark[k] - x[k])
            totals[WEIGHTED] += before[k] * (target - reward[k] * observer.benchmark[k])
            squared_queues += queue * queue
            drift += (queue - before[k]) * (queue + before[k])
            drift_bound += 2.0 * before[k] * (target - served)
            observer.missed[k] = observer.missed[k] + target - served
            observer.ceiling[k] += target
            excess[EQ6, k] = max(excess[EQ6, k], observer.missed[k] - queue)
            excess[QUEUE, k] = max(excess[QUEUE, k], queue - observer.ceiling[k])
        totals[QUEUES] += squared_queues

        regret = largest(observer.gains) - totals[EARNED]
        root = 2.0 * math.sqrt(2.0 * totals[QUEUES])
        root += 2.0 * queues.penalty * math.sqrt(2.0 * n * t)
        left = squared_queues + 2.0 * queues.penalty * totals[REALISED]
        right = 2.0 * t + 2.0 * totals[WEIGHTED] + 2.0 * regret
        _raise(excess, EQ8, drift - drift_bound)
        _raise(excess, EQ11, regret - observer.factor * math.sqrt(totals[SQUARES]))
        _raise(excess, EQ12, regret - root)
        _raise(excess, EQ13, left - right)
        _raise(excess, FLOOR, -t - totals[REGRET])
        assign(before, queues.length)


@dataclass(frozen=True)
class QueueSquares(Observer):
    """The sum over the rounds so far of Q_i(t)^2, of BanditQ with either feedback (Eq. 14).

    Columns
    -------
    squares : reward squared
        Sum of Q_k(s)^2 over rounds s = 1..t. Range: at least 0. Never falls.
    """

    probes: ClassVar[tuple[str, ...]] = ("squares",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> SquaresState:
        if not isinstance(state, banditq.FullState | banditq.BanditState):
            refuse(self, policy, "BanditQ")
        return SquaresState(np.zeros((1, n_arms)))


@dataclass(frozen=True)
class BanditQInequalities(Observer):
    """The inequalities in the proofs of BanditQ with full information and gradient ascent.

    `means` are the true means in [0, 1]; the best distribution x* for them must meet the targets.
    Each column is the largest difference, left side minus right side, over the rounds so far. S is
    the sum of the squared norms of the gains g that the learner has seen, and R = max_i sum g_i -
    sum <x, g> is its regret:

    ================  ==================================================================
    ``eq6_excess``    lambda_i t - sum r_i x_i <= Q_i(t), of each arm
    ``eq8_excess``    Phi(t) - Phi(t-1) <= 2 + 2 sum_P Q_i(t-1) (lambda_i - r_i x_i)
    ``eq11_excess``   R <= (1/c + c) sqrt(S) for steps c / sqrt(S) (Theorem 1 has c = 1)
    ``eq12_excess``   R <= 2 sqrt(2 sum_s sum_i Q_i(s)^2) + 2 V sqrt(2 N t)
    ``eq13_excess``   Phi(t) + 2 V sum <r, x* - x> <=
                      2 t + 2 sum_s sum_i Q_i(s-1) (lambda_i - r_i(s) x*_i) + 2 R
    ``queue_excess``  Q_i(t) <= lambda_i t, of each arm (proof of Prop. 1)
    ``floor_excess``  -t <= sum_s <x* - x(s), mu>
    ================  ==================================================================

    Until the queue is empty for the first time, Eq. 6 and the bound of the queue hold with
    equality. Rounding cannot break them, since both sides are added up in the order of the queue
    and rounding is monotone.

    Columns
    -------
    eq6_excess : reward
        Largest lambda_k s - sum r_k x_k - Q_k(s) in rounds s <= t (after Eq. 6): the inequality
        holds where it is at most 0. Range: any. Never falls.
    eq8_excess : reward squared
        Largest left side minus right side of Eq. 8 so far. Range: any. One value for each replicate
        and round; the same at every arm. Never falls.
    eq11_excess : reward squared
        Largest left side minus right side of Eq. 11 so far. Range: any. One value for each
        replicate and round; the same at every arm. Never falls.
    eq12_excess : reward squared
        Largest left side minus right side of Eq. 12 so far. Range: any. One value for each
        replicate and round; the same at every arm. Never falls.
    eq13_excess : reward squared
        Largest left side minus right side of Eq. 13 so far. Range: any. One value for each
        replicate and round; the same at every arm. Never falls.
    queue_excess : reward
        Largest Q_k(s) - lambda_k s in rounds s <= t. Range: any. Never falls.
    floor_excess : reward
        Largest -s minus the pseudo-regret at s, rounds s <= t. Range: any. One value for each
        replicate and round; the same at every arm. Never falls.
    """

    means: Means
    probes: ClassVar[tuple[str, ...]] = (
        *("eq6_excess", "eq8_excess", "eq11_excess", "eq12_excess", "eq13_excess"),
        *("queue_excess", "floor_excess"),
    )

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> InequalitiesState:
        learner = state.learner if isinstance(state, banditq.FullState) else None
        if not (isinstance(learner, learners.OGA) and state.gain == 1):
            refuse(self, policy, "BanditQ with full information and gradient ascent on its gains")
        checks.length("means", self.means, n_arms)
        means, step = np.array(self.means), learner.step
        return InequalitiesState(
            np.full((7, n_arms), -np.inf),
            means,
            static_benchmark(means, state.queues.targets).distribution,
            1.0 / step + step,
            *np.zeros((4, n_arms)),
            np.zeros(6),
        )


@inlined
def _raise(excess, column, value):
    if value > excess[column, 0]:
        fill(excess[column], value)
