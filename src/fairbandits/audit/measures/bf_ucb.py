"""Measures of arms in groups: BF-UCB, GEF, MF and UCB, and the bounds of BF-UCB's theorems.

Where a measure has a value for each group, the groups stand in place of the arms.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from fairbandits.audit import mathematics
from fairbandits.audit.cases import CaseScope
from fairbandits.audit.cells import Cell
from fairbandits.audit.measures import function, measure, recorded
from fairbandits.measures import groups as metrics
from fairbandits.rationals import rational
from fairbandits.settings.schemas import paper_file, read_yaml
from fairbandits.theory import bounds_bf_ucb as bounds

recorded(
    probability="probabilities that an arm was drawn with, summed over the rounds",
    group_plays="rounds in which an arm's group was served",
    group_deficit_sup="floor(beta_g s) - N_g(s) of an arm's group, the largest so far",
    initial_plays="pulls of an arm in the initial rounds so far",
    optional="pulls of an arm after the initial rounds when no group is behind",
    unit="pulls",
)
recorded(
    share="probability of an arm within its group in the last round that drew from it by merit",
    merit_regret="distance of an arm's probability within its group from the fair one, summed",
    outside="rounds of an arm's group in which its mean lay outside the confidence interval",
    expected_root="probability over the root of an arm's pulls, summed over its group's rounds",
)


def _means(cell: Cell) -> np.ndarray:
    """Return the true means of each replicate, shape (n_replicates or 1, n_arms)."""
    return cell.column("mean")[:, 0] if cell.spec.drawn_means else cell.means[None]


def _merit(cell: Cell) -> tuple[str, float]:
    given = cell.parameters
    return given.get("merit", "power"), float(given.get("merit_parameter", 1.0))


def _quotas(cell: Cell) -> list:
    return list(cell.parameters.get("quotas") or [0] * len(cell.spec.groups))


def _each(cell: Cell, of: Callable[..., Any], *columns: np.ndarray) -> np.ndarray:
    """Return a function's value for each replicate's means and columns."""
    means = _means(cell)
    count = max([len(means), *map(len, columns)])
    return np.stack(
        [of(means[min(k, len(means) - 1)], *(one[k] for one in columns)) for k in range(count)]
    )


# ------------------------------------------------------------------------------ the instance


@measure(axes="")
def beta(cell: Cell) -> float:
    """Required fraction of rounds beta_g of the first group, 0 for a policy without."""
    return float(rational("quotas", _quotas(cell)[0]))


@measure(axes="")
def quota_sum(cell: Cell) -> float:
    """Sum of the groups' required fractions of rounds."""
    return float(sum(rational("quotas", one) for one in _quotas(cell)))


@measure(axes="a", unit="arms")
def group_size(cell: Cell) -> np.ndarray:
    """Number k_g of arms of each group."""
    return np.array(cell.spec.groups)


@measure(axes="a", unit="reward per round")
def least_mean(cell: Cell) -> np.ndarray:
    """Smallest mean that an arm of each group can have: gamma_1 of f(mu) = mu."""
    start = np.concatenate([[0], np.cumsum(cell.spec.groups)[:-1]])
    return np.minimum.reduceat(np.array(_ends(cell)[0], float), start)


@measure("mean", axes="ra")
def fair_share(cell: Cell) -> np.ndarray:
    """Probability pi*_g(i) of an arm within its group under the fair policy."""
    return _each(cell, lambda mu: metrics.fair_policy(mu, cell.spec.groups, *_merit(cell)))


@measure("mean", axes="ra", unit="reward per round")
def group_value(cell: Cell) -> np.ndarray:
    """Reward R*_g per round of each group's fair policy."""
    return _each(cell, lambda mu: metrics.group_values(mu, cell.spec.groups, *_merit(cell)))


@measure("mean", axes="ra", unit="reward per round")
def group_gap(cell: Cell) -> np.ndarray:
    """Gap Delta_g of each group to the best one."""
    values = group_value(cell)
    return values.max(axis=1, keepdims=True) - values


@measure("mean", axes="r")
def best_group(cell: Cell) -> np.ndarray:
    """Number of the group with the largest R*_g, from 1."""
    return group_value(cell).argmax(axis=1) + 1


