"""Estimators of Fair-Learn's guarantee, and of how it compares with that of other policies."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.estimates.fair_ucb_common import (
    RANGES,
    Cell,
    lfg_readings,
    r_regret_numerators,
    range_of,
    tolerance_of,
    whole,
)
from fairbandits.audit.estimates.fair_ucb_direct import FLOAT_ROUNDS, float_run, hard_quotas
from fairbandits.audit.evidence import Evidence
from fairbandits.rationals import quota_numerators

FLOORED = "floor_deficit_sup"
REAL = "deficit_sup"
KTH, WIDER, BEYOND = range(3)
#: Lemma 1 is meant for quotas below one over the number of its classes.
CLASSES = {"classes_k": ("k", (KTH,)), "classes_k_minus_1": ("k_minus_1", (KTH, WIDER))}

# ---------------------------------------------------------------------- the guarantee in itself


class Observed(NamedTuple):
    """Fair-Learn with one learner and tolerance on one suite of quotas, at the last round.

    Attributes
    ----------
    learner : str
        In words.
    tolerance : Fraction
        alpha.
    numerators : ndarray of int, shape (n_replicates, n_arms)
        Of the quotas, which each replicate may have of its own.
    denominator : int
        Of the quotas.
    values : dict of str to ndarray, shape (n_replicates, n_arms)
        Recorded columns.
    """

    learner: str
    tolerance: Fraction
    numerators: np.ndarray
    denominator: int
    values: dict[str, np.ndarray]

    @property
    def beyond(self) -> np.ndarray:
        """Numerators of the largest floor(r_i t) - N_i - alpha of each run."""
        floored = self.values[FLOORED].max(axis=1)
        return floored * self.tolerance.denominator - self.tolerance.numerator

    @property
    def beyond_rounded(self) -> np.ndarray:
        """The same with the tolerance rounded up, as it is all that the proof gives."""
        return self.values[FLOORED].max(axis=1) - math.ceil(self.tolerance)

    @property
    def beyond_one_more(self) -> np.ndarray:
        """Numerators of the largest r_i t - N_i - alpha - 1 of a run."""
        common = math.lcm(self.denominator, self.tolerance.denominator)
        real = whole(self.values[REAL], self.denominator).max(axis=1)
        return real * (common // self.denominator) - int((self.tolerance + 1) * common)

    def largest(self, column: str) -> np.ndarray:
        """Return the largest over arms of what is a whole number, of each run."""
        return whole(self.values[column].max(axis=1), 1)


def observed(evidence: Evidence, suites: Sequence[str], column: str) -> Iterator[Observed]:
    """Yield all cells of some suites, with one column."""
    for suite in suites:
        for recorded in evidence.recorded(suite, [column, "quota"]):
            for run in recorded.runs:
                values = {name: values[:, -1] for name, values in run.values.items()}
                if "quota" in values:
                    numerators, denominator = values["quota"], run.spec.drawn_quotas["denominator"]
                else:
                    fixed, denominator = quota_numerators(run.spec.quotas)
                    numerators = np.broadcast_to(fixed, values[column].shape)
                learner, tolerance = recorded.footer["labels"][run.policy], tolerance_of(run)
                yield Observed(learner, tolerance, numerators, denominator, values)


def guarantee(
    evidence: Evidence,
    suites: Sequence[str],
    column: str,
    excess: Callable[[Observed], np.ndarray],
    *,
    ranges: Sequence[int] = (KTH,),
    tolerances: Callable[[Fraction], bool] = lambda alpha: True,
    each: Callable[[Observed], str] | None = None,
    readings: Sequence[str] = RANGES,
) -> Iterator[Question]:
    """Yield the excess of all runs of each learner and tolerance.

    Parameters
    ----------
    evidence : Evidence
        What is read.
    suites : sequence of str
        Experiments.
    column : str
        The recorded column that is needed.
    excess : callable
        By how much each run breaks what is claimed, whole numbers of shape (n_replicates,).
    ranges : sequence of int
        Which ranges of quotas are meant.
    tolerances : callable
        Which tolerances are meant.
    each : callable, optional
        What a question is about; learner and tolerance by default.
    readings : sequence of str
        The reading of each range of quotas.
    """
    parts: dict[tuple[str, str], list[np.ndarray]] = {}
    for one in observed(evidence, suites, column):
        if not tolerances(one.tolerance):
            continue
        found, where = excess(one), range_of(one.numerators, one.denominator)
        words = each(one) if each else f"{one.learner}, alpha = {one.tolerance}"
        for place in ranges:
            if (where == place).any():
                parts.setdefault((readings[place], words), []).append(found[where == place])
    for reading in dict.fromkeys(readings):
        for (own, words), runs in parts.items():
            if own == reading:
                yield Question({"excess": np.concatenate(runs)}, words, reading)


def _is_whole(alpha: Fraction) -> bool:
    return alpha.denominator == 1


def _is_fraction(alpha: Fraction) -> bool:
    return alpha.denominator > 1


@estimates("fairucb-thm1-alpha0", "every_round")
def never_behind(evidence: Evidence) -> Iterator[Question]:
    """Yield floor(r_i t) - N without tolerance: with exact quotas, and with quotas as doubles."""
    yield from guarantee(
        evidence,
        ["fair_suite", "fair_suite_long"],
        FLOORED,
        lambda one: one.beyond,
        tolerances=lambda alpha: alpha == 0,
        each=lambda one: one.learner,
        readings=["exact_integers"] * 3,
    )
    longest = max(one.footer["horizon"] for one in evidence.recorded("fair_suite_long", []))
    for name, (means, quotas) in hard_quotas(evidence).items():
        found = float_run(means, quotas, min(FLOAT_ROUNDS, longest), evidence.config.seed)
        words = f"first other choice in round {found.differs}" if found.differs else "same choices"
        data = {"excess": np.array([found.violation])}
        yield Question(data, f"UCB1, {name}, {words}", "floating_point")


@estimates("fairucb-thm1-alpha-int", "every_round")
def within_whole_tolerance(evidence: Evidence) -> Iterator[Question]:
    """Yield floor(r_i t) - N - alpha for whole tolerances."""
    yield from guarantee(
        evidence,
        ["fair_suite", "fair_suite_long"],
        FLOORED,
        lambda one: one.beyond,
        tolerances=lambda alpha: _is_whole(alpha) and alpha > 0,
        readings=["alpha_integer"] * 3,
    )


@estimates("fairucb-thm1-alpha-nonint", "every_round")
def within_fraction(evidence: Evidence) -> Iterator[Question]:
    """Yield the same for others, and for those hard cases whose quotas are below 1/k."""
    yield from _of_fractions(evidence, lambda one: one.beyond)


@estimates("fairucb-thm1-alpha-nonint", "rounded_up")
def within_fraction_rounded_up(evidence: Evidence) -> Iterator[Question]:
    """Yield floor(r_i t) - N - ceil(alpha) of the same runs."""
    yield from _of_fractions(evidence, lambda one: one.beyond_rounded)


def _of_fractions(
    evidence: Evidence, excess: Callable[[Observed], np.ndarray]
) -> Iterator[Question]:
    yield from guarantee(
        evidence,
        ["fair_suite", "fair_suite_long", "beyond_range"],
        FLOORED,
        excess,
        tolerances=_is_fraction,
        readings=["alpha_fraction"] * 3,
    )


@estimates("fairucb-thm1-range", "every_round")
def within_range(evidence: Evidence) -> Iterator[Question]:
    """Yield floor(r_i t) - N - alpha, alpha 0 and 1, in each range of quotas."""
    yield from guarantee(
        evidence,
        ["fair_suite", "beyond_range"],
        FLOORED,
        lambda one: one.beyond,
        ranges=(KTH, WIDER, BEYOND),
        tolerances=lambda alpha: alpha in (0, 1),
    )


@estimates("fairucb-thm1-independent-of-learn", "each_learner")
def whatever_the_learner(evidence: Evidence) -> Iterator[Question]:
    """Yield floor(r_i t) - N - alpha of each learner, all whole tolerances together."""
    yield from guarantee(
        evidence,
        ["fair_suite"],
        FLOORED,
        lambda one: one.beyond,
        tolerances=_is_whole,
        each=lambda one: one.learner,
        readings=["alpha_integer"] * 3,
    )


@estimates("fairucb-lemma1-partition", "every_round")
def deficits_below_one_more(evidence: Evidence) -> Iterator[Question]:
    """Yield numerators of r_i t - N - alpha - 1, plus 1: it has to be below 0."""
    yield from guarantee(
        evidence,
        ["fair_suite"],
        REAL,
        lambda one: one.beyond_one_more + 1,
        ranges=(KTH, WIDER),
    )


@estimates("fairucb-lemma1-cardinality", "every_round")
def arms_in_the_highest_classes(evidence: Evidence) -> Iterator[Question]:
    """Yield the number of arms in the j highest classes minus j, largest over rounds and j."""
    yield from _by_classes(evidence, "crowding", allowed=0)


@estimates("fairucb-obs3", "every_round")
def rises_by_one_class(evidence: Evidence) -> Iterator[Question]:
    """Yield by how many classes an arm rises in a round without a pull of it, minus 1."""
    yield from _by_classes(evidence, "rise", allowed=1)


def _by_classes(evidence: Evidence, probe: str, allowed: int) -> Iterator[Question]:
    for reading, (classes, ranges) in CLASSES.items():
        column = f"{probe}_{classes}"
        yield from guarantee(
            evidence,
            ["fair_suite"],
            column,
            lambda one, column=column: one.largest(column) - allowed,
            ranges=ranges,
            readings=[reading] * 3,
        )


@estimates("fairucb-obs2", "every_round")
def deficit_after_a_pull(evidence: Evidence) -> Iterator[Question]:
    """Yield numerators of the deficit of the arm just pulled minus alpha, plus 1."""
    yield from guarantee(
        evidence,
        ["fair_suite"],
        "pulled_excess",
        lambda one: one.largest("pulled_excess") + 1,
        ranges=(KTH, WIDER),
    )


@estimates("fairucb-def2-implies-def1", "every_round")
def fair_in_the_limit(evidence: Evidence) -> Iterator[Question]:
    """Yield numerators of r_i t - N - alpha - 1 for whole tolerances."""
    yield from guarantee(
        evidence,
        ["fair_suite"],
        REAL,
        lambda one: one.beyond_one_more,
        tolerances=_is_whole,
        readings=["alpha_integer"] * 3,
    )


@estimates("fairucb-horizon-agnostic", "same_pulls")
def same_pulls_whatever_the_horizon(evidence: Evidence) -> Iterator[Question]:
    """Yield the largest difference of pulls between runs that end earlier and the longest one."""
    for recorded in evidence.recorded("prefix", ["plays"]):
        longest = only(Cell.inside(recorded, policy="longest"))
        apart = []
        for stopped in Cell.inside(recorded, policy="stopped"):
            (place,) = np.flatnonzero(longest.rounds == stopped.horizon)
            apart.append(np.abs(stopped.plays[:, -1] - longest.plays[:, place]).max(axis=1))
        yield Question({"excess": np.max(apart, axis=0)}, longest.instance)


# ------------------------------------------------------------------------- against other policies


@estimates("fairucb-deterministic-vs-expectation", "fair_ucb_never")
@estimates("fairucb-stronger-than-lfg", "fair_ucb_never")
def fair_ucb_never(evidence: Evidence) -> Iterator[Question]:
    """Yield Fair-UCB's largest floored violation of each run on Instance 2."""
    cell = only(Cell.of(evidence, "fairness", [FLOORED], policy="fair_ucb"))
    yield Question({"excess": cell.violation(FLOORED)[:, -1]})


