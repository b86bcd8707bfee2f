"""Estimators of what holds on every path of BanditQ, and of what its learners see."""

from collections.abc import Iterator, Sequence

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.banditq_common import (
    Cell,
    growth,
    growths,
    words,
)
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.evidence import Evidence

# ---------------------------------------------------------------------- inequalities of every path

#: Policies of the experiment by reading, all else being as in the figures.
AS_READ = {
    "post": ("post_printed",),
    "pre": ("pre_printed",),
    "step_printed": ("post_printed",),
    "step_theorem": ("post_theorem",),
}
#: Those by the step alone, with either queue.
BY_STEP = {
    "step_theorem": ("post_theorem", "pre_theorem"),
    "step_printed": ("post_printed", "pre_printed"),
}
#: All of them, for what holds whatever the reading.
ALL = {"": ("post_printed", "post_theorem", "pre_printed", "pre_theorem")}


def pathwise(claim: str, test: str, column: str, readings: dict[str, tuple[str, ...]]) -> None:
    """Register an inequality: its largest left less right side over rounds, on each instance."""

    def estimator(evidence: Evidence) -> Iterator[Question]:
        found: dict[tuple[str, str], list[np.ndarray]] = {}
        for cell in Cell.of(evidence, "pathwise_full", [column]):
            for reading, policies in readings.items():
                if cell.run.policy in policies:
                    largest = cell.values[column][:, -1]
                    found.setdefault((reading, words(cell)), []).append(largest)
        for (reading, name), excess in found.items():
            yield Question({"excess": np.stack(excess)}, name, reading)

    estimates(claim, test)(estimator)


def some(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the policies of some readings."""
    return {name: AS_READ[name] for name in names}


pathwise("banditq-eq6-queue-implies-rate", "every_round", "eq6_excess", ALL)
pathwise("banditq-eq8-drift", "every_round", "eq8_excess", ALL)
pathwise("banditq-trivial-q", "every_round", "queue_excess", ALL)
pathwise("banditq-regret-geq-minus-t", "every_round", "floor_excess", ALL)
pathwise("banditq-thm1-oga", "theorem_step", "eq11_excess", BY_STEP)
pathwise("banditq-eq12", "every_round", "eq12_excess", AS_READ)
pathwise("banditq-eq13", "every_round", "eq13_excess", some(["pre", "post"]))

# ------------------------------------------------------------------------------ gains of any scale


def apart(cell: Cell, reference: Cell) -> np.ndarray:
    """Return how far the cumulated distributions of two runs are apart, (n_replicates, ..., N)."""
    return np.abs(cell.plays - reference.plays)


def scaled(
    evidence: Evidence, instance: str, policy: str, key: str
) -> tuple[Cell, list[tuple[float, Cell]]]:
    """Return the run with factor 1 and the others with theirs, on an instance of the suite."""
    found = {
        cell.run.cell[key]: cell
        for cell in Cell.of(
            evidence, "scale_full", ["plays", "probability", "queue"], policy=policy
        )
        if cell.instance == instance
    }
    return found[1.0], [(value, cell) for value, cell in found.items() if value != 1]


@estimates("banditq-thm1-scalefree", "every_iterate")
def same_iterates(evidence: Evidence) -> Iterator[Question]:
    """Yield differences of the cumulated iterates to those of unscaled gains."""
    reference, others = scaled(evidence, "gains", "full", "gain")
    for factor, cell in others:
        data = {"excess": apart(cell, reference), "scale": cell.rounds[:, None]}
        yield Question(data, f"factor {factor:g}")


def without_targets(cell: Cell, reference: Cell) -> np.ndarray:
    """Return queues, and differences of the cumulated distributions, (2, n_replicates, ..., N)."""
    return np.stack([cell.values["queue"], apart(cell, reference)])


@estimates("banditq-sec2-reduces-to-mab", "full")
def same_for_all_weights(evidence: Evidence) -> Iterator[Question]:
    """Yield differences to the run with V = 1 without targets, full information."""
    reference, others = scaled(evidence, "no_targets", "full", "V")
    for value, cell in others:
        data = {"excess": without_targets(cell, reference), "scale": cell.rounds[:, None]}
        yield Question(data, f"V = {value:g}")


@estimates("banditq-sec2-reduces-to-mab", "bandit")
def nearly_same_for_all_weights(evidence: Evidence) -> Iterator[Question]:
    """Yield the same differences under bandit feedback."""
    reference, others = scaled(evidence, "no_targets", "bandit", "V")
    excess = np.stack([without_targets(cell, reference) for _, cell in others])
    yield Question({"excess": excess, "scale": reference.rounds[:, None]})


# ------------------------------------------------------------------------------ surrogate rewards


@estimates("banditq-eq9-surrogate-noniid", "dependent")
def correlations(evidence: Evidence) -> Iterator[Question]:
    """Yield mean autocorrelations of arm 2's surrogate reward over three windows of lags."""
    columns = [f"correlation_{lags}" for lags in (10, 100, 1000)]
    (group,) = growths(evidence, ["surrogate_paths"], columns)
    found = np.stack([group[-1].values[column][:, -1, 1] for column in columns], axis=1)
    yield Question({"samples": found, "contrasts": np.eye(3)})


@estimates("banditq-eq9-surrogate-noniid", "unbounded")
def largest_norms(evidence: Evidence) -> Iterator[Question]:
    """Yield the largest norm of the surrogate rewards at each T."""
    (group,) = growths(evidence, ["surrogate_paths"], ["gain_norm"])
    yield Question(growth(group, lambda cell: cell.values["gain_norm"][:, -1, 0]))


# ------------------------------------------------------------------- losses of any size and sign


def unscaled_regret(cell: Cell, sign: float) -> np.ndarray:
    """Return the learner's regret over the scale of its gains, shape (n_replicates,).

    With turned signs the best arm is the one of the smallest mean.
    """
    gains = sign * cell.means
    return cell.values["plays"][:, -1] @ (gains.max() - gains)


def losses(evidence: Evidence, small: bool) -> Iterator[Question]:
    """Yield the regret at scales below or above 1 beside that at 1, for gains and for losses."""
    for sign, name in ((1.0, "gains"), (-1.0, "losses")):
        reference = only(Cell.of(evidence, "scaled_losses", ["plays"], gain=sign))
        for cell in Cell.of(evidence, "scaled_losses", ["plays"]):
            scale = cell.run.cell["gain"] * sign
            if scale > 0 and scale != 1 and (scale < 1) == small:
                data = {
                    "one": unscaled_regret(cell, sign),
                    "other": unscaled_regret(reference, sign),
                }
                yield Question(data, f"scale {scale:g}, {name}")


@estimates("banditq-pa-any-real-loss", "same_regret")
def large_losses(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret at scales above 1 beside that at 1."""
    return losses(evidence, small=False)


@estimates("banditq-pa-any-real-loss", "small_scales")
def small_losses(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret at scales below 1 beside that at 1."""
    return losses(evidence, small=True)
