"""What follows from the self-bounding queues of BanditQ (Eqs 6 to 22), step by step.

In the orders V is sqrt(T).
"""

import sympy

from fairbandits.audit.mathematics.derivations import above, named, nonnegative, positive, unequal

sqrt, Rational = sympy.sqrt, sympy.Rational
T, N, A, B, Y = positive("T N a b y")
_U, _V, _W = nonnegative("u v w")
#: sqrt(N) and sqrt(T), both at least 1.
_M, _S = 1 + _U, 1 + _W
_CONSTANT = 4 + 8 * sqrt(2) + 36


def _queues() -> list[int]:
    queue, target, served, start, end, rises = nonnegative("Q lambda s Q_0 Q_1 m")
    (t,) = positive("t")
    return [
        # (y)^+ >= y, so that a round misses what Q rises; y = u and y = -u
        above(_U, _U),
        above(-_U, 0),
        # (y)^+ is between 0 and |y|
        above(_U, _U),
        above(0, _U),
        # what an interval misses is at most the rise of its queue, and so the queue at its end
        above((end - start) - rises, end),
        above(queue + target - served, queue + target),
        unequal(target * (t - 1) + target, target * t),
    ]


def _drift() -> list[int]:
    queue, target, served = nonnegative("Q lambda s")
    some, chance, reward = (1 / (1 + u) for u in (_U, _V, _W))  # numbers in (0, 1]
    left, over = nonnegative("p q")  # sums of targets and of chances are 1 - p and 1 - q
    missing = target - served
    return [
        # ((y)^+)^2 <= y^2 for y = u and y = -u
        above(_U**2, _U**2),
        above(0, _U**2),
        unequal((queue + missing) ** 2, queue**2 + missing**2 + 2 * queue * missing),
        above(missing**2, target**2 + served**2),
        above(some**2, some),  # lambda^2 <= lambda
        above((reward * chance) ** 2, chance),
        above((1 - left) + (1 - over), 2),
    ]


def _lowest_regret() -> list[int]:
    reward, chance, other = (1 / (1 + u) for u in (_U, _V, _W))
    (rest,) = nonnegative("p")
    return [
        above(0, reward * other),
        above(reward * chance, chance),
        above(-sympy.Integer(1), -(1 - rest)),  # chances sum to 1 at most
    ]


def _quadratic() -> int:
    """From y <= a + b sqrt(y) follows y <= 2 a + b^2."""
    beyond = 2 * (A + B * sqrt(Y) - Y) + (sqrt(Y) - B) ** 2
    return unequal(sympy.expand(2 * A + B**2 - Y - beyond), 0)


