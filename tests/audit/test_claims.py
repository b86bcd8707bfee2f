"""The commands of the audit: what they list, explain, write and refuse."""

import json
import shutil

import pytest
from click.testing import CliRunner

import small
from fairbandits.audit import show
from fairbandits.audit.finding import FAILED, NOT_REPRODUCED, OUTCOMES
from fairbandits.audit.ledger import load_ledgers
from fairbandits.audit.records import csv_of, read_verdicts
from fairbandits.cli import main
from fairbandits.experiments.config import load_config
from fairbandits.experiments.schemas import ROOT, check

CONFIG = load_config([ROOT / "config" / "config.yaml"])
LEDGERS = load_ledgers(CONFIG)
CLAIMS = {key: one for ledger in LEDGERS.values() for key, one in ledger.claims.items()}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of results with made-up verdicts."""
    folder = tmp_path_factory.mktemp("claims")
    small.write_audit(folder)
    return folder / "results"


@pytest.fixture(scope="module")
def rows(results):
    return read_verdicts(results / "audit" / "verdicts.parquet", LEDGERS)[0]


def invoke(*words, columns=120):
    runner = CliRunner(env={"COLUMNS": str(columns)})
    return runner.invoke(main, [str(word) for word in words])


def said(*words, columns=120):
    result = invoke(*words, columns=columns)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*words, code=1):
    result = invoke(*words)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    return result.stderr.splitlines()[-1].removeprefix("Error: ")


# -------------------------------------------------------------------------------------- lists


def test_lists_every_claim_with_its_verdict(results, rows):
    lines = said("claims", "--results", results).splitlines()
    headlines = {row["claim"]: row for row in rows if row["headline"]}
    listed = {}
    for line in lines:
        name = line.split()[0] if line.startswith("  ") else ""
        if name in CLAIMS:
            listed[name] = line
    assert list(listed) == list(CLAIMS)
    for name, line in listed.items():
        assert f"  {headlines[name]['verdict']}" in line
        assert (" *" in line.split(headlines[name]["verdict"])[1][:2]) == (
            "READING" in headlines[name]["tags"]
        )
    counts = show.counted(show.tally(rows))
    assert f"{len(CLAIMS)} claims: {counts}" in lines
    assert lines[-1].endswith("verdicts.parquet. Smoke scale: these are not results.")


@pytest.mark.parametrize("columns", [20, 60, 80, 100, 140, 200])
def test_lists_fit_the_terminal(columns, results):
    lines = said("claims", "--results", results, columns=columns).splitlines()
    table = [line for line in lines if line.startswith("  ")]
    least = max(map(len, CLAIMS)) + len("  " * 2 + f"{NOT_REPRODUCED} *")
    assert max(map(len, table)) <= max(columns, least)
    assert ("statement" in table[0]) == (columns >= 140)
    assert ("limits" in table[0]) == (columns >= 100)


def test_columns_stand_below_each_other(results):
    lines = said("claims", "--results", results, "--paper", "fair_ucb").splitlines()
    table = [line for line in lines if line.startswith("  ")]
    place = table[0].index("verdict")
    assert {line[place - 2 : place] for line in table} == {"  "}
    assert all(line[place:].startswith(OUTCOMES) for line in table[1:])


@pytest.mark.parametrize("typed", ["not reproduced", "not-reproduced", "Not_Reproduced"])
def test_lists_of_a_paper_and_a_verdict(typed, results, rows):
    text = said("claims", "--results", results, "--paper", "fair_ucb", "--verdict", typed)
    wanted = [
        row["claim"]
        for row in rows
        if row["headline"] and row["paper"] == "fair_ucb" and row["verdict"] == NOT_REPRODUCED
    ]
    assert len(wanted) > 1
    assert [line.split()[0] for line in text.splitlines() if line.startswith("  fair")] == wanted
    assert f"{len(wanted)} claims: {len(wanted)} not reproduced" in text


def test_failed_claims_say_why(results, rows):
    text = said("claims", "--results", results, "--verdict", FAILED, columns=300)
    failed = [row for row in rows if row["headline"] and row["verdict"] == FAILED]
    assert failed
    for row in failed:
        assert row["message"] in text


def test_json_follows_its_schema(results, rows):
    content = json.loads(said("claims", "--results", results, "--json"))
    check(content, "verdicts", "the output")
    assert [one["id"] for one in content["claims"]] == list(CLAIMS)
    assert content["scale"] == "smoke"
    for one in content["claims"]:
        own = [row for row in rows if row["claim"] == one["id"]]
        assert [part["reading"] or "" for part in one["readings"]] == [r["reading"] for r in own]
        assert [part["verdict"] for part in one["readings"]] == [r["verdict"] for r in own]
        assert one["verdict"] == own[0]["verdict"]
        assert one["statement"] == CLAIMS[one["id"]].statement
    (alone,) = json.loads(said("claims", "banditq-eq14", "--results", results, "--json"))["claims"]
    assert alone in content["claims"]


# ------------------------------------------------------------------------------- explanations


@pytest.fixture(scope="module")
def findings(results):
    return read_verdicts(results / "audit" / "findings.parquet", LEDGERS, "findings")[0]


@pytest.mark.parametrize("name", CLAIMS)
def test_explains_every_claim(name, rows, findings):
    claim, ledger = CLAIMS[name], LEDGERS[CLAIMS[name].paper]
    own, found = ([row for row in some if row["claim"] == name] for some in (rows, findings))
    text = show.explanation(claim, ledger, CONFIG, own, found, 100)
    words = " ".join(text.split())
    wanted = [claim.place, claim.statement, claim.estimand, claim.note, claim.untestable]
    wanted += [*claim.between, claim.alias_of, *claim.judged_by]
    wanted += [ledger.readings[reading] for reading in claim.readings]
    for one in wanted:
        assert " ".join(one.split()) in words
    for row in own:
        under = f" under {row['reading']}" if row["reading"] else ""
        assert f"verdict: {row['verdict']}{under}" in words
        assert row["message"] in words
    for test in claim.tests:
        head = f"test {test.name}: {test.procedure} (rule {test.rule}, version {test.version})"
        assert head in words
        for setting in test.settings:
            assert f"{setting} " in words
    if claim.figure:
        assert f"figures/{claim.paper}/{claim.figure}.svg" in words
    assert ("snakemake audit --cores 2" in words) == (not claim.untestable)


def test_explains_each_question(results):
    text = said("claims", "fairucb-thm1-alpha0", "--results", results)
    for reading in ("exact_integers", "floating_point"):
        for each in ("one thing", "another"):
            assert any(
                line.startswith(f"  {reading}") and f"  {each}" in line
                for line in text.splitlines()
            )


def test_says_what_makes_a_dataset(results):
    text = said("claims", "banditq-fig1-targets-met", "--results", results)
    assert "snakemake results/banditq/full_information.parquet --cores 2" in text


# --------------------------------------------------------------------------- the committed table


@pytest.fixture
def committed(tmp_path, rows):
    """A configuration whose folder of the committed table has one, and has no results."""
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "verdicts.csv").write_text(csv_of(rows))
    file = tmp_path / "mine.yaml"
    folders = {"results": f"{tmp_path}/none", "audit": f"{tmp_path}/audit"}
    file.write_text(json.dumps({"pathvars": folders}))
    return ["--config", ROOT / "config" / "config.yaml", "--config", file]


def test_without_results_the_committed_table_speaks(committed, results, tmp_path):
    listed = said("claims", *committed)
    assert f"From {tmp_path / 'audit' / 'verdicts.csv'}." in listed
    there = said("claims", "--results", results)
    assert listed.splitlines()[0] == there.splitlines()[0]
    check(json.loads(said("claims", *committed, "--json")), "verdicts", "the output")
    for name in ("fairucb-thm2-bound", "fairucb-tfair-not-uniform", "fairucb-inconsistency-14"):
        text = said("claims", name, *committed)
        assert ("What each question found is at hand once" in text) == bool(CLAIMS[name].tests)


def test_the_ledger_and_the_committed_table_are_told_apart(committed, tmp_path):
    (tmp_path / "audit" / "verdicts.csv").unlink()
    line = refused("claims", *committed)
    assert line == (
        f"{tmp_path / 'audit' / 'verdicts.csv'} does not exist; `fairbandits replicate audit` "
        "makes it"
    )


# ------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fairucb-thm2-boun"], "no claim 'fairucb-thm2-boun'; did you mean 'fairucb-thm2-bound'?"),
        (["--paper", "fairucb"], "no claims of paper 'fairucb'; did you mean 'fair_ucb'?"),
        (["--paper", "ht_ucb"], "no claims of paper 'ht_ucb'; known: banditq, fair_ucb"),
        (["--verdict", "reprduced"], "no verdict 'reprduced'; did you mean 'reproduced'?"),
    ],
)
def test_names_the_nearest(words, message, results):
    assert refused("claims", *words, "--results", results).startswith(message.partition(";")[0])
    assert refused("claims", *words, "--results", results) == message


def test_one_claim_or_a_choice(results):
    line = refused("claims", "banditq-eq14", "--paper", "banditq", "--results", results, code=2)
    assert line == "give CLAIM, or --paper and --verdict"


def test_stale_verdicts_are_refused(results, tmp_path, monkeypatch):
    from fairbandits.audit import records

    monkeypatch.setattr(records, "_audit_code", lambda: "0" * 16)
    line = refused("claims", "--results", results)
    assert "verdicts.parquet is stale: audit code" in line
    assert line.endswith(
        "`fairbandits replicate audit` makes it anew, and --anyway shows it as it is"
    )


# -------------------------------------------------------------------------------- the other steps


def test_audit_of_nothing_fails_every_claim_and_says_so(tmp_path):
    out = tmp_path / "fair_ucb.parquet"
    result = invoke("audit", "fair_ucb", "--results", tmp_path / "none", "--out", out)
    assert result.exit_code == 0
    said_of = [line.split(":")[0].split(",")[0] for line in result.stderr.splitlines()]
    assert set(said_of) <= {key for key, one in CLAIMS.items() if one.tests}
    assert len(said_of) == len(set(said_of)) > 0
    assert out.is_file()


def test_audit_of_some_claims_is_printed(tmp_path):
    text = said("audit", "fair_ucb", "--results", tmp_path, "--only", "fairucb-sublog")
    assert text.startswith("fairucb-sublog")
    assert "failed" in text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["fairucb"], 1, "no claims of paper 'fairucb'; did you mean 'fair_ucb'?"),
        (["fair_ucb", "--only", "x"], 1, "fair_ucb has no claim 'x'"),
        (["fair_ucb", "--only", "x", "--out", "y"], 2, "--only is for looking; --out needs all"),
    ],
)
def test_audit_of_what_there_is_not(words, code, message, tmp_path):
    assert refused("audit", *words, code=code).startswith(message)


def test_verdicts_of_a_failing_audit(tmp_path, results):
    """At the published scale nothing is written, and the failures are said."""
    files = [tmp_path / f"{paper}.parquet" for paper in LEDGERS]
    for paper, file in zip(LEDGERS, files, strict=True):
        said("audit", paper, "--results", tmp_path / "none", "--out", file)
    outs = [tmp_path / "findings.parquet", tmp_path / "verdicts.parquet"]
    outs[1].write_text("of an earlier run")
    result = invoke("verdicts", *files, "--joint", outs[0], "--out", outs[1])
    assert result.exit_code == 1
    *lines, last = result.stderr.splitlines()
    assert last == f"Error: {len(lines)} claims failed; no verdicts are written"
    assert all(line.partition(":")[0] in CLAIMS for line in lines)
    assert not any(out.exists() for out in outs)


def test_small_verdicts_become_a_table(tmp_path, results, rows):
    files = [tmp_path / f"{paper}.parquet" for paper in LEDGERS]
    for file in files:
        shutil.copy(results / "audit" / file.name, file)
    joint, out, table = (tmp_path / name for name in ("f.parquet", "v.parquet", "a/verdicts.csv"))
    result = invoke("verdicts", *files, "--joint", joint, "--out", out)
    assert result.exit_code == 0
    failed = [row["claim"] for row in rows if row["headline"] and row["verdict"] == FAILED]
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == failed
    assert out.read_bytes() == (results / "audit" / "verdicts.parquet").read_bytes()
    assert joint.read_bytes() == (results / "audit" / "findings.parquet").read_bytes()
    assert said("record", out, table) == ""
    assert table.read_text() == csv_of(rows)
    before = (ROOT / "audit").exists()
    line = refused("record", out, ROOT / "audit" / "verdicts.csv")
    assert "is for the published scale; these verdicts are of a small run" in line
    assert (ROOT / "audit").exists() == before
