"""Learners without a guarantee, beside UCB1 and KL-UCB."""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits.engine.elementary import exp, log
from fairbandits.engine.laws import beta_of
from fairbandits.engine.streams import inner, unit
from fairbandits.policies.parameters import Policy, Positive, number
from fairbandits.policies.simplex import choose_from_x
from fairbandits.policies.ties import better
from fairbandits.policies.ucb1 import Means, learn_means, no_pulls


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
        return arm

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
        weights[arm] *= exp(gamma / n * (reward / state.scale / x[arm]))
        total = 0.0
        for k in range(n):
            total += weights[k]
        for k in range(n):
            x[k] = (1.0 - gamma) * (weights[k] / total) + gamma / n
        if total > 1e100:
            for k in range(n):
                weights[k] /= total


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
        gamma = min(1.0, math.sqrt(n_arms * log(n_arms) / ((math.e - 1) * horizon)))
        uniform = np.full(n_arms, 1.0 / n_arms)
        return EXP3State(uniform, np.ones(n_arms), gamma, float(self.scale))


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
