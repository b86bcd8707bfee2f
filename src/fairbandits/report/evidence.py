"""A picture of all cases of a claim: each number with its limits, beside the claimed range.

It is HTML in the page's letters and colours and as wide as the page: places are in per cent.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from fairbandits.audit.finding import FAILED, INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED
from fairbandits.audit.ledger import Test
from fairbandits.audit.quantities import Quantity
from fairbandits.audit.view import number
from fairbandits.audit.words import against
from fairbandits.report.markup import typeset

Row = Mapping[str, Any]

#: CSS class and mark (for those who see no colours) of each verdict.
MARKS = {
    REPRODUCED: ("good", '<circle cx="{x}%" cy="{y}" r="{size}"/>'),
    NOT_REPRODUCED: ("off", '<rect x="{x}%" y="{y}" width="{wide}" height="{wide}"/>'),
    INCONCLUSIVE: ("open", '<circle cx="{x}%" cy="{y}" r="{size}"/>'),
}
#: Beyond this number cases have no names, and are sorted by their evidence against the claim.
NAMED = 60
#: Meaning of a number's limits, unless each is one-sided.
LIMITS = {"curve": "of the runs deviate so much at most"}
#: Height in pixels of a row without a name.
THIN = 4
#: The most ticks of an axis, and their possible distances, times a power of ten.
TICKS, STEPS = 5, [1, 2, 2.5, 5, 10]
#: A range this many times the usual distance from the reference gets a logarithmic scale.
UNEVEN = 50.0


def in_order(tests: Sequence[Test], found: Sequence[Row]) -> list[Row]:
    """Return findings in the order of picture and table: of many, strongest against first."""
    place = {test.name: number for number, test in enumerate(tests)}
    if len(found) <= NAMED:
        return sorted(found, key=lambda row: place[row["test"]])
    return sorted(found, key=lambda row: (place[row["test"]], against(row)))


def picture(tests: Sequence[Test], found: Sequence[Row], named: Mapping[str, Quantity]) -> str:
    """Return the findings of a claim's tests as HTML, in `in_order`; empty without numbers.

    `named` is the quantity of each test.
    """
    rows = {test.name: [row for row in found if row["test"] == test.name] for test in tests}
    return "".join(
        _panel(test, rows[test.name], named[test.name], len(found) > NAMED, len(tests) == 1)
        for test in tests
        if any(map(_drawable, rows[test.name]))
    )


def _drawable(row: Row) -> bool:
    return row["verdict"] != FAILED and math.isfinite(row["statistic"])


def claimed(row: Row) -> tuple[float, float]:
    """Return the range of a row's number in which the claim holds."""
    reference, against, settings = row["reference"], row["against"], row["settings"]
    below, above = (-math.inf, reference), (reference, math.inf)
    match row["procedure"]:
        case "slope":
            margin = against["margin"]
            both = reference - margin, reference + margin
            sides = {"at most": (-math.inf, both[1]), "at least": (both[0], math.inf)}
            return sides.get(settings["claim"], both)
        case "mean" if settings["claim"] == "equal":
            return against["smallest"], against["largest"]
        case "mean" | "share":
            return below if settings["claim"] == "at most" else above
        case "exact" if "printed" in against:
            return reference, reference
    return below


