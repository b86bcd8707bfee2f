"""Guaranteed reward rates by policies that know the horizon."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.elementary import exp, log
from fairbandits.engine.protocol import inlined, not_inlined
from fairbandits.policies import kl
from fairbandits.policies.guarantees import OF_CURVES, Guaranteed, Guarantees, upper_gap
from fairbandits.policies.kl import Limits
from fairbandits.policies.learners import exponential_weights
from fairbandits.policies.parameters import Policy, Positive
from fairbandits.policies.simplex import choose_from_x, sample
from fairbandits.policies.ties import better
from fairbandits.policies.ucb1 import Means, no_pulls, take

FIRST, SECOND, THIRD, LAST = range(4)


class GuaranteeETCState(NamedTuple):
    """Bounds for KL-UCB, the pulls, sums and quotas of each phase, and the last estimates."""

    limits: Limits
    protected: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    quotas: np.ndarray  # of the first two phases
    estimate: np.ndarray
    entropy: np.ndarray
    log_gap: np.ndarray
    upper: np.ndarray
    phase: np.ndarray
    horizon: float

    def choose(state, t, coin):
        while state.phase[0] < LAST:
            arm = _third(state, t - 1) if state.phase[0] == THIRD else _short(state)
            if arm >= 0:
                return arm
            _begin_next(state)
        return kl.choose(state.limits, t)

    def learn(state, t, arm, reward):
        kl.learn(state.limits, arm, reward)
        phase = state.phase[0]
        state.pulls[phase, arm] += 1
        state.sums[phase, arm] += reward


@dataclass(frozen=True)
class GuaranteeETC(Guaranteed):
    """Estimate each guaranteed arm's mean in two phases, add the missing pulls, then play KL-UCB.

    The policy needs the horizon T. Arm after arm, lambda T / 4 pulls give a first estimate m. Then
    min(lambda / (6 m), lambda / 2) T pulls give a second estimate m', from these pulls alone. In
    the third phase an arm has lambda T / m' pulls minus both earlier quotas. Estimates lie between
    lambda and 1. If the lambda / m' sum to more than 1, m' is the upper bound of the second phase's
    pulls. As long as the sum is still more than 1, the arm of the largest bound is pulled; it is 1
    for arms without a guarantee. The remaining rounds go to KL-UCB with all pulls, arms never
    pulled first. Ties go to the lowest arm.

    Parameters
    ----------
    targets, constant
        As in `GuaranteeKLUCB`.
    """

    targets: Guarantees
    constant: Positive = OF_CURVES

    def start(self, n_arms: int, horizon: int) -> GuaranteeETCState:
        rounds = float(checks.whole("horizon", horizon))
        limits, protected = self._begin(n_arms)
        return GuaranteeETCState(
            limits,
            protected,
            np.zeros((4, n_arms), np.int64),
            np.zeros((4, n_arms)),
            np.array([limits.floor / 4 * rounds, np.zeros(n_arms)]),
            limits.floor.copy(),
            np.zeros(n_arms),
            np.full(n_arms, kl.UNKNOWN),
            np.ones(n_arms),
            np.array([FIRST]),
            rounds,
        )


@inlined
def _short(state):
    """Return the first guaranteed arm behind its quota in one of the first two phases."""
    phase = state.phase[0]
    for k in state.protected:
        if state.pulls[phase, k] < state.quotas[phase, k]:
            return k
    return -1


@inlined
def _begin_next(state):
    """Estimate the means by the pulls of the first or second phase, and begin the next one."""
    phase = state.phase[0]
    for k in state.protected:
        if phase < THIRD:
            target = state.limits.floor[k]
            mean = min(max(state.sums[phase, k] / state.pulls[phase, k], target), 1.0)
            state.estimate[k] = mean
            state.entropy[k] = kl.negentropy(mean)
            if phase == FIRST:
                quota = min(target / (6.0 * mean), target / 2.0)
                state.quotas[SECOND, k] = quota * state.horizon
    state.phase[0] = phase + 1


@inlined
def _needed(state, estimate):
    """Return the sum of lambda / estimate."""
    total = 0.0
    for k in state.protected:
        total += state.limits.floor[k] / estimate[k]
    return total


@inlined
def _optimistic(state, clock):
    """Set the upper bounds of the second phase's estimates."""
    now = kl.level(state.limits, clock)
    for k in state.protected:
        divergence = now / state.pulls[SECOND, k]
        gap = upper_gap(state.estimate[k], state.entropy[k], divergence, state.log_gap, k)
        state.upper[k] = max(1.0 - gap, state.limits.floor[k])


