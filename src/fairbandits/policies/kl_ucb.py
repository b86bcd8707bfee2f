"""KL-UCB: optimism with the confidence limits of Bernoulli rewards."""

from dataclasses import dataclass
from typing import NamedTuple

from fairbandits.engine.protocol import implements
from fairbandits.policies import kl
from fairbandits.policies.kl import Limits
from fairbandits.policies.parameters import Policy, Positive


class KLUCBState(NamedTuple):
    """The arms' limits."""

    limits: Limits


@dataclass(frozen=True)
class KLUCB(Policy):
    """Pull the arm of the largest q with N kl(mean, q) = c log t, after each arm once.

    Parameters
    ----------
    constant : float
        c, above 0; 1 is what its authors recommend in practice.

    Notes
    -----
    kl is the divergence between Bernoulli laws, N the arm's pulls and t the rounds played so far.
    Arms never pulled go first, ties go to the lowest arm. Rewards should lie in [0, 1]; a mean
    outside is taken for the nearer end.

    References
    ----------
    A. Garivier and O. Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT
    2011, Algorithm 1, whose second term c log log t is left out.
    """

    constant: Positive = 1.0

    def start(self, n_arms: int, horizon: int) -> KLUCBState:
        """Return the state before the first round."""
        del horizon  # KL-UCB is anytime
        return KLUCBState(kl.no_pulls(n_arms, self.constant))


@implements("choose", KLUCBState)
def _choose(state, t, coin):
    arm = kl.first_unpulled(state.limits)
    return arm if arm >= 0 else kl.largest(state.limits, t - 1)


@implements("learn", KLUCBState)
def _learn(state, t, arm, reward):
    kl.learn(state.limits, arm, reward)
