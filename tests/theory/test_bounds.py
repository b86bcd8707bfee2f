"""Bounds of the papers on numbers done by hand."""

import math

import numpy as np
import pytest

from fairbandits.theory import bounds


def test_banditq_by_hand():
    assert bounds.squared_queue_bound(3, 0.0, 2.0) == pytest.approx(4 + 4 * math.sqrt(2 * 15))
    assert bounds.squared_queue_bound(2, 1.0, 1.0) == pytest.approx(4 + 4 * math.sqrt(4) + 4 * 2)
    # the number that the derivation of this bound was checked with
    assert bounds.regret_bound(5, math.sqrt(2e6), 2e6) == pytest.approx(2.4e5, rel=0.02)


INSTANCE_1 = np.array([0, *(i / 100 for i in range(2, 11))])
TWENTIETHS = [0.05] * 10


@pytest.mark.parametrize(
    ("horizon", "value"), [(1e3, 10_635), (1e5, 15_069), (1e6, 7_476), (1e8, 2.32)]
)
def test_fair_ucb_theorem_2_on_instance_1(horizon, value):
    bound = bounds.r_regret_bound(horizon, INSTANCE_1, TWENTIETHS, 0)
    assert bound == pytest.approx(value, abs=0.5 if value > 100 else 0.005)


def test_learning_begins_and_ends_with_the_quotas():
    """From 6.3 million rounds on no arm of Instance 1 is in S(T) (B3); then the bound is flat."""
    for horizon, tolerance, learning in ((6.2e6, 0, [1]), (6.3e6, 0, []), (6.3e6, 1e4, [1])):
        forced = 0.05 * horizon - tolerance
        arms = bounds.still_learning(horizon, INSTANCE_1, forced)
        assert np.flatnonzero(arms).tolist() == learning


TWO = np.array([0, 0.5])
E4 = math.exp(4)  # ln T = 4, so that learning needs 8 * 4 / 0.25 = 128 pulls
ROOM = (1 + math.pi**2 / 3) * 0.5


@pytest.mark.parametrize(
    ("tolerance", "printed", "clipped"),
    [
        (0, 0.5 * (128 - 0.4 * E4), 0.5 * (128 - 0.4 * E4)),
        (30, 0.5 * (128 - 0.4 * E4 + 30), 0.5 * 128),  # 0.4 T is 21.8
    ],
)
def test_fair_ucb_theorem_2_by_hand(tolerance, printed, clipped):
    arguments = (E4, TWO, [0.4, 0.4], tolerance)
    assert bounds.r_regret_bound(*arguments) == pytest.approx(ROOM + printed)
    assert bounds.r_regret_bound(*arguments, clipped=True) == pytest.approx(ROOM + clipped)


def test_fair_ucb_theorem_4_by_hand():
    of = bounds.fair_regret_bound
    assert of(E4, TWO, [0.4, 0.4], 0) == pytest.approx(ROOM + 8 * 4 / 0.5)
    t = math.exp(10)  # learning needs 320 pulls, the quota asks for 8811
    assert of(t, TWO, [0.4, 0.4], 0) == pytest.approx(ROOM + 0.5 * 0.4 * t)
    assert of(t, TWO, [0.4, 0.4], 100) == pytest.approx(ROOM + 0.5 * (0.4 * t - 100))
    assert bounds.ucb1_bound(E4, TWO) == pytest.approx(ROOM + 64)


def test_ht_ucb_theorem_2_by_hand():
    gaps, rates, quotas = np.array([0, 0.1, 0.5]), 0.3, np.array([0.1, 0.1, 0.2])
    assert bounds.raised_pulls(E4, gaps, rates).tolist() == pytest.approx([np.inf, np.inf, 800])
    assert bounds.critical_pulls(E4, gaps, quotas)[1] == pytest.approx(3200)
    assert bounds.critical_pulls(1e9, gaps, quotas)[1] == pytest.approx(1e8)
    # min(800, 0.2 T) against 32 / 0.25
    assert bounds.non_critical_pulls(E4, gaps, rates, quotas)[2] == pytest.approx(128)
    t = math.exp(12)  # 8 ln T = 96: min(2400, 0.2 T) against 384
    assert bounds.non_critical_pulls(t, gaps, rates, quotas)[2] == pytest.approx(2400)


