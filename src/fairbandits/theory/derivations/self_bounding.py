"""What follows from the self-bounding queues of BanditQ (Eqs 6 to 22), step by step.

In the orders V is sqrt(T), and m and s stand for sqrt(N) and sqrt(T), or the fourth roots, both at
least 1.
"""

import sympy
from sympy import Rational, expand, powsimp, sqrt

from fairbandits.theory.derivations.steps import (
    Step,
    at_most,
    equal,
    nonnegative,
    not_endless,
    positive,
    tends,
)

T, N, a, b, c, x, y, t, length, gains = positive("T N a b c x y t L G")
u, v, w, p, q = nonnegative("u v w p q")
m, s = 1 + u, 1 + w
share, chance, reward = (1 / (1 + symbol) for symbol in (u, v, w))  # numbers in (0, 1]
queue, target, served, start, end, rises = nonnegative("Q lambda s Q_0 Q_1 m")
missing = target - served
constant = 4 + 8 * sqrt(2) + 36

LOWEST_REGRET = [
    at_most(0, reward * share),
    at_most(reward * chance, chance),
    at_most(-1, -(1 - p)),  # chances sum to 1 at most
]
# from y <= a + b sqrt(y) follows y <= 2 a + b^2
QUADRATIC = equal(expand(2 * (a + b * sqrt(y) - y) + (sqrt(y) - b) ** 2), 2 * a + b**2 - y)


def solved(intercept: sympy.Expr, factor: sympy.Expr) -> sympy.Expr:
    """Return the bound that `QUADRATIC` gives for a and b."""
    return expand(2 * intercept + factor**2)


# Eq. 15 with t = T
root_n, root_t = positive("m s")
square = solved(
    2 * (root_t + 1) * root_t**2 + 4 * root_t * sqrt(2) * root_n * root_t, 4 * sqrt(2) * root_t
)
PROPOSITION_1 = [
    *LOWEST_REGRET,
    QUADRATIC,
    at_most(
        sympy.Limit((square / (root_n * root_t**3)).subs(root_n, 1), root_t, sympy.oo),
        4 + 8 * sqrt(2),
    ),
    # E Q^2 <= c sqrt(N) T^(3/2)
    at_most(square.subs({root_t: s, root_n: m}), constant * m * s**3),
]
# E |Q|, by the root of E Q^2
root, order = sqrt(sqrt(N) * T ** Rational(3, 2)), N ** Rational(1, 4) * T ** Rational(3, 4)
# Eq. 14 by 2 V, with c sqrt(N) T^(3/2) for the summed squares of a round
from_queues = 4 * sqrt(2 * T * constant * sqrt(N) * T ** Rational(3, 2)) / (2 * sqrt(T))
# Eq. 14 summed over t: S + 2 V sum R_t <= T (T + 1) + 4 T sqrt(2 S) + 4 V sqrt(2 N) T^(3/2)
(summed,) = positive("S")
rest = T * (T + 1) + 8 * T**2 + 4 * sqrt(T) * sqrt(2 * N) * T ** Rational(3, 2)
average = (9 * s**2 + 1) / (2 * s) + 2 * sqrt(2) * m * s
# a step of 1 / sqrt(2 S), as in Algorithm 1: D^2 / (2 eta) + sum eta g^2 / 2, with D^2 = 2
learner = sqrt(2 * gains) + sqrt(gains) / sqrt(2)
# x is the root of the largest summed square: x^2 <= a + slope x
slope = c * sqrt(N) * sqrt(T)
put_back = sqrt(N * T * N * N * T ** Rational(3, 2))
put_back_sum = sqrt(N * T * N * T ** Rational(3, 2))  # the bound of the sum over arms
over_22, sum_over_22 = (
    powsimp(bound / (sqrt(N) * T ** Rational(3, 2))) for bound in (put_back, put_back_sum)
)


def after(change: sympy.Expr) -> sympy.Expr:
    """Return the queue after a round, (y)^+ for y = Q + lambda - s (Eqs 6 and 17)."""
    return sympy.Max(0, change)


# y is u or -u, and what is served follows
ROUNDS = [(change, queue + target - change) for change in (u, -u)]

