"""Processes for users' code: whatever ends them is said, and they end with their parent."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fairbandits as fb
from fairbandits.library import processes
from fairbandits.library.own_code import Ended
from plain import Plain

ARMS, ROUNDS, AT = fb.Instance((0.7, 0.5)), 1500, 1200


def _own_base():
    raise type("Own", (BaseException,), {})("x")


def _recurse():
    return _recurse()


def _interrupt():
    raise KeyboardInterrupt


ENDS = {
    "exit": (lambda: sys.exit(0), "the code raised SystemExit: 0"),
    "_exit": (lambda: os._exit(0), "its process ended with exit status 0"),
    "killed": (lambda: os.kill(os.getpid(), 9), "was ended by SIGKILL, as when memory is used up"),
    "ended": (lambda: os.kill(os.getpid(), 15), "was ended by SIGTERM"),
    "fault": (lambda: ctypes.string_at(0), "was ended by SIGSEGV"),
    "own": (_own_base, "the code raised Own: x"),
    "interrupt of its own": (_interrupt, "the code raised KeyboardInterrupt"),
}


class Ending(Plain):
    """Ends its process in a round after those that are played in the process of the caller."""

    def __init__(self, end):
        self.end = end

    def choose(self, t, coin):
        if t == AT:
            self.end()
        return 0


@pytest.mark.parametrize("how", ENDS)
def test_what_ends_a_process_is_said_with_its_place(how):
    end, message = ENDS[how]
    with pytest.raises(Ended, match=rf"^Ending, replicate \d, round {AT}: .*{message}") as caught:
        fb.run(Ending(end), ARMS, ROUNDS, 4, n_jobs=2)
    assert caught.value.place.endswith(f", round {AT}")


@pytest.mark.parametrize("end", [_recurse, lambda: sys.exit(0)])
def test_what_can_be_caught_is_said_in_one_process_too(end):
    with pytest.raises(RuntimeError) as caught:
        fb.run(Ending(end), ARMS, ROUNDS)
    assert caught.value.place == f"replicate 0, round {AT}"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_replicate_that_takes_long_is_said(monkeypatch, capfd, n_jobs):
    monkeypatch.setattr(processes, "LONG", 0.2)
    monkeypatch.setattr(processes, "LOOK", 0.05)
    fb.run(Ending(lambda: time.sleep(1)), ARMS, ROUNDS, n_jobs, n_jobs=n_jobs)
    lines = " ".join(capfd.readouterr().err.split())
    for replicate in range(n_jobs):
        line = rf"Ending, replicate {replicate}, round {AT}: at work for \d+ s"
        assert 1 <= len(re.findall(line, lines)) <= 6  # after twice the time each


def test_what_takes_longer_than_it_may_is_ended(monkeypatch):
    monkeypatch.setattr(processes, "LOOK", 0.05)

    def play(_):
        fb.run(Ending(lambda: time.sleep(60)), ARMS, ROUNDS, [3])

    with pytest.raises(Ended, match=rf"^Ending, replicate 3, round {AT}: it took more than 1 s"):
        list(processes.shared(play, [None], 1, time_limit=1))


SCRIPT = """
import os, sys, time
from fairbandits.library import processes
if sys.argv[1] == "without":
    processes._killed_by_system = lambda: False

def work(_):
    os.write(1, b"%d\\n" % os.getpid())  # in one piece, also unbuffered
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass

list(processes.shared(work, [1, 2], 2))
"""


@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("kind", ["with", "without"])
def test_no_process_is_left(number, kind):
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([sys.executable, "-c", SCRIPT, kind], **pipe) as main:
        workers = [int(main.stdout.readline()) for _ in range(2)]
        main.send_signal(getattr(signal, number))
        main.wait()
        end = time.monotonic() + 5
        while left := [worker for worker in workers if _lives(worker)]:
            assert time.monotonic() < end, left
            time.sleep(0.05)


def _lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
