"""A release: what is frozen, what follows from it, and what makes a verdict exploratory."""

import shutil
import subprocess
from collections import Counter
from dataclasses import replace

import pytest
import yaml

import real
from fairbandits.audit import freeze, sentences
from fairbandits.audit.finding import CONFIRMATORY, EXPLORATORY
from fairbandits.audit.rows import csv_of, read
from fairbandits.data.texts import csv_rows, csv_text
from fairbandits.settings import seeds
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ROOT, ConfigError, read_yaml

PAPERS = real.papers()
CLAIM = "htucb-abs-superiority"
FILES = freeze.hashes()
FROZEN = {"release": "9.9.9", "hash": freeze.joint(FILES), "salts": ["1"], "files": FILES}


@pytest.fixture(scope="module")
def tables():
    files = (ROOT / "audit" / f"{kind}.csv" for kind in ("verdicts", "findings"))
    return [read(file, PAPERS, file.stem, anyway=True).rows for file in files]


@pytest.fixture(scope="module")
def run_again(tables, tmp_path_factory):
    """A project whose ``audit`` has the committed tables, as what came out of a release's run."""
    root = tmp_path_factory.mktemp("released")
    folder = root / "audit"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(freeze, "latest", lambda: FROZEN)
        lines = freeze.released(PAPERS, *tables)
        status = freeze.statuses(lines, folder / freeze.RELEASED)
        assert {*status.values()} == {CONFIRMATORY}  # it is the run
        freeze.record(folder, lines)
    write(folder, *tables)
    return root


@pytest.fixture
def released(run_again, tmp_path, monkeypatch):
    """The folder of such tables; a test may edit them."""
    monkeypatch.setattr(freeze, "latest", lambda: FROZEN)
    monkeypatch.setattr(freeze, "ROOT", tmp_path)
    return shutil.copytree(run_again / "audit", tmp_path / "audit")


def write(folder, verdicts, findings):
    verdicts = [row | {"status": CONFIRMATORY} for row in verdicts]
    (folder / "verdicts.csv").write_text(csv_of(verdicts, "verdicts"))
    (folder / "findings.csv").write_text(csv_of(findings, "findings"))


def with_changes(rows, claim, **values):
    """Return rows in which those of a claim have other values."""
    return [row | values if row["claim"] == claim else row for row in rows]


def exploratory(folder, verdicts, findings):
    """Return the claims that are exploratory with these rows."""
    lines = freeze.released(PAPERS, verdicts, findings)
    status = freeze.statuses(lines, folder / freeze.RELEASED)
    return {claim for claim, its in status.items() if its == EXPLORATORY}


def not_confirmatory(folder, claim):
    return f"{folder}/verdicts.csv: {claim} is said to be confirmatory, and is exploratory"


def test_what_draws_or_judges_is_frozen():
    names = freeze.hashes()
    for name in ("engine/streams.py", "policies/ht_ucb.py", "audit/judge.py", "settings/seeds.py"):
        assert f"src/fairbandits/{name}" in names
    assert {"uv.lock", "config/config.yaml", "papers/ht_ucb/claims.py"} <= {*names}
    assert not [name for name in names if name.startswith("src/fairbandits/report/")]
    other = names | {"papers/ht_ucb/claims.py": "0" * 64}
    assert freeze.joint(other) != freeze.joint(names)


def test_one_seed_follows_from_the_freeze_and_a_salt():
    config = real.config()
    assert config.root_seed == seeds.root_seed(seeds.latest()["hash"])
    others = (replace(config, salt="1"), replace(config, frozen="0"), replace(config, seed=7))
    assert len({config.root_seed, *(other.root_seed for other in others)}) == 4


@pytest.mark.parametrize("key", ["seed", "salt", "origin"])
def test_no_experiment_has_a_seed_of_its_own(key, tmp_path):
    content = read_yaml(ROOT / "papers" / "ht_ucb" / "experiments.yaml")
    folder = tmp_path / "papers" / "ht_ucb"
    folder.mkdir(parents=True)
    (folder / "experiments.yaml").write_text(yaml.safe_dump(content | {key: 1}))
    settings = read_yaml(ROOT / "config" / "config.yaml") | {"papers": ["ht_ucb"]}
    with pytest.raises(ConfigError, match=f"experiments.yaml: .*'{key}'"):
        build_config(settings, "test", tmp_path)


