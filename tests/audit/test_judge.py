"""From cases to verdicts: joining, correction, readings, failures; the same in any order."""

import math
import random
import shutil
from dataclasses import replace

import pyarrow as pa
import pytest

import real
import shrunk
from fairbandits.audit import sentences
from fairbandits.audit.answers import answers
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
)
from fairbandits.audit.judge import judge
from fairbandits.audit.runs import Evidence
from fairbandits.audit.tests import LABELS
from fairbandits.claims import cases, exact, mean, reading
from fairbandits.data.store import StoreError, read_footer, read_table, write_table
from small_claims import judged, paper_of, runs, spread

DATA = ["full_information", "bandit_feedback"]
CHANCE = {"uncontrolled": "It is of chance alone."}


def asking(*means, limit=1.0, phrase="number", said=CHANCE, **loop):
    """Return a claim's function with a case for each mean, in a loop or under readings."""
    readings, each = loop.pop("readings", ()), loop.pop("each", ())

    def function(runs):
        for k, value in enumerate(means):
            under, case = readings[k : k + 1], each[k : k + 1]
            with reading(*under):
                yield mean(phrase, spread(value), at_most=limit, case="".join(case), **said)

    return function


def both(*functions):
    def function(runs):
        for ask in functions:
            yield from ask(runs)

    return function


@pytest.mark.parametrize(
    ("means", "outcome", "each"),
    [
        ((0.5, 0.6, 0.9), REPRODUCED, "c"),
        ((0.5, 1.5, 0.9), NOT_REPRODUCED, "b"),
        ((1.2, 1.9, 1.5), NOT_REPRODUCED, "b"),
        ((1.0, 0.5, 0.5), INCONCLUSIVE, "a"),
    ],
)
def test_all_must_agree_and_the_nearest_or_farthest_beyond_decides(means, outcome, each):
    row = judged(t_a=asking(*means, each="abc"))["t-a", ""]
    assert (row.verdict, row.each) == (outcome, each)


@pytest.mark.parametrize(
    ("how", "means", "outcome", "test"),
    [
        ("all", (0.5, 1.5), NOT_REPRODUCED, "other"),
        ("any", (0.5, 1.5), REPRODUCED, "number"),
        ("any", (1.5, 1.6), NOT_REPRODUCED, "number"),
        ("all", (0.5, 1.0), INCONCLUSIVE, "other"),
    ],
)
def test_tests_are_joined_as_the_claim_says(how, means, outcome, test):
    first, other = asking(means[0]), asking(means[1], phrase="other")
    row = judged(t_a=(both(first, other), {"combine": how}))["t-a", ""]
    assert (row.verdict, row.test) == (outcome, test)


def test_what_does_not_decide_decides_nothing():
    beside = asking(1.5, phrase="other", said={"beside": True})
    assert judged(t_a=both(asking(0.5), beside))["t-a", ""].verdict == REPRODUCED


def unmet(runs):
    yield mean("unmet", [], at_most=1, **CHANCE)


def test_a_condition_that_nothing_meets_is_no_evidence():
    row = judged(t_a=unmet)["t-a", ""]
    assert (row.verdict, row.tags, row.n) == (INCONCLUSIVE, ("VACUOUS",), 0)
    shown = {"verdict": row.verdict, "n": row.n}
    assert sentences.unmet(shown) == sentences.UNMET
    assert sentences.unmet(shown | {"n": 1}) == sentences.unmet(shown | {"verdict": FAILED}) == ""


@pytest.mark.parametrize(("value", "outcome"), [(0.5, REPRODUCED), (1.5, NOT_REPRODUCED)])
def test_beside_a_condition_that_nothing_meets_other_tests_decide(value, outcome):
    row = judged(t_a=both(unmet, asking(value)))["t-a", ""]
    assert (row.verdict, row.test) == (outcome, "number")
    assert "IN-PART" in row.tags


