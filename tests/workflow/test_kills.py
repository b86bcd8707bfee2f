"""Real processes are killed at random moments; what the next call makes is as if nothing was."""

import os
import random
import shutil
import signal
import sys
import time
from contextlib import suppress

import psutil
import pytest
from test_workflow import Project

from commands import wait_for
from fairbandits.data.store import read_table, table_hash

pytestmark = [pytest.mark.workflow, pytest.mark.campaign, pytest.mark.slow]

#: Kills of each kind of process by each signal, one after the other: fifty in all.
TRIES = {"snakemake": 3, "server": 2, "step": 2, "judge": 3, "worker": 2}
MORE = {("judge", "SIGKILL"): 1, ("worker", "SIGKILL"): 1}
SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGKILL")
#: Seconds after which no process of a run that was ended is at work.
SOON = 5.0
POLICY = """
class P:
    feedback = "bandit"

    def start(self, n_arms, horizon):
        return S()


class S:
    def __init__(self):
        self.seen = [0, 0, 0]

    def choose(self, t, coin):
        return (coin >> 5) % 3

    def learn(self, t, arm, reward):
        self.seen[arm] += 1
"""
CLAIMS = '''
import fairbandits as fb
from fairbandits.claims import Study, mean
from own_p import P

study = Study(
    "t",
    instances={"three": fb.Instance((0.5, 0.4, 0.3))},
    policies={"ours": P},
    horizon=20_000,
    replicates=64,
)


@study.claim()
def little_regret(runs):
    """Its regret is little."""
    for run in runs("instances").each("instance"):
        yield mean("regret", run.end("regret"), at_most=1e6)
'''


class Workflow:
    """A small run of a part of the project."""

    data = "results/smoke/banditq/oracle_lfg.parquet"
    command = ("fairbandits", "replicate", "--smoke", "--cores", "2", data)

    def __init__(self, factory):
        self.project = Project(factory.mktemp("kills"), factory.mktemp("cache"))
        self.results = self.project.folder / "results" / "smoke"

    def clean(self):
        for file in self.results.rglob("*.parquet"):
            file.unlink()

    def victims(self, who, main):
        if who == "snakemake":
            return [main]
        below = main.children(recursive=True)
        servers = [one for one in below if "fairbandits.cli.serving" in words(one)]
        forks = [child for one in servers for child in one.children()]
        return servers[:1] if who == "server" else forks


class Judging(Workflow):
    """A file of claims about a policy in plain Python."""

    command = ("fairbandits", "judge", "own_claims.py", "--cores", "2", "--out", "judged")

    def __init__(self, factory):
        self.project = Project(factory.mktemp("judge"), factory.mktemp("cache"))
        (self.project.folder / "own_p.py").write_text(POLICY)
        (self.project.folder / "own_claims.py").write_text(CLAIMS)
        self.results = self.project.folder / "judged"

    def clean(self):
        with suppress(FileNotFoundError):
            shutil.rmtree(self.results)

    def victims(self, who, main):
        below = main.children(recursive=True)
        return [main] if who == "judge" else [one for one in below if not one.children()]


def words(process):
    with suppress(psutil.Error):
        return process.cmdline()
    return []


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What is run, after a run without kills: how long that took, and the hashes of its tables."""
    found = {}
    for kind in (Workflow, Judging):
        one = kind(tmp_path_factory)
        one.project.run(*one.command)  # compiles
        one.clean()
        begin = time.monotonic()
        one.project.run(*one.command)
        found[kind] = one, time.monotonic() - begin, hashes(one)
    return found


def hashes(one):
    files = [file for file in one.results.rglob("*.parquet") if "cache" not in file.parts]
    return {str(file.relative_to(one.results)): table_hash(read_table(file)) for file in files}


def left_of(session):
    """Return the processes of a session that are at work."""
    found = []
    for one in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            if os.getsid(one.pid) == session and one.status() != psutil.STATUS_ZOMBIE:
                found.append(f"{one.pid} {' '.join(words(one))[:80]}")
    return found


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("who", TRIES)
def test_after_any_kill_the_same_command_ends_with_the_same_tables(
    undisturbed, request, who, name, record_property
):
    one, took, wanted = undisturbed[Judging if who in ("judge", "worker") else Workflow]
    chance = random.Random(request.node.callspec.id)
    tries, kills = TRIES[who] + MORE.get((who, name), 0), 0
    one.clean()
    for _ in range(5 * tries):
        killed, said = killed_at(one, who, getattr(signal, name), chance.uniform(0.1, 0.8) * took)
        kills += killed
        assert "Traceback" not in said, said
        if kills == tries:
            break
        if not killed:  # it had ended before
            one.clean()
    said = one.project.run(*one.command)
    assert "Traceback" not in said, said
    assert hashes(one) == wanted
    assert not [file for file in one.results.rglob(".*-????????*") if file.is_file()]
    assert kills == tries
    record_property("tries", kills)


def killed_at(one, who, number, after):
    """Start a run and kill one of its processes; return whether there was one, and what was said.

    No process is left soon after the run has ended.
    """
    process = one.project.start(*one.command)
    time.sleep(after)
    victims, end = [], time.monotonic() + 2 * after
    while not victims and process.poll() is None and time.monotonic() < end:
        with suppress(psutil.Error):
            victims = one.victims(who, psutil.Process(process.pid))
        time.sleep(0.02)
    for victim in victims[:1]:
        with suppress(psutil.Error):
            victim.send_signal(number)
    said, _ = process.communicate(timeout=120)
    wait_for(lambda: not left_of(process.pid), SOON)
    ways = [one for one in said.splitlines() if one.startswith(("Error", "Interrupted"))]
    print(who, number.name, len(victims), process.returncode, *ways[:1], file=sys.stderr)
    return bool(victims), said
