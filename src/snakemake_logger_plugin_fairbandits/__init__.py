"""What a run of the workflow prints: a line for each finished job, why one failed, and a bar.

Snakemake finds this by its name, for ``--logger fairbandits``; its own log of the run, in
``.snakemake/log``, has everything else.
"""

import logging
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from fairbandits.replication.progress import INTERRUPTED, PROGRESS

#: Seconds without a line after which one says what runs.
SILENCE = 60.0
#: Lines of a failed job's log that are shown.
SHOWN = 20
#: Free bytes of a disk below which it is called full.
LEAST_FREE = 1 << 20
#: How Snakemake says once more that a job failed: before it is said which one, and at the end.
AGAIN = (
    "RuleException:\nCalledProcessError",
    "Exiting because a job execution failed",
    "Restored previous version of",
)
AT_THE_END = "WorkflowError:\nAt least one job did not complete successfully"

#: Events that are no progress.
TROUBLE = (LogEvent.ERROR, LogEvent.GROUP_ERROR)


class LogHandler(LogHandlerBase):
    """Print progress in lines that say how much is left, and everything that is no progress."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    _said = 0.0  # when; before the run is planned it is not
    _bar = ""  # as it stands on the terminal
    _lock = threading.RLock()

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record is worth to somebody who waits."""
        event = getattr(record, "event", None)
        idle = event is None and "Nothing to be done" in str(record.msg)
        line = ""
        if self.common_settings.dryrun and event not in (None, LogEvent.ERROR):
            if event == LogEvent.RUN_INFO and not self._said:  # which Snakemake says twice
                line = PROGRESS.foreseen(record.stats)
        elif event == LogEvent.RUN_INFO:
            line = PROGRESS.planned(record.stats, record.created)
            if not self._said:
                self._said = record.created
                threading.Thread(target=self._wait, daemon=True).start()
        elif event == LogEvent.JOB_INFO:
            of = ", ".join(map(str, (getattr(record, "wildcards", None) or {}).values()))
            PROGRESS.started(record.jobid, record.rule_name, record.created, of)
        elif event == LogEvent.JOB_FINISHED:
            line = PROGRESS.finished(record.job_id, record.created)
        elif event == LogEvent.JOB_ERROR and not PROGRESS.interrupted:
            name = PROGRESS.failed(record.jobid) or "a job"
            line = "\n".join([f"{name} failed:", *_last_lines(getattr(record, "log", None) or [])])
        elif idle or event in TROUBLE or (event is None and record.levelno > logging.INFO):
            line = self.format(record)
            if line.startswith(AT_THE_END) and not PROGRESS.failures:
                PROGRESS.interrupted = PROGRESS.interrupted or signal.SIGTERM
                line = INTERRUPTED
            elif line.startswith(AGAIN) or PROGRESS.interrupted:
                line = ""
            elif line.startswith(AT_THE_END):
                line = (
                    f"Not all could be made: {', '.join(PROGRESS.failures)} failed, as said above. "
                    "What was made stays; the same command makes the rest."
                )
        self._print(line)

    def _print(self, line: str) -> None:
        """Print a line in place of the bar, and the bar below it."""
        with self._lock:
            if line:
                self._said = time.time()
                self._write(f"\r{' ' * len(self._bar)}\r" * bool(self._bar) + f"{line}\n")
                self._bar = ""
            if self._said and self._stream.isatty() and not PROGRESS.interrupted:
                bar = PROGRESS.bar(time.time(), shutil.get_terminal_size().columns - 1)
                if bar or self._bar:
                    self._write(f"\r{bar or ' ' * len(self._bar)}\r")
                self._bar = bar

    def _write(self, text: str) -> None:
        print(text, end="", file=self._stream, flush=True)

    @property
    def _stream(self) -> TextIO:
        return sys.stdout if self.common_settings.stdout else sys.stderr

    def _wait(self) -> None:
        """Draw the bar anew each second; without one, say what runs after a minute of silence."""
        while True:
            time.sleep(1.0)
            now = time.time()
            if self._stream.isatty():
                self._print("")
            elif now - self._said >= SILENCE:
                self._print(PROGRESS.waiting(now))
                self._said = now  # also where nothing runs: it is asked again in a minute


def _last_lines(logs: list[str]) -> list[str]:
    """Return the last lines of a failed job's logs, and where they stand."""
    shown = []
    for log in map(Path, logs):
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        lines = text.rstrip().splitlines()
        more = f", {len(lines)} lines in all" if len(lines) > SHOWN else ""
        last = [*lines[-SHOWN:], f"({log}{more})"]
        if shutil.disk_usage(log.parent if log.parent.is_dir() else ".").free < LEAST_FREE:
            last.append(f"The disk of {log.parent} is full; its log may lack the reason.")
        shown += [f"  {line}" for line in last]
    return shown
