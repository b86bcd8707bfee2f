"""Learners without a guarantee, beside UCB1 and KL-UCB."""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits.engine.laws import beta_of
from fairbandits.engine.protocol import inlined
from fairbandits.engine.streams import inner, unit
from fairbandits.policies.parameters import Policy, Positive, number
from fairbandits.policies.simplex import choose_from_x
from fairbandits.policies.ties import better
from fairbandits.policies.ucb1 import Means, learn_means, never_pulled_first, no_pulls, take


class EpsilonGreedyState(NamedTuple):
    means: Means
    epsilon: float

    def choose(state, t, coin):
        means = state.means
        n_arms = len(means.mean)
        u = unit(coin)
        if u < state.epsilon:
            return min(int(u / state.epsilon * n_arms), n_arms - 1)
        arm, best = 0, means.mean[0]
        for k in range(1, n_arms):
            arm, best = better(k, means.mean[k], arm, best)
        return never_pulled_first(means, arm)

    learn = learn_means


class EXP3State(NamedTuple):
    """The weights and their distribution."""

    x: np.ndarray
    weights: np.ndarray
    gamma: float
    scale: float

    choose = choose_from_x

    def learn(state, t, arm, reward):
        x, weights, gamma = state.x, state.weights, state.gamma
        n = x.size
        weights[arm] *= math.exp(gamma / n * (reward / state.scale / x[arm]))
        total = 0.0
        for k in range(n):
            total += weights[k]
        for k in range(n):
            x[k] = (1.0 - gamma) * (weights[k] / total) + gamma / n
        if total > 1e100:
            for k in range(n):
                weights[k] /= total


class MOSSState(NamedTuple):
    """The means, and the rounds of an arm's share."""

    means: Means
    share: float

    def choose(state, t, coin):
        means = state.means
        if means.unpulled[0] > 0:
            return never_pulled_first(means, 0)
        arm, best = 0, -math.inf
        for k in range(len(means.mean)):
            n = means.pulls[k]
            index = means.mean[k] + math.sqrt(max(0.0, math.log(state.share / n)) / n)
            arm, best = better(k, index, arm, best)
        return arm

    learn = learn_means


class UCBVState(NamedTuple):
    """The means, sums of squared rewards, and the two constants."""

    means: Means
    squares: np.ndarray
    exploration: float
    constant: float

    def choose(state, t, coin):
        means = state.means
        if means.unpulled[0] > 0:
            return never_pulled_first(means, 0)
        level = state.exploration * math.log(t)
        arm, best = 0, -math.inf
        for k in range(len(means.mean)):
            n, mean = means.pulls[k], means.mean[k]
            variance = max(0.0, state.squares[k] / n - mean * mean)
            index = mean + math.sqrt(2.0 * variance * level / n) + 3.0 * state.constant * level / n
            arm, best = better(k, index, arm, best)
        return arm

    def learn(state, t, arm, reward):
        take(state.means, arm, reward)
        state.squares[arm] += reward * reward


