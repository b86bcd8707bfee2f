"""A picture of all cases of a claim, as HTML: numbers with their limits, beside what is claimed."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.scale import SymmetricalLogTransform
from matplotlib.ticker import MaxNLocator

from fairbandits.audit.finding import FAILED, INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED
from fairbandits.audit.ledger import Test
from fairbandits.audit.quantities import NAMES, Quantity, case, test_name
from fairbandits.audit.tables import Row
from fairbandits.audit.words import against, sentence, unmet
from fairbandits.numerals import measured, significant
from fairbandits.report.markup import Html, offer, render, render_text

#: CSS class and sign (for those who see no colours) of each verdict.
MARKS = {REPRODUCED: ("good", "●"), NOT_REPRODUCED: ("off", "◆"), INCONCLUSIVE: ("open", "○")}
#: Tag -> why a case is undecided, whatever its bounds.
UNDECIDED = NAMES["undecided"]
#: Beyond this number the cases of a test share rows, sorted by their evidence against the claim.
NAMED = 30
#: The number that the name of a case ends with; empty if it ends with none.
NUMBER = re.compile(r"(-?\d+(\.\d+)?(e[+-]?\d+)?)?$")
#: The most ticks of an axis.
TICKS = 5
#: A range this many times the usual size or distance from the reference gets a logarithmic scale.
UNEVEN = 20.0
#: What a number and its bounds are where there is nothing to draw.
ZERO = {0.0, math.inf}
#: So near a limit, in per cent of the axis, no other number is written.
NEAR = 20
#: What a picture shows of a finding.
NUMBERS = ("statistic", "low", "high", "reference")

#: Writes a number that was chosen.
chosen = partial(significant, trimmed=True)


def in_order(tests: Sequence[Test], found: Sequence[Row]) -> list[Row]:
    """Return findings in the order of picture and table: of many, strongest against first."""
    of_tests = ([row for row in found if row["test"] == test.name] for test in tests)
    return [
        row
        for rows in of_tests
        for row in (sorted(rows, key=against) if len(rows) > NAMED else rows)
    ]


def under_readings(rows: Sequence[Row]) -> list[Row]:
    """Return findings, once for all readings of a test with the same; none lacks a reading."""
    found, same = defaultdict(list), defaultdict(list)
    for row in rows:
        found[row["test"], row["reading"]].append([row[key] for key in ("each", "n", *NUMBERS)])
    for (test, reading), numbers in found.items():
        same[test, repr(numbers)].append(reading)
    read = {test for test, reading in found if reading}
    return [
        row | {"reading": " or ".join(readings) or "every reading" * (row["test"] in read)}
        for row in rows
        for readings in [same[row["test"], repr(found[row["test"], row["reading"]])]]
        if row["reading"] == readings[0]
    ]


def picture(
    tests: Sequence[Test], found: Sequence[Row], named: Mapping[str, Quantity], kind: str = ""
) -> tuple[Html, dict[str, str]]:
    """Return a picture of findings `in_order`, and the questions of tests without one by name.

    The quantities of the tests are `named`; a number without bounds, or yes or no, is no picture.
    """
    shown, drawn, questions = Html(), [], {}
    for test in tests:
        rows = [row for row in found if row["test"] == test.name]
        drawable = [row for row in rows if _drawable(row) and named[test.name].right != "no"]
        if drawable and [row["procedure"] for row in rows] != ["exact"]:
            said = plainly(rows)
            words = {"said": said, "kind": kind if test.decides else ""}
            words["heading"] = heading(test, named[test.name], rows) if len(tests) > 1 else ""
            shown += _panel(rows, drawable, test=test, what=named[test.name], **words)
            drawn += [] if said else drawable
        elif rows:
            questions[test.name] = heading(test, named[test.name], rows)
    return shown + (render("legend.html", drawn=drawn, kind=kind) if drawn else ""), questions


def undecided(row: Row) -> str:
    """Return why a case is inconclusive, if not for its bounds."""
    found = (why for tag, why in UNDECIDED.items() if tag in row["tags"])
    if row["verdict"] == INCONCLUSIVE and "CONSTANT" in row["tags"] and row["n"]:
        return f"{significant(row['statistic'])} in all {row['n']} runs"
    if row["verdict"] == INCONCLUSIVE and {"RARE", "TIE"} <= set(row["tags"]):
        return "equal in nearly all runs"
    return unmet(row) or (next(found, "") if row["verdict"] == INCONCLUSIVE else "")


def plainly(rows: Sequence[Row]) -> str:
    """Return what a picture would show where all numbers are 0, or 0 to rounding; else nothing."""
    cases = {1: "in the one case", 2: "in both cases"}.get(len(rows), f"in all {len(rows)} cases")
    if not all(map(_drawable, rows)) or {abs(row[key]) for row in rows for key in NUMBERS} <= ZERO:
        return f"0 {cases}" * all(map(_drawable, rows))
    kinds = {(row["procedure"], row["verdict"], "printed" in row["against"]) for row in rows}
    rounded = any("ROUNDING" in row["tags"] for row in rows)
    top = significant(max(row["statistic"] for row in rows))
    said = f"At most {top} {cases}, which is within the tolerance and counts as 0"
    return said * (rounded and kinds == {("exact", REPRODUCED, False)})


def heading(test: Test, what: Quantity, rows: Sequence[Row]) -> str:
    """Return a test's question: its own words, or else its quantity and what is claimed of it."""
    judged = [row for row in rows if row["verdict"] != FAILED]
    same = len({(claimed(row), row["reference"]) for row in judged}) == 1
    return sentence(render_text("question.txt", test=test, what=what, rows=judged, same=same))


