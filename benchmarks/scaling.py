"""Predict how long a run takes on many cores, from what its jobs took: list scheduling.

Reads what every job of the published scale took (jobs.csv beside this file), plays the workflow's
scheduler on 2, 8, 64 and 1000 cores, and writes the table and the plot of docs/speed.md.
"""

import csv
import heapq
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from bench import HERE, ROOT

from fairbandits.data.store import replacing
from fairbandits.library.style import Picture, in_style, save
from fairbandits.replication.bundles import SHOWN, Bundle, Chunk, bundles_of, jobs_of
from fairbandits.settings.config import Config, load_config
from fairbandits.settings.costs import WRITTEN, seconds_of_replicate

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


def workflow(config: Config, seconds: Mapping[str, float]) -> list[Task]:
    """Return all jobs of a run, named as their benchmark files, with what they wait for.

    Raises
    ------
    ValueError
        If a job has no seconds.
    """
    simulating, collecting = jobs_of(config)
    tasks, datasets = [], {}
    makes = {}
    for job in simulating:
        name = f"simulate/{job.name}"
        makes |= dict.fromkeys(job.outputs, name)
        tasks.append((name, (), job.priority, True))
    for job in collecting:
        name = f"collect/{job.name}"
        datasets |= dict.fromkeys(job.outputs, name)
        tasks.append((name, [makes[file] for file in job.inputs], job.priority, False))
    replays = defaultdict(list)
    alone = {}
    for replay in config.replays:
        name = replay.table.removesuffix(".parquet")
        replays[replay.paper].append(name)
        tasks.append((name, (), SHOWN, True))
        alone |= {(replay.paper, figure): [name] for figure in replay.figures}
    read = defaultdict(list)
    for experiment in config.experiments:
        read[experiment.paper].append(datasets[experiment.dataset])
    for paper, figure in config.figures:
        needs = alone.get((paper, figure))
        if needs is None:
            needs = [datasets[experiment.dataset] for experiment in config.shown_in(paper, figure)]
            if (paper, figure) == ("banditq", "fig5"):  # the published run is beside
                needs.append("banditq/replay_5_bandit")
        tasks.append((f"{paper}/{figure}", needs, 2 * SHOWN, False))
    tasks += _judging(read, replays)
    judged = [name for name, *_ in tasks if name == "audit/verdicts"]
    papers = list(read)
    pages = {"index": papers, **({"audit": [], "across": []} if judged else {})}
    for page, shown in (pages | {name: [name] for name in papers}).items():
        needs = [f"{paper}/{name}" for paper, name in config.figures if paper in shown]
        needs += [name for paper in shown for name in (*replays[paper], *read[paper])]
        tasks.append((f"notebook/{page}", [*needs, *judged], 0, False))
    tasks.append(("site", [name for name, *_ in tasks if name.startswith("notebook/")], 0, False))
    if missing := [name for name, *_ in tasks if name not in seconds]:
        raise ValueError(f"nothing says how long these jobs took: {', '.join(missing)}")
    return [
        Task(name, seconds[name], frozenset(needs), priority, sent)
        for name, needs, priority, sent in tasks
    ]


def _judging(read: Mapping[str, list], replays: Mapping[str, list]):
    """Yield the jobs of the audit."""
    papers = [paper for paper in read if (ROOT / "papers" / paper / "claims.py").is_file()]
    for paper in papers:
        yield f"audit/{paper}", [*read[paper], *replays[paper]], 0, False
    if papers:
        yield "audit/verdicts", [f"audit/{paper}" for paper in papers], 0, False
        yield "audit/audit", ["audit/verdicts"], 0, False


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


def write_jobs(config: Config, measured: Mapping[str, Mapping[str, float]]) -> None:
    """Record what the jobs of a run at the published scale took.

    Jobs of an earlier cut of the work, whose files are still there, are left out.
    """
    tasks = workflow(config, {name: row["seconds"] for name, row in measured.items()})
    names = {task.name for task in tasks}
    with replacing(JOBS) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["job", "wall", "seconds", "megabytes"])
        writer.writerows([name, *row.values()] for name, row in measured.items() if name in names)


def paces(config: Config, seconds: Mapping[str, float]) -> dict[str, float]:
    """Return how many times what the rule of thumb says each run took: run -> factor.

    The time of a job is that of all runs in it, in the same proportion.
    """
    taken: dict[str, float] = defaultdict(float)
    expected: dict[str, float] = defaultdict(float)
    for name, chunks in _parts(bundles_of(config)):
        factor = max(seconds[name] - PROCESS, 0.1) / sum(chunk.seconds for chunk in chunks)
        for chunk in chunks:
            expected[chunk.run.key] += chunk.seconds
            taken[chunk.run.key] += factor * chunk.seconds
    return {key: taken[key] / expected[key] for key in expected}


def in_another_cut(
    config: Config, factors: Mapping[str, float], seconds: Mapping[str, float]
) -> dict[str, float]:
    """Return what the jobs take if the same work is cut as a configuration says."""
    jobs = {name: value for name, value in seconds.items() if not name.startswith("simulate/")}
    for name, chunks in _parts(bundles_of(config)):
        jobs[name] = PROCESS + sum(factors[chunk.run.key] * _by_thumb(chunk) for chunk in chunks)
    usual = statistics.mean(value for name, value in seconds.items() if name.startswith("collect/"))
    for job in jobs_of(config)[1]:
        jobs.setdefault(f"collect/{job.name}", usual)
    return jobs


def _parts(bundles: Iterable[Bundle]) -> Iterator[tuple[str, Sequence[Chunk]]]:
    for bundle in bundles:
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
    lines += [
        "",
        "| cut | all simulations | longest simulation jobs | longest other jobs |",
        "|---|---:|---|---|",
    ]
    return lines + [f"| {name} | {_limits(tasks)} |" for name, tasks in cuts.items()]


def _limits(tasks: Sequence[Task]) -> str:
    """Return the cells on processor time, which no number of cores can reduce."""
    longest = [
        sorted((task for task in tasks if task.sent is sent), key=lambda task: -task.seconds)[:3]
        for sent in (True, False)
    ]
    cells = ["<br>".join(f"{task.name}, {task.seconds:.0f} s" for task in some) for some in longest]
    return " | ".join([f"{sum(task.seconds for task in tasks if task.sent):.0f} s", *cells])


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
    axis.set_yticks((2, 5, 10, 20, 50))
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
        tasks = workflow(load_config(configs or (CONFIG,)), walls)
        click.echo(f"{makespan(tasks, cores, START, BETWEEN):.0f} s on {cores} cores")
        return
    config = load_config([CONFIG])
    if record:
        write_jobs(config, read_benchmarks(record))
    seconds = read_jobs()
    factors = paces(config, seconds)
    finer = load_config([CONFIG, FINER])
    cuts = {
        "as configured": workflow(config, seconds),
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
