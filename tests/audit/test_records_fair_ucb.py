"""Fair-Learn's records: each test on small datasets, and what they say on numbers done by hand."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from numba import config

import real
from fairbandits.audit import cases
from fairbandits.audit.cells import Cell
from fairbandits.audit.evidence import Recorded
from fairbandits.audit.expressions import parse
from fairbandits.audit.mathematics import counterexamples, fair_counts, plain_fair_learn
from fairbandits.replication.recorded import RunData
from fairbandits.replication.simulate import recorded_rounds
from fairbandits.settings.spec import RunSpec
from fairbandits.theory import bounds_fair_ucb as bounds
from small_records import SmallEvidence, asking, check_questions, check_read, in_quick, records_of

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="millions of rounds")
SEED = 20240806
HORIZON = 2000
#: Of suites whose bounds say nothing before.
LONGER = {"learning_bound_random": 100_000}
#: Enough replicates for every procedure.
REPLICATES = 10
INSTANCE_1 = np.array([0, *(i / 100 for i in range(2, 11))])
TWENTIETHS = [0.05] * 10
#: Gaps so large that learning ends, and UCB1 falls behind the quotas, within a short run.
STEEP = (0.97, *(round(0.09 - 0.01 * k, 2) for k in range(9)))
MADE_STEEP = (
    *("constant_regime", "cost_of_fairness", "other_thresholds", "learning_bound_gaps"),
    *("r_regret", "sensitivity", "relaxed", "t_fair_growth", "plain_ucb_gaps"),
    *("small_quotas_none", "small_quotas_t", "small_quotas_hundredth"),
)
#: Where S(T) is empty with these gaps and quotas of 1/20.
SETTLED = [1700, 1775, 1850, 1925, 2000]
#: Sizes of searches and of plain programs, which the ledger has, in a quick run.
SIZES = {"doubles(100000": "doubles(2000", "_fair(10000)": "_fair(500)"}


# ------------------------------------------------------------------------------ small datasets


def shorter(experiment):
    """Return an experiment with all rounds at the same parts of a short horizon."""
    # of the suites of the guarantee two of each are enough: an invariant needs no spread
    observed = any(run.spec.observe for run in experiment.runs)
    few = 2 if observed else REPLICATES
    means = STEEP if experiment.name.startswith(MADE_STEEP) else experiment.means
    if experiment.suite == "worst_gaps" and experiment.name.endswith("8"):
        means = (0.97, *[0.01] * (len(means) - 1))  # so that a bound can be broken
    runs = tuple(
        replace(
            run,
            spec=shorter_spec(run.spec, means, experiment.suite),
            replicates=few,
            chunk=few,
        )
        for run in experiment.runs
    )
    horizon = min(LONGER.get(experiment.suite, HORIZON), experiment.horizon)
    return replace(experiment, horizon=horizon, replicates=few, runs=runs, means=means)


def shorter_spec(spec, means, suite):
    horizon = min(LONGER.get(suite, HORIZON), spec.horizon)
    part = Fraction(horizon, spec.horizon)

    def rounds(given):
        return sorted({max(spec.n_arms, round(part * one)) for one in given})

    changed = {"horizon": horizon, "means": means}
    at = spec.checkpoints.get("at")
    changed["checkpoints"] = {"at": rounds(at)} if at else {"linear": 100, "log": 20}
    if suite == "constant_regime":
        changed["checkpoints"] = {"at": SETTLED}
    if spec.horizons:
        changed["horizons"] = tuple(rounds(spec.horizons))
    return replace(spec, **changed)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    return SmallEvidence("fair_ucb", tmp_path_factory.mktemp("fair_ucb"), shorter, SEED)


LEDGER = real.ledgers()["fair_ucb"]
TESTS = records_of(LEDGER)


def plan_of(claim, test):
    return TESTS[f"{claim} {test}"][1].plan


def questions(claim, test, evidence):
    """Return what a test of the ledger asks of some evidence."""
    readings = LEDGER.claims[claim].readings
    return list(cases.questions(in_quick(plan_of(claim, test), SIZES), readings, evidence))


@pytest.fixture(scope="module")
def asked(evidence):
    return asking(TESTS, SIZES, evidence)


# ------------------------------------------------------------------------------- every record


@pytest.mark.parametrize("name", TESTS)
def test_a_procedure_takes_every_question(name, asked, evidence, rng):
    claim, test = TESTS[name]
    found, read = asked(claim.id, test.name)
    check_questions(claim, test, found, rng)
    check_read(claim, test, read, evidence)


# ------------------------------------------------------------------------------ cells made up


def made_cell(values, rounds, *, means=(1.0, 0.0), quotas=(), swept=None, **given):
    """Return a cell of made-up columns, each of shape (replicates, rounds, arms).

    `swept` are the values of swept parameters, each with the value of this cell first.
    """
    swept = swept or {}
    drawn = given.pop("drawn_quotas", {})
    policy, name = given.pop("policy", "fair_learn"), given.pop("name", "fair_ucb")
    spec = RunSpec(
        stream="made",
        policy=policy,
        parameters=given.pop("parameters", {}),
        law="bernoulli",
        horizon=int(rounds[-1]),
        checkpoints={},
        means=tuple(means),
        quotas=tuple(quotas),
        drawn_quotas=drawn,
        sweep=swept,
    )
    arrays = {column: np.asarray(one) for column, one in values.items()}
    replicates = max([1, *(len(one) for one in arrays.values())])
    cell = {parameter: float(Fraction(str(one[0]))) for parameter, one in swept.items()}
    run = RunData(f"{name}-bernoulli", name, "bernoulli", np.asarray(rounds), arrays, cell, spec)
    experiment = SimpleNamespace(
        **{"name": "made", "suite": "", "instance": ""} | given,
    )
    recorded = Recorded(experiment, {"replicates": replicates, "labels": {name: name}}, [run])
    return Cell(None, recorded, run)


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


def evaluated(text, cell, **known):
    return parse(text).evaluate(cases.CaseScope(None, cell, known))


def numbers(text, cell, **known):
    return np.ravel(evaluated(text, cell, **known)).tolist()


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
    (limits,) = {
        plan_of("fairucb-ucb1-thm7", name).inputs["limits"].replace("round", "t")
        for name in ("explicit", "worst_gaps")
    }
    cell = made_cell({}, [7], means=[0.9, 0.4])
    assert numbers(limits, cell) == pytest.approx([math.sqrt(16 * 7 * math.log(7)) + ROOM])


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
    assert evaluated("still_learning", cell)[:, :, 1].tolist() == [[True, False], [True, False]]


# ------------------------------------------------------------------------- rounds and exactness


def test_rounds_are_those_recorded_at_or_below():
    cell = made_cell({}, [1, 10, 95, 1000, 9000, 10000])
    assert numbers("t @ [T / 1000, T / 100, T / 10, T]", cell) == [10, 95, 1000, 10000]
    assert numbers("t @ [0.5, 1, 2]", cell) == [1, 1, 1]
    assert numbers("logspaced(3, 90)", cell) == [95, 1000, 10000]
    assert numbers("logspaced(9, 90)", cell) == [95, 1000, 9000, 10000]
    assert numbers("those([T / 10, T], t @ [T / 10, T] > 5000)", cell) == [10000]
    assert numbers("earliest(t > 90)", cell) == [95]
    with pytest.raises(ValueError, match="no recorded round"):
        numbers("earliest(t > T)", cell)
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
    rules = plan_of("fairucb-thm1-range", "every_round").reading
    found = [name for name, rule in rules.items() if evaluated(rule, cell).all()]
    assert found == ([reading] if reading else [])


def test_no_quota_is_too_near_to_a_limit_for_doubles():
    """A quotient of small whole numbers is the double next to it, whatever the fraction."""
    for k in range(2, 21):
        for denominator in (1000, 10000):
            for numerator in range(denominator):
                assert (numerator / denominator < 1 / k) == (numerator * k < denominator)


def test_excesses_over_a_tolerance():
    """Quotas in tenths, alpha 3/4: deficits 1 and 1.7 leave 1/4, nothing, and -1/20 above them."""
    cell = made_cell(
        {
            "floor_deficit_sup": [[[0, 1]], [[-1, 0]]],
            "deficit_sup": [[[0.9, 1.7]], [[0.1, 0.2]]],
        },
        [1],
        quotas=["1/10", "1/5"],
        swept={"tolerance": ["3/4"]},
    )

    def excess(claim, test="every_round"):
        return numbers(plan_of(claim, test).inputs["excess"], cell)

    assert excess("fairucb-thm1-alpha-nonint") == [1, -3]  # quarters
    assert excess("fairucb-thm1-alpha-nonint", "rounded_up") == [0, -1]
    assert excess("fairucb-lemma1-partition") == [0, -30]  # twentieths


def excesses(asked, claim):
    found, _ = asked(claim, "every_round")
    return {(one.reading, one.each): one.data["excess"] for one in found}


def test_fractions_of_tolerance_are_exceeded_and_whole_ones_not(asked):
    broken = excesses(asked, "fairucb-thm1-alpha-nonint")
    assert broken["", "best arm only, alpha = 1/2"].max() == 1
    kept = excesses(asked, "fairucb-thm1-alpha-int")
    assert len(kept) == 7 * 5 + 1  # Thompson sampling has one tolerance above 0
    assert max(excess.max() for excess in kept.values()) <= 0


def test_each_range_has_its_own_runs(asked):
    found = excesses(asked, "fairucb-thm1-range")
    for reading, sizes in {
        "range_kth": 2 * (5 + 1),  # five suites, and ten quotas of 9/100
        "range_wider": 2 * 4,
    }.items():
        assert found[reading, "worst arm only, alpha = 0"].size == sizes
    beyond, _ = asked("fairucb-thm1-range", "beyond")
    (worst,) = (one for one in beyond if one.each == "worst arm only, alpha = 0")
    assert worst.data["excess"].size == 2 * 6
    assert worst.data["excess"].max() > 0
    assert found["range_wider", "worst arm only, alpha = 0"].max() <= 0


def test_only_quotas_below_an_equal_share_are_kept(asked):
    """Five suites, two instances; of the suite beyond the range, ten quotas of 9/100."""
    assert excesses(asked, "fairucb-thm1-alpha0")["", "UCB1"].size == 2 * 7
    assert excesses(asked, "fairucb-thm1-alpha-int")["", "UCB1, alpha = 1"].size == 2 * 7
    assert excesses(asked, "fairucb-thm1-alpha-nonint")["", "UCB1, alpha = 1/2"].size == 2 * 8


def test_classes_are_meant_for_quotas_below_one_over_their_number(asked):
    found = excesses(asked, "fairucb-lemma1-cardinality")
    assert found["classes_k", "UCB1, alpha = 0"].size == 2 * 5
    assert found["classes_k_minus_1", "UCB1, alpha = 0"].size == 2 * 9


def test_the_longest_run_is_compared_with_every_stop(asked, evidence):
    found, _ = asked("fairucb-horizon-agnostic", "same_pulls")
    for question, recorded in zip(found, evidence.recorded("prefix", ["plays"]), strict=True):
        stops = [run.rounds[-1] for run in recorded.runs if run.policy == "stopped"]
        (longest,) = (run.rounds for run in recorded.runs if run.policy == "longest")
        assert len(stops) > 2
        assert set(stops) < set(longest.tolist())
        assert question.data["excess"].tolist() == [0] * REPLICATES * len(stops)


def test_a_stop_is_compared_at_its_own_round():
    """The longest run has 3 pulls at round 10, where the stopped one has 1 more."""
    longest = made_cell({"plays": [[[1, 1], [3, 7], [9, 11]]]}, [2, 10, 20], name="longest")
    stopped = made_cell({"plays": [[[4, 6]]]}, [10], name="stopped")
    (question,) = questions(
        "fairucb-horizon-agnostic", "same_pulls", Made(prefix=[together(longest, stopped)])
    )
    assert question.data["excess"].tolist() == [1]


# ----------------------------------------------------------------------------------------- Fig. 2

GRID = [0, 10, 500, 1000, 1859, 2500, 3317, 5000, 40000, 46000, 47000, 47500, 48000, 60000]


def made_costs(regret, threshold):
    """Return Fig. 2's data sets with a regret, and a violation, that the tolerance decides."""

    def cell(value, tolerance, **given):
        values = {
            "plays": np.full((3, 1, 2), [10**6 - value, value]),
            "deficit": np.full((3, 1, 2), [0.0, threshold]),
            "floor_deficit_sup": np.full((3, 1, 2), [0.0, min(tolerance, threshold)]),
            "deficit_sup": np.full((3, 1, 2), [0.0, min(tolerance, threshold) + 0.5]),
        }
        return made_cell(values, [10**6], quotas=["1/10", "1/10"], **given)

    datasets = {}
    for name in ("cost_of_fairness", "cost_of_fairness_other_gaps"):
        grid = [cell(regret(one), one, swept={"tolerance": [one]}) for one in GRID]
        ucb1 = cell(regret(threshold), threshold, policy="ucb1", name="ucb1")
        experiment = SimpleNamespace(name=name, suite="", instance="")
        datasets[name] = [together(*grid, ucb1)._replace(experiment=experiment)]
    return Made(**datasets)


