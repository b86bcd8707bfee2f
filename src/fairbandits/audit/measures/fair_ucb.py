"""Measures of Fair-Learn: pulls against quotas, regrets, and the bounds of its theorems."""

import math

import numpy as np

from fairbandits.audit import mathematics
from fairbandits.audit.cases import CaseScope
from fairbandits.audit.cells import Cell
from fairbandits.audit.measures import function, measure, recorded
from fairbandits.audit.measures.choices import those
from fairbandits.audit.measures.common import gap, quota
from fairbandits.measures import pulls
from fairbandits.rationals import rational
from fairbandits.theory import bounds_fair_ucb as bounds

recorded(
    crowding_k="arms in the j highest of k classes minus j, the largest so far",
    crowding_k_minus_1="arms in the j highest of k - 1 classes minus j, the largest so far",
    rise_k="by how many of k classes an arm rose without a pull, the most so far",
    rise_k_minus_1="by how many of k - 1 classes an arm rose without a pull, the most so far",
    pulled_excess="numerator of r_i t - N_i - alpha after a pull of the arm, the largest so far",
)


@measure("plays", "mean", axes="rt", unit="reward")
def regret(cell: Cell) -> np.ndarray:
    """Conventional regret sum_i Delta_i N_i(t)."""
    return (cell.column("plays") * gap(cell)).sum(axis=-1)


@measure("plays", "mean", "quota", axes="rt", unit="reward")
def r_regret(cell: Cell) -> np.ndarray:
    """r-Regret sum_i Delta_i (N_i(t) - max(0, floor(r_i t) - alpha))."""
    free = pulls.free(owed(cell), float(cell.tolerance))
    return ((cell.column("plays") - free) * gap(cell)).sum(axis=-1)


@measure("mean", "quota", axes="rt", unit="reward")
def r_regret_most(cell: Cell) -> np.ndarray:
    """Largest possible r-Regret: that of pulling nothing but the worst arm."""
    free = pulls.free(owed(cell), float(cell.tolerance))
    return gap(cell).max(axis=-1) * cell.rounds - (free * gap(cell)).sum(axis=-1)


@measure("quota", axes="rta", unit="pulls")
def owed(cell: Cell) -> np.ndarray:
    """Pulls floor(r_i t) that an arm is owed, exact."""
    numerators, denominator = cell.exact_quotas
    return cell.rounds[:, None] * numerators // denominator


@measure("mean", axes="r", unit="reward")
def gap_sum(cell: Cell) -> np.ndarray:
    """Regret sum_i Delta_i of one pull of each arm."""
    return gap(cell).sum(axis=(1, 2))


@measure(axes="", unit="rounds")
def first_phase(cell: Cell) -> int:
    """Rounds sum of ceil(r_i T) in which T-Fair-UCB fills all quotas."""
    return sum(math.ceil(rational("quotas", one) * cell.horizon) for one in cell.quotas)


@measure("quota", axes="")
def common_denominator(cell: Cell) -> int:
    """Smallest common denominator of quotas and tolerance."""
    return math.lcm(cell.exact_quotas[1], cell.tolerance.denominator)


# ------------------------------------------------------------------------------------- bounds


@measure("mean", axes="rta", unit="pulls")
def learning_pulls(cell: Cell) -> np.ndarray:
    """Pulls 8 ln t / Delta_i^2 that learning needs of an arm; infinite for arms without a gap."""
    return bounds.learning_pulls(cell.rounds[:, None], gap(cell))


def _theorem(cell: Cell) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    return cell.rounds[:, None], gap(cell), quota(cell), float(cell.tolerance)


@measure("mean", "quota", axes="rta")
def still_learning(cell: Cell) -> np.ndarray:
    """Whether an arm that is not best is in S(t): r_i t - alpha < 8 ln t / Delta_i^2."""
    return bounds.still_learning(*_theorem(cell))


@measure("mean", "quota", axes="rt", unit="reward")
def r_regret_bound(cell: Cell) -> np.ndarray:
    """Theorem 2's bound on the r-Regret as printed; without tolerance it is Theorem 8's."""
    return bounds.r_regret_bound(*_theorem(cell))


