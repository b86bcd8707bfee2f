"""The estimators of BanditQ: each on small datasets, and some on numbers done by hand."""

import dataclasses
import inspect
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
import yaml
from numba import config as numba_config

import shrunk
from fairbandits.audit.estimates import banditq_bounds as bounds
from fairbandits.audit.estimates import banditq_common as common
from fairbandits.audit.estimates import banditq_figures as figures
from fairbandits.audit.estimates import banditq_lfg as lfg
from fairbandits.audit.estimates import banditq_numbers as numbers
from fairbandits.audit.estimates import banditq_paths as paths
from fairbandits.audit.estimates import banditq_program as program
from fairbandits.audit.estimates import banditq_targets as targets
from fairbandits.audit.estimates import load_estimators
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.ledger import load_ledger
from fairbandits.audit.procedures import PROCEDURES, parameters_of
from fairbandits.experiments.config import build_config, load_config
from fairbandits.experiments.recorded import RunData
from fairbandits.experiments.schemas import ROOT, paper_file
from fairbandits.experiments.spec import RunSpec
from fairbandits.provenance import replay_code
from fairbandits.replay.banditq_uai2024 import replay, write_replay
from fairbandits.store import StoreError, write_table

SEED = 20241121
#: By what runs are shorter here than configured, and the most replicates: what bootstraps need.
SHORTER, REPLICATES = 500, 10
LEDGER = load_ledger(
    ROOT / "papers" / "banditq" / "claims.yaml",
    build_config(
        yaml.safe_load((ROOT / "config" / "config.yaml").read_text()) | {"papers": ["banditq"]},
        "test",
    ),
)
TESTS = [(claim, test) for claim in LEDGER.claims.values() for test in claim.tests]

compiled_only = pytest.mark.skipif(
    numba_config.DISABLE_JIT, reason="the runs need the compiled loops"
)


def shorter(rounds):
    """Return a number of rounds, or several, cut down."""
    if isinstance(rounds, list):
        return sorted({shorter(one) for one in rounds})
    return max(1, round(rounds / SHORTER))


def cut(block):
    """Return a part of the configuration with shorter runs and fewer replicates."""
    if isinstance(block, list):
        return [cut(one) for one in block]
    if not isinstance(block, dict):
        return block
    block = {key: cut(value) for key, value in block.items()}
    for key in ("horizon", "horizons"):
        if key in block:
            block[key]["value"] = shorter(block[key]["value"])
    if "at" in block.get("checkpoints", {}):
        block["checkpoints"]["at"] = shorter(block["checkpoints"]["at"])
    if "replicates" in block:
        block["replicates"]["value"] = min(block["replicates"]["value"], REPLICATES)
    return block


@pytest.fixture(scope="session")
def evidence(tmp_path_factory):
    """Return small datasets of all experiments of the paper, and the replay."""
    folder = tmp_path_factory.mktemp("banditq")
    (folder / "papers" / "banditq").mkdir(parents=True)
    for part in ("experiments", "audit"):
        file = paper_file("banditq", part, folder)
        content = yaml.safe_load(paper_file("banditq", part).read_text("utf-8"))
        file.write_text(yaml.safe_dump(cut(content), sort_keys=False), encoding="utf-8")
    settings = {
        "seed": SEED,
        "scale": "paper",
        "papers": ["banditq"],
        "pathvars": dict.fromkeys(("results", "figures", "logs", "benchmarks"), str(folder)),
    }
    return simulated(build_config(settings, "test", folder), folder)


def simulated(config, folder):
    """Return the datasets of a configuration, made without the workflow, and the replay."""
    for one in config.experiments:
        shrunk.dataset_of(one, folder, SEED)
    write_replay(5, "bandit", folder / "banditq" / "replay_5_bandit.parquet", lambda done: None)
    return Evidence(config, "banditq", folder)


@pytest.fixture(scope="session")
def asked(evidence):
    """Return a function that gives an estimator's questions and the datasets it read, once made."""
    known = {}

    def ask(claim, test):
        if (claim, test) not in known:
            evidence.read.clear()
            questions = list(load_estimators()[claim, test](evidence))
            known[claim, test] = questions, set(evidence.read)
        return known[claim, test]

    return ask


