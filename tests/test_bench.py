"""The speed benchmark runs, and its three implementations of a loop agree."""

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


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


@pytest.fixture(scope="module")
def bench():
    """Return the benchmark as a module."""
    spec = importlib.util.spec_from_file_location("bench", ROOT / "benchmarks" / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench"] = module  # where its dataclasses look themselves up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["bench"]


def test_every_case_is_measured(quick, bench):
    report, printed = quick
    assert [row["name"] for row in report["cases"]] == [case.name for case in bench.CASES]
    for row in report["cases"]:
        assert row["name"] in printed
        assert row["python_over_ours"] == row["python_ns"] / row["ours_ns"] > 0


def test_plain_python_agrees(quick):
    report, _ = quick
    assert all(row["difference"]["python"] <= 1e-6 for row in report["cases"])


@pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler"
)
def test_c_agrees(quick):
    report, _ = quick
    for row in report["cases"]:
        assert row["difference"]["c"] <= 1e-6
        assert row["ours_over_c"] == row["ours_ns"] / row["c_ns"] > 0


def test_without_a_compiler_the_column_is_left_out(tmp_path):
    report, printed = quick_run(tmp_path, "--no-cold", "--only", "UCB1", PATH="", CC="")
    (row,) = report["cases"]
    assert row["c_ns"] is None
    assert row["agree"]
    assert "no C compiler found" in printed


@pytest.mark.slow
def test_first_runs_are_timed(tmp_path):
    report, _ = quick_run(tmp_path, "--only", "UCB1")
    (row,) = report["cases"]
    assert row["cold_s"] > row["cached_s"] > 0


def test_different_outcomes_are_told_apart(bench):
    ours = {"pulls": np.array([3, 4]), "queue": np.array([0.0, 1e6])}
    assert bench.difference(ours, {"queue": np.array([0.0, 1e6 + 1])}) == pytest.approx(1e-6)
    assert bench.difference(ours, {"pulls": np.array([4, 3])}) == math.inf
    assert math.isnan(bench.difference(ours, {**ours, "queue": np.array([0.0, math.nan])}))
    assert bench.difference(ours, {**ours, "rewards": np.ones(2)}) == 0
