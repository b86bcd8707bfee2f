"""Kernels by themselves: compiled they give the interpreter's bits, on inputs of all sizes."""

import math

import numpy as np
import pytest
from numba import config, njit

from fairbandits.engine import laws, normal, streams
from fairbandits.policies import learners, merit, simplex

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

MERITS = ((0, 1.0), (0, 0.0), (0, 0.5), (0, 2.0), (0, 1.3), (1, 2.0))


def words(rng, count):
    return [*rng.integers(0, streams.MASK, count, np.uint64, True), np.uint64(streams.MASK)]


def sizes(rng):
    return [1, 2, 3, 5, 8, 17, 64, *rng.integers(1, 200, 30).tolist()]


def vectors(rng, scales):
    """Return random vectors, some of them with ties and zeros."""
    for size in sizes(rng):
        vector = rng.normal(size=size) * rng.choice(scales)
        yield np.round(vector, 1) if rng.random() < 0.3 else vector


def probabilities(rng):
    values = [*rng.random(2000), *(10.0 ** -rng.uniform(0, 300, 300)), 0.5, 0.075, 0.925]
    return [(float(p),) for p in values]


def shapes(rng):
    return [(w, int(rng.integers(9)), 10.0 ** rng.uniform(-1.5, 3)) for w in words(rng, 500)]


def distributions(rng):
    return [(rng.dirichlet(np.full(n, 0.3)), w) for n in sizes(rng) for w in words(rng, 20)]


def boxes(rng):
    for n in sizes(rng):
        lower, upper = np.sort(rng.random((2, n)), axis=0)
        yield from ((lower, upper, n, kind, c, np.zeros(n)) for kind, c in MERITS)


def gaps(rng):
    for vector in vectors(rng, (1e-8, 1.0, 1e4, 1e12)):
        start = rng.choice([0.01, 1.0, float(vector.size), 1e3])
        yield vector - vector.min(), start, rng.choice([1e-10, 1e-5])


def products(rng):
    return [
        (10.0 ** rng.uniform(-70, 70, n), 0.0, 10.0 ** rng.uniform(-70, 70, n)) for n in sizes(rng)
    ]


def gains(rng):
    rates = [math.inf, 1e-3, 1.0, 1e3]
    return [(vector, rng.choice(rates)) for vector in vectors(rng, (1e-8, 1.0, 1e8))]


def evidence(rng):
    variances = 10.0 ** rng.uniform(-6, 6, 2000)
    return [(float(rng.normal(scale=3) * math.sqrt(v)), float(v)) for v in variances]


def ranges(rng):
    return [(np.array([rng.choice([0.0, 1.0, 3.7])]), rng.exponential(10)) for _ in range(500)]


KERNELS = {
    "quantile": (lambda p: normal.quantile(p), probabilities),
    "gamma": (lambda w, j, shape: laws._gamma(w, j, shape), shapes),
    "sample": (lambda x, coin: simplex.sample(x, coin), distributions),
    "best_vertex": (lambda *arguments: merit.best_vertex(*arguments), boxes),
    "log_barrier_shift": (lambda *arguments: simplex.log_barrier_shift(*arguments), gaps),
    "mass_and_logs": (lambda *arguments: simplex.mass_and_logs(*arguments), products),
    "mix": (lambda gains, rate: learners._mix(gains, rate), gains),
    "log_evidence": (lambda regret, variance: learners._log_evidence(regret, variance), evidence),
    "erfcx": (
        lambda x: learners._erfcx(x),
        lambda rng: [(float(x),) for x in 10.0 ** rng.uniform(-6, 3, 2000)],
    ),
    "raise_bound": (lambda bound, size: learners._raise_bound(bound, size), ranges),
}


def bits(value):
    if isinstance(value, tuple):
        return [array for part in value for array in bits(part)]
    return [np.asarray(value).tobytes()]


def copied(value):
    if isinstance(value, tuple):
        parts = map(copied, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_equals_interpreted(name, rng):
    function, inputs = KERNELS[name]
    compiled = njit(function)
    for given in inputs(rng):
        ours, theirs = copied(tuple(given)), copied(tuple(given))
        assert bits((compiled(*ours), ours)) == bits((function(*theirs), theirs)), given
