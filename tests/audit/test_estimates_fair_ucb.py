"""Estimators of Fair-Learn's claims: questions that procedures take, numbers counted by hand."""

import functools
import inspect
import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from numba import config

import shrunk
from fairbandits.audit import counterexamples
from fairbandits.audit.estimates import Question, load_estimators
from fairbandits.audit.estimates import fair_ucb_common as common
from fairbandits.audit.estimates import fair_ucb_direct as direct
from fairbandits.audit.estimates import fair_ucb_fairness as fairness
from fairbandits.audit.estimates import fair_ucb_figures as figures
from fairbandits.audit.estimates import fair_ucb_horizon as horizon
from fairbandits.audit.estimates import fair_ucb_regret as regret
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.finding import VERDICTS
from fairbandits.audit.ledger import load_ledger
from fairbandits.audit.procedures import PROCEDURES, parameters_of
from fairbandits.experiments.config import load_config
from fairbandits.experiments.schemas import ROOT
from fairbandits.experiments.simulate import recorded_rounds

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="millions of rounds")
SEED = 20240806
HORIZON = 2000
#: Enough replicates for every procedure; the smoke run has fewer.
REPLICATES = 10
INSTANCE_1 = np.array([0, *(i / 100 for i in range(2, 11))])
TWENTIETHS = [0.05] * 10


@functools.cache
def full_config():
    return load_config([ROOT / "config" / "config.yaml"])


def shorter(experiment):
    """Return an experiment with all rounds at the same parts of a short horizon.

    A smoke run keeps the rounds and drops those beyond its end, which leaves most growth without
    a second horizon.
    """
    # of the suites of the guarantee two of each are enough: an invariant needs no spread
    observed = any(run.spec.observe for run in experiment.runs)
    few = 2 if observed else REPLICATES
    runs = tuple(
        replace(run, spec=shorter_spec(run.spec), replicates=few, chunk=few)
        for run in experiment.runs
    )
    return replace(experiment, horizon=min(HORIZON, experiment.horizon), replicates=few, runs=runs)


def shorter_spec(spec):
    part = min(1, Fraction(HORIZON, spec.horizon))

    def rounds(given):
        return sorted({max(spec.n_arms, round(part * one)) for one in given})

    changed = {"horizon": min(HORIZON, spec.horizon)}
    at = spec.checkpoints.get("at")
    changed["checkpoints"] = {"at": rounds(at)} if at else {"linear": 100, "log": 20}
    if spec.horizons:
        changed["horizons"] = tuple(rounds(spec.horizons))
    return replace(spec, **changed)


class SmallEvidence(Evidence):
    """Simulates fewer rounds and replicates of an experiment when it is first read.

    Parameters
    ----------
    smaller : callable
        What is simulated of a configured experiment.
    """

    def __init__(self, folder, smaller):
        super().__init__(full_config(), "fair_ucb", folder)
        self.smaller = smaller

    def recorded(self, name, columns=None, rows=None):
        for one in map(self.smaller, self.config.named("fair_ucb", name)):
            file = self.results / one.dataset
            if not file.exists():
                shrunk.dataset_of(one, self.results, SEED)
        yield from super().recorded(name, columns, rows)


@pytest.fixture(scope="session")
def evidence(tmp_path_factory):
    if config.DISABLE_JIT:
        pytest.skip("millions of rounds")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(direct, "DRAWN", 500)
        yield SmallEvidence(tmp_path_factory.mktemp("fair_ucb"), shorter)


LEDGER = load_ledger(ROOT / "papers" / "fair_ucb" / "claims.yaml", full_config())
TESTS = {
    f"{claim.id} {test.name}": (claim, test)
    for claim in LEDGER.claims.values()
    for test in claim.tests
}


@functools.cache
def questions(evidence, claim, test):
    return list(load_estimators()[claim, test](evidence))


def judged(test, question, rng):
    """Return what a test's procedure finds; few resamples are enough here."""
    takes = parameters_of(test.procedure)
    assert set(takes.data) <= set(question.data) <= {*takes.data, *takes.optional_data}
    procedure, settings = PROCEDURES[test.procedure], dict(test.settings)
    if "rng" in inspect.signature(procedure).parameters:
        settings |= {"rng": rng, "resamples": 200} if "resamples" in settings else {"rng": rng}
    return procedure(**question.data, **settings)


