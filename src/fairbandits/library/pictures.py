"""Pictures of a comparison, or of a sweep; `Comparison.plot` draws them."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.ticker import MaxNLocator

from fairbandits import checks
from fairbandits.library import style
from fairbandits.library.intervals import interval_of
from fairbandits.library.style import Picture, wrapped
from fairbandits.measures.summary import summarise

#: Policies with other names in the papers' figures than their classes.
SHOWN = {"FairUCB": "Fair-UCB", "HTUCB": "HT-UCB", "BFUCB": "BF-UCB", "GroupUCB": "UCB"}
#: The most arms with a line each; the most whose names, or parameters whose values, fit an axis.
LINES, NAMED = 6, 30
BEHIND = {"marker": "<", "ls": "", "ms": 4, "color": "#c2003a", "clip_on": False}
POINT = so.Dot(pointsize=4)
BARS = (so.Range(linestyle="-", linewidth=1), "mean_low", "mean_high")


@style.in_style()
def plot(compared: Any, kind: str) -> Picture:
    """Return a picture of a comparison, of one of the kinds that it has."""
    checks.one_of("kind", kind, compared.kinds)
    return DRAWING[kind](compared)


def _by_round(compared: Any) -> Picture:
    colours = _colours(compared)
    rows = {
        name: pd.concat(
            summarise("", label, compared.rounds, compared.curves[name, label]) for label in colours
        )
        for name in compared.titles
    }
    plots = [
        style.curves(rows[name], colours=colours, layers=style.MEANS)
        .label(x="number of rounds", y=title)
        .limit(x=(0, None))
        for name, title in compared.titles.items()
    ]
    count = len(plots)
    size = (style.COLUMN * count, _height(compared, 2.8))
    said = style.note(next(iter(rows.values())), style.MEANS)
    return style.drawn(size, said, *plots, columns=count)


def _height(compared: Any, usual: float) -> float:
    """Return a height, in inches, with room for the names of the policies."""
    lines = sum(1 + wrapped(label).count("\n") for label in compared.results)
    return usual + 0.14 * lines


def _ends(compared: Any, name: str) -> pd.DataFrame:
    """Return a measure at the last round by policy: mean and interval."""
    values = (interval_of(compared.curves[name, label][:, -1]) for label in compared.results)
    return pd.DataFrame(values, columns=["mean", "mean_low", "mean_high"])


def _tradeoff(compared: Any) -> Picture:
    if len(compared.titles) < 2:
        raise ValueError(
            "a trade-off needs two measures; compare(..., metrics=('regret', 'violation'))"
        )
    cost, lack = list(compared.titles)[:2]
    above = {key: np.maximum(curve, 0) for key, curve in compared.curves.items() if key[0] == lack}
    lacks = pd.DataFrame(
        [interval_of(above[lack, label][:, -1]) for label in compared.results],
        columns=["lack", "lack_low", "lack_high"],
    )
    rows = _ends(compared, cost).join(lacks).assign(policy=[*compared.results])
    colours = _colours(compared)
    drawing = style.plot(rows, "policy", colours, marker="policy").add(POINT, x="lack", y="mean")
    bars, low, high = BARS
    drawing = drawing.add(bars, x="lack", ymin=low, ymax=high, legend=False)
    drawing = drawing.add(
        bars, y="mean", xmin="lack_low", xmax="lack_high", orient="y", legend=False
    )
    titles = compared.titles
    drawing = drawing.label(x=f"{titles[lack]}, where above 0", y=titles[cost])
    n = compared.curves[cost, next(iter(compared.results))].shape[0]
    said = f"Mark: mean over n = {n} replicates at the last round; bar: 95 % t interval."
    return style.drawn((style.COLUMN * 1.3, _height(compared, 2.8)), said, drawing)


def _colours(compared: Any) -> dict[str, Any]:
    """Return each policy's colour; those of a sweep are in order."""
    results = [*compared.results]
    if "parameter" in compared.kinds:
        return dict(zip(results, style.sns.color_palette("viridis", len(results)), strict=True))
    colours = style.palette(names := {label: SHOWN.get(label, label) for label in results}.values())
    return dict(zip(results, (colours[name] for name in names), strict=True))


def _pulls(compared: Any) -> Picture:
    """Return the share of each arm in the pulls so far, a panel for each policy."""
    arms = _arms(compared)
    return (_lines if len(arms) <= LINES else _map)(compared, arms)


def _arms(compared: Any) -> list[str]:
    """Return the names of the arms: those of a world, or their numbers from 1."""
    one = next(iter(compared.results.values()))
    numbers = [f"arm {k + 1}" for k in range(one.plays.shape[-1])]
    return [*map(str, getattr(one.instance, "labels", None) or numbers)]


def _lines(compared: Any, arms: Sequence[str]) -> Picture:
    late = compared.rounds >= compared.rounds[-1] / 100  # the first rounds have shares of 1
    rounds, plots = compared.rounds[late], []
    ends = pd.DataFrame({"round": rounds[[0, -1]]})
    for label, result in compared.results.items():
        shares = result.plays[:, late] / rounds[:, None]
        rows = pd.concat(
            summarise("", name, rounds, shares[:, :, k]) for k, name in enumerate(arms)
        )
        quotas = result.quotas or [np.nan] * len(arms)
        levels = pd.DataFrame({"series": arms, "level": np.array(quotas, float)})
        drawing = style.curves(rows, levels.merge(ends, how="cross"), layers=style.MEANS)
        drawing = drawing.add(style.LEVEL, y="level", legend=False)
        drawing = drawing.label(
            title=wrapped(label), x="number of rounds", y="share of the pulls so far"
        )
        plots.append(drawing.limit(x=(0, None), y=(0, None)))
    columns = min(len(plots), 3)
    size = 2.3 * columns + 0.8, 1.9 * math.ceil(len(plots) / columns) + 0.8
    dotted = "dotted: quotas" * (result.quotas is not None)
    figure = style.drawn(size, style.note(rows, style.MEANS, dotted), *plots, columns=columns)
    style.align(figure.axes)
    return figure


