"""From questions to verdicts: joining, correction, readings, failures; the same in any order."""

import copy
import dataclasses
import functools
import math
import random
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

import real
import shrunk
from fairbandits.audit import run, words
from fairbandits.audit.cases import Question, questions
from fairbandits.audit.cells import Evidence
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Finding,
)
from fairbandits.audit.judge import answers, judge
from fairbandits.audit.procedures import PROCEDURES
from fairbandits.audit.records import Made, answer_of, read, verdict_row, write, write_findings
from fairbandits.data.store import StoreError, read_footer, read_table, write_table
from small_ledgers import claim, ledgers_of, spread, without_tests

DATA = ["full_information", "bandit_feedback"]


@functools.cache
def config():
    """The configuration with a seed that was chosen: these ledgers are not the committed ones."""
    return dataclasses.replace(real.config(), seed=7)


class Nothing:
    """Evidence for estimators that read none."""

    def __init__(self, results):
        self.results = results
        self.read = {}
        self.small = False

    def check(self, name):
        pass


def asking(*means, readings=("",), eaches=("",), limit=1.0):
    """Return an estimator with one question for each mean, reading and thing."""
    names = [(reading, each) for reading in readings for each in eaches]

    def estimator(evidence):
        for mean, (reading, each) in zip(means, names, strict=True):
            yield Question({"values": spread(mean), "against": limit}, each, reading)

    return estimator


def asks(ledgers, estimators):
    """Return what puts the questions of these estimators; without one as the record says."""
    of_test = {id(ledgers["banditq"].test(*key)): one for key, one in estimators.items()}

    def ask(test, readings, evidence):
        estimator = of_test[id(test)]
        return estimator(evidence) if estimator else questions(test, readings, evidence)

    return ask


@pytest.fixture
def judged(tmp_path):
    """Return a function from claims and estimators to verdict rows, by claim and reading."""

    def function(claims, estimators):
        ledgers = ledgers_of(config(), tmp_path, claims)
        found = answers(ledgers["banditq"], Nothing(tmp_path), ask=asks(ledgers, estimators))
        return {(row.claim.id, row.reading): row for row in judge(ledgers, list(found))}

    return function


def test_a_test_can_be_asked_under_some_readings_alone(judged):
    def excess(size, reading):
        return {"rule": "exact", "inputs": {"values": size}, "reading": {reading: True}}

    block = claim(readings=["one", "two"], tests={"a": excess(0, "one"), "b": excess(2, "two")})
    del block["cells"]
    rows = judged({"t-a": block}, dict.fromkeys([("t-a", "a"), ("t-a", "b")], None))
    assert rows["t-a", "one"].outcome == REPRODUCED
    assert rows["t-a", "two"].outcome == NOT_REPRODUCED
    assert (rows["t-a", "one"].test, rows["t-a", "two"].test) == ("a", "b")


# ------------------------------------------------------------------------------------ joining


@pytest.mark.parametrize(
    ("mean", "outcome"), [(0.5, REPRODUCED), (1.5, NOT_REPRODUCED), (1.0, INCONCLUSIVE)]
)
def test_one_test(mean, outcome, judged):
    rows = judged({"t-a": claim()}, {("t-a", "mean"): asking(mean)})
    row = rows["t-a", ""]
    assert (row.outcome, row.headline, row.test, row.each) == (outcome, True, "mean", "")
    assert row.finding.statistic == pytest.approx(mean)
    assert row.against == {"limit": 1.0}
    assert row.message == ""


@pytest.mark.parametrize(
    ("means", "outcome", "each"),
    [
        ((0.5, 0.6, 0.9), REPRODUCED, "c"),
        ((0.5, 1.5, 0.9), NOT_REPRODUCED, "b"),
        ((1.2, 1.9, 1.5), NOT_REPRODUCED, "b"),
        ((1.0, 0.5, 0.5), INCONCLUSIVE, "a"),
    ],
)
def test_all_must_agree_and_the_nearest_or_farthest_beyond_decides(means, outcome, each, judged):
    block = claim()
    block["tests"]["mean"]["each"] = {"part": ["x"]}
    rows = judged({"t-a": block}, {("t-a", "mean"): asking(*means, eaches="abc")})
    assert (rows["t-a", ""].outcome, rows["t-a", ""].each) == (outcome, each)


