"""Estimators of T-Fair-UCB, which knows the horizon and fills the quotas first."""

import math
from collections.abc import Iterator

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.estimates.fair_ucb_common import (
    Cell,
    last_by,
    r_regret_bound,
    unless_short,
)
from fairbandits.audit.estimates.fair_ucb_regret import last_decade
from fairbandits.audit.evidence import Evidence
from fairbandits.rationals import rational

#: Reading -> the policy's name in the experiment.
ORDERS = {"prepull_in_turn": "in_turn", "prepull_even": "even"}


def _first_phase(cell: Cell) -> int:
    """Return sum of ceil(r_i T), the rounds after which every quota is filled."""
    quotas = (rational("quotas", quota) for quota in cell.quotas)
    return sum(math.ceil(quota * cell.horizon) for quota in quotas)


def _pre_pulls(evidence: Evidence, columns: list[str]) -> Iterator[tuple[str, Cell]]:
    """Yield reading and cell of T-Fair-UCB on all instances."""
    for reading, policy in ORDERS.items():
        for cell in Cell.of(evidence, "small_quotas", columns, policy=policy):
            yield reading, cell


# ------------------------------------------------------------------------------------ fairness


@estimates("fairucb-naive-prepull-unfair", "broken")
def unfair_before(evidence: Evidence) -> Iterator[Question]:
    """Yield whether a run on Instance 2 ever lacks a pull."""
    for reading, cell in _pre_pulls(evidence, ["floor_deficit_sup"]):
        if not cell.is_instance_1:
            missing = cell.violation("floor_deficit_sup")[:, -1] > 0
            yield Question({"outcomes": missing}, "", reading)


@estimates("fairucb-naive-prepull-unfair", "fair_at_end")
def fair_at_end(evidence: Evidence) -> Iterator[Question]:
    """Yield the floored violation at T, of all instances."""
    parts: dict[str, list[np.ndarray]] = {}
    for reading, cell in _pre_pulls(evidence, ["floor_deficit"]):
        parts.setdefault(reading, []).append(cell.violation("floor_deficit")[:, -1])
    for reading, found in parts.items():
        yield Question({"excess": np.concatenate(found)}, "", reading)


@estimates("fairucb-naive-prepull-unfair", "equal_quotas")
def equal_quotas(evidence: Evidence) -> Iterator[Question]:
    """Yield the largest floored violation of the runs on Instance 1."""
    parts: dict[str, list[np.ndarray]] = {}
    for reading, cell in _pre_pulls(evidence, ["floor_deficit_sup"]):
        if cell.is_instance_1:
            parts.setdefault(reading, []).append(cell.violation("floor_deficit_sup")[:, -1])
    for reading, found in parts.items():
        yield Question({"excess": np.concatenate(found)}, "", reading)


@estimates("fairucb-tfair-fair-at-T", "at_horizon")
def quotas_met(evidence: Evidence) -> Iterator[Question]:
    """Yield floor(r_i T) - N at T."""
    for reading, cell in _pre_pulls(evidence, ["floor_deficit"]):
        yield Question({"excess": cell.violation("floor_deficit")[:, -1]}, cell.instance, reading)


@estimates("fairucb-tfair-fair-at-T", "after_first_phase")
def quotas_met_early(evidence: Evidence) -> Iterator[Question]:
    """Yield floor(r_i T) - N at the end of the first phase."""
    for reading, cell in _pre_pulls(evidence, ["plays"]):
        end = _first_phase(cell)
        if not end:  # nothing is owed
            continue
        place = last_by(cell.rounds, end)
        unless_short(cell.recorded, cell.rounds[place] == end, f"round {end} is not recorded")
        owed = [rational("quotas", quota) * cell.horizon // 1 for quota in cell.quotas]
        excess = (np.array(owed) - cell.plays[:, place]).max(axis=1)
        yield Question({"excess": excess}, cell.instance, reading)


# ------------------------------------------------------------------------------------ r-Regret


@estimates("fairucb-thm8", "explicit")
def theorem_8(evidence: Evidence) -> Iterator[Question]:
    """Yield T-Fair-UCB's r-Regret at T."""
    for reading, cell in _pre_pulls(evidence, ["plays"]):
        limit = r_regret_bound(cell.horizon, cell.gaps, cell.shares)
        yield Question({"sample": cell.r_regret[:, -1], "limit": limit}, cell.instance, reading)


@estimates("fairucb-tfair-log", "exponent")
def t_fair_growth(evidence: Evidence) -> Iterator[Question]:
    """Yield T-Fair-UCB's r-Regret at the horizons of the last decade.

    With quotas c / T each recorded round T is the end of a run of its own, of c free pulls an arm.
    """
    for cell in Cell.of(evidence, "t_fair_growth", ["plays"], policy="t_fair_ucb"):
        free = [math.floor(rational("quotas", quota) * cell.horizon) for quota in cell.quotas]
        r_regret = (cell.plays - np.array(free)) @ cell.gaps
        yield Question(last_decade(cell, r_regret), cell.instance)


@estimates("fairucb-tfair-better-tradeoff", "smaller")
def better_trade_off(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret of Fair-UCB and of T-Fair-UCB with each quota above 0.

    Where neither has any in any run there is nothing to trade, and nothing is asked.
    """
    for reading, policy in ORDERS.items():
        for recorded in evidence.recorded("small_quotas", ["plays"]):
            fair, knows = (
                only(Cell.inside(recorded, policy=name)) for name in ("fair_ucb", policy)
            )
            one, other = fair.r_regret[:, -1], knows.r_regret[:, -1]
            if fair.shares.any() and (one.any() or other.any()):
                yield Question({"larger": one, "smaller": other}, fair.instance, reading)
