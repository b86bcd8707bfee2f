"""The look of pictures, whatever the user's settings; equal data give files of equal bytes.

Seaborn draws them: its theme, its palette for colour-blind readers and its dashes.
"""

import io
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import matplotlib as mpl
import matplotlib.style
import pandas as pd
import seaborn as sns
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter, NullLocator, ScalarFormatter

from fairbandits.data.whole import replacing
from fairbandits.numerals import significant

PALETTE = sns.color_palette("colorblind")
#: Seaborn's theme for papers, its texts smaller: a picture is printed as wide as it is drawn. Axes
#: begin where the data do, names are no formulas, and files hold no time.
OWN = {"axes.xmargin": 0, "axes.titlesize": 7, "axes.spines.top": False, "axes.spines.right": False}
OWN |= {"legend.frameon": False, "font.family": "DejaVu Sans", "text.parse_math": False}
OWN |= {
    "svg.hashsalt": "fairbandits",
    "svg.fonttype": "none",
    "axes.prop_cycle": mpl.cycler(color=PALETTE),
}
THEME = sns.axes_style("ticks") | sns.plotting_context("paper", font_scale=0.8) | OWN
#: Widths of a picture in a column and across a page, in inches.
COLUMN, PAGE = 3.4, 7.0
#: Places of policies in the palette, the same in all pictures; others get free ones.
PLACES = {"BanditQ": 0, "LFG": 1, "oracle LFG": 1, "Fair-UCB": 2, "Flearn": 2, "BF-UCB": 3}
PLACES |= {"HT-UCB": 4, "UCB1": 5, "UCB": 5, "GEF": 2, "MF": 9}
PLACES |= dict.fromkeys(("prophet", "best fair policy", "static benchmark, played"), 7)
LAW_TITLES = {
    "uniform02": "rewards uniform on [0, 2μ] (released program)",
    "bernoulli": "Bernoulli rewards (within the stated [0, 1])",
    "gaussian": "Gaussian rewards",
    "beta": "beta rewards",
    "deterministic": "rewards without noise",
}
#: Points drawn of a curve; the tables keep all.
DRAWN = 500
#: Characters in a line of a name, the lines of one, and characters of a note to an inch.
LINE, LINES, NOTE = 40, 4, 22
#: What is drawn of a summary of `summarise`: mark, columns, and words for a note.
LAYERS = {
    "runs": (
        so.Band(alpha=0.15, edgewidth=0),
        {"ymin": "run_low", "ymax": "run_high"},
        "light band: 95 % of the replicates",
    ),
    "interval": (
        so.Band(alpha=0.4, edgewidth=0),
        {"ymin": "mean_low", "ymax": "mean_high"},
        "dark band: 95 % t interval of the mean",
    ),
    "one": (
        so.Line(linewidth=0.5, linestyle="-", alpha=0.8),
        {"y": "one_run"},
        "thin line: one replicate",
    ),
    "mean": (so.Line(), {"y": "mean"}, ""),
}
ALL, SPREAD = tuple(LAYERS), ("runs", "interval", "mean")
MEANS, POINTS = ("interval", "mean"), ("mean",)
#: Columns of a summary that differ from point to point.
NUMBERS = [*{one: None for _, columns, _ in LAYERS.values() for one in columns.values()}]
#: A horizontal line of a known value.
LEVEL = so.Line(linestyle=(0, (1, 2)), linewidth=0.9)


def in_style() -> AbstractContextManager:
    """Draw in our theme over Matplotlib's defaults; settings of the user count neither way.

    The value is a decorator too.
    """
    return mpl.style.context(THEME, after_reset=True)


class Picture(Figure):
    """A figure without a window, the same under all settings; a notebook shows it once."""

    draw, savefig = in_style()(Figure.draw), in_style()(Figure.savefig)

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=150)
        return image.getvalue()


