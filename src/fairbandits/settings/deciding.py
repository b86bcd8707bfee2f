"""All that decides the verdicts on a paper's claims, part by part, and the digests that follow."""

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import filterfalse, product
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.data.definitions import asked, behind, source
from fairbandits.data.provenance import PACKAGE, located, remembered
from fairbandits.data.whole import checksum
from fairbandits.settings import schemas
from fairbandits.settings.canonical import canonical, digest_of, nameless, plain
from fairbandits.settings.schemas import ROOT, SHARED_RULES, paper_file, read_yaml

#: The registry of words, which is asked for names, and the tables of procedures.
WORDS, PROCEDURES = "audit/measures", "audit/procedures.py"
#: What no verdict depends on though code that decides uses it: registry, reading, messages.
WITHOUT = (
    *("audit/measures/__init__.py", "audit/cells.py", "audit/expressions.py"),
    *("settings/schemas.py", "data/dictionary.py"),
)
#: Argument by which a word reads the published numbers of its paper (`audit.measures.OF_CASE`).
READ_OFF = "read_off"
NAME = re.compile(r"[A-Za-z_]\w*")


class Deciding(NamedTuple):
    """All that decides: the hash of each part and of each claim's, and what data are drawn from."""

    parts: Mapping[str, str] = {}
    drawn: Mapping[str, str] = {}  # experiment or suite of audit.yaml -> what its seed follows from
    claims: Mapping[str, str] = {}

    @property
    def digest(self) -> str:
        """The digest of a paper's rules; empty without a ledger."""
        return digest_of(self.parts) if self.parts else ""


def decided(paper: str, root: Path = ROOT) -> Deciding:
    """Return `deciding`, which an earlier process may have worked out; nothing without a ledger."""
    files = [paper_file(paper, kind, root) for kind in ("claims", "experiments", "audit")]
    files += [paper_file(paper, "published", root), root / SHARED_RULES]
    if not files[0].is_file():
        return Deciding()
    known = remembered("deciding", "")
    content = b"/".join(file.read_bytes() for file in files if file.is_file())
    key = f"{paper} {checksum(content).hex()}"
    if key not in known:
        known[key] = json.dumps(deciding(paper, root))
    return Deciding(*json.loads(known[key]))


def deciding(paper: str, root: Path = ROOT, package: Path = PACKAGE) -> Deciding:
    """Return all that decides the verdicts on a paper's claims; its ledger must be there."""
    content = read_yaml(paper_file(paper, "claims", root))
    records = canonical(schemas.with_shared_rules(content, root))["claims"]
    experiments, published = _experiments(paper, root), _published(paper, root)
    homes = {name: home for home, block in experiments.items() for name in (home, *block.instances)}
    rests_on: dict[str, dict[str, str]] = {}  # claim -> part that it rests on -> hash
    for name, record in records.items():
        own = rests_on[name] = {f"claim {name}": digest_of(nameless(record))}
        if tests := record.get("tests"):
            selections = [record.get(key) for key in ("cells", "with", "each", "over", "keep")]
            code, reads_off = _code([tests, *selections], tests, package)
            own |= code | (published if reads_off else {})
            texts = _texts([tests, *(record.get(key) for key in ("experiments", "cells", "with"))])
            for home in {homes.get(text.removeprefix(f"{paper}/")) for text in texts} - {None}:
                own[f"experiment {home}"] = experiments[home].digest
    digests: dict[str, set[str]] = {}
    for own in rests_on.values():
        for part, digest in own.items():
            # several statements can give one name, and a claim may rest on some of them
            digests.setdefault(part, set()).update(digest.split("-"))
    parts = {part: "-".join(sorted(several)) for part, several in sorted(digests.items())}
    drawn = {}
    for group in _sharing(experiments, homes):
        blocks = {name: experiments[name].digest for name in group}
        readers = {
            name: {part: one for part, one in own.items() if not part.startswith("experiment ")}
            for name, own in rests_on.items()
            if any(f"experiment {block}" in own for block in group)
        }
        digest = digest_of([blocks, readers])
        drawn |= {name: digest for name in group if experiments[name].audit}
    return Deciding(parts, drawn, {name: digest_of(own) for name, own in rests_on.items()})


def changed(was: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of the parts that differ, claims first, then what they rest on."""
    order = ("claim", "experiment", "published", "code")
    names = {name for name in was.keys() | now.keys() if was.get(name) != now.get(name)}
    return sorted(names, key=lambda name: (order.index(name.split(" ")[0]), name))


def _hash(content: Any) -> str:
    return digest_of(plain(content, "experiments"))


def _published(paper: str, root: Path) -> dict[str, str]:
    """Return the hashes of a paper's published numbers, part by part; none without a file."""
    file = paper_file(paper, "published", root)
    numbers = read_yaml(file) if file.is_file() else {}
    parts = {}
    for key, content in numbers.items():
        is_grouped = key in ("figures", "published") and isinstance(content, Mapping)
        parts |= content if is_grouped else {key: content}
    return {f"published {name}": _hash(content) for name, content in parts.items()}


class _Block(NamedTuple):
    """An experiment or suite: its hash, its instances, what it shares streams with."""

    digest: str
    instances: tuple[str, ...]
    shares: tuple[str, ...]
    audit: bool


def _experiments(paper: str, root: Path) -> dict[str, _Block]:
    blocks = {}
    for kind in ("experiments", "audit"):
        file = paper_file(paper, kind, root)
        for name, block in (read_yaml(file)["experiments"] if file.is_file() else {}).items():
            instances = block.get("instances") or {}
            shares = [one.get("same_instances_as") for one in (block, *instances.values())]
            named = tuple(f"{name}_{instance}" for instance in instances)
            blocks[name] = _Block(_hash(block), named, tuple(filter(None, shares)), kind == "audit")
    return blocks


def _sharing(experiments: Mapping[str, _Block], homes: Mapping[str, str]) -> list[set[str]]:
    """Return the experiments and suites in groups that meet the same rewards."""
    groups = [{name} for name in experiments]
    for name, block in experiments.items():
        for other in block.shares:
            joined = [group for group in groups if group & {name, homes.get(other)}]
            groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    return groups


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in plain values, keys too: a key can be an experiment or a word."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _code(
    words: Iterable[Any], tests: Mapping[str, Mapping[str, Any]], package: Path
) -> tuple[dict[str, str], bool]:
    """Return the code behind words and procedures, and whether published numbers are read."""
    names = {name for text in _texts(words) for name in NAME.findall(text)}
    roots, reads_off = _roots(frozenset(filterfalse(keyword.iskeyword, names)), package)
    imports = source(PROCEDURES, package).imports  # of the table of procedures
    for test in tests.values():
        name = test["rule"].get("procedure")
        if name in imports:
            roots |= {(located(imports[name], package)[0], name)}
    found = behind(roots, WITHOUT, package)
    return {f"code of {name}": one for name, one in found.items()}, reads_off


@cache
def _roots(names: frozenset[str], package: Path) -> tuple[frozenset[tuple[str, str]], bool]:
    """Return where words are defined, with those that their arguments name, one after another."""
    files = [path.relative_to(package).as_posix() for path in (package / WORDS).glob("[!_]*.py")]
    roots: set[tuple[str, str]] = set()
    left, seen = list(names), set()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        for file, given in product(files, (name, f"{name}_")):
            for definition in source(file, package).definitions.get(given, ()):
                roots.add((file, given))
                left += asked(definition, package)
    return frozenset(roots), READ_OFF in seen
