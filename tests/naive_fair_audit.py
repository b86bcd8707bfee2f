"""Reference implementation of what the audit records of Fair-Learn.

Plain Python like ``naive_fair_ucb``, from the definitions alone, and nothing from ``fairbandits``.
The record is made from the list of all arms pulled, in exact fractions, anew for every round.
"""

import math
from fractions import Fraction

import naive_fair_ucb as twins


def deficits(arms, quotas, t):
    """Return r t - N of every arm after round t."""
    return [r * t - arms[:t].count(arm) for arm, r in enumerate(quotas)]


def class_from_below(deficit, alpha, m):
    """Return m - j + 1 for an arm in M_j, 0 for one in none; above M_1 the classes go on."""
    if deficit < alpha:
        return 0
    number = 1
    while deficit >= alpha + Fraction(number, m):
        number += 1
    return number


def together(deficits, alpha, m, j):
    """Return how many arms the classes 1 to j hold, with what is above them."""
    return sum(deficit >= alpha + Fraction(m - j, m) for deficit in deficits)


def observed(arms, quotas, tolerance):
    """Return for each round, in which one of `arms` was pulled: probe -> list over arms."""
    quotas, alpha = twins.exactly(quotas), twins.exact(tolerance)
    k = len(quotas)
    q = math.lcm(*(number.denominator for number in [*quotas, alpha]))
    crowding = {k: [], k - 1: []}
    rises = {k: [[] for _ in quotas], k - 1: [[] for _ in quotas]}
    pulled = [[] for _ in quotas]
    first = [0] * k
    record = []
    before = [Fraction(0)] * k
    for t in range(1, len(arms) + 1):
        now = deficits(arms, quotas, t)
        for m in (k, k - 1):
            crowding[m] += [together(now, alpha, m, j) - j for j in range(1, m + 1)]
            for arm in range(k):
                if arm != arms[t - 1]:
                    levels = [class_from_below(d[arm], alpha, m) for d in (before, now)]
                    rises[m][arm].append(levels[1] - levels[0])
        pulled[arms[t - 1]].append(now[arms[t - 1]] - alpha)
        for arm, r in enumerate(quotas):
            if first[arm] == 0 and math.floor(r * t) - arms[:t].count(arm) > alpha:
                first[arm] = t
        record.append(
            {
                "crowding_k": [max(crowding[k])] * k,
                "crowding_k_minus_1": [max(crowding[k - 1])] * k,
                "rise_k": [max(some, default=0) for some in rises[k]],
                "rise_k_minus_1": [max(some, default=0) for some in rises[k - 1]],
                "pulled_excess": [int(max(some) * q) if some else -(2**62) for some in pulled],
                "first_beyond": list(first),
            }
        )
        before = now
    return record
