"""Bundles: each chunk and dataset is made once, in jobs of about a minute, on every machine."""

import json
from collections import Counter
from dataclasses import replace

import pytest

import real
import shrunk
from fairbandits.engine.vectors import LANES
from fairbandits.replication.bundles import bundles_of, jobs_of, read_plan, write_plans
from fairbandits.settings.config import build_config, load_config
from fairbandits.settings.costs import BLOCK, MOST, fitting_chunk, seconds_of_replicate
from fairbandits.settings.schemas import ROOT

SMOKE = [ROOT / "config" / name for name in ("config.yaml", "smoke.yaml")]


@pytest.fixture(scope="module", params=["paper", "smoke"])
def config(request):
    return real.config() if request.param == "paper" else load_config(SMOKE)


def changed(config, key, **changes):
    changing = shrunk.run_of(config, key)
    other = replace(changing, spec=replace(changing.spec, **changes))
    experiments = [
        replace(each, runs=tuple(other if run is changing else run for run in each.runs))
        for each in config.experiments
    ]
    return replace(config, experiments=tuple(experiments))


def test_every_chunk_is_simulated_once_and_every_dataset_collected_once(config):
    simulating, jobs = jobs_of(config)
    files = Counter(file for job in simulating for file in job.outputs)
    assert set(files.values()) == {1}
    assert set(files) == {run.chunk_file(chunk) for run in config.runs for chunk in run.chunks()}
    assert Counter(file for job in jobs for file in job.outputs) == Counter(
        experiment.dataset for experiment in config.experiments
    )
    assert sorted(file for job in jobs for file in job.inputs) == sorted(files)


def test_jobs_take_about_a_minute():
    config = real.config()
    jobs, _ = jobs_of(config)
    for job in jobs:
        assert job.seconds <= MOST or len(job.outputs) == 1, job.name
        assert job.seconds <= 1.5 * MOST, f"{job.name}: its chunk should have fewer replicates"
    # cut and packed well enough: not many more jobs than there are minutes
    assert len(jobs) < 2 * sum(job.seconds for job in jobs) / MOST
    for bundle in bundles_of(config):
        if len(bundle.parts) > 1:
            total = sum(chunk.seconds for part in bundle.parts for chunk in part)
            assert total > MOST
            assert len({each.suite or each.name for each in bundle.experiments}) == 1


@pytest.mark.parametrize(
    ("chunk", "replicates", "seconds", "fits"),
    [
        (50, 50, 1.0, 50),  # one file, whatever is in it
        (100, 50, 0.5, 100),
        (50, 50, 2.0, 24),  # 29 would fit
        (20, 50, 1.0, 16),
        (50, 50, 9.0, 6),  # less than a block
        (50, 50, 100.0, 1),
        (3, 50, 1.0, 3),
    ],
)
def test_files_hold_whole_blocks_of_replicates(chunk, replicates, seconds, fits):
    assert fitting_chunk(chunk, replicates, seconds, most=60) == fits
    assert BLOCK == LANES


def plans_that_differ(config, other, kind):
    """Return the names of jobs of a kind, 0 or 1, whose plans are others."""
    before, after = ({job.name: job.plan for job in jobs_of(c)[kind]} for c in (config, other))
    assert before.keys() == after.keys()
    return [name for name in before if before[name] != after[name]]


def test_a_change_of_a_run_changes_one_plan_of_each_kind(config):
    other = changed(config, "banditq/oracle_lfg/lfg-uniform02", parameters={"eta": 3})
    assert [len(plans_that_differ(config, other, kind)) for kind in (0, 1)] == [1, 1]


def test_another_freeze_or_salt_plans_all_anew(config):
    for other in (replace(config, frozen="0" * 64), replace(config, salt="1")):
        assert len(plans_that_differ(config, other, 0)) == len(jobs_of(config)[0])


def test_a_finer_cut_has_more_jobs_of_the_same_replicates():
    usual = shrunk.settings(["banditq"], 1) | {"scale": "paper"}
    del usual["limits"]
    finer = build_config(usual | {"job_seconds": 5}, "test")
    numbers = [len(jobs_of(each)[0]) for each in (build_config(usual, "test"), finer)]
    assert numbers[1] > 5 * numbers[0]
    for run in finer.runs:
        assert run.chunk == 1 or run.chunk * seconds_of_replicate(run.spec) <= 5


def test_what_figures_wait_for_comes_first(config):
    jobs, collecting = jobs_of(config)
    shown = [job.priority for job in jobs if job.shown]
    others = [job.priority for job in jobs + collecting if not job.shown]
    assert min(shown) > max(others)
    assert min(job.priority for job in collecting if job.shown) > max(shown)
    by_length = sorted((job for job in jobs if job.shown), key=lambda job: -job.seconds)
    priorities = [job.priority for job in by_length]
    assert priorities == sorted(priorities, reverse=True)


def test_plans_say_what_is_to_be_done(tmp_path):
    config = load_config(SMOKE)
    config = replace(config, folders=config.folders | {"results": str(tmp_path)})
    simulating, collecting = jobs_of(config)
    write_plans(config, [*simulating, *collecting])
    for job in simulating:
        chunks = read_plan(tmp_path / job.plan, "chunks")
        assert [task["out"] for task in chunks] == [tmp_path / file for file in job.outputs]
        for task in chunks:
            key = "/".join(task["out"].relative_to(tmp_path).parts[1:4])
            run = shrunk.run_of(config, key)
            assert task["run"] == run.spec
            assert task["seed"] == config.root_seed
            replicates = task["replicates"]
            assert f"{replicates[0]}-{replicates[-1]}" == task["out"].stem
    for job in collecting:
        datasets = read_plan(tmp_path / job.plan, "datasets")
        assert [task["out"] for task in datasets] == [tmp_path / file for file in job.outputs]
        facts = {experiment.dataset: experiment.facts() for experiment in config.experiments}
        for task in datasets:
            wanted = facts[str(task["out"].relative_to(tmp_path))]
            assert task["seed"] == config.root_seed
            assert task["experiment"] == json.loads(json.dumps(wanted))
            assert list(task["experiment"]["runs"]) == list(wanted["runs"])  # also their order
