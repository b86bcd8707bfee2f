"""The look of pictures, whatever the user's settings; equal data give files of equal bytes."""

import colorsys
import hashlib
import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from fairbandits.data.whole import replacing

#: Seaborn's palette for colour-blind readers.
PALETTE = [
    to_rgb(one)
    for one in (
        *("#0173B2", "#DE8F05", "#029E73", "#D55E00", "#CC78BC"),
        *("#CA9161", "#FBAFE4", "#949494", "#ECE133", "#56B4E9"),
    )
]
#: Seaborn's theme for papers with ticks, its texts a tenth larger; and files that hold no time and
#: nothing of the process.
_TEXT, _SMALL_TEXT = 12 * 0.8 * 1.1, 11 * 0.8 * 1.1
THEME = {
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color"), ".15"),
    **dict.fromkeys(("xtick.color", "ytick.color"), ".15"),
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), _TEXT),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), _SMALL_TEXT),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 1.25 * 0.8),
    **dict.fromkeys(("patch.linewidth", "xtick.minor.width", "ytick.minor.width"), 0.8),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 6 * 0.8),
    **dict.fromkeys(("xtick.minor.size", "ytick.minor.size"), 4 * 0.8),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    "legend.title_fontsize": _TEXT,
    "lines.linewidth": 1.5 * 0.8,
    "lines.markersize": 6 * 0.8,
    "lines.solid_capstyle": "round",
    "axes.axisbelow": True,
    "axes.prop_cycle": mpl.cycler("color", PALETTE),
    "grid.color": ".8",
    "grid.linewidth": 0.8,
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "fairbandits",
    "svg.fonttype": "none",
}


def _lit(colour: Any, lightness: float) -> tuple[float, float, float]:
    hue, _, saturation = colorsys.rgb_to_hls(*to_rgb(colour))
    return colorsys.hls_to_rgb(hue, lightness, saturation)


def _picked(choices: Sequence[Any], label: str) -> Any:
    """Return the choice for a label, the same in every process."""
    digest = hashlib.blake2b(f"{len(choices)} {label}".encode(), digest_size=8).digest()
    return choices[int.from_bytes(digest, "big") % len(choices)]


class Colours(dict):
    """Colours of policies, arms and quantities by label; other labels get one from a hash."""

    def __missing__(self, label: str) -> Any:
        return _picked(OTHERS, label)