def palette(names: Iterable[str]) -> dict[str, Any]:
    """Return the colours of policies, arms or quantities; ``LFG, η = 1`` is a shade of LFG's."""
    names = [*names]
    known = {name: name.partition(", ")[0] for name in names}
    colours = {name: PALETTE[PLACES[one]] for name, one in known.items() if one in PLACES}
    for family in dict.fromkeys(known[name] for name in colours if known[name] != name):
        kin = [name for name in colours if known[name] == family != name]
        base = PALETTE[PLACES[family]]
        ends = [sns.set_hls_values(base, l=level) for level in (0.72, 0.25)]
        shades = sns.blend_palette([ends[0], base, ends[1]], len(kin) + (len(kin) < 3))
        colours |= zip(kin, shades[::-1] if len(kin) < 3 else shades, strict=False)
    free = [one for one in PALETTE if one not in colours.values()] or PALETTE
    others = (name for name in names if name not in colours)
    colours |= {name: free[k % len(free)] for k, name in enumerate(others)}
    return {name: colours[name] for name in names}


def plot(rows: pd.DataFrame, by: str, colours: Any = None, **columns: str) -> so.Plot:
    """Return a plot of rows in our theme, with colours and dashes by a column's values.

    `colours` are of these values in an order of their own, or a palette of seaborn's.
    """
    names = list(dict.fromkeys(rows[by]))
    colours = palette(names) if colours is None else colours
    names = list(colours) if isinstance(colours, dict) else names
    shown = so.Plot(rows.reset_index(drop=True), color=by, linestyle=by, **columns)
    looks = {"color": so.Nominal(colours, order=names), "linestyle": so.Nominal(order=names)}
    looks |= {"marker": so.Nominal(order=names)} if "marker" in columns else {}
    return shown.theme(THEME).scale(**looks).label(**dict.fromkeys(looks, ""))


def curves(
    rows: pd.DataFrame,
    *others: pd.DataFrame,
    by: str = "series",
    colours: Any = None,
    x: str = "round",
    layers: Sequence[str] = ALL,
    mean: Any = None,
) -> so.Plot:
    """Return a plot of summaries of `summarise`, each thinned to what can be seen.

    `layers` are names of what is drawn of each; `mean` is another mark than a line. The rows of
    others can be drawn too, from columns of their own.
    """
    same = [one for one in rows.columns if rows[one].dtype.kind not in "iu" and one not in NUMBERS]
    each = rows.groupby([one for one in same if one != x], sort=False, dropna=False)["mean"]
    place, last = each.cumcount(), each.transform("size") - 1
    thinned = rows[place * (DRAWN - 1) % last.clip(lower=1) < DRAWN - 1]
    drawing = plot(pd.concat([thinned, *others]) if others else thinned, by, colours, x=x)
    for name in layers:
        usual, columns, _ = LAYERS[name]
        own = mean if name == "mean" and mean else usual
        drawing = drawing.add(own, legend=name == "mean", **columns)
    return drawing


def note(rows: pd.DataFrame, layers: Sequence[str], *more: str) -> str:
    """Return what lines and bands of curves are, and of how many replicates, as a sentence."""
    n = " or ".join(f"{one:,}".replace(",", "\u202f") for one in sorted(set(rows["n_replicates"])))
    first = f"line: mean over n = {n} replicates"
    return sentence(first, *(LAYERS[one][2] for one in reversed(layers[:-1])), *more)


def sentence(*words: str) -> str:
    """Return words as a sentence for the note of a picture."""
    said = "; ".join(filter(None, words))
    return said[:1].upper() + said[1:] + "."


