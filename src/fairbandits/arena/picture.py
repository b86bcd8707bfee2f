"""Pictures of contract regret against shortfall, as SVG to be put into a page."""

import io
import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from itertools import cycle, product
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox

from fairbandits.arena.decisions import rivals, thousandths, with_symbols
from fairbandits.arena.roles import CONTROL, ORACLE, Terms
from fairbandits.arena.standings import KEPT
from fairbandits.library import style
from fairbandits.library.style import Picture, in_style
from fairbandits.numerals import significant

#: Width and height in inches of a picture of one instance, and of all instances of a contract.
SMALL, LARGE = (3.7, 2.9), (5.2, 4.3)
#: Marks of policies, and how a legend writes them: not every reader tells colours apart.
MARKS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚"}
#: Colours of a user's own policy, of those that ignore the contract, and of the ground where it is
#: kept.
YOURS, IGNORES, GROUND = "#c2003a", "#8a8a8a", "#e6f4ea"
#: Columns whose values in turn are the ends of a point's two intervals, along each axis.
BARS = (
    ["shortfall_low", "shortfall_high", "gap", "shortfall", "shortfall", "gap"],
    ["contract_regret"] * 2 + ["gap", "contract_regret_low", "contract_regret_high", "gap"],
)
DASHED = {"color": ".33", "dashes": (4, 3), "linewidth": 1}
#: Characters in a line of a name.
SHORT = 28
#: Names are written on a rim of the ground's colour.
RIM = "text{paint-order:stroke;stroke:#fff;stroke-width:2.5px}"
Looks = Mapping[str, tuple[str, str]]


def looks(labels: Sequence[str], rows: pd.DataFrame, yours: Collection[str] = ()) -> Looks:
    """Return colour and mark of each policy in standings; like colours have different marks."""
    ignoring = set(rows[rows["kind"] == CONTROL]["label"])
    own = dict.fromkeys(ignoring, IGNORES) | dict.fromkeys(yours, YOURS)
    colours = style.palette(labels) | {label: own[label] for label in labels if label in own}
    marks = zip(labels, cycle(MARKS), strict=False)
    present = set(rows["label"])
    return {label: (to_hex(colours[label]), mark) for label, mark in marks if label in present}


@in_style()
def overview(terms: Terms, rows: pd.DataFrame, look: Looks) -> str:
    """Return the SVG of all policies that do not know the means, on all instances of a contract."""
    points = rivals(rows[rows["usual"]])
    regret, shortfall = (thousandths(points, one) for one in ("contract_regret", "shortfall"))
    points = points.assign(x=shortfall, y=regret)
    ran = points.groupby("instance")["label"].transform("nunique")
    here = points[ran == points["label"].nunique()]
    means = here.groupby("label", sort=False)[["x", "y"]].mean()  # large marks
    ignoring = set(points[points["kind"] == CONTROL]["label"])
    serious = means[~means.index.isin(ignoring)].sort_values(["x", "y"])
    best = serious[serious["y"] < serious["y"].cummin().shift(fill_value=np.inf)]
    kept = 1000 * KEPT["kept"][1]
    axes = _axes(LARGE, 2 * points["x"], points["y"], kept, kept)  # with room for names
    thousand = "in 1\u202f000 rounds"
    over = f"large marks: mean of {here['instance'].nunique()} instances"
    axes.set_xlabel(f"shortfall ({_units(terms.unit)} {thousand})")
    axes.set_ylabel(f"contract regret (reward units {thousand})")
    axes.set_title(terms.title[0].upper() + terms.title[1:], loc="left", weight="bold")
    axes.set_title(over, loc="right", fontsize="small")
    faint = {"alpha": 0.4, "markeredgewidth": 0}
    for one in points.itertuples():
        _mark(axes, look[one.label], one.x, one.y, f"{one.label}: {one.instance}", 4, **faint)
    axes.plot(best["x"], best["y"], **DASHED)
    for label, x, y in means.itertuples():
        _mark(axes, look[label], x, y, f"{_titled(label, y, x)} {thousand}", 8.5)
    means["words"] = means.index
    means["colour"] = [".4" if one in ignoring else ".13" for one in means.index]
    _write_names(axes, means)
    return _svg(axes, terms.title, len(means))


