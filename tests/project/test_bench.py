"""The speed benchmark runs, and its implementations of a loop agree."""

import dataclasses
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
import run
from bench import cases, history, measure, notebook, peers, table, ways
from click.testing import CliRunner
from numba import config

import naive_bf_ucb

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


def refused(folder, *options):
    """Run the benchmark in this process; return its exit code and what it complains of."""
    path = folder / "bench.json"
    done = CliRunner().invoke(run.main, ["--quick", "--no-cold", "--json", str(path), *options])
    return done.exit_code, done.stderr


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


def test_without_a_compiler_the_columns_are_left_out(tmp_path):
    report, printed = quick_run(tmp_path, "--no-cold", "--only", "UCB1", PATH="", CC="")
    assert report["cases"]
    for row in report["cases"]:
        assert row["ns"]["c"] is row["ns"]["c_lazy"] is None
        assert row["agree"]
    assert "no C compiler found" in printed


def test_different_outcomes_are_told_apart():
    ours = {"pulls": np.array([3, 4]), "queue": np.array([0.0, 1e6])}
    assert ways.difference(ours, {"queue": np.array([0.0, 1e6 + 1])}) == pytest.approx(1e-6)
    assert ways.difference(ours, {"pulls": np.array([4, 3])}) == math.inf
    assert math.isnan(ways.difference(ours, {**ours, "queue": np.array([0.0, math.nan])}))
    assert ways.difference(ours, {**ours, "rewards": np.ones(2)}) == 0


def test_same_bits_are_told_from_nearly_the_same():
    one = {"pulls": np.array([3, 4]), "rewards": np.array([1.0, 2.0])}
    assert ways.same_bits([one], [{name: values.copy() for name, values in one.items()}])
    assert not ways.same_bits([one], [one | {"rewards": np.array([1.0, np.nextafter(2, 3)])}])
    assert not ways.same_bits([one], [one | {"pulls": np.array([4, 3])}])


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


def test_the_released_loop_draws_its_curves():
    rng = random.Random("curves")
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


# Targets and tables.


@pytest.mark.parametrize(
    ("target", "faster", "c_over_ours", "verdict"),
    [
        (8, 4, 4.0, True),
        (8, 4, 3.9, False),
        (7.9, 4, 4.0, False),
        (8, None, None, True),
        (8, 4, None, None),
        (7, 4, None, False),
        (None, None, 4.0, None),
    ],
)
def test_targets_are_met_or_missed(target, faster, c_over_ours, verdict):
    case = dataclasses.replace(case_named("UCB1, N=10"), target=target, faster=faster)
    assert measure.met(case, 8.0, c_over_ours) is verdict


def test_spread_and_markdown(quick):
    report = json.loads(json.dumps(quick[0]))
    report["cases"][4]["ns"]["ours"] = measure.spread([26.0, 24.0, 31.0])
    lines = table.as_markdown(report).splitlines()
    head = [cell.strip() for cell in lines[0].strip("|").split("|")]
    (row,) = (line for line in lines if line.startswith("| UCB1, N=10 |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert dict(zip(head, cells, strict=True))["ours"] == "26 (24–31)"
    assert "target" not in head  # a quick run has none, and the column is left out


# Peers.


@pytest.mark.parametrize(
    ("interpreter", "reason"),
    [(sys.executable, "not installed"), ("/no/python", "cannot be run: No such file")],
)
def test_an_interpreter_without_the_libraries_is_no_error(interpreter, reason):
    rows = peers.measure_ucb1(interpreter, 50, 1)
    assert [row["name"] for row in rows] == ["SMPyBandits", "MABWiser"]
    assert all(reason in row["absent"] for row in rows)


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


def test_another_banditq_that_differs_is_told(tmp_path):
    folder = checkout_of(tmp_path, "self.policy.x[::-1]")
    options = ("--only", "BanditQ, bandit, N=5", "--revenue-guaranteeing", str(folder))
    assert refused(tmp_path, *options) == (1, "Error: a peer pulls other arms\n")


def test_a_folder_that_is_no_checkout_is_told(tmp_path):
    row = peers.measure_banditq(tmp_path, 10, 1)
    assert "algo.py" in row["absent"]


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


def test_a_second_run_of_a_commit_replaces_its_row(tmp_path):
    file = tmp_path / "history.csv"
    history.append(file, [past(), past(case="LFG, N=10")])
    history.append(file, [past(median=31.0), past(machine="other")])
    rows = history.read(file)
    assert [(row["case"], row["machine"], row["ours_median"]) for row in rows] == [
        ("LFG, N=10", "this", "30"),
        ("UCB1, N=10", "this", "31"),
        ("UCB1, N=10", "other", "30"),
    ]


def test_history_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "history.csv"
    history.append(file, [past()])
    before = file.read_bytes()
    with pytest.raises(ValueError, match="fields not in fieldnames"):
        history.append(file, [past(commit="def5678"), past(commit="def5678", colour="red")])
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


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
