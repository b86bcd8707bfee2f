"""Policies that know the means and keep the groups' quotas: the controls of BF-UCB."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements
from fairbandits.policies import groups as layout
from fairbandits.policies import merit as merits
from fairbandits.policies.parameters import GroupFractions, GroupSizes, Means, number, one_of
from fairbandits.policies.simplex import sample


class GroupOracleState(NamedTuple):
    """Quotas and rounds of the groups, and the distribution in each, one row a group."""

    start: np.ndarray
    quotas: np.ndarray
    served: np.ndarray
    shares: np.ndarray
    probability: np.ndarray
    denominator: int
    favourite: int
    floors: bool
    best: bool
    best_arm: int
    best_in: np.ndarray
    now: np.ndarray


@dataclass(frozen=True)
class GroupOracle:
    """Serve the group furthest behind its quota, else the best one; draw from a fixed distribution.

    Parameters
    ----------
    groups : sequence of int
        Sizes k_g >= 1 of the groups, in the order of the arms.
    quotas : sequence of number or str, one per group
        Required fraction of rounds beta_g >= 0, exact, with a sum of at most 1.
    means : sequence of float, length n_arms
        True means, in [0, 1].
    within : {"merit", "uniform", "best"}
        The fair policy f(mu_i) / sum f(mu_j) of the group; any of its arms; or its best arm, and
        the best of all arms if no group is behind (GEF's optimum).
    schedule : {"deficit", "floor"}
        A group is behind if beta_g (t-1) - N_g > 0, as for the policies that learn; or only if
        floor(beta_g t) > N_g, which keeps a group other than the best one at exactly
        floor(beta_g t) whenever one pull a round allows that, as it does for two groups.
    merit, merit_parameter
        As in `BFUCB`.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    The best group has the largest R*_g = sum f(mu_i) mu_i / sum f(mu_i), whatever is drawn within.
    Groups are compared in exact integers; ties go to the lowest group. There are no initial rounds.
    The probe ``probability`` sums each arm's probabilities.

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, Observation 1 and Eq. 1.

    Examples
    --------
    >>> GroupOracle((1, 1), (0, 0), (0.25, 0.75)).start(2, 10).favourite
    1
    """

    groups: GroupSizes
    quotas: GroupFractions
    means: Means
    within: Annotated[str, one_of("merit", "uniform", "best")] = "merit"
    schedule: Annotated[str, one_of("deficit", "floor")] = "deficit"
    merit: Annotated[str, one_of(*merits.MERITS)] = "power"
    merit_parameter: Annotated[float, number(at_least=0)] = 1.0
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ("probability",)

    def __post_init__(self):
        object.__setattr__(self, "groups", layout.check_groups(self.groups))
        object.__setattr__(self, "quotas", tuple(self.quotas))
        layout.group_quotas(self.quotas, len(self.groups))
        object.__setattr__(self, "means", tuple(float(mu) for mu in self.means))
        checks.means("means", self.means)
        checks.one_of("within", self.within, ("merit", "uniform", "best"))
        checks.one_of("schedule", self.schedule, ("deficit", "floor"))
        checks.one_of("merit", self.merit, tuple(merits.MERITS))
        checks.merit_parameter(self.merit_parameter)

    def start(self, n_arms: int, horizon: int) -> GroupOracleState:
        """Return the state before the first round."""
        layout.check_layout(self.groups, n_arms)
        checks.length("means", self.means, n_arms)
        numerators, denominator = layout.group_quotas(self.quotas, len(self.groups), horizon)
        start = layout.starts(self.groups)
        means = np.array(self.means)
        kind, c = merits.MERITS[self.merit], float(self.merit_parameter)
        shares = np.zeros((len(self.groups), max(self.groups)))
        values, best_in = [], []
        for g, size in enumerate(self.groups):
            own = means[start[g] : start[g + 1]]
            masses = np.array([merits.merit_of(mu, kind, c) for mu in own.tolist()])
            if masses.sum() == 0.0:  # no merit at all: all arms alike
                masses = np.ones(size)
            fair = masses / masses.sum()
            values.append(float((fair * own).sum()))
            best_in.append(int(start[g] + own.argmax()))
            shares[g, :size] = {"merit": fair, "uniform": np.full(size, 1 / size)}.get(
                self.within, np.eye(size)[own.argmax()]
            )
        return GroupOracleState(
            start=start,
            quotas=np.array(numerators, np.int64),
            served=np.zeros(len(self.groups), np.int64),
            shares=shares,
            probability=np.zeros(shares.shape),
            denominator=denominator,
            favourite=int(np.argmax(values)),
            floors=self.schedule == "floor",
            best=self.within == "best",
            best_arm=int(means.argmax()),
            best_in=np.array(best_in),
            now=np.zeros(1, np.int64),
        )


@implements("choose", GroupOracleState)
def _choose(state, t, coin):
    if state.floors:
        g = -1
        worst = 0
        for j in range(state.quotas.size):
            short = state.quotas[j] * t // state.denominator - state.served[j]
            if short > worst:
                worst = short
                g = j
    else:
        g = layout.most_owed(state.quotas, state.denominator, state.served, t)
    if state.best:
        arm = state.best_in[g] if g >= 0 else state.best_arm
        g = 0
        while state.start[g + 1] <= arm:
            g += 1
        state.now[0] = g
        state.probability[g, arm - state.start[g]] += 1.0
        return arm
    if g < 0:
        g = state.favourite
    state.now[0] = g
    size = state.start[g + 1] - state.start[g]
    shares, probability = state.shares[g], state.probability[g]
    for k in range(size):
        probability[k] += shares[k]
    return state.start[g] + sample(shares[:size], coin)


@implements("learn", GroupOracleState)
def _learn(state, t, arm, reward):
    state.served[state.now[0]] += 1


@implements("probe", GroupOracleState)
def _probe(state, out):
    for g in range(state.served.size):
        for arm in range(state.start[g], state.start[g + 1]):
            out[0, arm] = state.probability[g, arm - state.start[g]]
