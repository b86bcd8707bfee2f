"""Estimators of how BanditQ's regret, violation and queues grow with T, N and t."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    BANDIT_SUITES,
    FIVE_ARMS,
    FULL_SUITES,
    SUITES,
    Cell,
    arm,
    average_regret,
    growth,
    growths,
    of_largest_mean,
    place,
    regret_at_end,
    violation,
    words,
    words_and_reading,
)
from fairbandits.audit.evidence import Evidence

Statistic = Callable[[Cell], np.ndarray]

# ------------------------------------------------------------------------------ with the rounds


def by_feedback(claim: str, columns: Sequence[str], statistic: Statistic) -> None:
    """Register growth with T on each instance and for each feedback, by law."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for feedback, suites in SUITES.items():
            for group in growths(evidence, suites, columns):
                name, reading = words_and_reading(group[0])
                yield Question(growth(group, statistic), f"{name}, {feedback}", reading)

    estimates(claim, "exponent")(estimator)


by_feedback("banditq-abs-regret-t34", ["plays"], regret_at_end)
by_feedback("banditq-abs-violation-t34", ["reward"], violation)


def on_instances(
    claim: str, test: str, suites: Sequence[str], columns: Sequence[str], statistic: Statistic
) -> None:
    """Register growth with T on each instance, the law being part of the instance."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for group in growths(evidence, suites, columns):
            yield Question(growth(group, statistic), words(group[0]))

    estimates(claim, test)(estimator)


def by_law(claim: str, test: str, columns: Sequence[str], statistic: Statistic) -> None:
    """Register growth with T under bandit feedback on each instance, by law."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for group in growths(evidence, BANDIT_SUITES, columns):
            yield Question(growth(group, statistic), *words_and_reading(group[0]))

    estimates(claim, test)(estimator)


def largest_queue(cell: Cell) -> np.ndarray:
    """Return the largest queue of any arm and round, shape (n_replicates,)."""
    return cell.values["queue_max"][:, -1].max(axis=-1)


on_instances("banditq-prop2-violation", "in_rounds", FULL_SUITES, ["reward"], violation)
on_instances("banditq-beats-cai", "below_five_sixths", FULL_SUITES, ["reward"], violation)
on_instances("banditq-prop3-regret", "in_rounds", FULL_SUITES, ["plays"], regret_at_end)
on_instances("banditq-abs-avg-regret-sqrt", "exponent", FULL_SUITES, ["plays_sum"], average_regret)
on_instances("banditq-prop7-diameter", "exponent", BANDIT_SUITES, ["queue_max"], largest_queue)
by_law("banditq-prop6", "in_rounds", ["reward"], violation)
by_law("banditq-thm3-regret", "in_rounds", ["plays"], regret_at_end)


def squared_at_peak(cell: Cell, k: int) -> np.ndarray:
    """Return an arm's squared queue at the recorded round where its mean is largest."""
    return of_largest_mean(cell.values["queue"][:, :, k] ** 2)


def squared_at_end(cell: Cell, k: int) -> np.ndarray:
    """Return an arm's squared queue at T."""
    return cell.values["queue"][:, -1, k] ** 2


def on_protected_arms(
    claim: str, suites: Sequence[str], statistic: Callable[[Cell, int], np.ndarray]
) -> None:
    """Register growth with T of each protected arm's queue on each instance."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for group in growths(evidence, suites, ["queue"]):
            for k in group[0].protected:
                data = growth(group, partial(statistic, k=k))
                yield Question(data, f"{words(group[0])}, {arm(k)}")

    estimates(claim, "exponent")(estimator)


on_protected_arms("banditq-prop1-moment", FULL_SUITES, squared_at_peak)
on_protected_arms("banditq-eq21-22-moment", BANDIT_SUITES, squared_at_end)

# -------------------------------------------------------------------------------- with the arms


def in_arms(
    claim: str, test: str, policy: str, columns: Sequence[str], statistic: Statistic
) -> None:
    """Register growth with N; its one law belongs to all readings."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        found = sorted(
            Cell.of(evidence, "arms", columns, policy=policy), key=lambda cell: cell.means.size
        )
        yield Question(growth(found, statistic, lambda cell: cell.means.size))

    estimates(claim, test)(estimator)


