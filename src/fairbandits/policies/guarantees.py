"""Guaranteed reward rates, by estimated means or by shortfall, and KL-UCB for the rest."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.engine.elementary import exp
from fairbandits.engine.protocol import inlined, not_inlined
from fairbandits.engine.streams import unit
from fairbandits.policies import kl
from fairbandits.policies.kl import Limits
from fairbandits.policies.parameters import Means, Policy, Positive, one_of
from fairbandits.policies.simplex import sample

#: Guaranteed reward rates, of rewards in [0, 1].
Guarantees = Means
#: c in kl(mean, q) = c log t / N: of the published curves, and of the published program, which
#: changed to 3 (1 + 0.01) after the data of the curves were made.
OF_CURVES, OF_PROGRAM = 2.0, 3.03
MEAN, UPPER, LOWER = range(3)
ESTIMATES = {"mean": MEAN, "upper": UPPER, "lower": LOWER}
EXCESS = ("upper", "normalise")


class Guaranteed(Policy):
    """Base of the policies that play KL-UCB in the rounds that the guarantees leave."""

    def _begin(self, n_arms: int) -> tuple[kl.Limits, np.ndarray]:
        """Return bounds without pulls, at least the guarantees, and the arms that have one."""
        checks.length("targets", self.targets, n_arms)
        limits = kl.no_pulls(n_arms, self.constant, self.targets)
        return limits, np.flatnonzero(limits.floor)


class GuaranteeBaselineState(NamedTuple):
    """Bounds for KL-UCB, none below the guarantee."""

    limits: Limits
    protected: np.ndarray

    def choose(state, t, coin):
        sums, targets = state.limits.sums, state.limits.floor
        arm, lowest = -1, 0.0
        for k in state.protected:
            ahead = sums[k] - targets[k] * (t - 1)
            if ahead < lowest:
                arm, lowest = k, ahead
        return arm if arm >= 0 else kl.largest(state.limits, t - 1)

    learn = kl.KLUCBState.learn


class GuaranteeKLUCBState(NamedTuple):
    """Bounds for KL-UCB, and log(1 - upper), log(lower) of the last bounds computed."""

    limits: Limits
    protected: np.ndarray
    log_gap: np.ndarray
    log_lower: np.ndarray
    x: np.ndarray
    y: np.ndarray
    estimate: int
    try_upper: bool

    def choose(state, t, coin):
        arm = kl.first_unpulled(state.limits)
        if arm >= 0:
            return arm
        total = _share(state, t - 1)
        if total >= 1.0:
            return sample(state.x, coin)
        best = kl.largest(state.limits, t - 1)
        share = state.x[best]
        state.x[best] = share + (1.0 - total)
        arm = sample(state.x, coin)
        state.x[best] = share
        return arm

    def learn(state, t, arm, reward):
        kl.learn(state.limits, arm, reward)
        state.log_gap[arm] = kl.UNKNOWN
        state.log_lower[arm] = kl.UNKNOWN


class GuaranteeAnytimeState(NamedTuple):
    """Bounds for KL-UCB; pulls, sums and the rest lambda / mean - lambda of the second part."""

    limits: Limits
    protected: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    extra: np.ndarray
    totals: np.ndarray  # of lambda / mean, and of the rests
    second: np.ndarray  # whether the arm is drawn by the second part
    owed: float

    def choose(state, t, coin):
        u = unit(coin)
        state.second[0] = False
        if u < state.owed:
            return _drawn(state.protected, state.limits.floor, 1.0, 0.0, u)
        needed, added = state.totals[0], state.totals[1]
        scale = 1.0 if needed <= 1.0 else (1.0 - state.owed) / added
        if u < state.owed + scale * added or needed > 1.0:
            state.second[0] = True
            return _drawn(state.protected, state.extra, scale, state.owed, u)
        return kl.largest(state.limits, t - 1)

    def learn(state, t, arm, reward):
        kl.learn(state.limits, arm, reward)
        if state.second[0]:
            state.pulls[arm] += 1
            state.sums[arm] += reward
            _add_up(state)


@dataclass(frozen=True)
class GuaranteeBaseline(Guaranteed):
    """Pull the arm furthest below its guarantee; if none is below, the arm of KL-UCB.

    After t rounds an arm is below its guarantee if its rewards sum to less than lambda_i t. Ties go
    to the lowest arm. The bound of an arm never pulled is 1, and no bound is below lambda_i. The
    policy exists only in an earlier version of the published program.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        As in `GuaranteeKLUCB`.
    constant : float
        c in the bounds N kl(mean, q) = c log t; 2 as in the program with this policy.
    """

    targets: Guarantees
    constant: Positive = OF_CURVES

    def start(self, n_arms: int, horizon: int) -> GuaranteeBaselineState:
        return GuaranteeBaselineState(*self._begin(n_arms))


@dataclass(frozen=True)
class GuaranteeKLUCB(Guaranteed):
    """Give each guaranteed arm the probability lambda / estimate, and the rest to KL-UCB.

    Each arm is pulled once first. KL-UCB pulls the lowest arm of largest upper bound, which is
    never below lambda_i. t is the number of rounds played so far.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        Guaranteed reward rate lambda_i of each arm, in [0, 1]; 0 for arms without a guarantee.
    estimate : {"mean", "upper", "lower"}
        The estimate of an arm's mean: the empirical mean, or its upper or lower KL bound. It is at
        least lambda_i, since otherwise the guarantee cannot be kept.
    constant : float
        c in the bounds N kl(mean, q) = c log t. 2 gives the published curves; the published program
        has 3.03, which it took over after their data were made.
    excess : {"upper", "normalise"}
        If the probabilities sum to 1 or more, ``normalise`` divides them by their sum. ``upper``
        does so only if the probabilities of the upper bounds also sum to 1 or more, and otherwise
        takes these.

    References
    ----------
    D. Baudry, N. Merlis, M. Molina, H. Richard and V. Perchet, "Multi-armed bandits with guaranteed
    revenue per arm", AISTATS 2024: greedy, UCB and LCB, and their variants (``normalise``).
    """

    targets: Guarantees
    estimate: Annotated[str, one_of(*ESTIMATES)] = "mean"
    constant: Positive = OF_CURVES
    excess: Annotated[str, one_of(*EXCESS)] = "upper"

    def start(self, n_arms: int, horizon: int) -> GuaranteeKLUCBState:
        return GuaranteeKLUCBState(
            *self._begin(n_arms),
            *np.full((2, n_arms), kl.UNKNOWN),
            *np.zeros((2, n_arms)),
            ESTIMATES[self.estimate],
            self.excess == "upper" and self.estimate != "upper",
        )


@dataclass(frozen=True)
class GuaranteeAnytime(Guaranteed):
    """Draw an arm by its guarantee, by the addition of its estimate, or by KL-UCB.

    It is the anytime version of `GuaranteeETC`. Arm i has the probability lambda_i and, as a second
    part, lambda_i / m_i - lambda_i. KL-UCB, which learns from all pulls, has the rest. The estimate
    m_i, between lambda_i and 1, is the mean of the pulls of the second part alone, and lambda_i
    before the first such pull. If the lambda_i / m_i sum to more than 1, the second part is scaled
    to the room that the first part leaves. Ties go to the lowest arm.

    Parameters
    ----------
    targets, constant
        As in `GuaranteeKLUCB`; the targets sum to at most 1.
    """

    targets: Guarantees
    constant: Positive = OF_CURVES

    def __post_init__(self):
        super().__post_init__()
        if sum(self.targets) > 1 + checks.SLACK:
            raise ValueError(
                "targets must sum to at most 1, which is all that rewards in [0, 1] can give, got "
                f"{sum(self.targets):.6g}"
            )

    def start(self, n_arms: int, horizon: int) -> GuaranteeAnytimeState:
        state = GuaranteeAnytimeState(
            *self._begin(n_arms),
            np.zeros(n_arms, np.int64),
            *np.zeros((2, n_arms)),
            np.zeros(2),
            np.zeros(1, bool),
            sum(self.targets),
        )
        _add_up(state)
        return state


@inlined
def upper_gap(p, entropy, divergence, known, k):
    """Return 1 - q for the upper bound q of p, starting from the last round's."""
    if p >= 1.0:
        return 0.0
    if divergence <= 0.0:
        return 1.0 - p
    known[k] = kl.log_gap(p, entropy, divergence, known[k])
    return exp(known[k])


