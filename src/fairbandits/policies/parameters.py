"""What configuration files can give for a hyper-parameter, said beside the type of its field.

`fairbandits schemas` makes the schema of a policy from its fields. One that is any number, whole
number, truth value or text needs its type alone, ``float``, ``int``, ``bool`` or ``str``; all
others say in their type what they can be, e.g. ``Annotated[str, one_of("hard", "soft")]``. A field
that is ``None`` if it is not given is left out there, unless it is a `number` or null. The
description is that of the docstring.
"""

from dataclasses import dataclass
from typing import Annotated, Any


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
    """Return the schema of a number in a range.

    Parameters
    ----------
    at_least, above, at_most, below : float, optional
        Ends of the range.
    null : bool
        Whether there can be none.
    """
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
    """Return the schema of a list of so many entries."""
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
