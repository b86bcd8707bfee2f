"""Runs whose jobs are sent elsewhere have the numbers of a local run, through faults too."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from test_workflow import ROOT, SMOKE, Project

from commands import wait_for

CLUSTER = ["sh", str(ROOT / "workflow" / "cluster.sh")]
#: Seconds of computing in one job: of this part of the smoke scale it makes seven jobs.
A_FRACTION = 0.1
SETTINGS = ("--configfile", *SMOKE, "jobs.yaml")
#: In place of another cluster's command: the job runs here, as it would there.
SUBMIT = 'setsid sh "$1" > /dev/null 2>&1 < /dev/null &\necho $!\n'
RUN = ("snakemake", "datasets", "--profile", "profiles/slurm", *SETTINGS)
#: The profile's answers are awaited for a minute; a cluster of one node answers sooner.
SOON = ("--latency-wait", "20", "--seconds-between-status-checks", "2")

pytestmark = [pytest.mark.slurm, pytest.mark.workflow]


def cannot_start():
    """Return why there can be no cluster here, empty if there can."""
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        return "Snakemake's plugin for Slurm is not installed; `make slurm` does"
    asked = subprocess.run([*CLUSTER, "reason"], capture_output=True, text=True, check=True)
    return asked.stdout.strip()


class Cluster:
    def __init__(self, folder: Path):
        self.folder = folder

    def do(self, what: str) -> None:
        subprocess.run([*CLUSTER, what, str(self.folder)], check=True, timeout=120)

    def ask(self, *command: str) -> list[str]:
        command = (str(self.folder / "bin" / command[0]), *command[1:])
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.split()

    def running(self) -> set[str]:
        return set(self.ask("squeue", "--noheader", "--states=RUNNING", "--format=%A"))

    def another(self, before: set[str]) -> str:
        """Wait for a job that runs and did not before; return its id."""
        return min(wait_for(lambda: self.running() - before), key=int)

    def hold(self, project: Project) -> Path:
        """Let the project's steps wait for a file; return the file."""
        command, go = Path(sys.executable).with_name("fairbandits"), self.folder / "go"
        held = self.folder / "bin" / command.name
        held.write_text(
            f"#!/bin/sh\nwhile [ ! -e '{go}' ]; do sleep 0.1; done\nexec '{command}' \"$@\"\n"
        )
        held.chmod(0o755)
        project.environment["PATH"] = f"{held.parent}:{project.environment['PATH']}"
        return go


@pytest.fixture
def cluster(tmp_path):
    if why := cannot_start():
        if os.environ.get("FAIRBANDITS_REQUIRE_SLURM"):
            pytest.fail(why)
        pytest.skip(why)
    made = Cluster(tmp_path / "cluster")
    made.do("start")
    yield made
    made.do("stop")


def part(folder, cache):
    """Return a part of the project, to be cut into jobs small enough to be many."""
    folder.mkdir()
    project = Project(folder, cache)
    project.keep_a_part()
    (folder / "jobs.yaml").write_text(yaml.safe_dump({"job_seconds": A_FRACTION}))
    return project


def said_by(project):
    logs = (project.folder / ".snakemake" / "log").glob("*.log")
    return "".join(log.read_text(encoding="utf-8") for log in logs)


def test_a_cluster_has_the_numbers_of_one_machine_whatever_fails(tmp_path, cluster):
    cache = tmp_path / "cache"
    local, project = part(tmp_path / "local", cache), part(tmp_path / "there", cache)
    meanwhile = local.start("snakemake", "datasets", "--cores", "2", *SETTINGS)
    go = cluster.hold(project)  # a job of a tenth of a second would be over before it is seen

    coordinator = project.start(*RUN, *SOON)
    seen = {cluster.another(set())}
    cluster.ask("scancel", *seen)

    cluster.another(seen)
    cluster.do("kill-node")  # with whatever it is at
    wait_for(lambda: cluster.ask("sinfo", "--noheader", "--format=%T")[0].startswith("down"))
    cluster.do("start-node")

    wait_for(lambda: "Trying to restart job" in said_by(project), seconds=300)
    os.killpg(coordinator.pid, signal.SIGKILL)
    coordinator.communicate()
    go.touch()

    project.run(*RUN, "--unlock")
    project.run(*RUN, *SOON)
    assert "Nothing to be done" in project.run(*RUN, "--dry-run")
    output, _ = meanwhile.communicate(timeout=1800)
    assert meanwhile.returncode == 0, output
    assert project.lock("jobs.yaml") == local.lock("jobs.yaml")


def test_jobs_sent_by_any_command_have_the_numbers_of_one_machine(tmp_path):
    if importlib.util.find_spec("snakemake_executor_plugin_cluster_generic") is None:
        pytest.skip("Snakemake's plugin for any cluster is not installed; `make slurm` does")
    cache = tmp_path / "cache"
    local, sent = part(tmp_path / "local", cache), part(tmp_path / "sent", cache)
    local.run("snakemake", "datasets", "--cores", "2", *SETTINGS)
    (tmp_path / "submit").write_text(SUBMIT)
    command = ("--cluster-generic-submit-cmd", f"sh {tmp_path / 'submit'}", "--jobs", "2")
    sent.run("snakemake", "datasets", "--profile", "profiles/submit", *command, *SETTINGS)
    assert "Submitted job" in said_by(sent)
    assert sent.lock("jobs.yaml") == local.lock("jobs.yaml")
