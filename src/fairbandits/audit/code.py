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
    ours, texts = set(), []
    for path, tree in asking_files(file).items():
        text = path.read_text(encoding="utf-8")
        texts.append(f"{path.name} {''.join(tokens(text, [*docstrings(tree)]))}")
        origins = [origin for _, origin in imports_of(tree, path)]
        inside = (origin for origin in origins if origin.partition(".")[0] == PACKAGE.name)
        ours |= {located(origin, PACKAGE)[0] for origin in inside}
    used = used_by(*sorted(ours - {"", WRITTEN_WITH}), without=(*WITHOUT, *CONFIGURING))
    return fingerprint(*used, words=tuple(texts))


def asking_files(file: Path) -> dict[Path, ast.Module]:
    """Return a file of claims and the files beside it that it imports, parsed, by name."""
    left, known = [file], {}
    while left:
        path = left.pop()
        known[path] = tree = ast.parse(path.read_bytes(), path)
        origins = (origin for _, origin in imports_of(tree, path))
        beside = (file.with_name(f"{origin.partition('.')[0]}.py") for origin in origins)
        left += [other for other in beside if other.is_file() and other not in known]
    return dict(sorted(known.items()))
