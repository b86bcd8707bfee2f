"""A fixed distribution over arms: the static benchmark played as a policy."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements
from fairbandits.policies.parameters import ArmFractions
from fairbandits.policies.simplex import sample
from fairbandits.rationals import rational


class StaticState(NamedTuple):
    """The distribution."""

    x: np.ndarray


@dataclass(frozen=True)
class Static:
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

    distribution: ArmFractions
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        object.__setattr__(self, "distribution", tuple(self.distribution))
        fractions = [rational("distribution", p) for p in self.distribution]
        checks.non_negative("distribution", fractions)
        if sum(fractions) != 1:
            raise ValueError(f"distribution must sum to 1, got {sum(fractions)}")

    def start(self, n_arms: int, horizon: int) -> StaticState:
        """Return the state before the first round."""
        del horizon
        checks.length("distribution", self.distribution, n_arms)
        fractions = [rational("distribution", p) for p in self.distribution]
        return StaticState(np.array([float(p) for p in fractions]))


@implements("choose", StaticState)
def _choose(state, t, coin):
    return sample(state.x, coin)


@implements("learn", StaticState)
def _learn(state, t, arm, reward):
    pass
