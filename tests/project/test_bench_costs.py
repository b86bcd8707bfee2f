"""The costs by which the work is cut: a fit to what chunks took finds those that made them."""

from dataclasses import replace

import costs as command
import pytest

from fairbandits.settings import costs
from fairbandits.settings.config import load_config

TRUE = {"ucb1": (4.0, 0.5), "lfg": (9.0, 1.5), "ht_ucb": (7.0, 2.0)}


@pytest.fixture
def runs():
    found = {}
    for run in load_config([command.CONFIG]).runs:
        if (
            run.spec.policy in TRUE
            and not run.spec.observe
            and not run.spec.parameters.get("learner")
        ):
            found.setdefault((costs.policy_of(run.spec), run.spec.n_arms), run)
    return list(found.values())


def test_the_costs_of_chunks_are_found_again(runs):
    chunks = []
    for run in runs:
        spec = replace(run.spec, observe=())
        start, each = TRUE[spec.policy]
        empty = command.Taken(spec, 100, 0.0)
        seconds = empty.rounds * (start + each * spec.n_arms) * 1e-9 + empty.overhead
        chunks.append(empty._replace(seconds=seconds))
    found = command.fitted(chunks)["policies"]
    arms = {name: {one.spec.n_arms for one in chunks if one.spec.policy == name} for name in TRUE}
    assert max(map(len, arms.values())) > 1
    for name, cost in found.items():
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
    run = next(one for one in runs if one.replicates > 10)
    file = run.chunk_file(next(iter(run.chunks())))
    (tmp_path / "simulate").mkdir()
    (tmp_path / "simulate" / "one.log").write_text(f"results/{file} 12.50 s\nanother line\n")
    (one,) = command.taken(tmp_path)
    assert (one.spec, one.seconds) == (run.spec, 12.5)
