"""Measures of penalised pulls: sets of arms, regrets, and the bounds of HT-UCB's theorems."""

from typing import Any

import numpy as np

from fairbandits.audit import mathematics
from fairbandits.audit.cases import CaseScope
from fairbandits.audit.cells import Cell
from fairbandits.audit.measures import function, measure
from fairbandits.audit.measures.common import gap, mu, quota
from fairbandits.measures import penalised
from fairbandits.measures.penalties import penalty_rates
from fairbandits.theory import bounds_ht_ucb as bounds
from fairbandits.theory.fluid import fluid_pulls as fluid_law
from fairbandits.theory.penalised import arm_sets, oracle_loss


@measure(axes="r")
def replicate(cell: Cell) -> np.ndarray:
    """Number of a replicate, from 1."""
    return np.arange(1, cell.n_replicates + 1)


# ------------------------------------------------------------------------- rates and sets of arms


@measure("mean", axes="rta", unit="reward per round")
def penalty(cell: Cell) -> np.ndarray:
    """Penalty rate A_k of an arm: the loss's, or without one the policy's."""
    given = cell.spec.penalties
    if given is None:
        given = cell.parameters.get("penalties")
    if given is None:
        raise ValueError(f"{cell.recorded.experiment.name}: there are no penalty rates")
    given = given if isinstance(given, str | int | float) else list(given)
    return penalty_rates(given, mu(cell)[:, 0])[:, None]


@measure("mean", axes="rta")
def optimal(cell: Cell) -> np.ndarray:
    """Whether an arm is one of the best."""
    return gap(cell) == 0


@measure("mean", axes="rta")
def critical(cell: Cell) -> np.ndarray:
    """Whether an arm is critical, A_k >= Delta_k > 0."""
    return ~optimal(cell) & ~non_critical(cell)


@measure("mean", axes="rta")
def non_critical(cell: Cell) -> np.ndarray:
    """Whether an arm is non-critical, Delta_k > A_k."""
    rates = penalty(cell)
    if cell.spec.drawn_means:
        return gap(cell) > rates
    # 0.9 - 0.6 > 0.3 in floating point
    return arm_sets(cell.spec.means, rates.ravel().tolist()).non_critical[None, None]


# ----------------------------------------------------------------------------- regret and fairness


@measure("plays", "quota", axes="rta", unit="pulls")
def lack(cell: Cell) -> np.ndarray:
    """Pulls (tau_k t - N_k(t))+ that an arm lacks, its unfairness level."""
    return penalised.unfairness_levels(cell.rounds, cell.column("plays"), cell.quotas)


@measure("plays", "mean", axes="rt", unit="reward")
def mean_reward(cell: Cell) -> np.ndarray:
    """Expected reward sum_k mu_k N_k(t) of these pulls."""
    return penalised.mean_reward(cell.column("plays"), mu(cell)[:, 0])


def _loss_of(cell: Cell) -> tuple:
    means, rates = mu(cell)[:, 0], penalty(cell)[:, 0]
    return cell.rounds, cell.column("plays"), means, cell.quotas, rates


@measure("plays", "mean", axes="rt", unit="reward")
def penalised_loss(cell: Cell) -> np.ndarray:
    """Loss L(t) = sum_k Delta_k N_k(t) + A_k (tau_k t - N_k(t))+ (Eq. 5)."""
    return penalised.penalised_loss(*_loss_of(cell))


@measure("mean", axes="rt", unit="reward")
def prophet_loss(cell: Cell) -> np.ndarray:
    """Loss L*(t) = t sum_k min(Delta_k, A_k) tau_k of the prophet (Eq. 9)."""
    return oracle_loss(cell.rounds, mu(cell)[:, 0], cell.quotas, penalty(cell)[:, 0])


@measure("plays", "mean", axes="rt", unit="reward")
def penalised_regret(cell: Cell) -> np.ndarray:
    """Penalised regret R(t) = L(t) - L*(t) (Eq. 10)."""
    return penalised.penalised_regret(*_loss_of(cell))


