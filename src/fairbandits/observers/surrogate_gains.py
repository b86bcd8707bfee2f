"""Statistics of BanditQ's surrogate rewards of all arms, including unseen ones."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.protocol import inlined, plays_in_lanes
from fairbandits.engine.width import Shared, absolute, assign, fill, greatest, largest, ratio, sqrt
from fairbandits.observers.common import Observer, refuse
from fairbandits.policies import banditq
from fairbandits.policies.wrapping import OwnRewardState

#: Lags 1 to 10, 11 to 100 and 101 to 1000.
ENDS = (10, 100, 1000)
LAGS = ENDS[-1]
#: Places in `scalars`.
EARNED, NORM = range(2)


@plays_in_lanes
class Gains(NamedTuple):
    """Sums over the rounds of the surrogate rewards g; arm k is the last index."""

    before: np.ndarray  # queues before the round
    last: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    peak: np.ndarray
    products: np.ndarray  # shape (3, n_arms): sum of g(t) times the window before it
    windows: np.ndarray  # shape (3, n_arms): sum of g over the lags of a window
    past: np.ndarray  # shape (LAGS, n_arms): the last ones, round t in row (t - 1) % LAGS
    first: np.ndarray  # shape (LAGS, n_arms): the first ones
    scalars: np.ndarray
    rounds: Shared

    def watch(gains, state, t, x, reward):
        assign(gains.last, state.surrogate)
        _take(gains, t, x)

    def report(gains, state, out):
        fill(out[0], largest(gains.sums) - gains.scalars[EARNED])
        assign(out[1], gains.sums)
        assign(out[2], gains.squares)
        assign(out[3], gains.peak)
        fill(out[4], gains.scalars[NORM])
        for k in range(len(gains.sums)):
            _correlations(gains, k, out[5:])


@plays_in_lanes
class UnseenGains(Gains):
    """The same for BanditQ that sees its own arm's reward."""

    def watch(gains, state, t, x, reward):
        policy, before = state.learner, gains.before
        queues = policy.queues
        for k in range(len(before)):
            length = queues.length[k] if policy.post else before[k]
            gains.last[k] = banditq.surrogate_gain(queues, length, reward[k])
        assign(before, queues.length)
        _take(gains, t, x)


@dataclass(frozen=True)
class SurrogateGains(Observer):
    """The surrogate rewards of all arms of BanditQ, with full information or inside `OwnReward`.

    The surrogate reward of arm i is g_i(t) = (Q_i + V) r_i(t), with Q_i before or after the round's
    update, by BanditQ's `surrogate_index` (Eqs 9, 16 and 18, Theorem 2). Inside `OwnReward` the x
    of `surrogate_regret` is the arm drawn. The autocorrelations of g_i(1), ..., g_i(t) are C(l) /
    C(0), with C(l) = (1/t) sum_{s > l} (g(s) - m) (g(s - l) - m) and the mean m. They are 0 if l >=
    t or C(0) = 0, and exact up to rounding.

    Columns
    -------
    surrogate_regret : reward squared
        Largest sum of an arm's surrogate rewards minus the sum of those earned, rounds 1..t. Range:
        any. One value for each replicate and round; the same at every arm.
    gain_sum : reward squared
        Sum over rounds 1..t of the arm's surrogate reward g_k = (Q_k + V) r_k. Range: at least 0.
    gain_squares : reward to the fourth
        Sum over rounds 1..t of g_k^2. Range: at least 0. Never falls.
    gain_max : reward squared
        Largest |g_k| in rounds 1..t. Range: at least 0. Never falls.
    gain_norm : reward squared
        Largest Euclidean norm of (g_1, ..., g_K) in rounds 1..t. Range: at least 0. One value for
        each replicate and round; the same at every arm. Never falls.
    correlation_10
        Mean autocorrelation of the arm's surrogate reward g_k up to round t, lags 1 to 10. Range:
        about -1 to 1; 0 while there are fewer rounds.
    correlation_100
        Mean autocorrelation of the arm's surrogate reward g_k up to round t, lags 11 to 100. Range:
        about -1 to 1; 0 while there are fewer rounds.
    correlation_1000
        Mean autocorrelation of the arm's surrogate reward g_k up to round t, lags 101 to 1000.
        Range: about -1 to 1; 0 while there are fewer rounds.
    """

    probes: ClassVar[tuple[str, ...]] = (
        *("surrogate_regret", "gain_sum", "gain_squares", "gain_max", "gain_norm"),
        *("correlation_10", "correlation_100", "correlation_1000"),
    )

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> Gains:
        unseen = isinstance(state, OwnRewardState) and isinstance(
            state.learner, banditq.BanditState
        )
        if not (unseen or isinstance(state, banditq.FullState)):
            refuse(self, policy, "BanditQ with full information or inside OwnReward")
        return (UnseenGains if unseen else Gains)(
            *np.zeros((5, n_arms)),
            *np.zeros((2, len(ENDS), n_arms)),
            *np.zeros((2, LAGS, n_arms)),
            np.zeros(2),
            np.zeros(1, np.int64),
        )


@inlined
def _take(gains, t, x):
    windows, past = gains.windows, gains.past
    earned, norm = gains.scalars[EARNED], 0.0
    now = (t - 1) % LAGS
    ago_10 = (t - 1 - 10) % LAGS
    ago_100 = (t - 1 - 100) % LAGS
    for k in range(len(gains.last)):
        g = gains.last[k]
        earned = earned + x[k] * g
        norm = norm + g * g
        gains.sums[k] += g
        gains.squares[k] += g * g
        gains.peak[k] = greatest(gains.peak[k], absolute(g))
        for w in range(3):
            gains.products[w][k] += g * windows[w][k]
        at_10, at_100, oldest = past[ago_10][k], past[ago_100][k], past[now][k]
        windows[0][k] += g - at_10
        windows[1][k] += at_10 - at_100
        windows[2][k] += at_100 - oldest  # as old as LAGS rounds
        past[now][k] = g
        if t <= LAGS:
            gains.first[now][k] = g
    gains.scalars[EARNED] = earned
    gains.scalars[NORM] = greatest(gains.scalars[NORM], sqrt(norm))
    gains.rounds[0] = t


@inlined
def _correlations(gains, k, out):
    """Write the mean autocorrelations of arm k over the windows of lags into out[:, k]."""
    rounds = gains.rounds[0]
    total = gains.sums[k]
    mean = total / rounds
    variance = gains.squares[k] / rounds - mean * mean
    head, tail = 0.0, 0.0
    lag = 0
    for w in range(3):
        covariance = gains.products[w][k]
        lags = ENDS[w] - lag
        while lag < ENDS[w]:
            lag += 1
            if lag < rounds:
                head = head + gains.first[lag - 1][k]
                tail = tail + gains.past[(rounds - lag) % LAGS][k]
                pairs = rounds - lag
                covariance = covariance + mean * (pairs * mean - (2.0 * total - head - tail))
        out[w][k] = ratio(covariance / (rounds * lags), variance)