def _solved(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    return sympy.expand(2 * a + b**2)


def _proposition_1() -> list[int]:
    m, s = positive("m s")  # sqrt(N) and sqrt(T)
    summed = 2 * (s + 1) * s**2 + 4 * s * sqrt(2) * m * s  # Eq. 15 with t = T
    bound = _solved(summed, 4 * sqrt(2) * s)
    largest = sympy.limit((bound / (m * s**3)).subs(m, 1), s, sympy.oo)
    return [
        *_lowest_regret(),
        _quadratic(),
        above(largest, 4 + 8 * sqrt(2)),
        # E Q^2 <= c sqrt(N) T^(3/2)
        above(bound.subs({s: _S, m: _M}), _CONSTANT * _M * _S**3),
    ]


def _proposition_2() -> list[int]:
    mean, variance = nonnegative("q v")
    (length,) = positive("L")
    root = sqrt(sqrt(N) * T ** Rational(3, 2))
    order = N ** Rational(1, 4) * T ** Rational(3, 4)
    return [
        above(mean**2, mean**2 + variance),
        unequal(root, order),
        unequal(root / length, order / length),
    ]


def _proposition_3() -> list[int]:
    # Eq. 14 by 2 V, with c sqrt(N) T^(3/2) for the summed squares of a round
    squares = _CONSTANT * sqrt(N) * T ** Rational(3, 2)
    from_queues = 4 * sqrt(2 * T * squares) / (2 * sqrt(T))
    wanted = 2 * sqrt(2 * _CONSTANT) * N ** Rational(1, 4) * T ** Rational(3, 4)
    m, s = 1 + _U, 1 + _W  # N^(1/4) and T^(1/4)
    return [
        *_proposition_1(),
        unequal(sympy.powsimp(from_queues - wanted), 0),
        above(s**2, m**3 * s**3),  # 2 t / (2 V)
        above(m**2 * s**2, m**3 * s**3),  # 4 V sqrt(2 N t) / (2 V)
        above(m * s**3, m**3 * s**3),
        unequal(((N * T) ** Rational(3, 4)).subs({N: m**4, T: s**4}), m**3 * s**3),
    ]


def _proposition_4() -> list[int]:
    # Eq. 14 summed over t: S + 2 V sum R_t <= T (T + 1) + 4 T sqrt(2 S) + 4 V sqrt(2 N) T^(3/2)
    (summed,) = positive("S")
    square = (sqrt(summed) - 2 * sqrt(2) * T) ** 2
    rest = T * (T + 1) + 8 * T**2 + 4 * sqrt(T) * sqrt(2 * N) * T ** Rational(3, 2)
    average = sympy.expand(rest / (2 * sqrt(T) * T)).subs({N: _M**2, T: _S**2})
    wanted = (9 * _S**2 + 1) / (2 * _S) + 2 * sqrt(2) * _M * _S
    return [
        *_lowest_regret(),
        # 4 T sqrt(2 S) - S <= 8 T^2
        unequal(sympy.expand(8 * T**2 - 4 * T * sqrt(2 * summed) + summed - square), 0),
        unequal(average, wanted),
        above(wanted, (5 + 2 * sqrt(2)) * _M * _S),
    ]


def _proposition_5() -> list[int]:
    t, gains = positive("t G")
    # a step of 1 / sqrt(2 S), as in Algorithm 1: D^2 / (2 eta) + sum eta g^2 / 2, with D^2 = 2
    learner = sqrt(2 * gains) + sqrt(gains) / sqrt(2)
    return [
        _quadratic(),
        unequal(_solved(2 * t, 4 * sqrt(2 * t)), 36 * t),
        unequal(learner, 3 * sqrt(gains) / sqrt(2)),
        unequal(_solved(2 * t, 2 * (learner / sqrt(gains)) * sqrt(2 * t)), 40 * t),
        above(40 * t, sympy.expand(64 * (1 + _U) * t)),  # 64 N t
        unequal(sqrt(36 * t), 6 * sqrt(t)),
        unequal(sqrt(64 * N * t), 8 * sqrt(N * t)),
    ]


def _equation_22() -> list[int]:
    c, x = positive("c x")  # x is the root of the largest summed square
    slope = c * sqrt(N) * sqrt(T)
    beyond = 2 * (A + slope * x - x**2) + (x - slope) ** 2
    few = 1 + _U  # sqrt(N) <= sqrt(T) = sqrt(N) + w, or the other way round
    return [
        *_lowest_regret(),
        # from x^2 <= a + c sqrt(N T) x follows x^2 <= 2 a + c^2 N T
        unequal(sympy.expand(2 * A + slope**2 - x**2 - beyond), 0),
        # T, T^(3/2), N T for N <= T and T^2 for N >= T are at most sqrt(N) T^(3/2)
        above(_S**2, _M * _S**3),
        above(_S**3, _M * _S**3),
        above(few**2 * (few + _W) ** 2, few * (few + _W) ** 3),
        above(few**4, (few + _W) * few**3),
    ]


def _equation_21_put_back() -> list[int]:
    put_back = sqrt(N * T * N * N * T ** Rational(3, 2))
    over_22 = sympy.powsimp(put_back / (sqrt(N) * T ** Rational(3, 2)))
    return [
        unequal(put_back, N ** Rational(3, 2) * T ** Rational(5, 4)),
        unequal(over_22, N / T ** Rational(1, 4)),
        unequal(over_22.subs(T, N**4), 1),
    ]


PROOFS = named(
    *(
        _queues,
        _drift,
        _lowest_regret,
        _proposition_1,
        _proposition_2,
        _proposition_3,
        _proposition_4,
    ),
    *(_proposition_5, _equation_22, _equation_21_put_back),
)
