"""Files that are written whole or not at all; and cache files with checksums.

A damaged cache file, which can end a process without a message, is named and made again.
"""

import atexit
import hashlib
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from filelock import FileLock

#: Length of a checksum in bytes.
SIZE = 16
#: What writes the cache files that were asked for.
KEEPING: list[Callable[[], None]] = []


@contextmanager
def named(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Name what was to be written where the system does not, or names what stands for it."""
    try:
        yield
    except OSError as error:
        if error.filename not in (None, str(temporary)):
            raise
        reason = f"[Errno {error.errno}] {error.strerror}" if error.filename else error
        raise OSError(f"{path} could not be written, and is as it was: {reason}") from error


@contextmanager
def replacing(path: Path, lasting: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when the block succeeds.

    What is `lasting` is on the disk before, so that a loss of power leaves the old or the new. A
    device or a pipe, such as /dev/null, is refused, and not replaced.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(f"{path} is no regular file, and is not replaced by one")
    temporary = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")
    try:
        with named(path, temporary):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.touch(exist_ok=False)  # with the rights that the user's umask leaves
            yield temporary
            if lasting:
                _sync(temporary)
            os.replace(temporary, path)
        if lasting:
            with suppress(OSError):  # not all systems can; it costs the new file at most
                _sync(path.parent)
    finally:
        with suppress(OSError):  # the same disk; the next run removes it
            temporary.unlink()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other processes that want the same out, while a file is read, changed and written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock"), mode=0o666):
        yield


def checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=SIZE).digest()


def read_whole(file: Path) -> bytes | None:
    """Return the content of a file with a checksum, None if missing; say so if it is damaged."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _say(f"{file} cannot be read ({error.strerror})")
        return None
    body, said = content[:-SIZE], content[-SIZE:]
    if len(said) == SIZE and checksum(body) == said:
        return body
    _say(f"{file} is damaged, or has no checksum yet")
    return None


def write_whole(file: Path, body: bytes) -> None:
    """Write a cache file with its checksum; do nothing where it cannot be written."""
    # a read-only home, a full disk: it is worked out again next time
    with suppress(OSError), replacing(file, lasting=False) as temporary:
        temporary.write_bytes(body + checksum(body))


@cache
def kept(file: Path) -> dict[str, Any]:
    """Return what earlier processes have kept in a cache file; additions are kept at the end."""
    known = json.loads(read_whole(file) or "{}")
    before = len(known)

    def keep():
        nonlocal before
        if len(known) > before:
            with suppress(OSError), alone(file):  # others add theirs
                known.update(json.loads(read_whole(file) or "{}") | known)
                write_whole(file, json.dumps(known).encode())
            before = len(known)

    KEEPING.append(keep)
    atexit.register(keep)  # before a temporary folder, which was made first, is removed
    return known


def keep_all() -> None:
    """Keep all additions to cache files now, for other processes that start."""
    for keep in KEEPING:
        keep()


@cache
def _say(reason: str) -> None:
    print(f"{reason}; this part of the cache is made anew.", file=sys.stderr)


def guard_numba() -> None:
    """Make Numba write checksums with its cache files, ignore damaged ones, and survive errors."""
    from numba.core import caching

    numbas = caching.IndexDataCacheFile
    if not issubclass(numbas, _Guarded):
        caching.IndexDataCacheFile = type("Guarded", (_Guarded, numbas), {})


class _Guarded:
    """Methods put before those of Numba's class, whose files end where their pickle does."""

    def save(self, key, data):
        try:
            super().save(key, data)
        except OSError as error:
            _say(f"{self._index_path} cannot be written ({error.strerror or error})")

    def _load_index(self):
        return {} if read_whole(Path(self._index_path)) is None else super()._load_index()

    def _load_data(self, name):
        if read_whole(Path(self._data_path(name))) is None:
            raise FileNotFoundError  # to Numba: what the index names is not there
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + checksum(content.getvalue()))
