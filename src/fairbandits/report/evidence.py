"""A picture of all cases of a claim, as HTML: numbers with their bounds, beside what is claimed.

Its SVG is placed by a template, and not drawn by seaborn: for the 411 pictures of the 255 pages
that have any, that takes 136 s of processor time (Matplotlib without seaborn 50 s), and these take
4 s (a hundred pictures drawn at random, on one AMD EPYC core). They are as wide as the page, and
their names wrap, can be searched, and have its colours.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from matplotlib.scale import AsinhTransform
from matplotlib.ticker import AsinhLocator, MaxNLocator

from fairbandits.audit import finding, sentences
from fairbandits.audit.finding import FAILED, INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED
from fairbandits.audit.sentences import by_test, chosen, claimed
from fairbandits.audit.totals import Row, grouped
from fairbandits.library.style import in_style
from fairbandits.numerals import counted as n_of
from fairbandits.numerals import measured, significant
from fairbandits.report.audit import counted
from fairbandits.report.markup import Html, minus, raised, render, typeset

#: CSS class and sign (for those who see no colours) of each verdict.
MARKS = {REPRODUCED: ("good", "●"), NOT_REPRODUCED: ("off", "◆"), INCONCLUSIVE: ("open", "○")}
SIGNS = {verdict: f"{sign} " for verdict, (_, sign) in MARKS.items()}
#: Beyond this number the cases of a test share lines, sorted by their evidence against the claim.
NAMED = 30
#: With at most so many letters below a heading, names stand beside the picture on a phone too.
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
#: limits are named as a range.
NEAR, RANGE = 20, 14
#: What a picture shows of a finding.
NUMBERS = ("statistic", "low", "high", "reference")


class Line(NamedTuple):
    """A line of a picture: its name, what is drawn or said, and its height if unusual.

    A mark has a CSS class, its place, the ends of its bar, and a title; a shade has its left end,
    width, line of the reference, top and height: all places in per cent.
    """

    name: Html
    look: str = ""
    marks: Sequence[tuple[str, float, float, list[float], str]] = ()
    shades: Sequence[tuple[float, ...]] = ()
    words: str = ""
    height: int = 0


def in_order(found: Sequence[Row]) -> list[Row]:
    """Return findings in the order of picture and table: of many, strongest against first."""
    return [
        row
        for rows in by_test(found).values()
        for row in (sorted(rows, key=sentences.against) if len(rows) > NAMED else rows)
    ]


def under_readings(rows: Sequence[Row]) -> list[Row]:
    """Return findings, once for all readings of a test with the same; none lacks a reading."""
    content = {
        key: repr([[row[name] for name in ("each", "n", *NUMBERS)] for row in cases])
        for key, cases in grouped(rows, itemgetter("test", "reading")).items()
    }
    alike = grouped(content, lambda key: (key[0], content[key]))
    read = {test for test, reading in content if reading}
    merged = []
    for row in rows:
        test, reading = row["test"], row["reading"]
        readings = [other for _, other in alike[test, content[test, reading]]]
        if reading == readings[0]:
            name = " or ".join(readings) or "every reading" * (test in read)
            merged.append(row | {"reading": name})
    return merged


@in_style()
def picture(found: Sequence[Row], kind: str = "") -> Html:
    """Return a picture of findings `in_order`; one number without bounds is no picture."""
    shown, drawn = Html(), []
    for rows in by_test(found).values():
        drawable = list(filter(_drawable, rows))
        if drawable and [row["procedure"] for row in rows] != ["exact"]:
            summary = plainly(rows)
            shown += _panel(rows, drawable, summary, kind if rows[0]["decides"] else "")
            drawn += [] if summary else drawable
    return shown + (Html("<p><small>{}</small></p>").format(_legend(drawn, kind)) if drawn else "")


def _legend(drawn: Sequence[Row], kind: str) -> str:
    """Return what shades and bars of all pictures of a claim are."""
    means = finding.OF_INCONSISTENCY[REPRODUCED]
    shades = f"Shaded: {means if kind == 'inconsistency' else 'the claim holds'}."
    kinds = defaultdict(lambda: "confidence bounds, each one-sided", curve="of our own runs")
    bars = (
        f"{100 * row['settings']['level']:g} % {kinds[row['procedure']]}"
        for row in drawn
        if "level" in row["settings"] and row["low"] != row["high"]
    )
    bounds = ", or ".join(dict.fromkeys(bars))
    shaded = any(low < high for low, high in map(claimed, drawn))
    return " ".join([shades] * shaded + [f"Bars: {bounds}."] * bool(bounds))


def plainly(rows: Sequence[Row]) -> str:
    """Return what a picture would show where all numbers are 0, or 0 to rounding; else nothing."""
    if not all(map(_drawable, rows)):
        return ""
    cases = {1: "in the one case", 2: "in both cases"}.get(len(rows), f"in all {len(rows)} cases")
    if {abs(row[key]) for row in rows for key in NUMBERS} <= ZERO:
        return f"0 {cases}"
    kinds = {(row["procedure"], row["verdict"], "printed" in row["against"]) for row in rows}
    top = significant(max(row["statistic"] for row in rows))
    summary = f"At most {top} {cases}, which is within the tolerance and counts as 0"
    is_rounded = any("ROUNDING" in row["tags"] for row in rows)
    return summary if is_rounded and kinds == {("exact", REPRODUCED, False)} else ""


def heading(rows: Sequence[Row]) -> str:
    """Return a test's quantity and, if all cases have the same, what is claimed of it."""
    ends = sentences.common_limit([row for row in rows if row["verdict"] != FAILED])
    return sentences.sentence(sentences.quantity(rows[0]) + (ends and f": {ends}?"))


