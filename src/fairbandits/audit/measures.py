"""Measures of a recorded run by name: `run["regret"]` in a claim.

A measure is a function whose parameters are found by their names: among the other measures, in the
recorded columns, or in the cell. Measures of one paper stand beside its claims.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairbandits.audit.cells import Cell
from fairbandits.data.dictionary import RECORDED
from fairbandits.settings.models import expect_known
from fairbandits.theory import bounds

#: Recorded columns that are no measures: those that identify a row, and what `mu` and `quota` tell.
NOT_MEASURES = ("run", "policy", "law", "replicate", "round", "arm", "horizon", "mean", "quota")
#: Recorded columns that are taken once, not for each arm.
ONCE = ("surrogate_regret", "gain_norm")


@dataclass(frozen=True)
class Measure:
    """A measure of a cell."""

    name: str
    of: Callable[..., Any]
    axes: str | None  # of its value, some of "rta": replicate, round, arm; None for other values
    found: Mapping[str, Any]  # parameter -> the name by which it is found, or a constant

    def value(self, cell: Cell) -> Any:
        """Return the measure of a cell, an array with its axes, computed once."""
        if self.name not in cell.measured:
            given = {
                name: _value_of(cell, one) if isinstance(one, str) else one
                for name, one in self.found.items()
            }
            value = self.of(**given)
            if self.axes is not None:
                value = np.asarray(value).view()
                value.flags.writeable = False
            cell.measured[self.name] = value
        return cell.measured[self.name]


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


def measure_of(name: str, cell: Cell) -> Measure:
    """Return a measure by name; ConfigError for an unknown one."""
    known = measures(cell.paper)
    expect_known(name, known, f"no measure {name!r}")
    return known[name]


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
        own[key] = Measure(key, of, axes, found)
        return of

    return register


def _value_of(cell: Cell, name: str) -> Any:
    known = measures(cell.paper)
    if name in known:
        return known[name].value(cell)
    if name == "cell":
        return cell
    return getattr(cell, name) if hasattr(Cell, name) else cell.column(name)


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


@measure("")
def swept(cell):
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


@measure(None)
def exact_quotas(cell):
    """Numerators of the quotas, shape (n_replicates or 1, 1, n_arms), and their denominator."""
    return cell.exact_quotas


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
