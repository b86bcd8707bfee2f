"""Datasets as arrays: each cell of each run of an experiment."""

import itertools
from collections.abc import Callable, Iterable, Iterator
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


def cell_sizes(table: pa.Table, spec: RunSpec) -> list[int]:
    """Return the number of rows of each cell in a run's table, in order.

    Horizons apart have a number of rounds each; ValueError if the table does not tell them apart.
    """
    n_cells = len(spec.cells)
    if not spec.apart:
        return [table.num_rows // n_cells] * n_cells
    if "horizon" not in table.column_names:
        names = ", ".join(table.column_names) or "none"
        raise ValueError(f"runs of horizons apart need the column horizon, got {names}")
    horizon, cells_each = table["horizon"].to_numpy(), n_cells // len(spec.horizons)
    sizes = [int((horizon == one).sum()) // cells_each for one in spec.horizons]
    return [size for size in sizes for _ in range(cells_each)]


def cells_of(table: pa.Table, spec: RunSpec) -> list[pa.Table]:
    """Return the rows of each cell in a run's table."""
    sizes = cell_sizes(table, spec)
    starts = itertools.accumulate(sizes, initial=0)
    return [table.slice(start, size) for start, size in zip(starts, sizes, strict=False)]


def runs_of(
    table: pa.Table, footer: dict[str, Any], keep: Callable[[RunSpec], bool] = lambda spec: True
) -> Iterator[RunData]:
    """Yield each cell of the dataset's runs for which `keep` holds, in configured order."""
    blocks = _blocks(table)
    for name, spec in specs_of(footer).items():
        if not keep(spec):
            continue
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


def _blocks(table: pa.Table) -> dict[str, pa.Table]:
    """Return the rows of each run, without a copy where they are contiguous (as written)."""
    if not table.num_rows:
        return {}
    runs = table["run"].dictionary_encode().combine_chunks()
    codes, names = runs.indices.to_numpy(), runs.dictionary.to_pylist()
    starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
    found = [names[codes[start]] for start in starts]
    if len(set(found)) < len(found):
        return {name: table.filter(pc.equal(table["run"], name)) for name in set(found)}
    places = zip(found, itertools.pairwise([*starts, table.num_rows]), strict=True)
    return {name: table.slice(start, end - start) for name, (start, end) in places}


def joined(runs: Iterable[RunData]) -> Iterator[RunData]:
    """Yield runs, with those that differ only in their horizon joined: a round for each horizon."""
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
