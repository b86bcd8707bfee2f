"""The look of figures, and saving them so that equal data give equal bytes."""

import hashlib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from fairbandits.data.store import replacing

#: Optional imports of Seaborn that nothing here needs; finding them takes longer than a figure's
#: other imports.
SPARED = ("ipywidgets", "scipy.cluster", "scipy.spatial", "scipy.stats")


def _seaborn() -> Any:
    hidden = [name for name in SPARED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))
    try:
        return importlib.import_module("seaborn")
    finally:
        for name in hidden:
            del sys.modules[name]


sns = _seaborn()

PALETTE = sns.color_palette("colorblind")


def _picked(choices: Sequence[Any], label: str) -> Any:
    """Return the choice for a label, the same in every process."""
    digest = hashlib.blake2b(f"{len(choices)} {label}".encode(), digest_size=8).digest()
    return choices[int.from_bytes(digest, "big") % len(choices)]


class Colours(dict):
    """Colours of policies, arms and quantities by label.

    A label without an entry has a colour by its letters, the same in all figures; two such labels
    can share one, and `dash_of` often tells them apart.
    """

    def __missing__(self, label: str) -> Any:
        return _picked(OTHERS, label)


#: Colours of labels without an entry: the palette for colour-blind readers, in three shades.
OTHERS = [sns.utils.set_hls_values(one, l=level) for one in PALETTE for level in (0.3, 0.45, 0.6)]
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
        "HT-UCB, soft threshold": sns.utils.set_hls_values(PALETTE[4], l=0.35),
        "LFG, even grid": sns.utils.set_hls_values(PALETTE[1], l=0.3),
        "prophet": PALETTE[7],
        "BF-UCB": PALETTE[3],
        "BF-UCB, δ outside": sns.utils.set_hls_values(PALETTE[3], l=0.3),
        "BF-UCB, whole box": sns.utils.set_hls_values(PALETTE[3], l=0.75),
        "GEF": sns.utils.set_hls_values(PALETTE[2], l=0.25),
        "MF": PALETTE[9],
        "best fair policy": PALETTE[7],
        "UCB": PALETTE[5],
        "UCB1, cut off at 1": sns.utils.set_hls_values(PALETTE[5], l=0.35),
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
    "static benchmark, played": "--",
    "prophet": "--",
    "best fair policy": "--",
    "UCB1": "--",
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


def apply_style() -> None:
    """Set the theme; saved files hold no time and nothing of the process."""
    sns.set_theme(context="paper", style="ticks", palette="colorblind", font_scale=1.1)
    mpl.rcParams.update(
        {
            "svg.hashsalt": "fairbandits",
            "svg.fonttype": "none",
            "font.family": "DejaVu Sans",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
        }
    )


def law_panels(laws: list[str], rows: int = 1, **options) -> tuple[Figure, np.ndarray]:
    """Return a figure with one column of panels per reward law, axes of shape (rows, n_laws)."""
    size = (5.2 * len(laws), 3.4 * rows + 0.3)
    figure, axes = plt.subplots(
        rows, len(laws), figsize=size, squeeze=False, layout="constrained", **options
    )
    for axis, law in zip(axes[0], laws, strict=True):
        axis.set_title(LAW_TITLES.get(law, law), fontsize="medium")
    for axis in axes.flat:
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    for axis in axes[-1]:
        axis.set_xlabel("number of rounds")
    return figure, axes


def dash_of(label: str) -> Any:
    """Return a label's line style."""
    known = label in COLOURS or label in DASHES
    return DASHES.get(label, "-") if known else _picked(OTHER_DASHES, label)


def shades(label: str, count: int) -> list:
    """Return shades of a policy's colour, from light to dark."""
    light, dark = (sns.utils.set_hls_values(COLOURS[label], l=level) for level in (0.75, 0.25))
    if count == 1:
        return [COLOURS[label]]
    return sns.blend_palette([light, COLOURS[label], dark], count)


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
) -> None:
    """Draw mean, confidence band, spread and one run of a summary (`measures.summary.summarise`).

    `label` is the policy, arm or quantity: it decides name, colour and dash unless these are given.
    `spread` is the band of 95 % of the replicates, `marker` that of the mean's points.
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
    axis.plot(curve[x], curve["mean"], color=colour, label=name or label, **line)


def save(figure: Figure, svg: Path, png: Path) -> None:
    """Write a figure as SVG and as PNG of at most 1600 pixels width."""
    with replacing(svg) as temporary:
        figure.savefig(temporary, metadata={"Date": None})
    with replacing(png) as temporary:
        figure.savefig(temporary, dpi=min(150, 1600 / figure.get_figwidth()))
    plt.close(figure)