# ------------------------------------------------------------------------------ regret


def _regret(cell: Cell, played: np.ndarray) -> np.ndarray:
    groups, quotas = cell.spec.groups, _quotas(cell)
    return _each(
        cell,
        lambda mu, one: metrics.reward_regret(
            *(cell.rounds, one, mu, groups, quotas), *_merit(cell)
        ),
        played,
    )


@measure("probability", "mean", axes="rt", unit="reward")
def reward_regret(cell: Cell) -> np.ndarray:
    """Reward regret R*_beta(t) - sum_i mu_i P_i(t), P_i the summed probabilities."""
    return _regret(cell, cell.column("probability"))


@measure("plays", "mean", axes="rt", unit="reward")
def reward_regret_pulls(cell: Cell) -> np.ndarray:
    """Reward regret R*_beta(t) - sum_i mu_i N_i(t), from the pulls."""
    return _regret(cell, cell.column("plays"))


def _parts(cell: Cell, place: int, drawn: str) -> np.ndarray:
    groups, quotas = cell.spec.groups, _quotas(cell)
    return _each(
        cell,
        lambda mu, plays, played: metrics.decomposition(
            *(cell.rounds, plays, played, mu, groups, quotas), *_merit(cell)
        )[place],
        cell.column("plays"),
        cell.column(drawn),
    )


@measure("plays", "mean", axes="rt", unit="reward")
def between_regret(cell: Cell) -> np.ndarray:
    """First part of Theorem 4: sum_g (N_g(t) - floor(beta_g t)) Delta_g."""
    return _parts(cell, 0, "plays")


@measure("plays", "probability", "mean", axes="rt", unit="reward")
def within_regret(cell: Cell) -> np.ndarray:
    """Second part of Theorem 4: the cost of the policies within the groups."""
    return _parts(cell, 1, "probability")


@measure("plays", "mean", axes="rt", unit="reward")
def within_regret_pulls(cell: Cell) -> np.ndarray:
    """Second part of Theorem 4 on one path, from the pulls."""
    return _parts(cell, 1, "plays")


@measure("mean", axes="rt", unit="reward")
def most_between_regret(cell: Cell) -> np.ndarray:
    """Largest possible first part: all rounds that no quota asks for on the worst group."""
    free = cell.rounds - metrics.owed(cell.rounds, _quotas(cell)).sum(axis=1)
    return group_gap(cell).max(axis=1)[:, None] * free


@measure("reward", "initial_reward", "mean", axes="rt", unit="reward")
def notebook_regret(cell: Cell) -> np.ndarray:
    """Regret as the authors' notebook counts it, from the rewards after the initial rounds."""
    groups, quotas = cell.spec.groups, _quotas(cell)
    return _each(
        cell,
        lambda mu, reward, first: metrics.released_regret(
            cell.rounds, reward, first, mu, groups, quotas
        ),
        cell.column("reward"),
        cell.column("initial_reward"),
    )


@measure("plays", "mean", "initial_plays", axes="rt", unit="reward")
def reward_after_start(cell: Cell) -> np.ndarray:
    """Expected reward sum_i mu_i N_i of the pulls after the initial rounds."""
    return _each(
        cell,
        lambda mu, plays, first: metrics.pseudo_reward(plays, mu, first),
        cell.column("plays"),
        cell.column("initial_plays"),
    )


# ------------------------------------------------------------------------------ exposure


@measure("share", "mean", axes="rta")
def distance(cell: Cell) -> np.ndarray:
    """Distance sum_i |pi_g(i) - pi*_g(i)| of each group's policy from the fair one."""
    return _each(
        cell,
        lambda mu, policy: metrics.policy_distance(policy, mu, cell.spec.groups, *_merit(cell)),
        cell.column("share"),
    )


@function(in_cell=True)
def per_group(scope: CaseScope, x: np.ndarray) -> np.ndarray:
    """Sums over the arms of each group."""
    return metrics.per_group(x, scope.cell.spec.groups)


@function(in_cell=True)
def least_of_group(scope: CaseScope, x: np.ndarray, g: int) -> np.ndarray:
    """Smallest value of the arms of a group, counted from 1."""
    return _arms_of(scope, x, g).min(axis=2, keepdims=True)


