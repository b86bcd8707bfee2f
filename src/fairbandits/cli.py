"""The command line; each step of the workflow is one of these commands."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import click

from fairbandits.experiments.config import load_config
from fairbandits.experiments.schemas import ROOT, ConfigError, checkout
from fairbandits.store import StoreError

DEFAULT_CONFIG = (ROOT / "config" / "config.yaml",)
FILE = click.Path(path_type=Path)


class Commands(click.Group):
    """Commands whose expected errors are printed as one message."""

    def invoke(self, context: click.Context):
        """Run a command."""
        try:
            return super().invoke(context)
        except (ConfigError, StoreError, ValueError, OSError) as error:
            raise click.ClickException(str(error)) from error


class JsonObject(click.ParamType):
    """A JSON object."""

    name = "json"

    def convert(self, value, parameter, context):
        """Return the object as a dictionary."""
        try:
            content = json.loads(value)
        except ValueError as error:
            self.fail(f"not valid JSON: {error}", parameter, context)
        if not isinstance(content, dict):
            self.fail(f"must be a JSON object, got {value!r}", parameter, context)
        return content


def config_option(command):
    """Give a command the option --config."""
    return click.option(
        "--config",
        "configs",
        type=FILE,
        multiple=True,
        default=DEFAULT_CONFIG,
        help="Configuration file; several are merged, later ones win.",
    )(command)


@click.group(cls=Commands)
@click.version_option(package_name="fairbandits")
def main() -> None:
    """Fair-bandit papers re-run at their published scale."""


@main.command()
@click.option("--cores", type=click.IntRange(min=1), help="Cores to use; default all.")
@click.option("--smoke", is_flag=True, help="A small run of everything, in results/smoke.")
@click.argument("targets", nargs=-1)
def replicate(cores: int | None, smoke: bool, targets: tuple[str, ...]) -> None:
    """Run the workflow: everything, or TARGETS such as `figures` or `banditq_fig2`."""
    from fairbandits.launch import launch

    sys.exit(launch(list(targets), cores=cores, smoke=smoke, root=checkout()))


@main.command()
@click.option(
    "--block", "blocks", type=JsonObject(), required=True, multiple=True, help="A run's block."
)
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Root seed.")
@click.option("--replicates", required=True, multiple=True, help="Range of replicates, e.g. 0-49.")
@click.option("--out", "outs", type=FILE, required=True, multiple=True, help="Parquet file.")
def simulate(
    blocks: tuple[dict, ...], seed: int, replicates: tuple[str, ...], outs: tuple[Path, ...]
) -> None:
    """Simulate a chunk: some replicates of one run.

    Several chunks can go into one process, with --block, --replicates and --out for each.
    """
    from fairbandits.experiments.simulate import write_chunk

    if not len(blocks) == len(replicates) == len(outs):
        raise click.UsageError(
            "--block, --replicates and --out must be given equally often, got "
            f"{len(blocks)}, {len(replicates)} and {len(outs)}"
        )
    chunks = [_range(text) for text in replicates]
    for block, chunk, out in zip(blocks, chunks, outs, strict=True):
        write_chunk(block, seed, chunk, out)


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise click.BadParameter(
            f"must be a range such as 0-49, got {text!r}", param_hint="'--replicates'"
        )
    return range(int(first), int(last) + 1)


@main.command()
@click.argument("chunks", type=FILE, nargs=-1, required=True)
@click.option(
    "--experiment",
    "experiments",
    type=JsonObject(),
    required=True,
    multiple=True,
    help="What the dataset is of.",
)
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Root seed.")
@click.option("--out", "outs", type=FILE, required=True, multiple=True, help="Parquet file.")
def collect(
    chunks: tuple[Path, ...], experiments: tuple[dict, ...], seed: int, outs: tuple[Path, ...]
) -> None:
    """Join the CHUNKS of one experiment, RUN/FIRST-LAST.parquet, into its dataset.

    A folder stands for all chunks in it. Several instances of a suite can be joined in one process,
    with --experiment and --out for each; the folder of a chunk's run then has the experiment's name
    or the instance's.
    """
    from fairbandits.experiments import datasets

    if len(experiments) != len(outs):
        raise click.UsageError(
            "--experiment and --out must be given equally often, got "
            f"{len(experiments)} and {len(outs)}"
        )
    inside = [path.rglob("*.parquet") if path.is_dir() else [path] for path in chunks]
    files = [file for some in inside for file in sorted(some)]
    if len(experiments) == 1:
        datasets.collect(files, experiments[0], seed, outs[0])
        return
    homes = [(one["experiment"], one.get("instance")) for one in experiments]
    for file in files:
        if not any(file.parent.parent.name in names for names in homes):
            raise StoreError(
                f"{file} does not belong here: there is no instance {file.parent.parent.name!r}"
            )
    for experiment, names, out in zip(experiments, homes, outs, strict=True):
        own = [file for file in files if file.parent.parent.name in names]
        datasets.collect(own, experiment, seed, out)


@main.command()
@click.argument("paper")
@click.argument("figure")
@click.argument("data", type=FILE, nargs=-1, required=True)
@click.option("--published", type=FILE, help="Replay of the published run, to draw beside ours.")
@click.option("--svg", type=FILE, required=True)
@click.option("--png", type=FILE, required=True)
@click.option("--table", type=FILE, required=True, help="Parquet file for what is drawn.")
def figure(
    paper: str,
    figure: str,
    data: tuple[Path, ...],
    published: Path | None,
    svg: Path,
    png: Path,
    table: Path,
) -> None:
    """Draw FIGURE of PAPER, e.g. `banditq fig1`, from the datasets DATA, its own first."""
    from fairbandits.figures.draw import draw

    draw(paper, figure, data, published, svg=svg, png=png, table=table)


@main.command()
@click.argument("program", type=click.Choice(["banditq-uai2024"]))
@click.option("--arms", type=click.Choice(["5", "1000"]), required=True)
@click.option("--feedback", type=click.Choice(["full", "bandit"]), required=True)
@click.option("--out", type=FILE, required=True, help="Parquet file to write.")
def replay(program: str, arms: str, feedback: str, out: Path) -> None:
    """Run a released PROGRAM of a paper's authors again, with its own random numbers."""
    del program  # there is one so far
    from fairbandits.replay.banditq_uai2024 import HORIZONS, write_replay

    with click.progressbar(length=HORIZONS[int(arms)], label="rounds", file=sys.stderr) as bar:
        write_replay(int(arms), feedback, out, lambda done: bar.update(done - bar.pos))


