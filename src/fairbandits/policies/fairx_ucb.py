"""FairX-UCB: merit over all arms, groups or not; BF-UCB's baseline MF."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import choose, inlined, learn, plays_in_lanes
from fairbandits.engine.streams import inner, unit
from fairbandits.engine.width import Shared, greatest, sqrt, where, whole
from fairbandits.policies import bf_ucb
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies.parameters import (
    Confidence,
    GroupQuotas,
    GroupSizes,
    Means,
    Version,
    one_of,
)

CLOCKS, COUNTS = ("horizon", "round"), ("own", "bf_ucb")


@plays_in_lanes
class FairXUCBState(NamedTuple):
    """Who plays the initial rounds, or as a BF-UCB all rounds, and the arms as one group."""

    other: initial.InitialState | bf_ucb.BFUCBState
    first: initial.InitialState  # of the other
    arms: merits.Arms
    blocks: np.ndarray  # sums of weights
    shadow_means: np.ndarray
    shadow_arm: np.ndarray
    width: Shared
    horizon: int
    inverse_delta: float
    released: bool
    by_round: bool
    shadow: bool

    def choose(state, t, coin):
        arms, last = state.arms, state.first.rounds
        if t <= last:
            return initial.choose_early(state.other, t, coin)
        if state.by_round or t == last + 1:
            _weigh(state, t)
        if state.shadow:
            other = choose(state.other, t, inner(coin, 1))
            state.shadow_arm[0] = other
            win = unit(inner(coin, 2)) < state.shadow_means[other]
            learn(state.other, t, other, where(win, 1.0, 0.0))
        total = 0.0
        for b in range(arms.most_blocks):
            total = total + state.blocks[b]
            arms.ends[b] = total
        if arms.rounded:
            return greatest(0, merits.draw_rounded(arms, 0, True, total, coin))
        merits.expose(arms, 0, arms.start[1], total, True)
        return merits.draw(arms, 0, arms.start[1] - 1, total, coin)

    def learn(state, t, arm, reward):
        arms, first = state.arms, state.first.arms
        early = t <= state.first.rounds
        if early:
            initial.learn_early(state.other, t, arm, reward)
            for k in range(arms.start[1]):
                shown = first.probability[first.place_of[first.row_of[k]]]
                arms.probability[arms.place_of[k]] = shown
        n, _ = merits.learn_mean(arms, arm, reward, state.released and not early)
        if not state.shadow or early:
            arms.inverse_root[arm] = 1.0 / sqrt(n)
        else:
            other = state.shadow_arm[0]
            arms.inverse_root[other] = first.inverse_root[first.row_of[other]]
        if not (state.by_round or early):
            _weigh_one(state, arm)
            if state.shadow:
                _weigh_one(state, state.shadow_arm[0])

    def probe(state, out):
        for k in range(state.arms.start[1]):
            place = state.arms.place_of[k]
            out[0][k] = state.arms.probability[place]
            out[1][k] = state.arms.policy[place]


@dataclass(frozen=True)
class FairXUCB(initial.Grouped):
    """Draw an arm with probability u_i / sum u_j, where u_i = mean_i + w / sqrt(N_i), cut or not.

    The width w is sqrt(2 log(4 T n / delta)), or sqrt(2 log(4 T n) / delta) in the released
    version. The first rounds are BF-UCB's, pull for pull.

    Parameters
    ----------
    groups : sequence of int
        Sizes k_g >= 1 of the groups, in the order of the arms; only the initial rounds need them.
    delta, version
        As in `BFUCB`, with its initial rounds, running means and draws.
    clock : {"horizon", "round"}, optional
        Whether T in the width is the horizon, as in the paper's version, or the round.
    counts : {"own", "bf_ucb"}, optional
        The N_i in the widths: the pulls of this policy, or of a BF-UCB of the same version. As
        in the released version, that BF-UCB plays at the same time, with its own Bernoulli rewards.
    box : {"upper", "uncut"}
        Whether u_i is cut off at 1, or uncut, as in the paper; in the initial rounds too.
    quotas, shadow_means : sequence, one per group and per arm, optional
        Quotas of that BF-UCB and means of its rewards; needed with counts ``bf_ucb``.

    References
    ----------
    L. Wang, Y. Bai, W. Sun and T. Joachims, "Fairness of exposure in stochastic bandits", ICML
    2021; as in `BFUCB`, section 6.1.2.
    """

    groups: GroupSizes
    delta: Confidence = 0.01
    version: Version = "paper"
    clock: Annotated[str | None, one_of(*CLOCKS)] = None
    counts: Annotated[str | None, one_of(*COUNTS)] = None
    box: Annotated[str, one_of(*initial.BOXES)] = "upper"
    quotas: GroupQuotas | None = None
    shadow_means: Means | None = None
    probes: ClassVar[tuple[str, ...]] = ("probability", "share")
    switches: ClassVar = {"clock": CLOCKS, "counts": COUNTS}

    def __post_init__(self):
        super().__post_init__()
        if self.counts == "bf_ucb":
            for name in ("quotas", "shadow_means"):
                if getattr(self, name) is None:
                    raise ValueError(f"{name} must be given with counts bf_ucb, got None")

    def start(self, n_arms: int, horizon: int) -> FairXUCBState:
        layout.check_layout(self.groups, n_arms)
        shadow = self.counts == "bf_ucb"
        if shadow:
            checks.length("shadow_means", self.shadow_means, n_arms)
        released = self.version == "released"
        arms = merits.begin((n_arms,), self.box == "uncut", released, merits.numbering(self.groups))
        if shadow:
            given = self.groups, self.quotas, self.delta, self.version
            other = bf_ucb.BFUCB(*given, box=self.box).start_weighing(n_arms, horizon)
        else:
            other = self._first(horizon, released, released, released)
        return FairXUCBState(
            other=other,
            first=other.first if shadow else other,
            arms=arms,
            blocks=np.zeros(arms.most_blocks),
            shadow_means=np.array(self.shadow_means if shadow else (), float),
            shadow_arm=np.zeros(1, np.int64),
            width=np.zeros(1),
            horizon=horizon,
            inverse_delta=1.0 / self._delta(horizon),
            released=released,
            by_round=self.clock == "round",
            shadow=shadow,
        )


@inlined
def _weigh(state, t):
    """Compute the width and all optimistic means of round t."""
    arms = state.arms
    clock = t if state.by_round else state.horizon
    width = initial.width_of(clock, arms.start[1], state.inverse_delta, state.released)
    state.width[0] = width
    for row in range(arms.columns):
        _put_weight(arms, row, width)
    for b in range(arms.most_blocks):
        state.blocks[b] = merits.block_sum(arms.weight, merits.BLOCK * b)


@inlined
def _weigh_one(state, arm):
    """Compute one arm's optimistic mean, with the width unchanged."""
    _put_weight(state.arms, arm, state.width[0])
    block = whole(arm / merits.BLOCK)
    state.blocks[block] = merits.block_sum(state.arms.weight, merits.BLOCK * block)


@inlined
def _put_weight(arms, row, width):
    weight = merits.bound_of(arms, row, width)
    arms.weight[row] = weight
    arms.placed_weight[arms.place_of[row]] = weight
