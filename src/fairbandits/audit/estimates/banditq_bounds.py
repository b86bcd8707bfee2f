"""Estimators of BanditQ's bounds with explicit constants.

Limits are functions of the number of arms N, the weight V and the round t, which may be an array.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    FIVE_ARMS,
    Cell,
    arm,
    average_regret,
    first_law,
    regret_at_end,
    words,
)
from fairbandits.audit.evidence import Evidence

#: N, V, t -> the claimed bound.
Limit = Callable[[int, float, np.ndarray | float], np.ndarray | float]

# --------------------------------------------------------------------------------------- limits


def average_limit(n_arms: int, penalty: float, t: float) -> float:
    """Return 5 t / V + 2 sqrt(2 N t), of the average regret and, in the UAI version, the regret."""
    return 5 * t / penalty + 2 * np.sqrt(2 * n_arms * t)


def average_limit_printed(n_arms: int, penalty: float, t: float) -> float:
    """Return 3 t / V + 2 sqrt(2 N t), as the UAI version prints it."""
    return 3 * t / penalty + 2 * np.sqrt(2 * n_arms * t)


def moment_limit(n_arms: int, penalty: float, t: float) -> float:
    """Return 2 (V + 1) t + 4 sqrt(2 sum_i sum_{s <= t} s^2) + 4 V sqrt(2 N t), of E Q^2."""
    squares = n_arms * t * (t + 1) * (2 * t + 1) / 6
    return 2 * (penalty + 1) * t + 4 * np.sqrt(2 * squares) + 4 * penalty * np.sqrt(2 * n_arms * t)


def regret_limit(n_arms: int, penalty: float, t: float) -> float:
    """Return the explicit bound of the regret that follows from Eq. 14."""
    inside = 2 * (penalty + 1) * t**2 + 4 * math.sqrt(2 * n_arms) * penalty * t**1.5
    root = (4 * math.sqrt(2) * t + np.sqrt(32 * t**2 + 4 * inside)) / 2
    return (2 * t + 4 * math.sqrt(2) * root + 4 * penalty * np.sqrt(2 * n_arms * t)) / (2 * penalty)


def squares_limit(n_arms: int, penalty: float, t: float) -> float:
    """Return 64 N t, of E Q^2 with V = 0."""
    return 64.0 * n_arms * t


def queue_limit(n_arms: int, penalty: float, t: float) -> float:
    """Return 8 sqrt(N t), of E Q with V = 0."""
    return 8 * np.sqrt(n_arms * t)


def sharper_limit(n_arms: int, penalty: float, t: float) -> float:
    """Return 39.9 t, of E Q^2 with V = 0 and the printed step."""
    return 39.9 * t


def violation_limit(n_arms: int, penalty: float, t: float) -> float:
    """Return 6 sqrt(t), of the violation with V = 0."""
    return 6 * np.sqrt(t)


def limit_at(cell: Cell, limit: Limit, t: np.ndarray | float) -> np.ndarray | float:
    """Return a limit with the cell's N and V."""
    return limit(cell.means.size, cell.penalty, np.asarray(t, float))


# ------------------------------------------------------------------------------------- at the end


def at_end(
    claim: str, test: str, columns: Sequence[str], statistic: Callable, limit: Limit
) -> None:
    """Register a bound at T on each instance, full information."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for cell in Cell.of(evidence, "suite_full_hundred", columns):
            bound = float(limit_at(cell, limit, cell.horizon))
            yield Question({"sample": statistic(cell), "limit": bound}, words(cell))

    estimates(claim, test)(estimator)


at_end("banditq-abs-avg-regret-sqrt", "explicit", ["plays_sum"], average_regret, average_limit)
at_end("banditq-prop4-average", "explicit", ["plays_sum"], average_regret, average_limit)
at_end(
    "banditq-prop4-average", "explicit_uai", ["plays_sum"], average_regret, average_limit_printed
)
at_end("banditq-prop3-regret", "explicit", ["plays"], regret_at_end, regret_limit)


@estimates("banditq-prop5-disregards-reward", "linear")
def linear_without_penalty(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret per round with V = 0 on the paper's instance."""
    cell = first_law(
        cell
        for cell in Cell.of(evidence, "no_penalty_full", ["plays"])
        if cell.instance == FIVE_ARMS
    )
    data = {"sample": regret_at_end(cell) / cell.horizon, "limit": 0.01}
    yield Question(data, words(cell))


# ---------------------------------------------------------------------------- at recorded rounds


def band(cell: Cell, curves: np.ndarray, limit: Limit) -> dict[str, np.ndarray]:
    """Return curves at all recorded rounds, which are log-spaced, and their limits."""
    return {"samples": curves, "limits": limit_at(cell, limit, cell.rounds)}


def on_protected_arms(
    claim: str,
    test: str,
    suite: str,
    column: str,
    curve: Callable[[Cell, int], np.ndarray],
    limit: Limit,
) -> None:
    """Register a bound at all rounds for each protected arm on each instance."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for cell in Cell.of(evidence, suite, [column]):
            for k in cell.protected:
                data = band(cell, curve(cell, k), limit)
                yield Question(data, f"{words(cell)}, {arm(k)}")

    estimates(claim, test)(estimator)


def queue(cell: Cell, k: int) -> np.ndarray:
    """Return an arm's queue, shape (n_replicates, n_rounds)."""
    return cell.values["queue"][:, :, k]


