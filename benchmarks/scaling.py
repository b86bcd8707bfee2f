"""Predict how long a run takes on many cores, from what its jobs took: list scheduling.

Reads what every job of the published scale took (jobs.csv beside this file), plays the workflow's
scheduler on 2, 8, 64 and 1000 cores, and writes the table and the plot of docs/speed.md.
"""

import csv
import heapq
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import click
from bench import HERE, ROOT

from fairbandits.cli.workflow import Plan
from fairbandits.data.store import replacing
from fairbandits.library.style import Picture, in_style, save
from fairbandits.replication.bundles import SHOWN, Chunk, bundles_of
from fairbandits.settings.costs import WRITTEN, seconds_of_replicate
from fairbandits.settings.schemas import merge, read_yaml

JOBS = HERE / "jobs.csv"
PAGE, PLOT = ROOT / "docs" / "speed.md", ROOT / "docs" / "scaling"
CONFIG, FINER = (ROOT / "config" / name for name in ("config.yaml", "cluster.yaml"))
CORES = (2, 8, 64, 1000)
DRAWN = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
#: Seconds of Snakemake before the first job, and of each job before it starts; and of a job that
#: is sent to a cluster, which starts a Snakemake of its own.
START, BETWEEN, SENT = 6.0, 0.3, 10.0
#: Of the seconds of a job that simulates, those before it computes.
PROCESS = 1.5
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
#: What the page has between these lines comes from here.
BEGIN, END = "<!-- made by benchmarks/scaling.py -->\n", "<!-- end -->\n"


@dataclass(frozen=True)
class Task:
    """A job: its name, seconds, the names of the jobs that it waits for, and its priority.

    `sent` says whether it is sent to a cluster, where there is one.
    """

    name: str
    seconds: float
    needs: frozenset[str]
    priority: float = 0.0
    sent: bool = False


def makespan(tasks: Sequence[Task], cores: int, start: float, between: float) -> float:
    """Return the seconds until the last task is done, if a core that is free takes the next one.

    The next one is that of the highest priority whose needs are done, the first one of equals.

    Parameters
    ----------
    tasks : sequence of Task
        All tasks.
    cores : int
        How many run at once.
    start, between : float
        Seconds before the first task, and before each on its core.
    """
    waiting = {task.name: len(task.needs) for task in tasks}
    after = defaultdict(list)
    for number, task in enumerate(tasks):
        for name in task.needs:
            after[name].append((number, task))
    ready = [(-task.priority, number) for number, task in enumerate(tasks) if not task.needs]
    heapq.heapify(ready)
    running: list[tuple[float, int]] = []
    now, done = start, 0
    while ready or running:
        while ready and len(running) < cores:
            _, number = heapq.heappop(ready)
            heapq.heappush(running, (now + between + tasks[number].seconds, number))
        now, ended = heapq.heappop(running)
        done += 1
        for number, task in after[tasks[ended].name]:
            waiting[task.name] -= 1
            if not waiting[task.name]:
                heapq.heappush(ready, (-task.priority, number))
    if done < len(tasks):
        missing = sorted(set(after) - {task.name for task in tasks})
        raise ValueError(f"some tasks wait for what there is not: {', '.join(missing)}")
    return now


# ----------------------------------------------------------------------------------- the workflow


def planned(*files: Path) -> Plan:
    """Return the plan of a run with these configurations, the later over the earlier."""
    return Plan(reduce(merge, map(read_yaml, files), {}), ROOT)


def workflow(plan: Plan, seconds: Mapping[str, float]) -> list[Task]:
    """Return all jobs of a run, named as their benchmark files, with what they wait for.

    Raises
    ------
    ValueError
        If a job has no seconds.
    """
    makes: dict[str, str] = {}
    tasks = []
    for name, priority, sent, inputs, outputs in _jobs(plan):
        makes |= dict.fromkeys(outputs, name)
        needs = frozenset(makes[file] for file in inputs if file in makes)
        tasks.append(Task(name, seconds.get(name, math.nan), needs, priority, sent))
    if missing := [task.name for task in tasks if math.isnan(task.seconds)]:
        raise ValueError(f"nothing says how long these jobs took: {', '.join(missing)}")
    return tasks


