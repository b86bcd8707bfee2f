"""Estimators of what is said of BanditQ's setup, feasible set and digits, which need no run."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import optimize, sparse

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    arm,
    digits,
    generator,
    published,
    published_experiment,
    read_off,
)
from fairbandits.audit.evidence import Evidence
from fairbandits.experiments.config import Experiment
from fairbandits.optima.static import load

#: Random instances, and how many are solved as one linear programme.
INSTANCES = 10_000
BATCH = 50
#: Numbers of arms.
ARMS = range(2, 21)
#: From which difference on linear programme and sum disagree.
CLOSE = 1e-9
#: Of the linear programmes: finer than what they are compared with.
FINE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

# ----------------------------------------------------------------------------- linear programmes

#: Of instances with the same number of arms: means and targets, shape (n_instances, n_arms).
Instances = tuple[np.ndarray, np.ndarray]


def random_instances(
    rng: np.random.Generator, low: float, high: float, *, best: bool = True
) -> Iterator[Instances]:
    """Yield 10^4 random instances in batches, of evenly many for each number of arms.

    Parameters
    ----------
    rng : numpy.random.Generator
        What they are drawn from.
    low, high : float
        Range of the sum of target / mean.
    best : bool
        Whether the arm of the largest mean may have a target.
    """
    left = INSTANCES
    for done, n_arms in enumerate(ARMS):
        of_this = left // (len(ARMS) - done)
        left -= of_this
        for start in range(0, of_this, BATCH):
            size = min(BATCH, of_this - start)
            means = rng.uniform(0.05, 1.0, (size, n_arms))
            shares = rng.uniform(0.0, 1.0, (size, n_arms))
            if not best:
                np.put_along_axis(shares, means.argmax(axis=1, keepdims=True), 0.0, axis=1)
            total = rng.uniform(low, high, (size, 1))
            yield means, means * shares / shares.sum(axis=1, keepdims=True) * total


def least_slack(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return how much every target must be lowered, at least, to be feasible; below 0 for room.

    It is min over distributions x of max_i (lambda_i - mu_i x_i), solved for all instances as one
    linear programme, whose parts do not touch.
    """
    size, n_arms = means.shape
    one_each = sparse.eye_array(size)
    reward = sparse.diags_array(-means.ravel())
    lowered = -sparse.kron(one_each, np.ones((n_arms, 1)))
    found = optimize.linprog(
        np.repeat([0.0, 1.0], [means.size, size]),
        A_ub=sparse.hstack([reward, lowered]).tocsr(),
        b_ub=-targets.ravel(),
        A_eq=sparse.hstack([_sums(size, n_arms), sparse.csr_array((size, size))]).tocsr(),
        b_eq=np.ones(size),
        bounds=[(0, None)] * means.size + [(None, None)] * size,
        method="highs-ds",
        options=FINE,
    )
    return _solved(found)[means.size :]


