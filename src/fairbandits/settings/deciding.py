"""All that decides the verdicts on a paper's claims, part by part, and the digests that follow.

The configuration needs digests on every start: they are kept by the bytes of what they follow from.
"""

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.data.definitions import asked, behind, source
from fairbandits.data.provenance import PACKAGE
from fairbandits.settings.canonical import canonical, digest_of, nameless, without_prose
from fairbandits.settings.remembering import key_of, remembered
from fairbandits.settings.schemas import (
    ROOT,
    SHARED_RULES,
    paper_file,
    read_yaml,
    with_shared_rules,
)

#: The registry of words, which is asked for names, and the tables of procedures.
WORDS, PROCEDURES = "audit/measures", "audit/procedures.py"
#: What no verdict depends on though code that decides uses it: the registry itself, the reading of
#: files, and messages.
WITHOUT = (
    *("audit/measures/__init__.py", "audit/cells.py", "audit/expressions.py"),
    *("settings/schemas.py", "data/dictionary.py"),
)
#: Argument by which a word reads the published numbers of its paper (`audit.measures.OF_CASE`).
READ_OFF = "read_off"
NAME = re.compile(r"[A-Za-z_]\w*")


class Digests(NamedTuple):
    """The digest of a paper's rules, and those of its experiments for the audit alone."""

    paper: str = ""
    drawn: Mapping[str, str] = {}  # experiment or suite of audit.yaml -> what its seed follows from


class Deciding(NamedTuple):
    """All that decides: the hash of each part and of each claim's, and what data are drawn from."""

    parts: Mapping[str, str]
    drawn: Mapping[str, str]
    claims: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Hash of all parts."""
        return digest_of(self.parts)


def digests_of(paper: str, root: Path = ROOT) -> Digests:
    """Return the digests of a paper; none if it has no ledger."""
    files = [paper_file(paper, kind, root) for kind in ("claims", "experiments", "audit")]
    files += [paper_file(paper, "published", root), root / SHARED_RULES]
    if not files[0].is_file():
        return Digests()
    known = remembered("deciding", *_rooms())
    key = f"{paper} {key_of(b'/'.join(one.read_bytes() for one in files if one.is_file()))}"
    if key not in known:
        found = deciding(paper, root)
        known[key] = json.dumps([found.digest, found.drawn])
    return Digests(*json.loads(known[key]))


def deciding(paper: str, root: Path = ROOT, package: Path = PACKAGE) -> Deciding:
    """Return all that decides the verdicts on a paper's claims; its ledger must be there."""
    content = read_yaml(paper_file(paper, "claims", root))
    records = canonical(with_shared_rules(content, root))["claims"]
    experiments = _experiments(paper, root)
    published = {}
    if paper_file(paper, "published", root).is_file():
        numbers = read_yaml(paper_file(paper, "published", root))
        for key, one in numbers.items():
            inner = one if key in ("figures", "published") and isinstance(one, Mapping) else {}
            published |= {f"published {name}": _hash(some) for name, some in inner.items()}
            published |= {} if inner else {f"published {key}": _hash(one)}
    parts, of_records, readers = {}, {}, {}
    for name, record in records.items():
        own = {f"claim {name}": digest_of(nameless(record))}
        if tests := record.get("tests"):
            asked = [record.get(key) for key in ("cells", "with", "each", "over", "keep")]
            code, reads_off = _code(_texts([tests, *asked]), _procedures(tests), package)
            own |= code | (published if reads_off else {})
            for one in _read(tests, record, paper, experiments):
                readers.setdefault(one, []).append(name)
                own[f"experiment {one}"] = experiments[one].digest
        of_records[name] = own
        for key, digest in own.items():
            # several statements can give one name, and a claim may rest on some of them
            both = {*parts.get(key, digest).split("-"), *digest.split("-")}
            parts[key] = "-".join(sorted(both))
    apart = {
        name: {key: one for key, one in own.items() if not key.startswith("experiment ")}
        for name, own in of_records.items()
    }
    drawn = {}
    for group in _sharing(experiments):
        reading = {name for one in group for name in readers.get(one, ())}
        blocks = {one: experiments[one].digest for one in group}
        digest = digest_of([blocks, {name: apart[name] for name in reading}])
        drawn |= {one: digest for one in group if experiments[one].audit}
    claims = {name: digest_of(own) for name, own in of_records.items()}
    return Deciding(dict(sorted(parts.items())), drawn, claims)


