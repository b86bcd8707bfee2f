"""The hard-threshold paper's statements on its optimum and on rivals, in exact fractions.

Instances are random: means, penalty rates and quotas in hundredths, drawn so that equal ones are
frequent. Only Fair-Learn is simulated, in integers.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy

from fairbandits.audit.mathematics.counterexamples import LEARNERS, largest_lack
from fairbandits.rationals import common_denominator
from fairbandits.theory.penalised import arm_sets, oracle_allocation


class Problem(NamedTuple):
    """An instance of the penalised problem: mu_k, A_k and tau_k, of sum below 1."""

    means: list[Fraction]
    rates: list[Fraction]
    quotas: list[Fraction]

    @property
    def gaps(self) -> list[Fraction]:
        """Delta_k."""
        return [max(self.means) - mean for mean in self.means]


def problems(number: int, rng: np.random.Generator) -> Iterator[Problem]:
    """Yield random instances; several best arms and A = Delta are among them."""
    for _ in range(number):
        n_arms = int(rng.integers(2, 8))
        means = rng.integers(0, 11, n_arms)
        rates = rng.integers(0, 13, n_arms)
        quotas = rng.integers(0, 100 // n_arms, n_arms)
        yield Problem(
            [Fraction(int(one), 10) for one in means],
            [Fraction(int(one), 10) for one in rates],
            [Fraction(int(one), 100) for one in quotas],
        )


def loss(gap: Fraction, rate: Fraction, quota: Fraction, y: Fraction) -> Fraction:
    """Return Delta y + A (tau - y)+."""
    return gap * y + rate * max(quota - y, Fraction(0))


def wrong_minimisers(number: int, seed: int) -> list[int]:
    """Return 1 for each random arm whose loss is not least where the paper says, else 0.

    The loss is piecewise linear with one kink, at tau: on [0, 1] it is least at 0, tau or 1.
    """
    rng = np.random.default_rng([seed, 11])
    found = []
    for problem in problems(number, rng):
        for gap, rate, quota in zip(problem.gaps, problem.rates, problem.quotas, strict=True):
            ends = [loss(gap, rate, quota, y) for y in (Fraction(0), quota, Fraction(1))]
            says, value = (
                (quota, Fraction(0))
                if gap == 0
                else (quota, gap * quota)
                if rate >= gap
                else (Fraction(0), rate * quota)
            )
            right = loss(gap, rate, quota, says) == value == min(ends)
            if gap == 0:  # and at every y beyond
                right = right and ends[2] == 0
            found.append(int(not right))
    return found


def not_one_set(number: int, seed: int) -> list[int]:
    """Return for random arms how far the number of sets that each is in is from 1."""
    rng = np.random.default_rng([seed, 12])
    return [
        abs(int(sum(kinds)) - 1)
        for problem in problems(number, rng)
        for kinds in zip(*arm_sets(problem.means, problem.rates), strict=True)
    ]


def optimum_errors(number: int, seed: int) -> list[float]:
    """Return how far the paper's division of the horizon and its loss are from the optimum.

    The optimum of Eq. 6 is that of a linear programme with a variable for each (tau - y)+.
    """
    rng = np.random.default_rng([seed, 13])
    found = []
    for gaps, rates, quotas, problem in (
        (*(np.array(part, float) for part in (one.gaps, one.rates, one.quotas)), one)
        for one in problems(number, rng)
    ):
        n = len(gaps)
        solved = scipy.optimize.linprog(
            np.concatenate([gaps, rates]),
            A_ub=-np.hstack([np.eye(n), np.eye(n)]),
            b_ub=-quotas,
            A_eq=[[1.0] * n + [0.0] * n],
            b_eq=[1.0],
        )
        y = oracle_allocation(problem.means, problem.quotas, problem.rates)
        own = float((gaps * y + rates * np.maximum(quotas - y, 0)).sum())
        printed = float((np.minimum(gaps, rates) * quotas).sum())
        found += [abs(own - solved.fun), abs(printed - solved.fun)]
    return found


def out_of_order(number: int, seed: int) -> list[int]:
    """Return 1 for each pair of arms where the non-critical one has the larger mu + A."""
    rng = np.random.default_rng([seed, 14])
    found = []
    for problem in problems(number, rng):
        outside = arm_sets(problem.means, problem.rates).non_critical
        sums = [mean + rate for mean, rate in zip(problem.means, problem.rates, strict=True)]
        inside = [one for one, non_critical in zip(sums, outside, strict=True) if not non_critical]
        found += [
            int(one >= min(inside))
            for one, non_critical in zip(sums, outside, strict=True)
            if non_critical
        ]
    return found


def least_lack(quotas: Sequence[str], rounds: int) -> int:
    """Return the pulls that all arms need for N_k(t) >= tau_k t, less t, in the worst round.

    No policy can meet the constraint in every round up to `rounds` if this is above 0.
    """
    numerators, denominator = common_denominator("quotas", [Fraction(one) for one in quotas])
    # pulls that all arms together need by round t, against the t available
    needs = [
        sum(-(-numerator * t // denominator) for numerator in numerators) - t
        for t in range(1, rounds + 1)
    ]
    return max(needs)


def fair_learn_violations(
    number: int, rounds: int, tolerance: str, within: int, seed: int
) -> list[int]:
    """Return the largest floor(tau_k t) - N_k(t) of Fair-Learn in each of `number` runs.

    Where no arm is behind by more than the tolerance, an adversary pulls the arm that is furthest
    ahead. Quotas are random, in thousandths: below 1/K (`within` 1), or with a largest one of at
    least 1/K and a sum below 1 (`within` 0).
    """
    rng = np.random.default_rng([seed, 15, within])
    alpha, furthest_ahead = Fraction(tolerance), LEARNERS["smallest deficit"]
    found = []
    while len(found) < number:
        n_arms = int(rng.integers(3, 7))
        if within:
            # half of them near 1/K, where several arms are behind at once
            least = 1 if len(found) % 2 else 900 // n_arms
            quotas = rng.integers(least, -(-1000 // n_arms), n_arms)
        else:
            quotas = np.diff(
                np.sort(rng.choice(np.arange(1, 1000), n_arms, replace=False)), prepend=0
            )
            if quotas.max() * n_arms < 1000:
                continue
        found.append(largest_lack(quotas.tolist(), 1000, 1000 * alpha, furthest_ahead, rounds))
    return found


def committing_regrets(
    n_arms: int, share: float, horizon: int, gaps: Sequence[float], number: int, seed: int
) -> np.ndarray:
    """Return the regret of the policy of `bounds_ht_ucb.committing_regret`, shape (number, gaps).

    The first arm is the best by one of the gaps, in units of sqrt(K / T); rewards are normal with
    variance 1, and only their sample means are drawn.
    """
    rng = np.random.default_rng([seed, 16])
    pulls = round((1 - share) * horizon) // n_arms
    noise = rng.standard_normal((number, n_arms)) / np.sqrt(pulls)
    left = horizon - pulls * n_arms
    columns = []
    for gap in np.asarray(gaps, float) * np.sqrt(n_arms / horizon):
        estimates = noise.copy()
        estimates[:, 0] += gap
        columns.append(left * gap * (estimates.argmax(axis=1) != 0))
    return np.stack(columns, axis=1)
