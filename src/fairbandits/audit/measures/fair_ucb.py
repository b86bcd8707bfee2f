"""Words of Fair-Learn: pulls against quotas, regrets, and the bounds of its theorems."""

import math

import numpy as np

from fairbandits.audit import mathematics
from fairbandits.audit.measures import function, measure, measure_of
from fairbandits.audit.measures.common import number
from fairbandits.rationals import rational
from fairbandits.theory import bounds_fair_ucb as bounds


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


@measure(None)
def each_round(rounds):
    """Recorded rounds, shape (n_rounds, 1)."""
    return rounds[:, None]


LEARNING = {"horizon": "each_round", "gaps": "gap"}
THEOREM = {**LEARNING, "quotas": "quota", "tolerance": "alpha"}
measure_of(bounds.r_regret_bound, "rt", "reward", **THEOREM)
measure_of(bounds.regret_bound, "rt", "reward", name="fair_regret_bound", **THEOREM)
measure_of(bounds.ucb1_bound, "rt", "reward", **LEARNING)


@measure("rt", "reward")
def r_regret_bound_clipped(each_round, gap, quota, alpha):
    """Theorem 2's bound on the r-Regret with max(0, r_i t - alpha), as its definition has it."""
    return bounds.r_regret_bound(each_round, gap, quota, alpha, clipped=True)


@measure("")
def ucb1_constant():
    """1 + pi^2 / 3: pulls of an arm that UCB1 makes beyond its logarithm, at most in the mean."""
    return bounds.CONSTANT


# ------------------------------------------------------------- what no recorded run decides


@function("r")
def cheapest_fair(number, *, seed):
    """Numerators of the r-Regret of the best fair counts, of random instances."""
    return mathematics.fair_counts.r_regrets_of_cheapest(number, seed)


@function("r")
def other_fair(number, *, seed):
    """Numerators of the r-Regret of random fair counts."""
    return mathematics.fair_counts.r_regrets_of_others(number, seed)


@function("r")
def worst_learner(statement, arms, largest, span, tolerance, forces=1):
    """Amounts by which a statement on Fair-Learn is broken by the worst learner; for all quotas."""
    found = mathematics.fair_learn_adversary.worst_of_all(
        statement,
        int(number(arms)),
        int(number(largest)),
        span,
        tolerance,
        forces=bool(number(forces)),
    )
    return np.array(found)


@function("r")
def lack_asleep(arms, denominator, tolerance):
    """Least amounts by which every policy breaks its tolerance while an arm sleeps at first."""
    found = mathematics.fair_learn_adversary.asleep_in_all(
        int(number(arms)), int(number(denominator)), tolerance
    )
    return np.array(found)


@function("r")
def steps_broken(proof):
    """1 for each step of a proof about UCB1 or Fair-UCB that does not hold, else 0."""
    return np.array(mathematics.ucb1_proofs.STEPS[proof]())


@function("r")
def quotas_cost(means, quotas, rounds):
    """Whether quotas raise the expected r-Regret of Fair-UCB, at each of the last rounds."""
    return np.array(mathematics.small_runs.raised_by_quotas(means, quotas, int(number(rounds))))


@function("r")
def check_beyond(order, most):
    """Quotas that Fair-Learn's check looks at in a round beyond a "constant" or "linear" number."""
    sizes = range(2, int(number(most)) + 1)
    return np.array(
        [mathematics.small_runs.looked_at(k) - (2 if order == "constant" else k) for k in sizes]
    )


@function("r")
def filled_in_turn(arms, denominator, order):
    """Largest floor(r_i t) - N_i of T-Fair-UCB's first phase by its order, for all quotas."""
    found = mathematics.fair_counts.lacks_while_filling(
        int(number(arms)), int(number(denominator)), order
    )
    return np.array(found)


@function("r")
def paid_while_filling(arms, denominator, rounding):
    """Pulls beyond floor(r_i T) of T-Fair-UCB's first phase, rounded "up" or "down"; all quotas."""
    found = mathematics.fair_counts.paid_while_filling(
        int(number(arms)), int(number(denominator)), rounding
    )
    return np.array(found)
