"""The data of a user's own claims: a rehearsal before rules are frozen, the simulation after."""

import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from fairbandits.audit.cases import questions
from fairbandits.audit.cells import Evidence
from fairbandits.audit.judging.rules import OWN, Rules
from fairbandits.data.store import StoreError
from fairbandits.engine.kinds import COMPILING, work
from fairbandits.engine.protocol import is_implemented
from fairbandits.library.instance import RandomInstance
from fairbandits.library.own_code import line_of, place_of
from fairbandits.library.running import _said, _shared
from fairbandits.policies import make_policy
from fairbandits.policies.own import is_own
from fairbandits.replication.bundles import range_of
from fairbandits.replication.datasets import collect, read_chunk
from fairbandits.replication.simulate import (
    _from_instance,
    instance_of,
    simulate_chunk,
    write_chunk,
)
from fairbandits.settings.config import Config, Run
from fairbandits.settings.costs import seconds_of_replicate
from fairbandits.settings.schemas import ConfigError
from fairbandits.settings.spec import RunSpec, filled

#: Rounds that are timed of a policy in plain Python.
TIMED = 200


def rehearse(rules: Rules) -> dict[str, float]:
    """Play every policy for a few rounds, ask every question, and return ns a round of plain runs.

    It finds errors before any data exist: its seed is another, and it reports no result.
    """
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
    plain = [run for run in config.runs if is_own(run.spec.policy) and _is_plain(run.spec)]
    return {run.key: _timed(run.spec) for run in plain}


def _is_plain(spec: RunSpec) -> bool:
    instance = instance_of(spec)
    drawn = instance.draw(0, "", 0) if isinstance(instance, RandomInstance) else instance
    known = _from_instance(spec, drawn.true_means, spec.quotas or None)
    policy = make_policy(spec.policy, filled(spec.parameters_of(spec.cells[0]), known))
    return not is_implemented(type(policy.start(spec.n_arms, spec.horizon)))


def _timed(spec: RunSpec) -> float:
    """Return the nanoseconds of a round in processor time, which other work does not disturb."""
    begin, played = time.process_time(), 0
    while played < TIMED:
        simulate_chunk(spec, 0, [0])
        played += spec.total_rounds
    return (time.process_time() - begin) * 1e9 / played


def expected(rules: Rules, costs: Mapping[str, float], cores: int) -> float:
    """Return roughly the seconds of all runs, from the costs of `rehearse`."""
    return sum(
        run.replicates * seconds_of_replicate(run.spec, costs.get(run.key)) / cores
        for run in rules.config.runs
    )


def in_words(whole: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if whole >= 1.5 * size:
            return f"{whole / size:.2g} {unit}"
    return f"{max(1, round(whole))} seconds"


def simulate(config: Config, results: Path, cores: int, *, progress: bool = False) -> bool:
    """Simulate the missing runs, and return whether there were any.

    Finished parts of an interrupted simulation are kept. A policy's error is a ConfigError.
    """
    seed = config.seed_of(config.experiments[0])  # all of one file have the same
    evidence = Evidence(config, OWN, results)
    lacking = [one for one in config.experiments if evidence.problem(one)]
    left = []
    for run in (run for one in lacking for run in one.runs):
        files = {chunk: results / run.chunk_file(chunk) for chunk in run.chunks()}
        left += [(run, chunk) for chunk, file in files.items() if not _is_there(file, run, seed)]
    play, alone = partial(_play, seed, results), cores == 1 or len(left) < 2
    played = map(play, left) if alone else (number for _, number in _shared(play, left, cores))
    say = _said("simulating", sum(len(range_of(chunk)) for _, chunk in left))
    done = 0
    try:
        for replicates in played:
            done += replicates
            if progress:
                say(done)
    finally:
        if progress and done:
            print(file=sys.stderr)
    for one in lacking:
        chunks = [results / run.chunk_file(chunk) for run in one.runs for chunk in run.chunks()]
        collect(chunks, one.facts(), seed, results / one.dataset, config.ledger_of(one))
    shutil.rmtree(results / "cache", ignore_errors=True)
    return bool(lacking)


def _is_there(file: Path, run: Run, seed: int) -> bool:
    try:
        read_chunk(file, run.spec, seed=seed)
    except StoreError:
        return False
    return True


def _play(seed: int, results: Path, task: tuple[Run, str]) -> int:
    """Simulate and write some replicates, and return how many; a policy's error has its place."""
    run, chunk = task
    spec, replicates = run.spec, range_of(chunk)
    rounds = spec.total_rounds * run.replicates
    compiled = True if work(rounds, spec.n_arms) > COMPILING else None
    try:
        write_chunk(spec, seed, replicates, results / run.chunk_file(chunk), compiled)
    except Exception as error:  # a policy can raise anything
        if not (where := place_of(error)):
            raise
        instance = run.experiment.partition("_")[2]
        raise ConfigError(
            f"policy {_policy(run)} on instance {instance}, {where}: "
            f"{type(error).__name__}: {error}{line_of(error)}"
        ) from None
    return len(replicates)


def _policy(run: Run) -> str:
    return run.name.removesuffix(f"-{run.spec.law}")
