"""The speed benchmark runs, and its implementations of a loop agree."""

import pytest
from bench import history
from numba import config

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


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
