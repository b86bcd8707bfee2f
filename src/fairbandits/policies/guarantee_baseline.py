"""The arm furthest below its guaranteed reward, else KL-UCB: the baseline of the others."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits.engine.protocol import implements
from fairbandits.policies import kl
from fairbandits.policies.guarantees import PUBLISHED, Guaranteed, Guarantees
from fairbandits.policies.kl import Limits
from fairbandits.policies.parameters import Positive


class GuaranteeBaselineState(NamedTuple):
    """Limits for KL-UCB, and the guarantees."""

    limits: Limits
    targets: np.ndarray
    protected: np.ndarray


@dataclass(frozen=True)
class GuaranteeBaseline(Guaranteed):
    """Pull the arm furthest below its guarantee; if none is below, that of KL-UCB.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        As in `GuaranteeKLUCB`.
    constant : float
        c in the limits N kl(mean, q) = c log t; the last program that had this policy had 2, the
        published one has 3.03.

    Notes
    -----
    After t rounds an arm is below its guarantee if its rewards sum to less than lambda_i t. Ties go
    to the lowest arm, also of those with the largest limit. That is 1 for an arm never pulled, and
    no limit is below lambda_i.

    References
    ----------
    As in `GuaranteeKLUCB`; the policy is in the program's history, and not in its last version.
    """

    targets: Guarantees
    constant: Positive = PUBLISHED

    def start(self, n_arms: int, horizon: int) -> GuaranteeBaselineState:
        """Return the state before the first round."""
        return GuaranteeBaselineState(*self._begin(n_arms))


@implements("choose", GuaranteeBaselineState)
def _choose(state, t, coin):
    sums, targets = state.limits.sums, state.targets
    arm = -1
    lowest = 0.0
    for j in range(state.protected.size):
        k = state.protected[j]
        ahead = sums[k] - targets[k] * (t - 1)
        if ahead < lowest:
            lowest = ahead
            arm = k
    return arm if arm >= 0 else kl.largest(state.limits, t - 1)


@implements("learn", GuaranteeBaselineState)
def _learn(state, t, arm, reward):
    kl.learn(state.limits, arm, reward)
