"""HT-UCB's words on numbers done by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from fairbandits.audit.measures.ht_ucb import frontier, straightness
from fairbandits.theory import bounds
from fairbandits.theory import penalised_instances as problem
from fairbandits.theory.penalised import fluid_pulls
from small_records import cell_of, evaluated, numbers

SEED = 20240919


def made_cell(values, rounds, *, quotas=("1/10", "1/10"), **given):
    """Return a cell of made-up columns, each of shape (replicates, rounds, arms)."""
    given = {"policy": "ht_ucb", "penalties": 0.3} | given
    return cell_of(values, rounds, quotas=tuple(quotas), **given)


FOUR = {"means": (0.9, 0.8, 0.6, 0.9), "quotas": ("1/4", "1/5", "1/10", "1/10")}


def test_sets_and_rates_of_arms():
    cell = made_cell({}, [10], means=(0.9, 0.6, 0.5, 0.9), quotas=["1/10"] * 4, penalties=0.3)
    assert numbers("critical", cell) == [False, True, False, False]  # 0.9 - 0.6 > 0.3 in doubles
    assert numbers("non_critical", cell) == [False, False, True, False]
    assert numbers("penalty", made_cell({}, [10], penalties="half_range")) == pytest.approx(
        [0.2] * 2
    )
    own = made_cell({}, [10], penalties=None, parameters={"penalties": [0.1, 0.4]})
    assert numbers("penalty", own) == [0.1, 0.4]
    with pytest.raises(ValueError, match="no penalty rates"):
        numbers("penalty", made_cell({}, [10], penalties=None))
    assert evaluated("tau", made_cell({}, [10], quotas=("1/3", "1/6"))) == pytest.approx(0.5)
    assert numbers("replicate", made_cell({"plays": np.zeros((3, 1, 2))}, [10])) == [1, 2, 3]


def test_penalised_regret_and_its_parts_by_hand():
    """T = 100: gaps 0, 0.1, 0.3, 0; A = 0.2; quotas owe 25, 20, 10 and 10."""
    cell = made_cell({"plays": [[[50, 15, 30, 5]]]}, [100], **FOUR, penalties=0.2)
    loss = 0.1 * 15 + 0.3 * 30 + 0.2 * 5 + 0.2 * 5
    best = 0.1 * 20 + 0.2 * 10
    assert numbers("penalised_loss", cell) == pytest.approx([loss])
    assert numbers("prophet_loss", cell) == pytest.approx([best])
    assert numbers("penalised_regret", cell) == pytest.approx([loss - best])
    assert numbers("lack", cell) == [0, 5, 0, 5]
    assert numbers("mean_reward", cell) == pytest.approx([0.9 * 55 + 0.8 * 15 + 0.6 * 30])


def test_the_largest_regret_is_that_of_one_arm(rng):
    cell = made_cell({}, [100], **FOUR, penalties=0.2)
    (most,) = numbers("penalised_regret_most", cell)
    for _ in range(200):
        plays = rng.multinomial(100, rng.dirichlet(np.full(4, 0.3)))
        some = made_cell({"plays": [[plays]]}, [100], **FOUR, penalties=0.2)
        assert numbers("penalised_regret", some)[0] <= most + 1e-9
    worst = made_cell({"plays": [[[0, 0, 100, 0]]]}, [100], **FOUR, penalties=0.2)
    assert numbers("penalised_regret", worst) == pytest.approx([most])


# ----------------------------------------------------------------------------- bounds, by hand

E4 = math.exp(4)  # 8 ln T = 32


def test_theorem_2_by_hand():
    gaps, rates, quotas = np.array([0, 0.1, 0.5]), 0.3, np.array([0.1, 0.1, 0.2])
    assert bounds.raised_pulls(E4, gaps, rates).tolist() == pytest.approx([np.inf, np.inf, 800])
    assert bounds.critical_pulls(E4, gaps, quotas)[1] == pytest.approx(3200)
    assert bounds.critical_pulls(1e9, gaps, quotas)[1] == pytest.approx(1e8)
    # min(800, 0.2 T) against 32 / 0.25
    assert bounds.non_critical_pulls(E4, gaps, rates, quotas)[2] == pytest.approx(128)
    t = math.exp(12)  # 8 ln T = 96: min(2400, 0.2 T) against 384
    assert bounds.non_critical_pulls(t, gaps, rates, quotas)[2] == pytest.approx(2400)


@pytest.mark.parametrize(("as_printed", "critical"), [(True, 960 - 500), (False, 960 - 50)])
def test_eq_13_by_hand(as_printed, critical):
    """T = e^12, gaps 0, 0.1 and 0.5, A = 0.3; the critical arm's quota is 500 pulls."""
    t = math.exp(12)
    found = bounds.penalised_bound(
        t, [0, 0.1, 0.5], 0.3, [0.1, 500 / t, 0.2], as_printed=as_printed
    )
    assert found == pytest.approx(critical + max(min(96 / 0.2, 0.2 * 0.2 * t), 96 / 0.5))