def _panel(test: Test, rows: Sequence[Row], what: Quantity, thin: bool, alone: bool) -> str:
    drawn = [row for row in rows if _drawable(row)]
    scale = _scale(drawn)
    readings = len({row["reading"] for row in rows}) > 1
    names = {k: _name(row, readings) for k, row in enumerate(rows)}
    if thin:
        height = THIN * len(drawn)
        like = {(claimed(row), row["reference"]): row for row in drawn}
        parts = [_ground(row, scale, 0, height) for row in like.values() if len(like) == 1]
        for k, row in enumerate(drawn):
            parts += [_ground(row, scale, THIN * k, THIN)] * (len(like) > 1)
            parts.append(_mark(row, scale, f"{THIN * (k + 0.5):g}", 1.5))
        body = f'<li><svg style="height:{height}px">{"".join(parts)}</svg></li>'
    else:
        body = "".join(
            f"<li><span>{escape(names[k])}</span><svg>"
            + (
                _ground(row, scale, 0, "100%") + _mark(row, scale, "50%", 4)
                if _drawable(row)
                else f'<text x="4" y="14">{escape(row["message"] or "no number")}</text>'
            )
            + "</svg></li>"
            for k, row in enumerate(rows)
        )
    ticks = "".join(f'<text x="{scale.at(at)}%" y="14">{said}</text>' for at, said in scale.ticks)
    title = "" if alone else f"<h3>{typeset(heading(test))}</h3>"
    unnamed = " fb-unnamed" * (thin or not any(names.values())) + " fb-thin" * thin
    return (
        f'<figure class="fb-forest{unnamed}">{title}<p>{escape(_axis(drawn, what))}</p>'
        f'<ol role="img" aria-label="{escape(_alt(drawn, what))}">{body}'
        f'<li class="fb-axis"><span></span><svg>{ticks}</svg></li></ol>'
        f"<figcaption>{escape(_caption(rows, drawn, thin))}</figcaption></figure>"
    )


def heading(test: Test) -> str:
    """Return a test's question, as a heading."""
    said = test.meaning or f"Test “{test.name.replace('_', ' ')}”"
    return said[:1].upper() + said[1:] + ("" if test.decides else " (qualifies the verdict only)")


def _ground(row: Row, scale: "Scale", top: int, height: int | str) -> str:
    """Return the claimed range of a case's number, and its reference."""
    low, high = map(scale.at, claimed(row))
    line = scale.at(row["reference"])
    end = height if isinstance(height, str) else top + height
    return (
        f'<rect class="fb-claimed" x="{low}%" y="{top}" width="{high - low:.4g}%" '
        f'height="{height}"/><line x1="{line}%" x2="{line}%" y1="{top}" y2="{end}"/>'
    )


def _mark(row: Row, scale: "Scale", middle: str, size: float) -> str:
    """Return a case's number with its limits."""
    look, mark = MARKS[row["verdict"]]
    ends = [scale.at(row[end]) for end in ("low", "high") if not math.isnan(row[end])]
    line = ""
    if len(set(ends)) == 2:
        line = f'<line x1="{ends[0]}%" x2="{ends[1]}%" y1="{middle}" y2="{middle}"/>'
    place = scale.at(row["statistic"])
    at = mark.format(x=place, y=middle, size=size, wide=2 * size - 1)
    return f'<g class="fb-mark-{look}">{line}{at}</g>'


def _axis(drawn: Sequence[Row], what: Quantity) -> str:
    """Return the label of the axis, and the direction of more."""
    references = {row["reference"] for row in drawn}
    line = number(references.pop()) if len(references) == 1 else "the line"
    above = f"; right of {line}: {what.above}" if what.above else ""
    return f"{str(what)[:1].upper()}{str(what)[1:]}{above}."


def _alt(drawn: Sequence[Row], what: Quantity) -> str:
    values = [one["statistic"] for one in drawn]
    counts = Counter(one["verdict"] for one in drawn)
    said = ", ".join(f"{counts[one]} {one}" for one in MARKS if counts[one])
    return f"{len(drawn)} cases, {number(min(values))} to {number(max(values))}: {what}; {said}"


