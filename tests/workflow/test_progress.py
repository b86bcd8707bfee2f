"""What a run says of itself: what is left, in jobs, figures and minutes; and nothing hidden."""

import logging
import os
import re
import sys
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_fairbandits as logger
from fairbandits.replication.progress import Progress, needs
from snakemake_logger_plugin_fairbandits import LogHandler

COUNTS = {"simulate_a": 1, "simulate_b": 1, "a_fig1": 1, "a_fig2": 1, "all": 1, "total": 5}


@pytest.fixture
def progress():
    made = Progress()
    made.expected = {"simulate_a": 600.0, "simulate_b": 600.0}
    return made


def left(line):
    number, unit = re.search(r"about (\d+) (min|s) left", line).groups()
    return int(number) * (60 if unit == "min" else 1)


@pytest.mark.parametrize("pace", [0.25, 1.0, 4.0])
def test_what_jobs_took_corrects_what_was_expected(progress, pace):
    """The plan is of another machine: after ten minutes of work the pace is known."""
    progress.planned(COUNTS, 0.0)
    progress.started(0, "simulate_a", 0.0)
    line = progress.finished(0, 600 * pace)
    assert left(line) == pytest.approx((600 + 8) * pace, rel=0.2)


@pytest.mark.parametrize(("share", "words"), [(1.0, "about 3 min"), (0.25, "less than a minute")])
def test_a_small_run_takes_a_share_of_the_usual_time(share, words):
    progress = Progress()
    progress.share = share
    said = progress.planned({"banditq_replay_5_bandit": 2, "notebook": 3}, 0.0)
    assert said == f"5 jobs to do, {words} on 1 core"


def test_lines_say_what_runs_and_for_how_long(progress):
    progress.planned(COUNTS | {"notebook": 1}, 0.0)
    for job, rule in enumerate(("simulate_a", "simulate_b", "all")):
        progress.started(job, rule, 0.0)
    progress.started(5, "notebook", 2.0, "index")
    line = progress.finished(0, 600.0)
    assert line.endswith(" (simulate_a, 600 s); running: simulate_b, notebook index")
    line = progress.waiting(610.0)
    assert line.startswith("[1 of 5] figures 0 of 2, ")
    assert line.endswith("; running: simulate_b (610 s), notebook index (608 s)")
    assert progress.failed(1) == "simulate_b"
    assert progress.failures == ["simulate_b"]
    assert progress.waiting(620.0).endswith("; running: notebook index (618 s)")
    progress.finished(5, 630.0)
    assert progress.waiting(690.0) == ""


@pytest.fixture
def handler(monkeypatch):
    """A handler of a run of its own, which nothing else talks to."""
    monkeypatch.setattr(logger, "PROGRESS", Progress())
    monkeypatch.setattr(logger.threading, "Thread", lambda **_: SimpleNamespace(start=lambda: None))
    return LogHandler(SimpleNamespace(stdout=False, dryrun=False), None)


@pytest.fixture
def printed(capsys, handler):
    """Return a function that gives what is printed of a record."""

    def of(message, level=logging.INFO, **extra):
        record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
        record.__dict__.update(extra)
        handler.emit(record)
        captured = capsys.readouterr()
        assert captured.out == ""
        return captured.err

    return of


