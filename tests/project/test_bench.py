"""The speed benchmark runs, and its implementations of a loop agree."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench import cases, history, measure, notebook, peers, ways
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


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return the C files, compiled."""
    return ways.compile_c(tmp_path_factory.mktemp("c")).library


def case_named(name):
    """Return the case of this name."""
    (case,) = (case for case in cases.CASES if case.name == name)
    return case


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


@needs_c
@pytest.mark.parametrize("function", ["fair_ucb", "ht_ucb"])
def test_lazy_c_makes_the_same_choices_with_unequal_quotas(function, library, rng):
    for _ in range(200):
        arms = int(rng.integers(2, 9))
        quotas = rng.integers(0, 30, arms).tolist()
        last = float(rng.choice([0, 0.25, 1, 2.5]))  # tolerance, or penalty
        case = dataclasses.replace(
            case_named("UCB1, N=10"),
            means=tuple(rng.random(arms)),
            in_c=(function, quotas, sum(quotas) + int(rng.integers(1, 60)), last),
        )
        rounds = int(rng.integers(arms, 30_000))
        plain = ways.play_c(library, case, rounds)
        assert ways.same_bits(plain, ways.play_c(library, case, rounds, lazy=True))


@needs_c
@pytest.mark.parametrize(
    "name",
    [
        *("UCB1, N=60", "Fair-UCB, N=60", "HT-UCB, N=60", "LFG, N=10", "GEF, N=60", "MF, N=15"),
        *("BF-UCB, N=15", "BF-UCB, N=60"),
    ],
)
def test_c_agrees_in_longer_runs(name, library):
    case = dataclasses.replace(case_named(name), rounds=50_000, python_rounds=1500)
    gaps = measure.check(case, library)
    assert gaps["python"] <= 1e-12
    assert gaps["c"] <= 1e-9
    assert gaps["lazy_is_exact"] in (True, None)


# Arms in groups. The quick run ends within their initial rounds.


def test_the_released_loop_agrees_where_optimistic_means_are_below_1():
    # With the case's delta that takes some 100 000 rounds. Half makes both widths the same number.
    means = [0.3 * mu for mu in cases.LOW]
    case = cases.released((10, 5), means, delta=0.5, rounds=3000, python_rounds=3000)
    ours = ways.play_ours(case, 3000)
    assert ways.differences(ours, case.compared(case, 3000)) <= 1e-12
    for name in ("BF-UCB", "MF"):
        share = ours[notebook.POLICIES.index(name)]["share"]
        assert len(set(share[:10])) > 5
    # What is timed differs in MF only, whose BF-UCB in ours has numbers of its own.
    gaps = map(ways.difference, ours, ways.play_python(case, 3000))
    differ = [name for name, gap in zip(notebook.POLICIES, gaps, strict=True) if gap > 1e-12]
    assert differ == ["MF"]


# Targets and tables.


# Peers.


def checkout_of(folder, choice):
    """Make a checkout whose BanditQ is the naive one of the tests, playing with `choice`."""
    (folder / "fairbandits").mkdir()
    (folder / "fairbandits" / "algo.py").write_text(
        f"""
import sys
sys.path.append({str(ROOT / "tests")!r})
import naive
import numpy as np

class BanditQ:
    def __init__(self, lambdas, T):
        self.policy = naive.BanditQBandit(list(lambdas), np.sqrt(T))
    def play(self):
        return {choice}
    def update(self, k, r, x):
        self.policy.advance(k, r)
"""
    )
    return folder


def test_another_banditq_is_checked_arm_by_arm(tmp_path):
    row = peers.measure_banditq(checkout_of(tmp_path, "self.policy.x"), 300, 2)
    assert row["absent"] is None
    assert row["same_pulls"] is True
    assert len(row["us"]["all"]) == len(row["ours_us"]["all"]) == 2


# History.


def past(case="UCB1, N=10", median=30.0, low=29.0, high=32.0, **rest):
    """Return a row of the history."""
    numbers = {"ours_median": median, "ours_min": low, "ours_max": high}
    row = {"date": "2026-01-02", "commit": "abc1234", "case": case, "c_plain": "60", "ratio": "2"}
    row["eight_median"] = "9"
    return row | {name: f"{x:g}" for name, x in numbers.items()} | {"machine": "this"} | rest


def test_history_is_appended_and_read_back(tmp_path):
    file = tmp_path / "history.csv"
    assert history.read(file) == []
    history.append(file, [past()])
    history.append(file, [past(commit="def5678"), past(case="LFG, N=10", c_plain="", ratio="")])
    rows = history.read(file)
    assert [(row["commit"], row["case"]) for row in rows] == [
        ("abc1234", "UCB1, N=10"),
        ("def5678", "UCB1, N=10"),
        ("abc1234", "LFG, N=10"),
    ]
    assert list(rows[0]) == list(history.COLUMNS)


@pytest.mark.parametrize("value", ["", "fast", "-3", "nan", "inf"])
def test_history_with_a_bad_number_is_refused(tmp_path, value):
    file = tmp_path / "history.csv"
    history.append(file, [past(), past(commit="def5678", ours_median=value)])
    message = rf"history.csv, line 3: ours_median must be a number above 0, got '{value}'"
    with pytest.raises(ValueError, match=message):
        history.read(file)


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


def test_a_report_becomes_rows(quick, tmp_path):
    report, _ = quick
    rows = history.rows_of(report)
    history.append(tmp_path / "history.csv", rows)
    read = history.read(tmp_path / "history.csv")
    assert read == rows
    assert [row["case"] for row in read] == [case.name for case in cases.CASES]
    assert read[0]["commit"] == report["commit"]
    ours = report["cases"][0]["ns"]["ours"]["median"]
    assert float(read[0]["ours_median"]) == pytest.approx(ours, rel=1e-3)


def test_the_committed_history_can_be_read():
    rows = history.read(history.FILE)
    assert len({tuple(row[name] for name in history.KEY) for row in rows}) == len(rows)