def _caption(rows: Sequence[Row], drawn: Sequence[Row], thin: bool) -> str:
    first = drawn[0]
    level = first["settings"].get("level")
    counts = Counter(one["verdict"] for one in rows)
    signs = {REPRODUCED: "●", NOT_REPRODUCED: "◆", INCONCLUSIVE: "○"}
    words = ", ".join(f"{sign} {counts[one]} {one}" for one, sign in signs.items() if counts[one])
    low, high = claimed(first)
    words += "; shaded: as is claimed" if low < high else ""
    names = {next(iter(one["against"]), "") for one in drawn}
    words += f"; line: {names.pop().replace('zero', '0') or 'the reference'}" if names else ""
    if any(one["low"] != one["high"] for one in drawn) and level:
        kind = LIMITS.get(first["procedure"], "limits, each one-sided")
        words += f"; bars: {100 * level:g}\u00a0% {kind}"
    if any(math.isinf(one[name]) for one in drawn for name in ("low", "high")):
        words += "; a bar to the edge has no limit there"
    if thin:
        words += "; what speaks most against the claim stands first, as in the table"
    missing = len(rows) - len(drawn)
    return words + (f"; {missing} without a number" if missing else "") + "."


class Scale(NamedTuple):
    """Maps numbers to places on an axis; has its ticks with their labels."""

    low: float
    high: float
    usual: float
    ticks: list[tuple[float, str]]

    def of(self, value: float) -> float:
        """Return a number, or its logarithm beyond the usual distance."""
        if not self.usual:
            return value
        size = abs(value) / self.usual
        return math.copysign(size if size <= 1 else 1 + math.log10(size), value)

    def at(self, value: float) -> float:
        """Return a number's place in per cent; the edge beyond the ends."""
        if math.isinf(value):
            return 0.0 if value < 0 else 100.0
        low, high = self.of(self.low), self.of(self.high)
        return round(min(max(100 * (self.of(value) - low) / (high - low), 0.0), 100.0), 1)


def _scale(rows: Sequence[Row]) -> Scale:
    """Return an axis' scale: linear, or logarithmic where that would hide near values."""
    values = [one[name] for one in rows for name in ("statistic", "low", "high", "reference")]
    values += [edge for one in rows for edge in claimed(one)]
    finite = np.array([value for value in values if math.isfinite(value)])
    low, high = float(finite.min()), float(finite.max())
    distances = np.abs([one["statistic"] - one["reference"] for one in rows])
    usual = float(np.median(distances[distances > 0])) if (distances > 0).any() else 0.0
    if usual and high - low > UNEVEN * usual:
        usual = 10.0 ** math.floor(math.log10(usual if low <= 0 else low))
        low, high = (low / 1.3 if low > 0 else 1.3 * low - 0.3 * usual), 1.3 * high + 0.3 * usual
        return Scale(low, high, usual, list(_powers(low, high, usual)))
    margin = 0.06 * (high - low) or max(1.0, 0.1 * abs(high))
    low, high = low - margin, high + margin
    found = [float(tick) for tick in MaxNLocator(TICKS, steps=STEPS).tick_values(low, high)]
    return Scale(low, high, 0.0, [(one, _label(one)) for one in found if low <= one <= high])


def _powers(low: float, high: float, least: float) -> Iterator[tuple[float, str]]:
    """Yield powers of ten between two numbers as ticks, from `least` on, and zero."""
    ticks = [0.0] if low <= 0 <= high else []
    for sign, end in ((-1.0, -low), (1.0, high)):
        if end > least:
            first, last = math.ceil(math.log10(least)), math.floor(math.log10(end))
            step = math.ceil((last - first + 1) / (TICKS - 2)) or 1
            ticks += [sign * 10.0**power for power in range(last, first - 1, -step)]
    yield from ((tick, _label(tick)) for tick in sorted(ticks) if low <= tick <= high)


def _label(value: float) -> str:
    words = f"{0.0 if abs(value) < 1e-12 else value:.10g}".replace("e-0", "e-").replace("e+0", "e")
    return words.replace("-", "−")


def _name(row: Row, readings: bool) -> str:
    reading = row["reading"].replace("_", " ") if readings else ""
    return ", ".join(part for part in (reading, row["each"]) if part)