def claimed(row: Row) -> tuple[float, float]:
    """Return the range of a row's number in which the claim holds."""
    low = high = row["reference"]
    claim = row["settings"].get("claim", "at most")
    match row["procedure"]:
        case "exact" if "printed" in row["against"]:
            return low, high
        case "mean" if claim == "equal":
            return row["against"]["smallest"], row["against"]["largest"]
        case "slope":
            low, high = low - row["against"]["margin"], high + row["against"]["margin"]
    return -math.inf if claim == "at most" else low, math.inf if claim == "at least" else high


def within(row: Row, test: Test | None = None) -> str:
    """Return the range in which the claim holds in words, of an exact `test` with its tolerance."""
    if not row["against"] or "printed" in row["against"]:
        return "".join(f"{name} {chosen(one)}" for name, one in row["against"].items())
    low, high = map(chosen, claimed(row))
    if row["procedure"] == "exact" and (tolerance := row["settings"].get("tolerance")):
        high = chosen(tolerance) + " times its scale" * (test.inputs.get("scale", 1) != 1)
    if low == "−∞":
        return f"at most {high}"
    return f"at least {low}" if high == "∞" else f"from {low} to {high}"


def _drawable(row: Row) -> bool:
    return row["verdict"] != FAILED and math.isfinite(row["statistic"])


def _panel(rows: Sequence[Row], drawn: Sequence[Row], **words: Any) -> Html:
    axis, thin = _axis(drawn), len(rows) > NAMED
    return render(
        "evidence.html",
        **words,
        axis=axis,
        span=[measured(extreme(row["statistic"] for row in drawn)) for extreme in (min, max)],
        rows=rows,
        drawn=drawn,
        **_groups(drawn if thin else rows, axis, thin=thin),
        marks=MARKS,
        linear=np.asarray,
        without={math.isinf(row["low"]) + math.isinf(row["high"]) for row in drawn},
        thin=thin,
        same_ground=len({(claimed(row), row["reference"]) for row in drawn}) == 1,
        whys=Counter(filter(None, map(undecided, rows))),
    )


def _groups(rows: Sequence[Row], axis: "Axis", *, thin: bool) -> dict[str, Any]:
    """Return name, row and places of cases by heading and line, and words that all names lack."""
    words_of = [list(map(case, row["each"].split(", "))) for row in rows]
    same = set.intersection(*map(set, words_of)) if len(rows) > 1 else set()
    several = len({row["reading"] for row in rows}) > 1
    alike = [] if several or not rows[0]["reading"] else [f'the reading "{rows[0]["reading"]}"']
    alike += [one for one in words_of[0][:-1] if one in same]
    named = [
        [row["reading"]] * several + [one for one in words[:-1] if one not in same] + words[-1:]
        for row, words in zip(rows, words_of, strict=True)
    ]
    repeats = len({row["reading"] for row in rows}) < len(rows)
    headed = 3 * len({tuple(words[:-1]) for words in named}) <= len(rows)
    groups: dict[str, dict[str, list[Any]]] = {}
    for row, words in zip(rows, named, strict=True):
        cut = several if thin else max(several and repeats, headed * (len(words) - 1))
        head, line = words[:cut], words[cut:-1] if thin else words[cut:]
        lines = groups.setdefault(", ".join(filter(None, head)), {})
        some = lines.setdefault(", ".join(filter(None, line)), [])
        some.append((words[-1], row, _case(row, axis) if _drawable(row) else None))
        if thin:
            some.sort(key=lambda one: float(NUMBER.search(one[1]["each"])[0] or 0))
    return {"groups": groups, "alike": alike}


