"""Fair-Learn's words, and inputs of its ledger, on numbers done by hand."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import real
from fairbandits.audit import cases
from fairbandits.audit.cells import Recorded
from fairbandits.audit.mathematics import counterexamples, fair_counts
from fairbandits.replication.simulate import recorded_rounds
from fairbandits.theory import bounds_fair_ucb as bounds
from small_records import cell_of, evaluated, ledger_test, numbers

SEED = 20240806
INSTANCE_1 = np.array([0, *(i / 100 for i in range(2, 11))])
TWENTIETHS = [0.05] * 10


def plan_of(claim, test):
    return ledger_test(claim, test).plan


def questions(claim, test, evidence):
    """Return what a test of the ledger asks of some evidence, without its control."""
    readings = real.ledgers()["fair_ucb"].claims[claim].readings
    plan = replace(plan_of(claim, test), control=None)
    return list(cases.questions(plan, readings, evidence))


def made_cell(values, rounds, *, means=(1.0, 0.0), quotas=(), name="fair_ucb", **given):
    """Return a cell of made-up columns, each of shape (replicates, rounds, arms)."""
    return cell_of(values, rounds, means=tuple(means), quotas=tuple(quotas), name=name, **given)


def together(*made):
    """Return made-up cells as one dataset."""
    first = made[0].recorded
    labels = {name: name for one in made for name in one.recorded.footer["labels"]}
    return Recorded(first.experiment, first.footer | {"labels": labels}, [one.run for one in made])


class Made:
    """Evidence of made-up datasets, by the name that a claim has for them."""

    def __init__(self, **datasets):
        self.datasets = datasets

    def recorded(self, name, columns=None):
        del columns
        yield from self.datasets[name]


# ----------------------------------------------------------------------------- bounds, by hand


@pytest.mark.parametrize(
    ("horizon", "value"), [(1e3, 10_635), (1e5, 15_069), (1e6, 7_476), (1e8, 2.32)]
)
def test_theorem_2_on_instance_1(horizon, value):
    found = bounds.r_regret_bound(horizon, INSTANCE_1, TWENTIETHS)
    assert found == pytest.approx(value, abs=0.5 if value > 100 else 0.005)


def test_learning_begins_and_ends_with_the_quotas():
    """From 6.3 million rounds on no arm of Instance 1 is in S(T) (B3); then the bound is flat."""
    last, first = 6.2e6, 6.3e6
    assert (
        bounds.still_learning(last, INSTANCE_1, TWENTIETHS).tolist() == [False, True] + [False] * 8
    )
    assert not bounds.still_learning(first, INSTANCE_1, TWENTIETHS).any()
    assert bounds.still_learning(first, INSTANCE_1, TWENTIETHS, tolerance=10_000)[1]


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
def test_theorem_2_by_hand(tolerance, printed, clipped):
    arguments = (E4, TWO, [0.4, 0.4], tolerance)
    assert bounds.r_regret_bound(*arguments) == pytest.approx(ROOM + printed)
    assert bounds.r_regret_bound(*arguments, clipped=True) == pytest.approx(ROOM + clipped)


def test_theorem_4_by_hand():
    assert bounds.regret_bound(E4, TWO, [0.4, 0.4]) == pytest.approx(ROOM + 8 * 4 / 0.5)
    t = math.exp(10)  # learning needs 320 pulls, the quota asks for 8811
    assert bounds.regret_bound(t, TWO, [0.4, 0.4]) == pytest.approx(ROOM + 0.5 * 0.4 * t)
    assert bounds.regret_bound(t, TWO, [0.4, 0.4], 100) == pytest.approx(
        ROOM + 0.5 * (0.4 * t - 100)
    )


def test_ucb1_bounds_by_hand():
    assert bounds.ucb1_bound(E4, TWO) == pytest.approx(ROOM + 64)


def test_bounds_of_a_cell_are_those_of_its_instance():
    """At each recorded round, and of replicates that draw their quotas each its own."""
    rounds = [100, 3000]
    drawn = {"span": "kth", "denominator": 10}
    values = {"quota": np.repeat([[[4, 4]], [[1, 3]]], 2, axis=1)}
    cell = made_cell(values, rounds, means=[0.9, 0.4], drawn_quotas=drawn)
    found = evaluated("r_regret_bound", cell)[:, :, 0]
    assert found == pytest.approx(
        np.array(
            [
                [bounds.r_regret_bound(t, TWO, quotas) for t in rounds]
                for quotas in ([0.4, 0.4], [0.1, 0.3])
            ]
        )
    )


# ------------------------------------------------------------------------- rounds and exactness


def test_rounds_are_those_recorded_at_or_below():
    cell = made_cell({}, [1, 10, 95, 1000, 9000, 10000])
    assert numbers("t @ [T / 1000, T / 100, T / 10, T]", cell) == [10, 95, 1000, 10000]
    assert numbers("t @ [0.5, 1, 2]", cell) == [1, 1, 1]
    assert numbers("logspaced(3, 90)", cell) == [95, 1000, 10000]
    assert numbers("logspaced(9, 90)", cell) == [95, 1000, 9000, 10000]
    assert numbers("those([T / 10, T], t @ [T / 10, T] > 5000)", cell) == [10000]
    assert numbers("recorded_round(1000)", cell) == [1000]
    with pytest.raises(ValueError, match="round 999 is not recorded"):
        numbers("recorded_round(999)", cell)


def test_log_spaced_rounds_are_the_nearest():
    cell = made_cell({}, np.arange(1, 10**6 + 1))
    assert numbers("logspaced(6, T / 10)", cell) == [
        100000,
        158489,
        251189,
        398107,
        630957,
        1000000,
    ]


def test_whole_numbers_come_back_exactly():
    wanted = [-7, 0, 5, 10**9 + 1]
    cell = made_cell({"deficit": np.array(wanted)[:, None, None] / 10000}, [1])
    assert numbers("numerators(deficit, 10000)", cell) == wanted
    with pytest.raises(ValueError, match="must be whole numbers"):
        numbers("numerators(deficit, 100)", cell)


def test_r_regret_in_whole_numbers():
    """Gaps 1/5 and 3/10, T = 10: quotas owe 3 and 2 pulls, a tolerance of 1/2 half a pull less."""
    wanted = Fraction(1, 5) * (5 - Fraction(5, 2)) + Fraction(3, 10) * (1 - Fraction(3, 2))
    quotas = ["1/5", "3/10", "1/4"]
    cell = made_cell(
        {"plays": [[[4, 5, 1]]]},
        [10],
        means=[0.7, 0.5, 0.4],
        quotas=quotas,
        parameters={"tolerance": "1/2"},
    )
    assert numbers("numerators(r_regret, 20)", cell) == [wanted * 20]
    gaps = [Fraction(0), Fraction(1, 5), Fraction(3, 10)]
    problem = fair_counts.Problem(10, gaps, list(map(Fraction, quotas)), Fraction(1, 2))
    assert problem.r_regret([4, 5, 1]) == wanted * 20
    assert numbers("owed", cell) == [2, 3, 2]
    assert numbers("first_phase", cell) == [2 + 3 + 3]


# ---------------------------------------------------------------------------- ranges and classes


@pytest.mark.parametrize(
    ("numerators", "denominator", "reading"),
    [
        ([33, 10, 10], 100, "range_kth"),
        ([1, 1, 0], 3, "range_wider"),  # 1/3 is not below 1/3
        ([49, 10, 10], 100, "range_wider"),
        ([1, 0, 0], 2, None),  # and 1/2 is 1/(k - 1)
        ([49, 49], 100, "range_kth"),
    ],
)
def test_ranges_of_quotas(numerators, denominator, reading):
    drawn = {"span": "kth", "denominator": denominator}
    means = np.linspace(0.9, 0.1, len(numerators))
    cell = made_cell({"quota": [[numerators]]}, [1], means=means, drawn_quotas=drawn)
    rules = plan_of("fairucb-thm1-range", "random_quotas").reading
    found = [name for name, rule in rules.items() if evaluated(rule, cell).all()]
    assert found == ([reading] if reading else [])


def test_no_quota_is_too_near_to_a_limit_for_doubles():
    """A quotient of small whole numbers is the double next to it, whatever the fraction."""
    for k in range(2, 21):
        for denominator in (1000, 10000):
            for numerator in range(denominator):
                assert (numerator / denominator < 1 / k) == (numerator * k < denominator)


def test_excesses_over_a_tolerance():
    """With alpha 3/4, lacks of 1 and 0 pulls are 1/4 above it and 3/4 below."""
    cell = made_cell(
        {
            "floor_deficit_sup": [[[0, 1]], [[-1, 0]]],
            "deficit_sup": [[[0.9, 1.7]], [[0.1, 0.2]]],
        },
        [1],
        quotas=["1/10", "1/5"],
        swept={"tolerance": "3/4"},
    )

    def excess(claim, test):
        return numbers(plan_of(claim, test).inputs["excess"], cell)

    assert excess("fairucb-thm1-alpha-int", "every_round") == [1, -3]  # quarters
    assert excess("fairucb-thm1-alpha-nonint", "rounded_up") == [0, -1]


def test_a_stop_is_compared_at_its_own_round():
    """The longest run has 3 pulls at round 10, where the stopped one has 1 more."""
    longest = made_cell({"plays": [[[1, 1], [3, 7], [9, 11]]]}, [2, 10, 20], name="longest")
    stopped = made_cell({"plays": [[[4, 6]]]}, [10], name="stopped")
    (question,) = questions(
        "fairucb-horizon-agnostic", "same_pulls", Made(prefix=[together(longest, stopped)])
    )
    assert question.data["excess"].tolist() == [1]


# ----------------------------------------------------------------------------------------- Fig. 2

GRID = [0, 10000, 20000, 30000, 40000, 50000, 60000]


def made_costs(regret, threshold):
    """Return Fig. 2's data sets with a regret, and a violation, that the tolerance decides."""

    def cell(value, tolerance, means, **given):
        values = {
            "plays": np.full((3, 1, 2), [10**6 - value, value]),
            "deficit": np.full((3, 1, 2), [0.0, threshold]),
            "floor_deficit_sup": np.full((3, 1, 2), [0.0, min(tolerance, threshold)]),
            "deficit_sup": np.full((3, 1, 2), [0.0, min(tolerance, threshold) + 0.5]),
        }
        return made_cell(values, [10**6], means=means, quotas=["1/10", "1/10"], **given)

    datasets = {}
    for name, gap in (("cost_of_fairness", 0.1), ("cost_of_fairness_other_gaps", 0.09)):
        means = (0.8, 0.8 - gap)
        grid = [cell(regret(one), one, means, swept={"tolerance": one}) for one in GRID]
        ucb1 = cell(regret(threshold), threshold, means, policy="ucb1", name="ucb1")
        experiment = SimpleNamespace(name=name, suite="", instance="")
        datasets[name] = [together(*grid, ucb1)._replace(experiment=experiment)]
    return Made(**datasets)


