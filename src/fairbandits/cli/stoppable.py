"""Snakemake in a process that says when a signal ended it: ``python -m fairbandits.cli.stoppable``.

Snakemake by itself reports failed jobs then, and exits with 1.
"""

import signal
import sys

from snakemake.cli import main

from fairbandits.cli import run_lock
from fairbandits.replication.progress import INTERRUPTED, PROGRESS


def _interrupt(number: int, frame: object) -> None:
    PROGRESS.interrupted = number
    raise KeyboardInterrupt


def _run(arguments: list[str]) -> int:
    """Return Snakemake's exit code, or the one of a signal."""
    signal.signal(signal.SIGINT, _interrupt)
    run_lock.inherit()
    try:
        main(arguments)
    except SystemExit as end:
        code = int(end.code or 0)
    except KeyboardInterrupt:  # before it has planned, or a second time
        print(INTERRUPTED, file=sys.stderr)
        code = 1
    finally:
        run_lock.release()
    return 128 + PROGRESS.interrupted if code and PROGRESS.interrupted else code


if __name__ == "__main__":
    sys.exit(_run(sys.argv[1:]))
