"""What a run of the workflow prints: a line for each finished job, and whatever goes wrong.

Snakemake finds this by its name, for ``--logger fairbandits``; its own log of the run, in
``.snakemake/log``, has everything else.
"""

import logging
import sys

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from fairbandits.progress import PROGRESS

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

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record is worth to somebody who waits."""
        event = getattr(record, "event", None)
        idle = event is None and "Nothing to be done" in str(record.msg)
        line = ""
        if event == LogEvent.RUN_INFO:
            line = PROGRESS.planned(record.stats, record.created)
        elif event == LogEvent.JOB_INFO:
            PROGRESS.started(record.jobid, record.rule_name, record.created)
        elif event == LogEvent.JOB_FINISHED:
            line = PROGRESS.finished(record.job_id, record.created)
        elif idle or (event not in COURSE and (event or record.levelno > logging.INFO)):
            line = self.format(record)
        if line:
            print(line, file=sys.stdout if self.common_settings.stdout else sys.stderr, flush=True)
