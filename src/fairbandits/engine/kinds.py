"""Choose which loops are compiled or interpreted; only one process compiles each.

A loop is compiled for each kind of policy state, which takes seconds. Interpreted it gives the same
bits a hundred times more slowly. So a kind is interpreted until compiling would have been cheaper.
"""

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numba

#: Interpreted work that costs as much as compiling a kind, as loading a kind from disk, and as the
#: first of either in a process. Work is rounds times (10 + arms); a unit takes 1 to 4 us for most
#: kinds, and compiling them 2 to 10 s.
COMPILING = 3_000_000
LOADING = 10_000
FIRST = 200_000

#: Work that this process has interpreted of each kind, and the kinds that it has compiled.
_done: dict[tuple, int] = {}
_compiled: set[tuple] = set()


def work(rounds: int, arms: int) -> int:
    """Return the cost of interpreting rounds, in the unit of the limits."""
    return rounds * (10 + arms)


def chosen(loop: Any, state: Any, source: Any, record: Any, rounds: int, force: bool | None) -> Any:
    """Return a loop for a state: the faster one for `rounds` to come in all, or as `force` says."""
    interpreted = getattr(loop, "py_func", None)
    if interpreted is None:  # Numba is switched off
        return loop
    if force is False:
        return interpreted
    kind = loop, numba.typeof(state), numba.typeof(source), numba.typeof(record)
    if kind not in _compiled:
        mark = _mark(kind)
        done = _done.get(kind, 0) + work(rounds, len(record.rewards))
        limit = (LOADING if _is_written(mark) else COMPILING) + (0 if _compiled else FIRST)
        if force is None and done < limit:
            _done[kind] = done
            return interpreted
        with _alone(mark):
            loop(state, source, record, 0, 0)  # no round: compiles, or loads
        _compiled.add(kind)
    return loop


def _mark(kind: tuple) -> Path:
    """Return the file that says that Numba's cache has a kind once it is written, and its lock."""
    description = " ".join([kind[0].__name__, *map(str, kind[1:])])
    name = hashlib.blake2b(description.encode(), digest_size=12).hexdigest()
    return Path(numba.config.CACHE_DIR) / f"{name}.compiled"


def _is_written(mark: Path) -> bool:
    with suppress(OSError):
        return mark.stat().st_size > 0
    return False


@contextmanager
def _alone(mark: Path) -> Iterator[None]:
    """Let one process at a time compile a kind; without locks each does it for itself."""
    if _is_written(mark):
        yield
        return
    with ExitStack() as stack:
        file = None
        with suppress(OSError):
            file = stack.enter_context(mark.open("a"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
        if file is not None:
            file.write("x")