# ----------------------------------------------------------------------- every test of the ledger


@pytest.mark.parametrize("name", TESTS)
def test_a_procedure_takes_every_question(name, evidence, rng):
    claim, test = TESTS[name]
    asked = questions(evidence, claim.id, test.name)
    assert asked
    for question in asked:
        assert isinstance(question, Question)
        assert question.reading in ("", *claim.readings)
        assert judged(test, question, rng).verdict in VERDICTS
    labels = [(question.reading, question.each) for question in asked]
    assert len(labels) == len(set(labels))
    assert {bool(question.each) for question in asked} == {bool(test.each)}


@pytest.mark.parametrize("name", [name for name, (_, test) in TESTS.items() if test.decides])
def test_every_reading_is_decided(name, evidence):
    claim, test = TESTS[name]
    asked = {question.reading for question in questions(evidence, claim.id, test.name)}
    assert "" in asked or set(claim.readings) <= asked


@pytest.mark.parametrize("name", TESTS)
def test_nothing_is_read_that_the_claim_does_not_name(name, evidence):
    claim, test = TESTS[name]
    evidence.read.clear()
    list(load_estimators()[claim.id, test.name](evidence))
    named = {
        evidence.results / one.dataset
        for experiment in claim.experiments
        for one in evidence.config.named("fair_ucb", experiment)
    }
    assert set(evidence.read) <= named
    assert bool(evidence.read) == bool(named)


@compiled_only
@pytest.mark.slow
def test_a_smoke_run_is_asked_everything(tmp_path, rng):
    """It has too few replicates and horizons for some procedures, but for no estimator."""
    files = [ROOT / "config" / "config.yaml", ROOT / "config" / "smoke.yaml"]
    small = load_config(files)
    smoke = SmallEvidence(tmp_path, lambda one: small.experiment(one.paper, one.name))
    for claim, test in TESTS.values():
        asked = questions(smoke, claim.id, test.name)
        assert asked, (claim.id, test.name)
        for question in asked:
            try:
                judged(test, question, rng)
            except ValueError as error:
                if not re.search("at least .* (entries|horizons|replicates)", str(error)):
                    raise
        readings = {question.reading for question in asked}
        assert "" in readings or set(claim.readings) <= readings, (claim.id, test.name)


def test_no_estimator_is_without_its_test():
    own = {key for key in load_estimators() if key[0].startswith("fairucb-")}
    assert own == {(claim.id, test.name) for claim, test in TESTS.values()}


# ----------------------------------------------------------------------------- bounds, by hand


@pytest.mark.parametrize(
    ("horizon", "value"), [(1e3, 10_635), (1e5, 15_069), (1e6, 7_476), (1e8, 2.32)]
)
def test_theorem_2_on_instance_1(horizon, value):
    found = common.r_regret_bound(horizon, INSTANCE_1, TWENTIETHS)
    assert found == pytest.approx(value, abs=0.5 if value > 100 else 0.005)


def test_learning_begins_and_ends_with_the_quotas():
    """From 6.3 million rounds on no arm of Instance 1 is in S(T) (B3); then the bound is flat."""
    last, first = 6.2e6, 6.3e6
    assert (
        common.still_learning(last, INSTANCE_1, TWENTIETHS).tolist() == [False, True] + [False] * 8
    )
    assert not common.still_learning(first, INSTANCE_1, TWENTIETHS).any()
    assert common.still_learning(first, INSTANCE_1, TWENTIETHS, tolerance=10_000)[1]


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
    assert common.r_regret_bound(*arguments) == pytest.approx(ROOM + printed)
    assert common.r_regret_bound(*arguments, clipped=True) == pytest.approx(ROOM + clipped)


