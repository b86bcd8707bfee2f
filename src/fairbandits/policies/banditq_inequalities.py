"""BanditQ with full information, and in every round the inequalities that its proofs state."""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.arrays import assign, fill, largest
from fairbandits.engine.protocol import distribute, implements, learn
from fairbandits.policies import banditq, checks
from fairbandits.policies.parameters import Means, one_of

#: Places in `totals`.
EARNED, SQUARES, QUEUES, REGRET, REALISED, WEIGHTED = range(6)
#: Places in `excess`.
EQ8, EQ11, EQ12, EQ13, FLOOR = range(5)


class InequalityState(NamedTuple):
    """BanditQ, sums over the rounds so far, and the largest left minus right side so far."""

    policy: banditq.FullState
    means: np.ndarray
    benchmark: np.ndarray  # x*
    factor: float  # of the root in Theorem 1
    before: np.ndarray  # queues before the round
    missed: np.ndarray
    ceiling: np.ndarray
    gains: np.ndarray
    totals: np.ndarray
    excess: np.ndarray
    rate_excess: np.ndarray
    queue_excess: np.ndarray


@dataclass(frozen=True)
class BanditQInequalities(banditq.BanditQ):
    """BanditQ that checks in every round what its proofs state of every path.

    It plays exactly as `BanditQ` with full information and gradient ascent does, whose parameters
    it has, and one more.

    Parameters
    ----------
    means : sequence of float, length n_arms
        True means in [0, 1], only to measure: they say what the benchmark x* is.

    Raises
    ------
    ValueError
        If a parameter is out of its range, the feedback is not ``full``, the subroutine not
        ``oga``, or the targets cannot be met.

    Notes
    -----
    Each probe is the largest over the rounds so far of left minus right side, so that the
    inequality holds where it is at most 0. With S the sum of the squared norms of the gains g that
    the learner has seen, and R = max_i sum g_i - sum <x, g> its regret against the best arm, which
    is that against the best point of the simplex:

    ================  ==================================================================
    ``eq6_excess``    lambda_i t - sum r_i x_i <= Q_i(t), of each arm
    ``eq8_excess``    Phi(t) - Phi(t-1) <= 2 + 2 sum_P Q_i(t-1) (lambda_i - r_i x_i)
    ``eq11_excess``   R <= (1/c + c) sqrt(S) for steps c / sqrt(S) (Theorem 1 has c = 1)
    ``eq12_excess``   R <= 2 sqrt(2 sum_s sum_i Q_i(s)^2) + 2 V sqrt(2 N t)
    ``eq13_excess``   Phi(t) + 2 V sum <r, x* - x> <=
                      2 t + 2 sum_s sum_i Q_i(s-1) (lambda_i - r_i(s) x*_i) + 2 R
    ``queue_excess``  Q_i(t) <= lambda_i t, of each arm
    ``floor_excess``  -t <= sum_s <x* - x(s), mu>
    ================  ==================================================================

    Those that are about no single arm stand at every arm. Eq. 13 is printed with the worst case
    of the surrogate problem, whose action set is the simplex, and so it is here. What Eq. 6 and
    the bound of the queue compare with the queue is added up in the order in which the queue is:
    rounding is monotone, so that it cannot break them, although both hold with equality until the
    queue is empty for the first time.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", Eqs 6 to 13, Theorem 1, proof of Prop. 1.
    """

    feedback: Annotated[str, one_of("full")] = "full"
    subroutine: Annotated[str | None, one_of("oga")] = None
    _: KW_ONLY
    means: Means
    probes: ClassVar[tuple[str, ...]] = (
        "eq6_excess",
        "eq8_excess",
        "eq11_excess",
        "eq12_excess",
        "eq13_excess",
        "queue_excess",
        "floor_excess",
    )

    def __post_init__(self):
        super().__post_init__()
        checks.one_of("feedback", self.feedback, ("full",))
        checks.one_of("subroutine", self.subroutine, ("oga",))
        object.__setattr__(self, "means", tuple(float(mean) for mean in self.means))
        checks.means("means", self.means)

    def start(self, n_arms: int, horizon: int) -> InequalityState:
        """Return the state before the first round."""
        checks.length("means", self.means, n_arms)
        policy = super().start(n_arms, horizon)
        means = np.array(self.means)
        return InequalityState(
            policy,
            means,
            _benchmark(means, policy.targets),
            1.0 / self.step_c + self.step_c,
            *np.zeros((4, n_arms)),
            np.zeros(6),
            np.full(5, -np.inf),
            *np.full((2, n_arms), -np.inf),
        )


