"""Thompson sampling with beta posteriors."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits.engine.laws import beta_of
from fairbandits.engine.protocol import implements
from fairbandits.engine.streams import inner
from fairbandits.policies.parameters import Policy, number, several


class ThompsonState(NamedTuple):
    """Both parameters of each arm's beta posterior."""

    successes: np.ndarray
    failures: np.ndarray


@dataclass(frozen=True)
class Thompson(Policy):
    """Draw a mean from each arm's posterior and pull the arm of the largest.

    Parameters
    ----------
    prior : (float, float)
        Parameters of the beta prior of every arm, at least 0.05.

    Notes
    -----
    A reward in [0, 1] adds itself to the first parameter and the rest of 1 to the second; a reward
    outside is taken for the nearer end.

    References
    ----------
    S. Agrawal and N. Goyal, "Analysis of Thompson sampling for the multi-armed bandit problem",
    COLT 2012; their Algorithm 2 draws a coin where this adds the fraction.
    """

    prior: Annotated[tuple[float, float], several(number(at_least=0.05, below=1e9), n=2)] = (
        1.0,
        1.0,
    )

    def start(self, n_arms: int, horizon: int) -> ThompsonState:
        return ThompsonState(*(np.full(n_arms, value) for value in self.prior))


@implements("choose", ThompsonState)
def _choose(state, t, coin):
    best = -1.0
    arm = 0
    for k in range(state.successes.size):
        drawn = beta_of(state.successes[k], state.failures[k], inner(coin, k + 1))
        if drawn > best:
            best = drawn
            arm = k
    return arm


@implements("learn", ThompsonState)
def _learn(state, t, arm, reward):
    success = min(max(reward, 0.0), 1.0)
    state.successes[arm] += success
    state.failures[arm] += 1.0 - success
