"""Estimators of BanditQ beside LFG and other oracles that know the means."""

from collections.abc import Iterator

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import Cell, cells, place, places
from fairbandits.audit.evidence import Evidence

#: Part of the horizon from which on the lead is looked at, and in how many rounds.
FROM, LOOKED_AT = 0.01, 50


def rivals(evidence: Evidence, columns: list[str]) -> Iterator[tuple[str, Cell, Cell]]:
    """Yield each law of Fig. 7 with BanditQ and LFG."""
    for ours in cells(evidence, "oracle_lfg", columns, policy="banditq"):
        (lfg,) = cells(evidence, "oracle_lfg", columns, policy="lfg", law=ours.law)
        yield ours.law, ours, lfg


def total(cell: Cell) -> np.ndarray:
    """Return the cumulated reward of all arms, shape (n_replicates, n_rounds)."""
    return cell.values["reward"].sum(axis=-1)


def lead(ours: Cell, lfg: Cell) -> np.ndarray:
    """Return by how much BanditQ is ahead, shape (n_replicates, n_rounds)."""
    return total(ours) - total(lfg)


def eta(cell: Cell) -> str:
    """Return the weight of LFG's reward against its queues, in words."""
    given = cell.block["parameters"] | cell.run.cell
    return f"eta {given['eta']:g}"


@estimates("banditq-fig7-beats-lfg", "everywhere")
def ahead_on_average(evidence: Evidence) -> Iterator[Question]:
    """Yield how far LFG is ahead at evenly spaced rounds from T/100 on."""
    for law, ours, lfg in rivals(evidence, ["reward"]):
        wanted = np.linspace(FROM * ours.horizon, ours.horizon, LOOKED_AT)
        behind = -lead(ours, lfg)[:, places(ours.rounds, wanted)]
        yield Question({"samples": behind, "limits": np.zeros(behind.shape[1])}, reading=law)


@estimates("banditq-fig7-beats-lfg", "ahead_throughout")
def ahead_in_all_rounds(evidence: Evidence) -> Iterator[Question]:
    """Yield in which replicates BanditQ is ahead at every recorded round from T/100 on."""
    for law, ours, lfg in rivals(evidence, ["reward"]):
        start = place(ours.rounds, FROM * ours.horizon)
        ahead = (lead(ours, lfg)[:, start:] > 0).all(axis=1)
        yield Question({"outcomes": ahead}, reading=law)


@estimates("banditq-inconsistency-25", "same_shortfall")
def same_shortfall(evidence: Evidence) -> Iterator[Question]:
    """Yield the rate of arm 2 under BanditQ beside 99 % of that under LFG."""
    for law, ours, lfg in rivals(evidence, ["reward"]):
        data = {"larger": ours.rates[:, -1, 1], "smaller": 0.99 * lfg.rates[:, -1, 1]}
        yield Question(data, reading=law)
