"""Steps of proofs of the hard-threshold paper, as printed: 0 where one holds, 1 where not.

T is the horizon, D the gap of an arm, A its penalty rate, Q its quota tau and L = ln T. For a
non-critical arm D = A + G with G > 0; u and v are what a quantity has beyond its least value.
"""

import sympy
from sympy import Derivative, Limit, Rational, expand, expand_log, log, oo, sqrt

from fairbandits.theory.derivations.steps import (
    Step,
    above_0,
    at_most,
    equal,
    nonnegative,
    not_above_0,
    not_endless,
    positive,
    tends,
    true,
)

T, D, A, G, Q, L, N = positive("T D A g tau L N")
n, pulls, few, many, below, constant, share, values = positive("n s a b e C c_0 m")
u, v = nonnegative("u v")

# c_a, delta, what a raised mean is above another's, and errors and widths of two arms
c_a, delta, raised, arms_of_all = positive("c_a delta mu K")
errors, widths = positive("x y"), positive("w z")


def event(gap: sympy.Expr, least: sympy.Expr) -> list[Step]:
    """Return the steps to 2 / n^2 for an index to be above that of a mean larger by a gap.

    It is of an arm with at least so many pulls. One of two means is off by its width, or twice the
    arm's own width exceeds the gap, which it cannot.
    """
    other, index = raised - gap + errors[0] + widths[0], raised - errors[1] + widths[1]
    off = [error - width for error, width in zip(errors, widths, strict=True)]
    return [
        equal(other - index, sum(off) + 2 * widths[0] - gap),
        at_most(4 * 2 * L / (least + u), gap**2),
        # Hoeffding for each number of pulls, and the union over them
        equal(sympy.exp(-2 * pulls * (2 * log(n) / pulls)), n**-4),
        at_most((1 + u) * (1 + u) ** -4, (1 + u) ** -2),
    ]


# Eq. 13's term of a critical arm, as printed and corrected, and the horizon at which this is most
printed, corrected = 8 * log(T) / D - Q * T, 8 * log(T) / D - D * Q * T
most = 8 / (D**2 * Q)
gap, wider = Rational(1, 50), Rational(1, 20)
# the largest gap of an arm with so many pulls, by Eq. 19, in a round with this logarithm
allowed = sqrt(L / (2 * pulls))
# the second time that two of three arms are short together
apart = share * T / 2
squared = 8 * 3 * L / (share**2 * T)  # of the least margin
# what Theorem 3's proof sums
count = sympy.Symbol("n", integer=True, positive=True)
b = positive("b_1 b_2 b_3 b_4 b_5")


def sums() -> list[sympy.Expr]:
    """Return the a_j that are the sums of all before them and of b_1 to b_j."""
    terms: list[sympy.Expr] = []
    for j in range(len(b)):
        terms.append(expand(sum(terms) + sum(b[: j + 1])))
    return terms


# 4 sqrt(2 ln T / T^(2/3)), and an arm's pulls by learning
margin, learned = 4 * sqrt(2 * L) * T ** -Rational(1, 3), 8 * L / (A + G) ** 2
above_quota = (A + G) * (N - Q * T) + G * Q * T
# Eq. 44, in units of sqrt(T ln T): a constant quota, no penalty rate, a gap of 8 sqrt(ln T / T),
# and thus at least T / 64 pulls
quota, pulled = Rational(1, 10**4), Rational(1, 64)
# Eq. 48, and Eq. 49 with the root of tau or 1 - tau_min, at most 1, and of K
bound = D * (8 * log(T) / D**2 - Q * T) + constant * T ** Rational(2, 3) * log(T)
x = positive("x_1 x_2 x_3")
root, arms = 1 / (1 + u), 1 + v
# LFG's longest queue M, the weight E on an index from 0 to 1 or to 1 + sqrt(2 L), and quotas that
# sum to 1 - c: an arm with a queue below M - E is not pulled
longest, weight, free = positive("M eta c")
rise = 2 * ((1 - free) * longest - (longest - weight)) + 2  # of the sum of squares in a round
squares = N**3 + N * ((weight + 1) / free) ** 2 + 2 * weight + 2