def data_of(questions, reading):
    """Return what is asked under a reading, by what it is repeated for, as flat arrays."""
    return {
        (question.each, name): flat(value)
        for question in questions
        if question.reading == reading
        for name, value in question.data.items()
    }


def flat(value):
    if isinstance(value, str):
        return np.array([value])
    if isinstance(value, list):
        return np.concatenate([np.ravel(one) for one in value])
    return np.ravel(value)


# ------------------------------------------------------------------------------- every estimator


def test_every_test_has_its_estimator():
    own = {key for key in load_estimators() if key[0].startswith("banditq-")}
    assert own == {(claim.id, test.name) for claim, test in TESTS}


every_test = pytest.mark.parametrize(
    ("claim", "test"), TESTS, ids=[f"{claim.id}-{test.name}" for claim, test in TESTS]
)


@compiled_only
@every_test
def test_questions_are_those_of_the_ledger(claim, test, asked, rng):
    questions, _ = asked(claim.id, test.name)
    takes = parameters_of(test.procedure)
    procedure = PROCEDURES[test.procedure]
    settings = dict(test.settings)
    if "resamples" in takes.optional_settings + takes.settings:
        settings["resamples"] = 200
    if "rng" in inspect.signature(procedure).parameters:
        settings["rng"] = rng
    for question in questions:
        assert set(takes.data) <= set(question.data) <= {*takes.data, *takes.optional_data}
        assert question.reading in ("", *claim.readings)
        assert bool(question.each) == bool(test.each)
        procedure(**question.data, **settings)
    names = [(question.reading, question.each) for question in questions]
    assert len(names) == len(set(names)) > 0


#: Where different data can give the same few numbers.
COARSE = ("banditq-setup-best-arm4", "banditq-eq12", "strictly_met", "share_negative")
#: Readings of a claim that the figures have both of, so that they share their data.
SHARED = [
    {"uniform02", "gamma_fixed"},
    {"post", "step_printed"},
    {"lfg_constant_low", "lfg_capped"},
]


@compiled_only
@every_test
def test_readings_have_data_of_their_own(claim, test, asked):
    questions, _ = asked(claim.id, test.name)
    given = {question.reading for question in questions}
    if test.decides and "" not in given:
        assert given == set(claim.readings or [""])
    if claim.id in COARSE or test.name in COARSE:
        return
    for one, other in itertools.combinations(sorted(given - {""}), 2):
        first, second = data_of(questions, one), data_of(questions, other)
        same = first.keys() == second.keys() and all(
            np.array_equal(first[key], second[key]) for key in first
        )
        assert same == ({one, other} in SHARED), (one, other)


@compiled_only
@pytest.mark.slow
def test_estimators_run_at_the_smoke_scale(tmp_path):
    config = load_config([ROOT / "config" / f"{name}.yaml" for name in ("config", "smoke")])
    own = tuple(one for one in config.experiments if one.paper == "banditq")
    evidence = simulated(dataclasses.replace(config, experiments=own), tmp_path)
    for claim, test in TESTS:
        assert list(load_estimators()[claim.id, test.name](evidence)), (claim.id, test.name)


@compiled_only
def test_inequalities_are_read_from_the_policies_of_the_reading(evidence):
    own = list(common.Cell.of(evidence, "pathwise_full_paper3", []))
    policies = {cell.run.policy: cell.spec.parameters for cell in own}
    for reading, key, value in (
        ("post", "surrogate_index", "post"),
        ("pre", "surrogate_index", "pre"),
        ("step_printed", "step_c", math.sqrt(0.5)),
        ("step_theorem", "step_c", 1),
    ):
        default = {"surrogate_index": "post", "step_c": math.sqrt(0.5)}
        for chosen in (paths.AS_READ, paths.BY_STEP):
            for policy in chosen.get(reading, ()):
                assert (default | policies[policy])[key] == value
    assert set(paths.ALL[""]) == set(policies)


@compiled_only
def test_claims_name_what_is_read(evidence, asked):
    for claim in LEDGER.claims.values():
        read = set().union(*(asked(claim.id, test.name)[1] for test in claim.tests))
        named = {
            name: {evidence.results / one.dataset for one in evidence.config.named("banditq", name)}
            for name in claim.experiments
        }
        assert read <= set().union(*named.values()) | evidence.replays, claim.id
        if claim.tests:
            assert all(read & files for files in named.values()), claim.id


