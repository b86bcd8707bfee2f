"""Pictures of a comparison, or of a sweep; `Comparison.plot` draws them."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator

from fairbandits import checks
from fairbandits.library.intervals import interval_of
from fairbandits.library.style import (
    COLOURS,
    OTHER_DASHES,
    PALETTE,
    Picture,
    as_written,
    dash_of,
    draw_curve,
    in_style,
    legend,
    viridis,
    wrapped,
)
from fairbandits.measures.summary import summarise

#: Policies with other names in the papers' figures than their classes.
SHOWN = {"FairUCB": "Fair-UCB", "HTUCB": "HT-UCB", "BFUCB": "BF-UCB", "GroupUCB": "UCB"}
#: The most arms with a line each; the most whose names, or parameters whose values, fit an axis.
LINES, NAMED = 6, 30
INTERVALS = "means of {} replicates with 95 % t intervals"
QUOTA = {"ls": (0, (1, 1.5)), "lw": 1.1}
BEHIND = {"marker": "<", "ls": "", "ms": 4, "color": "#c2003a", "clip_on": False}


@in_style()
def plot(compared: Any, kind: str) -> Picture:
    """Return a picture of a comparison, of one of the kinds that it has."""
    checks.one_of("kind", kind, compared.kinds)
    figure = DRAWING[kind](compared)
    as_written(figure)
    return figure


def _by_round(compared: Any) -> Picture:
    figure, axes = _panels(compared)
    for axis, (name, title) in zip(axes, compared.titles.items(), strict=True):
        curves = {}
        for label, (colour, dash) in _looks(compared).items():
            summary = summarise("", label, compared.rounds, compared.curves[name, label])
            look = {"colour": colour, "dash": dash, "one_run": False, "spread": False}
            curves[label] = draw_curve(axis, summary, label, **look)
        axis.set(xlabel="number of rounds", ylabel=title)
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    legend(axes[0], curves)
    return figure


def _panels(compared: Any) -> tuple[Picture, Sequence[Axes]]:
    """Return a picture with a panel for each measure."""
    count, values = len(compared.titles), next(iter(compared.curves.values()))
    figure = Picture(figsize=(5.2 * count, _height(compared, 3.7)), layout="constrained")
    figure.suptitle(INTERVALS.format(len(values)), fontsize="medium")
    return figure, figure.subplots(1, count, squeeze=False)[0]


def _height(compared: Any, usual: float) -> float:
    """Return a height, in inches, with room for the names of the policies."""
    lines = sum(1 + wrapped(label).count("\n") for label in compared.results)
    return max(usual, 1.5 + 0.21 * lines)


def _tradeoff(compared: Any) -> Picture:
    if len(compared.titles) < 2:
        raise ValueError(
            "a trade-off needs two measures; compare(..., metrics=('regret', 'violation'))"
        )
    cost, lack = list(compared.titles)[:2]
    figure = Picture(figsize=(5.6, _height(compared, 4.2)), layout="constrained")
    axis, points = figure.subplots(), {}
    for label, (colour, _) in _looks(compared).items():
        costs, lacks = (compared.curves[name, label][:, -1] for name in (cost, lack))
        (x, a, b), (y, c, d) = map(interval_of, (np.maximum(lacks, 0), costs))
        bars = {"xerr": [[x - a], [b - x]], "yerr": [[y - c], [d - y]]}
        points[label] = axis.errorbar(x, y, fmt="o", color=colour, capsize=2, **bars)
    titles = compared.titles
    axis.set(xlabel=f"{titles[lack]}, where above 0", ylabel=titles[cost])
    legend(axis, points)
    figure.suptitle("At the last round: means with 95 % t intervals", fontsize="medium")
    return figure


def _looks(compared: Any) -> dict[str, tuple[Any, Any]]:
    """Return each policy's colour and its line; those of a sweep are in order."""
    if "parameter" in compared.kinds:
        colours = viridis(len(compared.results))
        return {label: (one, "-") for label, one in zip(compared.results, colours, strict=True)}
    names = {label: SHOWN.get(label, label) for label in compared.results}
    known = {label: name for label, name in names.items() if name in COLOURS}
    looks = {label: (COLOURS[name], dash_of(name)) for label, name in known.items()}
    taken = [colour for colour, _ in looks.values()]
    free = [one for one in PALETTE if one not in taken] or PALETTE
    for k, label in enumerate(one for one in names if one not in known):
        again, place = divmod(k, len(free))
        looks[label] = free[place], OTHER_DASHES[again % len(OTHER_DASHES)]
    return {label: looks[label] for label in names}