def test_a_failed_job_says_why_once(printed, tmp_path, monkeypatch):
    printed("", event=LogEvent.RUN_INFO, stats={"audit_paper": 2, "verdicts": 1, "total": 3})
    info = {"rule_name": "audit_paper", "wildcards": {"paper": "banditq"}}
    printed("", event=LogEvent.JOB_INFO, jobid=3, **info)
    command = "RuleException:\nCalledProcessError in file audit.smk, line 28:\nfairbandits audit"
    assert printed(command, logging.ERROR, event=LogEvent.ERROR) == ""
    log = tmp_path / "banditq.log"
    log.write_text("".join(f"{n}\n" for n in range(logger.SHOWN)) + "Error: 3 claims failed\n")
    said = printed("", logging.ERROR, event=LogEvent.JOB_ERROR, jobid=3, log=[str(log)], **info)
    first, *lines, error, where = said.splitlines()
    assert first == "audit_paper banditq failed:"
    assert lines == [f"  {n}" for n in range(1, logger.SHOWN)]
    assert error == "  Error: 3 claims failed"
    assert where == f"  ({log}, {logger.SHOWN + 1} lines in all)"
    monkeypatch.setattr(logger.shutil, "disk_usage", lambda folder: SimpleNamespace(free=4096))
    (full,) = logger._last_lines([str(tmp_path / "none.log")])[1:]
    assert full == f"  The disk of {tmp_path} is full; its log may lack the reason."
    assert printed("Exiting because a job execution failed. Look above", logging.ERROR) == ""
    last = "WorkflowError:\nAt least one job did not complete successfully."
    said = printed(last, logging.ERROR, event=LogEvent.ERROR)
    assert said.startswith("Not all could be made: audit_paper banditq failed, as said above.")


def test_a_look_ahead_says_what_would_be_made(printed, handler):
    handler.common_settings.dryrun = True
    logger.PROGRESS.cores = 2
    logger.PROGRESS.expected = {"simulate_a": 1000.0, "a_fig1": 20.0}
    stats = {"simulate_a": 2, "collect_a": 1, "a_fig1": 1, "audit_paper": 4, "all": 1, "total": 9}
    said = printed("", event=LogEvent.RUN_INFO, stats=stats)
    assert said.splitlines() == [
        "8 jobs, about 18 min on 2 cores; nothing is written now",
        "  to simulate: 2",
        "  to collect datasets: 1",
        "  to judge: 4",
        "  figures: 1 (a_fig1)",
    ]
    assert printed("", event=LogEvent.JOB_INFO, jobid=3, rule_name="a_fig1") == ""


def test_a_cluster_is_asked_for_what_was_measured(tmp_path):
    file = tmp_path / "one.tsv"
    assert needs(file, 60.0) == {"mem_mb": 1500, "runtime": 20}
    for measured, memory, minutes in (("600.0\t2000.0", 3000, 30), ("1.0\tNA", 1500, 10)):
        file.write_text(f"s\tmax_rss\n{measured}\n")
        assert needs(file, 60.0) == {"mem_mb": memory, "runtime": minutes}


def test_an_interrupted_run_says_one_line(printed):
    """Snakemake reports that jobs failed, which they did not by themselves."""
    last = "WorkflowError:\nAt least one job did not complete successfully."
    assert printed(last, logging.ERROR, event=LogEvent.ERROR) == f"{logger.INTERRUPTED}\n"
    info = {"rule_name": "a_fig1", "jobid": 3, "log": []}
    assert printed("", logging.ERROR, event=LogEvent.JOB_ERROR, **info) == ""
    assert logger.PROGRESS.interrupted


@pytest.mark.parametrize("columns", [100, 40, 20, 5])
def test_a_terminal_shows_a_bar_below_the_lines(printed, monkeypatch, columns):
    size = os.terminal_size((columns + 1, 24))
    monkeypatch.setattr(logger.shutil, "get_terminal_size", lambda **_: size)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    printed("", event=LogEvent.RUN_INFO, stats=COUNTS)
    said = printed("", event=LogEvent.JOB_INFO, jobid=1, rule_name="simulate_a")
    bar = said.strip("\r")
    assert len(bar) == columns
    assert bar.startswith("[....") == (columns > 20)
    assert ("running: simulate_a (" in bar) == (columns > 80)
    said = printed("", event=LogEvent.JOB_FINISHED, job_id=1)
    assert said.startswith(f"\r{' ' * columns}\r[1 of 4] figures 0 of 2, ")
    assert said.endswith(" s)\n")  # nothing runs: no bar
