"""Estimators of what Figs 1 to 6 of BanditQ are said to show, and of what explains them.

The regret of the figures is the realised one. The published curves are single runs over their own
horizon; ours of a short run are laid beside them all the same, and say nothing then.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    FEEDBACKS,
    Cell,
    arm,
    even_places,
    first_law,
    generator,
    late_mean,
    late_spread,
    place,
    read_off,
)
from fairbandits.audit.evidence import Evidence
from fairbandits.metrics.rates import pseudo_regret
from fairbandits.optima.equilibrium import equilibrium_regret, regret_identity

FULL, BANDIT = FEEDBACKS.values()
#: Each of three values is above the next.
FALLING = [[1, -1, 0], [0, 1, -1]]


def early_middle_last(cell: Cell) -> list[int]:
    """Return the places of T / 10, T / 2 and T."""
    return [place(cell.rounds, cell.horizon * part) for part in (0.1, 0.5, 1)]


def for_both(claims: Sequence[str], test: str) -> Callable[[Callable], Callable]:
    """Register a function of evidence and experiment for a claim of each feedback."""

    def register(function: Callable[[Evidence, str], Iterator[Question]]) -> Callable:
        for claim, experiment in zip(claims, (FULL, BANDIT), strict=True):
            estimates(claim, test)(partial(function, experiment=experiment))
        return function

    return register


# ------------------------------------------------------------------------- rates, Figs 1 and 4

TARGETS_MET = ("banditq-fig1-targets-met", "banditq-fig4-targets-met-bandit")
#: How far below its target an arm may end, as a part of it.
ALLOWED = {FULL: (0.01, 0.04), BANDIT: (0.05, 0.05)}


@estimates("banditq-fig1-targets-met", "shrinking")
def full_shrinking(evidence: Evidence) -> Iterator[Question]:
    """Yield lambda_i - rate_i at three rounds."""
    for cell in Cell.of(evidence, FULL, ["reward"]):
        short = (cell.targets - cell.rates)[:, early_middle_last(cell)]
        for k in cell.protected:
            yield Question({"samples": short[:, :, k], "contrasts": FALLING}, arm(k), cell.law)


@estimates("banditq-fig4-targets-met-bandit", "shrinking")
def bandit_shrinking(evidence: Evidence) -> Iterator[Question]:
    """Yield the positive part of lambda_2 - rate_2 at three rounds."""
    for cell in Cell.of(evidence, BANDIT, ["reward"]):
        short = cell.shortfall[:, early_middle_last(cell), 1]
        yield Question({"samples": short, "contrasts": FALLING}, reading=cell.law)


def _below_target(evidence: Evidence, experiment: str, k: int) -> Iterator[Question]:
    for cell in Cell.of(evidence, experiment, ["reward"]):
        sample = cell.targets[k] - cell.rates[:, -1, k]
        limit = ALLOWED[experiment][k] * cell.targets[k]
        yield Question({"sample": sample, "limit": limit}, reading=cell.law)


@for_both(TARGETS_MET, "arm_1")
def first_below_target(evidence: Evidence, experiment: str) -> Iterator[Question]:
    """Yield lambda_1 - rate_1 at T."""
    return _below_target(evidence, experiment, 0)


@for_both(TARGETS_MET, "arm_2")
def second_below_target(evidence: Evidence, experiment: str) -> Iterator[Question]:
    """Yield lambda_2 - rate_2 at T."""
    return _below_target(evidence, experiment, 1)


@for_both(TARGETS_MET, "published")
def published_rates(evidence: Evidence, experiment: str) -> Iterator[Question]:
    """Yield the rates at T beside the figure's last values."""
    figure = {FULL: "fig1", BANDIT: "fig4"}[experiment]
    for cell in Cell.of(evidence, experiment, ["reward"]):
        for k in cell.protected:
            printed = read_off(figure, arm(k), "value")
            data = {"sample": cell.rates[:, -1, k], "printed": printed}
            yield Question(data, arm(k), cell.law)


# ------------------------------------------------------------------------ queues, Figs 2 and 5


