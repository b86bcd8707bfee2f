"""Explore then commit without a horizon: a mixture of three distributions."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import implements, inlined
from fairbandits.engine.streams import unit
from fairbandits.policies import kl
from fairbandits.policies.guarantees import PUBLISHED, Guaranteed, Guarantees
from fairbandits.policies.kl import Limits
from fairbandits.policies.parameters import Positive

OWED, ESTIMATED, FREE = range(3)


class GuaranteeAnytimeState(NamedTuple):
    """Limits for KL-UCB; pulls, sums and the rest lambda / mean - lambda of the second part."""

    limits: Limits
    targets: np.ndarray
    protected: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    extra: np.ndarray
    totals: np.ndarray  # of lambda / mean, and of the rests
    part: np.ndarray
    owed: float


@dataclass(frozen=True)
class GuaranteeAnytime(Guaranteed):
    """Draw an arm by its guarantee, by what its estimate adds to that, or take that of KL-UCB.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        As in `GuaranteeKLUCB`; they sum to at most 1.
    constant : float
        As in `GuaranteeKLUCB`.

    Notes
    -----
    The three parts: arm i has probability lambda_i; then lambda_i / m_i - lambda_i; what is left is
    KL-UCB's. m_i is the mean of the pulls in the second part alone, between lambda_i and 1, and
    lambda_i before the first of them. Where lambda_i / m_i sum to more than 1, the second part is
    scaled to what the first one leaves, and nothing is left for KL-UCB. That has all pulls; an arm
    never pulled has the limit 1, no limit is below lambda_i, ties go to the lowest arm. One coin
    draws the part and the arm.

    References
    ----------
    As in `GuaranteeKLUCB`; it is the anytime version of `GuaranteeETC`.
    """

    targets: Guarantees
    constant: Positive = PUBLISHED

    def __post_init__(self):
        super().__post_init__()
        if sum(self.targets) > 1 + checks.SLACK:
            raise ValueError(
                "targets must sum to at most 1, which is all that rewards in [0, 1] can give, got "
                f"{sum(self.targets):.6g}"
            )

    def start(self, n_arms: int, horizon: int) -> GuaranteeAnytimeState:
        """Return the state before the first round."""
        state = GuaranteeAnytimeState(
            *self._begin(n_arms),
            np.zeros(n_arms, np.int64),
            *np.zeros((2, n_arms)),
            np.zeros(2),
            np.array([FREE]),
            sum(self.targets),
        )
        _add_up(state)
        return state


@inlined
def _add_up(state):
    """Compute the additions of the estimates to the guarantees."""
    needed = 0.0
    added = 0.0
    for j in range(state.protected.size):
        k = state.protected[j]
        target = state.targets[k]
        mean = state.sums[k] / state.pulls[k] if state.pulls[k] > 0 else 0.0
        share = target / min(max(mean, target), 1.0)
        state.extra[k] = share - target
        needed += share
        added += share - target
    state.totals[0] = needed
    state.totals[1] = added


@implements("choose", GuaranteeAnytimeState)
def _choose(state, t, coin):
    u = unit(coin)
    cumulated = 0.0
    if u < state.owed:
        state.part[0] = OWED
        return _drawn(state.protected, state.targets, 1.0, cumulated, u)
    needed, added = state.totals[0], state.totals[1]
    scale = 1.0 if needed <= 1.0 else (1.0 - state.owed) / added
    if u < state.owed + scale * added or needed > 1.0:
        state.part[0] = ESTIMATED
        return _drawn(state.protected, state.extra, scale, state.owed, u)
    state.part[0] = FREE
    return kl.largest(state.limits, t - 1)


@inlined
def _drawn(protected, shares, scale, cumulated, u):
    """Return the first arm whose cumulated share exceeds the coin, else the last one."""
    for j in range(protected.size - 1):
        cumulated += scale * shares[protected[j]]
        if cumulated > u:
            return protected[j]
    return protected[protected.size - 1]


@implements("learn", GuaranteeAnytimeState)
def _learn(state, t, arm, reward):
    kl.learn(state.limits, arm, reward)
    if state.part[0] == ESTIMATED:
        state.pulls[arm] += 1
        state.sums[arm] += reward
        _add_up(state)
