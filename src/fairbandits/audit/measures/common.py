"""Functions of values, rounds of a horizon, and what every run records.

Values have the axes (replicate, round, arm); what takes one axis away leaves it with size 1.
"""

import math
from typing import Any

import numpy as np

from fairbandits.audit.cases import CaseScope
from fairbandits.audit.cells import Cell
from fairbandits.audit.measures import function, measure, recorded
from fairbandits.measures import pulls

recorded(
    plays="pulls N_i(t), or with full information the summed probabilities",
    unit="pulls",
)
recorded(reward="cumulated reward R_i(t) of an arm", unit="reward")
recorded(
    deficit="r_i t - N_i, of the round",
    deficit_sup="r_i t - N_i, the largest so far",
    floor_deficit="floor(r_i t) - N_i, of the round",
    floor_deficit_sup="floor(r_i t) - N_i, the largest so far",
    unit="pulls",
)


recorded(
    starvation="longest run so far of rounds without a pull of an arm, or all but without",
    unit="rounds",
)


@measure(axes="t", unit="rounds")
def t(cell: Cell) -> np.ndarray:
    """Recorded rounds."""
    return cell.rounds


@measure(axes="", unit="rounds")
def longest(cell: Cell) -> int:
    """Largest horizon that the run has a cell for."""
    return cell.spec.horizon


@measure(axes="", unit="rounds")
def shortest(cell: Cell) -> int:
    """Smallest horizon that the run has a cell for."""
    return min(cell.spec.horizons, default=cell.spec.horizon)


@measure("mean", axes="rta", unit="reward per round")
def mu(cell: Cell) -> np.ndarray:
    """True mean reward mu_i of an arm."""
    return cell.column("mean")[:, :1] if cell.spec.drawn_means else cell.means[None, None]


@measure("mean", axes="rta", unit="reward per round")
def gap(cell: Cell) -> np.ndarray:
    """Gap Delta_i of an arm to the best mean."""
    if not cell.spec.drawn_means:
        return cell.gaps[None, None]
    means = mu(cell)
    return means.max(axis=2, keepdims=True) - means


@measure("quota", axes="rta")
def quota(cell: Cell) -> np.ndarray:
    """Required fraction r_i of pulls of an arm."""
    numerators, denominator = cell.exact_quotas
    return numerators / denominator


@measure(axes="a", unit="reward per round")
def target(cell: Cell) -> np.ndarray:
    """Target rate lambda_i of an arm; 0 if it is not protected."""
    return cell.targets


@measure("deficit", "reward", axes="rt")
def violation(cell: Cell) -> np.ndarray:
    """Largest r_i t - N_i of an arm, in pulls; without quotas lambda_i t - R_i, in reward."""
    if cell.spec.quotas or cell.spec.drawn_quotas:
        return pulls.violation(cell.column("deficit"))
    if not cell.targets.any():
        raise ValueError("violation needs an instance with quotas or targets")
    lacking = cell.targets * cell.rounds[:, None] - cell.column("reward")
    return lacking[:, :, cell.targets > 0].max(axis=2)


# ------------------------------------------------------------------------- elementwise functions


@function()
def log(x: Any) -> Any:
    """Natural logarithm."""
    return np.log(x)


@function()
def sqrt(x: Any) -> Any:
    """Square root."""
    return np.sqrt(x)


@function()
def abs_(x: Any) -> Any:
    """Size of a value."""
    return np.abs(x)


@function()
def floor(x: Any) -> Any:
    """Largest whole number that is not larger; exact for fractions."""
    return np.floor(x) if isinstance(x, np.ndarray) else math.floor(x)


@function()
def ceil(x: Any) -> Any:
    """Smallest whole number that is not smaller; exact for fractions."""
    return np.ceil(x) if isinstance(x, np.ndarray) else math.ceil(x)


@function()
def whole(x: Any) -> bool:
    """Whether a coordinate is a whole number."""
    return x == math.floor(x)


@function()
def min_(x: Any, y: Any) -> Any:
    """Return the smaller of two values."""
    return np.minimum(x, y)


@function()
def max_(x: Any, y: Any) -> Any:
    """Return the larger of two values."""
    return np.maximum(x, y)


@function()
def where(condition: Any, x: Any, y: Any) -> Any:
    """Return x where a condition holds, else y."""
    return np.where(condition, x, y) if np.ndim(condition) else (x if condition else y)


# ---------------------------------------------------------------------------- over an axis


@function()
def mean(x: np.ndarray) -> np.ndarray:
    """Mean over replicates."""
    return x.mean(axis=0, keepdims=True)


@function()
def total(x: np.ndarray) -> np.ndarray:
    """Sum over arms."""
    return x.sum(axis=2, keepdims=True)


@function()
def largest(x: np.ndarray) -> np.ndarray:
    """Largest of any arm, in each replicate."""
    return x.max(axis=2, keepdims=True)


@function()
def worst(x: np.ndarray) -> np.ndarray:
    """Value of the arm whose mean over replicates is largest, at each round."""
    arm = x.mean(axis=0, keepdims=True).argmax(axis=2, keepdims=True)
    return np.take_along_axis(x, arm, axis=2)