def test_another_number_makes_a_claim_exploratory_and_another_name_does_not(tables, released):
    verdicts, findings = tables
    assert exploratory(released, verdicts, findings) == set()
    index = next(k for k, row in enumerate(findings) if row["claim"] == CLAIM)
    case = findings[index]

    def having(**values):
        return [*findings[:index], case | values, *findings[index + 1 :]]

    for label in ({"phrase": "other"}, {"test": "other"}, {"each": "other"}, {"unit": "s"}):
        assert exploratory(released, verdicts, having(**label)) == set()
    assert exploratory(released, verdicts, findings[::-1]) == set()
    for number in (
        {"statistic": 1.5 * case["statistic"]},
        {"verdict": "failed"},
        {"settings": case["settings"] | {"level": 0.9}},
        {"against": {"limit": 7.0}},
        {"tags": ["LOOSE"]},
        {"control": "failed"},
        {"grade": "exact"},
        {"decides": not case["decides"]},
    ):
        assert CLAIM in exploratory(released, verdicts, having(**number)), number
    assert CLAIM in exploratory(released, verdicts, [*findings, case])
    other = with_changes(verdicts, CLAIM, data_hash="0" * 16)
    assert exploratory(released, other, findings) == {CLAIM}


def test_a_claim_on_others_is_no_better_than_they(tables, released):
    verdicts, findings = tables
    resting = next(claim for claim in real.every().values() if claim.judged_by)
    other = with_changes(findings, resting.judged_by[0], n=12345)
    assert {resting.id, resting.judged_by[0]} <= exploratory(released, verdicts, other)


def test_a_release_is_recorded_once_and_by_the_frozen_files(tables, released, monkeypatch):
    before = (released / freeze.RELEASED).read_text()
    verdicts, findings = tables
    changed = [row | {"n": 1} for row in findings]
    freeze.record(released, freeze.released(PAPERS, verdicts, changed))
    assert (released / freeze.RELEASED).read_text() == before
    other = FROZEN | {"release": "9.9.10", "hash": "0" * 64}
    monkeypatch.setattr(freeze, "latest", lambda: other)
    freeze.record(released, freeze.released(PAPERS, verdicts, findings))
    assert (released / freeze.RELEASED).read_text() == before


def test_edited_tables_are_named(tables, released):
    verdicts, findings = tables
    problems, facts = freeze.derived(PAPERS, released)
    assert problems == []
    n = len({row["claim"] for row in verdicts})
    assert f"{n} of {n} verdicts are as they came out of release 9.9.9" in facts
    flipped = next(r["claim"] for r in verdicts if r["verdict"] == "not reproduced" and r["n"])
    write(released, with_changes(verdicts, flipped, verdict="reproduced"), findings)
    problems, _ = freeze.derived(PAPERS, released)
    assert any(f"{flipped} is 'reproduced'" in problem for problem in problems)
    assert any(f"{flipped} is said to be confirmatory" in problem for problem in problems)
    assert not any("lacks" in problem for problem in problems)
    write(released, verdicts[1:], findings)
    problems, _ = freeze.derived(PAPERS, released)
    lacking = f"lacks the verdict on {verdicts[0]['claim']}"
    assert any(problem.endswith(lacking) for problem in problems)
    write(released, verdicts, with_changes(findings, CLAIM, each="other"))
    problems, facts = freeze.derived(PAPERS, released)
    assert problems == []
    assert f"{CLAIM}: its cases have other labels than in the release's run" in facts


@pytest.mark.parametrize("attack", ["content", "claim", "line gone", "labels"])
def test_edited_lines_of_a_release_are_named(tables, released, attack):
    table = released / freeze.RELEASED
    first, second, *rest = csv_rows(table)
    edited, lost = [second, *rest], {first["claim"]}
    if attack != "line gone":
        edited = [first | {attack: second[attack]}, second | {attack: first[attack]}, *rest]
        lost |= {second["claim"]}
    rows = ([line[name] for name in freeze.OF_RELEASED] for line in edited)
    table.write_text(csv_text([freeze.OF_RELEASED, *rows]))
    problems, facts = freeze.derived(PAPERS, released)
    if attack == "labels":
        said = {f"{key}: its cases have other labels than in the release's run" for key in lost}
        assert (problems, said - {*facts}) == ([], set())
    else:
        assert {*problems} == {not_confirmatory(released, key) for key in lost}


