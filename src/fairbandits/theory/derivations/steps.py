"""Steps of a derivation, checked by SymPy when they are called: 0 where one holds, 1 where not.

Symbols are positive unless a derivation says otherwise. A step with a condition, as x >= q, is
written with what is beyond it, x = q + u with u >= 0: so no step needs more than signs.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import sympy

Step = Callable[[], int]


def positive(names: str) -> tuple[sympy.Symbol, ...]:
    """Return positive symbols, by names with blanks between them."""
    return sympy.symbols(names, positive=True, seq=True)


def nonnegative(names: str) -> tuple[sympy.Symbol, ...]:
    """Return symbols of at least 0, by names with blanks between them."""
    return sympy.symbols(names, nonnegative=True, seq=True)


def _step(holds: Callable[..., Any]) -> Callable[..., Step]:
    """Turn a check into a function of the same arguments that returns it as a step."""

    @wraps(holds)
    def step_of(*arguments: Any) -> Step:
        return lambda: int(not holds(*arguments))

    return step_of


@_step
def equal(left: Any, right: Any) -> bool:
    """Return the step that two expressions are the same for all values of their symbols."""
    return sympy.simplify(sympy.sympify(left - right).doit()) == 0


@_step
def at_most(smaller: Any, larger: Any) -> bool:
    """Return the step that one expression is at most the other, by the signs of their symbols."""
    difference = sympy.simplify((sympy.sympify(larger) - smaller).doit())
    parts = sympy.fraction(sympy.together(difference))
    forms = ((part, sympy.expand(part), sympy.factor(part)) for part in parts)
    return all(any(form.is_nonnegative for form in alike) for alike in forms)


@_step
def tends(expression: sympy.Expr, to: Any, symbol: sympy.Symbol) -> bool:
    """Return the step that an expression has this limit as a symbol grows without end."""
    limit = sympy.limit(expression.doit(), symbol, sympy.oo)
    return limit == to or sympy.simplify(limit - to) == 0


@_step
def not_endless(expression: sympy.Expr, symbol: sympy.Symbol) -> bool:
    """Return the step that an expression does not go to infinity with a symbol.

    It raises ValueError if the limit is not known, so that the ledger gets no verdict from it.
    """
    limit = sympy.limit(expression, symbol, sympy.oo)
    if not (limit.is_finite or limit in (sympy.oo, -sympy.oo)):
        raise ValueError(f"the limit of {expression} in {symbol} is not known, got {limit}")
    return limit != sympy.oo


@_step
def above_0(expression: sympy.Expr) -> bool:
    """Return the step that an expression is positive."""
    return sympy.simplify(expression.doit()).is_positive


@_step
def not_above_0(expression: sympy.Expr) -> bool:
    """Return the step that an expression is not positive; ValueError if no sign is known."""
    simple = sympy.simplify(expression)
    if simple.is_positive is None:
        raise ValueError(f"the sign of {simple} is not known")
    return not simple.is_positive


@_step
def true(condition: Any) -> bool:
    """Return the step that a condition holds."""
    return condition
