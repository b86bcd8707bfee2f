"""Steps of proofs of the hard-threshold paper, as printed: 0 where one holds, 1 where not.

T is the horizon, D the gap of an arm, A its penalty rate, q its quota tau and L = ln T. For a
non-critical arm D = A + g with g > 0; u and v are what a quantity has beyond its least value.
"""

from collections.abc import Callable

import numpy as np
import sympy

from fairbandits.audit.mathematics.derivations import above, nonnegative, positive, tends, unequal

T, D, A, G, Q, L, N = positive("T D A g tau L N")
_U, _V = nonnegative("u v")
sqrt, log, oo = sympy.sqrt, sympy.log, sympy.oo


def _number(condition: sympy.Basic | bool) -> int:
    """Return 0 if an inequality of numbers holds, else 1."""
    return int(not bool(condition))


def _loss(short: bool, gap: sympy.Expr, pulls: sympy.Expr) -> sympy.Expr:
    return gap * pulls + (A * (Q * T - pulls) if short else 0)


def _eq10() -> list[int]:
    """Take an arm's part of the least loss, A q T or the smaller D q T, from its loss."""
    found = []
    for short in (True, False):
        lacks = A * (Q * T - N) if short else 0
        found += [
            unequal(_loss(short, sympy.Integer(0), N) - 0, lacks),
            unequal(_loss(short, D, N) - D * Q * T, D * (N - Q * T) + lacks),
            unequal(_loss(short, A + G, N) - A * Q * T, (A + G) * N + (lacks - A * Q * T)),
        ]
    return found


def _minimum_constant() -> list[int]:
    raised, plain = 8 * log(T) / G**2, 8 * log(T) / (A + G) ** 2
    return [
        tends(raised / (Q * T), 0, T),
        above(8 * L / (A + G) ** 2, 8 * L / G**2),
        tends(plain / raised, G**2 / (A + G) ** 2, T),
    ]


def _minimum_free() -> list[int]:
    quota = 2000  # pulls
    return [int(sympy.limit(log(T) / D**2 - quota, T, oo) == oo)]


def _eq13_constant() -> list[int]:
    terms = 8 * log(T) / D - Q * T, 8 * log(T) / D - D * Q * T
    most = 8 / (D**2 * Q)  # the horizon at which the second is largest
    largest = 8 * (log(8 / (D**2 * Q)) - 1) / D
    return [
        *(tends(term, -oo, T) for term in terms),
        unequal(sympy.diff(terms[1], T).subs(T, most), sympy.Integer(0)),
        unequal(sympy.expand_log(terms[1].subs(T, most) - largest), sympy.Integer(0)),
    ]


def _eq13_free() -> list[int]:
    gap = sympy.Rational(1, 50)
    owed = 8 * log(T) / gap  # pulls, at which the printed term is 0
    return [int(sympy.limit(gap * (log(T) / gap**2 - owed), T, oo) == oo)]


def _index(beyond: sympy.Expr) -> list[int]:
    """Hoeffding for each number of pulls, the union over them, and both widths below a distance."""
    n, pulls = positive("n s")
    chance = sympy.exp(-2 * pulls * (2 * log(n) / pulls))
    later = 1 + _U
    return [
        unequal(chance, n**-4),
        above(later * later**-4, later**-2),
        above(8 * L, sympy.expand((8 * L / beyond**2 + _U) * beyond**2)),
    ]


def _eq18() -> list[int]:
    return _index(positive("c")[0])


def _eq19() -> list[int]:
    """Compare Hoeffding's exponent for a width that falls by sqrt(2) with the 1 that is printed."""
    return [_number(2 * (sqrt(2) - 1) ** 2 >= 1)]


def _eq20() -> list[int]:
    horizon, gap, quota = 10**4, sympy.Rational(1, 2), sympy.Rational(1, 50)
    smaller = 1 / (1 + _U)  # a gap, at most 1
    return [
        *_index(D),
        above(8 * L / smaller, 8 * L / smaller**2),  # n is at least the pulls
        _number(8 * log(horizon) / gap >= quota * horizon),
    ]


def _eq21() -> list[int]:
    return [*_index(D), above(1 / (Q * T + _U) ** 2, 1 / (Q * T) ** 2)]


