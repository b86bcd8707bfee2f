"""The speed benchmark runs, and its implementations of a loop agree."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench import cases, history
from numba import config

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
needs_c = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler"
)


def quick_run(folder, *options, **environment):
    """Run the benchmark with few rounds; return its numbers and what it printed."""
    path = folder / "bench.json"
    done = subprocess.run(
        [sys.executable, "benchmarks/run.py", "--quick", "--json", str(path), *options],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text(encoding="utf-8")), done.stdout


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Return the numbers and the print of a run of all cases."""
    return quick_run(tmp_path_factory.mktemp("bench"), "--no-cold")


def test_every_case_is_measured(quick):
    report, printed = quick
    assert [row["name"] for row in report["cases"]] == [case.name for case in cases.CASES]
    assert len({case.name for case in cases.CASES}) == len(cases.CASES)
    for row, case in zip(report["cases"], cases.CASES, strict=True):
        assert row["name"] in printed
        ns = row["ns"]
        assert 0 < ns["ours"]["min"] <= ns["ours"]["median"] <= ns["ours"]["max"]
        assert ns["eight"]["median"] > 0
        assert row["difference"]["eight_is_exact"] is True
        if case.in_python is not None:
            assert row["python_over_ours"] == ns["python"]["median"] / ns["ours"]["median"]


@needs_c
def test_c_agrees(quick):
    report, _ = quick
    for row, case in zip(report["cases"], cases.CASES, strict=True):
        ns = row["ns"]
        if case.in_c is not None:
            assert row["difference"]["c"] <= 1e-6
            assert row["c_over_ours"] == ns["c"]["median"] / ns["ours"]["median"]
        if case.lazy:
            assert row["difference"]["lazy_is_exact"] is True
            assert row["c_over_lazy"] == ns["c"]["median"] / ns["c_lazy"]["median"]
    assert "-O3 -ffp-contract=off" in report["compiler"]


# History.


def past(case="UCB1, N=10", median=30.0, low=29.0, high=32.0, **rest):
    """Return a row of the history."""
    numbers = {"ours_median": median, "ours_min": low, "ours_max": high}
    row = {"date": "2026-01-02", "commit": "abc1234", "case": case, "c_plain": "60", "ratio": "2"}
    row["eight_median"] = "9"
    return row | {name: f"{x:g}" for name, x in numbers.items()} | {"machine": "this"} | rest


def test_slower_by_more_than_the_spread_is_told():
    before = [past(median=20.0), past(), past(case="LFG, N=10"), past(machine="other", median=1.0)]
    for median, told in ((33.0, False), (33.1, True), (20.0, False)):
        now = [past(median=median, low=median - 1, high=median + 1)]  # before: 30, from 29 to 32
        assert bool(history.slower(before, now)) is told
        assert ("Slower" in history.comparison(before, now)) is told
    (line,) = history.slower(before, [past(median=40.0, low=39.0, high=41.0)])
    assert line.startswith("UCB1, N=10: 40 ns after 30 (abc1234, 2026-01-02)")
    # a run that scatters widely says nothing
    assert history.slower(before, [past(median=40.0, low=25.0, high=41.0)]) == []


def test_the_committed_history_can_be_read():
    rows = history.read(history.FILE)
    assert len({tuple(row[name] for name in history.KEY) for row in rows}) == len(rows)
