"""Words of every paper: the instance, functions of values, rounds of a horizon, stacked cells.

Values have the axes (replicate, round, arm); what takes one axis away leaves it with size 1.
"""

import math
from fractions import Fraction

import numpy as np

from fairbandits.audit.measures import AXES, function, measure


@measure("t", "rounds")
def t(rounds):
    """Recorded rounds."""
    return rounds


@measure("", "rounds")
def longest(cell):
    """Largest horizon of the run's cells."""
    return cell.spec.horizon


@measure("", "rounds")
def shortest(cell):
    """Smallest horizon of the run's cells."""
    return min(cell.spec.horizons, default=cell.spec.horizon)


@measure("r")
def replicate(cell):
    """Number of a replicate, from 1."""
    return np.arange(1, cell.n_replicates + 1)


@measure("")
def swept(cell):
    """Value of the one varied parameter; 0 if none is varied."""
    values = [value for name, value in cell.run.cell.items() if name != "horizon"]
    return float(values[0]) if values else 0.0


@measure("rta", "reward per round", "mean")
def mu(cell):
    """True mean reward mu_i of an arm."""
    return cell.column("mean")[:, :1] if cell.spec.drawn_means else cell.means[None, None]


@measure(None)
def means(mu):
    """True means, shape (n_replicates or 1, n_arms)."""
    return mu[:, 0]


@measure("rta", "reward per round", "mean")
def gap(cell, mu):
    """Gap Delta_i of an arm to the best mean."""
    return mu.max(axis=2, keepdims=True) - mu if cell.spec.drawn_means else cell.gaps[None, None]


@measure(None, "", "quota")
def exact_quotas(cell):
    """Numerators of the quotas, shape (n_replicates or 1, 1, n_arms), and their denominator."""
    return cell.exact_quotas


@measure("rta")
def quota(exact_quotas):
    """Quota r_i of an arm, a fraction of the pulls."""
    numerators, denominator = exact_quotas
    return numerators / denominator


@measure("a", "reward per round")
def target(targets):
    """Target rate lambda_i of an arm; 0 if it is not protected."""
    return targets


@measure("rt", "", "deficit", "reward")
def violation(cell, rounds, target):
    """Largest r_i t - N_i of an arm, in pulls; without quotas lambda_i t - R_i, in reward."""
    if cell.spec.quotas or cell.spec.drawn_quotas:
        return cell.column("deficit").max(axis=2)
    if not target.any():
        raise ValueError("violation needs an instance with quotas or targets")
    return (target * rounds[:, None] - cell.column("reward"))[:, :, target > 0].max(axis=2)


function(name="log", what="Natural logarithm.")(lambda x: np.log(x))
function(name="sqrt", what="Square root.")(lambda x: np.sqrt(x))
function(name="abs", what="Size of a value.")(lambda x: np.abs(x))
function(name="min", what="The smaller of two values.")(lambda x, y: np.minimum(x, y))
function(name="max", what="The larger of two values.")(lambda x, y: np.maximum(x, y))


@function()
def ceil(x):
    """Value rounded up to a whole number; exact for fractions."""
    return np.ceil(x) if isinstance(x, np.ndarray) else math.ceil(x)


@function()
def where(condition, x, y):
    """First value where a condition holds, else the second."""
    return np.where(condition, x, y) if np.ndim(condition) else (x if condition else y)


@function()
def ratio(x, y):
    """Ratio of two values; 1 where both are 0."""
    both = (np.asarray(x) == 0) & (np.asarray(y) == 0)
    return np.where(both, 1.0, x / np.where(both, 1.0, y))


@function()
def denominator(x):
    """Denominator of a coordinate, which is an exact fraction."""
    return Fraction(x).denominator