@main.command()
@config_option
@click.option("--lock", type=FILE, default=ROOT / "results.lock", help="Lock to compare with.")
@click.option(
    "--sample", type=click.IntRange(min=0), default=2, help="Replicates to simulate again."
)
@click.option("--sample-seed", type=int, default=0, help="Chooses those replicates.")
def verify(configs: tuple[Path, ...], lock: Path, sample: int, sample_seed: int) -> None:
    """Check all results against their footers and results.lock, and simulate some again."""
    from fairbandits.experiments import verify as check

    config = load_config(configs)
    problems = check.verify(config, check.read_lock(lock), sample, sample_seed)
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        raise click.ClickException(f"{len(problems)} problems")
    runs = len(config.runs)
    click.echo(f"{runs} runs agree with {lock.name}; {sample} replicates simulated again agree")


@main.command()
@config_option
@click.option("--out", type=FILE, default=ROOT / "results.lock", help="Lock to write.")
def lock(configs: tuple[Path, ...], out: Path) -> None:
    """Write results.lock from the results on disk."""
    from fairbandits.experiments.verify import write_lock

    config = load_config(configs)
    write_lock(config, out)
    click.echo(f"{out}: {len(config.runs)} runs")


@main.command()
@config_option
@click.argument("paper")
@click.option("--results", type=FILE, help="Folder of the results; default the configured one.")
@click.option("--seed", type=click.IntRange(min=0), help="Root seed; default the configured one.")
@click.option("--only", multiple=True, help="Id of a claim; default all.")
@click.option("--out", type=FILE, help="Parquet file to write; without it they are printed.")
def audit(
    configs: tuple[Path, ...],
    paper: str,
    results: Path | None,
    seed: int | None,
    only: tuple[str, ...],
    out: Path | None,
) -> None:
    """Put the questions of PAPER's ledger to its datasets, and keep what is found.

    A claim that cannot be judged fails by itself: this is kept and said, and no error here.
    """
    from fairbandits.audit import run, show
    from fairbandits.audit.records import write_findings

    if only and out:
        raise click.UsageError("--only is for looking; --out needs all claims")
    config, ledgers = run.load(configs)
    config = config if seed is None else replace(config, seed=seed)
    found, scale = run.find(config, ledgers, paper, results, only)
    if out is None:
        click.echo(show.found(ledgers[paper], found))
        return
    write_findings(out, ledgers[paper], found, scale)
    for line in run.failures(found):
        click.echo(line, err=True)


