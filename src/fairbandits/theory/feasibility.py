"""BanditQ's feasible set: targets that can be met, their best reward, the set's size."""

import numpy as np

from fairbandits.checks import load
from fairbandits.theory.draws import generator

#: Number of instances solved as one linear programme.
BATCH = 50
#: Tolerance of the linear programmes, finer than that of the comparison.
FINE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def diameter(means, targets):
    """Largest distance between two distributions that meet the targets."""
    needed = targets.ravel() / means.ravel()
    corners = needed + (1.0 - needed.sum()) * np.eye(needed.size)
    return float(np.linalg.norm(corners[:, None] - corners[None], axis=-1).max())


def released_benchmark(means, targets):
    """Benchmark distribution of the released program."""
    distribution = targets.ravel() / means.ravel()
    best = int(means.argmax())
    if distribution[best] == 0:
        distribution[best] = 1.0 - distribution.sum()
    return distribution


def feasibility_disagreements(number, fewest, most, low, high, close, seed):
    """1 where linear programme and sum target / mean disagree on feasibility, of random instances.

    Both methods must put an instance beyond `close` of the border.
    """
    made = random_instances(number, fewest, most, low, high, seed)
    return np.concatenate([disagreements(*pair, close) for pair in made]).astype(int)


def released_losses(number, fewest, most, low, high, seed):
    """Distance of the released program's reward from the best, of instances with a free best arm.

    Instances are random.
    """
    losses = []
    for means, targets in random_instances(number, fewest, most, low, high, seed, best=False):
        pairs = zip(means, targets, strict=True)
        program = [released_benchmark(mu, goals) @ mu for mu, goals in pairs]
        losses.append(np.abs(largest_reward(means, targets) - program))
    return np.concatenate(losses)


def random_instances(number, fewest, most, low, high, seed, *, best=True):
    """Yield means and targets, shape (n_instances, n_arms), as many for each number of arms."""
    rng, sizes = generator(seed), range(fewest, most + 1)
    parts = reversed(np.array_split(range(number), len(sizes)))  # the shorter ones first
    for n_arms, part in zip(sizes, parts, strict=True):
        for start in range(0, len(part), BATCH):
            size = len(part[start : start + BATCH])
            means = rng.uniform(0.05, 1.0, (size, n_arms))
            shares = rng.uniform(0.0, 1.0, (size, n_arms))
            if not best:
                np.put_along_axis(shares, means.argmax(axis=1, keepdims=True), 0.0, axis=1)
            total = rng.uniform(low, high, (size, 1))
            yield means, means * shares / shares.sum(axis=1, keepdims=True) * total


def disagreements(means, targets, close):
    """Return where both methods disagree, except where both are within `close` of the border."""
    slack = least_slack(means, targets)
    loads = np.array([load(*pair) for pair in zip(means, targets, strict=True)])
    clear = (np.abs(slack) > close) | (np.abs(loads - 1) > close)
    return clear & ((slack <= 0) != (loads <= 1))


def least_slack(means, targets):
    """Return min over distributions x of max_i (lambda_i - mu_i x_i); below 0 if there is room."""
    size, n_arms = means.shape
    lowered = np.kron(np.eye(size), np.ones((n_arms, 1)))
    costs = np.repeat([0.0, 1.0], [means.size, size])
    bounds = [(0, None)] * means.size + [(None, None)] * size
    return _solved(means, targets, costs, lowered, bounds)[means.size :]


def largest_reward(means, targets):
    """Return each instance's largest mean reward of a distribution that meets the targets."""
    best = _solved(means, targets, -means.ravel(), np.empty((means.size, 0)), (0, None))
    return (best.reshape(means.shape) * means).sum(axis=1)


def _solved(means, targets, costs, more, bounds):
    """Return distributions with reward and columns `more` of at least the targets, least costly."""
    from scipy import optimize, sparse

    size, n_arms = means.shape
    sums = sparse.kron(sparse.eye_array(size), np.ones((1, n_arms)))
    solution = optimize.linprog(
        costs,
        A_ub=-sparse.hstack([sparse.diags_array(means.ravel()), sparse.csr_array(more)]).tocsr(),
        b_ub=-targets.ravel(),
        A_eq=sparse.hstack([sums, sparse.csr_array((size, more.shape[1]))]).tocsr(),
        b_eq=np.ones(size),
        bounds=bounds,
        method="highs-ds",
        options=FINE,
    )
    if solution.status != 0:
        raise RuntimeError(f"the linear programme was not solved: {solution.message}")
    return solution.x
