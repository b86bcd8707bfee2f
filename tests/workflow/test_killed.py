"""Runs that are killed or find damaged files: the next one ends with the same numbers."""

import os
import signal

import pytest
from test_workflow import LOGS, SMOKE, Project

from commands import wait_for

pytestmark = [pytest.mark.workflow, pytest.mark.campaign]

#: What is damaged.
EXPERIMENT = "oracle_lfg"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A part of the project after its run, and the hashes of that."""
    made = Project(tmp_path_factory.mktemp("killed"), tmp_path_factory.mktemp("cache"))
    made.keep_a_part()
    made.cut_small()
    made.replicate("datasets")
    return made, made.lock()


@pytest.mark.parametrize("chunks", [0, 4])
def test_a_coordinator_killed_alone_and_started_again_at_once(project, chunks):
    """Its jobs go on writing; the next run ends them."""
    made, wanted = project
    for file in (made.folder / "results" / "smoke").rglob("*.parquet"):
        file.unlink()
    for file in (made.folder / LOGS).glob("*.log"):
        file.unlink()
    process = made.start("fairbandits", "replicate", "--smoke", "--cores", "1", "datasets")
    wait_for(lambda: any((made.folder / LOGS).glob("*.log")))
    wait_for(lambda: len(made.chunks()) >= chunks)
    at_work = process.poll() is None
    os.kill(process.pid, signal.SIGKILL)  # and none of its jobs
    process.wait()
    output = made.replicate("datasets")
    process.stdout.close()
    assert at_work
    assert "taking up where it stopped" in output
    assert made.lock() == wanted
    assert not list((made.folder / "results").rglob(".*-????????.parquet"))
    assert "Nothing to be done" in made.dry_run("datasets")


@pytest.mark.parametrize("damage", ["missing", "cut off"])
def test_a_damaged_dataset_says_the_way_out_and_the_way_leads_out(project, damage):
    made, wanted = project
    folder = made.folder / "results" / "smoke" / "banditq"
    data = folder / f"{EXPERIMENT}.parquet"
    content = data.read_bytes()
    data.unlink()
    there = len(list(folder.rglob("*.parquet")))
    is_cut_off = damage == "cut off"
    if is_cut_off:
        data.write_bytes(content[: len(content) // 2])
    options = [word for file in SMOKE for word in ("--config", file)]
    said = made.run("fairbandits", "verify", *options, "--lock", "found.lock", code=int(is_cut_off))
    lines = [line for line in said.splitlines() if data.name in line]
    assert [line.endswith("delete it and run again") for line in lines] == [True] * is_cut_off
    # a run of a part need not have it
    assert (f"; {there} of " in said) != is_cut_off
    data.unlink(missing_ok=True)
    made.replicate("datasets")
    assert data.is_file()
    assert made.lock() == wanted