def _case(row: Row, axis: "Axis") -> dict[str, Any]:
    bounds = [row[end] for end in ("low", "high") if not math.isnan(row[end])]
    ends = set(map(axis.at, bounds)) if any(map(math.isfinite, bounds)) else set()
    low, high = claimed(row)
    if "ROUNDING" in row["tags"]:  # the tolerance is of its own scale
        high = max(high, row["statistic"])
    if "IMMATERIAL" in row["tags"]:  # the shade begins somewhere beyond it
        low = high = math.inf
    return {
        "claimed": [axis.at(end) for end in (low, high)],
        "line": axis.at(row["reference"]),
        "bar": sorted(ends) if len(ends) == 2 else [],
        "at": axis.at(row["statistic"]),
        "look": MARKS[row["verdict"]][0],
    }


class Axis(NamedTuple):
    """A scale, which maps numbers to real ones, its ends, and its ticks."""

    scale: Callable[[Iterable[float]], np.ndarray]
    low: float
    high: float
    ticks: Sequence[float]
    limits: Sequence[float] = ()

    def at(self, value: float) -> float:
        """Return a number's place in per cent; the edge beyond the ends."""
        if math.isinf(value):
            return 0.0 if value < 0 else 100.0
        low, place, high = self.scale(np.array([self.low, value, self.high], float))
        return round(float(np.clip(100 * (place - low) / (high - low), 0.0, 100.0)), 1)

    @property
    def labels(self) -> list[tuple[float, str, bool]]:
        limits = [(self.at(limit), chosen(limit), True) for limit in self.limits]
        ticks = [(self.at(one), significant(one, 10, trimmed=True), False) for one in self.ticks]
        far = [one for one in ticks if all(abs(one[0] - limit[0]) >= NEAR for limit in limits)]
        return sorted(limits + far)


def _axis(rows: Sequence[Row]) -> Axis:
    """Return an axis for rows: linear, or logarithmic where that would hide near values."""
    values = [row[name] for row in rows for name in NUMBERS]
    ends = {edge for row in rows for edge in claimed(row)}
    values += ends
    limits = sorted(filter(math.isfinite, ends))
    limits = limits if len(limits) < 3 and len({claimed(row) for row in rows}) == 1 else []
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite), max(finite)
    usual = min(
        _usual(row["statistic"] - row["reference"] for row in rows),
        _usual(row["statistic"] for row in rows) or math.inf,
    )
    widths = (edge for row in rows for edge in (row["high"] - row["low"], np.diff(claimed(row))[0]))
    usual = max(usual, _usual(filter(math.isfinite, widths)) / 4) if usual else 0.0
    if usual and high - low > UNEVEN * usual:
        unit = 10.0 ** math.floor(math.log10(low if low > 0 else usual))
        if low <= 0 or high > 10 * low:  # a narrower range has one power of ten
            return _logarithmic(low, high, unit)._replace(limits=limits)
    margin = 0.06 * (high - low) or max(1.0, 0.1 * abs(high))
    low, high = low - margin, high + margin
    ticks = MaxNLocator(TICKS, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return Axis(np.asarray, low, high, [tick for tick in ticks if low <= tick <= high], limits)


def _usual(numbers: Iterable[float]) -> float:
    """Return the lower quartile of the sizes of numbers other than 0; 0 if there are none."""
    sizes = np.abs(list(numbers))
    return float(np.quantile(sizes[sizes > 0], 0.25)) if (sizes > 0).any() else 0.0


def _logarithmic(low: float, high: float, unit: float) -> Axis:
    """Return an axis with ticks at powers of ten from a unit on, the outermost beyond the data."""
    first = int(low > 0)  # 0 is the tick at 0, and k that at the unit's (k - 1)th power of ten

    def last(end: float) -> int:
        return 1 + max(math.ceil(round(math.log10(end / unit), 9)), 0) if end > 0 else 0

    below, above = last(-low), max(last(high) - first, 0)
    step = math.ceil((below + above + 1) / TICKS)
    places = range(-math.ceil(below / step), math.ceil(above / step) + 1)
    powers = [first + step * k for k in places]
    ticks = [math.copysign(unit * 10.0 ** (abs(k) - 1), k) if k else 0.0 for k in powers]
    low = ticks[0] / 1.3 if first else 1.3 * ticks[0] - 0.3 * unit
    high = 1.3 * ticks[-1] + 0.3 * unit
    return Axis(SymmetricalLogTransform(10, unit, 1).transform, low, high, ticks)


offer(claimed, sentence, test_name, undecided, within, chosen=chosen, inf=math.inf)
