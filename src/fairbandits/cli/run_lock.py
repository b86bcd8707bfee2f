"""The lock of a folder's run, which is given up by itself only where its holder is proved gone.

The holder is described in a file, which it keeps locked. Where the system does not lock for other
hosts, and in other namespaces of processes, nobody who looks can tell that it is gone.
"""

import atexit
import fcntl
import json
import os
import signal
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any, TextIO

import psutil

LOCK = Path(".snakemake/fairbandits.lock")
#: Snakemake's own locks, and its logs, which are the last sign of a run's life.
LOCKS, LOGS = Path(".snakemake/locks"), Path(".snakemake/log")
#: Names the descriptor of the locked file to what this process becomes.
INHERITED = "FAIRBANDITS_LOCK"
UNLOCK = "`fairbandits replicate --unlock`"
#: Seconds between two looks whether a job's run is still there.
LOOK = 1.0
#: The locked file of this process.
_held: list[TextIO] = []


class RunLockedError(Exception):
    """Another run has the folder, or nobody can tell that it has not."""


def take(unlock: bool = False, inside: bool = False) -> bool:
    """Lock the run of this folder for this process; return whether it is left by a killed one.

    With `unlock` a holder that is not seen from here is taken for gone. `inside` Snakemake its own
    locks are this run's. Raise RunLockedError if the folder has another run.
    """
    if _held:
        return False
    LOCK.parent.mkdir(exist_ok=True)
    try:
        file = os.fdopen(os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o666), "r+", encoding="utf-8")
    except PermissionError:
        message = f"{LOCK} belongs to {_owner()}, and cannot be written"
        raise RunLockedError(f"{message}; {_holder_in_words(_read())}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        message = _holder_in_words(_read())
        raise RunLockedError(f"{message}; wait for it or stop it first.") from None
    holder = _read()
    foreign = not holder and not inside and LOCKS.is_dir() and any(LOCKS.iterdir())
    if not unlock and (foreign or (holder is not None and not _is_gone(holder))):
        file.close()
        raise RunLockedError(
            f"{_holder_in_words(holder)}; from here it cannot be seen whether it still is. If you "
            f"know that it is gone, type {UNLOCK}, and then the same command again."
        )
    _held.append(file)
    _describe()
    return holder is not None or foreign


def inherit() -> None:
    """Go on with the lock of what became, or started, this process, if there is one."""
    with suppress(OSError, ValueError, KeyError):
        number = int(os.environ.pop(INHERITED))
        if os.path.samestat(os.fstat(number), LOCK.stat()):
            _held.append(os.fdopen(number, "r+", encoding="utf-8"))
            os.set_inheritable(number, False)
            _describe()


def inheritable() -> None:
    """Let what this process becomes, or starts, keep the lock."""
    number = _held[-1].fileno()
    os.set_inheritable(number, True)
    os.environ[INHERITED] = str(number)


def release() -> None:
    """Give the lock up at the end of a run."""
    while _held:
        file = _held.pop()
        with suppress(OSError):  # a full disk: the next run sees that this process is gone
            file.truncate(0)
        file.close()


def end_with_run() -> None:
    """Let this process, a job of a run, end soon after the run is proved gone."""
    if not (holder := _read()):
        return

    def look() -> None:
        while not _is_gone(holder):
            time.sleep(LOOK)
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=look, daemon=True).start()


def _describe() -> None:
    file, pid = _held[-1], os.getpid()
    user = psutil.Process().username()  # a number where it has no name
    holder = {**_here(), "pid": pid, "started": _started(pid), "user": user, "since": time.time()}
    file.seek(0)
    file.truncate()
    file.write(json.dumps(holder))
    file.flush()
    atexit.unregister(release)
    atexit.register(release)


def _here() -> dict[str, str]:
    """Return what a process number is true in: host, start of the system, namespace."""
    here = {"host": socket.gethostname(), "boot": "", "namespace": ""}
    with suppress(OSError):
        here["boot"] = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    with suppress(OSError):
        here["namespace"] = os.readlink("/proc/self/ns/pid")
    return here


def _read() -> dict[str, Any] | None:
    """Return the description of the holder, None if there is none; without names if unreadable."""
    try:
        if not (text := LOCK.read_text(encoding="utf-8")).strip():
            return None
        holder = json.loads(text)
        datetime.fromtimestamp(holder["since"], UTC)
        is_process = type(holder["pid"]) is int and 0 < holder["pid"] < 2**31
        return holder if is_process and {*_here(), "started"} <= holder.keys() else {}
    except FileNotFoundError:
        return None
    except Exception:  # anybody can have written anything
        return {}


def _is_gone(holder: dict[str, Any]) -> bool:
    here = _here()
    if not holder or holder["host"] != here["host"]:
        return False
    if holder["boot"] != here["boot"]:
        return bool(holder["boot"] and here["boot"])
    if holder["namespace"] != here["namespace"]:
        return False
    if not psutil.pid_exists(holder["pid"]):
        return True
    started = _started(holder["pid"])
    return started is not None and started != holder["started"]


def _started(pid: int) -> str | None:
    """Return when a process started; empty for one that has ended, None if it cannot be seen."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
    else:
        return "" if state in "ZX" else fields[18]
    with suppress(psutil.Error):  # not on Linux
        return str(psutil.Process(pid).create_time())
    return None


def _owner() -> str:
    with suppress(KeyError, OSError):
        return LOCK.owner()
    return "another user"


def _holder_in_words(holder: dict[str, Any] | None) -> str:
    who = "Another run is at work in this folder"
    if not holder:
        why = "Snakemake's lock is there" if holder is None else f"{LOCK} cannot be read"
        return f"{who}, or was ({why}, and nothing says whose it is)"
    since = datetime.fromtimestamp(holder["since"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    process = f"process {holder['pid']} of {holder.get('user')} on {holder['host']}"
    logged = [log.stat().st_mtime for log in LOGS.glob("*") if log.is_file()]
    age = f", last heard of {time.time() - max(logged):.0f} s ago" if logged else ""
    return f"{who} ({process}, since {since}{age})"