@not_inlined
def _third(state, clock):
    """Return the arm to pull in the third phase, or -1 at its end."""
    estimate = state.estimate
    if _needed(state, estimate) > 1.0:
        _optimistic(state, clock)
        estimate = state.upper
        if _needed(state, estimate) > 1.0:
            best, largest = 0, estimate[0]
            for k in range(1, estimate.size):
                best, largest = better(k, estimate[k], best, largest)
            return best
    for k in state.protected:
        whole = state.limits.floor[k] * state.horizon / estimate[k]
        if state.pulls[THIRD, k] < whole - state.quotas[FIRST, k] - state.quotas[SECOND, k]:
            return k
    return -1


class GuaranteeKnapsackState(NamedTuple):
    """Logarithms and values of both sorts of weights, and the constants of the formulas."""

    x: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    protected: np.ndarray
    price_weights: np.ndarray
    exploration: float
    step: float
    bonus: float
    price_step: float
    weight: float
    range: float
    least: float

    choose = choose_from_x

    def learn(state, t, arm, reward):
        x, weights = state.x, state.weights
        gain = (reward + state.weight * _price(state, arm, reward)) / state.range
        for k in range(x.size):
            weights[k] += state.bonus / x[k]
            if k == arm:
                weights[k] += state.step * gain / x[k]
        exponential_weights(x, weights, 1.0)
        for k in range(x.size):
            x[k] = (1.0 - state.exploration) * x[k] + state.exploration / x.size


@dataclass(frozen=True)
class GuaranteeKnapsack(Policy):
    """Play a learner of arms against a learner of prices, on the Lagrangian of the guarantees.

    The policy needs the horizon T. With N arms and the least positive target m, a round's
    constraints are g_i = m (r_i / lambda_i - 1), where r_i is 0 for arms not pulled. Hedge with the
    rate sqrt(log N / T) sets their prices q_i. The arms' learner is EXP3.P with delta = 1 / T. Its
    gain is (r + w sum q_i g_i) / (w sum (1 / lambda_i - 1) + 1), with the prices after their step
    and w = sqrt(T / sqrt(N T log(N T))).

    Parameters
    ----------
    targets : sequence of float, length n_arms
        As in `GuaranteeKLUCB`.

    References
    ----------
    As in `GuaranteeKLUCB`, where it is called Lagrangian bandits with knapsacks, after N.
    Immorlica, K. A. Sankararaman, R. Schapire and A. Slivkins, "Adversarial bandits with
    knapsacks", FOCS 2019. EXP3.P: P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The
    nonstochastic multiarmed bandit problem", SIAM Journal on Computing 32 (2002), section 6.
    """

    targets: Guarantees

    def start(self, n_arms: int, horizon: int) -> GuaranteeKnapsackState:
        checks.length("targets", self.targets, n_arms)
        n, rounds = n_arms, checks.whole("horizon", horizon)
        targets = np.array(self.targets)
        protected = np.flatnonzero(targets > 0)
        wanted = targets[protected].tolist()
        exploration = min(0.6, 2 * math.sqrt(0.6 * n * log(n) / rounds))
        step = exploration / (3 * n)
        weight = math.sqrt(rounds / math.sqrt(n * rounds * log(max(n * rounds, 2))))
        return GuaranteeKnapsackState(
            np.full(n, 1.0 / n),
            np.zeros(n),
            targets,
            protected,
            np.zeros(n),
            exploration,
            step,
            step * 2 * math.sqrt(log(n * rounds**2)) / math.sqrt(n * rounds),
            math.sqrt(log(n) / rounds),
            weight,
            weight * sum(1 / target - 1 for target in wanted) + 1,
            min(wanted, default=0.0),
        )


