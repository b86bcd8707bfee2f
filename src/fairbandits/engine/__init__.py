"""Streams, reward laws and the round loops: the compiled core, which knows no paper.

Importing it sets the folder of Numba's on-disk cache, whose name carries a hash of all the code
that can be compiled: Numba does not see that a callee in another file changed.
"""

import shutil

import numba

from fairbandits.data.provenance import COMPILED, cache_root, fingerprint


def _set_cache_folder(keep: int = 4) -> None:
    """Point Numba at the folder of this code, and drop all but the newest few others."""
    root = cache_root()
    folder = root / f"numba-{numba.__version__}-{fingerprint(*COMPILED)}"
    numba.config.CACHE_DIR = str(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.touch()
        others = sorted(root.glob("numba-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:  # a read-only home, or another process pruning: Numba copes by itself
        return
    for stale in others[keep:]:
        shutil.rmtree(stale, ignore_errors=True)


_set_cache_folder()
