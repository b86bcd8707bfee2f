"""UCB1, optimism in the face of uncertainty."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits.engine.protocol import inlined, plays_in_lanes, unchanged_when_asked
from fairbandits.engine.width import anywhere, log, sqrt, where
from fairbandits.policies.parameters import Policy, Positive, one_of
from fairbandits.policies.ties import RULES, any_of_best, best_arm, index_of

CLOCKS = ("round", "previous")


@plays_in_lanes
class Means(NamedTuple):
    """Statistics for each arm's index, and the number of arms never pulled."""

    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    unpulled: np.ndarray


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
        means = state.means
        bonus = bonus_of(max(t - 1, 1) if state.previous else t)
        arm, best = best_arm(state, 0, len(means.mean), t, bonus)
        if state.random_ties:
            for k in range(len(state.index)):
                state.index[k] = index_of(state, k, t, bonus)
            arm = any_of_best(state.index, best, coin)
        return never_pulled_first(means, arm)

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
    return Means(np.zeros(n_arms, np.int64), *np.zeros((3, n_arms)), np.array([n_arms]))


@inlined
def take(means, arm, reward):
    pulls = means.pulls[arm] + 1
    sums = means.sums[arm] + reward
    means.pulls[arm] = pulls
    means.sums[arm] = sums
    means.mean[arm] = sums / pulls
    means.inverse_root[arm] = 1.0 / sqrt(pulls)
    means.unpulled[0] = means.unpulled[0] - where(pulls == 1, 1, 0)


def learn_means(state, t, arm, reward):
    """Learn for a policy whose state has `means`."""
    take(state.means, arm, reward)


@inlined
def never_pulled_first(means, arm):
    """Return the lowest arm never pulled if there is one, else `arm`."""
    waiting = means.unpulled[0] > 0
    if anywhere(waiting):
        for k in range(len(means.pulls) - 1, -1, -1):
            arm = where(waiting & (means.pulls[k] == 0), k, arm)
    return arm


@inlined
def bonus_of(clock):
    """Return sqrt(2 log t); before the first round ends no arm has an index yet."""
    return sqrt(2.0 * log(clock))
