"""Words of penalised pulls: sets of arms, regrets, and the bounds of HT-UCB's theorems."""

from typing import NamedTuple

import numpy as np

from fairbandits.audit.measures import function, measure
from fairbandits.audit.measures.common import number
from fairbandits.measures import penalised
from fairbandits.measures.penalties import penalty_rates
from fairbandits.theory import bounds, penalised_instances
from fairbandits.theory.penalised import arm_sets, oracle_loss
from fairbandits.theory.penalised import fluid_pulls as fluid_law


@measure("rta", "reward per round")
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


measure("rta", "pulls", name="lack")(penalised.unfairness_levels)
measure("rt", "reward")(penalised.mean_reward)
measure("rt", "reward")(penalised.penalised_loss)
measure("rt", "reward", name="prophet_loss")(oracle_loss)
measure("rt", "reward")(penalised.penalised_regret)


@measure("rt", "reward")
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


measure("rta", "pulls")(bounds.raised_pulls)


@measure("rta", "pulls")
def pulls_bound(non_critical, rounds, gap, penalty, quota):
    """Theorem 2's bound on the pulls of an arm, without O(1); infinite for the best."""
    return np.where(
        non_critical,
        bounds.non_critical_pulls(rounds, gap, penalty, quota),
        bounds.critical_pulls(rounds, gap, quota),
    )


measure("a", name="maximal_coefficient", means="own_means")(bounds.maximal_coefficients)
measure("rt", "reward", as_printed=True)(bounds.penalised_bound)
measure(
    *("rt", "reward"),
    name="penalised_bound_corrected",
    what="Eq. 13's bound with Delta_k tau_k t in place of tau_k t, without O(K).",
    as_printed=False,
)(bounds.penalised_bound)


@measure("t", "reward")
def gap_free_bound(rounds, penalty, quota):
    """Theorem 4's bound on the penalised regret (Eq. 15)."""
    return bounds.gap_free_terms(rounds, penalty, quota).sum(axis=-1)


@measure("t", "reward")
def gap_free_within(rounds, penalty, quota):
    """First term of Theorem 4's bound, for non-critical arms."""
    return bounds.gap_free_terms(rounds, penalty, quota)[:, 0]


@measure("ra", "pulls")
def fluid_pulls(means, quotas, penalties, horizon):
    """Pulls of an arm by HT-UCB's fluid law at the horizon."""
    pairs = zip(means.tolist(), np.broadcast_to(penalties, means.shape).tolist(), strict=True)
    return np.array([fluid_law(one, quotas, own, horizon) for one, own in pairs])


@function()
def frontier(x, y, own, other, level, levels):
    """Height y at one of evenly spaced levels of x that two sets of cells reach, of one set.

    A replicate's value is its height less the slope times its own x's distance from the level.
    """
    own, other = (np.broadcast_to(one, (1, 1, x.shape[2])).ravel() for one in (own, other))
    if not (own.any() and other.any()):
        raise ValueError("a frontier needs stacked cells of both sets")
    middle = x.mean(axis=0).ravel()
    low = max(middle[own].min(), middle[other].min())
    high = min(middle[own].max(), middle[other].max())
    at = low + (high - low) * (level - 1) / (levels - 1)
    places = np.flatnonzero(own)
    heights = y.mean(axis=0).ravel()
    places = places[np.lexsort((heights[places], middle[places]))]
    right = int(np.searchsorted(middle[places], at * (1 + 1e-12), side="right"))
    if right == places.size:
        return y[:, :, [places[-1]]]
    before, after = places[right - 1], places[right]
    width = middle[after] - middle[before]
    weight = (at - middle[before]) / width
    slope = (heights[after] - heights[before]) / width
    reached = (1 - weight) * x[:, :, before] + weight * x[:, :, after]
    height = (1 - weight) * y[:, :, before] + weight * y[:, :, after]
    return (height - slope * (reached - at))[:, :, None]


@function("r")
def straightness(y, x, which):
    """Correlation over the arms for which a condition holds, 0 where all their values are equal."""
    arms = np.broadcast_to(which, (1, 1, y.shape[2])).ravel()
    if arms.sum() < 3:
        raise ValueError(f"a line needs at least 3 arms, got {arms.sum()}")
    y, x = (one[:, 0, arms] - one[:, 0, arms].mean(axis=1, keepdims=True) for one in (y * 1.0, x))
    size = np.sqrt((y**2).sum(axis=1) * (x**2).sum(axis=1))
    return np.divide((x * y).sum(axis=1), size, out=np.zeros(len(y)), where=size > 0)


class Steps(NamedTuple):
    """Rounds n, N_k(n - 1), whether k is pulled in n, and whether N_k(n - 1) < tau_k n, exactly."""

    n: np.ndarray
    before: np.ndarray
    pulled: np.ndarray
    short: np.ndarray