@pytest.mark.parametrize(
    ("same", "outcome", "in_part"),
    [(0, REPRODUCED, False), (1, REPRODUCED, True), (2, INCONCLUSIVE, False)],
)
def test_comparisons_that_are_the_same_in_every_replicate_are_no_evidence(same, outcome, in_part):
    def better(runs):
        for case in cases(cell=range(4)):
            cost = spread(0.5)
            yield mean("cost", cost, at_most=cost if case < same else cost + spread(0.5), **CHANCE)

    row = judged(t_a=better)["t-a", ""]
    assert (row.verdict, "IN-PART" in row.tags) == (outcome, in_part)


def derived(runs):
    yield exact("steps that fail", [0, 0], given=True)


@pytest.mark.parametrize(
    ("premise", "said", "grade", "tags"),
    [
        (derived, {}, "exact", ()),
        (asking(0.5), {}, "consistent", ()),
        (derived, {"basis": "lost", "reconstructed": "all of it"}, "exact", ("CONDITIONAL",)),
        (asking(1.5), {}, "consistent", ("PREMISE",)),
    ],
)
def test_what_is_derived_is_no_better_than_its_premises(premise, said, grade, tags):
    rows = judged(
        t_a=(premise, said),
        t_b=(derived, {"rests_on": ["t-a"]}),
        t_c=(derived, {"rests_on": ["t-b"]}),
        t_d=(asking(0.5), {"rests_on": ["t-a"]}),
    )
    for key in ("t-b", "t-c"):
        row = rows[key, ""]
        assert (row.verdict, row.grade, row.tags) == (REPRODUCED, grade, tags)
    assert not {"CONDITIONAL", "PREMISE"} & {*rows["t-d", ""].tags}


#: A mean whose p-value of about 0.004 passes alone, and not among four.
NEAR = 1 - 0.1 * 2.85 / math.sqrt(30)


@pytest.mark.parametrize("other", [1.0, math.nan], ids=["open", "failed"])
def test_holm_within_the_family_only(other):
    four = {f"t_{k}": asking(NEAR if k == "a" else other) for k in "abcd"}
    alone = judged(**four)["t-a", ""]
    assert alone.verdict == REPRODUCED
    row = judged(**{key: (claim, {"primary": True}) for key, claim in four.items()})["t-a", ""]
    assert (row.verdict, row.tags, row.test) == (INCONCLUSIVE, ("THIN", "HOLM"), "number")
    assert row.p == pytest.approx(4 * alone.p)


TWO = {"readings": ["one", "two"]}


def test_readings_that_disagree_are_the_headline_and_none_of_them_is():
    rows = judged(t_a=(asking(0.5, 1.5, **TWO), TWO))
    head, first, second = rows["t-a", ""], rows["t-a", "one"], rows["t-a", "two"]
    assert (head.verdict, head.headline, head.n) == (DEPENDS, True, None)
    assert (first.verdict, first.headline, first.tags) == (REPRODUCED, False, ())
    assert (second.verdict, second.headline, second.tags) == (NOT_REPRODUCED, False, ())


@pytest.mark.parametrize(
    ("means", "outcome"), [((0.5, 0.9), REPRODUCED), ((1.2, 1.9), NOT_REPRODUCED)]
)
def test_of_readings_that_agree_the_deciding_case_is_the_headline(means, outcome):
    rows = judged(t_a=(asking(*means, **TWO), TWO))
    head = rows["t-a", ""]
    assert (head.verdict, head.each) == (outcome, "two")
    assert head.statistic == rows["t-a", "two"].statistic


def test_what_is_reconstructed_is_tagged():
    lost = {"basis": "lost", "reconstructed": "The bound."}
    row = judged(t_a=(asking(0.5), lost))["t-a", ""]
    assert (row.verdict, row.tags) == (REPRODUCED, ("CONDITIONAL",))
    rows = judged(t_a=(asking(0.5, 0.5, **TWO), TWO | {"conditional": ["one"]}))
    assert [rows["t-a", name].tags for name in ("one", "two")] == [("CONDITIONAL",), ()]


def test_a_case_without_reading_belongs_to_all():
    function = both(asking(0.5), asking(0.6, 0.7, phrase="other", **TWO))
    assert {row.verdict for row in judged(t_a=(function, TWO)).values()} == {REPRODUCED}