def test_steps_below_the_threshold():
    made = made_costs(float, 47_600)
    named = (("falling", "gaps_from_two", 0.1), ("falling_even", "gaps_even", 0.09))
    for test, reading, gap in named:
        (question,) = questions("fairucb-fig2-regret-decreasing", test, made)
        assert question.reading == reading
        assert question.data["samples"][0] == pytest.approx([gap * 10_000] * 4)
        assert question.data["limits"].tolist() == [0] * 4
    for test, size in (("rising", 1), ("rising_real", 20)):
        for question in questions("fairucb-fig2-violation-increasing", test, made):
            excess = question.data["excess"].reshape(3, -1)
            assert excess.tolist() == [[1 - size * 10_000] * 4] * 3


def test_tolerances_above_the_threshold():
    made = made_costs(float, 47_600)
    for test, more in (("flat_beyond", 0), ("flat_beyond_real", 0.5)):
        for question in questions("fairucb-fig2-violation-increasing", test, made):
            assert question.data["one"].tolist() == [47_600 + more] * 3
            assert question.data["other"].tolist() == [47_600 + more] * 3
    for test, gap in (("recovers_ucb1", 0.1), ("recovers_ucb1_even", 0.09)):
        (question,) = questions("fairucb-fig2-threshold", test, made)
        assert question.data["one"] == pytest.approx([gap * 50_000] * 3)
        assert question.data["other"] == pytest.approx([gap * 47_600] * 3)