def test_claims_that_are_added_or_changed_after_the_run_are_named(tables, released):
    verdicts, findings = tables
    write(released, verdicts, with_changes(findings, CLAIM, against={"limit": 7.0}))
    assert not_confirmatory(released, CLAIM) in freeze.derived(PAPERS, released)[0]
    paper = PAPERS[real.every()[CLAIM].paper]
    new = replace(paper.claims[CLAIM], id="t-new")
    more = PAPERS | {paper.slug: replace(paper, claims=paper.claims | {"t-new": new})}
    ours = ([row | {"claim": "t-new"} for row in rows if row["claim"] == CLAIM] for rows in tables)
    also = (rows + added for rows, added in zip(tables, ours, strict=True))
    write(released, *also)
    assert not_confirmatory(released, "t-new") in freeze.derived(more, released)[0]


def test_repetitions_that_are_gone_are_missed(tables, released, tmp_path, monkeypatch):
    row = dict.fromkeys(("release", "claim", "salt", "verdict", "found", "again"), "")
    rows = [row | {"release": FROZEN["release"], "salt": str(k)} for k in range(3)]
    monkeypatch.setattr(freeze, "AGREEMENT", tmp_path / "agreement.csv")
    monkeypatch.setattr(sentences, "latest", lambda: FROZEN)
    for kept in (rows, rows[1:]):
        lines = csv_text([[*row], *(line.values() for line in kept)])
        freeze.AGREEMENT.write_text(lines)
        sentences.agreement.cache_clear()
        said = freeze.derived(PAPERS, released)[1][-1]
        assert said.startswith(f"{len(kept)} of ")
        assert said.endswith(" repetitions of primary verdicts are in agreement.csv")
    sentences.agreement.cache_clear()


def test_a_freeze_needs_a_committed_tree_and_a_new_name(tmp_path, monkeypatch):
    for name in ("papers/a/claims.py", "src/fairbandits/x.py", "config/config.yaml", "uv.lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)

    def git(*arguments):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    with pytest.raises(ConfigError, match="is not as committed"):
        freeze.freeze("1.1.0", tmp_path)
    git("add", ".")
    git(*who, "commit", "-m", "all")
    for wrong in ("1.1", "v1.1.0", ""):
        with pytest.raises(ConfigError, match="a release is named like"):
            freeze.freeze(wrong, tmp_path)
    digest = freeze.freeze("1.1.0", tmp_path)
    content = read_yaml(tmp_path / seeds.FREEZE)
    assert (content["release"], content["hash"]) == ("1.1.0", digest)
    assert content["salts"] == list("12345678")
    assert freeze.joint(content["files"]) == digest == freeze.joint(freeze.hashes(tmp_path))
    (tmp_path / "audit" / freeze.RELEASED).write_text("release\n1.1.0\n")
    git("add", ".")
    git(*who, "commit", "-m", "ran")
    with pytest.raises(ConfigError, match="was run already"):
        freeze.freeze("1.1.0", tmp_path)
    assert freeze.freeze("1.1.1", tmp_path) == digest


def test_the_committed_tables_follow_from_the_committed_findings():
    problems, _ = freeze.derived(PAPERS, ROOT / "audit")
    assert problems == []
    frozen, rows = seeds.latest(), csv_rows(ROOT / "audit" / freeze.RELEASED)
    assert freeze.joint(frozen["files"]) == frozen["hash"] or not frozen["release"]
    count = Counter(row["release"] for row in rows)
    assert not rows or count[frozen["release"]]


@pytest.mark.parametrize("key", ["release", "hash", "salts", "files"])
def test_a_freeze_that_lacks_something_is_refused_by_name(key, tmp_path):
    content = {"release": "1.1.0", "hash": "0" * 64, "salts": ["1"], "files": {"a": "0" * 64}}
    (tmp_path / "audit").mkdir()
    del content[key]
    (tmp_path / seeds.FREEZE).write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=f"audit/freeze.yaml: .*{key}"):
        seeds.latest(tmp_path)