def _jobs(plan: Plan) -> Iterator[tuple[str, float, bool, list[str], list[str]]]:
    """Yield name, priority, whether it is sent, inputs and outputs of each job, in their order."""
    small = plan.config.scale_name == "smoke"  # whose audit comes first, as in common.smk
    drawing, judging = (0, 2 * SHOWN) if small else (2 * SHOWN, 0)
    for folder, jobs in (("simulate", plan.simulations), ("collect", plan.collections)):
        for job in jobs:
            priority = job.priority % SHOWN if small else job.priority
            files = ([f"<results>/{file}" for file in files] for files in (job.inputs, job.outputs))
            yield f"{folder}/{job.name}", priority, folder == "simulate", *files
    for replay in plan.config.replays:
        name = replay.table.removesuffix(".parquet")
        yield name, SHOWN, True, [], [f"<results>/{replay.table}"]
    for paper, figure in plan.config.figures:
        inputs = plan.drawing(paper, figure).inputs
        name = f"{paper}/{figure}"
        outputs = [f"<figures>/{name}.svg", f"<results>/{name}.parquet"]
        yield name, drawing, False, [*inputs["data"], inputs.get("published", "")], outputs
    for paper in plan.judged:
        name = f"audit/{paper}"
        checked = f"<results>/{name}.checked"
        inputs = [*plan.audited_datasets(SimpleNamespace(paper=paper)), checked]
        if not small:
            yield f"{name}_checked", 4 * SHOWN, False, [], [checked]
        yield name, judging, False, inputs, [f"<results>/{name}.parquet"]
    found = [f"<results>/audit/{paper}.parquet" for paper in plan.judged]
    yield "audit/verdicts", 0, False, found, plan.site_verdicts
    yield "audit/audit", 0, False, plan.site_verdicts, plan.verdicts[:2]
    yield "audit/claims", 0, False, plan.site_verdicts, plan.verdicts[2:]
    yield "arena/standings", 0, False, plan.arena_datasets, plan.arena_tables
    for page in plan.pages:
        shown = plan.page_files(SimpleNamespace(page=page))
        yield f"notebook/{page}", 0, False, shown, [f"<results>/notebooks/{page}.ipynb"]
    pages = [f"<results>/notebooks/{page}.ipynb" for page in plan.pages]
    yield "site", 0, False, pages, plan.site
    yield "manifest", 0, False, [*plan.site, *plan.verdicts], []


# ------------------------------------------------------------------------------- what was measured


def processor_seconds(wall: float, processor: float | None) -> float:
    """Return what a job would have taken on a core of its own.

    Snakemake reads a process's time every half second, after 15 seconds every 30; the share of a
    core that it had until the last reading is taken for the whole.

    Parameters
    ----------
    wall, processor : float
        What it took on the clock, and on the processor up to the last reading.
    """
    last = 15.0 + 30.0 * ((wall - 15.0) // 30.0) if wall >= 15.0 else wall
    if processor is None or processor >= last:
        return wall
    return wall * processor / last


def read_benchmarks(folder: Path) -> dict[str, dict[str, float]]:
    """Return what the benchmark files in a folder say: job -> seconds and megabytes."""
    jobs = {}
    for file in sorted(folder.rglob("*.tsv")):
        with file.open(encoding="utf-8", newline="") as opened:
            row = next(csv.DictReader(opened, delimiter="\t"))
        processor, memory = (
            None if row[key] == "NA" else float(row[key]) for key in ("cpu_time", "max_rss")
        )
        wall = float(row["s"])
        job = file.relative_to(folder).with_suffix("").as_posix()
        if not (job.startswith("simulate/") or "/replay_" in job):
            processor = None  # a fork of the run's server, of which Snakemake sees none
        jobs[job] = {
            "wall": wall,
            "seconds": round(processor_seconds(wall, processor), 2),
            "megabytes": round(memory or 0),
        }
    return jobs


def read_jobs() -> dict[str, float]:
    """Return the recorded seconds of each job of the published scale."""
    with JOBS.open(encoding="utf-8", newline="") as file:
        return {row["job"]: float(row["seconds"]) for row in csv.DictReader(file)}


def write_jobs(plan: Plan, measured: Mapping[str, Mapping[str, float]]) -> None:
    """Record what the jobs of a run at the published scale took.

    Jobs of an earlier cut of the work, whose files are still there, are left out.
    """
    tasks = workflow(plan, {name: row["seconds"] for name, row in measured.items()})
    names = {task.name for task in tasks}
    with replacing(JOBS) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["job", "wall", "seconds", "megabytes"])
        writer.writerows([name, *row.values()] for name, row in measured.items() if name in names)


def paces(plan: Plan, seconds: Mapping[str, float]) -> dict[str, float]:
    """Return how many times what the rule of thumb says each run took: run -> factor.

    The time of a job is that of all runs in it, in the same proportion.
    """
    taken: dict[str, float] = defaultdict(float)
    expected: dict[str, float] = defaultdict(float)
    for name, chunks in _parts(plan):
        factor = max(seconds[name] - PROCESS, 0.1) / sum(chunk.seconds for chunk in chunks)
        for chunk in chunks:
            expected[chunk.run.key] += chunk.seconds
            taken[chunk.run.key] += factor * chunk.seconds
    return {key: taken[key] / expected[key] for key in expected}


def in_another_cut(
    plan: Plan, factors: Mapping[str, float], seconds: Mapping[str, float]
) -> dict[str, float]:
    """Return what the jobs take if the same work is cut as a plan says."""
    jobs = {name: value for name, value in seconds.items() if not name.startswith("simulate/")}
    for name, chunks in _parts(plan):
        jobs[name] = PROCESS + sum(factors[chunk.run.key] * _by_thumb(chunk) for chunk in chunks)
    usual = statistics.mean(value for name, value in seconds.items() if name.startswith("collect/"))
    for job in plan.collections:
        jobs.setdefault(f"collect/{job.name}", usual)
    return jobs