def test_steps_below_the_threshold():
    kept = [0, 5000, 40000, 46000]
    made = made_costs(float, 47_600)
    falling = questions("fairucb-fig2-regret-decreasing", "falling", made)
    assert [one.reading for one in falling] == ["gaps_from_two", "gaps_even"]
    for question in falling:
        assert question.data["samples"][0].tolist() == np.diff(kept).tolist()
        assert question.data["limits"].tolist() == [0] * (len(kept) - 1)
    for test, reading in (("rising", "floored"), ("rising_real", "real")):
        found = questions("fairucb-fig2-violation-increasing", test, made)
        assert {one.reading for one in found} == {"gaps_from_two", "gaps_even", reading}
        for question in found:
            size = 20 if reading == "real" else 1
            excess = question.data["excess"].reshape(3, -1)
            assert excess.tolist() == [(1 - size * np.diff(kept)).tolist()] * 3


def test_tolerances_above_the_threshold():
    made = made_costs(float, 47_600)
    for test, more in (("flat_beyond", 0), ("flat_beyond_real", 0.5)):
        for question in questions("fairucb-fig2-violation-increasing", test, made):
            assert question.data["one"].tolist() == [47_600 + more] * 3
            assert question.data["other"].tolist() == [47_600 + more] * 3
    for question in questions("fairucb-fig2-threshold", "recovers_ucb1", made):
        assert question.data["one"].tolist() == [48_000] * 3  # the next of the grid
        assert question.data["other"].tolist() == [47_600] * 3