PROOFS: dict[str, list[Step]] = {
    "queues": [
        # a round misses at most what Q rises
        *(at_most(target - serves, after(y) - queue) for y, serves in ROUNDS),
        # Q is between 0 and Q + lambda, if s = v is at least 0
        *(at_most(0, after(y)) for y, _ in ROUNDS),
        at_most(after(u), u + v),
        at_most(after(-u), queue + target),
        # what an interval misses is at most the rise of its queue, and so the queue at its end
        at_most((end - start) - rises, end),
        equal(target * (t - 1) + target, target * t),
    ],
    "drift": [
        *(at_most(after(y) ** 2, y**2) for y, _ in ROUNDS),
        equal((queue + missing) ** 2, queue**2 + missing**2 + 2 * queue * missing),
        at_most(missing**2, target**2 + served**2),
        at_most(share**2, share),  # lambda^2 <= lambda
        at_most((reward * chance) ** 2, chance),
        at_most((1 - p) + (1 - q), 2),  # sums of targets and of chances
    ],
    "equation_14": [
        # a feasible x* pays mu x* = lambda + u on average, whatever the queue
        at_most(queue * (target - (target + u)), 0),
        at_most(p**2, p**2 + v),  # E sqrt(X) <= sqrt(E X), by the variance of the root
        # of Eq. 12: rewards are at most 1, and sqrt(x + y) <= sqrt(x) + sqrt(y)
        at_most((x + y) ** 2, 2 * x**2 + 2 * y**2),
        at_most(x + y, expand((sqrt(x) + sqrt(y)) ** 2)),
        equal(
            2 * (2 * sqrt(2 * x) + 2 * y * sqrt(2 * N * t)),
            4 * sqrt(2 * x) + 4 * y * sqrt(2 * N * t),
        ),
    ],
    "equation_15": [
        *LOWEST_REGRET,
        at_most(queue**2, queue**2 + v),  # one arm's square is at most the sum
        equal(2 * t - 2 * y * (-t), 2 * (y + 1) * t),
    ],
    "lowest_regret": LOWEST_REGRET,
    "proposition_1": PROPOSITION_1,
    "proposition_2": [
        at_most(p**2, p**2 + v),  # of a mean and a variance
        equal(root, order),
        equal(root / length, order / length),
    ],
    "proposition_3": [
        *PROPOSITION_1,
        equal(powsimp(from_queues - 2 * sqrt(2 * constant) * order), 0),
        at_most(s**2, m**3 * s**3),  # 2 t / (2 V)
        at_most(m**2 * s**2, m**3 * s**3),  # 4 V sqrt(2 N t) / (2 V)
        at_most(m * s**3, m**3 * s**3),
        equal(((N * T) ** Rational(3, 4)).subs({N: m**4, T: s**4}), m**3 * s**3),
    ],
    "proposition_4": [
        *LOWEST_REGRET,
        # 4 T sqrt(2 S) - S <= 8 T^2
        equal(
            8 * T**2 - 4 * T * sqrt(2 * summed) + summed,
            expand((sqrt(summed) - 2 * sqrt(2) * T) ** 2),
        ),
        equal(expand(rest / (2 * sqrt(T) * T)).subs({N: m**2, T: s**2}), average),
        at_most(average, (5 + 2 * sqrt(2)) * m * s),
    ],
    "proposition_5": [
        QUADRATIC,
        equal(solved(2 * t, 4 * sqrt(2 * t)), 36 * t),
        equal(learner, 3 * sqrt(gains) / sqrt(2)),
        equal(solved(2 * t, 2 * (learner / sqrt(gains)) * sqrt(2 * t)), 40 * t),
        at_most(40 * t, expand(64 * m * t)),
        equal(sqrt(36 * t), 6 * sqrt(t)),
        equal(sqrt(64 * N * t), 8 * sqrt(N * t)),
    ],
    "equation_22": [
        *LOWEST_REGRET,
        # x^2 <= 2 a + c^2 N T
        equal(expand(2 * (a + slope * x - x**2) + (x - slope) ** 2), 2 * a + slope**2 - x**2),
        # T, T^(3/2), N T for N <= T and T^2 for N >= T are at most sqrt(N) T^(3/2)
        at_most(s**2, m * s**3),
        at_most(s**3, m * s**3),
        at_most(m**2 * (m + w) ** 2, m * (m + w) ** 3),
        at_most(m**4, (m + w) * m**3),
    ],
    "equation_21_put_back": [
        equal(put_back, N ** Rational(3, 2) * T ** Rational(5, 4)),
        equal(over_22, N / T ** Rational(1, 4)),
        equal(put_back_sum, N * T ** Rational(5, 4)),
        tends(over_22, 0, T),
        tends(sum_over_22, 0, T),
    ],
    "equation_21_many_arms": [not_endless(ratio.subs(N, T), T) for ratio in (over_22, sum_over_22)],
}
