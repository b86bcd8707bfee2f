"""The entry point: a command in a process of its own or, in a run of the workflow, in a fork.

Most steps of the workflow take less time than Python takes to import what they need. A run
therefore has a server, which imports that once: a step connects to it, hands over its arguments and
its standard streams, and waits for the fork that does the work. Where there is no server, or it
could do other than a fresh process would, the step does the work itself.

The server ends with its run, its forks end with the step that asked or with the server, and a run
that is killed leaves what fresh processes would leave.
"""

import json
import os
import socket
import sys
from array import array
from contextlib import suppress
from pathlib import Path

#: Names the socket to the jobs of a run; relative, since such a name must be short.
PLACE = "FAIRBANDITS_SERVER"
SOCKET = ".snakemake/fairbandits.sock"
#: Step -> what it imports. Those that go to a cluster, whose memory is recorded, are not among
#: them: what a fork takes is none of the job's.
STEPS = {
    "audit": ("fairbandits.audit.run", "fairbandits.audit.measures"),
    "collect": ("fairbandits.replication.datasets",),
    "figure": ("fairbandits.figures.draw",),
    "notebook": (
        *("fairbandits.report.build", "papermill.parameterize", "IPython.core.interactiveshell"),
        *("fairbandits.figures.draw", "fairbandits.report.across", "fairbandits.report.landing"),
        *("fairbandits.audit.run", "scipy.stats"),
    ),
    "record": ("fairbandits.audit.run",),
    "site": ("fairbandits.report.build", "sphinx.application"),
    "standings": ("fairbandits.arena.standings",),
    "verdicts": ("fairbandits.audit.run",),
}
#: How many threads a job's libraries may use; Snakemake says the same to each job.
THREADS = ("OMP_NUM", "GOTO_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "VECLIB_MAXIMUM")
#: At most so many bytes are the arguments and the environment of a step.
MOST = 1 << 24


def main() -> None:
    """Run the command of the command line."""
    place = os.environ.get(PLACE)
    if place and sys.argv[1:2] and sys.argv[1] in STEPS:
        code = _asked(place)
        if code is not None:
            sys.exit(code)
    from fairbandits.cli.main import main

    main()


def _asked(place: str) -> int | None:
    """Let the server run this command; return its exit code, None if the server does not."""
    words = {"argv": sys.argv, "cwd": os.getcwd(), "environ": dict(os.environ)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(place)
            socket.send_fds(connection, [b"."], [0, 1, 2])
            connection.sendall(json.dumps(words).encode() + b"\n")
            taken = connection.recv(1)
        except OSError:
            return None
        if taken != b"y":
            return None
        answer = connection.recv(1)
    if not answer:
        print("The server of this run was killed; start the run again.", file=sys.stderr)
    return answer[0] if answer else 1


def start() -> None:
    """Start the server of a run, for as long as this process lives, where there can be one."""
    import subprocess

    place = Path(SOCKET)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        try:
            place.parent.mkdir(exist_ok=True)
            place.unlink(missing_ok=True)
            listening.bind(SOCKET)
            place.chmod(0o600)
            listening.listen(64)
        except OSError:  # a disk that has no sockets
            return
        environment = os.environ | {f"{name}_THREADS": "1" for name in THREADS}
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [sys.executable, "-P", "-m", __name__, str(listening.fileno())]
        streams = {"stdin": subprocess.PIPE, "pass_fds": [listening.fileno()]} | silent
        _started.append(subprocess.Popen(command, env=environment, **streams))
    os.environ[PLACE] = SOCKET


#: The servers of this process: the pipe to one is its life.
_started: list = []


def serve(listening: socket.socket, life: int) -> None:
    """Fork for each step that asks, until the descriptor `life` ends with the run."""
    import importlib
    import select
    import signal

    importlib.import_module("fairbandits.cli.main")
    sources = _sources()
    forks: dict[int, socket.socket] = {}
    interrupted: set[int] = set()
    wake, waker = socket.socketpair()
    waker.setblocking(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake says what is to end
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.fileno())
    while True:
        steps = [step for fork, step in forks.items() if fork not in interrupted]
        ready, _, _ = select.select([life, wake, listening, *steps], [], [])
        if life in ready:
            for fork in forks:
                _end(fork, signal.SIGTERM)
            os._exit(0)
        if wake in ready:
            wake.recv(4096)
        for fork, step in list(forks.items()):
            ended, status = os.waitpid(fork, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                with suppress(OSError), forks.pop(fork):
                    # as a shell says it of a process that was killed
                    step.sendall(bytes([code if code >= 0 else 128 - code]))
            elif step in ready:  # it says nothing more: it was killed
                _end(fork, signal.SIGINT)
                interrupted.add(fork)
        if listening in ready:
            step, _ = listening.accept()
            if fork := take(step, sources):
                forks[fork] = step


def take(step: socket.socket, sources: dict[str, tuple[int, int]]) -> int | None:
    """Fork for a step, and return the fork, unless a fresh process would do something else."""
    import importlib

    step.settimeout(10)
    streams: list[int] = []
    try:
        streams, words = _received(step)
        if sources != _sources():
            raise ValueError("the code is no longer what was imported")
        from fairbandits.cli.main import FILE_OF

        name = words["argv"][1]
        for module in (*STEPS[name], f"fairbandits.cli.{FILE_OF[name]}"):
            importlib.import_module(module)
        step.sendall(b"y")
        fork = os.fork()
    except Exception:  # the step does the work itself, and says what is wrong
        step.close()
        fork = None
    if fork == 0:
        _work(streams, words)
    for stream in streams:
        os.close(stream)
    return fork


def _received(step: socket.socket) -> tuple[list[int], dict]:
    """Return the standard streams of a step, and its words."""
    _, ancillary, _, _ = step.recvmsg(1, socket.CMSG_SPACE(3 * array("i").itemsize))
    streams = array("i")
    for _, _, data in ancillary:
        streams.frombytes(data)
    with step.makefile("rb") as lines:
        return list(streams), json.loads(lines.readline(MOST))


def _work(streams: list[int], words: dict) -> None:
    """Become a step, and end as it does."""
    import atexit
    import signal

    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setpgid(0, 0)  # what it starts ends with it
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # the server's own
        os.chdir(words["cwd"])
        os.environ.clear()
        os.environ.update(words["environ"])
        sys.argv = words["argv"]
        sys.path.insert(0, os.path.dirname(sys.argv[0]))  # as the interpreter does
        code = _exit_code()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _exit_code() -> int:
    """Run the command of the command line; return what a process of its own ends with."""
    import traceback

    from fairbandits.cli.main import main

    try:
        main(prog_name=os.path.basename(sys.argv[0]))
    except SystemExit as end:
        if isinstance(end.code, int) or end.code is None:
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # as the interpreter itself does
        traceback.print_exc()
        return 1
    return 0


def _end(fork: int, how: int) -> None:
    """Send a signal to a fork and to what it has started."""
    try:
        os.killpg(fork, how)
    except OSError:  # it has no group yet, or has ended
        with suppress(ProcessLookupError):
            os.kill(fork, how)


def _sources() -> dict[str, tuple[int, int]]:
    """Return what tells the package's files from others: an edit is no longer what was imported."""
    folder = Path(__file__).resolve().parents[1]
    stats = {str(place): place.stat() for place in folder.rglob("*.py")}
    return {place: (stat.st_mtime_ns, stat.st_size) for place, stat in stats.items()}


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.stdin.fileno())