def test_theorem_4_by_hand():
    assert common.regret_bound(E4, TWO, [0.4, 0.4]) == pytest.approx(ROOM + 8 * 4 / 0.5)
    t = math.exp(10)  # learning needs 320 pulls, the quota asks for 8811
    assert common.regret_bound(t, TWO, [0.4, 0.4]) == pytest.approx(ROOM + 0.5 * 0.4 * t)
    assert common.regret_bound(t, TWO, [0.4, 0.4], 100) == pytest.approx(
        ROOM + 0.5 * (0.4 * t - 100)
    )


def test_ucb1_bounds_by_hand():
    assert common.ucb1_bound(E4, TWO) == pytest.approx(ROOM + 64)
    assert common.bound_for_all_gaps(math.e, 2) == pytest.approx(math.sqrt(16 * math.e))


# ------------------------------------------------------------------------- rounds and exactness


def test_rounds_are_those_recorded_at_or_below():
    rounds = np.array([1, 10, 95, 1000, 9000, 10000])
    assert rounds[common.decades(rounds, 3)].tolist() == [10, 95, 1000, 10000]
    assert rounds[common.places_by(rounds, [0.5, 1, 2])].tolist() == [1]
    assert rounds[common.log_spaced(rounds, 90, 3)].tolist() == [95, 1000, 10000]
    assert rounds[common.log_spaced(rounds, 90, 9)].tolist() == [95, 1000, 9000, 10000]


def test_log_spaced_rounds_are_the_nearest():
    rounds = np.arange(1, 10**6 + 1)
    found = rounds[common.log_spaced(rounds, 10**5, 6)]
    assert found.tolist() == [100000, 158489, 251189, 398107, 630957, 1000000]


def test_whole_numbers_come_back_exactly():
    numerators = np.array([-7, 0, 5, 10**9 + 1])
    assert common.whole(numerators / 10000, 10000).tolist() == numerators.tolist()
    with pytest.raises(ValueError, match="must be whole numbers"):
        common.whole(numerators / 10000, 100)


def test_r_regret_in_whole_numbers():
    """Gaps 1/5 and 3/10, T = 10: quotas owe 3 and 2 pulls, a tolerance of 1/2 half a pull less."""
    gaps = [Fraction(0), Fraction(1, 5), Fraction(3, 10)]
    numerators, unit = common.r_regret_numerators(
        np.array([10]), np.array([[[4, 5, 1]]]), gaps, ["1/5", "3/10", "1/4"], Fraction(1, 2)
    )
    assert unit == 20
    assert Fraction(int(numerators[0, 0]), unit) == Fraction(1, 5) * (5 - Fraction(5, 2)) + (
        Fraction(3, 10) * (1 - Fraction(3, 2))
    )


# ---------------------------------------------------------------------------- ranges and classes


@pytest.mark.parametrize(
    ("numerators", "denominator", "place"),
    [
        ([33, 10, 10], 100, 0),
        ([1, 1, 0], 3, 1),  # 1/3 is not below 1/3
        ([49, 10, 10], 100, 1),
        ([1, 0, 0], 2, 2),  # and 1/2 is 1/(k - 1)
        ([49, 49], 100, 0),
    ],
)
def test_ranges_of_quotas(numerators, denominator, place):
    assert common.range_of(np.array([numerators]), denominator).tolist() == [place]


def test_excesses_over_a_tolerance():
    """Quotas in tenths, alpha 3/4: deficits 1 and 1.7 leave 1/4, nothing, and -1/20 above them."""
    one = fairness.Observed(
        "any",
        Fraction(3, 4),
        np.array([[1, 2], [1, 2]]),
        10,
        {
            "floor_deficit_sup": np.array([[0, 1], [-1, 0]]),
            "deficit_sup": np.array([[0.9, 1.7], [0.1, 0.2]]),
        },
    )
    assert one.beyond.tolist() == [1, -3]  # quarters
    assert one.beyond_rounded.tolist() == [0, -1]
    assert one.beyond_one_more.tolist() == [-1, -31]  # twentieths


def excesses(evidence, claim):
    found = {}
    for question in questions(evidence, claim, "every_round"):
        found[question.reading, question.each] = question.data["excess"]
    return found