class IMEDState(NamedTuple):
    means: Means

    def choose(state, t, coin):
        means = state.means
        if means.unpulled[0] > 0:
            return never_pulled_first(means, 0)
        top = 0.0
        for k in range(len(means.mean)):
            top = max(top, _cut(means.mean[k]))
        arm, best = 0, -math.inf
        for k in range(len(means.mean)):
            n = means.pulls[k]
            index = n * _divergence(_cut(means.mean[k]), top) + math.log(n)
            arm, best = better(k, -index, arm, best)
        return arm

    learn = learn_means


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Pull the arm with the largest mean, or with probability epsilon one drawn uniformly.

    In greedy rounds arms never pulled go first; ties go to the lowest index.

    Parameters
    ----------
    epsilon : float
        Probability of exploration, in [0, 1].
    """

    epsilon: Annotated[float, number(at_least=0, at_most=1)] = 0.1

    def start(self, n_arms: int, horizon: int) -> EpsilonGreedyState:
        return EpsilonGreedyState(no_pulls(n_arms), float(self.epsilon))


@dataclass(frozen=True)
class EXP3(Policy):
    """Exponential weights on importance-weighted rewards, mixed with uniform exploration.

    Of N arms in T rounds the exploration rate is min(1, sqrt(N log N / ((e - 1) T))).

    Parameters
    ----------
    scale : float
        Rewards are divided by this, so that they lie in [0, 1].

    References
    ----------
    P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The nonstochastic multiarmed bandit
    problem", SIAM Journal on Computing 32 (2002), Corollary 3.2.
    """

    scale: Positive = 1.0

    def start(self, n_arms: int, horizon: int) -> EXP3State:
        gamma = min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * horizon)))
        uniform = np.full(n_arms, 1.0 / n_arms)
        return EXP3State(uniform, np.ones(n_arms), gamma, float(self.scale))


@dataclass(frozen=True)
class MOSS(Policy):
    """Pull the arm of the largest mean + sqrt(max(0, log(T / (K N))) / N), after each arm once.

    T is the horizon, K the number of arms and N the arm's pulls. Ties go to the lowest arm.

    References
    ----------
    J.-Y. Audibert and S. Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT
    2009, Section 2.
    """

    def start(self, n_arms: int, horizon: int) -> MOSSState:
        return MOSSState(no_pulls(n_arms), horizon / n_arms)


@dataclass(frozen=True)
class UCBV(Policy):
    """Pull the arm of the largest mean + sqrt(2 V E / N) + 3 c E / N, after each arm once.

    V is the variance of the arm's N rewards, which should lie in [0, 1], and t the round. Ties go
    to the lowest arm.

    Parameters
    ----------
    exploration : float
        zeta in E = zeta log t, above 0; its authors require more than 1.
    constant : float
        c, above 0.

    References
    ----------
    J.-Y. Audibert, R. Munos and C. Szepesvári, "Exploration-exploitation tradeoff using variance
    estimates in multi-armed bandits", Theoretical Computer Science 410, 2009, Eq. 2.
    """

    exploration: Positive = 1.2
    constant: Positive = 1.0

    def start(self, n_arms: int, horizon: int) -> UCBVState:
        constants = float(self.exploration), float(self.constant)
        return UCBVState(no_pulls(n_arms), np.zeros(n_arms), *constants)


@dataclass(frozen=True)
class IMED(Policy):
    """Pull the arm of the least N kl(mean, largest mean) + log N, after each arm once.

    kl is the divergence between Bernoulli laws and N the arm's pulls. A mean outside [0, 1] is
    moved to the nearer end. Ties go to the lowest arm.

    References
    ----------
    J. Honda and A. Takemura, "Non-asymptotic analysis of a new bandit algorithm for semi-bounded
    rewards", Journal of Machine Learning Research 16, 2015, Algorithm 1.
    """

    def start(self, n_arms: int, horizon: int) -> IMEDState:
        return IMEDState(no_pulls(n_arms))


@inlined
def _cut(mean):
    return min(1.0, max(0.0, mean))


@inlined
def _divergence(p, q):
    """Return kl(p, q) of Bernoulli laws, 0 <= p <= q <= 1."""
    if p >= q:
        return 0.0
    above = 0.0 if p == 0.0 else p * math.log(p / q)
    return above + (math.inf if q >= 1.0 else (1.0 - p) * math.log((1.0 - p) / (1.0 - q)))


class ThompsonState(NamedTuple):
    """Both parameters of each arm's beta posterior."""

    successes: np.ndarray
    failures: np.ndarray

    def choose(state, t, coin):
        arm, best = 0, -1.0
        for k in range(state.successes.size):
            drawn = beta_of(state.successes[k], state.failures[k], inner(coin, k + 1))
            arm, best = better(k, drawn, arm, best)
        return arm

    def learn(state, t, arm, reward):
        success = min(max(reward, 0.0), 1.0)
        state.successes[arm] += success
        state.failures[arm] += 1.0 - success


@dataclass(frozen=True)
class Thompson(Policy):
    """Draw a mean from each arm's beta posterior and pull the arm of the largest.

    The priors are uniform. A reward r in [0, 1] adds r to the first parameter and 1 - r to the
    second. A reward outside is moved to the nearer end.

    References
    ----------
    S. Agrawal and N. Goyal, "Analysis of Thompson sampling for the multi-armed bandit problem",
    COLT 2012; their Algorithm 2 draws a coin where this adds the fraction.
    """

    def start(self, n_arms: int, horizon: int) -> ThompsonState:
        return ThompsonState(*np.ones((2, n_arms)))
