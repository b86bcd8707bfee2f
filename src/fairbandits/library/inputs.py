"""What users give, checked and copied where it enters: values of arms, quotas, arrays."""

import inspect
import math
import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from typing import Any

import numpy as np

from fairbandits import checks
from fairbandits.measures.penalties import HALF_RANGE
from fairbandits.policies.parameters import listed, shown
from fairbandits.rationals import Quotas, rational, without_quotes


def number(name: str, value: Any, where: str = "", at_least: float | None = None) -> float:
    """Return a number as a float, with `at_least` a finite one; ValueError for anything else."""
    masked = isinstance(value, np.ma.MaskedArray)
    scalar = value[()] if isinstance(value, np.ndarray) and not value.ndim and not masked else value
    no_number = bool | np.bool_ | np.timedelta64
    if not isinstance(scalar, numbers.Real | Decimal) or isinstance(scalar, no_number):
        message = f"{name} must be a number, got {shown(value)}{where}"
        raise ValueError(f"{message}{without_quotes(value)}")
    try:
        as_float = float(scalar)
    except (OverflowError, ValueError):  # beyond the largest float, a signalling NaN
        as_float = math.inf
    if at_least is not None and not (math.isfinite(as_float) and as_float >= at_least):
        least = f" and at least {at_least}" if at_least > -math.inf else ""
        raise ValueError(f"{name} must be finite{least}, got {value}{where}")
    return as_float


def duplicated(values: Iterable) -> list:
    """Return the values that are there more than once."""
    return [value for value, count in Counter(values).items() if count > 1]


def is_text(value: Any) -> bool:
    """Return whether a value is a text that files can hold: one without half a character."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def per_arm(
    name: str, values: Any, n_arms: int | None = None, at_least: float | None = None
) -> tuple[float, ...]:
    """Return one number per arm; see `listed` and `number`."""
    entries = listed(name, values)
    if n_arms is not None:
        checks.length(name, entries, n_arms)
    return tuple(number(name, item, f" for arm {k}", at_least) for k, item in enumerate(entries, 1))


def one_or_per_arm(
    name: str, values: Any, n_arms: int | None = None, at_least: float | None = None
) -> float | tuple[float, ...]:
    """Return a number for all arms, or one per arm."""
    if isinstance(values, Iterable) and getattr(values, "ndim", not isinstance(values, str)):
        return per_arm(name, values, n_arms, at_least)
    return number(name, values, "", at_least)


class MeasuredQuotas(Quotas):
    """Quotas that are measured only, which can sum to 1: no policy has to keep a round free."""

    def check(self, name: str = "quotas", per: str = "arm", **sums: int) -> None:
        """Raise ValueError unless all are at least 0, and their sum is at most 1."""
        super().check(name, per, at_most=1)


def quotas(values: Any, n_arms: int | None = None) -> MeasuredQuotas:
    """Return exact quotas of at least 0 with a sum of at most 1, to be measured."""
    entries = listed("quotas", values)
    if n_arms is not None:
        checks.length("quotas", entries, n_arms)
    try:
        measured = MeasuredQuotas(entries)
        measured.check()
    except ValueError as error:
        hint = ""
        if "denominator" in str(error) and "; write" not in str(error):
            hint = "; round what is computed: quotas=[round(float(q), 6) for q in quotas]"
        raise ValueError(f"{error}{hint}") from None
    return measured


def penalties(values: Any, n_arms: int | None = None) -> float | tuple[float, ...] | str:
    """Return penalty rates of at least 0: a number, one per arm, or the name of a rule."""
    if isinstance(values, str):
        if values != HALF_RANGE:
            raise ValueError(f"penalties must be numbers or {HALF_RANGE!r}, got {values!r}")
        return values
    return one_or_per_arm("penalties", values, n_arms, 0)


def array(name: str, values: Any, at_least: float | None = None) -> np.ndarray:
    """Return finite numbers as an array, integers as they are; ValueError for anything else."""
    try:
        result = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array of numbers, got {shown(values)}") from None
    if result.dtype.kind == "O":  # fractions, nullable columns
        entries = [number(name, entry) for entry in result.flat]
        result = np.array(entries, float).reshape(result.shape)
    if result.dtype.kind not in "iuf" or np.ma.is_masked(values):
        kind = "masked entries" if np.ma.is_masked(values) else f"entries of type {result.dtype}"
        raise ValueError(f"{name} must be an array of numbers, got {kind}")
    wrong = result[~(np.isfinite(result) & (result >= (-np.inf if at_least is None else at_least)))]
    if wrong.size:
        least = "" if at_least is None else f" and at least {at_least}"
        raise ValueError(f"{name} must be finite{least}, got {wrong[0]}")
    return result


def _means(name: str, values: Any) -> np.ndarray:
    if getattr(values, "ndim", 0) == 1:
        listed(name, values)  # refuses a Series in another order
    return array(name, values)


def _rounds(name: str, values: Any) -> np.ndarray:
    rounds = array(name, values)
    if rounds.dtype.kind not in "iu" or rounds.ndim != 1 or (rounds < 1).any():
        raise ValueError(
            f"{name} must be whole numbers of at least 1, one per checkpoint, got {shown(values)}"
        )
    return rounds


def _penalties(name: str, values: Any) -> Any:
    is_array = getattr(values, "ndim", 0) > 1  # one row per replicate
    return array(name, values, 0) if is_array else penalties(values)


def _tolerance(name: str, value: Any) -> Fraction:
    if (tolerance := rational(name, value)) < 0:
        raise ValueError(f"{name} must be at least 0, got {value!r}")
    return tolerance


#: What arguments of measures must be, by their names.
ARGUMENTS: dict[str, Callable[[str, Any], Any]] = {
    "rounds": _rounds,
    "plays": lambda name, values: array(name, values, 0),
    "rewards": array,
    "means": _means,
    "values": array,
    "targets": lambda name, values: per_arm(name, values, at_least=0),
    "penalties": _penalties,
    "quotas": lambda name, values: quotas(values),
    "groups": lambda name, values: tuple(checks.whole(name, each) for each in listed(name, values)),
    "tolerance": _tolerance,
}


def checked(measure: Callable) -> Callable:
    """Return a measure that checks its arguments, by their names, and that they fit each other."""
    signature = inspect.signature(measure)

    @wraps(measure)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*arguments, **named).arguments
        except TypeError:
            return measure(*arguments, **named)  # says what is missing
        bound = {
            name: ARGUMENTS[name](name, value) if name in ARGUMENTS else value
            for name, value in bound.items()
        }
        recorded = bound.get("plays", bound.get("rewards"))
        if recorded is not None and recorded.ndim:
            for name in ("targets", "quotas", "penalties"):
                if isinstance(bound.get(name), tuple) and "groups" not in bound:
                    checks.length(name, bound[name], recorded.shape[-1])
            rounds = bound.get("rounds")
            if rounds is not None and recorded.shape[-2:-1] != rounds.shape:
                raise ValueError(
                    f"rounds must have one entry per checkpoint, got shape {rounds.shape} with "
                    f"recorded values of shape {recorded.shape}"
                )
        return measure(**bound)

    return call
