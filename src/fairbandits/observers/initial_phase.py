"""The pulls and rewards of the initial rounds, which some measures leave out."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements, plays_in_lanes
from fairbandits.engine.width import assign
from fairbandits.observers.common import refuse


@plays_in_lanes
class PhaseState(NamedTuple):
    """The pulls and rewards of each arm in the initial rounds so far."""

    plays: np.ndarray
    reward: np.ndarray
    rounds: int


@dataclass(frozen=True)
class InitialPhase:
    """The pulls and the rewards of the initial rounds, of a policy that says how many there are.

    Notes
    -----
    The policy has an attribute `initial_rounds`, as BF-UCB and its baselines have.

    Columns
    -------
    initial_plays : pulls
        Pulls of the arm in those of rounds 1..t that are initial rounds. Range: whole number, 0 to
        `plays`.
    initial_reward : reward
        Reward of the arm in those of rounds 1..t that are initial rounds. Range: at least 0.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Algorithm 1.
    """

    probes: ClassVar[tuple[str, ...]] = ("initial_plays", "initial_reward")

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> PhaseState:
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
