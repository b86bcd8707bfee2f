"""BanditQ, played as it is, with more of the run kept: for the audit."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import assign
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.protocol import choose, distribute, implements, learn, probe
from fairbandits.policies import banditq, checks, learners
from fairbandits.policies.parameters import not_zero

#: An arm with a probability of at most this is starved in the round.
RARE = 0.01


class Tally(NamedTuple):
    """What is kept of each arm, arrays of shape (n_arms,)."""

    plays: np.ndarray
    plays_sum: np.ndarray
    squares: np.ndarray
    starved: np.ndarray  # rounds since it was last played
    starvation: np.ndarray


class RecordedFullState(NamedTuple):
    """BanditQ with full information, and the tally."""

    policy: banditq.FullState
    tally: Tally


class RecordedBanditState(NamedTuple):
    """BanditQ with bandit feedback, and the tally."""

    policy: banditq.BanditState
    tally: Tally


@dataclass(frozen=True)
class RecordedBanditQ(banditq.BanditQ):
    """BanditQ that also keeps the sums over rounds that its bounds are about.

    It plays exactly as `BanditQ` does, whose parameters it has, and one more.

    Parameters
    ----------
    gain : float
        The learner sees all gains times this, not 0; with a negative one they are losses. The
        queues do not depend on it. With 1 this is BanditQ, bit for bit.

    Raises
    ------
    ValueError
        If a parameter is out of its range or does not fit the feedback.

    Notes
    -----
    The probes are those of BanditQ and, per arm, three more. ``squares`` is the sum over the
    rounds so far of Q_i(t)^2 (Eq. 14). ``starvation`` is the longest run of rounds so far, the
    present one included, in which the arm is starved: with full information of rounds with
    x_i(t) <= 0.01, under bandit feedback of rounds without a pull (remark after Eq. 4).
    ``plays_sum`` is the sum over the rounds so far of the plays up to that round, which gives the
    regret averaged over the rounds (Prop. 4): b* (t + 1) / 2 - sum_i mu_i plays_sum_i / t.

    References
    ----------
    "BanditQ: fair bandits with guaranteed rewards", Eqs 4 and 14, Prop. 4.
    """

    gain: Annotated[float, not_zero()] = 1.0
    probes: ClassVar[tuple[str, ...]] = (*banditq.PROBES, "squares", "starvation", "plays_sum")

    def __post_init__(self):
        super().__post_init__()
        checks.not_zero("gain", self.gain)

    def start(self, n_arms: int, horizon: int) -> RecordedFullState | RecordedBanditState:
        """Return the state before the first round."""
        policy = super().start(n_arms, horizon)
        tally = Tally(*np.zeros((5, n_arms)))
        if self.feedback == "full":
            return RecordedFullState(policy, tally)
        return RecordedBanditState(policy, tally)

    def _learner(self, n_arms: int, horizon: int) -> NamedTuple:
        return learners.scaled(super()._learner(n_arms, horizon), float(self.gain))


@implements("distribute", RecordedFullState)
def _distribute(state, t, coin, out):
    distribute(state.policy, t, coin, out)


@implements("learn", RecordedFullState)
def _learn_all(state, t, x, reward):
    learn(state.policy, t, x, reward)
    for k in range(x.size):
        _count(state.tally, k, x[k], x[k] <= RARE, state.policy.queue[k])


@implements("choose", RecordedBanditState)
def _choose(state, t, coin):
    return choose(state.policy, t, coin)


@implements("learn", RecordedBanditState)
def _learn_one(state, t, arm, reward):
    learn(state.policy, t, arm, reward)
    for k in range(state.policy.queue.size):
        _count(state.tally, k, 1.0 if k == arm else 0.0, k != arm, state.policy.queue[k])


@register_jitable(**INLINE)
def _count(tally, k, played, starved, length):
    """Take one arm's round into the tally."""
    tally.plays[k] += played
    tally.plays_sum[k] += tally.plays[k]
    tally.squares[k] += length * length
    run = tally.starved[k] + 1.0 if starved else 0.0
    tally.starved[k] = run
    tally.starvation[k] = max(tally.starvation[k], run)


def _probe(state, out):
    probe(state.policy, out)
    assign(out[4], state.tally.squares)
    assign(out[5], state.tally.starvation)
    assign(out[6], state.tally.plays_sum)


implements("probe", RecordedFullState)(_probe)
implements("probe", RecordedBanditState)(_probe)
