"""BanditQ's feasible set: targets that can be met, their best reward, and the set's size."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import optimize, sparse

from fairbandits.theory.static import load

#: Number of instances solved as one linear programme.
BATCH = 50
#: Tolerance of the linear programmes, finer than that of the comparison.
FINE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

#: Means and targets, shape (n_instances, n_arms), of instances with equally many arms.
Instances = tuple[np.ndarray, np.ndarray]


def random_instances(
    rng: np.random.Generator,
    number: int,
    arms: tuple[int, int],
    loads: tuple[float, float],
    *,
    best: bool = True,
) -> Iterator[Instances]:
    """Yield random instances in batches, as many for each number of arms.

    `arms` is the range of their number, `loads` that of the sum of target / mean; `best` says
    whether the arm of the largest mean may have a target.
    """
    sizes = range(arms[0], arms[1] + 1)
    left = number
    for done, n_arms in enumerate(sizes):
        of_this = left // (len(sizes) - done)
        left -= of_this
        for start in range(0, of_this, BATCH):
            size = min(BATCH, of_this - start)
            means = rng.uniform(0.05, 1.0, (size, n_arms))
            shares = rng.uniform(0.0, 1.0, (size, n_arms))
            if not best:
                np.put_along_axis(shares, means.argmax(axis=1, keepdims=True), 0.0, axis=1)
            total = rng.uniform(*loads, (size, 1))
            yield means, means * shares / shares.sum(axis=1, keepdims=True) * total


def least_slack(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return by how much every target must be lowered to be feasible; below 0 if there is room.

    It is min over distributions x of max_i (lambda_i - mu_i x_i), solved for all instances as one
    linear programme with separate blocks.
    """
    size, n_arms = means.shape
    lowered = sparse.kron(sparse.eye_array(size), np.ones((n_arms, 1)))
    costs = np.repeat([0.0, 1.0], [means.size, size])
    bounds = [(0, None)] * means.size + [(None, None)] * size
    return _solved(means, targets, costs, lowered, bounds)[means.size :]


def largest_reward(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return each instance's largest mean reward of a distribution that meets the targets."""
    found = _solved(means, targets, -means.ravel(), sparse.csr_array((means.size, 0)), (0, None))
    return (found.reshape(means.shape) * means).sum(axis=1)


def _solved(
    means: np.ndarray, targets: np.ndarray, costs: np.ndarray, more: sparse.sparray, bounds: Any
) -> np.ndarray:
    """Return distributions with reward and columns `more` of at least the targets, least costly."""
    size, n_arms = means.shape
    sums = sparse.kron(sparse.eye_array(size), np.ones((1, n_arms)))
    unused = sparse.csr_array((size, more.shape[1]))
    found = optimize.linprog(
        costs,
        A_ub=-sparse.hstack([sparse.diags_array(means.ravel()), more]).tocsr(),
        b_ub=-targets.ravel(),
        A_eq=sparse.hstack([sums, unused]).tocsr(),
        b_eq=np.ones(size),
        bounds=bounds,
        method="highs-ds",
        options=FINE,
    )
    if found.status != 0:
        raise RuntimeError(f"the linear programme was not solved: {found.message}")
    return found.x


def disagreements(means: np.ndarray, targets: np.ndarray, close: float) -> np.ndarray:
    """Return where linear programme and sum of target / mean disagree on feasibility.

    Instances that both put on the border, within `close`, are left out.
    """
    slack = least_slack(means, targets)
    loads = np.array([load(*one) for one in zip(means, targets, strict=True)])
    clear = (np.abs(slack) > close) | (np.abs(loads - 1) > close)
    return clear & ((slack <= 0) != (loads <= 1))


def released_distribution(means: Sequence[float], targets: Sequence[float]) -> np.ndarray:
    """Return the released program's benchmark: target / mean each, the rest on a free best arm."""
    means, targets = np.asarray(means, float), np.asarray(targets, float)
    distribution = targets / means
    best = int(means.argmax())
    if distribution[best] == 0:
        distribution[best] = 1.0 - distribution.sum()
    return distribution


def released_loss(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return each instance's distance between the best reward and the released program's."""
    program = [released_distribution(*one) @ one[0] for one in zip(means, targets, strict=True)]
    return np.abs(largest_reward(means, targets) - program)


def diameter(means: Sequence[float], targets: Sequence[float]) -> float:
    """Return the largest distance between two distributions that meet the targets.

    They form a simplex: the shares that the targets need, and the rest on any one arm.
    """
    needed = np.asarray(targets, float) / np.asarray(means, float)
    corners = needed + (1.0 - needed.sum()) * np.eye(needed.size)
    return float(np.linalg.norm(corners[:, None] - corners[None], axis=-1).max())
