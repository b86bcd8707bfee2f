"""Each call to the system fails in turn: files are whole, old or new, and errors name the file."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import shrunk
from commands import process
from fairbandits.replication.bundles import jobs_of

HERE = Path(__file__).resolve().parents[1]
COMMANDS = [
    "simulate simulate.json",
    "collect collect.json",
    "figure banditq fig1 {data} --svg out/fig1.svg --png out/fig1.png --table out/fig1.parquet",
    "replay banditq-uai2024 --arms 5 --feedback full --rounds 20 --out out/replay.parquet",
]
pytestmark = pytest.mark.skipif(
    not (sys.platform == "linux" and shutil.which("cc")), reason="needs Linux and a C compiler"
)


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    made = tmp_path_factory.mktemp("shim") / "failing_io.so"
    how = ["-shared", "-fPIC", "-Wall", "-Werror", "-o", made, HERE / "failing_io.c", "-ldl"]
    process("cc", *how)
    return made


@pytest.fixture
def begun(tmp_path):
    """Return a folder with plans of a figure, and the name of its dataset."""
    limits = {"replicates": 2, "chunk": 2}
    config = shrunk.config(["banditq"], 1, **limits)
    (experiment,) = config.shown_in("banditq", "fig1")
    settings = json.dumps(shrunk.settings(["banditq"], 1, **limits))
    (tmp_path / "small.yaml").write_text(settings.replace("nowhere", "results"))
    for name, jobs in zip(("simulate", "collect"), jobs_of(config), strict=True):
        tasks = [task for job in jobs for task in json.loads(job.content)]
        chosen = [task for task in tasks if f"/{experiment.name}" in task["out"]]
        (tmp_path / f"{name}.json").write_text(json.dumps(chosen).replace("nowhere", "results"))
    return tmp_path, f"results/{experiment.dataset}"


def tried(shim, begun, every):
    """Return how often a call failed, of all or some; nothing must have been wrong."""
    folder, data = begun
    commands = [line.format(data=data) for line in COMMANDS]
    driver = [sys.executable, HERE / "failing_io.py", folder, every, *commands]
    done = process(*driver, env=os.environ | {"LD_PRELOAD": str(shim)})
    *wrong, tries = done.stdout.splitlines()
    assert wrong == []
    return int(tries)


@pytest.mark.slow
def test_some_failing_calls_leave_whole_files(shim, begun, record_property):
    tries = tried(shim, begun, 11)
    assert tries > 10
    record_property("tries", tries)


@pytest.mark.campaign
def test_each_failing_call_leaves_whole_files(shim, begun, record_property):
    tries = tried(shim, begun, 1)
    assert tries > 100
    record_property("tries", tries)
