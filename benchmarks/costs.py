"""Fit what a round of each policy and observer costs to what the chunks of a finished run took.

Reads the logs of its jobs, writes the costs by which the work is cut (settings/costs.yaml), and
prints how far the fit is off: for each policy its chunks, their seconds, the share of these that
the fit gives, and the mean factor by which one chunk is off.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from bench import ROOT
from scipy.optimize import nnls

from fairbandits.arena.settings import arena_config
from fairbandits.data.store import replacing
from fairbandits.replication.bundles import range_of
from fairbandits.settings import costs
from fairbandits.settings.config import load_config
from fairbandits.settings.schemas import read_yaml
from fairbandits.settings.spec import RunSpec

CONFIG, FILE = ROOT / "config" / "config.yaml", Path(costs.__file__).with_suffix(".yaml")
#: A chunk of fewer rounds says more of compiling and of starting.
LEAST = 10**7
#: The rows for what has none of its own, which no fit changes and which stand last.
OTHERS = ("any other", "any outside the package")
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


class Taken(NamedTuple):
    """What some replicates of a run took on the processor, in seconds."""

    spec: RunSpec
    replicates: int
    seconds: float

    @property
    def rounds(self) -> float:
        return self.spec.total_rounds * self.replicates

    @property
    def overhead(self) -> float:
        return len(self.spec.cells) * self.replicates * costs.STARTED + costs.WRITTEN


def taken(logs: Path) -> Iterator[Taken]:
    """Yield what the logs say of each chunk of the configured runs."""
    said = {}
    for file in logs.glob("simulate/*.log"):
        said |= dict(re.findall(r"^\S*cache/(\S+) ([\d.]+) s$", file.read_text(), re.MULTILINE))
    for config in (load_config([CONFIG]), arena_config(read_yaml(CONFIG), CONFIG.name)):
        for run in config.runs:
            for chunk in run.chunks():
                file = run.chunk_file(chunk).partition("cache/")[2]
                took = Taken(run.spec, len(range_of(chunk)), float(said.get(file, 0)))
                if took.seconds > took.overhead and took.rounds >= LEAST:
                    yield took


def fitted(chunks: list[Taken]) -> dict[str, dict[str, list[float]]]:
    """Return the costs, a constant and one per arm, of least relative error, none below 0."""
    names: dict[tuple[str, str], int] = {}
    rows = []
    for chunk in chunks:
        kinds = [("policies", costs.policy_of(chunk.spec))]
        kinds += [("observers", name) for name, _ in chunk.spec.observe]
        rows.append({names.setdefault(kind, len(names)) for kind in kinds})
    matrix = np.zeros((len(chunks), 2 * len(names)))
    for row, columns, chunk in zip(matrix, rows, chunks, strict=True):
        for column in columns:
            per_arm = np.array([1, chunk.spec.n_arms])
            row[2 * column : 2 * column + 2] = chunk.rounds * per_arm * 1e-9
    seconds = np.array([chunk.seconds - chunk.overhead for chunk in chunks])
    weights = 1 / np.array([chunk.seconds for chunk in chunks])
    fit, _ = nnls(matrix * weights[:, None], seconds * weights)
    tables: dict[str, dict[str, list[float]]] = {"policies": {}, "observers": {}}
    for (table, name), column in names.items():
        tables[table][name] = [float(f"{cost:.2g}") for cost in fit[2 * column : 2 * column + 2]]
    return tables


def write(tables: dict[str, dict[str, list[float]]]) -> None:
    """Write the costs, with the present ones where the fit has none."""
    lines = FILE.read_text().partition("\npolicies:")[0].splitlines(keepends=True)
    for table, title in (("policies", ""), ("observers", "# What an observer adds.\n")):
        # no policy is free: where the fit says so, it could not tell it from its observers
        fit = {name: cost for name, cost in tables[table].items() if title or any(cost)}
        now = costs.COSTS[table] | fit
        lines += [f"\n{title}{table}:\n"]
        for name in sorted(now, key=lambda name: (name in OTHERS, name)):
            start, each = now[name]
            lines += [f"  {name}: [{start:g}, {each:g}]\n"]
    with replacing(FILE) as temporary:
        temporary.write_text("".join(lines))


@click.command(help=__doc__.partition("\n")[0])
@click.argument("logs", default="logs", type=FOLDER)
def main(logs: Path) -> None:
    """Write the costs and print the errors."""
    if not (chunks := list(taken(logs))):
        raise click.ClickException(f"no times of chunks in {logs}; `make replicate` writes them")
    write(fitted(chunks))
    costs.COSTS.update(read_yaml(FILE))
    groups = defaultdict(list)
    for chunk in chunks:
        expected = chunk.replicates * costs.seconds_of_replicate(chunk.spec) + costs.WRITTEN
        groups[costs.policy_of(chunk.spec)].append((chunk.seconds, expected))
    for name, some in sorted(groups.items()):
        seconds, expected = np.array(some).T
        off = np.exp(np.abs(np.log(expected / seconds)).mean())
        total = f"{seconds.sum():8.1f} s, the fit says {expected.sum() / seconds.sum():.2f} of it"
        click.echo(f"{name:24} {len(some):4} chunks {total}; one is off by a factor of {off:.2f}")


if __name__ == "__main__":
    main()
