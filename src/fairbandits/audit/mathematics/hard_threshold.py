"""Steps of proofs of the hard-threshold paper, as printed: 0 where one holds, 1 where not.

T is the horizon, D the gap of an arm, A its penalty rate, q its quota tau and L = ln T. For a
non-critical arm D = A + g with g > 0; u and v are what a quantity has beyond its least value.
"""

import sympy

from fairbandits.audit.mathematics.derivations import (
    above,
    grows,
    named,
    nonnegative,
    positive,
    tends,
    unequal,
    untrue,
)

sqrt, log, oo, Rational = sympy.sqrt, sympy.log, sympy.oo, sympy.Rational
T, D, A, G, Q, L, N = positive("T D A g tau L N")
_U, _V = nonnegative("u v")


def _eq10() -> list[int]:
    """Take an arm's part of the least loss, A q T or the smaller D q T, from its loss."""
    steps = []
    for lacks in (A * (Q * T - N), 0):  # short of its quota, or not
        steps += [
            unequal((0 * N + lacks) - 0, lacks),
            unequal((D * N + lacks) - D * Q * T, D * (N - Q * T) + lacks),
            unequal(((A + G) * N + lacks) - A * Q * T, (A + G) * N + (lacks - A * Q * T)),
        ]
    return steps


def _minimum_constant() -> list[int]:
    raised, plain = 8 * log(T) / G**2, 8 * log(T) / (A + G) ** 2
    return [
        tends(raised / (Q * T), 0, T),
        above(8 * L / (A + G) ** 2, 8 * L / G**2),
        tends(plain / raised, G**2 / (A + G) ** 2, T),
    ]


def _minimum_free() -> list[int]:
    quota = 2000  # pulls
    return [grows(log(T) / D**2 - quota, T)]


def _eq13_constant() -> list[int]:
    printed, corrected = 8 * log(T) / D - Q * T, 8 * log(T) / D - D * Q * T
    most = 8 / (D**2 * Q)  # the horizon at which the second is largest
    largest = 8 * (log(most) - 1) / D
    return [
        tends(printed, -oo, T),
        tends(corrected, -oo, T),
        unequal(sympy.diff(corrected, T).subs(T, most), 0),
        unequal(sympy.expand_log(corrected.subs(T, most) - largest), 0),
    ]


def _eq13_free() -> list[int]:
    gap = Rational(1, 50)
    owed = 8 * log(T) / gap  # pulls, at which the printed term is 0
    return [grows(gap * (log(T) / gap**2 - owed), T)]


def _index(beyond: sympy.Expr) -> list[int]:
    """Hoeffding for each number of pulls, the union over them, and both widths below a distance."""
    n, pulls = positive("n s")
    later = 1 + _U
    return [
        unequal(sympy.exp(-2 * pulls * (2 * log(n) / pulls)), n**-4),
        above(later * later**-4, later**-2),
        above(8 * L, sympy.expand((8 * L / beyond**2 + _U) * beyond**2)),
    ]


def _eq18() -> list[int]:
    return _index(D)


def _eq19() -> list[int]:
    """Compare Hoeffding's exponent for a width that falls by sqrt(2) with the 1 that is printed."""
    return [untrue(2 * (sqrt(2) - 1) ** 2 >= 1)]


def _eq20() -> list[int]:
    horizon, gap, quota = 10**4, Rational(1, 2), Rational(1, 50)
    smaller = 1 / (1 + _U)  # a gap, at most 1
    return [
        *_index(D),
        above(8 * L / smaller, 8 * L / smaller**2),  # n is at least the pulls
        untrue(8 * log(horizon) / gap >= quota * horizon),
    ]


def _eq21() -> list[int]:
    return [*_index(D), above(1 / (Q * T + _U) ** 2, 1 / (Q * T) ** 2)]


def _second_time() -> list[int]:
    (share,), arms, others = positive("c_0"), 3, 2
    apart = share * T / 2
    squared = 8 * arms * L / (share**2 * T)  # of the least margin
    right = (1 - share) * apart + others * 8 * L / squared
    return [int(bool(sympy.simplify(right - apart).is_positive))]


def _any_round() -> list[int]:
    return [grows((Q * T - 8 * log(T) / G**2) / log(T), T)]


def _eq31() -> list[int]:
    n = sympy.Symbol("n", integer=True, positive=True)
    return [*_index(D), untrue(sympy.summation(2 * n**2 * n**-4, (n, 1, oo)).is_finite)]