@estimates("fairucb-deterministic-vs-expectation", "in_mean_often")
def in_mean_violates(evidence: Evidence) -> Iterator[Question]:
    """Yield whether the policy that is fair in expectation ever lacks a pull."""
    cell = only(Cell.of(evidence, "fair_in_mean", [FLOORED], policy="mixture"))
    yield Question({"outcomes": cell.violation(FLOORED)[:, -1] > 0})


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
        cell = only(Cell.of(evidence, "fairness", [FLOORED], policy="lfg", eta=eta))
        data = {"larger": cell.violation(FLOORED)[:, -1], "smaller": 0.0}
        for reading in lfg_readings(cell):
            yield Question(data, f"eta = {eta}", reading)


@estimates("fairucb-def4-negative-if-unfair", "ucb1_negative")
def ucb1_below_zero(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret of UCB1 at the last round."""
    yield _below_zero(only(Cell.of(evidence, "unfair_rivals", ["plays"], policy="ucb1")))


@estimates("fairucb-def4-negative-if-unfair", "lfg_negative")
def lfg_below_zero(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret of LFG with weight 1000 at the last round."""
    cell = only(Cell.of(evidence, "fairness", ["plays"], policy="lfg", eta=1000))
    yield _below_zero(cell)


def _below_zero(cell: Cell) -> Question:
    found = cell.r_regret[:, -1]
    return Question({"larger": np.zeros(found.size), "smaller": found})


@estimates("fairucb-def4-negative-if-unfair", "fair_ucb_not")
def fair_ucb_not_below_zero(evidence: Evidence) -> Iterator[Question]:
    """Yield minus Fair-UCB's smallest r-Regret of each run, as whole numbers of its gaps' unit."""
    cell = only(Cell.of(evidence, "fairness", ["plays"], policy="fair_ucb"))
    numerators, _ = r_regret_numerators(
        cell.rounds, cell.plays, cell.exact_gaps, cell.quotas, cell.tolerance
    )
    yield Question({"excess": -numerators.min(axis=1)})