@function()
def worst_at_end(*x: np.ndarray) -> np.ndarray:
    """Values of the arm, of any of several values, whose mean is largest at the last round."""
    joined = np.concatenate(x, axis=2)
    arm = joined[:, -1:].mean(axis=0, keepdims=True).argmax(axis=2, keepdims=True)
    return np.take_along_axis(joined, arm, axis=2)


@function()
def root_of_mean(x: np.ndarray) -> np.ndarray:
    """Square root of the mean m, split over replicates: sqrt(m) + (x - m) / (2 sqrt(m))."""
    middle = x.mean(axis=0, keepdims=True)
    root = np.sqrt(middle)
    # a mean of 0 has nothing to linearise
    slope = np.divide(0.5, root, out=np.zeros_like(root), where=root > 0)
    return root + (x - middle) * slope


@function()
def peak(x: np.ndarray) -> np.ndarray:
    """Value at the recorded round where the mean over replicates is largest, for each arm."""
    place = x.mean(axis=0, keepdims=True).argmax(axis=1, keepdims=True)
    return np.take_along_axis(x, place, axis=1)


@function()
def highest(x: np.ndarray) -> np.ndarray:
    """Largest over recorded rounds, in each replicate."""
    return x.max(axis=1, keepdims=True)


@function()
def lowest(x: np.ndarray) -> np.ndarray:
    """Smallest over recorded rounds, in each replicate."""
    return x.min(axis=1, keepdims=True)


@function()
def last(x: np.ndarray) -> np.ndarray:
    """Value at the last recorded round."""
    return x[:, -1:]


@function()
def span(x: np.ndarray) -> np.ndarray:
    """Largest less smallest value of recorded rounds, in each replicate."""
    return np.ptp(x, axis=1, keepdims=True)


@function()
def always(x: np.ndarray) -> np.ndarray:
    """Whether it holds at all recorded rounds, in each replicate."""
    return x.all(axis=1, keepdims=True)


@function()
def steps(x: np.ndarray) -> np.ndarray:
    """Differences of neighbouring recorded rounds."""
    return np.diff(x, axis=1)


# -------------------------------------------------------------------------------- late rounds


def late_weights(rounds: np.ndarray) -> np.ndarray:
    """Return the weight of each recorded round in a mean over [T/2, T], by the trapezoid rule.

    Recorded rounds are not evenly spaced; the weights, which sum to 1, undo that.

    Examples
    --------
    >>> late_weights(np.array([1, 4, 6, 8])).tolist()
    [0.0, 0.25, 0.5, 0.25]
    """
    inside = rounds >= rounds[-1] / 2
    kept = rounds[inside].astype(float)
    if kept.size == 1:
        return inside.astype(float)
    gaps = np.diff(kept)
    weights = np.zeros(rounds.size)
    weights[inside] = (np.append(gaps, 0.0) + np.append(0.0, gaps)) / 2
    return weights / weights.sum()


@function(in_cell=True)
def late(scope: CaseScope, x: np.ndarray) -> np.ndarray:
    """Mean over the rounds T/2 to T."""
    return np.einsum("rta,t->ra", x, late_weights(scope.cell.rounds))[:, None]


@function(in_cell=True)
def late_spread(scope: CaseScope, x: np.ndarray) -> np.ndarray:
    """Standard deviation over the rounds T/2 to T, in each replicate."""
    return np.sqrt(late(scope, (x - late(scope, x)) ** 2))


@function(in_cell=True)
def window_rate(scope: CaseScope, x: np.ndarray, length: float, starts: int) -> np.ndarray:
    """Rise per round of x in windows of a length, one that starts every T / `starts` rounds.

    The length is rounded up to a multiple of that, and x is 0 before round 1.
    """
    rounds, step = scope.cell.rounds, max(1, scope.cell.horizon // starts)
    grid = x[:, rounds % step == 0]
    grid = np.concatenate([np.zeros_like(grid[:, :1]), grid], axis=1)
    steps = math.ceil(_scalar(length) / step)
    return (grid[:, steps:] - grid[:, :-steps]) / (steps * step)


# ------------------------------------------------------------------------------------- rounds


@function(in_cell=True)
def logspaced(scope: CaseScope, number: int, first: float = 1) -> np.ndarray:
    """Recorded rounds nearest to log-spaced ones, of a given number, from `first` to T."""
    rounds = scope.cell.rounds
    start = min(int(np.searchsorted(rounds, _scalar(first))), rounds.size - 1)
    if rounds.size - start <= number:
        return rounds[start:]
    wanted = np.geomspace(rounds[start], rounds[-1], number)
    distance = np.abs(np.log(rounds[start:, None] / wanted))
    return rounds[sorted({start + int(place) for place in distance.argmin(axis=0)})]


@function(in_cell=True)
def even(scope: CaseScope, number: int, first: float = 0) -> np.ndarray:
    """Evenly spaced rounds, of a given number, from `first` (or T / number) to T."""
    horizon, first = scope.cell.horizon, _scalar(first)
    return np.linspace(first or horizon / number, horizon, number)


@function(in_cell=True)
def last_decade(scope: CaseScope) -> np.ndarray:
    """Recorded rounds from T / 10 to T."""
    rounds = scope.cell.rounds
    return rounds[rounds >= scope.cell.horizon / 10 * (1 - 1e-9)]


def _scalar(x: Any) -> float:
    return float(np.asarray(x).reshape(()))
