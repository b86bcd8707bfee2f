"""Estimators of BanditQ beside LFG and other oracles that know the means."""

import re
from collections.abc import Iterator

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    Cell,
    place,
    places,
    violation,
)
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.evidence import Evidence
from fairbandits.optima.static import static_benchmark
from fairbandits.rationals import rational

#: Part of the horizon from which on the lead is looked at, and in how many rounds.
FROM, LOOKED_AT = 0.01, 50
#: Policies with other tuning by reading, all else being as in the figure.
TUNED = {
    "lfg_constant_low": "low_capped",
    "lfg_constant_high": "high_capped",
    "lfg_capped": "low_capped",
    "lfg_uncapped": "low_uncapped",
}

# -------------------------------------------------------------------------------------- Fig. 7


def rivals(evidence: Evidence, columns: list[str]) -> Iterator[tuple[str, Cell, Cell]]:
    """Yield each law of Fig. 7 with BanditQ and LFG."""
    (recorded,) = evidence.recorded("oracle_lfg", columns)
    for ours in Cell.inside(recorded, policy="banditq"):
        yield ours.law, ours, only(Cell.inside(recorded, policy="lfg", law=ours.law))


def total(cell: Cell) -> np.ndarray:
    """Return the cumulated reward of all arms, shape (n_replicates, n_rounds)."""
    return cell.values["reward"].sum(axis=-1)


def lead(ours: Cell, lfg: Cell) -> np.ndarray:
    """Return by how much BanditQ is ahead, shape (n_replicates, n_rounds)."""
    return total(ours) - total(lfg)


def eta(cell: Cell) -> str:
    """Return the weight of LFG's reward against its queues, in words."""
    given = {**cell.spec.parameters, **cell.run.cell}
    return f"eta {given['eta']:g}"


def lead_at_end(ours: Cell, lfg: Cell, reading: str) -> Question:
    """Return the rewards of both at T."""
    data = {"larger": total(ours)[:, -1], "smaller": total(lfg)[:, -1]}
    return Question(data, eta(lfg), reading)


@estimates("banditq-fig7-beats-lfg", "at_horizon")
def ahead_at_end(evidence: Evidence) -> Iterator[Question]:
    """Yield the rewards at T of BanditQ and of LFG, as published and with other tuning."""
    published: dict[str, Cell] = {}
    for law, ours, lfg in rivals(evidence, ["reward"]):
        published[law] = ours
        yield lead_at_end(ours, lfg, law)
    for reading, policy in TUNED.items():
        for lfg in Cell.of(evidence, "lfg_sensitivity", ["reward"], policy=policy):
            yield lead_at_end(published[lfg.law], lfg, reading)


@estimates("banditq-fig7-beats-lfg", "matched")
def ahead_of_matched(evidence: Evidence) -> Iterator[Question]:
    """Yield BanditQ's reward beside the best fixed one that gives protected arms the same."""
    for law, ours, _ in rivals(evidence, ["reward"]):
        got = np.where(ours.targets > 0, ours.rates[:, -1].mean(axis=0), 0.0)
        fixed = static_benchmark(ours.means, got).reward * ours.horizon
        yield Question({"larger": total(ours)[:, -1], "smaller": fixed}, reading=law)


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


# ------------------------------------------------------------------------------- other oracles


@estimates("banditq-intro-lfg-linear-regret", "linear")
def lfg_regret(evidence: Evidence) -> Iterator[Question]:
    """Yield LFG's pseudo-regret at each recorded round, against its fractions played as they are.

    The fractions sum to 1, so that no other distribution gives every arm its own.
    """
    cell = only(Cell.of(evidence, "lfg_long", ["plays"]))
    fractions = cell.spec.parameters["fractions"]
    played = np.array([float(rational("fractions", one)) for one in fractions])
    regret = cell.rounds * (played @ cell.means) - cell.values["plays"] @ cell.means
    yield Question({"horizons": cell.rounds, "samples": list(regret.T)})


def larger_of_two(cell: Cell) -> np.ndarray:
    """Return regret or missing reward, whichever has the larger mean at T, at all rounds."""
    regret = cell.regret
    if regret[:, -1].mean() >= violation(cell).mean():
        return regret
    missed = cell.missing[:, :, cell.protected]
    return missed[:, :, missed[:, -1].mean(axis=0).argmax()]


@estimates("banditq-oracle-needs-exact-mu", "linear")
def wrong_oracles(evidence: Evidence) -> Iterator[Question]:
    """Yield what oracles with wrong means lose in every round."""
    for cell in Cell.of(evidence, "wrong_oracle", ["plays", "reward"]):
        name, sign, percent = re.fullmatch(r"(\w+)_(minus|plus)(\d+)", cell.run.policy).groups()
        each = f"{name}, {'-' if sign == 'minus' else '+'}{percent} %"
        yield Question({"horizons": cell.rounds, "samples": list(larger_of_two(cell).T)}, each)
