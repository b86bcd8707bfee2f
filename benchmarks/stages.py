"""Say where the time of a run went: of each stage how many processes, and how long they took.

Reads the benchmark files that Snakemake wrote into a folder, `logs/benchmarks` by default, and
prints a table in Markdown. A run that was stopped and taken up again has those of its last jobs.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
from bench import ROOT
from bench.measure import machine, machine_name

PAPERS = sorted(file.parent.name for file in (ROOT / "papers").glob("*/experiments.yaml"))

#: Folders of files that are no paper's, and what their stage is called.
STAGES = {
    "simulate": "simulating",
    "collect": "collecting",
    "audit": "judging",
    "notebook": "pages",
}
COLUMNS = ("stage", "of", "processes", "wall clock, s", "CPU, s", "longest, s")


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
    found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for file in sorted(folder.rglob("*.tsv")):
        with file.open(encoding="utf-8", newline="") as opened:
            times = [
                (float(row["s"]), float(row["cpu_time"] if row["cpu_time"] != "NA" else 0))
                for row in csv.DictReader(opened, delimiter="\t")
            ]
        found[_stage(file.relative_to(folder))] += times
    for (stage, of), times in sorted(found.items()):
        yield _row(stage, of, times)
    if found:
        yield _row("all", "", [one for times in found.values() for one in times])


def _stage(file: Path) -> tuple[str, str]:
    """Return the stage of a benchmark file, and the paper if it is of one."""
    stage = STAGES.get(file.parts[0])
    if stage is None:
        return ("figures", file.parts[0]) if len(file.parts) > 1 else (file.stem, "")
    return stage, next((paper for paper in PAPERS if paper in file.stem), "")


def _row(stage: str, of: str, times: list[tuple[float, float]]) -> tuple[str, ...]:
    wall, cpu = (sum(column) for column in zip(*times, strict=True))
    longest = max(wall for wall, _ in times)
    return stage, of, str(len(times)), f"{wall:.0f}", f"{cpu:.0f}", f"{longest:.0f}"


if __name__ == "__main__":
    main()
