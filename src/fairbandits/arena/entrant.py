"""A user's own policy in the arena: on the rewards that the stored policies met."""

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairbandits.arena import standings
from fairbandits.arena.roles import TOLD, Arena, Terms
from fairbandits.data.store import StoreError
from fairbandits.engine.protocol import is_implemented
from fairbandits.library.compiling import Compiled, compiled
from fairbandits.library.instance import RandomInstance
from fairbandits.library.own_code import Ended, importable, line_of
from fairbandits.library.results import Result, join
from fairbandits.library.running import run
from fairbandits.library.simulation import feedback_of
from fairbandits.policies.own import described, find, with_numbers
from fairbandits.replication.simulate import instance_of
from fairbandits.settings.config import Experiment
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import ConfigError
from fairbandits.settings.spec import RunSpec, shares_of

#: Parameter names by which a policy can ask for facts of the instance.
ASKED = ("quotas", "targets", "groups")
#: Most rounds and replicates of a policy in plain Python, some ten microseconds a round.
PLAIN_ROUNDS, PLAIN_REPLICATES = 10_000, 20


@dataclass(frozen=True)
class Entrant:
    """A callable that makes a policy, its parameters among `ASKED`, and whether to compile."""

    name: str
    make: Callable[..., Any]
    asks: tuple[str, ...]
    fast: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} (yours)"

    def policy(self, spec: RunSpec, means: np.ndarray) -> Any:
        """Return the policy made with what it asks for; with groups, quotas are those of groups."""
        values: dict[str, Any] = {"quotas": spec.quotas, "groups": spec.groups}
        values["targets"] = tuple(shares_of(spec.quotas, means.tolist()))
        if spec.groups and "groups" in self.asks:
            values["quotas"] = standings.maker_of("group_exposure", spec)(means).quotas
        made = self.make(**with_numbers({name: values[name] for name in self.asks}))
        if isinstance(made, type):
            raise TypeError(f"{self.name} gives a class, and not a policy")
        feedback_of(made)
        return compiled(made) if self.fast else made


def load_entrant(place: str, fast: bool = False) -> Entrant:
    """Return a class by its place, ``FILE.py:CLASS`` or ``MODULE:CLASS``, or raise ConfigError."""
    file, _, name = place.rpartition(":")
    if not file or not name.isidentifier():
        raise ConfigError(f"a policy is named FILE.py:CLASS, got {place!r}")
    if file.endswith(".py") and not (stem := Path(file).stem).isidentifier():
        valid = re.sub(r"\W|^(?=\d)", "_", stem)
        raise ConfigError(f"Python can import no file called {stem}.py; rename it, as {valid}.py")
    try:
        make = find(importable(place, Path()))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return entrant_of(name, make, fast, place)