def level(cell: Cell) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each protected arm and its mean queue over [T/2, T]."""
    for k in cell.protected:
        yield k, late_mean(cell.rounds, cell.values["queue"][:, :, k])


def against_equilibrium(cell: Cell, reading: str) -> Iterator[Question]:
    """Yield the mean queue over [T/2, T] beside the equilibrium, for each protected arm."""
    for k, mean in level(cell):
        yield Question({"one": mean, "other": float(cell.equilibrium[k])}, arm(k), reading)


def overshoot(cell: Cell, reading: str) -> Question:
    """Return the largest queue of arm 2 beside 1.5 times its equilibrium."""
    largest = cell.values["queue_max"][:, -1, 1]
    return Question(
        {"larger": largest, "smaller": 1.5 * float(cell.equilibrium[1])}, reading=reading
    )


@estimates("banditq-fig2-queues", "level")
def full_level(evidence: Evidence) -> Iterator[Question]:
    """Yield mean queues beside their equilibrium."""
    for cell in Cell.of(evidence, FULL, ["queue"]):
        yield from against_equilibrium(cell, cell.law)


@estimates("banditq-fig2-queues", "published")
def published_level(evidence: Evidence) -> Iterator[Question]:
    """Yield mean queues beside those of the published curves."""
    for cell in Cell.of(evidence, FULL, ["queue"]):
        for k, mean in level(cell):
            printed = read_off("fig2", arm(k), "late mean")
            yield Question({"sample": mean, "printed": printed}, arm(k), cell.law)


# ------------------------------------------------------------------------ regret, Figs 3 and 6


def negative(regret: np.ndarray, each: str = "", reading: str = "") -> Question:
    """Return the question whether a regret is below 0."""
    return Question({"larger": np.zeros(regret.size), "smaller": regret}, each, reading)


@estimates("banditq-negative-regret-possible", "negative")
def pseudo_regret_negative(evidence: Evidence) -> Iterator[Question]:
    """Yield the pseudo-regret at T."""
    for cell in Cell.of(evidence, FULL, ["plays"]):
        yield negative(cell.regret[:, -1], reading=cell.law)


@for_both(("banditq-fig3-negative", "banditq-fig6-regret-bandit"), "negative")
def realised_regret_negative(evidence: Evidence, experiment: str) -> Iterator[Question]:
    """Yield the realised regret at T."""
    for cell in Cell.of(evidence, experiment, ["reward"]):
        yield negative(cell.realised_regret[:, -1], reading=cell.law)


@for_both(("banditq-fig3-negative", "banditq-fig6-regret-bandit"), "published")
def published_regret(evidence: Evidence, experiment: str) -> Iterator[Question]:
    """Yield the realised regret at T beside the figure's last value."""
    figure = {FULL: "fig3", BANDIT: "fig6"}[experiment]
    for cell in Cell.of(evidence, experiment, ["reward"]):
        printed = read_off(figure, "regret", "value")
        data = {"sample": cell.realised_regret[:, -1], "printed": printed}
        yield Question(data, reading=cell.law)


@estimates("banditq-fig3-negative", "level")
def regret_level(evidence: Evidence) -> Iterator[Question]:
    """Yield the realised regret at T beside what the equilibrium says."""
    for cell in Cell.of(evidence, FULL, ["reward"]):
        other = equilibrium_regret(cell.means, cell.targets, cell.penalty)
        data = {"one": cell.realised_regret[:, -1], "other": other}
        yield Question(data, reading=cell.law)


@estimates("banditq-fig6-regret-bandit", "share_negative")
def share_negative(evidence: Evidence) -> Iterator[Question]:
    """Yield in which runs the realised regret ends below 0."""
    for cell in Cell.of(evidence, BANDIT, ["reward"]):
        yield Question({"outcomes": cell.realised_regret[:, -1] < 0}, reading=cell.law)


# ------------------------------------------------------------------ where the regret comes from


def identity_residual(cell: Cell) -> np.ndarray:
    """Return the pseudo-regret at T less what queues and exploration say it is (E2).

    It is a sum of (reward - mean) of plays of protected arms, so that its expectation is 0. In
    parts of the size of the mean regret, shape (n_replicates,).
    """
    queues, idleness = (cell.values[name][:, -1] for name in ("queue", "idleness"))
    regret = cell.regret[:, -1]
    told = regret_identity(cell.means, cell.targets, queues, idleness, cell.plays[:, -1])
    return (regret - told) / abs(regret.mean())


def matched_regret(cell: Cell) -> np.ndarray:
    """Return the pseudo-regret at T against the benchmark of equal protected rewards.

    Its targets are the mean rates that the protected arms really got, shape (n_replicates,).
    """
    got = np.where(cell.targets > 0, cell.rates[:, -1].mean(axis=0), 0.0)
    last = slice(-1, None)
    return pseudo_regret(cell.rounds[last], cell.plays[:, last], cell.means, got)[:, 0]


@estimates("banditq-fig3-mechanism", "residual_below")
def residual_below(evidence: Evidence) -> Iterator[Question]:
    """Yield the identity's residual, to be small on one side."""
    return _residual(evidence, 0.01)


@estimates("banditq-fig3-mechanism", "residual_above")
def residual_above(evidence: Evidence) -> Iterator[Question]:
    """Yield the identity's residual, to be small on the other."""
    return _residual(evidence, -0.01)


def _residual(evidence: Evidence, limit: float) -> Iterator[Question]:
    for cell in Cell.of(evidence, FULL, ["plays", "queue", "idleness"]):
        yield Question({"sample": identity_residual(cell), "limit": limit}, reading=cell.law)


@estimates("banditq-fig3-mechanism", "matched_benchmark")
def matched_benchmark(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret against the benchmark that gives protected arms what they got."""
    for cell in Cell.of(evidence, FULL, ["plays", "reward"]):
        yield Question({"sample": matched_regret(cell), "limit": 0.0}, reading=cell.law)


# ------------------------------------------------------------- full information and bandit beside


def curves(cell: Cell) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what the figures show, each of shape (n_replicates, n_rounds)."""
    for k in cell.protected:
        yield f"queue {k + 1}", cell.values["queue"][:, :, k]
    for k in cell.protected:
        yield f"rate {k + 1}", cell.rates[:, :, k]
    yield "regret", cell.realised_regret


def beside(evidence: Evidence) -> Iterator[tuple[str, str, list[np.ndarray], list[np.ndarray]]]:
    """Yield law, quantity, the two cells' rounds, and the curves: bandit feedback, then full."""
    columns = ["reward", "queue"]
    under_bandit = {cell.law: cell for cell in Cell.of(evidence, BANDIT, columns)}
    for full in Cell.of(evidence, FULL, columns):
        bandit = under_bandit[full.law]
        for (name, wide), (_, narrow) in zip(curves(bandit), curves(full), strict=True):
            yield full.law, name, [bandit.rounds, full.rounds], [wide, narrow]


@estimates("banditq-greater-variance", "over_runs")
def wider_over_runs(evidence: Evidence) -> Iterator[Question]:
    """Yield values at T of both feedbacks."""
    for law, name, _, (wide, narrow) in beside(evidence):
        yield Question({"wider": wide[:, -1], "narrower": narrow[:, -1]}, name, law)


@estimates("banditq-greater-variance", "inside_runs")
def wider_inside_runs(evidence: Evidence) -> Iterator[Question]:
    """Yield the logarithms of the standard deviations over [T/2, T] of both feedbacks."""
    for law, name, rounds, found in beside(evidence):
        larger, smaller = (np.log(late_spread(*one)) for one in zip(rounds, found, strict=True))
        yield Question({"larger": larger, "smaller": smaller}, name, law)


@estimates("banditq-u-assumption1", "never_falls")
def squares_never_fall(evidence: Evidence) -> Iterator[Question]:
    """Yield falls of the sum of squared queues from one round to the next of 50 even ones."""
    for words, experiment in FEEDBACKS.items():
        cell = first_law(Cell.of(evidence, experiment, ["queue"]))
        squares = (cell.values["queue"][:, even_places(cell.rounds)] ** 2).sum(axis=-1)
        falls = -np.diff(squares, axis=1)
        yield Question({"samples": falls, "limits": np.zeros(falls.shape[1])}, words)


def sampled_reward(cell: Cell, rng: np.random.Generator) -> np.ndarray:
    """Return each arm's reward at T as it would be from arms sampled from x(t).

    Between two recorded rounds the arms are drawn from the mean distribution there, and each is
    paid the mean reward that it had there, shape (n_replicates, n_arms).
    """
    plays, reward = (
        np.diff(cell.values[name], axis=1, prepend=0.0) for name in ("plays", "reward")
    )
    lengths = np.diff(cell.rounds, prepend=0)
    pulls = rng.multinomial(lengths, plays / plays.sum(axis=-1, keepdims=True))
    paid = np.divide(reward, plays, out=np.zeros_like(reward), where=plays > 0)
    return (pulls * paid).sum(axis=1)


@estimates("banditq-inconsistency-07", "same_mean")
def sampled_and_expected(evidence: Evidence) -> Iterator[Question]:
    """Yield rates at T from sampled arms, and from their probabilities."""
    cell = first_law(Cell.of(evidence, FULL, ["plays", "reward"]))
    sampled = sampled_reward(cell, generator("banditq-inconsistency-07"))
    for k in cell.protected:
        data = {"one": sampled[:, k] / cell.horizon, "other": cell.rates[:, -1, k]}
        yield Question(data, arm(k))