@pytest.mark.parametrize(
    ("how", "means", "outcome", "test"),
    [
        ("all", (0.5, 1.5), NOT_REPRODUCED, "other"),
        ("any", (0.5, 1.5), REPRODUCED, "mean"),
        ("any", (1.5, 1.6), NOT_REPRODUCED, "mean"),
        ("all", (0.5, 1.0), INCONCLUSIVE, "other"),
    ],
)
def test_tests_are_joined_as_the_record_says(how, means, outcome, test, judged):
    block = claim(combine=how)
    block["tests"]["other"] = block["tests"]["mean"]
    estimators = {
        ("t-a", name): asking(m) for name, m in zip(("mean", "other"), means, strict=True)
    }
    row = judged({"t-a": block}, estimators)["t-a", ""]
    assert (row.outcome, row.test) == (outcome, test)


def test_what_does_not_decide_decides_nothing(judged):
    block = claim()
    block["tests"]["other"] = block["tests"]["mean"] | {"decides": False}
    estimators = {("t-a", "mean"): asking(0.5), ("t-a", "other"): asking(1.5)}
    assert judged({"t-a": block}, estimators)["t-a", ""].outcome == REPRODUCED


def unmet(evidence):
    yield Question({})


def test_a_condition_that_nothing_meets_is_no_evidence(judged):
    row = judged({"t-a": claim()}, {("t-a", "mean"): unmet})["t-a", ""]
    assert (row.outcome, row.tags, row.finding.n) == (INCONCLUSIVE, ("VACUOUS",), 0)
    shown = {"verdict": row.outcome, "n": row.finding.n}
    assert words.unmet(shown) == words.UNMET
    assert words.unmet(shown | {"n": 1}) == words.unmet(shown | {"verdict": REPRODUCED}) == ""


@pytest.mark.parametrize(("mean", "outcome"), [(0.5, REPRODUCED), (1.5, NOT_REPRODUCED)])
def test_beside_a_condition_that_nothing_meets_other_tests_decide(mean, outcome, judged):
    one = claim()["tests"]["mean"]
    block = claim(tests={"mean": one, "other": one})
    row = judged({"t-a": block}, {("t-a", "mean"): unmet, ("t-a", "other"): asking(mean)})
    assert (row["t-a", ""].outcome, row["t-a", ""].test) == (outcome, "other")
    assert "IN-PART" in row["t-a", ""].tags


def test_holm_within_the_family_only(judged):
    """A p-value of about 0.004 passes alone, and not among four."""
    near = 1 - 0.1 * 2.85 / math.sqrt(30)
    names = [f"t-{letter}" for letter in "abcd"]
    estimators = {(name, "mean"): asking(near if name == "t-a" else 1.0) for name in names}
    alone = judged({name: claim() for name in names}, estimators)
    assert alone["t-a", ""].outcome == REPRODUCED
    together = judged({n: claim(family="primary", primary=True) for n in names}, estimators)
    row = together["t-a", ""]
    assert (row.outcome, row.tags) == (INCONCLUSIVE, ("HOLM",))
    assert row.finding.p == pytest.approx(4 * alone["t-a", ""].finding.p)
    assert row.test == "mean"


def test_a_claim_that_failed_still_counts_in_its_family(judged):
    near = 1 - 0.1 * 2.85 / math.sqrt(30)
    claims = {f"t-{letter}": claim(family="primary", primary=True) for letter in "abcd"}
    row = judged(claims, {("t-a", "mean"): asking(near)})["t-a", ""]
    assert (row.outcome, row.tags) == (INCONCLUSIVE, ("HOLM",))


# ----------------------------------------------------------------------------------- readings


