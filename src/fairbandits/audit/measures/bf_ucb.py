"""Words of arms in groups; where a value is of each group, these stand in place of the arms."""

from fractions import Fraction

import numpy as np

from fairbandits.audit.measures import function, measure
from fairbandits.measures import groups as metrics
from fairbandits.measures.pulls import pseudo_reward
from fairbandits.rationals import rational
from fairbandits.theory import bounds, group_counts
from fairbandits.theory.draws import generator


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


@measure("a", "arms")
def group_size(groups):
    """Number k_g of arms of each group."""
    return np.array(groups)


@measure(None)
def ends_of_means(cell):
    """Lowest and highest mean that each arm can have."""
    if cell.spec.drawn_means:
        return cell.spec.ranges
    return list(cell.means), list(cell.means)


@measure("a", "reward per round")
def least_mean(groups, ends_of_means):
    """Smallest mean that an arm of each group can have: gamma_1 of f(mu) = mu."""
    start = np.concatenate([[0], np.cumsum(groups)[:-1]])
    return np.minimum.reduceat(np.array(ends_of_means[0], float), start)


measure("ra", name="fair_share", merit="merit", c="merit_parameter")(metrics.fair_policy)
measure("ra", "reward per round", merit="merit", c="merit_parameter")(metrics.group_values)


@measure("ra", "reward per round")
def group_gap(group_values):
    """Gap Delta_g of each group to the best group."""
    return group_values.max(axis=1, keepdims=True) - group_values


@measure(None)
def in_groups(groups, group_quotas, merit, merit_parameter):
    """Groups, their quotas, and the merit function."""
    return groups, group_quotas, merit, merit_parameter


@measure("rt", "reward")
def reward_regret(rounds, probability, means, in_groups):
    """Reward regret R*_beta(t) - sum_i mu_i P_i(t), P_i the summed probabilities."""
    return metrics.group_regret(rounds, probability, means, *in_groups)


@measure("rt", "reward")
def reward_regret_pulls(rounds, plays, means, in_groups):
    """Reward regret R*_beta(t) - sum_i mu_i N_i(t), from the pulls."""
    return metrics.group_regret(rounds, plays, means, *in_groups)


@measure("rt", "reward")
def between_regret(rounds, plays, means, in_groups):
    """First part of Theorem 4: sum_g (N_g(t) - floor(beta_g t)) Delta_g."""
    return metrics.decomposition(rounds, plays, plays, means, *in_groups)[0]


@measure("rt", "reward")
def within_regret(rounds, plays, probability, means, in_groups):
    """Second part of Theorem 4: the cost of the policies within the groups."""
    return metrics.decomposition(rounds, plays, probability, means, *in_groups)[1]


@measure("rt", "reward")
def most_between_regret(rounds, group_quotas, group_gap):
    """Largest possible first part: all rounds beyond the quotas are of the worst group."""
    free = rounds - metrics.owed(rounds, group_quotas).sum(axis=1)
    return group_gap.max(axis=1)[:, None] * free


@measure("rt", "reward")
def notebook_regret(rounds, reward, initial_reward, means, groups, group_quotas):
    """Regret as the authors' notebook counts it, from the rewards after the initial rounds."""
    return metrics.released_regret(rounds, reward, initial_reward, means, groups, group_quotas)


@measure("rt", "reward")
def reward_after_start(plays, means, initial_plays):
    """Expected reward sum_i mu_i N_i of the pulls after the initial rounds."""
    return pseudo_reward(plays, means, initial_plays)


measure("rta", name="distance", policy="share", merit="merit", c="merit_parameter")(
    metrics.policy_distance
)


@function()
def per_group(x, *, groups):
    """Sums over the arms of each group."""
    return metrics.per_group(x, groups)


@function()
def of_group(x, g):
    """Value of a group, counted from 1, among values of all groups."""
    return x[:, :, [g - 1]]


@function()
def arms_of_group(x, g, *, groups):
    """Values of the arms of a group, counted from 1."""
    start = sum(groups[: g - 1])
    return x[:, :, start : start + groups[g - 1]]


@function()
def least_of_group(x, g, *, groups):
    """Smallest value of the arms of a group, counted from 1."""
    return arms_of_group(x, g, groups=groups).min(axis=2, keepdims=True)