def test_fractions_of_tolerance_are_exceeded_and_whole_ones_not(evidence):
    broken = excesses(evidence, "fairucb-thm1-alpha-nonint")
    assert broken["alpha_fraction", "best arm only, alpha = 1/2"].max() == 1
    kept = excesses(evidence, "fairucb-thm1-alpha-int")
    assert len(kept) == 7 * 5 + 1  # Thompson sampling has one tolerance above 0
    assert max(excess.max() for excess in kept.values()) <= 0


def test_each_range_has_its_own_runs(evidence):
    found = excesses(evidence, "fairucb-thm1-range")
    for reading, sizes in {
        "range_kth": 2 * (5 + 1),  # five suites, and ten quotas of 9/100
        "range_wider": 2 * 4,
        "range_beyond": 2 * 6,
    }.items():
        assert found[reading, "worst arm only, alpha = 0"].size == sizes
    assert found["range_beyond", "worst arm only, alpha = 0"].max() > 0
    assert found["range_wider", "worst arm only, alpha = 0"].max() <= 0


def test_classes_are_meant_for_quotas_below_one_over_their_number(evidence):
    found = excesses(evidence, "fairucb-lemma1-cardinality")
    assert found["classes_k", "UCB1, alpha = 0"].size == 2 * 5
    assert found["classes_k_minus_1", "UCB1, alpha = 0"].size == 2 * 9


def test_the_longest_run_is_compared_with_every_stop(evidence):
    for question in questions(evidence, "fairucb-horizon-agnostic", "same_pulls"):
        assert question.data["excess"].tolist() == [0] * REPLICATES
    (recorded, _) = evidence.recorded("prefix", ["plays"])
    stops = [cell.horizon for cell in common.Cell.inside(recorded, policy="stopped")]
    assert len(stops) > 2
    assert set(stops) < set(only(common.Cell.inside(recorded, policy="longest")).rounds.tolist())


# ----------------------------------------------------------------------------------------- Fig. 2


def made_costs(regret, threshold, grid, horizon=10**6):
    """Return the cells of a Fig. 2 whose regret is a function of the tolerance."""

    def cell(value):
        return SimpleNamespace(regret=np.full((3, 1), value), horizon=horizon)

    by_tolerance = {tolerance: cell(regret(tolerance)) for tolerance in grid}
    return figures.Costs("gaps_even", by_tolerance, cell(regret(threshold)), threshold)


GRID = [0, 10, 500, 1000, 1859, 2500, 3317, 5000, 40000, 46000, 47000, 47500, 48000, 60000]


def test_steps_below_the_threshold():
    found = made_costs(float, 47_600, GRID).steps()
    ends = [(low.regret[0, 0], high.regret[0, 0]) for low, high in found]
    kept = [0, 1000, 2500, 5000, 40000, 46000, 47000]
    assert ends == list(itertools.pairwise(kept))


@pytest.mark.parametrize(("drop", "lost"), [(0, [1, 1, 0.2]), (1000, [1, 1, 2.2])])
def test_a_drop_is_seen_where_the_threshold_is(monkeypatch, drop, lost):
    """Regret falls by 1 per unit of tolerance up to 47 600, and there by some more or not."""

    def regret(tolerance):
        return 1e5 - min(tolerance, 47_600) - drop * (tolerance >= 47_600)

    monkeypatch.setattr(figures, "costs", lambda *_: made_costs(regret, 47_600, GRID))
    for question in figures.sharp_drop(None):
        assert question.data["samples"][0] == pytest.approx(lost)


def test_tolerances_of_each_kind(evidence):
    found = {
        (question.reading, question.each): len(question.data["limits"])
        for question in questions(evidence, "fairucb-thm4-bound", "explicit")
    }
    first, second = common.GAPS_IN_WORDS.values()
    assert found == {
        ("gaps_from_two", first): 39,
        ("alpha_integer", first): 34,
        ("alpha_fraction", first): 5,
        ("gaps_even", second): 11,
        ("alpha_integer", second): 10,
        ("alpha_fraction", second): 1,
    }


def test_what_only_a_short_run_lacks():
    one = SimpleNamespace(paper="fair_ucb", name="any", horizon=1000)
    short, long = (common.Recorded(one, {"horizon": horizon}, []) for horizon in (999, 1000))
    common.unless_short(short, False, "missing")
    common.unless_short(long, True, "missing")
    with pytest.raises(ValueError, match="fair_ucb/any: missing"):
        common.unless_short(long, False, "missing")


