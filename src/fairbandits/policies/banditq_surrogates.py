"""BanditQ inside the full-information loop, and statistics of the surrogate rewards of all arms."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import assign, fill, largest
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.protocol import choose, distribute, implements, learn, probe
from fairbandits.policies import banditq, checks
from fairbandits.policies.parameters import Targets, number, one_of

#: Lags 1 to 10, 11 to 100 and 101 to 1000.
ENDS = (10, 100, 1000)
LAGS = ENDS[-1]
#: Places in `scalars`.
ROUNDS, EARNED, NORM = range(3)


class Gains(NamedTuple):
    """Sums over the rounds of the surrogate rewards g; arm k is the last index."""

    last: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    peak: np.ndarray
    products: np.ndarray  # shape (3, n_arms): sum of g(t) times the window before it
    windows: np.ndarray  # shape (3, n_arms): sum of g over the lags of a window
    past: np.ndarray  # shape (LAGS, n_arms): the last ones, round t in row (t - 1) % LAGS
    first: np.ndarray  # shape (LAGS, n_arms): the first ones
    scalars: np.ndarray


class SurrogateFullState(NamedTuple):
    """BanditQ that sees all rewards, and the statistics."""

    policy: banditq.FullState
    gains: Gains


class SurrogateBanditState(NamedTuple):
    """BanditQ that sees the reward of its own arm, the arm, and the statistics."""

    policy: banditq.BanditState
    arm: np.ndarray
    before: np.ndarray
    gains: Gains


@dataclass(frozen=True)
class BanditQSurrogates:
    """BanditQ, played in the full-information loop, with the surrogate rewards of all arms kept.

    With ``seen = "bandit"`` it draws its own arm, plays it, and learns from that arm's reward only;
    the rewards of the others are there to measure what BanditQ cannot see.

    Parameters
    ----------
    targets, V, V_exponent, surrogate_index
        As in `BanditQ`; all its other parameters have their defaults.
    seen : {"full", "bandit"}
        What BanditQ learns from.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    The surrogate reward of arm i is g_i(t) = (Q_i + V) r_i(t), Q_i before the round's update or
    after it as `surrogate_index` says. The probes are those of BanditQ, and of each arm
    ``gain_sum``, ``gain_squares`` and ``gain_max``, the sum of g_i, of its squares, and the largest
    |g_i| so far; ``surrogate_regret`` = max_i sum g_i - sum <x, g>, x being the arm drawn with
    ``seen = "bandit"``, and ``gain_norm``, the largest Euclidean norm of g so far, both the same at
    every arm.

    ``correlation_10``, ``correlation_100`` and ``correlation_1000`` are the mean autocorrelations
    of g_i(1), ..., g_i(t) at lags 1 to 10, 11 to 100 and 101 to 1000, with the usual estimate

        C(l) = (1/t) sum_{s > l} (g(s) - m) (g(s - l) - m),  m the mean,  C(l) / C(0),

    which is 0 where l >= t, or C(0) is. The sum of C over a window of lags needs the sum of g(s)
    times the sum of g over the window before s, which moves along; and for m, which is known at
    the end only, the first and the last thousand values. So it is exact but for rounding.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", Eqs 9, 16 and 18, Theorem 2.
    """

    targets: Targets
    seen: Annotated[str, one_of("full", "bandit")] = "full"
    V: Annotated[float | None, number(at_least=0)] = None
    V_exponent: float = 0.5
    surrogate_index: Annotated[str, one_of("post", "pre")] = "post"
    feedback: ClassVar[str] = "full"
    probes: ClassVar[tuple[str, ...]] = (
        *banditq.PROBES,
        "surrogate_regret",
        "gain_sum",
        "gain_squares",
        "gain_max",
        "gain_norm",
        "correlation_10",
        "correlation_100",
        "correlation_1000",
    )

    def __post_init__(self):
        object.__setattr__(self, "targets", tuple(float(target) for target in self.targets))
        checks.one_of("seen", self.seen, ("full", "bandit"))
        self._policy()

    def _policy(self) -> banditq.BanditQ:
        return banditq.BanditQ(
            self.targets,
            self.seen,
            V=self.V,
            V_exponent=self.V_exponent,
            surrogate_index=self.surrogate_index,
        )

    def start(self, n_arms: int, horizon: int) -> SurrogateFullState | SurrogateBanditState:
        """Return the state before the first round."""
        policy = self._policy().start(n_arms, horizon)
        gains = Gains(
            *np.zeros((4, n_arms)),
            *np.zeros((2, len(ENDS), n_arms)),
            *np.zeros((2, LAGS, n_arms)),
            np.zeros(3),
        )
        if self.seen == "full":
            return SurrogateFullState(policy, gains)
        return SurrogateBanditState(policy, np.zeros(1, np.int64), np.zeros(n_arms), gains)


@implements("distribute", SurrogateFullState)
def _distribute(state, t, coin, out):
    distribute(state.policy, t, coin, out)


@implements("learn", SurrogateFullState)
def _learn_all(state, t, x, reward):
    learn(state.policy, t, x, reward)
    assign(state.gains.last, state.policy.surrogate)
    _take(state.gains, t, x)


@implements("distribute", SurrogateBanditState)
def _draw(state, t, coin, out):
    arm = choose(state.policy, t, coin)
    state.arm[0] = arm
    fill(out, 0.0)
    out[arm] = 1.0


@implements("learn", SurrogateBanditState)
def _learn_own(state, t, x, reward):
    policy, before, last = state.policy, state.before, state.gains.last
    assign(before, policy.queue)
    arm = state.arm[0]
    learn(policy, t, arm, reward[arm])
    for k in range(last.size):
        length = policy.queue[k] if policy.post else before[k]
        last[k] = (length + policy.penalty) * reward[k]
    _take(state.gains, t, x)


@register_jitable(**INLINE)
def _take(gains, t, x):
    """Take the surrogate rewards of a round, `gains.last`, into the statistics."""
    last, scalars, windows, past = gains.last, gains.scalars, gains.windows, gains.past
    norm = 0.0
    now = (t - 1) % LAGS
    ago_10 = (t - 1 - 10) % LAGS
    ago_100 = (t - 1 - 100) % LAGS
    for k in range(last.size):
        g = last[k]
        scalars[EARNED] += x[k] * g
        norm += g * g
        gains.sums[k] += g
        gains.squares[k] += g * g
        gains.peak[k] = max(gains.peak[k], abs(g))
        for w in range(3):
            gains.products[w, k] += g * windows[w, k]
        windows[0, k] += g - past[ago_10, k]
        windows[1, k] += past[ago_10, k] - past[ago_100, k]
        windows[2, k] += past[ago_100, k] - past[now, k]  # as old as LAGS rounds
        past[now, k] = g
        if t <= LAGS:
            gains.first[now, k] = g
    scalars[NORM] = max(scalars[NORM], math.sqrt(norm))
    scalars[ROUNDS] = t


@register_jitable(**INLINE)
def _correlations(gains, k, out):
    """Write the mean autocorrelations of arm k over the windows of lags into out[:, k]."""
    rounds = int(gains.scalars[ROUNDS])
    total = gains.sums[k]
    mean = total / rounds
    variance = gains.squares[k] / rounds - mean * mean
    head = 0.0
    tail = 0.0
    lag = 0
    for w in range(3):
        covariance = gains.products[w, k]
        lags = ENDS[w] - lag
        while lag < ENDS[w]:
            lag += 1
            if lag < rounds:
                head += gains.first[lag - 1, k]
                tail += gains.past[(rounds - lag) % LAGS, k]
                pairs = rounds - lag
                covariance += mean * (pairs * mean - (2.0 * total - head - tail))
        out[w, k] = covariance / (rounds * lags) / variance if variance > 0.0 else 0.0


def _probe(state, out):
    probe(state.policy, out)
    gains = state.gains
    fill(out[4], largest(gains.sums) - gains.scalars[EARNED])
    assign(out[5], gains.sums)
    assign(out[6], gains.squares)
    assign(out[7], gains.peak)
    fill(out[8], gains.scalars[NORM])
    for k in range(gains.sums.size):
        _correlations(gains, k, out[9:])


implements("probe", SurrogateFullState)(_probe)
implements("probe", SurrogateBanditState)(_probe)