def test_readings_that_disagree_are_the_headline_and_none_of_them_is(judged):
    block = claim(readings=["one", "two"])
    rows = judged({"t-a": block}, {("t-a", "mean"): asking(0.5, 1.5, readings=["one", "two"])})
    head, one, two = rows["t-a", ""], rows["t-a", "one"], rows["t-a", "two"]
    assert (head.outcome, head.headline, head.finding) == (DEPENDS, True, None)
    assert (one.outcome, one.headline, one.tags) == (REPRODUCED, False, ())
    assert (two.outcome, two.headline, two.tags) == (NOT_REPRODUCED, False, ())


@pytest.mark.parametrize(
    ("means", "outcome", "decides"),
    [((0.5, 0.9), REPRODUCED, "two"), ((1.2, 1.9), NOT_REPRODUCED, "two")],
)
def test_of_readings_that_agree_the_deciding_case_is_the_headline(means, outcome, decides, judged):
    block = claim(readings=["one", "two"])
    rows = judged({"t-a": block}, {("t-a", "mean"): asking(*means, readings=["one", "two"])})
    head = rows["t-a", ""]
    assert (head.outcome, head.each) == (outcome, decides)
    assert head.finding.statistic == rows["t-a", decides].finding.statistic


def test_a_statement_that_is_not_printed_is_tagged(judged):
    block = claim(basis="lost", reconstructed="The bound.")
    row = judged({"t-a": block}, {("t-a", "mean"): asking(0.5)})["t-a", ""]
    assert (row.outcome, row.tags) == (REPRODUCED, ("CONDITIONAL",))


def test_a_question_without_reading_belongs_to_all(judged):
    block = claim(readings=["one", "two"])
    block["tests"]["other"] = block["tests"]["mean"]
    estimators = {
        ("t-a", "mean"): asking(0.5),
        ("t-a", "other"): asking(0.6, 0.7, readings=["one", "two"]),
    }
    rows = judged({"t-a": block}, estimators)
    assert [row.outcome for row in rows.values()] == [REPRODUCED] * 3


def test_readings_are_apart_in_a_family(judged):
    near = 1 - 0.1 * 2.85 / math.sqrt(30)
    block = claim(readings=["one", "two"], family="primary", primary=True)
    estimator = asking(near, 1.0, readings=["one", "two"])
    rows = judged(
        {"t-a": block, "t-b": copy.deepcopy(block)},
        dict.fromkeys([("t-a", "mean"), ("t-b", "mean")], estimator),
    )
    assert rows["t-a", "one"].tags == ("HOLM",)  # four verdicts


# -------------------------------------------------------------- aliases, judges, not testable


def test_aliases_carry_the_verdicts_of_their_targets(judged):
    claims = {"t-same": without_tests(alias_of="t-a"), "t-a": claim(readings=["one", "two"])}
    rows = judged(claims, {("t-a", "mean"): asking(0.5, 1.5, readings=["one", "two"])})
    for reading in ("", "one", "two"):
        same, own = rows["t-same", reading], rows["t-a", reading]
        assert (same.claim.id, own.claim.id) == ("t-same", "t-a")
        assert (same.outcome, same.tags, same.finding) == (own.outcome, own.tags, own.finding)


@pytest.mark.parametrize(
    ("means", "readings", "outcome"),
    [
        ((0.5,), [""], REPRODUCED),
        ((1.5,), [""], NOT_REPRODUCED),
        ((1.0,), [""], INCONCLUSIVE),
        ((0.5, 1.5), ["one", "two"], DEPENDS),
    ],
)
def test_judged_by_others(means, readings, outcome, judged):
    """The other judge is reproduced, so that the headline of the first decides."""
    claims = {
        "t-sum": without_tests(judged_by=["t-a", "t-b"]),
        "t-a": claim(**({"readings": readings} if all(readings) else {})),
        "t-b": claim(),
    }
    estimators = {("t-a", "mean"): asking(*means, readings=readings), ("t-b", "mean"): asking(0.5)}
    row = judged(claims, estimators)["t-sum", ""]
    assert (row.outcome, row.finding, row.headline, row.tags) == (outcome, None, True, ())