PROOFS: dict[str, list[Step]] = {
    # an arm's part of the least loss, A q T or the smaller D q T, from its loss
    "eq10": [
        equal(loss, parts)
        for lacks in (A * (Q * T - N), 0)  # short of its quota, or not
        for loss, parts in (
            (sympy.Integer(0) + lacks, lacks),
            (D * N + lacks - D * Q * T, D * (N - Q * T) + lacks),
            ((A + G) * N + lacks - A * Q * T, (A + G) * N + (lacks - A * Q * T)),
        )
    ],
    "minimum_constant": [
        tends(8 * log(T) / G**2 / (Q * T), 0, T),
        at_most(learned, 8 * L / G**2),
        tends((8 * log(T) / (A + G) ** 2) / (8 * log(T) / G**2), G**2 / (A + G) ** 2, T),
    ],
    "minimum_free": [not_endless(log(T) / D**2 - 2000, T)],  # a quota of 2000 pulls
    "eq13_constant": [
        tends(printed, -oo, T),
        tends(corrected, -oo, T),
        equal(Derivative(corrected, T).doit().subs(T, most), 0),
        equal(expand_log(corrected.subs(T, most) - 8 * (log(most) - 1) / D), 0),
    ],
    # with pulls at which the printed term is 0
    # Eq. 17 with such a quota, for a gap of 1 / n
    "eq13_family": [not_endless(L * n - 8 * L, n)],
    "eq13_free": [not_endless(gap * (log(T) / gap**2 - 8 * log(T) / gap), T)],
    # A - Delta is c_a + u, and the other arm's mean is v below the best
    "eq18": [at_most(c_a, (D + c_a + u) - D + v), *event(c_a, 8 * L / c_a**2)],
    "eq39": event(2 * sqrt(2 * L) * T ** -Rational(1, 3) + v, T ** Rational(2, 3)),
    "two_over_T2": [at_most(2 / n**2, 2 / (n + u) ** 2)],
    "not_very_critical": [not_endless(log(T) * T ** Rational(4, 5) / T ** Rational(2, 3), T)],
    # T is the cube of 4 K / c_0^2 + u, and c_0 = 1 / (1 + v)
    "halfway": [
        equal(share * T / 2 - share**2 * T / 4 - (1 - share) * share * T / 2, share**2 * T / 4),
        *(
            at_most(arms_of_all, part * (4 * arms_of_all * (1 + v) ** 2 + u))
            for part in (1 / (4 * (1 + v) ** 2), 1 / (2 * (1 + v)))
        ),
    ],
    "eq22": [
        # the right side minus the left, over Delta - A
        tends(sqrt(2 * (log(T) - log(2)) / log(T)) - 1 - 2 * sqrt(log(T) / T) / G, sqrt(2) - 1, T),
        above_0(sqrt(2) - 1),
    ],
    # the sample mean falls by more than the largest gap allowed, so that Hoeffding gives 1 / n
    "eq19": [
        at_most(allowed, sqrt(2 * L / pulls) - allowed / (1 + u)),
        equal(sympy.exp(-2 * pulls * allowed**2), sympy.exp(-L)),
        at_most(1 / (share * T / 2 + u), 2 / (share * T)),
    ],
    "eq20": [
        *event(D, 8 * L / D**2),
        at_most(8 * L * (1 + u), 8 * L * (1 + u) ** 2),  # n is at least the pulls
        true(8 * log(10**4) / Rational(1, 2) >= Rational(1, 50) * 10**4),
    ],
    "eq21": [*event(D, 8 * L / D**2), at_most(1 / (Q * T + u) ** 2, 1 / (Q * T) ** 2)],
    "second_time": [not_above_0((1 - share) * apart + 2 * 8 * L / squared - apart)],
    "any_round": [not_endless((Q * T - 8 * log(T) / G**2) / log(T), T)],
    "eq31": [
        *event(delta, 8 * L / delta**2),
        equal(sympy.Sum(2 * count**2 * count**-4, (count, 1, oo)), sympy.pi**2 / 3),
    ],
    "eq33": [
        equal(term, sum((j - d + 1) * b[d] for d in range(j + 1))) for j, term in enumerate(sums())
    ],
    "ties": [tends(1 - 1 / values, 0, values)],
    "observation_1": [equal(margin * Q * T, 4 * Q * T ** Rational(2, 3) * sqrt(2 * L))],
    "lfg_in_proportion": [
        # the part of the rise that is not the queues' is at most 2, for three arms
        at_most(sum(x_k**2 for x_k in x[1:]) + (x[1] + x[2] + free) ** 2, 2 * (sum(x) + free) ** 2),
        at_most(rise, 2 * weight + 2),
        at_most(rise.subs(longest, (weight + 1) / free + u), 0),
        tends(sqrt(squares) / T, 0, T),
        tends(sqrt(squares.subs(weight, weight * (1 + sqrt(2 * log(T))))) / T, 0, T),
    ],
    "first_term": [not_endless(A * (Q * T - 8 * log(T) / G**2) / (8 * sqrt(Q * T * log(T))), T)],
    "eq40": [at_most((G * N).subs(N, Q * T), (G * (Q * T - N)).subs(N, Q * T))],
    "eq41": [
        equal((A + G) * N - A * Q * T, above_quota),
        equal(above_quota.subs(N, learned), G * Q * T + (A + G) * (learned - Q * T)),
    ],
    "eq44": [true(8 * pulled <= 4 * quota + 4 * sqrt(quota) + 4 * (pulled - quota))],
    "eq46": [true(sympy.simplify(margin / (4 * sqrt(L)) * T ** Rational(1, 3)) <= 1)],
    "eq48": [not_endless(-bound, T)],
    "eq49": [
        at_most(few**2, few * (few + u)),  # min(a, b) <= sqrt(a b)
        equal(D * sqrt(8 * L / D**2 * many), sqrt(8 * L * many)),
        # (sum sqrt)^2 <= K sum, for three arms
        equal(
            3 * sum(x_k**2 for x_k in x) - sum(x) ** 2,
            sum((x[i] - x[j]) ** 2 for i in range(3) for j in range(i)),
        ),
        at_most(4 * root**2 + 4 * root, 8 * root),
        at_most(sqrt(8), 3),
        at_most(4 * root**2 + 3 * root * arms, 8 * root * arms),
    ],
    # the printed term and Theorem 6's are 0 from some T on
    "near_optimal_constant": [tends(printed, -oo, T), tends(log(T) / D - D * Q * T, -oo, T)],
    "near_optimal_critical": [not_above_0(wider * (L / wider**2 - 8 * L / wider))],
    # the soft penalty is 0 at the quota, the hard one jumps by A
    "soft_threshold": [
        equal(Limit(A * (Q * n - (Q * n - below)) / (Q * n), below, 0), 0),
        above_0(A),
    ],
}
