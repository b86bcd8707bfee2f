"""The look of pictures, whatever the user's settings; equal data give files of equal bytes.

Seaborn draws them: its theme, its palette for colour-blind readers and its dashes.
"""

import io
import math
import textwrap
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from itertools import cycle, product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
import seaborn as sns
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullLocator, ScalarFormatter

from fairbandits.data.whole import replacing
from fairbandits.numerals import significant

PALETTE = sns.color_palette("colorblind")
#: Seaborn's theme for papers, its texts smaller: a picture is printed as wide as it is drawn. Axes
#: begin where the data do, names are no formulas, and files hold no time.
OWN = {"axes.xmargin": 0, "axes.titlesize": 7, "axes.spines.top": False, "axes.spines.right": False}
OWN |= {"legend.frameon": False, "font.family": "DejaVu Sans", "text.parse_math": False}
OWN |= {"svg.hashsalt": "fairbandits", "svg.fonttype": "none"}
OWN |= {"axes.prop_cycle": mpl.cycler(color=PALETTE)}
THEME = sns.axes_style("ticks") | sns.plotting_context("paper", font_scale=0.8) | OWN
#: A context, or decorator, of our theme over Matplotlib's defaults; settings of the user change
#: nothing, and are as before afterwards.
in_style = partial(mpl.style.context, THEME, after_reset=True)
#: Widths of a picture in a column and across a page, in inches.
COLUMN, PAGE = 3.4, 7.0
ROUNDS = "number of rounds"
#: Places of policies in the palette, the same in all pictures; others get free ones, none grey.
PLACES = {"BanditQ": 0, "LFG": 1, "oracle LFG": 1, "Fair-UCB": 2, "Flearn": 2, "BF-UCB": 3}
PLACES |= {"HT-UCB": 4, "UCB1": 5, "UCB": 5, "GEF": 2, "MF": 9}
GREY = 7
PLACES |= dict.fromkeys(("prophet", "best fair policy"), GREY)
LAW_TITLES = {
    "uniform02": "rewards uniform on [0, 2μ] (released program)",
    "uniform02_clipped": "rewards uniform on [0, 2μ], at most 1",
    "bernoulli": "Bernoulli rewards (within the stated [0, 1])",
    "gaussian": "Gaussian rewards",
    "beta": "beta rewards",
    "deterministic": "rewards without noise",
}
#: Points drawn of a curve; the tables keep all.
DRAWN = 500
#: Characters in a line of a name, the lines of one, and characters of a note to an inch.
LINE, LINES, NOTE = 40, 4, 22
RUNS, MEAN = ({"ymin": f"{name}_low", "ymax": f"{name}_high"} for name in ("run", "mean"))
ONE = so.Line(linewidth=0.5, linestyle="-", alpha=0.8)
#: What is drawn of a summary of `summarise`: mark, columns, and words for a note.
LAYERS = {
    "runs": (so.Band(alpha=0.15, edgewidth=0), RUNS, "light band: 95 % of the replicates"),
    "interval": (so.Band(alpha=0.4, edgewidth=0), MEAN, "dark band: 95 % t interval of the mean"),
    "one": (ONE, {"y": "one_run"}, "thin line: one replicate"),
    "mean": (so.Line(), {"y": "mean"}, ""),
}
ALL, SPREAD = tuple(LAYERS), ("runs", "interval", "mean")
MEANS, POINTS = ("interval", "mean"), ("mean",)
#: A horizontal line of a known value, a point's interval, and a number read off a publication.
LEVEL = so.Line(linestyle=(0, (1, 2)), linewidth=0.9)
BAR = so.Range(linestyle="-", linewidth=0.8)
CIRCLE = so.Dot(
    color="black", fill=False, marker="o", pointsize=4, artist_kws={"clip_on": False, "zorder": 3}
)
#: For layers whose marks look alike: seaborn tries all combinations of what tells them apart.
ALIKE = dict.fromkeys(("linestyle", "marker", "fill"))


class Picture(Figure):
    """A figure without a window, the same under all settings; a notebook shows it once."""

    draw, savefig = in_style()(Figure.draw), in_style()(Figure.savefig)

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=150)
        return image.getvalue()


def palette(names: Iterable[str]) -> dict[str, Any]:
    """Return the colours of policies, arms or quantities; ``LFG, η = 1`` is a shade of LFG's."""
    families = {name: name.partition(", ")[0] for name in names}
    known = {name: PALETTE[PLACES[family]] for name, family in families.items() if family in PLACES}
    taken = {*known.values(), PALETTE[GREY]}
    free = cycle([colour for colour in PALETTE if colour not in taken] or PALETTE)
    colours = {name: known.get(name) or next(free) for name in families}
    for family in set(families.values()) & set(PLACES):
        colour = PALETTE[PLACES[family]]
        kin = [name for name, base in families.items() if base == family != name]
        ends = (sns.set_hls_values(colour, l=lightness) for lightness in (0.25, 0.62))
        colours |= zip(kin, sns.blend_palette([next(ends), colour, *ends], len(kin)), strict=True)
    return colours


def plot(rows: pd.DataFrame, by: str, colours: Any = None, **columns: str) -> so.Plot:
    """Return a plot of rows in our theme, with colours and dashes by a column's values.

    `colours` are of these values in an order of their own, or a palette of seaborn's.
    """
    names = [*colours] if isinstance(colours, dict) else [*rows[by].unique()]
    looks = dict.fromkeys(("linestyle", *({"marker"} & {*columns})), so.Nominal(order=names))
    looks["color"] = so.Nominal(colours or palette(names), order=names)
    shown = so.Plot(rows.reset_index(drop=True), color=by, linestyle=by, **columns)
    return shown.theme(THEME).scale(**looks).label(**dict.fromkeys(looks, ""))


