"""Eight numbers as one value, and arrays of them: the arithmetic of blocks of replicates.

Compiled, a `Vector` is a vector of the processor with the operations of IEEE 754, entry by entry,
so no bit changes. Interpreted, it is a NumPy array of shape (LANES,). Without vectors the compiler
would have to prove that a loop reads and writes different arrays.
"""

import itertools
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
    """Numbers, words or truth values, one for each lane; ``x += y`` makes a new one."""

    __numba_array_subtype_dispatch__ = True

    def __iadd__(self, other):
        return self + other

    def __isub__(self, other):
        return self - other


class Rows:
    """Vectors in an array, the lane its last axis; ``rows[vector]`` has each lane's own row."""

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
        by_lane = isinstance(row, Vector)
        self.array[(row.astype(int), np.arange(LANES)) if by_lane else row] = value


class VectorType(types.Type):
    """Numba's type of a `Vector`; a number is accepted in its place."""

    def unify(self, context, other):
        return self if isinstance(other, _instead_of(self)) else None


class RowsType(types.Type):
    """Numba's type of `Rows`."""

    def __init__(self, array):
        self.array = array
        super().__init__(f"rows({array.dtype}, {array.ndim})")


FLOATS = VectorType(f"float64 x {LANES}")
WORDS = VectorType(f"uint64 x {LANES}")
TRUTHS = VectorType(f"bool x {LANES}")
#: What LLVM has for them.
_OF = {
    FLOATS: ir.VectorType(ir.DoubleType(), LANES),
    WORDS: ir.VectorType(ir.IntType(64), LANES),
    TRUTHS: ir.VectorType(ir.IntType(1), LANES),
}
#: The vector of a number, and the number of a vector.
_VECTOR_OF = {types.float64: FLOATS, types.uint64: WORDS}
NUMBER_OF = {vector: number for number, vector in _VECTOR_OF.items()}
NUMBER_OF[TRUTHS] = types.boolean
_NUMBERS = (types.Float, types.Integer)


def _instead_of(kind):
    """Return the types accepted in place of a vector, for all lanes, or of a number."""
    return (types.Boolean,) if kind == TRUTHS else _NUMBERS


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _OF[fe_type])


@register_model(RowsType)
class _RowsModel(models.ArrayModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type.array)


@typeof_impl.register(Rows)
def _typeof_rows(value, context):
    return RowsType(typeof_impl(value.array, context))


@unbox(RowsType)
def _unbox_rows(kind, rows, c):
    array = c.pyapi.object_getattr_string(rows, "array")
    native = c.unbox(kind.array, array)
    c.pyapi.decref(array)
    return NativeValue(native.value, is_error=native.is_error, cleanup=native.cleanup)


@typeof_impl.register(Vector)
def _typeof_vector(value, context):
    return FLOATS


@unbox(VectorType)
def _unbox_vector(kind, vector, c):
    array = types.Array(types.float64, 1, "C")
    native = c.unbox(array, vector)
    data = make_array(array)(c.context, c.builder, value=native.value).data
    address = c.builder.bitcast(data, _OF[kind].as_pointer())
    value = c.builder.load(address, align=_ALIGNMENT)
    return NativeValue(value, is_error=native.is_error, cleanup=native.cleanup)


_LANE = ir.IntType(32)
_INDEX = ir.IntType(64)
#: NumPy promises no more. A whole vector at an aligned address is as fast.
_ALIGNMENT = 8


def emitted(kinds: tuple, result: types.Type, emit: Callable) -> Callable:
    """Give a function a compiled form, which `emit` writes; some vectors can be numbers instead."""
    choices = [(kind, *_instead_of(kind)) for kind in kinds]
    fitting = [mix for mix in itertools.product(*choices) if any(kind in _OF for kind in mix)]

    def resolve(*actual):
        return result if any(all(map(_is_a, actual, mix)) for mix in fitting) else None

    typers = {
        1: lambda a: resolve(a),
        2: lambda a, b: resolve(a, b),
        3: lambda a, b, c: resolve(a, b, c),
    }

    def lowered(context, builder, signature, values):
        parts = zip(values, signature.args, kinds, strict=True)
        return emit(builder, *(_widened(context, builder, *part) for part in parts))

    def register(function):
        type_callable(function)(lambda context: typers[len(kinds)])
        for mix in fitting:
            lower_builtin(function, *mix)(lowered)
        return function

    return register


def _is_a(actual, kind) -> bool:
    return isinstance(actual, kind) if isinstance(kind, type) else actual == kind


def _widened(context, builder, value, actual, kind):
    """Return a value of that kind; in a vector one number is put into all lanes."""
    if actual == kind:
        return value
    number = context.cast(builder, value, actual, NUMBER_OF.get(kind, kind))
    return _from_lanes(builder, kind, [number] * LANES) if kind in _OF else number


def _from_lanes(builder, kind, numbers):
    vector = ir.Constant(_OF[kind], ir.Undefined)
    for lane, number in enumerate(numbers):
        vector = builder.insert_element(vector, number, ir.Constant(_LANE, lane))
    return vector


