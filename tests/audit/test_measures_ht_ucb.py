"""HT-UCB's measures, and what its claims ask, on numbers done by hand."""

from fractions import Fraction

import numpy as np
import pytest

from fairbandits.theory.penalised import fluid_pulls
from made_cells import asked, cell_of, claims_module, end, run_of, value

HT_UCB = claims_module("ht_ucb")


def made_cell(values, rounds, *, quotas=("1/10", "1/10"), **given):
    given = {"policy": "ht_ucb", "penalties": 0.3} | given
    return cell_of("ht_ucb", values, rounds, quotas=tuple(quotas), **given)


FOUR = {"means": (0.9, 0.8, 0.6, 0.9), "quotas": ("1/4", "1/5", "1/10", "1/10")}


def test_sets_and_rates_of_arms():
    cell = made_cell({}, [10], means=(0.9, 0.6, 0.5, 0.9), quotas=["1/10"] * 4, penalties=0.3)
    assert end("critical", cell) == [False, True, False, False]  # 0.9 - 0.6 > 0.3 in doubles
    assert end("non_critical", cell) == [False, False, True, False]
    assert end("penalty", made_cell({}, [10], penalties="half_range")) == pytest.approx([0.2] * 2)
    of_policy = made_cell({}, [10], penalties=None, parameters={"penalties": [0.1, 0.4]})
    assert end("penalty", of_policy) == [0.1, 0.4]
    with pytest.raises(ValueError, match="no penalty rates"):
        end("penalty", made_cell({}, [10], penalties=None))
    assert run_of(made_cell({}, [10], quotas=("1/3", "1/6"))).tau == 0.5


def test_penalised_regret_and_its_parts_by_hand():
    """T = 100: gaps 0, 0.1, 0.3, 0; A = 0.2; quotas owe 25, 20, 10 and 10."""
    cell = made_cell({"plays": [[[50, 15, 30, 5]]]}, [100], **FOUR, penalties=0.2)
    loss = 0.1 * 15 + 0.3 * 30 + 0.2 * 5 + 0.2 * 5
    best = 0.1 * 20 + 0.2 * 10
    assert end("penalised_loss", cell) == pytest.approx([loss])
    assert end("prophet_loss", cell) == pytest.approx([best])
    assert end("penalised_regret", cell) == pytest.approx([loss - best])
    assert end("lack", cell) == [0, 5, 0, 5]
    assert end("mean_reward", cell) == pytest.approx([0.9 * 55 + 0.8 * 15 + 0.6 * 30])


def test_the_largest_regret_is_that_of_one_arm(rng):
    cell = made_cell({}, [100], **FOUR, penalties=0.2)
    (most,) = end("penalised_regret_most", cell)
    for _ in range(200):
        plays = rng.multinomial(100, rng.dirichlet(np.full(4, 0.3)))
        some = made_cell({"plays": [[plays]]}, [100], **FOUR, penalties=0.2)
        assert end("penalised_regret", some)[0] <= most + 1e-9
    worst = made_cell({"plays": [[[0, 0, 100, 0]]]}, [100], **FOUR, penalties=0.2)
    assert end("penalised_regret", worst) == pytest.approx([most])


def walked(pulls, **given):
    """Return a cell of every round of a sequence of pulls, arms from 1."""
    plays = np.cumsum(np.eye(len(given["means"]), dtype=int)[np.array(pulls) - 1], axis=0)
    return made_cell({"plays": plays[None]}, range(1, len(pulls) + 1), **given)


HALVES = {"means": (0.9, 0.8), "quotas": ("1/2", "1/4"), "penalties": 1.0}


def test_an_arm_that_alone_is_short():
    """In rounds n = 1, 2, ... arm k is short if N_k(n - 1) < tau_k n."""
    pulls = [1, 2, 2, 1, 2, 2]
    run = run_of(walked(pulls, **HALVES))
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
    for (least, first), expected in {
        (0, 1): ([wanted], [unserved]),
        (9, 1): ([0], [0]),
        (0, 7): ([0], [0]),
    }.items():
        assert tuple(count.tolist() for count in HT_UCB.alone(run, least, first)) == expected


def test_a_non_critical_arm_out_of_turn():
    given = {"means": (0.9, 0.2), "quotas": ("1/2", "1/4"), "penalties": 0.1}
    # arm 2 is pulled in rounds 2 to 4, where arm 1 with one pull is short from n = 3 on
    run = run_of(walked([1, 2, 2, 2], **given))
    for first, expected in ((1, ([2], [2])), (4, ([1], [1]))):  # without pulls so far it is not yet
        assert tuple(count.tolist() for count in HT_UCB.outside(run, 0, first)) == expected


