"""Check the tables of a run against their footers, the configuration and the lock of results."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairbandits.data import store
from fairbandits.data.store import StoreError, content_of_run, named, replicate_hashes
from fairbandits.replication.code import code_of_all
from fairbandits.replication.datasets import expect, expect_all_rows, expect_drawn, load_dataset
from fairbandits.replication.recorded import blocks_of
from fairbandits.replication.simulate import simulate_chunk
from fairbandits.settings.config import Config, Experiment, Run

#: Most listed problems of one kind.
LISTED = 5


#: Table -> what its footer must say, other than of datasets.
Facts = Mapping[str, Mapping[str, Any]]


def write_lock(config: Config, files: Mapping[str, str], out: Path) -> None:
    """Write the lock: hashes of the content of runs, of committed `files`, and the root seed.

    A run has its replicates' in a line. What is computed of runs has none, since its last digits
    differ between processors: `verify --deep` computes it again.
    """
    content: dict[str, Any] = {"seed": config.root_seed, "runs": {}, "files": dict(files)}
    for experiment in config.experiments:
        for run, hashes, wrong in _runs(config, experiment):
            if wrong:
                raise StoreError(wrong[0])
            content["runs"][run.key] = " ".join(hashes.values())
    with store.replacing(out) as temporary:
        temporary.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n")


def of_results(config: Config) -> dict[str, Any]:
    """Return a lock made of the datasets on disk, for results that have none; of sound ones."""
    runs: dict[str, str] = {}
    for experiment in config.experiments:
        try:
            for run, hashes, _ in _runs(config, experiment):
                runs[run.key] = " ".join(hashes.values())
        except StoreError:  # it is missing, or named where it is checked
            continue
    return {"name": "its dataset", "seed": config.root_seed, "runs": runs, "files": {}}


def verify(config: Config, lock: dict[str, Any], facts: Facts, sample: int, seed: int) -> list[str]:
    """Return the problems of the tables on disk; a `sample` of replicates is simulated again.

    `facts` are those of all tables beside datasets.
    """
    if problems := _other_seed(config, lock):
        return problems
    known = {run.key: run.replicates for run in config.runs}
    for key, line in lock["runs"].items():
        if key not in known:
            problems.append(f"{key} is in {lock['name']} but not in the configuration")
        elif (locked := len(line.split())) > known[key]:
            sizes = f"{locked} replicates, the configuration {known[key]}"
            problems.append(f"{key}: {lock['name']} has {sizes}")
    problems += verify_tables(config, lock, facts)
    generator = np.random.default_rng(seed)
    runs = [run for run in config.runs if run.key in lock["runs"]]
    for _ in range(sample if runs else 0):
        run = runs[generator.integers(len(runs))]
        replicate = int(generator.integers(run.replicates))
        columns = simulate_chunk(run.spec, config.root_seed, [replicate])
        again = replicate_hashes(columns)
        problems += _compare(f"{run.key}, simulated again", again, lock, run.key)
    return problems


def verify_tables(config: Config, lock: dict[str, Any], facts: Facts) -> list[str]:
    """Return the problems of those datasets and other tables that are on disk."""
    if problems := _other_seed(config, lock):
        return problems
    for experiment in config.experiments:
        file = config.results / experiment.dataset
        if not file.exists():
            continue
        try:
            for run, hashes, wrong in _runs(config, experiment):
                other = _compare(f"{file}, {run.name}", hashes, lock, run.key)
                problems += other or wrong
        except StoreError as error:
            problems.append(str(error))
    for name, wanted in facts.items():
        file = config.results / name
        if not file.exists():
            continue
        try:
            _check(config, file, wanted)
        except StoreError as error:
            problems.append(str(error))
    return problems


def _check(config: Config, file: Path, facts: Mapping[str, Any]) -> None:
    """Raise StoreError for a changed table, and for one of other facts or of other data."""
    with named(file):
        footer = store.read_footer(file)
        expect(footer, facts, file)
        store.read_table(file)
        for drawn in footer.get("datasets", ()):
            experiment = config.experiment(drawn["paper"], drawn["experiment"])
            code = code_of_all(run.spec for run in experiment.runs)
            expect_drawn(drawn, {"seed": config.root_seed, "code": code}, file)


def _other_seed(config: Config, lock: dict[str, Any]) -> list[str]:
    """Return a line where the lock is of another seed."""
    if lock["seed"] == config.root_seed:
        return []
    seeds = f"seed {lock['seed']}, the configuration has {config.root_seed}"
    return [f"{lock['name']} was made with {seeds}"]


def _runs(
    config: Config, experiment: Experiment
) -> Iterator[tuple[Run, dict[int, str], list[str]]]:
    """Yield the runs of a dataset, the hashes of their replicates, and where the footer differs."""
    file = config.results / experiment.dataset
    with named(file):
        table, footer = load_dataset(file)
        expect(footer, experiment.facts() | {"seed": config.root_seed}, file)
        expect_all_rows(file)
        blocks, content = blocks_of(table), footer["content"]
    for run in experiment.runs:
        rows = blocks[run.name].drop(["run", "policy", "law"])
        names = [name for name in rows.column_names if rows[name].null_count < len(rows)]
        columns = {name: rows[name].to_numpy() for name in names}
        hashes, said = replicate_hashes(columns), content.get(run.name, "none")
        if content_of_run(hashes.values()) != said and (columns["plays"] % 1 == 0).all():
            # pulls, in one file with runs whose plays are probabilities
            hashes = replicate_hashes(columns | {"plays": columns["plays"].astype(np.int64)})
        content_now = content_of_run(hashes.values())
        problem = f"{file}, {run.name} has content hash {content_now}, the footer says {said}"
        yield run, hashes, [] if content_now == said else [problem]


def summarised(problems: Sequence[str]) -> Iterator[str]:
    """Yield a line per problem, only the first of many of one kind."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for problem in problems:  # one kind differs only in files, names and numbers
        kind = tuple(word for word in problem.split() if not re.search(r"[\d/_-]", word))
        kinds.setdefault(kind, []).append(problem)
    for some in kinds.values():
        more = len(some) - LISTED
        yield from some if more <= 1 else some[:LISTED]
        if more > 1:
            yield f"... and {more} more like the last"


def _compare(what: str, hashes: Mapping[int, str], lock: dict[str, Any], key: str) -> list[str]:
    """Return a line on the replicates of a run whose hashes are not those of the lock, if any."""
    if (line := lock["runs"].get(key)) is None:
        return [f"{what} is not in {lock['name']}"]
    wanted = dict(enumerate(line.split()))
    differing = [replicate for replicate, hash_ in hashes.items() if wanted.get(replicate) != hash_]
    if not differing:
        return []
    first, *rest = differing
    more = f"; {len(rest)} more of its {len(hashes)} replicates differ" if rest else ""
    both = f"{hashes[first]}, {lock['name']} has {wanted.get(first, 'none')}{more}"
    return [f"{what}: replicate {first} has content hash {both}"]
