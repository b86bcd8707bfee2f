"""Measures of Fair-UCB's runs: regrets and bounds; and what its claims share."""

import math

import numpy as np

from fairbandits.audit.measures import measure
from fairbandits.rationals import rational
from fairbandits.theory import bounds


@measure(None)
def alpha(cell):
    """Tolerance."""
    return float(cell.tolerance)


@measure(None)
def free_pulls(owed, alpha):
    """Pulls max(0, floor(r_i t) - alpha) that count for nothing."""
    return np.maximum(0.0, owed - alpha)


@measure("rt")
def r_regret(plays, gap, free_pulls):
    """r-Regret sum_i Delta_i (N_i(t) - max(0, floor(r_i t) - alpha))."""
    return ((plays - free_pulls) * gap).sum(axis=-1)


@measure("rt")
def r_regret_most(rounds, gap, free_pulls):
    """Largest possible r-Regret: that of pulling only the worst arm."""
    return gap.max(axis=-1) * rounds - (free_pulls * gap).sum(axis=-1)


@measure("r")
def gap_sum(gap):
    """Regret sum_i Delta_i of one pull of each arm."""
    return gap.sum(axis=(1, 2))


@measure("")
def first_phase(horizon, quotas):
    """Rounds in which T-Fair-UCB fills all quotas: the sum of ceil(r_i T)."""
    return sum(math.ceil(rational("quotas", quota) * horizon) for quota in quotas)


measure("rt")(bounds.r_regret_bound)
measure("rt", name="r_regret_bound_clipped", clipped=True)(bounds.r_regret_bound)
measure("rt")(bounds.fair_regret_bound)


def most_missed(run):
    """Most pulls by which any arm was below its quota in whole pulls, in any round up to T."""
    return run.end("floor_deficit_sup").max(axis=1)


def over(runs, tolerances, measure):
    """Values at T of the run with each tolerance, as (replicate, tolerance), then arms."""
    return np.stack([runs(tolerance=alpha).end(measure) for alpha in tolerances], axis=1)
