"""RewardFairUCB: explore first, then the best distribution that upper limits call fair."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements
from fairbandits.policies.guarantees import Guarantees, known
from fairbandits.policies.parameters import Policy
from fairbandits.policies.simplex import sample


class RewardFairUCBState(NamedTuple):
    """Pulls, reward sums and upper limits; and the distribution of the round."""

    pulls: np.ndarray
    sums: np.ndarray
    upper: np.ndarray
    targets: np.ndarray
    x: np.ndarray
    width: float
    exploring: int


@dataclass(frozen=True)
class RewardFairUCB(Policy):
    """Pull the arms in turn, then solve the fair linear programme with upper limits each round.

    Parameters
    ----------
    targets : sequence of float, length n_arms, optional
        Guaranteed reward rate lambda_i of each arm, in [0, 1]; none by default.

    Notes
    -----
    The published policy is for several agents, who each get a reward of their own from the arm
    pulled, and a fraction c of the largest mean reward that they could have. With the horizon T,
    which it needs, n agents and k arms: ceil(sqrt(T)) pulls of each arm in turn; then the limits of
    every mean are mean -+ sqrt(log(2 n k (T + 1)) / N), cut to [0, 1], and the distribution
    maximises the agents' sum of upper limits, such that each agent's is at least c times its
    largest lower limit.

    With one agent, which is this policy without targets, the arm of the largest upper limit is the
    solution whatever c is. With targets each arm has an agent of its own, to whom the other arms
    pay nothing, and lambda_i stands in place of c times the lower limit: arm i has the probability
    lambda_i / U_i, and the arm of the largest U_i what is left. That form is ours. Where those
    probabilities sum to more than 1, which the programme calls infeasible, they are divided by
    their sum. Ties go to the lowest arm; U_i is never below lambda_i.

    References
    ----------
    P. Manupriya, Himanshu, S. Jagarlapudi and G. Ghalme, "Multi-agent multi-armed bandits with
    minimum reward guarantee fairness", AAMAS 2025, with the widths of its published program.
    """

    targets: Guarantees | None = None

    def start(self, n_arms: int, horizon: int) -> RewardFairUCBState:
        rounds = known(horizon)
        targets = (0.0,) * n_arms if self.targets is None else self.targets
        checks.length("targets", targets, n_arms)
        agents = 1 if self.targets is None else n_arms
        return RewardFairUCBState(
            np.zeros(n_arms, np.int64),
            np.zeros(n_arms),
            np.ones(n_arms),
            np.array(targets),
            np.zeros(n_arms),
            math.sqrt(math.log(2 * agents * n_arms * (rounds + 1))),
            n_arms * (math.isqrt(rounds - 1) + 1),
        )


@implements("choose", RewardFairUCBState)
def _choose(state, t, coin):
    x, upper = state.x, state.upper
    if t <= state.exploring:
        return (t - 1) % x.size
    best = 0
    total = 0.0
    for k in range(x.size):
        x[k] = state.targets[k] / upper[k] if state.targets[k] > 0.0 else 0.0
        total += x[k]
        if upper[k] > upper[best]:
            best = k
    if total > 1.0:
        for k in range(x.size):
            x[k] /= total
    else:
        x[best] += 1.0 - total
    return sample(x, coin)


@implements("learn", RewardFairUCBState)
def _learn(state, t, arm, reward):
    state.pulls[arm] += 1
    state.sums[arm] += reward
    mean = state.sums[arm] / state.pulls[arm]
    limit = min(max(mean + state.width / math.sqrt(state.pulls[arm]), 0.0), 1.0)
    state.upper[arm] = max(limit, state.targets[arm])
