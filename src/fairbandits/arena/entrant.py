"""A policy of one's own in the arena: on the rewards that the stored policies met."""

import importlib.util
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairbandits import simulation
from fairbandits.arena.roles import Arena, Role
from fairbandits.arena.scores import (
    Score,
    Seen,
    maker_of,
    recorded,
    scores_of,
    values_of,
)
from fairbandits.arena.settings import SLUG
from fairbandits.arena.standings import ORACLE, standings
from fairbandits.compiling import Compiled, compiled
from fairbandits.engine.protocol import is_implemented
from fairbandits.experiments.config import Experiment
from fairbandits.experiments.schemas import ConfigError, meant
from fairbandits.experiments.simulate import instance_of
from fairbandits.experiments.spec import RunSpec, shares_of
from fairbandits.instance import RandomInstance
from fairbandits.policies.own import find, is_own
from fairbandits.results import join
from fairbandits.running import run
from fairbandits.store import StoreError

#: What a policy can ask for by the names of its parameters.
ASKED = ("quotas", "targets", "groups")
#: Rounds and replicates of a policy in plain Python, which takes some ten microseconds a round.
PLAIN_ROUNDS, PLAIN_REPLICATES = 10_000, 20
#: What makes the stored results.
MAKES = "`fairbandits replicate arena` makes them"


@dataclass(frozen=True)
class Entrant:
    """A class from a file, and what it asks for.

    Attributes
    ----------
    name : str
        Of the class.
    make : callable
        The class, or what else makes the policy.
    asks : tuple of str
        Those of `ASKED` that it takes.
    fast : bool
        Whether its policies are to be compiled.
    """

    name: str
    make: Callable[..., Any]
    asks: tuple[str, ...]
    fast: bool = False

    @property
    def label(self) -> str:
        """Name in tables and pictures."""
        return f"{self.name} (yours)"

    def policy(self, given: Mapping[str, Any]) -> Any:
        """Return the policy, made with what it asks for."""
        made = self.make(**{name: given[name] for name in self.asks})
        if isinstance(made, type):
            raise TypeError(f"{self.name} gives a class, and not a policy")
        simulation._feedback(made)
        return compiled(made) if self.fast else made


def load_entrant(place: str, fast: bool = False) -> Entrant:
    """Return a class by its place, ``FILE.py:CLASS`` or ``MODULE:CLASS``.

    Raises
    ------
    ConfigError
        If there is no such file or class, or it asks for what no contract has.
    """
    file, _, name = place.rpartition(":")
    if not file or not name.isidentifier():
        raise ConfigError(f"a policy is named FILE.py:CLASS, got {place!r}")
    make = _from_file(Path(file), name) if file.endswith(".py") else _from_module(place)
    return entrant_of(name, make, fast, place)


def entrant_of(name: str, make: Callable[..., Any], fast: bool = False, place: str = "") -> Entrant:
    """Return a class that is there; `place` is for messages.

    Raises
    ------
    ConfigError
        If it asks for what no contract has.
    """
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for one in parameters:
        if one.name not in ASKED and one.default is one.empty and one.kind not in kinds:
            raise ConfigError(
                f"{place or name}: it needs {one.name!r}, which no contract has; a policy can "
                f"ask for {', '.join(ASKED)} by the names of its parameters; others need a default"
            )
    asks = tuple(one.name for one in parameters if one.name in ASKED)
    return Entrant(name, make, asks, fast)