def entrant_of(name: str, make: Callable[..., Any], fast: bool = False, place: str = "") -> Entrant:
    """Return the entrant of a class; ConfigError, naming `place`, if it asks for unknown names."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for param in parameters:
        if param.name not in ASKED and param.default is param.empty and param.kind not in kinds:
            raise ConfigError(
                f"{place or name}: it needs {param.name!r}, which no contract has; a policy can "
                f"ask for {', '.join(ASKED)} by the names of its parameters; others need a default"
            )
    asks = tuple(param.name for param in parameters if param.name in ASKED)
    return Entrant(name, make, asks, fast)


@dataclass
class Outcome:
    """Standings of an entered policy."""

    label: str
    replicates: dict[int, int] = field(default_factory=dict)  # by horizon, the shorter first
    left_out: list[int] = field(default_factory=list)  # longer horizons of the stored policies
    needs_horizon: bool = False  # whether it plays its first rounds otherwise in a longer run
    #: contract and instance -> standings at all horizons, with the policy among the stored ones
    tables: dict[tuple[str, str], pd.DataFrame] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)  # instance -> error and its place
    #: contract and instance -> why the policy was not run there
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)


def enter(
    arena: Arena,
    entrant: Entrant,
    contracts: Sequence[str] = (),
    instances: Sequence[str] = (),
    replicates: int | None = None,
    n_jobs: int | None = None,
    said: Callable[[str], None] = lambda message: None,
) -> Outcome:
    """Run a policy beside the stored ones, under all contracts on all instances by default."""
    chosen = [arena.of(name) for name in contracts] or list(arena.terms)
    experiments = _experiments(arena, chosen, instances)
    grouped = "groups" in entrant.asks
    fitting = [experiment for experiment in experiments if experiment.groups or not grouped]
    is_fast, first = _tried(entrant, fitting[0]) if fitting else (False, None)
    long = {exp.horizon for exp in experiments if exp.horizon > PLAIN_ROUNDS and not is_fast}
    outcome = Outcome(entrant.label, left_out=sorted(long))
    met: dict[str, list[standings.Pulls]] = {}  # stream -> its runs, the shorter first
    for experiment in experiments:
        if experiment.horizon in long or experiment.instance in outcome.failures:
            continue
        runs, footer = standings.recorded(arena, experiment)
        rounds, n = runs[0].rounds, len(runs[0].values["plays"])
        horizon = int(rounds[-1])
        said(f"{experiment.instance}: {experiment.title}, {horizon} rounds")
        n = min(n, replicates or (n if is_fast else PLAIN_REPLICATES))
        terms = [contract for contract in chosen if experiment.suite in contract.suites]
        if grouped and not experiment.groups:
            reason = "it asks for groups, and there are none"
            outcome.skipped |= {(contract.name, experiment.instance): reason for contract in terms}
            continue
        outcome.replicates[horizon] = n
        how = {"horizon": horizon, "checkpoints": rounds, "seed": footer["seed"]}
        processes = 1 if is_fast else n_jobs or os.cpu_count() or 1
        try:
            seen = _played(entrant, experiment, n, processes, first, how)
        except ConfigError as error:
            outcome.failures[experiment.instance] = str(error)
            continue
        own_runs = met.setdefault(experiment.runs[0].spec.stream, [])
        own_runs.append(standings.Pulls(rounds, seen.plays))
        outcome.needs_horizon |= standings.plays_otherwise(own_runs)
        beside = [
            replace(run, values={name: array[:n] for name, array in run.values.items()})
            for run in runs
        ]
        for contract in terms:
            make = standings.maker_of(contract.name, experiment.runs[0].spec)
            facts = "yours", entrant.label, "", True, kind_of(entrant, contract.name), "yours"
            score = standings.Score(*facts, horizon, standings.values_of(make, seen))
            scores = [*standings.scores_of(contract, beside, footer["labels"]), score]
            rows = standings.standings(scores)
            key = contract.name, experiment.instance
            earlier = [outcome.tables[key]] if key in outcome.tables else []
            outcome.tables[key] = pd.concat([*earlier, rows], ignore_index=True)
    return outcome


def _experiments(
    arena: Arena, chosen: Sequence[Terms], instances: Sequence[str]
) -> list[Experiment]:
    """Return the experiments of contracts on all or some instances, as far as they are stored."""
    known = [experiment.instance for experiment in arena.config.experiments]
    for name in instances:
        expect_known(name, known, f"the arena has no instance {name!r}")
    suites = {suite for terms in chosen for suite in terms.suites}
    wanted = [
        experiment
        for experiment in arena.config.experiments
        if experiment.suite in suites and (not instances or experiment.instance in instances)
    ]
    if not wanted:
        first = chosen[0].name
        there = ", ".join(experiment.instance for experiment in arena.instances(first))
        message = f"contract {first} is not judged on {', '.join(instances)}"
        raise ConfigError(f"{message}; it is on {there}")
    stored, shortest = [], {terms.suites[0] for terms in chosen}
    for experiment in wanted:
        file = (arena.config.results / experiment.dataset).resolve()
        if file.is_file():
            stored.append(experiment)
        elif experiment.suite in shortest:  # a small run has no others
            raise StoreError(
                f"the arena has no stored results here: {file} does not exist; run this in the "
                "project's folder, or give --results FOLDER; `fairbandits replicate arena` makes "
                "them"
            )
    return stored


def _tried(entrant: Entrant, experiment: Experiment) -> tuple[bool, Compiled | None]:
    """Return whether the policy runs compiled, and its compiled form for all instances."""
    spec = experiment.runs[0].spec
    try:
        made = entrant.policy(spec, np.array(spec.means or spec.ranges[1], float))
        state = getattr(made, "_policy", made).start(spec.n_arms, PLAIN_ROUNDS)
    except Exception as error:  # a user's class can raise anything
        message = f"cannot be made and started: {described(error)}"
        raise ConfigError(f"{entrant.name} {message}") from error
    if is_implemented(type(state)):  # one of the package's own
        return True, None
    for verb in ("choose", "learn"):
        if not callable(getattr(state, verb, None)):
            message = "must return an object with methods choose and learn"
            has = f"{type(state).__name__} has no {verb}"
            raise ConfigError(f"{entrant.name}.start {message}; {has}")
    if not isinstance(made, Compiled):
        return False, None
    try:
        made.compile(instance_of(spec), quotas=spec.quotas if made.feedback == "bandit" else None)
    except TypeError as error:
        raise ConfigError(str(error)) from None
    return True, made


def kind_of(entrant: Entrant, contract: str) -> str:
    wrong, right = {
        "minimum_pulls": ("targets", "quotas"),
        "minimum_reward": ("quotas", "targets"),
    }.get(contract, ("targets", ""))
    return TOLD if wrong in entrant.asks and right not in entrant.asks else "yours"


def _played(
    entrant: Entrant,
    experiment: Experiment,
    replicates: int,
    processes: int,
    first: Compiled | None,
    how: dict[str, Any],
) -> Result:
    """Play the user's policy on an instance, or raise ConfigError."""
    spec = experiment.runs[0].spec
    instance = instance_of(spec)
    is_drawn = isinstance(instance, RandomInstance)
    played = how | {"instance": instance, "stream": spec.stream}
    groups = [list(range(replicates))]
    if is_drawn and "targets" in entrant.asks:  # each replicate has its own policy
        groups = [[replicate] for replicate in groups[0]]
    results = []
    for together in groups:
        drawn = instance.draw(how["seed"], spec.stream, together[0]) if is_drawn else instance
        try:
            policy = entrant.policy(spec, drawn.true_means)
        except Exception as error:  # a user's class can raise anything
            message = f"cannot be made for {experiment.instance}: {described(error)}"
            raise ConfigError(f"{entrant.name} {message}") from error
        played["quotas"] = spec.quotas if policy.feedback == "bandit" else None
        if first:
            policy = first.of(policy._policy)
        n_jobs = 1 if isinstance(policy, Compiled) else min(processes, len(together))
        try:
            results.append(run(policy, replicates=together, n_jobs=n_jobs, **played))
        except Exception as error:  # a user's policy can raise anything
            # what ended its process would end this one as well
            has_ended = isinstance(error, Ended)
            message = str(error) if has_ended else _failure(policy, together, played)
            message = message or described(error)
            message = f"failed on {experiment.instance}, {message}"
            raise ConfigError(f"{entrant.name} {message}") from error
    return results[0] if len(results) == 1 else join([replace(r, policy=None) for r in results])


def _failure(policy: Any, replicates: Iterable[int], played: Mapping[str, Any]) -> str:
    """Return place and words of an error: played again in this process, and then in Python."""
    for replicate in replicates:
        with suppress(Exception):  # a user's policy can raise anything
            run(policy, replicates=[replicate], **played)
            continue
        try:
            run(getattr(policy, "_policy", policy), replicates=[replicate], **played)
        except Exception as error:
            name = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            return f"{getattr(error, 'place', '')}: {name}{error}{line_of(error)}"
    return ""