def test_what_is_judged_in_part_stays_so_where_others_judge(judged):
    claims = {"t-sum": without_tests(judged_by=["t-a"]), "t-a": claim(part="one arm")}
    rows = judged(claims, {("t-a", "mean"): asking(0.5)})
    assert rows["t-sum", ""].tags == rows["t-a", ""].tags == ("IN-PART",)


@pytest.mark.parametrize(("means", "readings"), [((1.0,), [""]), ((0.5, 1.5), ["one", "two"])])
def test_one_judge_that_is_lost_outweighs_one_that_is_open(means, readings, judged):
    claims = {
        "t-sum": without_tests(judged_by=["t-a", "t-b"]),
        "t-a": claim(**({"readings": readings} if all(readings) else {})),
        "t-b": claim(),
    }
    estimators = {("t-a", "mean"): asking(*means, readings=readings), ("t-b", "mean"): asking(1.5)}
    assert judged(claims, estimators)["t-sum", ""].outcome == NOT_REPRODUCED


def test_not_testable(judged):
    row = judged({"t-a": without_tests(untestable="An opinion.")}, {})["t-a", ""]
    assert (row.outcome, row.headline, row.finding) == (NOT_TESTABLE, True, None)


# ------------------------------------------------------------------------------------ failures


def broken(error):
    def estimator(evidence):
        yield Question({"values": spread(0.5), "against": 1.0}, "a")
        raise error

    return estimator


REPEATED = {"tests": {"mean": claim()["tests"]["mean"] | {"each": {"part": ["x"]}}}}
READINGS = {"readings": ["one", "two"]}
FAILURES = [
    ({}, lambda evidence: iter(()), "test mean: it was not run"),
    (REPEATED, asking(0.5, 0.6, eaches="aa"), "there are two questions with reading '' and each"),
    (REPEATED, broken(ValueError("no such\narm")), "test mean: no such arm"),
    (REPEATED, broken(KeyError("round")), "test mean: KeyError: 'round' (test_judge.py, line "),
    (REPEATED, broken(StoreError("x is stale")), "test mean: x is stale"),
    (READINGS, asking(0.5, readings=["one"]), "nothing was asked under reading 'two'"),
    ({}, lambda e: iter([Question({"values": [1.0], "against": 1})]), "at least 2 entries"),
    ({}, asking(math.nan), "values must be finite"),
]


@pytest.mark.parametrize(("changes", "estimator", "words"), FAILURES)
def test_a_failure_is_no_verdict_and_the_claims_own(changes, estimator, words, judged):
    claims = {
        "t-bad": claim(**changes),
        "t-good": claim(),
        "t-same": without_tests(alias_of="t-bad"),
        "t-sum": without_tests(judged_by=["t-good", "t-bad"]),
    }
    estimators = {("t-good", "mean"): asking(0.5)}
    if estimator:
        estimators["t-bad", "mean"] = estimator
    rows = judged(claims, estimators)
    for name in ("t-bad", "t-same", "t-sum"):
        own = [row for (key, _), row in rows.items() if key == name]
        assert {row.outcome for row in own} == {FAILED}
        assert all(words in row.message for row in own)
        assert all(row.finding is None and row.tags == () for row in own)
    assert rows["t-good", ""].outcome == REPRODUCED
    assert rows["t-sum", ""].message.startswith("judged by t-bad: ")


def test_one_failed_question_fails_the_claim_and_the_others_are_kept(tmp_path):
    ledgers = ledgers_of(config(), tmp_path, {"t-a": claim(**REPEATED)})
    estimators = {("t-a", "mean"): asking(0.5, math.nan, 0.7, eaches="abc")}
    found = list(answers(ledgers["banditq"], Nothing(tmp_path), ask=asks(ledgers, estimators)))
    assert [one.finding is None for one in found] == [False, True, False]
    (row,) = judge(ledgers, found)
    assert row.outcome == FAILED
    assert row.message.startswith("test mean, b: values must be finite")


def test_a_test_that_was_not_run_fails_its_claim(tmp_path):
    (row,) = judge(ledgers_of(config(), tmp_path, {"t-a": claim()}), [])
    assert (row.outcome, row.message) == (FAILED, "test mean: it was not run")