def test_readings_are_apart_in_a_family():
    claim = asking(NEAR, 1.0, **TWO), TWO | {"primary": True}
    assert judged(t_a=claim, t_b=claim)["t-a", "one"].tags == ("THIN", "HOLM")  # four verdicts


def test_aliases_carry_the_verdicts_of_their_targets():
    rows = judged(t_same={"alias_of": "t-a"}, t_a=(asking(0.5, 1.5, **TWO), TWO))
    for name in ("", "one", "two"):
        same, target = rows["t-same", name], rows["t-a", name]
        assert (same.claim.id, target.claim.id) == ("t-same", "t-a")
        for part in ("verdict", "tags", "statistic"):
            assert getattr(same, part) == getattr(target, part)


OPEN, LOST, MIXED = asking(1.0), asking(1.5), (asking(0.5, 1.5, **TWO), TWO)


@pytest.mark.parametrize(
    ("first", "other", "outcome"),
    [
        (asking(0.5), asking(0.5), REPRODUCED),
        (LOST, asking(0.5), NOT_REPRODUCED),
        (OPEN, asking(0.5), INCONCLUSIVE),
        (MIXED, asking(0.5), DEPENDS),
        (OPEN, LOST, NOT_REPRODUCED),
        (MIXED, LOST, NOT_REPRODUCED),
    ],
)
def test_judged_by_others(first, other, outcome):
    row = judged(t_sum={"judged_by": ["t-a", "t-b"]}, t_a=first, t_b=other)["t-sum", ""]
    assert (row.verdict, row.n, row.headline, row.tags) == (outcome, None, True, ())


def test_what_is_judged_in_part_stays_so_where_others_judge():
    rows = judged(t_sum={"judged_by": ["t-a"]}, t_a=(asking(0.5), {"part": "one arm"}))
    assert rows["t-sum", ""].tags == rows["t-a", ""].tags == ("IN-PART",)


def broken(error):
    def function(runs):
        yield from asking(0.5)(runs)
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "said", "message"),
    [
        (asking(), {}, "no test decides"),
        (asking(0.5, 0.6), {}, "test_judge.py, line [0-9]+: two cases '' of 'number'"),
        (broken(ValueError("no such\narm")), {}, "test_judge.py, line [0-9]+: no such arm"),
        (broken(KeyError("round")), {}, "line [0-9]+: KeyError: 'round'"),
        (broken(StoreError("x is stale")), {}, "x is stale"),
        (asking(0.5, readings=["one"]), TWO, "no test decides under reading 'two'"),
        (asking(0.5, math.nan, each="ab"), {}, "number, b: .*line [0-9]+: values must be finite"),
    ],
)
def test_a_failure_is_no_verdict_and_the_claims_own(function, said, message):
    others = {"t_same": {"alias_of": "t-bad"}, "t_sum": {"judged_by": ["t-good", "t-bad"]}}
    rows = judged(t_bad=(function, said), t_good=asking(0.5), **others)
    for (key, _), row in rows.items():
        if key == "t-good":
            assert row.verdict == REPRODUCED
            continue
        assert (row.verdict, row.n, row.tags) == (FAILED, None, ())
        with pytest.raises(ValueError, match=message):
            raise ValueError(row.message)
    assert rows["t-sum", ""].message.startswith("judged by t-bad: ")


def test_a_claim_that_was_not_asked_has_failed():
    paper = paper_of(t_a=asking(0.5))
    (row,) = judge({paper.slug: paper}, [])
    assert (row.verdict, row.message) == (FAILED, "it was not run")


@pytest.mark.parametrize("order", ["wxyz", "zyxw", "yzxw"])
def test_of_exact_cases_the_one_that_is_broken_most_decides(order):
    excess = dict(zip("wxyz", (3, 5, 5, 1), strict=True))

    def function(runs):
        for name in cases(of=order):
            yield exact("excess", [excess[name]])

    row = judged(t_a=function)["t-a", ""]
    assert (row.verdict, row.statistic, row.each) == (NOT_REPRODUCED, 5, "x")


