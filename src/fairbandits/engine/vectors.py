"""Eight numbers as one value: what the loops over several replicates at once compute with.

Compiled, a value is a vector of the processor, whose operations are those of IEEE 754, entry by
entry: no order of operations changes, so no bit does. Interpreted, it is a NumPy array of shape
(LANES,). Arrays of such values have shape (n, LANES).

Left to itself the compiler would have to prove, for each short loop over eight replicates, that the
arrays it reads and writes are not the same.
"""

import itertools
import math
import operator
from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import (
    lower_builtin,
    models,
    register_jitable,
    register_model,
    type_callable,
)
from numba.np.arrayobj import make_array

from fairbandits.engine.inlining import INLINE

#: As many as the widest registers hold; on processors with narrower ones a value takes several.
LANES = 8


class _Vector(types.Type):
    """Numbers or truth values, one for each lane."""


_FLOATS = _Vector(f"float64 x {LANES}")
_WORDS = _Vector(f"uint64 x {LANES}")
_TRUTHS = _Vector(f"bool x {LANES}")
#: What LLVM has for them.
_OF = {
    _FLOATS: ir.VectorType(ir.DoubleType(), LANES),
    _WORDS: ir.VectorType(ir.IntType(64), LANES),
    _TRUTHS: ir.VectorType(ir.IntType(1), LANES),
}
#: The vector of a number, and the number of a vector.
_VECTOR_OF = {types.float64: _FLOATS, types.uint64: _WORDS}
_NUMBER_OF = {vector: number for number, vector in _VECTOR_OF.items()}


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _OF[fe_type])


def every(value):
    """Return a value that has the same number in all lanes."""
    return np.full(LANES, float(value))


def load(array, row):
    """Return a row of an array of shape (n, LANES)."""
    return array[row].copy()


def store(array, row, value):
    """Write a row of an array of shape (n, LANES)."""
    array[row] = value


def pick(array, rows):
    """Return the entry that each lane has in its own row of an array of shape (n, LANES)."""
    return array[rows.astype(int), np.arange(LANES)]


def put(array, rows, value):
    """Write the entry that each lane has in its own row of an array of shape (n, LANES)."""
    array[rows.astype(int), np.arange(LANES)] = value


def select(condition, yes, no):
    """Return `yes` in the lanes where the condition holds, `no` in the others."""
    return np.where(condition, yes, no)


def anywhere(condition):
    """Return whether the condition holds in any lane."""
    return bool(condition.any())


def root(value):
    """Return the square roots."""
    return np.sqrt(value)


def nearest(value):
    """Return the nearest whole numbers, of two the even one."""
    return np.rint(value)


def absolute(value):
    """Return the values without their signs."""
    return np.abs(value)


def units(words):
    """Return each word as `fairbandits.engine.streams.unit` does, a number in [0, 1)."""
    return (words >> np.uint64(11)).astype(float) * 2.0**-53


