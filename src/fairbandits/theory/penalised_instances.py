"""The penalised problem without runs, on random instances in exact fractions."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fairbandits.rationals import common_denominator
from fairbandits.theory.penalised import arm_sets, oracle_allocation


class Drawn(NamedTuple):
    """A random instance: mu_k, A_k and tau_k, of sum below 1."""

    means: list[Fraction]
    rates: list[Fraction]
    quotas: list[Fraction]

    @property
    def gaps(self) -> list[Fraction]:
        """Gap of each arm."""
        return [max(self.means) - mean for mean in self.means]


def _drawn(number: int, seed: int, part: int) -> Iterator[Drawn]:
    """Yield random instances; several best arms and A = Delta are among them."""
    rng = np.random.default_rng([seed, part])
    for _ in range(number):
        n_arms = int(rng.integers(2, 8))
        parts = (10, 11), (10, 13), (100, 100 // n_arms)
        yield Drawn(
            *([Fraction(int(n), of) for n in rng.integers(0, end, n_arms)] for of, end in parts)
        )


def loss(gap: Fraction, rate: Fraction, quota: Fraction, y: Fraction) -> Fraction:
    """Return the penalised loss of an arm that gets a share y of the pulls."""
    return gap * y + rate * max(quota - y, Fraction(0))


def wrong_minimisers(number, *, seed):
    """1 for each arm of random instances whose loss is not least where Section 2 says, else 0."""
    wrong = []
    for drawn in _drawn(number, seed, 11):
        for gap, rate, quota in zip(drawn.gaps, drawn.rates, drawn.quotas, strict=True):
            at_0, at_quota, at_1 = (loss(gap, rate, quota, y) for y in (Fraction(0), quota, 1))
            least = min(at_0, at_quota, at_1)
            if gap == 0:  # and at every y beyond
                right = at_quota == 0 == least == at_1
            elif rate >= gap:
                right = at_quota == gap * quota == least
            else:
                right = at_0 == rate * quota == least
            wrong.append(int(not right))
    return wrong


def not_one_set(number, *, seed):
    """Distance from 1 of the number of sets that each arm of random instances is in."""
    return [
        abs(int(sum(kinds)) - 1)
        for drawn in _drawn(number, seed, 12)
        for kinds in zip(*arm_sets(drawn.means, drawn.rates), strict=True)
    ]


def optimum_errors(number, *, seed):
    """Distance of Eqs 7 and 9 from the linear programme's optimum, of random instances."""
    from scipy.optimize import linprog

    errors = []
    for drawn in _drawn(number, seed, 13):
        parts = drawn.gaps, drawn.rates, drawn.quotas
        gaps, rates, quotas = (np.array(part, float) for part in parts)
        n = len(gaps)
        optimum = linprog(
            np.concatenate([gaps, rates]),
            A_ub=-np.hstack([np.eye(n), np.eye(n)]),
            b_ub=-quotas,
            A_eq=[[1.0] * n + [0.0] * n],
            b_eq=[1.0],
        ).fun
        y = oracle_allocation(drawn.means, drawn.quotas, drawn.rates)
        attained = float((gaps * y + rates * np.maximum(quotas - y, 0)).sum())
        printed = float((np.minimum(gaps, rates) * quotas).sum())
        errors += [abs(attained - optimum), abs(printed - optimum)]
    return errors


def out_of_order(number, *, seed):
    """1 for each non-critical arm of random instances with mu + A not below all other arms'."""
    wrong = []
    for drawn in _drawn(number, seed, 14):
        outside = arm_sets(drawn.means, drawn.rates).non_critical
        sums = [mean + rate for mean, rate in zip(drawn.means, drawn.rates, strict=True)]
        least = min(total for total, out in zip(sums, outside, strict=True) if not out)
        wrong += [int(total >= least) for total, out in zip(sums, outside, strict=True) if out]
    return wrong


def least_lack(quotas, rounds):
    """Pulls that all arms need to have tau_k t, beyond the t available, in the worst round."""
    numerators, denominator = common_denominator("quotas", quotas)
    t = np.arange(1, rounds + 1)
    return int((-(-np.outer(t, numerators) // denominator).sum(axis=1) - t).max())


def committing_regrets(arms, share, horizon, gaps, number, *, seed):
    """Regret of a policy that fills equal quotas, then commits; for gaps over sqrt(K / T)."""
    rng = np.random.default_rng([seed, 16])
    pulls = round((1 - share) * horizon) // arms
    # of the sample means of rewards that are normal with variance 1
    noise = rng.standard_normal((number, arms)) / np.sqrt(pulls)
    left = horizon - pulls * arms
    columns = []
    for gap in np.asarray(gaps, float) * np.sqrt(arms / horizon):
        estimates = noise.copy()
        estimates[:, 0] += gap
        columns.append(left * gap * (estimates.argmax(axis=1) != 0))
    return np.stack(columns, axis=1)