@pytest.mark.parametrize(("drop", "lost"), [(0, [1, 1, 0.2]), (1000, [1, 1, 2.2])])
def test_a_drop_is_seen_where_the_threshold_is(drop, lost):
    """Regret falls by 1 per unit of tolerance up to 47 600, and there by some more or not."""

    def regret(tolerance):
        return 1e5 - min(tolerance, 47_600) - drop * (tolerance >= 47_600)

    for question in questions("fairucb-fig2-threshold", "sharp_drop", made_costs(regret, 47_600)):
        assert question.data["samples"][0] == pytest.approx(lost)


def test_all_tolerances_of_both_instances(asked):
    found, _ = asked("fairucb-thm4-bound", "explicit")
    first, second = "cost of fairness", "cost of fairness other gaps"
    assert {(one.reading, one.each): len(one.data["limits"]) for one in found} == {
        ("", first): 39,
        ("", second): 11,
    }


# ------------------------------------------------------------------------- the rounds of full runs


@cache
def full(name):
    (one,) = real.config().named("fair_ucb", name)
    spec = one.runs[0].spec
    rounds = recorded_rounds(spec, one.horizon)
    quotas = spec.quotas or [0] * spec.n_arms
    return one, made_cell({}, rounds, means=spec.means, quotas=quotas)


