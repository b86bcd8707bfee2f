"""A picture of what decides a claim: estimates with their limits beside what they are judged by."""

import io
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from fairbandits.audit.finding import FAILED, INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.show import number
from fairbandits.figures.style import PALETTE, apply_style

Row = Mapping[str, Any]

#: Of the findings; the marks differ too, for those who see no colours.
MARKS = {
    REPRODUCED: (PALETTE[2], "o"),
    NOT_REPRODUCED: (PALETTE[3], "X"),
    INCONCLUSIVE: (PALETTE[7], "s"),
}
#: Rows of a panel, over all readings, and of each of many; of more questions those are shown that
#: speak most against the claim.
MOST, LEAST = 12, 2
#: Letters of a row's name.
LONGEST = 52
#: A range that is this many times the usual distance from the reference is not drawn evenly.
UNEVEN = 50.0


def picture(claim: str, found: Sequence[Row]) -> str:
    """Return the findings of a claim's deciding tests as an image with a caption.

    Parameters
    ----------
    claim : str
        The claim's id.
    found : sequence of mapping
        Its findings (`fairbandits.audit.records.read_verdicts`).

    Returns
    -------
    str
        HTML; empty where no finding has a number.
    """
    tests = {one["test"]: [] for one in found if one["decides"]}
    for one in found:
        if one["test"] in tests and _drawable(one):
            tests[one["test"]].append(one)
    panels = {test: rows for test, rows in tests.items() if rows}
    if not panels:
        return ""
    kept = {test: most_telling(rows) for test, rows in panels.items()}
    image = b64encode(_drawn(kept)).decode()
    alt = f"{claim}: " + " ".join(
        _alt(test, kept[test], len(rows)) for test, rows in panels.items()
    )
    caption = " ".join(_caption(test, kept[test], rows) for test, rows in panels.items())
    return (
        f'<figure class="fb-evidence"><img src="data:image/svg+xml;base64,{image}" loading="lazy" '
        f'alt="{escape(alt)}"><figcaption>{escape(caption)}</figcaption></figure>'
    )


def _drawable(one: Row) -> bool:
    return one["verdict"] != FAILED and math.isfinite(one["statistic"])


def most_telling(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that speak most against a claim, some of each reading, in their own order."""
    weight = {NOT_REPRODUCED: 0, INCONCLUSIVE: 1, REPRODUCED: 2}

    def against(one: Row) -> tuple[float, ...]:
        p = 0.0 if one["p"] is None else one["p"]
        distance = abs(one["statistic"] - (one["reference"] or 0.0))
        # the surest and farthest of those that are not reproduced, the opposite of the others
        sign = 1 if one["verdict"] == NOT_REPRODUCED else -1
        return weight[one["verdict"]], sign * p, -sign * distance

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
    if len(kept) < len(rows):
        of_each = " under each reading" if len({one["reading"] for one in rows}) > 1 else ""
        words += f"; shown are {len(kept)} of {len(rows)} questions, those that speak most against "
        words += f"the claim{of_each}"
    return words + "."


def _drawn(panels: Mapping[str, Sequence[Row]]) -> bytes:
    apply_style()
    sizes = [len(rows) for rows in panels.values()]
    figure, axes = plt.subplots(
        len(panels),
        1,
        figsize=(7.2, 0.26 * sum(sizes) + 0.9 * len(panels)),
        height_ratios=[size + 0.6 for size in sizes],
        squeeze=False,
        layout="constrained",
    )
    for axis, (test, rows) in zip(axes[:, 0], panels.items(), strict=True):
        _panel(axis, rows)
        if len(panels) > 1:
            axis.set_title(test.replace("_", " "), loc="left", fontsize=8.5)
    with io.BytesIO() as file:
        figure.savefig(file, format="svg", metadata={"Date": None})
        plt.close(figure)
        return file.getvalue()


def _panel(axis: Axes, rows: Sequence[Row]) -> None:
    references = [one["reference"] for one in rows]
    same = len(set(references)) == 1
    span = _span(axis, rows)
    for place, one in enumerate(rows):
        colour, mark = MARKS[one["verdict"]]
        low, high = (
            min(max(limit, span[0]), span[1]) if math.isfinite(limit) else edge
            for limit, edge in zip((one["low"], one["high"]), span, strict=True)
        )
        axis.plot([low, high], [place, place], color=colour, lw=2.2, solid_capstyle="butt")
        axis.plot(one["statistic"], place, mark, color=colour, ms=6, mec="white", mew=0.6)
        if not same:  # each row has its own
            axis.plot(one["reference"], place, "|", color="black", ms=13, mew=1.4)
    if same:
        axis.axvline(references[0], color="black", lw=1.0)
        for edge in _edges(rows[0]):
            axis.axvline(edge, color="black", lw=0.8, ls=(0, (2, 2)))
    axis.set_xlim(*span)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    readings = len({one["reading"] for one in rows}) > 1
    axis.set_yticks(range(len(rows)), [_name(one, readings) for one in rows], fontsize=8)
    axis.tick_params(axis="y", length=0)
    axis.tick_params(axis="x", labelsize=8)
    axis.set_xlabel(STATISTICS[rows[0]["procedure"]], fontsize=8.5)


def _edges(one: Row) -> list[float]:
    """Return the other numbers that a verdict turns on, beside the reference."""
    against = one["against"]
    if "margin" in against:
        sign = {"at most": (1,), "at least": (-1,)}.get(one["settings"]["claim"], (-1, 1))
        return [against["exponent"] + k * against["margin"] for k in sign if against["margin"]]
    return list(against.values())[1:]


def _span(axis: Axes, rows: Sequence[Row]) -> tuple[float, float]:
    """Set the scale of an axis, and return its ends."""
    values = [one[name] for one in rows for name in ("statistic", "low", "high", "reference")]
    values += [edge for one in rows for edge in _edges(one)]
    finite = np.array([value for value in values if math.isfinite(value)])
    low, high = finite.min(), finite.max()
    distances = np.abs([one["statistic"] - one["reference"] for one in rows])
    usual = np.median(distances[distances > 0]) if (distances > 0).any() else 0.0
    if usual and (high - low) > UNEVEN * usual:
        if low > 0:
            axis.set_xscale("log")
            return low / 1.3, high * 1.3
        axis.set_xscale("symlog", linthresh=usual)
        margin = 0.3
        return low * (1 + margin) - usual * margin, high * (1 + margin) + usual * margin
    axis.xaxis.set_major_locator(MaxNLocator(7))
    margin = 0.06 * (high - low) or max(1.0, 0.1 * abs(high))
    return float(low - margin), float(high + margin)


def _name(one: Row, readings: bool) -> str:
    reading = one["reading"].replace("_", " ") if readings else ""
    words = ", ".join(part for part in (reading, one["each"]) if part)
    words = words or one["test"].replace("_", " ")
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
