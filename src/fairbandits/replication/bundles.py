"""Which chunks one process simulates, and which datasets one process collects.

A process takes a second or more to start, so short experiments share one, and long ones are cut
into several. The workflow plans on every start, so neither Numba nor pandas is imported here.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from fairbandits.policies import HOMES
from fairbandits.policies.own import is_own
from fairbandits.policies.parameters import a, whole
from fairbandits.replication.code import code_of_all
from fairbandits.settings.config import Config, Experiment, Run
from fairbandits.settings.costs import WRITTEN, seconds_of_replicate
from fairbandits.settings.schemas import ConfigError, meant
from fairbandits.settings.spec import RunSpec

#: Priority of jobs that figures wait for.
SHOWN = 1000
#: What the entries of a plan say of chunks, and of datasets.
KEYS = {
    "chunks": ("seed", "name", "run", "replicates", "out"),
    "datasets": ("seed", "experiment", "ledger", "chunks", "out"),
}

Item = TypeVar("Item")


@dataclass(frozen=True)
class Chunk:
    """Some replicates of one run: a file."""

    run: Run
    replicates: str  # "first-last"
    seconds: float  # expected time of simulating them

    @property
    def file(self) -> str:
        """Path in the folder of results."""
        return self.run.chunk_file(self.replicates)


@dataclass(frozen=True)
class Bundle:
    """Experiments whose datasets are collected in one process."""

    paper: str
    name: str  # its purpose, or its only experiment
    experiments: list[Experiment]  # whole suites, in the order of the configuration
    shown: bool  # whether figures show them
    parts: list[list[Chunk]]  # the chunks that each process simulates


def bundles_of(config: Config) -> list[Bundle]:
    """Return the bundles of a configuration, those of figures apart from all others.

    Experiments longer than `job_seconds` are bundles of several parts: whole runs, or chunks of one
    run. So is each experiment of a variant, since few of them are run.
    """
    most = config.job_seconds
    units: dict[tuple[str, bool], dict[str, list[Experiment]]] = {}
    for one in config.experiments:
        kind = units.setdefault((one.paper, bool(one.figures or one.companion_to)), {})
        kind.setdefault(one.suite or one.name, []).append(one)
    bundles = []
    for (paper, shown), kind in units.items():
        short = []
        for name, unit in kind.items():
            runs = _runs(unit)
            if sum(map(_seconds, runs)) <= most and unit[0].scale != "variant":
                short.append(unit)
                continue
            parts = []
            for together in _packed(runs, _seconds, most):
                parts += _packed(chain(*together), lambda chunk: chunk.seconds, most)
            bundles.append(Bundle(paper, name, unit, shown, parts))
        packed = _packed(short, lambda unit: sum(map(_seconds, _runs(unit))), most)
        for number, together in enumerate(packed, 1):
            name = f"{'figures' if shown else 'evidence'}_{number}"
            unit = [*chain(*together)]
            bundles.append(Bundle(paper, name, unit, shown, [[*chain(*_runs(unit))]]))
    return bundles


def _runs(unit: Iterable[Experiment]) -> list[list[Chunk]]:
    """Return the chunks of each run of some experiments."""
    return [_chunks(run) for experiment in unit for run in experiment.runs]


def _packed(
    items: Iterable[Item], seconds: Callable[[Item], float], most: float
) -> list[list[Item]]:
    """Return items in order, grouped so that a group takes at most `most` seconds if it can."""
    packed: list[list[Item]] = []
    taken = math.inf
    for item in items:
        own = seconds(item)
        if taken + own > most:
            packed.append([])
            taken = 0.0
        packed[-1].append(item)
        taken += own
    return packed


def _chunks(run: Run) -> list[Chunk]:
    one = seconds_of_replicate(run.spec, run.cost)
    lengths = {replicates: len(range_of(replicates)) for replicates in run.chunks()}
    return [Chunk(run, replicates, n * one + WRITTEN) for replicates, n in lengths.items()]


def _seconds(chunks: Iterable[Chunk]) -> float:
    return sum(chunk.seconds for chunk in chunks)


# -------------------------------------------------------------------------------------- jobs


@dataclass(frozen=True)
class Job:
    """A process that simulates or collects, and its plan."""

    name: str  # of its rule
    inputs: list[str]  # paths in the folder of results, as `outputs`
    outputs: list[str]
    shown: bool  # whether figures wait for it
    seconds: float  # expected
    content: str  # the plan, as JSON
    code: str  # fingerprint of the code that its runs use

    @property
    def plan(self) -> str:
        """Path of its plan in the folder of results; the name has a hash of the content."""
        digest = hashlib.blake2b(self.content.encode(), digest_size=8).hexdigest()
        return f"cache/plans/{self.name}-{digest}.json"

    @property
    def priority(self) -> int:
        """Larger runs sooner: datasets of figures, then their runs; long jobs before short ones."""
        rank = SHOWN - 1 if self.inputs else min(round(10 * self.seconds), SHOWN - 2)
        return SHOWN * self.shown + rank


def simulations(config: Config, bundles: Sequence[Bundle]) -> list[Job]:
    """Return the jobs that simulate."""
    jobs = []
    for bundle in bundles:
        for number, chunks in enumerate(bundle.parts, 1):
            part = f"_{number}" if len(bundle.parts) > 1 else ""
            name = f"simulate_{bundle.paper}_{bundle.name}{part}"
            entries = [
                {
                    "seed": config.seed_of(config.experiment_of(chunk.run)),
                    "name": chunk.run.key,
                    "run": chunk.run.spec.to_json(),
                    "replicates": chunk.replicates,
                    "out": f"{config.folders['results']}/{chunk.file}",
                }
                for chunk in chunks
            ]
            outputs = [chunk.file for chunk in chunks]
            content = json.dumps(_plan("chunks", entries), sort_keys=True)
            code = code_of_all(chunk.run.spec for chunk in chunks)
            jobs.append(Job(name, [], outputs, bundle.shown, _seconds(chunks), content, code))
    return jobs


def collections(config: Config, bundles: Sequence[Bundle]) -> list[Job]:
    """Return the jobs that collect."""
    results = config.folders["results"]
    jobs = []
    for bundle in bundles:
        files, entries = [], []
        for one in bundle.experiments:
            chunks = [run.chunk_file(chunk) for run in one.runs for chunk in run.chunks()]
            files += chunks
            entry = {"experiment": one.facts(), "ledger": config.ledger_of(one)}
            entry["chunks"] = [f"{results}/{file}" for file in chunks]
            entry |= {"out": f"{results}/{one.dataset}", "seed": config.seed_of(one)}
            entries.append(entry)
        name = f"collect_{bundle.paper}_{bundle.name}"
        outputs = [one.dataset for one in bundle.experiments]
        content = json.dumps(_plan("datasets", entries))  # runs in the order of the configuration
        code = code_of_all(run.spec for one in bundle.experiments for run in one.runs)
        jobs.append(Job(name, files, outputs, bundle.shown, 0.05 * len(files), content, code))
    return jobs


def _plan(what: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a plan, whose entries have a seed each, or all the plan's."""
    seeds = {entry["seed"] for entry in entries}
    if len(seeds) > 1:
        return {what: entries}
    shared = [{key: entry[key] for key in entry if key != "seed"} for entry in entries]
    return {"seed": seeds.pop(), what: shared}