@compiled_only
def test_growth_has_all_horizons_of_an_instance(evidence):
    groups = common.growths(evidence, common.FULL_SUITES, ["plays"])
    names = ["five_arms", "five_arms", "paper3", "critical_load", "best_protected", "twenty_arms"]
    assert [group[0].instance for group in groups] == [*names, "hard", "small_gap"]
    for group in groups:
        assert [cell.horizon for cell in group] == shorter(
            [20000, 63000, 200000, 630000, 2000000, 6300000]
        )
        assert len({(cell.law, cell.instance) for cell in group}) == 1


@compiled_only
def test_law_of_the_five_arms_is_their_reading_and_others_belong_to_all(asked):
    questions, _ = asked("banditq-thm3-regret", "in_rounds")
    found = {(question.each, question.reading) for question in questions}
    assert {("five arms", "uniform02"), ("five arms", "bernoulli"), ("hard", "")} <= found
    assert {reading for each, reading in found if each != "five arms"} == {""}


@compiled_only
def test_replay_must_be_of_todays_code_and_of_full_length(evidence, monkeypatch, tmp_path):
    short = Evidence(evidence.config, "banditq", tmp_path)
    file = tmp_path / "banditq" / "replay_5_bandit.parquet"
    code = replay_code()
    write_table(file, pa.table(replay(5, "bandit", rounds=2000)), {"code": code})
    with pytest.raises(ValueError, match="must end in round 2000000"):
        program.replayed(short)
    write_table(file, pa.table({"round": [2_000_000]}), {"code": "other"})
    with pytest.raises(StoreError, match="does not belong here: its code is 'other'"):
        program.replayed(short)


# ------------------------------------------------------------------------------------- by hand


def cell(rounds, means, targets, *, parameters=None, swept=None, checkpoints=None, **values):
    """Return a cell with these recorded columns, (n_replicates, n_rounds, n_arms)."""
    spec = RunSpec(
        stream="own",
        policy="own",
        law="uniform02",
        means=tuple(means),
        parameters=parameters or {},
        horizon=rounds[-1],
        checkpoints=checkpoints,
    )
    arrays = {name: np.array(value, float) for name, value in values.items()}
    run = RunData("own", "own", "uniform02", np.array(rounds), arrays, swept or {}, spec)
    return common.Cell(SimpleNamespace(footer={"targets": list(targets)}), run)


def test_regrets_rates_and_missing_rewards():
    # x* = (1/2, 1/2), b* = 3/4
    one = cell([4, 10], [0.5, 1], [0.25, 0], plays=[[[2, 2], [8, 2]]], reward=[[[1, 2], [3, 2]]])
    assert one.benchmark == 0.75
    assert one.regret.tolist() == [[0, 1.5]]
    assert one.realised_regret.tolist() == [[0, 2.5]]
    assert one.rates[0, 1].tolist() == [0.3, 0.2]
    assert one.missing[0, :, 0].tolist() == [0, -0.5]
    assert one.protected == [0]
    assert one.shortfall[0, 1].tolist() == [0, 0]
    assert (one.horizon, one.penalty) == (10, math.sqrt(10))


def test_regret_is_of_probabilities_where_they_are_recorded():
    pulls = [[[8, 2]]]
    bandit = cell([10], [0.5, 1], [0.25, 0], plays=pulls, probability=[[[6, 4]]])
    assert bandit.regret.tolist() == [[0.5]]
    full = cell([10], [0.5, 1], [0.25, 0], plays=pulls, probability=[[[0, 0]]])
    assert full.regret.tolist() == [[1.5]]


@pytest.mark.parametrize(
    ("parameters", "swept", "penalty"),
    [({"V": 0}, {}, 0), ({"V": None}, {}, 4), ({}, {"V_exponent": 0.25}, 2), ({}, {"V": 7}, 7)],
)
def test_penalty_is_given_or_a_power_of_the_horizon(parameters, swept, penalty):
    assert cell([16], [0.5, 1], [0.25, 0], parameters=parameters, swept=swept).penalty == penalty


