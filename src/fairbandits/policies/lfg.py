"""LFG: learning with fairness guarantee, by a virtual queue of missed pulls."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.lanes import fits, plays_in_lanes, unchanged_when_asked
from fairbandits.engine.protocol import implements
from fairbandits.engine.width import Own, greatest, least, sqrt, where
from fairbandits.policies.parameters import ArmFractions, number, one_of, per_arm
from fairbandits.policies.ties import RULES, any_of_best, better
from fairbandits.rationals import common_denominator


class LFGState(NamedTuple):
    """Queues as exact numerators over `denominator`, and statistics for the bounds."""

    pulls: np.ndarray
    sums: np.ndarray
    queue: np.ndarray
    fractions: np.ndarray
    denominator: Own
    weights: np.ndarray
    mean: np.ndarray
    inverse_root: np.ndarray  # 1 / sqrt(pulls)
    top: np.ndarray  # where the arm's bound is cut off
    index: np.ndarray
    constant: float
    cap: float
    random_ties: bool


@dataclass(frozen=True)
class LFG:
    """Pull the arm with the largest queue + eta w_i u_i, u_i an upper confidence bound.

    Parameters
    ----------
    fractions : sequence of number or str, length n_arms
        Required fraction of pulls f_i of each arm, exact: 0.05, "1/3". The oracle version of
        BanditQ's comparison has f_i = lambda_i / mu_i.
    eta : float, optional
        Weight of the reward against the queues, >= 0; default 100, or as `eta_exponent` says.
    eta_exponent : float, optional
        Gives ``eta = horizon ** eta_exponent`` in place of `eta`.
    constant : float
        c in the bound mean + sqrt(c log t / pulls); 3/2 by its authors, 2 elsewhere.
    cap : float, optional
        The bound is cut off here (1 by its authors); ``None`` leaves it as it is.
    weights : sequence of float, optional
        w_i >= 0; default all 1.
    arrivals : {"after", "before"}
        Whether the required fraction joins the queue after a round's choice, or before it, so that
        the first choice sees it already.
    ties : {"lowest", "random"}
        Which of several arms with the same index is pulled.

    Raises
    ------
    ValueError
        If a parameter is out of its range, the fractions sum to more than 1, or both `eta` and
        `eta_exponent` are given.

    Notes
    -----
    Q_i(t) = max(0, Q_i(t-1) + f_i - d_i(t-1)) for t >= 2, in integers over the fractions' common
    denominator; Q_i(1) is 0, or f_i with arrivals before the choice. An arm never pulled has
    u_i = 1.

    References
    ----------
    F. Li, J. Liu and B. Ji, "Combinatorial sleeping bandits with fairness constraints", IEEE
    Transactions on Network Science and Engineering 7 (2019), for one pull a round and no sleeping.
    """

    fractions: ArmFractions
    eta: Annotated[float | None, number(at_least=0)] = None
    eta_exponent: float | None = None
    constant: Annotated[float, number(above=0)] = 1.5
    cap: Annotated[float | None, number(above=0, null=True)] = 1.0
    weights: Annotated[tuple[float, ...] | None, per_arm(number(at_least=0))] = None
    arrivals: Annotated[str, one_of("after", "before")] = "after"
    ties: Annotated[str, one_of(*RULES)] = "lowest"
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ("queue",)

    def __post_init__(self):
        object.__setattr__(self, "fractions", tuple(self.fractions))
        numerators, denominator = common_denominator("fractions", self.fractions)
        checks.non_negative("fractions", [Fraction(n, denominator) for n in numerators])
        if sum(numerators) > denominator:
            total = f"{sum(numerators)}/{denominator}"
            raise ValueError(f"fractions must sum to at most 1, got {total}")
        if self.eta is not None and self.eta_exponent is not None:
            raise ValueError(
                f"only one of eta and eta_exponent can be given, got {self.eta!r} and "
                f"{self.eta_exponent!r}"
            )
        if self.eta_exponent is None:
            object.__setattr__(self, "eta", 100.0 if self.eta is None else self.eta)
            checks.non_negative("eta", [self.eta])
        elif not math.isfinite(self.eta_exponent):
            raise ValueError(f"eta_exponent must be finite, got {self.eta_exponent!r}")
        checks.positive("constant", self.constant)
        if self.cap is not None:
            checks.positive("cap", self.cap)
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(w) for w in self.weights))
            checks.non_negative("weights", self.weights)
        checks.one_of("arrivals", self.arrivals, ("after", "before"))
        checks.one_of("ties", self.ties, RULES)

    def start(self, n_arms: int, horizon: int) -> LFGState:
        """Return the state before the first round."""
        checks.length("fractions", self.fractions, n_arms)
        weights = (1.0,) * n_arms if self.weights is None else self.weights
        checks.length("weights", weights, n_arms)
        numerators, denominator = common_denominator("fractions", self.fractions, horizon)
        fractions = np.array(numerators, np.int64)
        return LFGState(
            np.zeros(n_arms, np.int64),
            np.zeros(n_arms),
            fractions.copy() if self.arrivals == "before" else np.zeros(n_arms, np.int64),
            fractions,
            denominator,
            self._eta(horizon) * np.array(weights),
            np.ones(n_arms),
            np.zeros(n_arms),
            np.ones(n_arms),
            np.zeros(n_arms),
            float(self.constant),
            math.inf if self.cap is None else float(self.cap),
            self.ties == "random",
        )

    def _eta(self, horizon: int) -> float:
        if self.eta_exponent is None:
            return self.eta
        if self.eta_exponent == 0.5:
            return math.sqrt(horizon)
        return float(horizon) ** self.eta_exponent


plays_in_lanes(LFGState, lambda state: fits(state.denominator))
unchanged_when_asked(LFGState)


@implements("choose", LFGState)
def _choose(state, t, coin):
    bonus = math.sqrt(state.constant * math.log(t))
    arm, best = 0, -math.inf
    for k in range(len(state.mean)):
        bound = least(state.mean[k] + bonus * state.inverse_root[k], state.top[k])
        index = state.queue[k] / state.denominator + state.weights[k] * bound
        arm, best = better(k, index, arm, best)
        if state.random_ties:
            state.index[k] = index
    return any_of_best(state.index, best, coin) if state.random_ties else arm


@implements("learn", LFGState)
def _learn(state, t, arm, reward):
    pulls = state.pulls[arm] + 1
    sums = state.sums[arm] + reward
    state.pulls[arm] = pulls
    state.sums[arm] = sums
    state.mean[arm] = sums / pulls
    state.inverse_root[arm] = 1.0 / sqrt(pulls)
    state.top[arm] = state.cap
    for k in range(len(state.queue)):
        queue = state.queue[k] + state.fractions[k]
        state.queue[k] = greatest(0, where(arm == k, queue - state.denominator, queue))


@implements("probe", LFGState)
def _probe(state, out):
    for k in range(len(state.queue)):
        out[0][k] = state.queue[k] / state.denominator
