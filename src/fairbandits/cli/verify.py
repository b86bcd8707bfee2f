"""The commands that compare results with the locks, and keep a run as one file."""

import secrets
from collections.abc import Iterator
from pathlib import Path

from click import ClickException, IntRange, argument, echo, option

from fairbandits.cli import options
from fairbandits.cli.options import CONFIGS, FILE, command, echo_all
from fairbandits.numerals import counted
from fairbandits.settings.config import Config, load_config
from fairbandits.settings.schemas import ROOT, checkout


@command("verify", "verify --sample 10", "verify --all")
@CONFIGS
@options.LOCK
@option("--sample", type=IntRange(min=0), default=2, help="Replicates to simulate again.")
@option(
    "--sample-seed",
    type=IntRange(min=0),
    help="Seed that chooses those replicates; by default random.",
)
@option("--all", "every", is_flag=True, help="List each problem, even many of one kind.")
def verify(configs, lock, sample, sample_seed, every):
    """Check all results against results.lock.

    Some replicates are simulated again. The content of drawn curves, replays, findings and verdicts
    must agree with their footers and with the present code. The verdicts, on disk and committed,
    must belong to these results and to the rules of the ledgers. The arena's results, if any, are
    compared with arena.lock.
    """
    from fairbandits.audit.staleness import problems_of
    from fairbandits.figures import figure_code
    from fairbandits.replication import verify as check

    seed = secrets.randbelow(10**6) if sample_seed is None else sample_seed
    chosen = f"; --sample-seed {seed} chooses the same replicates again" if sample else ""
    problems, agree = [], []
    for config, file in [(load_config(configs), lock), *_locked_arena(configs, lock, None)]:
        known = check.read_lock(file)
        wrong = check.verify(config, known, sample, seed, figure_code) + problems_of(config, known)
        problems += wrong
        again = f"{counted(sample, 'replicate')} simulated again agree{chosen}"
        if not wrong:
            agree.append(f"{counted(len(config.runs), 'run')} agree with {file.name}; {again}")
    echo_all(problems if every else check.summarised(problems), err=True)
    if problems:
        raise ClickException(f"{counted(len(problems), 'problem')}{chosen}")
    echo_all(agree)


@command("lock")
@CONFIGS
@option("--out", type=FILE, default=ROOT / "results.lock", help="Lock to write.")
def lock(configs, out):
    """Write results.lock from the results on disk."""
    from fairbandits.replication.verify import write_lock

    config = load_config(configs)
    write_lock(config, out)
    echo(f"{out}: {counted(len(config.runs), 'run')}")


@command("archive", "archive --agent 'A. Name' --out build/run.zip")
@CONFIGS
@option("--agent", help="Name of the person who ran it, for the record.")
@option("--out", type=FILE, default=Path("build/fairbandits.zip"), help="File to write.")
def archive(configs, agent, out):
    """Write a finished run as one file.

    It holds code, locks, data, figures, verdicts, site and a record of the run: a Workflow Run
    RO-Crate with the hash of each file.
    """
    from fairbandits.report.archive import write_archive

    written = write_archive(load_config(configs), out, checkout(), agent)
    echo(f"{out}: {counted(written, 'file')}")


@command("fetch build/fairbandits.zip", "fetch fairbandits.zip --results results/fetched")
@CONFIGS
@options.RESULTS
@options.LOCK
@argument("file", type=FILE)
def fetch(configs, results, lock, file):
    """Unpack the results of an archive FILE.

    Every hash is verified. An archive that is damaged, or of other code, settings, rules or
    results, is refused.
    """
    from fairbandits.replication.verify import read_lock
    from fairbandits.report.archive import fetch as fetch_results

    config = options.placed(load_config(configs), results)
    locked = [(config, lock), *_locked_arena(configs, lock, config.results)]
    taken = fetch_results(file, [(one, read_lock(own)) for one, own in locked])
    echo(f"{config.results}: {counted(taken, 'file')}, all verified")


def _locked_arena(
    configs: tuple[Path, ...], lock: Path, results: Path | None
) -> Iterator[tuple[Config, Path]]:
    """Yield the arena's configuration and lock, if it has that and results or a folder."""
    own = lock.with_name("arena.lock")
    if own == lock or not own.is_file():
        return
    arena = options.arena_of(configs, results)
    if results or any((arena.results / one.dataset).exists() for one in arena.experiments):
        yield arena, own
