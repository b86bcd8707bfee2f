"""Eight numbers as one value, and arrays of them: the arithmetic of blocks of replicates.

Compiled, a `Vector` is a vector of the processor, whose operations are those of IEEE 754, entry by
entry: no order of operations changes, so no bit does. Interpreted, it is a NumPy array of shape
(LANES,). `Rows` are arrays of vectors.

Without them the compiler would have to prove, for each short loop over eight replicates, that the
arrays it reads and writes are not the same.
"""

import itertools
import math
import operator
from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing import signature as signature_of
from numba.core.typing.arraydecl import get_array_index_type
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_cast,
    models,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import make_array

#: As many as the widest registers hold; on processors with narrower ones a value takes several.
LANES = 8


class Vector(np.ndarray):
    """Numbers, words or truth values, one for each lane, in the interpreter.

    Like a number it never changes: ``x += y`` makes a new one.
    """

    __numba_array_subtype_dispatch__ = True

    def __iadd__(self, other):
        return self + other

    def __isub__(self, other):
        return self - other


class Rows:
    """Vectors in an array whose last axis is the lanes.

    ``rows[k]`` is the row k of all lanes, a vector if the array has two axes, else `Rows`; and
    ``rows[a]``, a vector of row numbers in floating point, the entry that each lane has in its own
    row. Either can be assigned to.
    """

    def __init__(self, array: np.ndarray):
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, row):
        if isinstance(row, Vector):
            return self.array[row.astype(int), np.arange(LANES)].view(Vector)
        part = self.array[row]
        return part.copy().view(Vector) if part.ndim == 1 else Rows(part)

    def __setitem__(self, row, value):
        own = isinstance(row, Vector)
        self.array[(row.astype(int), np.arange(LANES)) if own else row] = value


class _Vector(types.Type):
    """Numba's type of a `Vector`; a number is accepted in its place."""

    def unify(self, context, other):
        return self if isinstance(other, _instead_of(self)) else None


class _Rows(types.Type):
    """Numba's type of `Rows`: an array with other operations."""

    def __init__(self, array):
        self.array = array
        super().__init__(f"rows({array.dtype}, {array.ndim})")


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
_NUMBER_OF[_TRUTHS] = types.boolean
_NUMBERS = (types.Float, types.Integer)


def _instead_of(vector):
    """Return the types accepted in place of a vector, for all lanes."""
    return (types.Boolean,) if vector == _TRUTHS else _NUMBERS


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _OF[fe_type])


@register_model(_Rows)
class _RowsModel(models.ArrayModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type.array)


@typeof_impl.register(Rows)
def _typeof_rows(value, context):
    return _Rows(typeof_impl(value.array, context))


@unbox(_Rows)
def _unbox_rows(kind, rows, c):
    array = c.pyapi.object_getattr_string(rows, "array")
    native = c.unbox(kind.array, array)
    c.pyapi.decref(array)
    return NativeValue(native.value, is_error=native.is_error, cleanup=native.cleanup)


@typeof_impl.register(Vector)
def _typeof_vector(value, context):
    return _FLOATS


@unbox(_Vector)
def _unbox_vector(kind, vector, c):
    array = types.Array(types.float64, 1, "C")
    native = c.unbox(array, vector)
    data = make_array(array)(c.context, c.builder, value=native.value).data
    address = c.builder.bitcast(data, _OF[kind].as_pointer())
    value = c.builder.load(address, align=_ALIGNMENT)
    return NativeValue(value, is_error=native.is_error, cleanup=native.cleanup)


def select(condition, yes, no):
    """Return `yes` in the lanes where the condition holds, `no` in the others."""
    return np.where(condition, yes, no).view(Vector)


def anywhere(condition):
    """Return whether the condition holds in any lane."""
    return bool(condition.any())


def root(value):
    """Return the square roots."""
    return np.sqrt(value)


def nearest(value):
    """Return the nearest whole numbers, of two the even one."""
    return np.rint(value)


def floor(value):
    """Return the largest whole numbers that are not above them."""
    return np.floor(value)


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
    """Return the natural logarithms, bit for bit those of `math.log`."""
    return np.array([math.log(one) for one in value]).view(Vector)


def lane(value, i):
    """Return the number in lane i."""
    return value[i]


def with_lane(value, i, number):
    """Return a vector with another number in lane i."""
    value = value.copy()
    value[i] = number
    return value


def entries(rows):
    """Return `Rows` as the array of their numbers."""
    return rows.array


def whole_words(value):
    """Return whole numbers as words."""
    return value.astype(np.uint64)


# The compiled forms.

_LANE = ir.IntType(32)
_INDEX = ir.IntType(64)
#: NumPy promises no more. A whole vector at an aligned address is as fast.
_ALIGNMENT = 8


