"""Random instances without runs."""

import hashlib

import numpy as np


def generator(name):
    """Return a generator of random numbers seeded by a name in a ledger, for that name alone."""
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))
