"""What the estimators of Fair-Learn and Fair-UCB share: cells, rounds, and the theorems' bounds.

In the bounds `gaps` are Delta_i, shape (n_arms,), 0 for the best arm; `quotas` are r_i and
`tolerance` is alpha. S(T) are the arms with r_i T - alpha < 8 ln T / Delta_i^2: those that learning
pulls more often than fairness does.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fairbandits.audit.estimates import cells
from fairbandits.audit.evidence import Recorded
from fairbandits.experiments.recorded import RunData
from fairbandits.experiments.spec import OF_INSTANCE, swept
from fairbandits.metrics import pulls
from fairbandits.rationals import common_denominator, quota_numerators, rational

#: What UCB1 costs beyond its logarithm, in units of the sum of gaps.
CONSTANT = 1 + math.pi**2 / 3


# ----------------------------------------------------------------------------------- bounds


def learning_pulls(horizon: float, gaps: np.ndarray) -> np.ndarray:
    """Return 8 ln T / Delta_i^2, shape (n_arms,); infinite for arms without a gap."""
    gaps = np.asarray(gaps, float)
    needed = np.full(gaps.shape, np.inf)
    np.divide(8 * math.log(horizon), gaps**2, out=needed, where=gaps > 0)
    return needed


def still_learning(
    horizon: float, gaps: np.ndarray, quotas: Sequence[float], tolerance: float = 0
) -> np.ndarray:
    """Return which arms are in S(T) and not best, shape (n_arms,)."""
    forced = np.asarray(quotas, float) * horizon - float(tolerance)
    return (np.asarray(gaps) > 0) & (forced < learning_pulls(horizon, gaps))


def r_regret_bound(
    horizon: float,
    gaps: np.ndarray,
    quotas: Sequence[float],
    tolerance: float = 0,
    *,
    clipped: bool = False,
) -> float:
    """Return Theorem 2's bound on the r-Regret; with tolerance 0 it is Theorem 8's.

    It is (1 + pi^2/3) sum Delta_i, plus Delta_i (8 ln T / Delta_i^2 - (r_i T - alpha)) for each arm
    of S(T) that is not best. As printed it grows without limit with the tolerance; `clipped` it has
    max(0, r_i T - alpha), as the definition of r-Regret has.
    """
    gaps = np.asarray(gaps, float)
    learning = still_learning(horizon, gaps, quotas, tolerance)
    forced = np.asarray(quotas, float) * horizon - float(tolerance)
    if clipped:
        forced = np.maximum(forced, 0.0)
    extra = learning_pulls(horizon, gaps)[learning] - forced[learning]
    return float(CONSTANT * gaps.sum() + gaps[learning] @ extra)


def regret_bound(
    horizon: float, gaps: np.ndarray, quotas: Sequence[float], tolerance: float = 0
) -> float:
    """Return Theorem 4's bound on the conventional regret.

    It is (1 + pi^2/3) sum Delta_i, plus 8 ln T / Delta_i for each arm of S(T) that is not best and
    Delta_i (r_i T - alpha) for each arm outside.
    """
    gaps = np.asarray(gaps, float)
    learning = still_learning(horizon, gaps, quotas, tolerance)
    settled = (gaps > 0) & ~learning
    forced = np.asarray(quotas, float) * horizon - float(tolerance)
    cost = gaps[learning] @ learning_pulls(horizon, gaps)[learning]
    return float(CONSTANT * gaps.sum() + cost + gaps[settled] @ forced[settled])


def ucb1_bound(horizon: float, gaps: np.ndarray) -> float:
    """Return Theorem 6's bound on the regret of UCB1: that of Theorem 4 without quotas."""
    return regret_bound(horizon, gaps, np.zeros(np.size(gaps)))


def bound_for_all_gaps(horizon: float, n_arms: int) -> float:
    """Return sqrt(8 k T ln T), the distribution-free part of Theorems 3 and 7."""
    return math.sqrt(8 * n_arms * horizon * math.log(horizon))


# ------------------------------------------------------------------------- rounds and exactness


