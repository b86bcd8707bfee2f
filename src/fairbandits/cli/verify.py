"""The commands that compare results with the locks, and keep a run as one file."""

import secrets
from collections.abc import Iterator
from pathlib import Path

from click import ClickException, IntRange, argument, echo, option

from fairbandits.cli.options import CONFIGS, FILE, LOCK, RESULTS, arena_of, command, placed, writing
from fairbandits.settings.config import Config, load_config
from fairbandits.settings.schemas import ROOT, checkout


@command("verify", "verify --sample 10", "verify --all")
@CONFIGS
@LOCK
@option("--sample", type=IntRange(min=0), default=2, help="Replicates to simulate again.")
@option(
    "--sample-seed",
    type=IntRange(min=0),
    help="Chooses those replicates; by default others each time.",
)
@option("--all", "every", is_flag=True, help="List each problem, also many of one kind.")
def verify(configs, lock, sample, sample_seed, every):
    """Check all results against their footers and results.lock, and simulate some again.

    Tables of drawn curves, replays, findings and verdicts must have the content that their footers
    say, and be of the present code. The verdicts, those on disk and the committed ones, must be of
    these results and of the rules of the ledgers. The arena's results, where there are any, are
    compared with the arena.lock beside the other.
    """
    from fairbandits.audit.run import problems_of
    from fairbandits.replication import verify as check

    locked = [(load_config(configs), lock), *_locked_arena(configs, lock, None)]
    seed = secrets.randbelow(10**6) if sample_seed is None else sample_seed
    problems = []
    for config, file in locked:
        known = check.read_lock(file)
        problems += check.verify(config, known, sample, seed) + problems_of(config, known)
    for line in check.other_versions(locked[0][0]):
        echo(f"Note: {line}", err=True)
    for problem in problems if every else check.summarised(problems):
        echo(problem, err=True)
    chosen = f"; --sample-seed {seed} chooses the same replicates again" if sample else ""
    if problems:
        raise ClickException(f"{len(problems)} problems{chosen}")
    for config, file in locked:
        echo(
            f"{len(config.runs)} runs agree with {file.name}; {sample} replicates simulated again "
            f"agree{chosen}"
        )


@command("lock")
@CONFIGS
@option("--out", type=FILE, default=ROOT / "results.lock", help="Lock to write.")
def lock(configs, out):
    """Write results.lock from the results on disk."""
    from fairbandits.replication.verify import write_lock

    config = load_config(configs)
    with writing(out):
        write_lock(config, out)
    echo(f"{out}: {len(config.runs)} runs")


@command("archive", "archive --agent 'A. Name' --out build/run.zip")
@CONFIGS
@option("--agent", help="Name of who ran it, for the record.")
@option("--out", type=FILE, default=Path("build/fairbandits.zip"), help="File to write.")
def archive(configs, agent, out):
    """Write a finished run as one file: code, locks, data, figures, verdicts, site and record.

    The record is a Workflow Run RO-Crate, with the hash of each file.
    """
    from fairbandits.report.archive import write_archive

    echo(f"{out}: {write_archive(load_config(configs), out, checkout(), agent)} files")


@command("fetch build/fairbandits.zip", "fetch fairbandits.zip --results results/fetched")
@CONFIGS
@RESULTS
@LOCK
@argument("file", type=FILE)
def fetch(configs, results, lock, file):
    """Take the results out of the archive FILE, and verify every hash of them.

    A damaged archive, or one of other code, settings, rules or results, is refused whole.
    """
    from fairbandits.replication.verify import read_lock
    from fairbandits.report.archive import fetch as fetch_results

    config = placed(load_config(configs), results)
    place = Path(config.folders["results"])
    others = [(one, read_lock(own)) for one, own in _locked_arena(configs, lock, place)]
    taken = fetch_results(file, config, read_lock(lock), others)
    echo(f"{place}: {taken} files, all verified")


def _locked_arena(
    configs: tuple[Path, ...], lock: Path, results: Path | None
) -> Iterator[tuple[Config, Path]]:
    """Yield the arena's configuration and lock, if it has a lock beside that of the papers.

    Where no folder is given to fetch results into, it must have results too.
    """
    own = lock.with_name("arena.lock")
    if own == lock or not own.is_file():
        return
    arena = arena_of(configs, results)
    folder = Path(arena.folders["results"])
    if results or any((folder / one.dataset).exists() for one in arena.experiments):
        yield arena, own
