"""What is compiled and what interpreted, and that processes do not compile the same twice."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from commands import process
from fairbandits import UCB1, FairLearn, Instance, run
from fairbandits.engine import kinds
from fairbandits.engine.loops import LOOPS

TWO = Instance((0.9, 0.1))

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def limits(monkeypatch, tmp_path):
    """Start as a process that has compiled nothing, with limits that are easy to reach."""
    monkeypatch.setattr(kinds, "COMPILING", 12 * 1000)
    monkeypatch.setattr(kinds, "LOADING", 12 * 100)
    monkeypatch.setattr(kinds, "FIRST", 0)
    monkeypatch.setattr(kinds, "_done", {})
    monkeypatch.setattr(kinds, "_compiled", set())
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return monkeypatch


@pytest.fixture
def ways(limits):
    """Return a list that gets ``compiled`` or ``interpreted`` for each loop that is run."""
    taken = []
    chosen = kinds.chosen

    def noting(loop, *arguments):
        took = chosen(loop, *arguments)
        taken.append("compiled" if took is loop else "interpreted")
        return took

    limits.setattr("fairbandits.library.simulation.chosen_loop", noting)
    return taken


@compiled_only
def test_short_runs_are_interpreted_until_compiling_is_cheaper(ways):
    for _ in range(3):
        run(UCB1(), TWO, 150, replicates=2, checkpoints=[150])  # 3600 units of 12 000
    assert ways == ["interpreted"] * 3
    run(FairLearn(["1/4", "1/4"], 0, "ucb1"), TWO, 100, checkpoints=[100])  # another kind
    run(UCB1(), TWO, 150, replicates=2, checkpoints=[150])
    assert ways[3:] == ["interpreted", "compiled"]
    run(UCB1(), TWO, 2, checkpoints=[2])  # it is there: nothing to be gained
    assert ways[-1] == "compiled"


@compiled_only
def test_long_runs_are_compiled_at_once(ways):
    run(UCB1(), TWO, 500, replicates=2, checkpoints=[500])
    assert ways == ["compiled"]


@compiled_only
def test_what_the_disk_has_is_compiled_earlier(ways, limits):
    run(UCB1(), TWO, 10, checkpoints=[10], compiled=True)
    limits.setattr(kinds, "_compiled", set())  # as in the next process
    run(UCB1(), TWO, 90, checkpoints=[90])
    run(UCB1(), TWO, 10, checkpoints=[10])
    assert ways == ["compiled", "interpreted", "compiled"]
    limits.setattr(kinds, "_compiled", set())
    limits.setattr(kinds, "_done", {})
    limits.setattr(kinds, "FIRST", 12 * 100)
    run(UCB1(), TWO, 150, checkpoints=[150])
    run(UCB1(), TWO, 50, checkpoints=[50])
    assert ways[3:] == ["interpreted", "compiled"]


@compiled_only
def test_a_folder_that_cannot_be_written_is_no_obstacle(limits, tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "missing", tmp_path / "file" / "below"):
        limits.setattr(numba.config, "CACHE_DIR", str(folder))
        limits.setattr(kinds, "_compiled", set())
        result = run(UCB1(), TWO, 1000, checkpoints=[1000])
        assert np.array_equal(result.plays.sum(axis=2), [[1000]])


@compiled_only
def test_an_error_while_compiling_leaves_no_mark(limits, tmp_path):
    def fails(*arguments):
        raise RuntimeError("no compiler")

    fails.py_func = LOOPS["bandit"].py_func
    limits.setattr("fairbandits.library.simulation.LOOPS", {"bandit": fails})
    with pytest.raises(RuntimeError, match="no compiler"):
        run(UCB1(), TWO, 1000)
    assert [mark.stat().st_size for mark in tmp_path.glob("*.compiled")] == [0]


@compiled_only
@pytest.mark.slow
def test_two_processes_compile_a_kind_once(tmp_path):
    code = (
        "from fairbandits import UCB1, Instance, run\n"
        "from fairbandits.engine.loops import LOOPS\n"
        "run(UCB1(), Instance((0.9, 0.1)), 10, compiled=True)\n"
        "print(sum(LOOPS['bandit'].stats.cache_misses.values()))\n"
    )
    environment = os.environ | {"FAIRBANDITS_CACHE_DIR": str(tmp_path)}

    def misses(_):
        return int(process(sys.executable, "-c", code, env=environment).stdout)

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(misses, range(2))) == [0, 1]
