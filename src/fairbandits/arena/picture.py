"""Regret against violation as small pictures, one for each instance, written out as SVG."""

import math
from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd
from matplotlib.colors import to_hex

from fairbandits.figures.style import COLOURS, OTHERS

#: Size of a picture, and what is left around the axes.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 300.0, 235.0, 46.0, 8.0, 22.0, 34.0
#: Shapes around (0, 0), so that nobody depends on colours.
SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.6l4.4 7.8h-8.8z",
    "M0-5l4.2 5-4.2 5-4.2-5z",
    "M0 4.6l4.4-7.8h-8.8z",
    "M-4-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z",
)
#: The colour of a user's own policy, and of the line along what is not dominated.
YOURS, FRONTIER = "#c2003a", "#777777"
_STYLE = (
    "text{font:10px sans-serif;fill:#222}.t{font-weight:bold;font-size:11px}"
    ".m{text-anchor:middle}.e{text-anchor:end}.a{stroke:#777;fill:none}"
    ".g{stroke:#ddd;fill:none}.f{stroke:#777;stroke-dasharray:4 3;fill:none}"
)


def looks(labels: Sequence[str], yours: Sequence[str] = ()) -> dict[str, tuple[str, str]]:
    """Return colour and shape of each policy; no two have both in common."""
    found: dict[str, tuple[str, str]] = {}
    free = [to_hex(one) for one in OTHERS[1::3]]
    for k, label in enumerate(dict.fromkeys(labels)):
        known = label in COLOURS
        colour = to_hex(COLOURS[label]) if known else free[k % len(free)]
        colour = YOURS if label in yours else colour
        order = [SHAPES[(k + j) % len(SHAPES)] for j in range(len(SHAPES))]
        taken = set(found.values())
        found[label] = next(
            ((colour, one) for one in order if (colour, one) not in taken), (colour, order[0])
        )
    return found


def _squeezed(value: float) -> float:
    """Return a number on a scale that is even near 0 and logarithmic beyond."""
    return math.copysign(math.log10(1 + abs(value)), value)


def _ticks(low: float, high: float) -> list[float]:
    """Return 0 and powers of ten on a squeezed axis, the larger ones first, none too near."""
    powers = [10.0**k for k in range(9, -3, -1)]
    kept: list[float] = []
    for one in [0.0, *powers, *(-one for one in powers)]:
        place = _squeezed(one)
        apart = min((abs(place - _squeezed(other)) for other in kept), default=math.inf)
        if low <= place <= high and apart > 0.14 * (high - low):
            kept.append(one)
    return kept


def _word(value: float) -> str:
    size, sign = abs(value), "−" if value < 0 else ""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{sign}{size / unit:g}{letter}"
    return f"{sign}{size:g}"


def panel(
    title: str,
    rows: pd.DataFrame,
    look: Mapping[str, tuple[str, str]],
    unit: str,
    yours: Sequence[str] = (),
) -> str:
    """Return regret against violation of all policies on one instance, as SVG.

    Parameters
    ----------
    title : str
        The instance.
    rows : DataFrame
        Standings on it (`fairbandits.arena.standings.standings`).
    look : mapping of str to (str, str)
        From `looks`.
    unit : str
        What a violation counts.
    yours : sequence of str
        Labels that are drawn larger, with their names.
    """
    xs = [_squeezed(max(0.0, one)) for one in rows["violation_high"]] + [0.0, 0.3]
    ys = [_squeezed(one) for name in ("regret_low", "regret_high") for one in rows[name]] + [0.0]
    x_low, x_high = -0.04 * max(xs), 1.05 * max(xs)
    room = 0.06 * (max(ys) - min(ys)) or 0.5
    y_low, y_high = min(ys) - room, max(ys) + room
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(value: float) -> float:
        return LEFT + width * (_squeezed(value) - x_low) / (x_high - x_low)

    def y(value: float) -> float:
        return TOP + height * (y_high - _squeezed(value)) / (y_high - y_low)

    parts = []
    for tick in _ticks(x_low, x_high):
        parts.append(f'<path class="g" d="M{x(tick):.1f} {TOP}v{height}"/>')
        parts.append(f'<text class="m" x="{x(tick):.1f}" y="{HEIGHT - 21}">{_word(tick)}</text>')
    for tick in _ticks(y_low, y_high):
        parts.append(f'<path class="g" d="M{LEFT} {y(tick):.1f}h{width}"/>')
        parts.append(f'<text class="e" x="{LEFT - 4}" y="{y(tick) + 3:.1f}">{_word(tick)}</text>')
    parts.append(f'<path class="a" d="M{LEFT} {TOP}v{height}h{width}"/>')
    parts.append(_frontier(rows, x, y))
    for label, own in rows.groupby("label", sort=False):
        parts += _points(own, label, look[label], x, y, label in yours)
    words = f"{title}: regret against violation of {rows['label'].nunique()} policies"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="{escape(words)}" style="width:100%;max-width:24rem;background:#fff">'
        f"<style>{_STYLE}</style>"
        f'<text class="t" x="{LEFT}" y="14">{escape(title)}</text>{"".join(parts)}'
        f'<text class="m" x="{LEFT + width / 2}" y="{HEIGHT - 6}">violation, {unit}</text>'
        f'<text class="m" transform="translate(10 {TOP + height / 2}) rotate(-90)">regret</text>'
        "</svg>"
    )


