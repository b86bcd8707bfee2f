"""Estimators of what Figs 2 to 4 of the Fair-Learn paper are said to show.

Rounds that the ledger names in numbers are powers of ten below the horizon, and tolerances that it
names are parts of it, so that a short run is judged in the same places.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from fairbandits.audit.estimates import Estimator, Question, estimates
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.estimates.fair_ucb_common import (
    GAPS_IN_WORDS,
    LFG_IN_WORDS,
    Cell,
    decades,
    gaps_reading,
    last_by,
    lfg_readings,
    log_spaced,
    regret_bound,
    unless_short,
)
from fairbandits.audit.evidence import Evidence

COSTS = ("cost_of_fairness", "cost_of_fairness_other_gaps")
R_REGRETS = ("r_regret", "r_regret_other_gaps")
#: Which of the recorded deficits is meant: those of the largest round so far.
SO_FAR = {"floored": "floor_deficit_sup", "real": "deficit_sup"}

# ------------------------------------------------------------------------------------- Fig. 2


class Costs(NamedTuple):
    """What Fig. 2 is drawn from: cells by tolerance, UCB1's, and the tolerance it never reaches."""

    reading: str
    grid: dict[float, Cell]
    ucb1: Cell
    threshold: float

    @property
    def horizon(self) -> int:
        """T."""
        return self.ucb1.horizon

    @property
    def words(self) -> str:
        """The reading in short."""
        return GAPS_IN_WORDS[self.reading]

    @property
    def above(self) -> Cell:
        """Fair-UCB at the smallest tolerance above UCB1's own level."""
        return self.grid[min(one for one in self.grid if one > self.threshold)]

    def steps(self) -> list[tuple[Cell, Cell]]:
        """Return neighbours in steps of at least T / 1000, both below UCB1's own level.

        There is no such level in a short run, where UCB1 meets the quotas; then it is the first
        two of all tolerances.
        """
        kept: list[float] = []
        for tolerance in self.grid:
            far = not kept or tolerance - kept[-1] >= self.horizon / 1000
            if far and tolerance < self.threshold:
                kept.append(tolerance)
        kept = kept if len(kept) > 1 else list(self.grid)[:2]
        return [(self.grid[low], self.grid[high]) for low, high in itertools.pairwise(kept)]


def costs(evidence: Evidence, experiment: str) -> Costs:
    """Return the cells of a cost-of-fairness experiment; tolerances increase."""
    columns = ["plays", "deficit", *SO_FAR.values()]
    (recorded,) = evidence.recorded(experiment, columns)
    found = {cell.run.cell["tolerance"]: cell for cell in Cell.inside(recorded, policy="fair_ucb")}
    ucb1 = only(Cell.inside(recorded, policy="ucb1"))
    threshold = float(own_level(ucb1).mean())
    inside = sum(tolerance < threshold for tolerance in found)
    unless_short(recorded, inside > 2, "no tolerances are below UCB1's own level")
    return Costs(gaps_reading(ucb1), dict(sorted(found.items())), ucb1, threshold)


def own_level(ucb1: Cell) -> np.ndarray:
    """Return the largest r_i T - N_i of UCB1, shape (n_replicates,).

    With a tolerance from there on Fair-UCB forces no pull, and is UCB1.
    """
    return ucb1.violation("deficit")[:, -1]


def regret_at_end(cell: Cell) -> np.ndarray:
    """Return the conventional regret at the horizon, shape (n_replicates,)."""
    return cell.regret[:, -1]


def violation_at_end(cell: Cell, reading: str) -> np.ndarray:
    """Return the largest violation up to the horizon, shape (n_replicates,)."""
    return cell.violation(SO_FAR[reading])[:, -1]