def _lanes_of(builder, vector):
    return [builder.extract_element(vector, ir.Constant(_LANE, lane)) for lane in range(LANES)]


def _function(builder, name, kind):
    """Return LLVM's function of that name, which takes and returns a value of that kind."""
    declared = builder.module.globals.get(name)
    return declared or ir.Function(builder.module, ir.FunctionType(kind, [kind]), name)


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
        if not isinstance(rows, RowsType):
            return None
        if row == FLOATS or (rows.array.ndim == 2 and isinstance(row, types.Integer)):
            return _vector_of(rows)
        part = get_array_index_type(rows.array, row)
        return part and RowsType(part.result)

    return typer


@lower_builtin(operator.getitem, RowsType, types.Integer)
@lower_builtin(operator.getitem, RowsType, types.SliceType)
def _lower_getitem(context, builder, signature, values):
    rows, row = signature.args
    result = signature.return_type
    if isinstance(result, VectorType):
        address = _row_address(context, builder, signature, values)
        return builder.load(address, align=_ALIGNMENT)
    inner = signature_of(result.array, rows.array, row)
    return context.get_function(operator.getitem, inner)(builder, values)


@lower_builtin(operator.getitem, RowsType, FLOATS)
def _lower_own_getitem(context, builder, signature, values):
    numbers = map(builder.load, _own_addresses(context, builder, signature, values))
    return _from_lanes(builder, signature.return_type, list(numbers))


@type_callable(operator.setitem)
def _type_setitem(context):
    def typer(rows, row, value):
        fits = isinstance(rows, RowsType) and (isinstance(row, types.Integer) or row == FLOATS)
        kind = _vector_of(rows) if fits else None
        return types.none if kind and (value == kind or isinstance(value, _NUMBERS)) else None

    return typer


@lower_builtin(operator.setitem, RowsType, types.Integer, types.Any)
@lower_builtin(operator.setitem, RowsType, FLOATS, types.Any)
def _lower_setitem(context, builder, signature, values):
    rows, row, value = signature.args
    vector = _widened(context, builder, values[2], value, _vector_of(rows))
    if row == FLOATS:
        addresses = _own_addresses(context, builder, signature, values)
        for number, address in zip(_lanes_of(builder, vector), addresses, strict=True):
            builder.store(number, address)
    else:
        address = _row_address(context, builder, signature, values)
        builder.store(vector, address, align=_ALIGNMENT)
    return context.get_dummy_value()


type_callable(len)(lambda context: lambda rows: types.intp if isinstance(rows, RowsType) else None)


@lower_builtin(len, RowsType)
def _lower_len(context, builder, signature, values):
    shape = make_array(signature.args[0].array)(context, builder, value=values[0]).shape
    return builder.extract_value(shape, 0)


@lower_cast(types.Float, VectorType)
@lower_cast(types.Integer, VectorType)
@lower_cast(types.Boolean, VectorType)
def _cast_number(context, builder, number, vector, value):
    return _widened(context, builder, value, number, vector)


def entries(rows):
    """Return `Rows` as the array of their numbers."""
    return rows.array


type_callable(entries)(
    lambda context: lambda rows: rows.array if isinstance(rows, RowsType) else None
)
lower_builtin(entries, RowsType)(lambda context, builder, signature, values: values[0])


def instruction(name: str) -> Callable:
    """Return what emits one instruction of the processor."""
    return lambda builder, *vectors: getattr(builder, name)(*vectors)


def intrinsic(name: str) -> Callable:
    """Return what emits one of LLVM's functions of vectors."""

    def emit(builder, value):
        return builder.call(_function(builder, f"llvm.{name}.v{LANES}f64", value.type), [value])

    return emit


def any_lane(builder, condition):
    """Emit whether a condition holds in any lane."""
    bits = ir.IntType(LANES)
    return builder.icmp_unsigned("!=", builder.bitcast(condition, bits), ir.Constant(bits, 0))


def convert(name: str, kind: types.Type) -> Callable:
    """Return what converts vectors to another kind."""
    return lambda builder, value: getattr(builder, name)(value, _OF[kind])


def _comparison(sign: str) -> Callable:
    compare = "fcmp_unordered" if sign == "!=" else "fcmp_ordered"  # only != holds for NaN
    return lambda builder, a, b: getattr(builder, compare)(sign, a, b)


#: Kind of vectors -> operators of Python -> instructions.
OPERATORS = {
    FLOATS: {"add iadd": "fadd", "sub isub": "fsub", "mul": "fmul", "truediv": "fdiv"},
    WORDS: {"add": "add", "mul": "mul", "xor": "xor", "and_": "and_", "rshift": "lshr"},
    TRUTHS: {"and_": "and_", "or_": "or_"},
}
for kind, operators in OPERATORS.items():
    for names, code in operators.items():
        for name in names.split():
            emitted((kind, kind), kind, instruction(code))(getattr(operator, name))
emitted((FLOATS,), FLOATS, instruction("fneg"))(operator.neg)
SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
for name, sign in SIGNS.items():
    emitted((FLOATS, FLOATS), TRUTHS, _comparison(sign))(getattr(operator, name))
