"""The command that judges a paper's claims again, on data that anyone's words draw."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from click import ClickException, IntRange, UsageError, echo, option

from fairbandits.cli import launch
from fairbandits.cli.options import CORES, DEFAULT_CONFIG, command, paper_option
from fairbandits.settings.config import load_config
from fairbandits.settings.schemas import ROOT, checkout


@command(
    'rejudge --paper ht_ucb --salt "any words"',
    "rejudge --paper banditq --primary --salts 8 --record",
)
@paper_option("The paper whose claims are judged again.")
@option("--salt", "words", multiple=True, help="Words that the data follow from; any number.")
@option("--salts", type=IntRange(1, 1000), help="This many salts, named 1, 2, ...")
@option("--primary", is_flag=True, help="Only the claims that the paper stands on, and their data.")
@option("--record", is_flag=True, help="Keep what comes of it in audit/agreement.csv.")
@option("--smoke", is_flag=True, help="A small run, to try it: these are no results.")
@CORES
def rejudge(paper, words, salts, primary, record, smoke, cores):
    """Draw the data that a PAPER's claims read anew, and say which verdicts come again.

    Each salt has a folder of its own, results/rejudge/PAPER/...: a run that was stopped goes on
    where it was.
    """
    from fairbandits.audit import rejudge as again
    from fairbandits.audit.run import load

    root = checkout()
    if paper is None:
        raise UsageError("--paper says whose claims are judged again")
    if not words and not salts:
        raise UsageError('--salt "any words" or --salts 8 says which data are drawn')
    if smoke and record:
        raise UsageError("--record needs the published scale; leave out --smoke")
    scale = [ROOT / "config" / "smoke.yaml"] if smoke else []
    base = [*DEFAULT_CONFIG, *scale]
    home = load_config(base).folders["results"]
    for salt in [*words, *map(str, range(1, (salts or 0) + 1))]:
        settings = again.settings_of(paper, salt, home)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "rejudge.yaml"
            file.write_text(yaml.safe_dump(settings), encoding="utf-8")
            files = [*scale, file]
            config, ledgers = load([*base, file])
            ledger = again.judged_again(ledgers[paper], primary=primary)
            results = settings["pathvars"]["results"]
            targets = [f"{results}/{place}" for place in again.data_of(ledger, config)]
            if code := _launched(targets, cores, files, root):
                raise ClickException(f"the run under the salt {salt!r} ended with {code}")
        found = again.verdicts_on(ledger, config, root / results)
        echo("\n".join(again.summary(salt, found)))
        if record:
            again.record(paper, salt, found)


def _launched(targets, cores, files, root) -> int:
    """Run snakemake in a process of its own, since `launch` becomes it; return its exit code."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(launch.launch(targets, cores, files, root))
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
