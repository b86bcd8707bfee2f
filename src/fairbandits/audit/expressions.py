"""Expressions of a ledger: arithmetic over measures and coordinates, and nothing else.

The syntax is Python's. A value has three axes, (replicate, round, arm), of size 1 where they do not
matter, so that NumPy's broadcasting joins them. ``x @ r`` is x at the last recorded round up to r,
or at several, ``x[name]`` that of the companion of this name, ``cells(x)`` that of all stacked
cells, side by side on the axis of arms.
"""

import ast
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fairbandits.settings.schemas import meant

#: Node of the syntax tree -> operation on values.
OPERATIONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}
#: All that an expression consists of.
ALLOWED = (
    *(*OPERATIONS, ast.MatMult, ast.USub, ast.Not, ast.And, ast.Or, ast.Load),
    *(ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Call),
    *(ast.Subscript, ast.List),
)
#: Looks like a function, and takes its argument in each stacked cell.
CELLS = "cells"
#: Quantities that must not be added or compared with each other.
UNITS = ("pulls", "rounds", "reward", "reward per round", "arms")
#: Product or ratio of two units, where it is a third unit.
PRODUCTS = {frozenset(("reward per round", one)): "reward" for one in ("rounds", "pulls")}
#: Functions whose value has the unit of their first argument.
KEEPS = (
    *("mean", "largest", "total", "worst", "peak", "late", "abs", "highest", "lowest"),
    *("first_cell", "last_cell", "rises", "chosen", "scatter", "late_spread", "spread_of_runs"),
)
RATIOS = {("reward", "rounds"): "reward per round", ("reward", "reward per round"): "rounds"}


class ExpressionError(ValueError):
    """An expression that is not allowed, or names what does not exist."""


#: Where names' values come from: `fairbandits.audit.cases.CaseScope`.
Scope = Any


class Vocabulary(NamedTuple):
    """The names that expressions can use; this module knows none."""

    units: Mapping[str, str]  # of values, empty for those without
    arguments: Mapping[str, tuple[int, int]]  # of functions: the fewest, and the most
    companions: Collection[str]
    elsewhere: Mapping[str, str]  # name in the library -> name here


@cache
def parse(text: str) -> ast.expr:
    """Return an expression's syntax tree of allowed nodes, or raise ExpressionError.

    >>> sorted(names_in(parse("0.05 * target - (regret[lfg] @ T) / T")))
    [('T', ''), ('T', ''), ('regret', 'lfg'), ('target', '')]
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"{text!r} is no expression: {error.msg}") from None
    for node in ast.walk(tree):
        _check_node(node, text)
    return tree


def _ambiguous(node: ast.BinOp) -> str:
    """Return what is wrong with ``x @ T / 10``, which reads as x at T / 10 and is (x at T) / 10."""
    left, right = node.left, node.right
    at_left = isinstance(left, ast.BinOp) and isinstance(left.op, ast.MatMult)
    # what is in parentheses begins, or ends, before they do
    begins = (left.lineno, left.col_offset) == (node.lineno, node.col_offset)
    ends = (right.end_lineno, right.end_col_offset) == (node.end_lineno, node.end_col_offset)
    power = isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow)
    bare = node.op if at_left and begins else None
    if isinstance(node.op, ast.MatMult) and power and ends:
        bare = right.op
    sign = {ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}.get(type(bare))
    needs = f"what is at a round needs parentheses before {sign!r}"
    return f"{needs}: write x @ (T / 10), or (x @ T) / 10" if sign else ""


def _check_node(node: ast.AST, text: str) -> None:
    wrong = ""
    match node:
        case ast.Name(id=name) if name.startswith("_"):
            wrong = f"{name!r}: names do not start with underscores"
        case ast.Constant(value=value) if type(value) not in (int, float, str):
            wrong = f"{value!r} is neither a number nor text"
        case ast.Call(func=func, keywords=keywords) if keywords or not isinstance(func, ast.Name):
            wrong = "a call is name(value, ...), without keywords"
        case ast.Subscript(value=ast.Name(), slice=ast.Name()):
            pass
        case ast.Subscript():
            wrong = "what stands in brackets is a companion: x[name]"
        case ast.BinOp():
            wrong = _ambiguous(node)
    if not isinstance(node, ALLOWED):
        wrong = (
            f"{type(node).__name__} is not allowed; an expression has numbers, text, names, + - * "
            "/ **, @, comparisons, and, or, not, in, lists, name[companion] and function calls"
        )
    if wrong:
        raise ExpressionError(f"{text!r}: {wrong}")


@cache
def called(tree: ast.expr) -> list[str]:
    """Return the names of the functions that are called, `CELLS` among them."""
    return [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call)]


def names_in(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that stand for values, each with the companion it is taken from."""
    match node:
        case ast.Name(id=name):
            yield name, ""
        case ast.Subscript(value=value, slice=index):
            yield value.id, index.id
        case _:
            children = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
            for child in children:
                yield from names_in(child)


