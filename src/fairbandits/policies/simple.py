"""Policies that do not learn: extreme cases for a guarantee, and benchmarks."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.streams import unit
from fairbandits.policies.parameters import (
    ArmNumbers,
    ArmQuotas,
    Policy,
    Rates,
    exact,
    not_zero,
    several,
    whole,
)
from fairbandits.policies.simplex import choose_from_x
from fairbandits.rationals import rational


def learn_nothing(state, t, arm, reward):
    pass


class UniformState(NamedTuple):
    n_arms: int

    def choose(state, t, coin):
        return int(unit(coin) * state.n_arms)

    learn = learn_nothing


class StaticState(NamedTuple):
    x: np.ndarray

    choose = choose_from_x
    learn = learn_nothing


class DeficitState(NamedTuple):
    """The deficits r_i (t-1) - N_i as exact numerators; `denominator` can be negative."""

    quotas: np.ndarray
    deficit: np.ndarray
    denominator: int

    def choose(state, t, coin):
        arm = 0
        for k in range(1, state.deficit.size):
            if state.deficit[k] < state.deficit[arm]:
                arm = k
        return arm

    def learn(state, t, arm, reward):
        for k in range(state.deficit.size):
            state.deficit[k] += state.quotas[k]
        state.deficit[arm] -= state.denominator


@dataclass(frozen=True)
class Uniform(Policy):
    """Pull an arm drawn uniformly."""

    def start(self, n_arms: int, horizon: int) -> UniformState:
        return UniformState(n_arms)


@dataclass(frozen=True)
class Constant(Policy):
    """Always pull the same arm.

    Parameters
    ----------
    arm : int
        Number of the arm from 1, or from the end as -1, -2, ...
    """

    arm: Annotated[int, not_zero(whole(), "a whole number")] = 1

    def start(self, n_arms: int, horizon: int) -> StaticState:
        if abs(self.arm) > n_arms:
            raise ValueError(f"arm must lie in 1..{n_arms} or -{n_arms}..-1, got {self.arm}")
        arm = self.arm - 1 if self.arm > 0 else n_arms + self.arm
        return StaticState((np.arange(n_arms) == arm).astype(float))


@dataclass(frozen=True)
class Static(Policy):
    """Sample every round's arm from the same distribution.

    Parameters
    ----------
    distribution : sequence of number or str, length n_arms
        Probabilities, exact: 0.25, "1/6"; they sum to 1.
    """

    distribution: Annotated[tuple, several(exact(at_least=0), "arm", None)]

    def __post_init__(self):
        super().__post_init__()
        total = sum(self._fractions)
        if total != 1:
            raise ValueError(f"distribution must sum to 1, got {total}")

    @property
    def _fractions(self) -> list[Fraction]:
        return [rational("distribution", p) for p in self.distribution]

    def start(self, n_arms: int, horizon: int) -> StaticState:
        checks.length("distribution", self.distribution, n_arms)
        return StaticState(np.array([float(p) for p in self._fractions]))


@dataclass(frozen=True)
class SmallestDeficit(Policy):
    """Pull the arm that is furthest ahead of its quota: the adversary of Fair-Learn.

    In round t the deficit is r_i (t-1) - N_i(t-1); ties go to the lowest index.

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        Quotas r_i >= 0, exact, with a sum below 1.
    """

    quotas: ArmQuotas

    def start(self, n_arms: int, horizon: int) -> DeficitState:
        checks.length("quotas", self.quotas, n_arms)
        numerators, denominator = self.quotas.over(horizon)
        quotas = np.array(numerators, np.int64)
        return DeficitState(quotas, np.zeros(n_arms, np.int64), denominator)


@dataclass(frozen=True)
class Prophet(Policy):
    """Pull each arm as often as in the best division of the horizon into whole pulls.

    It knows the means; no policy has less penalised regret at the horizon. Its regret, the cost of
    rounding, is below the sum of the A_k of arms with A_k >= Delta_k (Eqs 7-8 of the paper on
    `HTUCB`). Round t is for the arm furthest behind its plan, by plan t / T - N; ties go to the
    lowest index.

    Parameters
    ----------
    means : sequence of number or str, length n_arms
        The true mean rewards mu_k, exact.
    quotas, penalties
        As in `HTUCB`.

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
        """Return the numbers of pulls with the least loss, shape (n_arms,), int64."""
        # an arm's loss Delta N + A (tau T - N)+ is convex in N: pulls go by their gain over the
        # best arm's, A - Delta while a whole pull is missing, then A times the missing part - Delta
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

    def start(self, n_arms: int, horizon: int) -> DeficitState:
        checks.length("quotas", self.quotas, n_arms)
        ahead = -self.plan(horizon)  # the arm least ahead of its plan is furthest behind it
        return DeficitState(ahead, ahead.copy(), -horizon)
