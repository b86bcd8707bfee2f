"""UCB over arms in groups, with a guaranteed share for each group (GEF) or without (UCB)."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import largest, nonnegative
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.protocol import choose, implements, learn
from fairbandits.policies import checks, leader
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies.leader import ARM, LOW, RIVAL, UNTIL, Leader
from fairbandits.policies.parameters import Confidence, GroupFractions, GroupSizes, one_of
from fairbandits.policies.ties import best_arm

UCB1_INDEX, INSIDE, OUTSIDE = range(3)
INDICES = {"ucb1": UCB1_INDEX, "paper": INSIDE, "released": OUTSIDE}
TIES = ("lowest", "random", "released")

#: Among the bounds of a leader: the largest `upper` of all arms that come before it where indices
#: are equal.
PRECEDING = 4


class GroupUCBState(NamedTuple):
    """The initial rounds, and what the indices need of all arms.

    There is a leader of each group and, in the last row, one of all arms; see
    `fairbandits.policies.leader` for the four arrays.
    """

    first: initial.InitialState
    start: np.ndarray
    group_of: np.ndarray
    quotas: np.ndarray
    served: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    index: np.ndarray
    rank: np.ndarray
    upper: np.ndarray
    contenders: np.ndarray
    marks: np.ndarray
    bounds: np.ndarray
    denominator: int
    inverse_delta: float
    kind: int
    cap: float
    random_ties: bool
    plain_ties: bool  # the lowest arm's
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
        What the switches below are if they are not given.
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
        scopes = n_groups + 1
        ranked = self.ties == "released"
        released = self.version == "released"
        sequential = self.initialisation == "released"
        return GroupUCBState(
            first=initial.begin(
                *(self.groups, delta, sequential, released, released), self.box == "uncut"
            ),
            start=layout.starts(self.groups),
            group_of=layout.group_of(self.groups),
            quotas=np.array(numerators, np.int64),
            served=np.zeros(n_groups, np.int64),
            pulls=np.zeros(n_arms, np.int64),
            sums=np.zeros(n_arms),
            mean=np.zeros(n_arms),
            inverse_root=np.zeros(n_arms),
            index=np.zeros(n_arms),
            rank=layout.released_rank(self.groups) if ranked else np.arange(n_arms),
            upper=np.zeros((scopes, n_arms)),
            contenders=np.zeros((scopes, min(n_arms, leader.CONTENDERS)), np.int64),
            marks=np.zeros((scopes, 3), np.int64),
            bounds=np.zeros((scopes, 5)),
            denominator=denominator,
            inverse_delta=1.0 / delta,
            kind=INDICES[self.index],
            cap=1.0 if self.cap else math.inf,
            random_ties=self.ties == "random",
            plain_ties=self.ties == "lowest",
            released_mean=self.running_mean == "released",
        )


@register_jitable(**INLINE)
def bonus_of(state, count, t):
    """Return the factor of 1 / sqrt(N_i) in round t, for a choice among `count` arms."""
    if state.kind == UCB1_INDEX:
        return math.sqrt(2.0 * math.log(t))
    if state.kind == INSIDE:
        return math.sqrt(2.0 * math.log(4.0 * t * count * state.inverse_delta))
    return math.sqrt(2.0 * math.log(4.0 * t * count) * state.inverse_delta)


@register_jitable(**INLINE)
def _scope(state, t):
    """Return the group that is furthest behind, or the row of all arms if none is behind."""
    g = layout.most_owed(state.quotas, state.denominator, state.served, t)
    return g if g >= 0 else state.quotas.size


@register_jitable(**INLINE)
def _leader(state, scope):
    return Leader(
        state.mean,
        state.inverse_root,
        state.upper[scope],
        state.contenders[scope],
        state.marks[scope],
        state.bounds[scope],
    )


@register_jitable(**INLINE)
def _leads(state, lead):
    """Return whether a leader is known to be the choice, within its block.

    Below the cap that is an arm above all others; of several arms cut off there, the first one.
    """
    bounds = lead.bounds
    arm = nonnegative(lead.marks[ARM])
    index = lead.mean[arm] + bounds[LOW] * lead.inverse_root[arm]
    if bounds[RIVAL] < state.cap:
        return index > bounds[RIVAL]
    return index >= state.cap and bounds[PRECEDING] < state.cap


@implements("standing", GroupUCBState)
def _standing(state, t):
    if t <= state.first.initial_rounds:
        return -1
    scope = _scope(state, t)
    lead = _leader(state, scope)
    if t > lead.marks[UNTIL] or not _leads(state, lead):
        return -1
    return lead.marks[ARM]


@implements("choose", GroupUCBState)
def _choose(state, t, coin):
    if t <= state.first.initial_rounds:
        return choose(state.first, t, coin)
    scope = _scope(state, t)
    lead = _leader(state, scope)
    low = 0
    high = state.pulls.size
    if scope < state.quotas.size:
        low = state.start[scope]
        high = state.start[scope + 1]
    bonus = bonus_of(state, high - low, t)
    if t > lead.marks[UNTIL]:
        until = leader.ahead(t)
        leader.begin(lead, low, high, until, bonus_of(state, high - low, until))
    arm = leader.find(lead, low, high, bonus, state.plain_ties, state.cap)
    if arm >= 0:
        lead.bounds[PRECEDING] = lead.bounds[RIVAL]
        return arm
    arm = _first_of_best(state, low, high, bonus, coin)
    leader.crown(lead, low, high, arm, bonus)
    preceding = math.inf if state.random_ties else -math.inf
    for k in range(low, high):
        if state.rank[k] < state.rank[arm]:
            preceding = max(preceding, state.upper[scope, k])
    lead.bounds[PRECEDING] = preceding
    return arm


@register_jitable(**INLINE)
def _first_of_best(state, low, high, bonus, coin):
    """Return the arm of largest index among the arms low .. high - 1, in a full comparison."""
    index = state.index[low:high]
    for k in range(index.size):
        index[k] = min(state.cap, state.mean[low + k] + bonus * state.inverse_root[low + k])
    if state.random_ties:
        return low + best_arm(index, True, coin)
    best = largest(index)
    arm = low
    lowest = state.rank.size
    for k in range(index.size):
        if index[k] == best and state.rank[low + k] < lowest:
            lowest = state.rank[low + k]
            arm = low + k
    return arm


@implements("learn", GroupUCBState)
def _learn(state, t, arm, reward):
    early = t <= state.first.initial_rounds
    if early:
        learn(state.first, t, arm, reward)
    g = state.group_of[arm]
    state.served[g] += 1
    n = state.pulls[arm] + 1
    state.pulls[arm] = n
    released = state.released_mean and not early
    state.mean[arm] = layout.new_mean(state.sums, state.mean, n, arm, reward, released)
    state.inverse_root[arm] = 1.0 / math.sqrt(n)
    for scope in (g, state.quotas.size):
        lead = _leader(state, scope)
        leader.update(lead, arm)
        if state.rank[arm] < state.rank[lead.marks[ARM]]:
            lead.bounds[PRECEDING] = max(lead.bounds[PRECEDING], lead.upper[arm])


# what runs it in lanes is registered with it, and counts with its runs alone
from fairbandits.policies import group_ucb_lanes  # noqa: E402, F401