@in_style()
def price_of_quotas(rows: pd.DataFrame) -> Picture:
    """Return what policies pay for keeping quotas: standings of one contract, instance, horizon.

    The regret is against the best arm, so that policies without quotas have the least.
    """
    paid = rows["price"] * rows["horizon"]  # also by a policy that knows the means
    ends = {end: rows[f"contract_regret{end}"] + paid for end in ("", "_low", "_high")}
    points = rows.assign(regret=ends[""], low=ends["_low"], high=ends["_high"])
    points = points[points["kind"] != ORACLE]
    points = points.sort_values(["label", "shortfall", "regret"], ascending=[True, True, False])
    spots = (30 * points["regret"] / points["regret"].max()).round()
    hidden = (points["shortfall"] < 1) & spots[points["shortfall"] < 1].duplicated(keep=False)
    points["setting"] = points["setting"].map(with_symbols).mask(hidden, "")
    plot = style.plot(points, "label", x="shortfall", y="regret", marker="label")
    plot = plot.add(so.Line(linewidth=0.8, linestyle="-", alpha=0.6), legend=False)
    plot = plot.add(so.Range(linestyle="-"), ymin="low", ymax="high", legend=False)
    plot = plot.add(so.Dot(pointsize=5, artist_kws={"clip_on": False}))
    text = so.Text(fontsize=5, halign="left", valign="bottom", offset=3)
    plot = plot.add(text, text="setting", legend=False)
    plot = plot.label(x="shortfall of the worst arm (pulls)", y="regret (reward units)")
    n, rounds = (style.in_short(rows[name].iloc[0]) for name in ("replicates", "horizon"))
    words = f"mean over n = {n} replicates of {rounds} rounds; bars: 95 % t interval"
    drawing = style.drawn((style.PAGE, 3.2), style.sentence(words), plot)
    style.scale(drawing.axes, x=1)
    for axes in drawing.axes:
        axes.set(xlim=(-0.1, 2 * points["shortfall"].max()), ylim=(0, None))
    return drawing


@in_style()
def panel(
    title: str, rows: pd.DataFrame, look: Looks, unit: str, yours: Collection[str] = ()
) -> str:
    """Return the SVG of all policies on one instance; those in `yours` are larger, and named."""
    rows = rows.assign(shortfall_low=rows["shortfall_low"].clip(lower=0), gap=np.nan)
    kept = KEPT["kept"][1] * rows["horizon"].iloc[0]
    axes = _axes(SMALL, rows[BARS[0]], rows[BARS[1]], kept, kept / 10)
    axes.set(xlabel=f"shortfall ({_units(unit)})", ylabel="contract regret (reward units)")
    axes.set_title(title, loc="left", weight="bold")
    best = rows[(rows["dominated_by"] == "") & (rows["kind"] != ORACLE)]
    best = best.sort_values(["shortfall", "contract_regret"], ascending=[True, False])
    axes.plot(best["shortfall"], best["contract_regret"], **DASHED)
    for label, own in rows.groupby("label", sort=False):
        colour = look[label][0]
        own = own.sort_values("shortfall")
        axes.plot(own["shortfall"], own["contract_regret"], color=colour, alpha=0.5, linewidth=1)
        bars = (own[ends].to_numpy().ravel() for ends in BARS)
        axes.plot(*bars, color=colour, linewidth=1)
        for one in own[["name", "kind", "usual", "contract_regret", "shortfall"]].itertuples():
            words = _titled(one.name, one.contract_regret, one.shortfall)
            size = 11 if label in yours else 6.5 if one.usual else 4
            inside = "w" if one.kind == ORACLE else colour
            at = one.shortfall, one.contract_regret
            _mark(axes, look[label], *at, words, size, markerfacecolor=inside)
    named = rows[rows["label"].isin(yours)][["shortfall", "contract_regret", "label"]]
    _write_names(axes, named.assign(colour=[look[label][0] for label in named["label"]]))
    return _svg(axes, title, rows["label"].nunique())