def _drawable(row: Row) -> bool:
    return row["verdict"] != FAILED and math.isfinite(row["statistic"])


def _panel(rows: Sequence[Row], drawn: Sequence[Row], summary: str, kind: str) -> Html:
    title = typeset(heading(rows))
    if not rows[0]["decides"]:
        title += Html(" <small>It does not decide.</small>")
    verdicts = [row["verdict"] for row in rows]
    control = f" No control: {rows[0]['uncontrolled']}." if rows[0]["uncontrolled"] else ""
    if summary:
        summary = f"{minus(summary)}: {counted(verdicts, kind, SIGNS)}.{control}"
        return render("evidence.html", heading=title, said=summary, look="")
    axis, is_thin = Axis(drawn), len(rows) > NAMED
    groups, words_of_all = _groups(drawn if is_thin else rows, is_thin)
    whys = Counter(filter(None, map(sentences.undecided, rows)))
    is_one_why = len(whys) == 1 and whys.total() == verdicts.count(INCONCLUSIVE)
    reasons = ", ".join(f"{n} since {why}" for why, n in whys.items())
    reasons = f"since {next(iter(whys))}" if is_one_why else reasons
    lines: list[Line] = []
    for head, below in groups.items():
        lines += [Line(_named(head), "fb-of")] if head else []
        for name, cases in below.items():
            for of_line in [cases] if is_thin else [[case] for case in cases]:
                why = "" if is_thin or is_one_why else sentences.undecided(of_line[0][1])
                lines.append(_line(f"{name} ({why})" if why else name, of_line, axis, is_thin))
    names = [name for below in groups.values() for name in below]
    short = any(groups) and max(map(len, names)) <= SHORT and not is_thin
    look = " fb-unnamed" * (not any(names)) + " fb-thin" * is_thin + " fb-short" * short
    span = " to ".join(measured(end(row["statistic"] for row in drawn)) for end in (min, max))
    label = f"{n_of(len(drawn), 'case')}, {span}: {sentences.quantity(rows[0])}; "
    caption = [f"{counted(verdicts, kind, SIGNS)}{reasons and f' ({reasons})'}."]
    caption += _caption(rows, drawn, axis)
    cases = f"{'All with' if len(rows) > 1 else 'With'} {words_of_all}." if words_of_all else ""
    cases += f" {_of_lines(groups)}" * is_thin
    return render(
        "evidence.html",
        heading=title,
        said="",
        look=look,
        label=label + counted((row["verdict"] for row in drawn), kind),
        lines=lines,
        axis=axis,
        caption=Html(" ").join([*map(typeset, caption), _named(cases), typeset(control)]).rstrip(),
    )


def _named(text: str) -> Html:
    """Return names of cases; ``$5`` in them begins no formula."""
    return raised(minus(" ".join(text.split())))


