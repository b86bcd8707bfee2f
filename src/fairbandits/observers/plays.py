"""Sums and gaps of the plays of any policy."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.width import greatest, where
from fairbandits.observers.common import Observer, part, reports_columns

#: An arm with a probability of at most this is starved in the round.
RARE = 0.01


@reports_columns
class PlaysState(NamedTuple):
    columns: np.ndarray
    plays: np.ndarray  # pulls of each arm so far, or summed probabilities

    def watch(observer, state, t, action, reward):
        for k in range(len(observer.plays)):
            observer.plays[k] += part(action, k)
            observer.columns[0][k] += observer.plays[k]


@reports_columns
class StarvationState(NamedTuple):
    columns: np.ndarray
    run: np.ndarray  # rounds since each arm was last played

    def watch(observer, state, t, action, reward):
        for k in range(len(observer.run)):
            run = where(part(action, k) <= RARE, observer.run[k] + 1.0, 0.0)
            observer.run[k] = run
            observer.columns[0][k] = greatest(observer.columns[0][k], run)


@dataclass(frozen=True)
class PlaysSum(Observer):
    """The sum over the rounds so far of the plays of each arm up to that round (BanditQ, Prop. 4).

    With a benchmark of b* per round the regret averaged over the rounds is b* (t + 1) / 2 - sum_i
    mu_i plays_sum_i / t.

    Columns
    -------
    plays_sum : pulls x rounds
        Sum of N_k(s) over rounds s = 1..t. Range: at least 0. Never falls.
    """

    probes: ClassVar[tuple[str, ...]] = ("plays_sum",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> PlaysState:
        return PlaysState(np.zeros((1, n_arms)), np.zeros(n_arms))


@dataclass(frozen=True)
class Starvation(Observer):
    """The longest run of rounds so far, the present one included, in which an arm is starved.

    Under bandit feedback an arm is starved in a round without its pull; with full information, in a
    round with x_i(t) <= 0.01 (BanditQ, remark after Eq. 4).

    Columns
    -------
    starvation : rounds
        Longest run of rounds up to t without a pull of the arm; with full information, of rounds in
        which its probability is at most 0.01. Range: whole number, 0 to t. Never falls.
    """

    probes: ClassVar[tuple[str, ...]] = ("starvation",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> StarvationState:
        return StarvationState(np.zeros((1, n_arms)), np.zeros(n_arms))
