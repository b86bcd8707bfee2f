"""Types of hyper-parameters: the values that configuration files can give.

`fairbandits schemas` makes the schema of a policy from its fields. For any number, whole number,
truth value or text the type alone is enough: ``float``, ``int``, ``bool`` or ``str``; other types
list their values, e.g. ``Annotated[str, one_of("hard", "soft")]``. A field whose default is
``None`` is optional in a file, which can write null only for a `number` with `null`. The
description is that of the docstring.
"""

import dataclasses
import numbers
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from typing import Annotated, Any

from fairbandits.rationals import Exact, without_quotes

#: Types that need no further description.
PLAIN = {float: "number", int: "integer", bool: "boolean", str: "string"}


@dataclass(frozen=True, eq=False)
class Schema:
    """The keywords of a JSON schema, as a part of a type."""

    keywords: dict[str, Any]


def number(
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    null: bool = False,
) -> Schema:
    """Return the schema of a number in a range; `null` allows none at all."""
    ends = {
        "minimum": at_least,
        "exclusiveMinimum": above,
        "maximum": at_most,
        "exclusiveMaximum": below,
    }
    given = {key: value for key, value in ends.items() if value is not None}
    return Schema({"type": ["number", "null"] if null else "number"} | given)


def whole(*, at_least: int) -> Schema:
    """Return the schema of a whole number."""
    return Schema({"type": "integer", "minimum": at_least})


def not_zero(kind: str = "number") -> Schema:
    """Return the schema of a "number" or an "integer" other than 0."""
    return Schema({"type": kind, "not": {"const": 0}})


def exact(*, at_least: float | None = None) -> Schema:
    """Return the schema of an exact number: 100, 0.5, "1/3"."""
    ends = {} if at_least is None else {"minimum": at_least}
    return Schema({"type": ["number", "string"]} | ends)


def one_of(*values: str | int) -> Schema:
    """Return the schema of a choice."""
    return Schema({"enum": list(values)})


def per_arm(entry: Schema, **others: Any) -> Schema:
    """Return the schema of a list with one entry per arm, with other keywords."""
    return Schema({"perArm": True, "type": "array", "items": entry.keywords} | others)


def several(entry: Schema, least: int = 1, most: int | None = None) -> Schema:
    """Return the schema of a list with a given number of entries."""
    ends = {"minItems": least} | ({} if most is None else {"maxItems": most})
    return Schema({"type": "array"} | ends | {"items": entry.keywords})


#: Target reward rates.
Targets = Annotated[tuple[float, ...], per_arm(number(at_least=0))]
#: Exact fractions of pulls or rounds.
ArmFractions = Annotated[tuple, per_arm(exact())]
GroupFractions = Annotated[tuple, several(exact())]
#: Mean rewards in [0, 1].
Means = Annotated[tuple[float, ...], per_arm(number(at_least=0, at_most=1))]
GroupSizes = Annotated[tuple[int, ...], several(whole(at_least=1))]
#: One rate for all arms, or one per arm.
Rates = Annotated[Any, per_arm(number(at_least=0), type=["number", "array"], minimum=0)]
#: Strictly between 0 and 1; null is 1 / sqrt(T).
Confidence = Annotated[float | None, number(above=0, below=1, null=True)]
#: A policy with bandit feedback, and its hyper-parameters.
Learner = Annotated[str, Schema({"type": "string"})]
LearnerParameters = Annotated[Any, Schema({"type": "object"})]


def keywords(hint: Any) -> Mapping[str, Any]:
    """Return the schema of a field's type; empty where the type says nothing."""
    for one in getattr(hint, "__metadata__", ()):
        if isinstance(one, Schema):
            return one.keywords
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        others = [one for one in typing.get_args(hint) if one is not types.NoneType]
        if len(others) == 1:
            return keywords(others[0])
    return {"type": PLAIN[hint]} if hint in PLAIN else {}


@cache
def checked(made: type) -> type:
    """Return a dataclass that refuses arguments of other types than its fields', by name."""
    if not dataclasses.is_dataclass(made):
        return made
    known = typing.get_type_hints(made, include_extras=True)
    fields = {one.name: keywords(known[one.name]) for one in dataclasses.fields(made) if one.init}
    plain: Callable = made.__init__

    @wraps(plain)
    def init(self: Any, *values: Any, **named: Any) -> None:
        for name, value in {**dict(zip(fields, values, strict=False)), **named}.items():
            if value is not None:
                _check(name, value, fields.get(name, {}))
        plain(self, *values, **named)

    made.__init__ = init
    return made


def _check(name: str, value: Any, can_be: Mapping[str, Any]) -> None:
    """Raise ValueError for a value that is no number or list where one is required."""
    kind = can_be.get("type")
    if kind == "array":
        each = "arm" if can_be.get("perArm") else "group"
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError(f"{name} must have one entry per {each}, as (0.3, 0.2), got {value!r}")
        if name == "targets" and any(isinstance(one, Exact) for one in value):
            raise ValueError(
                f"targets are rates of reward, got quotas, which are fractions of pulls: {value}; "
                "give targets=(0.1, 0.2, ...), each at most the arm's mean"
            )
        if can_be["items"].get("type") == "number":
            for k, one in enumerate(value):
                _check(f"{name} of {each} {k + 1}", one, can_be["items"])
    kinds = {kind} if isinstance(kind, str) else set(kind or ())
    is_listed = "array" in kinds and not isinstance(value, str)
    if kinds & {"number", "integer"} and not (
        isinstance(value, numbers.Real) or is_listed or "string" in kinds
    ):
        raise ValueError(f"{name} must be a number, got {value!r}{without_quotes(value)}")
