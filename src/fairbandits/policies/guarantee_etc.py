"""Guaranteed reward rates by exploring first: two phases of estimates, then the missing pulls."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements, inlined, not_inlined
from fairbandits.policies import kl
from fairbandits.policies.guarantees import PUBLISHED, Guaranteed, Guarantees, known
from fairbandits.policies.kl import Limits
from fairbandits.policies.parameters import Positive

FIRST, SECOND, THIRD, LAST = range(4)


class GuaranteeETCState(NamedTuple):
    """Limits for KL-UCB, and the pulls, quotas and estimates of each phase."""

    limits: Limits
    targets: np.ndarray
    protected: np.ndarray
    pulls: np.ndarray  # by phase
    quotas: np.ndarray  # of the first two phases
    sums: np.ndarray  # of the second
    estimate: np.ndarray
    entropy: np.ndarray
    log_gap: np.ndarray
    upper: np.ndarray
    phase: np.ndarray
    horizon: float


@dataclass(frozen=True)
class GuaranteeETC(Guaranteed):
    """Estimate each guaranteed arm's mean in two phases, add the missing pulls, then play KL-UCB.

    Parameters
    ----------
    targets, constant
        As in `GuaranteeKLUCB`.

    Notes
    -----
    With horizon T, which it needs, arm after arm: lambda T / 4 pulls give a first estimate m; then
    min(lambda / (6 m), lambda / 2) T pulls a second one, of these pulls alone; then come
    lambda T / m' less both quotas, for the second estimate m'. Quotas are numbers that the pulls
    have to reach, and estimates lie between lambda and 1. Where lambda / m' sum to more than 1, m'
    is the upper limit of the second phase's pulls at the round's t; as long as lambda / m' sum to
    more than 1 even so, the arm of the largest is pulled, which is 1 for arms without a guarantee.
    What rounds are left go to KL-UCB with all pulls, arms never pulled first; ties go to the
    lowest arm, and no limit is below lambda. t is the number of rounds played so far.

    References
    ----------
    As in `GuaranteeKLUCB`.
    """

    targets: Guarantees
    constant: Positive = PUBLISHED

    def start(self, n_arms: int, horizon: int) -> GuaranteeETCState:
        rounds = float(known(horizon))
        limits, targets, protected = self._begin(n_arms)
        quotas = np.zeros((2, n_arms))
        quotas[0] = targets / 4 * rounds
        return GuaranteeETCState(
            *(limits, targets, protected),
            np.zeros((4, n_arms), np.int64),
            quotas,
            np.zeros(n_arms),
            targets.copy(),
            np.zeros(n_arms),
            np.full(n_arms, kl.UNKNOWN),
            np.ones(n_arms),
            np.array([FIRST]),
            rounds,
        )


@inlined
def _short(state, phase):
    """Return the first guaranteed arm that is short of its quota in one of the first two phases."""
    for j in range(state.protected.size):
        k = state.protected[j]
        if state.pulls[phase, k] < state.quotas[phase, k]:
            return k
    return -1


@inlined
def _cut(state, k, mean):
    return min(max(mean, state.targets[k]), 1.0)


@inlined
def _end_first(state):
    """Set the quotas of the second phase."""
    for j in range(state.protected.size):
        k = state.protected[j]
        target = state.targets[k]
        mean = _cut(state, k, state.limits.mean[k])
        state.quotas[SECOND, k] = min(target / (6.0 * mean), target / 2.0) * state.horizon
    state.phase[0] = SECOND


@inlined
def _end_second(state):
    """Set the estimates of the third phase."""
    for j in range(state.protected.size):
        k = state.protected[j]
        mean = _cut(state, k, state.sums[k] / state.pulls[SECOND, k])
        state.estimate[k] = mean
        state.entropy[k] = kl.negentropy(mean)
    state.phase[0] = THIRD


@inlined
def _needed(state, estimate):
    """Return the sum of lambda / estimate."""
    total = 0.0
    for j in range(state.protected.size):
        k = state.protected[j]
        total += state.targets[k] / estimate[k]
    return total


@inlined
def _optimistic(state, clock):
    """Set the upper limits of the second phase's estimates."""
    now = kl.level(state.limits, clock)
    for j in range(state.protected.size):
        k = state.protected[j]
        mean = state.estimate[k]
        if mean < 1.0 and now > 0.0:
            divergence = now / state.pulls[SECOND, k]
            x = kl.log_gap(mean, state.entropy[k], divergence, state.log_gap[k])
            state.log_gap[k] = x
            state.upper[k] = max(1.0 - math.exp(x), state.targets[k])


@not_inlined
def _third(state, clock):
    """Return the arm to pull in the third phase, or -1 at its end."""
    estimate = state.estimate
    if _needed(state, estimate) > 1.0:
        _optimistic(state, clock)
        estimate = state.upper
        if _needed(state, estimate) > 1.0:
            best = 0
            for k in range(1, estimate.size):
                if estimate[k] > estimate[best]:
                    best = k
            return best
    for j in range(state.protected.size):
        k = state.protected[j]
        whole = state.targets[k] * state.horizon / estimate[k]
        if state.pulls[THIRD, k] < whole - state.quotas[FIRST, k] - state.quotas[SECOND, k]:
            return k
    return -1


@implements("choose", GuaranteeETCState)
def _choose(state, t, coin):
    phase = state.phase
    if phase[0] == FIRST:
        arm = _short(state, FIRST)
        if arm >= 0:
            return arm
        _end_first(state)
    if phase[0] == SECOND:
        arm = _short(state, SECOND)
        if arm >= 0:
            return arm
        _end_second(state)
    if phase[0] == THIRD:
        arm = _third(state, t - 1)
        if arm >= 0:
            return arm
        phase[0] = LAST
    arm = kl.first_unpulled(state.limits)
    return arm if arm >= 0 else kl.largest(state.limits, t - 1)


@implements("learn", GuaranteeETCState)
def _learn(state, t, arm, reward):
    kl.learn(state.limits, arm, reward)
    phase = state.phase[0]
    state.pulls[phase, arm] += 1
    if phase == SECOND:
        state.sums[arm] += reward
