"""The command line; each step of the workflow is one of these commands."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import click

from fairbandits.experiments.config import LEDGER, load_config
from fairbandits.experiments.schemas import POLICY_SCHEMAS, ROOT, ConfigError, checkout, read_yaml
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


class Seed(click.ParamType):
    """A whole number of at least 0, or the word that stands for seeds of the ledgers."""

    name = "seed"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Return the number, or the word."""
        if value == LEDGER or (isinstance(value, int) and value >= 0):
            return value
        if isinstance(value, str) and value.isdecimal():
            return int(value)
        self.fail(f"{value!r} is neither a whole number of at least 0 nor {LEDGER!r}", param, ctx)


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


def results_option(command):
    """Give a command the option --results."""
    words = "Folder of the results; default the configured one."
    return click.option("--results", type=FILE, help=words)(command)


def of_a_paper(command):
    """Give a command what says which tests are to be asked, and of which data."""
    words = "Root seed, or `ledger`; default as configured."
    command = click.option("--only", multiple=True, help="Id of a claim; default all.")(command)
    command = click.option("--seed", type=Seed(), help=words)(command)
    return config_option(click.argument("paper")(results_option(command)))


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
@click.argument("plan", type=FILE)
@click.option(
    "--run", "name", help="Only the chunks of this run, e.g. banditq/oracle_lfg/lfg-beta."
)
@click.option("--replicates", help="Only the chunk of these replicates, e.g. 0-49.")
def simulate(plan: Path, name: str | None, replicates: str | None) -> None:
    """Simulate the chunks of PLAN: some replicates of one run each.

    The workflow writes the plan, a JSON file with a seed and a list of chunks: name and
    specification of a run, its replicates, e.g. 0-49, and the file to write.
    """
    import time

    from fairbandits.experiments.bundles import chosen, read_plan
    from fairbandits.experiments.simulate import write_chunks

    seed, chunks = read_plan(plan, "chunks")
    chunks = chosen(chunks, plan, name, replicates)
    start = time.monotonic()
    for out in write_chunks(chunks, seed):
        click.echo(f"{out}: {time.monotonic() - start:.2f} s")
        start = time.monotonic()


@main.command()
@click.argument("plan", type=FILE)
def collect(plan: Path) -> None:
    """Join chunks into the datasets of PLAN, one for each experiment.

    The workflow writes the plan, a JSON file with a seed and a list of datasets: what it is of, its
    chunks, RUN/FIRST-LAST.parquet, and the file to write.
    """
    from fairbandits.experiments import datasets
    from fairbandits.experiments.bundles import read_plan

    seed, found = read_plan(plan, "datasets")
    for one in found:
        datasets.collect(one["chunks"], one["experiment"], seed, one["out"], one["ledger"])


@main.command()
@click.argument("paper")
@click.argument("figure")
@click.argument("data", type=FILE, nargs=-1)
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
@click.option("--rounds", type=click.IntRange(min=1), help="Stop after so many.")
@click.option(
    "--published",
    type=FILE,
    help="papers/PAPER/published.yaml: the rounds that were read off are recorded too.",
)
@click.option("--out", type=FILE, required=True, help="Parquet file to write.")
def replay(
    program: str, arms: str, feedback: str, rounds: int | None, published: Path | None, out: Path
) -> None:
    """Run a released PROGRAM of a paper's authors again, with its own random numbers."""
    del program  # there is one so far
    from fairbandits.replay.banditq_uai2024 import HORIZONS, published_rounds, write_replay

    horizon = HORIZONS[int(arms)]
    also = published_rounds(read_yaml(published)["figures"], horizon) if published else []
    length = min(horizon, rounds or horizon)
    with click.progressbar(length=length, label="rounds", file=sys.stderr) as bar:
        write_replay(
            *(int(arms), feedback, out, lambda done: bar.update(done - bar.pos)),
            rounds=length,
            also=also,
        )


