"""The part of a ledger that decides, in a form that does not depend on how it is written.

Only the standard library is imported: the configuration needs this on every start.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

#: Prose keys by the record that has them. All other keys decide, also unknown ones.
PROSE = {
    "ledger": ("title",),
    "families": ("what",),
    "rules": ("changes",),
    "claims": (
        *("place", "statement", "estimand", "note", "between", "changes", "reconstructed"),
        "rests_on",
    ),
    "tests": ("note", "changes", "meaning"),
}
#: Keys whose text is prose, while their presence decides.
GIVEN = {"claims": ("untestable",)}
#: Seed of papers without a ledger: no rule judges their runs.
UNJUDGED_SEED = 20240711


def rules_digest(content: Mapping[str, Any]) -> str:
    """Return a hash of everything in a ledger that decides, as 16 hexadecimal digits.

    Comments, the order of keys, the notation of numbers and lines, and prose (`PROSE`) do not
    change it; the order of lists does: the first reading is not the second. ValueError for anything
    but numbers, texts, booleans, null, lists and mappings.

    Examples
    --------
    >>> rule = {"procedure": "bound", "settings": {"level": 0.99, "margin": 1.0}}
    >>> one = {"title": "One", "rules": {"small": rule}, "claims": {}}
    >>> same = {"rules": {"small": rule | {"changes": []}}, "claims": {}, "title": "Two"}
    >>> rules_digest(one) == rules_digest(same)
    True
    >>> other = {"procedure": "bound", "settings": {"level": 0.95, "margin": 1}}
    >>> rules_digest(one) == rules_digest(one | {"rules": {"small": other}})
    False
    """
    text = json.dumps(canonical(content), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def canonical(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the deciding part of a ledger as plain values, each written in one way."""
    found = _without(content, "ledger")
    for kind in ("families", "rules", "claims"):
        if isinstance(found.get(kind), Mapping):
            found[kind] = {key: _without(one, kind) for key, one in found[kind].items()}
    if isinstance(found.get("claims"), Mapping):
        for claim in found["claims"].values():
            if isinstance(claim, dict) and isinstance(claim.get("tests"), Mapping):
                claim["tests"] = {
                    key: _without(one, "tests") for key, one in claim["tests"].items()
                }
    if isinstance(found.get("readings"), Mapping):  # their names decide, their descriptions do not
        found["readings"] = {
            name: "" if isinstance(one, str) else one for name, one in found["readings"].items()
        }
    return _plain(found, "")


def _without(record: Any, kind: str) -> Any:
    if not isinstance(record, Mapping):
        return record
    given = GIVEN.get(kind, ())
    return {
        key: True if key in given else value
        for key, value in record.items()
        if key not in PROSE[kind]
    }


def _plain(value: Any, place: str) -> Any:
    """Return a value with whole numbers as int and texts on one line; `place` is for messages."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one, f"{place}.{key}") for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, f"{place}.{number}") for number, one in enumerate(value)]
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return int(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise ValueError(f"{place[1:]}: {value!r} is no number, text, list, or keys and values")


def seed_of_rules(paper: str, digest: str) -> int:
    """Return the root seed of a paper's runs, which follows from its ledger's digest.

    It is the first 8 bytes of SHA-256 of ``DIGEST PAPER``, big-endian, without the lowest bit,
    hence in [0, 2**63); `UNJUDGED_SEED` for an empty digest, that of a paper without a ledger.
    """
    if not digest:
        return UNJUDGED_SEED
    made = hashlib.sha256(f"{digest} {paper}".encode()).digest()
    return int.from_bytes(made[:8], "big") >> 1