# ---------------------------------------------------------------------------- the same each time


@pytest.mark.parametrize("order", ["wxyz", "zyxw", "yzxw"])
def test_of_invariants_the_one_that_is_broken_most_decides(order, judged):
    block = claim()
    inputs = {"values": "queue"}
    block["tests"]["mean"] = {"rule": "exact", "inputs": inputs, "each": {"part": ["x"]}}
    excess = dict(zip("wxyz", (3, 5, 5, 1), strict=True))

    def estimator(evidence):
        return (Question({"values": [excess[each]]}, each) for each in order)

    row = judged({"t-a": block}, {("t-a", "mean"): estimator})["t-a", ""]
    assert (row.outcome, row.finding.statistic, row.each) == (NOT_REPRODUCED, 5, "x")


Side = Literal["at most"]


def drawing(values, against, *, claim: Side, level: float):
    """Find what hangs on the data alone."""
    found = float(values[0])
    return Finding(found, found, found, 1, 0.001, REPRODUCED)


def test_order_does_not_matter(tmp_path, monkeypatch):
    monkeypatch.setitem(PROCEDURES, "mean", drawing)
    block = claim(family="primary", primary=True, readings=["one", "two"])
    block["tests"]["mean"]["each"] = {"part": ["x"]}
    claims = {f"t-{letter}": copy.deepcopy(block) for letter in "abc"}

    def estimator(evidence):
        for reading in ("one", "two"):
            for each in "xyz":
                data = {"values": np.exp(spread(0, sd=0.3)), "against": 3.0}
                yield Question(data, each, reading)

    def backwards(evidence):
        return reversed(list(estimator(evidence)))

    ledgers = ledgers_of(config(), tmp_path, claims)
    forth, back = (
        list(answers(ledgers["banditq"], Nothing(tmp_path), ask=ask))
        for one in (estimator, backwards)
        for ask in [asks(ledgers, dict.fromkeys([(key, "mean") for key in claims], one))]
    )
    shuffled = random.Random(1).sample(back, len(back))
    assert judge(ledgers, forth) == judge(ledgers, shuffled)