@main.command()
@config_option
@click.option("--lock", type=FILE, default=ROOT / "results.lock", help="Lock to compare with.")
@click.option(
    "--sample", type=click.IntRange(min=0), default=2, help="Replicates to simulate again."
)
@click.option(
    "--sample-seed",
    type=click.IntRange(min=0),
    help="Chooses those replicates; by default others each time.",
)
@click.option("--all", "every", is_flag=True, help="List each problem, also many of one kind.")
def verify(
    configs: tuple[Path, ...], lock: Path, sample: int, sample_seed: int | None, every: bool
) -> None:
    """Check all results against their footers and results.lock, and simulate some again.

    Tables of drawn curves, replays, findings and verdicts must have the content that their footers
    say, and be of the present code. The verdicts, those on disk and the committed ones, must be of
    these results and of the rules of the ledgers.
    """
    import secrets

    from fairbandits.audit.run import problems_of
    from fairbandits.experiments import verify as check

    config, locked = load_config(configs), check.read_lock(lock)
    seed = secrets.randbelow(10**6) if sample_seed is None else sample_seed
    problems = check.verify(config, locked, sample, seed)
    problems += problems_of(config, locked)
    for line in check.other_versions(config):
        click.echo(f"Note: {line}", err=True)
    for problem in problems if every else check.summarised(problems):
        click.echo(problem, err=True)
    chosen = f"; --sample-seed {seed} chooses the same replicates again" if sample else ""
    if problems:
        raise click.ClickException(f"{len(problems)} problems{chosen}")
    runs = len(config.runs)
    click.echo(
        f"{runs} runs agree with {lock.name}; {sample} replicates simulated again agree{chosen}"
    )


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
@of_a_paper
@click.option("--out", type=FILE, help="Parquet file to write; without it they are printed.")
def audit(
    configs: tuple[Path, ...],
    paper: str,
    results: Path | None,
    seed: int | str | None,
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
    found, scale, made = run.find(config, ledgers, paper, results, only)
    if out is None:
        click.echo(show.found(ledgers[paper], found))
        return
    write_findings(out, ledgers[paper], found, scale, made)
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
@click.argument("findings", type=FILE)
@click.argument("out", type=FILE)
def record(configs: tuple[Path, ...], verdicts: Path, findings: Path, out: Path) -> None:
    """Write VERDICTS and FINDINGS as the short tables in OUT that are committed, or neither.

    These are verdicts.csv and findings.csv, in the folder audit/.
    """
    from fairbandits.audit import run

    _, ledgers = run.load(configs)
    run.record(verdicts, findings, ledgers, out)


@main.command("check-claims")
@config_option
@click.argument("files", type=FILE, nargs=-1)
def check_claims(configs: tuple[Path, ...], files: tuple[Path, ...]) -> None:
    """Check the ledgers FILES, papers/PAPER/claims.yaml; all by default.

    What is wrong is said with file, record, key and what is allowed.
    """
    from fairbandits.audit.checking import checked

    wrong = 0
    for line, sound in checked(load_config(configs), files):
        wrong += not sound
        click.echo(line, err=not sound)
    if wrong:
        sys.exit(1)


@main.command()
def vocabulary() -> None:
    """Print the page of all that the expressions of a ledger can name, as Markdown."""
    from fairbandits.audit.vocabulary import page

    click.echo(page(), nl=False)


@main.command()
@of_a_paper
def power(
    configs: tuple[Path, ...],
    paper: str,
    results: Path | None,
    seed: int | str | None,
    only: tuple[str, ...],
) -> None:
    """List how many replicates decide each test of PAPER with 90 % power, and how many there are.

    It goes by the spread in PAPER's datasets, which must be there.
    """
    from fairbandits.audit import run

    config, ledgers = run.load(configs)
    config = config if seed is None else replace(config, seed=seed)
    click.echo(run.power_words(config, ledgers, paper, results, only))


@main.command()
@config_option
@results_option
@click.option("--check", is_flag=True, help="Only say which numbers differ.")
def numbers(configs: tuple[Path, ...], results: Path | None, check: bool) -> None:
    """Work out the numbers of README and docs/figures.md, and write them there."""
    from fairbandits.site.numbers import renew

    for line in renew(load_config(configs), results, checkout(), check=check):
        click.echo(line)


@main.command()
@config_option
@click.argument("claim", required=False)
@click.option("--paper", help="Only claims of this paper.")
@click.option("--verdict", help="Only claims with this verdict, e.g. inconclusive.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@results_option
@click.option("--anyway", is_flag=True, help="Also stale verdicts, marked as such.")
def claims(
    configs: tuple[Path, ...],
    claim: str | None,
    paper: str | None,
    verdict: str | None,
    as_json: bool,
    results: Path | None,
    anyway: bool,
) -> None:
    """List the claims with their verdicts, or explain one CLAIM.

    Verdicts are those of the results on disk or, without them, the committed ones. They are refused
    when they are of other rules or data than are there now.
    """
    from fairbandits.audit import run

    if claim and (paper or verdict):
        raise click.UsageError("give CLAIM, or --paper and --verdict")
    click.echo(run.claims_words(configs, claim, paper, verdict, as_json, results, anyway))


@main.command()
@config_option
@click.option("--paper", help="Only the changes of this paper.")
def deviations(configs: tuple[Path, ...], paper: str | None) -> None:
    """List what changed in the audit since it was first written down, in true order."""
    from fairbandits.audit import run

    click.echo(run.deviations_words(configs, paper))


@main.command()
@click.option("--out", type=FILE, default=POLICY_SCHEMAS, help="File to write.")
def schemas(out: Path) -> None:
    """Write the schemas of the policies' hyper-parameters, from their fields."""
    from fairbandits.experiments.policy_schemas import write_schemas

    checkout()
    write_schemas(out)
    click.echo(out)


@main.command()
@click.argument("graph", type=click.File())
def rulegraph(graph: TextIO) -> None:
    """Print Snakemake's GRAPH of rules (Mermaid; - for standard input) for Graphviz.

    Rules of a kind are one.
    """
    from fairbandits.rulegraph import joined

    click.echo(joined(graph.read()), nl=False)


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