def _map(compared: Any, names: Sequence[str]) -> Picture:
    """Return the shares of many arms as colours, beside each map its quotas."""
    results, rounds = compared.results, compared.rounds
    lines = sum(1 + wrapped(name).count("\n") for name in names) if len(names) <= NAMED else 0
    columns = min(len(results), 3)
    tall = min(max(2.2, 0.14 * lines, len(names) / 60), 12)
    rows = math.ceil(len(results) / columns)
    figure = Picture(figsize=(2.5 * columns + 1.2, tall * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True)
    panels = dict(zip(results, axes.flat, strict=False))
    for axis in axes.flat[len(results) :]:
        axis.remove()
    quotas = next(iter(compared.results.values())).quotas
    least = min([1 / len(names), *(float(one) for one in quotas or () if one)])
    most = max(
        (one.plays[:, -1].mean(axis=0) / rounds[-1]).max() for one in compared.results.values()
    )
    look = {"norm": LogNorm(least / 10, most), "cmap": "viridis_r", "rasterized": True}
    arms = np.arange(1, len(names) + 1)
    for label, axis in panels.items():
        axis.set_title(wrapped(label))
        axis.xaxis.set_major_formatter(style.in_short)
        plays = compared.results[label].plays.mean(axis=0)
        edges = np.concatenate([[0], rounds])
        heights = np.arange(len(names) + 1) + 0.5
        shares = np.ma.masked_equal(plays / rounds[:, None], 0)
        mesh = axis.pcolormesh(edges, heights, shares.T, **look)
        if quotas is not None:
            beside = axis.inset_axes((1.02, 0, 0.05, 1), sharey=axis)
            column = np.ma.masked_equal([[float(one)] for one in quotas], 0)
            beside.pcolormesh([0, 1], heights, column, **look)
            behind = [float(one) * rounds[-1] for one in quotas] - plays[-1] >= 1
            for arm in arms[behind]:
                beside.plot(1.6, arm, **BEHIND)
            beside.set(xlim=(0, 1), xticks=[])
            beside.set_title("quota", fontsize="small")
            beside.tick_params(left=False, labelleft=False)
    axis = next(iter(panels.values()))
    axis.set(ylabel="arm", ylim=(len(names) + 0.5, 0.5))
    if names[0] != "arm 1" and len(names) <= NAMED:
        axis.set_yticks(arms, [*map(wrapped, names)])
    else:
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    bar = figure.colorbar(
        mesh, ax=[*panels.values()], label="share of the pulls so far; white: none"
    )
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    words = f"means of {compared.results[label].replicates.size} replicates"
    if quotas is not None:
        words += "; red mark: at the last round, behind the quota by a pull or more"
    figure.suptitle(words)
    figure.supxlabel("number of rounds")
    return figure


def _along(swept: Any) -> Picture:
    """Return the measures at the last round against a sweep's parameter."""
    values, plots = list(swept.values.values()), []
    is_number = all(isinstance(one, Real) and not isinstance(one, bool) for one in values)
    x = np.array(values, float) if is_number else np.arange(len(values))
    for name, title in swept.titles.items():
        rows = _ends(swept, name).assign(x=x, series="")
        drawing = style.plot(rows, "series", x="x").add(
            so.Line(marker="o", linewidth=0.7 * is_number), y="mean", legend=False
        )
        bars, low, high = BARS
        drawing = drawing.add(bars, ymin=low, ymax=high, legend=False)
        plots.append(drawing.label(x=wrapped(swept.parameter), y=title))
    n = next(iter(swept.curves.values())).shape[0]
    said = f"Mark: mean over n = {n} replicates at the last round; bar: 95 % t interval."
    count = len(plots)
    figure = style.drawn((style.COLUMN * count, 2.8), said, *plots, columns=count)
    for axis in figure.axes:
        axis.margins(x=0.05)
        if is_number:
            _scale(axis, x)
        if len(values) <= NAMED // 3 or not is_number:
            axis.set_xticks(
                x, [f"{one:g}" for one in x] if is_number else [wrapped(str(one)) for one in values]
            )
    return figure


def _scale(axis: Axes, values: np.ndarray) -> None:
    """Let the horizontal axis be logarithmic for values that are nearer to even steps on one."""
    steps = np.unique(values)
    if steps[0] < 0 or (steps > 0).sum() < 2:
        return
    positive = steps[steps > 0]

    def unevenness(places: np.ndarray) -> float:
        gaps = np.diff(places)
        return float(gaps.std() / gaps.mean())

    if positive[-1] < 10 * positive[0] or unevenness(np.log(positive)) > unevenness(positive):
        return
    style.scale([axis], x="log" if steps[0] > 0 else positive[0])


#: Kind of a picture -> what draws it.
DRAWING = {"rounds": _by_round, "tradeoff": _tradeoff, "pulls": _pulls, "parameter": _along}
