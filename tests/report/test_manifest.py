"""One root for all files of a run: what is changed, missing or extra is named."""

import os
import subprocess
from pathlib import Path

import pytest

from fairbandits.data.store import StoreError
from fairbandits.replication.lock import LOCK, read_lock
from fairbandits.report import manifest
from fairbandits.report.manifest import MANIFEST, read_manifest, write_manifest
from fairbandits.settings.config import Config
from fairbandits.settings.schemas import ROOT

#: Place below the project -> a file of each kind.
FILES = {
    "results/banditq/fig1.parquet": b"curves",
    "results/arena/pairs.parquet": b"pairs",
    "results/audit/verdicts.html": b"<p>reproduced</p>",
    "results/notebooks/index.ipynb": b'{"cells": []}',
    "results/site/claims/one.html": b"<p>a page</p>",
    "results/site/searchindex.js": b"Search",
    "figures/banditq/fig1.svg": b"<svg></svg>",
    "figures/banditq/fig1.png": b"PNG",
    "audit/verdicts.csv": b"id,verdict\n",
}
#: What is no output: of the cache, of other runs, and what the run keeps there.
OTHERS = (
    *("results/cache/banditq/0-1.parquet", "results/smoke/site/index.html"),
    *("results/v06/variant.yaml", "results/v06/x", f"results/fetched/{MANIFEST}"),
    *("results/logs/a.log", "results/rules.dot", "audit/freeze.yaml", "elsewhere/a"),
)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return a project with a finished run, its configuration and lock."""
    monkeypatch.chdir(tmp_path)
    for name, content in (FILES | dict.fromkeys(OTHERS, b"other")).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    Path("audit/.runs.csv.lock").touch()
    Path("results/large").symlink_to("../elsewhere")
    folders = {name: name for name in ("results", "figures", "audit")}
    folders |= {"logs": "results/logs"}
    tables = ["banditq/fig1.parquet", "arena/pairs.parquet"]
    monkeypatch.setattr(manifest, "tables_of", lambda config: tables)
    config = Config(1, "paper", folders, ())
    outputs = manifest.folders_of(config)
    write_manifest(outputs)
    committed = manifest.hashes_of(manifest.committed_files(outputs))
    return Path(), config, {"name": "results.lock", "files": committed}


def problems(made, **lock):
    named, _ = manifest.verify(made[1], made[2] | lock)
    return named


def test_a_manifest_lists_every_output_and_sha256sum_reads_it(made):
    root, config, lock = made
    assert problems(made) == []
    listed = read_manifest(root / "results" / MANIFEST)
    assert list(listed.hashes) == sorted(FILES)
    assert lock["files"].keys() == {name for name in FILES if name[:7] in ("figures", "audit/v")}
    file = f"results/{MANIFEST}"
    said = subprocess.run(["sha256sum", file], cwd=root, capture_output=True, text=True).stdout
    assert said.split()[0] == listed.root
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", file], cwd=root, check=True)
    assert manifest.verify(config, lock)[1] == [
        "3 committed files agree with results.lock",
        f"Root {listed.root[:16]} of 9 files: {root / file}",
    ]


@pytest.mark.parametrize("name", FILES)
def test_one_bit_of_any_file_is_named_and_so_is_its_absence(made, name, rng):
    file = made[0] / name
    content = bytearray(FILES[name])
    content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    file.write_bytes(content)
    wanted = {MANIFEST, "results.lock"} if name in made[2]["files"] else {MANIFEST}
    named = problems(made)
    assert len(named) == len(wanted)
    assert all(problem.startswith(f"{file} is not the file that") for problem in named)
    file.unlink()
    assert f"{file} is gone that results.lock lists" in problems(made) or len(wanted) == 1
    assert any(problem.startswith(f"{file} is gone that") for problem in problems(made))


@pytest.mark.parametrize(
    "name",
    [
        *("results/site/more.html", "results/notebooks/a.ipynb", "results/audit/a.html"),
        *("results/banditq/old.parquet", "results/banditq/.fig1-01234567.parquet"),
        *("results/a", "results/.x.parquet", "results/new/.x/y", "results/site/smoke/a"),
        *("results/audit/freeze.yaml", "results/site/variant.yaml", "results/smoke.html"),
        *("audit/a.csv", "audit/.a.csv", "audit/.a.lock", "audit/new/a", "figures/a.txt"),
        *("figures/manifest.sha256", "results/site/new/variant.yaml"),
    ],
)
@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_what_nothing_lists_is_named(made, name, kind):
    file = made[0] / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        file.write_bytes(b"extra")
    elif kind == "link":
        file.symlink_to(Path("results/smoke").resolve())
    else:
        os.mkfifo(file)
    assert problems(made) == [f"{file} is no file of this run, and nothing lists it"]


def test_a_table_that_the_configuration_no_longer_has_is_named(made, monkeypatch):
    monkeypatch.setattr(manifest, "tables_of", lambda config: ["arena/pairs.parquet", "a.parquet"])
    first, second = problems(made)
    assert first.endswith("a.parquet does not exist; `fairbandits replicate` makes it")
    assert "fig1.parquet is no file of this run" in second


def test_without_a_manifest_or_results_committed_files_are_checked(made):
    root, config, lock = made
    (root / "results" / MANIFEST).unlink()
    named, said = manifest.verify(config, lock)
    assert named == []
    assert said[-1].endswith("since no run has made everything; 2 of 2 tables are there")
    for name in FILES:
        if name.startswith("results"):
            (root / name).unlink()
    (root / "audit" / "verdicts.csv").write_bytes(b"id,verdict\nforged\n")
    named, said = manifest.verify(config, lock)
    assert named == ["audit/verdicts.csv is not the file that results.lock lists"]
    assert said[-1].startswith("There are no results in ")


def test_the_lock_lists_all_committed_tables_and_images():
    folders = {name: ROOT / name for name in ("results", "figures", "audit")}
    assert read_lock(LOCK)["files"].keys() == manifest.committed_files(folders).keys()


def test_what_is_no_manifest_is_refused(made):
    root = made[0]
    file = root / "results" / MANIFEST
    good = file.read_bytes()
    for content in (b"\xff", b"{}", good + good, good[:-3], good.replace(b"results/", b"other/")):
        file.write_bytes(content)
        assert problems(made), content
    odd = root / "results" / "site" / "a\nb.html"
    odd.write_bytes(b"")
    with pytest.raises(StoreError, match="has a file of an odd name"):
        write_manifest(manifest.folders_of(made[1]))
    assert file.read_bytes() == content
