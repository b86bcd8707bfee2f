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


@command('rejudge --paper ht_ucb --salt "any words"', "rejudge --paper banditq --salts 8 --record")
@paper_option("The paper whose claims are judged again.")
@option("--salt", "words", multiple=True, help="Words that choose the data; can be repeated.")
@option("--salts", type=IntRange(1, 1000), help="Number of salts, named 1, 2, ...")
@option("--record", is_flag=True, help="Add the outcome to audit/agreement.csv.")
@option("--smoke", is_flag=True, help="A small run, to try the command; these are no results.")
@CORES
def rejudge(paper, words, salts, record, smoke, cores):
    """Draw new data for a PAPER, judge its claims, and list which verdicts recur.

    Each salt has its own folder, results/rejudge/PAPER/... An interrupted run continues where it
    stopped.
    """
    from fairbandits.audit import rejudge as again
    from fairbandits.audit.records import read
    from fairbandits.audit.run import load

    root = checkout()
    if paper is None:
        raise UsageError("--paper says whose claims are judged again")
    if not words and not salts:
        raise UsageError('--salt "any words" or --salts 8 says which data are drawn')
    if smoke and record:
        raise UsageError("--record needs the published scale; leave out --smoke")
    before = again.committed_verdicts(root / "audit")
    scale = [ROOT / "config" / "smoke.yaml"] if smoke else []
    base = [*DEFAULT_CONFIG, *scale]
    home = load_config(base).folders["results"]
    for salt in [*words, *map(str, range(1, (salts or 0) + 1))]:
        settings = again.settings_of(paper, salt, home)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "rejudge.yaml"
            file.write_text(yaml.safe_dump(settings), encoding="utf-8")
            files = [*scale, file]
            target = f"{settings['pathvars']['results']}/audit/verdicts.parquet"
            if code := _launched([target], cores, files, root):
                raise ClickException(f"the run under the salt {salt!r} ended with {code}")
            _, ledgers = load([*base, file])
            rows = read(root / target, ledgers).rows
        found = again.compared(rows, before)
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