# ------------------------------------------------------------------------- the rounds of full runs


@functools.cache
def full(name):
    (one,) = full_config().named("fair_ucb", name)
    return one, recorded_rounds(one.runs[0].spec, one.horizon)


@pytest.mark.parametrize("name", ["r_regret", "r_regret_other_gaps"])
def test_fig_3_is_read_where_the_ledger_says(name):
    _, rounds = full(name)
    assert rounds[common.decades(rounds, 2)].tolist() == [10**4, 10**5, 10**6]
    assert rounds[common.last_by(rounds, 1000)] == pytest.approx(1000, rel=0.05)
    assert rounds[common.log_spaced(rounds, 10**5, 6)] == pytest.approx(
        np.geomspace(10**5, 10**6, 6), rel=0.03
    )


@pytest.mark.parametrize(
    ("name", "first", "used"),
    [
        ("gaps_from_two", 6_300_000, [6_300_000, 9_306_486, 13_747_727, 20_308_417, 30_000_000]),
        ("gaps_even", 27_500_000, [27_500_000, 28_104_757, 28_722_813, 29_354_461, 30_000_000]),
    ],
)
def test_the_constant_regime_begins_at_a_recorded_round(name, first, used):
    one, rounds = full(f"constant_regime_{name}")
    gaps = max(one.means) - np.array(one.means)
    empty = [not common.still_learning(int(t), gaps, TWENTIETHS).any() for t in rounds]
    assert rounds[int(np.argmax(empty))] == first
    assert rounds[common.log_spaced(rounds, first, 5)].tolist() == used
    assert all(empty[list(rounds).index(t)] for t in used)


def test_ten_pulls_are_free_at_every_horizon():
    one, _ = full("t_fair_growth_ten_pulls")
    assert [Fraction(quota) * one.horizon for quota in one.quotas] == [10] * 10


def test_first_phases_end_at_recorded_rounds():
    for one in full_config().named("fair_ucb", "small_quotas"):
        phase = sum(math.ceil(Fraction(quota) * one.horizon) for quota in one.quotas)
        assert phase in (0, *recorded_rounds(one.runs[0].spec, one.horizon))


# ---------------------------------------------------------------------------- suites of r-Regret


def test_random_instances_have_bounds_of_their_own(evidence):
    """One replicate is counted anew in fractions."""
    recorded = next(evidence.recorded("learning_bound_random", ["plays", "mean", "quota"]))
    run = recorded.runs[1]
    assert run.cell["tolerance"] == 100
    found = regret.excess_over_own_bound(run, clipped=False)
    replicate, place = 3, -1
    t = int(run.rounds[place])
    means = run.values["mean"][replicate, 0].tolist()
    quotas = [Fraction(int(one), 1000) for one in run.values["quota"][replicate, 0]]
    total = bound = 0.0
    for mean, quota, n in zip(means, quotas, run.values["plays"][replicate, place], strict=True):
        gap = max(means) - mean
        total += gap * float(n - max(0, math.floor(quota * t) - 100))
        bound += common.CONSTANT * gap
        if gap and (need := 8 * math.log(t) / gap**2) > quota * t - 100:
            bound += gap * (need - float(quota * t - 100))
    assert found[replicate, place] == pytest.approx(total / bound - 1)


def test_every_gap_is_in_the_band_and_the_worst_is_followed(evidence):
    bands = questions(evidence, "fairucb-thm3-distfree", "explicit")
    curves = questions(evidence, "fairucb-thm3-distfree", "exponent")
    assert len(bands) == 5 * len(curves) == 5 * 12
    for place, curve in enumerate(curves):
        for t, sample, band in zip(
            curve.data["horizons"], curve.data["samples"], bands[5 * place :], strict=False
        ):
            means = np.mean(band.data["samples"], axis=0)
            assert means.size == 8
            assert np.mean(sample) == pytest.approx(means.max() / math.sqrt(math.log(t)))


