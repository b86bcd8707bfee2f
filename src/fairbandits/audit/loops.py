"""Loops and readings that label the tests made inside them.

`for arm in arms([0, 1]): yield mean(...)` gives two cases, "arm 1" and "arm 2", of one test.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

#: Labels of the loops that are running, and their readings; a test takes them when it is made.
LABELS: list[str] = []
READINGS: list[str] = []
SHORT = {"arm": "arm ", "round": "t = ", "tolerance": "alpha = "}


def in_words(name: str, value: Any) -> str:
    """Return the label of a value: "arm 2", "t = 500", or a text without underscores."""
    if isinstance(value, str) and name != "arm":
        return value.replace("_", " ")
    name = SHORT.get(name, f"{name} = ")
    return f"{name}{value:g}" if isinstance(value, float) else f"{name}{value}"


def labelled(stack: list[str], items: Iterable[tuple[list[str], Any]]) -> Iterator[Any]:
    """Yield values, with their labels on the stack while the loop's body runs."""
    depth = len(stack)
    try:
        for labels, value in items:
            stack[depth:] = labels
            yield value
    finally:  # also after break, return or an error
        del stack[depth:]


def cases(**values: Iterable[Any]) -> Iterator[Any]:
    """Loop over cases: `for t in cases(round=run.rounds)`, labelled "t = 500" and so on.

    Of a mapping its keys are the labels, and its values are what the loop gives.
    """
    ((name, values),) = values.items()
    pairs = values.items() if isinstance(values, Mapping) else ((one, one) for one in values)
    return labelled(LABELS, (([in_words(name, label)], one) for label, one in pairs))


def arms(indices: Iterable[int]) -> Iterator[int]:
    """Loop over arms by index, from 0; readers see their numbers, from 1."""
    return labelled(LABELS, (([in_words("arm", one + 1)], int(one)) for one in indices))


def readings(*names: str | Mapping[Any, Any], **values: Any) -> Iterator[Any]:
    """Loop over readings: by name, or `readings(printed="paper")` for what runs have instead.

    A mapping serves where a reading is several at once: `{("floored", "gaps_even"): ...}`.
    """
    pairs = {} if not names or isinstance(names[0], str) else dict(names[0])
    pairs |= dict(zip(names, names, strict=True)) if not pairs else {}
    pairs |= values
    several = ((key if isinstance(key, tuple) else (key,), one) for key, one in pairs.items())
    return labelled(READINGS, ((list(key), one) for key, one in several))


@contextmanager
def reading(*names: str) -> Iterator[None]:
    """Ask what is inside under readings only: `with reading("uncut"): yield ...`."""
    depth = len(READINGS)
    READINGS[depth:] = names
    try:
        yield
    finally:
        del READINGS[depth:]


def forget() -> None:
    """Leave all loops and readings."""
    LABELS.clear()
    READINGS.clear()
