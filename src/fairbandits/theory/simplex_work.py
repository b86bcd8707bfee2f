"""Work of BanditQ's two solvers on the simplex in a round, in array entries that are looked at.

Copies of `fairbandits.policies.simplex` count them. Scales of inputs are 10^low to 10^high.
"""

import numpy as np

from fairbandits.theory.draws import generator


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


def projection_work(sizes, number, seed):
    """Entries that simplex projections examine, divided by N log N, for each number N of arms."""
    rng = generator(seed)

    def looked_at(n_arms):  # for a step of length 10^-3 to 1 from a uniform point
        step = rng.random(n_arms)
        step *= 10.0 ** rng.uniform(-3, 0) / np.linalg.norm(step)
        return projection(rng.dirichlet(np.ones(n_arms)) + step)[1]

    return _over_n_log_n(looked_at, sizes, number)


def barrier_work(sizes, number, tolerance, low, high, seed):
    """Entries that log-barrier steps examine, divided by N log N, for each number N of arms."""
    rng = generator(seed)

    def looked_at(n_arms):
        z = 10.0 ** rng.uniform(low, high) * rng.standard_normal(n_arms)
        return n_arms * log_barrier_root(z.max() - z, tolerance)[1]

    return _over_n_log_n(looked_at, sizes, number)


def solver_advantage(n_arms, number, tolerance, low, high, seed):
    """Passes of SciPy's SLSQP over all arms, over those of the special solver, on random inputs."""
    from scipy.optimize import minimize

    rng, ratios = generator(f"{seed}-{n_arms}"), np.empty(number)
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
        ratios[row] = (general.nfev + general.njev) / log_barrier_root(z.max() - z, tolerance)[1]
    return ratios
