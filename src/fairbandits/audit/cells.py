"""Recorded runs as the audit reads them, and their cells, which measures are functions of."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fairbandits.data.provenance import remembered, replay_code
from fairbandits.data.store import StoreError, read_footer, read_table
from fairbandits.policies import POLICIES
from fairbandits.policies.own import is_own
from fairbandits.rationals import quota_numerators, rational
from fairbandits.replication.datasets import (
    expect,
    expect_all_rows,
    expect_experiment,
    load_dataset,
    shrunk,
)
from fairbandits.replication.recorded import RunData, runs_of
from fairbandits.settings.config import Config, Experiment
from fairbandits.settings.spec import OF_INSTANCE, RunSpec, swept

#: Coordinates of a cell that are no policy's parameters -> description.
COORDINATES = {
    "arm": "number of an arm, from 1; a case has one if it is of one arm, or repeated for arms",
    "experiment": "name of the experiment",
    "feedback": "what the policy sees: bandit, or full",
    "instance": "name of a suite's instance, without the horizon if that is part of it",
    "label": "the policy as the figures call it",
    "law": "law of the rewards",
    "N": "number of arms",
    "policy": "name of the policy in the experiment",
    "reading": "the reading that is asked about",
    "round": "a round; a case has one if it is repeated for rounds",
    "suite": "name of the suite, or of the experiment that is none",
    "tau": "sum of the quotas of all arms",
    "T": "horizon, in rounds",
}


#: Bytes of columns above which those of other datasets are not kept.
KEPT = 1_500_000_000


class Recorded(NamedTuple):
    """One experiment's dataset, its runs in the order of the configuration."""

    experiment: Experiment  # as configured
    footer: dict[str, Any]  # what was run, which is less at the smoke scale
    runs: list[RunData]


def _bytes(kept: tuple[dict, dict[str, pa.ChunkedArray | None]]) -> int:
    return sum(one.nbytes for one in kept[1].values() if one is not None)


class Evidence:
    """The datasets of one paper, checked as they are read, and a list of the files read."""

    def __init__(self, config: Config, paper: str, results: Path) -> None:
        self.config = config
        self.seed = config.seed_of_judging(paper)  # of numbers drawn while claims are judged
        self.paper = paper
        self.results = results
        self.read: dict[Path, None] = {}  # files in the order in which they were first read
        self.small = False  # whether a dataset has fewer rounds or replicates than configured
        self.older: int | None = None  # seed of one drawn under other rules, judged all the same
        self._problems: dict[Path, str] = {}
        #: Footers, and the columns that were read; None for one that a dataset lacks.
        self._kept: dict[Path, tuple[dict[str, Any], dict[str, pa.ChunkedArray | None]]] = {}

    def check(self, name: str) -> None:
        """Check all rows of the datasets of this name."""
        for one in self.config.named(self.paper, name):
            if problem := self.problem(one):
                raise StoreError(problem)

    def problem(self, experiment: Experiment) -> str:
        """Return why an experiment's dataset cannot be judged, empty if it can; check it once."""
        file, seed = self.results / experiment.dataset, self.config.seed_of(experiment)
        if file in self._problems:
            return self._problems[file]
        self._problems[file] = ""
        try:
            footer = read_footer(file)
            expect_experiment(footer, experiment, file)
            follows = not self.config.exploratory and not self.config.salt
            if follows and footer.get("ledger") and footer["seed"] != seed:
                self.older = footer["seed"]
            else:
                expect(footer, {"seed": seed}, file)
            self.small |= shrunk(footer, experiment)
            expect_all_rows(file, guarded=True)
        except StoreError as error:
            self._problems[file] = str(error)
        return self._problems[file]

    def recorded(self, name: str, columns: Sequence[str]) -> Iterator[Recorded]:
        """Yield the experiment, or each instance of the suite, of this name, or ``PAPER/NAME``."""
        for one in self.config.named(self.paper, name):
            self.read[file := self.results / one.dataset] = None
            table, footer = self._columns(file, ["run", "round", "horizon", *columns])
            yield Recorded(one, footer, list(runs_of(table, footer)))

    def _columns(self, file: Path, wanted: Sequence[str]) -> tuple[pa.Table, dict[str, Any]]:
        """Return the columns of these that a dataset has, kept for other tests, and its footer."""
        footer, known = self._kept.pop(file, ({}, {}))
        if missing := [name for name in wanted if name not in known]:
            table, footer = load_dataset(file, missing)
            table = table.combine_chunks()  # so that runs are views of it
            known |= dict.fromkeys(missing)
            known |= {name: table[name] for name in table.column_names}
        self._kept[file] = footer, known
        while missing and len(self._kept) > 1 and sum(map(_bytes, self._kept.values())) > KEPT:
            self._kept.pop(next(iter(self._kept)))  # the one that was not asked for the longest
        return pa.table({name: known[name] for name in wanted if known[name] is not None}), footer

    def replay(self, name: str) -> pa.Table:
        """Return the recorded output of a released program, and note its file as read."""
        file = self.results / self.paper / f"{name}.parquet"
        expect(read_footer(file), {"code": replay_code()}, file)
        self.read[file] = None
        return read_table(file)