def _compile(function: Callable, kinds: tuple, result: types.Type, emit: Callable) -> None:
    """Give a function or an operator of vectors its compiled form.

    `kinds` are the types of its vectors; some of them, not all, can be one number instead.
    `emit(builder, *vectors)` writes the instructions.
    """
    choices = [(kind, *_instead_of(kind)) for kind in kinds]
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


def _vector_of(rows):
    """Return the vector in a row of two-dimensional rows."""
    kind = rows.array
    return _VECTOR_OF.get(kind.dtype) if (kind.ndim, kind.layout) == (2, "C") else None


def _address(context, builder, rows, value, row, lane=0):
    data = make_array(rows.array)(context, builder, value=value).data
    first = builder.mul(row, ir.Constant(_INDEX, LANES))
    return builder.gep(data, [builder.add(first, ir.Constant(_INDEX, lane))])


def _row_address(context, builder, signature, values):
    rows, index, *_ = signature.args
    row = context.cast(builder, values[1], index, types.intp)
    address = _address(context, builder, rows, values[0], row)
    return builder.bitcast(address, _OF[_vector_of(rows)].as_pointer())


def _own_addresses(context, builder, signature, values):
    """Return the address of each lane's entry in its own row."""
    for lane, row in enumerate(_lanes_of(builder, values[1])):
        row = builder.fptosi(row, _INDEX)
        yield _address(context, builder, signature.args[0], values[0], row, lane)


@type_callable(operator.getitem)
def _type_getitem(context):
    def typer(rows, row):
        if not isinstance(rows, _Rows):
            return None
        if row == _FLOATS or (rows.array.ndim == 2 and isinstance(row, types.Integer)):
            return _vector_of(rows)
        part = get_array_index_type(rows.array, row)
        return part and _Rows(part.result)

    return typer


@lower_builtin(operator.getitem, _Rows, types.Integer)
@lower_builtin(operator.getitem, _Rows, types.SliceType)
def _lower_getitem(context, builder, signature, values):
    rows, row = signature.args
    result = signature.return_type
    if isinstance(result, _Vector):
        address = _row_address(context, builder, signature, values)
        return builder.load(address, align=_ALIGNMENT)
    inner = signature_of(result.array, rows.array, row)
    return context.get_function(operator.getitem, inner)(builder, values)


@lower_builtin(operator.getitem, _Rows, _FLOATS)
def _lower_own_getitem(context, builder, signature, values):
    numbers = map(builder.load, _own_addresses(context, builder, signature, values))
    return _from_lanes(builder, signature.return_type, list(numbers))


@type_callable(operator.setitem)
def _type_setitem(context):
    def typer(rows, row, value):
        fits = isinstance(rows, _Rows) and (isinstance(row, types.Integer) or row == _FLOATS)
        kind = _vector_of(rows) if fits else None
        return types.none if kind and (value == kind or isinstance(value, _NUMBERS)) else None

    return typer


@lower_builtin(operator.setitem, _Rows, types.Integer, types.Any)
@lower_builtin(operator.setitem, _Rows, _FLOATS, types.Any)
def _lower_setitem(context, builder, signature, values):
    rows, row, value = signature.args
    vector = _widened(context, builder, values[2], value, _vector_of(rows))
    if row == _FLOATS:
        addresses = _own_addresses(context, builder, signature, values)
        for number, address in zip(_lanes_of(builder, vector), addresses, strict=True):
            builder.store(number, address)
    else:
        address = _row_address(context, builder, signature, values)
        builder.store(vector, address, align=_ALIGNMENT)
    return context.get_dummy_value()


@type_callable(len)
def _type_len(context):
    return lambda rows: types.intp if isinstance(rows, _Rows) else None


@lower_builtin(len, _Rows)
def _lower_len(context, builder, signature, values):
    shape = make_array(signature.args[0].array)(context, builder, value=values[0]).shape
    return builder.extract_value(shape, 0)


@lower_cast(types.Float, _Vector)
@lower_cast(types.Integer, _Vector)
@lower_cast(types.Boolean, _Vector)
def _cast_number(context, builder, number, vector, value):
    return _widened(context, builder, value, number, vector)


@type_callable(entries)
def _type_entries(context):
    return lambda rows: rows.array if isinstance(rows, _Rows) else None


@lower_builtin(entries, _Rows)
def _lower_entries(context, builder, signature, values):
    return values[0]


@type_callable(len)
def _type_len(context):
    return lambda rows: types.intp if isinstance(rows, _Rows) else None


@lower_builtin(len, _Rows)
def _lower_len(context, builder, signature, values):
    shape = make_array(signature.args[0].array)(context, builder, value=values[0]).shape
    return builder.extract_value(shape, 0)


