"""Draw how the time of a round grows with the number of rounds and of arms, for ours and for C.

``python benchmarks/growth.py`` measures, writes growth.csv and draws growth.svg and growth.png
beside it; with ``--draw`` it only draws. `make bench-growth` runs it. A time is that of a whole
call on the processor: what a run costs before its first round weighs on short ones.
"""

import csv
import dataclasses
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
from bench import HERE, cases
from bench.cases import Case
from bench.history import commit
from bench.measure import machine, machine_name, nanoseconds, ways_of
from bench.ways import compile_c, play_ours
from matplotlib.ticker import EngFormatter

from fairbandits.data.store import replacing
from fairbandits.library.style import Picture, in_style, palette, save

ROUNDS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
ARMS = (2, 3, 5, 10, 20, 50, 100, 200)
#: Arms while the rounds grow, rounds while the arms do.
FEW_ARMS, MANY_ROUNDS = 10, 1_000_000
COLUMNS = ("policy", "arms", "rounds", "way", "median_ns", "min_ns", "max_ns", "repetitions")
COLUMNS += ("commit", "machine")
#: How the ways are called and drawn; what has no colour here has that of its policy.
WAYS = {
    "ours": ("ours", None, "-", "o"),
    "c": ("C", "0.45", "--", ""),
    "c_lazy": ("C, lazy", "0.45", ":", ""),
}


def means_of(arms: int) -> list[float]:
    """Return one mean of 0.9 and the others evenly from 0.8 down, so that the gap stays."""
    return [0.9, *(0.8 - 0.5 * k / arms for k in range(arms - 1))]


def halves(arms: int) -> tuple[int, int]:
    """Return the sizes of two groups."""
    return (arms + 1) // 2, arms // 2