@function()
def evenness(x, g, *, groups):
    """Jain's index of a group's arms, 1 if all have the same."""
    return metrics.jain_index(arms_of_group(x, g, groups=groups))[:, :, None]


@function()
def notebook(what, group=0, *, beta, read_off):
    """Number read off the images in the authors' notebook, at the cell's quota."""
    (found,) = (
        one["value"]
        for one in read_off[what]["values"]
        if one.get("quota", beta) == beta and one.get("group", 0) == group
    )
    return float(found)


@measure(None)
def delta(cell):
    """Chance of an error that the policy allows."""
    given = cell.parameters.get("delta", 0.01)
    return min(0.5, cell.horizon**-0.5) if given is None else float(given)


@measure(None)
def served(plays, groups):
    """Rounds in which each group was served."""
    return metrics.per_group(plays, groups)


@measure("rt", "reward")
def group_bound(
    rounds, served, group_size, group_gap, group_quotas, delta, ends_of_means, clipped=False
):
    """Lemma 5's bound on the first part of the regret, as printed."""
    ratio = max(ends_of_means[1]) / min(ends_of_means[0])
    betas = [float(rational("quotas", one)) for one in group_quotas]
    given = rounds, served, group_size, group_gap[:, None], betas, delta, ratio
    return bounds.group_bound(*given, clipped=clipped)


measure(
    *("rt", "reward"),
    name="group_bound_clipped",
    what="Lemma 5's bound where no group's share of it is below 0.",
    clipped=True,
)(group_bound)
measure("rt", "reward")(bounds.within_bound)


@measure("rt", "reward")
def fluid_regret(served, means, groups, delta, which=0):
    """Second part of Theorem 4 by the fluid equation, for the rounds that each group had."""
    from fairbandits.theory.derivations.group_regret import fluid

    ends = np.cumsum(groups)
    each = np.broadcast_to(means, (len(served), ends[-1]))
    totals = np.zeros(served.shape[:2])
    for r, own in enumerate(each):
        for g, arms in enumerate(np.split(own, ends[:-1])):
            totals[r] += fluid(arms, served[r, :, g], delta)[which]
    return totals


measure(
    *("rt", ""),
    name="fluid_distance",
    what="Distance from the fair policies by the fluid equation, summed over rounds and groups.",
    which=1,
)(fluid_regret)
measure("rta")(bounds.merit_bound)
measure("rta")(bounds.azuma_bound)
measure("rta")(bounds.root_sum)


@function("r")
def group_steps(proof):
    """1 for each step of a derivation on BF-UCB that does not hold, else 0."""
    from fairbandits.theory.derivations import group_regret

    return [step() for step in group_regret.PROOFS[proof]]


@function()
def beyond_order(order, power="0"):
    """1 if BF-UCB's regret or distance over an order is unbounded, delta of order T^-c, else 0."""
    from fairbandits.theory.derivations.group_regret import beyond_order as beyond

    return beyond(order, power)


@function()
def first_line_excess(means, optimistic, tilde):
    """Numerator of a policy's distance from the fair policy, minus the first line of Theorem 3.

    With `tilde` both merits of the line are of the `optimistic` means that the policy follows.
    """
    real, raised = ([Fraction(one) for one in some] for some in (means, optimistic))
    pairs = list(zip(real, raised, strict=True))
    distance = sum(abs(a / sum(real) - b / sum(raised)) for a, b in pairs)
    line = sum((1 if tilde else a / b) * abs(b - a) for a, b in pairs)
    return (distance - 2 * line / sum(raised)).numerator


@function("r")
def drawn_best_group(experiment, number, seed, *, scope):
    """Best group of each instance drawn as in an experiment."""
    spec = scope.evidence.config.experiment(scope.evidence.paper, experiment).runs[0].spec
    low, high = spec.ranges
    means = generator(seed).uniform(low, high, (number, spec.n_arms))
    for arm, mean in spec.drawn_means.get("fixed", ()):
        means[:, arm - 1] = mean
    return metrics.group_values(means, spec.groups).argmax(axis=1) + 1


function()(group_counts.floors_that_jump)
function()(group_counts.short_in_turn)
function()(group_counts.most_above_turns)
function()(group_counts.short_of_quotas)
function()(group_counts.merit_ratios_off)
function()(group_counts.optimum_off)
function()(group_counts.corners_lost)
function()(group_counts.optimism_lost)
function()(group_counts.coverage_ratio)