def largest_reward(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the largest mean reward of a distribution that meets the targets, of each instance."""
    size, n_arms = means.shape
    found = optimize.linprog(
        -means.ravel(),
        A_ub=sparse.diags_array(-means.ravel()).tocsr(),
        b_ub=-targets.ravel(),
        A_eq=_sums(size, n_arms),
        b_eq=np.ones(size),
        method="highs-ds",
        options=FINE,
    )
    return (_solved(found).reshape(means.shape) * means).sum(axis=1)


def _sums(size: int, n_arms: int) -> sparse.csr_array:
    return sparse.kron(sparse.eye_array(size), np.ones((1, n_arms))).tocsr()


def _solved(found: optimize.OptimizeResult) -> np.ndarray:
    if found.status != 0:
        raise RuntimeError(f"the linear programme was not solved: {found.message}")
    return found.x


@estimates("banditq-eq2-feasibility", "agrees")
def feasibility_agrees(evidence: Evidence) -> Iterator[Question]:
    """Yield where a linear programme and the sum of target / mean disagree on feasibility."""
    disagree = []
    for means, targets in random_instances(generator("banditq-eq2-feasibility"), 0.5, 1.5):
        slack = least_slack(means, targets)
        loads = np.array([load(*one) for one in zip(means, targets, strict=True)])
        clear = (np.abs(slack) > CLOSE) | (np.abs(loads - 1) > CLOSE)
        disagree.append(clear & ((slack <= 0) != (loads <= 1)))
    yield Question({"excess": np.concatenate(disagree).astype(int)})


def released_distribution(means: Sequence[float], targets: Sequence[float]) -> np.ndarray:
    """Return the benchmark of the released program.

    Every arm has target / mean; what is left goes to the best one if it has no target.
    """
    means, targets = np.asarray(means, float), np.asarray(targets, float)
    distribution = targets / means
    best = int(means.argmax())
    if distribution[best] == 0:
        distribution[best] = 1.0 - distribution.sum()
    return distribution


@estimates("banditq-inconsistency-24", "same_maximiser")
def same_maximiser(evidence: Evidence) -> Iterator[Question]:
    """Yield the largest feasible reward beside that of the program's distribution."""
    apart = []
    rng = generator("banditq-inconsistency-24")
    for means, targets in random_instances(rng, 0.0, 1.0, best=False):
        program = [released_distribution(*one) @ one[0] for one in zip(means, targets, strict=True)]
        apart.append(np.abs(largest_reward(means, targets) - program))
    yield Question({"excess": np.concatenate(apart)})


@estimates("banditq-inconsistency-10", "sums_to_one")
def sums_to_one(evidence: Evidence) -> Iterator[Question]:
    """Yield how far from 1 the program's benchmark sums when the best arm has a target."""
    arms = digits(evidence)["code4"]
    best = int(np.argmax(arms.means))
    targets = np.array(arms.targets)
    targets[best] = arms.means[best] / 10
    yield Question({"excess": [abs(1.0 - released_distribution(arms.means, targets).sum())]})


def diameter(means: Sequence[float], targets: Sequence[float]) -> float:
    """Return the largest distance of two distributions that meet the targets.

    Their set is a simplex: what the targets need, and the rest on any one arm.
    """
    needed = np.asarray(targets, float) / np.asarray(means, float)
    corners = needed + (1.0 - needed.sum()) * np.eye(needed.size)
    return float(np.linalg.norm(corners[:, None] - corners[None], axis=-1).max())


@estimates("banditq-sec2-diameter", "five_arms")
def diameter_of_five(evidence: Evidence) -> Iterator[Question]:
    """Yield the diameter on the paper's instance."""
    arms = digits(evidence)["code4"]
    yield Question({"value": diameter(arms.means, arms.targets), "printed": "1.414"})


# -------------------------------------------------------------------------------------- numbers


@estimates("banditq-setup-v1414", "printed")
def weight(evidence: Evidence) -> Iterator[Question]:
    """Yield V."""
    yield Question({"value": math.sqrt(published_experiment(evidence).horizon), "printed": "1414"})


@estimates("banditq-setup-feasible", "below_one")
def feasible(evidence: Evidence) -> Iterator[Question]:
    """Yield by how much the sum of target / mean exceeds 1."""
    for reading, arms in digits(evidence).items():
        yield Question({"excess": [load(arms.means, arms.targets) - 1.0]}, reading=reading)


@estimates("banditq-setup-best-arm4", "index")
def best_arm(evidence: Evidence) -> Iterator[Question]:
    """Yield the number of the best arm."""
    for reading, arms in digits(evidence).items():
        best = int(np.argmax(arms.means)) + 1
        yield Question({"value": best, "printed": "4"}, reading=reading)


def fraction(test: str, printed: str) -> Callable[[Callable[[Experiment], float]], Callable]:
    """Register what the oracle's fraction of an arm is."""

    def register(value: Callable[[Experiment], float]) -> Callable[[Experiment], float]:
        def estimator(evidence: Evidence) -> Iterator[Question]:
            for reading, arms in digits(evidence).items():
                yield Question({"value": value(arms), "printed": printed}, reading=reading)

        estimates("banditq-setup-fractions", test)(estimator)
        return value

    return register


@fraction("first", "0.500")
def first_fraction(arms: Experiment) -> float:
    """Return lambda_1 / mu_1."""
    return arms.targets[0] / arms.means[0]


@fraction("second", "0.333")
def second_fraction(arms: Experiment) -> float:
    """Return lambda_2 / mu_2."""
    return arms.targets[1] / arms.means[1]


@fraction("rest", "0.167")
def rest(arms: Experiment) -> float:
    """Return what the targets leave."""
    return 1.0 - load(arms.means, arms.targets)


@estimates("banditq-inconsistency-03", "digits")
def printed_digits(evidence: Evidence) -> Iterator[Question]:
    """Yield the program's means and targets beside the printed ones."""
    released, paper = (digits(evidence)[name] for name in ("code4", "paper3"))
    for k, (value, printed) in enumerate(zip(released.means, paper.means, strict=True)):
        yield Question({"value": value, "printed": f"{printed:.3f}"}, f"mean of {arm(k)}")
    for k, (value, printed) in enumerate(zip(released.targets, paper.targets, strict=True)):
        if printed:
            yield Question({"value": value, "printed": f"{printed:.3f}"}, f"target of {arm(k)}")


@estimates("banditq-inconsistency-20", "one_run")
def one_run(evidence: Evidence) -> Iterator[Question]:
    """Yield how far Fig. 5's last queue is from what Fig. 4's last rate implies for arm 2."""
    horizon = published()["figures"]["fig4"]["horizon"]
    target = published()["drawn_targets"]["value"]["arm 2"]
    implied = (target - read_off("fig4", "arm 2", "value")) * horizon
    apart = abs(implied - read_off("fig5", "arm 2", "value"))
    yield Question({"excess": [apart], "scale": 1.0})


# ------------------------------------------------------------------------------ Fair-Learn's range

#: The oracle's fractions as whole numbers over a denominator.
FRACTIONS, DENOMINATOR = (3, 2, 0, 1, 0), 6
CHECKED_ROUNDS = 1000


def keeps_quotas(learner: Callable[[list[int]], int]) -> bool:
    """Return whether Fair-Learn with this learner keeps the fractions in every round checked.

    It pulls the arm that is furthest behind, the lowest on ties, if one is behind, else what the
    learner says. Quotas that sum to 1 are beyond what `fairbandits.FairLearn` accepts.

    Parameters
    ----------
    learner : callable
        Deficits before the round, over the denominator -> arm, 0-based.
    """
    pulls = [0] * len(FRACTIONS)
    for t in range(1, CHECKED_ROUNDS + 1):
        behind = [f * (t - 1) - DENOMINATOR * n for f, n in zip(FRACTIONS, pulls, strict=True)]
        worst = max(behind)
        pulls[behind.index(worst) if worst > 0 else learner(behind)] += 1
        floors = [f * t // DENOMINATOR for f in FRACTIONS]
        if any(due > n for due, n in zip(floors, pulls, strict=True)):
            return False
    return True


def patil(test: str, learner: Callable[[list[int]], int]) -> None:
    """Register the question whether Fair-Learn with a learner keeps the quotas."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        yield Question({"excess": [int(keeps_quotas(learner))]})

    estimates("banditq-patil-not-applicable", test)(estimator)


patil("last_arm", lambda behind: len(behind) - 1)
patil("first_arm", lambda behind: 0)
patil("smallest_deficit", lambda behind: behind.index(min(behind)))
