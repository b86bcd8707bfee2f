"""Which chunks one process simulates, and which datasets one process collects.

A process takes a second or more to start, so short experiments share one, and long ones are cut
into several. The workflow plans on every start, so neither Numba nor pandas is imported here.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from fairbandits.data.whole import replacing
from fairbandits.replication.code import code_of_all
from fairbandits.settings.config import Config, Experiment, Run
from fairbandits.settings.costs import WRITTEN, seconds_of_replicate
from fairbandits.settings.schemas import ConfigError, read_json
from fairbandits.settings.spec import RunSpec

#: Priority of jobs that figures wait for.
SHOWN = 1000

Item = TypeVar("Item")


class Chunk(NamedTuple):
    """Some replicates of one run: a file."""

    run: Run
    replicates: str  # "first-last"
    seconds: float  # expected time of simulating them


class Bundle(NamedTuple):
    """Experiments whose datasets are collected in one process."""

    paper: str
    name: str  # its purpose, or its only experiment
    experiments: list[Experiment]  # whole suites, in the order of the configuration
    shown: bool  # whether figures show them
    parts: list[list[Chunk]]  # the chunks that each process simulates


def bundles_of(config: Config) -> list[Bundle]:
    """Return the bundles of a configuration, those of figures apart from all others.

    Those longer than `job_seconds`, or of a variant, have parts: whole runs, or chunks of one.
    """
    most = config.job_seconds
    units: dict[tuple[str, bool, str], list[Experiment]] = {}
    for experiment in config.experiments:
        shown = bool(experiment.figures or experiment.companion_to)
        name = experiment.suite or experiment.name
        units.setdefault((experiment.paper, shown, name), []).append(experiment)
    bundles = []
    short: dict[tuple[str, bool], list[list[Experiment]]] = {}
    for (paper, shown, name), unit in units.items():
        runs = _runs(unit)
        if sum(map(_seconds, runs)) <= most and unit[0].scale != "variant":
            short.setdefault((paper, shown), []).append(unit)
            continue
        parts = []
        for together in _packed(runs, _seconds, most):
            parts += _packed(chain(*together), lambda chunk: chunk.seconds, most)
        bundles.append(Bundle(paper, name, unit, shown, parts))
    for (paper, shown), few in short.items():
        packed = _packed(few, lambda unit: sum(map(_seconds, _runs(unit))), most)
        for number, together in enumerate(packed, 1):
            name = f"{'figures' if shown else 'evidence'}_{number}"
            experiments = [*chain(*together)]
            bundles.append(Bundle(paper, name, experiments, shown, [[*chain(*_runs(experiments))]]))
    return bundles


def _runs(experiments: Iterable[Experiment]) -> list[list[Chunk]]:
    """Return the chunks of each run of some experiments."""
    chunks_of_runs = []
    for run in (run for experiment in experiments for run in experiment.runs):
        each = seconds_of_replicate(run.spec)
        seconds = {part: len(range_of(part)) * each + WRITTEN for part in run.chunks()}
        chunks_of_runs.append([Chunk(run, part, seconds[part]) for part in seconds])
    return chunks_of_runs


def _packed(
    items: Iterable[Item], seconds: Callable[[Item], float], most: float
) -> list[list[Item]]:
    """Return items in order, grouped so that a group takes at most `most` seconds if it can."""
    packed: list[list[Item]] = []
    taken = math.inf
    for item in items:
        length = seconds(item)
        if taken + length > most:
            packed.append([])
            taken = 0.0
        packed[-1].append(item)
        taken += length
    return packed


def _seconds(chunks: Iterable[Chunk]) -> float:
    return sum(chunk.seconds for chunk in chunks)


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


def jobs_of(config: Config) -> tuple[list[Job], list[Job]]:
    """Return the jobs that simulate, and those that collect."""
    simulating, collecting = [], []
    results = config.folders["results"]
    for bundle in bundles_of(config):
        name = f"{bundle.paper}_{bundle.name}"
        for number, chunks in enumerate(bundle.parts, 1):
            part = f"_{number}" if len(bundle.parts) > 1 else ""
            outputs = [chunk.run.chunk_file(chunk.replicates) for chunk in chunks]
            tasks = [
                {
                    "run": chunk.run.spec.to_json(),
                    "seed": config.root_seed,
                    "replicates": chunk.replicates,
                    "out": f"{results}/{file}",
                }
                for chunk, file in zip(chunks, outputs, strict=True)
            ]
            made = f"simulate_{name}{part}", [], outputs, bundle.shown, _seconds(chunks)
            code = code_of_all(chunk.run.spec for chunk in chunks)
            simulating.append(Job(*made, json.dumps(tasks, sort_keys=True), code))
        files, tasks = [], []
        for block in bundle.experiments:
            chunks = [run.chunk_file(chunk) for run in block.runs for chunk in run.chunks()]
            files += chunks
            task = {"chunks": [f"{results}/{file}" for file in chunks], "experiment": block.facts()}
            tasks.append(task | {"seed": config.root_seed, "out": f"{results}/{block.dataset}"})
        outputs = [block.dataset for block in bundle.experiments]
        made = f"collect_{name}", files, outputs, bundle.shown, 0.05 * len(files)
        code = code_of_all(run.spec for block in bundle.experiments for run in block.runs)
        # runs in the order of the configuration
        collecting.append(Job(*made, json.dumps(tasks), code))
    return simulating, collecting


def write_plans(config: Config, jobs: Iterable[Job]) -> None:
    """Write the plans of jobs that are not there yet."""
    for job in jobs:
        file = config.results / job.plan
        if not file.is_file():
            with replacing(file, lasting=False) as temporary:
                temporary.write_text(job.content, encoding="utf-8")


def read_plan(file: Path, what: str) -> list[dict[str, Any]]:
    """Return a plan's tasks, of ``chunks`` or ``datasets``; ConfigError if it is no such plan."""
    try:
        tasks, readers = read_json(file), TASKS[what].items()
        return [task | {key: read(task[key]) for key, read in readers} for task in tasks]
    except FileNotFoundError:
        raise ConfigError(f"{file} does not exist; the workflow writes it") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file} cannot be read as a plan: {error}") from error
    except (AttributeError, KeyError, TypeError):
        needed = f"{what}, each with {', '.join(TASKS[what])}"
        raise ConfigError(f"{file} is no plan: it needs {needed}") from None


def range_of(text: str) -> range:
    """Return the replicates ``first-last``; ValueError for another text."""
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise ValueError(f"replicates must be a range such as 0-49, got {text!r}")
    return range(int(first), int(last) + 1)


#: What the tasks of a plan say of chunks, and of datasets, and how that is read.
TASKS: dict[str, dict[str, Callable]] = {
    "chunks": {"run": RunSpec.from_json, "seed": int, "replicates": range_of, "out": Path},
    "datasets": {
        "chunks": lambda files: [*map(Path, files)],
        "experiment": dict,
        "seed": int,
        "out": Path,
    },
}
