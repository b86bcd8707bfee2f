"""How BF-UCB's draws compare with those of somebody who knows the means."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.protocol import implements
from fairbandits.observers.refusal import refuse
from fairbandits.policies import checks
from fairbandits.policies import initial_rounds as initial
from fairbandits.policies import merit as merits
from fairbandits.policies.bf_ucb import BFUCBState


class MeritState(NamedTuple):
    """Sums over the rounds, in rows of one group each as in BF-UCB's state.

    ``mean``, ``inverse_root`` and ``width`` are those of the policy before the round.
    """

    reference: np.ndarray
    target: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray
    width: np.ndarray
    merit_regret: np.ndarray
    outside: np.ndarray
    expected_root: np.ndarray


@dataclass(frozen=True)
class MeritRegret:
    """The distance of BF-UCB's probabilities from those of the true merits, and what bounds it.

    Parameters
    ----------
    reference : sequence of float
        True means, in [0, 1], at least one of each group with a merit above 0.

    Raises
    ------
    ValueError
        If a mean is out of its range, or a group has no merit.

    Notes
    -----
    The columns are of each arm i of a group: ``merit_regret`` sums |p_i - f(mu_i) / sum f(mu_j)|
    over the rounds that drew from the group by merit, ``outside`` counts those in which mu_i lay
    outside the confidence interval, ``expected_root`` sums p_i / sqrt(N_i).

    References
    ----------
    "Simultaneously achieving group exposure fairness and within-group meritocracy in stochastic
    bandits", AAMAS 2024, section 5.
    """

    reference: tuple[float, ...]
    probes: ClassVar[tuple[str, ...]] = ("merit_regret", "outside", "expected_root")

    def __post_init__(self):
        object.__setattr__(self, "reference", tuple(float(mu) for mu in self.reference))
        checks.means("reference", self.reference)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> MeritState:
        """Return the state before the first round."""
        if not isinstance(state, BFUCBState):
            refuse(self, policy, "BF-UCB")
        checks.length("reference", self.reference, n_arms)
        reference, target = np.zeros((2, *state.mean.shape))
        for g in range(state.served.size):
            first, last = state.start[g], state.start[g + 1]
            means = self.reference[first:last]
            reference[g, : last - first] = means
            row = [merits.merit_of(mu, state.kind, state.c) for mu in means]
            if sum(row) == 0:
                raise ValueError(
                    f"reference must have a mean above 0 in every group, group {g + 1} has none"
                )
            target[g, : last - first] = np.array(row) / sum(row)
        return MeritState(
            reference,
            target,
            state.mean.copy(),
            state.inverse_root.copy(),
            np.zeros(state.served.size),
            *np.zeros((3, *state.mean.shape)),
        )


@implements("watch", MeritState)
def _watch(observer, state, t, arm, reward):
    g = nonnegative(state.now[initial.GROUP])
    size = state.start[g + 1] - state.start[g]
    by_merit = t > state.initial_rounds
    if not (by_merit or state.sequential):
        by_merit = (t - 1) // state.served.size >= size
    if by_merit:
        mean, inverse_root, width = observer.mean[g], observer.inverse_root[g], observer.width[g]
        for k in range(size):
            p = state.policy[g, k]
            if state.summed:
                p = (mean[k] + width * inverse_root[k]) * state.last[g, 0]
            off = abs(mean[k] - observer.reference[g, k]) > width * inverse_root[k]
            observer.merit_regret[g, k] += abs(p - observer.target[g, k])
            observer.outside[g, k] += 1.0 if off else 0.0
            observer.expected_root[g, k] += p * inverse_root[k]
    own = nonnegative(state.group_of[arm])
    k = nonnegative(arm - state.start[own])
    observer.mean[own, k] = state.mean[own, k]
    observer.inverse_root[own, k] = state.inverse_root[own, k]
    observer.width[own] = state.width[own]
    observer.width[g] = state.width[g]


@implements("report", MeritState)
def _report(observer, state, out):
    for arm in range(state.group_of.size):
        g = state.group_of[arm]
        k = arm - state.start[g]
        out[0, arm] = observer.merit_regret[g, k]
        out[1, arm] = observer.outside[g, k]
        out[2, arm] = observer.expected_root[g, k]
