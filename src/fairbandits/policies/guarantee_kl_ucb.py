"""Guaranteed reward rates by estimates of the means, and KL-UCB with the rest."""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements, inlined, not_inlined
from fairbandits.policies import kl
from fairbandits.policies.guarantees import PUBLISHED, Guaranteed, Guarantees
from fairbandits.policies.kl import Limits
from fairbandits.policies.parameters import Positive, one_of
from fairbandits.policies.simplex import sample

MEAN, UPPER, LOWER = range(3)
ESTIMATES = {"mean": MEAN, "upper": UPPER, "lower": LOWER}
EXCESS = ("upper", "normalise")


class GuaranteeKLUCBState(NamedTuple):
    """Limits for KL-UCB, guarantees, and log(1 - upper), log(lower) of the last limits computed."""

    limits: Limits
    targets: np.ndarray
    protected: np.ndarray
    log_gap: np.ndarray
    log_lower: np.ndarray
    x: np.ndarray
    y: np.ndarray
    estimate: int
    try_upper: bool


@dataclass(frozen=True)
class GuaranteeKLUCB(Guaranteed):
    """Give each guaranteed arm the probability lambda / estimate, and the rest to KL-UCB.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        Guaranteed reward rate lambda_i of each arm, in [0, 1]; 0 for those without a guarantee.
    estimate : {"mean", "upper", "lower"}
        What stands for an arm's mean: the empirical mean, its upper or its lower KL limit; never
        less than lambda_i, as the mean cannot be where the guarantee can be kept.
    constant : float
        c in the limits N kl(mean, q) = c log t; the published program has 3.03.
    excess : {"upper", "normalise"}
        Where the probabilities sum to 1 or more they are divided by their sum: with ``normalise``
        at once; with ``upper`` only if those of the upper limits do not sum to less, which are
        taken otherwise.

    Notes
    -----
    The arms have one pull each first. The arm of KL-UCB is the lowest of the largest upper limits,
    which are not below lambda_i either. t is the number of rounds played so far, and a mean
    outside [0, 1] is taken for the nearer end.

    References
    ----------
    D. Baudry, N. Merlis, M. Molina, H. Richard and V. Perchet, "Multi-armed bandits with guaranteed
    revenue per arm", AISTATS 2024: greedy, UCB and LCB; with excess ``normalise`` their variants
    without the upper limits.
    """

    targets: Guarantees
    estimate: Annotated[str, one_of(*ESTIMATES)] = "mean"
    constant: Positive = PUBLISHED
    excess: Annotated[str, one_of(*EXCESS)] = "upper"

    def start(self, n_arms: int, horizon: int) -> GuaranteeKLUCBState:
        """Return the state before the first round."""
        return GuaranteeKLUCBState(
            *self._begin(n_arms),
            *np.full((2, n_arms), kl.UNKNOWN),
            *np.zeros((2, n_arms)),
            ESTIMATES[self.estimate],
            self.excess == "upper" and self.estimate != "upper",
        )


@inlined
def _gap(p, entropy, divergence, known, k):
    """Return 1 - q for the upper limit q of p, starting from the last round's."""
    if p >= 1.0:
        return 0.0
    if divergence <= 0.0:
        return 1.0 - p
    known[k] = kl.log_gap(p, entropy, divergence, known[k])
    return math.exp(known[k])


@inlined
def _estimate(state, kind, k, level):
    """Return the estimate used for an arm's mean."""
    limits = state.limits
    mean, entropy = limits.mean[k], limits.entropy[k]
    estimate = mean
    if kind == UPPER:
        estimate = 1.0 - _gap(mean, entropy, level / limits.pulls[k], state.log_gap, k)
    elif kind == LOWER:
        estimate = _gap(1.0 - mean, entropy, level / limits.pulls[k], state.log_lower, k)
    return max(estimate, state.targets[k])


@inlined
def _fill(state, kind, clock, x):
    """Write the probabilities of the guarantees; return their sum."""
    level = kl.level(state.limits, clock) if kind != MEAN else 0.0
    total = 0.0
    for j in range(state.protected.size):
        k = state.protected[j]
        x[k] = state.targets[k] / _estimate(state, kind, k, level)
        total += x[k]
    return total


@not_inlined
def _share(state, clock):
    """Write the probabilities of the guarantees, at most 1 in sum; return their sum."""
    total = _fill(state, state.estimate, clock, state.x)
    if total < 1.0:
        return total
    if state.try_upper:
        least = _fill(state, UPPER, clock, state.y)
        if least < 1.0:
            for j in range(state.protected.size):
                state.x[state.protected[j]] = state.y[state.protected[j]]
            return least
    for j in range(state.protected.size):
        state.x[state.protected[j]] /= total
    return 1.0


@implements("choose", GuaranteeKLUCBState)
def _choose(state, t, coin):
    arm = kl.first_unpulled(state.limits)
    if arm >= 0:
        return arm
    total = _share(state, t - 1)
    if total >= 1.0:
        return sample(state.x, coin)
    best = kl.largest(state.limits, t - 1)
    own = state.x[best]
    state.x[best] = own + (1.0 - total)
    arm = sample(state.x, coin)
    state.x[best] = own
    return arm


@implements("learn", GuaranteeKLUCBState)
def _learn(state, t, arm, reward):
    kl.learn(state.limits, arm, reward)
    state.log_gap[arm] = kl.UNKNOWN
    state.log_lower[arm] = kl.UNKNOWN