#: The policies of one panel each; V is that of the rounds that the paper has.
POLICIES: dict[str, Callable[[int], Case]] = {
    "UCB1": lambda n: cases.ucb1(means_of(n), lazy=True, **cases.USUAL),
    "Fair-UCB": lambda n: cases.fair_ucb(means_of(n), 2 * n, lazy=True, **cases.USUAL),
    "HT-UCB": lambda n: cases.ht_ucb(means_of(n), 5 * n // 2, lazy=True, **cases.USUAL),
    "BF-UCB": lambda n: cases.bf_ucb(halves(n), means_of(n), **cases.USUAL),
    "BanditQ": lambda n: cases.banditq("bandit", means_of(n), 2_000_000, **cases.USUAL),
}
#: BanditQ takes some hundred times as long as UCB1: fewer rounds do where there are many arms.
FEWER_ROUNDS = {"BanditQ": 100_000}


def points(policy: str) -> list[tuple[int, int]]:
    """Return the numbers of arms and rounds of a policy's points."""
    along_rounds = [(FEW_ARMS, rounds) for rounds in ROUNDS]
    along_arms = [(arms, FEWER_ROUNDS.get(policy, MANY_ROUNDS)) for arms in ARMS]
    return list(dict.fromkeys(along_rounds + along_arms))


def measure(repetitions: int) -> list[dict[str, object]]:
    """Time all points, the ways of each in turn."""
    where = {"commit": commit(), "machine": machine_name(machine())}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = compile_c(Path(folder)).library
        for policy, make in POLICIES.items():
            for arms, rounds in points(policy):
                case = dataclasses.replace(make(arms), rounds=rounds, in_python=None)
                play_ours(case, arms)  # compiles
                ways = {way: it for way, it in ways_of(case, library).items() if way in WAYS}
                times = {way: [] for way in ways}
                for _ in range(repetitions):
                    for way, (play, _) in ways.items():
                        times[way].append(nanoseconds(play, case, rounds))
                for way, values in times.items():
                    point = {"policy": policy, "arms": arms, "rounds": rounds, "way": way}
                    numbers = (statistics.median(values), min(values), max(values))
                    named = zip(("median_ns", "min_ns", "max_ns"), numbers, strict=True)
                    point |= {name: f"{value:.4g}" for name, value in named}
                    rows.append(point | {"repetitions": repetitions} | where)
            click.echo(f"{policy}: measured", err=True)
    return rows


def write(file: Path, rows: list[dict[str, object]]) -> None:
    """Write the points, whole or not at all."""
    with replacing(file) as partial, partial.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(file: Path) -> list[dict[str, str]]:
    """Return the points."""
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def curve(
    rows: list[dict[str, str]], policy: str, way: str, along: str
) -> list[tuple[int, float, float, float]]:
    """Return number, median, least and largest of the points along "rounds" or "arms"."""
    fixed, value = {
        "rounds": ("arms", FEW_ARMS),
        "arms": ("rounds", FEWER_ROUNDS.get(policy, MANY_ROUNDS)),
    }[along]
    chosen = [
        row
        for row in rows
        if (row["policy"], row["way"], int(row[fixed])) == (policy, way, value)
        and int(row[along]) in {"rounds": ROUNDS, "arms": ARMS}[along]
    ]
    numbers = ("median_ns", "min_ns", "max_ns")
    return sorted((int(row[along]), *(float(row[name]) for name in numbers)) for row in chosen)


@in_style()
def draw(rows: list[dict[str, str]], svg: Path, png: Path) -> None:
    """Draw one column of panels for each policy: along the rounds above, the arms below."""
    figure = Picture(figsize=(13, 6), layout="constrained")
    axes = figure.subplots(2, len(POLICIES), sharey=True, sharex="row", squeeze=False)
    for column, policy in enumerate(POLICIES):
        axes[0, column].set_title(policy)
        for line, along in enumerate(("rounds", "arms")):
            axis = axes[line, column]
            for way, (label, colour, dash, marker) in WAYS.items():
                points = curve(rows, policy, way, along)
                if not points:
                    continue
                x, middle, low, high = zip(*points, strict=True)
                look = {"color": colour or palette([policy])[policy]}
                axis.fill_between(x, low, high, alpha=0.2, lw=0, **look)
                axis.plot(x, middle, ls=dash, marker=marker, ms=4, label=label, **look)
            axis.set(xscale="log", yscale="log")
            axis.yaxis.set_major_formatter("{x:g}")
            axis.xaxis.set_major_formatter(EngFormatter(sep=""))
            axis.grid(which="major", axis="y", alpha=0.3)
            if along == "rounds":
                axis.legend(fontsize="small")
            else:
                axis.set_xticks(ARMS, [str(arms) for arms in ARMS])
                axis.minorticks_off()
            fixed = (
                f"{FEW_ARMS} arms"
                if along == "rounds"
                else f"{FEWER_ROUNDS.get(policy, MANY_ROUNDS):,} rounds".replace(",", " ")
            )
            axis.set_xlabel(f"number of {along} ({fixed})", fontsize="small")
    for axis in axes[:, 0]:
        axis.set_ylabel("nanoseconds a round")
    title = "Time of a round against rounds and arms"
    save(figure, svg, png, title, f"{title}: {', '.join(POLICIES)}, ours and C. Medians.")


@click.command(help=__doc__.partition("\n")[0])
@click.option("--repetitions", default=5, show_default=True, type=click.IntRange(1))
@click.option("--draw", "only_draw", is_flag=True, help="Only draw what was measured before.")
@click.option(
    "--folder",
    default=HERE,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where growth.csv, growth.svg and growth.png go (default: benchmarks).",
)
def main(repetitions: int, only_draw: bool, folder: Path) -> None:
    """Measure the points and draw them."""
    file = folder / "growth.csv"
    if not only_draw:
        write(file, measure(repetitions))
    elif not file.exists():
        raise click.ClickException(f"{file} does not exist: run without --draw first")
    draw(read(file), file.with_suffix(".svg"), file.with_suffix(".png"))


if __name__ == "__main__":
    main()
