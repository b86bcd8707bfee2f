"""What an object is by value: its class and parameters as plain data, equal for equal objects."""

import functools
import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fairbandits.library.own_code import _closed_over
from fairbandits.rationals import Quotas

#: Code that the version names; all other counts by its instructions.
KNOWN = {*sys.stdlib_module_names, "fairbandits", "numpy"}


def same(left: Any, right: Any) -> bool:
    """Return whether two objects have the same class and the same parameters.

    Arrays are equal if type, shape and entries are, and two NaN are equal. Functions, and classes
    outside this package, are equal by name and code; Python's version is part of it.
    """
    return left is right or described(left) == described(right)


def described(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return an object as data that JSON keeps; `above` are the objects that contain it."""
    if isinstance(value, Saved):
        return value.value
    if isinstance(value, np.number | np.bool_) and value.dtype.kind in "biuf":
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if id(value) in above:
        return {"above": above[::-1].index(id(value))}
    inner = (*above, id(value))

    def each(values: Any) -> list:
        return [described(entry, inner) for entry in values]

    kind = type(value)
    if isinstance(value, np.ndarray):
        return _array(value, each)
    if isinstance(value, Quotas):
        return {"quotas": [str(quota) for quota in value.fractions]}
    if kind in (list, tuple):
        return {kind.__name__: each(value)}
    if kind in (set, frozenset):
        return {kind.__name__: sorted(each(value), key=json.dumps)}
    if kind is dict:
        pairs = [each(pair) for pair in value.items()]
        return {"dict": sorted(pairs, key=lambda pair: json.dumps(pair[0]))}
    if isinstance(value, FunctionType):
        parts = [[*_closed_over(value).values()], value.__defaults__, value.__kwdefaults__]
        code = "" if _is_known(value) else code_of(value.__code__)
        return {"function": value.__qualname__, "code": code, "of": each(parts)}
    if isinstance(value, functools._lru_cache_wrapper):
        return described(value.__wrapped__, inner)
    if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, ModuleType | None):
        return {"function": f"{value.__module__}:{value.__qualname__}"}
    if isinstance(value, bytes | bytearray | complex | range | slice | ModuleType):
        return {kind.__name__: getattr(value, "__name__", None) or repr(value)}
    if hasattr(value, "py_func"):  # compiled by Numba
        return {"compiled": described(value.py_func, inner)}
    if isinstance(value, type):
        name = f"{value.__module__}:{value.__qualname__}"
        if _is_known(value):
            return {"class": name}
        # a file run as a script, and the same file imported, have other modules
        code = _hash(each([value.__bases__, *_members(value)]))
        return {"class": value.__qualname__, "code": code}
    try:
        made = value.__reduce_ex__(4)
    except Exception:  # what has no value, such as a lock or a running generator
        return {"only here": f"{kind.__qualname__} {id(value)} {os.getpid()}"}
    if isinstance(made, str):
        return {"global": f"{kind.__module__}:{made}"}
    maker, arguments, state, *items = [*made, None, None, None][:5]
    return {"made": each([maker, arguments, state, *(it if it is None else [*it] for it in items)])}


def _is_known(value: Any) -> bool:
    return str(value.__module__).partition(".")[0] in KNOWN


def _array(values: np.ndarray, each: Any) -> dict[str, Any]:
    about = {"array": values.dtype.str, "shape": list(values.shape)}
    if isinstance(values, np.ma.MaskedArray):
        about["mask"] = each([np.ma.getmaskarray(values)])
        values = values.filled(0)
    if values.dtype.hasobject:
        return about | {"entries": each(values.reshape(-1).tolist())}
    values = np.ascontiguousarray(values)
    if values.dtype.kind in "fc":
        values = np.where(np.isnan(values), np.nan, values + 0).astype(values.dtype)  # -0 is 0
    return about | {"hash": hashlib.sha256(values.tobytes()).hexdigest()[:32]}


def code_of(code: CodeType) -> str:
    """Return a hash of what code does: its instructions, constants and names."""
    constants = [
        code_of(item) if isinstance(item, CodeType) else described(item) for item in code.co_consts
    ]
    names = [[*group] for group in (code.co_names, code.co_varnames, code.co_freevars)]
    return _hash([code.co_code.hex(), constants, names])


def _members(made: type) -> Iterator[Any]:
    """Yield names and values of what the body of a class defines."""
    for name, value in sorted(vars(made).items()):
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if isinstance(value, property):
            value = [value.fget, value.fset]
        if isinstance(value, FunctionType) or not (name[:2] == "__" or name == "_abc_impl"):
            yield from (name, value)


def _hash(data: Any) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()[:32]


class Saved:
    """A policy or an instance as a file describes it: data to compare and to read, no code.

    Its attributes are those parameters that are numbers, texts or lists of these. It equals the
    object that was saved, and cannot run.
    """

    __hash__ = None

    def __init__(self, name: str, text: str, value: Any, attributes: dict[str, Any]) -> None:
        self.name, self.text, self.value, self.attributes = name, text, value, dict(attributes)

    def __getattr__(self, name: str) -> Any:
        attributes = self.__dict__.get("attributes", {})
        if name not in attributes:
            raise AttributeError(f"the file of this {self.__dict__.get('name')} keeps no {name}")
        return attributes[name]

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    def __repr__(self) -> str:
        return f"<saved {self.text}>"
