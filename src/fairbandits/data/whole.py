"""Checksums for cache files: a damaged file is ignored with a warning and made again.

Compiled code with a flipped bit ends a process without a message, or worse; so does a truncated
index.
"""

import atexit
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

#: Length of a checksum in bytes.
SIZE = 16


def checksum(content: bytes) -> bytes:
    """Return the checksum of some bytes."""
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
    temporary = file.with_name(f".{file.name}-{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(body + checksum(body))
        os.replace(temporary, file)
    except OSError:  # a read-only home, a full disk: it is worked out again next time
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@cache
def kept(file: Path) -> dict[str, Any]:
    """Return what earlier processes have kept in a cache file; additions are kept at the end."""
    known = json.loads(read_whole(file) or "{}")
    before = len(known)

    def keep():
        if len(known) > before:
            write_whole(file, json.dumps(known).encode())

    atexit.register(keep)
    return known


@cache
def _say(reason: str) -> None:
    print(f"{reason}; this part of the cache is made anew.", file=sys.stderr)


def guard_numba() -> None:
    """Make Numba write checksums with its cache files, and ignore damaged ones.

    A full disk, or any other error while it writes there, costs the file and not the run.
    """
    from numba.core import caching

    if issubclass(caching.IndexDataCacheFile, _Guarded):
        return

    class Guarded(_Guarded, caching.IndexDataCacheFile):
        pass

    caching.IndexDataCacheFile = Guarded


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
