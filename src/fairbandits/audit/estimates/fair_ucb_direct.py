"""Estimators of claims about Fair-Learn that need no recorded run: they count for themselves."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits.audit.estimates import Question, estimates
from fairbandits.audit.estimates.fair_ucb_common import (
    r_regret_numerators,
)
from fairbandits.audit.evidence import Evidence
from fairbandits.engine.protocol import learn
from fairbandits.instance import Instance
from fairbandits.policies import UCB1, FairLearn, lead
from fairbandits.rationals import rational
from fairbandits.simulation import run

# ------------------------------------------------------------------------------- Observation 1

#: Random instances, and random count vectors.
DRAWN = 10_000


class Problem(NamedTuple):
    """A random instance: gaps and quotas in thousandths, the first arm best."""

    horizon: int
    gaps: list[Fraction]
    quotas: list[Fraction]
    tolerance: Fraction

    def is_fair(self, counts: Sequence[int]) -> bool:
        """Whether no arm has more than alpha pulls fewer than floor(r_i T), the definition."""
        return all(
            quota * self.horizon // 1 - count <= self.tolerance
            for quota, count in zip(self.quotas, counts, strict=True)
        )

    def excess(self, counts: Sequence[int]) -> int:
        """Return the numerator of the r-Regret of these counts."""
        numerators, _ = r_regret_numerators(
            np.array([self.horizon]),
            np.array([counts]),
            self.gaps,
            self.quotas,
            self.tolerance,
        )
        return int(numerators[0])


def _problem(rng: np.random.Generator, parts: int) -> Problem:
    """Draw an instance; the tolerance is a whole number of `parts`-ths."""
    n_arms, horizon = int(rng.integers(2, 11)), int(rng.integers(20, 2000))
    gaps = [Fraction(0), *(Fraction(int(gap), 1000) for gap in rng.integers(1, 1000, n_arms - 1))]
    shares = rng.integers(0, -(-1000 // n_arms), n_arms)  # below 1/k
    tolerance = Fraction(int(rng.integers(0, 20 * parts)), parts)
    return Problem(horizon, gaps, [Fraction(int(one), 1000) for one in shares], tolerance)


def _cheapest(problem: Problem) -> list[int]:
    """Return the fair counts of least regret, found from the definition of fairness alone.

    Every pull of another arm than the best costs something, so each of them gets as few as the
    definition allows, found by bisection.
    """
    counts = []
    for quota in problem.quotas[1:]:
        arm = problem._replace(quotas=[quota])
        low, high = 0, problem.horizon
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if arm.is_fair([middle]) else (middle + 1, high)
        counts.append(low)
    return [problem.horizon - sum(counts), *counts]


@estimates("fairucb-obs1-optimal", "zero")
def best_fair_policy(evidence: Evidence) -> Iterator[Question]:
    """Yield the size of the r-Regret of the cheapest fair counts, with whole tolerances.

    With others no count equals floor(r_i T) - alpha.
    """
    rng = np.random.default_rng([evidence.config.seed, 1])
    problems = [_problem(rng, parts=1) for _ in range(DRAWN)]
    yield Question(
        {"excess": np.array([abs(problem.excess(_cheapest(problem))) for problem in problems])}
    )


@estimates("fairucb-obs1-optimal", "others_not_below")
def other_fair_counts(evidence: Evidence) -> Iterator[Question]:
    """Yield minus the r-Regret of random counts that are fair, with tolerances in halves."""
    rng = np.random.default_rng([evidence.config.seed, 2])
    excess = []
    while len(excess) < DRAWN:
        problem = _problem(rng, parts=2)
        most = [int(2 * quota * problem.horizon) + 5 for quota in problem.quotas[1:]]
        others = [int(rng.integers(0, one)) for one in most]
        counts = [problem.horizon - sum(others), *others]
        if counts[0] >= 0 and problem.is_fair(counts):
            excess.append(-problem.excess(counts))
    yield Question({"excess": np.array(excess)})


# ------------------------------------------------------------------- Fair-Learn in other programs


class _State:
    """Fair-Learn over UCB1 as a plain program, with quotas and tolerance of any kind of number."""

    def __init__(self, policy: "PlainFairLearn", n_arms: int, horizon: int) -> None:
        self.policy = policy
        self.known = UCB1().start(n_arms, horizon)
        self.pulls = [0] * n_arms

    def choose(self, t: int, coin: int) -> int:
        del coin
        awake = [arm for arm in range(len(self.pulls)) if not self.policy.sleeps(arm, t)]
        deficits = {arm: self.policy.quotas[arm] * (t - 1) - self.pulls[arm] for arm in awake}
        furthest = max(deficits, key=deficits.__getitem__)
        if deficits[furthest] > self.policy.tolerance:
            return furthest
        unpulled = [arm for arm in awake if not self.pulls[arm]]
        if unpulled:
            return unpulled[0]
        bonus = math.sqrt(2.0 * math.log(t))
        lead.settle(self.known.lead)
        known = self.known.lead.leader
        return max(awake, key=lambda arm: known.mean[arm] + bonus * known.inverse_root[arm])

    def learn(self, t: int, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        learn(self.known, t, arm, reward)


@dataclass(frozen=True)
class PlainFairLearn:
    """Fair-Learn with UCB1 as a plain program, in whatever numbers it is given.

    Parameters
    ----------
    quotas : sequence of float or Fraction
        r_i; floats as a program without exact fractions has them.
    tolerance : float or Fraction
        alpha.
    asleep : (int, int), optional
        An arm, from 0, and until which round it cannot be pulled.
    """

    quotas: tuple
    tolerance: Any = 0
    asleep: tuple[int, int] = (-1, 0)
    feedback: ClassVar[str] = "bandit"

    def start(self, n_arms: int, horizon: int) -> _State:
        """Return the state before the first round."""
        return _State(self, n_arms, horizon)

    def sleeps(self, arm: int, t: int) -> bool:
        """Whether an arm cannot be pulled in a round."""
        return arm == self.asleep[0] and t <= self.asleep[1]


def hard_quotas(evidence: Evidence) -> dict[str, tuple[list[float], list[str]]]:
    """Return means and quotas on which floating point is tried, by name.

    0.09 * 5 is not 0.45, and 0.29 * 100 is not 29, when they are doubles.
    """
    configured = {
        name: evidence.config.experiment("fair_ucb", experiment)
        for name, experiment in {"Instance 1": "r_regret", "Instance 2": "fairness"}.items()
    }
    return {
        "quotas 9/100": ([0.9 - 0.05 * k for k in range(10)], ["9/100"] * 10),
        "quotas 29/100": ([0.9, 0.6, 0.3], ["29/100"] * 3),
    } | {name: (list(one.means), list(map(str, one.quotas))) for name, one in configured.items()}


#: Of Fair-Learn with quotas as doubles, unless all runs are shorter.
FLOAT_ROUNDS = 100_000


class FloatRun(NamedTuple):
    """How Fair-Learn fares with quotas as doubles.

    Attributes
    ----------
    violation : int
        Largest floor(r_i t) - N of any arm and round, in exact integers.
    differs : int
        First round in which it pulls another arm than Fair-Learn with exact quotas; 0 for none.
    """

    violation: int
    differs: int


def float_run(means: list[float], quotas: list[str], horizon: int, seed: int) -> FloatRun:
    """Run Fair-Learn with UCB1 with quotas as doubles, and as fractions, on the same rewards."""
    exact = [rational("quotas", one) for one in quotas]
    plain, ours = (
        run(
            policy,
            Instance(tuple(means)),
            horizon,
            seed=seed,
            stream="audit/float_quotas",
            checkpoints=range(1, horizon + 1),
            quotas=quotas,
        )
        for policy in (PlainFairLearn(tuple(map(float, exact))), FairLearn(tuple(quotas)))
    )
    other = (plain.plays != ours.plays)[0].any(axis=1)
    differs = int(plain.rounds[other.argmax()]) if other.any() else 0
    return FloatRun(int(plain.deficits["floor_deficit_sup"][0, -1].max()), differs)


@estimates("fairucb-holds-in-li-setting", "sleeping")
def sleeping_arm(evidence: Evidence) -> Iterator[Question]:
    """Yield Fair-Learn's largest floored violation where arm 2 sleeps for its first 1/r + 1 rounds.

    While it sleeps the other arms are chosen from in the same way.
    """
    instance = evidence.config.experiment("fair_ucb", "fairness")
    quotas = [rational("quotas", one) for one in instance.quotas]
    until = -(-1 // quotas[1]) + 1
    found = run(
        PlainFairLearn(tuple(quotas), asleep=(1, until)),
        Instance(instance.means),
        1000,
        seed=evidence.config.seed,
        stream="audit/sleeping_arm",
        quotas=quotas,
    )
    excess = found.deficits["floor_deficit_sup"][:, -1].max(axis=1)
    yield Question({"excess": excess})
