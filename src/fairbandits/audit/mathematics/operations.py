"""Cost of a round of BanditQ in array entries that are looked at: the same on every machine.

Both solvers are copies of those in `fairbandits.policies.simplex`, with a counter.
"""

import numpy as np
import scipy


def projection(y: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the point of the simplex nearest to y, and how many entries were looked at for it."""
    active, count, threshold = y, 2 * y.size, (y.sum() - 1.0) / y.size
    while active.min() <= threshold:
        count += active.size
        active = active[active > threshold]
        threshold = (active.sum() - 1.0) / active.size
    return np.maximum(y - threshold, 0.0), count + active.size


def log_barrier_root(gaps: np.ndarray, tolerance: float) -> tuple[float, int]:
    """Return the d with sum_i 1 / (gaps_i + d) = 1, and Newton's passes over all gaps."""
    shift, excess, passes = float(gaps.size), np.inf, 0
    while abs(excess) >= tolerance and passes < 200:
        q = 1.0 / (gaps + shift)
        excess = q.sum() - 1.0
        shift = max(1.0, shift + excess / (q @ q))
        passes += 1
    return shift, passes


def projections(rng: np.random.Generator, sizes: list[int], number: int) -> np.ndarray:
    """Return the entries looked at in projections onto the simplex, shape (number, n_sizes).

    Uniform points of the simplex take a step along uniform gains, of length 10^-3 to 1.
    """

    def looked_at(n_arms: int) -> int:
        step = rng.random(n_arms)
        step *= 10.0 ** rng.uniform(-3, 0) / np.linalg.norm(step)
        return projection(rng.dirichlet(np.ones(n_arms)) + step)[1]

    return np.array([[looked_at(n_arms) for _ in range(number)] for n_arms in sizes], float).T


def log_barrier_steps(
    rng: np.random.Generator,
    sizes: list[int],
    number: int,
    tolerance: float,
    scales: tuple[float, float],
) -> np.ndarray:
    """Return the entries looked at in log-barrier steps, shape (number, n_sizes)."""

    def looked_at(n_arms: int) -> int:
        z = _input(rng, n_arms, scales)
        return n_arms * log_barrier_root(z.max() - z, tolerance)[1]

    return np.array([[looked_at(n_arms) for _ in range(number)] for n_arms in sizes], float).T


def passes_saved(
    rng: np.random.Generator,
    n_arms: int,
    number: int,
    tolerance: float,
    scales: tuple[float, float],
) -> np.ndarray:
    """Return the passes of a general solver over those of the special one, shape (number,).

    The general one is SciPy's SLSQP with the gradient given; its linear algebra, which costs more,
    is not counted. Where it gives up, the passes until then count.
    """
    found = np.empty(number)
    for row in range(number):
        z = _input(rng, n_arms, scales)
        general = scipy.optimize.minimize(
            lambda q, z=z: -np.log(q).sum() - q @ z,
            np.full(n_arms, 1.0 / n_arms),
            jac=lambda q, z=z: -1.0 / q - z,
            bounds=[(1e-12, 1.0)] * n_arms,
            constraints={
                "type": "eq",
                "fun": lambda q: q.sum() - 1.0,
                "jac": lambda q: np.ones(q.size),
            },
            method="SLSQP",
            options={"ftol": tolerance, "maxiter": 1000},
        )
        found[row] = (general.nfev + general.njev) / log_barrier_root(z.max() - z, tolerance)[1]
    return found


def _input(rng: np.random.Generator, n_arms: int, scales: tuple[float, float]) -> np.ndarray:
    return 10.0 ** rng.uniform(*scales) * rng.standard_normal(n_arms)
