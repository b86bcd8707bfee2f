"""The speed benchmark runs, and its implementations of a loop agree."""

import dataclasses
import importlib.util
import json
import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config

import naive_bf_ucb

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
def test_c_agrees(quick, bench):
    report, _ = quick
    for row, case in zip(report["cases"], bench.CASES, strict=True):
        if case.in_c is not None:
            assert row["difference"]["c"] <= 1e-6
            assert row["ours_over_c"] == row["ours_ns"] / row["c_ns"] > 0


def test_what_c_does_not_have_is_a_dash(quick, bench):
    report, printed = quick
    without = [case.name for case in bench.CASES if case.in_c is None]
    assert without == ["BF-UCB, UCB, MF, GEF as released, N=15"]
    (row,) = (row for row in report["cases"] if row["name"] in without)
    assert row["c_ns"] is row["ours_over_c"] is row["difference"]["c"] is None
    assert row["agree"]
    (line,) = (line for line in printed.splitlines() if line.startswith(row["name"]))
    target, _, in_c, _, ratio, *_ = line.removeprefix(row["name"]).split()
    assert target == in_c == ratio == "-"


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


# Arms in groups. The quick run ends within their initial rounds.


@pytest.mark.parametrize("arms", [15, 60])
def test_bf_ucb_as_stated_agrees(arms, bench, tmp_path):
    (case,) = (case for case in bench.CASES if case.name == f"BF-UCB, N={arms}")
    case = dataclasses.replace(case, rounds=50_000, python_rounds=1500)
    library = bench.compile_reference(tmp_path).library
    gaps = bench.check(case, library)
    assert gaps["python"] <= 1e-12
    if library is not None:
        assert gaps["c"] <= 1e-9
        (ours,), (theirs,) = bench.play_ours(case, 50_000), bench.play_c(library, case, 50_000)
        assert ours["probability"].sum() == pytest.approx(50_000)
        np.testing.assert_allclose(theirs["probability"], ours["probability"], rtol=1e-9)


def test_the_released_loop_agrees(bench):
    case = bench.CASES[-1]
    ours, theirs = bench.play_ours(case, 2000), case.compared(case, 2000)
    for of_ours, of_theirs in zip(ours, theirs, strict=True):
        assert of_ours["pulls"].tolist() == of_theirs["pulls"].tolist()
        assert of_ours["pulls"].sum() == 2000


def test_the_released_loop_agrees_where_optimistic_means_are_below_1(bench):
    # With the case's delta that takes some 100 000 rounds. Half makes both widths the same number.
    means = [0.3 * mu for mu in bench.LOW]
    case = bench.released((10, 5), means, delta=0.5, rounds=3000, python_rounds=3000)
    ours = bench.play_ours(case, 3000)
    assert bench.differences(ours, case.compared(case, 3000)) <= 1e-12
    for name in ("BF-UCB", "MF"):
        share = ours[bench.notebook.POLICIES.index(name)]["share"]
        assert len(set(share[:10])) > 5
    # What is timed differs in MF only, whose BF-UCB in ours has numbers of its own.
    gaps = map(bench.difference, ours, bench.play_python(case, 3000))
    differ = [name for name, gap in zip(bench.notebook.POLICIES, gaps, strict=True) if gap > 1e-12]
    assert differ == ["MF"]


def test_the_released_loop_draws_its_curves(bench):
    rng, notebook = random.Random("curves"), bench.notebook
    means, quotas = (0.7, 0.8, 0.3, 0.6, 0.9), (0.25, 0.5)

    def win(_policy, _t, arm, _n):
        return float(rng.random() < means[arm])

    groups = [[0, 1, 2], [3, 4]]
    tallies, curves = notebook.play(
        groups, quotas, means, 0.5, 2000, lambda _policy, _t: rng.random(), win
    )
    optimum = naive_bf_ucb.fair_optimum(1999, means, (3, 2), quotas, naive_bf_ucb.power(1))
    for name, tally in tallies.items():
        assert tally.pulls.sum() == 2000
        assert tally.rewards.sum() - 6 <= tally.earned <= tally.rewards.sum()
        assert len(curves[name]) == 2
        assert curves[name][-1] == pytest.approx(optimum - tally.earned)
    fair = naive_bf_ucb.fair_policy(means, (3, 2), naive_bf_ucb.power(1))
    for g, arms in enumerate(groups):
        share = tallies["BF-UCB"].share
        assert curves[g][-1] == pytest.approx(sum(abs(share[arm] - fair[arm]) for arm in arms))


def test_what_is_compiled_once_is_timed_once(bench):
    one, other, released = bench.CASES[-3:]
    assert one.compiled == other.compiled < released.compiled
    assert len({case.compiled for case in bench.CASES}) == 6
