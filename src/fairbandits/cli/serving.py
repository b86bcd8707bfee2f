"""The entry point: a command in a process of its own or, in a run of the workflow, in a fork.

A run has a server, which imports once what steps need: a step hands over its arguments and its
standard streams, and waits for the fork that does the work. Where there is no server, or it could
do other than a fresh process would, the step does the work itself. The server ends with its run,
its forks with the step that asked or with the run (docs/decisions/0014-steps-are-forks.md).
"""

import json
import os
import socket
import sys
from pathlib import Path

#: Names the socket to the jobs of a run; relative, since such a name must be short.
PLACE = "FAIRBANDITS_SERVER"
SOCKET = ".snakemake/fairbandits.sock"
#: Step -> what it imports. Those that go to a cluster, whose memory is recorded, are not among
#: them: what a fork takes is none of the job's.
STEPS = {
    "audit": ("fairbandits.audit.run", "fairbandits.audit.measures", "scipy.stats"),
    "collect": ("fairbandits.replication.datasets",),
    "export": ("fairbandits.report.export",),
    "figure": ("fairbandits.figures.draw", "fairbandits.figures.panels"),
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
#: The servers of this process: the pipe to one is its life.
_started: list = []


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
            if connection.recv(1) != b"y":
                return None
        except OSError:
            return None
        answer = connection.recv(1)
    if not answer:
        print("This step was killed, or the server of this run; run it again.", file=sys.stderr)
    return answer[0] if answer else 1


def start() -> None:
    """Start the server of a run, for as long as this process lives."""
    import subprocess

    Path(SOCKET).parent.mkdir(exist_ok=True)
    Path(SOCKET).unlink(missing_ok=True)
    environment = os.environ | {f"{name}_THREADS": "1" for name in THREADS}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-P", "-m", __name__]
    _started.append(subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, **silent))
    os.environ[PLACE] = SOCKET


def serve(life: int) -> None:
    """Fork for each step that asks, until the descriptor `life` ends with the run."""
    import importlib
    import select
    import signal
    from socketserver import ForkingMixIn, UnixStreamServer
    from threading import Thread

    from fairbandits.cli.main import FILE_OF

    sources = _sources()

    class Server(ForkingMixIn, UnixStreamServer):
        max_children = 1000

        def service_actions(self):
            super().service_actions()
            if select.select([life], [], [], 0)[0]:
                os._exit(0)

        def verify_request(self, step, _):
            """Import what a step needs, unless a fresh process would do something else."""
            self.streams = []
            try:
                step.settimeout(10)
                _, self.streams, _, _ = socket.recv_fds(step, 1, 3)
                with step.makefile("rb") as lines:
                    self.words = json.loads(lines.readline(MOST))
                name = self.words["argv"][1]
                for module in (*STEPS[name], f"fairbandits.cli.{FILE_OF[name]}"):
                    importlib.import_module(module)
                if sources != _sources():
                    raise ValueError("the code is no longer what was imported")
                step.sendall(b"y")
            except Exception:  # the step does the work itself, and says what is wrong
                self._close_streams()
                return False
            return True

        def process_request(self, step, address):
            super().process_request(step, address)
            self._close_streams()

        def _close_streams(self):
            for stream in self.streams:
                os.close(stream)

        def finish_request(self, step, _):
            """Become a step, and end as it does."""
            self.socket.close()
            os.setpgid(0, 0)  # what it starts ends with it
            Thread(target=end_with, args=(step, os.dup(life)), daemon=True).start()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            step.sendall(bytes([_worked(self.streams, self.words)]))

    def end_with(step, life):
        ready, _, _ = select.select([step, life], [], [])
        os.killpg(0, signal.SIGTERM if life in ready else signal.SIGINT)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake says what is to end
    with Server(SOCKET, None) as server:
        Path(SOCKET).chmod(0o600)
        server.serve_forever()


def _worked(streams: list[int], words: dict) -> int:
    """Do the work of a step in this process; return what a process of its own ends with."""
    import atexit
    import traceback

    from fairbandits.cli.main import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(words["cwd"])
    os.environ.clear()
    os.environ.update(words["environ"])
    sys.argv = words["argv"]
    sys.path.insert(0, os.path.dirname(sys.argv[0]))  # as the interpreter does
    code = 1
    try:
        main(prog_name=os.path.basename(sys.argv[0]))
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # as the interpreter itself does
        traceback.print_exc()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _sources() -> dict[str, tuple[int, int]]:
    """Return what tells the package's files from others: an edit is no longer what was imported."""
    folder = Path(__file__).resolve().parents[1]
    stats = {str(place): place.stat() for place in folder.rglob("*.py")}
    return {place: (stat.st_mtime_ns, stat.st_size) for place, stat in stats.items()}


if __name__ == "__main__":
    serve(sys.stdin.fileno())
