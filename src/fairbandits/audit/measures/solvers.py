"""Words of BanditQ's two solvers: the errors of the one in use, and the work of a round.

Work is counted in array entries that are looked at, the same on every machine, by copies of
`fairbandits.policies.simplex` with a counter. Inputs are normal, of a scale from 10^low to 10^high.
"""

from functools import cache

import numpy as np

from fairbandits.audit.measures import function
from fairbandits.audit.measures.common import generator


@cache
def solver():
    """Return the compiled function that writes the solver's root for each row of gaps."""
    from numba import njit

    from fairbandits.policies.simplex import log_barrier_shift

    @njit
    def shifts(gaps, tolerance, out):
        for row in range(gaps.shape[0]):
            out[row] = log_barrier_shift(gaps[row], float(gaps.shape[1]), tolerance)

    return shifts


def errors_of(z, tolerance):
    """Return the errors of the solver's maximisers of sum log q + <q, z>, shape (n_inputs, 2).

    First the spread of 1 / q_i + z_i, which is the same for all i at the maximum, relative to the
    largest 1 / q_i or z_i; then the distance of the sum of q from 1.
    """
    top = z.max(axis=1, keepdims=True)
    shift = np.empty(len(z))
    solver()(top - z, tolerance, shift)
    q = 1.0 / (top - z + shift[:, None])
    condition = 1.0 / q + z
    size = np.maximum(np.abs(z), 1.0 / q).max(axis=1)
    apart = np.abs(condition - condition.mean(axis=1, keepdims=True)).max(axis=1)
    return np.stack([apart / size, np.abs(q.sum(axis=1) - 1.0)], axis=1)


@function()
def solver_errors(number, most_arms, tolerance, low, high, seed):
    """Residual, and distance of the sum from 1, of the log-barrier solver on random inputs."""
    rng, found = generator(seed), []
    for n_arms in np.rint(np.geomspace(2, most_arms, 50)).astype(int):
        scale = 10.0 ** rng.uniform(low, high, (number // 50, 1))
        found.append(errors_of(scale * rng.standard_normal((number // 50, n_arms)), tolerance))
    return np.concatenate(found)


def projection(y):
    """Return the point of the simplex nearest to y, and how many entries were looked at for it."""
    active, count, threshold = y, 2 * y.size, (y.sum() - 1.0) / y.size
    while active.min() <= threshold:
        count += active.size
        active = active[active > threshold]
        threshold = (active.sum() - 1.0) / active.size
    return np.maximum(y - threshold, 0.0), count + active.size


def log_barrier_root(gaps, tolerance):
    """Return the d with sum_i 1 / (gaps_i + d) = 1, and Newton's passes over all gaps."""
    shift, excess, passes = float(gaps.size), np.inf, 0
    while abs(excess) >= tolerance and passes < 200:
        q = 1.0 / (gaps + shift)
        excess = q.sum() - 1.0
        shift = max(1.0, shift + excess / (q @ q))
        passes += 1
    return shift, passes


def _over_n_log_n(looked_at, sizes, number):
    """Return numbers of entries for arms of several sizes, over N log N, `number` of each."""
    counts = np.array([[looked_at(n_arms) for _ in range(number)] for n_arms in sizes], float)
    return counts.T / (np.array(sizes) * np.log(sizes))


@function("ra")
def projection_work(sizes, number, seed):
    """Entries that simplex projections examine, divided by N log N, for each number N of arms.

    Uniform points of the simplex take a step along uniform gains, of length 10^-3 to 1.
    """
    rng = generator(seed)

    def looked_at(n_arms):
        step = rng.random(n_arms)
        step *= 10.0 ** rng.uniform(-3, 0) / np.linalg.norm(step)
        return projection(rng.dirichlet(np.ones(n_arms)) + step)[1]

    return _over_n_log_n(looked_at, sizes, number)


@function("ra")
def barrier_work(sizes, number, tolerance, low, high, seed):
    """Entries that log-barrier steps examine, divided by N log N, for each number N of arms."""
    rng = generator(seed)

    def looked_at(n_arms):
        z = 10.0 ** rng.uniform(low, high) * rng.standard_normal(n_arms)
        return n_arms * log_barrier_root(z.max() - z, tolerance)[1]

    return _over_n_log_n(looked_at, sizes, number)


@function("r", varies=True)
def solver_advantage(n_arms, number, tolerance, low, high, seed):
    """Passes of SciPy's SLSQP over all arms, over those of the special solver, on random inputs.

    Its linear algebra is not counted; where it gives up, the passes until then count.
    """
    from scipy.optimize import minimize

    rng, found = generator(f"{seed}-{n_arms}"), np.empty(number)
    for row in range(number):
        z = 10.0 ** rng.uniform(low, high) * rng.standard_normal(n_arms)
        general = minimize(
            lambda q, z=z: -np.log(q).sum() - q @ z,
            np.full(n_arms, 1.0 / n_arms),
            jac=lambda q, z=z: -1.0 / q - z,
            bounds=[(1e-12, 1.0)] * n_arms,
            constraints={"type": "eq", "fun": lambda q: q.sum() - 1.0, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": tolerance, "maxiter": 1000},
        )
        found[row] = (general.nfev + general.njev) / log_barrier_root(z.max() - z, tolerance)[1]
    return found
