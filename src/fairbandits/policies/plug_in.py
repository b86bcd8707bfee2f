"""Fair-Learn for reward targets: quotas are targets over estimated means, renewed at times."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import choose, implements, inlined, learn
from fairbandits.policies.learner import HasLearner
from fairbandits.policies.parameters import Learner, LearnerParameters, Targets


class PlugInState(NamedTuple):
    """The learner; targets, quotas as last renewed, pulls and reward sums."""

    learner: NamedTuple
    targets: np.ndarray
    quotas: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray


@dataclass(frozen=True)
class PlugIn(HasLearner):
    """Pull the arm furthest behind the quota lambda_i / estimated mean, else leave it to a learner.

    It is our translation of `FairLearn`, whose quotas are of pulls, to targets of reward when the
    means are not known. No paper has it.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        Target reward rate lambda_i of each arm, 0 for the unprotected.
    learner : str
        Name of any registered policy with bandit feedback.
    learner_parameters : mapping of str
        Its hyper-parameters.

    Notes
    -----
    Round n <= n_arms is arm n's. Quotas are renewed in the round after, and in each round that is a
    power of two: min(1, lambda_i N_i / S_i), or 1 for an arm without any reward; if their sum is
    above 1 they are divided by it. In round t the deficit is r_i (t-1) - N_i(t-1), compared
    strictly with 0; ties go to the lowest index.

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
        """Return the state before the first round."""
        checks.length("targets", self.targets, n_arms)
        return PlugInState(
            self.make_learner().start(n_arms, horizon),
            np.array(self.targets),
            *np.zeros((3, n_arms)),
        )


@inlined
def _renew(state):
    total = 0.0
    for k in range(state.targets.size):
        quota = 0.0
        if state.targets[k] > 0.0:
            quota = 1.0
            if state.sums[k] > 0.0:
                quota = min(1.0, state.targets[k] * state.pulls[k] / state.sums[k])
        state.quotas[k] = quota
        total += quota
    if total > 1.0:
        for k in range(state.targets.size):
            state.quotas[k] /= total


@implements("choose", PlugInState)
def _choose(state, t, coin):
    n_arms = state.targets.size
    if t <= n_arms:
        return t - 1
    if t == n_arms + 1 or t & (t - 1) == 0:
        _renew(state)
    arm = 0
    worst = 0.0
    for k in range(n_arms):
        deficit = state.quotas[k] * (t - 1) - state.pulls[k]
        if deficit > worst:
            arm = k
            worst = deficit
    if worst > 0.0:
        return arm
    return choose(state.learner, t, coin)


@implements("learn", PlugInState)
def _learn(state, t, arm, reward):
    state.pulls[arm] += 1.0
    state.sums[arm] += reward
    learn(state.learner, t, arm, reward)
