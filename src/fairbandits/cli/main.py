"""The command line; each step of the workflow is one of these commands."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import click

from fairbandits.data.store import StoreError
from fairbandits.settings.config import LEDGER, Config, build_config, load_config
from fairbandits.settings.schemas import (
    POLICY_SCHEMAS,
    ROOT,
    ConfigError,
    checkout,
    merge,
    paper_file,
    read_yaml,
)

DEFAULT_CONFIG = (ROOT / "config" / "config.yaml",)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


#: What a command is for -> the commands, in this order.
SECTIONS = {
    "Commands": (
        *("replicate", "claims", "arena", "judge", "deviations", "power", "describe"),
        *("verify", "archive", "fetch", "replay"),
    ),
    "To change the project": ("check-claims", "vocabulary", "schemas", "numbers", "lock"),
    "Steps of the workflow": (
        *("simulate", "collect", "figure", "audit", "verdicts", "record"),
        *("standings", "notebook", "site", "rulegraph"),
    ),
}


class Commands(click.Group):
    """Commands whose expected errors are printed as one message."""

    def invoke(self, context: click.Context):
        """Run a command."""
        try:
            return super().invoke(context)
        except (ConfigError, StoreError, ValueError, OSError, ArithmeticError) as error:
            raise click.ClickException(str(error)) from error

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the commands do, those first that a user has use for."""
        widest = max(map(len, self.commands))
        room = formatter.width - 6 - widest
        for title, names in SECTIONS.items():
            rows = [
                (name.ljust(widest), self.commands[name].get_short_help_str(room)) for name in names
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


def examples(*lines: str) -> str:
    """Return what stands below the help of a command: lines that can be typed."""
    return "\b\n" + "\n".join(["Examples:", *(f"  fairbandits {line}" for line in lines)])


def completing(names):
    """Return what completes a word in the shell from the names that a function gives."""

    def complete(context: click.Context, parameter: click.Parameter, begin: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(begin)]
        except (ConfigError, StoreError, OSError):
            return []  # whoever types on is told what is wrong

    return complete


def _papers() -> list[str]:
    return sorted(file.parent.name for file in ROOT.glob("papers/*/experiments.yaml"))


def _targets() -> list[str]:
    from fairbandits.cli.launch import TARGETS, named_figures

    return [*TARGETS, *named_figures(load_config(DEFAULT_CONFIG))]


def _claims() -> list[str]:
    ledgers = (paper_file(paper, "claims") for paper in _papers())
    return [one for file in ledgers if file.is_file() for one in read_yaml(file)["claims"]]


def _verdicts() -> list[str]:
    from fairbandits.audit.finding import OUTCOMES

    return list(OUTCOMES)


@contextmanager
def writing(*files: Path) -> Iterator[None]:
    """Name the files that were to be written where the system does not: a full disk, a quota."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        names = " or ".join(map(str, files))
        raise OSError(f"{names} could not be written, and is as it was: {error}") from error


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
    return click.option("--results", type=FOLDER, help=words)(command)


def of_a_paper(command):
    """Give a command what says which tests are to be asked, and of which data."""
    words = "Root seed, or `ledger`; default as configured."
    only = click.option(
        "--only",
        multiple=True,
        shell_complete=completing(_claims),
        help="Id of a claim; default all.",
    )
    command = only(command)
    command = click.option("--seed", type=Seed(), help=words)(command)
    paper = click.argument("paper", shell_complete=completing(_papers))
    return config_option(paper(results_option(command)))


@click.group(
    cls=Commands,
    epilog=examples(
        "replicate banditq_fig2",
        "claims --paper fair_ucb",
        "COMMAND --help",
    ),
)
@click.version_option(package_name="fairbandits")
def main() -> None:
    """Fair-bandit papers re-run at their published scale."""


@main.command(
    epilog=examples(
        "replicate",
        "replicate --cores 4 banditq_fig2 banditq_fig7",
        "replicate --preview figures",
        "replicate --dry-run",
        "replicate banditq_fig7 --set oracle_lfg.banditq.V_exponent=0.6 --replicates 20"
        " --out results/v06",
    )
)
@click.option("--cores", type=click.IntRange(min=1), help="Cores to use; default all.")
@click.option(
    "--smoke", "scale", flag_value="smoke", help="A small run of everything, in results/smoke."
)
@click.option(
    "--preview",
    "scale",
    flag_value="preview",
    help="Published numbers of rounds, few replicates, in results/preview.",
)
@click.option(
    "--large",
    "scale",
    flag_value="large",
    help="Ten times the rounds and replicates, in results/large: a hundred times the work.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="SETTING=VALUE",
    help="EXPERIMENT.SETTING or EXPERIMENT.POLICY.PARAMETER, and a value in place of the published"
    " one; can be given several times, and needs --out.",
)
@click.option(
    "--replicates",
    type=click.IntRange(2, 10**6),
    help="Replicates of every experiment; needs --out.",
)
@click.option("--out", type=FOLDER, help="Folder for what is made with --set or --replicates.")
@click.option("--dry-run", is_flag=True, help="Only say what would be made, and how long it takes.")
@click.argument("targets", nargs=-1, shell_complete=completing(_targets))
def replicate(
    cores: int | None,
    scale: str | None,
    changes: tuple[str, ...],
    replicates: int | None,
    out: Path | None,
    dry_run: bool,
    targets: tuple[str, ...],
) -> None:
    """Run the workflow: everything, or TARGETS such as `figures` or `banditq_fig2`.

    With --set or --replicates all figures are drawn that show what is changed, or TARGETS of
    them; committed files stay as they are.
    """
    from fairbandits.cli.launch import check_targets, launch

    root = checkout()
    files = [*DEFAULT_CONFIG, *([ROOT / "config" / f"{scale}.yaml"] if scale else [])]
    asked = list(targets)
    if bool(changes or replicates) != bool(out):
        raise click.UsageError(
            "--set and --replicates need --out, a folder of their own such as results/v06, and "
            "--out needs one of them"
        )
    with ExitStack() as stack:
        if out:
            scratch = Path(stack.enter_context(TemporaryDirectory())) if dry_run else None
            variant, asked = _variant(files, changes, replicates, out, asked, scratch)
            files.append(variant)
        elif asked:
            check_targets(asked, load_config(files))
        options = {"cores": cores, "files": files[1:] and files, "root": root}
        sys.exit(launch(asked, **options, dry_run=dry_run))


def _variant(
    files: list[Path],
    changes: tuple[str, ...],
    replicates: int | None,
    out: Path,
    targets: list[str],
    scratch: Path | None,
) -> tuple[Path, list[str]]:
    """Return the configuration of a variant, and what is to be made.

    It is written into the variant's folder, or into another one.
    """
    from fairbandits.cli.launch import check_targets, check_used, named_figures, targets_of_variant
    from fairbandits.settings import variants

    published = load_config(files)
    home = load_config(DEFAULT_CONFIG).folders["results"]
    folder = variants.folder_of_variant(out, ROOT, home, _papers())
    settings = variants.settings_of_variant(changes, replicates, folder)
    check_targets(targets, published)
    check_used(settings.get("changes", {}), targets, published)
    config = build_config(reduce(merge, [*map(read_yaml, files), settings]), "command line")
    asked = targets_of_variant(targets, config)
    if set(asked) <= set(named_figures(config)):
        settings["papers"] = [
            paper
            for paper in dict.fromkeys(one.paper for one in config.experiments)
            if any(one.startswith(f"{paper}_fig") for one in asked)
        ]
    return variants.write_variant(settings, scratch or ROOT / folder), asked


@main.command(
    epilog=examples(
        "simulate results/cache/plans/PLAN.json",
        "simulate results/cache/plans/PLAN.json --run banditq/oracle_lfg/lfg-bernoulli"
        " --replicates 0-199",
    )
)
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

    from fairbandits.replication.bundles import chosen, read_plan
    from fairbandits.replication.simulate import write_chunks

    seed, chunks = read_plan(plan, "chunks")
    chunks = chosen(chunks, plan, name, replicates)
    start = time.monotonic()
    written = write_chunks(chunks, seed)
    for one in chunks:
        with writing(one["out"]):
            out = next(written)
        click.echo(f"{out}: {time.monotonic() - start:.2f} s")
        start = time.monotonic()


@main.command(epilog=examples("collect results/cache/plans/PLAN.json"))
@click.argument("plan", type=FILE)
def collect(plan: Path) -> None:
    """Join chunks into the datasets of PLAN, one for each experiment.

    The workflow writes the plan, a JSON file with a seed and a list of datasets: what it is of, its
    chunks, RUN/FIRST-LAST.parquet, and the file to write.
    """
    from fairbandits.replication import datasets
    from fairbandits.replication.bundles import read_plan

    seed, found = read_plan(plan, "datasets")
    for one in found:
        with writing(one["out"]):
            datasets.collect(one["chunks"], one["experiment"], seed, one["out"], one["ledger"])


@main.command(
    epilog=examples(
        "figure banditq fig1 results/banditq/full_information.parquet"
        " --svg fig1.svg --png fig1.png --table fig1.parquet"
    )
)
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
    """Draw FIGURE of PAPER, such as `banditq fig1`, from the datasets DATA, its own first."""
    from fairbandits.figures.draw import draw

    with writing(table, svg, png):
        draw(paper, figure, data, published, svg=svg, png=png, table=table)


@main.command(
    epilog=examples("replay banditq-uai2024 --arms 5 --feedback bandit --out replay.parquet")
)
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
    from fairbandits.replication.banditq_uai2024 import HORIZONS, published_rounds, write_replay

    horizon = HORIZONS[int(arms)]
    also = published_rounds(read_yaml(published)["figures"], horizon) if published else []
    length = min(horizon, rounds or horizon)
    with writing(out), click.progressbar(length=length, label="rounds", file=sys.stderr) as bar:
        write_replay(
            *(int(arms), feedback, out, lambda done: bar.update(done - bar.pos)),
            rounds=length,
            also=also,
        )


@main.command(epilog=examples("verify", "verify --sample 10", "verify --all"))
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
    these results and of the rules of the ledgers. The arena's results, where there are any, are
    compared with the arena.lock beside the other.
    """
    import secrets

    from fairbandits.audit.run import problems_of
    from fairbandits.replication import verify as check

    locked = [(load_config(configs), lock), *_locked_arena(configs, lock, None)]
    seed = secrets.randbelow(10**6) if sample_seed is None else sample_seed
    problems = []
    for config, file in locked:
        known = check.read_lock(file)
        problems += check.verify(config, known, sample, seed) + problems_of(config, known)
    for line in check.other_versions(locked[0][0]):
        click.echo(f"Note: {line}", err=True)
    for problem in problems if every else check.summarised(problems):
        click.echo(problem, err=True)
    chosen = f"; --sample-seed {seed} chooses the same replicates again" if sample else ""
    if problems:
        raise click.ClickException(f"{len(problems)} problems{chosen}")
    for config, file in locked:
        click.echo(
            f"{len(config.runs)} runs agree with {file.name}; {sample} replicates simulated again "
            f"agree{chosen}"
        )


@main.command(epilog=examples("lock"))
@config_option
@click.option("--out", type=FILE, default=ROOT / "results.lock", help="Lock to write.")
def lock(configs: tuple[Path, ...], out: Path) -> None:
    """Write results.lock from the results on disk."""
    from fairbandits.replication.verify import write_lock

    config = load_config(configs)
    with writing(out):
        write_lock(config, out)
    click.echo(f"{out}: {len(config.runs)} runs")


@main.command(epilog=examples("archive", "archive --agent 'A. Name' --out build/run.zip"))
@config_option
@click.option("--agent", help="Name of who ran it, for the record.")
@click.option("--out", type=FILE, default=Path("build/fairbandits.zip"), help="File to write.")
def archive(configs: tuple[Path, ...], agent: str | None, out: Path) -> None:
    """Write a finished run as one file: code, locks, data, figures, verdicts, site and record.

    The record is a Workflow Run RO-Crate, with the hash of each file.
    """
    from fairbandits.report.archive import write_archive

    click.echo(f"{out}: {write_archive(load_config(configs), out, checkout(), agent)} files")


@main.command(
    epilog=examples(
        "fetch build/fairbandits.zip", "fetch fairbandits.zip --results results/fetched"
    )
)
@config_option
@results_option
@click.option("--lock", type=FILE, default=ROOT / "results.lock", help="Lock to compare with.")
@click.argument("file", type=FILE)
def fetch(configs: tuple[Path, ...], results: Path | None, lock: Path, file: Path) -> None:
    """Take the results out of the archive FILE, and verify every hash of them.

    A damaged archive, or one of other code, settings, rules or results, is refused whole.
    """
    from fairbandits.replication.verify import read_lock
    from fairbandits.report.archive import fetch as fetch_results

    config = load_config(configs)
    place = results or Path(config.folders["results"])
    config = replace(config, folders=config.folders | {"results": str(place)})
    others = [(one, read_lock(own)) for one, own in _locked_arena(configs, lock, place)]
    taken = fetch_results(file, config, read_lock(lock), others)
    click.echo(f"{place}: {taken} files, all verified")


@main.command(epilog=examples("audit fair_ucb", "audit fair_ucb --only fairucb-thm2-bound"))
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

    Where a claim cannot be judged, it is said why. At the published scale nothing is written then;
    in a smaller run the claim is kept as failed.
    """
    from fairbandits.audit import run, show
    from fairbandits.audit.records import write_findings

    if only and out:
        raise click.UsageError("--only is for looking; --out needs all claims")
    config, ledgers = run.load(configs)
    config = config if seed is None else replace(config, seed=seed)
    found, scale, made = run.find(config, ledgers, paper, results, only)
    if out is None:
        if made.exploratory:
            click.echo(f"{run.exploratory_words(made.seed)}\n")
        click.echo(show.found(ledgers[paper], found))
        return
    failed = len({one.claim for one in found if one.finding is None})
    for line in run.failures(found):
        click.echo(line, err=True)
    if failed and scale == "paper":
        raise click.ClickException(
            f"{failed} claims of {paper} could not be judged; all verdicts stay as they were"
        )
    with writing(out):
        write_findings(out, ledgers[paper], found, scale, made)


@main.command(
    epilog=examples(
        "verdicts results/audit/banditq.parquet results/audit/fair_ucb.parquet"
        " --joint findings.parquet --out verdicts.parquet"
    )
)
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
    with writing(joint, out):
        failed, written = run.write_verdicts(list(findings), ledgers, joint, out)
    for line in failed:
        click.echo(line, err=True)
    if not written:
        raise click.ClickException(f"{len(failed)} claims failed; no verdicts are written")


@main.command(
    epilog=examples("record results/audit/verdicts.parquet results/audit/findings.parquet audit")
)
@config_option
@click.argument("verdicts", type=FILE)
@click.argument("findings", type=FILE)
@click.argument("out", type=FOLDER)
def record(configs: tuple[Path, ...], verdicts: Path, findings: Path, out: Path) -> None:
    """Write VERDICTS and FINDINGS as the short tables in OUT that are committed, or neither.

    These are verdicts.csv and findings.csv, in the folder audit/.
    """
    from fairbandits.audit import run

    _, ledgers = run.load(configs)
    with writing(out):
        run.record(verdicts, findings, ledgers, out)


@main.command(
    "check-claims", epilog=examples("check-claims", "check-claims papers/banditq/claims.yaml")
)
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


@main.command(epilog=examples("vocabulary > docs/words-of-the-ledgers.md"))
def vocabulary() -> None:
    """Print the page of all that the expressions of a ledger can name, as Markdown."""
    from fairbandits.audit.vocabulary import page

    click.echo(page(), nl=False)


@main.command(
    epilog=examples(
        "power banditq --verdict inconclusive", "power banditq --only banditq-prop2-violation"
    )
)
@of_a_paper
@click.option(
    "--verdict",
    shell_complete=completing(_verdicts),
    help="Only claims with this verdict, e.g. inconclusive.",
)
def power(
    configs: tuple[Path, ...],
    paper: str,
    results: Path | None,
    seed: int | str | None,
    only: tuple[str, ...],
    verdict: str | None,
) -> None:
    """List how many replicates decide each test of PAPER with 90 % power, and how many there are.

    Open questions come first. It goes by the spread in PAPER's datasets, which must be there.
    """
    from fairbandits.audit import run

    config, ledgers = run.load(configs)
    config = config if seed is None else replace(config, seed=seed)
    if only and verdict:
        raise click.UsageError("give --only or --verdict")
    click.echo(run.power_words(config, ledgers, paper, results, only, verdict))


@main.command(epilog=examples("numbers", "numbers --check"))
@config_option
@results_option
@click.option("--check", is_flag=True, help="Only say which numbers differ.")
def numbers(configs: tuple[Path, ...], results: Path | None, check: bool) -> None:
    """Work out the numbers of README and docs/figures.md, and write them there."""
    from fairbandits.report.numbers import renew

    for line in renew(load_config(configs), results, checkout(), check=check):
        click.echo(line)


@main.command(
    epilog=examples(
        "claims",
        "claims --paper fair_ucb --verdict inconclusive",
        "claims fairucb-thm2-bound",
        "claims banditq-prop2-violation --set margin=0.05",
        "claims --json",
    )
)
@config_option
@click.argument("claim", required=False, shell_complete=completing(_claims))
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="SETTING=VALUE",
    help="What if a setting of CLAIM's rule had this value? TEST.SETTING=VALUE is of one test; can"
    " be given several times. Nothing is written.",
)
@click.option("--paper", shell_complete=completing(_papers), help="Only claims of this paper.")
@click.option(
    "--verdict",
    shell_complete=completing(_verdicts),
    help="Only claims with this verdict, e.g. inconclusive.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@results_option
@click.option("--anyway", is_flag=True, help="Also stale verdicts, marked as such.")
def claims(
    configs: tuple[Path, ...],
    claim: str | None,
    changes: tuple[str, ...],
    paper: str | None,
    verdict: str | None,
    as_json: bool,
    results: Path | None,
    anyway: bool,
) -> None:
    """List the claims with their verdicts, or explain one CLAIM.

    Verdicts are those of the results on disk or, without them, the committed ones. Those of a paper
    are refused when they are of other rules or data than are there now.
    """
    from fairbandits.audit import run, whatif

    if claim and (paper or verdict):
        raise click.UsageError("give CLAIM, or --paper and --verdict")
    if changes:
        if not claim or as_json or anyway:
            raise click.UsageError("--set is for one CLAIM, without --json and --anyway")
        click.echo(whatif.answer(*run.load(configs), claim, changes, results))
        return
    click.echo(run.claims_words(configs, claim, paper, verdict, as_json, results, anyway))


@main.command(
    epilog=examples(
        "judge my_claims.yaml --check",
        "judge my_claims.yaml",
        "judge my_claims.yaml --cores 2 --out build/my_claims --json",
    )
)
@click.option("--check", is_flag=True, help="Only check FILE; nothing is frozen or written.")
@click.option("--out", type=FOLDER, help="Folder for what is made; default FILE without .yaml.")
@click.option("--cores", type=click.IntRange(min=1), help="Cores to use; default all.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed in place of the one that follows from the rules; all of it is then exploratory.",
)
@click.option("--long", is_flag=True, help="Also when plain Python takes very long.")
@click.option("--json", "as_json", is_flag=True, help="Verdicts as JSON.")
@click.argument("file", type=FILE)
def judge(
    check: bool,
    out: Path | None,
    cores: int | None,
    seed: int | None,
    long: bool,
    as_json: bool,
    file: Path,
) -> None:
    """Judge the claims of FILE about policies of your own, as those of the papers are.

    FILE has instances, policies, number of rounds and of replicates, and a ledger of claims
    (docs/your-own-claims.md). Its rules are frozen first: the seed is a hash of them and of the
    policies' files, so that other rules draw new data. Every look at data is listed in the report.
    """
    import os

    from fairbandits.audit.judging import run

    checkout()
    cores, seed = cores or os.cpu_count() or 1, LEDGER if seed is None else seed
    if check:
        click.echo(run.checked_words(run.check(file, seed, cores=cores, long=long)))
        return
    folder = out or file.with_suffix("")
    if folder == file:
        raise click.UsageError(f"{file} has no ending, so that --out must name another folder")
    text = run.judged(
        file,
        folder,
        seed=seed,
        cores=cores,
        long=long,
        json=as_json,
        say=lambda words: click.echo(words, err=True),
        progress=sys.stderr.isatty(),
    )
    click.echo(text)


@main.command(epilog=examples("deviations --paper banditq"))
@config_option
@click.option("--paper", shell_complete=completing(_papers), help="Only the changes of this paper.")
def deviations(configs: tuple[Path, ...], paper: str | None) -> None:
    """List what changed in the audit since it was first written down, in true order."""
    from fairbandits.audit import run

    click.echo(run.deviations_words(configs, paper))


@main.command(
    epilog=examples("describe results/banditq/fig1.parquet", "describe > docs/data-dictionary.md")
)
@click.argument("file", type=FILE, required=False)
def describe(file: Path | None) -> None:
    """Say what the table FILE holds: meaning, unit and range of each column.

    Without FILE, the page of the whole data dictionary as Markdown.
    """
    from fairbandits.report import describing

    click.echo(describing.page() if file is None else describing.describe(file), nl=bool(file))


@main.command(epilog=examples("schemas"))
@click.option("--out", type=FILE, default=POLICY_SCHEMAS, help="File to write.")
def schemas(out: Path) -> None:
    """Write the schemas of the policies' hyper-parameters, from their fields."""
    from fairbandits.settings.policy_schemas import write_schemas

    checkout()
    write_schemas(out)
    click.echo(out)


@main.command(epilog=examples("rulegraph graph.mmd"))
@click.argument("graph", type=click.File())
def rulegraph(graph: TextIO) -> None:
    """Print Snakemake's GRAPH of rules (Mermaid; - for standard input) for Graphviz.

    Rules of a kind are one.
    """
    from fairbandits.report.rulegraph import joined

    click.echo(joined(graph.read()), nl=False)


@main.command(epilog=examples("standings", "standings --results results/smoke"))
@config_option
@results_option
def standings(configs: tuple[Path, ...], results: Path | None) -> None:
    """Write the tables of the arena from its datasets, into RESULTS/arena."""
    from fairbandits.arena.settings import SLUG, TABLES
    from fairbandits.arena.standings import write

    config = _arena(configs, results)
    out = Path(config.folders["results"]) / SLUG
    with writing(*(out / f"{name}.parquet" for name in TABLES)):
        write(config, out)


def _contracts() -> list[str]:
    from fairbandits.library.contracts import CONTRACTS

    return list(CONTRACTS)


def _instances() -> list[str]:
    return [one.instance for one in _arena(DEFAULT_CONFIG, None).experiments]


@main.command(
    epilog=examples(
        "arena my_policies.py:FairGreedy",
        "arena my_policies.py:FairGreedy --contract minimum_pulls --instances fair_ucb_1",
        "arena my_policies.py:FairGreedy --compiled --out my_policies.html",
    )
)
@config_option
@results_option
@click.argument("policy", metavar="FILE.py:CLASS")
@click.option(
    "--contract",
    "contracts",
    multiple=True,
    shell_complete=completing(_contracts),
    help="Only this contract; can be given several times.",
)
@click.option(
    "--instances",
    shell_complete=completing(_instances),
    help="Only these instances, separated by commas.",
)
@click.option("--compiled", is_flag=True, help="Compile the policy, and run as much as is stored.")
@click.option("--replicates", type=click.IntRange(min=2), help="Fewer, or more, replicates.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; default all processors.")
@click.option("--out", type=FILE, help="HTML page to write; default CLASS.html.")
def arena(
    configs: tuple[Path, ...],
    results: Path | None,
    policy: str,
    contracts: tuple[str, ...],
    instances: str | None,
    compiled: bool,
    replicates: int | None,
    jobs: int | None,
    out: Path | None,
) -> None:
    """Run your own policy in the arena, beside the stored ones, on the same rewards.

    The class can ask for quotas, targets and groups, by the names of its parameters. It prints a
    table and writes one HTML page. `fairbandits replicate arena` makes what is stored.
    """
    from fairbandits.arena import entrant, report
    from fairbandits.arena.roles import load_arena

    found = entrant.load_entrant(policy, compiled)
    place = load_arena(_arena(configs, results))
    names = [one for one in (instances or "").split(",") if one]
    outcome = entrant.enter(
        *(place, found, contracts, names, replicates, jobs),
        said=lambda words: click.echo(words, err=True),
    )
    for line in entrant.lines(place, outcome):
        click.echo(line)
    if outcome.tables:
        out = out or Path(f"{found.name}.html")
        with writing(out):
            report.write(place, outcome, out)
        click.echo(f"{out}: a page with all of it")
    if outcome.failures:
        raise click.ClickException(
            f"{found.name} failed on {len(outcome.failures)} instances; the others are shown"
        )


def _locked_arena(
    configs: tuple[Path, ...], lock: Path, results: Path | None
) -> Iterator[tuple[Config, Path]]:
    """Yield the arena's configuration and lock, if it has a lock beside that of the papers.

    Where no folder is given to fetch results into, it must have results too.
    """
    own = lock.with_name("arena.lock")
    if own == lock or not own.is_file():
        return
    arena = _arena(configs, results)
    folder = Path(arena.folders["results"])
    if results or any((folder / one.dataset).exists() for one in arena.experiments):
        yield arena, own


def _arena(configs: tuple[Path, ...], results: Path | None) -> Config:
    """Return the configuration of the arena."""
    from fairbandits.arena.settings import arena_config

    settings: dict[str, Any] = reduce(merge, map(read_yaml, configs))
    config = arena_config(settings, " + ".join(map(str, configs)))
    folder = {"results": str(results)} if results else {}
    return replace(config, folders=config.folders | folder)


@main.command(
    epilog=examples(
        "notebook notebooks/banditq.ipynb out.ipynb -p results results -p figures figures"
    )
)
@click.argument("source", type=FILE)
@click.argument("out", type=FILE)
@click.option("-p", "parameters", type=(str, str), multiple=True, help="Notebook parameter.")
def notebook(source: Path, out: Path, parameters: tuple[tuple[str, str], ...]) -> None:
    """Execute notebook SOURCE into OUT."""
    from fairbandits.report.build import execute

    with writing(out):
        execute(source, out, dict(parameters))


@main.command(epilog=examples("site results/notebooks/index.ipynb --figures figures --out site"))
@click.argument("notebooks", type=FILE, nargs=-1, required=True)
@click.option("--figures", type=FOLDER, required=True, help="Folder of the drawn figures.")
@click.option("--out", type=FOLDER, required=True, help="Folder for the site.")
@click.option("--results", type=FOLDER, help="Folder of the results, for a page per claim.")
def site(notebooks: tuple[Path, ...], figures: Path, out: Path, results: Path | None) -> None:
    """Build the report site from executed NOTEBOOKS."""
    from fairbandits.report.build import build

    with writing(out):
        build(list(notebooks), figures, out, results)


if __name__ == "__main__":
    main()