@pytest.mark.parametrize("name", ["r_regret", "r_regret_other_gaps"])
def test_fig_3_is_read_where_the_ledger_says(name):
    _, cell = full(name)
    assert numbers("t @ [T / 100, T / 10, T]", cell) == [10**4, 10**5, 10**6]
    assert numbers("t @ (T / 1000)", cell) == pytest.approx([1000], rel=0.05)
    found = numbers(plan_of("fairucb-sublog", "no_faster_than_log").inputs["horizons"], cell)
    assert found == pytest.approx(np.geomspace(10**5, 10**6, 6).tolist(), rel=0.03)


@pytest.mark.parametrize(
    ("name", "ends", "used"),
    [
        (
            "gaps_from_two",
            [10_000_000, 30_000_000],
            [6_300_000, 9_306_486, 13_747_727, 20_308_417, 30_000_000],
        ),
        (
            "gaps_even",
            [30_000_000],
            [27_500_000, 28_104_757, 28_722_813, 29_354_461, 30_000_000],
        ),
    ],
)
def test_the_constant_regime_begins_at_a_recorded_round(name, ends, used):
    one, cell = full(f"constant_regime_{name}")
    gaps = max(one.means) - np.array(one.means)
    assert not any(bounds.still_learning(t, gaps, TWENTIETHS).any() for t in used)
    assert bounds.still_learning(0.99 * used[0], gaps, TWENTIETHS).any()
    sharper = "logspaced(5, earliest(not largest(still_learning)))"
    assert sharper in plan_of("fairucb-abs-constant-regret", "sharper").inputs["excess"]
    assert numbers(sharper, cell) == used
    assert numbers(plan_of("fairucb-abs-constant-regret", "in_most_runs").rounds, cell) == ends