def _pulls(compared: Any) -> Picture:
    """Return the share of each arm in the pulls so far, a panel for each policy."""
    results = compared.results
    arms = _arms(compared)
    lines = sum(1 + wrapped(name).count("\n") for name in arms) if len(arms) <= NAMED else 0
    draw, tall = _lines, 3.2
    if len(arms) > LINES:
        draw, tall = _map, min(max(3.2, 0.2 * lines, len(arms) / 60), 12)
    columns = min(len(results), 3)
    rows = math.ceil(len(results) / columns)
    size = (3.7 * columns + 1.7, tall * rows)
    figure = Picture(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True)
    panels = dict(zip(results, axes.flat, strict=False))
    for label, axis in panels.items():
        axis.set_title(wrapped(label))
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    for axis in axes.flat[len(results) :]:
        axis.remove()
    figure.supxlabel("number of rounds", fontsize="medium")
    draw(figure, compared, panels)
    return figure


def _arms(compared: Any) -> list[str]:
    """Return the names of the arms: those of a world, or their numbers from 1."""
    one = next(iter(compared.results.values()))
    numbers = [f"arm {k + 1}" for k in range(one.plays.shape[-1])]
    return [*map(str, getattr(one.instance, "labels", None) or numbers)]


def _lines(figure: Picture, compared: Any, panels: dict[str, Axes]) -> None:
    arms = list(zip(_arms(compared), PALETTE, strict=False))
    late = compared.rounds >= compared.rounds[-1] / 100  # the first rounds have shares of 1
    rounds = compared.rounds[late]
    for label, axis in panels.items():
        result = compared.results[label]
        shares = result.plays[:, late] / rounds[:, None]
        curves = {}
        for k, (name, colour) in enumerate(arms):
            summary = summarise("", name, rounds, shares[:, :, k])
            look = {"colour": colour, "dash": "-", "one_run": False, "spread": False}
            curves[name] = draw_curve(axis, summary, name, **look)
            if result.quotas is not None:
                axis.axhline(result.quotas[k], color=colour, **QUOTA)
    if result.quotas is not None:
        curves["dotted: quota"] = Line2D([], [], color="0.2", **QUOTA)
    axis.set_ylim(bottom=0)
    figure.supylabel("share of the pulls so far", fontsize="medium")
    legend(figure, curves, loc="outside right center")
    figure.suptitle(INTERVALS.format(result.replicates.size), fontsize="medium")


def _map(figure: Picture, compared: Any, panels: dict[str, Axes]) -> None:
    """Draw the shares of many arms as colours, beside each map its quotas."""
    names, rounds = _arms(compared), compared.rounds
    quotas = next(iter(compared.results.values())).quotas
    least = min([1 / len(names), *(float(one) for one in quotas or () if one)])
    most = max(
        (one.plays[:, -1].mean(axis=0) / rounds[-1]).max() for one in compared.results.values()
    )
    look = {"norm": LogNorm(least / 10, most), "cmap": "viridis_r", "rasterized": True}
    arms = np.arange(1, len(names) + 1)
    for label, axis in panels.items():
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
        axis.set_yticks(arms, [*map(wrapped, names)], parse_math=False)
    else:
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    bar = figure.colorbar(
        mesh, ax=[*panels.values()], label="share of the pulls so far; white: none"
    )
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    words = f"means of {compared.results[label].replicates.size} replicates"
    if quotas is not None:
        words += "; red mark: at the last round, behind the quota by a pull or more"
    figure.suptitle(words, fontsize="medium")


def _along(swept: Any) -> Picture:
    """Return the measures at the last round against a sweep's parameter."""
    figure, axes = _panels(swept)
    values = list(swept.values.values())
    is_number = all(isinstance(one, Real) and not isinstance(one, bool) for one in values)
    x = np.array(values, float) if is_number else np.arange(len(values))
    for axis, (name, title) in zip(axes, swept.titles.items(), strict=True):
        ends = [interval_of(swept.curves[name, label][:, -1]) for label in swept.results]
        mean, low, high = np.transpose(ends)[:, order := np.argsort(x, kind="stable")]
        look = {"fmt": "o-" if is_number else "o", "lw": 0.7, "elinewidth": 1.2, "capsize": 2}
        axis.errorbar(x[order], mean, [mean - low, high - mean], color=PALETTE[0], **look)
        axis.set(xlabel=wrapped(swept.parameter), ylabel=title)
        if is_number:
            _scale(axis, x)
        if len(values) <= NAMED // 3 or not is_number:
            shown = (
                [f"{one:g}" for one in x] if is_number else [wrapped(str(one)) for one in values]
            )
            axis.set_xticks(x, shown, parse_math=False)
            axis.set_xticks([], minor=True)
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
    if steps[0] > 0:
        axis.set_xscale("log")
    else:
        axis.set_xscale("symlog", linthresh=positive[0])


#: Kind of a picture -> what draws it.
DRAWING = {"rounds": _by_round, "tradeoff": _tradeoff, "pulls": _pulls, "parameter": _along}
