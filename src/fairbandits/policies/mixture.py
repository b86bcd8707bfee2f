"""A mixture of quotas and learner: fair in expectation, and not on every path."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import choose, implements, learn
from fairbandits.engine.streams import inner, unit
from fairbandits.policies.learner import HasLearner
from fairbandits.policies.parameters import ArmQuotas, Learner, LearnerParameters

#: Number of the further word of the round's coin that decides; the learner may use all before it.
WORD = 2**32


class MixtureState(NamedTuple):
    """The learner, and the sums of the first k quotas."""

    learner: NamedTuple
    bounds: np.ndarray


@dataclass(frozen=True)
class Mixture(HasLearner):
    """Pull arm i with probability r_i, and with the rest of 1 leave the choice to the learner.

    Then E[N_i(t)] >= r_i t in every round t, and nothing more.

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        Required fraction of pulls r_i >= 0 of each arm, exact; they sum to less than 1.
    learner, learner_parameters : str, mapping of str
        Name and hyper-parameters of any registered policy with bandit feedback.

    Notes
    -----
    The learner learns from all pulls and sees the global round. Arm i is pulled where the 2**32-th
    further word of the round's coin, as a number in [0, 1), is below r_1 + .. + r_i for no smaller
    i; these sums are exact and rounded once.

    References
    ----------
    It has the kind of guarantee of L. E. Celis, S. Kapoor, F. Salehi and N. K. Vishnoi,
    "Controlling polarization in personalization: an algorithmic framework", FAT* 2019, whose
    policy is another one.
    """

    quotas: ArmQuotas
    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()

    def start(self, n_arms: int, horizon: int) -> MixtureState:
        checks.length("quotas", self.quotas, n_arms)
        numerators, denominator = self.quotas.numerators, self.quotas.denominator
        return MixtureState(
            self.make_learner().start(n_arms, horizon),
            np.array([float(Fraction(total, denominator)) for total in accumulate(numerators)]),
        )


@implements("choose", MixtureState)
def _choose(state, t, coin):
    u = unit(inner(coin, WORD))
    for k in range(state.bounds.size):
        if u < state.bounds[k]:
            return k
    return choose(state.learner, t, coin)


@implements("learn", MixtureState)
def _learn(state, t, arm, reward):
    learn(state.learner, t, arm, reward)
