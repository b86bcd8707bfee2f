"""The code behind a name: its definition and all that this uses, each by a hash of its tokens.

Sources are read, nothing is run. A definition is a statement of a module's top level. Comments,
docstrings and layout do not count, nor its file; imports are followed, and are no part of it.
"""

import ast
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fairbandits.data.provenance import PACKAGE, docstrings, imports_of, located, tokens

NAMED = ast.Name | ast.Attribute


class Definition(NamedTuple):
    """A statement of a file's top level: its hash, and the dotted names that it uses."""

    file: str
    name: str
    digest: str
    uses: frozenset[str]
    parameters: tuple[str, ...]  # of a call that registers a function, the texts given for its own
    registers: bool


class Source(NamedTuple):
    """A file's definitions by each name that they give, and what its imports stand for."""

    definitions: Mapping[str, tuple[Definition, ...]]
    imports: Mapping[str, str]


@cache
def behind(
    roots: frozenset[tuple[str, str]], without: tuple[str, ...] = (), package: Path = PACKAGE
) -> dict[str, str]:
    """Return the hashes of definitions, and of all that they use except in `without`, by name."""
    digests: dict[str, set[str]] = {}
    seen: set[Definition] = set()
    left = [one for file, name in roots for one in source(file, package).definitions.get(name, ())]
    while left:
        definition = left.pop()
        if definition not in seen:
            seen.add(definition)
            digests.setdefault(definition.name, set()).add(definition.digest)
            left += (one for one in _used(definition, package) if one.file not in without)
    # a name can be given by several statements, here or there, which count together
    return {name: "-".join(sorted(several)) for name, several in sorted(digests.items())}


@cache
def source(file: str, package: Path = PACKAGE) -> Source:
    text = (package / file).read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    definitions: dict[str, tuple[Definition, ...]] = {}
    for node in tree.body:
        names = tuple(dict.fromkeys(_names(node)))
        if not names:
            continue
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        part = "".join(lines[first - 1 : node.end_lineno])
        inside = ast.parse(part)
        imports = (one for one in ast.walk(inside) if isinstance(one, ast.Import | ast.ImportFrom))
        kept = "".join(tokens(part, [*docstrings(inside), *imports]))
        digest = hashlib.sha256(kept.encode()).hexdigest()[:16]
        # dotted names, each with those that it begins with
        used = (ast.unparse(one) for one in ast.walk(node) if isinstance(one, NAMED))
        uses = frozenset(one for one in used if one.replace(".", "").replace("_", "a").isalnum())
        given = tuple(_parameters(node))
        one = Definition(file, names[0], digest, uses, given, isinstance(node, ast.Expr))
        for name in names:
            definitions[name] = (*definitions.get(name, ()), one)
    return Source(definitions, dict(imports_of(tree, package / file)))


def _names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement gives: of a call that registers something, its texts too."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return
        case ast.Expr(ast.Call(ast.Call(keywords=given), [of])):  # it registers a function
            named = [one.value.value for one in given if one.arg == "name"]
            yield from named or [ast.unparse(of).rpartition(".")[2]]
            return
    inside = list(ast.walk(node))
    for one in inside:
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id
    if any(isinstance(one, ast.Call) for one in inside):
        yield from (one.attr for one in inside if isinstance(one, ast.Attribute))
        texts = (one.value for one in inside if isinstance(one, ast.Constant))
        yield from (one for one in texts if isinstance(one, str) and one.isidentifier())
        yield from (one.arg for one in inside if isinstance(one, ast.keyword) and one.arg)


def _parameters(node: ast.stmt) -> Iterator[str]:
    """Yield a function's parameters, or the texts given by keywords to register one."""
    if isinstance(node, ast.FunctionDef):
        yield from (one.arg for one in (*node.args.args, *node.args.kwonlyargs))
    elif isinstance(node, ast.Expr):
        for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
            for one in call.keywords:
                if isinstance(one.value, ast.Constant) and one.arg not in ("name", "what"):
                    yield str(one.value.value)


def asked(definition: Definition, package: Path) -> Iterator[str]:
    """Yield the names that a word asks for: its parameters, those of a function it registers."""
    yield from definition.parameters
    for other in _used(definition, package) if definition.registers else ():
        yield from other.parameters


@cache
def _used(definition: Definition, package: Path) -> tuple[Definition, ...]:
    return tuple(one for name in definition.uses for one in _found(definition.file, name, package))


def _found(file: str, name: str, package: Path) -> Iterator[Definition]:
    """Yield the definitions that a dotted name in a file stands for."""
    first, *rest = name.split(".")
    definitions, imports = source(file, package)
    if first in definitions:
        yield from definitions[first]
        return
    path = ".".join((imports.get(first, ""), *rest))
    if path.partition(".")[0] == package.name:
        other, names = located(path, package)
        if names:  # what comes after the first name is in it
            yield from _found(other, names[0], package)
