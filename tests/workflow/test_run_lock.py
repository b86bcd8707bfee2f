"""The lock of a run: only what is proved gone is unlocked, by whom and wherever that is seen."""

import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from fairbandits.cli import run_lock

pytestmark = pytest.mark.slow

HOLD = """
import sys, time
from fairbandits.cli import run_lock
try:
    print("killed" if run_lock.take() else "free", flush=True)
except run_lock.RunLockedError as error:
    sys.exit(str(error))
time.sleep(float(sys.argv[1]))
"""


def command(seconds):
    return [sys.executable, "-c", HOLD, str(seconds)]


@contextmanager
def holding(*before, **how):
    how |= {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    process = subprocess.Popen([*before, *command(60)], **how)
    try:
        assert process.stdout.readline() == "free\n"
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def taken(*before, **how):
    done = subprocess.run([*before, *command(0)], capture_output=True, text=True, **how)
    assert "Traceback" not in done.stderr
    return done.stdout.strip() or done.stderr.strip()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_lock, "_held", [])
    yield tmp_path
    run_lock.release()


def test_a_live_run_is_named_and_a_killed_one_is_proved_gone():
    with holding() as other:
        said = taken()
        assert f"(process {other.pid} of " in said
        assert said.endswith("; wait for it or stop it first.")
        other.kill()  # and nobody has asked yet how it ended
        assert taken() == "killed"
    assert taken() == "free"


def another(**changes):
    """Describe a holder that has ended, with changes, as if the file were not locked."""
    taken()
    record = run_lock._here() | {"pid": 2**22 + 1, "started": "1", "user": "u", "since": 0.0}
    run_lock.LOCK.write_text(json.dumps(record | changes))


@pytest.mark.parametrize(
    ("changes", "proved"),
    [
        ({}, True),
        ({"pid": os.getppid()}, True),  # another process has its number
        ({"boot": "another"}, True),
        ({"boot": ""}, False),
        ({"host": "another"}, False),
        ({"host": "another", "boot": "another"}, False),
        ({"namespace": "another"}, False),
        ({"pid": 1, "started": run_lock._started(1)}, False),
    ],
)
def test_a_holder_is_gone_only_if_it_is_proved(changes, proved):
    another(**changes)
    if proved:
        assert run_lock.take()
        return
    with pytest.raises(run_lock.RunLockedError, match=r"--unlock`, and then the same command"):
        run_lock.take()
    assert run_lock.take(unlock=True)
    assert run_lock._read()["pid"] == os.getpid()


@pytest.mark.parametrize("text", ["{", "[]", "{}", "null", "process 12", "\x00", "[" * 100_000])
def test_a_lock_that_says_nothing_is_not_given_up(text):
    another()
    run_lock.LOCK.write_text(text)
    with pytest.raises(run_lock.RunLockedError, match="nothing says whose it is"):
        run_lock.take()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("pid", pid) for pid in ("1", 1.5, True, None, -1, 2**99)),
        *(("since", time) for time in ("now", 1e30)),
    ],
)
def test_a_holder_that_cannot_be_is_not_given_up(key, value):
    another(**{key: value})
    with pytest.raises(run_lock.RunLockedError, match="nothing says whose it is"):
        run_lock.take()


def test_snakemakes_lock_alone_is_not_given_up():
    run_lock.LOCKS.mkdir(parents=True)
    assert taken() == "free"
    (run_lock.LOCKS / "0.input.lock").touch()
    assert "Snakemake's lock is there, and nothing says whose it is" in taken()


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")


@as_root
def test_a_run_in_a_container_and_one_outside_see_each_other():
    apart = [shutil.which("unshare") or pytest.skip("no unshare"), "--pid", "--fork"]
    if subprocess.run([*apart, "true"]).returncode:
        pytest.skip("no namespaces here")
    with holding():
        assert "is at work in this folder" in taken(*apart)
    assert "is at work in this folder" in taken(*apart)  # killed, which is not seen from there
    run_lock.LOCK.unlink()
    with holding(*apart, "--kill-child"):
        assert socket.gethostname() in taken()
    assert "--unlock" in taken()


def take_as(user, umask, connection):
    """Take the lock as somebody else, who cannot start this Python; say what came of it."""
    os.setgid(user)
    os.setuid(user)
    os.umask(umask)
    try:
        run_lock.take()
        connection.send("taken")
    except run_lock.RunLockedError as error:
        connection.send(str(error))
    time.sleep(60)


@as_root
@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_a_run_of_another_user_is_named(folder, umask):
    folder.chmod(0o777)
    run_lock.LOCK.parent.mkdir()
    run_lock.LOCK.parent.chmod(0o777)
    fork, said, users = multiprocessing.get_context("fork"), [], []
    for user in (1, 2):
        here, there = fork.Pipe()
        users.append(fork.Process(target=take_as, args=(user, umask, there)))
        users[-1].start()
        said.append(here.recv() if here.poll(30) else "")
    again = fork.Process(target=take_as, args=(2, umask, there))
    users[0].kill()  # the other one takes it, if it can write the file
    users[0].join()
    again.start()
    said.append(here.recv() if here.poll(30) else "")
    for process in (users[1], again):
        process.kill()
        process.join()
    assert said[0] == "taken"
    assert f"(process {users[0].pid} of " in said[1]
    assert said[2] == "taken" if umask == 0 else "cannot be written" in said[2]


def test_a_job_ends_after_its_run():
    job = "import time; from fairbandits.cli import run_lock as r; r.end_with_run(); time.sleep(60)"
    with holding() as run:
        process = subprocess.Popen([sys.executable, "-c", job])
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        run.kill()
        assert process.wait(20) == -signal.SIGTERM
