"""Fair-Learn and Fair-UCB without runs: what counting shows, in common numerators."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fairbandits.rationals import common_denominator
from fairbandits.theory.fair_learn_adversary import quotas_within

#: A learner returns an arm, from 0, for a round and the deficits before it; a rule, for a round and
#: the pulls before it.
Learner = Callable[[int, list[int]], int]
LEARNERS: dict[str, Learner] = {
    "first arm": lambda t, behind: 0,
    "last arm": lambda t, behind: len(behind) - 1,
    "smallest deficit": lambda t, behind: behind.index(min(behind)),
}


def largest_lack(
    quotas: Sequence[int],
    denominator: int,
    tolerance: int | Fraction,
    learner: Learner,
    rounds: int,
    in_turn: int = 0,
) -> int:
    """Return Fair-Learn's largest floor(r_i t) - N_i(t), arms in turn up to a round."""

    def rule(t: int, pulls: list[int]) -> int:
        if t <= in_turn:
            return (t - 1) % len(quotas)
        behind = [quota * (t - 1) - denominator * n for quota, n in zip(quotas, pulls, strict=True)]
        furthest = max(behind)
        return behind.index(furthest) if furthest > tolerance else learner(t, behind)

    return largest_lack_of(rule, quotas, denominator, rounds)