@dataclass(frozen=True)
class Cell:
    """One cell of a run; a control has the parameters that it lacks from whom it stands for."""

    recorded: Recorded
    run: RunData
    replicates: int | None = None  # the first so many; default all
    stands_for: "Cell | None" = None
    #: Measures by name, with all axes.
    measured: dict[str, np.ndarray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    #: Coordinates by name.
    found: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def spec(self) -> RunSpec:
        return self.run.spec

    @property
    def rounds(self) -> np.ndarray:
        """Recorded rounds t, int64 of shape (n_rounds,)."""
        return self.run.rounds

    @property
    def horizon(self) -> int:
        return int(self.rounds[-1])

    @property
    def n_replicates(self) -> int:
        return self.replicates or int(self.recorded.footer["replicates"])

    @property
    def place(self) -> str:
        return f"{self.recorded.experiment.name}/{self.run.name}"

    def column(self, name: str) -> np.ndarray:
        """Return a recorded column, shape (n_replicates, n_rounds, n_arms)."""
        if name not in self.run.values:
            raise ValueError(
                f"{self.recorded.experiment.name}: run {self.run.name} does not record {name!r}"
            )
        return self.run.values[name][: self.replicates]

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of the policy: defaults, as configured, and swept ones as exact as those."""
        other = self.stands_for.parameters if self.stands_for else {}
        found = {**other, **defaults(self.spec.policy), **self.spec.parameters}
        for name, number in self.run.cell.items():
            given = (value for value in self.spec.sweep.get(name, []) if swept(value) == number)
            value = next(given, number)
            found[name] = rational(name, value) if isinstance(value, str) else value
        return found

    def has(self, name: str) -> bool:
        """Whether it has a coordinate: not if that is a parameter of other policies."""
        return name in _COORDINATES or name in self.parameters

    def coordinate(self, name: str) -> Any:
        """Return a coordinate; ValueError if the policy has no such parameter."""
        if name not in self.found:
            if not self.has(name):
                place = self.recorded.experiment.name
                raise ValueError(f"{place}: policy {self.run.policy!r} has no {name!r}")
            made = _COORDINATES.get(name, lambda cell: cell.parameters[name])
            self.found[name] = made(self)
        return self.found[name]

    @cached_property
    def means(self) -> np.ndarray:
        """True means mu_i, shape (n_arms,), of an instance shared by all replicates."""
        if not self.spec.means:
            raise ValueError(f"{self.recorded.experiment.name}: each replicate draws its means")
        return np.array(self.spec.means, float)

    @cached_property
    def targets(self) -> np.ndarray:
        """The instance's target rates lambda_i, shape (n_arms,); 0 for unprotected arms."""
        targets = self.recorded.footer["targets"]
        return np.array(targets or [0.0] * self.spec.n_arms, float)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Delta_i, shape (n_arms,), without the rounding error of a difference of decimals."""
        exact = [rational("means", mean) for mean in self.spec.means]
        return np.array([max(exact) - mean for mean in exact], float)

    @property
    def _own_quotas(self) -> Any:
        """The policy's own quotas, of a control those of the policy that it stands for."""
        other = self.stands_for._own_quotas if self.stands_for else OF_INSTANCE
        return self.spec.parameters.get("quotas", other)

    @property
    def quotas(self) -> list:
        """r_i as configured, of the policy if it has its own; 0 where there are none."""
        own = self._own_quotas
        given = list(self.spec.quotas) or [0] * self.spec.n_arms
        return given if own == OF_INSTANCE else own

    @cached_property
    def exact_quotas(self) -> tuple[np.ndarray, int]:
        """Numerators of r_i, shape (n_replicates or 1, 1, n_arms), and their denominator."""
        drawn = self.spec.drawn_quotas
        if drawn and self._own_quotas == OF_INSTANCE:
            return self.column("quota")[:, :1], drawn["denominator"]
        numerators, denominator = quota_numerators(self.quotas)
        return np.array(numerators)[None, None], denominator

    @property
    def tolerance(self) -> Fraction:
        """alpha, exact; 0 for a policy without."""
        return rational("tolerance", self.parameters.get("tolerance", 0))


def instance_of(experiment: Experiment) -> str:
    """Return the name of an instance, without a horizon; a short number is a value of its own."""
    return re.sub(r"_\d{3,}$", "", experiment.instance)


_sum_of = cache(lambda quotas: float(sum(rational("quotas", quota) for quota in quotas)))
#: Coordinate -> its value; all others are parameters of the policy.
_COORDINATES: dict[str, Callable[[Cell], Any]] = {
    "T": lambda cell: cell.horizon,
    "N": lambda cell: cell.spec.n_arms,
    "experiment": lambda cell: cell.recorded.experiment.name,
    "suite": lambda cell: cell.recorded.experiment.suite or cell.recorded.experiment.name,
    "instance": lambda cell: instance_of(cell.recorded.experiment),
    "law": lambda cell: cell.run.law,
    "policy": lambda cell: cell.run.policy,
    "label": lambda cell: cell.recorded.footer["labels"][cell.run.policy],
    "tau": lambda cell: _sum_of(tuple(cell.quotas)),
    "tolerance": lambda cell: cell.tolerance,
    "feedback": lambda cell: cell.parameters.get("feedback", ""),
}


@cache
def defaults(policy: str) -> Mapping[str, Any]:
    """Return the defaults of a policy's parameters, and its feedback; none of a user's policy.

    Importing a policy imports the compiler, which no judge needs, so they are remembered.
    """
    if is_own(policy):
        return {}
    known = remembered("defaults", "engine", "policies")
    if policy not in known:
        made = POLICIES[policy]
        found = {one.name: one.default for one in fields(made) if one.default is not MISSING}
        known[policy] = json.dumps({"feedback": made.feedback} | found)
    found = json.loads(known[policy])
    return {name: tuple(one) if isinstance(one, list) else one for name, one in found.items()}