@main.command()
@config_option
@click.argument("findings", type=FILE, nargs=-1, required=True)
@click.option("--joint", type=FILE, required=True, help="Parquet file for all FINDINGS.")
@click.option("--out", type=FILE, required=True, help="Parquet file for the verdicts.")
def verdicts(configs: tuple[Path, ...], findings: tuple[Path, ...], joint: Path, out: Path) -> None:
    """Judge all claims by the FINDINGS of each paper.

    At the published scale a claim that failed is an error, and nothing is written.
    """
    from fairbandits.audit import run

    _, ledgers = run.load(configs)
    failed, written = run.write_verdicts(list(findings), ledgers, joint, out)
    for line in failed:
        click.echo(line, err=True)
    if not written:
        raise click.ClickException(f"{len(failed)} claims failed; no verdicts are written")


@main.command()
@config_option
@click.argument("verdicts", type=FILE)
@click.argument("out", type=FILE)
def record(configs: tuple[Path, ...], verdicts: Path, out: Path) -> None:
    """Write VERDICTS as the short table OUT that is committed, audit/verdicts.csv."""
    from fairbandits.audit import run
    from fairbandits.audit.records import read_verdicts, write_csv

    _, ledgers = run.load(configs)
    rows, scale = read_verdicts(verdicts, ledgers)
    write_csv(out, rows, scale)


@main.command()
@config_option
@click.argument("claim", required=False)
@click.option("--paper", help="Only claims of this paper.")
@click.option("--verdict", help="Only claims with this verdict, e.g. inconclusive.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--results", type=FILE, help="Folder of the results; default the configured one.")
def claims(
    configs: tuple[Path, ...],
    claim: str | None,
    paper: str | None,
    verdict: str | None,
    as_json: bool,
    results: Path | None,
) -> None:
    """List the claims with their verdicts, or explain one CLAIM.

    Verdicts are those of the results on disk or, without them, the committed ones.
    """
    from fairbandits.audit import run

    if claim and (paper or verdict):
        raise click.UsageError("give CLAIM, or --paper and --verdict")
    click.echo(run.claims_words(configs, claim, paper, verdict, as_json, results))


@main.command()
@click.argument("source", type=FILE)
@click.argument("out", type=FILE)
@click.option("-p", "parameters", type=(str, str), multiple=True, help="Notebook parameter.")
def notebook(source: Path, out: Path, parameters: tuple[tuple[str, str], ...]) -> None:
    """Execute notebook SOURCE into OUT."""
    from fairbandits.site.build import execute

    execute(source, out, dict(parameters))


@main.command()
@click.argument("notebooks", type=FILE, nargs=-1, required=True)
@click.option("--figures", type=FILE, required=True, help="Folder of the drawn figures.")
@click.option("--out", type=FILE, required=True, help="Folder for the site.")
def site(notebooks: tuple[Path, ...], figures: Path, out: Path) -> None:
    """Build the report site from executed NOTEBOOKS."""
    from fairbandits.site.build import build

    build(list(notebooks), figures, out)


if __name__ == "__main__":
    main()