def _frontier(rows: pd.DataFrame, x, y) -> str:
    """Return the line through those that are not dominated and do not know the means."""
    best = rows[(rows["dominated_by"] == "") & (rows["kind"] != "oracle")]
    best = best.sort_values(["violation", "regret"], ascending=[True, False])
    places = [f"{x(max(0.0, one.violation)):.1f} {y(one.regret):.1f}" for one in best.itertuples()]
    return f'<path class="f" d="M{"L".join(places)}"/>' if len(places) > 1 else ""


def _points(own: pd.DataFrame, label: str, look, x, y, yours: bool) -> list[str]:
    """Return the settings of a policy, joined, each with the intervals of both measures."""
    colour, shape = look
    parts = []
    swept = own.sort_values("violation").itertuples()
    places = [f"{x(max(0.0, one.violation)):.1f} {y(one.regret):.1f}" for one in swept]
    if len(places) > 1:
        parts.append(f'<path d="M{"L".join(places)}" fill="none" stroke="{colour}" opacity=".5"/>')
    for one in own.itertuples():
        across = f"M{x(max(0.0, one.violation_low)):.1f} {y(one.regret):.1f}"
        across += f"H{x(max(0.0, one.violation_high)):.1f}"
        along = (
            f"M{x(max(0.0, one.violation)):.1f} {y(one.regret_low):.1f}V{y(one.regret_high):.1f}"
        )
        parts.append(f'<path d="{across}{along}" stroke="{colour}"/>')
        size = 1.7 if yours else 1 if one.usual else 0.6
        fill = "#fff" if one.kind == "oracle" else colour
        words = escape(f"{one.name}: regret {one.regret:.4g}, violation {one.violation:.4g}")
        parts.append(
            f'<path d="{shape}" fill="{fill}" stroke="{colour}" transform="translate('
            f'{x(max(0.0, one.violation)):.1f} {y(one.regret):.1f}) scale({size})">'
            f"<title>{words}</title></path>"
        )
        if yours:
            at = x(max(0.0, one.violation))
            side = ("e", -9) if at > WIDTH / 2 else ("", 9)
            parts.append(
                f'<text class="t {side[0]}" x="{at + side[1]:.1f}" y="{y(one.regret) - 6:.1f}" '
                f'fill="{colour}">{escape(label)}</text>'
            )
    return parts


def legend(look: Mapping[str, tuple[str, str]], yours: Sequence[str] = ()) -> str:
    """Return what the points are, as HTML."""
    items = []
    for label, (colour, shape) in look.items():
        mark = (
            f'<svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">'
            f'<path d="{shape}" fill="{colour}" stroke="{colour}"/></svg>'
        )
        name = f"<strong>{escape(label)}</strong>" if label in yours else escape(label)
        items.append(f'<span style="white-space:nowrap">{mark} {name}</span>')
    return f'<p style="display:flex;flex-wrap:wrap;gap:.2rem .9rem">{"".join(items)}</p>'


def grid(panels: Sequence[str]) -> str:
    """Return pictures beside each other, as many as there is room for, as HTML."""
    columns = "repeat(auto-fill,minmax(min(17rem,100%),1fr))"
    look = f"display:grid;grid-template-columns:{columns};gap:.8rem"
    return f'<div style="{look}">{"".join(panels)}</div>'
