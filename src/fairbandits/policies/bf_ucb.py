"""BF-UCB: a guaranteed share of the rounds for each group, and merit within it."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.inlining import INLINE, NOT_INLINED
from fairbandits.engine.protocol import implements
from fairbandits.engine.streams import inner, unit
from fairbandits.policies import checks
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies.parameters import (
    Confidence,
    GroupFractions,
    GroupSizes,
    number,
    one_of,
)

PROBES = ("probability", "share")
WIDTHS = ("paper", "released", "horizon")
OPTIMISTIC, FIRST, RANDOM, LEAST_OWED = range(4)
LEARNERS = {
    "optimistic": OPTIMISTIC,
    "first": FIRST,
    "random": RANDOM,
    "least_owed": LEAST_OWED,
}
#: In place of a value that nobody has asked for yet: rounds of groups behind need none.
STALE = -1.0


class BFUCBState(NamedTuple):
    """What is known of the arms, in rows of one group each, and of the groups.

    Rows are padded with zeros (see `fairbandits.policies.merit`). ``inverse_root`` is r, 1 /
    sqrt(pulls): infinite before the first pull, or 0 if nothing cuts the optimistic means.

    If nothing cuts the optimistic means, sums over the arms follow from ``moments``, the sums over
    each block of mean, r, mean**2, mean * r and r**2, of which a pull changes one block's.
    Probabilities are then added up when an arm is pulled: ``given`` holds each group's sums of
    1 / total and width / total over the rounds, ``taken`` what of them is in ``probability``.
    ``drawn`` is the arm drawn last, ``last`` the 1 / total and the width of then.
    """

    start: np.ndarray
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
    weight: np.ndarray
    ends: np.ndarray
    policy: np.ndarray
    probability: np.ndarray
    order: np.ndarray
    ranks: np.ndarray
    ascending: np.ndarray
    ascending_ends: np.ndarray
    moments: np.ndarray
    given: np.ndarray
    taken: np.ndarray
    drawn: np.ndarray
    last: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    point: np.ndarray
    denominator: int
    largest: int
    initial_rounds: int
    log_factor: float
    factor: float
    horizon: float
    by_horizon: bool
    learner: int
    sequential: bool
    released_mean: bool
    rounded: bool
    cap: float
    plain: bool
    summed: bool
    exact: bool
    from_mean: bool
    kind: int
    c: float


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
        What the four switches below are if they are not given.
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
        What the merits are of: the optimistic means, or the empirical means, as line 6 of
        Subroutine 2 prints.
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
    learner: Annotated[str, one_of(*LEARNERS)] = "optimistic"
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
        checks.one_of("learner", self.learner, tuple(LEARNERS))

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

    def start(self, n_arms: int, horizon: int) -> BFUCBState:
        """Return the state before the first round."""
        layout.check_layout(self.groups, n_arms)
        sizes = np.array(self.groups)
        n_groups, columns = sizes.size, merits.padded(max(self.groups))
        shape = (n_groups, columns)
        delta = layout.delta_for(self.delta, horizon)
        log_factor, factor = initial.width_factors(delta, self.width == "released")
        numerators, denominator = layout.group_quotas(self.quotas, n_groups, horizon)
        inside = np.arange(columns) < sizes[:, None]
        kind, c = merits.MERITS[self.merit], float(self.merit_parameter)
        plain = self.box != "exact" and self.policy_from == "maximiser"
        plain = plain and (kind, c) == (merits.POWER, 1.0)

        def rows(dtype=float):
            return np.zeros(shape, dtype)

        return BFUCBState(
            start=layout.starts(self.groups),
            group_of=layout.group_of(self.groups),
            quotas=np.array(numerators, np.int64),
            served=np.zeros(n_groups, np.int64),
            value=np.zeros(n_groups),
            total=np.zeros(n_groups),
            width=np.zeros(n_groups),
            now=np.zeros(1, np.int64),
            pulls=rows(np.int64),
            sums=rows(),
            mean=rows(),
            inverse_root=np.where(inside & (self.box != "uncut"), np.inf, 0.0),
            weight=rows(),
            ends=np.zeros((n_groups, columns // merits.BLOCK)),
            policy=rows(),
            probability=rows(),
            order=np.tile(np.arange(columns), (n_groups, 1)),
            ranks=np.tile(np.arange(columns), (n_groups, 1)),
            ascending=rows(),
            ascending_ends=np.zeros((n_groups, columns // merits.BLOCK)),
            moments=np.zeros((n_groups, 5, columns // merits.BLOCK)),
            given=np.zeros((n_groups, 2)),
            taken=np.zeros((n_groups, columns, 2)),
            drawn=np.full(n_groups, -1),
            last=np.zeros((n_groups, 2)),
            lower=np.zeros(columns),
            upper=np.zeros(columns),
            point=np.zeros(columns),
            denominator=denominator,
            largest=max(self.groups),
            initial_rounds=self.initial_rounds,
            log_factor=log_factor,
            factor=factor,
            horizon=float(horizon),
            by_horizon=self.width == "horizon",
            learner=LEARNERS[self.learner],
            sequential=self.initialisation == "released",
            released_mean=self.running_mean == "released",
            rounded=self.draw == "released",
            cap=math.inf if self.box == "uncut" else 1.0,
            plain=plain,
            summed=plain and self.box == "uncut" and self.draw == "paper",
            exact=self.box == "exact",
            from_mean=self.policy_from == "mean",
            kind=kind,
            c=c,
        )


@register_jitable(**INLINE)
def _refresh(state, g, k, mean, inverse_root):
    """Work out group g's width, optimistic means and weights, its k-th arm having a new mean."""
    size = state.start[g + 1] - state.start[g]
    n_blocks = initial.n_blocks(state, g)
    count = state.horizon if state.by_horizon else float(state.served[g])
    width = initial.group_width(state, count, size)
    state.width[g] = width
    if state.summed:
        _refresh_sums(state, g, n_blocks, width, k, mean, inverse_root)
    elif state.plain:
        weight = state.weight[g]
        merits.upper_bounds(
            *(state.mean[g], state.inverse_root[g], width, state.cap, n_blocks, weight),
            k,
            mean,
            inverse_root,
        )
        state.total[g] = merits.sum_blocks(weight, n_blocks, state.ends[g])
        state.value[g] = STALE
    else:
        _refresh_any(state, g, size, n_blocks, width, k, mean, inverse_root)


