"""Epsilon-greedy with a constant rate."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements
from fairbandits.engine.streams import unit
from fairbandits.policies.parameters import Policy, number


class EpsilonGreedyState(NamedTuple):
    """Pulls, reward sums and means; an arm never pulled has mean infinity."""

    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    epsilon: float


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Pull the arm with the largest mean, or with probability epsilon one drawn uniformly.

    Parameters
    ----------
    epsilon : float
        In [0, 1].

    Notes
    -----
    Arms never pulled go first where the policy is greedy; ties go to the lowest index.
    """

    epsilon: Annotated[float, number(at_least=0, at_most=1)] = 0.1

    def start(self, n_arms: int, horizon: int) -> EpsilonGreedyState:
        """Return the state before the first round."""
        del horizon
        return EpsilonGreedyState(
            np.zeros(n_arms, np.int64),
            np.zeros(n_arms),
            np.full(n_arms, np.inf),
            float(self.epsilon),
        )


@implements("choose", EpsilonGreedyState)
def _choose(state, t, coin):
    n_arms = state.mean.size
    u = unit(coin)
    if u < state.epsilon:
        return min(int(u / state.epsilon * n_arms), n_arms - 1)
    arm = 0
    for k in range(1, n_arms):
        if state.mean[k] > state.mean[arm]:
            arm = k
    return arm


@implements("learn", EpsilonGreedyState)
def _learn(state, t, arm, reward):
    state.pulls[arm] += 1
    state.sums[arm] += reward
    state.mean[arm] = state.sums[arm] / state.pulls[arm]
