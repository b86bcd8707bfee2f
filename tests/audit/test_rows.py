"""Rows: Parquet keeps every number, the committed tables are an extract of it, of one run."""

import math
from dataclasses import replace

import pytest

import real
import small
from fairbandits.audit import run
from fairbandits.audit.finding import FAILED, Answer
from fairbandits.audit.rows import (
    COMMITTED,
    SCHEMAS,
    answer_of,
    apart,
    csv_of,
    read,
    stale,
    write_committed,
)
from fairbandits.data.store import StoreError
from fairbandits.data.texts import csv_rows
from fairbandits.settings.schemas import ROOT
from small_claims import paper_of

PAPERS = real.papers()
KINDS = ("verdicts", "findings")
#: A paper of one claim, and numbers that are hard to write down.
SMALL = {"banditq": paper_of(t_a=lambda runs: None)}
HARD = [0.1 + 0.2, 1e-310, 2.0**53 + 2, -math.inf, math.pi]


def answer(**changes):
    numbers = dict(zip(("statistic", "low", "high"), (HARD[0], HARD[3], math.inf), strict=True))
    judged = {"n": 12, "p": HARD[1], "verdict": "reproduced", "tags": ("RARE", "LOOSE")}
    judged |= {"also": {"broken": 0.0, "largest": HARD[2]}, "grade": "measured"}
    asked = {"test": "short", "phrase": "number, in words", "unit": "pulls", "reading": "one"}
    asked |= {"each": "arm 1, t = 5", "procedure": "mean", "against": {"limit": HARD[4]}}
    asked |= {"settings": {"level": 0.99, "ratio": [0.95, 1.05]}, "data": ("a/b.parquet", "c.d")}
    judged |= {"uncontrolled": "None could."}
    return Answer(claim="t-a", **numbers | asked | judged | changes)


@pytest.mark.parametrize(
    "answer",
    [
        answer(),
        answer(decides=False, given=True, test="number, in words"),
        Answer(claim="t-a", test="short", procedure="mean", message="no such arm"),
        answer(statistic=math.inf, p=None),
        Answer(claim="t-a", message="it has no yield"),
    ],
)
def test_every_number_comes_back_from_parquet(answer, tmp_path):
    small.write_findings(tmp_path / "f.parquet", SMALL["banditq"], [answer], "paper")
    table = read(tmp_path / "f.parquet", SMALL, "findings")
    (row,) = table.rows
    assert (answer_of(row), table.scale) == (answer, "paper")
    assert list(row) == SCHEMAS["findings"].names
    assert row["rules"] == SMALL["banditq"].digest


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = small.audited(tmp_path_factory) / "results" / "audit"
    tables = {kind: read(folder / f"{kind}.parquet", PAPERS, kind).rows for kind in KINDS}
    return {kind: small.kept(some) for kind, some in tables.items()}


@pytest.fixture
def folder(rows, tmp_path):
    write_committed(tmp_path / "audit", rows["verdicts"], rows["findings"], "smoke")
    return tmp_path / "audit"


def number(value):
    """Return what is left of a number in a table with six digits."""
    return None if value is None or math.isnan(value) else pytest.approx(value, rel=1e-5)


def test_the_committed_tables_are_an_extract(rows, folder):
    for kind in KINDS:
        again = read(folder / f"{kind}.csv", PAPERS, kind).rows
        same = {*COMMITTED[kind], "claim", "paper"} - {"id", "tightness", "against", "data"}
        same -= {"statistic", "low", "high", "p"}
        for old, new in zip(rows[kind], again, strict=True):
            assert {name: new[name] for name in same} == {name: old[name] for name in same}
            for name in ("statistic", "low", "high", "p", "reference"):
                assert new[name] == number(old[name])
            assert new["against"] == {key: number(value) for key, value in old["against"].items()}
        assert any(math.isinf(row["low"]) for row in again if row["low"] is not None)
    committed = read(folder / "verdicts.csv", PAPERS).rows
    heads = ([row["headline"] for row in table] for table in (committed, rows["verdicts"]))
    assert next(heads) == next(heads)


