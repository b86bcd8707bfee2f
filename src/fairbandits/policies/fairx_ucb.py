"""FairX-UCB: merit over all arms, groups or not; BF-UCB's baseline MF."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits import checks
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import plays_in_lanes
from fairbandits.engine.protocol import choose, implements, learn
from fairbandits.engine.streams import inner, unit
from fairbandits.engine.width import Shared, greatest, sqrt, where, whole
from fairbandits.policies import bf_ucb
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies.parameters import Confidence, GroupFractions, GroupSizes, Means, one_of

PROBES = ("probability", "share")


class FairXUCBState(NamedTuple):
    """The state of the initial rounds, or of BF-UCB for all rounds, and arrays for the draw.

    Rows are padded with zeros (see `fairbandits.policies.merit`), as for one group of all arms.
    """

    first: initial.InitialState | bf_ucb.BFUCBState
    start: Shared
    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    weight: np.ndarray
    blocks: np.ndarray
    ends: np.ndarray
    policy: np.ndarray
    probability: np.ndarray
    order: np.ndarray
    arm_of: np.ndarray
    shadow_means: np.ndarray
    shadow_arm: np.ndarray
    columns: int
    most_blocks: int
    width: Shared
    cap: float
    horizon: int
    inverse_delta: float
    outside: bool
    by_round: bool
    shadow: bool
    released_mean: bool
    rounded: bool
    ranked: bool


@dataclass(frozen=True)
class FairXUCB:
    """Draw an arm with probability u_i / sum u_j, u_i being mean_i + w / sqrt(N_i), cut or not.

    The width w is sqrt(2 log(4 T n / delta)). The first rounds are BF-UCB's, pull for pull.

    Parameters
    ----------
    groups : sequence of int
        Sizes k_g >= 1 of the groups, in the order of the arms; only the initial rounds need them.
    delta : float, optional
        Confidence, strictly between 0 and 1; ``None`` is 1 / sqrt(T).
    version : {"paper", "released"}
        Default of the switches below.
    width : {"paper", "released"}, optional
        As above; or with delta outside the logarithm, sqrt(2 log(4 T n) / delta).
    clock : {"horizon", "round"}, optional
        Whether T in the width is the horizon, as in the paper's version, or the round.
    counts : {"own", "bf_ucb"}, optional
        Whose N_i the width is divided by: this policy's; or those of a BF-UCB that plays at the
        same time, as in the released version. It draws Bernoulli rewards of its own.
    initialisation, running_mean, draw : {"paper", "released"}, optional
        As in `BFUCB`.
    box : {"upper", "uncut"}
        Whether u_i = min(1, mean_i + w / sqrt(N_i)), or as the paper prints it without the cut; in
        the initial rounds too.
    quotas : sequence of number or str, one per group, optional
        Quotas of that BF-UCB.
    shadow_means : sequence of float, length n_arms, optional
        Means in [0, 1] of that BF-UCB's rewards.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or quotas and means are needed and not given.

    Notes
    -----
    The BF-UCB whose counts are used is of the same version, box, initialisation, running mean and
    draw.
    In the released program its rewards are independent of this policy's too, so that only their
    distribution matters.

    The probes are those of `BFUCB` with the same names, over all arms instead of within a group.

    References
    ----------
    L. Wang, Y. Bai, W. Sun and T. Joachims, "Fairness of exposure in stochastic bandits", ICML
    2021; "Simultaneously achieving group exposure fairness and within-group meritocracy in
    stochastic bandits", AAMAS 2024, section 6.1.2.

    Examples
    --------
    >>> FairXUCB((3, 2)).counts
    'own'
    """

    groups: GroupSizes
    delta: Confidence = 0.01
    version: layout.Version = "paper"
    width: layout.Version | None = None
    clock: Annotated[str | None, one_of("horizon", "round")] = None
    counts: Annotated[str | None, one_of("own", "bf_ucb")] = None
    initialisation: layout.Version | None = None
    running_mean: layout.Version | None = None
    draw: layout.Version | None = None
    box: Annotated[str, one_of(*initial.BOXES)] = "upper"
    quotas: GroupFractions | None = None
    shadow_means: Means | None = None
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = PROBES

    def __post_init__(self):
        object.__setattr__(self, "groups", layout.check_groups(self.groups))
        layout.check_delta(self.delta)
        switches = ("width", "initialisation", "running_mean", "draw")
        layout.settle(self, self.version, **dict.fromkeys(switches, layout.VERSIONS))
        released = self.version == "released"
        if self.clock is None:
            object.__setattr__(self, "clock", "round" if released else "horizon")
        if self.counts is None:
            object.__setattr__(self, "counts", "bf_ucb" if released else "own")
        checks.one_of("clock", self.clock, ("horizon", "round"))
        checks.one_of("counts", self.counts, ("own", "bf_ucb"))
        checks.one_of("box", self.box, initial.BOXES)
        if self.quotas is not None:
            object.__setattr__(self, "quotas", tuple(self.quotas))
            layout.group_quotas(self.quotas, len(self.groups))
        if self.shadow_means is not None:
            object.__setattr__(self, "shadow_means", tuple(float(mu) for mu in self.shadow_means))
            checks.means("shadow_means", self.shadow_means)
        if self.counts == "bf_ucb":
            for name in ("quotas", "shadow_means"):
                if getattr(self, name) is None:
                    raise ValueError(f"{name} must be given with counts bf_ucb, got None")

    @property
    def initial_rounds(self) -> int:
        """Number of rounds m max k_g of the initial phase."""
        return initial.n_rounds(self.groups)

    def start(self, n_arms: int, horizon: int) -> FairXUCBState:
        """Return the state before the first round."""
        shadow = self.counts == "bf_ucb"
        delta = layout.delta_for(self.delta, horizon)
        layout.check_layout(self.groups, n_arms)
        if shadow:
            checks.length("shadow_means", self.shadow_means, n_arms)
        columns = merits.padded(n_arms)
        blocks = columns // merits.BLOCK
        rows = ("sums", "mean", "inverse_root", "weight", "policy", "probability")
        arm_of = np.arange(columns)
        arm_of[:n_arms] = np.argsort(layout.released_rank(self.groups))
        return FairXUCBState(
            first=self._first(n_arms, horizon),
            start=np.array([0, n_arms]),
            pulls=np.zeros(columns, np.int64),
            **{name: np.zeros(columns) for name in rows},
            blocks=np.zeros(blocks),
            ends=np.zeros(blocks),
            order=np.arange(columns),
            arm_of=arm_of,
            shadow_means=np.array(self.shadow_means if shadow else (), float),
            shadow_arm=np.zeros(1, np.int64),
            columns=columns,
            most_blocks=blocks,
            width=np.zeros(1),
            cap=math.inf if self.box == "uncut" else 1.0,
            horizon=horizon,
            inverse_delta=1.0 / delta,
            outside=self.width == "released",
            by_round=self.clock == "round",
            shadow=shadow,
            released_mean=self.running_mean == "released",
            rounded=self.draw == "released",
            ranked=True,
        )

    def _first(self, n_arms: int, horizon: int) -> initial.InitialState | bf_ucb.BFUCBState:
        if self.counts == "own":
            return initial.begin(
                self.groups,
                layout.delta_for(self.delta, horizon),
                self.initialisation == "released",
                self.version == "released",
                self.draw == "released",
                self.box == "uncut",
            )
        shadow = bf_ucb.BFUCB(
            *(self.groups, self.quotas, self.delta, self.version, self.initialisation),
            running_mean=self.running_mean,
            draw=self.draw,
            box=self.box,
        )
        return shadow.start_weighing(n_arms, horizon)


plays_in_lanes(FairXUCBState)


@register_jitable(**INLINE)
def _weigh(state, t):
    """Compute the width and all optimistic means of round t."""
    count = 4.0 * (t if state.by_round else state.horizon) * state.start[1]
    if state.outside:
        state.width[0] = math.sqrt(2.0 * math.log(count) * state.inverse_delta)
    else:
        state.width[0] = math.sqrt(2.0 * math.log(count * state.inverse_delta))
    for row in range(state.columns):
        state.weight[row] = merits.bound_of(state, row, state.width[0])
    for b in range(state.most_blocks):
        state.blocks[b] = merits.block_sum(state.weight, merits.BLOCK * b)


@register_jitable(**INLINE)
def _weigh_one(state, arm):
    """Compute one arm's optimistic mean, with the width unchanged."""
    state.weight[arm] = merits.bound_of(state, arm, state.width[0])
    block = whole(arm / merits.BLOCK)
    state.blocks[block] = merits.block_sum(state.weight, merits.BLOCK * block)


