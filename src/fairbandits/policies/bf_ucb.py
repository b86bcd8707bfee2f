"""BF-UCB: a quota of the rounds for each group, and merit within the group."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import inlined, not_inlined, plays_in_lanes
from fairbandits.engine.width import Shared, anywhere, entry, lanes_of, put_entry, ratio, where
from fairbandits.policies import bf_ucb_sums as sums
from fairbandits.policies import groups as layout
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies.parameters import (
    VERSIONS,
    Confidence,
    GroupQuotas,
    GroupSizes,
    NonNegative,
    Version,
    one_of,
)


@plays_in_lanes
class BFUCBState(NamedTuple):
    """The initial rounds with the arms, the groups, and each group's Phi, merits and width."""

    first: initial.InitialState
    groups: layout.Groups
    value: np.ndarray
    total: np.ndarray
    width: np.ndarray
    learner: int
    released_mean: bool
    plain: bool  # weights are optimistic means
    exact: bool
    from_mean: bool
    kind: int
    c: float
    lower: Shared
    upper: Shared
    point: Shared

    def choose(state, t, coin):
        group = sums.next_group(state, t, coin)
        if not initial.by_merit(state.first, t):
            return initial.fixed_arm(state.first, t, coin)
        arms = state.first.arms
        k, first, last, total = -1, 0, 0, 0.0
        for g in range(len(state.total)):
            chosen = group == g
            if anywhere(chosen):
                size = layout.size_of(arms, g)
                first = where(chosen, arms.start[g], first)
                last = where(chosen, size - 1, last)
                total = where(chosen, state.total[g], total)
                if arms.rounded:
                    k = where(chosen, merits.draw_rounded(arms, g, chosen, state.total[g], coin), k)
                else:
                    merits.expose(arms, g * arms.columns, size, state.total[g], chosen)
        if not arms.rounded:
            k = merits.draw(arms, group, last, total, coin)
        return where(k < 0, 0, first + k)

    def learn(state, t, arm, reward):
        group = sums.serve(state)
        arms = state.first.arms
        as_released = state.released_mean and t > state.first.rounds
        merits.learn_placed(arms, arms.row_of[arm], reward, as_released)
        pulled_group = state.groups.of_arm[arm]
        for g in range(len(state.total)):
            if anywhere((group == g) | (pulled_group == g)):
                if state.plain:
                    total, squares = merits.weigh(arms, g, state.width[g])
                    state.total[g] = total
                    state.value[g] = ratio(squares, total)
                else:
                    _weigh_any(state, arms, g)

    def policy_of(state, g, row, mean, inverse_root):
        arms = state.first.arms
        return arms.policy[arms.place_of[row]]

    def probe(state, out):
        arms = state.first.arms
        for arm in range(len(arms.row_of)):
            place = arms.place_of[arms.row_of[arm]]
            out[0][arm] = arms.probability[place]
            out[1][arm] = arms.policy[place]


