"""The commands that make datasets and draw figures."""

import sys
from time import process_time

from click import Choice, IntRange, argument, echo, option, progressbar

from fairbandits.cli.options import FILE, command
from fairbandits.replication.bundles import read_plan
from fairbandits.settings.schemas import read_yaml


@command("simulate results/cache/plans/PLAN.json")
@argument("plan", type=FILE)
def simulate(plan):
    """Simulate the chunks of PLAN: some replicates of one run each.

    The workflow writes the plan, a JSON list of chunks: specification and seed of a run, its
    replicates, e.g. 0-49, and the file to write.
    """
    from fairbandits.replication.simulate import write_chunks

    before = process_time()
    for out in write_chunks(read_plan(plan, "chunks")):
        echo(f"{out} {process_time() - before:.2f} s")  # benchmarks/costs.py reads it
        before = process_time()


@command("collect results/cache/plans/PLAN.json")
@argument("plan", type=FILE)
def collect(plan):
    """Join chunks into the datasets of PLAN, one for each experiment.

    The workflow writes the plan, a JSON list of datasets: the experiment, its seed and chunks,
    RUN/FIRST-LAST.parquet, and the file to write.
    """
    from fairbandits.replication import datasets

    for dataset in read_plan(plan, "datasets"):
        datasets.collect(**dataset)


@command(
    "figure banditq fig1 results/banditq/full_information.parquet"
    " --svg fig1.svg --png fig1.png --table fig1.parquet"
)
@argument("paper")
@argument("figure")
@argument("data", type=FILE, nargs=-1)
@option("--published", type=FILE, help="Replay of the published run, to draw beside ours.")
@option("--svg", type=FILE, required=True, help="SVG file to write.")
@option("--png", type=FILE, required=True, help="PNG file to write.")
@option("--table", type=FILE, required=True, help="Parquet file for the drawn values.")
def figure(paper, figure, data, published, svg, png, table):
    """Draw FIGURE of PAPER, such as `banditq fig1`, from the datasets DATA, its own first."""
    from fairbandits.figures.draw import draw

    draw(paper, figure, data, published, svg=svg, png=png, table=table)


@command("replay banditq-uai2024 --arms 5 --feedback bandit --out replay.parquet")
@argument("program", type=Choice(["banditq-uai2024"]))
@option(
    "--arms",
    type=Choice(["5", "1000"]),
    required=True,
    help="Figs 1 to 6 have 5, Figs 8 to 13 1000.",
)
@option(
    "--feedback",
    type=Choice(["full", "bandit"]),
    required=True,
    help="Whether the policy sees the rewards of all arms.",
)
@option("--rounds", type=IntRange(min=1), help="Number of rounds after which to stop.")
@option("--published", type=FILE, help="papers/PAPER/published.yaml; its rounds are recorded too.")
@option("--out", type=FILE, required=True, help="Parquet file to write.")
def replay(program, arms, feedback, rounds, published, out):
    """Run a PROGRAM that a paper's authors released.

    It draws its own random numbers.
    """
    del program  # there is one so far
    from fairbandits.replication.banditq_uai2024 import HORIZONS, published_rounds, write_replay

    horizon = HORIZONS[int(arms)]
    also = published_rounds(read_yaml(published)["figures"], horizon) if published else []
    length = min(horizon, rounds or horizon)
    with progressbar(length=length, label="rounds", file=sys.stderr) as bar:
        how = {"rounds": length, "also": also, "progress": lambda done: bar.update(done - bar.pos)}
        write_replay(int(arms), feedback, out, **how)