def test_violation_is_a_maximum_of_means():
    # missing rewards (4, 0) and (0, 3): means 2 and 1.5, while the mean of the maxima is 3.5
    one = cell([10], [1, 1, 1], [0.4, 0.3, 0], reward=[[[0, 3, 9]], [[4, 0, 9]]])
    assert common.violation(one).tolist() == [4, 0]


def test_average_regret_is_that_of_all_rounds():
    arms = [1, 0, 0, 1, 0]
    plays = np.cumsum(np.eye(2)[arms], axis=0)
    each = cell([1, 2, 3, 4, 5], [0.5, 1], [0.25, 0], plays=[plays])
    last = cell([5], [0.5, 1], [0.25, 0], plays_sum=[[plays.sum(axis=0)]])
    assert common.average_regret(last) == pytest.approx(each.regret.mean(axis=1))
    assert common.average_regret(last)[0] == pytest.approx((-0.25 + 0 + 0.25 + 0 + 0.25) / 5)


def test_late_mean_and_spread_do_not_depend_on_how_dense_the_rounds_are():
    dense = np.arange(1, 101)
    sparse = np.array([1, 10, 50, 51, 60, 100])
    assert common.late_mean(dense, dense[None] * 2.0)[0] == pytest.approx(150)
    assert common.late_mean(sparse, sparse[None] * 2.0)[0] == pytest.approx(150)
    assert common.late_spread(dense, np.full((1, 100), 3.0)).tolist() == [0]
    ends = np.array([50, 100])
    assert common.late_spread(ends, np.array([[0.0, 2.0]])).tolist() == [1]


def test_worst_window_is_where_the_mean_over_replicates_is_worst():
    # of evenly spaced rounds 2, 4, .. 20 the window of 20^0.4 -> 4 rounds; round 5 is left out
    rounds = [2, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20]
    steady = np.array(rounds) / 2.0
    late = np.where(np.array(rounds) <= 8, steady, np.maximum(4, steady - 2))
    early = np.where(np.array(rounds) <= 4, 0, steady - 2)
    own = np.stack([late, early, late])[:, :, None]
    reward = np.concatenate([own, np.zeros_like(own)], axis=2)
    one = cell(rounds, [1, 1], [0.5, 0], reward=reward, checkpoints={"linear": 10})
    # rounds 9 to 12 bring nothing in two of three replicates, rounds 1 to 4 in one
    assert targets.worst_window(one, 0, 0.4).tolist() == [0.5, 0, 0.5]


def test_self_bounding_excess_has_the_difference_as_its_mean():
    rounds, V, N = [1, 9], 3.0, 2
    plays = [[[1, 0], [6, 3]], [[0, 1], [3, 6]]]
    queue = [[[1, 0], [4, 0]], [[0, 0], [2, 0]]]
    squares = [[[1, 0], [60, 0]], [[0, 0], [30, 0]]]
    one = cell(rounds, [0.5, 1], [0.25, 0], plays=plays, queue=queue, squares=squares)
    found = bounds.self_bounding_excess(one).mean(axis=0)
    for at, t in enumerate(rounds):
        regrets = [0.75 * t - 0.5 * run[at][0] - run[at][1] for run in plays]
        left = np.mean([run[at][0] ** 2 for run in queue]) + 2 * V * np.mean(regrets)
        so_far = np.mean([run[at][0] for run in squares])
        right = 2 * t + 4 * math.sqrt(2 * so_far) + 4 * V * math.sqrt(2 * N * t)
        assert found[at] == pytest.approx(left - right)


def test_self_bounding_excess_while_queues_are_empty():
    zero = np.zeros((2, 1, 2))
    one = cell([4], [0.5, 1], [0.25, 0], plays=[[[2, 2]]] * 2, queue=zero, squares=zero)
    assert bounds.self_bounding_excess(one) == pytest.approx(
        np.full((2, 1), -8 - 8 * math.sqrt(16))
    )


