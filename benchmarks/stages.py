"""Say where the time of a run went: of each stage how many processes, and how long they took.

The last column is the time on the clocks over that of a round in plain C, measured now, in 10^9
rounds: it compares between machines.

Reads the benchmark files that Snakemake wrote into a folder, `logs/benchmarks` by default, and
prints a table in Markdown. A run that was stopped and taken up again has those of its last jobs.
"""

import csv
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from bench import ROOT
from bench.measure import machine, machine_name, plain_c
from bench.ways import compile_c

from fairbandits.arena.settings import arena_config
from fairbandits.replication.bundles import jobs_of
from fairbandits.replication.progress import measured
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import read_yaml

#: Folders of files that are no paper's, and what their stage is called.
STAGES = {
    "simulate": "simulating",
    "collect": "collecting",
    "audit": "judging",
    "notebook": "pages",
}
#: Seconds are sums over processes, but for those of the longest one.
COLUMNS = (
    *("stage", "paper", "processes", "wall clock, s", "CPU, s", "longest process, s"),
    "10^9 rounds of plain C",
)


@click.command(help=__doc__.partition("\n")[0])
@click.argument(
    "folder",
    default="logs/benchmarks",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
def main(folder: Path) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        calibration = plain_c(compile_c(Path(scratch)).library)
    rows = list(stages(folder, calibration))
    if not rows:
        raise click.ClickException(f"no benchmark files in {folder}; `make replicate` makes them")
    click.echo(f"{machine_name(machine())}\n")
    click.echo("| " + " | ".join(COLUMNS) + " |")
    click.echo("|---|---|" + "---:|" * 5)
    for row in rows:
        click.echo("| " + " | ".join(row) + " |")
    if line := whole_run(folder, calibration):
        click.echo(f"\n{line}")


def whole_run(folder: Path, calibration: float | None) -> str:
    """Return how many rounds a second of one core a whole run simulated, beside plain C.

    The run is one of config/config.yaml; nothing is said where some of its jobs have no file.
    """
    seconds = rounds = 0.0
    settings = read_yaml(ROOT / "config" / "config.yaml")
    for config in (build_config(settings, "config.yaml"), arena_config(settings, "config.yaml")):
        for job in jobs_of(config)[0]:
            took = measured(folder / "simulate" / f"{job.name}.tsv")
            if took is None:
                return ""
            seconds += took
        rounds += sum(run.spec.total_rounds * run.replicates for run in config.runs)
    rate = rounds / seconds
    beside = f"; {rate * calibration * 1e-9:.2g} times plain C now" if calibration else ""
    return f"Simulating: {rounds:.3g} rounds, {rate:.3g} a second of one core{beside}"


def stages(folder: Path, calibration: float | None = None) -> Iterator[tuple[str, ...]]:
    """Yield a row for each stage and paper, and their sum."""
    papers = read_yaml(ROOT / "config" / "config.yaml")["papers"]
    stages_of: dict[tuple[str, str], list[tuple[float, float | None]]] = defaultdict(list)
    for file in sorted(folder.rglob("*.tsv")):
        with file.open(encoding="utf-8", newline="") as opened:
            times = [
                (float(row["s"]), None if row["cpu_time"] == "NA" else float(row["cpu_time"]))
                for row in csv.DictReader(opened, delimiter="\t")
            ]
        stages_of[_stage(file.relative_to(folder), papers)] += times
    for (stage, of), times in sorted(stages_of.items()):
        yield _row(stage, of, times, calibration)
    if stages_of:
        every = [time for times in stages_of.values() for time in times]
        yield _row("all", "", every, calibration)


def _stage(file: Path, papers: Sequence[str]) -> tuple[str, str]:
    """Return the stage of a benchmark file, and the paper if it is of one."""
    stage = STAGES.get(file.parts[0])
    if stage is None:
        return ("figures", file.parts[0]) if len(file.parts) > 1 else (file.stem, "")
    return stage, next((paper for paper in papers if paper in file.stem), "")


def _row(
    stage: str, paper: str, times: list[tuple[float, float | None]], calibration: float | None
) -> tuple[str, ...]:
    wall, cpu = zip(*times, strict=True)
    measured = [seconds for seconds in cpu if seconds is not None]
    # Snakemake has no CPU time of a process that ends before it first looks, and next to none of a
    # step that the run's server forks (`fairbandits.cli.serving`)
    least = "" if len(measured) == len(cpu) else "at least "
    seconds = f"{sum(wall):.0f}", f"{least}{sum(measured):.0f}", f"{max(wall):.0f}"
    in_c = f"{sum(wall) / calibration:.1f}" if calibration else ""
    return stage, paper, str(len(times)), *seconds, in_c


if __name__ == "__main__":
    main()