def test_floors_cost_at_most_the_sum_of_gaps_and_something(evidence):
    cell = next(common.Cell.of(evidence, "learning_bound", columns=["plays"]))
    arguments = (np.array([7]), np.zeros((1, 10), int), cell.exact_gaps, cell.quotas)
    floored, unit = common.r_regret_numerators(*arguments)
    real, fine = common.r_regret_numerators(*arguments, floored=False)
    assert Fraction(int(floored[0]), unit) == 0  # floor(7 / 20)
    assert Fraction(int(real[0]), fine) == -Fraction(7, 20) * Fraction(54, 100)


def test_all_four_readings_of_lfg(evidence):
    asked = questions(evidence, "fairucb-inconsistency-10", "same_for_all_weights")
    count = {}
    for question in asked:
        count[question.reading] = count.get(question.reading, 0) + 1
    assert list(count.items()) == [
        ("lfg_constant_low", 8),
        ("lfg_constant_high", 8),
        ("lfg_capped", 8),
        ("lfg_uncapped", 8),
    ]


def test_windows_of_lfg(evidence):
    asked = questions(evidence, "fairucb-fig4-lfg-increasing", "rising")
    real = [question.each for question in asked if question.reading == "real"]
    assert real == [
        f"T = {t}, eta = {eta}" for eta in (100, 1000, 10000) for t in (HORIZON // 10, HORIZON)
    ]


def test_nothing_is_asked_where_there_is_nothing_to_trade(monkeypatch):
    """Neither policy has any r-Regret in the second data set."""

    def recorded(values, policies):
        return SimpleNamespace(
            runs=[
                SimpleNamespace(policy=name, law="bernoulli", cell={}, values=values)
                for name in policies
            ]
        )

    class Made(common.Cell):
        @property
        def r_regret(self):
            return np.array([[self.values]] * 3)

        @property
        def shares(self):
            return np.array([0.1])

        @property
        def instance(self):
            return f"r-Regret {self.values}"

    policies = ["fair_ucb", "in_turn", "even"]
    datasets = [recorded(values, policies) for values in (2.0, 0.0)]
    monkeypatch.setattr(horizon, "Cell", Made)
    made = SimpleNamespace(recorded=lambda *_: datasets)
    found = [(one.reading, one.each) for one in horizon.better_trade_off(made)]
    assert found == [("prepull_in_turn", "r-Regret 2.0"), ("prepull_even", "r-Regret 2.0")]


# ---------------------------------------------------------------------------------- Observation 1


def test_cheapest_counts_are_the_floors():
    problem = direct.Problem(
        100, [Fraction(0), Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 7)], Fraction(3)
    )
    assert direct._cheapest(problem) == [75, 25]  # floor(200 / 7) - 3
    assert problem.excess([75, 25]) == 0
    assert problem.excess([74, 26]) > 0 > problem.excess([76, 24])
    assert problem.is_fair([75, 25])
    assert not problem.is_fair([76, 24])


# ------------------------------------------------------------------------------ other programs


def test_an_arm_asleep_misses_its_pull(evidence):
    """Arm 2 of Instance 2 has 3/10: one pull is owed by round 4, and it sleeps until round 5."""
    (question,) = direct.sleeping_arm(evidence)
    assert question.data["excess"].tolist() == [1]


def test_nobody_asleep_is_fair_learn(evidence):
    means, quotas = direct.hard_quotas(evidence)["Instance 2"]
    plain, ours = (
        direct.run(policy, direct.Instance(tuple(means)), 500, seed=SEED, checkpoints=range(1, 501))
        for policy in (
            direct.PlainFairLearn(tuple(map(Fraction, quotas))),
            direct.FairLearn(tuple(quotas)),
        )
    )
    assert (plain.plays == ours.plays).all()


def test_floats_choose_otherwise_where_they_must():
    """49 * (1/49) is below 1 in doubles, and 0.07 * 100 above 7: a pull that is not due."""
    assert 0.07 * 100 > 7
    means, quotas = [0.9, 0.5, 0.1], ["7/100", "7/100", "7/100"]
    found = direct.float_run(means, quotas, 2000, SEED)
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