def write_plans(config: Config, jobs: Iterable[Job]) -> None:
    """Write the plans of jobs that are not there yet."""
    from fairbandits.data.store import replacing  # with NumPy: a start without a run spares it

    for job in jobs:
        file = config.results / job.plan
        if not file.is_file():
            with replacing(file) as temporary:
                temporary.write_text(job.content, encoding="utf-8")


def read_plan(file: Path, what: str) -> list[dict[str, Any]]:
    """Return a plan's ``chunks`` or ``datasets``; ConfigError if it is no such plan."""
    try:
        plan = json.loads(file.read_text(encoding="utf-8"))
        shared = {"seed": plan["seed"]} if "seed" in plan else {}
        entries = [{key: (shared | one)[key] for key in KEYS[what]} for one in plan[what]]
    except FileNotFoundError:
        raise ConfigError(f"{file} does not exist; the workflow writes it") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file} cannot be read as a plan: {error}") from error
    except (KeyError, TypeError):
        needed = f"{what}, each with {', '.join(KEYS[what])}"
        raise ConfigError(f"{file} is no plan: it needs {needed}") from None
    try:
        return list(map(_task, entries))
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None


def _task(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with paths and its run; ValueError for what is of another kind."""
    whole(at_least=0)("seed", entry["seed"], "")
    file = a(str, "named by a text")
    task = entry | {"out": Path(file("a file", entry["out"], ""))}
    if "chunks" in entry:
        chunks = a(list, "a list of files")("chunks", entry["chunks"], "")
        return task | {"chunks": [Path(file("a file", chunk, "")) for chunk in chunks]}
    a(str, "a text")("name", entry["name"], "")
    run = RunSpec.from_json(a(dict, "a JSON object")("run", entry["run"], ""))
    if not isinstance(run.policy, str) or not (is_own(run.policy) or run.policy in HOMES):
        raise ValueError(f"no policy {run.policy!r}{meant(str(run.policy), list(HOMES))}")
    return task | {"run": run, "replicates": range_of(entry["replicates"])}


def range_of(text: str) -> range:
    """Return the replicates ``first-last``; ValueError for another text."""
    first, _, last = str(text).partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise ValueError(f"replicates must be a range such as 0-49, got {text!r}")
    return range(int(first), int(last) + 1)
