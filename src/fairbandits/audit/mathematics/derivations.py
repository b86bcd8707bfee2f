"""Steps of a derivation, checked by SymPy: 0 where a step holds, 1 where it does not.

Symbols are positive unless a derivation says otherwise. A step with a condition, as x >= q, is
written with what is beyond it, x = q + u with u >= 0: so no step needs more than signs.
"""

from collections.abc import Callable

import sympy

#: A proof returns its steps.
Proof = Callable[[], list[int]]


def named(*proofs: Proof) -> dict[str, Proof]:
    """Return proofs by their names, which ledgers use."""
    return {proof.__name__.removeprefix("_"): proof for proof in proofs}


def positive(names: str) -> tuple[sympy.Symbol, ...]:
    """Return positive symbols, by names with blanks between them."""
    return sympy.symbols(names, positive=True, seq=True)


def nonnegative(names: str) -> tuple[sympy.Symbol, ...]:
    """Return symbols of at least 0, by names with blanks between them."""
    return sympy.symbols(names, nonnegative=True, seq=True)


def unequal(left: sympy.Expr, right: sympy.Expr) -> int:
    """Return 0 if two expressions are the same for all values of their symbols, else 1."""
    return int(sympy.simplify(left - right) != 0)


def above(smaller: sympy.Expr, larger: sympy.Expr) -> int:
    """Return 0 if the signs of their symbols show one expression at most the other, else 1.

    The difference is brought to one fraction; both of its parts must have no negative term, or be
    products of squares and positive factors.
    """
    difference = sympy.simplify(sympy.sympify(larger) - smaller)
    parts = sympy.fraction(sympy.together(difference))
    return int(
        not all(
            any(form.is_nonnegative for form in (part, sympy.expand(part), sympy.factor(part)))
            for part in parts
        )
    )


def tends(expression: sympy.Expr, to: sympy.Expr, symbol: sympy.Symbol) -> int:
    """Return 0 if an expression has this limit as a symbol grows without end, else 1."""
    return int(sympy.limit(expression, symbol, sympy.oo) != to)


def grows(expression: sympy.Expr, symbol: sympy.Symbol) -> int:
    """Return 1 if an expression goes to infinity with a symbol, else 0."""
    return int(sympy.limit(expression, symbol, sympy.oo) == sympy.oo)


def untrue(condition: object) -> int:
    """Return 0 if a condition is known to hold, else 1."""
    return int(not bool(condition))
