"""Check every file of a run against its footer, the configuration and the lock of results."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairbandits.experiments.config import LEDGER, Config, Experiment, Run
from fairbandits.experiments.datasets import (
    expect,
    expect_rows,
    guard,
    load_dataset,
    refuse_stale,
)
from fairbandits.experiments.simulate import simulate_chunk
from fairbandits.store import (
    StoreError,
    content_of_run,
    read_footer,
    read_table,
    replacing,
    replicate_hashes,
)


def chunk_path(config: Config, run: Run, chunk: str) -> Path:
    """Return where a chunk of a run lies."""
    return Path(config.folders["results"]) / run.chunk_file(chunk)


def hash_run(config: Config, run: Run) -> list[str]:
    """Return the hashes of a run's replicates, in order, after checking each chunk file.

    Raises
    ------
    StoreError
        If a chunk is missing, damaged, foreign, stale, or fails a guard.
    """
    hashes: dict[int, str] = {}
    for chunk in run.chunks():
        file = chunk_path(config, run, chunk)
        footer = read_footer(file)
        seed = config.seed_of(run.paper)
        expect(footer, {"kind": "chunk", "run": run.spec.to_json(), "seed": seed}, file)
        refuse_stale(footer, file)
        table = read_table(file)
        expect_rows(table, run.spec, footer["replicates"], file)
        guard(table, run.spec, file)
        found = replicate_hashes(_columns(table))
        said = dict(enumerate(footer["hashes"], footer["replicates"][0]))
        for replicate, value in found.items():
            if said.get(replicate) != value:
                raise StoreError(
                    f"{file}: replicate {replicate} has content hash {value}, the footer says "
                    f"{said.get(replicate, 'none')}"
                )
        hashes |= found
    if sorted(hashes) != list(range(run.replicates)):
        raise StoreError(
            f"the chunks of {run.key} must hold replicates 0 to {run.replicates - 1}, "
            f"got {sorted(hashes)}"
        )
    return [hashes[replicate] for replicate in range(run.replicates)]


def write_lock(config: Config, file: Path) -> None:
    """Write the lock: one line per run with its replicates' content hashes.

    Where the seeds follow from the ledgers it has their digests; with a seed that was chosen, which
    has no part in the rules, it has none.
    """
    runs = {run.key: " ".join(hash_run(config, run)) for run in config.runs}
    content: dict[str, Any] = {"seed": config.seed, "runs": runs}
    if not config.exploratory:
        content["ledgers"] = dict(config.rules)
    with replacing(file) as temporary:
        temporary.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n")


def read_lock(file: Path) -> dict[str, Any]:
    """Return the lock, or raise StoreError."""
    try:
        lock = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{file} cannot be read as a lock of results: {error}") from error
    if not (isinstance(lock, dict) and "seed" in lock and isinstance(lock.get("runs"), dict)):
        raise StoreError(f"{file} cannot be read as a lock of results: no seed and runs in it")
    if lock["seed"] == LEDGER and not isinstance(lock.get("ledgers"), dict):
        raise StoreError(
            f"{file} cannot be read as a lock of results: its seeds follow from ledgers, and it "
            "has no digests of them"
        )
    return lock


def verify(config: Config, lock: dict[str, Any], sample: int, seed: int) -> list[str]:
    """Return what is wrong with the results on disk, nothing when all is well.

    Parameters
    ----------
    config : Config
        What should have been run.
    lock : dict
        From `read_lock`.
    sample : int
        How many randomly chosen replicates to simulate again.
    seed : int
        Chooses them.
    """
    problems = []
    if lock["seed"] != config.seed:
        return [
            f"results.lock was made with seed {lock['seed']}, the configuration has {config.seed}"
        ]
    if not config.exploratory and (other := list(_other_rules(config, lock["ledgers"]))):
        return other
    for run in config.runs:
        try:
            found = hash_run(config, run)
        except StoreError as error:
            problems.append(str(error))
            continue
        problems += _compare(run.key, dict(enumerate(found)), lock)
        locked = len(lock["runs"].get(run.key, "").split())
        if locked > run.replicates:
            problems.append(
                f"{run.key}: results.lock has {locked} replicates, the configuration "
                f"{run.replicates}"
            )
    problems += [
        f"{key} is in results.lock but not in the configuration"
        for key in lock["runs"]
        if key not in {run.key for run in config.runs}
    ]
    for experiment in config.experiments:
        problems += _check_dataset(config, experiment, lock)
    generator = np.random.default_rng(seed)
    for _ in range(sample):
        run = config.runs[generator.integers(len(config.runs))]
        replicate = int(generator.integers(run.replicates))
        columns = simulate_chunk(run.spec, config.seed_of(run.paper), [replicate])
        again = replicate_hashes(columns)
        problems += _compare(f"{run.key}, simulated again", again, lock, run.key)
    return problems


def _other_rules(config: Config, locked: dict[str, str]) -> Iterator[str]:
    """Yield which ledgers have other rules than those that the locked results' seeds are of."""
    for paper in dict.fromkeys(one.paper for one in config.experiments):
        was, now = locked.get(paper, "none"), config.rules.get(paper, "none")
        if was != now:
            yield (
                f"results.lock was made under other rules of {paper}: papers/{paper}/claims.yaml "
                f"has digest {now}, the lock {was}"
            )


def _check_dataset(config: Config, experiment: Experiment, lock: dict[str, Any]) -> list[str]:
    file = Path(config.folders["results"]) / experiment.dataset
    if not file.exists():  # collecting the chunks makes it
        return []
    try:
        table, footer = load_dataset(file)
        own = {"seed": config.seed_of(experiment.paper)}
        own["ledger"] = config.ledger_of(experiment.paper)
        expect(footer, experiment.facts() | own, file)
    except StoreError as error:
        return [str(error)]
    problems = []
    for run in experiment.runs:
        rows = table.filter(pc.equal(table["run"], run.name)).drop(["run", "policy", "law"])
        empty = [name for name in rows.column_names if rows[name].null_count == rows.num_rows]
        rows = _as_recorded(rows.drop(empty), chunk_path(config, run, run.chunks()[0]))
        found = replicate_hashes(_columns(rows))
        other = _compare(f"{file}, {run.name}", found, lock, run.key)
        content, said = content_of_run(found.values()), footer["content"].get(run.name, "none")
        if not other and content != said:
            other = [f"{file}, {run.name} has content hash {content}, the footer says {said}"]
        problems += other
    return problems


def _compare(
    what: str, found: dict[int, str], lock: dict[str, Any], key: str | None = None
) -> list[str]:
    locked = lock["runs"].get(key or what)
    if locked is None:
        return [f"{what} is not in results.lock"]
    hashes = dict(enumerate(locked.split()))
    return [
        f"{what}: replicate {replicate} has content hash {value}, "
        f"results.lock has {hashes.get(replicate, 'none')}"
        for replicate, value in found.items()
        if hashes.get(replicate) != value
    ]


def _as_recorded(rows: pa.Table, chunk: Path) -> pa.Table:
    """Return rows with the types of the run's own chunk.

    Runs with either feedback in one dataset share a column of plays: pulls, and sums of
    probabilities.
    """
    if not chunk.exists():  # reported where the chunks are checked
        return rows
    schema = pq.read_schema(chunk)
    return rows.cast(pa.schema([schema.field(name) for name in rows.column_names]))


def _columns(table: pa.Table) -> dict[str, np.ndarray]:
    return {name: table[name].to_numpy() for name in table.column_names}
