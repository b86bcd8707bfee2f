"""The commands of the audit: what they list, explain, write and refuse."""

import json
import shutil
from collections import Counter
from dataclasses import replace

import pytest

import real
import small
from commands import configured, invoke, refused, said
from fairbandits.audit import run, terminal
from fairbandits.audit.claims import stands_for
from fairbandits.audit.finding import FAILED, GRADES, NOT_REPRODUCED, OUTCOMES
from fairbandits.audit.rows import NUMBERS, csv_of, read, write
from fairbandits.audit.sentences import quantity
from fairbandits.audit.totals import left_out
from fairbandits.settings.formulas import plain
from fairbandits.settings.schemas import ROOT

PAPERS = real.papers()
CLAIMS = real.every()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of results with made-up verdicts, and none of the datasets that they name."""
    folder = tmp_path_factory.mktemp("results")
    made = small.audited(tmp_path_factory) / "results" / "audit"
    return shutil.copytree(made, folder / "audit").parent


@pytest.fixture(scope="module")
def rows(results):
    return read(results / "audit" / "verdicts.parquet", PAPERS).rows


@pytest.fixture(autouse=True)
def loaded_once(monkeypatch):
    monkeypatch.setattr(run, "load", real.load)


def test_lists_every_claim_with_its_verdict(results, rows, monkeypatch):
    monkeypatch.undo()  # what a command loads by itself
    lines = said("claims", "--results", results).splitlines()
    headlines = {row["claim"]: row for row in rows if row["headline"]}
    indented = {line.split()[0]: line for line in lines if line.startswith("  ")}
    listed = {name: line for name, line in indented.items() if name in CLAIMS}
    assert sorted(listed) == sorted(CLAIMS)
    for name, line in listed.items():
        assert f"  {headlines[name]['verdict']}" in line
        assert headlines[name]["grade"] in line
    assert f"In all {terminal.tally(rows)}" in lines
    assert lines[-1].endswith("verdicts.parquet. Smoke scale: these are not results.")


@pytest.mark.parametrize("typed", ["not reproduced", "not-reproduced", "Not_Reproduced"])
def test_lists_of_a_paper_and_a_verdict(typed, results, rows):
    text = said("claims", "--results", results, "--paper", "fair_ucb", "--verdict", typed)
    heads = [row for row in rows if row["headline"] and row["paper"] == "fair_ucb"]
    shown = [row for row in heads if row["verdict"] == NOT_REPRODUCED]
    wanted = {row["claim"] for row in shown}
    assert len(wanted) > 1
    assert {line.split()[0] for line in text.splitlines() if line.startswith("  fair")} == wanted
    assert f"fair_ucb: {len(wanted)} listed; {terminal.tally(shown)}\n" in text


def test_a_verdict_says_its_part_and_its_status():
    rows = read(ROOT / "audit" / "verdicts.csv", PAPERS, anyway=True).rows
    heads = {row["claim"]: row for row in rows if row["headline"]}
    lines = terminal.listing(rows, 120).splitlines()
    said = {line.split()[0]: line for line in lines if line.startswith("  ") and "-" in line}
    assert said.keys() == heads.keys()
    for key, head in heads.items():
        assert (" *" in said[key]) == (head["status"] == "exploratory")
        assert (", in part" in said[key]) == ("IN-PART" in head["tags"])
    key = "htucb-abs-superiority"
    of_claim = [row for row in rows if row["claim"] == key]
    findings = read(ROOT / "audit" / "findings.csv", PAPERS, "findings", anyway=True).rows
    text = terminal.explanation(CLAIMS[key], PAPERS, of_claim, findings, 120)
    assert f"{of_claim[0]['status']}: " in text
    of_tests = Counter(row["test"] for row in findings if row["claim"] == key)
    for count in of_tests.values():
        more = f"    and {count - terminal.MOST} more in favour; findings.csv has all\n"
        assert (more in text) == (count > terminal.MOST)


#: What other programs read: the entries of a verdict, and of a claim.
VERDICT = """reading verdict status grade tags statistic low high n p phrase unit each procedure
settings data code data_hash rules audit_code message"""
CLAIM = """id paper place statement kind primary about part reported figure basis reconstructed
alias_of judged_by left_out verdict headline readings qualified_by"""


def checked(text):
    content = json.loads(text)
    assert content.keys() == {"source", "scale", "exploratory", "claims"}
    for claim in content["claims"]:
        assert claim.keys() == {*CLAIM.split()}
        for row in (claim["headline"], *claim["readings"]):
            assert row.keys() == {*VERDICT.split()}
            assert row["verdict"] in OUTCOMES
            assert row["grade"] in (None, *GRADES)
            assert all(row[name] is None or isinstance(row[name], int | float) for name in NUMBERS)
    return content


def test_json_follows_its_schema(results, rows, findings):
    content = checked(said("claims", "--results", results, "--json"))
    assert [claim["id"] for claim in content["claims"]] == list(CLAIMS)
    assert content["scale"] == "smoke"
    for claim in content["claims"]:
        head, *rest = [row for row in rows if row["claim"] == claim["id"]]
        assert [part["reading"] or "" for part in claim["readings"]] == [r["reading"] for r in rest]
        assert [part["verdict"] for part in claim["readings"]] == [r["verdict"] for r in rest]
        assert claim["verdict"] == claim["headline"]["verdict"] == head["verdict"]
        assert (claim["headline"]["reading"] or "") == head["reading"]
        assert (claim["left_out"] or "") == left_out(CLAIMS[claim["id"]])
        tested = stands_for(CLAIMS[claim["id"]], PAPERS).id
        beside = {(r["test"]) for r in findings if r["claim"] == tested and not r["decides"]}
        assert len(claim["qualified_by"]) == len(beside)
        assert claim["statement"] == CLAIMS[claim["id"]].statement
    (alone,) = json.loads(said("claims", "banditq-eq14", "--results", results, "--json"))["claims"]
    assert alone in content["claims"]


@pytest.fixture(scope="module")
def findings(results):
    return read(results / "audit" / "findings.parquet", PAPERS, "findings").rows


@pytest.fixture
def committed(tmp_path, rows, findings):
    """A configuration whose folder of the committed tables has both, and has no results."""
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "verdicts.csv").write_text(csv_of(small.kept(rows), "verdicts"))
    (tmp_path / "audit" / "findings.csv").write_text(csv_of(small.kept(findings), "findings"))
    return configured(tmp_path, results=tmp_path / "none", audit=tmp_path / "audit")


def test_without_results_the_committed_table_speaks(committed, results, findings, tmp_path):
    listed = said("claims", *committed)
    assert f"From {tmp_path / 'audit' / 'verdicts.csv'}." in listed
    there = said("claims", "--results", results)
    # the committed table has no claim that differs between machines: one claim less, left out
    totals = [text.splitlines()[0].split("; ")[1] for text in (listed, there)]
    assert totals[0] == totals[1]
    assert "claims that the audited text makes" in totals[0]
    checked(said("claims", *committed, "--json"))
    for name in [key for key in PAPERS["fair_ucb"].claims if CLAIMS[key].of][:3]:
        text = said("claims", name, *committed)
        tests = {row["test"]: plain(quantity(row)) for row in findings if row["claim"] == name}
        assert tests
        for phrase in tests.values():
            lines = text.partition(f"\n\n  {phrase}")[2].partition("\n\n")[0].splitlines()
            assert len(lines) > 2
            assert any(f"  {outcome}" in line for outcome in OUTCOMES for line in lines[2:])


def test_a_table_that_is_missing_is_named(committed, tmp_path):
    (tmp_path / "audit" / "verdicts.csv").unlink()
    said = f"{tmp_path}/audit/verdicts.csv does not exist; `fairbandits replicate audit` makes it"
    assert refused("claims", *committed) == said


ONLY = "--only is for looking; --out needs all"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["claims", "fairucb-thm2-boun"],
            1,
            "no claim 'fairucb-thm2-boun'; near: fairucb-thm2-bound, fairucb-thm4-bound, "
            "fairucb-thm8; `fairbandits claims` lists all",
        ),
        (["claims", "--paper", "e"], 1, f"no claims of paper 'e'; known: {', '.join(PAPERS)}"),
        (["claims", "--verdict", "no"], 1, f"no verdict 'no'; there are: {', '.join(OUTCOMES)}"),
        (["audit", "fairucb"], 1, "no claims of paper 'fairucb'; did you mean 'fair_ucb'?"),
        (["audit", "fair_ucb", "--only", "x", "--out", "y"], 2, ONLY),
    ],
)
def test_what_there_is_not_is_named_with_the_nearest(arguments, code, message, results):
    assert refused(*arguments, "--results", results, code=code).startswith(message)


def test_a_list_without_claims_says_what_none_has(tmp_path):
    config = configured(tmp_path, results=tmp_path / "none")
    text = said("claims", *config, "--paper", "fair_ucb", "--verdict", FAILED)
    assert text.startswith(f"No claim of fair_ucb has the verdict {FAILED}.")


def test_an_audit_that_fails_writes_nothing_and_says_each_reason_once(tmp_path, monkeypatch):
    """Of figures: derivations, which need no data, would take long."""
    paper = PAPERS["fair_ucb"]
    figures = {key: claim for key, claim in paper.claims.items() if key.startswith("fairucb-fig")}
    papers = {"fair_ucb": replace(paper, claims=figures)}
    monkeypatch.setattr(run, "load", lambda configs: (real.config(), papers))
    out = tmp_path / "fair_ucb.parquet"
    result = invoke("audit", "fair_ucb", "--results", tmp_path / "none", "--out", out)
    assert result.exit_code == 1
    *lines, last = result.stderr.splitlines()
    assert last.startswith("Error: ")
    assert last.endswith("claims of fair_ucb could not be judged; all verdicts stay as they were")
    reasons = [line.partition(": ")[2] for line in lines]
    assert len(reasons) == len(set(reasons)) > 0
    assert any(" more claims: " in line for line in lines)
    assert not out.exists()


def test_verdicts_of_a_failing_audit(tmp_path, results, rows):
    """At the published scale nothing is written, and the failures are said."""
    files = [tmp_path / f"{paper}.parquet" for paper in PAPERS]
    for paper, file in zip(PAPERS, files, strict=True):
        of_paper = {paper: PAPERS[paper]}
        findings = read(results / "audit" / file.name, of_paper, "findings").rows
        write(file, "findings", findings, of_paper, "paper")
    outs = [tmp_path / "findings.parquet", tmp_path / "verdicts.parquet"]
    outs[1].write_text("of an earlier run")
    result = invoke("verdicts", *files, "--joint", outs[0], "--out", outs[1])
    assert result.exit_code == 1
    *lines, last = result.stderr.splitlines()
    assert last == f"Error: {len(lines)} claims failed; no verdicts are written"
    failed = [row["claim"] for row in rows if row["headline"] and row["verdict"] == FAILED]
    assert [line.partition(":")[0] for line in lines] == failed
    assert (outs[0].exists(), outs[1].read_text()) == (False, "of an earlier run")


def test_small_verdicts_become_tables(tmp_path, results, rows, findings):
    files = [results / "audit" / f"{paper}.parquet" for paper in PAPERS]
    joint, out, folder = (tmp_path / name for name in ("f.parquet", "v.parquet", "a"))
    result = invoke("verdicts", *files, "--joint", joint, "--out", out)
    assert result.exit_code == 0
    failed = [row["claim"] for row in rows if row["headline"] and row["verdict"] == FAILED]
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == failed
    assert out.read_bytes() == (results / "audit" / "verdicts.parquet").read_bytes()
    assert joint.read_bytes() == (results / "audit" / "findings.parquet").read_bytes()
    assert said("record", out, joint, folder) == ""
    tables = ["findings.csv", "runs.csv", "verdicts.csv"]
    assert sorted(file.name for file in folder.glob("[!.]*")) == tables
    assert (folder / "verdicts.csv").read_text() == csv_of(small.kept(rows), "verdicts")
    assert (folder / "findings.csv").read_text() == csv_of(small.kept(findings), "findings")
    before = {file: file.read_bytes() for file in (ROOT / "audit").iterdir()}
    line = refused("record", out, joint, ROOT / "audit")
    assert "is for the published scale; these verdicts are of a small run" in line
    assert {file: file.read_bytes() for file in (ROOT / "audit").iterdir()} == before
