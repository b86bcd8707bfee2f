"""Measures of penalised pulls: sets of arms, regrets, bounds; and what the claims share."""

import numpy as np

from fairbandits.audit.measures import measure
from fairbandits.measures import penalised
from fairbandits.measures.penalties import penalty_rates
from fairbandits.theory import bounds
from fairbandits.theory.penalised import arm_sets, oracle_loss
from fairbandits.theory.penalised import fluid_pulls as fluid_law


@measure("rta")
def penalty(cell, means):
    """Penalty rate A_k of an arm: that of the loss or, if it has none, of the policy."""
    given = cell.spec.penalties
    if given is None:
        given = cell.parameters.get("penalties")
    if given is None:
        raise ValueError(f"{cell.recorded.experiment.name}: there are no penalty rates")
    given = given if isinstance(given, str | int | float) else list(given)
    return penalty_rates(given, means)[:, None]


@measure(None)
def penalties(penalty):
    """Penalty rates, shape (n_replicates or 1, n_arms)."""
    return penalty[:, 0]


@measure("rta")
def critical(gap, non_critical):
    """Whether an arm is critical, A_k >= Delta_k > 0."""
    return (gap != 0) & ~non_critical


@measure("rta")
def non_critical(cell, gap, penalty):
    """Whether an arm is non-critical, Delta_k > A_k."""
    if cell.spec.drawn_means:
        return gap > penalty
    # 0.9 - 0.6 > 0.3 in floating point
    return arm_sets(cell.spec.means, penalty.ravel().tolist()).non_critical[None, None]


measure("rta", name="lack")(penalised.unfairness_levels)
measure("rt")(penalised.mean_reward)
measure("rt")(penalised.penalised_loss)
measure("rt", name="prophet_loss")(oracle_loss)
measure("rt")(penalised.penalised_regret)


@measure("rt")
def penalised_regret_most(rounds, means, quotas, penalties):
    """Largest possible penalised regret: that of pulling a single arm."""
    alone = np.eye(means.shape[1])[:, None] * rounds[:, None]  # an arm, a round, an arm
    given = means, quotas, penalties
    regrets = [penalised.penalised_regret(rounds, plays[None], *given) for plays in alone]
    return np.max(regrets, axis=0)


@measure("rta")
def keeps(rounds, quota, lack):
    """Whether an arm's shortfall is at most one pull, or 0.2 % of its quota if that is more."""
    return lack <= np.maximum(1.0, 0.002 * quota * rounds[:, None])


@measure("rt")
def keeps_nearest(keeps, gap):
    """Whether no arm that keeps its quota has a larger gap than an arm that does not."""
    last = np.where(keeps, gap, -np.inf).max(axis=2)
    first = np.where(keeps, np.inf, gap).min(axis=2)
    return last <= first


@measure("")
def scale(cell, swept, quota, horizon):
    """Scale eta of Experiment D: the penalty rate, 1 - alpha / (tau_1 T), or 1 - eta_0 / T."""
    match cell.spec.policy:
        case "ht_ucb":
            return swept
        case "fair_learn":
            return 1 - swept / float(quota[0, 0, 0] * horizon)
    return 1 - swept / horizon


measure("rta")(bounds.raised_pulls)


@measure("rta")
def pulls_bound(non_critical, rounds, gap, penalty, quota):
    """Theorem 2's bound on the pulls of an arm, without O(1); infinite for the best."""
    return np.where(
        non_critical,
        bounds.non_critical_pulls(rounds, gap, penalty, quota),
        bounds.critical_pulls(rounds, gap, quota),
    )


measure("a", name="maximal_coefficient", means="own_means")(bounds.maximal_coefficients)
measure("rt", as_printed=True)(bounds.penalised_bound)
measure("rt", name="penalised_bound_corrected", as_printed=False)(bounds.penalised_bound)


@measure("t")
def gap_free_bound(rounds, penalty, quota):
    """Theorem 4's bound on the penalised regret (Eq. 15)."""
    return bounds.gap_free_terms(rounds, penalty, quota).sum(axis=-1)


@measure("t")
def gap_free_within(rounds, penalty, quota):
    """First term of Theorem 4's bound, for non-critical arms."""
    return bounds.gap_free_terms(rounds, penalty, quota)[:, 0]


@measure("ra")
def fluid_pulls(means, quotas, penalties, horizon):
    """Pulls of an arm by HT-UCB's fluid law at the horizon."""
    pairs = zip(means.tolist(), np.broadcast_to(penalties, means.shape).tolist(), strict=True)
    return np.array([fluid_law(mu, quotas, rates, horizon) for mu, rates in pairs])


def has_quotas(run):
    """Whether all arms have their quota in whole pulls at T."""
    return (run.end("owed") <= run.end("plays")).all(axis=1)


def largest_shortfall(run):
    """Pulls at T that an optimal or critical arm lacks, the most of any."""
    return np.where(run.end("non_critical"), 0, run.end("lack")).max(axis=1)


def steps(run):
    """Rounds n with the one before, N_k(n - 1), whether k is pulled, and N_k(n - 1) < tau_k n."""
    plays = np.pad(run["plays"], [(0, 0), (1, 0), (0, 0)])
    rounds = np.append(0, run.rounds)
    next_to = np.flatnonzero(np.diff(rounds) == 1)
    n, before = rounds[next_to + 1], plays[:, next_to]
    numerators, denominator = run.config.exact_quotas
    short = before.astype(np.int64) * denominator < numerators * n[:, None]
    return n, before, plays[:, next_to + 1] > before, short


def straightness(y, x):
    """Correlation of values (replicate, arm) and x over the arms, 0 where all values are equal."""
    if x.size < 3:
        raise ValueError(f"a line needs at least 3 arms, got {x.size}")
    y, x = (values - values.mean(axis=-1, keepdims=True) for values in (y, x))
    size = np.sqrt((y**2).sum(axis=1) * (x**2).sum())
    correlation = np.divide((x * y).sum(axis=1), size, out=np.zeros(len(y)), where=size > 0)
    return correlation.clip(-1, 1)  # of a straight line it can be rounded to more than 1


def frontier(x, y, others, level, levels):
    """Height y of one curve, at one of evenly spaced levels of x that another reaches too.

    Values are (replicate, point), and `others` is the other curve's x. A replicate's value is its
    height less the slope times its own x's distance from the level.
    """
    middle, heights, across = x.mean(axis=0), y.mean(axis=0), others.mean(axis=0)
    low, high = max(middle.min(), across.min()), min(middle.max(), across.max())
    at = low + (high - low) * (level - 1) / (levels - 1)
    places = np.lexsort((heights, middle))
    right = int(np.searchsorted(middle[places], at * (1 + 1e-12), side="right"))
    if right == places.size:
        return y[:, places[-1]]
    before, after = places[right - 1], places[right]
    width = middle[after] - middle[before]
    weight = (at - middle[before]) / width
    slope = (heights[after] - heights[before]) / width
    reached, height = ((1 - weight) * z[:, before] + weight * z[:, after] for z in (x, y))
    return height - slope * (reached - at)
