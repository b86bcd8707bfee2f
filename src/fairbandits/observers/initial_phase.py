"""The pulls and rewards of the initial rounds, which some measures leave out."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.arrays import assign
from fairbandits.engine.lanes import copy_rows, numbers_along_lanes, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.vectors import pick, put
from fairbandits.observers.refusal import refuse


class PhaseState(NamedTuple):
    """Of each arm the pulls and the rewards in the initial rounds so far."""

    plays: np.ndarray
    reward: np.ndarray
    rounds: int


class PhaseLanes(NamedTuple):
    """The same in every lane."""

    plays: np.ndarray
    reward: np.ndarray
    rounds: int


@dataclass(frozen=True)
class InitialPhase:
    """The pulls and the rewards of the initial rounds, of a policy that says how many there are.

    Notes
    -----
    The columns are of each arm ``initial_plays`` and ``initial_reward``. The policy has an
    attribute `initial_rounds`, as BF-UCB and its baselines have.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Algorithm 1.
    """

    probes: ClassVar[tuple[str, ...]] = ("initial_plays", "initial_reward")

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> PhaseState:
        """Return the state before the first round."""
        if policy.feedback != "bandit" or not hasattr(policy, "initial_rounds"):
            refuse(self, policy, "BF-UCB, GEF, UCB over groups and MF")
        return PhaseState(np.zeros(n_arms, np.int64), np.zeros(n_arms), policy.initial_rounds)


@implements("watch", PhaseState)
def _watch(observer, state, t, arm, reward):
    if t <= observer.rounds:
        observer.plays[arm] += 1
        observer.reward[arm] += reward


@implements("report", PhaseState)
def _report(observer, state, out):
    assign(out[0], observer.plays)
    assign(out[1], observer.reward)


# ------------------------------------------------------------------------------------------ lanes


plays_in_lanes(
    PhaseState,
    make=lambda state, wide: PhaseLanes(
        numbers_along_lanes(state.plays), wide(state.reward), state.rounds
    ),
)


@implements("watch", PhaseLanes)
def _watch_lanes(observer, state, t, arm, reward):
    if t <= observer.rounds:
        put(observer.plays, arm, pick(observer.plays, arm) + 1.0)
        put(observer.reward, arm, pick(observer.reward, arm) + reward)


@implements("report", PhaseLanes)
def _report_lanes(observer, state, out):
    copy_rows(out[0], observer.plays)
    copy_rows(out[1], observer.reward)