@inlined
def _estimate(state, kind, k, level):
    limits = state.limits
    mean, entropy = limits.mean[k], limits.entropy[k]
    estimate = mean
    if kind == UPPER:
        estimate = 1.0 - upper_gap(mean, entropy, level / limits.pulls[k], state.log_gap, k)
    elif kind == LOWER:
        estimate = upper_gap(1.0 - mean, entropy, level / limits.pulls[k], state.log_lower, k)
    return max(estimate, limits.floor[k])


@inlined
def _fill(state, kind, clock, x):
    """Write the probabilities of the guarantees; return their sum."""
    level = kl.level(state.limits, clock) if kind != MEAN else 0.0
    total = 0.0
    for k in state.protected:
        x[k] = state.limits.floor[k] / _estimate(state, kind, k, level)
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
            for k in state.protected:
                state.x[k] = state.y[k]
            return least
    for k in state.protected:
        state.x[k] /= total
    return 1.0


@inlined
def _add_up(state):
    """Compute the additions of the estimates to the guarantees."""
    needed = 0.0
    added = 0.0
    for k in state.protected:
        target = state.limits.floor[k]
        mean = state.sums[k] / state.pulls[k] if state.pulls[k] > 0 else 0.0
        share = target / min(max(mean, target), 1.0)
        state.extra[k] = share - target
        needed += share
        added += share - target
    state.totals[0] = needed
    state.totals[1] = added


@inlined
def _drawn(protected, shares, scale, cumulated, u):
    """Return the first arm whose cumulative share exceeds the coin, else the last arm."""
    for j in range(protected.size - 1):
        cumulated += scale * shares[protected[j]]
        if cumulated > u:
            return protected[j]
    return protected[protected.size - 1]
