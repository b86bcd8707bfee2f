"""T-Fair-Learn: all quotas first, knowing the horizon, and then the learner."""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import choose, implements, learn, may_ask, plays_in_lanes
from fairbandits.engine.width import anywhere, no, where
from fairbandits.policies.learner import HasLearner
from fairbandits.policies.parameters import ArmQuotas, Learner, LearnerParameters, one_of


class TFairLearnState(NamedTuple):
    """The learner, the pulls, and the pulls that each arm is still owed."""

    learner: NamedTuple
    pulls: np.ndarray
    owed: np.ndarray
    total: np.ndarray  # sum of the pulls owed
    sequential: bool


@dataclass(frozen=True)
class TFairLearn(HasLearner):
    """Pull every arm ceil(r_i T) times, then leave the rest to the learner.

    With UCB1 as the learner this is T-Fair-UCB.

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        Required fraction of pulls r_i >= 0 of each arm, exact; they sum to less than 1.
    learner, learner_parameters : str, mapping of str
        Name and hyper-parameters of any registered policy with bandit feedback.
    order : {"round_robin", "sequential"}
        Of the first phase: the arm pulled least of those that still owe, or one arm after the
        other.

    Notes
    -----
    The paper leaves the order open. The learner learns from all pulls and sees the global round.
    Rounding up can make the arms owe more than a short horizon has; the last ones then go without.

    References
    ----------
    As in `FairLearn`, App. C, Algorithm 2.
    """

    quotas: ArmQuotas
    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()
    order: Annotated[str, one_of("round_robin", "sequential")] = "round_robin"

    def start(self, n_arms: int, horizon: int) -> TFairLearnState:
        checks.length("quotas", self.quotas, n_arms)
        numerators, denominator = self.quotas.numerators, self.quotas.denominator
        owed = [-(-numerator * horizon // denominator) for numerator in numerators]
        return TFairLearnState(
            self.make_learner().start(n_arms, horizon),
            np.zeros(n_arms, np.int64),
            np.array(owed, np.int64),
            np.array([sum(owed)]),
            self.order == "sequential",
        )


plays_in_lanes(TFairLearnState, lambda state: may_ask(state.learner))


@implements("choose", TFairLearnState)
def _choose(state, t, coin):
    content = state.total[0] == 0
    arm, fewest = -1, math.inf
    if anywhere(no(content)):
        for k in range(len(state.owed)):
            first = (state.owed[k] > 0) & (state.pulls[k] < fewest)
            if state.sequential:
                first = first & (arm < 0)
            arm, fewest = where(first, k, arm), where(first, state.pulls[k], fewest)
    if anywhere(content):
        arm = where(content, choose(state.learner, t, coin), arm)
    return arm


@implements("learn", TFairLearnState)
def _learn(state, t, arm, reward):
    state.pulls[arm] += 1
    owing = where(state.owed[arm] > 0, 1, 0)
    state.owed[arm] -= owing
    state.total[0] -= owing
    learn(state.learner, t, arm, reward)
