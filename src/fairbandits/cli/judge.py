"""The command that judges claims about policies of one's own."""

import os
import sys
from functools import partial

from click import IntRange, UsageError, argument, echo, option

from fairbandits.cli.options import CORES, FILE, FOLDER, command
from fairbandits.settings.config import LEDGER


@command(
    "judge my_claims.yaml --check",
    "judge my_claims.yaml",
    "judge my_claims.yaml --cores 2 --out build/my_claims --json",
)
@option("--check", is_flag=True, help="Only check FILE; nothing is frozen or written.")
@option("--out", type=FOLDER, help="Folder to write into; default FILE without .yaml.")
@CORES
@option(
    "--seed",
    type=IntRange(min=0),
    help="Seed in place of that of the rules; everything is then exploratory.",
)
@option("--long", is_flag=True, help="Run even if plain Python takes very long.")
@option("--json", "as_json", is_flag=True, help="Verdicts as JSON.")
@argument("file", type=FILE)
def judge(check, out, cores, seed, long, as_json, file):
    """Judge the claims of FILE about policies of your own, as those of the papers are.

    FILE holds instances, policies, horizon, replicates, and a ledger of claims
    (docs/your-own-claims.md). The command first freezes the rules: the seed is a hash of them and
    of the policies' files, so that other rules draw new data. The report lists every look at data.
    """
    from fairbandits.audit.judging import run

    how = {
        "seed": LEDGER if seed is None else seed,
        "cores": cores or os.cpu_count() or 1,
        "long": long,
    }
    if check:
        echo(run.checked_words(run.check(file, **how)))
        return
    folder = out or file.with_suffix("")
    if folder == file:
        raise UsageError(f"{file} has no ending, so that --out must name another folder")
    say = partial(echo, err=True)
    progress = sys.stderr.isatty()
    echo(run.judged(file, folder, **how, json=as_json, say=say, progress=progress))
