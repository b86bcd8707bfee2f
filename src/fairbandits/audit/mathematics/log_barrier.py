"""Accuracy of BanditQ's solver of the log-barrier step."""

import numpy as np
from numba import njit

from fairbandits.policies.simplex import log_barrier_shift


@njit
def shifts(gaps: np.ndarray, tolerance: float, out: np.ndarray) -> None:
    """Write the solver's root for each row of gaps."""
    for row in range(gaps.shape[0]):
        out[row] = log_barrier_shift(gaps[row], float(gaps.shape[1]), tolerance)


def solver_errors(z: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the two errors of the solver's maximisers of sum log q + <q, z>, shape (n_inputs, 2).

    At the maximum 1 / q_i + z_i is the same for all i, and q sums to 1. First comes the largest
    difference of 1 / q_i + z_i from their mean, relative to the largest 1 / q_i or z_i; then that
    of the sum from 1. `tolerance` is where the solver stops.
    """
    top = z.max(axis=1, keepdims=True)
    shift = np.empty(len(z))
    shifts(top - z, tolerance, shift)
    q = 1.0 / (top - z + shift[:, None])
    condition = 1.0 / q + z
    size = np.maximum(np.abs(z), 1.0 / q).max(axis=1)
    apart = np.abs(condition - condition.mean(axis=1, keepdims=True)).max(axis=1)
    return np.stack([apart / size, np.abs(q.sum(axis=1) - 1.0)], axis=1)


def errors_on_random_inputs(
    rng: np.random.Generator,
    number: int,
    most_arms: int,
    tolerance: float,
    sizes: tuple[float, float],
    batches: int = 50,
) -> np.ndarray:
    """Return `solver_errors` of random normal inputs, shape (number, 2).

    Numbers of arms, `batches` of them, are log-spaced from 2 to `most_arms`; `sizes` has the
    smallest and largest scale of the inputs, as powers of ten.
    """
    found = []
    for n_arms in np.rint(np.geomspace(2, most_arms, batches)).astype(int):
        scale = 10.0 ** rng.uniform(*sizes, (number // batches, 1))
        z = scale * rng.standard_normal((number // batches, n_arms))
        found.append(solver_errors(z, tolerance))
    return np.concatenate(found)
