"""One notation for one replicate and for a block of eight of them, one in each lane of a vector.

A function of a policy, an observer or a loop is written once. A replicate's own data are numbers or
entries of arrays: ``state.mean[k]``, ``state.pulls[arm] += 1``. In a block they are `Vector` or
entries of `Rows`, and whole numbers are in floating point. With one replicate the functions below
compile to a plain branch or function. A condition that can differ between lanes cannot be tested by
``if``: `where` takes its place, ``&``, ``|`` and `no` join conditions, and `anywhere` skips work
that no lane needs.
"""

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np
from numba.core import types
from numba.extending import overload

from fairbandits.engine.protocol import INLINE, inlined
from fairbandits.engine.vectors import (
    FLOATS,
    LANES,
    NUMBER_OF,
    TRUTHS,
    WORDS,
    Rows,
    RowsType,
    Vector,
    VectorType,
    any_lane,
    convert,
    emitted,
    entries,
    instruction,
    intrinsic,
)

#: The type of an array in a state that all replicates share, and that has no lanes in a block.
Shared = Annotated[np.ndarray, "shared"]
#: The type of a number in a state that can differ between the replicates of a block.
Own = Annotated[int, "own"]


def compiled_as(
    one: Callable, several: Callable | None = None, options: dict[str, bool] = INLINE
) -> Callable:
    """Say what a function is compiled to, by its first argument; `several` can be `emitted`."""

    def register(function):
        @overload(function, jit_options=options, strict=False)
        def compiled(*arguments):
            return several if isinstance(arguments[0], VectorType | RowsType) else one

        return function

    return register


@compiled_as(lambda condition, yes, no: yes if condition else no)
@emitted((TRUTHS, FLOATS, FLOATS), FLOATS, instruction("select"))
def where(condition, yes, no):
    """Return `yes` where the condition holds, else `no`; both are computed."""
    if isinstance(condition, Vector):
        return np.where(condition, yes, no).view(Vector)
    return yes if condition else no


@compiled_as(lambda condition: condition)
@emitted((TRUTHS,), types.boolean, any_lane)
def anywhere(condition):
    """Return whether the condition holds in any lane."""
    return bool(condition.any()) if isinstance(condition, Vector) else condition


@compiled_as(lambda condition: not condition)
@emitted((TRUTHS,), TRUTHS, instruction("not_"))
def no(condition):
    return ~condition if isinstance(condition, Vector) else not condition


@compiled_as(lambda x: math.sqrt(x))
@emitted((FLOATS,), FLOATS, intrinsic("sqrt"))
def sqrt(x):
    return np.sqrt(x) if isinstance(x, Vector) else math.sqrt(x)


@compiled_as(lambda x: abs(x))
@emitted((FLOATS,), FLOATS, intrinsic("fabs"))
def absolute(x):
    return abs(x)


@compiled_as(lambda x: np.rint(x))
@emitted((FLOATS,), FLOATS, intrinsic("rint"))
def nearest(x):
    """Return the nearest whole number, of two the even one."""
    return np.rint(x)


@compiled_as(lambda x: int(x))
@emitted((FLOATS,), FLOATS, intrinsic("floor"))
def whole(x):
    """Return the whole part of a number that is not negative, as a row number."""
    return np.floor(x) if isinstance(x, Vector) else int(x)


@compiled_as(
    lambda numerator, denominator: numerator // denominator,
    lambda numerator, denominator: whole(numerator / denominator),
)
def whole_part(numerator, denominator):
    """Return floor(numerator / denominator) of whole numbers, in a block below 2**53."""
    # so a quotient below a whole number is 1 / denominator below it, and is not rounded to it
    if isinstance(numerator, Vector):
        return np.floor(numerator / denominator)
    return numerator // denominator


@compiled_as(lambda word: np.float64(np.int64(word)))  # processors convert signed numbers faster
@emitted((WORDS,), FLOATS, convert("sitofp", FLOATS))
def as_float(word):
    """Return a word below 2**53 as a number in floating point."""
    return word.astype(float) if isinstance(word, Vector) else float(word)


@compiled_as(lambda x: np.float64(x).view(np.uint64))
@emitted((FLOATS,), WORDS, convert("bitcast", WORDS))
def bits_of(x):
    """Return the word that a number in floating point is stored as."""
    return x.view(np.uint64) if isinstance(x, Vector) else int(np.float64(x).view(np.uint64))


@compiled_as(lambda word: np.uint64(word).view(np.float64))
@emitted((WORDS,), FLOATS, convert("bitcast", FLOATS))
def of_bits(word):
    return word.view(float) if isinstance(word, Vector) else float(np.uint64(word).view(float))


@compiled_as(lambda x: np.uint64(x))
@emitted((FLOATS,), WORDS, convert("fptoui", WORDS))
def as_word(x):
    return x.astype(np.uint64) if isinstance(x, Vector) else int(x)


@compiled_as(lambda row: row & (2**61 - 1), lambda row: row)
def nonnegative(row):
    """Return a row number in a form that shows the compiler that it does not count from the end."""
    return row


@compiled_as(
    lambda rows, row, further: rows[row + further],
    lambda rows, row, further: rows[further:][row],
)
def at(rows, row, further):
    """Return ``rows[row + further]``, `further` being the same in all lanes."""
    return rows[row + further]


# What goes lane by lane.


@compiled_as(lambda rows: 1, lambda rows: LANES)
def lanes_of(rows):
    """Return how many replicates there are."""
    return LANES if isinstance(rows, Rows) else 1


@compiled_as(lambda value, i: value)
def lane(value, i):
    return value[i] if isinstance(value, Vector) else value


def with_lane(value, i, number):
    value = value.copy()
    value[i] = number
    return value


for kind in (FLOATS, WORDS):
    number = NUMBER_OF[kind]
    emitted((kind, types.intp), number, instruction("extract_element"))(lane)
    emitted(
        (kind, types.intp, number),
        kind,
        lambda builder, value, i, other: builder.insert_element(value, other, i),
    )(with_lane)


@compiled_as(lambda rows, row, i: rows[row], lambda rows, row, i: entries(rows)[row, i])
def entry(rows, row, i):
    return rows.array[row, i] if isinstance(rows, Rows) else rows[row]


def _put_in_row(rows, row, i, value):
    rows[row] = value


def _put_in_lane(rows, row, i, value):
    entries(rows)[row, i] = value


@compiled_as(_put_in_row, _put_in_lane)
def put_entry(rows, row, i, value):
    (_put_in_lane if isinstance(rows, Rows) else _put_in_row)(rows, row, i, value)


# What is made of these.


@inlined
def greatest(a, b):
    """Return `max(a, b)`: `a` unless `b` is greater."""
    return where(b > a, b, a)


@inlined
def least(a, b):
    """Return `min(a, b)`: `a` unless `b` is less."""
    return where(b < a, b, a)


@inlined
def ratio(part, whole):
    """Return part / whole, or 0 where the whole is not above 0."""
    some = whole > 0.0
    return where(some, part / where(some, whole, 1.0), 0.0)


@inlined
def largest(values):
    best = values[0]
    for k in range(1, len(values)):
        best = greatest(best, values[k])
    return best


@inlined
def assign(out, values):
    """Copy `values` into `out`, as many rows."""
    for k in range(len(out)):
        out[k] = values[k]


@inlined
def fill(out, value):
    for k in range(len(out)):
        out[k] = value