# ------------------------------------------------------------------------- with real datasets


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with two tiny datasets."""
    folder = tmp_path_factory.mktemp("judge") / "results"
    limits = {"horizon": 60, "replicates": 12, "chunk": 12, "checkpoints": {"linear": 6, "log": 4}}
    for name in DATA:
        seed = config().seed
        one = shrunk.experiment_of("banditq", name, seed, **limits)
        shrunk.dataset_of(one, folder, seed)
    return folder


def reading_from(name):
    """Return an estimator that reads a dataset: the plays of arm 1 at the end, against many."""

    def estimator(evidence):
        data = next(evidence.recorded(name, ["plays"]))
        sample = data.runs[0].values["plays"][:, -1, 0]
        yield Question({"values": sample, "against": 60.5})

    return estimator


REAL_CLAIMS = {
    "t-full": claim(),
    "t-bandit": claim(cells={"experiments": ["bandit_feedback"]}),
    "t-both": claim(cells={"experiments": DATA}),
    "t-same": without_tests(alias_of="t-bandit"),
    "t-sum": without_tests(judged_by=["t-full", "t-bandit"]),
    "t-none": without_tests(untestable="An opinion."),
}
REAL_ESTIMATORS = {
    ("t-full", "mean"): reading_from("full_information"),
    ("t-bandit", "mean"): reading_from("bandit_feedback"),
    ("t-both", "mean"): reading_from("full_information"),
}


def real_answers(folder, results):
    ledgers = ledgers_of(config(), folder, REAL_CLAIMS)
    evidence = Evidence(config(), "banditq", results)
    found = list(answers(ledgers["banditq"], evidence, ask=asks(ledgers, REAL_ESTIMATORS)))
    return ledgers, found, evidence


def test_datasets_become_verdicts(tmp_path, results):
    ledgers, found, evidence = real_answers(tmp_path, results)
    rows = {row.claim.id: row for row in judge(ledgers, found)}
    assert {row.outcome for row in rows.values()} == {REPRODUCED, NOT_TESTABLE}
    assert rows["t-full"].data == ("banditq/full_information.parquet",)
    assert rows["t-sum"].data == tuple(f"banditq/{name}.parquet" for name in DATA)
    assert evidence.small


def changed(footer=None, table=None):
    """Return a function that writes a dataset anew with another footer or table."""

    def function(file):
        old, rows = read_footer(file), read_table(file)
        own = {k: v for k, v in old.items() if k not in ("schema", "packages", "commit")}
        write_table(file, table(rows) if table else rows, own | (footer or {}))

    return function


def one_play_more(table):
    plays = table["plays"].to_numpy().copy()
    plays[7] += 1
    return table.set_column(table.column_names.index("plays"), "plays", [plays])


def of_no_run(table):
    names = pa.array(["other"] * 5).dictionary_encode().cast(table["run"].type)
    rows = table.slice(0, 5).set_column(table.column_names.index("run"), "run", names)
    return pa.concat_tables([table, rows])


DAMAGE = {
    "missing": (lambda file: file.unlink(), "does not exist"),
    "damaged": (lambda file: file.write_bytes(file.read_bytes()[:-20]), "not a readable Parquet"),
    "stale": (changed({"codes": {}}), "is stale"),
    "of another seed": (changed({"seed": 1}), "its seed is 1, wanted"),
    "of other settings": (
        changed({"runs": {}}),
        "other settings than papers/banditq/experiments.yaml",
    ),
    "not a dataset": (changed({"kind": "chunk"}), "its kind is 'chunk'"),
    "with rows of no run": (changed(table=of_no_run), "rows of other are of no run"),
    "breaking an invariant": (changed(table=one_play_more), "that plays sum to the round fails"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_bad_dataset_fails_exactly_its_claims(damage, tmp_path, results):
    copied = tmp_path / "results"
    for name in DATA:
        file = results / "banditq" / f"{name}.parquet"
        (copied / "banditq").mkdir(parents=True, exist_ok=True)
        (copied / "banditq" / file.name).write_bytes(file.read_bytes())
    act, words = DAMAGE[damage]
    act(copied / "banditq" / "bandit_feedback.parquet")
    before = judge(*real_answers(tmp_path, results)[:2])
    after = judge(*real_answers(tmp_path, copied)[:2])
    failed = {row.claim.id for row in after if row.outcome == FAILED}
    assert failed == {"t-bandit", "t-both", "t-same", "t-sum"}
    for old, new in zip(before, after, strict=True):
        if new.claim.id in failed:
            assert words in new.message
        else:
            assert new == old


# ------------------------------------------------------------------------------------ as files


@pytest.fixture
def written(tmp_path, results):
    """Ledgers, and a folder with findings and verdicts of the real datasets."""
    ledgers, found, _ = real_answers(tmp_path, results)
    write_findings(tmp_path / "banditq.parquet", ledgers["banditq"], found, "paper")
    verdicts = judge(ledgers, found)
    rows = [verdict_row(ledgers, one, Made()) for one in verdicts]
    write(tmp_path / "verdicts.parquet", "verdicts", rows, ledgers, "paper")
    return ledgers, found, verdicts


def test_findings_come_back_as_they_were(tmp_path, written):
    ledgers, found, rows = written
    again = read(tmp_path / "banditq.parquet", ledgers, "findings")
    assert list(map(answer_of, again.rows)) == found
    assert judge(ledgers, map(answer_of, again.rows)) == rows
    assert again.scale == "paper"


def test_findings_of_each_paper_once(tmp_path, written):
    ledgers, _, _ = written
    files, outs = (
        [tmp_path / "banditq.parquet"] * 2,
        [tmp_path / "f.parquet", tmp_path / "v.parquet"],
    )
    with pytest.raises(StoreError, match="findings of banditq are needed, each once; got banditq,"):
        run.write_verdicts(files, ledgers, *outs)
