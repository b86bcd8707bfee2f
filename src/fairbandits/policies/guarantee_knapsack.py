"""Guaranteed reward rates as a knapsack: exponential weights for arms and for constraints."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements, inlined
from fairbandits.policies.guarantees import Guarantees, known
from fairbandits.policies.parameters import Policy
from fairbandits.policies.simplex import sample


class GuaranteeKnapsackState(NamedTuple):
    """Logarithms and values of both sorts of weights, and the constants of the formulas."""

    x: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    protected: np.ndarray
    prices: np.ndarray
    price_weights: np.ndarray
    exploration: float
    step: float
    bonus: float
    price_step: float
    weight: float
    range: float
    least: float


@dataclass(frozen=True)
class GuaranteeKnapsack(Policy):
    """Play a learner of arms against a learner of prices, on the Lagrangian of the guarantees.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        As in `GuaranteeKLUCB`.

    Notes
    -----
    With N arms, horizon T, which it needs, and the least positive target m, a round's constraints
    are g_i = m (r_i / lambda_i - 1), where r_i is 0 for the arms not pulled. Hedge with the rate
    sqrt(log N / T) has prices q_i of them, which grow where g_i is negative. The arms' learner is
    EXP3.P with delta = 1 / T, as its authors tune it, and the gain
    (r + w sum q_i g_i) / (w sum (1 / lambda_i - 1) + 1), w = sqrt(T / sqrt(N T log(N T))), which
    has the prices after their step. Without guarantees it is EXP3.P.

    References
    ----------
    As in `GuaranteeKLUCB`, where it is called Lagrangian bandits with knapsacks, after
    N. Immorlica, K. A. Sankararaman, R. Schapire and A. Slivkins, "Adversarial bandits with
    knapsacks", FOCS 2019. EXP3.P: P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The
    nonstochastic multiarmed bandit problem", SIAM Journal on Computing 32 (2002), section 6.
    """

    targets: Guarantees

    def start(self, n_arms: int, horizon: int) -> GuaranteeKnapsackState:
        checks.length("targets", self.targets, n_arms)
        n, rounds = n_arms, known(horizon)
        targets = np.array(self.targets)
        protected = np.flatnonzero(targets > 0)
        wanted = targets[protected].tolist()
        exploration = min(0.6, 2 * math.sqrt(0.6 * n * math.log(n) / rounds))
        step = exploration / (3 * n)
        weight = math.sqrt(rounds / math.sqrt(n * rounds * math.log(max(n * rounds, 2))))
        return GuaranteeKnapsackState(
            np.full(n, 1.0 / n),
            np.zeros(n),
            targets,
            protected,
            np.zeros(n),
            np.zeros(n),
            exploration,
            step,
            step * 2 * math.sqrt(math.log(n * rounds**2)) / math.sqrt(n * rounds),
            math.sqrt(math.log(n) / rounds),
            weight,
            weight * sum(1 / target - 1 for target in wanted) + 1,
            min(wanted, default=0.0),
        )


@inlined
def _price(state, arm, reward):
    """Let the prices learn from a reward; return the constraints' cost at the new ones."""
    prices, weights = state.prices, state.price_weights
    highest = -math.inf
    for j in range(state.protected.size):
        k = state.protected[j]
        met = (reward / state.targets[k] if k == arm else 0.0) - 1.0
        weights[k] -= state.price_step * (state.least * met)
        highest = max(highest, weights[k])
    total = 0.0
    value = 0.0
    for j in range(state.protected.size):
        k = state.protected[j]
        met = (reward / state.targets[k] if k == arm else 0.0) - 1.0
        prices[k] = math.exp(weights[k] - highest)
        total += prices[k]
        value += prices[k] * (state.least * met)
    return value / total if total > 0.0 else 0.0


@implements("choose", GuaranteeKnapsackState)
def _choose(state, t, coin):
    return sample(state.x, coin)


@implements("learn", GuaranteeKnapsackState)
def _learn(state, t, arm, reward):
    x, weights = state.x, state.weights
    gain = (reward + state.weight * _price(state, arm, reward)) / state.range
    highest = -math.inf
    for k in range(x.size):
        weights[k] += state.bonus / x[k]
        if k == arm:
            weights[k] += state.step * gain / x[k]
        highest = max(highest, weights[k])
    total = 0.0
    for k in range(x.size):
        x[k] = math.exp(weights[k] - highest)
        total += x[k]
    for k in range(x.size):
        x[k] = (1.0 - state.exploration) * (x[k] / total) + state.exploration / x.size