def test_theorem_3_is_the_double_sum(rng):
    means, rates = rng.uniform(0, 1, 5), rng.uniform(0.9, 1.5, 5)
    sums = means + rates
    order = sorted(range(5), key=lambda k: -sums[k])
    found = bounds.maximal_coefficients(means, rates)
    for j in range(1, 6):
        wanted = 0.0
        for d in range(1, j + 1):
            own = order[d - 1]
            inner = sum(1 / (sums[own] - means[order[m - 1]]) ** 2 for m in range(1, d))
            inner += sum(1 / (sums[own] - sums[order[m - 1]]) ** 2 for m in range(d + 1, 6))
            wanted += 8 * (j - d + 1) * inner
        assert found[order[j - 1]] == pytest.approx(wanted)
    assert np.isinf(bounds.maximal_coefficients([0.8, 0.8], [0.6, 0.6])).all()


def test_theorem_4_by_hand():
    found = bounds.gap_free_terms(E4, [0.2, 0.5], [0.09, 0.16])
    wanted = [
        8 * math.sqrt(4 * E4) * 0.7,
        8 * math.sqrt(0.91 * 2 * E4 * 4),
        0.5 * 2 * E4 ** (2 / 3) * math.sqrt(8),
    ]
    assert found.tolist() == pytest.approx(wanted)


def test_committing_costs_less_than_its_bound():
    for share in (0.1, 0.01):
        gaps = np.geomspace(0.1, 10, 15)
        found = problem.committing_regrets(10, share, 100_000, gaps, 20_000, seed=SEED)
        assert found.mean(axis=0).max() < bounds.committing_regret(10, share, 100_000)
    m, step = 9000.0, np.linspace(0, 1, 100_001)
    largest = (step * np.exp(-m * step**2 / 4)).max()
    assert bounds.committing_regret(10, 0.1, 100_000) == pytest.approx(1e4 * 9 * largest, rel=1e-3)


def test_committing_is_counted_as_a_plain_loop_does():
    """Two arms, gap in units of sqrt(2 / T); the best is missed with the normal tail's chance."""
    found = problem.committing_regrets(2, 0.5, 200, [1.0], 40_000, seed=SEED)[:, 0]
    gap = math.sqrt(2 / 200)
    assert set(np.round(found, 9)) == {0.0, round(100 * gap, 9)}
    chance = 0.5 * math.erfc(gap / math.sqrt(2 / 50) / math.sqrt(2))
    assert (found > 0).mean() == pytest.approx(chance, abs=0.01)


# --------------------------------------------------------------------------------- exact fractions


def test_section_2_is_right_in_exact_fractions():
    for word in (problem.wrong_minimisers, problem.not_one_set, problem.out_of_order):
        assert set(word(200, seed=SEED)) == {0}
    assert max(problem.optimum_errors(20, seed=SEED)) < 1e-12


def test_wrong_statements_about_the_optimum_are_seen(monkeypatch):
    monkeypatch.setattr(problem, "loss", lambda gap, rate, quota, y: gap * y)
    assert 1 in problem.wrong_minimisers(50, seed=SEED)
    monkeypatch.setattr(
        problem, "oracle_allocation", lambda means, quotas, rates: np.eye(len(means))[0]
    )
    assert max(problem.optimum_errors(20, seed=SEED)) > 0.01
    monkeypatch.setattr(problem, "arm_sets", lambda means, rates: [np.ones(len(means))] * 2)
    assert 1 in problem.not_one_set(5, seed=SEED)