# ------------------------------------------------------------------------- the rounds of full runs


@cache
def full(name):
    (one,) = real.config().named("fair_ucb", name)
    spec = one.runs[0].spec
    rounds = recorded_rounds(spec, one.horizon)
    quotas = spec.quotas or [0] * spec.n_arms
    return one, made_cell({}, rounds, means=spec.means, quotas=quotas)


def test_first_phases_end_at_recorded_rounds():
    for one in real.config().named("fair_ucb", "small_quotas"):
        _, cell = full(one.name)
        (phase,) = numbers("first_phase", cell)
        assert phase == sum(math.ceil(Fraction(quota) * one.horizon) for quota in one.quotas)
        assert phase in (0, *cell.rounds)


# ---------------------------------------------------------------------------- suites of r-Regret


def test_random_instances_have_regrets_and_bounds_of_their_own(rng):
    """Each replicate has its own means and quotas; all are counted anew in fractions."""
    t, tolerance, shape = 5000, 100, (10, 1, 3)
    means, quotas = rng.uniform(size=shape), rng.integers(0, 333, shape)
    plays = rng.multinomial(t, [0.6, 0.3, 0.1], (10, 1))
    cell = made_cell(
        {"plays": plays, "mean": means, "quota": quotas},
        [t],
        means=(),
        drawn_means={"arms": 3, "low": 0, "high": 1},
        drawn_quotas={"span": "kth", "denominator": 1000},
        parameters={"tolerance": tolerance},
    )
    found = zip(*(numbers(word, cell) for word in ("r_regret", "r_regret_bound")), strict=True)
    for replicate, (total, bound) in enumerate(found):
        wanted = allowed = 0.0
        own = (one[replicate, 0].tolist() for one in (means, quotas, plays))
        best = means[replicate].max()
        for mean, quota, n in zip(*own, strict=True):
            owed = Fraction(quota, 1000) * t
            wanted += (best - mean) * (n - max(0, math.floor(owed) - tolerance))
            allowed += bounds.CONSTANT * (best - mean)
            if mean < best and (need := 8 * math.log(t) / (best - mean) ** 2) > owed - tolerance:
                allowed += (best - mean) * (need - float(owed - tolerance))
        assert (total, bound) == pytest.approx((wanted, allowed))


