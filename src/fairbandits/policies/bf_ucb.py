"""BF-UCB: a guaranteed share of the rounds for each group, and merit within it."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits import checks
from fairbandits.engine.inlining import NOT_INLINED
from fairbandits.engine.lanes import fits, plays_in_lanes
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import (
    Shared,
    anywhere,
    entry,
    lanes_of,
    put_entry,
    ratio,
    sqrt,
    where,
)
from fairbandits.policies import bf_ucb_sums as sums
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies.groups import GROUP
from fairbandits.policies.parameters import (
    Confidence,
    GroupFractions,
    GroupSizes,
    number,
    one_of,
)

PROBES = ("probability", "share")
WIDTHS = ("paper", "released", "horizon")


class BFUCBState(NamedTuple):
    """Statistics of the groups and, as in `initial_rounds.InitialState`, of the arms.

    With ``plain`` the weights of the arms are their optimistic means; otherwise they follow from
    the box, whose ends and best point are in the last arrays.
    """

    start: Shared
    row_of: np.ndarray
    group_of: np.ndarray
    quotas: np.ndarray
    served: np.ndarray
    value: np.ndarray
    total: np.ndarray
    width: np.ndarray
    now: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    probability: np.ndarray
    weight: np.ndarray
    policy: np.ndarray
    order: np.ndarray
    arm_of: np.ndarray
    ends: np.ndarray
    columns: int
    most_blocks: int
    denominator: int
    initial_rounds: int
    largest: int
    log_factor: float
    factor: float
    horizon: float
    by_horizon: bool
    learner: int
    sequential: bool
    released_mean: bool
    rounded: bool
    ranked: bool
    cap: float
    plain: bool
    exact: bool
    from_mean: bool
    kind: int
    c: float
    lower: Shared
    upper: Shared
    point: Shared


@dataclass(frozen=True)
class BFUCB:
    """Serve the group furthest behind its quota, else the most promising; draw an arm by merit.

    In round t the group with the largest beta_g (t-1) - N_g is served if that is above 0, in exact
    integers. Otherwise it is the group of largest Phi(u) = sum f(u_i) u_i / sum f(u_i), u being
    the optimistic means of its arms. Within the group arm i is drawn with probability
    f(u_i) / sum f(u_j). For "box" ``upper`` u_i = min(1, mean_i + w_g / sqrt(N_i)), with
    w_g = sqrt(2 log(4 N_g k_g / delta)).

    Parameters
    ----------
    groups : sequence of int
        Sizes k_g >= 1 of the groups; the arms stand in this order, the first k_1 of them being
        the first group.
    quotas : sequence of number or str, one per group
        Required fraction of rounds beta_g >= 0, exact: 0.4, "1/3". They sum to at most 1. The
        paper's guarantee needs beta_g <= 1/m and a sum below 1 (see `in_stated_range`).
    delta : float, optional
        Confidence, strictly between 0 and 1; ``None`` is 1 / sqrt(T).
    version : {"paper", "released"}
        Default of the four switches below.
    initialisation : {"paper", "released"}, optional
        The first m max k_g rounds: the groups in turn, each arm once and then by merit; or group
        after group, max k_g rounds each, every arm once and then any arm uniformly.
    width : {"paper", "released", "horizon"}, optional
        w_g as above; or with delta outside the logarithm, sqrt(2 log(4 N_g k_g) / delta); or with
        the horizon T in place of N_g.
    running_mean : {"paper", "released"}, optional
        The mean of all rewards; or one that counts the initial mean once more (see Notes).
    draw : {"paper", "released"}, optional
        A draw from the probabilities; or one by a number rounded to thousandths, where 1.000 pulls
        arm 1 whatever group was to be served (`fairbandits.policies.merit.draw_rounded`).
    box : {"upper", "exact", "uncut"}
        The optimistic means: the upper corner of the confidence box, or its point of largest Phi,
        the box being cut to [0, 1], without which Phi is unbounded near 0. Or the upper corner of
        the box without the cut, mean_i + w_g / sqrt(N_i), as the paper prints it.
    policy_from : {"maximiser", "mean"}
        Means in the merits: the optimistic ones, or the empirical ones, as line 6 of Subroutine 2
        prints.
    merit : {"power", "exponential"}
        f(x) = x**c or exp(c x).
    merit_parameter : float
        c >= 0; 1 is the paper's f(x) = x, and 0 gives a uniform draw.
    learner : {"optimistic", "first", "random", "least_owed"}
        Which group is served if none is behind: as above, or without learning.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Rewards are in [0, 1]. Ties go to the lowest group; N_g and N_i are those before the round.
    All widths depend on the group's own counts only, so a round changes one group's numbers.

    The mean of the released program is (N m + r) / (N + 1) with N already counting the pull: the
    initial mean enters once too often.

    Its rounded draw can pull arm 1 while another group is served. That group's N_g grows then, as
    in the program, so that N_g is no longer the sum of its arms' pulls.

    The probes are, per arm: ``probability``, the sum over the rounds of the probability that the
    arm was drawn with (1 in the rounds whose arm is fixed), and ``share``, its probability within
    its group in the group's last round that drew by merit. What else there is to see, observers
    record: `fairbandits.InitialPhase`, `GroupDeficits`, `OptionalPulls` and `MeritRegret`.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Algorithm 1 and Subroutines 2 and 3.

    Examples
    --------
    >>> BFUCB((3, 2), ("2/5", "1/3")).in_stated_range
    True
    >>> BFUCB((3, 2), (0.4, 0.4), version="released", width="paper").initialisation
    'released'
    """

    groups: GroupSizes
    quotas: GroupFractions
    delta: Confidence = 0.01
    version: layout.Version = "paper"
    initialisation: layout.Version | None = None
    width: Annotated[str | None, one_of(*WIDTHS)] = None
    running_mean: layout.Version | None = None
    draw: layout.Version | None = None
    box: Annotated[str, one_of("upper", "exact", "uncut")] = "upper"
    policy_from: Annotated[str, one_of("maximiser", "mean")] = "maximiser"
    merit: Annotated[str, one_of(*merits.MERITS)] = "power"
    merit_parameter: Annotated[float, number(at_least=0)] = 1.0
    learner: Annotated[str, one_of(*layout.LEARNERS)] = "optimistic"
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = PROBES

    def __post_init__(self):
        object.__setattr__(self, "groups", layout.check_groups(self.groups))
        object.__setattr__(self, "quotas", tuple(self.quotas))
        layout.group_quotas(self.quotas, len(self.groups))
        layout.check_delta(self.delta)
        versions = dict.fromkeys(("initialisation", "running_mean", "draw"), layout.VERSIONS)
        layout.settle(self, self.version, **versions, width=WIDTHS)
        checks.one_of("box", self.box, ("upper", "exact", "uncut"))
        checks.one_of("policy_from", self.policy_from, ("maximiser", "mean"))
        checks.one_of("merit", self.merit, tuple(merits.MERITS))
        checks.merit_parameter(self.merit_parameter)
        checks.one_of("learner", self.learner, tuple(layout.LEARNERS))

    @property
    def in_stated_range(self) -> bool:
        """Whether every quota is above 0 and at most 1/m, and their sum below 1."""
        numerators, denominator = layout.group_quotas(self.quotas, len(self.groups))
        fits = max(numerators) * len(numerators) <= denominator
        return fits and min(numerators) > 0 and sum(numerators) < denominator

    @property
    def initial_rounds(self) -> int:
        """Number of rounds m max k_g of the initial phase."""
        return initial.n_rounds(self.groups)

    def start(self, n_arms: int, horizon: int) -> BFUCBState | sums.BFUCBState:
        """Return the state before the first round."""
        if self._plain and self.box == "uncut" and self.draw == "paper":
            return sums.begin(self.groups, self._common(n_arms, horizon))
        return self.start_weighing(n_arms, horizon)

    @property
    def _plain(self) -> bool:
        """Whether the weights of the arms are their optimistic means."""
        linear = (self.merit, self.merit_parameter) == ("power", 1)
        return linear and self.box != "exact" and self.policy_from == "maximiser"

    def start_weighing(self, n_arms: int, horizon: int) -> BFUCBState:
        """Return the state before the first round in which every arm has a weight."""
        columns = merits.padded(max(self.groups))
        return BFUCBState(
            **self._common(n_arms, horizon),
            **initial.rows_of(self.groups, self.box == "uncut"),
            rounded=self.draw == "released",
            plain=self._plain,
            exact=self.box == "exact",
            from_mean=self.policy_from == "mean",
            kind=merits.MERITS[self.merit],
            c=float(self.merit_parameter),
            lower=np.zeros(columns),
            upper=np.zeros(columns),
            point=np.zeros(columns),
        )

    def _common(self, n_arms: int, horizon: int) -> dict[str, Any]:
        """Return the fields that both kinds of state share."""
        layout.check_layout(self.groups, n_arms)
        n_groups = len(self.groups)
        delta = layout.delta_for(self.delta, horizon)
        log_factor, factor = initial.width_factors(delta, self.width == "released")
        numerators, denominator = layout.group_quotas(self.quotas, n_groups, horizon)
        return {
            "group_of": layout.group_of(self.groups),
            "quotas": np.array(numerators, np.int64),
            "served": np.zeros(n_groups, np.int64),
            **{name: np.zeros(n_groups) for name in ("value", "total", "width")},
            "now": np.zeros(2, np.int64),
            "denominator": denominator,
            "initial_rounds": self.initial_rounds,
            "largest": max(self.groups),
            "log_factor": log_factor,
            "factor": factor,
            "horizon": float(horizon),
            "by_horizon": self.width == "horizon",
            "learner": layout.LEARNERS[self.learner],
            "sequential": self.initialisation == "released",
            "released_mean": self.running_mean == "released",
        }


plays_in_lanes(BFUCBState, lambda state: fits(state.denominator))


@implements("choose", BFUCBState)
def _choose(state, t, coin):
    if t <= state.initial_rounds:
        g, turn = initial.turn_of(state, t)
        state.now[GROUP] = g
        if turn < state.start[g + 1] - state.start[g] or state.sequential:
            return initial.fixed_arm(state, g, turn, coin)
    else:
        state.now[GROUP] = layout.served_group(state, t, coin)
    group = state.now[GROUP]
    first, last, total = 0, 0, 0.0
    for g in range(len(state.quotas)):
        own = group == g
        if anywhere(own):
            size = state.start[g + 1] - state.start[g]
            first = where(own, state.start[g], first)
            last = where(own, size - 1, last)
            total = where(own, state.total[g], total)
            merits.expose(state, g * state.columns, size, state.total[g], own)
    k = merits.draw(state, group, last, total, coin)
    return where(k < 0, 0, first + k)


@implements("learn", BFUCBState)
def _learn(state, t, arm, reward):
    initial.serve(state, state.now[GROUP])
    row = state.row_of[arm]
    n = state.pulls[row] + 1
    state.pulls[row] = n
    released = state.released_mean and t > state.initial_rounds
    state.mean[row] = layout.new_mean(state, row, n, reward, released)
    state.inverse_root[row] = 1.0 / sqrt(n)
    group, own = state.now[GROUP], state.group_of[arm]
    for g in range(len(state.quotas)):
        if anywhere((group == g) | (own == g)):
            if state.plain:
                total, squares = merits.weigh(state, g, state.width[g])
                state.total[g] = total
                state.value[g] = ratio(squares, total)
            else:
                _weigh_any(state, g)


@register_jitable(**NOT_INLINED)
def _weigh_any(state, g):
    """Do the same as `merit.weigh` for any merit function, and for the maximum over the box."""
    size, row = state.start[g + 1] - state.start[g], g * state.columns
    lower, upper, point = state.lower, state.upper, state.point
    for i in range(lanes_of(state.mean)):
        width = entry(state.width, g, i)
        for k in range(size):
            mean, root = entry(state.mean, row + k, i), entry(state.inverse_root, row + k, i)
            lower[k] = min(1.0, max(0.0, mean - width * root))
            upper[k] = min(state.cap, max(0.0, mean + width * root))
            point[k] = upper[k]
        if state.exact:
            value = merits.best_vertex(lower, upper, size, state.kind, state.c, point)
        else:
            value = merits.fair_value(point, size, state.kind, state.c)
        some = False
        for k in range(size):
            x = point[k]
            if state.from_mean:
                x = min(1.0, max(0.0, entry(state.mean, row + k, i)))
            weight = merits.merit_of(x, state.kind, state.c)
            some = some or weight != 0.0
            put_entry(state.weight, row + k, i, weight)
        if not some:  # no merit at all: all arms alike
            for k in range(size):
                put_entry(state.weight, row + k, i, 1.0)
        put_entry(state.value, g, i, value)
    state.total[g] = merits.sum_weights(state, g)


@implements("probe", BFUCBState)
def _probe(state, out):
    for g in range(len(state.quotas)):
        for arm in range(state.start[g], state.start[g + 1]):
            row = g * state.columns + arm - state.start[g]
            out[0][arm] = state.probability[row]
            out[1][arm] = state.policy[row]
