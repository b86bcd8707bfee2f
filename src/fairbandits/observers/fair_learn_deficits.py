"""The deficits in the lemma and the observations behind Fair-Learn's guarantee."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.engine.loops import NEVER
from fairbandits.engine.protocol import plays_in_lanes
from fairbandits.engine.width import Own, anywhere, assign, fill, greatest, least, where, whole_part
from fairbandits.observers.common import Observer, refuse
from fairbandits.policies.fair_learn import FairLearnState


@plays_in_lanes
class DeficitsState(NamedTuple):
    """Statistics of the deficits; row c of a pair is for m = k - c classes."""

    level: np.ndarray  # each arm's class, counted from the lowest; 0 below all of them
    rise: np.ndarray
    crowd: np.ndarray  # scratch: number of arms in each class
    crowding: np.ndarray
    pulled_excess: np.ndarray
    first_beyond: np.ndarray
    beyond: Own  # numerator of how far above the tolerance its violations begin

    def watch(observer, state, t, arm, reward):
        n_arms = len(state.quotas)
        above = False
        for k in range(n_arms):
            excess = state.quotas[k] * t - state.scaled_pulls[k] - state.tolerance
            pulled, inside = arm == k, excess >= 0
            above = above | inside
            most = observer.pulled_excess[k]
            observer.pulled_excess[k] = where(pulled, greatest(most, excess), most)
            first = observer.first_beyond[k]
            observer.first_beyond[k] = where((excess >= observer.beyond) & (first == 0), t, first)
            for c in range(2):
                before, rise = observer.level[c][k], observer.rise[c][k]
                now = whole_part((n_arms - c) * greatest(0, excess), state.denominator) + 1
                now = where(inside, now, 0)
                now = where(pulled, now, greatest(before, now))  # only this arm's class can fall
                observer.level[c][k] = now
                observer.rise[c][k] = where(arm != k, greatest(rise, now - before), rise)
                observer.crowd[c][least(now, n_arms - c)] += where(inside, 1, 0)
        if anywhere(above):
            for c in range(2):
                together = 0
                for j in range(1, n_arms - c + 1):
                    level = n_arms - c - j + 1
                    together = together + observer.crowd[c][level]
                    observer.crowd[c][level] = 0
                    observer.crowding[c] = greatest(observer.crowding[c], together - j)

    def report(observer, state, out):
        for c in range(2):
            fill(out[c], observer.crowding[c])
            assign(out[2 + c], observer.rise[c])
        assign(out[4], observer.pulled_excess)
        assign(out[5], observer.first_beyond)


@dataclass(frozen=True)
class FairLearnDeficits(Observer):
    """Fair-Learn's deficits in every round (Lemma 1, Observations 2 and 3 of its paper).

    The deficit of arm i after round t is d_i = r_i t - N_i(t). With m classes the arm is in class
    M_j, j = 1..m, if alpha + (m - j)/m <= d_i < alpha + (m - j + 1)/m. It is in no class if d_i <
    alpha, and arms above M_1 are counted with it. V_j is the union of M_1..M_j. All comparisons are
    between integers, numerators over the common denominator of quotas and tolerance. A run is
    refused if these integers could exceed those that a floating-point number holds exactly.

    Columns
    -------
    crowding_k : arms
        Number of arms in the j highest of k deficit classes minus j, the largest over j and rounds
        1..t; k is the number of arms. Range: whole number. One value for each replicate and round;
        the same at every arm.
    crowding_k_minus_1 : arms
        `crowding_k` with k - 1 classes. Range: whole number. One value for each replicate and
        round; the same at every arm.
    rise_k : classes
        Largest number of the k deficit classes by which the arm rose in a round without a pull.
        Range: whole number, at least 0.
    rise_k_minus_1 : classes
        `rise_k` with k - 1 classes. Range: whole number, at least 0.
    pulled_excess : pulls / q
        Largest q (r_k s - N_k(s) - alpha) at the end of a round s <= t with a pull of the arm; q is
        the common denominator of quotas and tolerance alpha. Range: whole number; -2**62 before the
        first pull.
    first_beyond : rounds
        First round s <= t with floor(r_k s) - N_k(s) > alpha, the tolerance. Range: whole number, 1
        to t; 0 if there is none.
    """

    probes: ClassVar[tuple[str, ...]] = (
        *("crowding_k", "crowding_k_minus_1", "rise_k", "rise_k_minus_1"),
        *("pulled_excess", "first_beyond"),
    )

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> DeficitsState:
        if not isinstance(state, FairLearnState):
            refuse(self, policy, "FairLearn")
        largest = n_arms * (state.denominator * horizon + state.tolerance)
        if largest >= 2**53:
            raise ValueError(
                "quotas and tolerance must be such that arms * (denominator * horizon + tolerance) "
                f"is below 2**53, got {largest}"
            )
        level = np.zeros((2, n_arms), np.int64)
        if state.tolerance == 0:
            level[:] = 1  # without a deficit all arms begin in the lowest class
        return DeficitsState(
            level,
            np.zeros((2, n_arms), np.int64),
            np.zeros((2, n_arms + 1), np.int64),
            np.array([-1, -1]),  # V_1 without an arm
            np.full(n_arms, NEVER),
            np.zeros(n_arms, np.int64),
            (state.tolerance // state.denominator + 1) * state.denominator - state.tolerance,
        )
