"""Pictures of contract regret against shortfall, written out as SVG."""

import math
from collections.abc import Collection, Mapping, Sequence
from html import escape

import pandas as pd
from matplotlib.colors import to_hex

from fairbandits.arena.decisions import rivals, thousandths
from fairbandits.arena.roles import CONTROL, ORACLE, Terms
from fairbandits.arena.standings import KEPT
from fairbandits.library.style import COLOURS, OTHERS

#: Margins around the axes.
LEFT, RIGHT, TOP, BOTTOM = 54.0, 8.0, 24.0, 38.0
#: Width and height of a picture of one instance, and of one of all instances of a contract.
SMALL, LARGE = (300.0, 235.0), (420.0, 350.0)
#: Height of letters, and their width relative to it.
LETTER, WIDE = 12.0, 0.56
#: Shapes around (0, 0): colours alone are not enough for every reader.
SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.6l4.4 7.8h-8.8z",
    "M0-5l4.2 5-4.2 5-4.2-5z",
    "M0 4.6l4.4-7.8h-8.8z",
    "M-4-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z",
)
#: Colours of a user's own policy, and of those that ignore the contract.
YOURS, IGNORES = "#c2003a", "#8a8a8a"
_STYLE = (
    f"text{{font:{LETTER:g}px sans-serif;fill:#222}}.t{{font-weight:bold}}"
    ".m{text-anchor:middle}.e{text-anchor:end}.a{stroke:#777;fill:none}"
    ".g{stroke:#ddd;fill:none}.f{stroke:#555;stroke-dasharray:4 3;fill:none}.k{fill:#e6f4ea}"
)
Looks = Mapping[str, tuple[str, str]]


def looks(
    labels: Sequence[str], yours: Collection[str] = (), ignoring: Collection[str] = ()
) -> dict[str, tuple[str, str]]:
    """Return colour and shape of each policy, a different pair for each."""
    found: dict[str, tuple[str, str]] = {}
    free = [to_hex(one) for one in OTHERS[1::3]]
    for k, label in enumerate(dict.fromkeys(labels)):
        colour = to_hex(COLOURS[label]) if label in COLOURS else free[k % len(free)]
        colour = YOURS if label in yours else IGNORES if label in ignoring else colour
        order = [SHAPES[(k + j) % len(SHAPES)] for j in range(len(SHAPES))]
        taken = set(found.values())
        found[label] = next(
            ((colour, one) for one in order if (colour, one) not in taken), (colour, order[0])
        )
    return found


def looks_under(labels: Sequence[str], rows: pd.DataFrame, yours: Collection[str] = ()) -> Looks:
    """Return the looks of the policies in standings, grey for those that ignore the contract."""
    found = looks(labels, yours, set(rows[rows["kind"] == CONTROL]["label"]))
    return {label: one for label, one in found.items() if label in set(rows["label"])}


def _squeezed(value: float) -> float:
    """Return a number on a scale that is linear near 0 and logarithmic beyond."""
    return math.copysign(math.log10(1 + abs(value)), value)


def _ticks(low: float, high: float) -> list[float]:
    """Return 0 and powers of ten on a squeezed axis, largest first, none too close."""
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