def last_by(rounds: np.ndarray, wanted: float) -> int:
    """Return the place of the last recorded round up to `wanted`; of the first if none is.

    Examples
    --------
    >>> [last_by(np.array([10, 100, 1000]), wanted) for wanted in (1, 100, 999)]
    [0, 1, 1]
    """
    return max(0, int(np.searchsorted(rounds, wanted, side="right")) - 1)


def places_by(rounds: np.ndarray, wanted: Sequence[float]) -> list[int]:
    """Return the places of several rounds, each once, increasing."""
    return sorted({last_by(rounds, one) for one in wanted})


def decades(rounds: np.ndarray, number: int) -> list[int]:
    """Return the places of T and of `number` powers of ten below it: T / 10, T / 100, ..."""
    return places_by(rounds, [rounds[-1] / 10**power for power in range(number + 1)])


def log_spaced(rounds: np.ndarray, first: float, number: int) -> list[int]:
    """Return the places of those nearest to log-spaced rounds, each once.

    These go from the first recorded round of at least `first` to the last; where there are no more
    than `number` of them, it is all of these.
    """
    start = min(int(np.searchsorted(rounds, first)), rounds.size - 1)
    if rounds.size - start <= number:
        return list(range(start, rounds.size))
    wanted = np.geomspace(rounds[start], rounds[-1], number)
    distance = np.abs(np.log(rounds[start:, None] / wanted))
    return sorted({start + int(place) for place in distance.argmin(axis=0)})


def whole(values: np.ndarray, denominator: int) -> np.ndarray:
    """Return values times their denominator as the whole numbers that they are, int64.

    Raises
    ------
    ValueError
        If one is none: then it has another denominator, or too many digits for a double.
    """
    scaled = np.asarray(values, float) * denominator
    nearest = np.rint(scaled)
    off = np.abs(scaled - nearest).max(initial=0.0)
    if off > 0.01 or np.abs(scaled).max(initial=0.0) > 2**50:
        raise ValueError(f"values times {denominator} must be whole numbers, got one {off:g} off")
    return nearest.astype(np.int64)


def r_regret_numerators(
    rounds: np.ndarray,
    played: np.ndarray,
    gaps: Sequence[Fraction],
    quotas: Sequence,
    tolerance: Fraction = Fraction(0),
    *,
    floored: bool = True,
) -> tuple[np.ndarray, int]:
    """Return the r-Regret as exact numerators, shape (..., n_rounds), and their denominator.

    Parameters
    ----------
    rounds : ndarray of int, shape (n_rounds,)
        Rounds t.
    played : ndarray of int, shape (..., n_rounds, n_arms)
        Pulls N_i(t).
    gaps : sequence of Fraction, length n_arms
        Delta_i.
    quotas : sequence of number or str, length n_arms
        r_i, exact.
    tolerance : Fraction
        alpha.
    floored : bool
        Whether floor(r_i t) - alpha are free, or r_i t - alpha, which have a finer denominator.
    """
    costs, denominator = common_denominator("gaps", gaps)
    numerators, parts = quota_numerators(quotas)
    parts *= tolerance.denominator
    owed = np.asarray(rounds)[:, None] * np.array(numerators) * tolerance.denominator
    if floored:
        parts = tolerance.denominator
        owed = pulls.floors(rounds, *quota_numerators(quotas)) * parts
    free = np.maximum(0, owed - int(tolerance * parts))
    return (parts * played - free) @ np.array(costs), denominator * parts


def unless_short(recorded: Recorded, holds: bool, what: str) -> None:
    """Raise ValueError unless something holds that only a short run of an experiment may lack.

    A run of fewer rounds than configured tries the machinery: what it is asked then has the shape
    of the question, and no meaning.
    """
    experiment = recorded.experiment
    if not holds and recorded.footer["horizon"] >= experiment.horizon:
        raise ValueError(f"{experiment.paper}/{experiment.name}: {what}")


# -------------------------------------------------------------------------------------- cells