def test_files_of_a_folder_are_joined_and_written_out(rows, tmp_path):
    data = ["a/s/1.parquet", "a/s/2.parquet", "a/t.parquet"]
    row = rows["verdicts"][0] | {"data": data}
    (tmp_path / "v.csv").write_text(csv_of([row], "verdicts"))
    assert csv_rows(tmp_path / "v.csv")[0]["data"] == "a/s/{1,2}.parquet a/t.parquet"
    assert read(tmp_path / "v.csv", PAPERS, anyway=True).rows[0]["data"] == data


def test_what_is_judged_against_something_endless_comes_back(rows, tmp_path):
    against = {"largest inside": None, "refuted above": 1e-7}
    row = rows["findings"][0] | {"against": against}
    (tmp_path / "f.csv").write_text(csv_of([row], "findings"))
    (again,) = read(tmp_path / "f.csv", PAPERS, "findings", anyway=True).rows
    assert (again["against"], again["reference"]) == (against, None)


def test_neither_table_is_written_where_a_claim_failed(rows, tmp_path):
    assert any(row["verdict"] == FAILED for row in rows["verdicts"])
    with pytest.raises(StoreError, match=r"verdicts\.csv is not written: .* failed"):
        write_committed(tmp_path / "audit", rows["verdicts"], rows["findings"], "paper")
    assert not (tmp_path / "audit").exists()


def test_tables_of_two_runs_are_not_written_together(rows, tmp_path):
    other = [row | {"statistic": 123.0} for row in rows["findings"]]
    with pytest.raises(StoreError, match="rests on no finding that is there"):
        write_committed(tmp_path / "audit", rows["verdicts"], other, "smoke")
    assert list(apart(rows["verdicts"], rows["findings"])) == []


def test_findings_of_each_paper_once(tmp_path):
    file, outs = tmp_path / "f.parquet", [tmp_path / "joint.parquet", tmp_path / "v.parquet"]
    small.write_findings(file, SMALL["banditq"], [answer()], "paper")
    with pytest.raises(StoreError, match="findings of banditq are needed, each once; got banditq,"):
        run.write_verdicts([file] * 2, SMALL, *outs)


def test_findings_of_claims_that_have_changed(folder):
    other = PAPERS | {"banditq": replace(PAPERS["banditq"], digest="0" * 16)}
    for kind in KINDS:
        file = folder / f"{kind}.csv"
        assert list(stale(file, PAPERS, kind)) == list(stale(file, other, kind, "ht_ucb")) == []
        with pytest.raises(StoreError, match=r"papers/banditq/claims\.py, or a file beside it"):
            read(file, other, kind)
        assert read(file, other, kind, anyway=True).rows


@pytest.mark.parametrize(
    ("kind", "old", "new", "message"),
    [
        ("findings", "claim,test", "id,test", "is not a table of findings"),
        ("findings", "\nbanditq-abs-targets,", "\nbanditq-abs-targets,,", "is not a table of find"),
        ("findings", "banditq-abs-targets,", "banditq-target,", "banditq-abs-targets is not in it"),
        ("verdicts", "banditq-abs-targets,", "banditq-target,", "banditq-abs-targets is not in it"),
    ],
)
def test_tables_of_other_claims(kind, old, new, message, folder):
    text = (folder / f"{kind}.csv").read_text()
    assert old in text
    (folder / f"{kind}.csv").write_text(text.replace(old, new))
    with pytest.raises(StoreError, match=message):
        read(folder / f"{kind}.csv", PAPERS, kind)


def test_the_committed_findings_are_those_of_the_committed_verdicts():
    files = [ROOT / "audit" / f"{kind}.csv" for kind in KINDS]
    assert list(apart(*(read(file, PAPERS, file.stem, anyway=True).rows for file in files))) == []
    assert files[1].stat().st_size < 2_000_000
