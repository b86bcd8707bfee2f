"""Find and read the project's YAML files, and check them against its schemas.

jsonschema takes seconds to import, so it is imported only when something is checked.
"""

import atexit
import difflib
import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from fairbandits.data.provenance import CHECKOUT, PACKAGE, cache_root
from fairbandits.data.whole import read_whole, write_whole
from fairbandits.rationals import without_quotes


def _is_checkout(folder: Path) -> bool:
    return (folder / "Snakefile").is_file() and (folder / "src" / PACKAGE.name).is_dir()


def _find_checkout() -> Path:
    if _is_checkout(CHECKOUT):
        return CHECKOUT
    try:
        here = Path.cwd()
    except OSError:  # the current folder was removed
        return CHECKOUT
    return next(filter(_is_checkout, [here, *here.parents]), CHECKOUT)


#: The project's checkout that contains the package or, for an installed package, the current
#: folder. Without either, a folder that has nothing; see `checkout`.
ROOT = _find_checkout()
SCHEMAS = ROOT / "workflow" / "schemas"
#: Written by `fairbandits schemas`.
POLICY_SCHEMAS = SCHEMAS / "policies.schema.yaml"

#: The loader in C, if PyYAML has it: about ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ConfigError(Exception):
    """A configuration that cannot be run; names file, key, value and what is allowed."""


@cache
def checkout() -> Path:
    """Return the project's folder, with configuration, claims, schemas and workflow.

    The package simulates without it; everything that re-runs the papers asks here first.
    ConfigError if there is none, or if its code is not the installed code.
    """
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


def _is_integer(_, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # 2.0 is none


def _is_number(_, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    """Yield an error unless a text has the pattern, whose ``$`` matches at the very end only."""
    from jsonschema import ValidationError

    if isinstance(value, str) and (value.endswith("\n") or not re.search(pattern, value)):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


@cache
def schema_of(schema: str) -> dict[str, Any]:
    """Return one of our schemas by name, or a definition inside one, e.g. ``policies/lfg``."""
    checkout()
    file, _, definition = schema.partition("/")
    if definition:
        return schema_of(file)["$defs"][definition]
    return yaml.load((SCHEMAS / f"{file}.schema.yaml").read_text(encoding="utf-8"), LOADER)


@cache
def _validator(schema: str):
    from jsonschema import Draft202012Validator, validators

    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_integer, "number": _is_number}
    )
    extended = validators.extend(Draft202012Validator, {"pattern": _pattern}, type_checker=types)
    return extended(schema_of(schema))


@cache
def found_right() -> set[str]:
    """Return the hashes of content that passed its check, in this or earlier processes."""
    file = cache_root() / f"checked-{_schemas()}.txt"
    known = set((read_whole(file) or b"").decode().split())
    atexit.register(_remember, known, len(known), file)
    return known


def _schemas() -> str:
    """Return a hash of all schemas and of the code that checks with them."""
    digest = hashlib.blake2b(digest_size=8)
    for file in [Path(__file__), *sorted(SCHEMAS.rglob("*.yaml"))]:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    digest.update(metadata.version("jsonschema").encode())
    return digest.hexdigest()


def _remember(known: set[str], before: int, file: Path) -> None:
    if len(known) > before:
        write_whole(file, "\n".join(sorted(known)).encode())


def check(content: Any, schema: str, where: str) -> None:
    """Raise ConfigError for the first departure of `content` from one of our schemas.

    Content that passed once is remembered, also by later processes.
    """
    name = hashlib.blake2b(f"{schema} {content!r}".encode(), digest_size=16).hexdigest()
    if name in found_right():
        return
    errors = sorted(_validator(schema).iter_errors(content), key=lambda error: list(error.path))
    if not errors:
        found_right().add(name)
        return
    error = errors[0]
    place = ".".join(map(str, error.absolute_path))
    place = f"{where}: {place}" if place else where
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))
        for key in error.instance:
            if key not in known:
                raise ConfigError(f"{place}: unknown key {key!r}{meant(str(key), known)}")
    if error.validator == "enum" and isinstance(error.instance, str):
        known = [str(value) for value in error.validator_value]
        raise ConfigError(f"{place}: {error.instance!r} is unknown{meant(error.instance, known)}")
    allowed = str(error.validator_value) if error.validator == "type" else ""
    is_number = "integer" in allowed or "number" in allowed
    quotes = without_quotes(error.instance) if is_number else ""
    raise ConfigError(f"{place}: {error.message}{quotes}")


