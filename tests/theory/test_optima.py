"""Static optimum and fluid equilibrium, against a linear program, the naive twin and the paper."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import naive
from fairbandits.theory.equilibrium import equilibrium_queues, equilibrium_regret
from fairbandits.theory.static import load, static_benchmark

V = math.sqrt(2_000_000)


def solve(means, targets):
    """Return the result of the linear program: most reward among distributions in Omega."""
    means, targets = np.asarray(means), np.asarray(targets)
    limits = {"A_ub": -np.diag(means), "b_ub": -targets, "bounds": (0, 1)}
    return linprog(-means, A_eq=np.ones((1, means.size)), b_eq=[1], method="highs", **limits)


def instance(rng, total, protected=None):
    """Return means, and targets that need the share `total` of all rounds."""
    arms = int(rng.integers(2, 13))
    means = rng.uniform(0.05, 1.0, arms)
    shares = rng.uniform(size=arms) * (rng.uniform(size=arms) < 0.6)
    if protected == "best":
        shares[means.argmax()] += 0.5
    elif protected == "not best":
        shares[means.argmax()] = 0
    if not shares.any():
        shares[means.argmin()] = 1
    return means, means * shares / shares.sum() * total


@pytest.mark.parametrize("protected", [None, "best", "not best"])
@pytest.mark.parametrize("total", [0.1, 0.9, 1 - 1e-6])
def test_static_benchmark_is_the_optimum_of_the_linear_program(rng, protected, total):
    for _ in range(40):
        means, targets = instance(rng, total, protected)
        benchmark = static_benchmark(means, targets)
        optimum = solve(means, targets)
        assert optimum.status == 0
        assert benchmark.reward == pytest.approx(-optimum.fun, abs=1e-9)
        # the optimum is unique: the means are all different
        np.testing.assert_allclose(benchmark.distribution, optimum.x, rtol=0, atol=1e-7)
        x, reward = naive.static_benchmark(means.tolist(), targets.tolist())
        np.testing.assert_allclose(benchmark.distribution, x, rtol=0, atol=1e-15)
        assert benchmark.reward == pytest.approx(reward, rel=1e-14)


@pytest.mark.parametrize("total", [1.001, 1.2, 3.0])
def test_targets_that_no_distribution_meets(rng, total):
    for _ in range(20):
        means, targets = instance(rng, total)
        assert solve(means, targets).status == 2  # infeasible
        with pytest.raises(
            ValueError, match=r"targets cannot be met: .* at most 1, got \d\.\d{4}$"
        ):
            static_benchmark(means, targets)


@pytest.mark.parametrize("total", [1.0, 1 - 1e-12, 1 + 1e-12])
def test_critical_load_leaves_nothing_to_choose(rng, total):
    for _ in range(40):
        means, targets = instance(rng, total, "not best")
        x, reward = static_benchmark(means, targets)
        np.testing.assert_allclose(x, targets / means, rtol=0, atol=1e-11)
        assert x.min() >= 0
        assert reward == pytest.approx(targets.sum(), rel=1e-9)


def test_load_by_hand():
    assert load([0.5, 0.25, 0.8], [0.25, 0.05, 0]) == pytest.approx(0.7)
    assert load([0.5, 0.25], [0, 0]) == 0
    assert load([0.0, 0.25], [0, 0.1]) == pytest.approx(0.4)
    assert load([0.0, 0.25], [0.1, 0]) == math.inf
    with pytest.raises(ValueError, match="got inf"):
        static_benchmark([0.0, 0.25], [0.1, 0])


@pytest.mark.parametrize(
    ("means", "targets", "wanted"),
    [
        ([0.2, 0.9, 0.5], [0, 0, 0], [0, 1, 0]),  # nothing is protected
        ([0.2, 0.8, 0.8], [0.1, 0, 0], [0.5, 0.5, 0]),  # the first of equal best arms
        ([0.2, 0.8], [0.1, 0.2], [0.5, 0.5]),  # a protected best arm, beyond its own share 1/4
    ],
)
def test_static_benchmark_by_hand(means, targets, wanted):
    x, reward = static_benchmark(means, targets)
    assert x.tolist() == wanted
    assert reward == pytest.approx(np.dot(wanted, means))


def test_fractions_of_the_released_instance():
    """The fractions printed with the comparison to LFG, and its benchmark at the last round."""
    x, reward = static_benchmark(naive.CODE4, naive.CODE4_TARGETS)
    np.testing.assert_allclose(x, [1 / 2, 1 / 3, 0, 1 / 6, 0], rtol=0, atol=1e-15)
    assert round(300_000 * reward) == 109_670
    assert load(naive.CODE4, naive.CODE4_TARGETS) == pytest.approx(5 / 6, rel=1e-14)


def test_equilibrium_of_the_released_instance():
    queues = equilibrium_queues(naive.CODE4, naive.CODE4_TARGETS, V)
    assert np.round(queues).tolist() == [1883, 4028, 0, 0, 0]
    assert round(equilibrium_regret(naive.CODE4, naive.CODE4_TARGETS, V)) == -13_982
    assert equilibrium_queues(naive.CODE4, [0] * 5, V).tolist() == [0] * 5
    assert equilibrium_regret(naive.CODE4, [0] * 5, V) == 0
    # V (0.8 / 0.2 - 1) and V (0.8 / 0.4 - 1)
    assert equilibrium_queues([0.2, 0.8, 0.4], [0.1, 0, 0.1], 5) == pytest.approx([15, 0, 5])
    assert equilibrium_regret([0.2, 0.8, 0.4], [0.1, 0, 0.1], 5) == pytest.approx(-5 * (9 + 1))
