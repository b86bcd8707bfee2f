"""KL-UCB, and the KL confidence bounds of means in [0, 1] that related policies share.

The upper bound of an arm with mean p after N pulls is the q >= p with N kl(p, q) = c log t, where
kl is the divergence between Bernoulli laws. In x = log(1 - q) the equation is convex and
decreasing, so Newton's method climbs to its root from any x below, and bounds next to 1 keep their
precision. The lower bound of p is 1 minus the upper bound of 1 - p.

Most bounds need not be computed. Until its arm is pulled, a bound grows with t alone. So each block
of rounds has an `upper` bound of each arm, the bound at its end, and only arms whose `upper`
exceeds the best bound so far are examined. The leader's bound is above a rival's `upper` u if N
kl(p, u) < c log t, which needs no solution. If no margin far above rounding errors decides, the
bounds are compared. Equal statistics give equal bounds, since Newton's method starts from the bound
of the block's end.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbandits.engine.elementary import exp, log
from fairbandits.engine.protocol import inlined, not_inlined
from fairbandits.engine.width import nonnegative
from fairbandits.policies.parameters import Policy, Positive

LEADER, UNTIL, UNPULLED = range(3)
HIGH, RIVAL = range(2)
#: No logarithm of a probability: the bound must be solved for without a first guess.
UNKNOWN = 1.0
#: Newton's method stops before a step below this.
EXACT = 1e-12
#: Rivals nearer to 1, and differences of bounds below this, are left to the comparison.
NEAR_ONE, CLOSE = 1.0 - 1e-6, 1e-9


class Limits(NamedTuple):
    """Data for the bounds; see the module, and the constants above for `marks` and `numbers`.

    `mean` is cut to [0, 1], `entropy` is p log p + (1 - p) log(1 - p), and no bound is below
    `floor`. `log_gap` is x at the end of the block, where c log t is the number `HIGH`. `RIVAL` is
    the largest `upper` of all arms except the leader.
    """

    pulls: np.ndarray
    sums: np.ndarray
    mean: np.ndarray
    entropy: np.ndarray
    floor: np.ndarray
    log_gap: np.ndarray
    upper: np.ndarray
    marks: np.ndarray
    numbers: np.ndarray
    constant: float


def no_pulls(n_arms: int, constant: float, floor: tuple[float, ...] | None = None) -> Limits:
    """Return the bounds before any pull, for c = `constant` > 0; none below `floor` (default 0)."""
    return Limits(
        np.zeros(n_arms, np.int64),
        *np.zeros((3, n_arms)),
        np.array(floor or (0.0,) * n_arms),
        np.full(n_arms, UNKNOWN),
        np.ones(n_arms),
        np.array([0, -1, n_arms]),
        np.array([0.0, 1.0]),
        float(constant),
    )


@inlined
def negentropy(p):
    if not 0.0 < p < 1.0:
        return 0.0
    return p * log(p) + (1.0 - p) * log(1.0 - p)


@not_inlined
def log_gap(p, entropy, divergence, guess):
    """Return log(1 - q) for the q >= p with kl(p, q) = `divergence` > 0; p < 1 has this entropy."""
    rest = 1.0 - p
    x = guess
    if x > 0.0:
        x = _near(p, entropy, divergence)
    for _ in range(100):
        gap = exp(x)
        q = 1.0 - gap
        step = q * (p * log(q) + rest * x + divergence - entropy) / (gap - rest)
        x += step
        # the next step would be half its square times p gap / q^2, by the slope (rest - gap) / q
        if step * step * p * gap <= EXACT * q * (rest - gap):
            break
    return x


@inlined
def _near(p, entropy, divergence):
    """Return a number near the root, from a series of q - p, but not below a bound of q."""
    x = (entropy - divergence) / (1.0 - p)
    first = math.sqrt(2.0 * p * (1.0 - p) * divergence)
    second = (2.0 - 4.0 * p) * divergence / 3.0
    q = p + first + max(second, -0.5 * first)
    return max(x, log(1.0 - q)) if p < q < 1.0 else x


@inlined
def level(limits, clock):
    """Return c log t."""
    return limits.constant * log(max(clock, 1))


@not_inlined
def upper_limit(limits, k, level):
    """Return the upper bound of arm k; 1 before its first pull."""
    pulls, p = limits.pulls[k], limits.mean[k]
    if pulls == 0 or p >= 1.0:
        return 1.0
    if level <= 0.0:
        return max(p, limits.floor[k])
    if limits.log_gap[k] > 0.0:
        _bound(limits, k)
    x = log_gap(p, limits.entropy[k], level / pulls, limits.log_gap[k])
    return max(1.0 - exp(x), limits.floor[k])


@inlined
def _bound(limits, k):
    """Compute an arm's bound at the end of the block."""
    pulls, p, high = limits.pulls[k], limits.mean[k], limits.numbers[HIGH]
    if pulls == 0 or p >= 1.0 or high <= 0.0:
        limits.upper[k] = 1.0
        return
    x = log_gap(p, limits.entropy[k], high / pulls, UNKNOWN)
    limits.log_gap[k] = x
    limits.upper[k] = max(1.0 - exp(x), limits.floor[k])


