"""The one seed of all that is drawn: a hash of what was frozen before, and of anyone's salt."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fairbandits.settings import models as m
from fairbandits.settings.models import Model, validated
from fairbandits.settings.schemas import ROOT, read_yaml

#: What a release froze, in the project's folder.
FREEZE = "audit/freeze.yaml"


class Freeze(Model):
    """What a release froze: hashes of the files that draw or judge, and one of all of them."""

    release: m.Words
    hash: m.matching("[0-9a-f]{64}")
    salts: list[m.Words]  # of the repetitions of primary verdicts
    files: dict[str, m.matching("[0-9a-f]{64}")]


@cache
def latest(root: Path = ROOT) -> Mapping[str, Any]:
    """Return what the latest release froze: its name, hash, salts and files."""
    file = root / FREEZE
    if not file.is_file():
        return {"release": "", "hash": "", "salts": [], "files": {}}
    return validated(read_yaml(file), Freeze, FREEZE).model_dump()


def root_seed(text: str, salt: str = "") -> int:
    """Return the seed that follows from what is frozen and, if given, a salt: in [0, 2**63)."""
    digest = hashlib.sha256(" ".join(filter(None, (text, salt))).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