@dataclass(frozen=True)
class BFUCB(initial.Grouped):
    """Serve the group furthest behind its quota, else the most promising; draw an arm by merit.

    In round t the group with the largest beta_g (t-1) - N_g is served if that is above 0, exactly.
    Otherwise the group of largest Phi(u) = sum f(u_i) u_i / sum f(u_i) is served. Here u_i = min(1,
    mean_i + w_g / sqrt(N_i)) are the optimistic means of its arms, with w_g = sqrt(2 log(4 N_g k_g
    / delta)). Within the group arm i is drawn with probability f(u_i) / sum f(u_j). Rewards are in
    [0, 1]. Ties go to the lowest group; N_g and N_i are those before the round. A group that is
    served while the rounded draw pulls arm 1 counts the round, as in the program. The data
    dictionary describes the probes.

    Parameters
    ----------
    groups : sequence of int
        Sizes k_g >= 1 of the groups, in the order of the arms.
    quotas : sequence of number or str, one per group
        Quota beta_g >= 0, a fraction of the rounds, exact: 0.4, "1/3". They sum to at most 1.
    delta : float, optional
        Confidence, strictly between 0 and 1; ``None`` is 1 / sqrt(T).
    version : {"paper", "released"}
        Default of the four switches below.
    initialisation : {"paper", "released"}, optional
        The first m max k_g rounds: the groups in turn, each arm once and then by merit; or group
        after group, max k_g rounds each, every arm once and then any arm uniformly.
    width : {"paper", "released"}, optional
        w_g as above; or sqrt(2 log(4 N_g k_g) / delta).
    running_mean : {"paper", "released"}, optional
        The mean of all rewards; or (N m + r) / (N + 1) with N already counting the pull.
    draw : {"paper", "released"}, optional
        A draw from the probabilities; or one by a number rounded to thousandths, where 1.000 pulls
        arm 1 whatever group was to be served (`fairbandits.policies.merit.draw_rounded`).
    box : {"upper", "exact", "uncut"}
        The optimistic means: the upper corner of the confidence box cut to [0, 1], or its point of
        largest Phi; or the upper corner without the cut, as the paper prints it.
    policy_from : {"maximiser", "mean"}
        Means in the merits: the optimistic ones; or the empirical ones, as Subroutine 2 prints.
    merit, merit_parameter : {"power", "exponential"}, float
        f(x) = x**c or exp(c x), and c >= 0; 1 is the paper's f(x) = x, and 0 gives a uniform draw.
    learner : {"optimistic", "first", "random", "least_owed"}
        Which group is served if none is behind: as above, or by a rule without learning.

    Columns
    -------
    share
        Probability of the arm within its group (of FairX-UCB: among all arms) in the last round up
        to t in which the group drew by merit. Range: 0 to 1; within a group they sum to 1, or are
        all 0 before the first such round.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Algorithm 1 and Subroutines 2 and 3.

    Examples
    --------
    >>> BFUCB((3, 2), (0.4, 0.4), version="released", width="paper").initialisation
    'released'
    """

    groups: GroupSizes
    quotas: GroupQuotas
    delta: Confidence = 0.01
    version: Version = "paper"
    initialisation: Version | None = None
    width: Version | None = None
    running_mean: Version | None = None
    draw: Version | None = None
    box: Annotated[str, one_of("upper", "exact", "uncut")] = "upper"
    policy_from: Annotated[str, one_of("maximiser", "mean")] = "maximiser"
    merit: Annotated[str, one_of(*merits.MERITS)] = "power"
    merit_parameter: NonNegative = 1.0
    learner: Annotated[str, one_of(*layout.LEARNERS)] = "optimistic"
    probes: ClassVar[tuple[str, ...]] = ("probability", "share")
    switches: ClassVar = dict.fromkeys(
        ("initialisation", "width", "running_mean", "draw"), VERSIONS
    )

    @property
    def _plain(self) -> bool:
        """Whether the weights of the arms are their optimistic means."""
        linear = (self.merit, self.merit_parameter) == ("power", 1)
        return linear and self.box != "exact" and self.policy_from == "maximiser"

    def start(self, n_arms: int, horizon: int) -> BFUCBState | sums.BFUCBState:
        if self._plain and self.box == "uncut" and self.draw == "paper":
            return sums.begin(self._common(n_arms, horizon))
        return self.start_weighing(n_arms, horizon)

    def start_weighing(self, n_arms: int, horizon: int) -> BFUCBState:
        """Return the state before the first round in which every arm has a weight."""
        common = self._common(n_arms, horizon)
        return BFUCBState(
            *common,
            self._plain,
            self.box == "exact",
            self.policy_from == "mean",
            merits.MERITS[self.merit],
            float(self.merit_parameter),
            *np.zeros((3, common[0].arms.columns)),
        )

    def _common(self, n_arms: int, horizon: int) -> tuple[Any, ...]:
        """Return the fields that both kinds of state begin with."""
        groups = layout.begin(self.groups, self.quotas, n_arms, horizon)
        return (
            self._first(
                horizon,
                self.width == "released",
                self.draw == "released",
                self.initialisation == "released",
            ),
            groups,
            *np.zeros((3, len(self.groups))),
            layout.LEARNERS[self.learner],
            self.running_mean == "released",
        )


@not_inlined
def _weigh_any(state, arms, g):
    """Do the same as `merit.weigh` for any merit function, and for the maximum over the box."""
    size, row = layout.size_of(arms, g), g * arms.columns
    lower, upper, point = state.lower, state.upper, state.point
    for i in range(lanes_of(arms.mean)):
        width = entry(state.width, g, i)
        for k in range(size):
            mean, root = entry(arms.mean, row + k, i), entry(arms.inverse_root, row + k, i)
            lower[k] = min(1.0, max(0.0, mean - width * root))
            upper[k] = min(arms.cap, max(0.0, mean + width * root))
            point[k] = upper[k]
        if state.exact:
            value = merits.best_vertex(lower, upper, size, state.kind, state.c, point)
        else:
            value = merits.fair_value(point, size, state.kind, state.c)
        any_merit = False
        for k in range(size):
            x = point[k]
            if state.from_mean:
                x = min(1.0, max(0.0, entry(arms.mean, row + k, i)))
            weight = merits.merit_of(x, state.kind, state.c)
            any_merit = any_merit or weight != 0.0
            _put_weight(arms, row + k, i, weight)
        if not any_merit:  # no merit at all: all arms alike
            for k in range(size):
                _put_weight(arms, row + k, i, 1.0)
        put_entry(state.value, g, i, value)
    state.total[g] = merits.sum_weights(arms, g)


@inlined
def _put_weight(arms, row, i, weight):
    put_entry(arms.weight, row, i, weight)
    put_entry(arms.placed_weight, int(entry(arms.place_of, row, i)), i, weight)