def test_a_constraint_for_each_round_cannot_be_met():
    assert problem.least_lack(["1/20"] * 9, 100) == 8
    assert problem.least_lack(["1/2", "0"], 100) == 0


# ---------------------------------------------------------------------------- round by round


def path(pulls, arms):
    """Return the counts after each round of a sequence of pulls, arms from 1."""
    return np.cumsum(np.eye(arms, dtype=int)[np.array(pulls) - 1], axis=0)[None]


def walked(pulls, **given):
    return made_cell({"plays": path(pulls, len(given["means"]))}, range(1, len(pulls) + 1), **given)


HALVES = {"means": (0.9, 0.8), "quotas": ("1/2", "1/4"), "penalties": 1.0}


def test_an_arm_that_alone_is_short():
    """In rounds n = 1, 2, ... arm k is short if N_k(n - 1) < tau_k n."""
    pulls = [1, 2, 2, 1, 2, 2]
    cell = walked(pulls, **HALVES)
    wanted = unserved = 0
    counts = [0, 0]
    for n, arm in enumerate(pulls, start=1):
        short = [counts[0] * 2 < n, counts[1] * 4 < n]
        if sum(short) == 1 and min(c for c, s in zip(counts, short, strict=True) if not s) > 0:
            wanted += 1
            unserved += not short[arm - 1]
        counts[arm - 1] += 1
    assert wanted
    assert unserved
    assert numbers("alone_rounds(0, 1)", cell) == [wanted]
    assert numbers("alone_unserved(0, 1)", cell) == [unserved]
    assert numbers("alone_rounds(9, 1)", cell) == [0]
    assert numbers("alone_rounds(0, 7)", cell) == [0]


def test_a_non_critical_arm_out_of_turn():
    given = {"means": (0.9, 0.2), "quotas": ("1/2", "1/4"), "penalties": 0.1}
    # arm 2 is pulled in rounds 2 to 4, where arm 1 with one pull is short from n = 3 on
    cell = walked([1, 2, 2, 2], **given)
    assert numbers("outside_rounds(0, 1)", cell) == [2]  # without pulls so far it is not yet
    assert numbers("outside_out_of_turn(0, 1)", cell) == [2]
    assert numbers("outside_out_of_turn(0, 4)", cell) == [1]


def test_rounds_for_arms_that_are_short():
    cell = walked([1, 2, 2, 1], **HALVES)
    # n = 1: both short, 1 pulled; 2: arm 2 short, pulled; 3: arm 1 short, not pulled; 4: it is
    assert numbers("share_to_short(1)", cell) == [3 / 4]
    assert numbers("share_to_short(3)", cell) == [1 / 2]


def test_changes_of_the_arm_ahead():
    """mu + A [short]: arm 1 leads with 1.9 or 0.9, arm 2 with 1.8 where it alone is short."""
    cell = walked([1, 2, 2, 1], **HALVES)
    assert numbers("leader_changes(1)", cell) == [2]
    assert numbers("leader_changes(3)", cell) == [1]


def test_the_recursion_of_appendix_d(rng):
    """Against a plain count, on random paths; and it can be broken by counting less."""
    given = {"means": (0.9, 0.8, 0.7), "quotas": ("1/4", "1/3", "1/6"), "penalties": 1.0}
    for _ in range(20):
        pulls = rng.integers(1, 4, 60).tolist()
        tau = [Fraction(one) for one in given["quotas"]]
        most, waiting = [Fraction(0)] * 3, [0] * 3
        counts = [0] * 3
        for n, arm in enumerate(pulls, start=1):
            short = [counts[k] < tau[k] * n for k in range(3)]
            for k in range(3):
                waiting[k] += short[k] and not any(short[:k]) and arm != k + 1
            counts[arm - 1] += 1
            most = [max(most[k], tau[k] * n - counts[k]) for k in range(3)]
        wanted = [12 * (most[k] - tau[k] - sum(most[:k]) - sum(waiting[: k + 1])) for k in range(3)]
        assert numbers("recursion_excess()", walked(pulls, **given)) == wanted
        assert max(wanted) <= 0


