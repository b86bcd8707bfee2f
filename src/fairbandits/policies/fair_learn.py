"""Fair-Learn: any learner, overruled while an arm is behind its quota; and related policies."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import choose, learn, may_ask, plays_in_lanes, unchanged_when_asked
from fairbandits.engine.width import Own, anywhere, no, where
from fairbandits.policies.learner import HasLearner
from fairbandits.policies.parameters import ArmQuotas, Learner, LearnerParameters, exact, one_of
from fairbandits.policies.ties import better
from fairbandits.rationals import Quotas, rational


class FairLearnState(NamedTuple):
    """The learner; quotas r_i, pulls N_i and tolerance as exact numerators over `denominator`."""

    learner: NamedTuple
    quotas: np.ndarray
    scaled_pulls: np.ndarray
    denominator: Own
    tolerance: Own
    forced_start: int

    def choose(state, t, coin):
        if t <= state.forced_start:
            return t - 1
        arm, worst = 0, state.quotas[0] * (t - 1) - state.scaled_pulls[0]
        for k in range(1, len(state.quotas)):
            deficit = state.quotas[k] * (t - 1) - state.scaled_pulls[k]
            arm, worst = better(k, deficit, arm, worst)
        content = worst <= state.tolerance
        if anywhere(content):
            arm = where(content, choose(state.learner, t, coin), arm)
        return arm

    def learn(state, t, arm, reward):
        state.scaled_pulls[arm] += state.denominator
        learn(state.learner, t, arm, reward)


@dataclass(frozen=True)
class FairLearn(HasLearner):
    """Pull the arm furthest behind its quota if it is behind by more than the tolerance.

    Otherwise the learner chooses; it learns from all pulls. With UCB1 as the learner this is
    Fair-UCB; with quotas of 0 it is the learner itself. In round t the deficit is r_i (t-1) -
    N_i(t-1), compared strictly; ties go to the lowest index. All arithmetic is in integers, since
    0.09 * 5 in floating point is not 9 * 5 / 100. Theorem 1 says floor(r_i t) - N_i(t) <= tolerance
    for every tolerance. That is false for tolerances that are not whole; the bound that holds is
    the tolerance rounded up.

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        Quota r_i >= 0 of each arm, a fraction of the pulls, exact: 0.05, "1/3". They sum to less
        than 1. The paper's model has r_i < 1/k.
    tolerance : number or str
        Allowed deficit alpha >= 0, exact.
    learner, learner_parameters : str, mapping of str
        Name and hyper-parameters of any registered policy with bandit feedback.
    first_rounds : {"learner", "round_robin"}
        The first k rounds: by the rule above, or every arm once in order.

    References
    ----------
    V. Patil, G. Ghalme, V. Nair and Y. Narahari, "Achieving fairness in the stochastic multi-armed
    bandit problem", Algorithm 1.
    """

    quotas: ArmQuotas
    tolerance: Annotated[Any, exact(at_least=0)] = 0
    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()
    first_rounds: Annotated[str, one_of("learner", "round_robin")] = "learner"

    def start(self, n_arms: int, horizon: int) -> FairLearnState:
        checks.length("quotas", self.quotas, n_arms)
        # only its part below 1: a large tolerance must not look like a fine one
        whole, part = divmod(rational("tolerance", self.tolerance), 1)
        both = "quotas and tolerance"
        (*quotas, rest), denominator = Quotas([*self.quotas, part], both).over(horizon, both)
        return FairLearnState(
            self.make_learner().start(n_arms, horizon),
            np.array(quotas, np.int64),
            np.zeros(n_arms, np.int64),
            denominator,
            min(int(whole) * denominator + rest, 2**62),
            n_arms if self.first_rounds == "round_robin" else 0,
        )


@dataclass(frozen=True)
class FairUCB(FairLearn):
    """Fair-UCB: Fair-Learn with UCB1 as the learner (section 4 of its paper).

    Parameters
    ----------
    quotas, tolerance, first_rounds
        As in `FairLearn`, which is the policy in configuration files.
    """

    learner: str = field(default="ucb1", init=False, repr=False)
    learner_parameters: LearnerParameters = field(default=(), init=False, repr=False)


plays_in_lanes(FairLearnState, lambda state: may_ask(state.learner))
unchanged_when_asked(FairLearnState, lambda state: may_ask(state.learner))


class TFairLearnState(NamedTuple):
    """The learner, the pulls, and the missing pulls of each arm."""

    learner: NamedTuple
    pulls: np.ndarray
    owed: np.ndarray
    total: np.ndarray  # sum of the pulls owed
    sequential: bool

    def choose(state, t, coin):
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

    def learn(state, t, arm, reward):
        state.pulls[arm] += 1
        owing = where(state.owed[arm] > 0, 1, 0)
        state.owed[arm] -= owing
        state.total[0] -= owing
        learn(state.learner, t, arm, reward)


@dataclass(frozen=True)
class TFairLearn(HasLearner):
    """Pull every arm ceil(r_i T) times, then leave the rest to the learner.

    With UCB1 as the learner this is T-Fair-UCB (App. C of Fair-Learn's paper, Algorithm 2). The
    paper leaves the order open. The learner learns from all pulls and sees the global round.

    Parameters
    ----------
    quotas, learner, learner_parameters
        As in `FairLearn`.
    order : {"round_robin", "sequential"}
        Order of the first phase: the arm with the fewest pulls first, or one arm after the other.
    """

    quotas: ArmQuotas
    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()
    order: Annotated[str, one_of("round_robin", "sequential")] = "round_robin"

    def start(self, n_arms: int, horizon: int) -> TFairLearnState:
        checks.length("quotas", self.quotas, n_arms)
        owed = [math.ceil(quota * horizon) for quota in self.quotas.fractions]
        return TFairLearnState(
            self.make_learner().start(n_arms, horizon),
            np.zeros(n_arms, np.int64),
            np.array(owed, np.int64),
            np.array([sum(owed)]),
            self.order == "sequential",
        )


plays_in_lanes(TFairLearnState, lambda state: may_ask(state.learner))