@register_jitable(**INLINE)
def _refresh_sums(state, g, n_blocks, width, k, mean, inverse_root):
    """Do the same from sums over blocks: the total only, and no weights."""
    means, roots, moments, ends = (
        state.mean[g],
        state.inverse_root[g],
        state.moments[g],
        state.ends[g],
    )
    state.probability[g, k] += _not_taken(state, g, k)
    state.taken[g, k, 0] = state.given[g, 0]
    state.taken[g, k, 1] = state.given[g, 1]
    means[k] = mean
    roots[k] = inverse_root
    own = k // merits.BLOCK
    o = merits.BLOCK * own
    moments[0, own] = merits.block_sum(means, o)
    moments[1, own] = merits.block_sum(roots, o)
    moments[2, own] = merits.block_product(means, means, o)
    moments[3, own] = merits.block_product(means, roots, o)
    moments[4, own] = merits.block_product(roots, roots, o)
    total = 0.0
    for b in range(n_blocks):
        total += moments[0, b] + width * moments[1, b]
        ends[b] = total
    state.total[g] = total
    state.value[g] = STALE


@register_jitable(**INLINE)
def _not_taken(state, g, k):
    """Return the probability that arm k of group g had in the rounds since its last pull."""
    shares = state.given[g, 0] - state.taken[g, k, 0]
    return state.mean[g, k] * shares + state.inverse_root[g, k] * (
        state.given[g, 1] - state.taken[g, k, 1]
    )


@register_jitable(**INLINE)
def _squares(state, g):
    """Return the sum of the squares of group g's optimistic means."""
    n_blocks = initial.n_blocks(state, g)
    if not state.summed:
        return merits.sum_squares(state.weight[g], n_blocks)
    moments, width = state.moments[g], state.width[g]
    total = 0.0
    for b in range(n_blocks):
        total += moments[2, b] + width * (2.0 * moments[3, b] + width * moments[4, b])
    return total


@register_jitable(**NOT_INLINED)
def _refresh_any(state, g, size, n_blocks, width, changed, new_mean, new_root):
    """Do the same for any merit function, and for the maximum over the whole box; and the value."""
    mean, inverse_root, weight = state.mean[g], state.inverse_root[g], state.weight[g]
    merits.upper_bounds(
        *(mean, inverse_root, width, state.cap, n_blocks, state.upper), changed, new_mean, new_root
    )
    if state.exact:
        for k in range(size):
            state.lower[k] = min(1.0, max(0.0, mean[k] - width * inverse_root[k]))
        state.value[g] = merits.best_vertex(
            state.lower, state.upper, size, state.kind, state.c, state.point
        )
    else:
        for k in range(size):
            state.point[k] = state.upper[k]
        state.value[g] = merits.fair_value(state.point, size, state.kind, state.c)
    for k in range(size):
        x = min(1.0, max(0.0, mean[k])) if state.from_mean else state.point[k]
        weight[k] = merits.merit_of(x, state.kind, state.c)
    state.total[g] = merits.sum_blocks(weight, n_blocks, state.ends[g])
    if state.total[g] == 0.0:  # no merit at all, so that nobody is preferred
        for k in range(size):
            weight[k] = 1.0
        state.total[g] = merits.sum_blocks(weight, n_blocks, state.ends[g])