# --------------------------------------------------------------------------- curves and sweeps


def test_scale_parameters_are_those_of_experiment_d():
    assert evaluated("scale", made_cell({}, [100], swept={"penalties": 0.25})).item() == 0.25
    flearn = made_cell({}, [100], policy="fair_learn", swept={"tolerance": 2.5})
    assert evaluated("scale", flearn).item() == pytest.approx(0.75)
    lfg = made_cell({}, [100], policy="lfg", swept={"eta": 40, "horizon": 100})
    assert evaluated("scale", lfg).item() == pytest.approx(0.6)
    assert evaluated("swept", lfg).item() == 40


@pytest.mark.parametrize(
    ("plays", "kept", "nearest"),
    [
        ([970, 9, 9, 10], [True] * 4, True),
        ([970, 8, 9, 13], [True, False, True, True], False),
        ([970, 13, 9, 8], [True, True, True, False], True),
    ],
)
def test_arms_that_keep_their_quotas(plays, kept, nearest):
    cell = made_cell({"plays": [[plays]]}, [1000], means=(0.9, 0.8, 0.7, 0.6), quotas=["1/100"] * 4)
    assert numbers("keeps", cell) == kept
    assert numbers("keeps_nearest", cell) == [nearest]


def test_the_height_of_a_curve(rng):
    """Its mean is the interpolated height, and its spread that of the height itself."""
    x = rng.normal([0, 2, 4, 1, 5], 0.01, (400, 5))[:, None]
    y = rng.normal([0, 10, 12, 3, 4], 0.5, (400, 5))[:, None]
    own = np.array([True, True, True, False, False]).reshape(1, 1, 5)
    # the range that both reach is from 1 to 4; level 2 of 4 is at 2
    middle, heights = x.mean(axis=(0, 1)), y.mean(axis=(0, 1))
    low, high = middle[3], middle[2]
    for level in (1, 2, 3, 4):
        at = low + (high - low) * (level - 1) / 3
        found = frontier(x, y, own, ~own, level, 4)
        assert found.shape == (400, 1, 1)
        assert found.mean() == pytest.approx(np.interp(at, middle[:3], heights[:3]))
    drawn = []
    at = low + (high - low) / 3
    for _ in range(400):
        some = rng.integers(0, 400, 400)
        drawn.append(np.interp(at, x[some].mean(axis=(0, 1))[:3], y[some].mean(axis=(0, 1))[:3]))
    error = frontier(x, y, own, ~own, 2, 4).std(ddof=1) / 20
    assert np.std(drawn) == pytest.approx(error, rel=0.2)


def test_arms_and_cells_in_order():
    cell = made_cell(
        {"plays": [[[5, 6, 7]], [[8, 9, 10]]]}, [20], means=(0.9, 0.2, 0.5), quotas=["0"] * 3
    )
    assert numbers("of_arm(plays, 2)", cell) == [6, 9]
    assert numbers("average(plays)", cell) == [6, 9]
    assert numbers("first_runs(plays, 1)", cell) == [5, 6, 7]
    assert numbers("in_order(plays, gap, gap > 0.1)", cell) == [7, 6, 10, 9]


def test_fluid_law_of_a_cell():
    cell = made_cell({}, [20000], means=(0.9, 0.8, 0.3), quotas=["1/20"] * 3, penalties=0.45)
    wanted = fluid_pulls([0.9, 0.8, 0.3], ["1/20"] * 3, 0.45, 20000)
    assert numbers("fluid_pulls", cell) == pytest.approx(wanted.tolist())


def test_straightness():
    x = np.array([[[1.0, 2.0, 4.0, 9.0]]])
    y = np.array([[[3.0, 5.0, 9.0, 0.0]], [[1.0, 1.0, 1.0, 7.0]], [[2.0, 1.0, -1.0, 0.0]]])
    assert straightness(y, x, np.array([True, True, True, False])).tolist() == pytest.approx(
        [1, 0, -1]
    )