def squared_queue(cell: Cell, k: int) -> np.ndarray:
    """Return an arm's squared queue, shape (n_replicates, n_rounds)."""
    return queue(cell, k) ** 2


def missing(cell: Cell, k: int) -> np.ndarray:
    """Return what an arm misses of its target, shape (n_replicates, n_rounds)."""
    return cell.missing[:, :, k]


for_queues = partial(on_protected_arms, column="queue")
for_queues(
    "banditq-prop1-moment",
    "explicit",
    "suite_full_hundred",
    curve=squared_queue,
    limit=moment_limit,
)
for name, curve, limit in (
    ("squares", squared_queue, squares_limit),
    ("queues", queue, queue_limit),
    ("sharper", squared_queue, sharper_limit),
):
    for_queues("banditq-prop5-v0", name, "no_penalty_full", curve=curve, limit=limit)
on_protected_arms(
    "banditq-u-prop3", "explicit", "no_penalty_full", "reward", missing, violation_limit
)


@estimates("banditq-u-thm3", "explicit")
def regret_in_rounds(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret at all recorded rounds, and its bound."""
    for cell in Cell.of(evidence, "suite_full_hundred", ["plays"]):
        yield Question(band(cell, cell.regret, average_limit), words(cell))


def self_bounding_excess(cell: Cell) -> np.ndarray:
    """Return left less right side of Eq. 14, shape (n_replicates, n_rounds).

    The root of an expectation on the right is linearised at the mean over replicates, which makes
    the mean of what is returned the difference at that mean.
    """
    rounds, n_arms, penalty = cell.rounds, cell.means.size, cell.penalty
    left = (cell.values["queue"] ** 2).sum(axis=-1) + 2 * penalty * cell.regret
    so_far = cell.values["squares"].sum(axis=-1)
    middle = so_far.mean(axis=0)
    root = np.sqrt(middle)
    # where every queue was empty so far there is nothing to linearise
    slope = np.divide(0.5, root, out=np.zeros_like(root), where=root > 0)
    root_of_mean = root + (so_far - middle) * slope
    return (
        left
        - 2 * rounds
        - 4 * penalty * np.sqrt(2 * n_arms * rounds)
        - 4 * math.sqrt(2) * root_of_mean
    )


@estimates("banditq-eq14", "all_rounds")
def self_bounding(evidence: Evidence) -> Iterator[Question]:
    """Yield left less right side of Eq. 14 at all recorded rounds."""
    for cell in Cell.of(evidence, "suite_full_hundred", ["plays", "queue", "squares"]):
        excess = self_bounding_excess(cell)
        data = {"samples": excess, "limits": np.zeros(cell.rounds.size)}
        yield Question(data, words(cell), "step_printed")


# --------------------------------------------------------------------------- bandit feedback


def learner_limit(cell: Cell) -> np.ndarray:
    """Return Theorem 2's bound with the surrogate rewards of each replicate, (n_replicates,).

    It is (2 + log(1 + S_inf)) (1 + sqrt(2 N L_2) + 2 L_inf sqrt(N T)), L_2 the sum of the squared
    norms, L_inf the largest surrogate reward, S_inf the largest sum of any arm's.
    """
    sums, squares, largest = (
        cell.values[name][:, -1] for name in ("gain_sum", "gain_squares", "gain_max")
    )
    n_arms = cell.means.size
    size = 1 + np.sqrt(2 * n_arms * squares.sum(axis=-1))
    size += 2 * largest.max(axis=-1) * math.sqrt(n_arms * cell.horizon)
    return (2 + np.log(1 + np.abs(sums).max(axis=-1))) * size


def learner_excess(cell: Cell) -> np.ndarray:
    """Return the regret against the surrogate rewards less its bound, shape (n_replicates,)."""
    return cell.values["surrogate_regret"][:, -1, 0] - learner_limit(cell)


def queues_excess(cell: Cell) -> np.ndarray:
    """Return squared queues and 2 V regret less 2 T and twice Theorem 2's bound (Eq. 19)."""
    left = (cell.values["queue"][:, -1] ** 2).sum(axis=-1)
    left = left + 2 * cell.penalty * regret_at_end(cell)
    return left - 2 * cell.horizon - 2 * learner_limit(cell)


def for_learner(claim: str, columns: Sequence[str], excess: Callable[[Cell], np.ndarray]) -> None:
    """Register a bound in the surrogate rewards on each instance, at each T, by queue index."""
    columns = [*columns, "gain_sum", "gain_squares", "gain_max"]

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for cell in Cell.of(evidence, "surrogate_bound_bandit", columns):
            each = f"{words(cell)}, T = {cell.horizon}"
            yield Question({"sample": excess(cell), "limit": 0.0}, each, cell.run.policy)

    estimates(claim, "explicit")(estimator)


for_learner("banditq-thm2-scalefree", ["surrogate_regret"], learner_excess)
for_learner("banditq-eq19", ["plays", "queue"], queues_excess)
