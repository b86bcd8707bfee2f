"""Estimators of Fair-Learn's guarantee, and of how it compares with that of other policies."""

from collections.abc import Iterator

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.fair_ucb_common import (
    Cell,
    cells,
    lfg_readings,
    only,
    r_regret_numerators,
)
from fairbandits.audit.evidence import Evidence

FLOORED = "floor_deficit_sup"

# ------------------------------------------------------------------------- against other policies


@estimates("fairucb-deterministic-vs-expectation", "fair_ucb_never")
@estimates("fairucb-stronger-than-lfg", "fair_ucb_never")
def fair_ucb_never(evidence: Evidence) -> Iterator[Question]:
    """Yield Fair-UCB's largest floored violation of each run on Instance 2."""
    cell = only(cells(evidence, "fairness", "fair_ucb", [FLOORED]))
    yield Question({"excess": cell.violation(FLOORED)[:, -1]})


@estimates("fairucb-stronger-than-lfg", "lfg_does")
def lfg_violates(evidence: Evidence) -> Iterator[Question]:
    """Yield LFG's largest floored violation with large weights."""
    yield from _lfg_violation(evidence, (100, 1000, 10000))


@estimates("fairucb-stronger-than-lfg", "lfg_small_weights")
def lfg_violates_with_small_weights(evidence: Evidence) -> Iterator[Question]:
    """Yield the same with small weights."""
    yield from _lfg_violation(evidence, (1, 10))


def _lfg_violation(evidence: Evidence, etas: tuple[int, ...]) -> Iterator[Question]:
    for eta in etas:
        cell = only(cells(evidence, "fairness", "lfg", [FLOORED], eta=eta))
        data = {"larger": cell.violation(FLOORED)[:, -1], "smaller": 0.0}
        for reading in lfg_readings(cell):
            yield Question(data, f"eta = {eta}", reading)


@estimates("fairucb-def4-negative-if-unfair", "lfg_negative")
def lfg_below_zero(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret of LFG with weight 1000 at the last round."""
    cell = only(cells(evidence, "fairness", "lfg", ["plays"], eta=1000))
    yield _below_zero(cell)


def _below_zero(cell: Cell) -> Question:
    found = cell.r_regret[:, -1]
    return Question({"larger": np.zeros(found.size), "smaller": found})


@estimates("fairucb-def4-negative-if-unfair", "fair_ucb_not")
def fair_ucb_not_below_zero(evidence: Evidence) -> Iterator[Question]:
    """Yield minus Fair-UCB's smallest r-Regret of each run, as whole numbers of its gaps' unit."""
    cell = only(cells(evidence, "fairness", "fair_ucb", ["plays"]))
    numerators, _ = r_regret_numerators(
        cell.rounds, cell.plays, cell.exact_gaps, cell.quotas, cell.tolerance
    )
    yield Question({"excess": -numerators.min(axis=1)})
