"""Fair-Learn, observed: what the lemma and the observations behind its guarantee speak of."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.arrays import assign, fill
from fairbandits.engine.loops import NEVER
from fairbandits.engine.protocol import choose, implements, learn, standing
from fairbandits.policies.fair_learn import FairLearn, FairLearnState


class FairLearnObservedState(NamedTuple):
    """Fair-Learn, and what has been seen of it; row c of a pair is that of m = k - c classes."""

    fair: FairLearnState
    level: np.ndarray  # each arm's class, counted from the lowest; 0 below all of them
    rise: np.ndarray
    crowd: np.ndarray  # scratch: number of arms in each class
    crowding: np.ndarray
    pulled_excess: np.ndarray
    first_beyond: np.ndarray
    beyond: int  # numerator of how far above the tolerance its violations begin


@dataclass(frozen=True)
class FairLearnObserved(FairLearn):
    """Fair-Learn, choosing as `FairLearn` does, with a record of its deficits in every round.

    The deficit of arm i after round t is d_i = r_i t - N_i(t). With m classes the arm is in class
    M_j, j = 1..m, if alpha + (m - j)/m <= d_i < alpha + (m - j + 1)/m, and in none if d_i < alpha;
    whoever is above M_1 is counted with it. V_j is what M_1..M_j hold.

    Parameters
    ----------
    quotas, tolerance, learner, learner_parameters, first_rounds
        As in `FairLearn`.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or if numbers could leave the whole ones that a
        floating-point number holds exactly.

    Notes
    -----
    All comparisons are of integers, numerators over the common denominator q of quotas and
    tolerance. The probes hold whole numbers, all of the rounds 1..t of a checkpoint:

    - ``crowding_k`` and ``crowding_k_minus_1``: the number of arms in V_j minus j, largest over
      rounds and j, with m = k and with m = k - 1 classes; one number, which stands at every arm;
    - ``rise_k`` and ``rise_k_minus_1``: by how many classes the arm rose at most in a round
      without a pull of it, with k and with k - 1 classes;
    - ``pulled_excess``: largest q (d_i - alpha) at the end of a round with a pull of the arm, and
      -2**62 before the first such round;
    - ``first_beyond``: first round with floor(r_i t) - N_i(t) > alpha, and 0 if there is none.

    References
    ----------
    V. Patil, G. Ghalme, V. Nair and Y. Narahari, "Achieving fairness in the stochastic multi-armed
    bandit problem", Lemma 1, Observations 2 and 3.
    """

    probes: ClassVar[tuple[str, ...]] = (
        "crowding_k",
        "crowding_k_minus_1",
        "rise_k",
        "rise_k_minus_1",
        "pulled_excess",
        "first_beyond",
    )

    def start(self, n_arms: int, horizon: int) -> FairLearnObservedState:
        """Return the state before the first round."""
        fair = super().start(n_arms, horizon)
        largest = n_arms * (fair.denominator * horizon + fair.tolerance)
        if largest >= 2**53:
            raise ValueError(
                "quotas and tolerance must be such that arms * (denominator * horizon + tolerance) "
                f"is below 2**53, got {largest}"
            )
        state = FairLearnObservedState(
            fair,
            np.zeros((2, n_arms), np.int64),
            np.zeros((2, n_arms), np.int64),
            np.zeros((2, n_arms + 1), np.int64),
            np.array([-1, -1]),  # V_1 without an arm
            np.full(n_arms, NEVER),
            np.zeros(n_arms, np.int64),
            (fair.tolerance // fair.denominator + 1) * fair.denominator - fair.tolerance,
        )
        if fair.tolerance == 0:
            state.level[:] = 1  # without a deficit all arms begin in the lowest class
        return state


@implements("standing", FairLearnObservedState)
def _standing(state, t):
    return standing(state.fair, t)


@implements("choose", FairLearnObservedState)
def _choose(state, t, coin):
    return choose(state.fair, t, coin)


@implements("learn", FairLearnObservedState)
def _learn(state, t, arm, reward):
    fair = state.fair
    learn(fair, t, arm, reward)
    quotas, served, level, crowd = fair.quotas, fair.served, state.level, state.crowd
    n_arms, denominator = quotas.size, fair.denominator
    above = False
    for k in range(n_arms):
        excess = quotas[k] * t - served[k] - fair.tolerance
        if k == arm:
            state.pulled_excess[k] = max(state.pulled_excess[k], excess)
            for c in range(2):  # the one arm whose class can fall
                level[c, k] = (n_arms - c) * excess // denominator + 1 if excess >= 0 else 0
        if excess < 0:
            continue
        above = True
        if excess >= state.beyond and state.first_beyond[k] == 0:
            state.first_beyond[k] = t
        for c in range(2):
            now = level[c, k]
            scaled = (n_arms - c) * excess
            while scaled >= now * denominator:  # mostly once or never: no division
                now += 1
            if k != arm:
                state.rise[c, k] = max(state.rise[c, k], now - level[c, k])
            level[c, k] = now
            crowd[c, min(now, n_arms - c)] += 1
    if above:
        for c in range(2):
            together = 0
            for j in range(1, n_arms - c + 1):
                together += crowd[c, n_arms - c - j + 1]
                crowd[c, n_arms - c - j + 1] = 0
                state.crowding[c] = max(state.crowding[c], together - j)


@implements("probe", FairLearnObservedState)
def _probe(state, out):
    for c in range(2):
        fill(out[c], state.crowding[c])
        assign(out[2 + c], state.rise[c])
    assign(out[4], state.pulled_excess)
    assign(out[5], state.first_beyond)
