"""A policy with bandit feedback where the rewards of all arms are drawn in every round."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import choose, implements, learn, plays_in_lanes, probe
from fairbandits.engine.width import where
from fairbandits.policies.learner import HasLearner
from fairbandits.policies.parameters import Learner, LearnerParameters


@plays_in_lanes
class OwnRewardState(NamedTuple):
    """The learner, and the arm of the round being played."""

    learner: NamedTuple
    arm: np.ndarray


@dataclass(frozen=True)
class OwnReward(HasLearner):
    """A learner that draws an arm in the full-information loop and sees that arm's reward only.

    The rewards of the other arms are for observers, which measure them unseen by the learner.

    Parameters
    ----------
    learner : str
        Name of any registered policy with bandit feedback.
    learner_parameters : mapping of str
        Its hyper-parameters.

    Notes
    -----
    The probes are those of the learner. The t-th reward of an arm is that of round t, where the
    learner by itself would meet that of its t-th pull.
    """

    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()
    feedback: ClassVar[str] = "full"

    @property
    def probes(self) -> tuple[str, ...]:
        """Names of the learner's probes."""
        return self.make_learner().probes

    def start(self, n_arms: int, horizon: int) -> OwnRewardState:
        """Return the state before the first round."""
        return OwnRewardState(self.make_learner().start(n_arms, horizon), np.zeros(1, np.int64))


@implements("distribute", OwnRewardState)
def _distribute(state, t, coin, out):
    arm = choose(state.learner, t, coin)
    state.arm[0] = arm
    for k in range(len(out)):
        out[k] = where(arm == k, 1.0, 0.0)


@implements("learn", OwnRewardState)
def _learn(state, t, x, reward):
    arm = state.arm[0]
    learn(state.learner, t, arm, reward[arm])


@implements("probe", OwnRewardState)
def _probe(state, out):
    probe(state.learner, out)
