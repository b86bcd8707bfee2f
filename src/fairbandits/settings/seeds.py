"""The one seed of all that is drawn: a hash of what was frozen before, and of anyone's salt."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fairbandits.settings.schemas import ROOT, read_yaml

#: What a release froze, in the project's folder.
FREEZE = "audit/freeze.yaml"


@cache
def latest(root: Path = ROOT) -> Mapping[str, Any]:
    """Return what the latest release froze: its name, hash, salts and files."""
    file = root / FREEZE
    unknown = {"release": "", "hash": "", "salts": [], "files": {}}
    return read_yaml(file) if file.is_file() else unknown


def root_seed(text: str, salt: str = "") -> int:
    """Return the seed that follows from what is frozen and, if given, a salt: in [0, 2**63)."""
    digest = hashlib.sha256(" ".join(filter(None, (text, salt))).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
