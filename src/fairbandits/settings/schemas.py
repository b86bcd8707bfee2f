"""Find and read the project's files in YAML and JSON, which are bounded in size and depth."""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fairbandits.data.provenance import CHECKOUT, PACKAGE
from fairbandits.lookup import nearest


def _is_checkout(folder: Path) -> bool:
    return (folder / "Snakefile").is_file() and (folder / "src" / PACKAGE.name).is_dir()


def _find_checkout() -> Path:
    folders = [CHECKOUT]
    with suppress(OSError):  # the current folder was removed
        folders += [Path.cwd(), *Path.cwd().parents]
    return next(filter(_is_checkout, folders), CHECKOUT)


#: The project's checkout that contains the package or, for an installed package, the current
#: folder. Without either, a folder that has nothing; see `checkout`.
ROOT = _find_checkout()

#: The loader in C, if PyYAML has it: about ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ConfigError(Exception):
    """A configuration that cannot be run; names file, key, value and what is allowed."""


@cache
def checkout() -> Path:
    """Return the project's folder; ConfigError if there is none, or with other code than ours."""
    if not _is_checkout(ROOT):
        raise ConfigError(
            "this needs a checkout of the project, with its configuration, claims and workflow: "
            f"the package in {PACKAGE} is installed without one, and the current folder is in "
            "none; clone the repository and run this inside it"
        )
    if ROOT != CHECKOUT and _sources(ROOT / "src" / PACKAGE.name) != _sources(PACKAGE):
        raise ConfigError(
            f"the package in {PACKAGE} has other code than the checkout {ROOT}, which the current "
            f"folder is in; install that one, `pip install {ROOT}`, or run `make setup` there and "
            "use .venv/bin/fairbandits"
        )
    return ROOT


def _sources(package: Path) -> dict[Path, bytes]:
    return {file.relative_to(package): file.read_bytes() for file in package.rglob("*.py")}


def paper_file(paper: str, part: str, root: Path = ROOT) -> Path:
    return root / "papers" / paper / f"{part}.yaml"


def meant(word: str, known: Iterable[str]) -> str:
    """Return a message's hint after an unknown word: the nearest known word, or all of them."""
    names = list(known)
    more = f" and {len(names) - 40} more" if len(names) > 40 else ""
    return nearest(word, names) or f"; known: {', '.join(names[:40])}{more}"


#: Deepest allowed nesting, and most bytes of a file; ours have ten levels, 50 kB and 4000 values.
DEEPEST, LARGEST = 100, 10_000_000
#: What a value counts beside its text, where the bytes of all that aliases repeat are counted.
EACH = 250
#: Most digits of a number, which is then finite.
DIGITS = 300
#: A number with an exponent. YAML 1.1 takes 1e3 and 1.5e3 for texts: no point, no sign.
EXPONENT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)[eE][-+]?[0-9]+")