def _caption(rows: Sequence[Row], drawn: Sequence[Row], axis: "Axis") -> Iterator[str]:
    """Yield what is drawn beside the numbers, in sentences."""
    first, tags = drawn[0], {tag for row in drawn for tag in row["tags"]}
    endless = [math.isinf(row["low"]) + math.isinf(row["high"]) for row in drawn]
    if "printed" in first["against"]:
        yield "Line: the printed number."
    if "largest inside" in first["against"]:
        yield f"Line: as far as {100 * first['settings']['level']:g} % of our own runs go."
    if margin := first["against"].get("margin"):
        is_same = len({(claimed(row), row["reference"]) for row in drawn}) == 1
        line = f"claimed {chosen(first['reference'])}" if is_same else "as claimed"
        shade = sentences.limit(first) if is_same else "to beyond it"
        yield f"Line: {line}. Shaded: {shade} (margin {chosen(margin)})."
    if "ROUNDING" in tags:
        yield "A number beyond the line by no more than the tolerance counts as on it."
    if "IMMATERIAL" in tags:
        share = f"{100 * first['settings'].get('materiality', 0):g} % of the mean size"
        yield f"Only a difference of more than {share} counts, and a smaller one has no shade."
    if 1 in endless:
        yield "A bar to the edge has no bound there."
    if 2 in endless:
        yield "A hollow mark without a bar has no bounds."
    if axis.is_logarithmic:
        yield f"The axis is logarithmic{', and linear near 0' * axis.has_zero}."
    if missing := len(rows) - len(drawn):
        yield f"{missing} without a number."


#: Cases, and the last words of their names, by heading and by name of the line.
Groups = dict[str, dict[str, list[tuple[str, Row]]]]


def _groups(rows: Sequence[Row], is_thin: bool) -> tuple[Groups, str]:
    """Return cases by heading and line, and the words of all names that these lack."""
    words_of = [row["each"].split(", ") for row in rows]
    common = set.intersection(*map(set, words_of)) if len(rows) > 1 else set()
    readings = {row["reading"] for row in rows}
    several = len(readings) > 1
    alike = [] if several or not rows[0]["reading"] else [f'the reading "{rows[0]["reading"]}"']
    alike += [word for word in words_of[0][:-1] if word in common]
    names = [
        [row["reading"]] * several + [word for word in first if word not in common] + [last]
        for row, (*first, last) in zip(rows, words_of, strict=True)
    ]
    is_headed = 3 * len({tuple(name[:-1]) for name in names}) <= len(rows)
    groups: Groups = {}
    for row, name in zip(rows, names, strict=True):
        cut = several and (is_thin or len(readings) < len(rows))
        if is_headed and not is_thin:
            cut = len(name) - 1
        head, line = name[:cut], name[cut : -1 if is_thin else None]
        lines = groups.setdefault(", ".join(filter(None, head)), {})
        lines.setdefault(", ".join(filter(None, line)), []).append((name[-1], row))
    if is_thin:
        for cases in (cases for lines in groups.values() for cases in lines.values()):
            cases.sort(key=lambda case: float(NUMBER.search(case[1]["each"])[0] or 0))
    return groups, ", ".join(alike)


def _of_lines(groups: Groups) -> str:
    """Return what a line of many marks is, in words."""
    ends = {(cases[0][0], cases[-1][0]) for lines in groups.values() for cases in lines.values()}
    text = "A row has a mark for each case"
    if len(ends) == 1:
        ((first, last),) = ends
        text += f": {first} at its top to {last} at its bottom"
    return f"{text}. Rows with the strongest evidence against the claim come first."


def _line(name: str, cases: Sequence[tuple[str, Row]], axis: "Axis", is_thin: bool) -> Line:
    """Return a line with a mark for each of its cases, one below the other."""
    row, step = cases[0][1], 100 / len(cases)
    if not _drawable(row):
        open_slope = row["procedure"] == "slope" and row["verdict"] != FAILED
        message = f"{row['verdict']}: nowhere positive" if open_slope else "no number"
        return Line(_named(name), words=row["message"] or message)
    marks, shades = [], []
    for k, (case, row) in enumerate(cases):
        bounds = [row[end] for end in ("low", "high") if not math.isnan(row[end])]
        ends = sorted(set(map(axis.at, bounds))) if any(map(math.isfinite, bounds)) else []
        bar = ends if len(ends) == 2 else []
        title = f"{minus(case)}: {significant(row['statistic'])}" if is_thin else ""
        look, x = MARKS[row["verdict"]][0], axis.at(row["statistic"])
        marks.append((look, x, round((k + 0.5) * step, 1), bar, title))
        low, high = claimed(row)
        if "ROUNDING" in row["tags"]:  # the tolerance is of its own scale
            high = max(high, row["statistic"])
        if "IMMATERIAL" in row["tags"]:  # the shade begins somewhere beyond it
            low = high = math.inf
        shades.append((axis.at(low), axis.at(high), axis.at(row["reference"])))
    merged, top = [], 0
    for (low, high, reference), alike in groupby(shades):
        n = len(list(alike))
        shade = low, high - low, reference, top * step, n * step
        merged.append(tuple(round(percent, 1) for percent in shade))
        top += n
    height = max(19, round(2.4 * len(cases)) + 4) if is_thin else 0
    return Line(_named(name), marks=marks, shades=merged, height=height)


