"""Rewards in [0, 1] turned into coins, for a learner of Bernoulli rewards."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits.engine.protocol import choose, implements, learn
from fairbandits.engine.streams import inner, unit
from fairbandits.policies.learner import HasLearner
from fairbandits.policies.parameters import Learner, LearnerParameters

#: Number of the further word of the round's coin that is thrown; the learner may use all before.
WORD = 2**33


class ResampledState(NamedTuple):
    """The learner, and the coin of the round being played."""

    learner: NamedTuple
    coin: np.ndarray


@dataclass(frozen=True)
class Resampled(HasLearner):
    """Show the learner, in place of a reward, a coin that is 1 with the reward as probability.

    These coins are Bernoulli with the mean of the rewards. The recorded rewards are the real ones.

    Parameters
    ----------
    learner : str
        Name of any registered policy with bandit feedback.
    learner_parameters : mapping of str
        Its hyper-parameters.

    Notes
    -----
    The coin is 1 where the 2**33-th further word of the round's coin, as a number in [0, 1), is
    below the reward: one of 1 or more always shows as 1, and one of 0 or less as 0.

    References
    ----------
    S. Agrawal and N. Goyal, "Analysis of Thompson sampling for the multi-armed bandit problem",
    COLT 2012, Algorithm 2; V. Patil, G. Ghalme, V. Nair and Y. Narahari, "Achieving fairness in
    the stochastic multi-armed bandit problem", section 2.1, who reduce all rewards to it.
    """

    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()

    def start(self, n_arms: int, horizon: int) -> ResampledState:
        """Return the state before the first round."""
        learner = self.make_learner()
        return ResampledState(learner.start(n_arms, horizon), np.zeros(1, np.uint64))


@implements("choose", ResampledState)
def _choose(state, t, coin):
    state.coin[0] = coin
    return choose(state.learner, t, coin)


@implements("learn", ResampledState)
def _learn(state, t, arm, reward):
    shown = 1.0 if unit(inner(state.coin[0], WORD)) < reward else 0.0
    learn(state.learner, t, arm, shown)
