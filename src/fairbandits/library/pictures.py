"""Pictures of a comparison, or of a sweep; `Comparison.plot` draws them."""

import math
from collections.abc import Iterable, Sequence
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
from fairbandits.library.style import Picture, wrapped
from fairbandits.measures.summary import interval_of, summarise

#: Policies with other names in the papers' figures than their classes.
SHOWN = {"FairUCB": "Fair-UCB", "HTUCB": "HT-UCB", "BFUCB": "BF-UCB", "GroupUCB": "UCB"}
#: The most arms with a line each; the most whose names, or parameters whose values, fit an axis;
#: panels beside each other.
LINES, NAMED, ACROSS = 6, 30, 3
BEHIND = {"marker": "<", "ls": "", "ms": 4, "color": "#c2003a", "clip_on": False}
POINT = so.Dot(pointsize=4, artist_kws={"clip_on": False, "zorder": 3})
SHARE = "share of the pulls so far"


@style.in_style()
def plot(compared: Any, kind: str) -> Picture:
    """Return a picture of a comparison, of one of the kinds that it has."""
    checks.one_of("kind", kind, compared.kinds)
    return DRAWING[kind](compared)


def _by_round(compared: Any) -> Picture:
    colours, plots = _colours(compared), []
    for measure, title in compared.titles.items():
        rows = pd.concat(
            summarise("", label, compared.rounds, compared.curves[measure, label])
            for label in compared.results
        )
        drawing = style.curves(rows, colours=colours, layers=style.MEANS)
        plots.append(drawing.label(x=style.ROUNDS, y=title).limit(x=(0, None)))
    count = len(plots)
    size = style.COLUMN * count, _height(compared)
    return style.drawn(size, style.note(rows, style.MEANS), *plots, columns=count)


def _height(compared: Any) -> float:
    """Return a height, in inches, with room for the names of the policies."""
    return 2.8 + 0.14 * _lines_of(compared.results)


def _lines_of(names: Iterable[str]) -> int:
    return sum(1 + wrapped(name).count("\n") for name in names)


def _ends(compared: Any, measure: str, least: float = -np.inf) -> pd.DataFrame:
    """Return a measure at the last round, at `least` where below, by policy: mean and interval."""
    curves = (compared.curves[measure, label] for label in compared.results)
    values = (interval_of(np.maximum(curve[:, -1], least)) for curve in curves)
    return pd.DataFrame(values, columns=["mean", "mean_low", "mean_high"])


def _said(compared: Any) -> list[str]:
    n = len(next(iter(compared.curves.values())))
    return [f"mark: mean over n = {n} replicates at the last round", "bar: 95 % t interval"]


def _tradeoff(compared: Any) -> Picture:
    if len(compared.titles) < 2:
        raise ValueError(
            "a trade-off needs two measures; compare(..., metrics=('regret', 'violation'))"
        )
    cost, lack, *_ = titles = compared.titles
    lacks = _ends(compared, lack, 0).set_axis(["lack", "lack_low", "lack_high"], axis=1)
    rows = _ends(compared, cost).join(lacks).assign(policy=[*compared.results])
    drawing = style.plot(
        rows, "policy", _colours(compared), x="lack", y="mean", marker="policy"
    ).add(POINT)
    drawing = drawing.add(style.BAR, legend=False, **style.MEAN, **style.ALIKE)
    ends = {"xmin": "lack_low", "xmax": "lack_high"}
    drawing = drawing.add(style.BAR, orient="y", legend=False, **ends, **style.ALIKE)
    drawing = drawing.label(x=f"{titles[lack]}, where above 0", y=titles[cost])
    figure = style.drawn((style.COLUMN * 1.3, _height(compared)), _said(compared), drawing)
    figure.axes[0].margins(0.05)
    return figure


def _colours(compared: Any) -> dict[str, Any]:
    """Return each policy's colour; those of a sweep are in order."""
    results = [*compared.results]
    if "parameter" in compared.kinds:
        return dict(zip(results, style.sns.color_palette("viridis", len(results)), strict=True))
    colours = style.palette(names := {label: SHOWN.get(label, label) for label in results}.values())
    return dict(zip(results, (colours[name] for name in names), strict=True))


def _pulls(compared: Any) -> Picture:
    """Return the share of each arm in the pulls so far, a panel for each policy."""
    result = next(iter(compared.results.values()))
    numbers = [f"arm {k + 1}" for k in range(result.plays.shape[-1])]
    names = [*map(str, getattr(result.instance, "labels", None) or numbers)]  # those of a world
    return (_lines if len(names) <= LINES else _map)(compared, names)


