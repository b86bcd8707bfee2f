"""What a claim yields: the five procedures as it calls them, and loops that label their cases.

The phrase says what the number is; it is printed wherever the number is, and tests with the same
phrase are cases of one test. Further keywords are those of `Case`: `unit`, `beside`,
`uncontrolled`, `name`, `case`.

`for arm in arms([0, 1]): yield mean(...)` gives two cases, "arm 1" and "arm 2", of one test.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, Self

import numpy as np

from fairbandits.lookup import nearest

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
    pairs = values.items() if isinstance(values, Mapping) else ((value, value) for value in values)
    return labelled(LABELS, (([in_words(name, label)], value) for label, value in pairs))


def arms(indices: Iterable[int]) -> Iterator[int]:
    """Loop over arms by index, from 0; readers see their numbers, from 1."""
    return labelled(LABELS, (([in_words("arm", index + 1)], int(index)) for index in indices))


def readings(*names: str | Mapping[Any, Any], **values: Any) -> Iterator[Any]:
    """Loop over readings: by name, or `readings(printed="paper")` for what runs have instead.

    A mapping serves where a reading is several at once: `{("floored", "gaps_even"): ...}`.
    """
    by_name = not names or isinstance(names[0], str)
    pairs = dict(zip(names, names, strict=True) if by_name else names[0]) | values
    several = ((key if isinstance(key, tuple) else (key,), value) for key, value in pairs.items())
    return labelled(READINGS, ((list(key), value) for key, value in several))


@contextmanager
def reading(*names: str) -> Iterator[None]:
    """Ask what is inside under readings only: `with reading("uncut"): yield ...`."""
    yield from labelled(READINGS, [([*names], None)])


def forget() -> None:
    """Leave all loops and readings."""
    LABELS.clear()
    READINGS.clear()


# ------------------------------------------------------------------------------------ tests

#: Further keywords of a test.
SAID = ("unit", "beside", "uncontrolled", "name", "case", "given", "readings")


@dataclass(frozen=True)
class Case:
    """One question, with the data that answer it."""

    phrase: str  # what the number is
    procedure: str
    data: Mapping[str, Any] | Callable[[], Mapping[str, Any]]  # empty if nothing meets a condition
    settings: Mapping[str, Any]
    again: Callable[[Any], "Case"] | None = None  # the same question about other values
    unit: str = ""
    beside: bool = False  # it does not decide
    uncontrolled: str = ""  # why no policy could fail it
    name: str = ""  # a short one, if anything refers to the test; else the phrase
    case: str = ""  # what tells it apart besides the loops
    given: bool = False  # arithmetic or a proof: nothing is read from runs, nothing is drawn
    of_control: Mapping[str, Any] | None = None
    labels: tuple[str, ...] = field(default_factory=lambda: (*LABELS,))
    readings: tuple[str, ...] = field(default_factory=lambda: (*READINGS,))

    @property
    def test(self) -> str:
        """What the test is called: cases of one test have the same."""
        return self.name or self.phrase

    @property
    def each(self) -> str:
        """What tells the case apart from others of its test."""
        return ", ".join([*self.labels, *filter(None, [self.case])])

    def control(self, other: Any) -> Self:
        """Return the test with a control: other values, or a whole test, that should fail.

        A control counts with no more replicates than the case has.
        """
        other = other if isinstance(other, Case) else self.again(other)
        data, ours, theirs = dict(other.data), self.data.get("values"), other.data.get("values")
        if self.procedure == "slope":
            pairs = zip(theirs, ours, strict=len(theirs) == len(ours))
            data["values"] = [column[: len(mine)] for column, mine in pairs]
        elif self.data and self.procedure != "exact":
            for name in ("values", "against"):  # a bound has no replicates
                if np.ndim(data.get(name)) == np.ndim(theirs):
                    data[name] = data[name][: len(ours)]
        return replace(self, of_control=data)


def _limit(said: Mapping[str, Any], **claims: Any) -> tuple[str, Any]:
    """Return the one of at_most, at_least and equal_to that is given; `said` are other keywords."""
    if unknown := [name for name in said if name not in SAID]:
        raise TypeError(f"a test has no {unknown[0]!r}{nearest(unknown[0], [*SAID, *claims])}")
    given = {name: limit for name, limit in claims.items() if limit is not None}
    if len(given) != 1:
        got = ", ".join(given) or "none"
        raise TypeError(f"exactly one of {', '.join(claims)} is needed, got {got}")
    ((name, limit),) = given.items()
    return {"equal_to": "equal"}.get(name, name.replace("_", " ")), limit


def mean(
    phrase: str,
    values: Any,
    at_most: Any = None,
    at_least: Any = None,
    equal_to: Any = None,
    *,
    least: Any = None,
    most: Any = None,
    paired: bool = True,
    materiality: float = 0.0,
    ratio: Any = None,
    difference: Any = None,
    **said: Any,
) -> Case:
    """Ask about a mean over replicates.

    Parameters
    ----------
    phrase : str
        What the number is, in words.
    values : array of shape (n_replicates,) or (n_replicates, n_points)
        What is averaged over replicates.
    at_most, at_least, equal_to : number, array of shape (n_points,), or array like `values`
        What the mean is put against, one of the three: a bound, or another mean.
    least, most : number or array, optional
        The smallest and largest possible value, for the distance of a bound.
    paired : bool
        Whether replicates of both means belong together.
    materiality : float
        Share of the means' size below which a difference does not matter.
    ratio, difference : pair of numbers, optional
        With `equal_to`: between which the ratio, or the difference, counts as equal.
    **said
        Further fields of `Case`.
    """
    limits = {"at_most": at_most, "at_least": at_least, "equal_to": equal_to}
    settings = {"paired": paired, "materiality": materiality}
    settings |= {"ratio": ratio, "difference": difference}
    again = partial(mean, phrase, **limits, least=least, most=most, **settings)
    claim, against = _limit(said, **limits)
    values = np.full(np.shape(against), values) if np.ndim(values) == 0 else np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:  # a single point
        values = values[:, 0]
        against, least, most = (
            bound[..., 0] if np.ndim(bound) else bound for bound in (against, least, most)
        )
    if paired and np.ndim(against) == values.ndim:  # other replicates; else a bound
        size = min(len(values), len(against))
        values, against = values[:size], against[:size]
    if np.ndim(against) == 1 and values.ndim == 2 and len(against) != values.shape[1]:
        raise ValueError(f"a bound for each point: {values.shape[1]}, got {len(against)}")
    data = {"values": values, "against": against, "least": least, "most": most}
    data = {name: value for name, value in data.items() if value is not None}
    settings = {"claim": claim} | settings
    return Case(phrase, "mean", data if values.size else {}, settings, again, **said)


def slope(
    phrase: str,
    x: Any,
    values: Any,
    at_most: float | None = None,
    at_least: float | None = None,
    equal_to: float | None = None,
    *,
    margin: float = 0.05,
    window: str = "top decade",
    asymptotic: bool = True,
    **said: Any,
) -> Case:
    """Ask about a log-log slope: `values` is (replicate, x), or the replicates at each x."""
    limit = {"at_most": at_most, "at_least": at_least, "equal_to": equal_to}
    settings = {"margin": margin, "window": window, "asymptotic": asymptotic}

    def again(points: Any) -> Case:
        points = points if isinstance(points, tuple) else (x, points)
        if list(points[0]) != list(x):
            raise ValueError(f"the control is at {points[0]}, and the slope at {x}")
        return slope(phrase, *points, **limit, **settings)

    claim, exponent = _limit(said, **limit)
    columns = list(values.T) if isinstance(values, np.ndarray) else list(values)
    if len(columns) != len(x):
        raise ValueError(f"values at {len(x)} points are needed, got {len(columns)}")
    data = {"values": columns, "horizons": np.asarray(x, float)}
    full = {"claim": claim, "exponent": exponent} | settings
    return Case(phrase, "slope", data, full, again, **said)


def share(
    phrase: str,
    holds: Any,
    at_most: float | None = None,
    at_least: float | None = None,
    **said: Any,
) -> Case:
    """Ask about a share of the replicates: `holds` is true or false for each."""
    again = partial(share, phrase, at_most=at_most, at_least=at_least)
    claim, limit = _limit(said, at_most=at_most, at_least=at_least)
    data = {"values": np.asarray(holds)} if np.size(holds) else {}
    return Case(phrase, "share", data, {"claim": claim, "limit": limit}, again, **said)


def _joined(*values: Any) -> Mapping[str, Any]:
    joined = np.concatenate([np.ravel(value) for value in values])
    return {"values": joined.astype(int) if joined.dtype == bool else joined} if joined.size else {}


@dataclass(frozen=True)
class Deferred:
    """The data of an enumeration, a derivation or a slow test, which are made when judged."""

    of: Callable
    several: list[tuple]
    test: Callable | None = None  # whose data they are

    def __call__(self, most: Mapping[str, int] | None = None) -> Mapping[str, Any]:
        """Return the data; `most` is the largest number of an argument, by its name."""
        made = [self.of(*self._cut(arguments, most or {})) for arguments in self.several]
        return self.test(*made).data if self.test else _joined(*made)

    def expect(self) -> None:
        """Raise TypeError unless the function can be called with the arguments."""
        for arguments in self.several:
            inspect.signature(self.of).bind(*arguments)

    def _cut(self, arguments: tuple, most: Mapping[str, int]) -> list[Any]:
        names = [*inspect.signature(self.of).bind(*arguments).arguments] if most else []
        named = zip_longest(arguments, names[: len(arguments)])
        return [min(arg, most.get(key, arg)) if type(arg) is int else arg for arg, key in named]


def exact(phrase: str, *values: Any, tolerance: float = 0, scale: Any = None, **said: Any) -> Case:
    """Ask by how much a statement is broken, anywhere in `values`: 0 or less where it holds.

    The tolerance is relative to the `scale`, if there is one: a list, one for each of the values.
    """
    again = partial(exact, phrase, tolerance=tolerance, scale=scale)
    data = _joined(*values)
    if data and scale is not None:
        pairs = zip(scale, values, strict=True)
        scales = [np.broadcast_to(unit, np.shape(value)).ravel() for unit, value in pairs]
        data |= {"scale": np.concatenate(scales)}
    return Case(phrase, "exact", data, {"tolerance": tolerance}, again, **said)


def enumerated(
    phrase: str,
    of: Callable,
    *arguments: Any,
    tolerance: float = 0,
    seed: int | None = None,
    **said: Any,
) -> Case:
    """Ask the same of an enumeration `of(argument)`, for each argument; it is made when judged.

    With a seed it is of random instances: `of(argument, seed=seed)`.
    """
    several = [argument if isinstance(argument, tuple) else (argument,) for argument in arguments]
    made = Deferred(of if seed is None else partial(of, seed=seed), several)
    said |= {"given": seed is None}
    return Case(phrase, "exact", made, {"tolerance": tolerance}, **said)


def later(test: Callable, of: Callable, *arguments: Any) -> Case:
    """Ask about numbers made when judged: `later(partial(mean, "...", at_least=10), of, 5)`."""
    return replace(test(np.zeros(2)), data=Deferred(of, [arguments], test))


def proof(
    of: Callable, *names: Any, phrase: str = "steps of the derivation that fail", **said: Any
) -> Case:
    """Ask about a derivation, or several: `of(name)` is 0 for each step that holds."""
    return enumerated(phrase, of, *names, **said)


def printed(phrase: str, value: float, text: str, **said: Any) -> Case:
    """Ask whether a number of the configuration is the paper's, a text with its digits."""
    data = {"values": float(value), "printed": text}
    return Case(phrase, "exact", data, {"tolerance": 0}, given=True, **said)


def curve(phrase: str, values: Any, published: Any, within: float = 0.0, **said: Any) -> Case:
    """Ask whether a published curve could be one of ours: `values` is (replicate, point)."""
    again = partial(curve, phrase, published=published, within=within)
    data = {"values": values, "printed": published, "within": within}
    return Case(phrase, "curve", data, {}, again, **said)


# the margins of the house
clearly_larger = partial(mean, materiality=0.01)  # clearly_larger("...", values, at_least=others)
trend = partial(slope, margin=0, window="all", asymptotic=False)  # what rises or falls over all
falls, rises = partial(trend, at_most=0), partial(trend, at_least=0)
sublinear = partial(slope, at_most=0.95, margin=0, asymptotic=False)
proportional = partial(slope, equal_to=1, window="all", asymptotic=False)
rounded = partial(exact, tolerance=1e-9)