def test_ten_pulls_are_free_at_every_horizon():
    one, cell = full("t_fair_growth_ten_pulls")
    assert [Fraction(quota) * one.horizon for quota in one.quotas] == [10] * 10
    assert numbers("owed @ T", cell) == [10] * 10


def test_first_phases_end_at_recorded_rounds():
    for one in real.config().named("fair_ucb", "small_quotas"):
        _, cell = full(one.name)
        (phase,) = numbers("first_phase", cell)
        assert phase == sum(math.ceil(Fraction(quota) * one.horizon) for quota in one.quotas)
        assert phase in (0, *cell.rounds)


def test_a_sleeping_arm_is_owed_a_pull_before_it_wakes():
    """The ledger has it sleep for 1/r_2 + 1 rounds, rounded up."""
    (one,) = real.config().named("fair_ucb", "fairness")
    until = math.ceil(1 / Fraction(one.quotas[1])) + 1
    excess = plan_of("fairucb-inconsistency-09", "sleeping").inputs["excess"]
    assert excess == f"violation_asleep(2, {until}, 1000)"


# ---------------------------------------------------------------------------- suites of r-Regret


def test_random_instances_have_bounds_of_their_own(asked, evidence):
    """All are counted anew in fractions; those are left out that nothing could break."""
    recorded = next(evidence.recorded("learning_bound_random", ["plays", "mean", "quota"]))
    run = recorded.runs[1]
    assert run.cell["tolerance"] == 100
    found, _ = asked("fairucb-thm2-bound", "random_instances")
    each = f"k3, t = {LONGER['learning_bound_random']}, alpha = 100"
    (question,) = (one for one in found if (one.reading, one.each) == ("unclipped", each))
    t, wanted = int(run.rounds[-1]), []
    for replicate in range(REPLICATES):
        means = run.values["mean"][replicate, 0].tolist()
        quotas = [Fraction(int(one), 1000) for one in run.values["quota"][replicate, 0]]
        pulls = run.values["plays"][replicate, -1]
        total = bound = 0.0
        most = (max(means) - min(means)) * t
        for mean, quota, n in zip(means, quotas, pulls, strict=True):
            gap = max(means) - mean
            free = max(0, math.floor(quota * t) - 100)
            total += gap * float(n - free)
            most -= gap * free
            bound += bounds.CONSTANT * gap
            if gap and (need := 8 * math.log(t) / gap**2) > quota * t - 100:
                bound += gap * (need - float(quota * t - 100))
        if 4 * bound < most:
            wanted.append(total <= 4 * bound)
    assert wanted
    assert question.data["outcomes"].tolist() == wanted


def test_only_bounds_that_can_be_broken_count(asked):
    for claim, test in [
        ("fairucb-thm2-bound", "explicit"),
        ("fairucb-thm2-case2", "explicit"),
        ("fairucb-thm3-distfree", "explicit"),
        ("fairucb-thm8", "explicit"),
        ("fairucb-tfair-log", "explicit"),
        ("fairucb-thm4-log-regime", "explicit"),
    ]:
        found, _ = asked(claim, test)
        for question in found:
            assert question.data["limit"] < question.data["most"]
            assert np.max(question.data["sample"]) <= question.data["most"]


def test_the_worst_gap_is_followed(asked):
    found, _ = asked("fairucb-thm3-distfree", "exponent")
    assert len(found) == 4 * 3
    for question in found:
        assert len(question.data["samples"]) == 5


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
    assert numbers("latest(t > 3)", cell) == [100]
    with pytest.raises(ValueError, match="no recorded round"):
        numbers("latest(t > T)", cell)


def test_a_check_looks_at_each_arm():
    assert [plain_fair_learn.check_operations(k) for k in (1, 2, 50)] == [3, 6, 150]


