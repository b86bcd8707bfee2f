"""Blocks: states, sources and records of several replicates as one, a replicate in each lane."""

from collections.abc import Sequence
from typing import Any, get_type_hints

import numpy as np

from fairbandits.engine.loops import Record
from fairbandits.engine.protocol import IN_LANES
from fairbandits.engine.vectors import Rows, Vector
from fairbandits.engine.width import Own, Shared


class _NoBlock(Exception):
    """States cannot be played together."""


def block_of(states: Sequence[Any]) -> Any:
    """Return the states of LANES replicates as one; None if they cannot be played together."""
    try:
        return _wide(states, {}) if isinstance(states[0], tuple) else None
    except _NoBlock:
        return None


def _wide(values: Sequence[Any], made: dict[int, Rows], hint: Any = None) -> Any:
    first, shared = values[0], hint is Shared
    if isinstance(first, np.ndarray) and not shared:
        if len({value.shape for value in values}) > 1:
            raise _NoBlock
        if id(first) not in made:  # a state may name an array twice
            kept = values if first.dtype == np.uint64 else [value.astype(float) for value in values]
            made[id(first)] = Rows(along_lanes(kept))
        return made[id(first)]
    if isinstance(first, tuple) and not shared:
        kind = type(first)
        if any(type(value) is not kind for value in values):
            raise _NoBlock
        if kind not in IN_LANES or not all(map(IN_LANES[kind], values)):
            raise _NoBlock
        hints = get_type_hints(kind, include_extras=True)
        columns = zip(kind._fields, zip(*values, strict=True), strict=True)
        return kind(*(_wide(column, made, hints[name]) for name, column in columns))
    if all(np.array_equal(value, first) for value in values):
        return first
    if hint is Own:
        return np.array(values, float).view(Vector)
    raise _NoBlock


def along_lanes(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the arrays side by side, the lane as last axis, at an address aligned for vectors."""
    stacked = np.stack(arrays, axis=-1)
    room = np.zeros(stacked.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    out = room[start : start + stacked.nbytes].view(stacked.dtype).reshape(stacked.shape)
    out[...] = stacked
    return out


def lane_of(record: Record, lane: int, like: Record) -> Record:
    """Return the record of one replicate of a block, its numbers of the types in `like`."""
    parts = (
        part.array[..., lane].astype(model.dtype) if isinstance(part, Rows) else part
        for part, model in zip(record, like, strict=True)
    )
    return Record(*parts)
