"""Verdicts of other claims, data or code than are there now are refused, or shown as such."""

import json
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pytest

import commands
import real
import shrunk
import small
from fairbandits.audit import rows, run, staleness
from fairbandits.audit.rows import Made, Table, read, write_committed
from fairbandits.data.provenance import replay_code
from fairbandits.data.store import StoreError, read_footer, read_table, table_hash, write_table
from fairbandits.replication import datasets, lock
from fairbandits.replication.lock import read_lock
from fairbandits.report.again import computed_again
from fairbandits.settings.schemas import ROOT

CONFIG = real.config()
NAMED = ("banditq-abs-targets", "fairucb-thm2-bound")


def few(claims):
    """Return some claims that have tests, with those that are named here."""
    tested = [key for key, claim in claims.items() if claim.of]
    return {key: claims[key] for key in tested if key in (*NAMED, *tested[:12])}


#: The real papers with few of their claims.
PAPERS = {slug: replace(paper, claims=few(paper.claims)) for slug, paper in real.papers().items()}
SEED = 20240811
NAME = "oracle_lfg"
PLACE = f"banditq/{NAME}.parquet"
WAY_OUT = "; `fairbandits replicate audit` makes it anew"


@pytest.fixture(autouse=True)
def papers(monkeypatch):
    """Return the papers that commands load, to be changed, instead of the real ones."""
    now = dict(PAPERS)
    monkeypatch.setattr(run, "load", lambda configs: (real.load(configs)[0], dict(now)))
    return now


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with one small dataset under two seeds."""
    folder = tmp_path_factory.mktemp("made")
    for name, seed in (("one", SEED), ("other", SEED + 1)):
        experiment = shrunk.experiment_of("banditq", NAME, seed)
        shrunk.dataset_of(experiment, folder / name, seed)
    return folder


def findings_of(paper):
    """Yield made-up findings, none of them failed, that say that they have read the dataset."""
    for claim in paper.claims.values():
        for answer in small.made_up(claim.id):
            sound = replace(answer, data=(PLACE,), message="")
            filled = {} if sound.n else vars(small.made_up_finding()) | {"against": {"limit": 0.5}}
            yield replace(sound, **filled)


def judged(results, seed=SEED):
    """Write verdicts, made from the dataset that is in a folder of results."""
    files = []
    for slug, paper in PAPERS.items():
        findings = list(findings_of(paper))
        files.append(results / "audit" / f"{slug}.parquet")
        made = Made.of(seed, results, findings)
        small.write_findings(files[-1], paper, findings, "paper", made=made)
    joint, out = (results / "audit" / f"{name}.parquet" for name in ("findings", "verdicts"))
    failed, written = run.write_verdicts(files, PAPERS, joint, out)
    assert written, failed
    return out


@pytest.fixture
def results(made, tmp_path):
    """Return a folder of results with the dataset, and verdicts made from it."""
    put(made / "one", tmp_path / "results")
    judged(tmp_path / "results")
    return tmp_path / "results"


def hashed(results):
    """Return the hash of the dataset as a verdict on it alone has it."""
    return rows.hash_of({PLACE: rows.source_of(results / PLACE)["content"]})


def put(source, results):
    (results / "banditq").mkdir(parents=True, exist_ok=True)
    (results / PLACE).write_bytes((source / PLACE).read_bytes())


said, refused = partial(commands.said, "claims"), partial(commands.refused, "claims")


def stale(results, why):
    return f"{results}/audit/verdicts.parquet is stale: {why}; `fairbandits replicate audit` makes"


@pytest.mark.parametrize("seed", [SEED, "frozen"])
def test_fresh_verdicts_are_shown(results, seed):
    """With a word above those whose seed does not follow from the table."""
    footer, chosen = read_footer(judged(results, seed)), seed == SEED
    assert (footer["seed"], footer["exploratory"]) == (seed, chosen)
    text = said("--results", results)
    warning = f"Exploratory: the data have seed {SEED}, which does not follow"
    assert text.startswith(warning) == chosen
    assert "Stale" not in text
    assert json.loads(said("--results", results, "--json"))["exploratory"] is chosen


def with_verdicts(file, verdict):
    table = read_table(file)
    index = table.column_names.index("verdict")
    return table.set_column(index, "verdict", pa.array([verdict] * table.num_rows))


@pytest.mark.parametrize("name", ["verdicts", "findings", "banditq"])
def test_edited_tables_are_refused_wherever_they_are_read(results, name, monkeypatch):
    file = results / "audit" / f"{name}.parquet"
    write_table(file, with_verdicts(file, "reproduced"), read_footer(file))
    for refusing in (
        lambda: read(file, PAPERS, "verdicts" if name == "verdicts" else "findings"),
        lambda: read_table(file),
    ):
        with pytest.raises(StoreError, match="was changed: its content has hash"):
            refusing()
    config = replace(CONFIG, folders={"results": str(results)})
    monkeypatch.setattr(staleness, "load_papers", lambda config: PAPERS)
    problems = staleness.problems_of(config, {"runs": {}})
    assert [problem for problem in problems if problem.startswith(f"{file} was changed")]


def test_claims_that_are_judged_again_show_forged_findings(results, tmp_path, monkeypatch):
    """Whose footers and manifest agree with them."""

    def find(config, paper):
        findings = list(findings_of(paper))
        return findings, "paper", Made.of(SEED, config.results, findings)

    monkeypatch.setattr(run, "find", find)
    monkeypatch.setattr(rows, "apart", lambda verdicts, findings: iter(()))
    config = replace(CONFIG, folders={"results": str(results)})
    for name, changed in (("again", ()), ("edited", ("verdicts", "banditq"))):
        for table in changed:
            file = results / "audit" / f"{table}.parquet"
            edited = with_verdicts(file, "failed")
            write_table(file, edited, read_footer(file) | {"content": table_hash(edited)})
        none = replace(config, experiments=(), replays=())
        problems, message = computed_again(none, none, config, PAPERS, tmp_path / name)
        named = {problem.split()[0] for problem in problems}
        assert named == {f"{results}/audit/{table}.parquet" for table in changed}
    assert message == f"{len(PAPERS) + 2} tables computed again of the data agree"


def test_other_data_than_the_verdicts(results, made):
    was = hashed(results)
    put(made / "other", results)
    now = hashed(results)
    assert was != now
    why = f"{PLACE} in {results} has other content than its verdicts were made from (hash {was},"
    assert refused("--results", results).startswith(stale(results, f"{why} now {now})"))


def test_the_same_data_made_anew_is_the_same(results, made):
    file = results / PLACE
    footer = read_footer(file)
    write_table(file, read_table(file), footer)
    assert "Stale" not in said("--results", results)
    file.unlink()  # nothing to compare with
    assert "Stale" not in said("--results", results)


def test_data_of_other_code(results, monkeypatch):
    file = results / PLACE
    run_, code = next(iter(read_footer(file)["codes"].items()))
    monkeypatch.setattr(datasets, "code_of", lambda spec: "f" * 16)
    why = f"{file} is stale: code {code} made {run_}, this is {'f' * 16}"
    assert refused("--results", results).startswith(stale(results, why))


def test_a_replay_of_other_code(results):
    replay = "banditq/replay_5_bandit.parquet"
    footer = {"kind": "replay", "code": replay_code(), "content": "a" * 16}
    table = read_table(results / PLACE)
    write_table(results / replay, table, footer)
    made = Made(SEED, {replay: rows.source_of(results / replay)})
    row = {"claim": "t-a", "data": [replay], **made.columns([replay])}
    verdicts = Table([row], "paper", made)
    assert list(staleness.of_other_data(results / "v.parquet", verdicts, results)) == []
    write_table(results / replay, table, footer | {"code": "0" * 16})
    (problem,) = staleness.of_other_data(results / "v.parquet", verdicts, results)
    assert problem == f"{results / replay} is stale: code {'0' * 16} made it"


def of_other_claims(paper):
    return replace(paper, digest="e" * 16)


def test_other_claims(results, papers):
    was = PAPERS["banditq"].digest
    papers |= {slug: of_other_claims(paper) for slug, paper in PAPERS.items()}
    why = f"papers/banditq/claims.py, or a file beside it, has changed since (digest {was}, now "
    why += f"{'e' * 16}) ({len(PAPERS)} reasons in all)"
    assert refused("--results", results).startswith(stale(results, why))


def test_other_audit_code(results, monkeypatch):
    was = rows.audit_code()
    monkeypatch.setattr(rows, "audit_code", lambda: "0" * 16)
    why = f"audit code {was} made it, this is {'0' * 16}"
    assert refused("--results", results).startswith(stale(results, why))


@pytest.fixture
def committed(results, tmp_path):
    """Return the options of a configuration whose committed table is of the verdicts."""
    source = results / "audit" / "verdicts.parquet"
    verdicts = read(source, PAPERS).rows
    findings = read(source.with_name("findings.parquet"), PAPERS, "findings").rows
    both = (small.kept(rows) for rows in (verdicts, findings))
    write_committed(tmp_path / "audit", *both, "paper")
    source.unlink()
    return commands.configured(tmp_path, results=results, audit=tmp_path / "audit")


def test_the_committed_table_of_the_data_on_disk(committed, results):
    lines = said(*committed).splitlines()
    assert lines[0].startswith(f"Exploratory: the data have seed {SEED}")
    assert lines[-1].endswith("audit/verdicts.csv.")
    (results / PLACE).unlink()
    assert said(*committed).splitlines() == lines


def test_the_committed_table_of_other_claims(committed, papers):
    papers["fair_ucb"] = of_other_claims(PAPERS["fair_ucb"])
    why = "papers/fair_ucb/claims.py, or a file beside it, has changed since"
    for options in (["--paper", "fair_ucb"], ["--json"]):
        line = refused(*committed, *options)
        assert why in line
        assert line.endswith(WAY_OUT)
    line = refused(*committed, "fairucb-thm2-bound")
    assert "`fairbandits audit fair_ucb --only fairucb-thm2-bound` judges it" in line
    # and no other paper's claims are refused with them
    text = said(*committed)
    (line,) = (line for line in text.splitlines() if why in line)
    assert line.startswith("fair_ucb is left out: ")
    assert not [line for line in text.splitlines() if line.startswith("  fairucb-")]
    assert said(*committed, "--paper", "banditq").count("  banditq-") > 10
    said(*committed, "banditq-abs-targets")


def test_a_claim_that_is_new_or_gone_leaves_other_papers_alone(committed, tmp_path):
    paper = PAPERS["banditq"]
    first, *others = paper.claims
    table = tmp_path / "audit" / "verdicts.csv"
    for claims in (
        {key: paper.claims[key] for key in others},
        paper.claims | {"t-new": replace(paper.claims[first], id="t-new")},
    ):
        now = PAPERS | {"banditq": replace(paper, claims=claims, digest="e" * 16)}
        assert next(rows.stale(table, now, paper="banditq")).startswith(f"{table} ")
        for slug in PAPERS.keys() - {"banditq"}:
            assert list(rows.stale(table, now, paper=slug)) == []


def test_the_audits_code_alone_does_not_refuse_the_committed_table(committed, monkeypatch):
    monkeypatch.setattr(rows, "audit_code", lambda: "0" * 16)
    assert "Stale" not in said(*committed)


def test_edited_committed_verdicts_are_refused(tmp_path, monkeypatch):
    """By the lock, without results; `of_other_lock` goes by their data only."""
    table = ROOT / "audit" / "verdicts.csv"
    copy = tmp_path / "audit" / "verdicts.csv"
    copy.parent.mkdir()
    (tmp_path / "results.lock").write_bytes((ROOT / "results.lock").read_bytes())
    monkeypatch.setattr(lock, "ROOT", tmp_path)
    monkeypatch.setattr(lock, "LOCK", tmp_path / "results.lock")
    copy.write_bytes(table.read_bytes())
    assert lock.edited(copy) == []
    copy.write_bytes(table.read_bytes().replace(b",not reproduced,", b",reproduced,", 1))
    assert lock.edited(copy) == ["audit/verdicts.csv is not the file that results.lock lists"]
    monkeypatch.setattr(staleness, "edited", lambda *files: ["forged"])
    config = replace(CONFIG, folders={"results": str(tmp_path), "audit": "audit"})
    latest = staleness.latest_verdicts(config, PAPERS, tmp_path)
    assert all(why[0] == "forged" for why in latest.problems.values())


def test_what_is_committed_is_of_the_claims_and_the_lock():
    table = ROOT / "audit" / "verdicts.csv"
    assert list(rows.stale(table, real.papers())) == [], rows.ANEW
    verdicts = read(table, real.papers(), anyway=True)
    known = read_lock(ROOT / "results.lock")
    assert list(staleness.of_other_lock(table, verdicts, CONFIG, known)) == []
    assert {row["seed"] for row in verdicts.rows} == {"frozen"}
    assert known["seed"] == CONFIG.root_seed


def other_lock(key):
    known = read_lock(ROOT / "results.lock")
    return known | {"runs": known["runs"] | {key: "00000000"}}


def test_verify_names_verdicts_of_another_lock():
    table = ROOT / "audit" / "verdicts.csv"
    keys = [key for key in read_lock(ROOT / "results.lock")["runs"] if "unfair_policies/" in key]
    other = other_lock(keys[0])
    verdicts = read(table, real.papers(), anyway=True)
    problems = list(staleness.of_other_lock(table, verdicts, CONFIG, other))
    assert problems[0].startswith(
        "audit/verdicts.csv is stale: banditq/unfair_policies.parquet in results.lock has other "
        "content than its verdicts were made from (hash "
    )
    assert {*problems} <= {*staleness.problems_of(CONFIG, other)}


def test_each_dataset_of_a_suite_counts():
    """A verdict on several datasets of a folder is of the lock's content of each of them."""
    verdicts = read(ROOT / "audit" / "verdicts.csv", real.papers(), anyway=True)
    row = next(row for row in verdicts.rows if len(row["data"]) > 3)
    (last,) = (block for block in CONFIG.experiments if block.dataset == row["data"][-1])
    alone = verdicts._replace(rows=[row])
    other = other_lock(last.runs[0].key)
    assert len(list(staleness.of_other_lock(ROOT / "t.csv", alone, CONFIG, other))) == 1
    # what is in no lock is not compared
    unlocked = verdicts._replace(rows=[row | {"data": [*row["data"], "banditq/replay.parquet"]}])
    assert list(staleness.of_other_lock(ROOT / "t.csv", unlocked, CONFIG, other)) == []
