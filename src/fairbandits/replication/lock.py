"""The lock of results, which is committed, and what it says of other committed files."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from fairbandits.data.store import StoreError
from fairbandits.settings.schemas import ROOT, read_json

LOCK = ROOT / "results.lock"


def read_lock(file: Path) -> dict[str, Any]:
    """Return the lock, with its file's name for messages; StoreError if it cannot be read."""
    try:
        lock = read_json(file)
        if not (isinstance(lock, dict) and "seed" in lock and isinstance(lock.get("runs"), dict)):
            raise ValueError("no seed and runs in it")
        for part in ("runs", "files"):
            lines = lock.setdefault(part, {})
            if not (isinstance(lines, dict) and {*map(type, lines.values())} <= {str}):
                raise ValueError(f"its {part} are no hashes by name")
    except Exception as error:
        raise StoreError(f"{file} cannot be read as a lock of results: {error}") from error
    return lock | {"name": file.name}


def edited(*files: Path) -> list[str]:
    """Return a line for each committed file that is not the one that the lock lists."""
    lock = read_lock(LOCK) if LOCK.is_file() else {"files": {}}
    return [
        f"{file.relative_to(ROOT)} is not the file that {lock['name']} lists"
        for file in files
        if file.is_relative_to(ROOT) and (said := lock["files"].get(str(file.relative_to(ROOT))))
        if not file.is_file() or sha256(file.read_bytes()).hexdigest() != said
    ]
