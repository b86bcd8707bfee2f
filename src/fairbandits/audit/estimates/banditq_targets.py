"""Estimators of whether protected arms get their targets: BanditQ, other learners, no targets."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    FEEDBACKS,
    FIVE_ARMS,
    SEES,
    SUITES,
    Cell,
    arm,
    first_law,
    growth,
    growths,
    of_largest_mean,
    published_experiment,
)
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.evidence import Evidence
from fairbandits.optima.static import static_benchmark

# ------------------------------------------------------------------------------- the paper's arms


def five_arms(
    evidence: Evidence, suites: Sequence[str], columns: Sequence[str], law: str | None = None
) -> list[list[Cell]]:
    """Return growth with T on the paper's instance, for each law."""
    found = growths(evidence, suites, columns, law=law)
    return [group for group in found if group[0].instance == FIVE_ARMS]


def figures_law(evidence: Evidence) -> str:
    """Return the law that the published figures have."""
    return published_experiment(evidence).laws[0]


def last_shortfall(cell: Cell, k: int) -> np.ndarray:
    """Return max(0, lambda_k - rate_k) at T, shape (n_replicates,)."""
    return cell.shortfall[:, -1, k]


@estimates("banditq-abs-targets", "falling")
def shortfall_falls(evidence: Evidence) -> Iterator[Question]:
    """Yield the shortfall at each T."""
    for feedback, suites in SUITES.items():
        for group in five_arms(evidence, suites, ["reward"]):
            for k in group[0].protected:
                data = growth(group, partial(last_shortfall, k=k))
                yield Question(data, f"{feedback}, {arm(k)}", group[0].law)


def published_runs(evidence: Evidence) -> Iterator[tuple[str, Cell, int]]:
    """Yield feedback, cell and protected arm of the figures' experiments."""
    for feedback, experiment in FEEDBACKS.items():
        for cell in Cell.of(evidence, experiment, ["reward"]):
            for k in cell.protected:
                yield f"{feedback}, {arm(k)}", cell, k


@estimates("banditq-abs-targets", "small_at_horizon")
def shortfall_small(evidence: Evidence) -> Iterator[Question]:
    """Yield the shortfall at the published horizon beside 5 % of the target."""
    for each, cell, k in published_runs(evidence):
        data = {"sample": last_shortfall(cell, k), "limit": 0.05 * cell.targets[k]}
        yield Question(data, each, cell.law)


@estimates("banditq-abs-targets", "strictly_met")
def strictly_met(evidence: Evidence) -> Iterator[Question]:
    """Yield in which runs the rate is at least the target."""
    for each, cell, k in published_runs(evidence):
        yield Question({"outcomes": cell.rates[:, -1, k] >= cell.targets[k]}, each, cell.law)


# ------------------------------------------------------------------------------------ intervals


