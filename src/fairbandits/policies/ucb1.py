"""UCB1, the unfair baseline by optimism."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements
from fairbandits.policies import checks


class UCB1State(NamedTuple):
    """Pulls and reward sums."""

    pulls: np.ndarray
    sums: np.ndarray
    scale: float


@dataclass(frozen=True)
class UCB1:
    """Pull the arm with the largest mean + sqrt(2 log t / pulls), after each arm once.

    Parameters
    ----------
    scale : float
        Rewards are divided by this, so that they lie in [0, 1].

    Raises
    ------
    ValueError
        If `scale` is not a finite number above 0.

    Notes
    -----
    t is the round being played; ties go to the lowest index.

    References
    ----------
    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
    problem", Machine Learning 47 (2002).
    """

    scale: float = 1.0
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        checks.positive("scale", self.scale)

    def start(self, n_arms: int, horizon: int) -> UCB1State:
        """Return the state before the first round."""
        del horizon  # UCB1 is anytime
        return UCB1State(np.zeros(n_arms, np.int64), np.zeros(n_arms), float(self.scale))


@implements("choose", UCB1State)
def _choose(state, t, coin):
    bonus = 2.0 * math.log(t)
    best = -math.inf
    arm = 0
    for k in range(state.pulls.size):
        if state.pulls[k] == 0:
            return k
        index = state.sums[k] / state.pulls[k] + math.sqrt(bonus / state.pulls[k])
        if index > best:
            best = index
            arm = k
    return arm


@implements("learn", UCB1State)
def _learn(state, t, arm, reward):
    state.pulls[arm] += 1
    state.sums[arm] += reward / state.scale
