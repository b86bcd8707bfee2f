"""Schemas of the policies' hyper-parameters, made from the fields of their classes.

The workflow checks configuration on every start, and importing a policy imports Numba; so the
schemas are a file that `fairbandits schemas` writes.
"""

import dataclasses
import inspect
import re
import textwrap
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from fairbandits.policies import CLASSES, HOMES, POLICIES
from fairbandits.policies.parameters import keywords
from fairbandits.settings.schemas import POLICY_SCHEMAS

COMMAND = "fairbandits schemas"
HEAD = f"# Made by `{COMMAND}` of the policies' fields and docstrings; change those.\n"


class _Plain(yaml.SafeDumper):
    """YAML without aliases, with mappings and lists of plain values on one line."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options | {"default_flow_style": None})

    def ignore_aliases(self, data: Any) -> bool:
        """Write shared objects in full each time."""
        return True


def schemas() -> str:
    """Return the YAML file of the schemas of all registered policies.

    Raises TypeError for a policy that is no dataclass or a field without a usable type, ValueError
    for a field without a description.
    """
    content = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Hyper-parameters of the policies, by their registered names",
        "$defs": {name: schema(POLICIES[name]) for name in HOMES},
    }
    return HEAD + yaml.dump(content, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=110)


def write_schemas(file: Path = POLICY_SCHEMAS) -> None:
    """Write `schemas` to its file."""
    file.write_text(schemas(), encoding="utf-8")


def schema(policy: type) -> dict[str, Any]:
    """Return the schema of a policy's hyper-parameters."""
    if not dataclasses.is_dataclass(policy):
        raise TypeError(f"{policy.__name__} must be a dataclass, whose fields are its parameters")
    hints = typing.get_type_hints(policy, include_extras=True)
    fields = dataclasses.fields(policy)
    needed = [
        field.name
        for field in fields
        if field.default is field.default_factory is dataclasses.MISSING
    ]
    known = {
        field.name: {"description": _description(policy, field.name)}
        | _keywords(hints[field.name], f"{policy.__name__}.{field.name}")
        for field in fields
    }
    required = {"required": needed} if needed else {}
    return {"type": "object", "additionalProperties": False} | required | {"properties": known}


def _keywords(hint: Any, place: str) -> Mapping[str, Any]:
    """Return the schema keywords of a type hint."""
    if found := keywords(hint):
        return found
    raise TypeError(
        f"{place}: its type must be float, int, bool or str, or say what it can be with one of the "
        f"schemas of fairbandits.policies.parameters, got {hint}"
    )


def _description(policy: type, name: str) -> str:
    """Return a field's description from the docstring of a policy or of its bases."""
    for one in policy.__mro__:
        text = described(inspect.getdoc(one) or "").get(name, "")
        if other := re.match(r"As in `(\w+)`", text):
            return _description(POLICIES[_name(other[1])], name)
        if text:
            return text
    raise ValueError(f"{policy.__name__}: the docstring says nothing of parameter {name}")


def _name(found: str) -> str:
    if found not in CLASSES:
        raise ValueError(f"a docstring refers to `{found}`, which is no registered policy")
    return next(name for name, home in HOMES.items() if home.endswith(f":{found}"))


def described(doc: str) -> dict[str, str]:
    r"""Return the parameters of a docstring, each with its description in one line.

    Examples
    --------
    >>> described("A.\n\nParameters\n----------\na, b : int\n    Two of\n    them.\n")
    {'a': 'Two of them.', 'b': 'Two of them.'}
    """
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", doc, re.M | re.S)
    entries = re.findall(
        r"^(\w[^\n]*)\n((?:[ ]+[^\n]*\n?|\n)*)", section[1] if section else "", re.M
    )
    found = {}
    for head, body in entries:
        words = " ".join(textwrap.dedent(body).split()).replace("``", "`")
        found |= dict.fromkeys(re.split(r", ", head.partition(" :")[0].strip()), words)
    return found
