"""Policies that know the means and keep the groups' quotas: the controls of BF-UCB."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements, inlined
from fairbandits.policies import groups as layout
from fairbandits.policies import merit as merits
from fairbandits.policies.parameters import (
    GroupQuotas,
    GroupSizes,
    Means,
    NonNegative,
    Policy,
    one_of,
)
from fairbandits.policies.simplex import sample
from fairbandits.policies.ties import better


class GroupOracleState(NamedTuple):
    """The groups, and the distribution in each, one row a group."""

    groups: layout.Groups
    shares: np.ndarray
    probability: np.ndarray
    best_in: np.ndarray
    favourite: int
    best_arm: int
    floors: bool
    best: bool


@dataclass(frozen=True)
class GroupOracle(Policy):
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

    Notes
    -----
    The best group has the largest R*_g = sum f(mu_i) mu_i / sum f(mu_i), whatever is drawn within.
    Groups are compared in exact integers; ties go to the lowest group. There are no initial rounds.
    The probes are those of `BFUCB`; ``share`` is 0 before the group is first served.

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
    quotas: GroupQuotas
    means: Means
    within: Annotated[str, one_of("merit", "uniform", "best")] = "merit"
    schedule: Annotated[str, one_of("deficit", "floor")] = "deficit"
    merit: Annotated[str, one_of(*merits.MERITS)] = "power"
    merit_parameter: NonNegative = 1.0
    probes: ClassVar[tuple[str, ...]] = ("probability", "share")

    def __post_init__(self):
        super().__post_init__()
        layout.check_quotas(self.quotas, self.groups)

    def start(self, n_arms: int, horizon: int) -> GroupOracleState:
        groups = layout.begin(self.groups, self.quotas, n_arms, horizon)
        checks.length("means", self.means, n_arms)
        means = np.array(self.means)
        kind, c = merits.MERITS[self.merit], float(self.merit_parameter)
        shares = np.zeros((len(self.groups), max(self.groups)))
        values, best_in = [], []
        for g, size in enumerate(self.groups):
            own = means[groups.start[g] : groups.start[g + 1]]
            masses = np.array([merits.merit_of(mu, kind, c) for mu in own.tolist()])
            if masses.sum() == 0.0:  # no merit at all: all arms alike
                masses = np.ones(size)
            fair = masses / masses.sum()
            values.append(float((fair * own).sum()))
            best_in.append(int(groups.start[g] + own.argmax()))
            shares[g, :size] = {"merit": fair, "uniform": np.full(size, 1 / size)}.get(
                self.within, np.eye(size)[own.argmax()]
            )
        return GroupOracleState(
            groups=groups,
            shares=shares,
            probability=np.zeros(shares.shape),
            best_in=np.array(best_in),
            favourite=int(np.argmax(values)),
            best_arm=int(means.argmax()),
            floors=self.schedule == "floor",
            best=self.within == "best",
        )


@inlined
def _most_short(groups, t):
    """Return the lowest group of largest floor(beta_g t) - N_g if that is above 0, else -1."""
    group, worst = -1, 0
    for g in range(len(groups.served)):
        short = groups.quotas[g] * t // groups.denominator - groups.served[g]
        group, worst = better(g, short, group, worst)
    return group


@implements("choose", GroupOracleState)
def _choose(state, t, coin):
    groups = state.groups
    g = _most_short(groups, t) if state.floors else layout.most_owed(groups, t)
    if state.best:
        arm = state.best_in[g] if g >= 0 else state.best_arm
        g = groups.of_arm[arm]
        groups.now[0] = g
        state.probability[g, arm - groups.start[g]] += 1.0
        return arm
    if g < 0:
        g = state.favourite
    groups.now[0] = g
    size = layout.size_of(groups, g)
    shares, probability = state.shares[g], state.probability[g]
    for k in range(size):
        probability[k] += shares[k]
    return groups.start[g] + sample(shares[:size], coin)


@implements("learn", GroupOracleState)
def _learn(state, t, arm, reward):
    state.groups.served[state.groups.now[0]] += 1


@implements("probe", GroupOracleState)
def _probe(state, out):
    groups = state.groups
    for arm in range(len(groups.of_arm)):
        g = groups.of_arm[arm]
        out[0, arm] = state.probability[g, arm - groups.start[g]]
        out[1, arm] = state.shares[g, arm - groups.start[g]] if groups.served[g] > 0 else 0.0
