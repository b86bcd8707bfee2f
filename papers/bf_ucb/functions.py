"""What several claims of BF-UCB compute from runs, and derivations that they call."""

import numpy as np
from fairbandits.audit.measures.common import numerators
from fairbandits.measures.groups import per_group


def of_groups(run, name):
    """Return a measure at the end, summed over the arms of each group: (replicate, group)."""
    return per_group(run.end(name), run.config.spec.groups)


def arms_of(run, group, values):
    """Return the values of the arms of a group, counted from 0, of values (..., arm)."""
    return np.split(values, np.cumsum(run.config.spec.groups)[:-1], axis=-1)[group]


def of_fair_share(run):
    """Return each arm's share of its group's pulls at the end, divided by its fair share."""
    served = np.repeat(of_groups(run, "plays"), run.config.spec.groups, axis=1)
    return run.end("plays") / served / run["fair_share"]


def uniform_distance(run, group):
    """Return the distance of equal shares within a group from its fair policy."""
    fair = arms_of(run, group, run["fair_share"])
    return np.abs(fair - 1 / fair.shape[1]).sum(axis=1)


def first_near(run, group):
    """Return the first round with at most a quarter of the uniform policy's distance, else T."""
    near = run["distance"][:, :, group] <= 0.25 * uniform_distance(run, group)[:, None]
    return run.rounds[np.where(near.any(axis=1), near.argmax(axis=1), -1)].astype(float)


def largest_shortfall(run):
    """Return the largest shortfall of a group in any round, in whole rounds, of each replicate."""
    return numerators(run.end("group_deficit_sup").max(axis=1))


def group_steps(proof):
    """Return 1 for each step of a derivation on BF-UCB that does not hold, else 0."""
    from fairbandits.theory.derivations.group_regret import PROOFS  # imports SymPy

    return [step() for step in PROOFS[proof]]


def beyond_order(order, power="0"):
    """Return 1 if BF-UCB's regret over an order is unbounded, with delta of order T^-power."""
    from fairbandits.theory.derivations import group_regret

    return group_regret.beyond_order(order, power)
