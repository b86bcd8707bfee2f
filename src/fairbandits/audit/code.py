"""The fingerprints of what asks and of what judges; the workflow asks without starting NumPy."""

import ast
from pathlib import Path

from fairbandits.data.provenance import (
    PACKAGE,
    WITHOUT,
    docstrings,
    fingerprint,
    imports_of,
    located,
    tokens,
    used_by,
)
from fairbandits.replication.reading import CONFIGURING, collect_code

#: Entry points of judging; the rest follows from imports.
JUDGING = (
    *("audit/answers.py", "audit/judge.py", "audit/rows.py", "audit/runs.py"),
    *("audit/staleness.py", "replication/banditq_uai2024.py"),
)
#: What files of claims are written with, whose code is that of judging.
WRITTEN_WITH = "claims.py"


def audit_code() -> str:
    """Return the fingerprint of the code that judges."""
    return collect_code(*JUDGING)


def asking_code(file: Path) -> str:
    """Return a hash of the tokens of a file of claims, and of what it imports beside it and here.

    So a measure of one paper leaves the other papers as they are.
    """
    left, known, ours = [file], {}, set()
    while left:
        one = left.pop()
        tree = ast.parse(one.read_bytes(), one)
        known[one.name] = "".join(tokens(one.read_text(encoding="utf-8"), [*docstrings(tree)]))
        imported = [origin for _, origin in imports_of(tree, one)]
        ours |= {located(origin, PACKAGE)[0] for origin in imported if _is_ours(origin)}
        beside = (file.with_name(f"{origin.partition('.')[0]}.py") for origin in imported)
        left += [other for other in beside if other.is_file() and other.name not in known]
    used = used_by(*sorted(ours - {"", WRITTEN_WITH}), without=(*WITHOUT, *CONFIGURING))
    return fingerprint(*used, words=tuple(f"{name} {known[name]}" for name in sorted(known)))


def _is_ours(origin: str) -> bool:
    return origin.partition(".")[0] == PACKAGE.name
