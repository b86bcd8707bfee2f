"""Benchmarks: what is slower is told, costs are fitted to logs, and many cores are predicted."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import costs as command
import growth
import peers
import pytest
import scaling
from bench import HERE, history
from scaling import Task, makespan

from fairbandits.settings import costs
from fairbandits.settings.config import load_config

TRUE = {"ucb1": (4.0, 0.5), "lfg": (9.0, 1.5), "ht_ucb": (7.0, 2.0)}
CHAIN = [Task("a", 3.0, frozenset()), Task("b", 2.0, frozenset({"a"})), Task("c", 4.0, frozenset())]


def past(case="UCB1, N=10", median=30.0, low=29.0, high=32.0, **rest):
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


@pytest.mark.parametrize("module", [growth, peers])
def test_committed_times_are_drawn(module, tmp_path):
    data = shutil.copy(HERE / f"{module.__name__}.csv", tmp_path)
    module.main(["--draw", "--folder", str(tmp_path)], standalone_mode=False)
    picture = Path(data).with_suffix(".svg").read_text(encoding="utf-8")
    assert "UCB1" in picture
    assert "mathdefault" not in re.sub("<!--.*?-->", "", picture)


@pytest.fixture(scope="module")
def config():
    return load_config([command.CONFIG])


@pytest.fixture
def runs(config):
    kept = {}
    for run in config.runs:
        watched = run.spec.observe or run.spec.parameters.get("learner")
        if run.spec.policy in TRUE and not watched:
            kept.setdefault((costs.policy_of(run.spec), run.spec.n_arms), run)
    return list(kept.values())


def test_the_costs_of_chunks_are_found_again(runs):
    chunks = []
    for run in runs:
        spec = replace(run.spec, observe=())
        start, each = TRUE[spec.policy]
        empty = command.Taken(spec, 100, 0.0)
        seconds = empty.rounds * (start + each * spec.n_arms) * 1e-9 + empty.overhead
        chunks.append(empty._replace(seconds=seconds))
    fitted = command.fitted(chunks)["policies"]
    arms = {name: {c.spec.n_arms for c in chunks if c.spec.policy == name} for name in TRUE}
    assert max(map(len, arms.values())) > 1
    for name, cost in fitted.items():
        start, each = TRUE[name.partition(",")[0]]
        for n_arms in arms[name.partition(",")[0]]:
            assert cost[0] + cost[1] * n_arms == pytest.approx(start + each * n_arms, rel=0.1)


def test_costs_are_written_beside_those_that_a_fit_says_nothing_of(tmp_path, monkeypatch):
    before = command.FILE.read_text()
    monkeypatch.setattr(command, "FILE", tmp_path / "costs.yaml")
    command.FILE.write_text(before)
    nothing = {"policies": {}, "observers": {}}
    command.write(nothing | {"policies": {"ucb1": [0.0, 0.0]}})
    assert command.FILE.read_text() == before
    command.write({"policies": {"ucb1": [3.5, 0.25]}, "observers": {"new": [0.0, 0.0]}})
    written = command.read_yaml(command.FILE)
    assert written["policies"] == costs.COSTS["policies"] | {"ucb1": [3.5, 0.25]}
    assert written["observers"] == costs.COSTS["observers"] | {"new": [0, 0]}
    assert command.FILE.read_text().startswith(before.partition("policies:")[0])


def test_the_log_of_a_job_says_what_each_chunk_took(tmp_path, runs):
    run = next(each for each in runs if each.replicates > 10)
    file = run.chunk_file(next(iter(run.chunks())))
    (tmp_path / "simulate").mkdir()
    (tmp_path / "simulate" / "one.log").write_text(f"results/{file} 12.50 s\nanother line\n")
    (chunk,) = command.taken(tmp_path)
    assert (chunk.spec, chunk.seconds) == (run.spec, 12.5)


@pytest.mark.parametrize(
    ("cores", "before", "between", "seconds"),
    [
        (1, 0.0, 0.0, 9.0),
        (2, 0.0, 0.0, 5.0),
        (100, 0.0, 0.0, 5.0),
        (1, 10, 0.5, 20.5),
        (2, 10, 0.5, 16),
    ],
)
def test_tasks_wait_for_what_they_need_and_for_a_core(cores, before, between, seconds):
    """The run starts once, and each task once more."""
    assert makespan(CHAIN, cores, before, between) == seconds


def test_the_critical_path_is_the_longest_chain_of_tasks():
    assert [task.name for task in scaling.critical_path(CHAIN)] == ["a", "b"]


def test_a_task_that_waits_for_nothing_there_is_refused():
    with pytest.raises(ValueError, match="wait for what there is not: nowhere"):
        makespan([Task("a", 1.0, frozenset({"nowhere"}))], 1, 0.0, 0.0)


@pytest.mark.slow
def test_what_is_recorded_is_the_workflow_as_configured():
    plan, seconds = scaling.planned(scaling.CONFIG), scaling.read_jobs()
    tasks = scaling.workflow(plan, seconds)
    assert {task.name for task in tasks} == seconds.keys(), "record a run: scaling.py --record"
    with pytest.raises(ValueError, match="how long these jobs took: site"):
        scaling.workflow(plan, {key: value for key, value in seconds.items() if key != "site"})
