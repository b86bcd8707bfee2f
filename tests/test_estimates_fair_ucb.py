"""Estimators of Fair-Learn's claims: questions that procedures take, numbers counted by hand."""

import functools
import inspect
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fairbandits.audit import counterexamples
from fairbandits.audit.estimates import Question, load_estimators
from fairbandits.audit.estimates import fair_ucb_common as common
from fairbandits.audit.estimates import fair_ucb_direct as direct
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.finding import VERDICTS
from fairbandits.audit.ledger import load_ledger
from fairbandits.audit.procedures import PROCEDURES, parameters_of
from fairbandits.experiments.config import ROOT, build_config
from fairbandits.experiments.datasets import collect
from fairbandits.experiments.simulate import write_chunk
from fairbandits.experiments.sweep import arms_of

SEED = 20240806
HORIZON = 2000
#: Enough replicates for every procedure; the smoke run has fewer.
REPLICATES = 10
INSTANCE_1 = np.array([0, *(i / 100 for i in range(2, 11))])
TWENTIETHS = [0.05] * 10


def small_config(folder):
    """Return the configuration with all horizons cut to one, and rounds at the same parts of it.

    A smoke run keeps the rounds and drops those beyond its end, which leaves most growth without
    a second horizon.
    """
    limits = {"linear": 100, "log": 20}
    config = build_config(
        {
            "seed": SEED,
            "scale": "smoke",
            "papers": ["fair_ucb"],
            "pathvars": dict.fromkeys(("results", "figures", "logs", "benchmarks"), str(folder)),
            "smoke": {"horizon": 10**9, "replicates": 10, "chunk": 10, "checkpoints": limits},
        },
        "test",
    )
    return replace(config, experiments=tuple(map(shrunk, config.experiments)))


def shrunk(experiment):
    # of the suites of the guarantee two of each are enough: an invariant needs no spread
    observed = any(run.block["policy"] == "fair_learn_observed" for run in experiment.runs)
    few = 2 if observed else REPLICATES
    runs = tuple(
        replace(run, block=shrunk_block(run.block), replicates=few, chunk=few)
        for run in experiment.runs
    )
    return replace(experiment, horizon=min(HORIZON, experiment.horizon), replicates=few, runs=runs)


def shrunk_block(block):
    part = min(1, Fraction(HORIZON, block["horizon"]))

    def rounds(given):
        return sorted({max(arms_of(block), round(part * one)) for one in given})

    changed = {"horizon": min(HORIZON, block["horizon"])}
    if "at" in block["checkpoints"]:
        changed["checkpoints"] = {"at": rounds(block["checkpoints"]["at"])}
    if "horizons" in block:
        changed["horizons"] = rounds(block["horizons"])
    return block | changed


class SmallEvidence(Evidence):
    """Simulates an experiment when it is first read."""

    def __init__(self, folder):
        super().__init__(small_config(folder), "fair_ucb", folder)

    def recorded(self, name, columns=None, rows=None):
        for one in self.config.named("fair_ucb", name):
            file = self.results / one.paper / f"{one.name}.parquet"
            if not file.exists():
                chunks = []
                for run in one.runs:
                    chunks.append(self.results / "chunks" / run.key / "0-x.parquet")
                    write_chunk(run.block, SEED, range(run.replicates), chunks[-1])
                collect(chunks, one.facts(), SEED, file)
        yield from super().recorded(name, columns, rows)


@pytest.fixture(scope="session")
def evidence(tmp_path_factory):
    return SmallEvidence(tmp_path_factory.mktemp("fair_ucb"))


LEDGER = load_ledger(ROOT / "claims" / "fair_ucb.yaml", small_config("nowhere"))
TESTS = {
    f"{claim.id} {test.name}": (claim, test)
    for claim in LEDGER.claims.values()
    for test in claim.tests
}


@functools.cache
def questions(evidence, claim, test):
    return list(load_estimators()[claim, test](evidence))


# ----------------------------------------------------------------------- every test of the ledger


@pytest.mark.parametrize("name", TESTS)
def test_a_procedure_takes_every_question(name, evidence, rng):
    claim, test = TESTS[name]
    asked = questions(evidence, claim.id, test.name)
    assert asked
    takes = parameters_of(test.procedure)
    procedure = PROCEDURES[test.procedure]
    settings = dict(test.settings)
    if "rng" in inspect.signature(procedure).parameters:
        settings |= {"rng": rng, "resamples": 200} if "resamples" in settings else {"rng": rng}
    for question in asked:
        assert isinstance(question, Question)
        assert set(takes.data) <= set(question.data) <= {*takes.data, *takes.optional_data}
        assert question.reading in ("", *claim.readings)
        assert procedure(**question.data, **settings).verdict in VERDICTS
    labels = [(question.reading, question.each) for question in asked]
    assert len(labels) == len(set(labels))
    assert not test.each or all(question.each for question in asked)


@pytest.mark.parametrize("claim", [claim for claim in LEDGER.claims.values() if claim.tests])
def test_every_reading_is_decided(claim, evidence):
    asked = {
        question.reading
        for test in claim.tests
        if test.decides
        for question in questions(evidence, claim.id, test.name)
    }
    assert "" in asked or set(claim.readings) <= asked


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
