"""What the estimators of BanditQ share: cells, rounds, regrets and missing rewards.

A short run is judged in the same places: rounds that the ledger names in numbers are parts of the
horizon, and the recorded round nearest to one stands for it.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fairbandits.audit.estimates import cells
from fairbandits.audit.evidence import Evidence
from fairbandits.experiments.config import Experiment
from fairbandits.experiments.schemas import paper_file, read_yaml
from fairbandits.metrics import rates
from fairbandits.optima import equilibrium
from fairbandits.optima.static import static_benchmark

PAPER = "banditq"
#: Experiments of the figures by what BanditQ sees, in words.
FEEDBACKS = {"full information": "full_information", "bandit feedback": "bandit_feedback"}
#: What a policy sees, by its name where an experiment has one for each feedback.
SEES = {"full": "full information", "bandit": "bandit feedback"}


# --------------------------------------------------------------------------------------- cells


class Cell(cells.Cell):
    """One cell of a run, with the measures of BanditQ."""

    @property
    def instance(self) -> str:
        """Which of a suite's, without the horizon where it changes with that; or empty."""
        return re.sub(r"_\d+$", "", self.recorded.experiment.instance)

    @cached_property
    def means(self) -> np.ndarray:
        """True means mu_i."""
        return np.array(self.spec.means, float)

    @cached_property
    def targets(self) -> np.ndarray:
        """The instance's target rates lambda_i, whatever the policy's; 0 for unprotected arms."""
        targets = self.footer["targets"]
        return np.array(targets or [0.0] * self.means.size, float)

    @property
    def protected(self) -> list[int]:
        """Arms with a target, 0-based."""
        return np.flatnonzero(self.targets > 0).tolist()

    @property
    def penalty(self) -> float:
        """V."""
        given = {**self.spec.parameters, **self.run.cell}
        if given.get("V") is not None:
            return float(given["V"])
        return float(self.horizon ** given.get("V_exponent", 0.5))

    @property
    def benchmark(self) -> float:
        """Reward b* per round of the best distribution that meets the targets."""
        return static_benchmark(self.means, self.targets).reward

    @property
    def equilibrium(self) -> np.ndarray:
        """Queues at which BanditQ settles, V (mu* / mu_i - 1)."""
        return equilibrium.equilibrium_queues(self.means, self.targets, self.penalty)

    @property
    def plays(self) -> np.ndarray:
        """Summed probabilities where they are recorded, else pulls: the same mean, more noise."""
        drawn_from = self.values.get("probability")
        # under full information they are the plays, and the probe is 0
        if drawn_from is None or not drawn_from[:, -1].any():
            return self.values["plays"]
        return drawn_from

    @property
    def rates(self) -> np.ndarray:
        """Reward per round of each arm, shape (n_replicates, n_rounds, n_arms)."""
        return rates.reward_rates(self.rounds, self.values["reward"])

    @property
    def missing(self) -> np.ndarray:
        """lambda_i t - R_i(t), shape (n_replicates, n_rounds, n_arms)."""
        return self.targets * self.rounds[:, None] - self.values["reward"]

    @property
    def shortfall(self) -> np.ndarray:
        """max(0, lambda_i - rate_i), shape (n_replicates, n_rounds, n_arms)."""
        return np.maximum(self.targets - self.rates, 0.0)

    @property
    def regret(self) -> np.ndarray:
        """Pseudo-regret, shape (n_replicates, n_rounds)."""
        return rates.pseudo_regret(self.rounds, self.plays, self.means, self.targets)

    @property
    def realised_regret(self) -> np.ndarray:
        """Regret from the rewards, as the figures show it, shape (n_replicates, n_rounds)."""
        return rates.realised_regret(self.rounds, self.values["reward"], self.means, self.targets)


def first_law(cells: Iterable[Cell]) -> Cell:
    """Return the cell of the law that the figures have, which is configured first."""
    return next(iter(cells))


# --------------------------------------------------------------------------- suites and growth

#: The instance that is run with both laws: that of the paper.
FIVE_ARMS = "five_arms"
#: Growth with T by what BanditQ sees; the longest runs stand apart.
FULL_SUITES = ("suite_full", "suite_full_far")
BANDIT_SUITES = ("suite_bandit", "suite_bandit_far")
SUITES = {"full information": FULL_SUITES, "bandit feedback": BANDIT_SUITES}


def words(cell: Cell) -> str:
    """Return what a cell's instance is called, with the law where it is run with several."""
    name = cell.instance.replace("_", " ")
    return f"{name}, {cell.law}" if cell.instance == FIVE_ARMS else name


def words_and_reading(cell: Cell) -> tuple[str, str]:
    """Return what an instance is called in a claim whose readings are laws, and its reading.

    An instance that is run with one law, which is chosen for it, belongs to all readings.
    """
    law = cell.law if cell.instance == FIVE_ARMS else ""
    return cell.instance.replace("_", " "), law


