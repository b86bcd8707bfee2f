"""Proofs about UCB1 and Fair-UCB (Theorems 2 to 8 of the Fair-Learn paper), step by step.

T is the horizon, D the gap of an arm, r its quota and L = ln T; u is what a quantity has beyond its
least value.
"""

import sympy

from fairbandits.audit.mathematics.derivations import (
    above,
    named,
    nonnegative,
    positive,
    tends,
    unequal,
    untrue,
)

sqrt, log, oo = sympy.sqrt, sympy.log, sympy.oo
T, D, L, N = positive("T D L N")
_QUOTA, _TOLERANCE = positive("r a")
_U, _V, _W = nonnegative("u v w")
_CONSTANT = 1 + sympy.pi**2 / 3


def _mistakes(first: int) -> sympy.Expr:
    """Return the sum over rounds t >= first of 2 t^-4 for each of t^2 pairs of numbers of pulls."""
    t = sympy.Symbol("t", integer=True, positive=True)
    return sympy.summation(2 * t**2 * t**-4, (t, first, oo))


def _learning() -> list[int]:
    t, pulls = positive("t s")
    width = sqrt(2 * log(t) / pulls)
    return [
        unequal(sympy.exp(-2 * pulls * width**2), t**-4),  # Hoeffding, for each number of pulls
        # 2 width <= D from 8 ln t / D^2 pulls on
        above(8 * L, sympy.expand((8 * L / D**2 + _U) * D**2)),
        unequal(_mistakes(1), sympy.pi**2 / 3),
        above(N, (N - 1 + _U) + 1),  # the least whole number of at least x is at most x + 1
    ]


def _forced() -> list[int]:
    owed, learned = positive("q l")
    return [
        *_learning(),
        # a forced pull finds N <= r (t - 1) - alpha <= r T - alpha =: q, and leaves q + 1 at most
        above((owed - _U) + 1, owed + 1),
        # a pull that is not forced, with l = 8 ln T / D^2 pulls or more, is among the mistakes
        above(owed, owed + _U),  # outside S(T), q = l + u, the larger is q
        above(learned, learned + _U),  # in S(T), l = q + u, the larger is l
        unequal(D * (8 * L / D**2), 8 * L / D),
    ]


def _with_floor() -> list[int]:
    """Pay for two roundings with the mistakes of the first two rounds, 5 / 2, that do not occur."""
    owed, learned = positive("q l")
    part, rounding = 1 / (1 + _U), 1 / (1 + _V)  # of the quota, of the pull: at most 1
    later, paid = _mistakes(3), sympy.pi**2 / 3 - 1
    return [
        *_learning(),
        unequal(later + sympy.Rational(5, 2), sympy.pi**2 / 3),
        # outside S(T): q + rounding pulls are forced, q - part of them are free
        above(
            sympy.simplify((owed + rounding + later) - (owed - part) - paid),
            _CONSTANT - paid,
        ),
        # in S(T): l + 1 pulls, of which q - part are free, or none if that is below 0
        above(
            sympy.simplify((learned + 1 + later) - (owed - part) - paid),
            sympy.expand((learned - owed) + _CONSTANT - paid),
        ),
    ]


def _constant() -> list[int]:
    return [*_with_floor(), tends(_QUOTA * T - _TOLERANCE - 8 * log(T) / D**2, oo, T)]


def _below_logarithm() -> list[int]:
    """For T = e^(1 + w), w > 0, what falls is -(r T - alpha) / ln T."""
    (beyond,), (tolerance,) = positive("w"), nonnegative("a")
    slope = sympy.diff(D * (8 * log(T) / D**2 - (_QUOTA * T - tolerance)) / log(T), T)
    wanted = -D * (_QUOTA * (log(T) - 1) + tolerance / T) / log(T) ** 2
    rate = _QUOTA * beyond + tolerance / sympy.exp(1 + beyond)
    return [unequal(slope, wanted), untrue(rate.is_positive)]


def _without_quota() -> list[int]:
    slope = sympy.diff(D * (8 * log(T) / D**2) / log(T), T)
    return [untrue(sympy.simplify(-slope).is_positive)]


def _any_gaps() -> list[int]:
    """Arms with a gap of at most d cost d T together, each other 8 ln T / d and a constant."""
    k, d, free = positive("k d f")
    best = sqrt(8 * k * L / T)
    return [
        *_learning(),
        above(N - free, N),  # the pulls that the r-Regret leaves free only lower it
        above(8 * L / (d + _U), 8 * L / d),
        unequal((8 * k * L / d + d * T).subs(d, best), 2 * sqrt(8 * k * T * L)),
        # k <= sqrt(k T ln T) for k <= T, and ln T = 1 + w from T = e on
        above(k**2, sympy.expand(k * (k + _U) * (1 + _W))),
    ]


def _against_lfg() -> list[int]:
    """Theorem 2's bound a + b ln T over LFG's; its weight is fixed, or without end."""
    a, b, c, d, k, weight = positive("a b c d k eta")
    ours, rest = a + b * log(T), c * sqrt(k * T * log(T)) + d * k
    return [tends(ours / (T * k / (2 * weight) + rest), 0, T), tends(ours / rest, 0, T)]


def _logarithmic() -> list[int]:
    (c,) = positive("c")
    return [*_forced(), tends((8 * log(T) / D + c * D) / log(T), 8 / D, T)]


def _same_bounds() -> list[int]:
    fair = _CONSTANT * D + D * (8 * L / D**2 - (_QUOTA * T - _TOLERANCE))
    in_turn = _CONSTANT * D + D * (8 * L / D**2 - _QUOTA * T)
    return [untrue(sympy.simplify(fair.subs(_TOLERANCE, 0) - in_turn).is_positive)]


def _coin() -> list[int]:
    """Show a reward x of some law as 1 with probability x, else as 0."""
    pairs = list(zip(positive("p_1 p_2 p_3"), positive("x_1 x_2 x_3"), strict=True))
    shown = sum(p * (x * 1 + (1 - x) * 0) for p, x in pairs)
    return [unequal(shown, sum(p * x for p, x in pairs))]


def _fair_in_the_limit() -> list[int]:
    (t,) = positive("t")
    part = 1 / (1 + _U)  # what floor(r t) lacks of r t, at most 1
    least = (_QUOTA * t - part) - _TOLERANCE
    return [above(_QUOTA * t - 1 - _TOLERANCE, least), tends(least / t, _QUOTA, t)]


PROOFS = named(
    *(_learning, _forced, _with_floor, _constant, _below_logarithm, _without_quota, _any_gaps),
    *(_against_lfg, _logarithmic, _same_bounds, _coin, _fair_in_the_limit),
)
