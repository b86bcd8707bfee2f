"""LFG: learning with fairness guarantee, by a virtual queue of missing pulls."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import plays_in_lanes, unchanged_when_asked
from fairbandits.engine.width import Own, greatest, least, where
from fairbandits.policies.parameters import (
    ArmFractions,
    Exponent,
    NonNegative,
    Policy,
    Positive,
    one_of,
    power,
)
from fairbandits.policies.ties import better
from fairbandits.policies.ucb1 import Means, log_of, no_pulls, take


@plays_in_lanes
@unchanged_when_asked
class LFGState(NamedTuple):
    """The means; queues as exact numerators over `denominator`; where each bound is cut off."""

    means: Means
    queue: np.ndarray
    fractions: np.ndarray
    denominator: Own
    top: np.ndarray
    eta: float
    constant: float
    cap: float

    def choose(state, t, coin):
        means = state.means
        bonus = math.sqrt(state.constant * log_of(means, t))
        arm, best = 0, -math.inf
        for k in range(len(means.mean)):
            bound = least(means.mean[k] + bonus * means.inverse_root[k], state.top[k])
            index = state.queue[k] / state.denominator + state.eta * bound
            arm, best = better(k, index, arm, best)
        return arm

    def learn(state, t, arm, reward):
        take(state.means, arm, reward)
        state.top[arm] = state.cap
        for k in range(len(state.queue)):
            queue = state.queue[k] + state.fractions[k]
            state.queue[k] = greatest(0, where(arm == k, queue - state.denominator, queue))

    def probe(state, out):
        for k in range(len(state.queue)):
            out[0][k] = state.queue[k] / state.denominator


@dataclass(frozen=True)
class LFG(Policy):
    """Pull the arm with the largest queue + eta u_i, where u_i is an upper confidence bound.

    Q_i(t) = max(0, Q_i(t-1) + f_i - d_i(t-1)) for t >= 2, exactly, where d_i is 1 in a round with a
    pull of the arm. Q_i(1) is 0, or f_i with arrivals before the choice. Ties go to the lowest arm.

    Parameters
    ----------
    fractions : sequence of number or str, length n_arms
        Quota f_i of each arm, a fraction of the pulls, exact: 0.05, "1/3".
    eta, eta_exponent : float, optional
        Weight >= 0 of the reward against the queues: default 100, or ``horizon ** eta_exponent``.
    constant : float
        c in the bound mean + sqrt(c log t / pulls); its authors have 3/2, later papers 2.
    cap : float, optional
        Value at which the bound is cut off (its authors have 1); ``None`` for no cut.
    unpulled : float, optional
        u_i of an arm never pulled (its authors have 1); ``None`` for infinity.
    arrivals : {"after", "before"}
        Whether the quota is added to the queue after a round's choice, or before it.

    References
    ----------
    F. Li, J. Liu and B. Ji, "Combinatorial sleeping bandits with fairness constraints", IEEE
    Transactions on Network Science and Engineering 7 (2019), for one pull a round and no sleeping.
    """

    fractions: ArmFractions
    eta: NonNegative | None = None
    eta_exponent: Exponent | None = None
    constant: Positive = 1.5
    cap: Positive | None = 1.0
    unpulled: Positive | None = 1.0
    arrivals: Annotated[str, one_of("after", "before")] = "after"
    probes: ClassVar[tuple[str, ...]] = ("queue",)

    def __post_init__(self):
        super().__post_init__()
        if self.eta is not None and self.eta_exponent is not None:
            raise ValueError(
                f"only one of eta and eta_exponent can be given, got {self.eta!r} and "
                f"{self.eta_exponent!r}"
            )
        if self.eta_exponent is None and self.eta is None:
            object.__setattr__(self, "eta", 100.0)

    def start(self, n_arms: int, horizon: int) -> LFGState:
        checks.length("fractions", self.fractions, n_arms)
        numerators, denominator = self.fractions.over(horizon, "fractions")
        fractions = np.array(numerators, np.int64)
        eta = self.eta if self.eta_exponent is None else power(horizon, self.eta_exponent)
        # any positive weight of an infinite bound is infinite, and none has no bound
        unpulled = (math.inf if eta else 0.0) if self.unpulled is None else float(self.unpulled)
        bounds = np.full(n_arms, unpulled)
        return LFGState(
            no_pulls(n_arms)._replace(mean=bounds),
            fractions.copy() if self.arrivals == "before" else np.zeros(n_arms, np.int64),
            fractions,
            denominator,
            bounds.copy(),
            float(eta),
            float(self.constant),
            math.inf if self.cap is None else float(self.cap),
        )