def _axes(size: tuple[float, float], xs: Any, ys: Any, kept: float, even: float) -> Axes:
    """Return axes for all points, green where a contract is kept; up to `even` y is linear."""
    width, height = size
    axes = Picture(size).add_axes((0.7 / width, 0.48 / height, 1 - 0.9 / width, 1 - 0.8 / height))
    style.scale([axes], x=kept / 10, y=even)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(numticks=6)
    axes.update_datalim([(0, 0), (kept, np.nanmin(ys)), (np.nanmax(xs), np.nanmax(ys))])
    axes.autoscale_view()
    limits = {"xlim": axes.get_xlim(), "ylim": axes.get_ylim()}
    axes.axvspan(limits["xlim"][0], kept, color=GROUND, linewidth=0)
    axes.set(**limits)
    axes.grid(color=".87")
    axes.tick_params(which="both", length=0)
    return axes


def _units(unit: str) -> str:
    return unit.replace("reward", "reward units")


def _titled(name: str, regret: float, shortfall: float) -> str:
    regret, shortfall = (significant(one, trimmed=True) for one in (regret, shortfall))
    return f"{with_symbols(name)}: contract regret {regret}, shortfall {shortfall}"


def _mark(
    axes: Axes, look: tuple[str, str], x: float, y: float, title: str, size: float, **more: Any
) -> None:
    """Draw a mark that says its title when it is pointed at."""
    colour, shape = look
    more |= {"color": colour, "markersize": size, "clip_on": False, "gid": title}
    axes.plot(x, y, shape, **more)


def _write_names(axes: Axes, rows: pd.DataFrame) -> None:
    """Write names (x, y, words, colour) where they cover the least of points and earlier names."""
    names = list(rows.itertuples(index=False))
    points = [axes.transData.transform(name[:2]) for name in names]
    taken = [Bbox([point - 8, point + 8]) for point in points]
    for x, y, words, colour in sorted(names, key=lambda name: -name[1]):
        look = {"textcoords": "offset points", "color": colour, "va": "center"}
        text = axes.annotate(style.wrapped(words, SHORT), (x, y), (0, 0), **look)
        places = []
        rises = sorted(range(-45, 46, 5), key=abs)
        for rise, (beside, side) in product(rises, ((7, "left"), (-7, "right"))):
            text.set(position=(beside, rise), horizontalalignment=side)
            box = text.get_window_extent()
            inside = axes.bbox.contains(box.x0, box.y0) and axes.bbox.containsy(box.y1)
            inside = inside and axes.figure.bbox.containsx(box.x1)
            shared = filter(None, (Bbox.intersection(box, other) for other in taken))
            covered = sum(each.width * each.height for each in shared)
            places.append((not inside, covered, len(places), beside, rise, side, box))
        *_, beside, rise, side, box = min(places)
        text.set(position=(beside, rise), horizontalalignment=side)
        taken.append(box)
        if abs(rise) > 10:
            away = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 0}
            axes.annotate("", (x, y), (beside, rise), textcoords="offset points", arrowprops=away)


def _svg(axes: Axes, title: str, n_policies: int) -> str:
    """Return the SVG of a picture; it scales, and has a text alternative."""
    file = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    axes.figure.savefig(file, format="svg", metadata=nothing)
    width, height = 72 * axes.figure.get_size_inches()
    words = f"{title}: contract regret against shortfall of {n_policies} policies"
    drawn = file.getvalue().partition("</defs>")[2].replace("'DejaVu Sans'", "sans-serif")
    drawn = re.sub(r"\s*\n\s*", " ", drawn).replace("> <", "><")
    drawn = re.sub(r' transform="rotate\(-0 [^"]*"', "", drawn)
    drawn = re.sub(r'<g id="[\w.]+"', "<g", drawn)  # the page's other pictures have the same ids
    drawn = re.sub(r'<g id="([^"]+ [^"]+)">', r"<g><title>\1</title>", drawn)
    drawn = re.sub("<[^>]*>", lambda tag: re.sub(r"(\d\.\d)\d{4,}", r"\1", tag[0]), drawn)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(words)}" '
        f'style="width:100%;background:#fff"><style>{RIM}</style>{drawn}'
    )
