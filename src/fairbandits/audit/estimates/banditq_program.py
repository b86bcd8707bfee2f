"""Estimators of BanditQ's log-barrier solver, and of the released program run again."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numba import njit

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    arm,
    generator,
    published,
    read_off,
)
from fairbandits.audit.evidence import Evidence
from fairbandits.policies.simplex import log_barrier_shift

#: Inputs of the solver in all, in how many batches of one number of arms, and the most arms.
INPUTS, BATCHES, MOST_ARMS = 100_000, 50, 1000
#: Where the solver stops, as configured for the figures.
TOLERANCE = 1e-10
#: Sizes of the inputs, as powers of ten.
SIZES = -3, 6


@njit
def shifts(gaps: np.ndarray, out: np.ndarray) -> None:
    """Write the solver's root for each row of gaps."""
    for row in range(gaps.shape[0]):
        out[row] = log_barrier_shift(gaps[row], float(gaps.shape[1]), TOLERANCE)


def solver_errors(z: np.ndarray) -> np.ndarray:
    """Return how far the solver's maximisers of sum log q + <q, z> are from being that.

    At the maximum 1 / q_i + z_i is the same for all i, and q sums to 1.

    Parameters
    ----------
    z : ndarray, shape (n_inputs, n_arms)
        Inputs.

    Returns
    -------
    ndarray, shape (n_inputs, 2)
        The largest difference of 1 / q_i + z_i from their mean, in parts of the size of the
        largest 1 / q_i or z_i; and of the sum from 1.
    """
    top = z.max(axis=1, keepdims=True)
    shift = np.empty(len(z))
    shifts(top - z, shift)
    q = 1.0 / (top - z + shift[:, None])
    condition = 1.0 / q + z
    size = np.maximum(np.abs(z), 1.0 / q).max(axis=1)
    apart = np.abs(condition - condition.mean(axis=1, keepdims=True)).max(axis=1)
    return np.stack([apart / size, np.abs(q.sum(axis=1) - 1.0)], axis=1)


@estimates("banditq-optimizer-correct", "residual")
def solver_residuals(evidence: Evidence) -> Iterator[Question]:
    """Yield the solver's errors on random inputs of all sizes."""
    rng = generator("banditq-optimizer-correct")
    arms = np.rint(np.geomspace(2, MOST_ARMS, BATCHES)).astype(int)
    found = []
    for n_arms in arms:
        scale = 10.0 ** rng.uniform(*SIZES, (INPUTS // BATCHES, 1))
        found.append(solver_errors(scale * rng.standard_normal((INPUTS // BATCHES, n_arms))))
    yield Question({"excess": np.concatenate(found)})


# --------------------------------------------------------------------------------------- replay


def replayed(evidence: Evidence) -> pd.DataFrame:
    """Return the released program's five-arm run under bandit feedback, run again.

    Raises
    ------
    StoreError
        If the file is missing, damaged, foreign or stale.
    ValueError
        If the run is shorter than the published one.
    """
    table = evidence.replay("replay_5_bandit").to_pandas()
    wanted = published()["figures"]["fig5"]["horizon"]
    if table["round"].iloc[-1] != wanted:
        raise ValueError(
            f"the replay must end in round {wanted}, as the published run does, "
            f"got {table['round'].iloc[-1]}"
        )
    return table


@estimates("banditq-replay-fig5", "last")
def replay_ends(evidence: Evidence) -> Iterator[Question]:
    """Yield how far the replay's last queues are from the published ones."""
    table = replayed(evidence)
    for k in (0, 1):
        last = table[f"queue_{k + 1}"].iloc[-1]
        apart = abs(last - read_off("fig5", arm(k), "value"))
        yield Question({"excess": [apart], "scale": 1.0}, arm(k))


@estimates("banditq-replay-fig5", "curve")
def replay_goes(evidence: Evidence) -> Iterator[Question]:
    """Yield how far the replay's curve is from what is known of the published one.

    That is its last value and its highest. The curve's span stands for the length of the axis,
    which is longer.
    """
    table = replayed(evidence)
    for k in (0, 1):
        curve = table[f"queue_{k + 1}"]
        ours = {"value": curve.iloc[-1], "maximum": curve.max()}
        apart = [abs(ours[name] - read_off("fig5", arm(k), name)) for name in ours]
        yield Question({"excess": apart, "scale": float(np.ptp(curve))}, arm(k))
