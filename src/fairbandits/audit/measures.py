"""The cells of recorded runs, and their measures by name: `run["regret"]` in a claim.

A measure is a function whose parameters are found by their names: among the other measures, in the
recorded columns, or in the cell. Measures of one paper stand beside its claims.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from fairbandits.data.dictionary import RECORDED
from fairbandits.data.provenance import remembered
from fairbandits.policies import POLICIES
from fairbandits.policies.own import is_own
from fairbandits.rationals import quota_numerators, rational
from fairbandits.replication.recorded import RunData
from fairbandits.settings.config import Experiment
from fairbandits.settings.models import expect_known
from fairbandits.settings.spec import OF_INSTANCE, RunSpec, swept
from fairbandits.theory import bounds

#: Recorded columns that are no measures: those that identify a row, and what `mu` and `quota` tell.
NOT_MEASURES = ("run", "policy", "law", "replicate", "round", "arm", "horizon", "mean", "quota")
#: Recorded columns that are taken once, not for each arm.
ONCE = ("surrogate_regret", "gain_norm")


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
    #: Coordinates and measures by name, once they were asked for.
    known: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def measures(self) -> Mapping[str, "Measure"]:
        """The measures that there are of it, by name."""
        return measures(self.recorded.experiment.paper)

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
        is_number = name in self.measures and self.measures[name].axes == ""
        return name in _COORDINATES or name in self.parameters or is_number

    def coordinate(self, name: str) -> Any:
        """Return a coordinate, or a measure that is one number; ValueError if it has none."""
        key = f"coordinate {name}"
        if key not in self.known:
            if name in _COORDINATES:
                self.known[key] = _COORDINATES[name](self)
            elif name in self.parameters:
                self.known[key] = self.parameters[name]
            elif self.has(name):
                self.known[key] = float(self[name])
            else:
                place = self.recorded.experiment.name
                raise ValueError(f"{place}: policy {self.run.policy!r} has no {name!r}")
        return self.known[key]

    def measure(self, name: str) -> "Measure":
        """Return a measure by name; ConfigError for an unknown one."""
        expect_known(name, self.measures, f"no measure {name!r}")
        return self.measures[name]

    def __getitem__(self, name: str) -> Any:
        """Return the value of a measure, an array with its axes, computed once."""
        if name not in self.known:
            measure = self.measure(name)
            given = {
                parameter: self._named(known) if isinstance(known, str) else known
                for parameter, known in measure.found.items()
            }
            value = measure.of(**given)
            if measure.axes is not None:
                value = np.asarray(value).view()
                value.flags.writeable = False
            self.known[name] = value
        return self.known[name]

    def _named(self, name: str) -> Any:
        if name in self.measures:
            return self[name]
        if name == "cell":
            return self
        return getattr(self, name) if hasattr(Cell, name) else self.column(name)

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


# ------------------------------------------------------------------------ the form of measures


@dataclass(frozen=True)
class Measure:
    """A measure of a cell."""

    of: Callable[..., Any]
    axes: str | None  # of its value, some of "rta": replicate, round, arm; None for other values
    found: Mapping[str, Any]  # parameter -> the name by which it is found, or a constant


#: Measures by paper, those of all papers under an empty name; and the paper that is being loaded.
_MEASURES: dict[str, dict[str, Measure]] = {"": {}}
_LOADING = [""]


@contextmanager
def measures_of(paper: str) -> Iterator[dict[str, Measure]]:
    """Register what is defined inside as measures of one paper, which are given, and no others."""
    own: dict[str, Measure] = {}
    use(paper, own)
    _LOADING.append(paper)
    try:
        yield own
    finally:
        _LOADING.pop()


def use(paper: str, own: dict[str, Measure]) -> None:
    """Let a paper's runs have these measures besides those of all papers."""
    _MEASURES[paper] = own


def measures(paper: str) -> Mapping[str, Measure]:
    """Return all measures of a paper's runs by name."""
    return _MEASURES[""] | _MEASURES.get(paper, {})


def measure(axes: str | None, *, name: str = "", **given: Any) -> Callable[[Callable], Callable]:
    """Register a function as a measure, whose parameters are found by name, or as `given`.

    Parameters
    ----------
    axes : str or None
        The axes of its value, some of "rta": replicate, round, arm; None for a value of its own
        kind, which other measures use.
    name : str
        Its name, by default the function's.
    **given
        For a parameter the name by which it is found, or its value.
    """

    def register(of: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(of).parameters.values()
        found = {one.name: one.name for one in parameters if one.default is one.empty} | given
        key = name or of.__name__
        own = _MEASURES[_LOADING[-1]]
        if key in own or key in _MEASURES[""]:
            raise ValueError(f"there are two measures {key!r}")
        own[key] = Measure(of, axes, found)
        return of

    return register


for _name in RECORDED:
    if _name in ONCE:
        measure("rt", name=_name)(lambda cell, column=_name: cell.column(column)[:, :, 0])
    elif _name not in NOT_MEASURES:
        measure("rta", name=_name)(lambda cell, column=_name: cell.column(column))


# ------------------------------------------------------------------- measures of every paper


@measure("t")
def t(rounds):
    """Recorded rounds."""
    return rounds


@measure("")
def longest(cell):
    """Largest horizon of the run's cells."""
    return cell.spec.horizon


@measure("", name="swept")
def swept_value(cell):
    """Value of the one varied parameter; 0 if none is varied."""
    values = [value for name, value in cell.run.cell.items() if name != "horizon"]
    return float(values[0]) if values else 0.0


@measure("rta")
def mu(cell):
    """True mean reward mu_i of an arm."""
    return cell.column("mean")[:, :1] if cell.spec.drawn_means else cell.means[None, None]


@measure(None)
def means(mu):
    """True means, shape (n_replicates or 1, n_arms)."""
    return mu[:, 0]


@measure("rta")
def gap(cell, mu):
    """Gap Delta_i of an arm to the best mean."""
    return mu.max(axis=2, keepdims=True) - mu if cell.spec.drawn_means else cell.gaps[None, None]


@measure("rta")
def quota(exact_quotas):
    """Quota r_i of an arm, a fraction of the pulls."""
    numerators, denominator = exact_quotas
    return numerators / denominator


@measure("a")
def target(targets):
    """Target rate lambda_i of an arm; 0 if it is not protected."""
    return targets


@measure("rt")
def violation(cell, rounds, target):
    """Largest r_i t - N_i of an arm, in pulls; without quotas lambda_i t - R_i, in reward."""
    if cell.spec.quotas or cell.spec.drawn_quotas:
        return cell.column("deficit").max(axis=2)
    if not target.any():
        raise ValueError("violation needs an instance with quotas or targets")
    return (target * rounds[:, None] - cell.column("reward"))[:, :, target > 0].max(axis=2)


@measure("rt")
def regret(plays, gap):
    """Conventional regret sum_i Delta_i N_i(t)."""
    return (plays * gap).sum(axis=-1)


@measure("rta")
def owed(rounds, exact_quotas):
    """Quota of an arm in pulls, floor(r_i t), exact."""
    numerators, denominator = exact_quotas
    return rounds[:, None] * numerators // denominator


@measure(None)
def own_means(cell):
    """True means of an instance that all replicates share, shape (n_arms,)."""
    return cell.means


measure("rt")(bounds.ucb1_bound)
