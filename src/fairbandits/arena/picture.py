"""Pictures of regret against shortfall: what policies pay for keeping a contract."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so

from fairbandits.arena.decisions import rivals, thousandths, with_symbols
from fairbandits.arena.roles import CONTROL, ORACLE, Terms
from fairbandits.arena.standings import KEPT
from fairbandits.library import style

#: Colours of a user's own policy, of those that ignore the contract, and of the ground where it is
#: kept.
YOURS, IGNORES, GROUND = "#c2003a", "#8a8a8a", "#e6f4ea"
#: Marks of usual settings or means, and of other settings or single instances.
LARGE, SMALL = (
    so.Dot(pointsize=size, artist_kws={"clip_on": False, "zorder": 3}) for size in (5, 2.5)
)
FRONT = so.Line(color=".33", linestyle="--", marker="", linewidth=0.8)
SETTINGS = so.Line(linestyle="-", marker="", linewidth=0.8, alpha=0.6)
#: Panels beside each other in a picture of all instances, and characters in a line of a title.
ACROSS, SHORT = 3, 24
Looks = Mapping[str, Any]


def looks(labels: Sequence[str], rows: pd.DataFrame, yours: Collection[str] = ()) -> Looks:
    """Return the colour of each policy in standings, the same wherever all have these labels."""
    ignoring = rows[rows["kind"] == CONTROL]["label"]
    colours = style.palette(labels) | dict.fromkeys(ignoring, IGNORES) | dict.fromkeys(yours, YOURS)
    return {label: colours[label] for label in labels if label in set(rows["label"])}


@style.in_style()
def overview(terms: Terms, rows: pd.DataFrame, colours: Looks) -> style.Picture:
    """Return the policies that do not know the means, on all instances of a contract."""
    points = rivals(rows[rows["usual"]])
    shortfall, regret = (thousandths(points, name) for name in ("shortfall", "contract_regret"))
    points = points.assign(shortfall=shortfall, regret=regret, other=regret)
    points = points.assign(usual=np.nan)  # large marks are of means
    ran = points.groupby("instance")["label"].transform("nunique")
    here = points[ran == points["label"].nunique()]
    means = here.groupby(["label", "kind"], sort=False)[["shortfall", "regret"]].mean()
    means = means.reset_index().sort_values(["shortfall", "regret"])
    serious = means["regret"].where(means["kind"] != CONTROL)
    front = serious.where(serious < serious.cummin().shift(fill_value=np.inf).ffill())
    means = means.assign(usual=means["regret"], front=front)
    colours = {label: colour for label, colour in colours.items() if label in set(means["label"])}
    x, y = f"shortfall ({_units(terms)}", "contract regret (reward units"
    names = {"x": f"{x} in 1\u202f000 rounds)", "y": f"{y} in 1\u202f000 rounds)"}
    plot = _points(pd.concat([points, means]), colours).label(**names, title=terms.title)
    said = [
        f"large mark: mean of {here['instance'].nunique()} instances",
        "small mark: one instance",
        "dashed: Pareto-optimal means, without policies that ignore the contract",
        "green: the contract is kept",
    ]
    drawing = style.drawn((5, 4.4), said, plot)
    _show_kept(drawing, 1000)
    return drawing


@style.in_style()
def price_of_quotas(rows: pd.DataFrame) -> style.Picture:
    """Return what policies pay for keeping quotas: standings of one contract, instance, horizon.

    The regret is against the best arm, so that policies without quotas have the least.
    """
    paid = rows["price"] * rows["horizon"]  # also by a policy that knows the means
    ends = {f"regret{end}": rows[f"contract_regret{end}"] + paid for end in ("", "_low", "_high")}
    points = rows.assign(**ends)[rows["kind"] != ORACLE].assign(usual=ends["regret"])
    points = points.sort_values(["label", "shortfall", "regret"], ascending=[True, True, False])
    spots = (30 * points["regret"] / points["regret"].max()).round()
    hidden = (points["shortfall"] < 1) & spots[points["shortfall"] < 1].duplicated(keep=False)
    points["setting"] = points["setting"].map(with_symbols).mask(hidden, "")
    plot = _with_settings(_points(points))
    text = so.Text(fontsize=5, halign="left", valign="bottom", offset=3)
    plot = plot.add(text, y="regret", text="setting", legend=False).limit(y=(0, None))
    plot = plot.label(x="shortfall of the worst arm (pulls)", y="regret (reward units)")
    n, rounds = (style.in_short(rows[name].iloc[0]) for name in ("replicates", "horizon"))
    said = f"mean over n = {n} replicates of {rounds} rounds", "bars: 95 % t interval"
    drawing = style.drawn((style.PAGE, 3.2), [*said, "lines join the settings of a policy"], plot)
    style.scale(drawing.axes, x=1)
    drawing.axes[0].set_xlim(-0.1, 2 * points["shortfall"].max())
    return drawing


@style.in_style()
def instances(
    terms: Terms, rows: pd.DataFrame, colours: Looks, titles: Mapping[str, str]
) -> style.Picture:
    """Return all policies with all their settings, a panel for each instance of a contract.

    `titles` are of the instances, in their order.
    """
    points = rows.rename(columns=lambda name: name.replace("contract_regret", "regret"))
    points = points.assign(shortfall_low=points["shortfall_low"].clip(lower=0))
    regret, is_own = points["regret"], points["kind"] != ORACLE
    points = points.assign(
        usual=regret.where(points["usual"]),
        other=regret.mask(points["usual"]),
        front=regret.where(is_own & (points["dominated_by"] == "")),
        panel=points["instance"].map(titles),
    ).sort_values(["label", "shortfall"])
    columns = min(ACROSS, len(titles))
    plot = _with_settings(_points(points, colours))
    plot = plot.facet("panel", order=[*titles.values()], wrap=columns)
    plot = plot.share(x=False, y=False).label(title=lambda name: style.wrapped(name, SHORT))
    plot = plot.label(x=f"shortfall ({_units(terms)})", y="contract regret\n(reward units)")
    said = [
        f"mean over n = {rows['replicates'].min()} replicates",
        "bars: 95 % t interval",
        "small marks: other settings",
        "empty marks know the true means",
        "dashed: Pareto-optimal without the means",
        "green: the contract is kept",
    ]
    height = 1.2 + 1.8 * -(-len(titles) // columns)
    drawing = style.drawn((max(4.2, style.PAGE * columns / ACROSS), height), said, plot)
    _show_kept(drawing, rows["horizon"].max())
    return drawing


def _points(points: pd.DataFrame, colours: Looks | None = None) -> so.Plot:
    """Return a plot of points: large where `usual` is known, small where `other` is."""
    kinds = dict(zip(points["label"], points["kind"], strict=True))
    colours = colours or style.palette(kinds)
    plot = style.plot(points, "label", colours, x="shortfall", marker="label", fill="label")
    filled = [kinds[label] != ORACLE for label in colours]
    plot = plot.scale(fill=so.Nominal(filled, order=[*colours])).label(fill="")
    plot = plot.add(LARGE, y="usual")
    for mark, column in ((SMALL, "other"), (FRONT, "front")):
        if column in points:
            of_all = style.ALIKE | {"color": None} if mark is FRONT else {}
            plot = plot.add(mark, y=column, legend=False, **of_all)
    return plot


def _with_settings(plot: so.Plot) -> so.Plot:
    """Join the settings of each policy, and draw the intervals of both measures."""
    plot = plot.add(SETTINGS, y="regret", legend=False, **style.ALIKE)
    each = style.ALIKE | {"group": "name", "legend": False}  # else a bar would join equal points
    plot = plot.add(style.BAR, ymin="regret_low", ymax="regret_high", **each)
    ends = {"xmin": "shortfall_low", "xmax": "shortfall_high"}
    return plot.add(style.BAR, y="regret", orient="y", **ends, **each)


def _units(terms: Terms) -> str:
    return terms.unit.replace("reward", "reward units")


def _show_kept(drawing: style.Picture, rounds: int) -> None:
    """Let the ground be green where a contract is kept for so many rounds; scale the axes."""
    kept = KEPT["kept"][1] * rounds
    style.scale(drawing.axes, x=kept / 10, y=kept / 10)
    for axes in drawing.axes:
        left, right = axes.get_xlim()
        axes.axvspan(-kept, kept, color=GROUND, linewidth=0, zorder=0)
        axes.set_xlim(min(left, -kept / 100), max(right, 2 * kept))
