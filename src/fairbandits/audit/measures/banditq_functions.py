"""Functions of BanditQ's ledger: its instances as configured, its published curves, mathematics."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from fairbandits.audit import mathematics
from fairbandits.audit.cases import CaseScope
from fairbandits.audit.mathematics.chance import generator
from fairbandits.audit.measures import function
from fairbandits.audit.selection import held_out
from fairbandits.settings.schemas import paper_file, read_yaml
from fairbandits.theory.static import static_benchmark


@function(in_cell=True)
def protected(scope: CaseScope, x: np.ndarray) -> np.ndarray:
    """Arms that have a target alone."""
    return x[:, :, scope.cell.targets > 0]


@function()
def worst_held_out(x: np.ndarray) -> np.ndarray:
    """Value of the arm whose mean is largest at the last round, chosen on other replicates."""
    _, rest = held_out(x)
    return rest[..., None]


@function()
def peak_held_out(x: np.ndarray) -> np.ndarray:
    """Value of an arm at the round where its mean is largest, chosen on other replicates."""
    _, rest = held_out(np.swapaxes(x, 1, 2))
    return rest[:, None]


@function()
def most_of_runs(x: np.ndarray) -> np.ndarray:
    """Largest of any replicate."""
    return x.max(axis=0, keepdims=True)


@function(in_cell=True)
def late_lowest(scope: CaseScope, x: np.ndarray) -> np.ndarray:
    """Smallest over the rounds T/2 to T, in each replicate."""
    return x[:, scope.cell.rounds >= scope.cell.horizon / 2].min(axis=1, keepdims=True)


@function(in_cell=True)
def late_highest(scope: CaseScope, x: np.ndarray) -> np.ndarray:
    """Largest over the rounds T/2 to T, in each replicate."""
    return -late_lowest(scope, -x)


@function(in_cell=True)
def best_reward(scope: CaseScope, targets: np.ndarray) -> float:
    """Reward per round of the best distribution that gives every arm at least this."""
    return static_benchmark(scope.cell.means, targets.ravel()).reward


@function(in_cell=True, columns=("plays", "reward"))
def sampled_reward(scope: CaseScope, seed: str) -> np.ndarray:
    """Reward at T if arms were sampled from the distributions x(t)."""
    cell = scope.cell
    columns = cell.column("plays"), cell.column("reward")
    found = mathematics.sampled_arms.sampled_reward(cell.rounds, *columns, generator(seed))
    return _of_arm(scope, found[:, None])


# ------------------------------------------------------------------------------- as configured


@function(in_cell=True)
def means_of(scope: CaseScope, experiment: str, arm: int = 0) -> np.ndarray:
    """Means of an experiment's arms, or of one of them, as configured, without its runs."""
    return _of_arm(scope, _row(_configured(scope, experiment).means), arm)


@function(in_cell=True)
def targets_of(scope: CaseScope, experiment: str, arm: int = 0) -> np.ndarray:
    """Targets of an experiment's arms, or of one of them, as configured, without its runs."""
    return _of_arm(scope, _row(_configured(scope, experiment).targets), arm)


@function(in_cell=True)
def shares_of(scope: CaseScope, experiment: str, arm: int = 0) -> np.ndarray:
    """Targets over means of an experiment's arms, or of one of them, as configured."""
    return targets_of(scope, experiment, arm) / means_of(scope, experiment, arm)


@function(in_cell=True)
def horizon_of(scope: CaseScope, experiment: str) -> int:
    """Horizon of an experiment as configured."""
    return _configured(scope, experiment).horizon


@function()
def number_of_largest(x: np.ndarray) -> np.ndarray:
    """Number of the arm whose value is largest."""
    return x.argmax(axis=2, keepdims=True) + 1


def _configured(scope: CaseScope, name: str) -> Any:
    return scope.evidence.config.experiment(scope.evidence.paper, name)


def _row(values: Any) -> np.ndarray:
    return np.array(values, float)[None, None, :]


def _of_arm(scope: CaseScope, values: np.ndarray, arm: int = 0) -> np.ndarray:
    """Return the values of a given arm, or of the case's own."""
    arm = arm or scope.known.get("arm", 0)
    return values[:, :, [arm - 1]] if arm else values


# -------------------------------------------------------------------- published curves, a replay


@function(in_cell=True)
def published(
    scope: CaseScope, figure: str, series: str | int, quantity: str, at: int = 0
) -> float:
    """Number read off a published figure, at a round or the last one; a series can be an arm."""
    series = series if isinstance(series, str) else f"arm {series}"
    known = _read_off(scope.evidence.paper)["figures"][figure]
    (found,) = (
        one["value"]
        for one in known["values"]
        if (one["series"], one["quantity"]) == (series, quantity)
        and (quantity != "value" or one["round"] == (at or known["horizon"]))
    )
    return float(found)


@function(in_cell=True)
def reading_error(scope: CaseScope, figure: str) -> float:
    """Half width of the error of reading a published figure."""
    return float(_read_off(scope.evidence.paper)["figures"][figure]["reading_error"])


@function(in_cell=True)
def published_target(scope: CaseScope, arm: int) -> float:
    """Target of an arm, read off the published figures."""
    return float(_read_off(scope.evidence.paper)["drawn_targets"]["value"][f"arm {arm}"])


@function(in_cell=True)
def published_at(scope: CaseScope, figure: str) -> np.ndarray:
    """Numbers read off the curves of a published figure, at given rounds of each."""
    points = _points(scope, figure)
    values = [[one["value"] for one in curve] for curve in points.values()]
    return _of_arm(scope, np.array(values).T[None])


