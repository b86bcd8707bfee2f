"""One notation for one replicate and for a block of eight of them, one in each lane of a vector.

A function of a policy, an observer or a loop is written once. A replicate's own data are numbers or
entries of arrays: ``state.mean[k]``, ``state.pulls[arm] += 1``. In a block they are `Vector` or
entries of `Rows`, and whole numbers are numbers in floating point. Both read alike, and so does
arithmetic; the functions below replace branches and mathematical functions. With one replicate they
compile to a plain branch or function.

A condition that can differ between lanes cannot be tested by ``if``: `where` takes its place, and
``&``, ``|`` and `no` join conditions. `anywhere` skips work that no lane needs.
"""

import math
from typing import Annotated

import numpy as np
from numba.extending import overload, register_jitable

from fairbandits.engine import vectors
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.vectors import LANES, Vector, _Vector

#: The type of an array in a state that all replicates share, and that has no lanes in a block.
Shared = Annotated[np.ndarray, "shared"]
#: The type of a number in a state that can differ between the replicates of a block.
Own = Annotated[int, "own"]


def where(condition, yes, no):
    """Return `yes` where the condition holds, else `no`; both are computed."""
    if isinstance(condition, Vector):
        return vectors.select(condition, yes, no)
    return yes if condition else no


def anywhere(condition):
    """Return whether the condition holds in any lane."""
    return vectors.anywhere(condition) if isinstance(condition, Vector) else condition


def no(condition):
    """Return whether the condition does not hold."""
    return ~condition if isinstance(condition, Vector) else not condition


def sqrt(x):
    """Return the square root."""
    return vectors.root(x) if isinstance(x, Vector) else math.sqrt(x)


def log(x):
    """Return the natural logarithm."""
    return vectors.logarithm(x) if isinstance(x, Vector) else math.log(x)


def absolute(x):
    """Return the value without its sign."""
    return abs(x)


def nearest(x):
    """Return the nearest whole number, of two the even one."""
    return vectors.nearest(x) if isinstance(x, Vector) else np.rint(x)


def whole(x):
    """Return the whole part of a number that is not negative, as a row number."""
    return np.floor(x) if isinstance(x, Vector) else int(x)


def at(rows, row, further):
    """Return ``rows[row + further]``, `further` being the same in all lanes."""
    return rows[row + further]


def lanes_of(rows):
    """Return how many replicates there are."""
    return LANES if isinstance(rows, vectors.Rows) else 1


def lane(value, i):
    """Return the number of replicate i."""
    return value[i] if isinstance(value, Vector) else value


def entry(rows, row, i):
    """Return the number of replicate i in a row."""
    return rows.array[row, i] if isinstance(rows, vectors.Rows) else rows[row]


def put_entry(rows, row, i, value):
    """Write the number of replicate i in a row."""
    if isinstance(rows, vectors.Rows):
        rows.array[row, i] = value
    else:
        rows[row] = value


def whole_part(numerator, denominator):
    """Return floor(numerator / denominator) of whole numbers.

    In a block they are below 2**53: a quotient below a whole number is then at least 1 /
    denominator below it, and is not rounded to it.
    """
    if isinstance(numerator, Vector):
        return np.floor(numerator / denominator)
    return numerator // denominator


def nonnegative(row):
    """Return a row number in a form that shows the compiler that it is not negative.

    Otherwise each use costs instructions, since a negative index counts from the end.
    """
    return row


@overload(where, jit_options=INLINE)
def _where(condition, yes, no):
    if isinstance(condition, _Vector):
        return lambda condition, yes, no: vectors.select(condition, yes, no)
    return lambda condition, yes, no: yes if condition else no


@overload(anywhere, jit_options=INLINE)
def _anywhere(condition):
    if isinstance(condition, _Vector):
        return lambda condition: vectors.anywhere(condition)
    return lambda condition: condition


@overload(no, jit_options=INLINE)
def _no(condition):
    if isinstance(condition, _Vector):
        return lambda condition: ~condition
    return lambda condition: not condition


@overload(sqrt, jit_options=INLINE)
def _sqrt(x):
    return (lambda x: vectors.root(x)) if isinstance(x, _Vector) else (lambda x: math.sqrt(x))


@overload(log, jit_options=INLINE)
def _log(x):
    return (lambda x: vectors.logarithm(x)) if isinstance(x, _Vector) else (lambda x: math.log(x))


@overload(absolute, jit_options=INLINE)
def _absolute(x):
    return (lambda x: vectors.absolute(x)) if isinstance(x, _Vector) else (lambda x: abs(x))


@overload(nearest, jit_options=INLINE)
def _nearest(x):
    return (lambda x: vectors.nearest(x)) if isinstance(x, _Vector) else (lambda x: np.rint(x))


@overload(whole, jit_options=INLINE)
def _whole(x):
    return (lambda x: vectors.floor(x)) if isinstance(x, _Vector) else (lambda x: int(x))


@overload(at, jit_options=INLINE)
def _at(rows, row, further):
    if isinstance(rows, vectors._Rows):
        return lambda rows, row, further: rows[further:][row]
    return lambda rows, row, further: rows[row + further]


@overload(lanes_of, jit_options=INLINE)
def _lanes_of(rows):
    return (lambda rows: LANES) if isinstance(rows, vectors._Rows) else (lambda rows: 1)


@overload(lane, jit_options=INLINE)
def _lane(value, i):
    if isinstance(value, _Vector):
        return lambda value, i: vectors.lane(value, i)
    return lambda value, i: value


@overload(entry, jit_options=INLINE)
def _entry(rows, row, i):
    if isinstance(rows, vectors._Rows):
        return lambda rows, row, i: vectors.entries(rows)[row, i]
    return lambda rows, row, i: rows[row]


@overload(put_entry, jit_options=INLINE)
def _put_entry(rows, row, i, value):
    if isinstance(rows, vectors._Rows):

        def of_lane(rows, row, i, value):
            vectors.entries(rows)[row, i] = value

        return of_lane

    def of_one(rows, row, i, value):
        rows[row] = value

    return of_one


@overload(whole_part, jit_options=INLINE)
def _whole_part(numerator, denominator):
    if isinstance(numerator, _Vector):
        return lambda numerator, denominator: vectors.floor(numerator / denominator)
    return lambda numerator, denominator: numerator // denominator


@overload(nonnegative, jit_options=INLINE)
def _nonnegative(row):
    return (lambda row: row) if isinstance(row, _Vector) else (lambda row: row & (2**63 - 1))


@register_jitable(**INLINE)
def greatest(a, b):
    """Return `max(a, b)`: `a` unless `b` is greater."""
    return where(b > a, b, a)


@register_jitable(**INLINE)
def least(a, b):
    """Return `min(a, b)`: `a` unless `b` is less."""
    return where(b < a, b, a)


@register_jitable(**INLINE)
def ratio(part, whole):
    """Return part / whole, or 0 where the whole is not above 0."""
    some = whole > 0.0
    return where(some, part / where(some, whole, 1.0), 0.0)


@register_jitable(**INLINE)
def largest(values):
    """Return the largest entry."""
    best = values[0]
    for k in range(1, len(values)):
        best = greatest(best, values[k])
    return best


@register_jitable(**INLINE)
def assign(out, values):
    """Copy `values` into `out`, as many rows."""
    for k in range(len(out)):
        out[k] = values[k]


@register_jitable(**INLINE)
def fill(out, value):
    """Set every row of `out`."""
    for k in range(len(out)):
        out[k] = value