class _Chart:
    """Axes for points; both are linear around 0, up to `even`, then logarithmic."""

    def __init__(
        self, size: tuple[float, float], xs: Sequence[float], ys: Sequence[float], even: float = 1.0
    ):
        self.width, self.height = size
        self.even = even
        places = [_squeezed(one / even) for one in (*xs, 0.0, even)]
        self.x_low, self.x_high = -0.04 * max(places), 1.05 * max(places)
        places = [_squeezed(one) for one in (*ys, 0.0)]
        room = 0.06 * (max(places) - min(places)) or 0.5
        self.y_low, self.y_high = min(places) - room, max(places) + room
        self.across, self.along = self.width - LEFT - RIGHT, self.height - TOP - BOTTOM
        self.parts: list[str] = []
        self.taken: list[tuple[float, float, float, float]] = []

    def x(self, value: float) -> float:
        part = (_squeezed(max(0.0, value) / self.even) - self.x_low) / (self.x_high - self.x_low)
        return LEFT + self.across * part

    def y(self, value: float) -> float:
        return TOP + self.along * (self.y_high - _squeezed(value)) / (self.y_high - self.y_low)

    def at(self, x: float, y: float) -> str:
        return f"{self.x(x):.1f} {self.y(y):.1f}"

    def axes(self, kept: float) -> None:
        """Draw the ground, green where a contract is kept, and the labels of the axes."""
        self.parts.append(
            f'<path class="k" d="M{LEFT} {TOP}H{self.x(kept):.1f}v{self.along}H{LEFT}z"/>'
        )
        bottom = TOP + self.along
        for tick in (self.even * one for one in _ticks(self.x_low, self.x_high)):
            x, word = f"{self.x(tick):.1f}", _word(tick)
            self.parts.append(f'<path class="g" d="M{x} {TOP}v{self.along}"/>')
            self.parts.append(f'<text class="m" x="{x}" y="{bottom + 14}">{word}</text>')
        for tick in _ticks(self.y_low, self.y_high):
            y = self.y(tick)
            self.parts.append(f'<path class="g" d="M{LEFT} {y:.1f}h{self.across}"/>')
            self.parts.append(
                f'<text class="e" x="{LEFT - 4}" y="{y + 4:.1f}">{_word(tick)}</text>'
            )
        self.parts.append(f'<path class="a" d="M{LEFT} {TOP}v{self.along}h{self.across}"/>')

    def line(self, points: Sequence[tuple[float, float]], look: str) -> None:
        if len(points) > 1:
            path = "L".join(self.at(*one) for one in points)
            self.parts.append(f'<path d="M{path}" {look}/>')

    def mark(
        self,
        look: tuple[str, str],
        place: tuple[float, float],
        words: str,
        scale: float = 1.0,
        more: str = "",
    ) -> None:
        colour, shape = look
        title = f"<title>{escape(words)}</title>" if words else ""
        self.parts.append(
            f'<path d="{shape}" fill="{colour}" stroke="{colour}" transform="translate('
            f'{self.at(*place)}) scale({scale})"{more}>{title}</path>'
        )

    def name(self, place: tuple[float, float], words: str, colour: str) -> None:
        """Write a name beside a point, where it covers the least of earlier names."""
        wide, x, y = WIDE * LETTER * len(words), self.x(place[0]), self.y(place[1])
        found = []
        for k, up in enumerate((0, -12, 12, -22, 22, -32, 32)):
            for start in (x + 8, x - 8 - wide):
                box = (start, y + up - 6, start + wide, y + up + 6)
                inside = box[0] >= LEFT and box[2] <= self.width and box[1] >= TOP
                inside = inside and box[3] <= TOP + self.along
                covers = sum(
                    max(0.0, min(box[2], one[2]) - max(box[0], one[0]))
                    * max(0.0, min(box[3], one[3]) - max(box[1], one[1]))
                    for one in self.taken
                )
                found.append((not inside, covers, k, box))
        box = min(found)[-1]
        self.taken.append(box)
        self.parts.append(
            f'<text x="{box[0]:.1f}" y="{box[3] - 2:.1f}" style="fill:{colour};paint-order:stroke;'
            f'stroke:#fff;stroke-width:3px">{escape(words)}</text>'
        )

    def svg(self, title: str, words: str, x: str, y: str) -> str:
        middle = LEFT + self.across / 2
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'role="img" aria-label="{escape(words)}" style="width:100%;background:#fff">'
            f'<style>{_STYLE}</style><text class="t" x="{LEFT}" y="15">{escape(title)}</text>'
            f'{"".join(self.parts)}<text class="m" x="{middle}" y="{self.height - 6}">{x}</text>'
            f'<text class="m" transform="translate(11 {TOP + self.along / 2}) rotate(-90)">{y}'
            "</text></svg>"
        )