in_arms("banditq-prop2-violation", "in_arms", "full", ["reward"], violation)
in_arms("banditq-prop3-regret", "in_arms", "full", ["plays"], regret_at_end)
in_arms("banditq-prop4-average", "in_arms", "full", ["plays_sum"], average_regret)
in_arms("banditq-prop6", "in_arms", "bandit", ["reward"], violation)
in_arms("banditq-thm3-regret", "in_arms", "bandit", ["plays"], regret_at_end)
in_arms("banditq-thm3-regret", "in_arms_uai", "bandit", ["plays"], regret_at_end)
in_arms("banditq-u-thm5", "in_arms", "bandit", ["plays"], regret_at_end)

# ----------------------------------------------------------------- for other weights of the reward


def weights(
    evidence: Evidence, policy: str, suites: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[float, list[Cell]]]:
    """Yield v and the cells with V = T^v on the paper's instance; v = 1/2 is in the suites."""
    found = [
        (group[0].run.cell["V_exponent"], group)
        for group in growths(evidence, ["trade_off"], columns, policy=policy)
    ]
    law = found[0][1][0].law
    own = growths(evidence, suites, columns, law=law)
    found += [(0.5, group) for group in own if group[0].instance == FIVE_ARMS]
    yield from sorted(found, key=lambda one: one[0])


def by_weight(
    claim: str,
    test: str,
    runs: tuple[str, Sequence[str]],
    columns: Sequence[str],
    statistic: Statistic,
    exponent: Callable[[float], float],
) -> None:
    """Register growth of a statistic over T^exponent(v), for each v."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for v, group in weights(evidence, *runs, columns):
            data = growth(group, lambda cell, v=v: statistic(cell) / cell.horizon ** exponent(v))
            yield Question(data, f"v = {v:g}")

    estimates(claim, test)(estimator)


def full_regret_exponent(v: float) -> float:
    """Return the exponent of T in max(T / sqrt(V), sqrt(T)), V = T^v."""
    return max(1 - v / 2, 0.5)


def full_violation_exponent(v: float) -> float:
    """Return the exponent of T in sqrt(V T)."""
    return (1 + v) / 2


def bandit_regret_exponent(v: float) -> float:
    """Return the exponent of T in max(T / sqrt(V), T^(5/4) / V, sqrt(T))."""
    return max(1 - v / 2, 1.25 - v, 0.5)


SEES_ALL, SEES_OWN = ("full", FULL_SUITES), ("bandit", BANDIT_SUITES)
by_weight("banditq-u-thm2", "regret", SEES_ALL, ["plays"], regret_at_end, full_regret_exponent)
by_weight("banditq-u-thm2", "violation", SEES_ALL, ["reward"], violation, full_violation_exponent)
by_weight("banditq-u-thm5", "in_rounds", SEES_OWN, ["plays"], regret_at_end, bandit_regret_exponent)

# ------------------------------------------------------------------------------ without targets


def without_targets(claim: str, test: str, policy: str) -> None:
    """Register growth of the regret without targets on the hardest gaps."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        (group,) = growths(evidence, ["no_targets"], ["plays"], policy=policy)
        yield Question(growth(group, regret_at_end))

    estimates(claim, test)(estimator)


without_targets("banditq-u-prop8", "full", "full")
without_targets("banditq-u-prop8", "bandit", "bandit")
without_targets("banditq-remark-improvable", "already_sqrt", "bandit")

# -------------------------------------------------------------------- with the round, where V = 0

#: 2e4, 6.3e4, 2e5, 4e5, 6.3e5 and 2e6 as parts of the last.
PARTS = (0.01, 0.0315, 0.1, 0.2, 0.315, 1)


def violation_in_rounds(cell: Cell) -> dict[str, Any]:
    """Return the violation at some rounds of the same runs."""
    chosen = [place(cell.rounds, cell.horizon * part) for part in PARTS]
    return {
        "horizons": cell.rounds[chosen],
        "samples": [violation(cell, at) for at in chosen],
    }


def without_penalty(claim: str, suite: str) -> None:
    """Register growth of the violation with the round, V = 0."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        for cell in Cell.of(evidence, suite, ["reward"]):
            yield Question(violation_in_rounds(cell), words(cell))

    estimates(claim, "exponent")(estimator)


without_penalty("banditq-prop5-implication", "no_penalty_full")
without_penalty("banditq-u-prop7", "no_penalty_bandit")