def worst_window(cell: Cell, k: int, power: float) -> np.ndarray:
    """Return lambda_k less the rate in the window where its mean is smallest, (n_replicates,).

    Windows are of T^power rounds, rounded up to the distance of the evenly spaced recorded rounds,
    and start at each of these.
    """
    step = max(1, cell.horizon // cell.spec.checkpoints["linear"])
    even = cell.rounds % step == 0
    reward = cell.values["reward"][:, even, k]
    reward = np.concatenate([np.zeros((len(reward), 1)), reward], axis=1)
    steps = math.ceil(cell.horizon**power / step)
    rates = (reward[:, steps:] - reward[:, :-steps]) / (steps * step)
    return of_largest_mean(cell.targets[k] - rates)


def windows(test: str, power: float) -> None:
    """Register the rate in the worst window on the paper's instance."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for feedback, suites in SUITES.items():
            (group,) = five_arms(evidence, suites, ["reward"], figures_law(evidence))
            for k in group[0].protected:
                data = growth(group, partial(worst_window, k=k, power=power))
                yield Question(data, f"{feedback}, {arm(k)}")

    estimates("banditq-eq4-interval-guarantee", test)(estimator)


windows("falling", 0.9)
windows("shortest_window", 0.75)


def starvation(cell: Cell, k: int) -> np.ndarray:
    """Return the longest run of rounds in which an arm starves, shape (n_replicates,)."""
    return cell.values["starvation"][:, -1, k]


@estimates("banditq-sec2-no-starvation", "sublinear")
def starvation_grows(evidence: Evidence) -> Iterator[Question]:
    """Yield the longest starvation at each T."""
    for feedback, suites in SUITES.items():
        (group,) = five_arms(evidence, suites, ["starvation"], figures_law(evidence))
        for k in group[0].protected:
            data = growth(group, partial(starvation, k=k))
            yield Question(data, f"{feedback}, {arm(k)}")


@estimates("banditq-sec2-no-starvation", "longer_than_fair_ucb")
def longer_than_fair_ucb(evidence: Evidence) -> Iterator[Question]:
    """Yield the longest starvation of arm 2 beside that under Fair-UCB, at the same T."""
    fair = only(Cell.of(evidence, "pulls_as_targets", ["starvation"]))
    (group,) = five_arms(evidence, SUITES["bandit feedback"], ["starvation"], fair.law)
    ours = next(cell for cell in group if cell.horizon == fair.horizon)
    yield Question({"larger": starvation(ours, 1), "smaller": starvation(fair, 1)})


# ---------------------------------------------------------------------------- without fairness


def unfair(
    evidence: Evidence,
) -> Iterator[tuple[str, float, list[Cell], Callable[[Cell], np.ndarray]]]:
    """Yield policy and arm in words, its target, the cells by T, and how its rate is found."""
    targets = published_experiment(evidence).targets
    for group in growths(evidence, ["unfair_policies"], ["reward"]):
        name = group[0].footer["labels"][group[0].run.policy]
        for k, target in enumerate(targets):
            if target > 0:
                yield f"{name}, {arm(k)}", target, group, lambda cell, k=k: cell.rates[:, -1, k]


@estimates("banditq-abs-classic-unfair", "rate_at_horizon")
def unfair_rates(evidence: Evidence) -> Iterator[Question]:
    """Yield rates at T beside a tenth of the target."""
    for each, target, group, rate in unfair(evidence):
        yield Question({"sample": rate(group[-1]), "limit": target / 10}, each)


@estimates("banditq-abs-classic-unfair", "falling")
def unfair_rates_fall(evidence: Evidence) -> Iterator[Question]:
    """Yield rates at each T."""
    for each, _, group, rate in unfair(evidence):
        yield Question(growth(group, rate), each)


# ------------------------------------------------------------------------------- other learners


def learners(evidence: Evidence, columns: Sequence[str]) -> Iterator[tuple[str, list[Cell], int]]:
    """Yield learner and arm in words, the cells by T, and the arm."""
    for group in growths(evidence, ["other_subroutines"], columns):
        name = group[0].footer["labels"][group[0].run.policy]
        for k in group[0].protected:
            yield f"{name}, {arm(k)}", group, k


@estimates("banditq-abs-blackbox", "falling")
def learners_shortfall(evidence: Evidence) -> Iterator[Question]:
    """Yield the shortfall at each T with other learners."""
    for each, group, k in learners(evidence, ["reward"]):
        yield Question(growth(group, partial(last_shortfall, k=k)), each)


@estimates("banditq-abs-blackbox", "same_level")
def learners_level(evidence: Evidence) -> Iterator[Question]:
    """Yield the queue at the largest T beside its equilibrium with other learners."""
    for each, group, k in learners(evidence, ["queue"]):
        last = group[-1]
        data = {"one": last.values["queue"][:, -1, k], "other": float(last.equilibrium[k])}
        yield Question(data, each)


def worst_relative_shortfall(cell: Cell) -> np.ndarray:
    """Return the shortfall at T over the target, of the arm with the largest mean."""
    short = cell.shortfall[:, -1, cell.protected] / cell.targets[cell.protected]
    return of_largest_mean(short)


def misses(test: str, experiment: str, policy: str) -> None:
    """Register the largest relative shortfall of a policy."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        cell = first_law(Cell.of(evidence, experiment, ["reward"], policy=policy))
        yield Question({"sample": worst_relative_shortfall(cell), "limit": 0.1})

    estimates("banditq-intro-adversarial-essential", test)(estimator)


misses("ucb_on_surrogates_misses", "stochastic_subroutines", "surrogate_ucb")
misses("max_weight_misses", "stochastic_subroutines", "max_weight")
misses("banditq_does_not", FEEDBACKS["bandit feedback"], "banditq")

# -------------------------------------------------------------------------------- thousand arms


def thousand(evidence: Evidence) -> Iterator[tuple[str, Cell, np.ndarray, np.ndarray]]:
    """Yield feedback, cell, and each replicate's own means and targets."""
    for cell in Cell.of(evidence, "thousand_arms", ["plays", "reward", "probability", "mean"]):
        means = cell.values["mean"][:, -1]
        targets = np.array([cell.spec.targets_for(own) for own in means.tolist()])
        yield SEES[cell.run.policy], cell, means, targets


@estimates("banditq-n1000-satisfactory", "targets")
def thousand_targets(evidence: Evidence) -> Iterator[Question]:
    """Yield relative shortfalls at T of the protected arms of a thousand."""
    for feedback, cell, _, targets in thousand(evidence):
        for k in np.flatnonzero(targets.any(axis=0)).tolist():
            short = 1 - cell.rates[:, -1, k] / targets[:, k]
            yield Question(
                {"sample": np.maximum(short, 0.0), "limit": 0.05}, f"{feedback}, {arm(k)}"
            )


@estimates("banditq-n1000-satisfactory", "regret")
def thousand_regret(evidence: Evidence) -> Iterator[Question]:
    """Yield the pseudo-regret at T with a thousand arms."""
    for feedback, cell, means, targets in thousand(evidence):
        best = [static_benchmark(*one).reward for one in zip(means, targets, strict=True)]
        earned = (cell.plays[:, -1] * means).sum(axis=-1)
        regret = np.array(best) * cell.horizon - earned
        yield Question({"larger": np.zeros(regret.size), "smaller": regret}, feedback)