@measure(None)
def known_steps(rounds, plays, exact_quotas):
    """Rounds one by one."""
    plays = np.concatenate([np.zeros_like(plays[:, :1]), plays], axis=1)
    rounds = np.concatenate([[0], rounds])
    next_to = np.flatnonzero(np.diff(rounds) == 1)
    n, before = rounds[next_to + 1], plays[:, next_to]
    numerators, denominator = exact_quotas
    short = before.astype(np.int64) * denominator < numerators * n[:, None]
    return Steps(n, before, plays[:, next_to + 1] > before, short)


def _alone(known, non_critical, least, first):
    """Return whether just one arm with A_k >= Delta_k is short in a round, and is pulled."""
    one = known.short & ~non_critical
    others = (known.short | (known.before <= number(least))) & ~one
    holds = (one.sum(axis=2) == 1) & ~others.any(axis=2) & (known.n >= number(first))
    return holds, (one & known.pulled).any(axis=2)


@function("r")
def alone_rounds(least, first, *, known_steps, non_critical):
    """Rounds from `first` on in which a single arm, with A_k >= Delta_k, is behind its quota."""
    return _alone(known_steps, non_critical, least, first)[0].sum(axis=1)


@function("r")
def alone_unserved(least, first, *, known_steps, non_critical):
    """Rounds of `alone_rounds` in which that arm is not pulled."""
    holds, served = _alone(known_steps, non_critical, least, first)
    return (holds & ~served).sum(axis=1)


def _outside(known, non_critical, least, first):
    """Return whether rounds pull a non-critical arm with enough pulls, and others are short."""
    taken = (known.pulled & (known.before > number(least)) & non_critical).any(axis=2)
    return taken & (known.n >= number(first)), (known.short & ~non_critical).any(axis=2)


@function("r")
def outside_rounds(least, first, *, known_steps, non_critical):
    """Rounds from `first` on in which a non-critical arm with more than `least` pulls is pulled."""
    return _outside(known_steps, non_critical, least, first)[0].sum(axis=1)


@function("r")
def outside_out_of_turn(least, first, *, known_steps, non_critical):
    """Rounds of `outside_rounds` in which an arm with A_k >= Delta_k is short of its quota."""
    taken, short = _outside(known_steps, non_critical, least, first)
    return (taken & short).sum(axis=1)


@function("r")
def share_to_short(first, *, known_steps, penalty, gap):
    """Of rounds from `first` on with an arm of A_k > Delta_k short, the share for any short arm."""
    n, _, pulled, short = known_steps
    asked = (short & (penalty > gap)).any(axis=2) & (n >= number(first))
    served = asked & (short & pulled).any(axis=2)
    return served.sum(axis=1) / np.maximum(asked.sum(axis=1), 1)


@function("r")
def leader_changes(first, *, known_steps, mu, penalty):
    """How often the arm with the largest mu_k + A_k [N_k < tau_k n] changes from `first` on."""
    leader = (mu + penalty * known_steps.short).argmax(axis=2)
    return ((np.diff(leader, axis=1) != 0) & (known_steps.n[1:] >= number(first))).sum(axis=1)


@function("ra")
def recursion_excess(*, known_steps, rounds, plays, exact_quotas, mu, penalty, non_critical):
    """Left side minus right side of Eq. 29, as numerators over the quotas' common denominator.

    Arms are in the order of mu + A, and those that are non-critical left out.
    """
    numerators, denominator = (np.ravel(one) for one in exact_quotas)
    behind = rounds[:, None] * numerators - denominator * plays.astype(np.int64)
    most = np.maximum(behind, 0).max(axis=1)
    found, waiting, earlier = [], np.zeros(len(plays), np.int64), np.zeros(len(plays), np.int64)
    ahead = np.zeros(known_steps.short.shape[:2], bool)
    for arm in np.argsort(-(mu + penalty).ravel(), kind="stable"):
        short, pulled = known_steps.short[:, :, arm], known_steps.pulled[:, :, arm]
        waiting = waiting + (short & ~ahead & ~pulled).sum(axis=1)
        if not non_critical.ravel()[arm]:
            found.append(most[:, arm] - (numerators[arm] + earlier + denominator * waiting))
        earlier = earlier + most[:, arm]
        ahead |= short
    return np.stack(found, axis=1)


@function("r")
def broken_steps(proof):
    """1 for each step of a proof of the hard-threshold paper that does not hold, else 0."""
    from fairbandits.theory.derivations import hard_threshold

    return [step() for step in hard_threshold.PROOFS[proof]]


function()(bounds.committing_regret)
function()(bounds.least_worst_regret)
function("r")(penalised_instances.wrong_minimisers)
function("r")(penalised_instances.not_one_set)
function("r")(penalised_instances.optimum_errors)
function("r")(penalised_instances.out_of_order)
function()(penalised_instances.least_lack)
function("ra")(penalised_instances.committing_regrets)
