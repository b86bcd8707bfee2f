"""The real configuration, cut down, and its datasets, made without the workflow."""

import json
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from fairbandits.data.store import read_footer, read_table, write_table
from fairbandits.replication.datasets import collect
from fairbandits.replication.simulate import write_chunk
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ROOT, ConfigError, paper_file, read_yaml

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


def run_of(config, key):
    """Return the run of a configuration that has this key."""
    return {run.key: run for run in config.runs}[key]


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


def sourced(value):
    """Return a value as configuration files have it."""
    return {"value": value, "provenance": "chosen", "source": "a test"}


def policy(name="fair_learn", **parameters):
    """Return a policy of such an experiment."""
    parameters = {key: sourced(value) for key, value in parameters.items()}
    return {"policy": name, "label": name, "parameters": parameters}


def experiment(**changes):
    """Return a small experiment as files have it; a change to None leaves a key out."""
    block = {
        "title": "A test",
        "figures": [],
        "horizon": sourced(200),
        "replicates": sourced(3),
        "means": sourced([0.9, 0.5, 0.1]),
        "quotas": sourced(["1/5", "1/10", "1/20"]),
        "laws": sourced(["bernoulli"]),
        "checkpoints": {"at": [10, 200]},
        "chunk": 2,
        "policies": {"fair": policy(quotas="instance")},
    } | changes
    return {key: value for key, value in block.items() if value is not None}


@cache
def content_of(file):
    """Return the content of a YAML file as JSON, in which no parts are shared."""
    return json.dumps(read_yaml(file))


def refusal_of(folder, paper, part, change, **limits):
    """Return the message for a file of a paper that was changed, in one line."""
    for name in {"experiments", part}:
        file = paper_file(paper, name)
        content = json.loads(content_of(file))
        if name == part:
            change(content)
        place = Path(folder) / file.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(yaml.safe_dump(content))
    given = settings([paper], 1, **limits)
    if not limits:  # at the published scale
        given = {key: value for key, value in given.items() if key != "limits"} | {"scale": "paper"}
    with pytest.raises(ConfigError) as error:
        build_config(given, "test", Path(folder))
    message = str(error.value)
    assert message.startswith(f"papers/{paper}/{part}.yaml: ")
    assert "\n" not in message
    return message


def rewritten(file, change=None, out=None, **footer):
    """Write one of our files again, with changed columns or another footer; return them."""
    table = read_table(file)
    columns = {name: table[name].to_numpy().copy() for name in table.column_names}
    columns = (change(columns) or columns) if change else columns
    write_table(out or file, pa.table(columns), read_footer(file) | footer)
    return columns