def _lines(compared: Any, arms: Sequence[str]) -> Picture:
    late = compared.rounds >= compared.rounds[-1] / 100  # the first rounds have shares of 1
    rounds, results = compared.rounds[late], compared.results
    rows = pd.concat(
        summarise("", name, rounds, result.plays[:, late, k] / rounds).assign(policy=label)
        for label, result in results.items()
        for k, name in enumerate(arms)
    )
    quotas = next(iter(results.values())).quotas
    levels = pd.DataFrame({"series": arms, "level": np.array(quotas or np.nan, float)})
    for column, values in {"round": rounds[[0, -1]], "policy": [*results]}.items():
        levels = levels.merge(pd.DataFrame({column: values}), how="cross")
    columns = min(len(results), ACROSS)
    drawing = style.curves(rows, levels, layers=style.MEANS)
    drawing = drawing.add(style.LEVEL, y="level", legend=False).facet("policy", wrap=columns)
    drawing = drawing.label(title=wrapped, x=style.ROUNDS, y=SHARE).limit(x=(0, None), y=(0, None))
    size = 2.3 * columns + 0.8, 1.9 * math.ceil(len(results) / columns) + 0.8
    return style.drawn(
        size, style.note(rows, style.MEANS, "dotted: quotas" * bool(quotas)), drawing
    )


def _map(compared: Any, names: Sequence[str]) -> Picture:
    """Return the shares of many arms as colours, beside each map its quotas."""
    results, rounds = compared.results, compared.rounds
    is_named = len(names) <= NAMED
    columns = min(len(results), ACROSS)
    rows = math.ceil(len(results) / columns)
    tall = min(max(2.2, 0.14 * _lines_of(names) * is_named, len(names) / 60), 12)
    figure = Picture(figsize=(2.5 * columns + 1.2, tall * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for spare in panels.flat[len(results) :]:
        spare.remove()
    plays = {label: result.plays.mean(axis=0) for label, result in results.items()}
    quotas = np.array(next(iter(results.values())).quotas or (), float)
    least = min([1 / len(names), *quotas[quotas > 0]])
    most = max(counts[-1].max() for counts in plays.values()) / rounds[-1]
    look = {"norm": LogNorm(least / 10, most), "cmap": "viridis_r", "rasterized": True}
    edges, heights = [0, *rounds], np.arange(len(names) + 1) + 0.5
    for axis, (label, counts) in zip(panels.flat, plays.items(), strict=False):
        axis.set_title(wrapped(label))
        axis.xaxis.set_major_formatter(style.in_short)
        shares = np.ma.masked_equal(counts / rounds[:, None], 0)
        mesh = axis.pcolormesh(edges, heights, shares.T, **look)
        if quotas.size:
            beside = axis.inset_axes((1.02, 0, 0.05, 1), sharey=axis)
            beside.pcolormesh([0, 1], heights, np.ma.masked_equal(quotas[:, None], 0), **look)
            for arm in np.flatnonzero(quotas * rounds[-1] - counts[-1] >= 1):
                beside.plot(1.6, arm + 1, **BEHIND)
            beside.set(xlim=(0, 1), xticks=[])
            beside.set_title("quota", fontsize="small")
            beside.tick_params(left=False, labelleft=False)
    first = panels[0, 0]
    first.set(ylabel="arm", ylim=(len(names) + 0.5, 0.5))
    if names[0] != "arm 1" and is_named:
        first.set_yticks(np.arange(1, len(names) + 1), [*map(wrapped, names)])
    else:
        first.yaxis.set_major_locator(MaxNLocator(integer=True))
    shown = [*panels.flat[: len(results)]]
    bar = figure.colorbar(mesh, ax=shown, label=f"{SHARE}; white: none")
    bar.ax.yaxis.set_major_formatter(style.in_short)
    title = f"means of {compared.results[label].replicates.size} replicates"
    if quotas.size:
        title += "; red mark: at the last round, behind the quota by a pull or more"
    figure.suptitle(title, fontsize="medium")
    figure.supxlabel(style.ROUNDS, fontsize="medium")
    return figure


def _along(swept: Any) -> Picture:
    """Return the measures at the last round against a sweep's parameter."""
    values, plots = [*swept.values.values()], []
    is_number = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
    x = np.array(values, float) if is_number else np.arange(len(values))
    line = so.Line(marker="o", linewidth=0.7 * is_number)
    for measure, title in swept.titles.items():
        rows = _ends(swept, measure).assign(x=x, series="")
        drawing = style.plot(rows, "series", x="x").add(line, y="mean", legend=False)
        drawing = drawing.add(style.BAR, **style.MEAN, legend=False)
        plots.append(drawing.label(x=wrapped(swept.parameter), y=title))
    count = len(plots)
    figure = style.drawn((style.COLUMN * count, 2.8), _said(swept), *plots, columns=count)
    for axis in figure.axes:
        axis.margins(x=0.05)
        if is_number:
            _scale(axis, x)
        if len(values) <= NAMED // 3 or not is_number:
            axis.set_xticks(
                x, [f"{v:g}" for v in x] if is_number else [wrapped(str(v)) for v in values]
            )
    return figure


def _scale(axis: Axes, values: np.ndarray) -> None:
    """Let the horizontal axis be logarithmic for values that are nearer to even steps on one."""
    steps = np.unique(values)
    positive = steps[steps > 0]
    if steps[0] < 0 or positive.size < 2 or positive[-1] < 10 * positive[0]:
        return
    in_logs, as_is = (np.diff(points) for points in (np.log(positive), positive))
    if in_logs.std() / in_logs.mean() <= as_is.std() / as_is.mean():
        style.scale([axis], x="log" if steps[0] > 0 else positive[0])


#: Kind of a picture -> what draws it.
DRAWING = {"rounds": _by_round, "tradeoff": _tradeoff, "pulls": _pulls, "parameter": _along}
