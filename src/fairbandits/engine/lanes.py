"""Blocks: states, sources and records of several replicates as one, a replicate in each lane."""

from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

import numpy as np

from fairbandits.engine.loops import Record
from fairbandits.engine.sources import StreamSource
from fairbandits.engine.vectors import Rows, Vector
from fairbandits.engine.watching import Watched
from fairbandits.engine.width import Own, Shared

#: In a block whole numbers are numbers in floating point. Limits of a run's rounds and of the
#: denominator of quotas keep all their multiples exact, below 2**53.
MOST_ROUNDS, FINEST = 2**33, 2**20


def fits(denominator: int) -> bool:
    """Return whether quotas over this denominator are exact in a block."""
    return denominator <= FINEST


#: Class of a state -> whether replicates that start with such a state can be played together.
_IN_LANES: dict[type, Callable[[Any], bool]] = {}


def plays_in_lanes(state_class: type, when: Callable[[Any], bool] = lambda state: True) -> None:
    """Declare that states of a class, or those for which `when` holds, can be played in lanes.

    Its functions follow the notation of `fairbandits.engine.width`. Arrays get an axis for the
    lanes, and a number of the type `Own` is a `Vector` if it differs between them. Other numbers,
    and arrays of the type `Shared`, must be the same in all lanes.
    """
    _IN_LANES[state_class] = when


#: Class of a state that `choose` does not change -> the states for which that holds.
_UNCHANGED: dict[type, Callable[[Any], bool]] = {}


def unchanged_when_asked(state_class: type, when: Callable = lambda state: True) -> None:
    """Declare that `choose` leaves a state as it is, so that a block may ask lanes needlessly."""
    _UNCHANGED[state_class] = when


def may_ask(state: Any) -> bool:
    """Return whether `choose` leaves this state of a learner as it is."""
    return type(state) in _UNCHANGED and _UNCHANGED[type(state)](state)


for engine_class in (StreamSource, Watched):
    plays_in_lanes(engine_class)
plays_in_lanes(Record, lambda record: fits(record.denominator))


class _NoBlock(Exception):
    """States cannot be played together."""


def block_of(states: Sequence[Any]) -> Any:
    """Return the states of LANES replicates as one; None if they cannot be played together."""
    try:
        return _wide(states, {}) if isinstance(states[0], tuple) else None
    except _NoBlock:
        return None


def _wide(values: Sequence[Any], known: dict[int, Rows], hint: Any = None) -> Any:
    first, shared = values[0], hint is Shared
    if isinstance(first, np.ndarray) and not shared:
        if len({one.shape for one in values}) > 1:
            raise _NoBlock
        if id(first) not in known:  # a state may name an array twice
            kept = values if first.dtype == np.uint64 else [one.astype(float) for one in values]
            known[id(first)] = Rows(along_lanes(kept))
        return known[id(first)]
    if isinstance(first, tuple) and not shared:
        kind = type(first)
        if any(type(one) is not kind for one in values):
            raise _NoBlock
        if kind is tuple:
            return tuple(_wide(column, known) for column in zip(*values, strict=True))
        if kind not in _IN_LANES or not all(map(_IN_LANES[kind], values)):
            raise _NoBlock
        hints = get_type_hints(kind, include_extras=True)
        columns = zip(kind._fields, zip(*values, strict=True), strict=True)
        return kind(*(_wide(column, known, hints[name]) for name, column in columns))
    if all(np.array_equal(one, first) for one in values):
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
    parts = zip(record, like, strict=True)
    return Record(
        *(
            one.array[..., lane].astype(other.dtype) if isinstance(one, Rows) else one
            for one, other in parts
        )
    )
