"""Words of Fair-Learn: pulls against quotas, regrets, and the bounds of its theorems."""

import math

import numpy as np

from fairbandits.audit import mathematics
from fairbandits.audit.measures import function, measure
from fairbandits.rationals import rational
from fairbandits.theory import bounds


@measure("rt", "reward")
def regret(plays, gap):
    """Conventional regret sum_i Delta_i N_i(t)."""
    return (plays * gap).sum(axis=-1)


@measure("rta", "pulls")
def owed(rounds, exact_quotas):
    """Pulls floor(r_i t) that an arm is owed, exact."""
    numerators, denominator = exact_quotas
    return rounds[:, None] * numerators // denominator


@measure(None)
def alpha(cell):
    """Tolerance."""
    return float(cell.tolerance)


@measure(None)
def free_pulls(owed, alpha):
    """Pulls max(0, floor(r_i t) - alpha) that count for nothing."""
    return np.maximum(0.0, owed - alpha)


@measure("rt", "reward")
def r_regret(plays, gap, free_pulls):
    """r-Regret sum_i Delta_i (N_i(t) - max(0, floor(r_i t) - alpha))."""
    return ((plays - free_pulls) * gap).sum(axis=-1)


@measure("rt", "reward")
def r_regret_most(rounds, gap, free_pulls):
    """Largest possible r-Regret: that of pulling nothing but the worst arm."""
    return gap.max(axis=-1) * rounds - (free_pulls * gap).sum(axis=-1)


@measure("r", "reward")
def gap_sum(gap):
    """Regret sum_i Delta_i of one pull of each arm."""
    return gap.sum(axis=(1, 2))


@measure("", "rounds")
def first_phase(horizon, quotas):
    """Rounds sum of ceil(r_i T) in which T-Fair-UCB fills all quotas."""
    return sum(math.ceil(rational("quotas", one) * horizon) for one in quotas)


# ------------------------------------------------------------------------------------- bounds


measure("rt", "reward")(bounds.r_regret_bound)
measure(
    *("rt", "reward"),
    name="r_regret_bound_clipped",
    what="Theorem 2's bound on the r-Regret with max(0, r_i t - alpha), as its definition has it.",
    clipped=True,
)(bounds.r_regret_bound)
measure("rt", "reward")(bounds.fair_regret_bound)
measure("rt", "reward")(bounds.ucb1_bound)


@measure("")
def ucb1_constant():
    """1 + pi^2 / 3: pulls of an arm that UCB1 makes beyond its logarithm, at most in the mean."""
    return bounds.CONSTANT


@function("r")
def steps_broken(proof):
    """1 for each step of a proof about UCB1 or Fair-UCB that does not hold, else 0."""
    return mathematics.derivations.check(mathematics.ucb1_proofs.PROOFS[proof])
