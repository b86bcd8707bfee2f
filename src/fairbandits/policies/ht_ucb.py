"""HT-UCB: UCB1 whose index is raised by a penalty rate while an arm is behind its quota."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import plays_in_lanes, unchanged_when_asked
from fairbandits.engine.width import Own, greatest, where
from fairbandits.policies.parameters import ArmQuotas, Policy, Rates, one_of
from fairbandits.policies.ties import best_arm
from fairbandits.policies.ucb1 import CLOCKS, Means, bonus_of, no_pulls, take


@plays_in_lanes
@unchanged_when_asked
class HTUCBState(NamedTuple):
    """The means; quotas tau_k and pulls N_k as exact numerators over `denominator`."""

    means: Means
    penalties: np.ndarray
    quotas: np.ndarray
    scaled_pulls: np.ndarray
    denominator: Own
    previous: bool
    soft: bool

    def choose(state, t, coin):
        bonus = bonus_of(state.means, max(t - 1, 1) if state.previous else t)
        arm, _ = best_arm(state, 0, len(state.quotas), t, bonus)
        return arm

    def index_of(state, k, t, bonus):
        entitled = state.quotas[k] * t
        missing = entitled - state.scaled_pulls[k]
        if state.soft:
            raised = state.penalties[k] * (greatest(0, missing) / greatest(1, entitled))
        else:
            raised = where(missing > 0, state.penalties[k], 0.0)
        return state.means.mean[k] + raised + bonus * state.means.inverse_root[k]

    def learn(state, t, arm, reward):
        state.scaled_pulls[arm] += state.denominator
        take(state.means, arm, reward)


@dataclass(frozen=True)
class HTUCB(Policy):
    """Pull the arm with the largest mean + A_k [N_k < tau_k n] + sqrt(2 log n / N_k).

    Arms never pulled go first; ties go to the lowest arm. N_k counts the rounds before n, and the
    threshold is strict, decided in integers.

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        Quota tau_k >= 0 of each arm, a fraction of the pulls, exact: 0.05, "1/3". They sum to less
        than 1.
    penalties : float or sequence of float, length n_arms
        Penalty rate A_k >= 0 of each arm, the cost of a missing pull; a single number is for all
        arms. With 0 this is `UCB1`.
    clock : {"round", "previous"}
        The n under the logarithm: the round being played, or the round before it.
    threshold : {"hard", "soft"}
        The whole penalty rate as soon as the arm is behind its quota; or the missing share of the
        quota, A_k (tau_k n - N_k)+ / (tau_k n).

    References
    ----------
    "A new look at fairness in stochastic multi-armed bandit problems", submission to ICLR 2022, Eq.
    12 (clock "round"), Algorithm 1 (clock "previous") and Section 5 (soft threshold).

    Examples
    --------
    >>> from fairbandits import Instance, run
    >>> arms = Instance((0.9, 0.8, 0.1), law="deterministic")
    >>> fair = HTUCB(("1/10", "1/5", "1/20"), penalties=1)
    >>> run(fair, arms, 1000, checkpoints=[1000]).plays[0, 0].tolist()
    [709, 241, 50]
    """

    quotas: ArmQuotas
    penalties: Rates
    clock: Annotated[str, one_of(*CLOCKS)] = "round"
    threshold: Annotated[str, one_of("hard", "soft")] = "hard"

    def start(self, n_arms: int, horizon: int) -> HTUCBState:
        checks.length("quotas", self.quotas, n_arms)
        numerators, denominator = self.quotas.over(horizon)
        return HTUCBState(
            no_pulls(n_arms),
            checks.per_arm("penalties", self.penalties, n_arms),
            np.array(numerators, np.int64),
            np.zeros(n_arms, np.int64),
            denominator,
            self.clock == "previous",
            self.threshold == "soft",
        )
