"""UCB over arms in groups, with a guaranteed share for each group (GEF) or without (UCB)."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits import checks
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import fits, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import Shared, least, sqrt, where
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies.groups import GROUP
from fairbandits.policies.parameters import Confidence, GroupFractions, GroupSizes, one_of
from fairbandits.policies.ties import any_of_best, better

UCB1_INDEX, INSIDE, OUTSIDE = range(3)
INDICES = {"ucb1": UCB1_INDEX, "paper": INSIDE, "released": OUTSIDE}
TIES = ("lowest", "random", "released")


class GroupUCBState(NamedTuple):
    """The state of the initial rounds, and the indices of all arms.

    ``tied`` has the arms in the order of preference where indices are equal, and ``inside``, for
    each group, 1 or 0: whether its arms can be chosen in the round.
    """

    first: initial.InitialState
    start: Shared
    tied: Shared
    group_of: np.ndarray
    quotas: np.ndarray
    served: np.ndarray
    now: np.ndarray
    inside: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    index: np.ndarray
    groups: Shared
    denominator: int
    inverse_delta: float
    kind: int
    cap: float
    grouped: bool
    random_ties: bool
    released_mean: bool


@dataclass(frozen=True)
class GroupUCB:
    """Pull the arm of largest index: of the group behind its quota if there is one, else of all.

    With quotas it is BF-UCB's baseline GEF, Fair-Learn on groups; without, its baseline UCB. Both
    begin with BF-UCB's initial rounds, pull for pull.

    Parameters
    ----------
    groups : sequence of int
        Sizes k_g >= 1 of the groups, in the order of the arms.
    quotas : sequence of number or str, one per group, optional
        Required fraction of rounds beta_g >= 0, exact, with a sum of at most 1; default none.
    version : {"paper", "released"}
        Default of the switches below.
    index : {"ucb1", "paper", "released"}, optional
        mean_i + sqrt(a / N_i) with a = 2 log t; 2 log(4 t n / delta); or 2 log(4 t n) / delta, n
        being the number of arms among which the choice is. Default ucb1 in the paper's version.
    cap : bool, optional
        Whether indices are cut off at 1. Default as the authors' program does in its version.
    ties : {"lowest", "random", "released"}, optional
        Which of several arms of the same index: the lowest, any, or the first one in the released
        program's numbering, where arm 1 is followed by the groups from the second on and the rest
        of the first group is last. Default "lowest" in the paper's version.
    initialisation, running_mean : {"paper", "released"}, optional
        As in `BFUCB`.
    box : {"upper", "uncut"}
        Whether the optimistic means of the draws in the initial rounds are cut at 1, as in `BFUCB`.
    delta : float, optional
        As in `BFUCB`.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    The pulled arm's group is credited, in every round. While capped indices tie at 1, the tie rule
    decides everything.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, sections 6.1.1 and 6.1.3.

    Examples
    --------
    >>> GroupUCB((3, 2), version="released").ties
    'released'
    """

    groups: GroupSizes
    quotas: GroupFractions | None = None
    version: layout.Version = "paper"
    index: Annotated[str | None, one_of(*INDICES)] = None
    cap: bool | None = None
    ties: Annotated[str | None, one_of(*TIES)] = None
    initialisation: layout.Version | None = None
    running_mean: layout.Version | None = None
    box: Annotated[str, one_of(*initial.BOXES)] = "upper"
    delta: Confidence = 0.01
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        object.__setattr__(self, "groups", layout.check_groups(self.groups))
        if self.quotas is not None:
            object.__setattr__(self, "quotas", tuple(self.quotas))
            layout.group_quotas(self.quotas, len(self.groups))
        versions = dict.fromkeys(("initialisation", "running_mean"), layout.VERSIONS)
        layout.settle(self, self.version, **versions)
        released = self.version == "released"
        for name, usual in (
            ("index", "released" if released else "ucb1"),
            ("cap", released),
            ("ties", "released" if released else "lowest"),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual)
        checks.one_of("index", self.index, tuple(INDICES))
        checks.one_of("cap", self.cap, (True, False))
        checks.one_of("ties", self.ties, TIES)
        checks.one_of("box", self.box, initial.BOXES)
        layout.check_delta(self.delta)

    @property
    def initial_rounds(self) -> int:
        """Number of rounds m max k_g of the initial phase."""
        return initial.n_rounds(self.groups)

    def start(self, n_arms: int, horizon: int) -> GroupUCBState:
        """Return the state before the first round."""
        n_groups = len(self.groups)
        quotas = (0,) * n_groups if self.quotas is None else self.quotas
        layout.check_layout(self.groups, n_arms)
        numerators, denominator = layout.group_quotas(quotas, n_groups, horizon)
        delta = layout.delta_for(self.delta, horizon)
        released = self.version == "released"
        sequential = self.initialisation == "released"
        rank = layout.released_rank(self.groups) if self.ties == "released" else np.arange(n_arms)
        return GroupUCBState(
            first=initial.begin(
                *(self.groups, delta, sequential, released, released), self.box == "uncut"
            ),
            start=layout.starts(self.groups),
            tied=np.argsort(rank),
            group_of=layout.group_of(self.groups),
            quotas=np.array(numerators, np.int64),
            served=np.zeros(n_groups, np.int64),
            now=np.zeros(1, np.int64),
            inside=np.ones(n_groups),
            pulls=np.zeros(n_arms, np.int64),
            sums=np.zeros(n_arms),
            mean=np.zeros(n_arms),
            inverse_root=np.zeros(n_arms),
            index=np.zeros(n_arms),
            groups=layout.group_of(self.groups),
            denominator=denominator,
            inverse_delta=1.0 / delta,
            kind=INDICES[self.index],
            cap=1.0 if self.cap else math.inf,
            grouped=any(numerators),
            random_ties=self.ties == "random",
            released_mean=self.running_mean == "released",
        )


plays_in_lanes(GroupUCBState, lambda state: fits(state.denominator))


@register_jitable(**INLINE)
def bonus_of(state, count, t):
    """Return the factor of 1 / sqrt(N_i) in round t, for a choice among `count` arms."""
    if state.kind == UCB1_INDEX:
        return math.sqrt(2.0 * math.log(t))
    if state.kind == INSIDE:
        return math.sqrt(2.0 * math.log(4.0 * t * count * state.inverse_delta))
    return math.sqrt(2.0 * math.log(4.0 * t * count) * state.inverse_delta)


@implements("choose", GroupUCBState)
def _choose(state, t, coin):
    if t <= state.first.initial_rounds:
        return initial.choose_early(state.first, t, coin)
    bonus = bonus_of(state, state.tied.size, t)
    if state.grouped:
        scope = layout.most_owed(state.quotas, state.denominator, state.served, t)
        for g in range(len(state.quotas)):
            own = scope == g
            size = state.start[g + 1] - state.start[g]
            bonus = where(own, bonus_of(state, size, t), bonus)
            state.inside[g] = where(own | (scope < 0), 1.0, 0.0)
    arm, best = 0, -math.inf
    for j in range(state.tied.size):
        k = state.tied[j]
        index = least(state.cap, state.mean[k] + bonus * state.inverse_root[k])
        if state.grouped:
            index = where(state.inside[state.groups[k]] > 0.0, index, -math.inf)
        if state.random_ties:
            state.index[k] = index
        arm, best = better(k, index, arm, best)
    return any_of_best(state.index, best, coin) if state.random_ties else arm


@implements("learn", GroupUCBState)
def _learn(state, t, arm, reward):
    early = t <= state.first.initial_rounds
    if early:
        initial.learn_early(state.first, t, arm, reward)
    group = state.group_of[arm]
    state.now[GROUP] = group
    for g in range(len(state.served)):
        state.served[g] += where(group == g, 1, 0)
    n = state.pulls[arm] + 1
    state.pulls[arm] = n
    released = state.released_mean and not early
    state.mean[arm] = layout.new_mean(state, arm, n, reward, released)
    state.inverse_root[arm] = 1.0 / sqrt(n)
