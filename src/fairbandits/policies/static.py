"""A fixed distribution over arms: the static benchmark played as a policy."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements
from fairbandits.policies.parameters import Policy, exact, several
from fairbandits.policies.simplex import sample
from fairbandits.rationals import rational


class StaticState(NamedTuple):
    """The distribution."""

    x: np.ndarray


@dataclass(frozen=True)
class Static(Policy):
    """Sample every round's arm from the same distribution.

    Parameters
    ----------
    distribution : sequence of number or str, length n_arms
        Probabilities, exact: 0.25, "1/6"; they sum to 1.

    Raises
    ------
    ValueError
        If the probabilities are negative or do not sum to 1.
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
        """Return the state before the first round."""
        checks.length("distribution", self.distribution, n_arms)
        return StaticState(np.array([float(p) for p in self._fractions]))


@implements("choose", StaticState)
def _choose(state, t, coin):
    return sample(state.x, coin)


@implements("learn", StaticState)
def _learn(state, t, arm, reward):
    pass