def drawn(size: tuple[float, float], note: str, *plots: so.Plot, columns: int = 1) -> Picture:
    """Return a picture of a plot, or of one in each panel, with letters, a legend and a note."""
    figure = Picture(figsize=size, layout="constrained")
    places = [figure]
    if len(plots) > 1:
        places = figure.subplots(-(-len(plots) // columns), columns, squeeze=False).flat
    for place in places[len(plots) :]:
        place.remove()
    for place, one in zip(places, plots, strict=False):
        one.on(place).plot()
    for k, axes in enumerate(figure.axes[: len(plots) if plots[1:] else 0]):
        beside, below = figure.axes[k - k % columns], figure.axes[k + columns : k + columns + 1]
        axes.yaxis.label.set_visible(axes == beside or axes.get_ylabel() != beside.get_ylabel())
        axes.xaxis.label.set_visible(axes.get_xlabel() not in [one.get_xlabel() for one in below])
    finish(figure, note)
    return figure


def finish(figure: Figure, note: str, letters: bool = True) -> None:
    """Letter the panels; write the names of all curves above them, and below what is drawn."""
    panels = figure.axes
    for letter, axes in zip(
        ascii_lowercase, panels if letters and len(panels) > 1 else (), strict=False
    ):
        axes.set_title(letter, loc="left", weight="bold")
    for axis in (axis for axes in panels for axis in (axes.xaxis, axes.yaxis)):
        if isinstance(axis.get_major_formatter(), ScalarFormatter):
            axis.set_major_formatter(in_short)
    named = {
        text.get_text(): handle
        for one in figure.legends
        for text, handle in zip(one.get_texts(), one.legend_handles, strict=True)
    }
    figure.legends.clear()
    names = [*map(wrapped, named)]
    columns = max(
        1, int(figure.get_figwidth() * NOTE * 0.8 / (5 + max(map(len, names), default=0)))
    )
    look = {"loc": "outside upper center", "ncols": min(columns, max(1, len(names)))}
    figure.legend([*named.values()], names, **look)
    if note:
        lines = textwrap.fill(note, round(figure.get_figwidth() * NOTE))
        figure.supxlabel(lines, fontsize="small", color=".3")


def scale(axes: Iterable[Axes], **axis: Any) -> None:
    """Set a scale of axes: ``x="log"``, or the number below which a logarithmic axis is linear."""
    for one in axes:
        for name, kind in axis.items():
            options = {} if kind == "log" else {"linthresh": kind, "linscale": 0.4}
            getattr(one, f"set_{name}scale")("symlog" if options else "log", **options)
            one.autoscale(axis=name)
            own = getattr(one, f"{name}axis")
            own.set_major_formatter(in_short)
            own.set_minor_formatter(NullFormatter())
            own.set_minor_locator(NullLocator())


def align(panels: Sequence[Axes], bottom: float | None = None) -> None:
    """Let the vertical axes of some panels have the same ends."""
    lowest, most = zip(*(one.get_ylim() for one in panels), strict=True)
    for one in panels:
        one.set_ylim(min(lowest) if bottom is None else bottom, max(most))


def in_short(value: float, _: Any = None) -> str:
    """Return a number at a tick: 0.01, 250, 10k, 2.5M."""
    if abs(value) >= 1000:
        return EngFormatter(sep="")(value)
    return significant(value, trimmed=True)


def wrapped(name: str, line: int = LINE) -> str:
    """Return a name in lines that fit into a legend; a very long one is cut off."""
    shown = "".join(one if one.isprintable() or one == "\n" else " " for one in name)
    how = {"width": line, "replace_whitespace": False, "drop_whitespace": False}
    lines = [one for part in shown.split("\n") for one in textwrap.wrap(part, **how) or [""]]
    return "\n".join(lines[:LINES] + ["…"] * (len(lines) > LINES))


def save(figure: Figure, svg: Path, png: Path) -> None:
    """Write a figure as SVG and as PNG of at most 1600 pixels width."""
    draw, engine = figure.draw, figure.get_layout_engine() or "none"
    # what is drawn before each file, while there is an engine, is for the layout alone
    figure.draw = lambda renderer: (
        engine.execute(figure) if figure.get_layout_engine() is engine else draw(renderer)
    )
    with replacing(svg) as temporary:
        figure.savefig(temporary, metadata={"Date": None})
    with replacing(png) as temporary:
        figure.savefig(temporary, dpi=min(300, 1600 / figure.get_figwidth()))
    del figure.draw