@inlined
def _price(state, arm, reward):
    """Let the prices learn from a reward; return the constraints' cost at the new ones."""
    weights = state.price_weights
    highest = -math.inf
    for k in state.protected:
        met = (reward / state.targets[k] if k == arm else 0.0) - 1.0
        weights[k] -= state.price_step * (state.least * met)
        highest = max(highest, weights[k])
    total = 0.0
    value = 0.0
    for k in state.protected:
        met = (reward / state.targets[k] if k == arm else 0.0) - 1.0
        price = exp(weights[k] - highest)
        total += price
        value += price * (state.least * met)
    return value / total if total > 0.0 else 0.0


class RewardFairUCBState(NamedTuple):
    """The means and upper bounds, and the distribution of the round."""

    means: Means
    upper: np.ndarray
    targets: np.ndarray
    x: np.ndarray
    width: float
    exploring: int

    def choose(state, t, coin):
        x, upper = state.x, state.upper
        if t <= state.exploring:
            return (t - 1) % x.size
        best, largest = 0, upper[0]
        total = 0.0
        for k in range(x.size):
            x[k] = state.targets[k] / upper[k] if state.targets[k] > 0.0 else 0.0
            total += x[k]
            best, largest = better(k, upper[k], best, largest)
        if total > 1.0:
            for k in range(x.size):
                x[k] /= total
        else:
            x[best] += 1.0 - total
        return sample(x, coin)

    def learn(state, t, arm, reward):
        means = state.means
        take(means, arm, reward)
        bound = means.mean[arm] + state.width / math.sqrt(means.pulls[arm])
        limit = min(max(bound, 0.0), 1.0)
        state.upper[arm] = max(limit, state.targets[arm])


@dataclass(frozen=True)
class RewardFairUCB(Policy):
    """Pull the arms in turn, then solve the fair linear programme with upper bounds each round.

    The published policy is for several agents, each with its own rewards, and needs the horizon T.
    With n agents and k arms it pulls each arm ceil(sqrt(T)) times in turn. Then the upper bounds
    are U = mean + sqrt(log(2 n k (T + 1)) / N), cut to [0, 1]. With one agent, which is this policy
    without targets, it pulls the arm of largest U. The form with targets is ours: each arm has its
    own agent and the probability lambda_i / U_i, and the arm of largest U_i has the rest. If those
    probabilities sum to more than 1, they are divided by their sum. Ties go to the lowest arm; U_i
    is never below lambda_i.

    Parameters
    ----------
    targets : sequence of float, length n_arms, optional
        As in `GuaranteeKLUCB`; none by default.

    References
    ----------
    P. Manupriya, Himanshu, S. Jagarlapudi and G. Ghalme, "Multi-agent multi-armed bandits with
    minimum reward guarantee fairness", AAMAS 2025, with the widths of its published program.
    """

    targets: Guarantees | None = None

    def start(self, n_arms: int, horizon: int) -> RewardFairUCBState:
        rounds = checks.whole("horizon", horizon)
        targets = (0.0,) * n_arms if self.targets is None else self.targets
        checks.length("targets", targets, n_arms)
        agents = 1 if self.targets is None else n_arms
        return RewardFairUCBState(
            no_pulls(n_arms),
            np.ones(n_arms),
            np.array(targets),
            np.zeros(n_arms),
            math.sqrt(log(2 * agents * n_arms * (rounds + 1))),
            n_arms * (math.isqrt(rounds - 1) + 1),
        )