class _Loader(LOADER):
    """A loader that refuses what YAML would silently drop or misread."""

    def __init__(self, text: str, where: str) -> None:
        self.where, self.seen = where, set()
        self.expect_bounded(text)
        super().__init__(text)

    def refuse(self, node: yaml.Node | yaml.Event, message: str, more: str = "") -> None:
        raise ConfigError(f"{self.where} {message} in line {node.start_mark.line + 1}{more}")

    def expect_bounded(self, text: str) -> None:
        """Refuse what is too deep or large, with all that aliases repeat, before it is composed.

        Composing calls itself for each level, in C: enough levels end the process.
        """
        size, known = 0, {}  # anchor -> size and levels
        within = [[None, 0, 0]]  # anchor, size before and levels below of each that is open
        for event in yaml.parse(text, LOADER):
            levels = 0
            if isinstance(event, yaml.CollectionStartEvent):
                within.append([event.anchor, size, 0])
                size += EACH
            elif isinstance(event, yaml.CollectionEndEvent):
                anchor, before, levels = within.pop()
                levels += 1
                known[anchor] = size - before, levels
            elif isinstance(event, yaml.ScalarEvent):
                known[event.anchor] = EACH + len(event.value), 0
                size += EACH + len(event.value)
            elif isinstance(event, yaml.AliasEvent):
                repeated, levels = known.get(event.anchor, (EACH, 0))
                size += repeated
            within[-1][2] = max(within[-1][2], levels)
            if len(within) - 1 + levels > DEEPEST:
                self.refuse(event, f"is nested deeper than {DEEPEST} levels,")
            if size > LARGEST:
                allowed = f"{LARGEST} bytes are allowed, with {EACH} for each value"
                self.refuse(event, "becomes too large", f"; with all aliases, {allowed}")
            if getattr(event, "tag", None):
                self.refuse(event, f"has a tag, {event.tag[:60]!r},", "; settings have none")

    def construct_object(self, node: yaml.Node, deep: bool = True) -> Any:
        """Return a node's value, whole, so that one that stands in itself is found."""
        if node in self.recursive_objects:
            self.refuse(node, "has an alias of what it stands in,")
        return super().construct_object(node, deep=True)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Refuse a key that a mapping has twice, which is not one that overrides a merged one."""
        if id(node) not in self.seen:
            self.seen.add(id(node))
            keys = set()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    self.refuse(key, "has a key that is no text or number,")
                # equal as values: `yes` and `true`, 1 and 1.0; signs such as << have none
                is_sign = key.tag.endswith((":merge", ":value"))
                value = key.value if is_sign else self.construct_object(key)
                if value in keys:
                    self.refuse(key, f"has key {key.value!r} twice, again")
                keys.add(value)
        super().flatten_mapping(node)

    def number(self, node: yaml.ScalarNode) -> int | float:
        """Return a number; YAML 1.1 reads 010 as 8 and 1:30 as 90, which nobody means.

        One with an exponent is a whole number where it is one.
        """
        text, is_whole = node.value, node.tag.endswith("int")
        exponent = re.split("[eE]", text)[1:] if EXPONENT.fullmatch(text) else []
        if len(text) > DIGITS or any(abs(int(part)) > DIGITS for part in exponent):
            self.refuse(node, f"has a number of more than {DIGITS} digits")
        if exponent:
            value = Fraction(text.replace("_", ""))
            return int(value) if value.denominator == 1 and abs(value) < 2**63 else float(value)
        if ":" in text or (is_whole and re.match(r"[+-]?0[0-7_]", text)):
            way_out = "write it without leading zeros and colons, or a text in quotes"
            self.refuse(node, f"has {text}", f", which YAML takes for another number; {way_out}")
        return self.construct_yaml_int(node) if is_whole else self.construct_yaml_float(node)


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.number)
for _yaml in (_Loader, yaml.SafeDumper):  # what is written puts such a text in quotes
    _pattern = re.compile(f"{EXPONENT.pattern}$")
    _yaml.add_implicit_resolver("tag:yaml.org,2002:float", _pattern, [*"-+.0123456789"])


def read_yaml(file: Path) -> dict[str, Any]:
    try:
        text = _read(file).decode()
    except FileNotFoundError:
        if file.is_relative_to(ROOT):
            checkout()
        raise ConfigError(f"{file} does not exist") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error
    content = parse_yaml(text, str(file))
    if not isinstance(content, dict):
        raise ConfigError(f"{file} must hold keys and values, got {type(content).__name__}")
    return content


def _read(file: Path) -> bytes:
    """Return a file's content; ValueError if it is too large."""
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    return content


def read_json(file: Path) -> Any:
    """Return the content of a JSON file; OSError or ValueError if it cannot be read."""
    try:
        return json.loads(_read(file))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parse_yaml(text: str, where: str) -> Any:
    """Return the content of a YAML text, or raise ConfigError; `where` names it in messages."""
    try:
        return _Loader(text, where).get_single_data()
    except (yaml.YAMLError, ValueError) as error:  # the latter for a date that there is not
        message = " ".join(str(error).split())
        raise ConfigError(f"{where} is not valid YAML: {message}") from error


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return `below` with `above` laid over it; mappings in both are merged."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged
