"""A picture of what decides a claim: estimates with their limits beside what they are judged by."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.ticker import MaxNLocator

from fairbandits.audit.finding import FAILED, INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.show import number
from fairbandits.audit.words import against
from fairbandits.figures.style import PALETTE

Row = Mapping[str, Any]

#: Of the findings: letter of the class, colour and path; the marks differ too, for those who see no
#: colours.
MARKS = {
    REPRODUCED: ("g", to_hex(PALETTE[2]), "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"),
    NOT_REPRODUCED: ("b", to_hex(PALETTE[3]), "M-2-5l2 3 2-3 3 2-3 3 3 3-3 2-2-3-2 3-3-2 3-3-3-3z"),
    INCONCLUSIVE: ("o", to_hex(PALETTE[7]), "M-4-4h8v8h-8z"),
}
#: Measures of a picture, in pixels: its width, also of the one for telephones, of a row, a letter,
#: and what is around rows.
WIDTH, NARROW, ROW, LETTER, ABOVE, BELOW, EDGE = 720.0, 330.0, 21.0, 6.1, 6.0, 40.0, 14.0
#: How much taller a row is whose name stands above it, where there is no room beside it.
NAMED = 15.0
#: The most ticks of an axis, and how far apart they may be.
TICKS, STEPS = 7, [1, 2, 2.5, 5, 10]
#: Rows of a panel, over all readings, and of each of many; of more questions those are shown that
#: speak most against the claim.
MOST, LEAST = 12, 2
#: Folder of the pictures, in the site.
FOLDER = "evidence"
#: Letters of a row's name.
LONGEST = 52
#: A range that is this many times the usual distance from the reference is not drawn evenly.
UNEVEN = 50.0


def picture(claim: str, found: Sequence[Row]) -> tuple[str, dict[str, str]]:
    """Return the findings of a claim's deciding tests as an image with a caption, and its files.

    Parameters
    ----------
    claim : str
        The claim's id.
    found : sequence of mapping
        Its findings (`fairbandits.audit.records.read_verdicts`).

    Returns
    -------
    str
        HTML for the claim's page; empty where no finding has a number.
    dict of str to str
        Name in the folder `FOLDER` -> SVG: one for wide and one for narrow screens.
    """
    tests = {one["test"]: [] for one in found if one["decides"]}
    for one in found:
        if one["test"] in tests and _drawable(one):
            tests[one["test"]].append(one)
    panels = {test: rows for test, rows in tests.items() if rows}
    if not panels:
        return "", {}
    kept = {test: most_telling(rows) for test, rows in panels.items()}
    files = {f"{claim}.svg": _drawn(kept), f"{claim}-narrow.svg": _drawn(kept, narrow=True)}
    wide, small = (f"../{FOLDER}/{name}" for name in files)
    alt = f"{claim}: " + " ".join(
        _alt(test, kept[test], len(rows)) for test, rows in panels.items()
    )
    caption = " ".join(_caption(test, kept[test], rows) for test, rows in panels.items())
    markup = (
        f'<figure class="fb-evidence"><picture><source media="(max-width: 600px)" srcset="{small}">'
        f'<img src="{wide}" alt="{escape(alt)}"></picture>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
    return markup, files


def _drawable(one: Row) -> bool:
    return one["verdict"] != FAILED and math.isfinite(one["statistic"])


def most_telling(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that speak most against a claim, some of each reading, in their own order."""
    readings = dict.fromkeys(one["reading"] for one in rows)
    room = max(LEAST, MOST // len(readings))
    chosen = []
    for reading in readings:
        own = [k for k, one in enumerate(rows) if one["reading"] == reading]
        chosen += sorted(own, key=lambda k: against(rows[k]))[:room]
    return [rows[k] for k in sorted(chosen)]


def _alt(test: str, kept: Sequence[Row], total: int) -> str:
    values = [one["statistic"] for one in kept]
    counts = ", ".join(
        f"{sum(one['verdict'] == verdict for one in kept)} {verdict}"
        for verdict in MARKS
        if any(one["verdict"] == verdict for one in kept)
    )
    return (
        f"Test {test}: {STATISTICS[kept[0]['procedure']]} of {len(kept)} of {total} questions, "
        f"{number(min(values))} to {number(max(values))}, beside {_reference(kept)}; {counts}."
    )


def _reference(rows: Sequence[Row]) -> str:
    first = rows[0]
    name = next(iter(first["against"]), "the reference")
    values = sorted({one["reference"] for one in rows})
    if len(values) == 1 and name in ("zero", "equal", "proportional"):
        return number(values[0])
    if len(values) == 1:
        return f"the {name} {number(values[0])}"
    return f"the {name}s, {number(values[0])} to {number(values[-1])}"


def _caption(test: str, kept: Sequence[Row], rows: Sequence[Row]) -> str:
    first = rows[0]
    level = first["settings"].get("level")
    limits = ""
    if any(one["low"] != one["high"] for one in kept):
        both = first["procedure"] == "prediction_interval"
        kind = "interval for one further run" if both else "limits, each one-sided"
        limits = f", with {100 * level:g}\u00a0% {kind}" if level else ", with limits"
    words = f"Test {test.replace('_', ' ')}: {STATISTICS[first['procedure']]}{limits}"
    words += f"; line: {_reference(kept)}"
    if any(math.isinf(one[name]) for one in kept for name in ("low", "high")):
        words += "; arrow: no limit on that side"
    if len(kept) < len(rows):
        of_each = " under each reading" if len({one["reading"] for one in rows}) > 1 else ""
        words += f"; shown are {len(kept)} of {len(rows)} questions, those that speak most against "
        words += f"the claim{of_each}"
    return words + "."


def _drawn(panels: Mapping[str, Sequence[Row]], *, narrow: bool = False) -> str:
    """Return a picture of findings as SVG, written out here: there is one for every claim.

    A narrow one has the names of rows above them.
    """
    parts, top = [], 0.0
    readings = len({one["reading"] for rows in panels.values() for one in rows}) > 1
    names = [_name(one, readings) for rows in panels.values() for one in rows]
    width, row = (NARROW, ROW + NAMED) if narrow else (WIDTH, ROW)
    left = EDGE if narrow else min(0.5 * width, EDGE + LETTER * max(map(len, names)))
    for test, rows in panels.items():
        if len(panels) > 1:
            title = escape(test.replace("_", " "))
            parts.append(f'<text class="t" x="{_at(left)}" y="{_at(top + 14)}">{title}</text>')
            top += 18
        parts += _panel(rows, left, top + ABOVE, readings, width, row)
        top += ABOVE + row * len(rows) + BELOW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_at(width)} {_at(top)}" '
        f'width="{_at(width)}" height="{_at(top)}"><style>{_STYLE}</style>'
        f'<path class="w" d="M0 0h{_at(width)}v{_at(top)}H0z"/>{"".join(parts)}</svg>'
    )


_STYLE = (
    "text{font:11px sans-serif;fill:#222;text-anchor:end}.x{text-anchor:middle}"
    ".s,.t{text-anchor:start}.t{font-weight:bold}path{stroke-width:2.4;fill:none}.w{fill:#fff}"
    ".k{stroke-width:1;stroke:#777}.r{stroke-width:1.4;stroke:#000}"
    ".e{stroke-width:1;stroke:#000;stroke-dasharray:3 3}"
    + "".join(
        f".{name}{{stroke:{colour}}}.{name}m{{fill:{colour};stroke:#fff;stroke-width:.8}}"
        for name, colour, _ in MARKS.values()
    )
)


def _at(value: float) -> str:
    """Return a place in a picture, in tenths of pixels."""
    return f"{round(value, 1):g}"


def _panel(
    rows: Sequence[Row], left: float, top: float, readings: bool, width: float, row: float
) -> Iterator[str]:
    scale = _scale(rows, TICKS if width > NARROW else TICKS // 2)
    room, bottom = width - EDGE - left, top + row * len(rows)

    def place(value: float) -> float:
        ends = scale.of(scale.low), scale.of(scale.high)
        return left + room * (scale.of(value) - ends[0]) / (ends[1] - ends[0])

    axis = "".join(f"M{_at(place(tick))} {_at(bottom)}v4" for tick, _ in scale.ticks)
    yield f'<path class="k" d="M{_at(left)} {_at(top)}V{_at(bottom)}H{_at(left + room)}{axis}"/>'
    for tick, word in scale.ticks:
        yield f'<text class="x" x="{_at(place(tick))}" y="{_at(bottom + 15)}">{word}</text>'
    name = escape(STATISTICS[rows[0]["procedure"]])
    yield f'<text class="x" x="{_at(left + room / 2)}" y="{_at(bottom + 30)}">{name}</text>'
    references = [one["reference"] for one in rows]
    same = len(set(references)) == 1
    if same:
        yield f'<path class="r" d="M{_at(place(references[0]))} {_at(top)}V{_at(bottom)}"/>'
        for edge in filter(math.isfinite, _edges(rows[0])):
            yield f'<path class="e" d="M{_at(place(edge))} {_at(top)}V{_at(bottom)}"/>'
    for count, one in enumerate(rows):
        middle = top + row * (count + 1) - 0.5 * ROW
        letter, _, mark = MARKS[one["verdict"]]
        name = escape(_name(one, readings))
        if row > ROW:
            yield f'<text class="s" x="{_at(left + 4)}" y="{_at(middle - NAMED + 3)}">{name}</text>'
        else:
            yield f'<text x="{_at(left - 6)}" y="{_at(middle + 4)}">{name}</text>'
        yield f'<path class="{letter}" d="{_limits(one, scale, place, middle)}"/>'
        at = f"translate({_at(place(one['statistic']))} {_at(middle)})"
        yield f'<path class="{letter}m" transform="{at}" d="{mark}"/>'
        if not same:  # each row has its own
            yield f'<path class="r" d="M{_at(place(one["reference"]))} {_at(middle - 8)}v16"/>'


def _limits(one: Row, scale: "Scale", place: Callable[[float], float], middle: float) -> str:
    """Return a line from limit to limit; an arrow where there is none."""
    path = ""
    ends = []
    for limit, edge, sign in ((one["low"], scale.low, 1), (one["high"], scale.high, -1)):
        finite = math.isfinite(limit)
        ends.append(place(min(max(limit, scale.low), scale.high) if finite else edge))
        if not finite:
            path += f"M{_at(ends[-1] + 6 * sign)} {_at(middle - 4)}l{-6 * sign} 4 {6 * sign} 4"
    return f"M{_at(ends[0])} {_at(middle)}H{_at(ends[1])}{path}"


def _edges(one: Row) -> list[float]:
    """Return the other numbers that a verdict turns on, beside the reference."""
    against = one["against"]
    if "margin" in against:
        sign = {"at most": (1,), "at least": (-1,)}.get(one["settings"]["claim"], (-1, 1))
        return [against["exponent"] + k * against["margin"] for k in sign if against["margin"]]
    return list(against.values())[1:]


class Scale(NamedTuple):
    """How numbers become places: the ends of an axis, what makes it even, and its ticks."""

    low: float
    high: float
    of: Callable[[float], float]
    ticks: list[tuple[float, str]]


def _scale(rows: Sequence[Row], most: int = TICKS) -> Scale:
    """Return the scale of an axis: even, or logarithmic where that would hide what is near."""
    values = [one[name] for one in rows for name in ("statistic", "low", "high", "reference")]
    values += [edge for one in rows for edge in _edges(one)]
    finite = np.array([value for value in values if math.isfinite(value)])
    low, high = float(finite.min()), float(finite.max())
    distances = np.abs([one["statistic"] - one["reference"] for one in rows])
    usual = float(np.median(distances[distances > 0])) if (distances > 0).any() else 0.0
    if usual and (high - low) > UNEVEN * usual:
        if low > 0:
            low, high = low / 1.3, high * 1.3
            return Scale(low, high, math.log10, _powers(low, high, 0.0, most))

        def even(value: float) -> float:  # as it is up to the usual distance, then its logarithm
            size = abs(value) / usual
            return math.copysign(size if size <= 1 else 1 + math.log10(size), value)

        low, high = 1.3 * low - 0.3 * usual, 1.3 * high + 0.3 * usual
        return Scale(low, high, even, _powers(low, high, usual, most))
    margin = 0.06 * (high - low) or max(1.0, 0.1 * abs(high))
    low, high = low - margin, high + margin
    ticks = [
        tick
        for tick in MaxNLocator(most, steps=STEPS).tick_values(low, high)
        if low <= tick <= high
    ]
    step = float(np.diff(ticks).min()) if len(ticks) > 1 else high - low
    return Scale(low, high, float, [(float(tick), _label(tick, step)) for tick in ticks])


def _powers(low: float, high: float, least: float, most: int) -> list[tuple[float, str]]:
    """Return powers of ten between two numbers as ticks, and zero; those below `least` left out."""
    found = [0.0] if low <= 0 <= high else []
    for sign, end in ((-1.0, -low), (1.0, high)):
        if end > max(least, 0.0):
            start = least or low
            powers = range(math.ceil(math.log10(start)), math.floor(math.log10(end)) + 1)
            every = math.ceil(len(powers) / (most - 1)) or 1
            found += [sign * 10.0**power for power in powers if power % every == 0]
    return [(tick, _label(tick, 0.0)) for tick in sorted(found or [low, high])]


def _label(value: float, step: float) -> str:
    """Return a tick's number, with the digits that tell it from the next one."""
    if abs(value) < 1e-9 * step or value == 0:
        return "0"
    size, exact = math.floor(math.log10(abs(value))), math.floor(math.log10(step or abs(value)))
    if -4 <= size < 6:  # one digit more than the step has, since that may be 2.5
        words, power = f"{value:.{max(0, 1 - exact)}f}", ""
    else:
        words, _, power = f"{value:.{max(0, size - exact + 1)}e}".partition("e")
    words = words.rstrip("0").rstrip(".") if "." in words else words
    words += f"·10^{int(power)}" if power else ""
    return words.replace("-", "−")


def _name(one: Row, readings: bool) -> str:
    reading = one["reading"].replace("_", " ") if readings else ""
    words = ", ".join(part for part in (reading, one["each"]) if part)
    words = words or one["test"].replace("_", " ")
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