@estimates("fairucb-thm4-bound", "explicit")
def theorem_4(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret at each tolerance: all of a reading of the gaps, whole ones, others."""
    for experiment in COSTS:
        found = costs(evidence, experiment)
        grid = found.grid.values()
        readings = {
            found.reading: list(grid),
            "alpha_integer": [cell for cell in grid if cell.tolerance.denominator == 1],
            "alpha_fraction": [cell for cell in grid if cell.tolerance.denominator > 1],
        }
        for reading, chosen in readings.items():
            limits = [
                regret_bound(cell.horizon, cell.gaps, cell.shares, cell.tolerance)
                for cell in chosen
            ]
            samples = np.stack([regret_at_end(cell) for cell in chosen], axis=1)
            yield Question({"samples": samples, "limits": limits}, found.words, reading)


@estimates("fairucb-fig2-regret-decreasing", "falling")
def regret_falls(evidence: Evidence) -> Iterator[Question]:
    """Yield how much more regret each next tolerance has than the one before."""
    for experiment in COSTS:
        found = costs(evidence, experiment)
        rises = [regret_at_end(after) - regret_at_end(before) for before, after in found.steps()]
        yield Question(_all_at_most_0(rises), "", found.reading)


@estimates("fairucb-fig2-violation-increasing", "rising")
def violation_rises(evidence: Evidence) -> Iterator[Question]:
    """Yield how much smaller the violation is at each next tolerance than at the one before."""

    def falls(found: Costs, measure: str) -> dict:
        differences = [
            violation_at_end(low, measure) - violation_at_end(high, measure)
            for low, high in found.steps()
        ]
        return _all_at_most_0(differences)

    yield from _by_gaps_and_measure(evidence, falls)


@estimates("fairucb-fig2-violation-increasing", "flat_beyond")
def violation_is_flat(evidence: Evidence) -> Iterator[Question]:
    """Yield the violation just above UCB1's own level, and at the largest tolerance."""

    def ends(found: Costs, measure: str) -> dict:
        largest = found.grid[max(found.grid)]
        return {
            "one": violation_at_end(found.above, measure),
            "other": violation_at_end(largest, measure),
        }

    yield from _by_gaps_and_measure(evidence, ends)


def _by_gaps_and_measure(
    evidence: Evidence, data: Callable[[Costs, str], dict]
) -> Iterator[Question]:
    """Yield data of each reading of the gaps with each measure, under both names."""
    for experiment in COSTS:
        found = costs(evidence, experiment)
        for measure in SO_FAR:
            given = data(found, measure)
            for reading in (found.reading, measure):
                yield Question(given, f"{found.words}, {measure}", reading)


def _all_at_most_0(differences: list[np.ndarray]) -> dict:
    return {"samples": np.stack(differences, axis=1), "limits": np.zeros(len(differences))}


@estimates("fairucb-fig2-threshold", "recovers_ucb1")
def recovers_ucb1(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret just above UCB1's own level, and UCB1's."""
    for experiment in COSTS:
        found = costs(evidence, experiment)
        data = {"one": regret_at_end(found.above), "other": regret_at_end(found.ucb1)}
        yield Question(data, "", found.reading)


@estimates("fairucb-fig2-threshold", "sharp_drop")
def sharp_drop(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret lost per unit of tolerance: at first, before the threshold, and at it."""
    for experiment in COSTS:
        found = costs(evidence, experiment)
        grid = list(found.grid)
        early = max(1, grid.index(_largest_by(grid, found.horizon / 200)))
        at = int(np.searchsorted(grid, found.threshold))
        at = min(max(at, 2), len(grid) - 1)  # there is a step before it, and one that contains it
        steps = ((0, early), (at - 2, at - 1), (at - 1, at))
        lost = [
            (regret_at_end(found.grid[grid[low]]) - regret_at_end(found.grid[grid[high]]))
            / (grid[high] - grid[low])
            for low, high in steps
        ]
        data = {"samples": np.stack(lost, axis=1), "contrasts": [[-1, 0, 1], [0, -1, 1]]}
        yield Question(data, "", found.reading)


def _largest_by(values: list[float], limit: float) -> float:
    return max(value for value in values if value <= limit)


def thresholds(evidence: Evidence, experiment: str) -> np.ndarray:
    """Return the largest r_i T - N_i of UCB1 in an experiment, shape (n_replicates,)."""
    cell = only(Cell.of(evidence, experiment, ["plays"], policy="ucb1"))
    return (cell.shares * cell.horizon - cell.plays[:, -1]).max(axis=1)


@estimates("fairucb-fig2-threshold-problem-dependent", "smaller_quotas")
def lower_with_smaller_quotas(evidence: Evidence) -> Iterator[Question]:
    """Yield the threshold of Instance 1, and that with smaller quotas."""
    own, other = _paired(
        thresholds(evidence, "cost_of_fairness"),
        thresholds(evidence, "other_thresholds_smaller_quotas"),
    )
    yield Question({"larger": own, "smaller": other})


@estimates("fairucb-fig2-threshold-problem-dependent", "larger_gaps")
def higher_with_larger_gaps(evidence: Evidence) -> Iterator[Question]:
    """Yield the threshold with doubled gaps, and that of Instance 1."""
    own, other = _paired(
        thresholds(evidence, "cost_of_fairness"),
        thresholds(evidence, "other_thresholds_doubled_gaps"),
    )
    yield Question({"larger": other, "smaller": own})


def _paired(*samples: np.ndarray) -> list[np.ndarray]:
    """Return the replicates that all samples have: of those with more, the first ones."""
    return [sample[: min(map(len, samples))] for sample in samples]


def contrasts(evidence: Evidence, experiment: str) -> np.ndarray:
    """Return (R(0) - R(largest tolerance)) / R(largest tolerance), shape (n_replicates,)."""
    found = {
        cell.tolerance: cell for cell in Cell.of(evidence, experiment, ["plays"], policy="fair_ucb")
    }
    strictest, loosest = (regret_at_end(found[place]) for place in (min(found), max(found)))
    return (strictest - loosest) / loosest


@estimates("fairucb-appd-contrast", "less")
def less_contrast(evidence: Evidence) -> Iterator[Question]:
    """Yield the contrast of Instance 1, and with five times its gaps."""
    own, other = _paired(
        contrasts(evidence, "cost_of_fairness"),
        contrasts(evidence, "other_thresholds_larger_gaps"),
    )
    yield Question({"larger": own, "smaller": other})


# ------------------------------------------------------------------------------------- Fig. 3


def _fair_ucb(evidence: Evidence) -> Iterator[Cell]:
    """Yield Fair-UCB's cell of Fig. 3 under each reading of the gaps."""
    for experiment in R_REGRETS:
        yield only(Cell.of(evidence, experiment, ["plays"], policy="fair_ucb"))


@estimates("fairucb-sublog", "rises_then_falls")
def r_regret_over_logarithm(evidence: Evidence) -> Iterator[Question]:
    """Yield r-Regret / ln t at T / 1000, T / 10 and T."""
    for cell in _fair_ucb(evidence):
        wanted = [max(2, cell.horizon / part) for part in (1000, 10, 1)]  # ln 1 is 0
        places = [last_by(cell.rounds, one) for one in wanted]
        samples = cell.r_regret[:, places] / np.log(cell.rounds[places])
        data = {"samples": samples, "contrasts": [[-1, 1, 0], [0, 1, -1]]}
        yield Question(data, "", gaps_reading(cell))


@estimates("fairucb-fig3-logarithmic", "keeps_growing")
def r_regret_grows(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret at T / 100, T / 10 and T."""
    for cell in _fair_ucb(evidence):
        places = [last_by(cell.rounds, cell.horizon / part) for part in (100, 10, 1)]
        data = {"samples": cell.r_regret[:, places], "contrasts": [[-1, 1, 0], [0, -1, 1]]}
        yield Question(data, "", gaps_reading(cell))


@estimates("fairucb-fig3-logarithmic", "no_faster_than_log")
def r_regret_in_last_decade(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret at six log-spaced rounds from T / 10 to T."""
    for cell in _fair_ucb(evidence):
        places = log_spaced(cell.rounds, cell.horizon / 10, 6)
        data = {"horizons": cell.rounds[places], "samples": cell.r_regret[:, places].T}
        yield Question(data, "", gaps_reading(cell))


def _against_lfg(eta: int) -> Estimator:
    """Return the estimator of LFG's and Fair-UCB's r-Regret, with one weight of LFG."""

    def same_r_regret(evidence: Evidence) -> Iterator[Question]:
        """Yield both at T / 100, T / 10 and T."""
        for experiment in R_REGRETS:
            (recorded,) = evidence.recorded(experiment, ["plays"])
            fair = only(Cell.inside(recorded, policy="fair_ucb"))
            rival = only(Cell.inside(recorded, policy="lfg", eta=eta))
            for place in decades(fair.rounds, 2):
                data = {"one": rival.r_regret[:, place], "other": fair.r_regret[:, place]}
                yield Question(data, f"t = {fair.rounds[place]}", gaps_reading(fair))

    return same_r_regret


for _eta in (1, 10, 100, 1000, 10000):
    estimates("fairucb-fig3-comparable", f"eta_{_eta}")(_against_lfg(_eta))


@estimates("fairucb-inconsistency-10", "same_for_all_weights")
def same_for_all_weights(evidence: Evidence) -> Iterator[Question]:
    """Yield LFG's r-Regret at T with each weight, and with the weight 1000."""
    found: dict[tuple[str, str], dict[float, Cell]] = {}
    for experiment in ("r_regret", "sensitivity"):
        for cell in Cell.of(evidence, experiment, columns=["plays"]):
            if "eta" in cell.run.cell:
                found.setdefault(lfg_readings(cell), {})[cell.run.cell["eta"]] = cell
    for place in range(2):  # of the constant, and of the cap
        for readings, weights in found.items():
            for eta, cell in weights.items():
                if eta == 1000:
                    continue
                data = {"one": cell.r_regret[:, -1], "other": weights[1000].r_regret[:, -1]}
                words = LFG_IN_WORDS[readings[1 - place]]
                yield Question(data, f"eta = {eta:g}, {words}", readings[place])


#: Policy in the experiment ``sensitivity`` -> the reading of Fair-UCB that it has.
OTHER_READINGS = {
    "clock_previous": "clock_previous",
    "first_forced": "first_forced",
    "ties_random": "ties_random",
}
#: Those that Fair-UCB of Fig. 3 has.
FIRST_READINGS = ("clock_round", "first_by_learner", "ties_lowest")


@estimates("fairucb-inconsistency-15", "same_results")
def same_for_all_readings(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret under each reading and under the first ones at T / 100, T / 10 and T.

    A round where neither has any in any run is left out: 0 / 0 is no ratio.
    """
    first = only(Cell.of(evidence, "r_regret", ["plays"], policy="fair_ucb"))
    runs = dict.fromkeys(FIRST_READINGS, first)
    for policy, reading in OTHER_READINGS.items():
        runs[reading] = only(Cell.of(evidence, "sensitivity", ["plays"], policy=policy))
    for reading, cell in runs.items():
        for place in decades(cell.rounds, 2):
            t = cell.rounds[place]
            one, other = _paired(
                cell.r_regret[:, place], first.r_regret[:, last_by(first.rounds, t)]
            )
            if one.any() or other.any():
                yield Question({"one": one, "other": other}, f"t = {t}", reading)


@estimates("fairucb-bernoulli-wlog", "same")
def same_for_coins(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret at T with beta rewards turned into coins, and with Bernoulli rewards."""
    (recorded,) = evidence.recorded("beta_rewards", ["plays"])
    found = {cell.run.name: cell.r_regret[:, -1] for cell in Cell.inside(recorded)}
    yield Question({"one": found["resampled-beta"], "other": found["fair_ucb-bernoulli"]})


# ------------------------------------------------------------------------------------- Fig. 4


@estimates("fairucb-fig4-fairucb-uniform", "every_round")
def fair_in_every_round(evidence: Evidence) -> Iterator[Question]:
    """Yield Fair-UCB's largest floored violation of each run, of both horizons."""
    for experiment in ("fairness", "fairness_long"):
        cell = only(Cell.of(evidence, experiment, ["floor_deficit_sup"], policy="fair_ucb"))
        excess = cell.violation("floor_deficit_sup")[:, -1]
        yield Question({"excess": excess}, cell.footer["title"])


@estimates("fairucb-fig4-lfg-increasing", "rising")
def violation_of_lfg_rises(evidence: Evidence) -> Iterator[Question]:
    """Yield LFG's violation at T and at T / 2, for the two windows."""
    for reading, column in {"real": "deficit", "floored": "floor_deficit"}.items():
        for cell in Cell.of(evidence, "short_windows", [column], policy="lfg"):
            values = cell.violation(column)
            for end in decades(cell.rounds, 1):
                half = last_by(cell.rounds, cell.rounds[end] / 2)
                data = {"larger": values[:, end], "smaller": values[:, half]}
                each = f"T = {cell.rounds[end]}, eta = {cell.run.cell['eta']:g}"
                yield Question(data, each, reading)


@estimates("fairucb-appd-i2-demanding", "far_fewer")
def far_fewer_pulls(evidence: Evidence) -> Iterator[Question]:
    """Yield UCB1's pulls of the arms that are not best, and a tenth of their quotas."""
    cell = only(Cell.of(evidence, "unfair_rivals", ["plays"], policy="ucb1"))
    for arm in np.flatnonzero(cell.gaps > 0).tolist():
        limit = float(cell.shares[arm] * cell.horizon / 10)
        yield Question({"sample": cell.plays[:, -1, arm], "limit": limit}, f"arm {arm + 1}")


def _lfg_late(evidence: Evidence) -> Iterator[tuple[Cell, np.ndarray, str]]:
    """Yield LFG's cells of the long run, their real violation at T, and their weight in words."""
    for cell in Cell.of(evidence, "fairness_long", ["deficit"], policy="lfg"):
        yield cell, cell.violation("deficit")[:, -1], f"eta = {cell.run.cell['eta']:g}"


@estimates("fairucb-fig4-lfg-to-zero", "gone")
def violation_is_gone(evidence: Evidence) -> Iterator[Question]:
    """Yield LFG's violation at the last round against one pull."""
    for cell, violation, eta in _lfg_late(evidence):
        for reading in lfg_readings(cell):
            yield Question({"sample": violation, "limit": 1.0}, eta, reading)


@estimates("fairucb-fig4-lfg-to-zero", "gone_per_round")
def violation_per_round_is_gone(evidence: Evidence) -> Iterator[Question]:
    """Yield the same divided by the rounds against one pull in a thousand rounds."""
    for cell, violation, eta in _lfg_late(evidence):
        for reading in lfg_readings(cell):
            yield Question({"sample": violation / cell.horizon, "limit": 0.001}, eta, reading)


@estimates("fairucb-fig4-lfg-to-zero", "fixed_point")
def violation_at_fixed_point(evidence: Evidence) -> Iterator[Question]:
    """Yield LFG's violation at the last round, and eta times the largest gap."""
    for cell, violation, eta in _lfg_late(evidence):
        limit = cell.run.cell["eta"] * cell.gaps.max()
        for reading in lfg_readings(cell):
            yield Question({"one": violation, "other": limit}, eta, reading)
