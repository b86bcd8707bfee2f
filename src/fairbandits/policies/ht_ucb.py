"""HT-UCB: UCB1 whose index is raised by a penalty rate while an arm is short of its quota."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.arrays import nonnegative
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.protocol import implements, shortened
from fairbandits.policies import checks, lead, leader
from fairbandits.policies.lead import Lead
from fairbandits.policies.parameters import ArmFractions, Rates, one_of
from fairbandits.policies.ties import RULES, best_arm
from fairbandits.policies.waits import paces, wait, whole
from fairbandits.rationals import quota_numerators

CLOCKS = ("round", "previous")
THRESHOLDS = ("hard", "soft")


class HTUCBState(NamedTuple):
    """What the index needs; quotas tau_k and pulls N_k as exact numerators over `denominator`.

    Indices without penalties stand in `lead`. Up to round `quiet` no arm but the leader has a
    penalty.
    """

    lead: Lead
    index: np.ndarray
    penalties: np.ndarray
    quotas: np.ndarray
    scaled_pulls: np.ndarray
    pace: np.ndarray
    quiet: np.ndarray
    denominator: int
    unpulled: np.ndarray  # number of arms never pulled
    previous: bool
    soft: bool
    random_ties: bool
    horizon: int


@dataclass(frozen=True)
class HTUCB:
    """Pull the arm with the largest mean + A_k [N_k < tau_k n] + sqrt(2 log n / N_k).

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        Required fraction of pulls tau_k >= 0 of each arm, exact: 0.05, "1/3". They sum to less
        than 1.
    penalties : float or sequence of float, length n_arms
        Penalty rate A_k >= 0 of each arm, what a missing pull costs; one number is for all arms.
        With 0 this is `UCB1`.
    clock : {"round", "previous"}
        What n is under the logarithm: the round being played, or the one before it. The threshold
        has the round being played either way.
    threshold : {"hard", "soft"}
        Whether the whole penalty rate counts as soon as the arm is short, or only the missing
        share of its quota, A_k (tau_k n - N_k)+ / (tau_k n), which is 0 where tau_k is.
    ties : {"lowest", "random"}
        Which of several arms with the same index is pulled.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Arms never pulled go first, the lowest first, so that round n <= n_arms is arm n's. N_k counts
    the rounds before n, and the threshold is strict. It is decided in integers, since N < tau n is
    wrong in floating point where tau n is a whole number.

    References
    ----------
    "A new look at fairness in stochastic multi-armed bandit problems", submission to ICLR 2022,
    Eq. 12, whose clock is "round", and Algorithm 1, whose clock is "previous"; the soft threshold
    is of Section 5.

    Examples
    --------
    >>> from fairbandits import Instance, run
    >>> arms = Instance((0.9, 0.8, 0.1), law="deterministic")
    >>> fair = HTUCB(("1/10", "1/5", "1/20"), penalties=1)
    >>> run(fair, arms, 1000, checkpoints=[1000]).plays[0, 0].tolist()
    [709, 241, 50]
    """

    quotas: ArmFractions
    penalties: Rates
    clock: Annotated[str, one_of(*CLOCKS)] = "round"
    threshold: Annotated[str, one_of(*THRESHOLDS)] = "hard"
    ties: Annotated[str, one_of(*RULES)] = "lowest"
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        object.__setattr__(self, "quotas", tuple(self.quotas))
        quota_numerators(self.quotas)
        object.__setattr__(self, "penalties", checks.rates("penalties", self.penalties))
        checks.one_of("clock", self.clock, CLOCKS)
        checks.one_of("threshold", self.threshold, THRESHOLDS)
        checks.one_of("ties", self.ties, RULES)

    def start(self, n_arms: int, horizon: int) -> HTUCBState:
        """Return the state before the first round."""
        checks.length("quotas", self.quotas, n_arms)
        numerators, denominator = quota_numerators(self.quotas, horizon)
        return HTUCBState(
            lead.nobody(n_arms),
            np.zeros(n_arms),
            checks.per_arm("penalties", self.penalties, n_arms),
            np.array(numerators, np.int64),
            np.zeros(n_arms, np.int64),
            paces(numerators),
            np.zeros(1, np.int64),
            denominator,
            np.array([n_arms]),
            self.clock == "previous",
            self.threshold == "soft",
            self.ties == "random",
            horizon,
        )


@register_jitable(**INLINE)
def _bonus(clock):
    return math.sqrt(2.0 * math.log(clock))


@implements("standing", HTUCBState)
def _standing(state, t):
    if t > state.quiet[0]:
        return -1
    arm = nonnegative(state.lead.leader.marks[leader.ARM])
    missing = state.quotas[arm] * t - state.scaled_pulls[arm]
    raised = state.penalties[arm] if missing > 0 else 0.0
    clock = t - 1 if state.previous else t
    return arm if lead.stands(state.lead, clock, raised) else -1


@implements("streak", HTUCBState)
def _streak(state, t):
    arm = nonnegative(state.lead.leader.marks[leader.ARM])
    terms = lead.streak(state.lead, t, t - 1 if state.previous else t, 1.0)
    penalised = state.quotas[arm] * t > state.scaled_pulls[arm]  # its lead rests on the penalty
    return shortened(terms, 0 if penalised else state.quiet[0])


@implements("streaked", HTUCBState)
def _streaked(state, arm, terms, n):
    state.scaled_pulls[arm] += n * state.denominator
    lead.streaked(state.lead, arm, terms, n)


@implements("choose", HTUCBState)
def _choose(state, t, coin):
    if state.unpulled[0] > 0:
        for k in range(state.index.size):
            if state.lead.pulls[k] == 0:
                return k
    lead.settle(state.lead)
    mean, inverse_root, index = state.lead.leader.mean, state.lead.leader.inverse_root, state.index
    clock = t - 1 if state.previous else t
    bonus = _bonus(clock)
    if state.soft:  # no leader: these penalties move in every round
        for k in range(index.size):
            entitled = state.quotas[k] * t
            missing = max(0, entitled - state.scaled_pulls[k])
            raised = state.penalties[k] * (missing / max(1, entitled))
            index[k] = mean[k] + raised + bonus * inverse_root[k]
        return best_arm(index, state.random_ties, coin)
    short = 0
    for k in range(index.size):
        missing = state.quotas[k] * t - state.scaled_pulls[k]
        raised = state.penalties[k] if missing > 0 else 0.0
        short += 1 if missing > 0 else 0
        index[k] = mean[k] + raised + bonus * inverse_root[k]
    arm = best_arm(index, state.random_ties, coin)
    _look_ahead(state, t, clock, bonus, arm, short)
    return arm


@register_jitable(**INLINE)
def _look_ahead(state, t, clock, bonus, arm, short):
    """Take the choice of round t, when `short` arms have penalties, for the rounds to come.

    An arm that is pulled because of its penalty does not become the leader: as soon as it is no
    longer short of its quota, the leader's turn goes on.
    """
    arms = state.lead.leader
    penalised = state.quotas[arm] * t > state.scaled_pulls[arm]
    if short > (1 if penalised else 0):
        state.quiet[0] = t
        return
    if clock > arms.marks[leader.UNTIL]:
        until = leader.ahead(clock)
        leader.begin(arms, 0, state.index.size, until, _bonus(until))
        lead.give_up(state.lead)
    if not penalised:
        leader.crown(arms, 0, state.index.size, arm, bonus)
        lead.measure(state.lead, clock)
    stays = arms.marks[leader.ARM]
    calm = math.inf
    for k in range(state.quotas.size):
        room = state.scaled_pulls[k] - state.quotas[k] * t
        room += state.denominator if k == arm else 0
        calm = min(calm, wait(room, state.pace[k]) if k != stays else math.inf)
    state.quiet[0] = t + whole(calm)


@implements("learn", HTUCBState)
def _learn(state, t, arm, reward):
    state.scaled_pulls[arm] += state.denominator
    if lead.learn(state.lead, arm, reward) == 1:
        state.unpulled[0] -= 1


# what runs it in lanes is registered with it, and counts with its runs alone
from fairbandits.policies import ht_ucb_lanes  # noqa: E402, F401
