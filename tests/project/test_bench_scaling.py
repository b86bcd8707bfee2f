"""The model of a run on many cores: what is known by hand, and what benchmark files say."""

import pytest
import scaling
from scaling import Task, makespan

CHAIN = [Task("a", 3.0, frozenset()), Task("b", 2.0, frozenset({"a"})), Task("c", 4.0, frozenset())]


@pytest.mark.parametrize(("cores", "seconds"), [(1, 9.0), (2, 5.0), (100, 5.0)])
def test_tasks_wait_for_what_they_need_and_for_a_core(cores, seconds):
    assert makespan(CHAIN, cores, 0.0, 0.0) == seconds


def test_starting_costs_once_for_the_run_and_once_for_each_task():
    assert makespan(CHAIN, 1, 10.0, 0.5) == 10.0 + 9.0 + 3 * 0.5
    assert makespan(CHAIN, 2, 10.0, 0.5) == 10.0 + 5.0 + 2 * 0.5


def test_a_task_that_waits_for_nothing_there_is_refused():
    with pytest.raises(ValueError, match="wait for what there is not: nowhere"):
        makespan([Task("a", 1.0, frozenset({"nowhere"}))], 1, 0.0, 0.0)


@pytest.fixture(scope="module")
def config():
    return scaling.load_config([scaling.CONFIG])


@pytest.mark.slow
def test_what_is_recorded_is_the_workflow_as_configured(config):
    seconds = scaling.read_jobs()
    tasks = scaling.workflow(config, seconds)
    assert {task.name for task in tasks} == seconds.keys(), "record a run: scaling.py --record"
    with pytest.raises(ValueError, match="how long these jobs took: site"):
        scaling.workflow(config, {key: one for key, one in seconds.items() if key != "site"})
