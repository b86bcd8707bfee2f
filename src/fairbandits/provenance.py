"""What code, which packages and which commit made a file: fingerprints and footers.

Only the standard library is imported here, so that the workflow can ask for a fingerprint
without starting Numba.
"""

import hashlib
import os
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
#: Where the project's folder is, unless the package was installed without it.
CHECKOUT = PACKAGE.parents[1]

#: What Numba compiles.
COMPILED = ("engine", "policies")
#: What decides the numbers of a simulation.
SIMULATION = (
    *COMPILED,
    "instance.py",
    "metrics/penalties.py",
    "rationals.py",
    "simulation.py",
    "experiments/simulate.py",
    "experiments/spec.py",
)
#: What reads recorded runs.
READING = ("store.py", "experiments/datasets.py", "experiments/recorded.py")
#: What makes verdicts of recorded runs.
AUDIT = ("audit", "optima", "metrics", "rationals.py", "replay", *READING)


def cache_root() -> Path:
    """Return the folder of what later processes need not do again; it can be removed."""
    if folder := os.environ.get("FAIRBANDITS_CACHE_DIR"):
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fairbandits"


@cache
def fingerprint(*parts: str) -> str:
    """Return a hash of the package's source files below the given parts.

    Parameters
    ----------
    *parts : str
        Folders or files inside the package, e.g. ``"engine"`` or ``"figures/banditq.py"``.

    Returns
    -------
    str
        16 hexadecimal digits; they change when any byte of any of the files changes.

    Raises
    ------
    FileNotFoundError
        If a part names nothing.
    """
    digest = hashlib.sha256()
    for part in parts:
        root = PACKAGE / part
        files = [root] if root.is_file() else sorted(root.rglob("*.py"))
        if not files:
            raise FileNotFoundError(f"no source files below {root}")
        for path in files:
            digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def package_versions() -> dict[str, str]:
    """Return the versions of the packages that numbers or files depend on."""
    return {name: metadata.version(name) for name in ("fairbandits", "numba", "numpy", "pyarrow")}


@cache
def git_commit() -> str:
    """Return the checked-out commit, with ``+`` when the work tree differs, or ``unknown``."""
    if not (CHECKOUT / ".git").exists():  # one around an installed package is not ours
        return "unknown"
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return described.stdout.strip()
