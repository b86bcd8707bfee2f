"""A picture of all cases of a claim, as HTML: numbers with their bounds, beside what is claimed."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.scale import SymmetricalLogTransform
from matplotlib.ticker import MaxNLocator

from fairbandits.audit.finding import (
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OF_INCONSISTENCY,
    REPRODUCED,
)
from fairbandits.audit.sentences import (
    against,
    by_test,
    chosen,
    claimed,
    limit,
    quantity,
    sentence,
    undecided,
)
from fairbandits.audit.totals import Row
from fairbandits.library.style import in_style
from fairbandits.numerals import measured, significant
from fairbandits.report.audit import counted
from fairbandits.report.markup import Html, minus, raised, render, typeset

#: CSS class and sign (for those who see no colours) of each verdict.
MARKS = {REPRODUCED: ("good", "●"), NOT_REPRODUCED: ("off", "◆"), INCONCLUSIVE: ("open", "○")}
SIGNS = {verdict: f"{sign} " for verdict, (_, sign) in MARKS.items()}
#: Beyond this number the cases of a test share rows, sorted by their evidence against the claim.
NAMED = 30
#: With at most so many cases below a heading, names stand beside the picture on a phone too.
SHORT = 12
#: The number that the name of a case ends with; empty if it ends with none.
NUMBER = re.compile(r"(-?\d+(\.\d+)?(e[+-]?\d+)?)?$")
#: The most ticks of an axis.
TICKS = 5
#: A range this many times the usual size or distance from the reference gets a logarithmic scale.
UNEVEN = 20.0
#: Values that need no picture.
ZERO = {0.0, math.inf}
#: So near a limit, in per cent of the axis, no other number is written; so near each other two
#: limits are named as a range; so near its ends a number is written inside.
NEAR, RANGE, EDGE = 20, 14, 6
#: What a picture shows of a finding.
NUMBERS = ("statistic", "low", "high", "reference")


class Line(NamedTuple):
    """A line of a picture: its name, what is drawn, its CSS class, and its height if unusual."""

    name: Html
    drawing: Html
    look: str = ""
    tall: int = 0


def in_order(found: Sequence[Row]) -> list[Row]:
    """Return findings in the order of picture and table: of many, strongest against first."""
    return [
        row
        for rows in by_test(found).values()
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


@in_style()
def picture(found: Sequence[Row], kind: str = "") -> Html:
    """Return a picture of findings `in_order`; one number without bounds is no picture."""
    shown, drawn = Html(), []
    for rows in by_test(found).values():
        drawable = list(filter(_drawable, rows))
        if drawable and [row["procedure"] for row in rows] != ["exact"]:
            said = plainly(rows)
            shown += _panel(rows, drawable, said, kind if rows[0]["decides"] else "")
            drawn += [] if said else drawable
    return shown + (Html("<p><small>{}</small></p>").format(_legend(drawn, kind)) if drawn else "")


def _legend(drawn: Sequence[Row], kind: str) -> str:
    """Return what shades and bars of all pictures of a claim are."""
    means = OF_INCONSISTENCY[REPRODUCED] if kind == "inconsistency" else "the claim holds"
    shaded = any(low < high for low, high in map(claimed, drawn))
    kinds = defaultdict(lambda: "confidence bounds, each one-sided", curve="of our own runs")
    bars = (
        f"{100 * row['settings']['level']:g} % {kinds[row['procedure']]}"
        for row in drawn
        if "level" in row["settings"] and row["low"] != row["high"]
    )
    said = ", or ".join(dict.fromkeys(bars))
    return " ".join([f"Shaded: {means}."] * shaded + [f"Bars: {said}."] * bool(said))


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


def heading(rows: Sequence[Row]) -> str:
    """Return a test's quantity and, if all cases have the same, what is claimed of it."""
    ends = dict.fromkeys(limit(row) for row in rows if row["verdict"] != FAILED)
    asked = f": {next(iter(ends))}?" if len(ends) == 1 and "" not in ends else ""
    return sentence(quantity(rows[0]) + asked)


def _drawable(row: Row) -> bool:
    return row["verdict"] != FAILED and math.isfinite(row["statistic"])