@measure("mean", "quota", axes="rt", unit="reward")
def r_regret_bound_clipped(cell: Cell) -> np.ndarray:
    """Theorem 2's bound on the r-Regret with max(0, r_i t - alpha), as its definition has it."""
    return bounds.r_regret_bound(*_theorem(cell), clipped=True)


@measure("mean", "quota", axes="rt", unit="reward")
def fair_regret_bound(cell: Cell) -> np.ndarray:
    """Theorem 4's bound on the conventional regret."""
    return bounds.regret_bound(*_theorem(cell))


@measure("mean", axes="rt", unit="reward")
def ucb1_bound(cell: Cell) -> np.ndarray:
    """Theorem 6's bound on the regret of UCB1."""
    return bounds.ucb1_bound(cell.rounds[:, None], gap(cell))


@measure(axes="")
def ucb1_constant(cell: Cell) -> float:
    """1 + pi^2 / 3: pulls of an arm that UCB1 makes beyond its logarithm, at most in the mean."""
    del cell
    return bounds.CONSTANT


# ---------------------------------------------------------------------- rounds and replicates


@function(in_cell=True)
def latest(scope: CaseScope, which: np.ndarray) -> float:
    """Last recorded round at which it holds in any replicate, for any arm."""
    found = those(scope.cell.rounds, which)
    if not found.size:
        raise ValueError("there is no recorded round at which it holds")
    return float(found[-1])


@function()
def greatest(x: np.ndarray) -> np.ndarray:
    """Largest over replicates."""
    return x.max(axis=0, keepdims=True)


# ------------------------------------------------------------- what no recorded run decides


@function(in_cell=True)
def cheapest_fair(scope: CaseScope, number: int) -> np.ndarray:
    """Numerators of the r-Regret of the best fair counts, of random instances."""
    return _each(mathematics.fair_counts.r_regrets_of_cheapest(number, scope.evidence.config.seed))


@function(in_cell=True)
def other_fair(scope: CaseScope, number: int) -> np.ndarray:
    """Numerators of the r-Regret of random fair counts."""
    return _each(mathematics.fair_counts.r_regrets_of_others(number, scope.evidence.config.seed))


def _each(values: list[int]) -> np.ndarray:
    return np.array(values)[:, None, None]


@function(in_cell=True)
def violation_in_doubles(
    scope: CaseScope, rounds: int, means: list[float] | None = None, quota: str = ""
) -> int:
    """Largest floor(r_i t) - N of Fair-UCB with quotas as doubles; the cell's, or all the same."""
    return _in_doubles(scope, rounds, means, quota).violation


@function(in_cell=True)
def other_choice_in_doubles(
    scope: CaseScope, rounds: int, means: list[float] | None = None, quota: str = ""
) -> int:
    """First round in which quotas as doubles make Fair-UCB choose otherwise; 0 if none does."""
    return _in_doubles(scope, rounds, means, quota).differs


def _in_doubles(
    scope: CaseScope, rounds: int, means: list[float] | None, quota: str
) -> "mathematics.plain_fair_learn.FloatRun":
    seed = scope.evidence.config.seed
    if means:
        return mathematics.plain_fair_learn.float_run(
            tuple(means), (quota,) * len(means), rounds, seed
        )
    cell = scope.cell
    quotas = tuple(map(str, cell.quotas))
    return mathematics.plain_fair_learn.float_run(cell.spec.means, quotas, rounds, seed)


@function(in_cell=True)
def violation_asleep(scope: CaseScope, arm: int, until: int, rounds: int) -> int:
    """Largest floor(r_i t) - N of Fair-UCB while an arm sleeps up to a round, after so many."""
    cell = scope.cell
    quotas = [rational("quotas", one) for one in cell.quotas]
    seed = scope.evidence.config.seed
    return mathematics.plain_fair_learn.violation_asleep(
        cell.spec.means, quotas, arm, until, rounds, seed
    )


@function()
def check_operations(arms: int) -> int:
    """Number of operations in Fair-Learn's check of fairness in a round."""
    return mathematics.plain_fair_learn.check_operations(arms)
