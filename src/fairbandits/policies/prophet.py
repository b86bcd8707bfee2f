"""The prophet: it knows the means and divides the horizon with the least penalised loss."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements
from fairbandits.policies.parameters import ArmNumbers, ArmQuotas, Policy, Rates
from fairbandits.rationals import rational


class ProphetState(NamedTuple):
    """Planned pulls, and plan * t - N * horizon of each arm before the choice of round t."""

    plan: np.ndarray
    due: np.ndarray
    horizon: int


@dataclass(frozen=True)
class Prophet(Policy):
    """Pull every arm as often as the best division of the horizon into whole pulls says.

    Parameters
    ----------
    means : sequence of number or str, length n_arms
        The true mean rewards mu_k, exact.
    quotas : sequence of number or str, length n_arms
        Required fraction of pulls tau_k >= 0 of each arm, exact. They sum to less than 1.
    penalties : float or sequence of float, length n_arms
        Penalty rate A_k >= 0 of each arm; one number is for all arms.

    Notes
    -----
    No policy has less penalised regret at the horizon, and that regret is below the sum of the
    A_k of arms with A_k >= Delta_k, whatever the horizon: it is what rounding costs. Round t is
    for the arm furthest behind its plan, by plan t / T - N, ties to the lowest index, so that the
    shares are about right in every round and exact in the last one.

    References
    ----------
    "A new look at fairness in stochastic multi-armed bandit problems", submission to ICLR 2022,
    Eqs 7-8.

    Examples
    --------
    >>> Prophet((0.9, 0.8, 0.1), quotas=("1/10", "1/5", "1/20"), penalties=0.5).plan(107)
    array([85, 22,  0])
    """

    means: ArmNumbers
    quotas: ArmQuotas
    penalties: Rates

    def __post_init__(self):
        super().__post_init__()
        checks.length("means", self.means, len(self.quotas))

    def plan(self, horizon: int) -> np.ndarray:
        """Return the numbers of pulls that lose least, shape (n_arms,), int64.

        An arm's loss Delta N + A (tau T - N)+ is convex in N, so pulls are best handed out by their
        gain over one of the best arm: A - Delta while the quota lacks a whole pull, then A times
        the lacking part less Delta. The rest goes to the lowest of the best arms.
        """
        means = [rational("means", mean) for mean in self.means]
        rates = checks.per_arm("penalties", self.penalties, len(means))
        numerators, denominator = self.quotas.numerators, self.quotas.denominator
        best = max(means)
        offers = []
        for k, (mean, rate, numerator) in enumerate(zip(means, rates, numerators, strict=True)):
            gap, penalty = best - mean, rational("penalties", rate)
            whole, rest = divmod(numerator * horizon, denominator)
            if penalty >= gap:
                offers.append((penalty - gap, k, whole))
            if penalty * rest > gap * denominator:
                offers.append((penalty * rest / denominator - gap, k, 1))
        plan = np.zeros(len(means), np.int64)
        left = horizon
        for _, k, pulls in sorted(offers, key=lambda offer: offer[0], reverse=True):
            plan[k] += min(pulls, left)
            left -= min(pulls, left)
        plan[means.index(best)] += left
        return plan

    def start(self, n_arms: int, horizon: int) -> ProphetState:
        """Return the state before the first round."""
        checks.length("quotas", self.quotas, n_arms)
        plan = self.plan(horizon)
        return ProphetState(plan, plan.copy(), horizon)


@implements("choose", ProphetState)
def _choose(state, t, coin):
    arm = 0
    for k in range(1, state.due.size):
        if state.due[k] > state.due[arm]:
            arm = k
    return arm


@implements("learn", ProphetState)
def _learn(state, t, arm, reward):
    for k in range(state.due.size):
        state.due[k] += state.plan[k]
    state.due[arm] -= state.horizon
