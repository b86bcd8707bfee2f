"""Schedules of groups with quotas, in exact integers: whether every group is always served."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fairbandits.audit.mathematics.chance import generator
from fairbandits.audit.mathematics.counterexamples import LEARNERS, largest_lack

#: Denominator of random quotas.
PARTS = 1000


def most_at_once(quotas: Sequence[str], rounds: int) -> int:
    """Return the largest number of floors floor(beta t) that rise in one round.

    A group with exactly floor(beta t) rounds at every t must be served whenever its floor rises,
    and a round serves one group.
    """
    exact = [Fraction(one) for one in quotas]
    return max(
        sum(math.floor(beta * t) - math.floor(beta * (t - 1)) for beta in exact)
        for t in range(1, rounds + 1)
    )


def short_in_turn(sizes: Sequence[int], quotas: Sequence[str], by_arm: bool, rounds: int) -> int:
    """Return the largest floor(beta_g t) - N_g where arms, or groups, are served in turn."""
    exact = [Fraction(one) for one in quotas]
    of_arm = [g for g, size in enumerate(sizes) for _ in range(size)]
    turns = of_arm if by_arm else list(range(len(sizes)))
    served = [0] * len(sizes)
    worst = -rounds
    for t in range(1, rounds + 1):
        served[turns[(t - 1) % len(turns)]] += 1
        short = (math.floor(beta * t) - n for beta, n in zip(exact, served, strict=True))
        worst = max(worst, *short)
    return worst


def above_turns(quotas: Sequence[str], rounds: int) -> int:
    """Return the largest numerator of beta_g t - floor(t / m) over a common denominator."""
    exact = [Fraction(one) for one in quotas]
    parts = math.lcm(*(one.denominator for one in exact))
    return max(
        int(beta * parts) * t - parts * (t // len(exact))
        for t in range(1, rounds + 1)
        for beta in exact
    )


def shortest(number: int, rounds: int, beyond: bool, seed: str) -> int:
    """Return the largest floor(beta_g t) - N_g under BF-UCB's choice of groups, of random quotas.

    Groups are served in turn at first, for as many rounds as the largest has arms each; then the
    one furthest behind, and if none is behind, the learner's: always the same group, any, or the
    one furthest ahead of its quota. There are 2 to 6 groups with quotas up to 1/m - 1/1000; with
    `beyond`, the first has more than 1/m, and all together still less than 1.
    """
    rng = generator(seed)
    worst = -rounds
    for trial in range(number):
        m = 2 + trial % 5
        most = PARTS // m - 1
        quotas = rng.integers(1, most, m, endpoint=True)
        if beyond:
            quotas = np.minimum(quotas, most // 2)
            quotas[0] = PARTS - 1 - quotas[1:].sum()
        kind = trial // 5 % 3
        names = (rng.integers(m, size=rounds) if kind == 1 else np.zeros(rounds, int)).tolist()
        learner = (
            LEARNERS["smallest deficit"] if kind == 2 else lambda t, owed, names=names: names[t - 1]
        )
        first = m * int(rng.integers(1, 8, endpoint=True))
        worst = max(worst, largest_lack(quotas.tolist(), PARTS, 0, learner, rounds, in_turn=first))
    return worst