def open_units(words):
    """Return each word as `fairbandits.engine.streams.open_unit` does, a number in (0, 1)."""
    return ((words >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52


def logarithm(value):
    """Return the natural logarithms, each the one that `math.log` gives."""
    return np.array([math.log(one) for one in value])


@register_jitable(**INLINE)
def greatest(a, b):
    """Return `max(a, b)` of each lane: `a` unless `b` is greater."""
    return select(b > a, b, a)


@register_jitable(**INLINE)
def least(a, b):
    """Return `min(a, b)` of each lane: `a` unless `b` is less."""
    return select(b < a, b, a)


# The compiled forms.

_LANE = ir.IntType(32)
_INDEX = ir.IntType(64)
#: NumPy promises no more. A whole vector at an address that suits it is as fast.
_ALIGNMENT = 8


def _compile(function: Callable, kinds: tuple, result: types.Type, emit: Callable) -> None:
    """Give a function or an operator of vectors its compiled form.

    `kinds` are the vectors it takes; in place of some of them, not of all, one number may stand.
    `emit(builder, *vectors)` writes the instructions.
    """
    numbers = (types.Float, types.Integer)
    choices = [(kind, *(numbers if kind in _NUMBER_OF else ())) for kind in kinds]
    fitting = [some for some in itertools.product(*choices) if any(one in _OF for one in some)]

    def resolve(*found):
        return result if any(all(map(_is_a, found, some)) for some in fitting) else None

    typers = {
        1: lambda a: resolve(a),
        2: lambda a, b: resolve(a, b),
        3: lambda a, b, c: resolve(a, b, c),
    }
    type_callable(function)(lambda context: typers[len(kinds)])

    def lowered(context, builder, signature, values):
        parts = zip(values, signature.args, kinds, strict=True)
        return emit(builder, *(_widened(context, builder, *part) for part in parts))

    for some in fitting:
        lower_builtin(function, *some)(lowered)


def _is_a(found, kind) -> bool:
    return isinstance(found, kind) if isinstance(kind, type) else found == kind


def _widened(context, builder, value, found, kind):
    """Return a vector of that kind; one number is put into all lanes."""
    if found == kind:
        return value
    number = context.cast(builder, value, found, _NUMBER_OF[kind])
    return _from_lanes(builder, kind, [number] * LANES)


def _from_lanes(builder, kind, numbers):
    vector = ir.Constant(_OF[kind], ir.Undefined)
    for lane, number in enumerate(numbers):
        vector = builder.insert_element(vector, number, ir.Constant(_LANE, lane))
    return vector


def _lanes_of(builder, vector):
    return [builder.extract_element(vector, ir.Constant(_LANE, lane)) for lane in range(LANES)]


def _constant(kind, number):
    return ir.Constant(_OF[kind], [number] * LANES)


def _function(builder, name, kind):
    """Return LLVM's function of that name, which takes and returns a value of that kind."""
    found = builder.module.globals.get(name)
    return found or ir.Function(builder.module, ir.FunctionType(kind, [kind]), name)


def _vector_of(array, row):
    """Return the vector that a row of the array is, or None."""
    if not (isinstance(array, types.Array) and isinstance(row, types.Integer)):
        return None
    return _VECTOR_OF.get(array.dtype) if (array.ndim, array.layout) == (2, "C") else None


def _address(context, builder, kind, array, row, lane=0):
    data = make_array(kind)(context, builder, value=array).data
    first = builder.mul(row, ir.Constant(_INDEX, LANES))
    return builder.gep(data, [builder.add(first, ir.Constant(_INDEX, lane))])


def _row_address(context, builder, signature, values):
    kind, index, *_ = signature.args
    row = context.cast(builder, values[1], index, types.intp)
    address = _address(context, builder, kind, values[0], row)
    return builder.bitcast(address, _OF[_VECTOR_OF[kind.dtype]].as_pointer())


@type_callable(load)
def _type_load(context):
    return _vector_of


@lower_builtin(load, types.Array, types.Integer)
def _lower_load(context, builder, signature, values):
    address = _row_address(context, builder, signature, values)
    return builder.load(address, align=_ALIGNMENT)


@type_callable(store)
def _type_store(context):
    def typer(array, row, value):
        return types.none if value in _OF and _vector_of(array, row) == value else None

    return typer


@lower_builtin(store, types.Array, types.Integer, _Vector)
def _lower_store(context, builder, signature, values):
    address = _row_address(context, builder, signature, values)
    builder.store(values[2], address, align=_ALIGNMENT)
    return context.get_dummy_value()


@type_callable(pick)
def _type_pick(context):
    return lambda array, rows: _vector_of(array, types.intp) if rows == _FLOATS else None


@lower_builtin(pick, types.Array, _FLOATS)
def _lower_pick(context, builder, signature, values):
    kind, array = signature.args[0], values[0]
    picked = []
    for lane, row in enumerate(_lanes_of(builder, values[1])):
        row = builder.fptosi(row, _INDEX)
        picked.append(builder.load(_address(context, builder, kind, array, row, lane)))
    return _from_lanes(builder, signature.return_type, picked)


@type_callable(put)
def _type_put(context):
    def typer(array, rows, value):
        fits = rows == _FLOATS and value in _OF and _vector_of(array, types.intp) == value
        return types.none if fits else None

    return typer


@lower_builtin(put, types.Array, _FLOATS, _Vector)
def _lower_put(context, builder, signature, values):
    kind, array = signature.args[0], values[0]
    pairs = zip(_lanes_of(builder, values[1]), _lanes_of(builder, values[2]), strict=True)
    for lane, (row, number) in enumerate(pairs):
        row = builder.fptosi(row, _INDEX)
        builder.store(number, _address(context, builder, kind, array, row, lane))
    return context.get_dummy_value()


@type_callable(every)
def _type_every(context):
    return lambda value: _FLOATS if isinstance(value, types.Float | types.Integer) else None


@lower_builtin(every, types.Float)
@lower_builtin(every, types.Integer)
def _lower_every(context, builder, signature, values):
    return _widened(context, builder, values[0], signature.args[0], _FLOATS)


def _anywhere(builder, condition):
    bits = ir.IntType(LANES)
    return builder.icmp_unsigned("!=", builder.bitcast(condition, bits), ir.Constant(bits, 0))


def _units(builder, words):
    high = builder.lshr(words, _constant(_WORDS, 11))
    return builder.fmul(builder.sitofp(high, _OF[_FLOATS]), _constant(_FLOATS, 2.0**-53))


def _open_units(builder, words):
    high = builder.lshr(words, _constant(_WORDS, 12))
    middle = builder.fadd(builder.sitofp(high, _OF[_FLOATS]), _constant(_FLOATS, 0.5))
    return builder.fmul(middle, _constant(_FLOATS, 2.0**-52))


def _logarithm(builder, value):
    """Call what Numba makes of `math.log`, lane by lane."""
    log = _function(builder, "llvm.log.f64", ir.DoubleType())
    numbers = [builder.call(log, [one]) for one in _lanes_of(builder, value)]
    return _from_lanes(builder, _FLOATS, numbers)


def _instruction(name: str) -> Callable:
    return lambda builder, *vectors: getattr(builder, name)(*vectors)


def _comparison(sign: str) -> Callable:
    return lambda builder, a, b: builder.fcmp_ordered(sign, a, b)


def _intrinsic(name: str) -> Callable:
    def emit(builder, value):
        return builder.call(_function(builder, f"llvm.{name}.v{LANES}f64", value.type), [value])

    return emit


_compile(operator.add, (_FLOATS, _FLOATS), _FLOATS, _instruction("fadd"))
_compile(operator.sub, (_FLOATS, _FLOATS), _FLOATS, _instruction("fsub"))
_compile(operator.mul, (_FLOATS, _FLOATS), _FLOATS, _instruction("fmul"))
_compile(operator.truediv, (_FLOATS, _FLOATS), _FLOATS, _instruction("fdiv"))
_compile(operator.neg, (_FLOATS,), _FLOATS, _instruction("fneg"))
_compile(root, (_FLOATS,), _FLOATS, _intrinsic("sqrt"))
_compile(nearest, (_FLOATS,), _FLOATS, _intrinsic("rint"))
_compile(absolute, (_FLOATS,), _FLOATS, _intrinsic("fabs"))
_compile(logarithm, (_FLOATS,), _FLOATS, _logarithm)
_compile(operator.lt, (_FLOATS, _FLOATS), _TRUTHS, _comparison("<"))
_compile(operator.le, (_FLOATS, _FLOATS), _TRUTHS, _comparison("<="))
_compile(operator.gt, (_FLOATS, _FLOATS), _TRUTHS, _comparison(">"))
_compile(operator.ge, (_FLOATS, _FLOATS), _TRUTHS, _comparison(">="))
_compile(operator.eq, (_FLOATS, _FLOATS), _TRUTHS, _comparison("=="))
_compile(operator.and_, (_TRUTHS, _TRUTHS), _TRUTHS, _instruction("and_"))
_compile(operator.or_, (_TRUTHS, _TRUTHS), _TRUTHS, _instruction("or_"))
_compile(operator.invert, (_TRUTHS,), _TRUTHS, _instruction("not_"))
_compile(anywhere, (_TRUTHS,), types.boolean, _anywhere)
_compile(select, (_TRUTHS, _FLOATS, _FLOATS), _FLOATS, _instruction("select"))
_compile(operator.add, (_WORDS, _WORDS), _WORDS, _instruction("add"))
_compile(operator.mul, (_WORDS, _WORDS), _WORDS, _instruction("mul"))
_compile(operator.xor, (_WORDS, _WORDS), _WORDS, _instruction("xor"))
_compile(operator.rshift, (_WORDS, _WORDS), _WORDS, _instruction("lshr"))
_compile(units, (_WORDS,), _FLOATS, _units)
_compile(open_units, (_WORDS,), _FLOATS, _open_units)