def test_rounds_for_arms_that_are_short():
    n, before, pulled, short = HT_UCB.steps(run_of(walked([1, 2, 2, 1], **HALVES)))
    assert n.tolist() == [1, 2, 3, 4]
    assert before[0].tolist() == [[0, 0], [1, 0], [1, 1], [1, 2]]
    # n = 1: both short, 1 pulled; 2: arm 2 short, pulled; 3: arm 1 short, not pulled; 4: it is
    assert (pulled & short).any(axis=2).tolist() == [[True, True, False, True]]


@pytest.mark.parametrize(("pulls", "changes"), [([2, 2] + [1] * 6, True), ([1] * 8, False)])
def test_changes_of_the_arm_ahead(pulls, changes):
    """mu + A [short]: arm 1 leads with 0.9, arm 2 with 1.8 in the rounds in which it is short."""
    (test,) = asked("ht_ucb", "htucb-moving-optimum", walked(pulls * 20, **HALVES))
    assert test.data["values"].tolist() == [changes]


def test_the_recursion_of_appendix_d(rng):
    """Against a plain count, on random paths; and it can be broken by counting less."""
    given = {"means": (0.9, 0.8, 0.7), "quotas": ("1/4", "1/3", "1/6"), "penalties": 1.0}
    for _ in range(20):
        pulls = rng.integers(1, 4, 60).tolist()
        tau = [Fraction(quota) for quota in given["quotas"]]
        most, waiting = [Fraction(0)] * 3, [0] * 3
        counts = [0] * 3
        for n, arm in enumerate(pulls, start=1):
            short = [counts[k] < tau[k] * n for k in range(3)]
            for k in range(3):
                waiting[k] += short[k] and not any(short[:k]) and arm != k + 1
            counts[arm - 1] += 1
            most = [max(most[k], tau[k] * n - counts[k]) for k in range(3)]
        wanted = [12 * (most[k] - tau[k] - sum(most[:k]) - sum(waiting[: k + 1])) for k in range(3)]
        excess = HT_UCB.recursion_excess(run_of(walked(pulls, **given)))
        assert np.ravel(list(excess)).tolist() == wanted
        assert max(wanted) <= 0


def test_scale_parameters_are_those_of_experiment_d():
    assert value("scale", made_cell({}, [100], swept={"penalties": 0.25})) == 0.25
    flearn = made_cell({}, [100], policy="fair_learn", swept={"tolerance": 2.5})
    assert value("scale", flearn) == pytest.approx(0.75)
    lfg = made_cell({}, [100], policy="lfg", swept={"eta": 40, "horizon": 100})
    assert value("scale", lfg) == pytest.approx(0.6)
    assert value("swept", lfg) == 40


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
    assert end("keeps", cell) == kept
    assert end("keeps_nearest", cell) == [nearest]


def test_the_height_of_a_curve(rng):
    """Its mean is the interpolated height, and its spread that of the height itself."""
    x, others = rng.normal([0, 2, 4], 0.01, (400, 3)), rng.normal([1, 5], 0.01, (400, 2))
    y = rng.normal([0, 10, 12], 0.5, (400, 3))
    # the range that both reach is from 1 to 4; level 2 of 4 is at 2
    low, high = others.mean(axis=0)[0], x.mean(axis=0)[2]
    for level in (1, 2, 3, 4):
        at = low + (high - low) * (level - 1) / 3
        heights = HT_UCB.frontier(x, y, others, level, 4)
        assert heights.shape == (400,)
        assert heights.mean() == pytest.approx(np.interp(at, x.mean(axis=0), y.mean(axis=0)))
    drawn = []
    at = low + (high - low) / 3
    for _ in range(400):
        some = rng.integers(0, 400, 400)
        drawn.append(np.interp(at, x[some].mean(axis=0), y[some].mean(axis=0)))
    error = HT_UCB.frontier(x, y, others, 2, 4).std(ddof=1) / 20
    assert np.std(drawn) == pytest.approx(error, rel=0.2)


def test_fluid_law_of_a_cell():
    cell = made_cell({}, [20000], means=(0.9, 0.8, 0.3), quotas=["1/20"] * 3, penalties=0.45)
    wanted = fluid_pulls([0.9, 0.8, 0.3], ["1/20"] * 3, 0.45, 20000)
    assert end("fluid_pulls", cell) == pytest.approx(wanted.tolist())


def test_straightness():
    x, y = np.array([1.0, 2, 4]), np.array([[3.0, 5, 9], [1, 1, 1], [2, 1, -1]])
    assert HT_UCB.straightness(y, x).tolist() == pytest.approx([1, 0, -1])
    x = 1 / np.arange(1, 8) ** 2.0  # times 0.1 to 9.9, some of which are rounded to more than 1
    assert HT_UCB.straightness(np.outer(np.arange(1, 100) / 10, x), x).max() == 1
    with pytest.raises(ValueError, match="at least 3 arms, got 2"):
        HT_UCB.straightness(y[:, :2], x[:2])
