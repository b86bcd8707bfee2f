"""Measures of Fair-Learn: pulls against quotas, regrets, and the bounds of its theorems."""

import math

import numpy as np

from fairbandits.audit.cells import Cell
from fairbandits.audit.measures import measure
from fairbandits.metrics import pulls

#: What UCB1 costs beyond its logarithm, in units of the sum of gaps.
CONSTANT = 1 + math.pi**2 / 3


@measure("plays", axes="rt", unit="reward")
def regret(cell: Cell) -> np.ndarray:
    """Conventional regret sum_i Delta_i N_i(t)."""
    return cell.column("plays") @ cell.gaps


@measure("plays", axes="rt", unit="reward")
def r_regret(cell: Cell) -> np.ndarray:
    """r-Regret sum_i Delta_i (N_i(t) - max(0, floor(r_i t) - alpha))."""
    free = pulls.entitled(cell.rounds, cell.quotas, cell.tolerance)
    return (cell.column("plays") - free) @ cell.gaps


@measure(axes="ta", unit="pulls")
def learning_pulls(cell: Cell) -> np.ndarray:
    """Pulls 8 ln t / Delta_i^2 that learning needs of an arm; infinite for arms without a gap."""
    needed = np.full((cell.rounds.size, cell.spec.n_arms), np.inf)
    logs = 8 * np.log(cell.rounds)[:, None] * np.ones(cell.spec.n_arms)
    np.divide(logs, cell.gaps**2, out=needed, where=cell.gaps > 0)
    return needed


@measure(axes="ta")
def still_learning(cell: Cell) -> np.ndarray:
    """Whether an arm that is not best is in S(t): r_i t - alpha < 8 ln t / Delta_i^2."""
    forced = cell.shares * cell.rounds[:, None] - float(cell.tolerance)
    return (cell.gaps > 0) & (forced < learning_pulls(cell))


@measure(axes="")
def ucb1_constant(cell: Cell) -> float:
    """1 + pi^2 / 3: pulls of an arm that UCB1 makes beyond its logarithm, at most in the mean."""
    del cell
    return CONSTANT
