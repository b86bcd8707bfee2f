"""The launcher takes away what a killed run left, and says when a signal ended one."""

import base64
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace

import pytest

import shrunk
from fairbandits.cli import launch
from fairbandits.data.store import read_footer, read_table, write_table
from fairbandits.replication.progress import INTERRUPTED
from fairbandits.settings.config import build_config

pytestmark = pytest.mark.slow


def test_jobs_of_a_killed_run_are_ended_and_nothing_else(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "fairbandits").write_text("#!/bin/sh\nsleep infinity\n")
    (tmp_path / "fairbandits").chmod(0o755)

    def start(text, folder=tmp_path):
        environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        how = {"cwd": folder, "env": environment, "start_new_session": True}
        return subprocess.Popen(["bash", "-c", text], **how)

    job = "set -euo pipefail;  fairbandits simulate plan > log 2>&1"
    ended = start(job)
    others = [start("set -euo pipefail; sleep infinity > log"), start(job, tmp_path / "elsewhere")]
    others.append(start("fairbandits simulate plan > log"))
    try:
        launch._end_jobs(tmp_path)
        assert ended.poll() is not None
        assert [other.poll() for other in others] == [None] * 3
    finally:
        for process in others:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_what_killed_processes_had_begun_is_removed(tmp_path):
    kept = [".gitkeep", "fig1.svg", ".hidden-folder/file", "site/index.html", "a-b-c.parquet"]
    for name in kept:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    site = tempfile.mkdtemp(prefix=".site-", dir=tmp_path)
    (tmp_path / site / "source").mkdir()
    for suffix in (".parquet", ".svg", ".ipynb", ""):
        tempfile.mkstemp(prefix=".0-49-", suffix=suffix, dir=tmp_path / "site")
    launch.remove_unfinished([tmp_path, tmp_path / "none"])
    left = {file for file in tmp_path.rglob("*") if file.is_file()}
    assert left == {tmp_path / name for name in kept}
    assert not any(tmp_path.glob(".site-*"))


def test_datasets_of_other_code_or_seed_are_made_again(tmp_path):
    settings = shrunk.settings(["ht_ucb"], 7, tmp_path)
    config = replace(build_config(settings, "test"), folders={"results": str(tmp_path)})
    kept, *others = sorted(config.experiments, key=lambda experiment: len(experiment.runs))[:4]
    files = [shrunk.dataset_of(kept, tmp_path, 7), shrunk.dataset_of(others[0], tmp_path, 8)]
    old, damaged = (tmp_path / experiment.dataset for experiment in others[1:])
    footer = read_footer(files[0])
    codes = {name: "0" * 16 for name in footer["codes"]}
    for file, changed in ((old, {"codes": codes}), (damaged, {})):
        write_table(file, read_table(files[0]), footer | changed)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    metadata = tmp_path / ".snakemake" / "metadata"
    metadata.mkdir(parents=True)
    record = metadata / base64.urlsafe_b64encode(str(old).encode()).decode()
    record.touch()  # then it is for Snakemake to say
    launch.remove_stale(config, tmp_path)
    assert old.is_file()
    record.unlink()
    launch.remove_stale(config, tmp_path)
    assert [file.is_file() for file in (*files, old, damaged)] == [True, False, False, True]


def test_caches_of_others_lie_in_the_project(tmp_path, monkeypatch):
    home, away = tmp_path / "home", str(tmp_path / "none" / "cache")
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", away)
    launch.provide_home(tmp_path)
    assert os.environ["HOME"] == str(home)
    assert "XDG_CACHE_HOME" not in os.environ
    for missing in (tmp_path / "none", tmp_path / "file"):
        (tmp_path / "file").touch()
        monkeypatch.setenv("HOME", str(missing))
        launch.provide_home(tmp_path)
        assert os.environ["HOME"] == str(tmp_path / ".cache" / "home")
        assert (tmp_path / ".cache" / "home").is_dir()


STOPPABLE = """
import os, signal, sys, time
import snakemake.cli
from fairbandits.replication import progress

def main(words):
    os.kill(os.getpid(), getattr(signal, words[0]))
    time.sleep(60)

snakemake.cli.main = main
from fairbandits.cli.stoppable import _run
sys.exit(_run(sys.argv[1:]))
"""


@pytest.mark.parametrize(("name", "code", "said"), [("SIGINT", 130, True), ("SIGTERM", -15, False)])
def test_before_anything_is_planned_a_signal_ends_a_run_at_once(name, code, said):
    how = {"capture_output": True, "text": True, "check": False}
    done = subprocess.run([sys.executable, "-c", STOPPABLE, name], **how)
    assert done.returncode == code
    assert done.stderr == f"{INTERRUPTED}\n" * said
