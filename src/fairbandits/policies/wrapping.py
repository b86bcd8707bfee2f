"""A registered policy with bandit feedback as the learner of another one."""

from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import choose, inlined, learn, plays_in_lanes, probe
from fairbandits.engine.streams import inner, unit
from fairbandits.engine.width import where
from fairbandits.policies.learner import HasLearner
from fairbandits.policies.parameters import ArmQuotas, Learner, LearnerParameters, Targets
from fairbandits.policies.ties import better
from fairbandits.policies.ucb1 import Means, no_pulls, take

#: Number of the further word of the round's coin that decides in `Mixture`; the learner may use all
#: before.
MIXING = 2**32


@plays_in_lanes
class OwnRewardState(NamedTuple):
    """The learner, and the arm of the round being played."""

    learner: NamedTuple
    arm: np.ndarray

    def distribute(state, t, coin, out):
        arm = choose(state.learner, t, coin)
        state.arm[0] = arm
        for k in range(len(out)):
            out[k] = where(arm == k, 1.0, 0.0)

    def learn(state, t, x, reward):
        arm = state.arm[0]
        learn(state.learner, t, arm, reward[arm])

    def probe(state, out):
        probe(state.learner, out)


class PlugInState(NamedTuple):
    """The learner; targets, quotas as last renewed, and the means."""

    learner: NamedTuple
    targets: np.ndarray
    quotas: np.ndarray
    means: Means

    def choose(state, t, coin):
        n_arms = state.targets.size
        if t <= n_arms:
            return t - 1
        if t == n_arms + 1 or t & (t - 1) == 0:
            _renew(state)
        arm, worst = 0, 0.0
        for k in range(n_arms):
            arm, worst = better(k, state.quotas[k] * (t - 1) - state.means.pulls[k], arm, worst)
        return arm if worst > 0.0 else choose(state.learner, t, coin)

    def learn(state, t, arm, reward):
        take(state.means, arm, reward)
        learn(state.learner, t, arm, reward)


@dataclass(frozen=True)
class OwnReward(HasLearner):
    """A learner that draws an arm in the full-information loop and sees only that arm's reward.

    The rewards of the other arms are for observers, which measure them unseen by the learner. An
    arm's reward is that of the round, not of the pull; the probes are those of the learner.

    Parameters
    ----------
    learner, learner_parameters
        As in `FairLearn`.
    """

    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()
    feedback: ClassVar[str] = "full"

    @property
    def probes(self) -> tuple[str, ...]:
        return self.make_learner().probes

    def start(self, n_arms: int, horizon: int) -> OwnRewardState:
        return OwnRewardState(self.make_learner().start(n_arms, horizon), np.zeros(1, np.int64))


@dataclass(frozen=True)
class PlugIn(HasLearner):
    """Pull the arm furthest behind the quota lambda_i / estimated mean, or let a learner choose.

    It translates `FairLearn` to targets of reward when the means are not known. No paper has this
    policy. Round n <= n_arms pulls arm n. Quotas are renewed in the next round, and in each round
    that is a power of two: min(1, lambda_i N_i / S_i), or 1 for an arm without any reward. If their
    sum is above 1 they are divided by it. In round t the deficit is r_i (t-1) - N_i(t-1), compared
    strictly with 0; ties go to the lowest index.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        As in `BanditQ`.
    learner, learner_parameters
        As in `FairLearn`.

    Examples
    --------
    >>> from fairbandits import Instance, run
    >>> arms = Instance((0.9, 0.5), law="deterministic")
    >>> run(PlugIn((0, 0.2)), arms, 1000, checkpoints=[1000]).plays[0, 0].tolist()
    [600, 400]
    """

    targets: Targets
    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()

    def start(self, n_arms: int, horizon: int) -> PlugInState:
        checks.length("targets", self.targets, n_arms)
        learner = self.make_learner().start(n_arms, horizon)
        return PlugInState(learner, np.array(self.targets), np.zeros(n_arms), no_pulls(n_arms))


@inlined
def _renew(state):
    means, total = state.means, 0.0
    for k in range(state.targets.size):
        quota = 0.0
        if state.targets[k] > 0.0:
            quota = 1.0
            if means.sums[k] > 0.0:
                quota = min(1.0, state.targets[k] * means.pulls[k] / means.sums[k])
        state.quotas[k] = quota
        total += quota
    if total > 1.0:
        for k in range(state.targets.size):
            state.quotas[k] /= total


class MixtureState(NamedTuple):
    """The learner, and the sums of the first k quotas."""

    learner: NamedTuple
    bounds: np.ndarray

    def choose(state, t, coin):
        u = unit(inner(coin, MIXING))
        for k in range(state.bounds.size):
            if u < state.bounds[k]:
                return k
        return choose(state.learner, t, coin)

    def learn(state, t, arm, reward):
        learn(state.learner, t, arm, reward)


@dataclass(frozen=True)
class Mixture(HasLearner):
    """Pull arm i with probability r_i, and with the rest of 1 leave the choice to the learner.

    It guarantees only E[N_i(t)] >= r_i t in every round t. The learner learns from all pulls and
    sees the global round. Arm i is pulled where the 2**32-th further word of the round's coin is
    below r_1 + .. + r_i for no smaller i. Another policy with such a guarantee is by L. E. Celis,
    S. Kapoor, F. Salehi and N. K. Vishnoi, "Controlling polarization in personalization: an
    algorithmic framework", FAT* 2019.

    Parameters
    ----------
    quotas, learner, learner_parameters
        As in `FairLearn`.
    """

    quotas: ArmQuotas
    learner: Learner = "ucb1"
    learner_parameters: LearnerParameters = ()

    def start(self, n_arms: int, horizon: int) -> MixtureState:
        checks.length("quotas", self.quotas, n_arms)
        bounds = np.array([float(bound) for bound in accumulate(self.quotas.fractions)])
        return MixtureState(self.make_learner().start(n_arms, horizon), bounds)
