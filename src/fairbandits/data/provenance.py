"""The code, packages and commit behind a file; the workflow asks without starting Numba."""

import ast
import atexit
import hashlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from fairbandits.data.whole import checksum, guard_numba, kept

PACKAGE = Path(__file__).resolve().parents[1]
#: The project's folder, if the package lies in it.
CHECKOUT = PACKAGE.parents[1]

#: The code that Numba compiles. Its cache's folder is named after all of it.
COMPILED = ("engine", "policies", "observers")
#: Entry points of every run; the rest follows from imports.
RUNNING = ("replication/simulate.py",)

#: Files that no number depends on: public names, this file, the writing and describing of files.
WITHOUT = ("__init__.py", "data/provenance.py", "data/store.py", "data/dictionary.py")


def cache_root() -> Path:
    """Return the folder of caches, one for this process alone where it cannot be written."""
    if "numba" in sys.modules:  # all that compiles asks here first
        guard_numba()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return _writable(Path(os.environ.get("FAIRBANDITS_CACHE_DIR") or f"{base}/fairbandits"))


@cache
def _writable(folder: Path) -> Path:
    """Return a cache folder, or a temporary one where it cannot be written."""
    try:
        if folder.parts[0] == "~":  # a user whom the system does not know
            raise OSError("there is no home folder")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1_000_000))  # a full disk has room for an empty file
        return folder
    except OSError as error:
        reason = error
    try:
        other = Path(tempfile.mkdtemp(prefix="fairbandits-"))
    except OSError:  # Numba says what it needs
        return folder
    atexit.register(shutil.rmtree, other, ignore_errors=True)
    print(
        f"The cache cannot be used ({reason}), so this process compiles for itself; "
        "FAIRBANDITS_CACHE_DIR names another folder.",
        file=sys.stderr,
    )
    return other


@cache
def fingerprint(*parts: str, words: tuple[str, ...] = ()) -> str:
    """Return a hash of the tokens of some files and folders, and of words; same on each Python."""
    files = (f"{name} {_contents(name)['tokens']}" for name in _below(parts))
    return _hash("".join(f"{line}\0" for line in (*files, *words)))


@cache
def fingerprint_of_text(*parts: str) -> str:
    """Return a hash of every byte of some files, for pages: they show docstrings."""
    contents = ((name.encode(), (PACKAGE / name).read_bytes()) for name in _below(parts))
    return hashlib.sha256(b"".join(b"%b\0%b\0" % pair for pair in contents)).hexdigest()[:16]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def joint(codes: Iterable[str]) -> str:
    """Return one hash for several in any order: that of all if they are equal; empty for none."""
    different = sorted(set(codes))
    return _hash(" ".join(different)) if len(different) > 1 else "".join(different)


def _below(parts: Iterable[str]) -> list[str]:
    """Return the source files of some parts, those of each part sorted."""
    names = []
    for root in (PACKAGE / part for part in parts):
        if not (files := [root] if root.is_file() else sorted(root.rglob("*.py"))):
            raise FileNotFoundError(f"no source files below {root}")
        names += [path.relative_to(PACKAGE).as_posix() for path in files]
    return names


@cache
def used_by(*parts: str, without: tuple[str, ...] = WITHOUT) -> tuple[str, ...]:
    """Return the files in some parts and all that they import, in order, none of `without`."""
    used: set[str] = set()
    left = set(_below(parts)).difference(without)
    while left:
        used |= left
        left = set().union(*map(_imports, left)).difference(used, without)
    return tuple(sorted(used))


def replay_code() -> str:
    return fingerprint(*used_by("replication/banditq_uai2024.py"))


@cache
def _imports(name: str) -> frozenset[str]:
    """Return the package's files that a file imports, and the packages that contain it."""
    packages = ((folder / "__init__.py").as_posix() for folder in Path(name).parents)
    imported = (located(origin, PACKAGE)[0] for origin in _contents(name)["imports"])
    return frozenset(file for file in (*packages, *imported) if file and (PACKAGE / file).is_file())


@cache
def _contents(name: str) -> dict[str, Any]:
    """Return a source file's imports and a hash of its tokens, kept by a hash of the file."""
    content = (PACKAGE / name).read_bytes()
    key = f"{name} {checksum(content).hex()}"
    known = remembered("sources", "data/provenance.py")
    if key not in known:
        tree = ast.parse(content, PACKAGE / name)
        # tables of registered classes never count: a run's own lines do (`replication.code`)
        tables = (node for node in tree.body if ast.unparse(node).startswith("HOMES = "))
        left_out = [*docstrings(tree), *tables]
        kept = "".join(tokens(content.decode(), left_out))
        digest = hashlib.sha256(kept.encode()).hexdigest()
        imported = [origin for _, origin in imports_of(tree, PACKAGE / name)]
        inside = [origin for origin in imported if origin.partition(".")[0] == PACKAGE.name]
        known[key] = {"imports": inside, "tokens": digest}
    return known[key]