@measure("plays", "mean", axes="rt", unit="reward")
def regret_beyond(cell: Cell) -> np.ndarray:
    """Penalised regret for pulls beyond quotas, sum_k Delta_k (N_k - tau_k t)+."""
    return penalised.regret_parts(*_loss_of(cell)).beyond


@measure("plays", "mean", axes="rt", unit="reward")
def regret_lacking(cell: Cell) -> np.ndarray:
    """Penalised regret for pulls that lack, sum_k (A_k - Delta_k)+ (tau_k t - N_k)+."""
    return penalised.regret_parts(*_loss_of(cell)).lacking


@measure("plays", "mean", axes="rt", unit="reward")
def regret_within(cell: Cell) -> np.ndarray:
    """Penalised regret for pulls within quotas, sum_k (Delta_k - A_k)+ min(N_k, tau_k t)."""
    return penalised.regret_parts(*_loss_of(cell)).within


@measure("mean", axes="rt", unit="reward")
def penalised_regret_most(cell: Cell) -> np.ndarray:
    """Largest possible penalised regret: that of pulling a single arm."""
    shape = (1, cell.rounds.size, cell.spec.n_arms)
    found = []
    for arm in range(cell.spec.n_arms):
        plays = np.zeros(shape)
        plays[:, :, arm] = cell.rounds
        rest = (cell.rounds, plays, mu(cell)[:, 0], cell.quotas, penalty(cell)[:, 0])
        found.append(penalised.penalised_regret(*rest))
    return np.max(found, axis=0)


# ------------------------------------------------------------------------------ what is varied


@measure(axes="")
def scale(cell: Cell) -> float:
    """Scale parameter eta of Experiment D: A, 1 - alpha / (tau_1 T), or 1 - eta_0 / T."""
    value = swept(cell)
    match cell.spec.policy:
        case "ht_ucb":
            return value
        case "fair_learn":
            return 1 - value / float(quota(cell)[0, 0, 0] * cell.horizon)
    return 1 - value / cell.horizon


@measure(axes="")
def swept(cell: Cell) -> float:
    """Value of the one varied parameter; 0 if none is varied."""
    values = [value for name, value in cell.run.cell.items() if name != "horizon"]
    return float(values[0]) if values else 0.0


@measure("plays", "quota", axes="rta")
def keeps(cell: Cell) -> np.ndarray:
    """Whether an arm lacks at most one pull, or 0.2 % of its quota if that is more."""
    allowed = 0.002 * quota(cell) * cell.rounds[:, None]
    return lack(cell) <= np.maximum(1.0, allowed)


@measure("plays", "mean", "quota", axes="rt")
def keeps_nearest(cell: Cell) -> np.ndarray:
    """Whether no arm that keeps its quota has a larger gap than one that does not."""
    kept, gaps = keeps(cell), gap(cell)
    last = np.where(kept, gaps, -np.inf).max(axis=2)
    first = np.where(kept, np.inf, gaps).min(axis=2)
    return last <= first


# ------------------------------------------------------------------------------------- bounds


def _instance(cell: Cell) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return cell.rounds[:, None], gap(cell), penalty(cell), quota(cell)


@measure("mean", axes="rta", unit="pulls")
def raised_pulls(cell: Cell) -> np.ndarray:
    """Pulls 8 ln t / (Delta_k - A_k)^2 of a non-critical arm; infinite for others."""
    t, gaps, rates, _ = _instance(cell)
    return bounds.raised_pulls(t, gaps, rates)


@measure("mean", "quota", axes="rta", unit="pulls")
def pulls_bound(cell: Cell) -> np.ndarray:
    """Theorem 2's bound on the pulls of an arm, without O(1); infinite for the best."""
    t, gaps, rates, quotas = _instance(cell)
    outside = bounds.non_critical_pulls(t, gaps, rates, quotas)
    inside = bounds.critical_pulls(t, gaps, quotas)
    return np.where(non_critical(cell), outside, inside)


@measure("mean", "quota", axes="rt", unit="reward")
def penalised_bound(cell: Cell) -> np.ndarray:
    """Eq. 13's bound on the penalised regret as printed, without O(K)."""
    return bounds.regret(*_instance(cell), as_printed=True)