def test_the_largest_r_regret_is_that_of_the_worst_arm():
    """Of 100 rounds 30 and 25 are free, less a tolerance of 5: 0.3 * 100 - 0.2 * 25 - 0.3 * 20."""
    cell = made_cell(
        {"plays": [[[0, 0, 100]]]},
        [100],
        means=[0.7, 0.5, 0.4],
        quotas=["1/5", "3/10", "1/4"],
        parameters={"tolerance": 5},
    )
    assert numbers("r_regret_most", cell) == pytest.approx([19])
    assert numbers("r_regret", cell) == pytest.approx([19])


# ---------------------------------------------------------------------------------- Observation 1


def test_cheapest_counts_are_the_floors():
    problem = fair_counts.Problem(
        100, [Fraction(0), Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 7)], Fraction(3)
    )
    assert fair_counts.cheapest(problem) == [75, 25]  # floor(200 / 7) - 3
    assert problem.r_regret([75, 25]) == 0
    assert problem.r_regret([74, 26]) > 0 > problem.r_regret([76, 24])
    assert problem.is_fair([75, 25])
    assert not problem.is_fair([76, 24])


# ------------------------------------------------------------------------------ other programs


# ------------------------------------------------------------------------------ counterexamples


def replayed(found):
    """Return how many pulls the example's arm lacks, counted anew in fractions."""
    quotas = [Fraction(one) for one in found["quotas"]]
    pulls = [0] * found["arms"]
    for t in range(1, found["round"] + 1):
        behind = [r * (t - 1) - n for r, n in zip(quotas, pulls, strict=True)]
        due = max(behind) > Fraction(found["alpha"])
        pulls[behind.index(max(behind)) if due else found["learner"] - 1] += 1
    arm = found["arm"] - 1
    assert pulls[arm] == found["pulls"]
    return math.floor(quotas[arm] * found["round"]) - pulls[arm]


def test_the_specified_counterexample():
    found = counterexamples.first_violation([9] * 10, 100, 50, learner=0)
    assert found["quotas"] == ["9/100"] * 10
    assert (found["alpha"], found["round"], found["arm"]) == ("1/2", 12, 8)
    assert (found["owed"], found["pulls"], found["missing"]) == (1, 0, 1)


@pytest.mark.parametrize(
    ("quotas", "denominator", "tolerance", "learner", "at"),
    [
        ([4, 6, 5], 20, 10, 0, 20),  # Instance 2, alpha 1/2
        ([1] * 10, 20, 18, 0, 20),  # Instance 1, alpha 9/10
        ([30, 25, 20, 10, 5, 4, 3, 2], 100, 0, 7, 20),
        ([3, 2, 0, 1, 0], 6, 0, 4, 6),
    ],
)
def test_other_counterexamples(quotas, denominator, tolerance, learner, at):
    found = counterexamples.first_violation(quotas, denominator, tolerance, learner)
    assert found["round"] == at
    assert replayed(found) == found["missing"] == 1


@pytest.mark.parametrize("tolerance", [0, 100, 200])
def test_no_counterexample_where_the_theorem_holds(tolerance):
    assert counterexamples.first_violation([9] * 10, 100, tolerance, learner=0) is None


def test_the_smallest_counterexamples_are_ones():
    found = counterexamples.counterexamples()
    fraction, beyond = found["fairucb-thm1-alpha-nonint"], found["fairucb-thm1-range"]
    assert replayed(fraction) > Fraction(fraction["alpha"])
    assert Fraction(fraction["alpha"]).denominator > 1
    assert max(map(Fraction, fraction["quotas"])) < Fraction(1, fraction["arms"])
    assert replayed(beyond) > Fraction(beyond["alpha"]) == 0
    assert max(map(Fraction, beyond["quotas"])) >= Fraction(1, beyond["arms"] - 1)
    assert sum(map(Fraction, beyond["quotas"])) < 1
    assert not fraction["tie"]
    assert not beyond["tie"]


def test_no_smaller_counterexample_of_two_arms():
    """Two arms of equal quota below 1/2: a violation takes alpha of at least 2/3 (by hand)."""
    for denominator in range(2, 6):
        for quota in range(1, -(-denominator // 2)):
            for tolerance in range(1, denominator):
                found = counterexamples.first_violation([quota] * 2, denominator, tolerance, 0)
                assert found is None or found["tie"]
