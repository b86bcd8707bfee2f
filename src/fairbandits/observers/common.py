"""Common parts of the observers."""

from typing import Any, ClassVar, NoReturn

import numpy as np
from numba.core import types
from numba.extending import overload

from fairbandits.engine.protocol import INLINE, plays_in_lanes
from fairbandits.engine.vectors import Rows, RowsType, Vector
from fairbandits.engine.width import assign, where
from fairbandits.policies.parameters import Checked


class Observer(Checked):
    """Base of the observers: `start` returns a state, or raises TypeError if it cannot watch."""

    probes: ClassVar[tuple[str, ...]]


def reports_columns(state_class: type) -> type:
    """Declare that a state plays in lanes, and that its `columns` are what it reports."""
    state_class.report = report_columns
    return plays_in_lanes(state_class)


def report_columns(observer, state, out):
    """Write the columns of an observer's state."""
    for p in range(len(observer.columns)):
        assign(out[p], observer.columns[p])


def refuse(observer: Any, policy: Any, watched: str) -> NoReturn:
    """Raise TypeError; `watched` names the policies that the observer can watch."""
    raise TypeError(f"{type(observer).__name__} can watch {watched} only, got {policy!r}")


def part(action, k):
    """Return the part of a round that an action gives to arm k: a pull gives all to its arm."""
    if isinstance(action, Rows) or (np.ndim(action) > 0 and not isinstance(action, Vector)):
        return action[k]
    return where(action == k, 1.0, 0.0)


@overload(part, jit_options=INLINE)
def _compiled_part(action, k):
    if isinstance(action, types.Array | RowsType):
        return lambda action, k: action[k]
    return lambda action, k: where(action == k, 1.0, 0.0)