def largest_lack_of(rule: Learner, quotas: Sequence[int], denominator: int, rounds: int) -> int:
    """Return the largest floor(r_i t) - N_i(t) if a rule names the arm of each round."""
    pulls, worst = [0] * len(quotas), -rounds
    for t in range(1, rounds + 1):
        pulls[rule(t, pulls)] += 1
        lacks = (quota * t // denominator - n for quota, n in zip(quotas, pulls, strict=True))
        worst = max(worst, *lacks)
    return worst


def keeps_quotas(numerators, denominator, rounds, learner):
    """1 if Fair-Learn over a learner keeps these quotas in each round up to one, else 0."""
    return int(largest_lack(numerators, denominator, 0, LEARNERS[learner], rounds) <= 0)


def fair_learn_violations(number, rounds, tolerance, within, *, seed):
    """Largest floor(tau_k t) - N_k of Fair-Learn with random quotas; below 1/K if `within` is 1.

    The learner pulls the arm furthest ahead. Quotas are in thousandths.
    """
    rng = np.random.default_rng([seed, 15, within])
    lacks = []
    while len(lacks) < number:
        n_arms = int(rng.integers(3, 7))
        if within:
            # half of them near 1/K, where several arms are behind at once
            least = 1 if len(lacks) % 2 else 900 // n_arms
            quotas = rng.integers(least, -(-1000 // n_arms), n_arms)
        else:
            ends = np.sort(rng.choice(np.arange(1, 1000), n_arms, replace=False))
            quotas = np.diff(ends, prepend=0)
            if quotas.max() * n_arms < 1000:
                continue
        settings = 1000 * Fraction(str(tolerance)), LEARNERS["smallest deficit"], rounds
        lacks.append(largest_lack(quotas.tolist(), 1000, *settings))
    return lacks


class Counted(NamedTuple):
    """A random instance of a horizon: gaps Delta_i and quotas r_i, the first arm best."""

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

    def r_regret_numerator(self, counts: Sequence[int]) -> int:
        """Return the numerator of sum_i Delta_i (N_i - max(0, floor(r_i T) - alpha))."""
        costs, _ = common_denominator("gaps", self.gaps)
        free = [max(Fraction(0), r * self.horizon // 1 - self.tolerance) for r in self.quotas]
        beyond = sum(cost * (n - spare) for cost, n, spare in zip(costs, counts, free, strict=True))
        return int(beyond * self.tolerance.denominator)

    def cheapest(self) -> list[int]:
        """Return the fair counts of least regret, from the definition alone."""

        def fewest(quota: Fraction) -> int:
            alone = self._replace(quotas=[quota])
            return bisect_left(range(self.horizon), True, key=lambda n: alone.is_fair([n]))

        others = [fewest(quota) for quota in self.quotas[1:]]
        return [self.horizon - sum(others), *others]


def _drawn(rng: np.random.Generator, parts: int) -> Counted:
    """Draw an instance, in thousandths; the tolerance is a whole number of `parts`-ths."""
    n_arms, horizon = int(rng.integers(2, 11)), int(rng.integers(20, 2000))
    gaps = [0, *rng.integers(1, 1000, n_arms - 1).tolist()]
    shares = rng.integers(0, -(-1000 // n_arms), n_arms).tolist()  # below 1/k
    gaps, quotas = ([Fraction(n, 1000) for n in numerators] for numerators in (gaps, shares))
    return Counted(horizon, gaps, quotas, Fraction(int(rng.integers(0, 20 * parts)), parts))


def cheapest_fair(number, *, seed):
    """Numerators of the r-Regret of the best fair counts, of random instances."""
    rng = np.random.default_rng([seed, 1])
    drawn = (_drawn(rng, parts=1) for _ in range(number))
    return [instance.r_regret_numerator(instance.cheapest()) for instance in drawn]


def other_fair(number, *, seed):
    """Numerators of the r-Regret of random fair counts."""
    rng, numerators = np.random.default_rng([seed, 2]), []
    while len(numerators) < number:
        drawn = _drawn(rng, parts=2)
        others = [
            int(rng.integers(0, int(2 * quota * drawn.horizon) + 5)) for quota in drawn.quotas[1:]
        ]
        counts = [drawn.horizon - sum(others), *others]
        if counts[0] >= 0 and drawn.is_fair(counts):
            numerators.append(drawn.r_regret_numerator(counts))
    return numerators


def filled_in_turn(arms, denominator, order):
    """Largest floor(r_i t) - N_i of T-Fair-UCB's first phase by its order, for all quotas.

    The order is "in turn", one arm after the other, or "even", the fewest pulls first.
    """
    every = quotas_within(arms, denominator, "kth")
    return [_lack_while_filling(quotas[::-1], denominator, order == "in turn") for quotas in every]


def _lack_while_filling(quotas: Sequence[int], denominator: int, in_turn: bool) -> int:
    wanted = [3 * quota for quota in quotas]  # in a horizon of three periods

    def rule(t: int, pulls: list[int]) -> int:
        unfilled = [arm for arm, n in enumerate(pulls) if n < wanted[arm]]
        return unfilled[0] if in_turn else min(unfilled, key=pulls.__getitem__)

    return largest_lack_of(rule, quotas, denominator, sum(wanted))


def paid_while_filling(arms, denominator):
    """Pulls of suboptimal arms beyond floor(r_i T) of a first phase rounded up; for all quotas."""
    return [
        # the last has the smallest quota, and is the best, whose pulls are free
        sum(-(-q * t // denominator) - q * t // denominator for q in quotas[:-1])
        for quotas in quotas_within(arms, denominator, "kth")
        for t in range(1, 2 * denominator)
    ]


def quotas_cost(means, quotas, rounds, ties="lowest"):
    """1 if quotas raise the expected r-Regret of Fair-UCB after these rounds, else 0."""
    chances = [Fraction(mean) for mean in means]
    raised, plain = (
        list(expected_r_regrets(chances, [Fraction(share) for share in shares], rounds, ties))[-1]
        for shares in (quotas, [0] * len(chances))
    )
    return int(raised > plain)


#: Pulls and successes of each arm.
State = tuple[tuple[int, int], ...]


def expected_r_regrets(
    means: list[Fraction], quotas: list[Fraction], rounds: int, ties: str = "lowest"
) -> Iterator[Fraction]:
    """Yield sum_i Delta_i (E N_i - floor(r_i t)) of each round (Definition 4, tolerance 0).

    Of equal indices the "lowest" arm is taken, or one at "random".
    """
    best = max(means)
    law: dict[State, Fraction] = {((0, 0),) * len(means): Fraction(1)}
    for t in range(1, rounds + 1):
        after: dict[State, Fraction] = defaultdict(Fraction)
        for state, chance in law.items():
            taken = _pulled(state, quotas, t)
            taken = taken[:1] if ties == "lowest" else taken
            for arm in taken:
                pulls, wins = state[arm]
                for won, share in ((1, means[arm]), (0, 1 - means[arm])):
                    moved = (*state[:arm], (pulls + 1, wins + won), *state[arm + 1 :])
                    after[moved] += chance * share / len(taken)
        law = after
        yield sum(
            (best - mean) * (sum(p * state[i][0] for state, p in law.items()) - quota * t // 1)
            for i, (mean, quota) in enumerate(zip(means, quotas, strict=True))
        )


def _pulled(state: State, quotas: list[Fraction], t: int) -> list[int]:
    """Return the arms that Fair-UCB may pull, several only if their indices are equal."""
    pulls = [n for n, _ in state]
    behind = [quota * (t - 1) - n for quota, n in zip(quotas, pulls, strict=True)]
    if max(behind) > 0:
        return [behind.index(max(behind))]
    if 0 in pulls:
        return [pulls.index(0)]
    indices = [wins / n + math.sqrt(2 * math.log(t) / n) for n, wins in state]
    return [arm for arm, index in enumerate(indices) if index == max(indices)]
