"""The real configuration, cut down, and its datasets, made without the workflow."""

from pathlib import Path

from fairbandits.replication.datasets import collect
from fairbandits.replication.simulate import write_chunk
from fairbandits.settings.config import build_config

FOLDERS = ("results", "figures", "logs", "benchmarks")


def settings(papers, seed, folder="nowhere", **limits):
    """Return the settings of a small run of some papers; `limits` are those of a smoke run."""
    usual = {"horizon": 40, "replicates": 3, "chunk": 2, "checkpoints": {"linear": 10, "log": 5}}
    return {
        "seed": seed,
        "scale": "smoke",
        "papers": papers,
        "pathvars": dict.fromkeys(FOLDERS, str(folder)),
        "limits": usual | limits,
    }


def config(papers, seed, **limits):
    """Return the configuration of such a small run."""
    return build_config(settings(papers, seed, **limits), "test")


def experiment_of(paper, name, seed, **limits):
    """Return an experiment of such a small run."""
    return config([paper], seed, **limits).experiment(paper, name)


def chunks_of(experiment, folder, seed):
    """Simulate all chunks of an experiment; return their files."""
    files = []
    for run in experiment.runs:
        for chunk in run.chunks():
            first, last = map(int, chunk.split("-"))
            files.append(Path(folder, run.name, f"{chunk}.parquet"))
            write_chunk(run.spec, seed, range(first, last + 1), files[-1])
    return files


def dataset_of(experiment, folder, seed):
    """Simulate an experiment and collect it, its place in `folder` being that of the results."""
    file = Path(folder, experiment.dataset)
    chunks = chunks_of(experiment, Path(folder, "cache", experiment.paper, experiment.name), seed)
    collect(chunks, experiment.facts(), seed, file)
    return file
