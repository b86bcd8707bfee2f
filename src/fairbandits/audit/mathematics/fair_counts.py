"""Observation 1 of the Fair-Learn paper, in exact fractions: the pulls of the best fair policy.

Instances are random: gaps and quotas in thousandths, the first arm best. Nothing is simulated; the
counts at a horizon are chosen, and their r-Regret is counted.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fairbandits.audit.mathematics.fair_learn_adversary import quotas_within
from fairbandits.rationals import common_denominator


class Problem(NamedTuple):
    """An instance: gaps Delta_i and quotas r_i, the first arm best."""

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

    def r_regret(self, counts: Sequence[int]) -> int:
        """Return the numerator of sum_i Delta_i (N_i - max(0, floor(r_i T) - alpha))."""
        costs, _ = common_denominator("gaps", self.gaps)
        free = [max(Fraction(0), r * self.horizon // 1 - self.tolerance) for r in self.quotas]
        beyond = sum(
            (cost * (n - own) for cost, n, own in zip(costs, counts, free, strict=True)),
            Fraction(0),
        )
        return int(beyond * self.tolerance.denominator)


def drawn_problem(rng: np.random.Generator, parts: int) -> Problem:
    """Draw an instance; the tolerance is a whole number of `parts`-ths."""
    n_arms, horizon = int(rng.integers(2, 11)), int(rng.integers(20, 2000))
    gaps = [Fraction(0), *(Fraction(int(gap), 1000) for gap in rng.integers(1, 1000, n_arms - 1))]
    shares = rng.integers(0, -(-1000 // n_arms), n_arms)  # below 1/k
    tolerance = Fraction(int(rng.integers(0, 20 * parts)), parts)
    return Problem(horizon, gaps, [Fraction(int(one), 1000) for one in shares], tolerance)


def cheapest(problem: Problem) -> list[int]:
    """Return the fair counts of least regret, found from the definition alone."""
    counts = []
    for quota in problem.quotas[1:]:
        arm = problem._replace(quotas=[quota])
        low, high = 0, problem.horizon
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if arm.is_fair([middle]) else (middle + 1, high)
        counts.append(low)
    return [problem.horizon - sum(counts), *counts]


def r_regrets_of_cheapest(number: int, seed: int) -> list[int]:
    """Return the r-Regret of the cheapest fair counts of random instances, as numerators.

    Tolerances are whole: with others no count equals floor(r_i T) - alpha.
    """
    rng = np.random.default_rng([seed, 1])
    problems = (drawn_problem(rng, parts=1) for _ in range(number))
    return [problem.r_regret(cheapest(problem)) for problem in problems]


def r_regrets_of_others(number: int, seed: int) -> list[int]:
    """Return the r-Regret of random fair counts, with tolerances in halves."""
    found = _other_r_regrets(np.random.default_rng([seed, 2]))
    return [next(found) for _ in range(number)]


def _other_r_regrets(rng: np.random.Generator) -> Iterator[int]:
    while True:
        problem = drawn_problem(rng, parts=2)
        most = [int(2 * quota * problem.horizon) + 5 for quota in problem.quotas[1:]]
        others = [int(rng.integers(0, one)) for one in most]
        counts = [problem.horizon - sum(others), *others]
        if counts[0] >= 0 and problem.is_fair(counts):
            yield problem.r_regret(counts)


def lacks_while_filling(n_arms: int, denominator: int, order: str) -> list[int]:
    """Return the largest floor(r_i t) - N_i in T-Fair-UCB's first phase, for all quotas below 1/k.

    It fills ceil(r_i T) pulls of each arm, with T three times the denominator, by an order: "in
    turn" one arm after the other, the first of smallest quota, or "even" the fewest pulls first.
    """
    found = []
    for quotas in quotas_within(n_arms, denominator, "kth"):
        rising, horizon = quotas[::-1], 3 * denominator
        wanted = [-(-quota * horizon // denominator) for quota in rising]
        pulls, worst = [0] * n_arms, 0
        for t in range(1, sum(wanted) + 1):
            open_arms = [i for i in range(n_arms) if pulls[i] < wanted[i]]
            arm = open_arms[0] if order == "in turn" else min(open_arms, key=pulls.__getitem__)
            pulls[arm] += 1
            lacks = (q * t // denominator - n for q, n in zip(rising, pulls, strict=True))
            worst = max(worst, *lacks)
        found.append(worst)
    return found


def paid_while_filling(n_arms: int, denominator: int, rounding: str) -> list[int]:
    """Return the pulls beyond floor(r_i T) in T-Fair-UCB's first phase, for all quotas below 1/k.

    It fills r_i T rounded "up" or "down", and T goes to twice the denominator; the arm with the
    smallest quota is the best, whose pulls are free.
    """
    up = denominator - 1 if rounding == "up" else 0
    return [
        sum((q * t + up) // denominator - q * t // denominator for q in quotas[:-1])
        for quotas in quotas_within(n_arms, denominator, "kth")
        for t in range(1, 2 * denominator)
    ]