@function()
def numerators(x, parts=1):
    """Values times a denominator, exact: they must be whole numbers that a double can hold."""
    scaled = np.asarray(x, float) * parts
    nearest = np.rint(scaled)
    off = np.abs(scaled - nearest).max(initial=0.0)
    if off > 0.01 or np.abs(scaled).max(initial=0.0) > 2**50:
        raise ValueError(f"values times {parts} must be whole numbers, got one {off:g} off")
    return nearest.astype(np.int64)


def _over(axis, name, of, what, **given):
    """Register a function over one axis, which keeps it with size 1 unless more is `given`."""

    def taken(x):
        return of(x, axis=AXES.index(axis), **given or {"keepdims": True})

    function(name=name, what=what)(taken)


def _end(axis, name, place, what):
    """Register a function that takes the first or last place of an axis."""

    def taken(x):
        if not x.shape[AXES.index(axis)]:
            raise ValueError("no stacked cell is what is chosen")
        return x.take([place], axis=AXES.index(axis))

    function(name=name, what=what)(taken)


_over("r", "mean", np.mean, "Mean over replicates.")
_over("r", "most_of_runs", np.max, "Largest of any replicate.")
_over("t", "highest", np.max, "Largest over recorded rounds, in each replicate.")
_over("t", "lowest", np.min, "Smallest over recorded rounds, in each replicate.")
_over("t", "span", np.ptp, "Largest less smallest value of recorded rounds, in each replicate.")
_over("t", "always", np.all, "Whether it holds at all recorded rounds, in each replicate.")
_over("a", "total", np.sum, "Sum over arms.")
_over("a", "average", np.mean, "Mean over arms, or over stacked cells, in each replicate.")
_over("a", "largest", np.max, "Largest of any arm, in each replicate.")
_over("t", "steps", np.diff, "Differences of neighbouring recorded rounds.", n=1)
_over("a", "rises", np.diff, "Difference of each stacked cell to the one before.", n=1)
_end("t", "last", -1, "Value at the last recorded round.")
_end("a", "first_cell", 0, "Value of the first stacked cell.")
_end("a", "last_cell", -1, "Value of the last stacked cell.")


@function()
def any_(x):
    """Whether it holds anywhere."""
    return bool(np.any(x))


@function()
def number_of_largest(x):
    """Number of the arm whose value is largest."""
    return x.argmax(axis=2, keepdims=True) + 1


@function()
def worst(x):
    """Value of the arm whose mean over replicates is largest, at each round."""
    arm = x.mean(axis=0, keepdims=True).argmax(axis=2, keepdims=True)
    return np.take_along_axis(x, arm, axis=2)


@function()
def worst_at_end(*x):
    """Values of the arm, of any of several values, whose mean is largest at the last round."""
    joined = np.concatenate(x, axis=2)
    arm = joined[:, -1:].mean(axis=0, keepdims=True).argmax(axis=2, keepdims=True)
    return np.take_along_axis(joined, arm, axis=2)


@function()
def root_of_mean(x):
    """Square root of the mean m, split over replicates: sqrt(m) + (x - m) / (2 sqrt(m))."""
    middle = x.mean(axis=0, keepdims=True)
    root = np.sqrt(middle)
    # a mean of 0 has nothing to linearise
    slope = np.divide(0.5, root, out=np.zeros_like(root), where=root > 0)
    return root + (x - middle) * slope


@function()
def spread_of_runs(x):
    """Size of each replicate's deviation from the mean over replicates."""
    return np.abs(x - x.mean(axis=0, keepdims=True))


@function()
def scatter(x):
    """Distance of each replicate from the median over replicates."""
    return np.abs(x - np.median(x, axis=0, keepdims=True))


@function()
def off_class(x, by):
    """Deviation of each replicate from the mean of those with the same value of another."""
    same = by[:, 0, 0][:, None] == by[:, 0, 0]
    return x - np.einsum("rs,sta->rta", same / same.sum(axis=1, keepdims=True), x)


@function()
def of_arm(x, arm):
    """Value of an arm, by its number from 1."""
    return x[:, :, [arm - 1]]


