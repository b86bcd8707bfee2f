"""The cells of recorded runs, which measures are functions of."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from fairbandits.data.provenance import remembered
from fairbandits.policies import POLICIES
from fairbandits.policies.own import is_own
from fairbandits.rationals import quota_numerators, rational
from fairbandits.replication.recorded import RunData
from fairbandits.settings.config import Experiment
from fairbandits.settings.spec import OF_INSTANCE, RunSpec, swept


class Recorded(NamedTuple):
    """One experiment's dataset, its runs in the order of the configuration."""

    experiment: Experiment  # as configured
    footer: dict[str, Any]  # what was run, which is less at the smoke scale
    runs: list[RunData]


@dataclass(frozen=True)
class Cell:
    """One cell of a run."""

    recorded: Recorded
    run: RunData
    #: Measures by name.
    measured: dict[str, np.ndarray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    #: Coordinates by name.
    found: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def paper(self) -> str:
        """The paper whose experiment it is of."""
        return self.recorded.experiment.paper

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
    def place(self) -> str:
        return f"{self.recorded.experiment.name}/{self.run.name}"

    def column(self, name: str) -> np.ndarray:
        """Return a recorded column, shape (n_replicates, n_rounds, n_arms)."""
        if name not in self.run.values:
            raise ValueError(
                f"{self.recorded.experiment.name}: run {self.run.name} does not record {name!r}"
            )
        return self.run.values[name]

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of the policy: defaults, as configured, and swept ones as exact as those."""
        found = {**defaults(self.spec.policy), **self.spec.parameters}
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
        """The policy's own quotas."""
        return self.spec.parameters.get("quotas", OF_INSTANCE)

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
