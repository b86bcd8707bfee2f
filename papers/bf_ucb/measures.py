"""Measures of arms in groups, in place of arms values of groups; and what the claims share."""

import numpy as np

from fairbandits.audit.measures import measure
from fairbandits.claims import numerators
from fairbandits.measures import groups as metrics
from fairbandits.measures.groups import per_group
from fairbandits.measures.pulls import pseudo_reward
from fairbandits.rationals import rational
from fairbandits.theory import bounds


@measure(None)
def groups(spec):
    """Sizes of the groups."""
    return spec.groups


@measure(None)
def group_quotas(cell, groups):
    """Required fractions of rounds of the groups, as configured; 0 for a policy without."""
    return list(cell.parameters.get("quotas") or [0] * len(groups))


@measure(None)
def merit(cell):
    """Name of the merit function."""
    return cell.parameters.get("merit", "power")


@measure(None)
def merit_parameter(cell):
    """Parameter of the merit function."""
    return float(cell.parameters.get("merit_parameter", 1.0))


@measure("")
def beta(group_quotas):
    """Quota beta_g of the first group, a fraction of the rounds; 0 without quotas."""
    return float(rational("quotas", group_quotas[0]))


@measure("a")
def group_size(groups):
    """Number k_g of arms of each group."""
    return np.array(groups)


@measure(None)
def ends_of_means(cell):
    """Lowest and highest mean that each arm can have."""
    if cell.spec.drawn_means:
        return cell.spec.ranges
    return list(cell.means), list(cell.means)


@measure("a")
def least_mean(groups, ends_of_means):
    """Smallest mean that an arm of each group can have: gamma_1 of f(mu) = mu."""
    start = np.concatenate([[0], np.cumsum(groups)[:-1]])
    return np.minimum.reduceat(np.array(ends_of_means[0], float), start)


measure("ra", name="fair_share", merit="merit", c="merit_parameter")(metrics.fair_policy)
measure("ra", merit="merit", c="merit_parameter")(metrics.group_values)


@measure("ra")
def group_gap(group_values):
    """Gap Delta_g of each group to the best group."""
    return group_values.max(axis=1, keepdims=True) - group_values


@measure(None)
def in_groups(groups, group_quotas, merit, merit_parameter):
    """Groups, their quotas, and the merit function."""
    return groups, group_quotas, merit, merit_parameter


@measure("rt")
def reward_regret(rounds, probability, means, in_groups):
    """Reward regret R*_beta(t) - sum_i mu_i P_i(t), P_i the summed probabilities."""
    return metrics.group_regret(rounds, probability, means, *in_groups)


@measure("rt")
def between_regret(rounds, plays, means, in_groups):
    """First part of Theorem 4: sum_g (N_g(t) - floor(beta_g t)) Delta_g."""
    return metrics.decomposition(rounds, plays, plays, means, *in_groups)[0]


@measure("rt")
def within_regret(rounds, plays, probability, means, in_groups):
    """Second part of Theorem 4: the cost of the policies within the groups."""
    return metrics.decomposition(rounds, plays, probability, means, *in_groups)[1]


@measure("rt")
def most_between_regret(rounds, group_quotas, group_gap):
    """Largest possible first part: all rounds beyond the quotas are of the worst group."""
    free = rounds - metrics.owed(rounds, group_quotas).sum(axis=1)
    return group_gap.max(axis=1)[:, None] * free


@measure("rt")
def notebook_regret(rounds, reward, initial_reward, means, groups, group_quotas):
    """Regret as the authors' notebook counts it, from the rewards after the initial rounds."""
    return metrics.released_regret(rounds, reward, initial_reward, means, groups, group_quotas)


@measure("rt")
def reward_after_start(plays, means, initial_plays):
    """Expected reward sum_i mu_i N_i of the pulls after the initial rounds."""
    return pseudo_reward(plays, means, initial_plays)


measure("rta", name="distance", policy="share", merit="merit", c="merit_parameter")(
    metrics.policy_distance
)


@measure(None)
def delta(cell):
    """Chance of an error that the policy allows."""
    given = cell.parameters.get("delta", 0.01)
    return min(0.5, cell.horizon**-0.5) if given is None else float(given)


@measure(None)
def served(plays, groups):
    """Rounds in which each group was served."""
    return metrics.per_group(plays, groups)


@measure("rt")
def group_bound(
    rounds, served, group_size, group_gap, group_quotas, delta, ends_of_means, clipped=False
):
    """Lemma 5's bound on the first part of the regret, as printed."""
    ratio = max(ends_of_means[1]) / min(ends_of_means[0])
    betas = [float(rational("quotas", quota)) for quota in group_quotas]
    given = rounds, served, group_size, group_gap[:, None], betas, delta, ratio
    return bounds.group_bound(*given, clipped=clipped)


measure("rt", name="group_bound_clipped", clipped=True)(group_bound)
measure("rt")(bounds.within_bound)


@measure("rt")
def fluid_regret(served, means, groups, delta, which=0):
    """Second part of Theorem 4 by the fluid equation, for the rounds that each group had."""
    from fairbandits.theory.derivations.group_regret import fluid

    ends = np.cumsum(groups)
    each = np.broadcast_to(means, (len(served), ends[-1]))
    totals = np.zeros(served.shape[:2])
    for r, of_replicate in enumerate(each):
        for g, arms in enumerate(np.split(of_replicate, ends[:-1])):
            totals[r] += fluid(arms, served[r, :, g], delta)[which]
    return totals


measure("rt", name="fluid_distance", which=1)(fluid_regret)
measure("rta")(bounds.merit_bound)
measure("rta")(bounds.azuma_bound)
measure("rta")(bounds.root_sum)


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


def fluid_rises(number, what, order, power, seed):
    """Return how much BF-UCB's fluid regret, or distance, over an order in T rises at the end."""
    from fairbandits.theory.derivations import group_regret

    return group_regret.rises(number, ("regret", "distance").index(what), order, power, seed)
