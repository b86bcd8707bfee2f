"""Adversarial learners: the black boxes inside BanditQ.

A learner's state has a field ``x``, the distribution it plays next. ``ascend(learner, g)`` moves it
by the gains of all arms, ``absorb(learner, t, arm, g)`` by that of the arm pulled in round `t`.
Gains have no a-priori bound.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from fairbandits.engine.elementary import exp, log
from fairbandits.engine.protocol import inlined, not_inlined, plays_in_lanes, verb
from fairbandits.engine.width import (
    absolute,
    anywhere,
    fill,
    greatest,
    largest,
    no,
    ratio,
    sqrt,
    where,
)
from fairbandits.policies.simplex import log_barrier_shift, mass_and_logs, project_step

ascend, absorb = verb("ascend"), verb("absorb")


@plays_in_lanes
class OGA(NamedTuple):
    """Online gradient ascent with the adaptive step c g / sqrt(sum ||g||^2)."""

    x: np.ndarray
    step: float
    squares: np.ndarray
    moved: np.ndarray

    def ascend(learner, g):
        x = learner.x
        squares, played, total = 0.0, 0.0, 0.0
        for k in range(len(g)):
            gain, on = g[k], x[k] > 0.0
            squares = squares + gain * gain
            played = played + where(on, 1.0, 0.0)
            total = total + where(on, gain, 0.0)
        squares = learner.squares[0] + squares
        learner.squares[0] = squares
        rate = ratio(learner.step, sqrt(squares))
        # the arms played now sum to 1, and mostly they are those of the next round; with V = 0 the
        # first gains can all be 0
        project_step(x, rate, g, rate * (total / played), squares > 0.0, learner.moved)


class AdaHedge(NamedTuple):
    """Exponential weights tuned by the cumulative mixability gap."""

    x: np.ndarray
    gains: np.ndarray
    gap: np.ndarray

    def ascend(learner, g):
        x, gains = learner.x, learner.gains
        n = x.size
        expected = 0.0
        for k in range(n):
            expected += x[k] * g[k]
        rate = _adahedge_rate(learner)
        before = _mix(gains, rate)
        for k in range(n):
            gains[k] += g[k]
        learner.gap[0] += max(0.0, _mix(gains, rate) - before - expected)
        exponential_weights(x, gains, _adahedge_rate(learner))


class Squint(NamedTuple):
    """Second-order quantile learner with the improper prior, restarted when the range doubles."""

    x: np.ndarray
    regrets: np.ndarray
    variances: np.ndarray
    bound: np.ndarray
    logs: np.ndarray

    def ascend(learner, g):
        x = learner.x
        n = x.size
        size = 0.0
        for k in range(n):
            size = max(size, abs(g[k]))
        if _raise_bound(learner.bound, size):
            fill(learner.regrets, 0.0)
            fill(learner.variances, 0.0)
            fill(x, 1.0 / n)
        if learner.bound[0] == 0.0:
            return
        expected = 0.0
        for k in range(n):
            expected += x[k] * g[k]
        for k in range(n):
            regret = (g[k] - expected) / learner.bound[0]
            learner.regrets[k] += regret
            learner.variances[k] += regret * regret
            learner.logs[k] = _log_evidence(learner.regrets[k], learner.variances[k])
        exponential_weights(x, learner.logs, 1.0)


@plays_in_lanes
class FTRL(NamedTuple):
    """Scale-free follow-the-regularised-leader with a log barrier and uniform exploration."""

    x: np.ndarray
    p: np.ndarray
    inverse: np.ndarray  # 1 / p, known without division
    estimates: np.ndarray
    gaps: np.ndarray
    memory: np.ndarray  # see the constants below
    adaptive: bool
    tolerance: float

    def absorb(learner, t, arm, g):
        x, p, inverse, gaps = learner.x, learner.p, learner.inverse, learner.gaps
        estimates, memory = learner.estimates, learner.memory
        n = len(p)
        estimate = g / x[arm]
        ahead = estimate >= 0.0
        some_behind = anywhere(no(ahead))
        mixability = memory[MIXABILITY]
        eta = n / (1.0 + mixability)

        # M(eta) = sup_q <estimate, q - p> - Breg(q || p) / eta, whose maximiser has z = eta *
        # estimate - 1/p; gaps from the largest z, which is the pulled arm's or the largest p's
        top = eta * estimate - inverse[arm]
        # where it is ahead, the best arm had gap 0, so its 1/p is the root
        top = where(ahead, greatest(top, -memory[ROOT_P]), top)
        if some_behind:  # the largest p can be that of the pulled arm, which falls behind
            for k in range(n):
                others = no(ahead) & (arm != k)
                top = where(others, greatest(top, -inverse[k]), top)
        for k in range(n):
            gap = top + inverse[k]
            gaps[k] = where(arm == k, gap - eta * estimate, gap)
        shift = log_barrier_shift(gaps, memory[ROOT_M], learner.tolerance)
        memory[ROOT_M] = shift
        mass, logs = mass_and_logs(gaps, shift, p)
        supremum = (top + shift) * mass - logs - eta * p[arm] * estimate
        mixability = mixability + greatest(0.0, supremum / eta)  # rounding can make it negative
        memory[MIXABILITY] = mixability

        if learner.adaptive:
            explored = memory[EXPLORED] + memory[GAMMA] * absolute(estimate)
            memory[EXPLORED] = explored
            gamma = n / (2.0 * n + explored)
        else:
            gamma = min(0.5, math.sqrt(n / t))
        memory[GAMMA] = gamma

        eta = n / (1.0 + mixability)
        best = greatest(memory[BEST], estimates[arm] + estimate)
        for k in range(n):
            before = estimates[k]
            estimates[k] = where(arm == k, before + estimate, before)
        if some_behind:
            best = where(ahead, best, largest(estimates))
        memory[BEST] = best
        for k in range(n):
            gaps[k] = eta * (best - estimates[k])
        shift = log_barrier_shift(gaps, memory[ROOT_P], learner.tolerance)
        memory[ROOT_P] = shift
        for k in range(n):
            gap = gaps[k] + shift
            share = 1.0 / gap
            inverse[k] = gap
            p[k] = share
            x[k] = (1.0 - gamma) * share + gamma / n


#: Nodes and weights of Gauss and Legendre's 7-point rule on [0, 1/2].
GAUSS = (
    (0.01272302191431035, 0.03237124154221743),
    (0.06461720360015138, 0.06992634787231922),
    (0.1485387121556507, 0.09545751262627968),
    (0.25, 0.10448979591836732),
    (0.35146128784434927, 0.09545751262627968),
    (0.4353827963998486, 0.06992634787231922),
    (0.48727697808568965, 0.03237124154221743),
)

GAMMA, MIXABILITY, EXPLORED, ROOT_M, ROOT_P, BEST = range(6)


class EXP3P(NamedTuple):
    """EXP3.P on gains divided by a range that doubles when exceeded, with a restart."""

    x: np.ndarray
    gains: np.ndarray
    bound: np.ndarray
    eta: float
    beta: float
    gamma: float

    def absorb(learner, t, arm, g):
        x, gains = learner.x, learner.gains
        n = x.size
        if _raise_bound(learner.bound, abs(g)):
            fill(gains, 0.0)
        if learner.bound[0] > 0.0:
            gains[arm] += g / learner.bound[0] / x[arm]
        for k in range(n):
            gains[k] += learner.beta / x[k]
        exponential_weights(x, gains, learner.eta)
        for k in range(n):
            x[k] = (1.0 - learner.gamma) * x[k] + learner.gamma / n


# How the learners start from the uniform distribution `x`, for a `BanditQ` and a horizon.


def oga(policy: Any, x: np.ndarray, horizon: int) -> OGA:
    """Return the start of online gradient ascent (BanditQ Eq. 10)."""
    return OGA(x, float(policy.step_c), np.zeros(1), np.zeros(x.size))


def adahedge(policy: Any, x: np.ndarray, horizon: int) -> AdaHedge:
    """Return the start of AdaHedge (de Rooij, van Erven, Grunwald and Koolen, JMLR 2014)."""
    return AdaHedge(x, np.zeros(x.size), np.zeros(1))


def squint(policy: Any, x: np.ndarray, horizon: int) -> Squint:
    """Return the start of Squint (Koolen and van Erven, COLT 2015)."""
    return Squint(x, *np.zeros((2, x.size)), np.zeros(1), np.zeros(x.size))


def ftrl(policy: Any, x: np.ndarray, horizon: int) -> FTRL:
    """Return the start of the scale-free MAB algorithm (Putta and Agrawal, ALT 2022, Alg. 1)."""
    memory = np.zeros(6)
    memory[GAMMA] = 0.5
    memory[ROOT_M] = memory[ROOT_P] = float(x.size)
    arrays = x, x.copy(), np.full(x.size, float(x.size)), *np.zeros((2, x.size))
    return FTRL(*arrays, memory, policy.gamma_rule == 2, float(policy.tolerance))


def exp3p(policy: Any, x: np.ndarray, horizon: int) -> EXP3P:
    """Return the start of EXP3.P (Bubeck and Cesa-Bianchi 2012, Theorem 3.3) for delta = 0.01."""
    n_arms = x.size
    rate = log(n_arms) / (n_arms * horizon)
    beta = min(1.0, math.sqrt(log(n_arms / 0.01) / (n_arms * horizon)))
    gamma = min(1.0, 1.05 * n_arms * math.sqrt(rate))
    return EXP3P(x, np.zeros(n_arms), np.zeros(1), 0.95 * math.sqrt(rate), beta, gamma)


#: Kind of feedback -> its learners by name, the first by default.
STARTS = {
    "bandit": {"ftrl": ftrl, "exp3p": exp3p},
    "full": {"oga": oga, "adahedge": adahedge, "squint": squint},
}


@inlined
def _adahedge_rate(learner):
    return log(learner.x.size) / learner.gap[0] if learner.gap[0] > 0.0 else math.inf


@inlined
def exponential_weights(x, gains, rate):
    """Make x proportional to exp(rate * gains), at rate = infinity equal for the largest."""
    best = largest(gains)
    total = 0.0
    for k in range(x.size):
        if rate == math.inf:
            x[k] = 1.0 if gains[k] == best else 0.0
        else:
            x[k] = exp(rate * (gains[k] - best))
        total += x[k]
    for k in range(x.size):
        x[k] /= total


@inlined
def _mix(gains, rate):
    """Return (1 / rate) log mean exp(rate * gains), at rate = infinity the maximum."""
    best = largest(gains)
    if rate == math.inf:
        return best
    total = 0.0
    for k in range(gains.size):
        total += exp(rate * (gains[k] - best))
    return best + log(total / gains.size) / rate


@inlined
def _raise_bound(bound, size):
    """Double the range until it holds `size` (start: the first nonzero one); say if it changed."""
    if size <= bound[0]:
        return False
    if bound[0] == 0.0:
        bound[0] = size
    while bound[0] < size:
        bound[0] *= 2.0
    return True


@not_inlined
def _log_evidence(regret, variance):
    """Return log of the integral over [0, 1/2] of exp(eta R - eta^2 V) d eta."""
    if variance < 1e-4:  # the differences below would lose digits; the integrand is nearly flat
        total = 0.0
        for node, weight in GAUSS:
            total += weight * exp(node * (regret - node * variance))
        return log(total)
    root = math.sqrt(variance)
    upper = regret / (2.0 * root)
    lower = (regret - variance) / (2.0 * root)
    scale = log(math.sqrt(math.pi) / (2.0 * root))
    if lower > 0.0:
        tail = _erfcx(lower) - exp(lower * lower - upper * upper) * _erfcx(upper)
        return scale + upper * upper - lower * lower + log(tail)
    if upper < 0.0:
        tail = _erfcx(-upper) - exp(upper * upper - lower * lower) * _erfcx(-lower)
        return scale + log(tail)
    return scale + upper * upper + log(math.erf(upper) - math.erf(lower))


@not_inlined
def _erfcx(x):
    """Return exp(x^2) erfc(x) for x >= 0."""
    if x < 20.0:
        return exp(x * x) * math.erfc(x)
    s = 1.0 / (2.0 * x * x)
    series = 1.0  # asymptotic; the first term left out is below 1e-15 of the sum
    for odd in range(11, 0, -2):
        series = 1.0 - odd * s * series
    return series / (x * math.sqrt(math.pi))
