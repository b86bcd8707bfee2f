"""UCB1, optimism in the face of uncertainty."""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits.engine.elementary import log
from fairbandits.engine.protocol import inlined, not_inlined, plays_in_lanes, unchanged_when_asked
from fairbandits.engine.width import Shared, sqrt, where
from fairbandits.policies.parameters import Policy, Positive, one_of
from fairbandits.policies.ties import RULES, any_of_best, best_arm, index_of

CLOCKS = ("round", "previous")
#: The logarithms of so many rounds are computed at once, in vectors, since one alone takes long.
AHEAD = 32


@plays_in_lanes
class Means(NamedTuple):
    """Statistics for each arm's index; the mean of an arm never pulled is infinite."""

    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    logs: Shared  # of AHEAD successive rounds, then the first of these


@plays_in_lanes
@unchanged_when_asked
class UCB1State(NamedTuple):
    """The means, and with random ties the indices."""

    means: Means
    index: np.ndarray
    scale: float
    previous: bool
    random_ties: bool

    def choose(state, t, coin):
        bonus = bonus_of(state.means, max(t - 1, 1) if state.previous else t)
        arm, best = best_arm(state, 0, len(state.index), t, bonus)
        if state.random_ties:
            for k in range(len(state.index)):
                state.index[k] = index_of(state, k, t, bonus)
            # arms never pulled go in order
            arm = where(best < math.inf, any_of_best(state.index, best, coin), arm)
        return arm

    def index_of(state, k, t, bonus):
        return state.means.mean[k] + bonus * state.means.inverse_root[k]

    def learn(state, t, arm, reward):
        take(state.means, arm, reward if state.scale == 1.0 else reward / state.scale)


@dataclass(frozen=True)
class UCB1(Policy):
    """Pull the arm with the largest mean + sqrt(2 log t / pulls), after each arm once in order.

    Parameters
    ----------
    scale : float
        Rewards are divided by this, so that they lie in [0, 1].
    clock : {"round", "previous"}
        The t in the index: the round being played, or the rounds played so far.
    ties : {"lowest", "random"}
        Which of several arms with the same index is pulled.

    References
    ----------
    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
    problem", Machine Learning 47 (2002), whose t is the number of rounds played so far.
    """

    scale: Positive = 1.0
    clock: Annotated[str, one_of(*CLOCKS)] = "round"
    ties: Annotated[str, one_of(*RULES)] = "lowest"

    def start(self, n_arms: int, horizon: int) -> UCB1State:
        return UCB1State(
            no_pulls(n_arms),
            np.zeros(n_arms),
            float(self.scale),
            self.clock == "previous",
            self.ties == "random",
        )


def no_pulls(n_arms: int) -> Means:
    """Return the means before the first pull."""
    sums, inverse_root = np.zeros((2, n_arms))
    logs = np.full(AHEAD + 1, -1.0)  # of no rounds yet
    return Means(np.zeros(n_arms, np.int64), sums, np.full(n_arms, math.inf), inverse_root, logs)


@inlined
def take(means, arm, reward):
    pulls = means.pulls[arm] + 1
    sums = means.sums[arm] + reward
    means.pulls[arm] = pulls
    means.sums[arm] = sums
    means.mean[arm] = sums / pulls
    means.inverse_root[arm] = 1.0 / sqrt(pulls)


def learn_means(state, t, arm, reward):
    """Learn for a policy whose state has `means`."""
    take(state.means, arm, reward)


@inlined
def bonus_of(means, clock):
    """Return sqrt(2 log t); before the first round ends no arm has an index yet."""
    return sqrt(2.0 * log_of(means, clock))


@inlined
def log_of(means, clock):
    """Return log(clock), computed with those of the rounds beside it."""
    first = clock & -AHEAD
    if means.logs[AHEAD] != first:
        look_ahead(means.logs, first)
    return means.logs[clock & (AHEAD - 1)]


@not_inlined
def look_ahead(logs, first):
    """Write log(t) of the rounds t = first, first + 1, ..., and `first` itself at the end."""
    for i in range(AHEAD):
        logs[i] = log(first + i)
    logs[AHEAD] = first