def _panel(rows: Sequence[Row], drawn: Sequence[Row], said: str, kind: str) -> Html:
    title = Html("{}{}").format(
        typeset(heading(rows)),
        "" if rows[0]["decides"] else Html(" <small>It does not decide.</small>"),
    )
    verdicts = [row["verdict"] for row in rows]
    control = f" No control: {rows[0]['uncontrolled']}." if rows[0]["uncontrolled"] else ""
    if said:
        said = f"{minus(said)}: {counted(verdicts, kind, SIGNS)}.{control}"
        return render("evidence.html", heading=title, said=said, look="")
    axis, thin = _axis(drawn), len(rows) > NAMED
    same_ground = len({(claimed(row), row["reference"]) for row in drawn}) == 1
    groups, alike = _groups(drawn if thin else rows, thin=thin)
    whys = Counter(filter(None, map(undecided, rows)))
    is_one_why = len(whys) == 1 and whys.total() == verdicts.count(INCONCLUSIVE)
    lines: list[Line] = []
    for head, below in groups.items():
        lines += [Line(_named(head), Html(), "fb-of")] if head else []
        for name, some in below.items():
            if thin:
                lines.append(_thin(name, some, axis, same_ground))
            else:
                lines += [_line(name, row, axis, not is_one_why) for _, row in some]
    names = [name for below in groups.values() for name in below]
    look = " fb-unnamed" * (not any(names)) + " fb-thin" * thin
    short = any(groups) and max(map(len, names)) <= SHORT
    span = [measured(extreme(row["statistic"] for row in drawn)) for extreme in (min, max)]
    label = f"{len(drawn)} cases, {' to '.join(span)}: {quantity(rows[0])}; "
    caption = typeset(" ".join(_caption(rows, drawn, axis, kind, whys, is_one_why, same_ground)))
    cases = [f"{'All with' if len(rows) > 1 else 'With'} {', '.join(alike)}."] * bool(alike)
    cases += _of_rows(groups) if thin else []
    return render(
        "evidence.html",
        heading=title,
        said="",
        look=look + " fb-short" * (short and not thin),
        label=label + counted((row["verdict"] for row in drawn), kind),
        lines=[*lines, Line(Html(), _ticks(axis), "fb-axis")],
        caption=Html(" ").join(filter(None, [caption, _named(" ".join(cases)), typeset(control)])),
    )


def _named(text: str) -> Html:
    """Return names of cases; ``$5`` in them begins no formula."""
    return raised(minus(" ".join(text.split())))


def _caption(
    rows: Sequence[Row],
    drawn: Sequence[Row],
    axis: "Axis",
    kind: str,
    whys: Mapping[str, int],
    is_one_why: bool,
    same_ground: bool,
) -> list[str]:
    """Return what a picture shows, in sentences."""
    first, tags = drawn[0], {tag for row in drawn for tag in row["tags"]}
    reasons = ", ".join(f"{'' if is_one_why else f'{n} '}since {why}" for why, n in whys.items())
    said = [
        f"{counted((row['verdict'] for row in rows), kind, SIGNS)}{reasons and f' ({reasons})'}."
    ]
    level = f"{100 * first['settings'].get('level', 1):g} %"
    lines = {
        "printed": "Line: the printed number.",
        "largest inside": f"Line: as far as {level} of our own runs go.",
    }
    said += [text for name, text in lines.items() if name in first["against"]]
    if margin := first["against"].get("margin"):
        line = f"claimed {chosen(first['reference'])}" if same_ground else "as claimed"
        shade = limit(first) if same_ground else "to beyond it"
        said.append(f"Line: {line}. Shaded: {shade} (margin {chosen(margin)}).")
    endless = {math.isinf(row["low"]) + math.isinf(row["high"]) for row in drawn}
    share = f"{100 * first['settings'].get('materiality', 0):g} %"
    missing = len(rows) - len(drawn)
    is_rounded = "ROUNDING" in tags
    near = " on both sides of 0 and linear near it" if axis.ticks[0] < 0 else ", and linear near 0"
    conditions = {
        "A number beyond the line by no more than the tolerance counts as on it.": is_rounded,
        f"Only a difference of more than {share} of the mean size counts, and a smaller one has no "
        "shade.": "IMMATERIAL" in tags,
        "A bar to the edge has no bound there.": 1 in endless,
        "A hollow mark without a bar has no bounds.": 2 in endless,
        f"The axis is logarithmic{near * (axis.low < 0)}.": axis.scale is not np.asarray,
        f"{missing} without a number.": missing,
    }
    return said + [text for text, holds in conditions.items() if holds]


Groups = dict[str, dict[str, list[tuple[str, Row]]]]


def _groups(rows: Sequence[Row], *, thin: bool) -> tuple[Groups, list[str]]:
    """Return names and rows of cases by heading and line, and words that all names lack."""
    words_of = [row["each"].split(", ") for row in rows]
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
    groups: Groups = {}
    for row, words in zip(rows, named, strict=True):
        cut = several if thin else max(several and repeats, headed * (len(words) - 1))
        head, line = words[:cut], words[cut:-1] if thin else words[cut:]
        lines = groups.setdefault(", ".join(filter(None, head)), {})
        some = lines.setdefault(", ".join(filter(None, line)), [])
        some.append((words[-1], row))
        if thin:
            some.sort(key=lambda one: float(NUMBER.search(one[1]["each"])[0] or 0))
    return groups, alike