@lower_cast(types.Float, _Vector)
@lower_cast(types.Integer, _Vector)
@lower_cast(types.Boolean, _Vector)
def _cast_number(context, builder, number, vector, value):
    return _widened(context, builder, value, number, vector)


@type_callable(lane)
def _type_lane(context):
    return lambda value, i: _NUMBER_OF.get(value) if isinstance(i, types.Integer) else None


@lower_builtin(lane, _Vector, types.Integer)
def _lower_lane(context, builder, signature, values):
    return builder.extract_element(values[0], values[1])


@type_callable(with_lane)
def _type_with_lane(context):
    return lambda value, i, number: value if value in _NUMBER_OF else None


@lower_builtin(with_lane, _Vector, types.Integer, types.Any)
def _lower_with_lane(context, builder, signature, values):
    kind, _, number = signature.args
    number = context.cast(builder, values[2], number, _NUMBER_OF[kind])
    return builder.insert_element(values[0], number, values[1])


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
    """Call Numba's `math.log` lane by lane."""
    log = _function(builder, "llvm.log.f64", ir.DoubleType())
    numbers = [builder.call(log, [one]) for one in _lanes_of(builder, value)]
    return _from_lanes(builder, _FLOATS, numbers)


def _instruction(name: str) -> Callable:
    return lambda builder, *vectors: getattr(builder, name)(*vectors)


def _comparison(sign: str) -> Callable:
    return lambda builder, a, b: builder.fcmp_ordered(sign, a, b)


def _differing(builder, a, b):
    return builder.fcmp_unordered("!=", a, b)


def _whole_words(builder, value):
    return builder.fptoui(value, _OF[_WORDS])


def _intrinsic(name: str) -> Callable:
    def emit(builder, value):
        return builder.call(_function(builder, f"llvm.{name}.v{LANES}f64", value.type), [value])

    return emit


_compile(operator.add, (_FLOATS, _FLOATS), _FLOATS, _instruction("fadd"))
_compile(operator.iadd, (_FLOATS, _FLOATS), _FLOATS, _instruction("fadd"))
_compile(operator.sub, (_FLOATS, _FLOATS), _FLOATS, _instruction("fsub"))
_compile(operator.isub, (_FLOATS, _FLOATS), _FLOATS, _instruction("fsub"))
_compile(operator.mul, (_FLOATS, _FLOATS), _FLOATS, _instruction("fmul"))
_compile(operator.truediv, (_FLOATS, _FLOATS), _FLOATS, _instruction("fdiv"))
_compile(operator.neg, (_FLOATS,), _FLOATS, _instruction("fneg"))
_compile(root, (_FLOATS,), _FLOATS, _intrinsic("sqrt"))
_compile(nearest, (_FLOATS,), _FLOATS, _intrinsic("rint"))
_compile(floor, (_FLOATS,), _FLOATS, _intrinsic("floor"))
_compile(absolute, (_FLOATS,), _FLOATS, _intrinsic("fabs"))
_compile(logarithm, (_FLOATS,), _FLOATS, _logarithm)
_compile(operator.lt, (_FLOATS, _FLOATS), _TRUTHS, _comparison("<"))
_compile(operator.le, (_FLOATS, _FLOATS), _TRUTHS, _comparison("<="))
_compile(operator.gt, (_FLOATS, _FLOATS), _TRUTHS, _comparison(">"))
_compile(operator.ge, (_FLOATS, _FLOATS), _TRUTHS, _comparison(">="))
_compile(operator.eq, (_FLOATS, _FLOATS), _TRUTHS, _comparison("=="))
_compile(operator.ne, (_FLOATS, _FLOATS), _TRUTHS, _differing)
_compile(operator.and_, (_TRUTHS, _TRUTHS), _TRUTHS, _instruction("and_"))
_compile(operator.or_, (_TRUTHS, _TRUTHS), _TRUTHS, _instruction("or_"))
_compile(operator.invert, (_TRUTHS,), _TRUTHS, _instruction("not_"))
_compile(anywhere, (_TRUTHS,), types.boolean, _anywhere)
_compile(select, (_TRUTHS, _FLOATS, _FLOATS), _FLOATS, _instruction("select"))
_compile(operator.add, (_WORDS, _WORDS), _WORDS, _instruction("add"))
_compile(operator.mul, (_WORDS, _WORDS), _WORDS, _instruction("mul"))
_compile(operator.xor, (_WORDS, _WORDS), _WORDS, _instruction("xor"))
_compile(operator.rshift, (_WORDS, _WORDS), _WORDS, _instruction("lshr"))
_compile(whole_words, (_FLOATS,), _WORDS, _whole_words)
_compile(units, (_WORDS,), _FLOATS, _units)
_compile(open_units, (_WORDS,), _FLOATS, _open_units)
