"""Pictures of contract regret against shortfall, as SVG."""

import math
from collections.abc import Collection, Mapping, Sequence

import pandas as pd
from matplotlib.colors import to_hex

from fairbandits.arena.decisions import rivals, thousandths
from fairbandits.arena.roles import CONTROL, ORACLE, Terms
from fairbandits.arena.standings import KEPT
from fairbandits.library.style import COLOURS, OTHERS
from fairbandits.report.markup import Html, render

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
DASHED = Html('class="f"')
Looks = Mapping[str, tuple[str, str]]
Point = tuple[float, float]


def looks(
    labels: Sequence[str], yours: Collection[str] = (), ignoring: Collection[str] = ()
) -> dict[str, tuple[str, str]]:
    """Return colour and shape of each policy, a different pair for each."""
    chosen: dict[str, tuple[str, str]] = {}
    free = [to_hex(colour) for colour in OTHERS[1::3]]
    for k, label in enumerate(dict.fromkeys(labels)):
        colour = to_hex(COLOURS[label]) if label in COLOURS else free[k % len(free)]
        colour = YOURS if label in yours else IGNORES if label in ignoring else colour
        pairs = [(colour, SHAPES[(k + j) % len(SHAPES)]) for j in range(len(SHAPES))]
        chosen[label] = next((pair for pair in pairs if pair not in chosen.values()), pairs[0])
    return chosen


def looks_under(labels: Sequence[str], rows: pd.DataFrame, yours: Collection[str] = ()) -> Looks:
    """Return the looks of the policies in standings, grey for those that ignore the contract."""
    chosen = looks(labels, yours, set(rows[rows["kind"] == CONTROL]["label"]))
    return {label: look for label, look in chosen.items() if label in set(rows["label"])}


def _squeezed(value: float) -> float:
    """Return a number on a scale that is linear near 0 and logarithmic beyond."""
    return math.copysign(math.log10(1 + abs(value)), value)


def _ticks(low: float, high: float) -> list[float]:
    """Return 0 and powers of ten on a squeezed axis, largest first, none too close."""
    powers = [10.0**k for k in range(9, -3, -1)]
    kept: list[float] = []
    for tick in [0.0, *powers, *(-power for power in powers)]:
        place = _squeezed(tick)
        apart = min((abs(place - _squeezed(other)) for other in kept), default=math.inf)
        if low <= place <= high and apart > 0.14 * (high - low):
            kept.append(tick)
    return kept


def _in_short(value: float) -> str:
    size, sign = abs(value), "−" if value < 0 else ""
    unit, letter = next((one for one in ((1e6, "M"), (1e3, "k")) if size >= one[0]), (1, ""))
    return f"{sign}{size / unit:g}{letter}"


class _Chart:
    """Axes for points, linear around 0, on the x-axis up to `even`, and then logarithmic.

    The ground is green where a contract is `kept`.
    """

    def __init__(
        self,
        size: Point,
        xs: Sequence[float],
        ys: Sequence[float],
        kept: float,
        even: float = 1.0,
    ):
        self.width, self.height = size
        self.across, self.along = self.width - LEFT - RIGHT, self.height - TOP - BOTTOM
        self.even, self.kept = even, kept
        most = max(_squeezed(one / even) for one in (*xs, 0.0, even))
        self.x_low, self.x_high = -0.04 * most, 1.05 * most
        places = [_squeezed(one) for one in (*ys, 0.0)]
        room = 0.06 * (max(places) - min(places)) or 0.5
        self.y_low, self.y_high = min(places) - room, max(places) + room
        self.x_ticks = [
            (f"{self.x(tick):.1f}", _in_short(tick))
            for tick in (even * one for one in _ticks(self.x_low, self.x_high))
        ]
        self.y_ticks = [(self.y(tick), _in_short(tick)) for tick in _ticks(self.y_low, self.y_high)]
        self.parts: list[Html] = []
        self.taken: list[tuple[float, float, float, float]] = []

    def x(self, value: float) -> float:
        part = (_squeezed(max(0.0, value) / self.even) - self.x_low) / (self.x_high - self.x_low)
        return LEFT + self.across * part

    def y(self, value: float) -> float:
        return TOP + self.along * (self.y_high - _squeezed(value)) / (self.y_high - self.y_low)

    def at(self, point: Point) -> str:
        return f"{self.x(point[0]):.1f} {self.y(point[1]):.1f}"

    def line(self, points: Sequence[Point], look: Html) -> None:
        if len(points) > 1:
            path = "L".join(map(self.at, points))
            self.parts.append(Html('<path d="M{}" {}/>').format(path, look))

    def mark(
        self, look: tuple[str, str], point: Point, title: str, scale: float = 1.0, more: str = ""
    ) -> None:
        drawn = '<path d="{}" fill="{}" stroke="{}" transform="translate({}) scale({})"{}>'
        colour, shape = look
        path = Html(drawn).format(shape, colour, colour, self.at(point), scale, Html(more))
        self.parts.append(path + Html("<title>{}</title></path>").format(title))

    def name(self, point: Point, words: str, colour: str) -> None:
        """Write a name beside a point, where it covers the least of earlier names."""
        wide, x, y = WIDE * LETTER * len(words), self.x(point[0]), self.y(point[1])
        places = []
        for k, up in enumerate((0, -12, 12, -22, 22, -32, 32)):
            for start in (x + 8, x - 8 - wide):
                left, top, right, bottom = box = (start, y + up - 6, start + wide, y + up + 6)
                inside = left >= LEFT and right <= self.width
                inside = inside and top >= TOP and bottom <= TOP + self.along
                covers = sum(
                    max(0.0, min(right, other[2]) - max(left, other[0]))
                    * max(0.0, min(bottom, other[3]) - max(top, other[1]))
                    for other in self.taken
                )
                places.append((not inside, covers, k, box))
        box = min(places)[-1]
        self.taken.append(box)
        text = (
            '<text x="{:.1f}" y="{:.1f}" style="fill:{};paint-order:stroke;'
            'stroke:#fff;stroke-width:3px">{}</text>'
        )
        self.parts.append(Html(text).format(box[0], box[3] - 2, colour, words))

    def svg(self, title: str, n_policies: int, of_title: str, x_label: str, y_label: str) -> Html:
        return render(
            "chart.html",
            chart=self,
            left=LEFT,
            top=TOP,
            letter=LETTER,
            title=title,
            words=f"{of_title}: contract regret against shortfall of {n_policies} policies",
            x_label=x_label,
            y_label=y_label,
        )


