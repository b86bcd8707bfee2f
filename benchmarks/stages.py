"""Say where the time of a run went: of each stage how many processes, and how long they took.

Reads the benchmark files that Snakemake wrote into a folder, `logs/benchmarks` by default, and
prints a table in Markdown. A run that was stopped and taken up again has those of its last jobs.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from bench import ROOT
from bench.measure import machine, machine_name

from fairbandits.settings.schemas import read_yaml

#: Folders of files that are no paper's, and what their stage is called.
STAGES = {
    "simulate": "simulating",
    "collect": "collecting",
    "audit": "judging",
    "notebook": "pages",
}
#: Seconds are sums over processes, but for those of the longest one.
COLUMNS = ("stage", "paper", "processes", "wall clock, s", "CPU, s", "longest process, s")


@click.command(help=__doc__.partition("\n")[0])
@click.argument(
    "folder",
    default="logs/benchmarks",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
def main(folder: Path) -> None:
    """Print the table."""
    rows = list(stages(folder))
    if not rows:
        raise click.ClickException(f"no benchmark files in {folder}; `make replicate` makes them")
    click.echo(f"{machine_name(machine())}\n")
    click.echo("| " + " | ".join(COLUMNS) + " |")
    click.echo("|---|---|" + "---:|" * 4)
    for row in rows:
        click.echo("| " + " | ".join(row) + " |")


def stages(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a row for each stage and paper, and their sum."""
    papers = read_yaml(ROOT / "config" / "config.yaml")["papers"]
    found: dict[tuple[str, str], list[tuple[float, float | None]]] = defaultdict(list)
    for file in sorted(folder.rglob("*.tsv")):
        with file.open(encoding="utf-8", newline="") as opened:
            times = [
                (float(row["s"]), None if row["cpu_time"] == "NA" else float(row["cpu_time"]))
                for row in csv.DictReader(opened, delimiter="\t")
            ]
        found[_stage(file.relative_to(folder), papers)] += times
    for (stage, of), times in sorted(found.items()):
        yield _row(stage, of, times)
    if found:
        yield _row("all", "", [one for times in found.values() for one in times])


def _stage(file: Path, papers: Sequence[str]) -> tuple[str, str]:
    """Return the stage of a benchmark file, and the paper if it is of one."""
    stage = STAGES.get(file.parts[0])
    if stage is None:
        return ("figures", file.parts[0]) if len(file.parts) > 1 else (file.stem, "")
    return stage, next((paper for paper in papers if paper in file.stem), "")


def _row(stage: str, paper: str, times: list[tuple[float, float | None]]) -> tuple[str, ...]:
    wall, cpu = zip(*times, strict=True)
    measured = [one for one in cpu if one is not None]
    # Snakemake has no CPU time of a process that ends before it first looks, and next to none of a
    # step that the run's server forks (`fairbandits.cli.serving`)
    least = "" if len(measured) == len(cpu) else "at least "
    seconds = f"{sum(wall):.0f}", f"{least}{sum(measured):.0f}", f"{max(wall):.0f}"
    return stage, paper, str(len(times)), *seconds


if __name__ == "__main__":
    main()
