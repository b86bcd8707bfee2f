"""Any policy with bandit feedback, played as it is, and how long its arms go without a pull."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.arrays import assign
from fairbandits.engine.protocol import choose, implements, learn, standing
from fairbandits.policies.learner import frozen, make_learner
from fairbandits.policies.parameters import Learner, LearnerParameters


class PullGapsState(NamedTuple):
    """The policy, and of each arm the rounds since its last pull and the most there were."""

    learner: NamedTuple
    starved: np.ndarray
    starvation: np.ndarray


@dataclass(frozen=True)
class PullGaps:
    """A registered policy that also keeps the longest run of rounds without a pull of each arm.

    Parameters
    ----------
    learner : str
        Name of any registered policy with bandit feedback.
    learner_parameters : mapping of str
        Its hyper-parameters.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    The probe ``starvation`` is the longest run so far, the present one included; what the policy
    reports of itself is left out.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", remark after Eq. 4.
    """

    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ("starvation",)

    def __post_init__(self):
        object.__setattr__(self, "learner_parameters", frozen(self.learner_parameters))
        make_learner(self.learner, self.learner_parameters)

    def start(self, n_arms: int, horizon: int) -> PullGapsState:
        """Return the state before the first round."""
        learner = make_learner(self.learner, self.learner_parameters).start(n_arms, horizon)
        return PullGapsState(learner, *np.zeros((2, n_arms)))


@implements("standing", PullGapsState)
def _standing(state, t):
    return standing(state.learner, t)


@implements("choose", PullGapsState)
def _choose(state, t, coin):
    return choose(state.learner, t, coin)


@implements("learn", PullGapsState)
def _learn(state, t, arm, reward):
    for k in range(state.starved.size):
        state.starved[k] = 0.0 if k == arm else state.starved[k] + 1.0
        state.starvation[k] = max(state.starvation[k], state.starved[k])
    learn(state.learner, t, arm, reward)


@implements("probe", PullGapsState)
def _probe(state, out):
    assign(out[0], state.starvation)
