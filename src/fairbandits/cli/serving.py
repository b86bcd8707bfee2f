"""The entry point: a command in a process of its own or, in a run of the workflow, in a fork.

A run's server imports once what steps need. A step hands over its arguments and streams, and waits
for the fork that does its work, or does it by itself (docs/decisions/0014-steps-are-forks.md).
"""

import errno
import importlib
import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

#: Names the socket to the jobs of a run; relative, since such a name must be short.
PLACE = "FAIRBANDITS_SERVER"
SOCKET = ".snakemake/fairbandits.sock"
#: Step -> what it imports.
STEPS = {
    "audit": ("fairbandits.audit.run", "pandas", "scipy.stats", "sympy"),
    "collect": ("fairbandits.replication.datasets",),
    "export": ("fairbandits.report.export",),
    "figure": ("fairbandits.figures.draw", "fairbandits.figures.panels", "scipy.special"),
    "manifest": ("fairbandits.report.manifest",),
    "notebook": (
        *("fairbandits.report.build", "papermill.parameterize", "IPython.core.interactiveshell"),
        *("fairbandits.figures.draw", "fairbandits.report.across", "fairbandits.report.landing"),
        *("fairbandits.audit.run", "fairbandits.library.running", "scipy.stats"),
    ),
    "record": ("fairbandits.audit.run",),
    "replay": ("fairbandits.replication.banditq_uai2024",),
    "simulate": ("fairbandits.replication.simulate",),
    "site": ("fairbandits.report.build", "sphinx.application"),
    "standings": ("fairbandits.arena.standings",),
    "verdicts": ("fairbandits.audit.run",),
}
#: Steps that go to a cluster, which asks how much memory they took: a fork's is none of the job's.
RECORDED = ("replay", "simulate")
#: How many threads a job's libraries may use; Snakemake says the same to each job.
THREADS = ("OMP_NUM", "GOTO_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "VECLIB_MAXIMUM")
#: At most so many bytes are the arguments and the environment of a step.
MOST = 1 << 24
#: The servers of this process: the pipe to one is its life.
_started: list = []


def main() -> None:
    address = os.environ.get(PLACE)
    if address and sys.argv[1:2] and sys.argv[1] in STEPS and (code := _asked(address)) is not None:
        sys.exit(code)
    if address:  # of a run, which can end without its jobs
        from fairbandits.cli import run_lock

        run_lock.end_with_run()
    from fairbandits.cli.main import main

    main()


def _asked(address: str) -> int | None:
    """Let the server run this command; return its exit code, None if the server does not."""
    request = {"argv": sys.argv, "cwd": os.getcwd(), "environ": dict(os.environ)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(address)
            socket.send_fds(connection, [b"."], [0, 1, 2])
            connection.sendall(json.dumps(request).encode() + b"\n")
            if connection.recv(1) != b"y":
                return None
        except OSError:
            return None
        answer = connection.recv(1)
    if not answer:
        print("This step was killed, or the server of this run; run it again.", file=sys.stderr)
    return answer[0] if answer else 1


def start(without: tuple[str, ...] = ()) -> None:
    """Start the server of a run, for all steps but some, for as long as this process lives."""
    import subprocess

    Path(SOCKET).parent.mkdir(exist_ok=True)
    Path(SOCKET).unlink(missing_ok=True)
    environment = os.environ | {f"{name}_THREADS": "1" for name in THREADS}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-P", "-m", __name__, *without]
    _started.append(subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, **silent))
    os.environ[PLACE] = SOCKET
    # the steps of this environment, also where its `snakemake` is called by its path
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"


def serve(life: int) -> None:
    """Fork for each step that asks, until the descriptor `life` ends with the run."""
    sources = _sources()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake says what is to end
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a fork ended
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(SOCKET)
        Path(SOCKET).chmod(0o600)
        server.listen()
        while life not in select.select([server, life], [], [])[0]:
            step, _ = server.accept()
            streams, request = _wanted(step, sources)
            if request and os.fork() == 0:
                try:
                    server.close()
                    _become(step, life, streams, request)
                finally:
                    os._exit(0)
            for stream in streams:
                os.close(stream)
            step.close()


def _wanted(step: socket.socket, sources: dict) -> tuple[list[int], dict]:
    """Return a step's streams and words after its imports; no words if it is to work by itself."""
    from fairbandits.cli.main import FILE_OF
    from fairbandits.cli.options import DEFAULT_CONFIG

    streams: list[int] = []
    try:
        step.settimeout(10)
        _, streams, _, _ = socket.recv_fds(step, 1, 3)
        with step.makefile("rb") as lines:
            request = json.loads(lines.readline(MOST))
        name = request["argv"][1]
        if name in sys.argv[1:]:
            raise ValueError(f"this server is not for {name}")
        for module in (*STEPS[name], f"fairbandits.cli.{FILE_OF[name]}"):
            importlib.import_module(module)
        if audit := sys.modules.get("fairbandits.audit.run"):
            audit.load(DEFAULT_CONFIG)  # for all forks
        if sources != _sources():
            raise ValueError("the code is no longer what was imported")
        step.sendall(b"y")
    except Exception:
        request = {}
    return streams, request


def _become(step: socket.socket, life: int, streams: list[int], request: dict) -> None:
    """Do the work of a step in this process, and end as it does."""
    import atexit
    import traceback

    from fairbandits.cli.main import main

    life = os.dup(life)  # its number is a stream's
    os.setpgid(0, 0)  # what it starts ends with it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def end_with():
        ready, _, _ = select.select([step, life], [], [])
        os.killpg(0, signal.SIGTERM if life in ready else signal.SIGINT)

    Thread(target=end_with, daemon=True).start()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.argv = request["argv"]
    code = 1
    try:
        main(prog_name=os.path.basename(sys.argv[0]))
    except SystemExit as end:  # click gives a number
        code = end.code or 0
    except BaseException as error:  # as the interpreter itself does
        if getattr(error, "errno", None) != errno.ENOSPC:  # the disk of its log is full
            traceback.print_exc()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    step.sendall(bytes([code]))


def _sources() -> dict[str, tuple[int, int]]:
    """Return what tells the package's files from others: an edit is no longer what was imported."""
    folder = Path(__file__).resolve().parents[1]
    stats = {str(path): path.stat() for path in folder.rglob("*.py")}
    return {path: (stat.st_mtime_ns, stat.st_size) for path, stat in stats.items()}


if __name__ == "__main__":
    serve(sys.stdin.fileno())
    os._exit(0)