def _eq33() -> list[int]:
    b = positive("b_1 b_2 b_3 b_4 b_5")
    a: list[sympy.Expr] = []
    for j in range(len(b)):
        a.append(sympy.expand(sum(a) + sum(b[: j + 1])))
    return [unequal(one, sum((j - d + 1) * b[d] for d in range(j + 1))) for j, one in enumerate(a)]


def _ties() -> list[int]:
    (values,) = positive("m")
    return [tends(1 - 1 / values, 0, values)]


#: The margin 4 sqrt(2 ln T / T^(2/3)).
_MARGIN = 4 * sqrt(2 * L) * T ** -Rational(1, 3)


def _observation_1() -> list[int]:
    return [unequal(_MARGIN * Q * T, 4 * Q * T ** Rational(2, 3) * sqrt(2 * L))]


def _first_term() -> list[int]:
    lacks = A * (Q * T - 8 * log(T) / G**2)
    return [grows(lacks / (8 * sqrt(Q * T * log(T))), T)]


def _eq40() -> list[int]:
    return [above((G * N).subs(N, Q * T), (G * (Q * T - N)).subs(N, Q * T))]


def _eq41() -> list[int]:
    most = 8 * L / (A + G) ** 2
    above_quota = (A + G) * (N - Q * T) + G * Q * T
    return [
        unequal((A + G) * N - A * Q * T, above_quota),
        unequal(above_quota.subs(N, most), G * Q * T + (A + G) * (most - Q * T)),
    ]


def _eq44() -> list[int]:
    horizon, gap, rate, owed = 10**10, Rational(3, 10), Rational(29, 100), 1
    logs = log(horizon)
    pulls = logs / gap**2
    regret = gap * (pulls - owed) + (gap - rate) * owed
    slow = 4 * sqrt(logs / horizon)
    return [untrue(regret <= slow * owed + 4 * sqrt(owed * logs) + slow * (pulls - owed))]


def _eq46() -> list[int]:
    ratio = sympy.simplify(_MARGIN * Q * T / (4 * Q * T ** Rational(2, 3) * sqrt(L)))
    return [untrue(ratio <= 1)]


def _eq48() -> list[int]:
    (constant,) = positive("C")
    bound = D * (8 * log(T) / D**2 - Q * T) + constant * T ** Rational(2, 3) * log(T)
    return [grows(-bound, T)]


def _eq49() -> list[int]:
    x = positive("x_1 x_2 x_3")
    few, many = positive("a b")
    root = 1 / (1 + _U)  # of tau, or of 1 - tau_min: at most 1
    arms = 1 + _V  # sqrt(K)
    squares = sum((x[i] - x[j]) ** 2 for i in range(3) for j in range(i))
    return [
        above(few**2, few * (few + _U)),  # min(a, b) <= sqrt(a b)
        unequal(D * sqrt(8 * L / D**2 * many), sqrt(8 * L * many)),
        # (sum sqrt)^2 <= K sum, for three arms
        unequal(3 * sum(one**2 for one in x) - sum(x) ** 2, squares),
        above(4 * root**2 + 4 * root, 8 * root),
        above(sqrt(8), 3),
        above(4 * root**2 + 3 * root * arms, 8 * root * arms),
    ]


def _near_optimal_critical() -> list[int]:
    gap = Rational(1, 20)
    owed = 8 * L / gap
    return [int(bool(sympy.simplify(gap * (L / gap**2 - owed)).is_positive))]


def _soft_threshold() -> list[int]:
    """Compare the soft penalty, 0 at the quota, with the hard one, which jumps by A."""
    n, below = positive("n e")
    quota = Q * n
    soft = A * (quota - (quota - below)) / quota
    return [unequal(sympy.limit(soft, below, 0), 0), untrue(A.is_positive)]


PROOFS = named(
    *(
        _eq10,
        _minimum_constant,
        _minimum_free,
        _eq13_constant,
        _eq13_free,
        _eq18,
        _eq19,
        _eq20,
        _eq21,
    ),
    *(
        _second_time,
        _any_round,
        _eq31,
        _eq33,
        _ties,
        _observation_1,
        _first_term,
        _eq40,
        _eq41,
        _eq44,
    ),
    *(_eq46, _eq48, _eq49, _near_optimal_critical, _soft_threshold),
)
