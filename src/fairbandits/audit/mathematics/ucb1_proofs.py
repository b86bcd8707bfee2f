"""Proofs about UCB1 and Fair-UCB (Theorems 2 to 8 of the Fair-Learn paper), step by step.

Each function returns 0 for a step that holds and 1 for one that does not. T is the horizon, D the
gap of an arm, r its quota; u and v are what a quantity has beyond its least value.
"""

from collections.abc import Callable

import sympy

from fairbandits.audit.mathematics.derivations import above, nonnegative, positive, tends, unequal

T, D, L, N = positive("T D L N")
_U, _V, _W = nonnegative("u v w")
sqrt, log, oo = sympy.sqrt, sympy.log, sympy.oo
_CONSTANT = 1 + sympy.pi**2 / 3


def _mistakes(first: int) -> sympy.Expr:
    """Return the sum over rounds t >= first of 2 t^-4 for each of t^2 pairs of numbers of pulls."""
    t = sympy.Symbol("t", integer=True, positive=True)
    return sympy.summation(2 * t**2 * t**-4, (t, first, oo))


def _learning() -> list[int]:
    t, pulls = positive("t s")
    width = sqrt(2 * log(t) / pulls)
    chance = sympy.exp(-2 * pulls * width**2)
    rest = nonnegative("g")[0]
    return [
        unequal(chance, t**-4),  # Hoeffding, for each number of pulls
        # 2 width <= D from 8 ln t / D^2 pulls on
        above(8 * L, sympy.expand((8 * L / D**2 + _U) * D**2)),
        unequal(_mistakes(1), sympy.pi**2 / 3),
        above(N, (N - 1 + rest) + 1),  # the least whole number of at least x is at most x + 1
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
    part, rounding = (1 / (1 + u) for u in nonnegative("u v"))  # of the quota, of the pull: <= 1
    later = _mistakes(3)
    return [
        *_learning(),
        unequal(later + sympy.Rational(5, 2), sympy.pi**2 / 3),
        # outside S(T): q + rounding pulls are forced, q - part of them are free
        above(
            sympy.simplify((owed + rounding + later) - (owed - part) - (sympy.pi**2 / 3 - 1)),
            _CONSTANT - (sympy.pi**2 / 3 - 1),
        ),
        # in S(T): l + 1 pulls, of which q - part are free, or none if that is below 0
        above(
            sympy.simplify((learned + 1 + later) - (owed - part) - (sympy.pi**2 / 3 - 1)),
            sympy.expand((learned - owed) + _CONSTANT - (sympy.pi**2 / 3 - 1)),
        ),
    ]


def _constant() -> list[int]:
    tolerance, quota = positive("a r")
    return [*_with_floor(), tends(quota * T - tolerance - 8 * log(T) / D**2, oo, T)]


def _below_logarithm() -> list[int]:
    """For T = e^(1 + u), u > 0, what falls is -(r T - alpha) / ln T."""
    quota, beyond = positive("r u")
    tolerance = nonnegative("a")[0]
    slope = sympy.diff(D * (8 * log(T) / D**2 - (quota * T - tolerance)) / log(T), T)
    wanted = -D * (quota * (log(T) - 1) + tolerance / T) / log(T) ** 2
    rate = quota * beyond + tolerance / sympy.exp(1 + beyond)
    return [unequal(slope, wanted), int(not rate.is_positive)]


def _without_quota() -> list[int]:
    slope = sympy.diff(D * (8 * log(T) / D**2) / log(T), T)
    return [int(not sympy.simplify(-slope).is_positive)]


def _any_gaps() -> list[int]:
    """Arms with a gap of at most d cost d T together, each other 8 ln T / d and a constant."""
    k, d, free = positive("k d f")
    best = sqrt(8 * k * L / T)
    beyond = 1 + nonnegative("w")[0]  # ln T, from T = e on
    return [
        *_learning(),
        above(N - free, N),  # the pulls that the r-Regret leaves free only lower it
        above(8 * L / (d + _U), 8 * L / d),
        unequal((8 * k * L / d + d * T).subs(d, best), 2 * sqrt(8 * k * T * L)),
        above(k**2, sympy.expand(k * (k + _U) * beyond)),  # k <= sqrt(k T ln T) for k <= T
    ]


def _against_lfg() -> list[int]:
    """Theorem 2's bound a + b ln T over LFG's; its weight is fixed, or without end."""
    a, b, c, d, k, weight = positive("a b c d k eta")
    ours, rest = a + b * log(T), c * sqrt(k * T * log(T)) + d * k
    return [tends(ours / (T * k / (2 * weight) + rest), 0, T), tends(ours / rest, 0, T)]


def _logarithmic() -> list[int]:
    constant = positive("c")[0]
    return [*_forced(), tends((8 * log(T) / D + constant * D) / log(T), 8 / D, T)]


def _same_bounds() -> list[int]:
    quota, tolerance = positive("r a")
    fair = _CONSTANT * D + D * (8 * L / D**2 - (quota * T - tolerance))
    in_turn = _CONSTANT * D + D * (8 * L / D**2 - quota * T)
    lower = sympy.simplify(fair.subs(tolerance, 0) - in_turn)
    return [int(not lower.is_positive)]


def _coin() -> list[int]:
    """Show a reward x of some law as 1 with probability x, else as 0."""
    chances, rewards = positive("p_1 p_2 p_3"), positive("x_1 x_2 x_3")
    shown = sum(p * (x * 1 + (1 - x) * 0) for p, x in zip(chances, rewards, strict=True))
    mean = sum(p * x for p, x in zip(chances, rewards, strict=True))
    return [unequal(shown, mean)]


def _fair_in_the_limit() -> list[int]:
    quota, t, tolerance = positive("r t a")
    part = 1 / (1 + _U)  # what floor(r t) lacks of r t, at most 1
    least = (quota * t - part) - tolerance
    return [above(quota * t - 1 - tolerance, least), tends(least / t, quota, t)]


STEPS: dict[str, Callable[[], list[int]]] = {
    "learning": _learning,
    "forced": _forced,
    "with_floor": _with_floor,
    "constant": _constant,
    "below_logarithm": _below_logarithm,
    "without_quota": _without_quota,
    "any_gaps": _any_gaps,
    "against_lfg": _against_lfg,
    "logarithmic": _logarithmic,
    "same_bounds": _same_bounds,
    "coin": _coin,
    "fair_in_the_limit": _fair_in_the_limit,
}