@function(in_cell=True)
def replayed_at(scope: CaseScope, name: str, column: str, figure: str) -> np.ndarray:
    """Curves of the authors' program run again, at the rounds of `published_at`."""
    table = _replay(scope, name, figure)
    recorded = table["round"].to_numpy()
    values = []
    for series, curve in _points(scope, figure).items():
        rounds = [one["round"] for one in curve]
        places = np.searchsorted(recorded, rounds)
        if (recorded[places] != rounds).any():
            raise ValueError(f"{name} must be recorded at the rounds {rounds} of {figure}")
        values.append(table[_column(column, series)].to_numpy()[places])
    return _of_arm(scope, np.array(values).T[None])


@function(in_cell=True)
def replayed(scope: CaseScope, name: str, column: str, figure: str) -> np.ndarray:
    """Curves of the authors' program run again, which ends where a published figure does."""
    table = _replay(scope, name, figure)
    values = [table[_column(column, series)].to_numpy() for series in _points(scope, figure)]
    return _of_arm(scope, np.array(values).T[None])


def _replay(scope: CaseScope, name: str, figure: str) -> pa.Table:
    table = scope.evidence.replay(name)
    ends = table["round"][-1].as_py()
    wanted = _read_off(scope.evidence.paper)["figures"][figure]["horizon"]
    if ends != wanted:
        raise ValueError(
            f"the replay must end in round {wanted}, as the published run does, got {ends}"
        )
    return table


def _column(column: str, series: str) -> str:
    """Return the replay's column that a figure's series shows."""
    return column if series == column else f"{column}_{series.removeprefix('arm ')}"


def _points(scope: CaseScope, figure: str) -> dict[str, list[Mapping[str, Any]]]:
    """Return the numbers read off a figure's curves at rounds, in their order, by series."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in _read_off(scope.evidence.paper)["figures"][figure]["values"]:
        if one["quantity"] == "value":
            found.setdefault(one["series"], []).append(one)
    return found


@cache
def _read_off(paper: str) -> Mapping[str, Any]:
    return read_yaml(paper_file(paper, "published"))


# --------------------------------------------------------------------------------- mathematics


@function()
def diameter(means: np.ndarray, targets: np.ndarray) -> float:
    """Largest distance between two distributions that meet the targets."""
    return mathematics.feasibility.diameter(means.ravel(), targets.ravel())


@function()
def released_benchmark(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Benchmark distribution of the released program."""
    return _row(mathematics.feasibility.released_distribution(means.ravel(), targets.ravel()))


@function()
def feasibility_disagreements(
    number: int, fewest: int, most: int, low: float, high: float, close: float, seed: str
) -> np.ndarray:
    """1 where linear programme and sum target / mean disagree on feasibility, of random instances.

    `number` instances have `fewest` to `most` arms and a sum from `low` to `high`; both methods
    must put an instance beyond `close` of the border.
    """
    made = mathematics.feasibility.random_instances(
        generator(seed), number, (fewest, most), (low, high)
    )
    found = [mathematics.feasibility.disagreements(*one, close) for one in made]
    return np.concatenate(found).astype(int)


@function()
def released_losses(
    number: int, fewest: int, most: int, low: float, high: float, seed: str
) -> np.ndarray:
    """Distance of the released program's reward from the best, of instances with a free best arm.

    The instances are random, like those of `feasibility_disagreements`.
    """
    sizes, loads = (fewest, most), (low, high)
    made = mathematics.feasibility.random_instances(
        generator(seed), number, sizes, loads, best=False
    )
    return np.concatenate([mathematics.feasibility.released_loss(*one) for one in made])


@function()
def solver_errors(
    number: int, most_arms: int, tolerance: float, low: float, high: float, seed: str
) -> np.ndarray:
    """Residual, and distance of the sum from 1, of the log-barrier solver on random inputs.

    The inputs are normal, with 2 to `most_arms` arms and a scale from 10^low to 10^high; the solver
    stops at `tolerance`.
    """
    rng, sizes = generator(seed), (low, high)
    return mathematics.log_barrier.errors_on_random_inputs(rng, number, most_arms, tolerance, sizes)


@function()
def projection_work(sizes: list[int], number: int, seed: str) -> np.ndarray:
    """Entries that projections onto the simplex look at, over N log N, for each number N of arms.

    `number` random points take random steps.
    """
    found = mathematics.operations.projections(generator(seed), sizes, number)
    return (found / _n_log_n(sizes))[:, None]


@function()
def barrier_work(
    sizes: list[int], number: int, tolerance: float, low: float, high: float, seed: str
) -> np.ndarray:
    """Entries that log-barrier steps look at, over N log N, for each number N of arms.

    The inputs are those of `solver_errors`.
    """
    rng, scales = generator(seed), (low, high)
    found = mathematics.operations.log_barrier_steps(rng, sizes, number, tolerance, scales)
    return (found / _n_log_n(sizes))[:, None]


@function(varies=True)
def solver_advantage(
    n_arms: int, number: int, tolerance: float, low: float, high: float, seed: str
) -> np.ndarray:
    """Passes of SciPy's SLSQP over all arms, over those of the special solver, on random inputs."""
    rng, scales = generator(f"{seed}-{n_arms}"), (low, high)
    found = mathematics.operations.passes_saved(rng, n_arms, number, tolerance, scales)
    return found[:, None, None]


def _n_log_n(sizes: list[int]) -> np.ndarray:
    return np.array(sizes) * np.log(sizes)


@function()
def keeps_quotas(numerators: list[int], denominator: int, rounds: int, learner: str) -> int:
    """1 if Fair-Learn over a learner keeps these quotas in each round up to one, else 0."""
    of = mathematics.quotas
    return int(of.keeps_quotas(numerators, denominator, rounds, of.LEARNERS[learner]))
