"""What follows from the self-bounding queues of BanditQ (Eqs 6 to 22), step by step.

Each proof yields what a step says and an expression that is 0 where the step is right. In the
orders V is sqrt(T), and m and s stand for sqrt(N) and sqrt(T).
"""

from collections.abc import Callable, Iterator

import numpy as np
import sympy

from fairbandits.audit.mathematics.derivations import above, nonnegative, positive

Steps = Iterator[tuple[str, sympy.Expr]]

T, N = positive("T N")
_A, _B, _Y = positive("a b y")
_U, _W = nonnegative("u w")
sqrt = sympy.sqrt


def _at_most(smaller: sympy.Expr, larger: sympy.Expr) -> sympy.Expr:
    return sympy.Integer(above(smaller, larger))


def _positive_part(words: str, of: Callable[[sympy.Expr, sympy.Expr], sympy.Expr]) -> Steps:
    """Yield a step for an argument y of (y)^+ of either sign; `of` gets y and (y)^+."""
    yield f"{words}, y >= 0", of(_U, _U)
    yield f"{words}, y <= 0", of(-_U, sympy.Integer(0))


def _queues() -> Steps:
    queue, target, served = nonnegative("Q lambda s")
    yield from _positive_part("(y)^+ >= y, so a round misses what Q rises", _at_most)
    yield from _positive_part("(y)^+ is between 0 and |y|", lambda y, part: _at_most(part, _U))
    start, end, rises = nonnegative("Q_0 Q_1 m")
    missed = (end - start) - rises  # what the interval misses is at most the rise of its queue
    yield "an interval misses at most the queue at its end", _at_most(missed, end)
    yield "Q + lambda - s <= Q + lambda", _at_most(queue + target - served, queue + target)
    rounds = positive("t")[0]
    yield "lambda (t - 1) + lambda = lambda t", target * (rounds - 1) + target - target * rounds


def _drift() -> Steps:
    queue, target, served = nonnegative("Q lambda s")
    yield from _positive_part(
        "((y)^+)^2 <= y^2", lambda y, part: _at_most(part**2, sympy.expand(y**2))
    )
    missing = target - served
    square = (queue + missing) ** 2
    yield "the square", square - (queue**2 + missing**2 + 2 * queue * missing)
    yield "(lambda - s)^2 <= lambda^2 + s^2", _at_most(missing**2, target**2 + served**2)
    # numbers in (0, 1], as 1 / (1 + u)
    one, chance, reward = (1 / (1 + u) for u in nonnegative("u v w"))
    yield "lambda^2 <= lambda", _at_most(one**2, one)
    yield "(r x)^2 <= x", _at_most((reward * chance) ** 2, chance)
    left, over = nonnegative("p q")  # sums of targets and of chances, 1 - p and 1 - q
    yield "the sums are at most 1", _at_most((1 - left) + (1 - over), sympy.Integer(2))


def _lowest_regret() -> Steps:
    reward, chance, other = (1 / (1 + u) for u in nonnegative("u v w"))
    yield "r x* >= 0", _at_most(sympy.Integer(0), reward * other)
    yield "r x <= x", _at_most(reward * chance, chance)
    rest = nonnegative("p")[0]
    yield "chances sum to 1 at most", _at_most(-sympy.Integer(1), -(1 - rest))


def _quadratic() -> Steps:
    """From y <= a + b sqrt(y) follows y <= 2 a + b^2."""
    beyond = 2 * (_A + _B * sqrt(_Y) - _Y) + (sqrt(_Y) - _B) ** 2
    yield "y <= 2 a + b^2", sympy.expand(2 * _A + _B**2 - _Y - beyond)


