"""Join chunks into one dataset per experiment, and check its invariants before anything uses it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairbandits.data import store
from fairbandits.data.dictionary import RECORDED
from fairbandits.data.provenance import joint
from fairbandits.data.store import StoreError, content_of_run, read_footer, read_table, row_groups
from fairbandits.rationals import quota_numerators
from fairbandits.replication.code import code_of
from fairbandits.replication.recorded import KEYS, blocks_of, cells_of, specs_of
from fairbandits.settings.config import Experiment
from fairbandits.settings.schemas import ROOT, paper_file
from fairbandits.settings.spec import OF_INSTANCE, RunSpec, shares_of, swept

#: Columns of every dataset; a run's others follow them: horizon if several, swept parameters, drawn
#: means, deficits and the policies' probes.
COMMON = (*KEYS, "plays", "reward")

#: Columns of deficits -> which pulls are owed.
DEFICITS = {"floor_deficit": "floor(quota * t)", "deficit": "quota * t"}
#: Values of which a small run has fewer.
SCALED = ("horizon", "horizons", "checkpoints")


def collect(
    chunks: Sequence[Path],
    experiment: dict[str, Any],
    seed: int,
    out: Path,
) -> None:
    """Write the dataset of an experiment's `facts` from chunks in folders named like its runs."""
    hashes: dict[str, dict[int, str]] = {name: {} for name in experiment["runs"]}
    schemas = []
    for file in chunks:
        if (name := file.parent.name) not in hashes:
            raise StoreError(f"{file} does not belong here: there is no run {name!r}")
        footer = fresh(file, "chunk")
        hashes[name] |= dict(enumerate(footer["hashes"], footer["replicates"][0]))
        schemas.append(_labelled(pq.read_schema(file).empty_table(), "", "", "").schema)
    codes = {name: code_of(spec) for name, spec in specs_of(experiment).items()}
    content = {
        name: content_of_run(by_replicate[replicate] for replicate in sorted(by_replicate))
        for name, by_replicate in hashes.items()
    }
    made = {"code": joint(codes.values()), "codes": codes, "content": content}
    footer = {"kind": "dataset", "seed": seed, **made, **experiment}
    unified = pa.unify_schemas(schemas, promote_options="permissive")
    columns = dict.fromkeys((*COMMON, *(name for schema in schemas for name in schema.names)))
    schema = pa.schema([unified.field(name) for name in columns])
    store.write_tables(out, schema, _runs(chunks, experiment, seed, out), footer)


def _runs(
    chunks: Sequence[Path], experiment: dict[str, Any], seed: int, out: Path
) -> Iterator[pa.Table]:
    """Yield the checked rows of each run; only one run is in memory."""
    drawn = None
    for name, spec in specs_of(experiment).items():
        files = [file for file in chunks if file.parent.name == name]
        replicates, parts = [], []
        for file in sorted(files, key=lambda path: int(path.stem.partition("-")[0])):
            try:
                footer, table = read_chunk(file, spec, seed=seed)
            except StoreError as error:  # what is missing is made again
                way_out = "" if "; " in str(error) else f"; delete {file} and run again"
                raise StoreError(f"{error}{way_out}") from error
            first, last = footer["replicates"]
            replicates += range(first, last + 1)
            parts.append(_labelled(table, name, spec.policy, spec.law))
        if replicates != list(range(experiment["replicates"])):
            raise StoreError(
                f"{out}: the chunks of {name} must hold replicates 0 to "
                f"{experiment['replicates'] - 1} once each, in order; got {replicates}"
            )
        cells = list(zip(*(cells_of(part, spec) for part in parts), strict=True))
        if spec.drawn_means:
            first = np.concatenate([part["mean"].to_numpy() for part in cells[0]])
            means = first.reshape(len(replicates), -1, spec.n_arms)[:, 0]
            drawn = means if drawn is None else drawn
            if not np.array_equal(means, drawn):
                first, others = next(iter(experiment["runs"])), "have other means than those of"
                raise StoreError(f"{out}: the replicates of {name} {others} {first}")
        yield pa.concat_tables(part for cell in cells for part in cell)


def read_chunk(file: Path, spec: RunSpec, **facts: Any) -> tuple[dict[str, Any], pa.Table]:
    """Return a run's chunk, its footer first; StoreError if it is foreign, stale or unsound."""
    footer = fresh(file, "chunk", run=spec.to_json(), **facts)
    table = read_table(file)
    expect_rows(table, spec, footer["replicates"], file)
    guard(table, spec, file)
    return footer, table


def fresh(file: Path, kind: str, **facts: Any) -> dict[str, Any]:
    """Return the footer of a file; StoreError unless it is of a kind, has these facts, is fresh."""
    footer = read_footer(file)
    expect(footer, {"kind": kind} | facts, file)
    refuse_stale(footer, file)
    return footer


def load_dataset(
    file: Path,
    columns: list[str] | None = None,
    rows: Callable[[dict[str, Any]], pc.Expression] | None = None,
) -> tuple[pa.Table, dict[str, Any]]:
    """Return existing columns and some rows of a dataset, and its footer; StoreError if stale."""
    footer = fresh(file, "dataset")
    return read_table(file, columns, None if rows is None else rows(footer)), footer


def refuse_stale(footer: dict[str, Any], file: Path) -> None:
    """Raise StoreError if other code than the present made a chunk, or a run of a dataset."""
    runs, codes = footer.get("runs"), footer.get("codes", {})
    if footer["kind"] == "chunk":
        runs, codes = {"": footer["run"]}, {"": footer["code"]}
    for name, run in runs.items():
        made = codes.get(name, "of an earlier version")
        try:
            code = code_of(RunSpec.from_json(run))
        except ValueError as error:
            code = f"without it ({error})"
        if made != code:
            reason = f"code {made} made {name or 'it'}, this is {code}"
            raise StoreError(f"{file} is stale: {reason}; `fairbandits replicate` makes it anew")


def expect_drawn(drawn: Mapping[str, Any], now: Mapping[str, Any], file: Path) -> None:
    """Raise StoreError if a figure's table was drawn from a dataset of other seed or code."""
    for key in ("seed", "code"):
        if drawn[key] != now[key]:
            had = f"{drawn['experiment']} had {key} {drawn[key]} when it was drawn"
            raise StoreError(f"{file} is stale: {had}, now {now[key]}")


def expect_experiment(footer: dict[str, Any], experiment: Experiment, file: Path) -> None:
    """Raise StoreError unless a dataset is of this experiment, at any scale, and fresh."""
    facts = experiment.facts()
    keys = ("paper", "experiment", "means", "targets", "quotas", "labels")
    expect(footer, {"kind": "dataset"} | {key: facts[key] for key in keys}, file)
    refuse_stale(footer, file)
    ran, configured = (
        {name: run | dict.fromkeys(SCALED) for name, run in record["runs"].items()}
        for record in (footer, facts)
    )
    if ran != configured:
        part = "audit" if experiment.audit else "experiments"
        where = paper_file(experiment.paper, part).relative_to(ROOT)
        raise StoreError(f"{file} was run with other settings than {where} has")


def locked_content(experiment: Experiment, lock: Mapping[str, Any]) -> str:
    """Return a dataset's content hash by the lock; empty if the lock lacks one of its runs."""
    lines = {run.name: lock["runs"].get(run.key, "").split() for run in experiment.runs}
    if not all(lines.values()):
        return ""
    hashes = {name: content_of_run(line) for name, line in lines.items()}
    return store.content_of({"content": hashes})


def shrunk(footer: dict[str, Any], experiment: Experiment) -> bool:
    """Return whether a dataset's rounds or replicates differ from the experiment's."""
    return any(footer[key] != getattr(experiment, key) for key in ("horizon", "replicates"))


def expect(footer: dict[str, Any], wanted: dict[str, Any], file: Path) -> None:
    for key, value in wanted.items():
        if (actual := footer.get(key)) != value:
            difference = f"its {key} is {actual!r}, wanted {value!r}"
            raise StoreError(f"{file} does not belong here: {difference}")


def _labelled(table: pa.Table, name: str, policy: str, law: str) -> pa.Table:
    indices = pa.array(np.zeros(table.num_rows, np.int32))
    for column, value in (("run", name), ("policy", policy), ("law", law)):
        constant = pa.DictionaryArray.from_arrays(indices, pa.array([value]))
        table = table.append_column(column, constant)
    return table


def expect_rows(table: pa.Table, spec: RunSpec, replicates: Sequence[int], file: Path) -> None:
    """Raise StoreError unless each replicate, first to last, has all arms at the same rounds."""
    cells = cells_of(table, spec)
    if sum(rows.num_rows for rows in cells) != table.num_rows or not all(
        _is_whole(rows, cell, spec, np.arange(replicates[0], replicates[1] + 1))
        for cell, rows in zip(spec.cells, cells, strict=True)
    ):
        swept_ones = "".join(f", for each {name} of the sweep" for name in spec.cells[0])
        raise StoreError(
            f"{file}: its rows must be arms 1 to {spec.n_arms} of the same rounds, up to "
            f"{spec.horizon}, of replicates {replicates[0]} to {replicates[1]}{swept_ones}"
        )