@measure("mean", "quota", axes="rt", unit="reward")
def penalised_bound_corrected(cell: Cell) -> np.ndarray:
    """Eq. 13's bound with Delta_k tau_k t in place of tau_k t, without O(K)."""
    return bounds.regret(*_instance(cell), as_printed=False)


@measure(axes="a")
def maximal_coefficient(cell: Cell) -> np.ndarray:
    """Coefficient a_j of Theorem 3 (Eq. 14) for an arm."""
    return bounds.maximal_coefficients(cell.means, penalty(cell).ravel())


def _gap_free(cell: Cell, term: int | None = None) -> np.ndarray:
    terms = bounds.gap_free_terms(cell.rounds, penalty(cell), quota(cell).ravel())
    return terms.sum(axis=-1) if term is None else terms[:, term]


@measure("mean", "quota", axes="t", unit="reward")
def gap_free_bound(cell: Cell) -> np.ndarray:
    """Theorem 4's bound on the penalised regret (Eq. 15)."""
    return _gap_free(cell)


@measure("mean", "quota", axes="t", unit="reward")
def gap_free_within(cell: Cell) -> np.ndarray:
    """First term of Theorem 4's bound, for non-critical arms."""
    return _gap_free(cell, 0)


@measure("mean", "quota", axes="t", unit="reward")
def gap_free_beyond(cell: Cell) -> np.ndarray:
    """Second term of Theorem 4's bound, for pulls beyond quotas."""
    return _gap_free(cell, 1)


@measure("mean", "quota", axes="t", unit="reward")
def gap_free_lacking(cell: Cell) -> np.ndarray:
    """Third term of Theorem 4's bound, for pulls that other arms lack."""
    return _gap_free(cell, 2)


@measure("mean", "quota", axes="ra", unit="pulls")
def fluid_pulls(cell: Cell) -> np.ndarray:
    """Pulls of an arm by HT-UCB's fluid law at the horizon."""
    means, rates = mu(cell)[:, 0], penalty(cell)[:, 0]
    return np.array(
        [
            fluid_law(one.tolist(), cell.quotas, own.tolist(), cell.horizon)
            for one, own in zip(means, np.broadcast_to(rates, means.shape), strict=True)
        ]
    )


# --------------------------------------------------------------------------- arms and cells


@function()
def of_arm(x: np.ndarray, arm: int) -> np.ndarray:
    """Value of an arm, by its number from 1."""
    return x[:, :, [arm - 1]]


@function()
def first_runs(x: np.ndarray, number: int) -> np.ndarray:
    """Value in the first replicates, of a given number."""
    return x[:number]


@function()
def average(x: np.ndarray) -> np.ndarray:
    """Mean over arms, or over stacked cells, in each replicate."""
    return x.mean(axis=2, keepdims=True)


