"""Arms in groups without runs: schedules, optima, confidence boxes, in exact numbers."""

import itertools
import math
from fractions import Fraction

import numpy as np

from fairbandits.rationals import common_denominator
from fairbandits.theory.draws import generator
from fairbandits.theory.fair_learn_counts import LEARNERS, largest_lack, largest_lack_of


def floors_that_jump(quotas, rounds):
    """Most floors floor(beta t) of these groups that rise in one round, minus 1."""
    numerators, denominator = common_denominator("quotas", quotas)
    floors = np.outer(range(rounds + 1), numerators) // denominator
    return int(np.diff(floors, axis=0).sum(axis=1).max()) - 1


def short_in_turn(sizes, quotas, by_arm, rounds):
    """Largest floor(beta_g t) - N_g where arms (1) or groups (0) are pulled in turn at first."""
    of_arm = [g for g, size in enumerate(sizes) for _ in range(size)]
    turns = of_arm if by_arm else range(len(sizes))
    exact = common_denominator("quotas", quotas)
    return largest_lack_of(lambda t, _: turns[(t - 1) % len(turns)], *exact, rounds)


def most_above_turns(quotas, rounds):
    """Largest numerator of beta_g t - floor(t / m), over the first rounds."""
    numerators, denominator = common_denominator("quotas", quotas)
    t = np.arange(1, rounds + 1)[:, None]
    return int((t * numerators - denominator * (t // len(quotas))).max())


def short_of_quotas(number, rounds, beyond, seed):
    """Largest floor(beta_g t) - N_g of random quotas up to 1/m, or beyond, any learner.

    Groups are served in turn at first, then the one furthest behind or the learner's: always the
    same, any, or the one furthest ahead.
    """
    rng, parts, worst = generator(seed), 1000, -rounds
    for trial in range(number):
        m = 2 + trial % 5
        most = parts // m - 1
        quotas = rng.integers(1, most, m, endpoint=True)
        if beyond:
            quotas = np.minimum(quotas, most // 2)
            quotas[0] = parts - 1 - quotas[1:].sum()
        kind = trial // 5 % 3
        arms = (rng.integers(m, size=rounds) if kind == 1 else np.zeros(rounds, int)).tolist()
        learner = LEARNERS["smallest deficit"] if kind == 2 else lambda t, _, arms=arms: arms[t - 1]
        first = m * int(rng.integers(1, 8, endpoint=True))
        worst = max(worst, largest_lack(quotas.tolist(), parts, 0, learner, rounds, in_turn=first))
    return worst


def optimum_off(number, seed):
    """Number of random instances whose best reward by enumeration differs from Eq. 1."""
    rng, off = generator(seed), 0
    for trial in range(number):
        m, horizon = 2 + trial % 3, int(rng.integers(1, 24, endpoint=True))
        values = []
        for _ in range(m):
            parts = rng.integers(1, 100, int(rng.integers(1, 4, endpoint=True)), endpoint=True)
            means = [Fraction(int(part), 100) for part in parts]
            values.append(sum(mu * mu for mu in means) / sum(means))
        quotas = [Fraction(int(rng.integers(1, 100)), 100 * m) for _ in range(m)]
        floors = [math.floor(beta * horizon) for beta in quotas]
        free = horizon - sum(floors)
        printed = sum(n * value for n, value in zip(floors, values, strict=True))
        printed += free * max(values)
        best = max(
            sum((n + more) * v for n, more, v in zip(floors, extra, values, strict=True))
            for extra in splits(free, m)
        )
        off += best != printed
    return off


def splits(total, parts):
    """Return all ways to write a total as a sum of so many whole numbers."""
    ends = itertools.combinations_with_replacement(range(total + 1), parts - 1)
    return [tuple(np.diff([0, *cuts, total]).tolist()) for cuts in ends]


def corners_lost(number, kind, seed):
    """Number of random boxes of a kind with a better vertex than the upper corner.

    Phi = sum mu^2 / sum mu, convex where the sum is positive, is there largest at a vertex. Boxes
    are uncut, cut to [0, 1] (``cut``), or to [1/2, 1] (``half``).
    """
    if kind not in ("half", "cut", "uncut"):
        raise ValueError(f"kind must be one of half, cut, uncut, got {kind!r}")
    rng, lost = generator(seed), 0
    for trial in range(number):
        arms = 2 + trial % 5
        middle = rng.integers(500, 1000, arms, endpoint=True)
        width = rng.integers(1, 1000, arms, endpoint=True)
        lower, upper = middle - width, middle + width
        if kind != "uncut":
            lower = np.maximum(lower, 500 if kind == "half" else 0)
            upper = np.minimum(upper, 1000)
        points = np.where(list(itertools.product((False, True), repeat=arms)), upper, lower)
        sums, squares = points.sum(axis=1), (points**2).sum(axis=1)
        # Phi is undefined where the sum is not positive
        lost += bool(((sums > 0) & (squares * upper.sum() > (upper**2).sum() * sums)).any())
    return lost


def optimism_lost(number, least, cut, seed):
    """Number of random boxes with less reward at the upper corner than at a point inside."""
    rng, lost = generator(seed), 0
    for trial in range(number):
        arms = 2 + trial % 9
        means = rng.integers(max(least, 1), 1000, arms, endpoint=True)
        upper = means + rng.integers(0, 1000, arms, endpoint=True)
        upper = np.minimum(upper, 1000) if cut else upper
        at_corner = int((upper**2).sum()) * int(means.sum())
        lost += at_corner < int((means**2).sum()) * int(upper.sum())
    return lost


def coverage_ratio(arms, pulls, span):
    """Largest probability that a mean is outside its interval, divided by that of Eq. 3.

    Rewards in [0, 1] (``unit``) have Hoeffding's 2 exp(-2 w^2), summed over all N_i up to N_g,
    those of -1 and 1 (``symmetric``) the exact chance of an arm with all but one pull of others.
    """
    if span not in ("unit", "symmetric"):
        raise ValueError(f"span must be one of unit, symmetric, got {span!r}")
    delta, largest = 0.01, 0.0
    for served in pulls:
        allowed = delta**2 / (8 * served**2 * arms)
        square = 2 * math.log(4 * served * arms / delta)
        if span == "unit":
            chance = served * 2 * math.exp(-2 * square)
        else:
            n = served - arms + 1
            outside = (wins for wins in range(n + 1) if (2 * wins - n) ** 2 > square * n)
            chance = float(Fraction(sum(math.comb(n, wins) for wins in outside), 2**n))
        largest = max(largest, chance / allowed)
    return largest