def test_limits():
    assert bounds.average_limit(2, 10.0, 50.0) == pytest.approx(25 + 2 * math.sqrt(200))
    assert bounds.average_limit_printed(2, 10.0, 50.0) == pytest.approx(15 + 2 * math.sqrt(200))
    assert bounds.moment_limit(3, 0.0, 2.0) == pytest.approx(4 + 4 * math.sqrt(2 * 15))
    assert bounds.moment_limit(2, 1.0, 1.0) == pytest.approx(4 + 4 * math.sqrt(4) + 4 * 2)
    assert bounds.squares_limit(5, 0.0, 3.0) == 960
    assert bounds.queue_limit(4, 0.0, 9.0) == 48
    assert bounds.violation_limit(4, 0.0, 9.0) == 18
    # the number that the derivation of this bound was checked with
    assert bounds.regret_limit(5, math.sqrt(2e6), 2e6) == pytest.approx(2.4e5, rel=0.02)


def test_bound_of_the_learner():
    sums = {"gain_sum": [[[3, -7]]], "gain_squares": [[[4, 5]]], "gain_max": [[[2, 1]]]}
    one = cell(
        [8],
        [0.5, 1],
        [0.25, 0],
        **sums,
        surrogate_regret=[[[9, 9]]],
        queue=[[[3, 0]]],
        plays=[[[4, 4]]],
        parameters={"V": 5},
    )
    limit = 23 * (2 + math.log(8))
    assert bounds.learner_limit(one) == pytest.approx([limit])
    assert bounds.learner_excess(one) == pytest.approx([9 - limit])
    assert bounds.queues_excess(one) == pytest.approx([9 + 10 * 0 - 16 - 2 * limit])


def mechanism():
    """Return a cell whose rewards are the means of its plays, and whose queues follow."""
    means, aims, plays = np.array([0.5, 0.25, 0.8, 1]), np.array([0.2, 0.05, 0, 0]), [3, 1, 2, 4]
    reward = means * plays
    idleness = np.array([1, 0.5, 0, 0])
    queue = np.where(aims > 0, aims * 10 - reward + idleness, 0)
    columns = {"plays": plays, "reward": reward, "queue": queue, "idleness": idleness}
    return cell([10], means, aims, **{name: [[one]] for name, one in columns.items()})


def test_identity_of_the_regret_holds_without_noise():
    assert figures.identity_residual(mechanism()) == pytest.approx([0])


def test_residual_is_in_parts_of_the_regret():
    one = mechanism()
    regret = one.regret[0, 0]
    one.values["queue"][0, 0, 0] += 0.3  # its price is mu* / mu_1 - 1 = 1
    assert figures.identity_residual(one) == pytest.approx([0.3 / abs(regret)])


def test_regret_against_the_matched_benchmark_is_what_exploration_costs():
    # two plays of the unprotected arm that is worse by 0.2
    assert figures.matched_regret(mechanism()) == pytest.approx([0.4])


def test_sampled_arms_are_paid_what_their_plays_were(rng):
    sure = cell([1, 3], [0.5, 1], [0.2, 0], plays=[[[1, 0], [1, 2]]], reward=[[[0.7, 0], [0.7, 3]]])
    assert figures.sampled_reward(sure, rng) == pytest.approx(np.array([[0.7, 3]]))
    many = np.full((20_000, 1, 1), 1.0)
    plays, reward = many * [3, 7], many * [1.5, 7]
    mixed = cell([10], [0.5, 1], [0.2, 0], plays=plays, reward=reward)
    paid = figures.sampled_reward(mixed, rng)
    assert paid.mean(axis=0) == pytest.approx([1.5, 7], rel=0.02)
    assert paid.std(axis=0) == pytest.approx(np.sqrt(2.1) * np.array([0.5, 1]), rel=0.05)


def test_oracle_loses_what_is_larger_at_the_end():
    plays, targets_of_one = [[[1, 1], [2, 8]]], [0.25, 0]
    poor = cell([2, 10], [0.5, 1], targets_of_one, plays=plays, reward=[[[0, 1], [1, 8]]])
    # regret 7.5 - 9, missing 2.5 - 1
    assert lfg.larger_of_two(poor).tolist() == [[0.5, 1.5]]
    wasteful = cell([2, 10], [0.5, 1], targets_of_one, plays=[[[1, 1], [9, 1]]], reward=plays)
    assert lfg.larger_of_two(wasteful).tolist() == [[0, 2]]