def test_order_does_not_matter():
    claim = asking(*[0.4, 0.4, 0.6, 0.6] * 2, each="wxyz" * 2, readings=["one"] * 4 + ["two"] * 4)
    paper = paper_of(**{f"t_{k}": (claim, TWO | {"primary": True}) for k in "abc"})
    answered = [row for claim in paper.claims.values() for row in answers(claim, paper, runs())]
    assert all(row.n for row in answered)
    shuffled = random.Random(1).sample(answered, len(answered))
    assert judge({"banditq": paper}, answered) == judge({"banditq": paper}, shuffled)
    assert LABELS == []


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judge") / "results"
    limits = {"horizon": 60, "replicates": 12, "chunk": 12, "checkpoints": {"linear": 6, "log": 4}}
    for name in DATA:
        experiment = shrunk.experiment_of("banditq", name, 7, **limits)
        shrunk.dataset_of(experiment, folder, 7)
    return folder


def reading_from(*names):
    """Return a function that reads datasets: the plays of arm 1 at the end, against many."""

    def function(runs):
        for run in runs(*names, policy="banditq", law="bernoulli").each("experiment"):
            yield mean("plays", run.end("plays")[:, 0], at_most=60.5)

    return function


CLAIMS = {
    "t_full": reading_from(DATA[0]),
    "t_bandit": reading_from(DATA[1]),
    "t_both": reading_from(*DATA),
    "t_same": {"alias_of": "t-bandit"},
    "t_sum": {"judged_by": ["t-full", "t-bandit"]},
    "t_none": {"untestable": "An opinion."},
}


def judged_on(results):
    paper = paper_of(**CLAIMS)
    evidence = Evidence(replace(real.config(), seed=7), "banditq", results)
    tested = [claim for claim in paper.claims.values() if claim.of]
    answered = [answer for claim in tested for answer in answers(claim, paper, evidence)]
    return judge({"banditq": paper}, answered), evidence


def test_datasets_become_verdicts(results):
    rows, evidence = judged_on(results)
    rows = {row.claim.id: row for row in rows}
    assert {row.verdict for row in rows.values()} == {REPRODUCED, NOT_TESTABLE}
    assert rows["t-full"].data == ("banditq/full_information.parquet",)
    assert rows["t-sum"].data == tuple(f"banditq/{name}.parquet" for name in DATA)
    assert evidence.small
    assert (rows["t-none"].headline, rows["t-none"].n) == (True, None)


def damaged(change=None, **footer):
    return lambda file: shrunk.rewritten(file, change, **footer)


def one_play_more(columns):
    columns["plays"][7] += 1


def of_no_run(file):
    old, rows = read_footer(file), read_table(file)
    names = pa.array(["other"] * 5).dictionary_encode().cast(rows["run"].type)
    more = rows.slice(0, 5).set_column(rows.column_names.index("run"), "run", names)
    footer = {name: value for name, value in old.items() if name not in STORES}
    write_table(file, pa.concat_tables([rows, more]), footer)


#: What a store itself writes into a footer.
STORES = ("schema", "packages", "commit")
DAMAGE = {
    "missing": (lambda file: file.unlink(), "does not exist"),
    "damaged": (lambda file: file.write_bytes(file.read_bytes()[:-20]), "not a readable Parquet"),
    "stale": (damaged(codes={}), "is stale"),
    "of another seed": (damaged(seed=1), "its seed is 1, wanted"),
    "of other settings": (damaged(runs={}), "other settings than papers/banditq/experiments"),
    "not a dataset": (damaged(kind="chunk"), "its kind is 'chunk'"),
    "with rows of no run": (of_no_run, "rows of other are of no run"),
    "breaking an invariant": (damaged(one_play_more), "that plays sum to the round fails"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_bad_dataset_fails_exactly_its_claims(damage, tmp_path, results):
    copied = tmp_path / "results"
    shutil.copytree(results, copied)
    act, message = DAMAGE[damage]
    act(copied / "banditq" / "bandit_feedback.parquet")
    (before, _), (after, _) = judged_on(results), judged_on(copied)
    failed = {row.claim.id for row in after if row.verdict == FAILED}
    assert failed == {"t-bandit", "t-both", "t-same", "t-sum"}
    for old, new in zip(before, after, strict=True):
        if new.claim.id in failed:
            assert message in new.message
        else:
            assert replace(new, claim=old.claim) == old
