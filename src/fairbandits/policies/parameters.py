"""The ranges of hyper-parameters of policies and observers, in the types of their fields.

A field's type has a check of this module, as in ``Annotated[str, one_of("hard", "soft")]``. Without
a range ``float``, ``int``, ``bool`` or ``str`` is enough.
"""

import dataclasses
import math
import numbers
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Set
from functools import cache, reduce
from typing import Annotated, Any, ClassVar

from fairbandits.lookup import nearest
from fairbandits.rationals import LONGEST, Exact, Quotas, rational, without_quotes

#: Returns a parameter as it is kept, or raises ValueError. Its arguments are the parameter's name,
#: its value, and which entry of a list that is, for messages: " for arm 2".
Check = Callable[[str, Any, str], Any]


class Checked:
    """Base of frozen dataclasses whose fields are checked by their types."""

    def __post_init__(self):
        for name, (check, is_optional) in checks_of(type(self)).items():
            value = getattr(self, name)
            if value is not None or not is_optional:
                object.__setattr__(self, name, check(name, value, ""))


class Policy(Checked):
    """Base of the policies, by default with bandit feedback and without probes."""

    feedback: ClassVar[str] = "bandit"
    probes: ClassVar[tuple[str, ...]] = ()

    def start(self, n_arms: int, horizon: int) -> Any:
        """Return the state before the first round."""
        raise NotImplementedError


@cache
def checks_of(made: type) -> dict[str, tuple[Check, bool]]:
    """Return for each field its check, and whether it can be None; TypeError without a check."""
    hints = typing.get_type_hints(made, include_extras=True)
    checks = {}
    for field in dataclasses.fields(made):
        check = _check_of(hints[field.name])
        if check is None:
            raise TypeError(
                f"{made.__name__}.{field.name}: its type must be float, int, bool or str, or have "
                f"a check of fairbandits.policies.parameters, got {hints[field.name]}"
            )
        checks[field.name] = check, field.default is None or _is_optional(hints[field.name])
    return checks


def _check_of(hint: Any) -> Check | None:
    for check in getattr(hint, "__metadata__", ()):
        return check
    if _is_union(hint):
        kinds = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
        return _check_of(kinds[0]) if len(kinds) == 1 else None
    return PLAIN.get(hint)


def _is_optional(hint: Any) -> bool:
    plain = hint if _is_union(hint) else getattr(hint, "__origin__", hint)
    return types.NoneType in typing.get_args(plain)


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def that(holds: Callable, words: str, hint: Callable = lambda value: "") -> Check:
    """Return a check by a condition: a value must `words`; the `hint` follows what is refused."""

    def check(name: str, value: Any, of: str) -> Any:
        if not holds(value):
            raise ValueError(f"{name} must {words}, got {shown(value)}{of}{hint(value)}")
        return value

    return check


