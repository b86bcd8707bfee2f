"""Steps of a derivation, checked by SymPy when they are called: 0 where one holds, 1 where not.

Symbols are positive unless a derivation says otherwise. A step with a condition, as x >= q, is
written with what is beyond it, x = q + u with u >= 0: so no step needs more than signs.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import sympy

Step = Callable[[], int]


def positive(names: str) -> tuple[sympy.Symbol, ...]:
    """Return positive symbols, by names with blanks between them."""
    return sympy.symbols(names, positive=True, seq=True)


def nonnegative(names: str) -> tuple[sympy.Symbol, ...]:
    """Return symbols of at least 0, by names with blanks between them."""
    return sympy.symbols(names, nonnegative=True, seq=True)


def equal(left: Any, right: Any) -> Step:
    """Return the step that two expressions are the same for all values of their symbols."""
    return lambda: int(sympy.simplify(sympy.sympify(left - right).doit()) != 0)


def at_most(smaller: Any, larger: Any) -> Step:
    """Return the step that one expression is at most the other, by the signs of their symbols."""
    return partial(_above, smaller, larger)


def _above(smaller: Any, larger: Any) -> int:
    difference = sympy.simplify((sympy.sympify(larger) - smaller).doit())
    parts = sympy.fraction(sympy.together(difference))
    forms = ((part, sympy.expand(part), sympy.factor(part)) for part in parts)
    return int(not all(any(form.is_nonnegative for form in alike) for alike in forms))


def tends(expression: sympy.Expr, to: Any, symbol: sympy.Symbol) -> Step:
    """Return the step that an expression has this limit as a symbol grows without end."""

    def step() -> int:
        limit = sympy.limit(expression.doit(), symbol, sympy.oo)
        return int(limit != to and sympy.simplify(limit - to) != 0)

    return step


def not_endless(expression: sympy.Expr, symbol: sympy.Symbol) -> Step:
    """Return the step that an expression does not go to infinity with a symbol.

    It raises ValueError if the limit is not known, so that the ledger gets no verdict from it.
    """

    def step() -> int:
        limit = sympy.limit(expression, symbol, sympy.oo)
        if not (limit.is_finite or limit in (sympy.oo, -sympy.oo)):
            raise ValueError(f"the limit of {expression} in {symbol} is not known, got {limit}")
        return int(limit == sympy.oo)

    return step


def above_0(expression: sympy.Expr) -> Step:
    """Return the step that an expression is positive."""
    return lambda: int(not sympy.simplify(expression.doit()).is_positive)


def not_above_0(expression: sympy.Expr) -> Step:
    """Return the step that an expression is not positive; ValueError if no sign is known."""

    def step() -> int:
        simple = sympy.simplify(expression)
        if simple.is_positive is None:
            raise ValueError(f"the sign of {simple} is not known")
        return int(simple.is_positive)

    return step


def true(condition: Any) -> Step:
    """Return the step that a condition holds."""
    return lambda: int(not bool(condition))
