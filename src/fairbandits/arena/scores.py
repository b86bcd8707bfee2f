"""Scores of each policy under a contract: regret and shortfall of each replicate, by round."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fairbandits.arena.roles import Arena, Role, Terms
from fairbandits.library.contracts import (
    Contract,
    GroupExposure,
    GroupMerit,
    MinimumPulls,
    MinimumReward,
)
from fairbandits.library.results import Result
from fairbandits.rationals import rational
from fairbandits.replication.datasets import expect_experiment, load_dataset
from fairbandits.replication.recorded import RunData, runs_of
from fairbandits.settings.config import Experiment
from fairbandits.settings.spec import RunSpec, shares_of, swept

COLUMNS = ["run", "replicate", "round", "arm", "plays", "reward", "mean", "floor_deficit_sup"]
#: Methods of a contract, and columns of the tables.
MEASURES = ("contract_regret", "shortfall", "worst_shortfall")


@dataclass(frozen=True)
class Seen:
    """The recorded columns that a contract measures: see `fairbandits.contracts`."""

    rounds: np.ndarray
    plays: np.ndarray
    rewards: np.ndarray
    true_means: np.ndarray
    deficits: Mapping[str, np.ndarray]
    quotas: tuple


@dataclass(frozen=True)
class Score:
    """A policy with one setting on one instance under one contract."""

    policy: str  # its name in the configuration
    label: str  # its name on pages
    setting: str  # the swept parameter with its value, or empty
    usual: bool  # whether that is the first of the sweep
    role: Role
    rounds: np.ndarray
    values: dict[str, np.ndarray]  # by `MEASURES`, each (n_replicates, n_checkpoints)

    @property
    def name(self) -> str:
        """Label and setting."""
        return f"{self.label}, {self.setting}" if self.setting else self.label

    def at(self, measure: str, horizon: int | None = None) -> np.ndarray:
        """Return a measure of each replicate at a recorded round, by default the last."""
        place = -1 if horizon is None else int(np.flatnonzero(self.rounds == horizon)[0])
        return self.values[measure][:, place]


def maker_of(contract: str, spec: RunSpec) -> Callable[[np.ndarray], Contract]:
    """Return a function from true means to the contract of a suite's run."""
    if contract == "minimum_pulls":
        pulls = MinimumPulls(spec.quotas)
        return lambda means: pulls
    if contract == "minimum_reward":
        # target_shares are the quotas in all suites of this contract
        return lambda means: MinimumReward(shares_of(spec.quotas, means.tolist()))
    fractions = iter([rational("quotas", one) for one in spec.quotas])
    owed = [sum((next(fractions) for _ in range(size)), Fraction()) for size in spec.groups]
    kind = {"group_exposure": GroupExposure, "group_merit": GroupMerit}[contract]
    of_groups = kind(spec.groups, tuple(map(str, owed)))
    return lambda means: of_groups


def values_of(make: Callable[[np.ndarray], Contract], seen: Seen | Result) -> dict[str, np.ndarray]:
    """Return the measures of a contract, which can depend on each replicate's means."""
    if seen.true_means.ndim == 1 or make(seen.true_means[0]) is make(seen.true_means[-1]):
        contract = make(seen.true_means)
        return {name: getattr(contract, name)(seen) for name in MEASURES}
    parts = []
    for r, means in enumerate(seen.true_means):
        own = slice(r, r + 1)
        deficits = {name: values[own] for name, values in seen.deficits.items()}
        one = Seen(seen.rounds, seen.plays[own], seen.rewards[own], means, deficits, seen.quotas)
        parts.append({name: getattr(make(means), name)(one) for name in MEASURES})
    return {name: np.concatenate([part[name] for part in parts]) for name in MEASURES}


def dataset_of(arena: Arena, experiment: Experiment) -> Path:
    """Return the file with an instance's runs."""
    return Path(arena.config.folders["results"]) / experiment.dataset


def recorded(arena: Arena, experiment: Experiment) -> tuple[list[RunData], dict[str, Any]]:
    """Return the stored runs of an instance and their footer, or raise StoreError if unusable."""
    file = dataset_of(arena, experiment)
    swept_names = sorted({name for run in experiment.runs for name in run.spec.sweep})
    table, footer = load_dataset(file, [*COLUMNS, *swept_names])
    expect_experiment(footer, experiment, file)
    return list(runs_of(table, footer)), footer


def scores_of(terms: Terms, runs: list[RunData], labels: Mapping[str, str]) -> Iterator[Score]:
    """Yield the scores of stored runs of one instance under a contract; labels are by policy."""
    for run in runs:
        role = terms.roles[run.policy]
        if not role.translation:
            continue
        first = {name: swept(value) for name, value in run.spec.cells[0].items()}
        setting = ", ".join(
            f"{name.replace('_', ' ')} {value:g}" for name, value in run.cell.items()
        )
        values = values_of(maker_of(terms.name, run.spec), seen_of(run))
        usual = run.cell == first
        yield Score(run.policy, labels[run.policy], setting, usual, role, run.rounds, values)


def seen_of(run: RunData) -> Seen:
    """Return the columns of a stored run that a contract measures."""
    means = run.values["mean"][:, 0] if "mean" in run.values else np.array(run.spec.means)
    deficits = {k: run.values[k] for k in ("floor_deficit_sup",) if k in run.values}
    return Seen(
        *(run.rounds, run.values["plays"], run.values["reward"], means, deficits, run.spec.quotas)
    )
