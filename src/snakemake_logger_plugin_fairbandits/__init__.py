"""What a run of the workflow prints: a line for each finished job, and whatever goes wrong.

Snakemake finds this by its name, for ``--logger fairbandits``; its own log of the run, in
``.snakemake/log``, has everything else.
"""

import logging
import sys
import threading
import time

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from fairbandits.progress import PROGRESS

#: Seconds without a line after which one says what runs.
SILENCE = 60.0

#: What Snakemake says of the course of things.
COURSE = {
    LogEvent.JOB_INFO,
    LogEvent.JOB_FINISHED,
    LogEvent.JOB_STARTED,
    LogEvent.PROGRESS,
    LogEvent.RESOURCES_INFO,
    LogEvent.RULEGRAPH,
    LogEvent.RUN_INFO,
    LogEvent.SHELLCMD,
    LogEvent.WORKFLOW_STARTED,
}


class LogHandler(LogHandlerBase):
    """Print progress in lines that say how much is left, and everything that is no progress."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    _said = 0.0  # when; before the run is planned it is not

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record is worth to somebody who waits."""
        event = getattr(record, "event", None)
        idle = event is None and "Nothing to be done" in str(record.msg)
        line = ""
        if event == LogEvent.RUN_INFO:
            line = PROGRESS.planned(record.stats, record.created)
            if not self._said:
                self._said = record.created
                threading.Thread(target=self._wait, daemon=True).start()
        elif event == LogEvent.JOB_INFO:
            of = ", ".join(map(str, (getattr(record, "wildcards", None) or {}).values()))
            PROGRESS.started(record.jobid, record.rule_name, record.created, of)
        elif event == LogEvent.JOB_FINISHED:
            line = PROGRESS.finished(record.job_id, record.created)
        elif idle or (event not in COURSE and (event or record.levelno > logging.INFO)):
            if event == LogEvent.JOB_ERROR:
                PROGRESS.failed(getattr(record, "jobid", -1))
            line = self.format(record)
        self._print(line)

    def _print(self, line: str) -> None:
        if line:
            self._said = time.time()
            print(line, file=sys.stdout if self.common_settings.stdout else sys.stderr, flush=True)

    def _wait(self) -> None:
        """Say what runs whenever nothing was said for a minute."""
        while True:
            time.sleep(max(1.0, SILENCE - (time.time() - self._said)))
            self.unless_said(time.time())

    def unless_said(self, now: float) -> None:
        """Print what runs, if nothing was printed for long."""
        if now - self._said >= SILENCE:
            self._print(PROGRESS.waiting(now))
            self._said = now  # also where nothing runs: it is asked again in a minute