@pytest.mark.parametrize(("as_printed", "critical"), [(True, 960 - 500), (False, 960 - 50)])
def test_ht_ucb_eq_13_by_hand(as_printed, critical):
    """T = e^12, gaps 0, 0.1 and 0.5, A = 0.3; the critical arm's quota is 500 pulls."""
    t = math.exp(12)
    given = t, [0, 0.1, 0.5], 0.3, [0.1, 500 / t, 0.2]
    bound = bounds.penalised_bound(*given, as_printed=as_printed)
    assert bound == pytest.approx(critical + max(min(96 / 0.2, 0.2 * 0.2 * t), 96 / 0.5))


def test_ht_ucb_theorem_3_is_the_double_sum(rng):
    means, rates = rng.uniform(0, 1, 5), rng.uniform(0.9, 1.5, 5)
    sums = means + rates
    order = sorted(range(5), key=lambda k: -sums[k])
    coefficients = bounds.maximal_coefficients(means, rates)
    for j in range(1, 6):
        wanted = 0.0
        for d in range(1, j + 1):
            arm = order[d - 1]
            inner = sum(1 / (sums[arm] - means[order[m - 1]]) ** 2 for m in range(1, d))
            inner += sum(1 / (sums[arm] - sums[order[m - 1]]) ** 2 for m in range(d + 1, 6))
            wanted += 8 * (j - d + 1) * inner
        assert coefficients[order[j - 1]] == pytest.approx(wanted)
    assert np.isinf(bounds.maximal_coefficients([0.8, 0.8], [0.6, 0.6])).all()


def test_ht_ucb_theorem_4_by_hand():
    terms = bounds.gap_free_terms(E4, [0.2, 0.5], [0.09, 0.16])
    roots = 8 * math.sqrt(4 * E4) * 0.7, 8 * math.sqrt(0.91 * 2 * E4 * 4)
    assert terms.tolist() == pytest.approx([*roots, E4 ** (2 / 3) * math.sqrt(8)])


def lemma_5(t, served, sizes, gaps, quotas, delta, ratio, clipped):
    least = min(gap for gap in gaps if gap > 0)
    total = (1 + math.pi**2 / 3) * sum(gaps)
    for n, k, gap, beta in zip(served, sizes, gaps, quotas, strict=True):
        inside = 8 / least**2 * math.log(4 * n * k / delta) + math.sqrt(n * math.log(k / delta) / 2)
        share = k * ratio * inside - beta * t
        total += (max(0, share) if clipped else share) * gap
    return total


def test_bf_ucb_lemma_5_and_theorem_7_by_hand():
    t, served, sizes, gaps = 10**7, np.array([6e6, 4e6]), np.array([2, 1]), np.array([0.375, 0])
    given = t, served, sizes, gaps, (0.2, 0.4), 0.01, 0.8 / 0.3
    for clipped in (False, True):
        bound = bounds.group_bound(*given, clipped=clipped)
        assert bound == pytest.approx(lemma_5(*given, clipped))
    assert lemma_5(*given, False) < 0 < lemma_5(*given, True)
    wanted = 0.99 * (math.sqrt(12e6) + math.sqrt(4e6)) + 0.01 * 10**7
    assert bounds.within_bound(t, served, sizes, 0.01) == pytest.approx(wanted)


def test_bf_ucb_theorem_3_by_hand():
    served, sizes, least = np.array([6, 4]), np.array([2, 1]), np.array([0.3, 0.8])
    wanted = []
    for n, k, mean in zip(served, sizes, least, strict=True):
        azuma = math.sqrt(2 * n * math.log(400))
        width = math.sqrt(2 * math.log(400 * k * n))
        wanted.append(2 / mean * width * (azuma + 2 * math.sqrt(n * k)))
    assert bounds.merit_bound(served, sizes, 0.01, least) == pytest.approx(wanted)
    assert bounds.azuma_bound(served, 0.01)[0] == pytest.approx(math.sqrt(12 * math.log(400)))
    roots = 1 + 1 / math.sqrt(2) + 1 / math.sqrt(3)
    assert bounds.root_sum(np.array([0, 1, 2, 4])).tolist() == pytest.approx([0, 0, 1, roots])


def test_bound_of_the_learner():
    sums = np.array([3, -7]), np.array([4, 5]), np.array([2, 1])
    assert bounds.learner_bound(8, *sums) == pytest.approx(23 * (2 + math.log(8)))