def overview(terms: Terms, rows: pd.DataFrame, look: Looks) -> str:
    """Return the SVG of all policies that do not know the means, on all instances.

    `rows` are the standings of the contract. Large marks are means over the instances on which all
    of these policies were run, small ones the instances; both per thousand rounds. A dashed line
    joins the Pareto-optimal means of policies that do not ignore the contract.
    """
    plain = rivals(rows)
    points = plain.assign(
        x=thousandths(plain, "shortfall"), y=thousandths(plain, "contract_regret")
    )
    ran = points.groupby("instance")["label"].transform("nunique")
    here = points[ran == points["label"].nunique()]
    means = here.groupby("label", sort=False)[["x", "y"]].mean()
    chart = _Chart(LARGE, points["x"], points["y"], 100 * KEPT["kept"][1])
    chart.axes(1000 * KEPT["kept"][1])
    for one in points.itertuples():
        place = (one.x, one.y)
        chart.mark(look[one.label], place, f"{one.label}: {one.instance}", 0.4, ' opacity=".45"')
    ignoring = set(plain[plain["kind"] == CONTROL]["label"])
    serious = means[~means.index.isin(ignoring)].sort_values(["x", "y"])
    chart.line(
        list(
            serious[serious["y"] < serious["y"].cummin().shift(fill_value=math.inf)].itertuples(
                index=False
            )
        ),
        'class="f"',
    )
    for label, x, y in means.itertuples():
        chart.taken.append((chart.x(x) - 6, chart.y(y) - 6, chart.x(x) + 6, chart.y(y) + 6))
        words = f"{label}: contract regret {y:.3g}, shortfall {x:.3g} in 1 000 rounds"
        chart.mark(look[label], (x, y), words, 1.3)
    for label, x, y in means.itertuples():
        more = " (ignores it)" if label in ignoring else ""
        chart.name((x, y), f"{label}{more}", "#666" if more else "#222")
    words = f"{terms.title}: contract regret against shortfall of {len(means)} policies"
    thousand = "in 1\u202f000 rounds"
    return chart.svg(
        terms.title[0].upper() + terms.title[1:],
        *(words, f"shortfall, {terms.unit} {thousand}", f"contract regret, reward {thousand}"),
    )


def panel(
    title: str, rows: pd.DataFrame, look: Looks, unit: str, yours: Collection[str] = ()
) -> str:
    """Return the SVG of all policies on one instance; those in `yours` are larger, and named."""
    ends = [f"contract_regret_{end}" for end in ("low", "high")]
    chart = _Chart(SMALL, rows["shortfall_high"], rows[ends].to_numpy().ravel())
    chart.axes(KEPT["kept"][1] * rows["horizon"].iloc[0])
    best = rows[(rows["dominated_by"] == "") & (rows["kind"] != ORACLE)]
    best = best.sort_values(["shortfall", "contract_regret"], ascending=[True, False])
    chart.line(_places(best), 'class="f"')
    for label, own in rows.groupby("label", sort=False):
        colour = look[label][0]
        stroke = f'fill="none" stroke="{colour}"'
        chart.line(_places(own.sort_values("shortfall")), f'{stroke} opacity=".5"')
        for one in own.itertuples():
            place = (one.shortfall, one.contract_regret)
            low, high = one.contract_regret_low, one.contract_regret_high
            chart.line([(one.shortfall_low, place[1]), (one.shortfall_high, place[1])], stroke)
            chart.line([(place[0], low), (place[0], high)], stroke)
            words = f"{one.name}: contract regret {place[1]:.4g}, shortfall {place[0]:.4g}"
            hollow = ' style="fill:#fff"' if one.kind == ORACLE else ""
            scale = 1.7 if label in yours else 1.0 if one.usual else 0.6
            chart.mark(look[label], place, words, scale, hollow)
    for one in rows[rows["label"].isin(yours)].itertuples():
        chart.name((one.shortfall, one.contract_regret), one.label, look[one.label][0])
    words = f"{title}: contract regret against shortfall of {rows['label'].nunique()} policies"
    return chart.svg(title, words, f"shortfall, {unit}", "contract regret, reward")


def _places(rows: pd.DataFrame) -> list[tuple[float, float]]:
    return list(zip(rows["shortfall"], rows["contract_regret"], strict=True))


def legend(look: Looks, yours: Collection[str] = ()) -> str:
    """Return the legend of the points, as HTML."""
    items = []
    for label, (colour, shape) in look.items():
        mark = (
            '<svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true" '
            'style="background:#fff">'
            f'<path d="{shape}" fill="{colour}" stroke="{colour}"/></svg>'
        )
        name = f"<strong>{escape(label)}</strong>" if label in yours else escape(label)
        items.append(f'<span style="white-space:nowrap">{mark} {name}</span>')
    return f'<p style="display:flex;flex-wrap:wrap;gap:.2rem .9rem">{"".join(items)}</p>'


def grid(panels: Sequence[str], least: str = "17rem") -> str:
    """Return pictures side by side, as many as fit, as HTML."""
    columns = f"repeat(auto-fill,minmax(min({least},100%),1fr))"
    look = f"display:grid;grid-template-columns:{columns};gap:.8rem"
    return f'<div style="{look}">{"".join(panels)}</div>'
