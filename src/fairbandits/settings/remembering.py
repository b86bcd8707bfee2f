"""What was worked out from the settings, kept in the cache for later processes."""

import hashlib
from functools import cache

from fairbandits.data import whole
from fairbandits.data.provenance import PACKAGE, cache_root


def key_of(content: bytes) -> str:
    """Return a hash of what something was worked out from."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


@cache
def remembered(what: str, *rooms: str) -> dict[str, str]:
    """Return what earlier processes worked out with the same code of these rooms, by `key_of`."""
    files = [file for room in rooms for file in sorted((PACKAGE / room).glob("*.py"))]
    code = key_of(b"".join(file.read_bytes() for file in files))
    return whole.remembered(cache_root() / f"{what}-{code}.json")
