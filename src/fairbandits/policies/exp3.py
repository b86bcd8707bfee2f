"""EXP3, the unfair baseline against adversaries."""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements
from fairbandits.policies.parameters import Policy, Positive, number
from fairbandits.policies.simplex import sample


class EXP3State(NamedTuple):
    """The weights and their distribution."""

    x: np.ndarray
    weights: np.ndarray
    gamma: float
    scale: float


@dataclass(frozen=True)
class EXP3(Policy):
    """Exponential weights on importance-weighted rewards, mixed with uniform exploration.

    Parameters
    ----------
    scale : float
        Rewards are divided by this, so that they lie in [0, 1].
    gamma : float, optional
        Exploration rate in (0, 1]; default min(1, sqrt(N log N / ((e - 1) T))).

    References
    ----------
    P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The nonstochastic multiarmed bandit
    problem", SIAM Journal on Computing 32 (2002), Corollary 3.2.
    """

    scale: Positive = 1.0
    gamma: Annotated[float | None, number(above=0, at_most=1)] = None

    def start(self, n_arms: int, horizon: int) -> EXP3State:
        """Return the state before the first round."""
        gamma = self.gamma
        if gamma is None:
            gamma = min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * horizon)))
        return EXP3State(
            np.full(n_arms, 1.0 / n_arms), np.ones(n_arms), float(gamma), float(self.scale)
        )


@implements("choose", EXP3State)
def _choose(state, t, coin):
    return sample(state.x, coin)


@implements("learn", EXP3State)
def _learn(state, t, arm, reward):
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
