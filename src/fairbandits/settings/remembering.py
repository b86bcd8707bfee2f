"""What was worked out from the settings, kept in the cache for later processes."""

import atexit
import hashlib
import json
from functools import cache
from pathlib import Path

from fairbandits.data.provenance import PACKAGE, cache_root
from fairbandits.data.whole import read_whole, write_whole


def key_of(content: bytes) -> str:
    """Return a hash of what something was worked out from."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


@cache
def remembered(what: str, *rooms: str) -> dict[str, str]:
    """Return what earlier processes worked out with the same code of these rooms, by `key_of`.

    What is added is kept when the process ends.
    """
    files = [file for room in rooms for file in sorted((PACKAGE / room).glob("*.py"))]
    code = key_of(b"".join(file.read_bytes() for file in files))
    file = cache_root() / f"{what}-{code}.json"
    known = json.loads(read_whole(file) or b"{}")
    atexit.register(_keep, known, len(known), file)
    return known


def _keep(known: dict[str, str], before: int, file: Path) -> None:
    if len(known) > before:
        write_whole(file, json.dumps(known).encode())