def paper_file(paper: str, part: str, root: Path = ROOT) -> Path:
    """Return the path of a paper's file: experiments, audit, claims or published."""
    return root / "papers" / paper / f"{part}.yaml"


def meant(word: str, known: Sequence[str]) -> str:
    """Return a message's hint after an unknown word: the nearest known word, or all of them."""
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(known)}"


#: Deepest allowed nesting; our files have ten levels.
DEEPEST = 100
#: Most digits of a number.
DIGITS = 300


def _is_deep(text: str) -> bool:
    """Return whether a YAML text may be nested so deep that reading it hangs or fails."""
    level = 0
    for bracket in re.findall(r"[\[{\]}]", text):
        level = level + 1 if bracket in "[{" else max(level - 1, 0)
        if level > 10 * DEEPEST:
            return True
    return re.search(rf"^[ ?-]{{{20 * DEEPEST}}}", text, re.MULTILINE) is not None


def _wrong_value(node: yaml.Node | None, above: tuple[int, ...], seen: set[int]) -> str:
    """Return a value's error with its line, or an empty text.

    YAML 1.1 reads 010 as 8 and 1:30 as 90, which nobody means.
    """
    if node is None or (id(node) in seen and id(node) not in above):
        return ""
    line = f"in line {node.start_mark.line + 1}"
    if id(node) in above:
        return f"has an alias of what it stands in, {line}"
    if len(above) >= DEEPEST:
        return f"is nested deeper than {DEEPEST} levels, {line}"
    seen.add(id(node))
    if isinstance(node, yaml.CollectionNode):
        parts = [part for one in node.value for part in (one if isinstance(one, tuple) else (one,))]
        inside = (_wrong_value(one, (*above, id(node)), seen) for one in parts)
        return next(filter(None, inside), "")
    if node.tag not in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"):
        return ""
    if len(node.value) > DIGITS:
        return f"has a number of more than {DIGITS} digits {line}"
    if ":" in node.value or (node.tag.endswith("int") and re.match(r"[+-]?0[0-7_]", node.value)):
        return (
            f"has {node.value} {line}, which YAML takes for another number; write it without "
            "leading zeros and colons, or a text in quotes"
        )
    return ""


def _repeated_key(node: yaml.Node | None, checked: set[int]) -> yaml.ScalarNode | None:
    """Return the first key that a mapping has twice; YAML would silently drop one of them.

    A key that overrides one of a merged mapping (``<<``) is no repetition. Nodes with an alias are
    checked once: merged mappings can lead to them by thousands of paths.
    """
    if id(node) in checked or not isinstance(node, yaml.CollectionNode):
        return None
    checked.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return next(filter(None, (_repeated_key(one, checked) for one in node.value)), None)
    seen: set[str] = set()
    for key, value in node.value:
        if key.value in seen:
            return key
        seen.add(key.value)
        if (found := _repeated_key(value, checked)) is not None:
            return found
    return None


def read_yaml(file: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file, or raise ConfigError."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        if file.is_relative_to(ROOT):
            checkout()
        raise ConfigError(f"{file} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error
    content = parse_yaml(text, str(file))
    if not isinstance(content, dict):
        raise ConfigError(f"{file} must hold keys and values, got {type(content).__name__}")
    return content


def parse_yaml(text: str, where: str) -> Any:
    """Return the content of a YAML text, or raise ConfigError; `where` names it in messages."""
    try:
        if _is_deep(text):
            raise ConfigError(f"{where} is nested deeper than {DEEPEST} levels")
        loader = LOADER(text)
        node = loader.get_single_node()
        if wrong := _wrong_value(node, (), set()):
            raise ConfigError(f"{where} {wrong}")
        repeated = _repeated_key(node, set())
        content = None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:  # the latter for a date that there is not
        words = " ".join(str(error).split())
        raise ConfigError(f"{where} is not valid YAML: {words}") from error
    if repeated is not None:
        line = repeated.start_mark.line + 1
        raise ConfigError(f"{where} has key {repeated.value!r} twice, again in line {line}")
    return content


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return `below` with `above` laid over it; mappings in both are merged."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged
