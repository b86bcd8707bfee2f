"""Estimators of whether what BanditQ's paper leaves open matters, one choice at a time.

Each choice is laid beside the experiments of the figures, which have rewards of their own.
"""

from collections.abc import Iterator

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    FEEDBACKS,
    SEES,
    Cell,
    first_law,
    regret_at_end,
)
from fairbandits.audit.estimates.banditq_figures import (
    BANDIT,
    against_equilibrium,
    negative,
    overshoot,
)
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.evidence import Evidence

COLUMNS = ["plays", "queue", "probability"]


def results(cell: Cell) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what is compared: protected arms' queues, and the pseudo-regret, at T."""
    for k in cell.protected:
        yield f"queue {k + 1}", cell.values["queue"][:, -1, k]
    yield "regret", regret_at_end(cell)


def compared(one: Cell, other: Cell, feedback: str = "", reading: str = "") -> Iterator[Question]:
    """Yield the results of two cells beside each other."""
    for (name, mine), (_, theirs) in zip(results(one), results(other), strict=True):
        each = f"{feedback}, {name}" if feedback else name
        yield Question({"one": mine, "other": theirs}, each, reading)


def as_published(evidence: Evidence, feedback: str) -> Cell:
    """Return the cell that the figures show, with the released program's law."""
    return first_law(Cell.of(evidence, FEEDBACKS[feedback], COLUMNS))


def chosen(evidence: Evidence, instance: str, policy: str) -> Cell:
    """Return a cell of the experiment with other choices."""
    return only(Cell.of(evidence, f"sensitivity_{instance}", COLUMNS, policy=policy))


@estimates("banditq-inconsistency-01", "same_results")
def other_laws(evidence: Evidence) -> Iterator[Question]:
    """Yield results under laws in the paper's range beside those under the program's."""
    for policy, feedback in SEES.items():
        published = as_published(evidence, feedback)
        bernoulli = only(Cell.of(evidence, FEEDBACKS[feedback], COLUMNS, law="bernoulli"))
        yield from compared(bernoulli, published, feedback, "bernoulli")
        yield from compared(chosen(evidence, "beta", policy), published, feedback, "beta")


@estimates("banditq-inconsistency-03", "same_results")
def other_digits(evidence: Evidence) -> Iterator[Question]:
    """Yield results with three digits beside those with four."""
    for policy, feedback in SEES.items():
        three = chosen(evidence, "paper3", policy)
        yield from compared(three, as_published(evidence, feedback), feedback)


@estimates("banditq-inconsistency-04", "same_results")
def other_step(evidence: Evidence) -> Iterator[Question]:
    """Yield results with the theorem's step beside those with the printed one."""
    theorem = chosen(evidence, "choices", "full_step")
    return compared(theorem, as_published(evidence, "full information"))


@estimates("banditq-inconsistency-05", "same_results")
def other_index(evidence: Evidence) -> Iterator[Question]:
    """Yield results with the queue before the round beside those with the one after it."""
    for policy, feedback in SEES.items():
        before = chosen(evidence, "choices", f"{policy}_pre")
        yield from compared(before, as_published(evidence, feedback), feedback)


@estimates("banditq-inconsistency-09", "same_results")
def other_tolerance(evidence: Evidence) -> Iterator[Question]:
    """Yield results with the program's tolerance beside those with a fine one."""
    coarse = chosen(evidence, "choices", "bandit_tolerance")
    return compared(coarse, as_published(evidence, "bandit feedback"))


# -------------------------------------------------------------------------------------- Fig. 5


def fig5_cells(evidence: Evidence) -> Iterator[tuple[str, Cell]]:
    """Yield each reading of Fig. 5 and its cell; the figures have the fixed exploration rate."""
    columns = ["queue", "queue_max"]
    published = list(Cell.of(evidence, BANDIT, columns))
    yield from ((cell.law, cell) for cell in published)
    yield "gamma_fixed", published[0]
    other = Cell.of(evidence, "sensitivity_choices", columns, policy="bandit_adaptive")
    yield "gamma_adaptive", only(other)


@estimates("banditq-fig5-queues-bandit", "level")
def bandit_level(evidence: Evidence) -> Iterator[Question]:
    """Yield mean queues beside their equilibrium."""
    for reading, cell in fig5_cells(evidence):
        yield from against_equilibrium(cell, reading)


@estimates("banditq-fig5-queues-bandit", "overshoot")
def bandit_overshoot(evidence: Evidence) -> Iterator[Question]:
    """Yield the largest queue of arm 2 beside 1.5 times its equilibrium."""
    for reading, cell in fig5_cells(evidence):
        yield overshoot(cell, reading)


# -------------------------------------------------------------------------------------- Fig. 6


@estimates("banditq-fig6-regret-bandit", "negative_elsewhere")
def negative_elsewhere(evidence: Evidence) -> Iterator[Question]:
    """Yield the pseudo-regret at other horizons."""
    experiments = ("suite_bandit_five_arms", "suite_bandit_far_five_arms", "bandit_far")
    for experiment in experiments:
        for cell in Cell.of(evidence, experiment, ["plays", "probability"]):
            yield negative(regret_at_end(cell), f"T = {cell.horizon}", cell.law)
