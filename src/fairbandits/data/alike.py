"""Whether a table that was computed again is the same but for the last digits of its numbers."""

import re
from typing import Any

import numpy as np
import pyarrow as pa

#: Logarithms and sums differ by a few parts in 10^16 between processors, differences of them more.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
#: A float in a text, such as JSON; counts, seeds and hashes have neither point nor signed exponent.
NUMBER = re.compile(r"-?\d+(?:\.\d+(?:e[+-]\d+)?|e[+-]\d+)")


def alike(table: pa.Table, other: pa.Table) -> bool:
    """Return whether two tables have the same columns and rows, but for last digits."""
    if table.num_rows != other.num_rows or table.column_names != other.column_names:
        return False
    return all(_same(table[name], other[name]) for name in table.column_names)


def _same(column: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    if column.type != other.type:
        return False
    if pa.types.is_floating(column.type):
        return _close(column.to_numpy(), other.to_numpy())
    return column.equals(other) or all(map(_reads_alike, column.to_pylist(), other.to_pylist()))


def _reads_alike(value: Any, other: Any) -> bool:
    if value == other or not (isinstance(value, str) and isinstance(other, str)):
        return value == other
    numbers = [np.array(NUMBER.findall(text), dtype=float) for text in (value, other)]
    return NUMBER.sub("#", value) == NUMBER.sub("#", other) and _close(*numbers)


def _close(values: np.ndarray, others: np.ndarray) -> bool:
    return bool(np.allclose(values, others, RELATIVE, ABSOLUTE, equal_nan=True))
