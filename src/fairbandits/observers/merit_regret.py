"""BF-UCB's draws compared with those of a policy that knows the means."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import verb
from fairbandits.engine.width import absolute, anywhere, assign, where
from fairbandits.observers.common import Observer, refuse, reports_columns
from fairbandits.policies import bf_ucb, bf_ucb_sums
from fairbandits.policies import merit as merits
from fairbandits.policies.groups import size_of
from fairbandits.policies.initial_rounds import by_merit
from fairbandits.policies.parameters import Means

policy_of = verb("policy_of")


@reports_columns
class MeritState(NamedTuple):
    """The columns; and by rows as in the state of BF-UCB, what is compared."""

    columns: np.ndarray
    reference: np.ndarray
    target: np.ndarray
    # those of the policy before the round
    mean: np.ndarray
    inverse_root: np.ndarray
    width: np.ndarray

    def watch(observer, state, t, arm, reward):
        arms, columns = state.first.arms, observer.columns
        if by_merit(state.first, t):
            for g in range(len(state.width)):
                chosen = state.groups.now[0] == g
                if anywhere(chosen):
                    for k in range(size_of(arms, g)):
                        row, column = g * arms.columns + k, arms.start[g] + k
                        mean, root = observer.mean[row], observer.inverse_root[row]
                        p = policy_of(state, g, row, mean, root)
                        off = absolute(mean - observer.reference[row])
                        outside = chosen & (off > observer.width[g] * root)
                        distance = absolute(p - observer.target[row])
                        columns[0][column] += where(chosen, distance, 0.0)
                        columns[1][column] += where(outside, 1.0, 0.0)
                        columns[2][column] += where(chosen, p * root, 0.0)
        row = arms.row_of[arm]
        observer.mean[row] = arms.mean[row]
        observer.inverse_root[row] = arms.inverse_root[row]
        assign(observer.width, state.width)


@dataclass(frozen=True)
class MeritRegret(Observer):
    """The distance of BF-UCB's probabilities from those of the true merits, and its bound.

    `reference` are the true means, in [0, 1], at least one of each group with a merit above 0
    (section 5 of BF-UCB's paper).

    Columns
    -------
    merit_regret
        Sum of |p_k - p*_k| over the rounds up to t that drew from the arm's group by merit: its
        probability minus the probability by its true merit. Range: 0 to t.
    outside : rounds
        Number of those rounds in which the arm's true mean was outside its confidence interval.
        Range: whole number, 0 to t.
    expected_root
        Sum of p_k / sqrt(N_k) over the rounds up to t that drew from the arm's group by merit.
        Range: at least 0.
    """

    reference: Means
    probes: ClassVar[tuple[str, ...]] = ("merit_regret", "outside", "expected_root")

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> MeritState:
        if not isinstance(state, bf_ucb.BFUCBState | bf_ucb_sums.BFUCBState):
            refuse(self, policy, "BF-UCB")
        checks.length("reference", self.reference, n_arms)
        arms = state.first.arms
        reference, target = np.zeros((2, arms.mean.size))
        reference[arms.row_of] = self.reference
        kind, c = merits.MERITS[policy.merit], float(policy.merit_parameter)
        for g in range(state.width.size):
            members = slice(arms.start[g], arms.start[g + 1])
            masses = np.array([merits.merit_of(mu, kind, c) for mu in self.reference[members]])
            if not masses.any():
                raise ValueError(
                    f"reference must have a mean above 0 in every group, group {g + 1} has none"
                )
            target[arms.row_of[members]] = masses / sum(masses)  # in order, whatever the size
        before = arms.mean.copy(), arms.inverse_root.copy(), np.zeros(state.width.size)
        return MeritState(np.zeros((3, n_arms)), reference, target, *before)