class Axis:
    """The axis of a picture: linear, or logarithmic where that would hide near values."""

    def __init__(self, rows: Sequence[Row]) -> None:
        values = [end for row in rows for end in (*claimed(row), *(row[name] for name in NUMBERS))]
        finite = list(filter(math.isfinite, values))
        low, high, usual = min(finite), max(finite), _usual_size(rows)
        self.is_logarithmic = high - low > UNEVEN * usual > 0 and high > 10 * low
        self.has_zero = low <= 0
        scale: Callable[[Any], np.ndarray] = np.asarray
        locator: Any = MaxNLocator(TICKS, steps=[1, 2, 2.5, 5, 10])
        if self.is_logarithmic:
            unit = usual if self.has_zero else low
            scale, locator = AsinhTransform(unit).transform, AsinhLocator(unit, TICKS, base=1)
        first, last = scale(np.array([low, high], float))
        margin = 0.06 * (last - first) or max(1.0, 0.1 * abs(last))
        self._scale, self._first, self._last = scale, first - margin, last + margin
        claims = {_claimed_values(row) for row in rows}
        claim = sorted(claims.pop()) if len(claims) == 1 else []
        limits = [(self.at(limit), chosen(limit)) for limit in claim]
        ticks = [(self._place(tick), tick) for tick in locator.tick_values(low, high)]
        rest = [
            (x, significant(tick, 10, trimmed=True))
            for x, tick in ticks
            if 0 <= x <= 100 and all(abs(x - limit) >= NEAR for limit, _ in limits)
        ]
        #: Places of ticks; places and numbers of labels, and whether they are limits.
        self.ticks = [x for x, _ in sorted(limits + rest)]
        if len(limits) == 2 and limits[1][0] - limits[0][0] < RANGE:
            (left, least), (right, most) = limits
            limits = [(round((left + right) / 2, 1), f"{least} to {most}")]
        self.labels = sorted([(*tick, True) for tick in limits] + [(*tick, False) for tick in rest])

    def at(self, value: float) -> float:
        """Return a number's place in per cent; the edge beyond the ends."""
        if math.isinf(value):
            return 0.0 if value < 0 else 100.0
        return min(max(self._place(value), 0.0), 100.0)

    def _place(self, value: float) -> float:
        share = (self._scale(np.array(value, float)) - self._first) / (self._last - self._first)
        return round(100 * float(share), 1)


def _claimed_values(row: Row) -> frozenset[float]:
    """Return what gets a tick: the claimed value or, where there is no margin, the limits."""
    values = [row["reference"]] if row["against"].get("margin") else claimed(row)
    return frozenset(filter(math.isfinite, values))


def _usual_size(rows: Sequence[Row]) -> float:
    """Return the usual distance from the reference, or size if that is less; 0 if there is none.

    Bars and shades are no more than four times as wide.
    """
    usual = min(
        _quartile(row["statistic"] - row["reference"] for row in rows),
        _quartile(row["statistic"] for row in rows) or math.inf,
    )
    widths = (high - low for row in rows for low, high in ((row["low"], row["high"]), claimed(row)))
    return max(usual, _quartile(widths) / 4) if usual else 0.0


def _quartile(numbers: Iterable[float]) -> float:
    """Return the lower quartile of sizes of finite numbers other than 0; 0 if there are none."""
    sizes = [abs(number) for number in numbers if number and math.isfinite(number)]
    return float(np.quantile(sizes, 0.25)) if sizes else 0.0