def shown(value: Any) -> str:
    """Return a value for a message, in one short line."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and len(shape) > 1:
        return f"{type(value).__name__} of shape {shape}"
    value = value.tolist() if shape and hasattr(value, "tolist") else value
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def _each(*checks: Check) -> Check:
    """Return the check that applies checks from left to right, each to the value of the last."""
    return lambda name, value, of: reduce(lambda kept, check: check(name, kept, of), checks, value)


def _is_a(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def number(
    *,
    at_least: float = -math.inf,
    above: float = -math.inf,
    at_most: float = math.inf,
    below: float = math.inf,
) -> Check:
    """Return the check of a finite number in a range."""
    if above > -math.inf:
        between = f"lie strictly between {above:g} and {below:g}"
        allowed = between if below < math.inf else f"be a finite number above {above:g}"
    elif min(at_most, below) < math.inf:
        end = f"{at_most:g}]" if at_most < math.inf else f"{below:g})"
        allowed = f"lie in [{at_least:g}, {end}"
    else:
        allowed = "be finite" + (f" and at least {at_least:g}" if at_least > -math.inf else "")

    def fits(value: Any) -> bool:
        # whole numbers and fractions can be beyond the largest float
        finite = abs(value) <= sys.float_info.max
        return finite and above < value < below and at_least <= value <= at_most

    def kept(name: str, value: Any, of: str) -> float:
        return value if isinstance(value, int) and abs(value) <= LONGEST else float(value)

    is_number = that(lambda value: _is_a(value, numbers.Real), "be a number", without_quotes)
    return _each(is_number, that(fits, allowed), kept)


def whole(*, at_least: float = -math.inf, at_most: float = math.inf) -> Check:
    allowed = "be a whole number" + (f" of at least {at_least}" if at_least > -math.inf else "")
    allowed += f" and at most {at_most}" if at_most < math.inf else ""

    def fits(value: Any) -> bool:
        return _is_a(value, numbers.Integral) and at_least <= value <= at_most

    return _each(that(fits, allowed, without_quotes), lambda name, value, of: int(value))


def not_zero(check: Check, words: str = "a finite number") -> Check:
    """Return a check that refuses 0, too."""
    return _each(check, that(lambda value: value != 0, f"be {words} other than 0"))


def exact(*, at_least: float = -math.inf) -> Check:
    """Return the check of an exact number: 100, 0.5, "1/3"."""

    def check(name: str, value: Any, of: str) -> Any:
        if rational(name, value) < at_least:
            raise ValueError(f"{name} must be at least {at_least}, got {value!r}{of}")
        return value

    return check


def one_of(*values: Any) -> Check:
    def fits(value: Any) -> bool:
        is_one = isinstance(value, str | numbers.Integral) and value in values
        return is_one and isinstance(value, bool) == isinstance(values[0], bool)

    def hint(value: Any) -> str:
        return nearest(value, values) if {*map(type, (value, *values))} == {str} else ""

    return that(fits, f"be one of {', '.join(map(str, values))}", hint)


def a(kind: type, words: str) -> Check:
    return that(lambda value: isinstance(value, kind), f"be {words}")


def several(entry: Check, per: str, kept: type | None = float) -> Check:
    """Return the check of a sequence, with one entry per arm or group."""

    def check(name: str, values: Any, of: str) -> tuple:
        given = listed(name, values, per)
        if name == "targets" and any(isinstance(value, Exact) for value in given):
            raise ValueError(
                f"targets are rates of reward, got quotas, which are fractions of pulls: {values}; "
                "give targets=(0.1, 0.2, ...), each at most the arm's mean"
            )
        if not given:
            raise ValueError(f"{name} must have at least 1 entry, got none")
        entries = (entry(name, value, f" for {per} {k}") for k, value in enumerate(given, 1))
        return tuple(map(kept, entries) if kept else entries)

    return check


def per_arm(entry: Check) -> Check:
    return several(entry, "arm")


def quotas(per: str, *, below: int | None = None, at_most: int | None = None) -> Check:
    """Return the check of exact fractions of at least 0, whose sum is in a range."""

    def check(name: str, values: Any, of: str) -> Quotas:
        quotas = Quotas(listed(name, values, per), name)
        quotas.check(name, per, below=below, at_most=at_most)
        return quotas

    return check


def listed(name: str, values: Any, per: str = "arm") -> list:
    """Return the values of a sequence with one entry per arm or group, a Series' in its order.

    Raise ValueError for what has no such order: a mapping or a set, a table, a text, and a Series
    whose labels are whole numbers that do not ascend, as after ``value_counts()``.
    """
    hint = ""
    if isinstance(values, Mapping | Set):
        hint = f"; write the values in the order of the {per}s"
    elif len(getattr(values, "shape", (0,))) > 1:
        hint = "; take one row or one column"
    elif descending := _descending(values):
        hint = f" with labels {descending}; write sort_index(), if these are {per}s"
    fits = isinstance(values, Iterable) and not isinstance(values, str | bytes | bytearray)
    if hint or not fits or not len(getattr(values, "shape", (0,))):
        raise ValueError(
            f"{name} must have one entry per {per}, as (0.3, 0.2), got {shown(values)}{hint}"
        )
    return list(values)


def _descending(values: Any) -> list:
    """Return the labels of a Series if they are whole numbers, in whatever type, out of order."""
    labels = getattr(values, "index", None)  # a method of lists
    labels = labels.tolist() if hasattr(labels, "tolist") else []
    whole = all(isinstance(label, numbers.Real) and label == label // 1 for label in labels)
    return labels if whole and labels != sorted(labels) else []


def _rates(name: str, value: Any, of: str) -> float | tuple[float, ...]:
    rate = number(at_least=0)
    if isinstance(value, Iterable) and getattr(value, "ndim", not isinstance(value, str)):
        return per_arm(rate)(name, value, of)
    return float(rate(name, value, of))


def _frozen(name: str, parameters: Any, of: str) -> tuple[tuple[str, Any], ...]:
    """Return hyper-parameters as a sorted tuple of pairs, so that a policy can be hashed."""
    try:
        pairs = sorted(dict(**dict(parameters)).items())  # texts alone are keywords
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be names with values, got {shown(parameters)}") from None
    return tuple((key, _frozen_value(name, value)) for key, value in pairs)


def _frozen_value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return _frozen(name, value, "")
    return tuple(value) if isinstance(value, list) else value


PLAIN = {float: number(), int: whole(), bool: a(bool, "true or false"), str: a(str, "a text")}

#: Target reward rates.
Targets = Annotated[tuple[float, ...], per_arm(number(at_least=0))]
#: Exact fractions of pulls or rounds: sums below 1, and up to 1.
ArmQuotas = Annotated[Quotas, quotas("arm", below=1)]
ArmFractions = Annotated[Quotas, quotas("arm", at_most=1)]
GroupQuotas = Annotated[Quotas, quotas("group", at_most=1)]
#: Exact numbers.
ArmNumbers = Annotated[tuple, several(exact(), "arm", None)]
#: Mean rewards in [0, 1].
Means = Annotated[tuple[float, ...], per_arm(number(at_least=0, at_most=1))]
GroupSizes = Annotated[tuple[int, ...], several(whole(at_least=1), "group", int)]
#: One rate for all arms, or one per arm.
Rates = Annotated[float | tuple[float, ...], _rates]
#: Two readings of BF-UCB: as printed, and as in its authors' program; a switch between them.
VERSIONS = ("paper", "released")
Version = Annotated[str, one_of(*VERSIONS)]
#: None is 1 / sqrt(T).
Confidence = Annotated[float | None, number(above=0, below=1)]
#: Of the horizon: 2**53 to that power is finite.
Exponent = Annotated[float, number(at_least=-10, at_most=10)]


def power(horizon: int, exponent: float) -> float:
    """Return horizon ** exponent; the exponent 1/2 gives the square root."""
    return math.sqrt(horizon) if exponent == 0.5 else float(horizon) ** exponent


Positive = Annotated[float, number(above=0)]
NonNegative = Annotated[float, number(at_least=0)]
#: A policy with bandit feedback, and its hyper-parameters.
Learner = str
LearnerParameters = Annotated[Any, _frozen]
