"""Seeds of runs and of judging, each a hash of a text and of words that anyone can choose."""

import csv
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

#: The texts that seeds of the audit's own experiments, and of judging, follow from: pinned,
#: so that code and words can be mended without other data.
TABLE, JUDGING = "config/seeds.csv", "judging"
#: Seed of runs that no claim reads.
UNJUDGED_SEED = 20240711


@cache
def pinned(root: Path) -> Mapping[tuple[str, str], str]:
    """Return the text behind a seed, by paper and experiment, suite or `JUDGING`."""
    file = root / TABLE
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {(row["paper"], row["of"]): row["origin"] for row in csv.DictReader(lines)}


def digest_of(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def seed_of(origin: str, paper: str, salt: str = "") -> int:
    """Return the root seed of a text, a paper and, if given, words of anyone's: in [0, 2**63)."""
    text = " ".join(filter(None, (origin, paper, salt)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
