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
        *("fairbandits.report.build", "IPython.core.interactiveshell"),
        *("fairbandits.figures.draw", "fairbandits.report.across", "fairbandits.report.landing"),
        *("fairbandits.audit.run", "scipy.stats"),
    ),
    "record": ("fairbandits.audit.run",),
    "site": ("fairbandits.report.build", "sphinx.application"),
    "standings": ("fairbandits.arena.standings",),
    "verdicts": ("fairbandits.audit.run",),
}
#: How many threads a job's libraries may use; Snakemake says the same to each job.
THREADS = ("OMP", "GOTO", "OPENBLAS", "MKL", "NUMEXPR")
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


# ------------------------------------------------------------------------------------ the server


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
        threads = {f"{name}_NUM_THREADS": "1" for name in THREADS}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(listening.fileno())],
            env=os.environ | threads | {"VECLIB_MAXIMUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[listening.fileno()],
        )
    _started.append(process)
    os.environ[PLACE] = SOCKET


#: The servers of this process: the pipe to one is its life.
_started: list = []


class Server:
    """What listens for steps and forks for each, until the descriptor `life` ends with the run."""

    def __init__(self, listening: socket.socket, life: int) -> None:
        import selectors

        self._listening, self._life = listening, life
        self._steps: dict[int, socket.socket] = {}
        self._sources = _sources()
        self._known = selectors.DefaultSelector()
        self._known.register(life, selectors.EVENT_READ, self._end)
        self._known.register(listening, selectors.EVENT_READ, self._take)
        self._wake, wake = socket.socketpair()
        for one in (self._wake, wake):
            one.setblocking(False)
        self._wake_fd = wake  # kept, or it would be closed
        self._known.register(self._wake, selectors.EVENT_READ, self._reap)

    def serve(self) -> None:
        """Serve until the run ends."""
        import importlib
        import signal

        importlib.import_module("fairbandits.cli.main")
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake says what is to end
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_fd.fileno())
        while True:
            for key, _ in self._known.select():
                key.data()

    def _end(self) -> None:
        """End with the run, and what it has begun with it."""
        import signal

        for process in self._steps:
            _end_fork(process, signal.SIGTERM)
        os._exit(0)

    def _take(self) -> None:
        """Fork for a step, unless a fresh process would do something else."""
        import importlib
        import selectors
        import signal

        from fairbandits.cli.main import FILE_OF

        connection, _ = self._listening.accept()
        connection.settimeout(10)
        streams: list[int] = []
        try:
            streams, words = _received(connection)
            if self._sources != _sources():
                raise ValueError("the code is no longer what was imported")
            step = words["argv"][1]
            for name in (*STEPS[step], f"fairbandits.cli.{FILE_OF[step]}"):
                importlib.import_module(name)
            connection.sendall(b"y")
            process = os.fork()
        except Exception:  # the step does the work itself, and says what is wrong
            connection.close()
            process = None
        if process == 0:
            for one in (self._listening, self._known, connection, *self._steps.values()):
                one.close()
            _work(streams, words)
        for one in streams:
            os.close(one)
        if process is None:
            return
        self._steps[process] = connection

        def gone() -> None:
            # a step says nothing more: it was killed
            self._known.unregister(connection)
            _end_fork(process, signal.SIGINT)

        self._known.register(connection, selectors.EVENT_READ, gone)

    def _reap(self) -> None:
        """Tell the steps whose forks have ended how they did."""
        self._wake.recv(4096)
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                code = os.waitstatus_to_exitcode(status)
                connection = self._steps.pop(process)
                with suppress(KeyError):
                    self._known.unregister(connection)
                with suppress(OSError), connection:
                    # as a shell says it of a process that was killed
                    connection.sendall(bytes([code if code >= 0 else 128 - code]))


def _received(connection: socket.socket) -> tuple[list[int], dict]:
    """Return the standard streams of a step, and its words."""
    _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(3 * array("i").itemsize))
    streams = array("i")
    for _, _, data in ancillary:
        streams.frombytes(data)
    with connection.makefile("rb") as lines:
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
        for number, one in enumerate(streams):
            os.dup2(one, number)
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


def _end_fork(process: int, how: int) -> None:
    """Send a signal to a fork and to what it has started."""
    try:
        os.killpg(process, how)
    except OSError:  # it has no group yet, or has ended
        with suppress(ProcessLookupError):
            os.kill(process, how)


def _sources() -> dict[str, tuple[int, int]]:
    """Return what tells the package's files from others: an edit is no longer what was imported."""
    folder = Path(__file__).resolve().parents[1]
    found = {}
    for place in folder.rglob("*.py"):
        stat = place.stat()
        found[str(place)] = stat.st_mtime_ns, stat.st_size
    return found


if __name__ == "__main__":
    Server(socket.socket(fileno=int(sys.argv[1])), sys.stdin.fileno()).serve()
