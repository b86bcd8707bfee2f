"""Rounds, pulls and rewards of groups of arms under BF-UCB and its baselines."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.loops import NEVER
from fairbandits.engine.protocol import plays_in_lanes
from fairbandits.engine.width import greatest, where, whole_part
from fairbandits.observers.common import Observer, refuse, reports_columns
from fairbandits.policies.groups import Groups, owed


@plays_in_lanes
class DeficitsState(NamedTuple):
    """The numerator of each group's largest deficit so far."""

    worst: np.ndarray

    def watch(observer, state, t, arm, reward):
        for g in range(len(observer.worst)):
            observer.worst[g] = greatest(observer.worst[g], owed(state.groups, g, t + 1))

    def report(observer, state, out):
        groups = state.groups
        for g in range(len(groups.served)):
            behind = whole_part(observer.worst[g], groups.denominator)
            for arm in range(groups.start[g], groups.start[g + 1]):
                out[0][arm] = groups.served[g]
                out[1][arm] = behind


@reports_columns
class PhaseState(NamedTuple):
    columns: np.ndarray
    rounds: int

    def watch(observer, state, t, arm, reward):
        if t <= observer.rounds:
            observer.columns[0][arm] += 1
            observer.columns[1][arm] += reward


@reports_columns
class OptionalState(NamedTuple):
    columns: np.ndarray
    rounds: int  # of the initial phase

    def watch(observer, state, t, arm, reward):
        if t > observer.rounds:
            groups = state.groups
            optional = 1
            for g in range(len(groups.served)):
                before = owed(groups, g, t) + where(groups.now[0] == g, groups.denominator, 0)
                optional = where(before > 0, 0, optional)
            observer.columns[0][arm] += optional


@dataclass(frozen=True)
class GroupDeficits(Observer):
    """Rounds of each group, and the largest number by which it was behind (BF-UCB, Def. 2).

    Columns
    -------
    group_plays : pulls
        Rounds 1..t in which the arm's group was served. Range: whole number, 0 to t. One value for
        each replicate, round and group; the same at every arm of the group.
    group_deficit_sup : pulls
        Largest floor(beta_g s) - N_g(s) of the arm's group in rounds s <= t, beta_g its quota.
        Range: whole number. One value for each replicate, round and group; the same at every arm of
        the group.
    """

    probes: ClassVar[tuple[str, ...]] = ("group_plays", "group_deficit_sup")

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> DeficitsState:
        if not isinstance(getattr(state, "groups", None), Groups):
            refuse(self, policy, "BF-UCB, GEF, UCB over groups and their oracles")
        return DeficitsState(np.full(state.groups.served.size, NEVER))


@dataclass(frozen=True)
class InitialPhase(Observer):
    """The pulls and the rewards of the initial rounds of BF-UCB and its baselines.

    Columns
    -------
    initial_plays : pulls
        Pulls of the arm in the initial rounds up to t. Range: whole number, 0 to `plays`.
    initial_reward : reward
        Reward of the arm in the initial rounds up to t. Range: at least 0.
    """

    probes: ClassVar[tuple[str, ...]] = ("initial_plays", "initial_reward")

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> PhaseState:
        if policy.feedback != "bandit" or not hasattr(policy, "initial_rounds"):
            refuse(self, policy, "BF-UCB, GEF, UCB over groups and MF")
        return PhaseState(np.zeros((2, n_arms)), policy.initial_rounds)


@dataclass(frozen=True)
class OptionalPulls(Observer):
    """The pulls of each arm after the initial rounds when no group is behind its quota.

    A group is behind in round t if beta_g (t-1) - N_g is above 0 (BF-UCB, Algorithm 1).

    Columns
    -------
    optional : pulls
        Pulls of the arm after the initial rounds, in rounds when no group was behind its quota.
        Range: whole number, 0 to `plays`.
    """

    probes: ClassVar[tuple[str, ...]] = ("optional",)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> OptionalState:
        in_groups = isinstance(getattr(state, "groups", None), Groups)
        if not (in_groups and hasattr(policy, "initial_rounds")):
            refuse(self, policy, "BF-UCB, GEF and UCB over groups")
        return OptionalState(np.zeros((1, n_arms)), policy.initial_rounds)