def docstrings(tree: ast.Module) -> Iterator[ast.stmt]:
    having = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, having) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0]


def tokens(text: str, left_out: list[ast.stmt]) -> Iterator[str]:
    """Yield a source's tokens, without comments and the statements left out.

    Python 3.12 cuts an f-string into tokens, 3.11 does not: it counts as one token.
    """
    lines = io.StringIO(text).readlines()

    def position(row, column):  # as `tokenize` counts: `ast` has bytes
        return row, len(lines[row - 1].encode()[:column].decode())

    spans = sorted(
        (position(node.lineno, node.col_offset), position(node.end_lineno, node.end_col_offset))
        for node in left_out
    )
    begun = []  # where formatted strings do that are not closed yet
    ended = False  # whether the token before is the end of a statement that is left out
    for token in tokenize.generate_tokens(iter(lines).__next__):
        kind = tokenize.tok_name[token.type]
        while spans and spans[0][1] <= token.start:
            spans.pop(0)
            ended = True
        if kind in ("COMMENT", "NL") or (spans and spans[0][0] <= token.start):
            continue
        if kind in ("FSTRING_START", "TSTRING_START"):
            begun.append(token.start)
        elif kind in ("FSTRING_END", "TSTRING_END"):
            (row, column), (last, end) = begun.pop(), token.end
            if not begun:
                rows = [*lines[row - 1 : last - 1], lines[last - 1][:end]]
                yield f"STRING {''.join(rows)[column:]}\0"
        elif not begun and not (ended and kind == "NEWLINE"):
            yield f"{kind} {token.string if token.string.strip() else ''}\0"
        ended = False


def imports_of(tree: ast.Module, file: Path) -> Iterator[tuple[str, str]]:
    """Yield each name that a file imports, and what it stands for, ``package.module.name``."""
    for node in ast.walk(tree):
        if getattr(node, "level", 0):
            raise ValueError(
                f"{file}, line {node.lineno}: an import inside the package must be absolute, "
                f"from {PACKAGE.name}, so that fingerprints can follow it"
            )
        if isinstance(node, ast.Import | ast.ImportFrom):
            origin = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                yield (alias.asname or alias.name).partition(".")[0], f"{origin}{alias.name}"


@cache
def remembered(what: str, *parts: str) -> dict[str, Any]:
    """Return what earlier processes worked out with the same code of these parts."""
    return kept(cache_root() / f"{what}-{fingerprint_of_text(*parts)}.json")


def located(imported: str, package: Path) -> tuple[str, list[str]]:
    """Return the file of ``package.module.name``, empty without one, and the names inside it."""
    _, *parts = imported.split(".")
    for depth in range(len(parts), -1, -1):
        path = "/".join(parts[:depth])
        for file in (f"{path}.py", f"{path}/__init__.py".lstrip("/")):
            if (package / file).is_file():
                return file, parts[depth:]
    return "", []


@cache
def package_versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in ("fairbandits", "numba", "numpy", "pyarrow")}


@cache
def git_commit() -> str:
    """Return the checked-out commit, ``+`` added for a changed work tree.

    It is ``unknown`` without a checkout, and where git fails, as is then said.
    """
    if not (CHECKOUT / ".git").exists():  # one around an installed package is not ours
        return "unknown"
    try:
        how = ("--always", "--abbrev=40", "--exclude=*", "--dirty=+")
        return git(CHECKOUT, "describe", *how).strip()
    except OSError as error:
        print(f"Files will name no commit: {error}", file=sys.stderr)
        return "unknown"


def git(folder: Path, *arguments: str) -> str:
    """Return what git says in a folder; OSError with the reason where it fails."""
    try:
        how = {"cwd": folder, "text": True, "check": True, "capture_output": True}
        return subprocess.run(["git", *arguments], **how).stdout
    except subprocess.CalledProcessError as error:
        why = next(iter(error.stderr.splitlines()), f"git ended with {error.returncode}")
        if "safe.directory" in error.stderr:
            way = f"git config --global --add safe.directory {shlex.quote(str(folder))}"
            why = f"git refuses {folder}, which another user owns; `{way}` allows it"
        raise OSError(why) from None
    except FileNotFoundError:
        raise OSError("git is not installed") from None
