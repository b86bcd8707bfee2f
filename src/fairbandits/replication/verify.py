"""Check every file of a run against its footer, the configuration and the lock of results."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairbandits.data import store
from fairbandits.data.provenance import figure_code, replay_code
from fairbandits.data.store import StoreError, read_footer, read_table, replicate_hashes
from fairbandits.engine.streams import RULE
from fairbandits.replication.code import code_of_all
from fairbandits.replication.datasets import expect, expect_all_rows, load_dataset, read_chunk
from fairbandits.replication.simulate import simulate_chunk
from fairbandits.settings.config import LEDGER, Config, Experiment, Run
from fairbandits.settings.schemas import ConfigError

#: Most listed problems of one kind, and most kinds.
LISTED, KINDS = 5, 8


def _check_run(config: Config, run: Run) -> tuple[dict[int, str], list[str]]:
    """Return the hashes of a run's replicates, in order, and the problems of its chunk files."""
    hashes: dict[int, str] = {}
    problems, experiment = [], config.experiment_of(run)
    data = config.results / experiment.dataset
    for chunk in run.chunks():
        file = config.results / run.chunk_file(chunk)
        try:
            with _named(file):
                facts = {"seed": config.seed_of(experiment), "seed_rule": RULE}
                footer, table = read_chunk(file, run.spec, **facts)
                found = replicate_hashes(_columns(table))
                said = dict(enumerate(footer["hashes"], footer["replicates"][0]))
                if differing := _differing(str(file), found, said, "the footer says"):
                    raise StoreError(differing[0])
                hashes |= found
        except StoreError as error:
            problem = str(error)
            if data.exists() and not (file.exists() and "is stale: " in problem):
                # the workflow ignores chunks once their dataset exists
                reason = problem.partition("; ")[0]
                names = f"{file} and {data}" if file.exists() else data
                problem = f"{reason}; delete {names}, and `fairbandits replicate` makes both anew"
            problems.append(problem)
    if not problems and sorted(hashes) != list(range(run.replicates)):
        wanted = f"must hold replicates 0 to {run.replicates - 1}, got {sorted(hashes)}"
        problems.append(f"the chunks of {run.key} {wanted}")
    return dict(sorted(hashes.items())), problems


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Turn any error from a damaged file into a StoreError that names it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OSError, ConfigError, pa.ArrowException) as error:
        words = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise StoreError(f"{file} is damaged ({words}); delete it and run again") from error


def write_lock(config: Config, file: Path) -> None:
    """Write the lock: a run's content hashes in a line, and the digests behind seeds."""
    content: dict[str, Any] = {"seed": config.seed, "runs": {}}
    for run in config.runs:
        hashes, problems = _check_run(config, run)
        if problems:
            raise StoreError(problems[0])
        content["runs"][run.key] = " ".join(hashes.values())
    if not config.exploratory:
        content["ledgers"] = _digests(config)
    with store.replacing(file) as temporary:
        temporary.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n")


def read_lock(file: Path) -> dict[str, Any]:
    """Return the lock, with its file's name for messages; StoreError if it cannot be read."""
    try:
        lock = json.loads(file.read_text(encoding="utf-8"))
        if not (isinstance(lock, dict) and "seed" in lock and isinstance(lock.get("runs"), dict)):
            raise ValueError("no seed and runs in it")
        if lock["seed"] == LEDGER and not isinstance(lock.get("ledgers"), dict):
            raise ValueError("its seeds follow from ledgers, and it has no digests of those")
    except (OSError, ValueError) as error:
        raise StoreError(f"{file} cannot be read as a lock of results: {error}") from error
    return lock | {"name": file.name}


def verify(config: Config, lock: dict[str, Any], sample: int, seed: int) -> list[str]:
    """Return the problems of the results on disk; a `sample` of replicates is simulated again."""
    if problems := _other_seed(config, lock):
        return problems
    for run in config.runs:
        hashes, wrong = _check_run(config, run)
        problems += [*wrong, *_compare(run.key, hashes, lock, run.key)]
        locked = len(lock["runs"].get(run.key, "").split())
        if locked > run.replicates:
            words = f"{locked} replicates, the configuration {run.replicates}"
            problems.append(f"{run.key}: {lock['name']} has {words}")
    known = {run.key for run in config.runs}
    words = f"is in {lock['name']} but not in the configuration"
    problems += [f"{key} {words}" for key in lock["runs"] if key not in known]
    problems += verify_tables(config, lock)
    generator = np.random.default_rng(seed)
    for _ in range(sample):
        run = config.runs[generator.integers(len(config.runs))]
        replicate = int(generator.integers(run.replicates))
        columns = simulate_chunk(run.spec, config.seed_of(config.experiment_of(run)), [replicate])
        again = replicate_hashes(columns)
        problems += _compare(f"{run.key}, simulated again", again, lock, run.key)
    return problems


def verify_tables(config: Config, lock: dict[str, Any]) -> list[str]:
    """Return the problems of datasets, drawn curves and replays on disk, with or without chunks."""
    if problems := _other_seed(config, lock):
        return problems
    problems = [one for block in config.experiments for one in _check_dataset(config, block, lock)]
    return problems + _check_tables(config)


def _other_seed(config: Config, lock: dict[str, Any]) -> list[str]:
    """Return a line where the lock is of another seed, or for each experiment of other rules."""
    if lock["seed"] != config.seed:
        words = f"seed {lock['seed']}, the configuration has {config.seed}"
        return [f"{lock['name']} was made with {words}"]
    if config.exploratory:
        return []
    own, locked = _digests(config), lock["ledgers"]
    return [
        f"{lock['name']} was made under other rules of {name}: what decides the claims that read "
        f"it has digest {own.get(name, 'none')}, the lock {locked.get(name, 'none')}"
        for name in dict.fromkeys((*own, *locked))
        if own.get(name) != locked.get(name)
    ]


def _digests(config: Config) -> dict[str, str]:
    """Return the digests that seeds follow from, by experiment or suite."""
    return {
        f"{one.paper}/{one.suite or one.name}": digest
        for one in config.experiments
        if (digest := config.ledger_of(one))
    }


def _check_dataset(config: Config, experiment: Experiment, lock: dict[str, Any]) -> list[str]:
    file = config.results / experiment.dataset
    if not file.exists():  # collecting the chunks makes it
        return []
    own = {"seed": config.seed_of(experiment), "ledger": config.ledger_of(experiment)}
    try:
        with _named(file):
            table, footer = load_dataset(file)
            expect(footer, experiment.facts() | own, file)
            expect_all_rows(file)
    except StoreError as error:
        return [str(error)]
    problems = []
    for run in experiment.runs:
        rows = table.filter(pc.equal(table["run"], run.name)).drop(["run", "policy", "law"])
        rows = rows.select([one for one in rows.column_names if rows[one].null_count < len(rows)])
        for schema in _possible(rows):
            hashes = replicate_hashes(_columns(rows.cast(schema)))
            other = _compare(f"{file}, {run.name}", hashes, lock, run.key)
            if not other:
                break
        content = store.content_of_run(hashes.values())
        said = footer["content"].get(run.name, "none")
        if not other and content != said:
            other = [f"{file}, {run.name} has content hash {content}, the footer says {said}"]
        problems += other
    return problems


def _possible(rows: pa.Table) -> Iterator[pa.Schema]:
    """Yield the schemas that a run's chunks can have had: plays are pulls, or probabilities."""
    yield rows.schema
    plays = rows["plays"]
    if pa.types.is_floating(plays.type) and pc.all(pc.equal(plays, pc.floor(plays))).as_py():
        place = rows.schema.get_field_index("plays")
        yield rows.schema.set(place, pa.field("plays", pa.int64()))


def _check_tables(config: Config) -> list[str]:
    """Return the problems of the tables of drawn curves and of the replays on disk."""
    wanted = {}
    for paper, figure in config.figures:
        facts = {"kind": "figure", "paper": paper, "figure": figure, "code": figure_code(paper)}
        wanted[config.results / paper / f"{figure}.parquet"] = facts
    for one in config.replays:
        wanted[config.results / one.table] = {"kind": "replay", "code": replay_code()}
    problems = []
    for file, facts in wanted.items():
        if not file.exists():  # drawing, or replaying, makes it
            continue
        try:
            with _named(file):
                footer = read_footer(file)
                expect(footer, facts, file)
                read_table(file)
                for drawn in footer.get("datasets", ()):
                    _expect_fresh(drawn, config, file)
        except StoreError as error:
            problems.append(str(error))
    return problems


def _expect_fresh(drawn: dict[str, Any], config: Config, file: Path) -> None:
    """Raise StoreError if a table was drawn from another dataset than the expected one."""
    one = config.experiment(drawn["paper"], drawn["experiment"])
    now = {"seed": config.seed_of(one), "code": code_of_all(run.spec for run in one.runs)}
    for key, value in now.items():
        if (was := drawn[key]) != value:
            words = f"{one.name} had {key} {was} when it was drawn, now {value}"
            raise StoreError(f"{file} is stale: {words}")


def summarised(problems: Sequence[str], listed: int = LISTED) -> Iterator[str]:
    """Yield a line per problem, only the first of many of one kind or of many kinds."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for problem in problems:  # one kind differs only in files, names and numbers
        kind = tuple(word for word in problem.split() if not re.search(r"[\d/_-]", word))
        kinds.setdefault(kind, []).append(problem)
    groups = list(kinds.values())
    for some in groups[:KINDS]:
        more = len(some) - listed
        yield from some if more <= 1 else some[:listed]
        if more > 1:
            yield f"... and {more} more like the last"
    if more := sum(map(len, groups[KINDS:])):
        yield f"... and {more} more of other kinds; --all lists them"


def _compare(what: str, hashes: Mapping[int, str], lock: dict[str, Any], key: str) -> list[str]:
    """Return a line on the replicates of a run whose hashes are not those of the lock, if any."""
    if (line := lock["runs"].get(key)) is None:
        return [f"{what} is not in {lock['name']}"]
    return _differing(what, hashes, dict(enumerate(line.split())), f"{lock['name']} has")


def _differing(
    what: str, hashes: Mapping[int, str], wanted: Mapping[int, str], says: str
) -> list[str]:
    """Return a line on the replicates whose hashes are not the wanted ones, if any."""
    other = [one for one, value in hashes.items() if wanted.get(one) != value]
    if not other:
        return []
    first, *rest = other
    more = f"; {len(rest)} more of its {len(hashes)} replicates differ" if rest else ""
    found = f"has content hash {hashes[first]}, {says} {wanted.get(first, 'none')}{more}"
    return [f"{what}: replicate {first} {found}"]


def _columns(table: pa.Table) -> dict[str, np.ndarray]:
    return {name: table[name].to_numpy() for name in table.column_names}
