"""Estimators of the theorems about Fair-UCB's regret and r-Regret, and about UCB1's."""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.cells import only
from fairbandits.audit.estimates.fair_ucb_common import (
    CONSTANT,
    GAPS_IN_WORDS,
    Cell,
    bound_for_all_gaps,
    last_by,
    learning_pulls,
    log_spaced,
    r_regret_bound,
    r_regret_numerators,
    still_learning,
    tolerance_of,
    ucb1_bound,
    unless_short,
)
from fairbandits.audit.evidence import Evidence, Recorded
from fairbandits.experiments.recorded import RunData
from fairbandits.metrics import pulls

# ---------------------------------------------------------------------------------- Theorem 2


def _gaps_of(cell: Cell) -> str:
    """Return the reading of the gaps that an instance stands for; empty for Instance 2."""
    name = cell.instance.replace(" ", "_")
    return name if name in GAPS_IN_WORDS else ""


def _words(cell: Cell) -> str:
    """Return the instance in words."""
    return GAPS_IN_WORDS.get(_gaps_of(cell), cell.instance)


@estimates("fairucb-thm2-bound", "explicit")
def theorem_2(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret at all recorded rounds, and the bound, as printed and clipped.

    Instance 2 has nothing to do with the gaps of Instance 1, and is asked about under both.
    """
    for cell in Cell.of(evidence, "learning_bound", columns=["plays"]):
        arguments = [(int(t), cell.gaps, cell.shares, cell.tolerance) for t in cell.rounds]
        printed = [r_regret_bound(*one) for one in arguments]
        clipped = [r_regret_bound(*one, clipped=True) for one in arguments]
        each = f"{_words(cell)}, alpha = {cell.tolerance}"
        for reading in _with_all_gaps(_gaps_of(cell)):
            yield Question({"samples": cell.r_regret, "limits": printed}, each, reading)
        yield Question({"samples": cell.r_regret, "limits": clipped}, each, "clipped")


@estimates("fairucb-thm2-bound", "random_instances")
def theorem_2_on_random_instances(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret minus the bound of each replicate's own instance, over that bound."""
    for recorded in evidence.recorded("learning_bound_random", ["plays", "mean", "quota"]):
        for run in recorded.runs:
            alpha = tolerance_of(run)
            each = f"{run.values['plays'].shape[-1]} arms, alpha = {alpha}"
            for readings, clip in ((_with_all_gaps(""), False), (["clipped"], True)):
                excess = excess_over_own_bound(run, clipped=clip)
                data = {"samples": excess, "limits": np.zeros(run.rounds.size)}
                for reading in readings:
                    yield Question(data, each, reading)


def _with_all_gaps(reading: str) -> list[str]:
    """Return the readings for the bound as printed: one of the gaps or both, and that bound's."""
    return [*([reading] if reading else GAPS_IN_WORDS), "unclipped"]


def excess_over_own_bound(run: RunData, *, clipped: bool) -> np.ndarray:
    """Return r-Regret minus Theorem 2's bound, over the bound, shape (n_replicates, n_rounds).

    Each replicate has means and quotas of its own, and counts alike: the bounds of those with tiny
    gaps are so large that a mean of differences would be about these alone.
    """
    alpha, denominator = tolerance_of(run), run.spec.drawn_quotas["denominator"]
    found = np.empty(run.values["plays"].shape[:2])
    for replicate, played in enumerate(run.values["plays"]):
        means = run.values["mean"][replicate, 0]
        quotas = [Fraction(one, denominator) for one in run.values["quota"][replicate, 0].tolist()]
        regret = pulls.r_regret(run.rounds, played, means, quotas, alpha)
        for place, t in enumerate(run.rounds.tolist()):
            bound = r_regret_bound(t, pulls.gaps(means), quotas, alpha, clipped=clipped)
            found[replicate, place] = (regret[place] - bound) / bound
    return found


def _arms(
    evidence: Evidence,
    learning: bool,
    data: Callable[[Cell, int, int], dict],
) -> Iterator[Question]:
    """Yield data of each arm that is not best, at each round and tolerance.

    Parameters
    ----------
    evidence : Evidence
        What is read.
    learning : bool
        Whether arms of S(T) are meant, or those outside.
    data : callable
        From the cell, the place of the round and the arm.
    """
    for cell in Cell.of(evidence, "learning_bound", columns=["plays"]):
        reading = _gaps_of(cell)
        where = "" if reading else f"{cell.instance}, "
        for place, t in enumerate(cell.rounds.tolist()):
            inside = still_learning(t, cell.gaps, cell.shares, cell.tolerance)
            chosen = inside if learning else (cell.gaps > 0) & ~inside
            for arm in np.flatnonzero(chosen).tolist():
                each = f"{where}arm {arm + 1}, T = {t}, alpha = {cell.tolerance}"
                yield Question(data(cell, place, arm), each, reading)


@estimates("fairucb-thm2-case1", "explicit")
def pulls_outside(evidence: Evidence) -> Iterator[Question]:
    """Yield the pulls of arms outside S(T) beyond what they are owed."""

    def beyond(cell: Cell, place: int, arm: int) -> dict:
        return {"sample": cell.plays[:, place, arm] - _owed(cell, place, arm), "limit": CONSTANT}

    yield from _outside(evidence, beyond)


@estimates("fairucb-thm4-additional", "explicit")
def additional_regret(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret of arms outside S(T) beyond 8 ln T / Delta_i."""

    def beyond(cell: Cell, place: int, arm: int) -> dict:
        gap = cell.gaps[arm]
        learning = _learning(cell, place, arm)
        sample = gap * (cell.plays[:, place, arm] - learning)
        return {
            "sample": sample,
            "limit": gap * (_owed(cell, place, arm) - learning) + CONSTANT * gap,
        }

    yield from _outside(evidence, beyond)


def _outside(evidence: Evidence, data: Callable[[Cell, int, int], dict]) -> Iterator[Question]:
    """Yield what `_arms` does of arms outside S(T); a short run has none, and shows the others."""
    found = list(_arms(evidence, False, data))
    enough = set(GAPS_IN_WORDS) <= {question.reading for question in found}
    for recorded in evidence.recorded("learning_bound", []):
        unless_short(recorded, enough, "no arm of Instance 1 is ever outside S(T)")
    yield from found if enough else _arms(evidence, True, data)


@estimates("fairucb-thm2-case2", "explicit")
def pulls_inside(evidence: Evidence) -> Iterator[Question]:
    """Yield the pulls of arms of S(T)."""

    def pulls(cell: Cell, place: int, arm: int) -> dict:
        limit = _learning(cell, place, arm) + CONSTANT
        return {"sample": cell.plays[:, place, arm], "limit": limit}

    yield from _arms(evidence, True, pulls)


def _owed(cell: Cell, place: int, arm: int) -> float:
    """Return r_i T - alpha."""
    return float(cell.shares[arm] * cell.rounds[place] - cell.tolerance)


def _learning(cell: Cell, place: int, arm: int) -> float:
    """Return 8 ln T / Delta_i^2."""
    return float(learning_pulls(cell.rounds[place], cell.gaps)[arm])


@estimates("fairucb-inconsistency-03", "at_most_one_pull")
def floor_costs_at_most_a_pull(evidence: Evidence) -> Iterator[Question]:
    """Yield whether r-Regrets with floors and without differ by more than the sum of gaps."""
    parts: dict[str, list[np.ndarray]] = {}
    for cell in Cell.of(evidence, "learning_bound", columns=["plays"]):
        arguments = (cell.rounds, cell.plays, cell.exact_gaps, cell.quotas, cell.tolerance)
        floored, unit = r_regret_numerators(*arguments)
        real, fine = r_regret_numerators(*arguments, floored=False)
        most = int(sum(cell.exact_gaps, Fraction(0)) * fine)
        apart = np.abs(floored * (fine // unit) - real) > most
        parts.setdefault(_words(cell), []).append(apart.astype(int))
    for words, apart in parts.items():
        yield Question({"excess": np.concatenate(apart)}, words)


# --------------------------------------------------------------------------- constant r-Regret


def _settled(evidence: Evidence, name: str) -> tuple[Cell, np.ndarray]:
    """Return Fair-UCB's cell of the long runs, and at which rounds S(T) is empty.

    A short run does not come there; of it the last five are taken.
    """
    cell = only(Cell.of(evidence, f"constant_regime_{name}", ["plays"], policy="fair_ucb"))
    empty = np.array(
        [not still_learning(t, cell.gaps, cell.shares).any() for t in cell.rounds.tolist()]
    )
    unless_short(cell.recorded, empty.any(), "S(T) is not empty in any recorded round")
    return cell, empty if empty.any() else np.arange(empty.size) >= empty.size - 5


def _constant(cell: Cell) -> float:
    """Return (1 + pi^2/3) sum Delta_i."""
    return float(CONSTANT * cell.gaps.sum())


@estimates("fairucb-abs-constant-regret", "explicit")
def constant_r_regret(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret at T / 3 and T, where S(T) is empty."""
    for reading in GAPS_IN_WORDS:
        cell, empty = _settled(evidence, reading)
        places = dict.fromkeys([last_by(cell.rounds, cell.horizon / 3), cell.rounds.size - 1])
        for place in places:
            if empty[place]:
                data = {"sample": cell.r_regret[:, place], "limit": _constant(cell)}
                yield Question(data, f"T = {cell.rounds[place]}", reading)


@estimates("fairucb-abs-constant-regret", "not_growing")
def r_regret_does_not_grow(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret above one pull of each arm, at five rounds where S(T) is empty."""
    for reading in GAPS_IN_WORDS:
        cell, empty = _settled(evidence, reading)
        places = log_spaced(cell.rounds, cell.rounds[empty.argmax()], 5)
        beyond = np.maximum(0.0, cell.r_regret[:, places] - cell.gaps.sum())
        yield Question({"horizons": cell.rounds[places], "samples": beyond.T}, "", reading)


@estimates("fairucb-abs-constant-regret", "sharper")
def r_regret_of_one_pull_each(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret at T, and the sum of gaps."""
    for reading in GAPS_IN_WORDS:
        cell, _ = _settled(evidence, reading)
        yield Question({"sample": cell.r_regret[:, -1], "limit": cell.gaps.sum()}, "", reading)


@estimates("fairucb-inconsistency-05", "still_constant")
def constant_without_a_quota(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret at T with no quota for arm 2, and the constant."""
    cell = only(Cell.of(evidence, "constant_regime_without_quota", ["plays"], policy="fair_ucb"))
    yield Question({"sample": cell.r_regret[:, -1], "limit": _constant(cell)})


# ------------------------------------------------------------------- whatever the means: Theorem 3


def _by_arms(evidence: Evidence) -> dict[int, list[Recorded]]:
    """Return the datasets of the hardest gaps by number of arms, gaps increasing."""
    found: dict[int, list[Recorded]] = {}
    for recorded in evidence.recorded("worst_gaps", ["plays"]):
        found.setdefault(len(recorded.footer["means"]), []).append(recorded)
    return {n_arms: sorted(some, key=_gap) for n_arms, some in sorted(found.items())}


def _gap(recorded: Recorded) -> float:
    means = recorded.footer["means"]
    return means[0] - means[1]


def _over_gaps(evidence: Evidence, policies: list[str]) -> Iterator[tuple[int, str, list[Cell]]]:
    """Yield number of arms, quotas in words, and the cells of all gaps."""
    for n_arms, datasets in _by_arms(evidence).items():
        for policy in policies or list(datasets[0].footer["labels"]):
            found = [only(Cell.inside(recorded, policy=policy)) for recorded in datasets]
            yield n_arms, datasets[0].footer["labels"][policy], found


@estimates("fairucb-thm3-distfree", "explicit")
def theorem_3(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret of all gaps, with sqrt(8 k T ln T) + sum Delta_i as the bound."""
    for n_arms, quotas, found in _over_gaps(evidence, []):
        for place, t in enumerate(found[0].rounds.tolist()):
            bounds = [bound_for_all_gaps(t, n_arms) + cell.gaps.sum() for cell in found]
            samples = np.stack([cell.r_regret[:, place] for cell in found], axis=1)
            data = {"samples": samples, "limits": bounds}
            yield Question(data, f"k = {n_arms}, {quotas}, T = {t}")


@estimates("fairucb-thm3-distfree", "exponent")
def theorem_3_exponent(evidence: Evidence) -> Iterator[Question]:
    """Yield r-Regret / sqrt(ln T) at each round, of the gap whose mean is largest there."""
    for n_arms, quotas, found in _over_gaps(evidence, []):
        rounds = found[0].rounds
        curves = np.stack([cell.r_regret for cell in found]) / np.sqrt(np.log(rounds))
        worst = curves.mean(axis=1).argmax(axis=0)
        samples = [curves[gap, :, place] for place, gap in enumerate(worst)]
        data = {"horizons": rounds, "samples": samples}
        yield Question(data, f"k = {n_arms}, {quotas}")


@estimates("fairucb-thm3-monotone-in-r", "smaller")
def smaller_with_quotas(evidence: Evidence) -> Iterator[Question]:
    """Yield the r-Regret of Instance 1 without quotas and with each of them."""
    without, *others = (
        cell
        for cell in Cell.of(evidence, "small_quotas", ["plays"], policy="fair_ucb")
        if cell.is_instance_1
    )
    for cell in others:
        data = {"larger": without.r_regret[:, -1], "smaller": cell.r_regret[:, -1]}
        yield Question(data, f"quotas {cell.quotas[0]}")


# --------------------------------------------------------------------------------------- UCB1


@estimates("fairucb-ucb1-thm6", "explicit")
def theorem_6(evidence: Evidence) -> Iterator[Question]:
    """Yield UCB1's regret at all recorded rounds."""
    for cell in Cell.of(evidence, "plain_ucb", ["plays"], policy="ucb1"):
        limits = [ucb1_bound(t, cell.gaps) for t in cell.rounds.tolist()]
        reading = _gaps_of(cell)
        each = "Instance 1" if reading else cell.instance.capitalize()
        yield Question({"samples": cell.regret, "limits": limits}, each, reading)


@estimates("fairucb-ucb1-thm7", "explicit")
def theorem_7(evidence: Evidence) -> Iterator[Question]:
    """Yield UCB1's regret on the instances of the paper, and with all gaps."""
    for cell in Cell.of(evidence, "plain_ucb", ["plays"], policy="ucb1"):
        limits = [_theorem_7(cell, t) for t in cell.rounds.tolist()]
        each = f"k = {len(cell.means)}, {_words(cell)}, T to {cell.horizon}"
        yield Question({"samples": cell.regret, "limits": limits}, each)
    for n_arms, _, found in _over_gaps(evidence, ["none"]):
        for place, t in enumerate(found[0].rounds.tolist()):
            samples = np.stack([cell.regret[:, place] for cell in found], axis=1)
            data = {"samples": samples, "limits": [_theorem_7(cell, t) for cell in found]}
            yield Question(data, f"k = {n_arms}, T = {t}")


def _theorem_7(cell: Cell, horizon: int) -> float:
    return bound_for_all_gaps(horizon, len(cell.means)) + _constant(cell)


# ------------------------------------------------------------------------ after Theorem 4


@estimates("fairucb-thm4-log-regime", "explicit")
def regret_with_all_tolerance(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret with so much tolerance that every arm is in S(T)."""
    cell = only(Cell.of(evidence, "relaxed", ["plays"], policy="fair_ucb"))
    for place, t in enumerate(cell.rounds.tolist()):
        data = {"sample": cell.regret[:, place], "limit": ucb1_bound(t, cell.gaps)}
        yield Question(data, f"T = {t}")


@estimates("fairucb-thm4-log-regime", "growth")
def growth_with_all_tolerance(evidence: Evidence) -> Iterator[Question]:
    """Yield the same at the rounds of the last decade."""
    cell = only(Cell.of(evidence, "relaxed", ["plays"], policy="fair_ucb"))
    yield Question(last_decade(cell, cell.regret))


def last_decade(cell: Cell, values: np.ndarray) -> dict:
    """Return rounds from T / 10 on and values there, as growth is judged from."""
    kept = cell.rounds >= cell.horizon / 10 * (1 - 1e-9)
    return {"horizons": cell.rounds[kept], "samples": values[:, kept].T}


@estimates("fairucb-thm4-linear-regime", "exponent")
def regret_by_rounds(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret with a constant tolerance at five log-spaced rounds of the last decade."""
    for cell in Cell.of(evidence, "strict_growth", ["plays"], policy="fair_ucb"):
        places = log_spaced(cell.rounds, cell.horizon / 10, 5)
        data = {"horizons": cell.rounds[places], "samples": cell.regret[:, places].T}
        yield Question(data, f"alpha = {cell.tolerance}")


@estimates("fairucb-thm4-linear-regime", "per_round")
def regret_per_round(evidence: Evidence) -> Iterator[Question]:
    """Yield the regret per round at the end, and sum r_i Delta_i."""
    for cell in Cell.of(evidence, "strict_growth", ["plays"], policy="fair_ucb"):
        data = {"one": cell.regret[:, -1] / cell.horizon, "other": float(cell.shares @ cell.gaps)}
        yield Question(data, f"alpha = {cell.tolerance}")
