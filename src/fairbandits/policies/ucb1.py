"""UCB1, optimism in the face of uncertainty."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements
from fairbandits.policies import checks
from fairbandits.policies.ties import RULES, best_arm

ROUND, PREVIOUS, OWN = range(3)
CLOCKS = {"round": ROUND, "previous": PREVIOUS, "own": OWN}
CALLS, UNPULLED = range(2)


class UCB1State(NamedTuple):
    """Pulls, reward sums, and what the index needs of them: mean and 1 / sqrt(pulls)."""

    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    width: np.ndarray
    index: np.ndarray
    counts: np.ndarray  # see the constants above
    scale: float
    clock: int
    random_ties: bool


@dataclass(frozen=True)
class UCB1:
    """Pull the arm with the largest mean + sqrt(2 log t / pulls), after each arm once.

    Parameters
    ----------
    scale : float
        Rewards are divided by this, so that they lie in [0, 1].
    clock : {"round", "previous", "own"}
        What t is: the round being played; the rounds played so far; or the number of rounds in
        which this policy was asked for an arm, which differs inside `FairLearn`.
    ties : {"lowest", "random"}
        Which of several arms with the same index is pulled.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Arms never pulled go first, the lowest first.

    References
    ----------
    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
    problem", Machine Learning 47 (2002), whose t is the number of rounds played so far.
    """

    scale: float = 1.0
    clock: str = "round"
    ties: str = "lowest"
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        checks.positive("scale", self.scale)
        checks.one_of("clock", self.clock, tuple(CLOCKS))
        checks.one_of("ties", self.ties, RULES)

    def start(self, n_arms: int, horizon: int) -> UCB1State:
        """Return the state before the first round."""
        del horizon  # UCB1 is anytime
        return UCB1State(
            np.zeros(n_arms, np.int64),
            *np.zeros((4, n_arms)),
            np.array([0, n_arms]),
            float(self.scale),
            CLOCKS[self.clock],
            self.ties == "random",
        )


@implements("choose", UCB1State)
def _choose(state, t, coin):
    state.counts[CALLS] += 1
    if state.counts[UNPULLED] > 0:
        for k in range(state.pulls.size):
            if state.pulls[k] == 0:
                return k
    clock = t
    if state.clock == PREVIOUS:
        clock = t - 1
    elif state.clock == OWN:
        clock = state.counts[CALLS]
    bonus = math.sqrt(2.0 * math.log(clock))
    for k in range(state.index.size):
        state.index[k] = state.mean[k] + bonus * state.width[k]
    return best_arm(state.index, state.random_ties, coin)


@implements("learn", UCB1State)
def _learn(state, t, arm, reward):
    pulls = state.pulls[arm] + 1
    if pulls == 1:
        state.counts[UNPULLED] -= 1
    state.pulls[arm] = pulls
    state.sums[arm] += reward / state.scale
    state.mean[arm] = state.sums[arm] / pulls
    state.width[arm] = 1.0 / math.sqrt(pulls)
