"""The data of a user's own claims: a rehearsal before rules are frozen, the simulation after."""

import shutil
import sys
import tempfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from click import progressbar

from fairbandits.audit.cases import questions
from fairbandits.audit.cells import Evidence
from fairbandits.audit.judging.rules import OWN, Rules
from fairbandits.data.store import StoreError
from fairbandits.engine.kinds import COMPILING, work
from fairbandits.library.own_code import line_of
from fairbandits.library.running import _shared
from fairbandits.replication.bundles import range_of
from fairbandits.replication.datasets import collect, read_chunk
from fairbandits.replication.simulate import write_chunk
from fairbandits.settings.config import Config, Run
from fairbandits.settings.schemas import ConfigError


def rehearse(rules: Rules) -> None:
    """Play every policy for a few rounds on another seed, and ask every question: errors show."""
    config = rules.small()
    with tempfile.TemporaryDirectory() as folder:
        simulate(config, Path(folder), 1)
        evidence = Evidence(config, OWN, Path(folder))
        for claim in rules.ledger.claims.values():
            for test in claim.tests:
                # the rehearsal has other horizons than those that a test names
                if any("T" in one.wanted or "T" in one.where for one in test.selections):
                    continue
                try:
                    list(questions(test, claim.readings, evidence))
                except Exception as error:  # a test can raise anything
                    place = f"{rules.file}: claims.{claim.id}.tests.{test.name}"
                    raise ConfigError(f"{place}: {error}") from None


def simulate(config: Config, results: Path, cores: int, *, progress: bool = False) -> bool:
    """Simulate the missing runs, and return whether there were any; finished parts are kept."""
    seed = config.seed_of(config.experiments[0])  # all of one file have the same
    evidence = Evidence(config, OWN, results)
    lacking = [one for one in config.experiments if evidence.problem(one)]
    parts = [(run, chunk) for one in lacking for run in one.runs for chunk in run.chunks()]
    left = [one for one in parts if not _is_there(results, seed, *one)]
    play, alone = partial(_play, seed, results), cores == 1 or len(left) < 2
    played = map(play, left) if alone else _shared(play, left, cores)
    shown = nullcontext(played)
    if progress and left:
        shown = progressbar(played, len(left), "simulating", file=sys.stderr)
    with shown as files:
        for _ in files:
            pass
    for one in lacking:
        chunks = [results / run.chunk_file(chunk) for run in one.runs for chunk in run.chunks()]
        collect(chunks, one.facts(), seed, results / one.dataset, config.ledger_of(one))
    shutil.rmtree(results / "cache", ignore_errors=True)
    return bool(lacking)


def _is_there(results: Path, seed: int, run: Run, chunk: str) -> bool:
    try:
        read_chunk(results / run.chunk_file(chunk), run.spec, seed=seed)
    except StoreError:
        return False
    return True


def _play(seed: int, results: Path, task: tuple[Run, str]) -> None:
    """Simulate and write some replicates; a policy's error has its place."""
    run, chunk = task
    spec, replicates = run.spec, range_of(chunk)
    rounds = spec.total_rounds * run.replicates
    compiled = True if work(rounds, spec.n_arms) > COMPILING else None
    try:
        write_chunk(spec, seed, replicates, results / run.chunk_file(chunk), compiled)
    except Exception as error:  # a policy can raise anything
        if not (where := getattr(error, "place", "")):
            raise
        policy = run.name.removesuffix(f"-{run.spec.law}")
        instance = run.experiment.partition("_")[2]
        raise ConfigError(
            f"policy {policy} on instance {instance}, {where}: "
            f"{type(error).__name__}: {error}{line_of(error)}"
        ) from None
