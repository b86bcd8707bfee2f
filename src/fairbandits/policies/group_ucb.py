"""Baselines of BF-UCB: UCB over arms in groups, with quotas (GEF) or without; and the oracles."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import inlined, not_inlined, plays_in_lanes
from fairbandits.engine.width import Shared, anywhere, least, where
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies import ucb1
from fairbandits.policies.parameters import (
    Confidence,
    GroupQuotas,
    GroupSizes,
    Means,
    Policy,
    Version,
    one_of,
)
from fairbandits.policies.simplex import sample
from fairbandits.policies.ties import RULES, any_of_best, best_arm, better, index_of
from fairbandits.rationals import Quotas

UCB1_INDEX, INSIDE, OUTSIDE = range(3)
INDICES = {"ucb1": UCB1_INDEX, "paper": INSIDE, "released": OUTSIDE}


@plays_in_lanes
class GroupUCBState(NamedTuple):
    """The state of the initial rounds, the groups, and the indices of all arms."""

    first: initial.InitialState
    groups: layout.Groups
    runs: Shared  # see `runs_of`, in the order of preference where indices are equal
    means: ucb1.Means
    index: np.ndarray
    inverse_delta: float
    kind: int
    cap: bool
    grouped: bool
    random_ties: bool
    released_mean: bool

    def choose(state, t, coin):
        if t <= state.first.rounds or state.random_ties:
            return choose_by_coin(state, t, coin)
        return best_in_scope(state, t)[2]

    def index_of(state, k, t, bonus):
        index = state.means.mean[k] + bonus * state.means.inverse_root[k]
        return least(1.0, index) if state.cap else index

    def learn(state, t, arm, reward):
        early = t <= state.first.rounds
        if early:
            initial.learn_early(state.first, t, arm, reward)
        groups = state.groups
        group = groups.of_arm[arm]
        groups.now[0] = group
        groups.served[group] += 1
        merits.learn_arm(state.means, arm, reward, state.released_mean and not early)


@dataclass(frozen=True)
class GroupUCB(initial.Grouped):
    """Pull the arm of largest index, in the group furthest behind its quota or, if none is, of all.

    With quotas it is BF-UCB's baseline GEF, Fair-Learn on groups; without, its baseline UCB
    (sections 6.1.1 and 6.1.3 of its paper). Both begin with BF-UCB's initial rounds, pull for pull.
    In every round the pulled arm's group is credited.

    Parameters
    ----------
    groups, delta
        As in `BFUCB`.
    quotas : sequence of number or str, one per group, optional
        Quota beta_g >= 0, a fraction of the rounds, exact, with a sum of at most 1; default none.
    version : {"paper", "released"}
        That of the initial rounds and the running means, and the default of index, cap and ties.
    index : {"ucb1", "paper", "released"}, optional
        mean_i + sqrt(a / N_i) with a = 2 log t; 2 log(4 t n / delta); or 2 log(4 t n) / delta,
        where n is the number of arms to choose from. Default ucb1 in the paper's version.
    cap : bool, optional
        Whether indices are cut off at 1, as in the released version.
    ties : {"lowest", "random", "released"}, optional
        Which of several arms with the same index is pulled: the lowest, a random one, or the first
        in the released program's numbering, where the first group's arms except arm 1 are last.
        Default "lowest" in the paper's version.
    box : {"upper", "uncut"}
        Whether the optimistic means in the initial rounds are cut off at 1.

    Examples
    --------
    >>> GroupUCB((3, 2), version="released").ties
    'released'
    """

    groups: GroupSizes
    quotas: GroupQuotas | None = None
    version: Version = "paper"
    index: Annotated[str | None, one_of(*INDICES)] = None
    cap: bool | None = None
    ties: Annotated[str | None, one_of(*RULES, "released")] = None
    box: Annotated[str, one_of(*initial.BOXES)] = "upper"
    delta: Confidence = 0.01
    switches: ClassVar = {
        "index": ("ucb1", "released"),
        "cap": (False, True),
        "ties": ("lowest", "released"),
    }

    def start(self, n_arms: int, horizon: int) -> GroupUCBState:
        quotas = Quotas((0,) * len(self.groups)) if self.quotas is None else self.quotas
        groups = layout.begin(self.groups, quotas, n_arms, horizon)
        released, grouped = self.version == "released", bool(groups.quotas.any())
        order = merits.numbering(self.groups) if self.ties == "released" else np.arange(n_arms)
        return GroupUCBState(
            first=self._first(horizon, released, released, released),
            groups=groups,
            runs=runs_of(order, groups.of_arm if grouped else np.zeros(n_arms, np.int64)),
            means=ucb1.no_pulls(n_arms),
            index=np.zeros(n_arms),
            inverse_delta=1.0 / self._delta(horizon),
            kind=INDICES[self.index],
            cap=self.cap,
            grouped=grouped,
            random_ties=self.ties == "random",
            released_mean=released,
        )


@inlined
def best_in_scope(state, t):
    """Return the group whose arms compete, or -1 for all, their bonus, the best and its index."""
    scope = layout.most_owed(state.groups, t) if state.grouped else -1
    bonus = bonus_of(state, scope, t)
    arm, best = 0, -math.inf
    for i in range(len(state.runs)):
        first, last, group = state.runs[i]
        inside = (scope == group) | (scope < 0)
        if anywhere(inside):
            k, index = best_arm(state, first, last, t, bonus, arm, best)
            arm, best = where(inside, k, arm), where(inside, index, best)
    return scope, bonus, arm, best


# Apart, so that no coin is worked out in the other rounds.
@not_inlined
def choose_by_coin(state, t, coin):
    if t <= state.first.rounds:
        return initial.choose_early(state.first, t, coin)
    scope, bonus, _, best = best_in_scope(state, t)
    for k in range(len(state.index)):
        inside = (scope == state.groups.of_arm[k]) | (scope < 0)
        state.index[k] = where(inside, index_of(state, k, t, bonus), -math.inf)
    return any_of_best(state.index, best, coin)


@inlined
def bonus_of(state, scope, t):
    """Return the factor of 1 / sqrt(N_i) in round t, for a choice in a group or, if -1, of all."""
    if state.kind == UCB1_INDEX:
        return ucb1.bonus_of(state.means, t)
    groups, outside = state.groups, state.kind == OUTSIDE
    bonus = initial.width_of(t, len(state.index), state.inverse_delta, outside)
    for g in range(len(groups.served)):
        chosen = scope == g
        if anywhere(chosen):
            size = layout.size_of(groups, g)
            bonus = where(chosen, initial.width_of(t, size, state.inverse_delta, outside), bonus)
    return bonus


def runs_of(order: np.ndarray, group_of: np.ndarray) -> np.ndarray:
    """Return the runs of successive arms of one group in an order: first, last + 1, group."""
    ends = (np.diff(order) != 1) | (np.diff(group_of[order]) != 0)
    runs = np.split(order, np.flatnonzero(ends) + 1)
    return np.array([(run[0], run[-1] + 1, group_of[run[0]]) for run in runs])


class GroupOracleState(NamedTuple):
    """The groups, and the distribution in each, one row a group."""

    groups: layout.Groups
    shares: np.ndarray
    probability: np.ndarray
    favourite: int
    floors: bool

    def choose(state, t, coin):
        groups = state.groups
        g = _most_short(groups, t) if state.floors else layout.most_owed(groups, t)
        if g < 0:
            g = state.favourite
        groups.now[0] = g
        size = layout.size_of(groups, g)
        shares, probability = state.shares[g], state.probability[g]
        for k in range(size):
            probability[k] += shares[k]
        return groups.start[g] + sample(shares[:size], coin)

    def learn(state, t, arm, reward):
        state.groups.served[state.groups.now[0]] += 1

    def probe(state, out):
        groups = state.groups
        for arm in range(len(groups.of_arm)):
            g = groups.of_arm[arm]
            out[0, arm] = state.probability[g, arm - groups.start[g]]
            out[1, arm] = state.shares[g, arm - groups.start[g]] if groups.served[g] > 0 else 0.0


@dataclass(frozen=True)
class GroupOracle(Policy):
    """Serve the group furthest behind its quota, else the best one; draw from a fixed distribution.

    The best group has the largest R*_g = sum mu_i^2 / sum mu_i, for any draws within groups
    (Observation 1 and Eq. 1 of BF-UCB's paper). Ties go to the lowest group; there are no
    initial rounds.

    Parameters
    ----------
    groups, quotas
        As in `BFUCB`.
    means : sequence of float, length n_arms
        True means, in [0, 1].
    within : {"merit", "uniform", "best"}
        The arm of a group: by its fair policy mu_i / sum mu_j; uniform; or its best arm, and
        the best of all arms if no group is behind (GEF's optimum).
    schedule : {"deficit", "floor"}
        A group is behind if beta_g (t-1) - N_g > 0, as for the policies that learn; or only if
        floor(beta_g t) > N_g.

    Examples
    --------
    >>> GroupOracle((1, 1), (0, 0), (0.25, 0.75)).start(2, 10).favourite
    1
    """

    groups: GroupSizes
    quotas: GroupQuotas
    means: Means
    within: Annotated[str, one_of("merit", "uniform", "best")] = "merit"
    schedule: Annotated[str, one_of("deficit", "floor")] = "deficit"
    probes: ClassVar[tuple[str, ...]] = ("probability", "share")

    def __post_init__(self):
        super().__post_init__()
        layout.check_quotas(self.quotas, self.groups)

    def start(self, n_arms: int, horizon: int) -> GroupOracleState:
        groups = layout.begin(self.groups, self.quotas, n_arms, horizon)
        checks.length("means", self.means, n_arms)
        means = np.array(self.means)
        shares = np.zeros((len(self.groups), max(self.groups)))
        values = []
        for g, size in enumerate(self.groups):
            inside = means[groups.start[g] : groups.start[g + 1]]
            masses = inside if inside.any() else np.ones(size)  # no merit at all: all arms alike
            fair = masses / masses.sum()
            best, uniform = np.arange(size) == inside.argmax(), np.full(size, 1 / size)
            shares[g, :size] = {"merit": fair, "uniform": uniform, "best": best}[self.within]
            values.append(((best if self.within == "best" else fair) * inside).sum())
        return GroupOracleState(
            groups=groups,
            shares=shares,
            probability=np.zeros(shares.shape),
            favourite=int(np.argmax(values)),
            floors=self.schedule == "floor",
        )


@inlined
def _most_short(groups, t):
    """Return the lowest group of largest floor(beta_g t) - N_g if that is above 0, else -1."""
    group, worst = -1, 0
    for g in range(len(groups.served)):
        short = groups.quotas[g] * t // groups.denominator - groups.served[g]
        group, worst = better(g, short, group, worst)
    return group