def test_floors_cost_at_most_the_sum_of_gaps():
    """Without a pull by round 7 of Instance 1, floor(7 / 20) of each is free, or 7 / 20."""
    (one,) = real.config().named("fair_ucb", "learning_bound_gaps_from_two")

    def differ(plays):
        cell = made_cell({"plays": [[plays]]}, [7], means=one.means, quotas=one.quotas)
        assert numbers("numerators(r_regret, 2000)", cell) == [
            2000 * sum(n * gap for n, gap in zip(plays, cell.exact_gaps, strict=True))
        ]
        real = "numerators(total(gap * (plays - max(0, quota * t - tolerance))), 2000)"
        owed = Fraction(7, 20) * Fraction(54, 100)
        assert numbers(f"numerators(r_regret, 2000) - {real}", cell) == [2000 * owed]
        return numbers(
            plan_of("fairucb-inconsistency-03", "at_most_one_pull").inputs["excess"], cell
        )

    assert differ([0] * 10) == [False]
    assert differ([3, 1, 1, 1, 1, 0, 0, 0, 0, 0]) == [False]


def test_all_four_readings_of_lfg(asked):
    count = {}
    found, _ = asked("fairucb-inconsistency-10", "same_for_all_weights")
    for question in found:
        count[question.reading] = count.get(question.reading, 0) + 1
    assert list(count.items()) == [
        ("lfg_constant_low", 8),
        ("lfg_constant_high", 8),
        ("lfg_capped", 8),
        ("lfg_uncapped", 8),
    ]


def test_windows_of_lfg(asked):
    found, _ = asked("fairucb-fig4-lfg-increasing", "rising")
    real = {question.each for question in found if question.reading == "real"}
    assert real == {
        f"t = {t}, eta = {eta}"
        for eta in (100, 1000, 10000)
        for t in (HORIZON // 100, HORIZON // 10, HORIZON)
    }


def test_trades_are_compared_run_by_run_for_the_quotas_that_are_named():
    def dataset(instance, r_regrets, quota):
        owed = 100 * Fraction(quota)
        made = [
            made_cell(
                {"plays": np.full((3, 1, 2), [100 - owed - more, owed + more], float)},
                [100],
                quotas=[quota, quota],
                name=name,
                policy="fair_learn" if name == "fair_ucb" else "t_fair_learn",
            )
            for name, more in r_regrets.items()
        ]
        experiment = SimpleNamespace(name=instance, suite="small_quotas", instance=instance)
        return together(*made)._replace(experiment=experiment)

    made = Made(
        small_quotas=[
            dataset("hundredth", {"fair_ucb": 2, "in_turn": 2, "even": 1}, "1/100"),
            dataset("tenth", {"fair_ucb": 2, "in_turn": 1, "even": 1}, "1/10"),
        ]
    )
    found = questions("fairucb-tfair-better-tradeoff", "in_most_runs", made)
    assert {(one.reading, one.each): one.data["outcomes"].tolist() for one in found} == {
        ("prepull_in_turn", "hundredth"): [False] * 3,
        ("prepull_even", "hundredth"): [True] * 3,
    }


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


def test_an_arm_asleep_misses_its_pull(asked):
    """Arm 2 of Instance 2 has 3/10: one pull is owed by round 4, and it sleeps until round 5."""
    found, _ = asked("fairucb-inconsistency-09", "sleeping")
    assert [question.data["excess"].tolist() for question in found] == [[1]]


def test_nobody_asleep_is_fair_learn():
    (one,) = real.config().named("fair_ucb", "fairness")
    quotas = [Fraction(str(quota)) for quota in one.quotas]
    plain, ours = (
        plain_fair_learn.run(
            policy,
            plain_fair_learn.Instance(one.means),
            500,
            seed=SEED,
            checkpoints=range(1, 501),
        )
        for policy in (
            plain_fair_learn.PlainFairLearn(tuple(quotas)),
            plain_fair_learn.FairLearn(one.quotas),
        )
    )
    assert (plain.plays == ours.plays).all()


def test_floats_choose_otherwise_where_they_must():
    """49 * (1/49) is below 1 in doubles, and 0.07 * 100 above 7: a pull that is not due."""
    assert 0.07 * 100 > 7
    found = plain_fair_learn.float_run((0.9, 0.5, 0.1), ("7/100",) * 3, 2000, SEED)
    assert found.violation <= 0
    assert 100 < found.differs < 2000


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