@function()
def protected(x, *, target):
    """Only the arms that have a target."""
    return x[:, :, target > 0]


@function()
def sorted_by(x, by):
    """Values of the arms from the smallest to the largest of another value, in each replicate."""
    order = np.broadcast_to(by.argsort(axis=2, kind="stable"), x.shape)
    return np.take_along_axis(x, order, axis=2)


@function()
def in_order(x, key, which):
    """Values of the arms for which it holds, by increasing key."""
    keys = _of_cells(key, x)[_of_cells(which, x)]
    return chosen(x, which)[:, :, np.argsort(keys, kind="stable")]


@function()
def first_runs(x, number):
    """Value in the first replicates, of a given number."""
    return x[:number]


def late_weights(rounds):
    """Return the weight of each recorded round in a mean over [T/2, T], by the trapezoid rule.

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


@function()
def late(x, *, rounds):
    """Mean over the rounds T/2 to T."""
    return np.einsum("rta,t->ra", x, late_weights(rounds))[:, None]


@function()
def late_spread(x, *, rounds):
    """Standard deviation over the rounds T/2 to T, in each replicate."""
    return np.sqrt(late((x - late(x, rounds=rounds)) ** 2, rounds=rounds))


@function()
def late_lowest(x, *, rounds):
    """Smallest over the rounds T/2 to T, in each replicate."""
    return x[:, rounds >= rounds[-1] / 2].min(axis=1, keepdims=True)


@function()
def late_highest(x, *, rounds):
    """Largest over the rounds T/2 to T, in each replicate."""
    return x[:, rounds >= rounds[-1] / 2].max(axis=1, keepdims=True)


@function()
def window_rate(x, length, starts, *, rounds):
    """Rise per round of x in windows of a length, one that starts every T / `starts` rounds.

    The length is rounded up to a multiple of that, and x is 0 before round 1.
    """
    step = max(1, int(rounds[-1]) // starts)
    grid = x[:, rounds % step == 0]
    grid = np.concatenate([np.zeros_like(grid[:, :1]), grid], axis=1)
    steps = math.ceil(number(length) / step)
    return (grid[:, steps:] - grid[:, :-steps]) / (steps * step)


@function()
def logspaced(count, first=1, *, rounds):
    """Log-spaced recorded rounds, of a given number, from `first` to T."""
    start = min(int(np.searchsorted(rounds, number(first))), rounds.size - 1)
    if rounds.size - start <= count:
        return rounds[start:]
    wanted = np.geomspace(rounds[start], rounds[-1], count)
    distance = np.abs(np.log(rounds[start:, None] / wanted))
    return rounds[sorted({start + int(place) for place in distance.argmin(axis=0)})]


@function()
def even(count, first=0, *, horizon):
    """Evenly spaced rounds, of a given number, from `first` (or T / number) to T."""
    return np.linspace(number(first) or horizon / count, horizon, count)


@function()
def those(values, which):
    """Those of some rounds at which it holds in any replicate, for any arm."""
    return np.ravel(values)[which.any(axis=(0, 2))]


@function()
def first_at_most(x, limit, *, rounds):
    """First recorded round at which it is at most a limit, in each replicate; else T."""
    below = x <= limit
    place = np.where(below.any(axis=1), below.argmax(axis=1), -1)
    return rounds[place].astype(float)[:, None]


@function()
def recorded_round(r, *, rounds):
    """A round, which must be a recorded one."""
    wanted = int(np.asarray(r).reshape(()))
    if wanted not in rounds:
        raise ValueError(f"round {wanted} is not recorded")
    return wanted


def number(x):
    return float(np.asarray(x, float).reshape(()))


def _of_cells(x, like):
    """Return the values of each stacked cell, or arm, of another value."""
    return np.broadcast_to(x, (1, 1, like.shape[2])).ravel()


@function()
def chosen(x, which):
    """Values of the stacked cells for which it holds."""
    return x[:, :, _of_cells(which, x)]
