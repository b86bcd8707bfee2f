"""Measure the speed of the round loops, side by side with C and plain Python.

Every case is first played by all that have it, and the outcomes compared; then they are timed in
turn on one core, compilation excluded. `make bench` runs this file; ``--help`` lists the options.
"""

import dataclasses
import json
import platform
import shlex
import sys
import tempfile
from pathlib import Path

import click
import numba
import numpy as np
from bench import ROOT, history
from bench.cases import CASES
from bench.measure import first_runs, load, machine, measure, plain_c
from bench.table import as_markdown, as_text
from bench.ways import compile_c
from stages import whole_run

import fairbandits as fb
from fairbandits.data.store import replacing


@click.command(help=__doc__.partition("\n")[0])
@click.option("--only", default="", help="Only the cases with this in their names.")
@click.option("--repetitions", default=7, show_default=True, type=click.IntRange(1))
@click.option("--quick", is_flag=True, help="Few rounds, once: only to see that everything runs.")
@click.option("--cold/--no-cold", default=True, help="Whether to time first runs (default: yes).")
@click.option("--markdown", is_flag=True, help="Print Markdown, as the README has it.")
@click.option("--record", is_flag=True, help="Add the medians to the history.")
@click.option(
    "--history",
    "history_file",
    default=history.FILE,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Medians of earlier runs, to compare with (default: benchmarks/history.csv).",
)
@click.option(
    "--json",
    "path",
    default=ROOT / "build" / "bench.json",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the numbers (default: build/bench.json).",
)
def main(
    only: str,
    repetitions: int,
    quick: bool,
    cold: bool,
    markdown: bool,
    record: bool,
    history_file: Path,
    path: Path,
) -> None:
    """Measure the cases, print the table and write the numbers."""
    chosen = {index: case for index, case in enumerate(CASES) if only in case.name}
    if not chosen:
        names = "; ".join(case.name for case in CASES)
        raise click.BadParameter(f"no case has {only!r} in its name; there are: {names}")
    if quick and record:
        raise click.UsageError("--record needs a full run: the times of --quick mean nothing")
    try:
        earlier = history.read(history_file)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if quick:
        repetitions = 1
    report = {
        "command": shlex.join(["python", *sys.argv]),
        "commit": history.commit(),
        "quick": quick,
        "repetitions": repetitions,
        "machine": machine(),
        "load": {"before": load()},
        "versions": {
            "fairbandits": fb.__version__,
            "python": platform.python_version(),
            "numba": numba.__version__,
            "numpy": np.__version__,
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        compiler = compile_c(Path(folder))
        report["compiler"] = compiler.description
        report["plain_c"] = None if quick else plain_c(compiler.library)
        rows, loops = [], {}
        for index, case in chosen.items():
            if quick:
                case = dataclasses.replace(
                    case, rounds=1000, python_rounds=5, target=None, faster=None
                )
            row = measure(case, compiler.library, repetitions)
            if cold and case.compiled not in loops:
                loops[case.compiled] = first_runs(index)
            row["cold_s"], row["cached_s"] = loops.get(case.compiled, (None, None))
            rows.append(row)
    report["cases"] = rows
    report["load"]["after"] = load()
    with replacing(path) as partial:
        partial.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    click.echo(as_markdown(report) if markdown else as_text(report))
    if not all(row["agree"] for row in rows):
        raise click.ClickException("the implementations disagree")
    if line := whole_run(ROOT / "logs" / "benchmarks", report["plain_c"]):
        click.echo(f"\n{line}", err=markdown)
    now = history.rows_of(report)
    if not quick:
        click.echo("\n" + history.comparison(earlier, now), err=markdown)
    if record:
        history.append(history_file, now)


if __name__ == "__main__":
    main()
