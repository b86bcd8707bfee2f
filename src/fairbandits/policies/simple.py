"""Policies that learn nothing: the extremes that a fairness guarantee must survive."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements
from fairbandits.engine.streams import unit
from fairbandits.policies.parameters import ArmQuotas, Policy, not_zero, whole


class UniformState(NamedTuple):
    """Number of arms."""

    n_arms: int


class ConstantState(NamedTuple):
    """The arm, 0-based."""

    arm: int


class SmallestDeficitState(NamedTuple):
    """The deficits r_i (t-1) - N_i as exact numerators over `denominator`."""

    quotas: np.ndarray
    deficit: np.ndarray
    denominator: int


@dataclass(frozen=True)
class Uniform(Policy):
    """Pull an arm drawn uniformly."""

    def start(self, n_arms: int, horizon: int) -> UniformState:
        """Return the state before the first round."""
        return UniformState(n_arms)


@dataclass(frozen=True)
class Constant(Policy):
    """Pull always the same arm.

    Parameters
    ----------
    arm : int
        Counted from 1; a negative one from the last, which is -1.

    Raises
    ------
    ValueError
        If there is no such arm.
    """

    arm: Annotated[int, not_zero(whole(), "a whole number")] = 1

    def start(self, n_arms: int, horizon: int) -> ConstantState:
        """Return the state before the first round."""
        if abs(self.arm) > n_arms:
            raise ValueError(f"arm must lie in 1..{n_arms} or -{n_arms}..-1, got {self.arm}")
        return ConstantState(self.arm - 1 if self.arm > 0 else n_arms + self.arm)


@dataclass(frozen=True)
class SmallestDeficit(Policy):
    """Pull the arm that is furthest ahead of its quota: the adversary of Fair-Learn.

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        Fractions r_i >= 0, exact, that sum to less than 1.

    Raises
    ------
    ValueError
        If a quota is out of its range.

    Notes
    -----
    In round t the deficit is r_i (t-1) - N_i(t-1); ties go to the lowest index.
    """

    quotas: ArmQuotas

    def start(self, n_arms: int, horizon: int) -> SmallestDeficitState:
        """Return the state before the first round."""
        checks.length("quotas", self.quotas, n_arms)
        numerators, denominator = self.quotas.over(horizon)
        return SmallestDeficitState(
            np.array(numerators, np.int64), np.zeros(n_arms, np.int64), denominator
        )


@implements("choose", UniformState)
def _choose_uniform(state, t, coin):
    return int(unit(coin) * state.n_arms)


@implements("choose", ConstantState)
def _choose_constant(state, t, coin):
    return state.arm


@implements("choose", SmallestDeficitState)
def _choose_smallest(state, t, coin):
    arm = 0
    for k in range(1, state.deficit.size):
        if state.deficit[k] < state.deficit[arm]:
            arm = k
    return arm


@implements("learn", SmallestDeficitState)
def _learn_deficit(state, t, arm, reward):
    for k in range(state.deficit.size):
        state.deficit[k] += state.quotas[k]
    state.deficit[arm] -= state.denominator


@implements("learn", UniformState, ConstantState)
def _learn_nothing(state, t, arm, reward):
    pass