def test_regret_of_losses_is_against_the_smallest_mean():
    one = cell([10], [0.25, 0.5, 1], [], plays=[[[2, 3, 5]]])
    assert paths.unscaled_regret(one, 1.0).tolist() == [3]
    assert paths.unscaled_regret(one, -1.0).tolist() == [4.5]


def test_worst_relative_shortfall_is_of_one_arm():
    reward = [[[0.8, 0.9, 1]], [[1, 0.4, 1]]]
    one = cell([10], [0.5, 0.5, 1], [0.1, 0.1, 0], reward=reward)
    assert targets.worst_relative_shortfall(one) == pytest.approx([0.1, 0.6])


# ---------------------------------------------------------------------------- what needs no run


def test_linear_programmes_by_hand():
    means = np.array([[0.5, 1], [0.5, 1]])
    aims = np.array([[0.25, 0], [0.4, 0.4]])
    assert numbers.least_slack(means, aims) == pytest.approx([-1 / 6, 1 / 15])
    assert numbers.largest_reward(means[:1], aims[:1]) == pytest.approx([0.75])
    with pytest.raises(RuntimeError, match="not solved"):
        numbers.largest_reward(means, aims)


def test_random_instances_are_as_many_and_as_loaded_as_said(rng):
    loads, arms = [], set()
    for means, aims in numbers.random_instances(rng, 0.5, 1.5, best=False):
        loads += (aims / means).sum(axis=1).tolist()
        arms.add(means.shape[1])
        assert (np.take_along_axis(aims, means.argmax(axis=1)[:, None], axis=1) == 0).all()
    assert len(loads) == 10_000
    assert arms == set(range(2, 21))
    assert 0.5 <= min(loads) < 0.51 < 1.49 < max(loads) <= 1.5


def test_released_benchmark_forgets_the_rest_when_the_best_arm_is_protected():
    means = (0.5, 0.25, 1)
    whole = numbers.released_distribution(means, (0.2, 0.05, 0))
    assert whole == pytest.approx([0.4, 0.2, 0.4])
    assert numbers.released_distribution(means, (0.2, 0.05, 0.1)).sum() == pytest.approx(0.7)


def test_diameter_shrinks_with_the_load():
    assert numbers.diameter((0.5, 0.25, 1), (0, 0, 0)) == pytest.approx(math.sqrt(2))
    assert numbers.diameter((0.5, 0.25, 1), (0.2, 0.05, 0)) == pytest.approx(0.4 * math.sqrt(2))


def test_fair_learn_breaks_quotas_with_the_last_arm_in_round_six(monkeypatch):
    last = lambda behind: len(behind) - 1  # noqa: E731
    assert not numbers.keeps_quotas(last)
    assert numbers.keeps_quotas(lambda behind: 0)
    monkeypatch.setattr(numbers, "CHECKED_ROUNDS", 5)
    assert numbers.keeps_quotas(last)
    monkeypatch.setattr(numbers, "CHECKED_ROUNDS", 6)
    assert not numbers.keeps_quotas(last)


def test_numbers_that_were_read_off():
    assert common.read_off("fig5", "arm 1", "value") == 1637.2
    assert common.read_off("fig5", "arm 1", "maximum") == 4488
    assert common.read_off("fig7", "BanditQ", "value") == 112914


@compiled_only
def test_solver_errors_see_a_wrong_root(rng, monkeypatch):
    z = rng.standard_normal((20, 7)) * 100
    assert program.solver_errors(z).max() < 1e-8

    def too_large(gaps, out):
        program_shifts(gaps, out)
        out *= 1.01

    program_shifts = program.shifts
    monkeypatch.setattr(program, "shifts", too_large)
    assert (program.solver_errors(z)[:, 1] > 1e-4).all()


def test_random_numbers_belong_to_the_claim():
    first, again, other = (
        common.generator(name).integers(2**62) for name in ("a-claim", "a-claim", "another")
    )
    assert first == again != other


def test_place_of_a_round():
    rounds = np.array([1, 10, 20, 30])
    assert common.log_places(rounds, 50) == [0, 1, 2, 3]
    assert common.even_places(rounds, 3) == [1, 2, 3]
    assert common.places(rounds, [29, 31, 2]) == [0, 3]
