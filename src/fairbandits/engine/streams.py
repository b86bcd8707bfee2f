"""Addressable random streams: every number is a pure function of its address.

The address is (root seed, stream name, replicate, kind, index, n). BLAKE2b of the first five gives
a key. The n-th number of the key is the n-th output of SplitMix64 started there, computed directly.
So no number depends on chunking, order, the number of cores or another policy. SplitMix64 is by G.
L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
here with its own gamma for each stream and D. Stafford's Mix13.
"""

import hashlib

import numpy as np

from fairbandits.engine import normal
from fairbandits.engine.protocol import inlined, not_inlined
from fairbandits.engine.vectors import LANES, Vector
from fairbandits.engine.width import (
    absolute,
    anywhere,
    as_float,
    as_word,
    compiled_as,
    lane,
    with_lane,
)

MASK = 0xFFFF_FFFF_FFFF_FFFF
GOLDEN = 0x9E37_79B9_7F4A_7C15
#: The seed rule's version; it is part of every key and of every file's footer.
RULE = "fairbandits-1"


def stream_key(seed: int, stream: str, replicate: int, kind: str, index: int) -> tuple[int, int]:
    """Return the key (base, gamma) of one stream: 64-bit unsigned, gamma odd."""
    text = f"{RULE}/{seed}/{stream}/{replicate}/{kind}/{index}"
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    gamma = int.from_bytes(digest[8:], "little") | 1
    if (gamma ^ (gamma >> 1)).bit_count() < 24:  # too regular, section 4 of the reference
        gamma ^= 0xAAAA_AAAA_AAAA_AAAA
    return int.from_bytes(digest[:8], "little"), gamma


def stream_keys(
    seed: int, stream: str, replicate: int, kind: str, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of `count` streams as two uint64 arrays, base and gamma."""
    keys = [stream_key(seed, stream, replicate, kind, index) for index in range(count)]
    return tuple(np.array(keys, np.uint64).T.copy())


@inlined
def word(base, gamma, n):
    """Return the n-th 64-bit word (n >= 1) of the stream with this key."""
    return mixed(position(base, gamma, n))


@inlined
def inner(w, j):
    """Return the j-th further word (j >= 1) of word `w`, for draws that need several."""
    return mixed(position(w, np.uint64(GOLDEN), j))


# Python's integers do not wrap and NumPy's warn when they do, so each of the next two functions is
# given twice: for the interpreter and for the compiler. Words can be vectors.


def _position(base, gamma, n):
    return base + as_word(n) * gamma


def _mixed(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return z ^ (z >> np.uint64(31))


@compiled_as(_position, _position)
def position(base, gamma, n):
    """Return the position of the n-th word of the stream with this key, for `mixed`."""
    if isinstance(base, Vector):
        return base + np.asarray(n).astype(np.uint64) * np.uint64(gamma)
    return (int(base) + int(n) * int(gamma)) & MASK


@compiled_as(_mixed, _mixed)
def mixed(z):
    z = ((z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB) & MASK
    return z ^ (z >> 31)


@inlined
def unit(w):
    """Return word `w` as a float in [0, 1), a multiple of 2**-53."""
    return as_float(w >> np.uint64(11)) * 2.0**-53


@inlined
def open_unit(w):
    """Return word `w` as a float in (0, 1), an odd multiple of 2**-53."""
    return (as_float(w >> np.uint64(12)) + 0.5) * 2.0**-52


@inlined
def standard_normal(w):
    """Return word `w` as a standard normal deviate, by inversion."""
    return normal_of(open_unit(w))


def _normal_of_lanes(p):  # most lanes need the central branch alone
    q = p - 0.5
    z = normal.central(q, normal.SQUARE - q * q)
    q = absolute(q)
    return _with_tails(p, q, z) if anywhere(q > normal.WIDTH) else z


@compiled_as(lambda p: normal.quantile(p), _normal_of_lanes)
def normal_of(p):
    """Return the standard normal quantile of p in (0, 1)."""
    return _normal_of_lanes(p) if isinstance(p, Vector) else normal.quantile(p)


@not_inlined
def _with_tails(p, q, z):
    """Return the quantiles `z`, corrected in the lanes outside of the central branch."""
    for i in range(LANES):
        if lane(q, i) > normal.WIDTH:
            z = with_lane(z, i, normal.quantile(lane(p, i)))
    return z
