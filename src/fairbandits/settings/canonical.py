"""The part of a ledger that decides, in a form that does not depend on how it is written."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

#: Keys that decide nothing, by the record that has them. All others decide, also unknown ones.
LEFT_OUT = {
    "ledger": ("title",),
    "families": ("what",),
    "rules": ("version", "changes"),
    "claims": (
        *("version", "changes", "place", "note", "between", "reconstructed", "rests_on"),
        "figure",
    ),
    "tests": ("version", "changes", "note", "meaning"),
    "experiments": (
        *("title", "figures", "companion_to", "label", "provenance", "source", "chunk"),
        "record",
    ),
}
#: Keys whose text decides nothing, while their presence does.
GIVEN = {"claims": ("untestable",), "tests": ("uncontrolled",)}
#: Seed of runs that no rule judges.
UNJUDGED_SEED = 20240711


def digest_of(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def rules_digest(content: Mapping[str, Any]) -> str:
    """Return a hash of everything in a ledger that decides (`canonical`)."""
    deciding = canonical(content)
    claims = {key: nameless(record) for key, record in deciding["claims"].items()}
    return digest_of(deciding | {"claims": claims})


def nameless(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim in canonical form without the names of its tests."""
    tests = sorted(record.get("tests", {}).values(), key=digest_of)
    return dict(record) | ({"tests": tests} if tests else {})


def canonical(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the deciding part of a ledger: claims with the readings, family and rules they use."""
    apart = ("readings", "families", "rules", "claims")
    deciding = {key: one for key, one in _without(content, "ledger").items() if key not in apart}
    words, families, rules, claims = (content.get(key, {}) for key in apart)
    deciding["claims"] = {}
    for key, record in claims.items():
        claim = deciding["claims"][key] = _without(record, "claims")
        if "readings" in claim:
            claim["readings"] = [[name, words.get(name)] for name in claim["readings"]]
        if "family" in claim:
            family = _without(families.get(claim["family"], {}), "families")
            claim["family"] = {"name": claim["family"]} | family
        if "tests" in claim:
            claim["tests"] = {
                name: _without(test, "tests")
                | {"rule": _without(rules.get(test.get("rule"), {}), "rules")}
                for name, test in claim["tests"].items()
            }
    return plain(deciding)


def _without(record: Mapping[str, Any], kind: str) -> dict[str, Any]:
    kept = {key: value for key, value in record.items() if key not in LEFT_OUT[kind]}
    return kept | {key: True for key in GIVEN.get(kind, ()) if key in kept}


def plain(value: Any, kind: str = "", place: str = "") -> Any:
    """Return plain values, whole numbers as int and texts on one line; of a kind what decides."""
    if isinstance(value, Mapping):
        kept = _without(value, kind) if kind else value
        return {str(key): plain(one, kind, f"{place}.{key}") for key, one in kept.items()}
    if isinstance(value, list | tuple):
        return [plain(one, kind, f"{place}.{number}") for number, one in enumerate(value)]
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return int(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise ValueError(
        f"{place.removeprefix('.')}: {value!r} is no number, text, list, or keys and values"
    )


def seed_of_digest(digest: str, paper: str, salt: str = "") -> int:
    """Return the root seed of a digest, a paper and, if given, words of anyone's: in [0, 2**63)."""
    text = " ".join(filter(None, (digest, paper, salt)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
