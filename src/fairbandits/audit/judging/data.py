"""The data of a user's own claims: a rehearsal before rules are frozen, the simulation after."""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from fairbandits.audit.cases import questions
from fairbandits.audit.cells import Evidence
from fairbandits.audit.judging.rules import OWN, Rules
from fairbandits.audit.ledger import Claim, Test
from fairbandits.data.store import StoreError, read_footer
from fairbandits.engine.kinds import COMPILING, work
from fairbandits.engine.protocol import is_implemented
from fairbandits.library.instance import RandomInstance
from fairbandits.library.own_code import line_of, place_of
from fairbandits.library.running import _forking, _said
from fairbandits.policies import make_policy
from fairbandits.policies.own import is_own
from fairbandits.replication.code import code_of
from fairbandits.replication.datasets import collect, expect, expect_experiment
from fairbandits.replication.simulate import (
    _from_instance,
    instance_of,
    simulate_chunk,
    write_chunk,
)
from fairbandits.settings.config import Config, Experiment, Run
from fairbandits.settings.costs import seconds_of_replicate
from fairbandits.settings.schemas import ConfigError
from fairbandits.settings.spec import RunSpec, filled

#: Seconds that plain Python may take without being asked for.
LONGEST = 600
#: Rounds that are timed of a policy in plain Python.
TIMED = 200


class Task(NamedTuple):
    """Some replicates of one run, and the file to write them to."""

    run: Run
    replicates: range
    seed: int
    out: Path


# -------------------------------------------------------------------------------- rehearsal


def rehearse(rules: Rules) -> dict[str, float]:
    """Play every policy for a few rounds, ask every question, and return ns a round of plain runs.

    It finds errors before any data exist: its seed is another, and it reports no result.
    """
    config, ledger = rules.small()
    with tempfile.TemporaryDirectory() as folder:
        simulate(config, Path(folder), 1)
        evidence = Evidence(config, OWN, Path(folder))
        for claim in ledger.claims.values():
            for test in claim.tests:
                place = f"{rules.file}: claims.{claim.id}.tests.{test.name}"
                # the rehearsal has other horizons than those that a test names
                if not any("T" in one.wanted or "T" in one.where for one in test.plan.selections):
                    _ask(test, claim, evidence, place)
    plain = [run for run in config.runs if is_own(run.spec.policy) and _is_plain(run.spec)]
    return {run.key: _timed(run.spec) for run in plain}


def _ask(test: Test, claim: Claim, evidence: Evidence, place: str) -> None:
    try:
        list(questions(test.plan, claim.readings, evidence))
    except Exception as error:  # a test can raise anything
        raise ConfigError(f"{place}: {error}") from None


def _is_plain(spec: RunSpec) -> bool:
    """Return whether a policy is a user's own, played in plain Python."""
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


def seconds(rules: Rules, costs: Mapping[str, float]) -> dict[str, float]:
    """Return the expected seconds of each run in one process, from the costs of `rehearse`."""
    return {
        run.key: run.replicates * seconds_of_replicate(run.spec, costs.get(run.key))
        for run in rules.config.runs
    }


def refuse_long(rules: Rules, costs: Mapping[str, float], cores: int) -> None:
    """Raise ConfigError, with the expected time, if plain Python would take very long."""
    found = {key: one for key, one in seconds(rules, costs).items() if key in costs}
    whole = sum(found.values()) / cores
    if whole <= LONGEST:
        return
    run = next(one for one in rules.config.runs if one.key == max(found, key=found.get))
    raise ConfigError(
        f"{rules.file}: horizon {run.spec.horizon} with {run.replicates} replicates takes plain "
        f"Python about {in_words(whole)} on {cores} cores, most of it policy {_policy(run)} with "
        f"{costs[run.key] / 1000:.0f} microseconds a round; give it fewer rounds or replicates, "
        "compile it (fairbandits.compiled), or say --long"
    )


def in_words(whole: float) -> str:
    """Return a number of seconds in words."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if whole >= 1.5 * size:
            return f"{whole / size:.2g} {unit}"
    return f"{max(1, round(whole))} seconds"


# ------------------------------------------------------------------------------- simulation


def simulate(config: Config, results: Path, cores: int, *, progress: bool = False) -> bool:
    """Simulate the missing runs, and return whether there were any.

    Finished parts of an interrupted simulation are kept. A policy's error is a ConfigError.
    """
    seed = config.seed_of(config.experiments[0])  # all of one file have the same
    lacking = [one for one in config.experiments if not _is_there(one, seed, results)]
    tasks = {one.name: list(_tasks(one, seed, results)) for one in lacking}
    left = [task for some in tasks.values() for task in some if not _is_played(task)]
    say = _said("simulating", sum(len(task.replicates) for task in left)) if progress else None
    done = 0
    try:
        for replicates in _all(left, cores):
            done += replicates
            if say:
                say(done)
    finally:
        if say and done:
            print(file=sys.stderr)
    for one in lacking:
        chunks = [task.out for task in tasks[one.name]]
        collect(chunks, one.facts(), seed, results / one.dataset, config.ledger_of(one))
    shutil.rmtree(results / "cache", ignore_errors=True)
    return bool(lacking)


def _is_there(one: Experiment, seed: int, results: Path) -> bool:
    """Return whether a dataset has these settings, this seed and the present code."""
    file = results / one.dataset
    try:
        footer = read_footer(file)
        expect_experiment(footer, one, file)
        expect(footer, {"seed": seed}, file)
    except StoreError:
        return False
    return True


def _tasks(one: Experiment, seed: int, results: Path) -> Iterator[Task]:
    for run in one.runs:
        for chunk in run.chunks():
            first, last = map(int, chunk.split("-"))
            yield Task(run, range(first, last + 1), seed, results / run.chunk_file(chunk))


def _is_played(task: Task) -> bool:
    spec = task.run.spec
    try:
        footer = read_footer(task.out)
        expect(footer, {"run": spec.to_json(), "code": code_of(spec), "seed": task.seed}, task.out)
    except StoreError:
        return False
    return True


def _all(tasks: Sequence[Task], cores: int) -> Iterator[int]:
    """Play tasks in this process or in forks of it; yield the replicates of each."""
    if cores == 1 or len(tasks) < 2:
        yield from map(_play, tasks)
        return
    pool = ProcessPoolExecutor(min(cores, len(tasks)), mp_context=get_context("fork"))
    try:
        with _forking():
            played = pool.map(_play, tasks)
        yield from played
    finally:
        pool.shutdown(cancel_futures=True)


def _play(task: Task) -> int:
    """Simulate and write some replicates, and return how many; a policy's error has its place."""
    spec, run = task.run.spec, task.run
    rounds = spec.total_rounds * run.replicates
    compiled = True if work(rounds, spec.n_arms) > COMPILING else None
    try:
        write_chunk(spec, task.seed, task.replicates, task.out, compiled)
    except Exception as error:  # a policy can raise anything
        if not (where := place_of(error)):
            raise
        instance = run.experiment.partition("_")[2]
        raise ConfigError(
            f"policy {_policy(run)} on instance {instance}, {where}: "
            f"{type(error).__name__}: {error}{line_of(error)}"
        ) from None
    return len(task.replicates)


def _policy(run: Run) -> str:
    return run.name.removesuffix(f"-{run.spec.law}")
