"""Steps that are forks of a run's server do what processes of their own do."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from commands import wait_for
from fairbandits.cli import serving
from fairbandits.data.provenance import PACKAGE

pytestmark = pytest.mark.slow

#: A step that reads and writes nothing, and the program of all steps.
STEP, FAIRBANDITS = ["site", "--help"], str(Path(sys.executable).with_name("fairbandits"))


@contextlib.contextmanager
def serving_in(folder, sources=PACKAGE.parent):
    """Start a server in a folder, which steps ask."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PYTHONPATH", str(sources))
        patch.setattr(serving, "_started", [])
        serving.start(("replay",))
        patch.setenv(serving.PLACE, serving.SOCKET)
        (server,) = serving._started
        try:
            wait_for(listens)
            yield server
        finally:
            server.stdin.close()
            server.wait(timeout=10)


def listens():
    """Return whether a server takes calls; this one, which asks for nothing, does not count."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        return caller.connect_ex(serving.SOCKET) == 0


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving_in(tmp_path_factory.mktemp("served")) as server:
        yield server


def run(*arguments):
    return subprocess.run([FAIRBANDITS, *arguments], capture_output=True, text=True)


def forks_of(server):
    return psutil.Process(server.pid).children()


@pytest.mark.parametrize(
    "arguments", [STEP, ["figure", "banditq"], ["collect", "no.json"], ["simulate", "no.json"]]
)
def test_a_step_says_and_ends_as_by_itself(served, monkeypatch, arguments):
    by_server = run(*arguments)
    monkeypatch.delenv(serving.PLACE)
    alone = run(*arguments)
    for part in ("stdout", "stderr", "returncode"):
        assert getattr(by_server, part) == getattr(alone, part)


def test_a_step_that_the_server_is_not_for_is_done_without_it(served, monkeypatch):
    for step, code in (("simulate", 0), ("replay", None)):
        monkeypatch.setattr(sys, "argv", [FAIRBANDITS, step, "--help"])
        assert serving._asked(serving.SOCKET) == code


def waiting(server, pipe):
    """Start a step that waits for what it is to read, after all others have ended."""
    wait_for(lambda: not forks_of(server))
    os.mkfifo(pipe)
    return subprocess.Popen([FAIRBANDITS, "collect", str(pipe)])


def test_a_fork_ends_with_its_step(served, tmp_path):
    process = waiting(served, tmp_path / "plan.json")
    wait_for(lambda: forks_of(served))
    process.kill()
    process.wait()
    wait_for(lambda: not forks_of(served))
    assert run(*STEP).returncode == 0


def test_a_server_of_other_code_does_nothing(monkeypatch, tmp_path):
    copy = tmp_path / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sys, "argv", [FAIRBANDITS, "collect", "--help"])
    with serving_in(tmp_path, tmp_path):
        assert serving._asked(serving.SOCKET) == 0
        with (copy / "data" / "whole.py").open("a") as file:
            file.write("# edited\n")
        assert serving._asked(serving.SOCKET) is None


def test_forks_end_with_the_run(tmp_path):
    with serving_in(tmp_path) as server:
        process = waiting(server, tmp_path / "plan.json")
        wait_for(lambda: forks_of(server))
        (fork,) = forks_of(server)
        server.stdin.close()
        assert process.wait(timeout=60) == 1
        wait_for(lambda: not fork.is_running())