def _of_rows(groups: Groups) -> list[str]:
    """Return what a row of marks is, in words."""
    ends = {(some[0][0], some[-1][0]) for lines in groups.values() for some in lines.values()}
    said = "A row has a mark for each case"
    if len(ends) == 1:
        ((first, last),) = ends
        said += f": {first} at its top to {last} at its bottom"
    return [f"{said}.", "Rows with the strongest evidence against the claim come first."]


# ----------------------------------------------------------------------------------- SVG


def _line(name: str, row: Row, axis: "Axis", says_why: bool) -> Line:
    why = undecided(row) if says_why else ""
    shown = _named(name + (f" ({why})" if why else ""))
    if _drawable(row):
        return Line(shown, _ground(row, axis, 0, "100%", "100%") + _mark(row, axis, "50%", 4))
    open_slope = row["procedure"] == "slope" and row["verdict"] != FAILED
    words = f"{row['verdict']}: nowhere positive" if open_slope else "no number"
    return Line(shown, Html('<text x="4" y="14">{}</text>').format(row["message"] or words))


def _thin(name: str, some: Sequence[tuple[str, Row]], axis: "Axis", same_ground: bool) -> Line:
    """Return a line with a mark below another for each case."""
    tall = max(19, round(2.4 * len(some)) + 4)
    step = tall / len(some)
    drawing = _ground(some[0][1], axis, 0, tall, tall) if same_ground else Html()
    for k, (case, row) in enumerate(some):
        if not same_ground:
            places = (round(one, 1) for one in (k * step, step, (k + 1) * step))
            drawing += _ground(row, axis, *places)
        title = f"{minus(case)}: {significant(row['statistic'])}"
        drawing += _mark(row, axis, round((k + 0.5) * step, 1), 1.5, title)
    return Line(_named(name), drawing, tall=tall)


def _ground(row: Row, axis: "Axis", top: float, tall: float | str, end: float | str) -> Html:
    """Return the shade where the claim holds, and the line of the reference."""
    low, high = claimed(row)
    if "ROUNDING" in row["tags"]:  # the tolerance is of its own scale
        high = max(high, row["statistic"])
    if "IMMATERIAL" in row["tags"]:  # the shade begins somewhere beyond it
        low = high = math.inf
    left, right, line = axis.at(low), axis.at(high), axis.at(row["reference"])
    return Html(
        '<rect class="fb-claimed" x="{}%" y="{}" width="{}%" height="{}"/>'
        '<line x1="{}%" x2="{}%" y1="{}" y2="{}"/>'
    ).format(left, top, round(right - left, 1), tall, line, line, top, end)


def _mark(row: Row, axis: "Axis", y: float | str, size: float, title: str = "") -> Html:
    """Return a number's mark, with a bar between its bounds."""
    bounds = [row[end] for end in ("low", "high") if not math.isnan(row[end])]
    ends = sorted(set(map(axis.at, bounds))) if any(map(math.isfinite, bounds)) else []
    at, look = axis.at(row["statistic"]), MARKS[row["verdict"]][0]
    said = Html("<title>{}</title>").format(title) if title else ""
    bar = Html()
    if len(ends) == 2:
        bar = Html('<line x1="{}%" x2="{}%" y1="{}" y2="{}"/>').format(*ends, y, y)
    if look == "off":
        side = 2 * size - 1
        shape = Html('<rect x="{}%" y="{}" width="{}" height="{}"/>').format(at, y, side, side)
    else:
        shape = Html('<circle cx="{}%" cy="{}" r="{}"/>').format(at, y, size)
    return Html('<g class="fb-mark-{}">{}{}{}</g>').format(look, said, bar, shape)


def _ticks(axis: "Axis") -> Html:
    """Return the ticks of an axis with their numbers, limits in bold."""
    ends = [(at, number) for at, number, is_limit in axis.labels if is_limit]
    are_near = len(ends) == 2 and ends[1][0] - ends[0][0] < RANGE
    drawing = Html()
    for at, number, is_limit in axis.labels:
        drawing += Html('<line x1="{}%" x2="{}%" y2="4"/>').format(at, at)
        if are_near and is_limit:
            if number != ends[0][1]:
                continue
            at, number = round((at + ends[1][0]) / 2, 1), f"{number} to {ends[1][1]}"
        side = "fb-first" if at < EDGE else "fb-last" if at > 100 - EDGE else ""
        look = " ".join(["fb-limit"] * is_limit + [side])
        kind = Html(' class="{}"').format(look) if look else ""
        drawing += Html('<text x="{}%" y="16"{}>{}</text>').format(at, kind, number)
    return drawing


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
