"""Fair-UCB's first rounds in full: every outcome of every coin, in exact fractions."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log, sqrt

#: Pulls and successes of each arm.
State = tuple[tuple[int, int], ...]


def raised_by_quotas(means: Sequence[str], quotas: Sequence[str], rounds: int) -> list[int]:
    """Return 1 for each round in which quotas raise the expected r-Regret of Fair-UCB, else 0.

    Rounds are those after each arm's first pull. The tolerance is 0, rewards are 0 or 1, the
    index is mean + sqrt(2 ln t / N), and the first arm wins ties.
    """
    chances = [Fraction(mean) for mean in means]
    with_quotas = _r_regrets(chances, [Fraction(quota) for quota in quotas], rounds)
    without = _r_regrets(chances, [Fraction(0)] * len(chances), rounds)
    both = list(zip(with_quotas, without, strict=True))
    return [int(one > other) for one, other in both[len(chances) :]]


def _r_regrets(means: list[Fraction], quotas: list[Fraction], rounds: int) -> Iterator[Fraction]:
    """Yield sum_i Delta_i (E N_i - floor(r_i t)) of each round (Definition 4, tolerance 0)."""
    best = max(means)
    law: dict[State, Fraction] = {((0, 0),) * len(means): Fraction(1)}
    for t in range(1, rounds + 1):
        after: dict[State, Fraction] = defaultdict(Fraction)
        for state, chance in law.items():
            arm = _pulled(state, quotas, t)
            pulls, wins = state[arm]
            for won, share in ((1, means[arm]), (0, 1 - means[arm])):
                moved = (*state[:arm], (pulls + 1, wins + won), *state[arm + 1 :])
                after[moved] += chance * share
        law = after
        yield sum(
            (
                (best - mean) * (sum(p * state[i][0] for state, p in law.items()) - quota * t // 1)
                for i, (mean, quota) in enumerate(zip(means, quotas, strict=True))
            ),
            Fraction(0),
        )


def _pulled(state: State, quotas: list[Fraction], t: int) -> int:
    behind = [quota * (t - 1) - pulls for quota, (pulls, _) in zip(quotas, state, strict=True)]
    if max(behind) > 0:
        return behind.index(max(behind))
    pulls = [one[0] for one in state]
    if 0 in pulls:
        return pulls.index(0)
    indices = [wins / n + sqrt(2 * log(t) / n) for n, wins in state]
    return indices.index(max(indices))


class _Counted(list[int]):
    """A list that counts its items that are read."""

    read = 0

    def __iter__(self) -> Iterator[int]:
        for one in super().__iter__():
            self.read += 1
            yield one


def looked_at(n_arms: int) -> int:
    """Return how many arms a plain check of fairness reads: the one furthest behind is wanted."""
    behind = _Counted([0] * n_arms)
    max(behind)
    return behind.read
