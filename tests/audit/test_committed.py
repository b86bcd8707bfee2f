"""The committed tables: every finding in short, read back with the ledgers, of one run."""

import math
import re
from dataclasses import replace

import pytest

import real
import small
from fairbandits.audit.finding import FAILED
from fairbandits.audit.judging.rules import load_rules
from fairbandits.audit.records import read, stale, write_committed
from fairbandits.audit.staleness import of_other_findings
from fairbandits.audit.tables import VERDICTS_TABLE, apart, committed, csv_of
from fairbandits.data.store import StoreError
from fairbandits.settings.schemas import ROOT

LEDGERS = real.ledgers()


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Made-up verdicts and findings."""
    folder = small.audited(tmp_path_factory)
    files = ((folder / "results" / "audit" / f"{kind}.parquet", kind) for kind in KINDS)
    found = {kind: read(file, LEDGERS, kind).rows for file, kind in files}
    kept = committed(LEDGERS)
    return {kind: [one for one in some if one["claim"] in kept] for kind, some in found.items()}


KINDS = ("verdicts", "findings")


@pytest.fixture
def folder(rows, tmp_path):
    write_committed(tmp_path / "audit", rows["verdicts"], rows["findings"], "smoke")
    return tmp_path / "audit"


def number(value):
    """Return what is left of a number in a table with six digits."""
    return None if value is None or math.isnan(value) else pytest.approx(value, rel=1e-5)


def test_findings_come_back(rows, folder):
    again = read(folder / "findings.csv", LEDGERS, "findings").rows
    assert len(again) == len(rows["findings"])
    same = ("paper", "claim", "test", "reading", "each", "decides", "verdict", "tags", "n", "rule")
    same += ("rule_version", "procedure", "settings", "rules")
    for old, new in zip(rows["findings"], again, strict=True):
        assert {name: new[name] for name in same} == {name: old[name] for name in same}
        for name in ("statistic", "low", "high", "p", "reference"):
            assert new[name] == number(old[name])
        assert new["against"] == {key: number(value) for key, value in old["against"].items()}
    assert any(math.isinf(one["low"]) for one in again if one["low"] is not None)


def test_what_is_judged_against_something_endless_comes_back(rows, tmp_path):
    against = {"largest inside": None, "refuted above": 1e-7}
    one = rows["findings"][0] | {"against": against}
    (tmp_path / "f.csv").write_text(csv_of([one], "findings"))
    (again,) = read(tmp_path / "f.csv", LEDGERS, "findings", anyway=True).rows
    assert (again["against"], again["reference"]) == (against, None)


def test_neither_table_is_written_where_a_claim_failed(rows, tmp_path):
    assert any(row["verdict"] == FAILED for row in rows["verdicts"])
    with pytest.raises(StoreError, match=r"verdicts\.csv is not written: .* failed"):
        write_committed(tmp_path / "audit", rows["verdicts"], rows["findings"], "paper")
    assert not (tmp_path / "audit").exists()


def test_tables_of_two_runs_are_not_written_together(rows, tmp_path):
    other = [one | {"statistic": 123.0} for one in rows["findings"]]
    with pytest.raises(StoreError, match="rests on no finding that is there"):
        write_committed(tmp_path / "audit", rows["verdicts"], other, "smoke")
    assert list(apart(rows["verdicts"], rows["findings"])) == []


def test_findings_of_other_rules(folder):
    other = LEDGERS | {"banditq": replace(LEDGERS["banditq"], digest="0" * 16)}
    file = folder / "findings.csv"
    assert list(stale(file, LEDGERS, "findings")) == []
    with pytest.raises(StoreError, match="claims of banditq has changed since"):
        read(file, other, "findings")
    assert read(file, other, "findings", anyway=True).rows


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("claim,test", "id,test", "is not a table of findings"),
        (",falling,", ",", "is not a table of findings"),
        ("banditq-abs-targets,falling", "banditq-abs-targets,fallen", "is not in the ledgers"),
    ],
)
def test_findings_of_other_tests(old, new, words, folder):
    file = folder / "findings.csv"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(StoreError, match=words):
        read(file, LEDGERS, "findings")


def test_a_test_without_findings(folder):
    file = folder / "findings.csv"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(one for one in lines if "banditq-abs-targets,falling" not in one))
    with pytest.raises(StoreError, match="banditq-abs-targets, falling is not in it"):
        read(file, LEDGERS, "findings")


def test_verdicts_without_a_headline_are_refused(rows, folder):
    """As of a table from before headlines had rows of their own."""
    file = folder / "verdicts.csv"
    claim = next(row["claim"] for row in rows["verdicts"] if row["headline"] and not row["reading"]
                 and sum(one["claim"] == row["claim"] for one in rows["verdicts"]) > 1)  # fmt: skip
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(one for one in lines if not one.startswith(f"{claim},,")))
    with pytest.raises(StoreError, match=f"than the ledgers: {claim} is not in it"):
        read(file, LEDGERS)


def test_the_committed_findings_are_those_of_the_committed_verdicts():
    table = ROOT / "audit" / VERDICTS_TABLE
    verdicts = read(table, LEDGERS, anyway=True)
    if (ROOT / "audit" / "findings.csv").is_file():
        assert list(of_other_findings(table, verdicts, LEDGERS)) == []
        assert (ROOT / "audit" / "findings.csv").stat().st_size < 1_000_000


def test_the_page_on_guarantees_is_of_the_rules_that_were_frozen():
    rules = load_rules(ROOT / "papers" / "arena" / "guarantees.yaml")
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    assert re.search(r"digest `(\w{16})`", page)[1] == rules.digest