class Cell(cells.Cell):
    """One cell of a run, with the measures of Fair-Learn."""

    @property
    def instance(self) -> str:
        """The instance of the suite, in words."""
        return self.recorded.experiment.instance.replace("_", " ")

    @property
    def is_instance_1(self) -> bool:
        """Whether a suite's instance is the paper's first, with whatever quotas."""
        return self.instance != "instance 2"

    @property
    def plays(self) -> np.ndarray:
        """Pulls, int64 of shape (n_replicates, n_rounds, n_arms)."""
        return self.run.values["plays"]

    @property
    def means(self) -> list[float]:
        """True means mu_i."""
        return list(self.spec.means)

    @property
    def gaps(self) -> np.ndarray:
        """Delta_i, shape (n_arms,), without the noise that a difference of decimals has."""
        return np.array([float(gap) for gap in self.exact_gaps])

    @property
    def exact_gaps(self) -> list[Fraction]:
        """Delta_i as fractions, means being what their shortest decimals say."""
        exact = [rational("means", mean) for mean in self.means]
        return [max(exact) - mean for mean in exact]

    @property
    def quotas(self) -> list:
        """r_i as configured, of the policy if it has its own; 0 where there are none."""
        own = self.spec.parameters.get("quotas", OF_INSTANCE)
        given = list(self.spec.quotas) or [0] * len(self.means)
        return given if own == OF_INSTANCE else own

    @property
    def shares(self) -> np.ndarray:
        """r_i as numbers, shape (n_arms,)."""
        numerators, denominator = quota_numerators(self.quotas)
        return np.array(numerators) / denominator

    @property
    def tolerance(self) -> Fraction:
        """alpha, exact."""
        return tolerance_of(self.run)

    @property
    def regret(self) -> np.ndarray:
        """Conventional regret, shape (n_replicates, n_rounds)."""
        return self.plays @ self.gaps

    @property
    def r_regret(self) -> np.ndarray:
        """r-Regret at the cell's own tolerance, shape (n_replicates, n_rounds)."""
        free = pulls.entitled(self.rounds, self.quotas, self.tolerance)
        return (self.plays - free) @ self.gaps

    def violation(self, column: str) -> np.ndarray:
        """Return the largest of a deficit over arms, shape (n_replicates, n_rounds)."""
        return pulls.violation(self.run.values[column])


def tolerance_of(run: RunData) -> Fraction:
    """Return alpha of a cell as the exact fraction that is configured; 0 for a policy without."""
    for value in run.spec.sweep.get("tolerance", []):
        if swept(value) == run.cell["tolerance"]:
            return rational("tolerance", value)
    return rational("tolerance", run.spec.parameters.get("tolerance", 0))


# ------------------------------------------------------------------------------------ readings

#: Range of quotas -> its reading; a range ends where the next begins.
RANGES = ("range_kth", "range_wider", "range_beyond")


def range_of(numerators: np.ndarray, denominator: int) -> np.ndarray:
    """Return the place in `RANGES` of quotas, shape (...); `numerators` have the arms last.

    The first is below 1/k, the second from there to below 1/(k - 1), the third from there on.
    """
    numerators = np.asarray(numerators)
    largest, n_arms = numerators.max(axis=-1), numerators.shape[-1]
    return 1 * (largest * n_arms >= denominator) + (largest * (n_arms - 1) >= denominator)


#: The two readings of Instance 1, in short.
GAPS_IN_WORDS = {"gaps_from_two": "gaps 0.01 i", "gaps_even": "gaps 0.01 (i - 1)"}


def gaps_reading(cell: Cell) -> str:
    """Return which reading of Instance 1 a cell has."""
    first, *steps = np.diff(cell.gaps)
    return "gaps_even" if np.allclose(steps, first) else "gaps_from_two"


#: The readings of LFG, in short.
LFG_IN_WORDS = {
    "lfg_constant_low": "constant 3/2",
    "lfg_constant_high": "constant 2",
    "lfg_capped": "cut off at 1",
    "lfg_uncapped": "not cut off",
}


def lfg_readings(cell: Cell) -> tuple[str, str]:
    """Return which readings of LFG a cell has: its constant and its cap."""
    parameters = {**cell.spec.parameters, **cell.run.cell}
    low = rational("constant", parameters.get("constant", 1.5)) == Fraction(3, 2)
    capped = parameters.get("cap", 1) is not None
    return (
        "lfg_constant_low" if low else "lfg_constant_high",
        "lfg_capped" if capped else "lfg_uncapped",
    )