def overview(terms: Terms, rows: pd.DataFrame, look: Looks) -> Html:
    """Return the SVG of all policies that do not know the means, on all instances of a contract.

    Large marks are means over the instances on which all of these policies were run, small ones the
    instances; both per thousand rounds. A dashed line joins the Pareto-optimal means of policies
    that do not ignore the contract.
    """
    plain = rivals(rows)
    points = plain.assign(
        x=thousandths(plain, "shortfall"), y=thousandths(plain, "contract_regret")
    )
    ran = points.groupby("instance")["label"].transform("nunique")
    here = points[ran == points["label"].nunique()]
    means = here.groupby("label", sort=False)[["x", "y"]].mean()
    part = KEPT["kept"][1]
    chart = _Chart(LARGE, points["x"], points["y"], 1000 * part, 100 * part)
    for one in points.itertuples():
        title = f"{one.label}: {one.instance}"
        chart.mark(look[one.label], (one.x, one.y), title, 0.4, ' opacity=".45"')
    ignoring = set(plain[plain["kind"] == CONTROL]["label"])
    serious = means[~means.index.isin(ignoring)].sort_values(["x", "y"])
    best = serious[serious["y"] < serious["y"].cummin().shift(fill_value=math.inf)]
    chart.line(list(best.itertuples(index=False)), DASHED)
    for label, x, y in means.itertuples():
        chart.taken.append((chart.x(x) - 6, chart.y(y) - 6, chart.x(x) + 6, chart.y(y) + 6))
        title = f"{label}: contract regret {y:.3g}, shortfall {x:.3g} in 1 000 rounds"
        chart.mark(look[label], (x, y), title, 1.3)
    for label, x, y in means.itertuples():
        more = " (ignores it)" if label in ignoring else ""
        chart.name((x, y), f"{label}{more}", "#666" if more else "#222")
    thousand = "in 1\u202f000 rounds"
    labels = f"shortfall, {terms.unit} {thousand}", f"contract regret, reward {thousand}"
    capital = terms.title[0].upper() + terms.title[1:]
    return chart.svg(capital, len(means), terms.title, *labels)


def panel(
    title: str, rows: pd.DataFrame, look: Looks, unit: str, yours: Collection[str] = ()
) -> Html:
    """Return the SVG of all policies on one instance; those in `yours` are larger, and named."""
    regrets = rows[["contract_regret_low", "contract_regret_high"]].to_numpy().ravel()
    kept = KEPT["kept"][1] * rows["horizon"].iloc[0]
    chart = _Chart(SMALL, rows["shortfall_high"], regrets, kept)
    best = rows[(rows["dominated_by"] == "") & (rows["kind"] != ORACLE)]
    best = best.sort_values(["shortfall", "contract_regret"], ascending=[True, False])
    chart.line(_points(best), DASHED)
    for label, own in rows.groupby("label", sort=False):
        stroke = Html('fill="none" stroke="{}"').format(look[label][0])
        chart.line(_points(own.sort_values("shortfall")), stroke + Html(' opacity=".5"'))
        for one, (x, y) in zip(own.itertuples(), _points(own), strict=True):
            chart.line([(one.shortfall_low, y), (one.shortfall_high, y)], stroke)
            chart.line([(x, one.contract_regret_low), (x, one.contract_regret_high)], stroke)
            words = f"{one.name}: contract regret {y:.4g}, shortfall {x:.4g}"
            hollow = ' style="fill:#fff"' if one.kind == ORACLE else ""
            scale = 1.7 if label in yours else 1.0 if one.usual else 0.6
            chart.mark(look[label], (x, y), words, scale, hollow)
    for one in rows[rows["label"].isin(yours)].itertuples():
        chart.name((one.shortfall, one.contract_regret), one.label, look[one.label][0])
    n_policies = rows["label"].nunique()
    return chart.svg(title, n_policies, title, f"shortfall, {unit}", "contract regret, reward")


def _points(rows: pd.DataFrame) -> list[Point]:
    return list(zip(rows["shortfall"], rows["contract_regret"], strict=True))