def _benchmark(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return x*: lambda_i / mu_i for each arm, and what is left for the best one (Eqs 1 to 3)."""
    x = np.zeros(means.size)
    wanted = targets > 0
    if (means[wanted] <= 0).any() or (targets[wanted] / means[wanted]).sum() > 1 + 1e-9:
        raise ValueError(
            "targets cannot be met: target / mean must sum to at most 1, got targets "
            f"{targets.tolist()} for means {means.tolist()}"
        )
    x[wanted] = targets[wanted] / means[wanted]
    best = int(np.argmax(means))
    x[best] = 0.0
    x[best] = max(0.0, 1.0 - x.sum())
    return x


@implements("distribute", InequalityState)
def _distribute(state, t, coin, out):
    distribute(state.policy, t, coin, out)


@implements("learn", InequalityState)
def _learn(state, t, x, reward):
    policy, before, totals, excess = state.policy, state.before, state.totals, state.excess
    assign(before, policy.queue)
    learn(policy, t, x, reward)
    n = x.size
    drift = 0.0
    drift_bound = 2.0
    squared_queues = 0.0
    for k in range(n):
        queue, target = policy.queue[k], policy.targets[k]
        served = reward[k] * x[k]
        g = policy.surrogate[k]
        totals[EARNED] += x[k] * g
        totals[SQUARES] += g * g
        state.gains[k] += g
        totals[REGRET] += (state.benchmark[k] - x[k]) * state.means[k]
        totals[REALISED] += reward[k] * (state.benchmark[k] - x[k])
        totals[WEIGHTED] += before[k] * (target - reward[k] * state.benchmark[k])
        squared_queues += queue * queue
        drift += (queue - before[k]) * (queue + before[k])
        drift_bound += 2.0 * before[k] * (target - served)
        state.missed[k] = state.missed[k] + target - served
        state.ceiling[k] += target
        state.rate_excess[k] = max(state.rate_excess[k], state.missed[k] - queue)
        state.queue_excess[k] = max(state.queue_excess[k], queue - state.ceiling[k])
    totals[QUEUES] += squared_queues

    regret = largest(state.gains) - totals[EARNED]
    root = 2.0 * math.sqrt(2.0 * totals[QUEUES])
    root += 2.0 * policy.penalty * math.sqrt(2.0 * n * t)
    left = squared_queues + 2.0 * policy.penalty * totals[REALISED]
    right = 2.0 * t + 2.0 * totals[WEIGHTED] + 2.0 * regret
    excess[EQ8] = max(excess[EQ8], drift - drift_bound)
    excess[EQ11] = max(excess[EQ11], regret - state.factor * math.sqrt(totals[SQUARES]))
    excess[EQ12] = max(excess[EQ12], regret - root)
    excess[EQ13] = max(excess[EQ13], left - right)
    excess[FLOOR] = max(excess[FLOOR], -t - totals[REGRET])


@implements("probe", InequalityState)
def _probe(state, out):
    assign(out[0], state.rate_excess)
    fill(out[1], state.excess[EQ8])
    fill(out[2], state.excess[EQ11])
    fill(out[3], state.excess[EQ12])
    fill(out[4], state.excess[EQ13])
    assign(out[5], state.queue_excess)
    fill(out[6], state.excess[FLOOR])
