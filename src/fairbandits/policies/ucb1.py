"""UCB1, optimism in the face of uncertainty."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE
from fairbandits.engine.protocol import implements
from fairbandits.policies import checks, lead, leader
from fairbandits.policies.lead import Lead
from fairbandits.policies.parameters import number, one_of
from fairbandits.policies.ties import RULES, best_arm

ROUND, PREVIOUS, OWN = range(3)
CLOCKS = {"round": ROUND, "previous": PREVIOUS, "own": OWN}
CALLS, UNPULLED = range(2)


class UCB1State(NamedTuple):
    """Pulls, reward sums and who leads; of the calls and the arms never pulled, how many."""

    lead: Lead
    index: np.ndarray
    counts: np.ndarray  # see the constants above
    scale: float
    clock: int
    random_ties: bool
    horizon: int


@dataclass(frozen=True)
class UCB1:
    """Pull the arm with the largest mean + sqrt(2 log t / pulls), after each arm once.

    Parameters
    ----------
    scale : float
        Rewards are divided by this, so that they lie in [0, 1].
    clock : {"round", "previous", "own"}
        What t is: the round being played; the rounds played so far; or the number of rounds in
        which this policy was asked for an arm, which differs inside `FairLearn`.
    ties : {"lowest", "random"}
        Which of several arms with the same index is pulled.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Arms never pulled go first, the lowest first.

    References
    ----------
    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
    problem", Machine Learning 47 (2002), whose t is the number of rounds played so far.
    """

    scale: Annotated[float, number(above=0)] = 1.0
    clock: Annotated[str, one_of(*CLOCKS)] = "round"
    ties: Annotated[str, one_of(*RULES)] = "lowest"
    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        checks.positive("scale", self.scale)
        checks.one_of("clock", self.clock, tuple(CLOCKS))
        checks.one_of("ties", self.ties, RULES)

    def start(self, n_arms: int, horizon: int) -> UCB1State:
        """Return the state before the first round."""
        return UCB1State(
            lead.nobody(n_arms),
            np.zeros(n_arms),
            np.array([0, n_arms]),
            float(self.scale),
            CLOCKS[self.clock],
            self.ties == "random",
            horizon,
        )


@register_jitable(**INLINE)
def _clock(state, t):
    if state.clock == OWN:
        return state.counts[CALLS] + 1
    return t - 1 if state.clock == PREVIOUS else t


@register_jitable(**INLINE)
def _bonus(clock):
    return math.sqrt(2.0 * math.log(clock))


@implements("standing", UCB1State)
def _standing(state, t):
    if lead.stands(state.lead, _clock(state, t)):
        state.counts[CALLS] += 1
        return state.lead.leader.marks[leader.ARM]
    return -1


@implements("streak", UCB1State)
def _streak(state, t):
    return lead.streak(state.lead, t, _clock(state, t), state.scale)


@implements("streaked", UCB1State)
def _streaked(state, arm, terms, n):
    lead.streaked(state.lead, arm, terms, n)
    state.counts[CALLS] += n - 1


@implements("choose", UCB1State)
def _choose(state, t, coin):
    clock = _clock(state, t)
    state.counts[CALLS] += 1
    if state.counts[UNPULLED] > 0:
        for k in range(state.index.size):
            if state.lead.pulls[k] == 0:
                return k
    lead.settle(state.lead)
    arms = state.lead.leader
    n_arms = state.index.size
    bonus = _bonus(clock)
    if clock > arms.marks[leader.UNTIL]:
        until = leader.ahead(clock)
        leader.begin(arms, 0, n_arms, until, _bonus(until))
    arm = leader.find(arms, 0, n_arms, bonus, not state.random_ties)
    if arm < 0:
        for k in range(n_arms):
            state.index[k] = arms.mean[k] + bonus * arms.inverse_root[k]
        arm = best_arm(state.index, state.random_ties, coin)
        leader.crown(arms, 0, n_arms, arm, bonus)
    lead.measure(state.lead, clock)
    return arm


@implements("learn", UCB1State)
def _learn(state, t, arm, reward):
    scaled = reward if state.scale == 1.0 else reward / state.scale
    if lead.learn(state.lead, arm, scaled) == 1:
        state.counts[UNPULLED] -= 1


# what runs it in lanes is registered with it, and counts with its runs alone
from fairbandits.policies import ucb1_lanes  # noqa: E402, F401
