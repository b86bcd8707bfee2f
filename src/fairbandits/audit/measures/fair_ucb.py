"""Words of Fair-Learn: bounds of its theorems; what counting shows, in common numerators."""

import math

import numpy as np

from fairbandits.audit.measures import function, measure
from fairbandits.rationals import rational
from fairbandits.theory import bounds, fair_learn_adversary, fair_learn_counts


@measure("rt", "reward")
def regret(plays, gap):
    """Conventional regret sum_i Delta_i N_i(t)."""
    return (plays * gap).sum(axis=-1)


@measure("rta", "pulls")
def owed(rounds, exact_quotas):
    """Quota of an arm in pulls, floor(r_i t), exact."""
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
    """Largest possible r-Regret: that of pulling only the worst arm."""
    return gap.max(axis=-1) * rounds - (free_pulls * gap).sum(axis=-1)


@measure("r", "reward")
def gap_sum(gap):
    """Regret sum_i Delta_i of one pull of each arm."""
    return gap.sum(axis=(1, 2))


@measure("", "rounds")
def first_phase(horizon, quotas):
    """Rounds in which T-Fair-UCB fills all quotas: the sum of ceil(r_i T)."""
    return sum(math.ceil(rational("quotas", one) * horizon) for one in quotas)


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
    """1 + pi^2 / 3: bound on the mean pulls of an arm by UCB1 beyond the logarithm."""
    return bounds.CONSTANT


@function("r")
def steps_broken(proof):
    """1 for each step of a proof about UCB1 or Fair-UCB that does not hold, else 0."""
    from fairbandits.theory.derivations import ucb1_proofs

    return [step() for step in ucb1_proofs.PROOFS[proof]]


function("r")(fair_learn_adversary.worst_learner)
function("r")(fair_learn_adversary.lack_asleep)
function()(fair_learn_counts.keeps_quotas)
function("r")(fair_learn_counts.fair_learn_violations)
function("r")(fair_learn_counts.cheapest_fair)
function("r")(fair_learn_counts.other_fair)
function("r")(fair_learn_counts.filled_in_turn)
function("r")(fair_learn_counts.paid_while_filling)
function("r")(fair_learn_counts.quotas_cost)
function("r")(fair_learn_counts.check_beyond)