def _from_file(file: Path, name: str) -> Any:
    if not file.is_file():
        raise ConfigError(f"{file} does not exist; a policy is named FILE.py:CLASS")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a user's module does on import
        raise ConfigError(f"{file} cannot be imported: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not callable(found):
        known = [
            key
            for key, one in vars(module).items()
            if inspect.isclass(one) and one.__module__ == file.stem
        ]
        words = meant(name, known) if known else "; it has no class"
        raise ConfigError(f"{file} has no class {name!r}{words}")
    return found


def _from_module(place: str) -> Any:
    if not is_own(place):
        raise ConfigError(f"a policy is named FILE.py:CLASS, got {place!r}")
    try:
        return find(place)
    except ValueError as error:
        raise ConfigError(str(error)) from None


@dataclass
class Outcome:
    """What became of a policy in the arena.

    Attributes
    ----------
    label : str
        The policy's.
    tables : dict of (str, str) to DataFrame
        Contract and instance -> standings with the policy among the stored ones.
    failures : dict of str to str
        Instance -> what went wrong there, and where.
    skipped : dict of (str, str) to str
        Contract and instance -> why the policy was not run.
    horizon, replicates : int
        How much was run.
    stored : int
        Number of rounds of the stored policies.
    """

    label: str
    horizon: int = 0
    replicates: int = 0
    stored: int = 0
    tables: dict[tuple[str, str], pd.DataFrame] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def own(self) -> pd.DataFrame:
        """Where the policy stands: one row for each contract and instance."""
        rows = []
        for (contract, instance), table in self.tables.items():
            mine = table[table["label"] == self.label]
            rows += [
                {
                    "contract": contract,
                    "instance": instance,
                    "kind": one.kind,
                    "regret": one.regret,
                    "± regret": one.regret_high - one.regret,
                    "violation": one.violation,
                    "± violation": one.violation_high - one.violation,
                    "rank by regret": one.regret_rank,
                    "by violation": one.violation_rank,
                    "of": int(table["usual"].sum()),
                    "dominated by": one.dominated_by or "nobody",
                }
                for one in mine.itertuples()
            ]
        return pd.DataFrame(rows)


def enter(
    arena: Arena,
    entrant: Entrant,
    contracts: Sequence[str] = (),
    instances: Sequence[str] = (),
    replicates: int | None = None,
    n_jobs: int | None = None,
    said: Callable[[str], None] = lambda words: None,
) -> Outcome:
    """Run a policy beside the stored ones.

    Parameters
    ----------
    arena : Arena
        With stored results.
    entrant : Entrant
        From `load_entrant`.
    contracts, instances : sequence of str
        Which; all by default.
    replicates : int, optional
        How many, at least 2; as many as are stored for a compiled policy, 20 for one in Python.
    n_jobs : int, optional
        How many processes share the replicates of a policy in Python; all processors by default.
    said : callable
        Called with what is being done.

    Returns
    -------
    Outcome
        A policy that fails on an instance leaves the other instances as they are.

    Raises
    ------
    ConfigError
        If a name is unknown, or the policy cannot be made or lacks a part.
    StoreError
        If there are no stored results, or they are stale.
    """
    chosen = [arena.of(name) for name in contracts] or list(arena.terms)
    known = arena.names
    for name in instances:
        if name not in known:
            raise ConfigError(f"the arena has no instance {name!r}{meant(name, known)}")
    experiments = [
        one
        for suite in dict.fromkeys(terms.suite for terms in chosen)
        for one in arena.config.named(SLUG, suite)
        if not instances or one.instance in instances
    ]
    if not experiments:
        raise ConfigError(
            f"contract {contracts[0]} is not judged on {', '.join(instances)}; it is on "
            f"{', '.join(one.instance for one in arena.instances(contracts[0]))}"
        )
    fitting = [one for one in experiments if not _inapplicable(entrant, one)]
    is_fast = bool(fitting) and _is_fast(entrant, fitting[0])
    outcome = Outcome(entrant.label)
    first: list[Compiled] = []  # what is compiled once serves all instances
    for experiment in experiments:
        terms = [one for one in chosen if one.suite == experiment.suite]
        said(f"{experiment.instance}: {experiment.title}")
        try:
            runs, footer = recorded(arena, experiment)
        except StoreError as error:
            if not Path(arena.config.folders["results"], experiment.dataset).exists():
                raise StoreError(
                    f"there are no stored results of the arena ({error}); {MAKES}"
                ) from None
            raise
        rounds = runs[0].rounds
        n = len(runs[0].values["plays"])
        horizon = int(rounds[-1])
        if not is_fast and (rounds == PLAIN_ROUNDS).any():
            horizon = PLAIN_ROUNDS
        n = min(n, replicates or (n if is_fast else PLAIN_REPLICATES))
        outcome.horizon, outcome.replicates = max(outcome.horizon, horizon), n
        outcome.stored = max(outcome.stored, int(rounds[-1]))
        size = {"horizon": horizon, "replicates": n, "seed": footer["seed"]}
        size["n_jobs"] = 1 if is_fast else n_jobs or os.cpu_count() or 1
        if reason := _inapplicable(entrant, experiment):
            outcome.skipped |= {(one.name, experiment.instance): reason for one in terms}
            continue
        try:
            seen = _played(entrant, experiment, rounds, size, first)
        except Failed as error:
            outcome.failures[experiment.instance] = str(error)
            continue
        spec = experiment.runs[0].spec
        for one in terms:
            values = values_of(maker_of(one.name, spec), seen)
            role = role_of(entrant, one.name)
            own = Score("yours", entrant.label, "", True, role, seen.rounds, values)
            stored = [_cut(other, n) for other in scores_of(one, runs, footer["labels"])]
            table = standings([*stored, own], horizon)
            outcome.tables[one.name, experiment.instance] = table
    return outcome


def _cut(score: Score, replicates: int) -> Score:
    """Return a score with its first replicates alone."""
    values = {name: one[:replicates] for name, one in score.values.items()}
    return replace(score, values=values)


def _inapplicable(entrant: Entrant, experiment: Experiment) -> str:
    """Return why a policy cannot be run on an instance; nothing if it can."""
    if "groups" in entrant.asks and not experiment.groups:
        return "it asks for groups, and there are none"
    return ""


def _is_fast(entrant: Entrant, experiment: Experiment) -> bool:
    """Return whether the policy runs compiled.

    Raises
    ------
    ConfigError
        If the policy cannot be made, or lacks a part.
    """
    spec = experiment.runs[0].spec
    given = given_of(spec, np.array(spec.means or spec.ranges[1], float), entrant)
    try:
        made = entrant.policy(given)
        inside = getattr(made, "_policy", made)
        state = inside.start(spec.n_arms, PLAIN_ROUNDS)
    except Exception as error:  # whatever a user's class does
        raise ConfigError(
            f"{entrant.name} cannot be made and started: {type(error).__name__}: {error}"
        ) from error
    if is_implemented(type(state)):  # one of the package's own
        return True
    for verb in ("choose", "learn"):
        if not callable(getattr(state, verb, None)):
            raise ConfigError(
                f"{entrant.name}.start must return an object with methods choose and learn; "
                f"{type(state).__name__} has no {verb}"
            )
    return isinstance(made, Compiled)


def given_of(spec: RunSpec, means: np.ndarray, entrant: Entrant) -> dict[str, Any]:
    """Return what a policy can ask for on an instance with these means.

    Quotas are those of groups for a policy that asks for groups, else of arms.
    """
    given: dict[str, Any] = {"quotas": spec.quotas}
    given["targets"] = tuple(shares_of(spec.quotas, means.tolist()))
    if spec.groups:
        given["groups"] = spec.groups
        if "groups" in entrant.asks:
            given["quotas"] = maker_of("group_exposure", spec)(means).quotas
    return given


def role_of(entrant: Entrant, contract: str) -> Role:
    """Return how a user's policy meets a contract."""
    knows = {
        "minimum_pulls": "targets" in entrant.asks and "quotas" not in entrant.asks,
        "minimum_reward": "quotas" in entrant.asks and "targets" not in entrant.asks,
    }.get(contract, "targets" in entrant.asks)
    if knows:
        return Role("yours", ORACLE, "what it asks for is of another contract: with true means")
    return Role("yours", "yours", "your own policy")


class Failed(Exception):
    """A policy failed on an instance."""


def _played(
    entrant: Entrant,
    experiment: Experiment,
    rounds: np.ndarray,
    size: dict[str, Any],
    first: list[Compiled],
) -> Seen:
    """Return what the user's policy did on an instance.

    Raises
    ------
    Failed
        If the policy fails, with the place.
    """
    spec = experiment.runs[0].spec
    instance = instance_of(spec)
    numbers = np.arange(size["replicates"])
    options = {"seed": size["seed"], "stream": spec.stream}
    drawn = isinstance(instance, RandomInstance)
    alone = drawn and "targets" in entrant.asks
    results = []
    for together in [[r] for r in numbers.tolist()] if alone else [numbers.tolist()]:
        one = instance.draw(size["seed"], spec.stream, together[0]) if drawn else instance
        given = given_of(spec, one.true_means, entrant)
        try:
            policy = _compiled_once(entrant.policy(given), first)
            results.append(
                run(
                    *(policy, instance, size["horizon"], together),
                    **options,
                    checkpoints=rounds[rounds <= size["horizon"]],
                    quotas=spec.quotas if policy.feedback == "bandit" else None,
                    n_jobs=1
                    if isinstance(policy, Compiled)
                    else min(size["n_jobs"], len(together)),
                )
            )
        except Exception as error:  # whatever a user's policy does
            words = _place(
                entrant.policy(given), instance, size["horizon"], together, options, error
            )
            raise Failed(f"{entrant.name} failed on {experiment.instance}, {words}") from error
    found = results[0] if len(results) == 1 else join([replace(r, policy=None) for r in results])
    return Seen(
        *(found.rounds, found.plays, found.rewards, found.true_means, found.deficits),
        spec.quotas if found.deficits else (),
    )


def _compiled_once(policy: Any, first: list[Compiled]) -> Any:
    """Return a policy with the compiled code of the first of its kind."""
    if not isinstance(policy, Compiled):
        return policy
    if first:
        return first[0].of(policy._policy)
    first.append(policy)
    return policy


def _place(
    policy: Any,
    instance: Any,
    horizon: int,
    replicates: Sequence[int],
    options: dict[str, Any],
    error: Exception,
) -> str:
    """Return in which round of which replicate a policy fails, by playing it again and watching."""
    inside = getattr(policy, "_policy", policy)
    for replicate in replicates:
        watched = _watched(inside)
        try:
            simulation.run(
                *(watched, instance, horizon, [replicate]), **options, checkpoints=[horizon]
            )
        except Exception as found:  # the same, with its place
            name = "" if isinstance(found, ValueError) else f"{type(found).__name__}: "
            return f"in round {watched.now} of replicate {replicate}: {name}{found}"
    return f"{type(error).__name__}: {error}"


def _watched(policy: Any) -> Any:
    """Return a policy that says which round it is in."""
    return type(type(policy).__name__, (_Watched,), {})(policy)


class _Watched:
    def __init__(self, policy: Any) -> None:
        self._inside = policy
        self.feedback = policy.feedback
        self.now = 0

    def start(self, n_arms: int, horizon: int) -> Any:
        return _WatchedState(self._inside.start(n_arms, horizon), self)


class _WatchedState:
    def __init__(self, state: Any, watch: _Watched) -> None:
        self._state = state
        self._watch = watch

    def choose(self, t: int, coin: int) -> Any:
        self._watch.now = t
        return self._state.choose(t, coin)

    def learn(self, t: int, action: Any, reward: Any) -> None:
        self._watch.now = t
        self._state.learn(t, action, reward)


def lines(outcome: Outcome) -> Iterator[str]:
    """Yield what is printed of an outcome."""
    own = outcome.own
    if len(own):
        yield own.to_string(index=False, float_format=lambda value: f"{value:.4g}")
    for (contract, instance), reason in outcome.skipped.items():
        yield f"Not applicable: {contract} on {instance}: {reason}"
    yield from outcome.failures.values()
