"""Proofs about UCB1 and Fair-UCB (Theorems 2 to 8 of the Fair-Learn paper), step by step.

T is the horizon, D the gap of an arm, r its quota, a the tolerance and L = ln T; u, v and w are
what a quantity has beyond its least value.
"""

import sympy
from sympy import Derivative, Rational, Sum, exp, expand, log, oo, pi, sqrt

from fairbandits.theory.derivations.steps import (
    Step,
    above_0,
    at_most,
    equal,
    nonnegative,
    positive,
    tends,
)

T, D, L, N, r, a, t, pulls, owed, learned = positive("T D L N r a t s q l")
c, d, k, f, beyond = positive("c d k f x")
u, v, w, tolerance = nonnegative("u v w alpha")
constant = 1 + pi**2 / 3
whole = sympy.Symbol("t", integer=True, positive=True)


def mistakes(first: int) -> sympy.Expr:
    """Return the sum over rounds t >= first of 2 t^-4 for each of t^2 pairs of numbers of pulls."""
    return Sum(2 * whole**2 * whole**-4, (whole, first, oo))


LEARNING = [
    # Hoeffding, for each number of pulls
    equal(exp(-2 * pulls * sqrt(2 * log(t) / pulls) ** 2), t**-4),
    # 2 sqrt(2 ln t / s) <= D from 8 ln t / D^2 pulls on
    at_most(8 * L, expand((8 * L / D**2 + u) * D**2)),
    equal(mistakes(1), pi**2 / 3),
    at_most(N, (N - 1 + u) + 1),  # the least whole number of at least x is at most x + 1
]
FORCED = [
    *LEARNING,
    # a forced pull finds N <= r (t - 1) - alpha <= r T - alpha =: q, and leaves q + 1 at most
    at_most((owed - u) + 1, owed + 1),
    # a pull that is not forced, with l = 8 ln T / D^2 pulls or more, is among the mistakes
    at_most(owed, owed + u),  # outside S(T), q = l + u, the larger is q
    at_most(learned, learned + u),  # in S(T), l = q + u, the larger is l
    equal(D * (8 * L / D**2), 8 * L / D),
]
# two roundings are paid with the mistakes of the first two rounds, 5 / 2, that do not occur
part, rounding = 1 / (1 + u), 1 / (1 + v)  # of the quota, of the pull: at most 1
later, paid = pi**2 / 3 - Rational(5, 2), pi**2 / 3 - 1
WITH_FLOOR = [
    *LEARNING,
    equal(mistakes(3), later),
    # outside S(T): q + rounding pulls are forced, q - part of them are free
    at_most((owed + rounding + later) - (owed - part) - paid, constant - paid),
    # in S(T): l + 1 pulls, of which q - part are free, or none if that is below 0
    at_most(
        (learned + 1 + later) - (owed - part) - paid, expand((learned - owed) + constant - paid)
    ),
]
# T-Fair-UCB: each arm first gets the least whole number of at least q, and UCB1 chooses all others
filled = owed + rounding
FIRST_PHASE = [
    *WITH_FLOOR,  # with what is filled, q + rounding, in place of forced pulls
    at_most(learned, learned + u),  # outside S(T), q = l + u, all later pulls are mistakes
    at_most(filled, (owed + u) + 1),  # in S(T), l = q + u, both are at most l + 1
]
# Theorem 2's bound over ln T; for T = e^(1 + x), x > 0, what falls is -(r T - alpha) / ln T
bound = D * (8 * log(T) / D**2 - (r * T - tolerance)) / log(T)
falls = -D * (r * (log(T) - 1) + tolerance / T) / log(T) ** 2
# of an arm: what learning costs, and a constant; ln T is at least 1 from T = e on
logarithmic = at_most(expand((8 / D) * (1 + w) + c * D), expand((8 / D + c * D) * (1 + w)))

PROOFS: dict[str, list[Step]] = {
    "learning": LEARNING,
    "forced": FORCED,
    "with_floor": WITH_FLOOR,
    "constant": [*WITH_FLOOR, tends(r * T - a - 8 * log(T) / D**2, oo, T)],
    "below_logarithm": [
        equal(Derivative(bound, T), falls),
        above_0(r * beyond + tolerance / exp(1 + beyond)),
    ],
    "without_quota": [above_0(-Derivative(D * (8 * log(T) / D**2) / log(T), T))],
    # arms with a gap of at most d cost d T together, each other 8 ln T / d and a constant
    "any_gaps": [
        *LEARNING,
        at_most(N - f, N),  # the pulls that the r-Regret leaves free only lower it
        at_most(8 * L / (d + u), 8 * L / d),
        equal((8 * k * L / d + d * T).subs(d, sqrt(8 * k * L / T)), 2 * sqrt(8 * k * T * L)),
        # k <= sqrt(k T ln T) for k <= T, and ln T = 1 + w from T = e on
        at_most(k**2, expand(k * (k + u) * (1 + w))),
    ],
    "logarithmic": [*FORCED, logarithmic],
    "first_phase": FIRST_PHASE,
    "first_phase_logarithmic": [
        *FIRST_PHASE,
        at_most(filled - (owed - part), 2),  # outside S(T), but for mistakes
        logarithmic,
    ],
    # floor(r t) lacks at most 1 of r t
    "fair_in_the_limit": [
        at_most(r * t - 1 - a, (r * t - part) - a),
        tends(((r * t - part) - a) / t, r, t),
    ],
}