@register_jitable(**INLINE)
def _expose_sums(state, g, coin):
    """Do the same from sums over blocks: only the block of the draw needs its weights."""
    size, mean, inverse_root = (
        state.start[g + 1] - state.start[g],
        state.mean[g],
        state.inverse_root[g],
    )
    weight, policy, width, total = state.weight[g], state.policy[g], state.width[g], state.total[g]
    share = 1.0 / total if total > 0.0 else 0.0
    state.given[g, 0] += share
    state.given[g, 1] += share * width
    target = unit(coin) * total
    block = merits.block_of(state.ends[g], size, target)
    for k in range(merits.BLOCK * block, merits.BLOCK * block + merits.BLOCK):
        weight[k] = mean[k] + width * inverse_root[k]
    k = merits.draw_inside(weight, state.ends[g], block, size, target)
    policy[k] = weight[k] * share
    state.drawn[g] = k
    state.last[g, 0] = share
    state.last[g, 1] = width
    return state.start[g] + k


@register_jitable(**INLINE)
def _expose(state, g, coin):
    """Draw an arm of group g by merit, and account for the probabilities."""
    if state.summed:
        return _expose_sums(state, g, coin)
    return initial.draw(
        state, g, state.weight[g], state.ends[g], state.total[g], state.policy[g], coin
    )


@register_jitable(**INLINE)
def _optional_group(state, t, coin):
    """Return the group served in a round when none is behind."""
    n_groups = state.quotas.size
    if state.learner == FIRST:
        return 0
    if state.learner == RANDOM:
        return int(unit(inner(coin, 1)) * n_groups)
    group = 0
    if state.learner == LEAST_OWED:
        least = state.quotas[0] * (t - 1) - state.denominator * state.served[0]
        for g in range(1, n_groups):
            owed = state.quotas[g] * (t - 1) - state.denominator * state.served[g]
            if owed < least:
                least = owed
                group = g
        return group
    best = STALE
    for g in range(n_groups):
        if state.value[g] == STALE:
            state.value[g] = _squares(state, g) / state.total[g] if state.total[g] > 0.0 else 0.0
        if state.value[g] > best:
            best = state.value[g]
            group = g
    return group


@implements("choose", BFUCBState)
def _choose(state, t, coin):
    if t <= state.initial_rounds:
        arm = initial.fixed_arm(state, t, coin)
        if arm >= 0:
            return arm
        g = state.now[initial.GROUP]
    else:
        g = layout.most_owed(state.quotas, state.denominator, state.served, t)
        if g < 0:
            g = _optional_group(state, t, coin)
    g = nonnegative(g)
    state.now[initial.GROUP] = g
    return nonnegative(_expose(state, g, coin))  # inlined, so it stands here once for all rounds


@implements("learn", BFUCBState)
def _learn(state, t, arm, reward):
    g = nonnegative(state.now[initial.GROUP])
    arm = nonnegative(arm)
    state.served[g] += 1
    own = initial.credited(state, g, arm)
    k = nonnegative(arm - state.start[own])
    n = state.pulls[own, k] + 1
    state.pulls[own, k] = n
    released = state.released_mean and t > state.initial_rounds
    mean = layout.new_mean(state.sums[own], state.mean[own], n, k, reward, released)
    inverse_root = 1.0 / math.sqrt(n)
    while True:
        _refresh(state, own, k, mean, inverse_root)
        if own == g:
            break
        own, k = g, -1


@implements("probe", BFUCBState)
def _probe(state, out):
    for arm in range(state.group_of.size):
        g = state.group_of[arm]
        k = arm - state.start[g]
        out[0, arm] = state.probability[g, k]
        out[1, arm] = state.policy[g, k]
        if state.summed:
            out[0, arm] += _not_taken(state, g, k)
            if k != state.drawn[g]:  # whose mean is a new one
                u = state.mean[g, k] + state.last[g, 1] * state.inverse_root[g, k]
                out[1, arm] = u * state.last[g, 0]


# what runs it in lanes is registered with it, and counts with its runs alone
from fairbandits.policies import bf_ucb_lanes  # noqa: E402, F401
