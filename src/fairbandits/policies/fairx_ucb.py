"""FairX-UCB: merit over all arms, groups or not; BF-UCB's baseline MF."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.protocol import choose, implements, learn
from fairbandits.engine.streams import inner, unit
from fairbandits.policies import bf_ucb, checks
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies.parameters import Confidence, GroupFractions, GroupSizes, Means, one_of

PROBES = ("probability", "share")


class FairXUCBState(NamedTuple):
    """The initial rounds, or BF-UCB for all rounds, and what the draw needs of all arms.

    Rows are padded with zeros (see `fairbandits.policies.merit`).
    """

    first: initial.InitialState | bf_ucb.BFUCBState
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
    ranks: np.ndarray
    ascending: np.ndarray
    ascending_ends: np.ndarray
    shadow_means: np.ndarray
    shadow_arm: np.ndarray
    width: np.ndarray
    cap: float
    horizon: int
    inverse_delta: float
    outside: bool
    by_round: bool
    shadow: bool
    released_mean: bool
    rounded: bool


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
        What the switches below are if they are not given.
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
        return FairXUCBState(
            first=self._first(n_arms, horizon),
            pulls=np.zeros(n_arms, np.int64),
            sums=np.zeros(n_arms),
            mean=np.zeros(columns),
            inverse_root=np.zeros(columns),
            weight=np.zeros(columns),
            blocks=np.zeros(columns // merits.BLOCK),
            ends=np.zeros(columns // merits.BLOCK),
            policy=np.zeros(columns),
            probability=np.zeros(columns),
            order=np.arange(n_arms),
            ranks=layout.released_rank(self.groups),
            ascending=np.zeros(columns),
            ascending_ends=np.zeros(columns // merits.BLOCK),
            shadow_means=np.array(self.shadow_means if shadow else (), float),
            shadow_arm=np.zeros(1, np.int64),
            width=np.zeros(1),
            cap=math.inf if self.box == "uncut" else 1.0,
            horizon=horizon,
            inverse_delta=1.0 / delta,
            outside=self.width == "released",
            by_round=self.clock == "round",
            shadow=shadow,
            released_mean=self.running_mean == "released",
            rounded=self.draw == "released",
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
        # its probabilities are read after each initial round, so none may be added up later
        return shadow.start(n_arms, horizon)._replace(summed=False)


@register_jitable(**INLINE)
def _refresh(state, t):
    """Work out the width and all optimistic means of round t."""
    n = state.order.size
    count = t if state.by_round else state.horizon
    if state.outside:
        state.width[0] = math.sqrt(2.0 * math.log(4.0 * count * n) * state.inverse_delta)
    else:
        state.width[0] = math.sqrt(2.0 * math.log(4.0 * count * n * state.inverse_delta))
    n_blocks = state.blocks.size
    merits.upper_bounds(
        *(state.mean, state.inverse_root, state.width[0], state.cap, n_blocks, state.weight),
        *(-1, 0.0, 0.0),
    )
    for b in range(n_blocks):
        state.blocks[b] = merits.block_sum(state.weight, merits.BLOCK * b)


@register_jitable(**INLINE)
def _refresh_one(state, k):
    """Do the same for one arm, the width being what it was."""
    bound = state.mean[k] + state.width[0] * state.inverse_root[k]
    state.weight[k] = min(state.cap, max(0.0, bound))
    b = k // merits.BLOCK
    state.blocks[b] = merits.block_sum(state.weight, merits.BLOCK * b)


@implements("choose", FairXUCBState)
def _choose(state, t, coin):
    last = state.first.initial_rounds
    if t <= last:
        return choose(state.first, t, coin)
    if state.by_round or t == last + 1:
        _refresh(state, t)
    if state.shadow:
        state.shadow_arm[0] = choose(state.first, t, inner(coin, 1))
        win = unit(inner(coin, 2)) < state.shadow_means[state.shadow_arm[0]]
        learn(state.first, t, state.shadow_arm[0], 1.0 if win else 0.0)
    total = 0.0
    for b in range(state.blocks.size):
        total += state.blocks[b]
        state.ends[b] = total
    weight, policy, probability = state.weight, state.policy, state.probability
    merits.expose(weight, total, state.rounded, state.blocks.size, policy, probability)
    size = state.order.size
    if state.rounded:
        drawn = merits.draw_rounded(
            *(policy, state.order, state.ranks, size, coin),
            *(state.ascending, state.ascending_ends),
        )
        return max(0, drawn)
    return nonnegative(merits.draw_by_weight(weight, state.ends, size, unit(coin) * total))


@implements("learn", FairXUCBState)
def _learn(state, t, arm, reward):
    early = t <= state.first.initial_rounds
    if early:
        learn(state.first, t, arm, reward)
        for k in range(state.order.size):
            g = state.first.group_of[k]
            state.probability[k] = state.first.probability[g, k - state.first.start[g]]
    n = state.pulls[arm] + 1
    state.pulls[arm] = n
    released = state.released_mean and not early
    state.mean[arm] = layout.new_mean(state.sums, state.mean, n, arm, reward, released)
    if not state.shadow or early:
        state.inverse_root[arm] = 1.0 / math.sqrt(n)
    else:
        other = state.shadow_arm[0]
        g = state.first.group_of[other]
        state.inverse_root[other] = state.first.inverse_root[g, other - state.first.start[g]]
    if not (state.by_round or early):
        _refresh_one(state, arm)
        if state.shadow:
            _refresh_one(state, state.shadow_arm[0])


@implements("probe", FairXUCBState)
def _probe(state, out):
    for k in range(state.order.size):
        out[0, k] = state.probability[k]
        out[1, k] = state.policy[k]


# what runs it in lanes is registered with it, and counts with its runs alone
from fairbandits.policies import fairx_ucb_lanes  # noqa: E402, F401