def _second_time() -> list[int]:
    share, arms, others = positive("c_0")[0], 3, 2
    apart = share * T / 2
    squared = 8 * arms * L / (share**2 * T)  # of the least margin
    right = (1 - share) * apart + others * 8 * L / squared
    return [int(bool(sympy.simplify(right - apart).is_positive))]


def _any_round() -> list[int]:
    return [int(sympy.limit((Q * T - 8 * log(T) / G**2) / log(T), T, oo) == oo)]


def _eq31() -> list[int]:
    n = sympy.Symbol("n", integer=True, positive=True)
    finite = sympy.summation(2 * n**2 * n**-4, (n, 1, oo)).is_finite
    return [*_index(positive("d")[0]), int(not finite)]


def _eq33() -> list[int]:
    b = positive("b_1 b_2 b_3 b_4 b_5")
    a: list[sympy.Expr] = []
    for j in range(len(b)):
        a.append(sympy.expand(sum(a) + sum(b[: j + 1])))
    return [unequal(one, sum((j - d + 1) * b[d] for d in range(j + 1))) for j, one in enumerate(a)]


def _ties() -> list[int]:
    values = positive("m")[0]
    return [tends(1 - 1 / values, sympy.Integer(0), values)]


def _margin() -> sympy.Expr:
    """Return 4 sqrt(2 ln T / T^(2/3))."""
    return 4 * sqrt(2 * L) * T ** -sympy.Rational(1, 3)


def _observation_1() -> list[int]:
    return [unequal(_margin() * Q * T, 4 * Q * T ** sympy.Rational(2, 3) * sqrt(2 * L))]


def _first_term() -> list[int]:
    lacks = A * (Q * T - 8 * log(T) / G**2)
    return [int(sympy.limit(lacks / (8 * sqrt(Q * T * log(T))), T, oo) == oo)]


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
    horizon, gap, rate, owed = 10**10, sympy.Rational(3, 10), sympy.Rational(29, 100), 1
    logs = log(horizon)
    pulls = logs / gap**2
    regret = gap * (pulls - owed) + (gap - rate) * owed
    slow = 4 * sqrt(logs / horizon)
    return [_number(regret <= slow * owed + 4 * sqrt(owed * logs) + slow * (pulls - owed))]


def _eq46() -> list[int]:
    ratio = sympy.simplify(_margin() * Q * T / (4 * Q * T ** sympy.Rational(2, 3) * sqrt(L)))
    return [_number(ratio <= 1)]


def _eq48() -> list[int]:
    constant = positive("C")[0]
    bound = D * (8 * log(T) / D**2 - Q * T) + constant * T ** sympy.Rational(2, 3) * log(T)
    return [int(sympy.limit(bound, T, oo) == -oo)]


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
        above(sqrt(8), sympy.Integer(3)),
        above(4 * root**2 + 3 * root * arms, 8 * root * arms),
    ]


def _near_optimal_critical() -> list[int]:
    gap = sympy.Rational(1, 20)
    owed = 8 * L / gap
    return [int(bool(sympy.simplify(gap * (L / gap**2 - owed)).is_positive))]


def _soft_threshold() -> list[int]:
    n, below = positive("n e")
    quota = Q * n
    soft = A * (quota - (quota - below)) / quota
    jumps = {"soft": sympy.limit(soft, below, 0), "hard": A}
    return [unequal(jumps["soft"], sympy.Integer(0)), int(not jumps["hard"].is_positive)]


PROOFS: dict[str, Callable[[], list[int]]] = {
    "eq10": _eq10,
    "minimum_constant": _minimum_constant,
    "minimum_free": _minimum_free,
    "eq13_constant": _eq13_constant,
    "eq13_free": _eq13_free,
    "eq18": _eq18,
    "eq19": _eq19,
    "eq20": _eq20,
    "eq21": _eq21,
    "second_time": _second_time,
    "any_round": _any_round,
    "eq31": _eq31,
    "eq33": _eq33,
    "ties": _ties,
    "observation_1": _observation_1,
    "first_term": _first_term,
    "eq40": _eq40,
    "eq41": _eq41,
    "eq44": _eq44,
    "eq46": _eq46,
    "eq48": _eq48,
    "eq49": _eq49,
    "near_optimal_critical": _near_optimal_critical,
    "soft_threshold": _soft_threshold,
}


def broken_steps(proof: str) -> np.ndarray:
    """Return 1 for each step of a proof that does not hold, else 0."""
    return np.array(PROOFS[proof]())