@function()
def in_order(x: np.ndarray, key: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Values of the arms for which it holds, by increasing key."""
    shape = (1, 1, x.shape[2])
    chosen = np.flatnonzero(np.broadcast_to(which, shape).ravel())
    keys = np.broadcast_to(key, shape).ravel()[chosen]
    return x[:, :, chosen[np.argsort(keys, kind="stable")]]


@function()
def frontier(
    x: np.ndarray, y: np.ndarray, own: np.ndarray, other: np.ndarray, level: int, levels: int
) -> np.ndarray:
    """Height y at one of evenly spaced levels of x that two sets of cells reach, of one set.

    The curve goes through the means of the stacked cells for which `own` holds. A replicate's value
    is its own height less the slope times the distance of its own x from the level: their mean is
    the height of the curve, their spread is its error.
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


# --------------------------------------------------------------------------- round by round


def _rounds_of(cell: Cell) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rounds n, N_k(n - 1) and whether arm k is pulled in each, where both are known."""
    plays = np.concatenate(
        [np.zeros_like(cell.column("plays")[:, :1]), cell.column("plays")], axis=1
    )
    rounds = np.concatenate([[0], cell.rounds])
    next_to = np.flatnonzero(np.diff(rounds) == 1)
    before = plays[:, next_to]
    return rounds[next_to + 1], before, plays[:, next_to + 1] > before


def _short(cell: Cell, n: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return whether N_k(n - 1) < tau_k n, exactly."""
    numerators, denominator = cell.exact_quotas
    return before.astype(np.int64) * denominator < numerators * n[:, None]


def _counted(holds: np.ndarray) -> np.ndarray:
    return holds.sum(axis=1)[:, None, None]


def _alone(cell: Cell, least: float, first: float) -> tuple[np.ndarray, np.ndarray]:
    """Return whether just one arm with A_k >= Delta_k is short in a round, and is pulled."""
    n, before, pulled = _rounds_of(cell)
    short = _short(cell, n, before)
    one = short & ~non_critical(cell)
    others = (short | (before <= least)) & ~one
    holds = (one.sum(axis=2) == 1) & ~others.any(axis=2) & (n >= first)
    return holds, (one & pulled).any(axis=2)


@function(in_cell=True, columns=("plays", "mean", "quota"))
def alone_rounds(scope: CaseScope, least: float, first: float) -> np.ndarray:
    """Rounds from `first` on in which one arm with A_k >= Delta_k alone is short of its quota.

    All others have more than `least` pulls.
    """
    holds, _ = _alone(scope.cell, _number(least), _number(first))
    return _counted(holds)


@function(in_cell=True, columns=("plays", "mean", "quota"))
def alone_unserved(scope: CaseScope, least: float, first: float) -> np.ndarray:
    """Rounds of `alone_rounds` in which that arm is not pulled."""
    holds, served = _alone(scope.cell, _number(least), _number(first))
    return _counted(holds & ~served)


def _outside(cell: Cell, least: float, first: float) -> tuple[np.ndarray, np.ndarray]:
    """Return whether rounds pull a non-critical arm with enough pulls, and others are short."""
    n, before, pulled = _rounds_of(cell)
    short = (_short(cell, n, before) & ~non_critical(cell)).any(axis=2)
    taken = (pulled & (before > least) & non_critical(cell)).any(axis=2)
    return taken & (n >= first), short


@function(in_cell=True, columns=("plays", "mean", "quota"))
def outside_rounds(scope: CaseScope, least: float, first: float) -> np.ndarray:
    """Rounds from `first` on in which a non-critical arm with more than `least` pulls is pulled."""
    taken, _ = _outside(scope.cell, _number(least), _number(first))
    return _counted(taken)


@function(in_cell=True, columns=("plays", "mean", "quota"))
def outside_out_of_turn(scope: CaseScope, least: float, first: float) -> np.ndarray:
    """Rounds of `outside_rounds` in which an arm with A_k >= Delta_k is short of its quota."""
    taken, short = _outside(scope.cell, _number(least), _number(first))
    return _counted(taken & short)


@function(in_cell=True, columns=("plays", "mean", "quota"))
def share_to_short(scope: CaseScope, first: float) -> np.ndarray:
    """Share, of rounds from `first` on with an arm of A_k > Delta_k short, for an arm that is."""
    cell = scope.cell
    n, before, pulled = _rounds_of(cell)
    short = _short(cell, n, before)
    asked = (short & (penalty(cell) > gap(cell))).any(axis=2) & (n >= _number(first))
    served = asked & (short & pulled).any(axis=2)
    return _counted(served) / np.maximum(_counted(asked), 1)


@function(in_cell=True, columns=("plays", "mean", "quota"))
def leader_changes(scope: CaseScope, first: float) -> np.ndarray:
    """How often the arm with the largest mu_k + A_k [N_k < tau_k n] changes from `first` on."""
    cell = scope.cell
    n, before, _ = _rounds_of(cell)
    leader = (mu(cell) + penalty(cell) * _short(cell, n, before)).argmax(axis=2)
    changes = (np.diff(leader, axis=1) != 0) & (n[1:] >= _number(first))
    return _counted(changes)


@function(in_cell=True, columns=("plays", "mean", "quota"))
def recursion_excess(scope: CaseScope) -> np.ndarray:
    """Left less right side of Eq. 29, as numerators over the quotas' common denominator.

    Arms are in the order of mu + A, and those that are non-critical left out.
    """
    cell = scope.cell
    numerators, denominator = (np.ravel(one) for one in cell.exact_quotas)
    n, before, pulled = _rounds_of(cell)
    short = _short(cell, n, before)
    plays = cell.column("plays").astype(np.int64)
    behind = cell.rounds[:, None] * numerators - denominator * plays
    most = np.maximum(behind, 0).max(axis=1)
    sums = (mu(cell) + penalty(cell)).ravel()
    order = np.argsort(-sums, kind="stable")
    found, waiting = [], np.zeros(len(plays), np.int64)
    ahead = np.zeros(short.shape[:2], bool)
    earlier = np.zeros(len(plays), np.int64)
    for arm in order:
        mine = short[:, :, arm]
        waiting = waiting + (mine & ~ahead & ~pulled[:, :, arm]).sum(axis=1)
        if not non_critical(cell).ravel()[arm]:
            right = numerators[arm] + earlier + denominator * waiting
            found.append(most[:, arm] - right)
        earlier = earlier + most[:, arm]
        ahead |= mine
    return np.stack(found, axis=1)[:, None]


def _number(x: Any) -> float:
    return float(np.asarray(x, float).reshape(()))


# -------------------------------------------------------------------- what no recorded run decides


def _whole(values: list) -> np.ndarray:
    return np.array(values)[:, None, None]


def _seed(scope: CaseScope) -> int:
    return scope.evidence.config.seed


@function(in_cell=True)
def wrong_minimisers(scope: CaseScope, number: int) -> np.ndarray:
    """1 for each arm of random instances whose loss is not least where Section 2 says, else 0."""
    return _whole(mathematics.penalties.wrong_minimisers(number, _seed(scope)))


@function(in_cell=True)
def not_one_set(scope: CaseScope, number: int) -> np.ndarray:
    """Distance from 1 of the number of sets that each arm of random instances is in."""
    return _whole(mathematics.penalties.not_one_set(number, _seed(scope)))


@function(in_cell=True)
def optimum_errors(scope: CaseScope, number: int) -> np.ndarray:
    """Distance of Eqs 7 and 9 from the linear programme's optimum, of random instances."""
    return _whole(mathematics.penalties.optimum_errors(number, _seed(scope)))


@function(in_cell=True)
def out_of_order(scope: CaseScope, number: int) -> np.ndarray:
    """1 for each non-critical arm of random instances with mu + A not below all other arms'."""
    return _whole(mathematics.penalties.out_of_order(number, _seed(scope)))


@function()
def least_lack(quotas: list[str], rounds: int) -> int:
    """Pulls that all arms need to have tau_k t, beyond the t available, in the worst round."""
    return mathematics.penalties.least_lack(quotas, rounds)


@function(in_cell=True)
def fair_learn_violations(
    scope: CaseScope, number: int, rounds: int, tolerance: str, within: int
) -> np.ndarray:
    """Largest floor(tau_k t) - N_k of Fair-Learn with random quotas; below 1/K if `within` is 1."""
    found = mathematics.penalties.fair_learn_violations(
        number, rounds, str(tolerance), within, _seed(scope)
    )
    return _whole(found)


@function(in_cell=True)
def committing_regrets(
    scope: CaseScope, arms: int, share: float, horizon: int, gaps: list[float], number: int
) -> np.ndarray:
    """Regret of a policy that fills equal quotas, then commits; for gaps over sqrt(K / T)."""
    found = mathematics.penalties.committing_regrets(
        arms, share, horizon, gaps, number, _seed(scope)
    )
    return found[:, None, :]


@function()
def committing_regret(arms: int, share: float, horizon: float) -> float:
    """Upper bound on the regret of that policy, whatever the means."""
    return bounds.committing_regret(arms, share, horizon)


@function()
def least_worst_regret(arms: int, quota: float, horizon: float, constant: float) -> float:
    """Theorem 7's bound C (1 - 2 max tau) sqrt((K - 1) T)."""
    return bounds.least_worst_regret(arms, quota, horizon, constant)