def _parts(plan: Plan) -> Iterator[tuple[str, Sequence[Chunk]]]:
    for bundle in chain(*map(bundles_of, (plan.config, plan.arena))):
        for number, chunks in enumerate(bundle.parts, 1):
            several = f"_{number}" if len(bundle.parts) > 1 else ""
            yield f"simulate/simulate_{bundle.paper}_{bundle.name}{several}", chunks


def _by_thumb(chunk: Chunk) -> float:
    first, last = map(int, chunk.replicates.split("-"))
    return (last - first + 1) * seconds_of_replicate(chunk.run.spec) + WRITTEN


# ------------------------------------------------------------------------------ table and plot


def predictions(tasks: Sequence[Task], cores: int) -> tuple[float, float, float]:
    """Return the minutes of what simulates, of everything, and of everything on a cluster."""
    simulating = [task for task in tasks if task.sent]
    there = [replace(task, seconds=task.seconds + SENT * task.sent) for task in tasks]
    return (
        makespan(simulating, cores, START, BETWEEN) / 60,
        makespan(tasks, cores, START, BETWEEN) / 60,
        makespan(there, cores, START, BETWEEN) / 60,
    )


def table(cuts: Mapping[str, Sequence[Task]]) -> list[str]:
    """Return the lines of the page."""
    lines = [
        "| cut | jobs | cores | simulating, min | everything, min | everything on a cluster, min |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, tasks in cuts.items():
        for cores in CORES:
            minutes = " | ".join(f"{prediction:.1f}" for prediction in predictions(tasks, cores))
            lines.append(f"| {name} | {len(tasks)} | {cores} | {minutes} |")
    lines += ["", "| cut | all simulations, s | critical path |", "|---|---:|---|"]
    for name, tasks in cuts.items():
        total = sum(task.seconds for task in tasks if task.sent)
        path = critical_path(tasks)
        steps = ", ".join(f"{task.name} {task.seconds:.0f} s" for task in path if task.seconds >= 1)
        lines.append(f"| {name} | {total:.0f} | {_length(path):.0f} s: {steps} |")
    return lines


def critical_path(tasks: Sequence[Task]) -> list[Task]:
    """Return the longest chain of tasks that wait for each other: no number of cores is faster."""
    paths: dict[str, list[Task]] = {}
    for task in tasks:  # each stands behind those that it waits for
        before = (paths[name] for name in task.needs)
        paths[task.name] = [*max(before, key=_length, default=[]), task]
    return max(paths.values(), key=_length)


def _length(path: Sequence[Task]) -> float:
    return sum(task.seconds for task in path)


@in_style()
def plot(cuts: Mapping[str, Sequence[Task]]) -> None:
    """Draw minutes against cores."""
    figure = Picture(figsize=(6.4, 4.0), layout="constrained")
    axis = figure.subplots()
    for colour, (name, tasks) in zip(("C0", "C1"), cuts.items(), strict=True):
        predicted = [predictions(tasks, cores) for cores in DRAWN]
        for line, part, what in (("-", 1, "everything"), ("--", 0, "simulating")):
            minutes = [pair[part] for pair in predicted]
            axis.plot(DRAWN, minutes, line, color=colour, label=f"{what}, {name}")

    axis.set(xscale="log", yscale="log", xlabel="cores", ylabel="minutes, predicted")
    axis.set_yticks((1, 2, 5, 10, 20, 50))
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter("{x:g}")
        side.set_minor_formatter("")
    axis.legend()
    title = "Predicted minutes of a whole run against cores"
    save(figure, PLOT.with_suffix(".svg"), PLOT.with_suffix(".png"), title, f"{title}.")


@click.command(help=__doc__.partition("\n")[0])
@click.option(
    "--record", type=FOLDER, help="Take down the benchmark files of a finished run first."
)
@click.option("--predict", type=FOLDER, help="Predict the run that wrote these benchmark files.")
@click.option("--config", "configs", type=FILE, multiple=True, help="Its configuration.")
@click.option("--cores", type=click.IntRange(min=1), default=1, help="Its cores.")
def main(record: Path | None, predict: Path | None, configs: tuple[Path, ...], cores: int) -> None:
    """Write the table and the plot, or what the options say."""
    if predict:
        walls = {name: row["wall"] for name, row in read_benchmarks(predict).items()}
        tasks = workflow(planned(*(configs or (CONFIG,))), walls)
        click.echo(f"{makespan(tasks, cores, START, BETWEEN):.0f} s on {cores} cores")
        return
    plan = planned(CONFIG)
    if record:
        write_jobs(plan, read_benchmarks(record))
    seconds = read_jobs()
    factors = paces(plan, seconds)
    finer = planned(CONFIG, FINER)
    cuts = {
        "as configured": workflow(plan, seconds),
        "config/cluster.yaml": workflow(finer, in_another_cut(finer, factors, seconds)),
    }
    made = "".join(f"{line}\n" for line in table(cuts))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    with replacing(PAGE) as temporary:
        temporary.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")
    plot(cuts)
    click.echo(made)


if __name__ == "__main__":
    main()
