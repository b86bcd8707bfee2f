"""Datasets as arrays: each cell of each run of an experiment."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairbandits.settings.spec import RunSpec, swept

#: Columns that identify the row.
KEYS = ("run", "policy", "law", "replicate", "round", "arm")


class Dataset(NamedTuple):
    """A dataset and its footer."""

    table: pa.Table
    footer: dict[str, Any]


@dataclass(frozen=True)
class RunData:
    """One cell of a run of a dataset, as arrays."""

    name: str  # of the run
    policy: str  # its name in the experiment
    law: str
    rounds: np.ndarray  # recorded ones, (n_rounds,)
    #: (n_replicates, n_rounds, n_arms): plays, reward, deficits, probes; mean where drawn
    values: dict[str, np.ndarray]
    cell: dict[str, float]  # value of each swept parameter; horizon if several
    spec: RunSpec


def specs_of(footer: dict[str, Any]) -> dict[str, RunSpec]:
    """Return the specifications of a dataset's runs, by name."""
    return {name: RunSpec.from_json(content) for name, content in footer["runs"].items()}


def cells_of(table: pa.Table, spec: RunSpec) -> list[pa.Table]:
    """Return the rows of each cell in a run's table; horizons apart have their own numbers."""
    n_cells = len(spec.cells)
    sizes = [table.num_rows // n_cells] * n_cells
    if spec.apart:
        horizon, cells_each = table["horizon"].to_numpy(), n_cells // len(spec.horizons)
        rows = (int((horizon == end).sum()) // cells_each for end in spec.horizons)
        sizes = [size for size in rows for _ in range(cells_each)]
    starts = itertools.accumulate(sizes, initial=0)
    return [table.slice(start, size) for start, size in zip(starts, sizes, strict=False)]


def runs_of(table: pa.Table, footer: dict[str, Any]) -> Iterator[RunData]:
    """Yield each cell of the dataset's runs, in configured order."""
    blocks = blocks_of(table)
    for name, spec in specs_of(footer).items():
        run = blocks.get(name, table.slice(0, 0))
        policy = name.removesuffix(f"-{spec.law}")
        shape = (footer["replicates"], -1, spec.n_arms)
        for setting, rows in zip(spec.cells, cells_of(run, spec), strict=True):
            values = {
                column: rows[column].to_numpy().reshape(shape)
                for column in rows.column_names
                if column not in (*KEYS, *setting) and rows[column].null_count == 0
            }
            rounds = rows["round"].to_numpy().reshape(shape)
            cell = {parameter: swept(value) for parameter, value in setting.items()}
            yield RunData(name, policy, spec.law, rounds[0, :, 0], values, cell, spec)


def blocks_of(table: pa.Table) -> dict[str, pa.Table]:
    """Return the rows of each run, without a copy: runs are written one after the other."""
    blocks, start = {}, 0
    for entry in pc.value_counts(table.unify_dictionaries()["run"]).to_pylist():
        blocks[entry["values"]] = table.slice(start, entry["counts"])
        start += entry["counts"]
    return blocks


def joined(runs: Iterable[RunData]) -> Iterator[RunData]:
    """Yield runs, those that differ only in their horizon as one, with a round for each."""
    groups: dict[tuple, list[RunData]] = {}
    for run in runs:
        rest = tuple((key, value) for key, value in run.cell.items() if key != "horizon")
        groups.setdefault((run.name, rest), []).append(run)
    for (_, rest), parts in groups.items():
        parts.sort(key=lambda part: part.cell.get("horizon", 0))
        values = {name: [part.values[name] for part in parts] for name in parts[0].values}
        values = {name: np.concatenate(some, axis=1) for name, some in values.items()}
        rounds = np.concatenate([part.rounds for part in parts])
        yield replace(parts[0], rounds=rounds, values=values, cell=dict(rest))
