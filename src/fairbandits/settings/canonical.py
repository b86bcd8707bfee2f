"""What of a ledger decides, in a form that does not depend on how it is written down.

Only the standard library is imported here: the configuration asks for it on every start.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

#: What is prose, by the record that it stands in. Everything else decides, known here or not.
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
#: What is prose where it is given, while that it is given decides.
GIVEN = {"claims": ("untestable",)}
#: Seed of papers without a ledger: no rule judges their runs, so that none can follow them.
UNJUDGED_SEED = 20240711


def rules_digest(content: Mapping[str, Any]) -> str:
    """Return a hash of all that decides in a ledger.

    Comments, the order of keys, how numbers and lines are written, and prose (`PROSE`) do not
    change it. The order of lists does: the first reading is not the second.

    Parameters
    ----------
    content : mapping
        What papers/SLUG/claims.yaml holds.

    Returns
    -------
    str
        16 hexadecimal digits.

    Raises
    ------
    ValueError
        If something in it is neither a number, a text, true or false, nothing, a list, nor keys
        and values.

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
    """Return what decides in a ledger as plain values, each written in one way."""
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
    """Return a value with whole numbers as such and lines as one; `place` is for messages."""
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
    """Return the root seed of a paper's runs that follows from its ledger.

    It is the first 8 bytes of SHA-256 of ``DIGEST PAPER``, big-endian, without the lowest bit;
    `UNJUDGED_SEED` without a ledger, whose digest is empty.

    Returns
    -------
    int
        At least 0 and below 2**63.
    """
    if not digest:
        return UNJUDGED_SEED
    made = hashlib.sha256(f"{digest} {paper}".encode()).digest()
    return int.from_bytes(made[:8], "big") >> 1