#: Colours of labels without an entry: the palette for colour-blind readers, in three shades.
OTHERS = [_lit(one, level) for one in PALETTE for level in (0.3, 0.45, 0.6)]
OTHER_DASHES = ["-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1))]
#: Colours of policies and arms, the same in all figures.
COLOURS = Colours(
    {
        "BanditQ": PALETTE[0],
        "oracle LFG": PALETTE[1],
        "LFG": PALETTE[1],
        "Fair-UCB": PALETTE[2],
        "Flearn": PALETTE[2],
        "HT-UCB": PALETTE[4],
        "HT-UCB, soft threshold": _lit(PALETTE[4], 0.35),
        "LFG, even grid": _lit(PALETTE[1], 0.3),
        "prophet": PALETTE[7],
        "BF-UCB": PALETTE[3],
        "BF-UCB, δ outside": _lit(PALETTE[3], 0.3),
        "BF-UCB, whole box": _lit(PALETTE[3], 0.75),
        "GEF": _lit(PALETTE[2], 0.25),
        "MF": PALETTE[9],
        "best fair policy": PALETTE[7],
        "UCB": PALETTE[5],
        "UCB1, cut off at 1": _lit(PALETTE[5], 0.35),
        "UCB, BF-UCB's width": PALETTE[7],
        "UCB, BF-UCB's width, random ties": PALETTE[6],
        "UCB1": PALETTE[5],
        "static benchmark, played": PALETTE[7],
        "arm 1": PALETTE[0],
        "arm 2": PALETTE[1],
        "regret": PALETTE[0],
    }
)
#: Line styles; controls are dashed, since they can coincide with another curve.
DASHES = {
    **dict.fromkeys(("static benchmark, played", "prophet", "best fair policy", "UCB1"), "--"),
    "HT-UCB, soft threshold": (0, (1, 1)),
}
LAW_TITLES = {
    "uniform02": "rewards uniform on [0, 2μ] (released program)",
    "bernoulli": "Bernoulli rewards (within the stated [0, 1])",
    "gaussian": "Gaussian rewards",
    "beta": "beta rewards",
    "deterministic": "rewards without noise",
}
#: Points drawn of a curve; the tables keep all.
DRAWN = 500
#: What Matplotlib calls curves without a name.
NAMELESS = re.compile(r"_(child|container)\d+|_nolegend_")
#: Characters in a line of a name, and the lines of one.
LINE, LINES = 40, 4


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
        self.savefig(image, format="png", dpi=100)
        return image.getvalue()


def as_written(figure: Figure) -> None:
    """Write titles, names and labels of axes as they are: ``$5`` begins no formula."""
    texts = [*figure.texts, *figure.legends]
    for axes in figure.axes:
        texts += [axes.xaxis.label, axes.yaxis.label, *axes.get_children()]
    for text in texts:
        for one in text.get_texts() if isinstance(text, Legend) else [text]:
            if isinstance(one, Text):
                one.set_parse_math(False)


def wrapped(name: str, line: int = LINE) -> str:
    """Return a name in lines that fit into a legend; a very long one is cut off."""
    shown = "".join(one if one.isprintable() or one == "\n" else " " for one in name)
    how = {"width": line, "replace_whitespace": False, "drop_whitespace": False}
    lines = [one for part in shown.split("\n") for one in textwrap.wrap(part, **how) or [""]]
    return "\n".join(lines[:LINES] + ["…"] * (len(lines) > LINES))


def named(*panels: Axes) -> dict[str, Artist]:
    """Return by its name what is drawn with one in some panels."""
    found: dict[str, Artist] = {}
    for axes in panels:
        for one in (*axes.get_children(), *axes.containers):
            if isinstance(one, Line2D | Patch | Collection | Container):
                label = one.get_label()
                if label and not NAMELESS.fullmatch(label):
                    found.setdefault(label, one)
    return found


def legend(place: Axes | Figure, curves: Mapping[str, Artist], **options: Any) -> None:
    """Write the names of curves as they are; Matplotlib's own legend leaves out ``_Mine``."""
    written = place.legend(list(curves.values()), [*map(str, range(len(curves)))], **options)
    for text, name in zip(written.get_texts(), curves, strict=True):
        text.set(text=wrapped(name), parse_math=False)


def dash_of(label: str) -> Any:
    """Return a label's line style."""
    known = label in COLOURS or label in DASHES
    return DASHES.get(label, "-") if known else _picked(OTHER_DASHES, label)


def shades(label: str, count: int) -> list:
    """Return shades of a policy's colour, from light to dark."""
    light, dark = (_lit(COLOURS[label], level) for level in (0.75, 0.25))
    if count == 1:
        return [COLOURS[label]]
    blended = LinearSegmentedColormap.from_list("", [light, COLOURS[label], dark])
    return [tuple(one[:3]) for one in blended(np.linspace(0, 1, count))]


def viridis(count: int) -> list:
    """Return colours from dark to light, without the ends of the scale."""
    return [tuple(one[:3]) for one in mpl.colormaps["viridis"](np.linspace(0, 1, count + 2)[1:-1])]


def draw_curve(
    axis: Axes,
    curve: pd.DataFrame,
    label: str,
    *,
    name: str | None = None,
    colour: Any = None,
    dash: Any = None,
    one_run: bool = True,
    spread: bool = True,
    marker: str = "",
) -> Line2D:
    """Draw a summary of `summarise`; `label` decides name, colour and dash that are not given.

    Return the line of the means.
    """
    if dash is None:
        dash = dash_of(label) if colour is None else DASHES.get(label, "-")
    colour = COLOURS[label] if colour is None else colour
    x = curve.columns[2]
    curve = curve.iloc[np.unique(np.linspace(0, len(curve) - 1, DRAWN).astype(int))]
    bands = (("run_low", "run_high", 0.13), ("mean_low", "mean_high", 0.45))
    for low, high, alpha in bands if spread else bands[1:]:
        axis.fill_between(curve[x], curve[low], curve[high], color=colour, alpha=alpha, lw=0)
    if one_run:
        axis.plot(curve[x], curve["one_run"], color=colour, lw=0.6, alpha=0.8)
    line = {"lw": 1.5, "ls": dash, "marker": marker}
    (means,) = axis.plot(curve[x], curve["mean"], color=colour, label=name or label, **line)
    return means


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
        figure.savefig(temporary, dpi=min(150, 1600 / figure.get_figwidth()))
    del figure.draw