def changed(was: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of the parts that differ, claims first, then what they rest on."""
    order = ("claim", "experiment", "published", "code")
    names = {name for name in was.keys() | now.keys() if was.get(name) != now.get(name)}
    return sorted(names, key=lambda name: (order.index(name.split(" ")[0]), name))


def _hash(content: Any) -> str:
    return digest_of(without_prose(content))


# ------------------------------------------------------------------------------- experiments


class _Block(NamedTuple):
    """An experiment or suite: its hash, its instances, what it shares streams with."""

    digest: str
    instances: tuple[str, ...]
    shares: tuple[str, ...]
    audit: bool


def _experiments(paper: str, root: Path) -> dict[str, _Block]:
    found = {}
    for kind in ("experiments", "audit"):
        file = paper_file(paper, kind, root)
        for name, block in (read_yaml(file)["experiments"] if file.is_file() else {}).items():
            instances = block.get("instances") or {}
            shares = [one.get("same_instances_as") for one in (block, *instances.values())]
            named = tuple(f"{name}_{one}" for one in instances)
            digest = _hash(block)
            found[name] = _Block(digest, named, tuple(filter(None, shares)), kind == "audit")
    return found


def _home(name: str, experiments: Mapping[str, _Block]) -> str | None:
    """Return the experiment or suite that a name is of."""
    homes = (one for one, block in experiments.items() if name in (one, *block.instances))
    return next(homes, None)


def _read(
    tests: Any, record: Mapping[str, Any], paper: str, experiments: Mapping[str, _Block]
) -> Iterator[str]:
    """Yield the experiments and suites that a record names."""
    texts = _texts([tests, *(record.get(key) for key in ("experiments", "cells", "with"))])
    named = {text.removeprefix(f"{paper}/") for text in texts}
    yield from sorted({home for one in named if (home := _home(one, experiments))})


def _sharing(experiments: Mapping[str, _Block]) -> list[set[str]]:
    """Return the experiments and suites in groups that meet the same rewards."""
    groups = [{name} for name in experiments]
    for name, block in experiments.items():
        for other in block.shares:
            joined = [one for one in groups if one & {name, _home(other, experiments)}]
            groups = [one for one in groups if one not in joined] + [set().union(*joined)]
    return groups


# -------------------------------------------------------------------------------------- code


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in plain values, keys too: a key can be an experiment or a word."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from (key, *_texts(one))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _procedures(tests: Mapping[str, Mapping[str, Any]]) -> set[str]:
    return {one["rule"]["procedure"] for one in tests.values() if "procedure" in one["rule"]}


def _code(
    texts: Iterable[str], procedures: Iterable[str], package: Path
) -> tuple[dict[str, str], bool]:
    """Return the code behind words and procedures, and whether published numbers are read."""
    names = {name for text in texts for name in NAME.findall(text) if not keyword.iskeyword(name)}
    words, reads_off = _roots(frozenset(names), package)
    code = _behind(frozenset({*words, *_named(procedures, package)}), package)
    return {f"code of {name}": one for name, one in code.items()}, reads_off


@cache
def _behind(roots: frozenset[tuple[str, str]], package: Path) -> Mapping[str, str]:
    return behind(sorted(roots), WITHOUT, package)


def _named(procedures: Iterable[str], package: Path) -> Iterator[tuple[str, str]]:
    """Yield file and name of each procedure, as the table of procedures imports it."""
    imports = source(PROCEDURES, package).imports
    for name in procedures:
        if name in imports:
            _, *folders, _ = imports[name].split(".")
            yield f"{'/'.join(folders)}.py", name


@cache
def _roots(names: frozenset[str], package: Path) -> tuple[set[tuple[str, str]], bool]:
    """Return where words are defined, with those that their arguments name, one after another."""
    files = sorted(
        path.relative_to(package).as_posix()
        for path in (package / WORDS).glob("*.py")
        if path.name != "__init__.py"
    )
    found: set[tuple[str, str]] = set()
    left, seen = list(names), set()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        for file in files:
            for given in (name, f"{name}_"):
                for one in source(file, package).definitions.get(given, ()):
                    found.add((file, given))
                    left += asked(one, package)
    return found, READ_OFF in seen


@cache
def _rooms() -> tuple[str, ...]:
    folders = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
    return tuple(sorted(folders))