def growths(
    evidence: Evidence,
    experiments: Iterable[str],
    columns: Sequence[str] | None = None,
    **chosen: Any,
) -> list[list[Cell]]:
    """Return cells that differ in their horizons alone together, by increasing horizon.

    Parameters
    ----------
    evidence : Evidence
        What is read.
    experiments : iterable of str
        Suites or experiments whose cells belong together.
    columns : sequence of str, optional
        Of the datasets; all by default.
    **chosen
        As in `Cell.of`.
    """
    groups: dict[tuple, list[Cell]] = {}
    for experiment in experiments:
        for cell in Cell.of(evidence, experiment, columns, **chosen):
            rest = {key: value for key, value in cell.run.cell.items() if key != "horizon"}
            key = (cell.instance, cell.run.name, *rest.items())
            groups.setdefault(key, []).append(cell)
    return [sorted(group, key=lambda cell: cell.horizon) for group in groups.values()]


def growth(
    group: Iterable[Cell],
    statistic: Callable[[Cell], np.ndarray],
    size: Callable[[Cell], float] = lambda cell: cell.horizon,
) -> dict[str, Any]:
    """Return the data of a growth exponent, with the horizon or another size of each cell."""
    group = list(group)
    return {
        "horizons": [size(cell) for cell in group],
        "samples": [statistic(cell) for cell in group],
    }


def regret_at_end(cell: Cell) -> np.ndarray:
    """Return the pseudo-regret at T, shape (n_replicates,)."""
    return cell.regret[:, -1]


def average_regret(cell: Cell) -> np.ndarray:
    """Return A(T), the mean over t <= T of the pseudo-regret at t, shape (n_replicates,).

    `plays_sum` are the sums over rounds of the plays up to each round, so that it is exact.
    """
    earned = cell.values["plays_sum"][:, -1] @ cell.means
    return cell.benchmark * (cell.horizon + 1) / 2 - earned / cell.horizon


# --------------------------------------------------------------------------- rounds and curves


def place(rounds: np.ndarray, wanted: float) -> int:
    """Return the place of the recorded round nearest to a round; of the earlier one if two are.

    Examples
    --------
    >>> [place(np.array([10, 100, 1000]), wanted) for wanted in (1, 55, 56, 5000)]
    [0, 0, 1, 2]
    """
    return int(np.abs(np.asarray(rounds) - wanted).argmin())


def places(rounds: np.ndarray, wanted: Iterable[float]) -> list[int]:
    """Return the places of several rounds, each once, increasing."""
    return sorted({place(rounds, one) for one in wanted})


def log_places(rounds: np.ndarray, number: int = 50, first: float = 1) -> list[int]:
    """Return the places of log-spaced rounds up to the last, as many as are recorded."""
    return places(rounds, np.geomspace(first, rounds[-1], number))


def even_places(rounds: np.ndarray, number: int = 50) -> list[int]:
    """Return the places of evenly spaced rounds up to the last, as many as are recorded."""
    return places(rounds, rounds[-1] * np.arange(1, number + 1) / number)


def late(rounds: np.ndarray) -> np.ndarray:
    """Return the weight of each recorded round in a mean over [T/2, T], by the trapezoid rule.

    Recorded rounds are not evenly spaced; the weights, which sum to 1, undo that.

    Examples
    --------
    >>> late(np.array([1, 4, 6, 8])).tolist()
    [0.0, 0.25, 0.5, 0.25]
    """
    inside = rounds >= rounds[-1] / 2
    kept = rounds[inside].astype(float)
    if kept.size == 1:
        return inside.astype(float)
    steps = np.diff(kept)
    weights = np.zeros(rounds.size)
    weights[inside] = (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
    return weights / weights.sum()


def late_mean(rounds: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """Return the mean of each curve over [T/2, T]; curves are (n_replicates, n_rounds)."""
    return curves @ late(rounds)


def late_spread(rounds: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each curve over [T/2, T]."""
    weights = late(rounds)
    middle = (curves @ weights)[:, None]
    return np.sqrt((curves - middle) ** 2 @ weights)


def of_largest_mean(values: np.ndarray) -> np.ndarray:
    """Return the column whose mean over replicates is largest; values are (n_replicates, n)."""
    return values[:, values.mean(axis=0).argmax()]


def violation(cell: Cell, at: int = -1) -> np.ndarray:
    """Return what the protected arm misses whose mean is largest at a recorded round (Eq. 5)."""
    return of_largest_mean(cell.missing[:, at][:, cell.protected])


# ------------------------------------------------------------------------- instance and numbers


def published_experiment(evidence: Evidence) -> Experiment:
    """Return the five arms with full information, as configured."""
    return evidence.config.experiment(PAPER, FEEDBACKS["full information"])


def digits(evidence: Evidence) -> dict[str, Experiment]:
    """Return the five arms as configured, by the readings of how many digits they have."""
    printed = evidence.config.experiment(PAPER, "sensitivity_paper3")
    return {"code4": published_experiment(evidence), "paper3": printed}


def published() -> Mapping[str, Any]:
    """Return what was read off the published figures."""
    return read_yaml(paper_file(PAPER, "published"))


def read_off(figure: str, series: str, quantity: str) -> float:
    """Return a number that was read off a published figure; a value is that of the last round."""
    known = published()["figures"][figure]
    (found,) = (
        one["value"]
        for one in known["values"]
        if (one["series"], one["quantity"]) == (series, quantity)
        and (quantity != "value" or one["round"] == known["horizon"])
    )
    return float(found)


def generator(claim: str) -> np.random.Generator:
    """Return random numbers that belong to a claim alone."""
    digest = hashlib.blake2b(claim.encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def arm(k: int) -> str:
    """Return what an arm is called, which is counted from 1."""
    return f"arm {k + 1}"
