"""Time other people's bandit libraries beside ours, all in one run, and draw the times.

``make bench-peers`` installs them in .tools/peers and runs this file, which writes peers.csv and
draws peers.svg and peers.png beside it; with ``--draw`` it only draws. A time is that of the
processor for one round at a library's own interface: a choice, and an update with its reward.
"""

import dataclasses
import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import bench
import click
import numpy as np
import pandas as pd
import seaborn as sns
from bench import cases
from bench.cases import CASES, SEED, STREAM, Case
from bench.history import commit, git
from bench.measure import EIGHT, machine, machine_name, nanoseconds, ways_of
from bench.ways import compile_c, play_ours
from growth import means_of

import fairbandits as fb
import naive
from fairbandits.data.store import replacing
from fairbandits.library.style import Picture, in_style, save

ARMS, ROUNDS = (2, 5, 10, 20, 50, 100), (100, 1000, 10_000)
#: Arms while the rounds grow, rounds while the arms do.
FEW_ARMS, MANY_ROUNDS = 10, 1000
#: Rounds of ours and of C at each point.
OURS_ROUNDS = 1_000_000
#: Seconds that a library may take at a point: larger ones are left out.
PATIENCE = 5
LIBRARIES = ("SMPyBandits", "MABWiser", "banditlab", "bayesianbandits", "rlberry")
WAYS = {
    "ours": "fairbandits, UCB1",
    "eight": "fairbandits, UCB1, 8 at once",
    "c": "plain C, UCB1",
    "c_lazy": "lazy C, UCB1",
}
REVENUE = "Revenue_guaranteeing_bandits"


def points() -> list[tuple[int, int]]:
    """Return the numbers of arms and rounds of all points."""
    along_arms, along_rounds = [(k, MANY_ROUNDS) for k in ARMS], [(FEW_ARMS, n) for n in ROUNDS]
    return list(dict.fromkeys(along_arms + along_rounds))


def answer_of(script: str, *arguments: object, interpreter: str = sys.executable) -> dict[str, Any]:
    """Return what a script in a process of its own says, or why it says nothing."""
    command = [interpreter, str(bench.HERE / "bench" / f"{script}.py"), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)
    except OSError as error:
        return {"absent": f"{interpreter} cannot be run: {error.strerror}"}
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
        return {"absent": f"stopped: {last}"}