def curves(
    rows: pd.DataFrame,
    *others: pd.DataFrame,
    by: str = "series",
    colours: Any = None,
    x: str = "round",
    layers: Sequence[str] = ALL,
    mean: so.Mark = LAYERS["mean"][0],
) -> so.Plot:
    """Return a plot of summaries of `summarise`, each thinned to what can be seen.

    `layers` are names of what is drawn of each; `mean` is another mark than a line. The rows of
    others can be drawn too, from columns of their own.
    """
    places = np.sort(rows[x].unique())
    seen = places[np.linspace(0, len(places) - 1, DRAWN, dtype=int)]
    drawing = plot(pd.concat([rows[rows[x].isin(seen)], *others]), by, colours, x=x)
    for name in layers:
        mark, columns, _ = LAYERS[name]
        is_mean = name == "mean"
        drawing = drawing.add(mean if is_mean else mark, legend=is_mean, **columns)
    return drawing


def note(rows: pd.DataFrame, layers: Sequence[str], *more: str) -> list[str]:
    """Return what lines and bands of curves are, and of how many replicates."""
    n = " or ".join(f"{n:,}".replace(",", "\u202f") for n in sorted(set(rows["n_replicates"])))
    mean = f"line: mean over n = {n} replicates"
    return [mean, *(LAYERS[layer][2] for layer in reversed(layers[:-1])), *more]


def drawn(
    size: tuple[float, float],
    said: Sequence[str],
    *plots: so.Plot,
    columns: int = 1,
    share: str = "none",
) -> Picture:
    """Return a picture of a plot, or of one in each panel, with letters, a legend and a note.

    The legend above names the curves of all panels. The note below is what is `said`. Panels of
    "all", or of each "row", can `share` their vertical axis.
    """
    figure = Picture(figsize=size, layout="constrained")
    shape = -(-len(plots) // columns), columns
    grid = (
        figure.subplots(*shape, squeeze=False, sharey=share) if plots[1:] else np.array([[figure]])
    )
    for spare in grid.flat[len(plots) :]:
        spare.remove()
    for spot, drawing in zip(grid.flat, plots, strict=False):
        drawing.on(spot).plot()
    for axes, left in zip(grid[:, 1:].flat, grid[:, :-1].flat, strict=True):
        axes.yaxis.label.set_visible(axes.get_ylabel() != left.get_ylabel())
    for axes, below in zip(grid[:-1].flat, grid[1:].flat, strict=True):
        axes.xaxis.label.set_visible(axes.get_xlabel() != below.get_xlabel())
    for letter, axes in zip(ascii_lowercase, figure.axes[1:] and figure.axes, strict=False):
        axes.set_title(letter, loc="left", weight="bold")
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if isinstance(axis.get_major_formatter(), ScalarFormatter):
            axis.set_major_formatter(in_short)
    handles: dict[str, Any] = {}
    for legend in figure.legends:
        names = (text.get_text() for text in legend.texts)
        handles |= zip(names, legend.legend_handles, strict=True)
    figure.legends.clear()
    names, characters = [*map(wrapped, handles)], size[0] * NOTE
    across = int(0.8 * characters / (5 + max(map(len, names), default=0)))
    figure.legend([*handles.values()], names, loc="outside upper center", ncols=max(1, across))
    notes = "; ".join(filter(None, said))
    width = len(notes) / math.ceil(len(notes) / characters) + 9  # lines of about equal lengths
    lines = textwrap.fill(f"{notes[:1].upper()}{notes[1:]}.", round(min(width, characters)))
    figure.supxlabel(lines, fontsize="small", color=".3")
    return figure


def scale(panels: Iterable[Axes], **axes: Any) -> None:
    """Set scales of axes: ``x="log"``, or the number below which a logarithmic axis is linear."""
    for panel, (name, kind) in product(panels, axes.items()):
        options = {} if kind == "log" else {"linthresh": kind, "linscale": 0.4}
        getattr(panel, f"set_{name}scale")("symlog" if options else "log", **options)
        panel.autoscale(axis=name)
        axis = getattr(panel, f"{name}axis")
        axis.set_major_formatter(in_short)
        axis.set_minor_locator(NullLocator())


def in_short(value: float, _: Any = None) -> str:
    """Return a number at a tick: 0.01, 250, 10k, 2.5M."""
    return EngFormatter(sep="")(value) if abs(value) >= 1000 else significant(value, trimmed=True)


def wrapped(name: str, line: int = LINE) -> str:
    """Return a name in lines that fit into a legend; a very long one is cut off."""
    shown = "".join(char if char.isprintable() or char == "\n" else " " for char in name)
    how = {"width": line, "replace_whitespace": False, "drop_whitespace": False}
    lines = [piece for part in shown.split("\n") for piece in textwrap.wrap(part, **how) or [""]]
    return "\n".join(lines[:LINES] + ["…"] * (len(lines) > LINES))


def save(figure: Figure, svg: Path, png: Path, title: str, description: str) -> None:
    """Write a figure as SVG, which tells what it shows, and as PNG of at most 1600 pixels width."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    image = io.StringIO()
    figure.savefig(image, format="svg", metadata={"Date": None, "Title": title})
    described = f"</title>\n <desc>{escape(description)}</desc>"
    with replacing(svg) as temporary:
        temporary.write_text(image.getvalue().replace("</title>", described, 1), encoding="utf-8")
    with replacing(png) as temporary:
        figure.savefig(temporary, dpi=min(300, 1600 / figure.get_figwidth()))