def _is_whole(rows: pa.Table, cell: dict[str, Any], spec: RunSpec, replicates: np.ndarray) -> bool:
    """Return whether a cell's rows have each replicate, round and arm once, in order."""
    rounds = rows["round"].to_numpy()[: rows.num_rows // replicates.size : spec.n_arms]
    grid = np.meshgrid(replicates, rounds, np.arange(1, spec.n_arms + 1), indexing="ij")
    keys = zip(("replicate", "round", "arm"), grid, strict=True)
    return bool(
        rounds.size
        and (np.diff(rounds, prepend=0) > 0).all()
        and rounds[-1] == spec.horizon_of(cell)
        and all(np.array_equal(rows[name].to_numpy(), values.ravel()) for name, values in keys)
        and all((rows[name].to_numpy() == swept(value)).all() for name, value in cell.items())
    )


def expect_all_rows(file: Path, *, guarded: bool = False) -> None:
    """Raise StoreError unless a dataset has each run's rows once; `guarded`, sound ones, too."""
    footer = read_footer(file)
    specs, replicates = specs_of(footer), [0, footer["replicates"] - 1]
    swept_names = dict.fromkeys(name for spec in specs.values() for name in spec.cells[0])
    groups = row_groups(file, None if guarded else [*KEYS, *swept_names])
    # a filter by run would read all rows for each of them
    blocks = (block for group in groups for block in blocks_of(group).items())
    for name, parts in groupby(blocks, itemgetter(0)):
        if name not in specs:
            where = "are of no run that its footer has, or apart from others of it"
            raise StoreError(f"{file}: rows of {name} {where}")
        table, spec = pa.concat_tables(rows for _, rows in parts), specs.pop(name)
        expect_rows(table, spec, replicates, file)
        labels = table.unify_dictionaries()
        for column, wanted in (("run", name), ("policy", spec.policy), ("law", spec.law)):
            if (values := labels[column].unique().to_pylist()) != [wanted]:
                raise StoreError(f"{file}: the {column} of {name} must be {wanted!r}, got {values}")
        if guarded:
            complete = (field for field in table.schema if not table[field.name].null_count)
            numbers = [field.name for field in complete if pa.types.is_primitive(field.type)]
            guard(table.select(numbers), spec, file)
    for spec in specs.values():  # of runs without rows
        expect_rows(pq.read_schema(file).empty_table(), spec, replicates, file)


def guard(table: pa.Table, spec: RunSpec, file: Path) -> None:
    """Raise StoreError, with the first place, for numbers that no policy and rewards can give."""
    for cell in cells_of(table, spec):
        replicates = cell["replicate"].to_numpy()
        shape = (replicates[-1] - replicates[0] + 1, -1, spec.n_arms)
        grid = {name: cell[name].to_numpy().reshape(shape) for name in cell.column_names}
        rounds = grid["round"][0, :, :1]
        checks = {f"{name} is finite": np.isfinite(values) for name, values in grid.items()}
        total = grid["plays"].sum(axis=2, keepdims=True)
        checks["plays sum to the round"] = np.abs(total - rounds) <= 1e-9 * rounds
        for name in (key for key in grid if key in RECORDED and RECORDED[key].grows):
            rises = checks[f"{name} never falls"] = np.ones_like(grid[name], bool)
            rises[:, 1:] = grid[name][:, 1:] >= grid[name][:, :-1]
        for what, holds in (checks | _invariants(grid, rounds, spec)).items():
            for replicate, number, _ in np.argwhere(~holds)[:1]:
                where = f"replicate {replicates[0] + replicate}, round {rounds[number, 0]}"
                raise StoreError(f"{file}: that {what} fails first in {where}")


def _invariants(grid: dict[str, np.ndarray], rounds: np.ndarray, spec: RunSpec) -> dict:
    """Return what must hold of queues, deficits and drawn means, and where it does."""
    checks = {}
    if "idleness" in grid and "queue" in grid:  # E3 of the fluid equilibrium, on every path
        target = _targets(spec, grid)
        owed = target * rounds - np.where(target > 0, grid["reward"], 0.0)
        gap = np.abs(owed - (grid["queue"] - grid["idleness"]))
        checks["owed reward = queue - idleness"] = gap <= 1e-9 * (1.0 + rounds)
    for name, formula in DEFICITS.items():
        if name in grid or f"{name}_sup" in grid:
            lacking = _deficits(spec, grid)[name]
            checks[f"{name} = {formula} - plays"] = grid.get(name, lacking) == lacking
            checks[f"{name}_sup is at least {name}"] = grid.get(f"{name}_sup", lacking) >= lacking
    if spec.drawn_means:
        low, high = map(np.array, spec.ranges)
        for arm, mean in spec.drawn_means.get("fixed", ()):
            low[arm - 1] = high[arm - 1] = mean
        if spec.law == "uniform02_clipped":  # its true means are below those drawn
            low = -np.inf
        checks["means are in their range"] = (grid["mean"] >= low) & (grid["mean"] <= high)
        checks["a replicate keeps its means"] = grid["mean"] == grid["mean"][:, :1]
    return checks


def _deficits(spec: RunSpec, grid: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return how many pulls each arm lacks of its quota: of whole ones, and exactly."""
    if "quota" in grid:
        numerators, denominator = grid["quota"], spec.drawn_quotas["denominator"]
    else:
        numerators, denominator = quota_numerators(spec.quotas)
    owed, plays = np.array(numerators) * grid["round"], grid["plays"]
    exact = (owed - denominator * plays) / denominator
    return {"floor_deficit": owed // denominator - plays, "deficit": exact}


def _targets(spec: RunSpec, grid: dict[str, np.ndarray]) -> np.ndarray:
    """Return the targets of a run's policy, which may depend on the means."""
    nested = spec.parameters.get("learner_parameters", {})
    given = {**spec.parameters, **nested}["targets"]
    if given != OF_INSTANCE:
        return np.array(given, dtype=float)
    means = list(grid["mean"].T) if "mean" in grid else spec.means
    return np.array(spec.targets or shares_of(spec.target_shares, means), dtype=float).T