def of_ours(repetitions: int) -> list[dict[str, Any]]:
    """Return the times of ours and of C, whose calls are too short to time at fewer rounds."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = compile_c(Path(folder)).library
        for arms in ARMS:
            case = cases.ucb1(means_of(arms), lazy=True, **cases.USUAL)
            case = dataclasses.replace(case, rounds=OURS_ROUNDS, in_python=None)
            play_ours(case, arms)  # compiles
            for _ in range(repetitions):
                for way, (play, _) in ways_of(case, library).items():
                    count = EIGHT if way == "eight" else 1
                    us = nanoseconds(play, case, OURS_ROUNDS, count) / 1000
                    rows.append({"what": WAYS[way], "arms": arms, "rounds": OURS_ROUNDS, "us": us})
    return rows


def of_libraries(interpreter: str, repetitions: int) -> list[dict[str, Any]]:
    """Return the times of the libraries that can be imported."""
    rows = []
    for library in LIBRARIES:
        asked = library, json.dumps(points()), PATIENCE, repetitions
        answer = answer_of("peer_ucb1", *asked, interpreter=interpreter)
        if "absent" in answer:
            click.echo(f"Absent: {library}, {answer['absent']}", err=True)
            continue
        what = f"{library} {answer['version']}, {answer['policy']}"
        rows += [{"what": what} | row for row in answer["rows"]]
        click.echo(f"{library}: measured", err=True)
    return rows


def of_banditq(checkout: Path, repetitions: int) -> list[dict[str, Any]]:
    """Return the times of two programs of BanditQ that get the same numbers, and play the same."""
    (case,) = (case for case in CASES if case.name == "BanditQ, bandit, N=5")
    (policy,) = case.policies
    arms, t = range(len(case.means)), range(1, 5001)
    numbers = [[naive.draw(SEED, STREAM, 0, "reward", k, n) for n in t] for k in arms]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "input.npz"
        np.savez(
            file,
            targets=np.array(policy.targets, dtype=float),
            horizon=round(policy.V**2),
            rewards=[
                [naive.reward(case.law, mu, number) for number in row]
                for mu, row in zip(case.means, numbers, strict=True)
            ],
            coins=[naive.unit(naive.draw(SEED, STREAM, 0, "coin", 0, n)) for n in t],
        )
        answer = answer_of("peer_banditq", checkout, file, repetitions)
    if "absent" in answer:
        raise click.ClickException(f"{REVENUE}: {answer['absent']}")
    if answer["arms"] != arms_of_ours(case, len(t)):
        raise click.ClickException(f"{REVENUE} pulls other arms")
    version = git(checkout, "rev-parse", "--short=7", "HEAD") or "of unknown version"
    play_ours(case, len(case.means))  # compiles
    ours = [nanoseconds(play_ours, case, case.rounds) / 1000 for _ in range(repetitions)]
    return [
        {"what": what, "arms": len(case.means), "rounds": rounds, "us": us}
        for what, rounds, times in (
            (f"{REVENUE} {version}, BanditQ", len(t), answer["us"]),
            ("fairbandits, BanditQ", case.rounds, ours),
        )
        for us in times
    ]


def arms_of_ours(case: Case, rounds: int) -> list[int]:
    """Return the arm that ours pulls in each round."""
    (policy,) = case.policies
    instance = fb.Instance(case.means, law=case.law)
    every = range(1, rounds + 1)
    result = fb.run(policy, instance, rounds, seed=SEED, stream=STREAM, checkpoints=every)
    return np.diff(result.plays[0], axis=0, prepend=0).argmax(axis=1).tolist()


@in_style()
def draw(times: pd.DataFrame, svg: Path, png: Path) -> None:
    """Draw a round's time against the arms, and that of the libraries against the rounds."""
    figure = Picture(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    times = times[~times["what"].str.contains("BanditQ")]
    ours = times["rounds"] == OURS_ROUNDS
    lines = partial(
        sns.lineplot, y="us", hue="what", style="what", estimator="median", markers=True
    )
    look = {"errorbar": ("pi", 100), "hue_order": times["what"].unique()}
    lines(times[ours | (times["rounds"] == MANY_ROUNDS)], x="arms", ax=left, **look)
    few = times[(times["arms"] == FEW_ARMS) & ~ours]
    lines(few, x="rounds", ax=right, legend=False)
    left.set(
        xscale="log",
        yscale="log",
        xticks=ARMS,
        xlabel=f"arms ({MANY_ROUNDS} rounds; a million of ours and C)",
    )
    left.set(ylabel="microseconds a round")
    right.set(xscale="log", xticks=ROUNDS, xlabel=f"rounds ({FEW_ARMS} arms)")
    for axis in (left.xaxis, left.yaxis, right.xaxis):
        axis.set_major_formatter("{x:g}")
    for panel in (left, right):
        panel.xaxis.minorticks_off()
    handles, labels = left.get_legend_handles_labels()
    left.get_legend().remove()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    title = "Time of a round of bandit libraries against arms and rounds"
    save(figure, svg, png, title, f"{title}: {', '.join(labels)}. Medians, least to largest.")


def table(times: pd.DataFrame) -> str:
    """Return the medians with 10 arms, or with those of BanditQ, as Markdown."""
    shown = times[(times["arms"] == FEW_ARMS) & times["rounds"].isin((MANY_ROUNDS, OURS_ROUNDS))]
    shown = pd.concat([shown, times[times["what"].str.contains("BanditQ")]])
    medians = shown.groupby(["what", "arms"], sort=False)["us"].median().map("{:.3g}".format)
    lines = ["| library, policy | arms | microseconds a round |", "|---|---:|---:|"]
    return "\n".join([*lines, *(f"| {w} | {k} | {us} |" for (w, k), us in medians.items())])


@click.command(help=__doc__.partition("\n")[0])
@click.option("--peers", metavar="PYTHON", help="Interpreter that has the libraries.")
@click.option(
    "--revenue-guaranteeing",
    "checkout",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Checkout of github.com/DBaudry/Revenue_guaranteeing_bandits, with another BanditQ.",
)
@click.option("--repetitions", default=5, show_default=True, type=click.IntRange(1))
@click.option("--draw", "only_draw", is_flag=True, help="Only draw what was measured before.")
@click.option(
    "--folder",
    default=bench.HERE,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where peers.csv, peers.svg and peers.png go (default: benchmarks).",
)
def main(
    peers: str | None, checkout: Path | None, repetitions: int, only_draw: bool, folder: Path
) -> None:
    """Measure all libraries, write the times and draw them."""
    file = folder / "peers.csv"
    if not only_draw:
        rows = of_libraries(peers, repetitions) if peers else []
        rows += of_ours(repetitions)
        if checkout:
            rows += of_banditq(checkout, repetitions)
        where = {"commit": commit(), "machine": machine_name(machine())}
        with replacing(file) as partial_file:
            pd.DataFrame(rows).assign(**where).to_csv(
                partial_file, index=False, float_format="%.4g"
            )
    elif not file.exists():
        raise click.ClickException(f"{file} does not exist: run without --draw first")
    times = pd.read_csv(file)
    draw(times, file.with_suffix(".svg"), file.with_suffix(".png"))
    click.echo(table(times))


if __name__ == "__main__":
    main()
