"""The fair policy within groups and the best fair reward, by fractions and by enumeration."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fairbandits.audit.mathematics.chance import generator
from fairbandits.measures.groups import group_values
from fairbandits.settings.spec import RunSpec

PARTS = 100


def ratios_off(number: int, seed: str) -> int:
    """Count random policies f(mu_i) / sum f(mu_j) whose ratios are not those of the merits.

    The merit is mu or its square. Exactly one distribution has these ratios: the first arm's share
    gives all others, and their sum of 1 gives the first arm's share.
    """
    rng, off = generator(seed), 0
    for trial in range(number):
        merits = [mu ** (1 + trial % 2) for mu in _fractions(rng, 2 + trial % 7)]
        policy = [f / sum(merits) for f in merits]
        only = [policy[0] / merits[0] * f for f in merits]
        pairs = itertools.combinations(range(len(merits)), 2)
        kept = all(policy[i] * merits[j] == policy[j] * merits[i] for i, j in pairs)
        off += not (kept and sum(policy) == 1 and only == policy)
    return off


def optimum_off(number: int, seed: str) -> int:
    """Count random instances whose best fair reward differs from Eq. 1.

    The best is over all counts N_g >= floor(beta_g T) of the groups that sum to T; a round of a
    group is worth R*_g = sum mu^2 / sum mu.
    """
    rng, off = generator(seed), 0
    for trial in range(number):
        m, horizon = 2 + trial % 3, int(rng.integers(1, 24, endpoint=True))
        values = []
        for _ in range(m):
            means = list(_fractions(rng, int(rng.integers(1, 4, endpoint=True))))
            values.append(sum(mu * mu for mu in means) / sum(means))
        quotas = [Fraction(int(rng.integers(1, PARTS)), m * PARTS) for _ in range(m)]
        floors = [math.floor(beta * horizon) for beta in quotas]
        free = horizon - sum(floors)
        printed = sum(n * value for n, value in zip(floors, values, strict=True))
        printed += free * max(values)
        best = max(
            sum((n + more) * v for n, more, v in zip(floors, extra, values, strict=True))
            for extra in _splits(free, m)
        )
        off += best != printed
    return off


def _fractions(rng: np.random.Generator, size: int) -> Iterator[Fraction]:
    return (Fraction(int(one), PARTS) for one in rng.integers(1, PARTS, size, endpoint=True))


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to split a number into parts."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield first, *rest


def best_groups(spec: RunSpec, number: int, seed: str) -> np.ndarray:
    """Return the group of largest R*_g, from 1, of instances drawn as a run's are."""
    low, high = spec.ranges
    means = generator(seed).uniform(low, high, (number, spec.n_arms))
    for arm, mean in spec.drawn_means.get("fixed", ()):
        means[:, arm - 1] = mean
    return group_values(means, spec.groups).argmax(axis=1) + 1
