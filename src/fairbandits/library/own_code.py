"""User code: the import of a class by its file, and the place where it failed."""

import sys
import traceback
from pathlib import Path

from fairbandits.data.provenance import PACKAGE
from fairbandits.policies import own


def importable(name: str, folder: Path) -> str:
    """Return ``module:Class`` for ``FILE.py:CLASS``, and make it importable from `folder`.

    A name ``module:Class`` is returned as it is. ValueError if the file is missing, or if another
    module of its name comes first.
    """
    place, _, found = name.rpartition(":")
    if not place.endswith(".py"):
        return name
    file = (folder / place).resolve()
    if not file.is_file():
        raise ValueError(f"there is no file {folder / place}")
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    home = f"{file.stem}:{found}"
    if (other := own._file(home).resolve()) != file:
        raise ValueError(f"{name}: {other} is imported by this name; give {place} another one")
    return home


def place_of(error: Exception) -> str:
    """Return the replicate (from 0) and round that were played when an error was raised.

    Empty where none was, or another process played; compiled code knows no round.
    """
    return getattr(error, "place", "")


def line_of(error: Exception) -> str:
    """Return the line of the user's file that raised an error, if one did."""
    for one in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(one.filename)
        if not file.is_relative_to(PACKAGE) and not file.is_relative_to(sys.prefix):
            return f" ({file.name}, line {one.lineno})"
    return ""