@function(in_cell=True)
def arms_of_group(scope: CaseScope, x: np.ndarray, g: int) -> np.ndarray:
    """Values of the arms of a group, counted from 1."""
    return _arms_of(scope, x, g)


@function(in_cell=True)
def evenness(scope: CaseScope, x: np.ndarray, g: int) -> np.ndarray:
    """Jain's index of a group's arms, 1 if all have the same."""
    return metrics.jain_index(_arms_of(scope, x, g))[:, :, None]


def _arms_of(scope: CaseScope, x: np.ndarray, g: int) -> np.ndarray:
    sizes = scope.cell.spec.groups
    start = sum(sizes[: g - 1])
    return x[:, :, start : start + sizes[g - 1]]


@function()
def of_group(x: np.ndarray, g: int) -> np.ndarray:
    """Value of a group, counted from 1, among values of all groups."""
    return x[:, :, [g - 1]]


@function()
def spread_of_runs(x: np.ndarray) -> np.ndarray:
    """Size of each replicate's deviation from the mean over replicates."""
    return np.abs(x - x.mean(axis=0, keepdims=True))


@function()
def sorted_by(x: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Values of the arms from the smallest to the largest of another value, in each replicate."""
    order = np.broadcast_to(by.argsort(axis=2, kind="stable"), x.shape)
    return np.take_along_axis(x, order, axis=2)


@function()
def ratio(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Ratio of two values; 1 where both are 0."""
    both = (np.asarray(x) == 0) & (np.asarray(y) == 0)
    return np.where(both, 1.0, x / np.where(both, 1.0, y))


@function(in_cell=True)
def first_at_most(scope: CaseScope, x: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """First recorded round at which it is at most a limit, in each replicate; else T."""
    below = x <= limit
    place = np.where(below.any(axis=1), below.argmax(axis=1), -1)
    return scope.cell.rounds[place].astype(float)[:, None]


@function()
def off_class(x: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Deviation of each replicate from the mean of those with the same value of another."""
    same = by[:, 0, 0][:, None] == by[:, 0, 0]
    return x - np.einsum("rs,sta->rta", same / same.sum(axis=1, keepdims=True), x)


@function(in_cell=True)
def notebook(scope: CaseScope, what: str, group: int = 0) -> float:
    """Number read off the images in the authors' notebook, at the cell's quota."""
    entry = _read_off(scope.evidence.paper)[what]
    wanted = beta(scope.cell)
    (found,) = (
        one["value"]
        for one in entry["values"]
        if one.get("quota", wanted) == wanted and one.get("group", 0) == group
    )
    return float(found)


@cache
def _read_off(paper: str) -> Mapping[str, Any]:
    return read_yaml(paper_file(paper, "published"))


# ------------------------------------------------------------------------------ bounds


def _confidence(cell: Cell) -> float:
    given = cell.parameters.get("delta", 0.01)
    return min(0.5, cell.horizon**-0.5) if given is None else float(given)


def _served(cell: Cell) -> np.ndarray:
    return metrics.per_group(cell.column("plays"), cell.spec.groups)


def _lemma_5(cell: Cell, clipped: bool) -> np.ndarray:
    low, high = (min(_ends(cell)[0]), max(_ends(cell)[1]))
    betas = [float(rational("quotas", one)) for one in _quotas(cell)]
    return bounds.group_bound(
        *(cell.rounds[:, None], _served(cell), np.array(cell.spec.groups)),
        *(group_gap(cell)[:, None], betas, _confidence(cell), high / low),
        clipped=clipped,
    )


def _ends(cell: Cell) -> tuple[list[float], list[float]]:
    """Return the lowest and the highest mean that each arm can have."""
    if cell.spec.drawn_means:
        return cell.spec.ranges
    return list(cell.means), list(cell.means)


@measure("plays", "mean", axes="rt", unit="reward")
def group_bound(cell: Cell) -> np.ndarray:
    """Lemma 5's bound on the first part of the regret, as printed."""
    return _lemma_5(cell, clipped=False)


@measure("plays", "mean", axes="rt", unit="reward")
def group_bound_clipped(cell: Cell) -> np.ndarray:
    """Lemma 5's bound where no group's share of it is below 0."""
    return _lemma_5(cell, clipped=True)


@measure("plays", "mean", axes="rt", unit="reward")
def regret_of_theorem_7(cell: Cell) -> np.ndarray:
    """Theorem 7's right side, as printed."""
    return group_bound(cell) + _rest_of_theorem_7(cell)


@measure("plays", "mean", axes="rt", unit="reward")
def regret_of_theorem_7_clipped(cell: Cell) -> np.ndarray:
    """Theorem 7's right side where no group's share of Lemma 5 is below 0."""
    return group_bound_clipped(cell) + _rest_of_theorem_7(cell)


def _rest_of_theorem_7(cell: Cell) -> np.ndarray:
    return bounds.within_bound(
        cell.rounds, _served(cell), np.array(cell.spec.groups), _confidence(cell)
    )


@measure("plays", axes="rta")
def merit_bound(cell: Cell) -> np.ndarray:
    """Bound of Theorem 3's proof on each group's summed distance from the fair policy."""
    sizes = np.array(cell.spec.groups)
    return bounds.merit_bound(_served(cell), sizes, _confidence(cell), least_mean(cell))


@measure("plays", axes="rta")
def azuma_bound(cell: Cell) -> np.ndarray:
    """Bound sqrt(2 N_g ln(4 / delta)) of Eq. 4 for each group."""
    return bounds.azuma_bound(_served(cell), _confidence(cell))


@measure("plays", axes="rta")
def root_sum(cell: Cell) -> np.ndarray:
    """Sum of 1 / sqrt(n) over an arm's pulls n = 1, ..., N_i(t) - 1."""
    return bounds.root_sum(cell.column("plays"))


# ------------------------------------------------------------- what no recorded run decides


@function()
def floors_that_jump(quotas: list[str], rounds: int) -> int:
    """Most floors floor(beta t) of these groups that rise in one round, less 1."""
    return mathematics.group_schedules.most_at_once(quotas, rounds) - 1


@function()
def short_in_turn(sizes: list[int], quotas: list[str], by_arm: int, rounds: int) -> int:
    """Largest floor(beta_g t) - N_g where arms (1) or groups (0) are pulled in turn at first."""
    return mathematics.group_schedules.short_in_turn(sizes, quotas, bool(by_arm), rounds)


@function()
def most_above_turns(quotas: list[str], rounds: int) -> int:
    """Largest numerator of beta_g t - floor(t / m), over the first rounds."""
    return mathematics.group_schedules.above_turns(quotas, rounds)


@function()
def short_of_quotas(number: int, rounds: int, beyond: int, seed: str) -> int:
    """Largest floor(beta_g t) - N_g of random quotas up to 1/m, or beyond, any learner."""
    return mathematics.group_schedules.shortest(number, rounds, bool(beyond), seed)


@function()
def merit_ratios_off(number: int, seed: str) -> int:
    """Number of random policies f(mu_i) / sum f whose ratios are not those of the merits."""
    return mathematics.group_optimum.ratios_off(number, seed)


@function()
def optimum_off(number: int, seed: str) -> int:
    """Number of random instances whose best reward by enumeration differs from Eq. 1."""
    return mathematics.group_optimum.optimum_off(number, seed)


@function()
def corners_lost(number: int, kind: str, seed: str) -> int:
    """Number of random boxes of a kind with a better vertex than the upper corner."""
    return mathematics.merit_boxes.corners_lost(number, kind, seed)


@function()
def optimism_lost(number: int, least: int, cut: int, seed: str) -> int:
    """Number of random boxes with less reward at the upper corner than at a point inside."""
    return mathematics.merit_boxes.optimism_lost(number, least, bool(cut), seed)


@function()
def coverage_ratio(arms: int, pulls: list[int], span: str) -> float:
    """Largest chance that a mean is outside its interval over what Eq. 3 allows, at these pulls."""
    return mathematics.coverage.largest_ratio(arms, pulls, span)


@function(in_cell=True)
def drawn_best_group(scope: CaseScope, experiment: str, number: int, seed: str) -> np.ndarray:
    """Best group of each instance drawn as in an experiment."""
    spec = scope.evidence.config.experiment(scope.evidence.paper, experiment).runs[0].spec
    found = mathematics.group_optimum.best_groups(spec, number, seed)
    return found[:, None, None]