def unit_of(node: ast.expr, known: Vocabulary) -> str:
    """Return the unit of the value, or an empty text; ExpressionError if a name is unknown."""
    match node:
        case ast.Name(id=name):
            if name not in known.units and name in known.elsewhere:
                raise ExpressionError(f"{name!r} is {known.elsewhere[name]!r} in a ledger")
            _check_known("measure or coordinate", name, known.units)
            return known.units[name]
        case ast.Subscript(value=value, slice=index):
            _check_known("companion", index.id, known.companions)
            return unit_of(value, known)
        case ast.BinOp(left=left, op=op, right=right):
            one, other = unit_of(left, known), unit_of(right, known)
            match op:
                case ast.MatMult():
                    if other not in ("", "rounds"):
                        raise ExpressionError(f"what stands after @ is a round, got {other}")
                    return one
                case ast.Add() | ast.Sub():
                    return same_unit([one, other])
                case ast.Mult() if isinstance(left, ast.Constant):
                    return other
                case ast.Mult() | ast.Div() if isinstance(right, ast.Constant):
                    return one
                case ast.Mult():
                    return PRODUCTS.get(frozenset((one, other)), "")
                case ast.Div():
                    return RATIOS.get((one, other), "")
        case ast.UnaryOp(operand=operand):
            return unit_of(operand, known)
        case ast.Compare(left=left, comparators=others):
            same_unit([unit_of(one, known) for one in (left, *others)])
        case ast.BoolOp(values=values):
            for one in values:
                unit_of(one, known)
        case ast.Call(func=ast.Name(id=name), args=[one]) if name == CELLS:
            return unit_of(one, known)
        case ast.Call(func=func, args=arguments):
            _check_known("function", func.id, known.arguments)
            least, most = known.arguments[func.id]
            if not least <= len(arguments) <= most:
                wanted = str(least) if least == most else f"{least} to {most}"
                raise ExpressionError(f"{func.id} takes {wanted} values, got {len(arguments)}")
            units = [unit_of(one, known) for one in arguments]
            if func.id in ("min", "max"):
                return same_unit(units)
            return units[0] if func.id in KEEPS else ""
        case ast.List(elts=values):
            return same_unit([unit_of(one, known) for one in values])
    return ""


def _check_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise ExpressionError(f"no {what} {name!r}{meant(name, sorted(known))}")


def same_unit(units: Iterable[str]) -> str:
    """Return the one unit among `units`, empty ones aside; ExpressionError if there are two."""
    found = sorted({unit for unit in units if unit})
    if len(found) > 1:
        raise ExpressionError(f"units do not fit: {' and '.join(found)}")
    return found[0] if found else ""


def evaluate(node: ast.expr, scope: Scope) -> Any:
    """Return the value: a number, text or array of shape (replicates, rounds, arms)."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return scope.value(name)
        case ast.Subscript(value=value, slice=index):
            return evaluate(value, scope.companion(index.id))
        case ast.BinOp(left=left, op=op, right=right):
            one, other = evaluate(left, scope), evaluate(right, scope)
            if isinstance(op, ast.MatMult):
                return _own(scope, left).at(one, other)
            return OPERATIONS[type(op)](*_plain(one, other))
        case ast.UnaryOp(op=op, operand=operand):
            value = evaluate(operand, scope)
            return np.logical_not(value) if isinstance(op, ast.Not) else -value
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [evaluate(one, scope) for one in (left, *others)]
            found: Any = True
            for op, one, other in zip(ops, values, values[1:], strict=False):
                holds = OPERATIONS[type(op)](*_plain(one, other))
                found = np.logical_and(found, holds)
            return found
        case ast.BoolOp(op=op, values=values):
            join = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return join.reduce([np.asarray(one) for one in _short(op, values, scope)])
        case ast.Call(func=ast.Name(id=name), args=[one]) if name == CELLS:
            scopes, joined = scope.stacked()
            key = one, *(repr(scope.known.get(each)) for each in ("arm", *dict(names_in(one))))
            if key not in joined:  # equal in repetitions of a case that differ in nothing of it
                joined[key] = _side_by_side([evaluate(one, own) for own in scopes])
            return joined[key]
        case ast.Call(func=func, args=arguments):
            given = [evaluate(one, scope) for one in arguments]
            return _own(scope, *arguments).call(func.id, given)
        case ast.List(elts=values):
            return [evaluate(one, scope) for one in values]
    raise AssertionError(ast.dump(node))  # _check_nodes refuses all others


def _side_by_side(values: list[Any]) -> np.ndarray:
    """Return values of several cells with the cells in place of arms."""
    arrays = [
        np.full((1, 1, 1), _plain(one, np.empty(0))[0]) if np.ndim(one) == 0 else one
        for one in values
    ]
    if any(one.shape[2] != 1 for one in arrays):
        raise ExpressionError(
            f"{CELLS}(x): x must have one value for all arms; choose, or join them"
        )
    return np.concatenate(arrays, axis=2)


def _own(scope: Scope, *nodes: ast.expr) -> Scope:
    """Return the scope of the companion that all names come from: it has its own rounds."""
    places = frozenset().union(*map(_places, nodes))
    return scope.companion(*places) if len(places) == 1 and "" not in places else scope


@cache
def _places(node: ast.expr) -> frozenset[str]:
    return frozenset(place for _, place in names_in(node))


def _short(op: ast.boolop, nodes: list[ast.expr], scope: Scope) -> list[Any]:
    """Return the values up to the first that decides, as Python's short circuit does."""
    found: list[Any] = []
    for node in nodes:
        found.append(evaluate(node, scope))
        if np.ndim(found[-1]) == 0 and bool(found[-1]) == isinstance(op, ast.Or):
            return found[-1:]
    return list(np.broadcast_arrays(*found))


def _plain(*values: Any) -> list[Any]:
    """Return values for NumPy: fractions between arrays as whole numbers or doubles."""
    if not any(isinstance(one, np.ndarray) for one in values):
        return list(values)
    return [
        (one.numerator if one.denominator == 1 else float(one))
        if isinstance(one, Fraction)
        else one
        for one in values
    ]