@implements("choose", FairXUCBState)
def _choose(state, t, coin):
    last = state.first.initial_rounds
    if t <= last:
        return initial.choose_early(state.first, t, coin)
    if state.by_round or t == last + 1:
        _weigh(state, t)
    if state.shadow:
        other = choose(state.first, t, inner(coin, 1))
        state.shadow_arm[0] = other
        win = unit(inner(coin, 2)) < state.shadow_means[other]
        learn(state.first, t, other, where(win, 1.0, 0.0))
    total = 0.0
    for b in range(state.most_blocks):
        total = total + state.blocks[b]
        state.ends[b] = total
    merits.expose(state, 0, state.start[1], total, True)
    return greatest(0, merits.draw(state, 0, state.start[1] - 1, total, coin))


@implements("learn", FairXUCBState)
def _learn(state, t, arm, reward):
    first = state.first
    early = t <= first.initial_rounds
    if early:
        initial.learn_early(first, t, arm, reward)
        for g in range(first.start.size - 1):
            for k in range(first.start[g + 1] - first.start[g]):
                state.probability[first.start[g] + k] = first.probability[g * first.columns + k]
    n = state.pulls[arm] + 1
    state.pulls[arm] = n
    released = state.released_mean and not early
    state.mean[arm] = layout.new_mean(state, arm, n, reward, released)
    if not state.shadow or early:
        state.inverse_root[arm] = 1.0 / sqrt(n)
    else:
        other = state.shadow_arm[0]
        state.inverse_root[other] = first.inverse_root[first.row_of[other]]
    if not (state.by_round or early):
        _weigh_one(state, arm)
        if state.shadow:
            _weigh_one(state, state.shadow_arm[0])


@implements("probe", FairXUCBState)
def _probe(state, out):
    for k in range(state.start[1]):
        out[0][k] = state.probability[k]
        out[1][k] = state.policy[k]
