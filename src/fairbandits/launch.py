"""Start the workflow so that it can be killed at any moment and started again.

Snakemake's own lock survives a `kill -9` and then has to be removed by hand. Ours is a file lock
of this process, which the system takes away whenever and however the process ends; holding it, and
seeing no other snakemake at work in the folder, a left-over lock of Snakemake's is known stale.
"""

import fcntl
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import psutil

LOCK = ".snakemake/fairbandits.lock"
SMOKE = ["config/config.yaml", "config/smoke.yaml"]


def launch(targets: list[str], cores: int | None, smoke: bool, root: Path) -> int:
    """Become snakemake in the project's folder; return 1 if another run is at work there.

    Parameters
    ----------
    targets : list of str
        Rules or files; empty for everything.
    cores : int, optional
        Default: all.
    smoke : bool
        Whether to run the small version of everything.
    root : Path
        The project's folder.
    """
    os.chdir(root)
    lock = Path(LOCK)
    lock.parent.mkdir(exist_ok=True)
    handle = lock.open("a+")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _busy(lock.read_text().strip())
    if others := _snakemakes_in(root):
        return _busy(others[0])
    handle.truncate(0)
    handle.write(f"process {os.getpid()}")
    handle.flush()

    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    snakemake = [sys.executable, "-m", "snakemake"]
    files = ["--configfile", *SMOKE] if smoke else []
    if any(Path(".snakemake/locks").glob("*")):
        print("An earlier run was killed; taking up where it stopped.", flush=True)
        unlock = subprocess.run([*snakemake, "--unlock", *files], capture_output=True, text=True)
        if unlock.returncode:
            print(unlock.stderr, file=sys.stderr)
            return unlock.returncode
    os.set_inheritable(handle.fileno(), True)  # the lock stays as long as snakemake lives
    options = ["--cores", str(cores or "all"), "--logger", "fairbandits"]
    os.execv(sys.executable, [*snakemake, *targets, *options, *files])


def _busy(who: str) -> int:
    print(
        f"Another run is at work in this folder ({who}); wait for it or stop it first.",
        file=sys.stderr,
    )
    return 1


def _snakemakes_in(root: Path) -> list[str]:
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        here = process.info["cwd"] == str(root) and process.info["pid"] != os.getpid()
        called = any(Path(word).name == "snakemake" for word in words[:3])
        if here and (called or ("-m", "snakemake") in pairwise(words)):
            found.append(f"snakemake, process {process.info['pid']}")
    return found
