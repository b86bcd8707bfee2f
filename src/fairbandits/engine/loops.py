"""The round loops, one per feedback model; each can stop after any round, and then go on."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from fairbandits.engine.protocol import choose, distribute, inlined, learn, plays_in_lanes, probe
from fairbandits.engine.sources import coin_at, observe, pull
from fairbandits.engine.width import Own, Shared, assign, greatest, nonnegative

#: Without reference counts (`_nrt`) the loops are twice as fast: nothing inside them allocates, and
#: the caller holds every array. Division by zero gives inf, as in NumPy. No fastmath: sums are
#: added up in the order written.
OPTIONS = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


@plays_in_lanes
class Record(NamedTuple):
    """Recorded sums of a run by arm, and their copies by checkpoint and arm."""

    plays: np.ndarray  # pulls (int64), or under full information summed probabilities (float64)
    rewards: np.ndarray  # of the pulls, or the sum of x_k(s) r_k(s)
    checkpoints: Shared  # 1-based rounds, increasing
    plays_at: np.ndarray
    rewards_at: np.ndarray
    probes_at: np.ndarray  # shape (n_checkpoints, n_probes, n_arms)
    quotas: np.ndarray  # numerators over `denominator`
    denominator: Own
    measured: bool  # whether there are quotas
    deficit_sup: np.ndarray  # numerator of the largest r_k s - N_k(s) before the arm's last pull
    deficit_sup_at: np.ndarray  # the same over all rounds 1 .. t
    x: np.ndarray  # scratch: the probabilities and the rewards of a round
    seen: np.ndarray


#: Below every numerator of a deficit.
NEVER = -(2**62)


def new_record(
    feedback: str,
    n_arms: int,
    checkpoints: np.ndarray,
    n_probes: int,
    quotas: tuple[Sequence[int], int] | None = None,
) -> Record:
    """Return an empty record for one replicate; `quotas` are numerators and their denominator."""
    dtype = np.int64 if feedback == "bandit" else np.float64
    numerators, denominator = quotas or ((0,) * n_arms, 0)
    shape = (checkpoints.size, n_arms)
    return Record(
        np.zeros(n_arms, dtype),
        np.zeros(n_arms),
        checkpoints,
        np.zeros(shape, dtype),
        np.zeros(shape),
        np.zeros((checkpoints.size, n_probes, n_arms)),
        np.array(numerators, np.int64),
        denominator,
        quotas is not None,
        np.full(n_arms, NEVER),
        np.full(shape, NEVER),
        np.zeros(n_arms),
        np.zeros(n_arms),
    )


@inlined
def _passed(checkpoints, start):
    """Return how many checkpoints lie before round start + 1."""
    mark = 0
    while mark < checkpoints.size and checkpoints[mark] <= start:
        mark += 1
    return mark


@njit(**OPTIONS)
def bandit_rounds(state, source, record, start, stop):
    """Play rounds start+1 .. stop, seeing the reward of the pulled arm only."""
    plays, rewards, checkpoints = record.plays, record.rewards, record.checkpoints
    quotas, denominator, deficit_sup = record.quotas, record.denominator, record.deficit_sup
    mark = _passed(checkpoints, start)
    due = checkpoints[mark] if mark < checkpoints.size else 0
    for t in range(start + 1, stop + 1):
        arm = nonnegative(choose(state, t, coin_at(source, t)))
        before = plays[arm]
        if record.measured and t > 1:  # the sup does not begin before round 1's end
            deficit = quotas[arm] * (t - 1) - denominator * before
            deficit_sup[arm] = greatest(deficit_sup[arm], deficit)
        plays[arm] = before + 1
        reward = pull(source, t, arm)
        rewards[arm] += reward
        learn(state, t, arm, reward)
        if t == due:
            assign(record.plays_at[mark], plays)
            assign(record.rewards_at[mark], rewards)
            for k in range(len(plays)):
                deficit = quotas[k] * t - denominator * plays[k]
                record.deficit_sup_at[mark][k] = greatest(deficit_sup[k], deficit)
            probe(state, record.probes_at[mark])
            mark += 1
            due = checkpoints[mark] if mark < checkpoints.size else 0


@njit(**OPTIONS)
def full_information_rounds(state, source, record, start, stop):
    """Play rounds start+1 .. stop, seeing the rewards of all arms."""
    plays, rewards, checkpoints = record.plays, record.rewards, record.checkpoints
    x, seen = record.x, record.seen
    mark = _passed(checkpoints, start)
    due = checkpoints[mark] if mark < checkpoints.size else 0
    for t in range(start + 1, stop + 1):
        distribute(state, t, coin_at(source, t), x)
        observe(source, t, seen)
        for k in range(len(x)):
            plays[k] += x[k]
            rewards[k] += x[k] * seen[k]
        learn(state, t, x, seen)
        if t == due:
            assign(record.plays_at[mark], plays)
            assign(record.rewards_at[mark], rewards)
            probe(state, record.probes_at[mark])
            mark += 1
            due = checkpoints[mark] if mark < checkpoints.size else 0


LOOPS = {"bandit": bandit_rounds, "full": full_information_rounds}