@inlined
def largest(limits, clock):
    """Return the lowest arm of largest upper bound after `clock` rounds."""
    if clock > limits.marks[UNTIL]:
        _begin(limits, clock)
    now = level(limits, clock)
    if not _leads(limits, now):
        _compare(limits, now)
    return nonnegative(limits.marks[LEADER])


@not_inlined
def _begin(limits, clock):
    until = clock + clock // 256 + 4
    limits.marks[UNTIL] = until
    limits.numbers[HIGH] = level(limits, until)
    for k in range(limits.upper.size):
        _bound(limits, k)


@inlined
def _leads(limits, now):
    """Return whether the leader's bound is above all others for certain."""
    leader = nonnegative(limits.marks[LEADER])
    rival = 0.0
    for k in range(limits.upper.size):
        if k != leader:
            rival = max(rival, limits.upper[k])
    limits.numbers[RIVAL] = rival
    if limits.pulls[leader] == 0 or rival >= NEAR_ONE:
        return False
    if max(limits.mean[leader], limits.floor[leader]) > rival + CLOSE:
        return True
    return limits.mean[leader] < rival and _evidence(limits, leader) < now * (1.0 - 1e-8)


@inlined
def _evidence(limits, k):
    """Return N kl(p, u) of an arm with p < u, where u is `RIVAL`."""
    p, rival = limits.mean[k], limits.numbers[RIVAL]
    rest = (1.0 - p) * log(1.0 - rival)
    return limits.pulls[k] * (limits.entropy[k] - p * log(rival) - rest)


@not_inlined
def _compare(limits, now):
    """Compare the bounds of all arms that could have the largest."""
    leader = nonnegative(limits.marks[LEADER])
    arm, best = leader, upper_limit(limits, leader, now)
    for k in range(limits.upper.size):
        if k != leader and limits.upper[k] >= best - CLOSE:
            value = upper_limit(limits, k, now)
            if value > best or (value == best and k < arm):
                arm, best = k, value
    limits.marks[LEADER] = arm


@inlined
def first_unpulled(limits):
    """Return the lowest arm never pulled, or -1."""
    if limits.marks[UNPULLED] > 0:
        for k in range(limits.pulls.size):
            if limits.pulls[k] == 0:
                return k
    return -1


@inlined
def choose(limits, t):
    """Return the arm of round t: the lowest never pulled, else that of the largest bound."""
    arm = first_unpulled(limits)
    return arm if arm >= 0 else largest(limits, t - 1)


@inlined
def learn(limits, arm, reward):
    pulls = limits.pulls[arm] + 1
    limits.pulls[arm] = pulls
    limits.marks[UNPULLED] -= 1 if pulls == 1 else 0
    limits.sums[arm] += reward
    p = min(max(limits.sums[arm] / pulls, 0.0), 1.0)
    limits.mean[arm] = p
    limits.entropy[arm] = negentropy(p)
    limits.log_gap[arm] = UNKNOWN
    rival = limits.numbers[RIVAL]
    other = arm != limits.marks[LEADER]  # whose limit is compared with all others'
    below = other and max(p, limits.floor[arm]) < rival < NEAR_ONE
    if below and _evidence(limits, arm) > limits.numbers[HIGH] * (1.0 + 1e-8):
        limits.upper[arm] = rival  # it is less, which is enough to know
    else:
        limits.upper[arm] = 1.0  # until it matters


class KLUCBState(NamedTuple):
    limits: Limits

    def choose(state, t, coin):
        return choose(state.limits, t)

    def learn(state, t, arm, reward):
        """Learn for a policy whose state has `limits`."""
        learn(state.limits, arm, reward)


@dataclass(frozen=True)
class KLUCB(Policy):
    """Pull the arm of the largest q with N kl(mean, q) = c log t, after each arm once.

    kl is the divergence between Bernoulli laws, N the arm's pulls and t the rounds played so far.
    Ties go to the lowest arm. A mean outside [0, 1] is moved to the nearer end.

    Parameters
    ----------
    constant : float
        c, above 0; in practice its authors recommend 1.

    References
    ----------
    A. Garivier and O. Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT
    2011, Algorithm 1, without the term c log log t.
    """

    constant: Positive = 1.0

    def start(self, n_arms: int, horizon: int) -> KLUCBState:
        return KLUCBState(no_pulls(n_arms, self.constant))