def _solved(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    return sympy.expand(2 * a + b**2)


#: sqrt(N) and sqrt(T), both at least 1.
_M, _S = 1 + _U, 1 + _W
_CONSTANT = 4 + 8 * sqrt(2) + 36


def _proposition_1() -> Steps:
    yield from _lowest_regret()
    yield from _quadratic()
    root = sympy.Symbol("s", positive=True)
    arms = sympy.Symbol("m", positive=True)
    a = 2 * (root + 1) * root**2 + 4 * root * sqrt(2) * arms * root  # Eq. 15 with t = T
    bound = _solved(a, 4 * sqrt(2) * root)
    order = arms * root**3
    yield (
        "the bound has the order's constant in the limit",
        sympy.Max(0, sympy.limit((bound / order).subs(arms, 1), root, sympy.oo) - 4 - 8 * sqrt(2)),
    )
    yield (
        "E Q^2 <= c sqrt(N) T^(3/2)",
        _at_most(bound.subs({root: _S, arms: _M}), _CONSTANT * _M * _S**3),
    )


def _proposition_2() -> Steps:
    mean, variance = nonnegative("q v")
    yield "(E Q)^2 <= E Q^2", _at_most(mean**2, mean**2 + variance)
    length = positive("L")[0]
    root = sqrt(sqrt(N) * T ** sympy.Rational(3, 2))
    order = N ** sympy.Rational(1, 4) * T ** sympy.Rational(3, 4)
    yield "its root", root - order
    yield "over an interval", root / length - order / length


def _proposition_3() -> Steps:
    yield from _proposition_1()
    # Eq. 14 by 2 V, with c sqrt(N) T^(3/2) for the summed squares of a round
    squares = _CONSTANT * sqrt(N) * T ** sympy.Rational(3, 2)
    from_queues = 4 * sqrt(2 * T * squares) / (2 * sqrt(T))
    order = (N * T) ** sympy.Rational(3, 4)
    yield (
        "what the queues cost",
        sympy.powsimp(
            from_queues
            - 2 * sqrt(2 * _CONSTANT) * N ** sympy.Rational(1, 4) * T ** sympy.Rational(3, 4)
        ),
    )
    fourth, roots = (1 + u for u in nonnegative("u w"))  # N^(1/4) and T^(1/4)
    terms = {
        "2 t / (2 V)": roots**2,
        "4 V sqrt(2 N t) / (2 V)": fourth**2 * roots**2,
        "N^(1/4) T^(3/4)": fourth * roots**3,
    }
    for words, term in terms.items():
        yield words, _at_most(term, fourth**3 * roots**3)
    yield "the order", order.subs({N: fourth**4, T: roots**4}) - fourth**3 * roots**3


def _proposition_4() -> Steps:
    yield from _lowest_regret()
    # Eq. 14 summed over t: S + 2 V sum R_t <= T (T + 1) + 4 T sqrt(2 S) + 4 V sqrt(2 N) T^(3/2)
    summed = positive("S")[0]
    yield (
        "4 T sqrt(2 S) - S <= 8 T^2",
        sympy.expand(
            8 * T**2 - 4 * T * sqrt(2 * summed) + summed - (sqrt(summed) - 2 * sqrt(2) * T) ** 2
        ),
    )
    rest = T * (T + 1) + 8 * T**2 + 4 * sqrt(T) * sqrt(2 * N) * T ** sympy.Rational(3, 2)
    average = sympy.expand(rest / (2 * sqrt(T) * T))
    yield (
        "the average of the regret",
        average.subs({N: _M**2, T: _S**2}) - ((9 * _S**2 + 1) / (2 * _S) + 2 * sqrt(2) * _M * _S),
    )
    yield (
        "is of order sqrt(N T)",
        _at_most((9 * _S**2 + 1) / (2 * _S) + 2 * sqrt(2) * _M * _S, (5 + 2 * sqrt(2)) * _M * _S),
    )


def _proposition_5() -> Steps:
    yield from _quadratic()
    t = positive("t")[0]
    yield "E Q^2 <= 36 t", _solved(2 * t, 4 * sqrt(2 * t)) - 36 * t
    # a step of 1 / sqrt(2 S): D^2 / (2 eta) + sum eta g^2 / 2, with D^2 = 2
    gains = positive("G")[0]
    learner = sqrt(2 * gains) + sqrt(gains) / sqrt(2)
    yield "the learner with the step of Algorithm 1", learner - 3 * sqrt(gains) / sqrt(2)
    yield (
        "E Q^2 <= 40 t",
        _solved(2 * t, 2 * (learner / sqrt(gains)) * sqrt(2 * t)) - 40 * t,
    )
    arms = 1 + _U
    yield "40 t <= 64 N t", _at_most(40 * t, sympy.expand(64 * arms * t))
    yield "sqrt(36 t) = 6 sqrt(t)", sqrt(36 * t) - 6 * sqrt(t)
    yield "sqrt(64 N t) = 8 sqrt(N t)", sqrt(64 * N * t) - 8 * sqrt(N * t)


def _equation_22() -> Steps:
    yield from _lowest_regret()
    # x, the root of the largest summed square: x^2 <= a + c sqrt(N T) x
    c, x = positive("c x")
    slope = c * sqrt(N) * sqrt(T)
    beyond = 2 * (_A + slope * x - x**2) + (x - slope) ** 2
    yield "x^2 <= 2 a + c^2 N T", sympy.expand(2 * _A + slope**2 - x**2 - beyond)
    order = _M * _S**3
    yield "T <= sqrt(N) T^(3/2)", _at_most(_S**2, order)
    yield "T^(3/2) <= sqrt(N) T^(3/2)", _at_most(_S**3, order)
    few = 1 + _U  # sqrt(N), at most sqrt(T) = sqrt(N) + w
    yield (
        "N T <= sqrt(N) T^(3/2) for N <= T",
        _at_most(few**2 * (few + _W) ** 2, few * (few + _W) ** 3),
    )
    yield "T^2 <= sqrt(N) T^(3/2) for N >= T", _at_most(few**4, (few + _W) * few**3)


def _equation_21_put_back() -> Steps:
    put_back = sqrt(N * T * N * N * T ** sympy.Rational(3, 2))
    yield "what is put back", put_back - N ** sympy.Rational(3, 2) * T ** sympy.Rational(5, 4)
    ratio = sympy.powsimp(put_back / (sqrt(N) * T ** sympy.Rational(3, 2)))
    yield "over Eq. 22", ratio - N / T ** sympy.Rational(1, 4)
    yield "is 1 at N^4 = T", ratio.subs(T, N**4) - 1


PROOFS: dict[str, Callable[[], Steps]] = {
    "queues": _queues,
    "drift": _drift,
    "lowest_regret": _lowest_regret,
    "proposition_1": _proposition_1,
    "proposition_2": _proposition_2,
    "proposition_3": _proposition_3,
    "proposition_4": _proposition_4,
    "proposition_5": _proposition_5,
    "equation_22": _equation_22,
    "equation_21_put_back": _equation_21_put_back,
}


def wrong(proof: str) -> tuple[int, ...]:
    """Return 1 for each step of a proof that is not right, else 0."""
    return tuple(int(sympy.simplify(expression) != 0) for _, expression in PROOFS[proof]())


def put_back_excess(arms: list[int], rounds: int) -> np.ndarray:
    """Return N^4 - T for each number of arms, at most 0 where Eq. 21 put back gives Eq. 22."""
    return np.array([n**4 - rounds for n in arms])
