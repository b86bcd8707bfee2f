"""Figures 2 to 4 of the Fair-Learn paper: cost of fairness, r-Regret, fairness guarantee."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import seaborn.objects as so

from fairbandits.figures import figure, panels
from fairbandits.library import style
from fairbandits.measures.pulls import gaps, r_regret, regret
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import Dataset, RunData, runs_of

#: Below this a logarithmic axis is linear, so that 0 and what lies below it can be seen.
LINEAR = 10.0
#: What is drawn at 0 where it is below.
NOT_BELOW = ["mean", "mean_low", "mean_high", "run_low", "run_high", "one_run"]
#: The fewest tolerances that a line joins: between few, its form would be the axis's.
JOINED = 12


@figure(
    fig2="cost of fairness",
    reads=["plays", "tolerance", "deficit_sup"],
    quantity="the regret at the last round (series `regret`), or the largest deficit of any arm in "
    "any round (`violation`)",
    unit="reward (`regret`), pulls (`violation`)",
)
def cost_of_fairness(datasets: list[Dataset]) -> panels.Drawing:
    """Draw regret and largest violation against the tolerance.

    Regret of Fair-UCB at round {{ horizon }} (left) and its largest violation in any round (right)
    against the tolerance, on a linear axis above and a logarithmic axis below. Lines: {{ what }};
    circles and dotted: the other reading of the gaps, at fewer tolerances, with a thin bar for
    95 % of the replicates; horizontal lines: UCB1, which ignores quotas. Mean over
    {{ replicates }} replicates; {{ spread }}. The instance and the tolerances are reconstructed.

    Columns
    -------
    tolerance : pulls
        Tolerance alpha, the pulls that an arm may be behind its quota. Range: none for policies
        without a tolerance.
    """
    curves = pd.concat(part for dataset in datasets for part in _against_tolerance(dataset))
    labels = {
        "regret": "regret R(T)\n(reward units)",
        "violation": "largest violation\nso far (pulls)",
    }
    plots = [
        _cost_curves(panels.of(curves, series=series)).label(
            x=f"tolerance α ({axis} axis)", y=label
        )
        for axis in ("linear", "logarithmic")
        for series, label in labels.items()
    ]
    lines, circles = curves["panel"].unique()
    said = style.note(
        curves,
        style.SPREAD,
        f"lines: {lines}",
        f"circles and dotted: {circles}, at fewer tolerances (bar: 95 % of the replicates)",
    )
    drawing = style.drawn((style.PAGE, 4.6), said, *plots, columns=2)
    style.scale(drawing.axes[2:], x=LINEAR)
    return drawing, curves


def _against_tolerance(dataset: Dataset) -> Iterable[pd.DataFrame]:
    """Yield Fair-UCB at the end at every tolerance, and policies without tolerance at NaN."""
    reading = reading_of(dataset.footer)
    costs = {
        "regret": lambda run, footer: regret(run.values["plays"], footer["means"])[:, -1],
        "violation": lambda run, footer: run.values["deficit_sup"][:, -1].max(axis=-1),
    }
    for series, cost in costs.items():
        for (label, law), (tolerances, values) in panels.along_sweeps(dataset, cost).items():
            curve = summarise(law, series, tolerances, values, "tolerance")
            yield curve.assign(policy=label, panel=reading).sort_values("tolerance", kind="stable")


def reading_of(footer: dict) -> str:
    spaced = np.diff(gaps(footer["means"]))
    return "gaps 0.01 (i − 1)" if np.allclose(spaced, spaced[0]) else "gaps 0.01 i"


def _cost_curves(part: pd.DataFrame) -> so.Plot:
    """Return a panel: lines of the reading with many tolerances, circles of the other one."""
    ends = pd.DataFrame({"tolerance": [0, part["tolerance"].max()]})
    level = panels.of(part, policy="UCB1").drop(columns="tolerance").merge(ends, how="cross")
    fair = panels.of(part, policy="Fair-UCB")
    is_few = fair.groupby("panel")["panel"].transform("size") < JOINED
    few = {"mean": "few", "run_low": "few_low", "run_high": "few_high"}
    circles = fair[is_few][["policy", "tolerance", *few]].rename(columns=few)
    is_other = level["panel"].isin(fair[is_few]["panel"])
    dotted = level[is_other][["policy", "tolerance", "mean"]].rename(columns={"mean": "level"})
    lines = pd.concat([fair[~is_few], level[~is_other]])
    drawing = style.curves(lines, circles, dotted, by="policy", x="tolerance", layers=style.SPREAD)
    drawing = drawing.add(style.BAR, ymin="few_low", ymax="few_high", legend=False)
    circle = so.Dot(pointsize=3.5, fill=False, artist_kws={"clip_on": False})
    drawing = drawing.add(circle, y="few", legend=False).add(style.LEVEL, y="level", legend=False)
    return drawing.limit(x=(0, None), y=(0, None))


@figure(
    fig3="r-Regret", reads=["plays", "eta"], quantity="the r-Regret up to round t", unit="reward"
)
def r_regret_over_time(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the r-Regret of Fair-UCB and LFG over time.

    r-Regret of Fair-UCB and of LFG with several weights η, for both readings of the gaps, up to
    {{ horizon }} rounds (above) and up to {{ shows[2].horizon }} rounds (below). Lines: mean over
    {{ replicates }} replicates above and {{ shows[2].replicates }} below; {{ spread }}; thin line:
    one replicate. The vertical axis is linear below 10. The instance, the tolerance 0 and η are
    reconstructed.

    Columns
    -------
    eta
        LFG's weight eta of the rewards. Range: at least 0; none for other policies.
    """
    curves = pd.concat(
        _over_time(run, footer, "r-Regret", r_regret(run.rounds, run.values["plays"], *setting))
        for table, footer in datasets
        for setting in [(footer["means"], footer["quotas"])]
        for run in runs_of(table, footer)
    )
    named = _named(curves)
    plots = [
        _over_rounds(named, panel=footer["experiment"]).label(
            title=f"{reading_of(footer)}, {style.in_short(footer['horizon'])} rounds",
            y="r-Regret (reward units)",
        )
        for _, footer in datasets
    ]
    said = style.note(curves, style.ALL, f"vertical axes are linear below {LINEAR:g}")
    drawing = style.drawn((style.PAGE, 4.8), said, *plots, columns=2, share="all")
    style.scale(drawing.axes, y=LINEAR)
    panels.log_rounds(drawing.axes[2:])
    return drawing, curves


@figure(
    fig4="fairness guarantee",
    reads=["eta", "deficit", "deficit_sup", "floor_deficit", "floor_deficit_sup"],
    quantity="the largest deficit of any arm: of round t (`now`), of rounds 1..t (`so far`), with "
    "whole pulls owed (`floored`), or divided by t (`per round`)",
    unit="pulls",
)
def fairness(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the fairness violation of Fair-UCB and LFG over time.

    Violation of Fair-UCB and of LFG with several weights η. Above, up to {{ horizon }} rounds: in
    the round (left) and the largest so far (right). Below, up to {{ shows[1].horizon }} rounds: in
    the round (left) and divided by the round (right). Dotted: η times the largest gap. No
    shortfall is drawn as 0. Lines:
    mean over {{ replicates }} replicates above and {{ shows[1].replicates }} below; {{ spread }};
    thin line: one replicate. The instance, the horizon, the tolerance 0 and η are reconstructed.
    """
    curves = pd.concat(
        _over_time(run, dataset.footer, series, values)
        for dataset in datasets
        for run in runs_of(*dataset)
        for series, values in _violations(run).items()
    )
    short, long = (dataset.footer for dataset in datasets)
    shown = (
        (short, "now", "violation in the round (pulls)"),
        (short, "so far", "largest violation so far (pulls)"),
        (long, "now", "violation in the round (pulls)"),
        (long, "now, per round", "violation per round (pulls)"),
    )
    settled = panels.of(curves, panel=long["experiment"], series="now", policy="LFG")
    settled = settled[["panel", "series", "policy", "eta", "round"]]
    settled = settled[settled["round"].isin(settled["round"].agg(["min", "max"]))]
    settled = settled.assign(level=settled["eta"] * gaps(long["means"]).max())
    above = curves.assign(**curves[NOT_BELOW].clip(lower=0))
    named = _named(pd.concat([above, settled]))
    plots = [
        _over_rounds(named, panel=footer["experiment"], series=series).label(
            title=f"{style.in_short(footer['horizon'])} rounds", y=label
        )
        for footer, series, label in shown
    ]
    said = style.note(
        curves,
        style.ALL,
        "dotted: η times the largest gap",
        "no shortfall is drawn as 0; below 1 pull (0.0001 per round) the vertical axes are linear",
        "a violation below 1 is a fraction of one pull",
    )
    drawing = style.drawn((style.PAGE, 4.8), said, *plots, columns=2)
    style.scale(drawing.axes[:3], y=1)
    style.scale(drawing.axes[3:], y=1e-4)
    for axes in drawing.axes:
        axes.set_ylim(bottom=0)
    panels.log_rounds(drawing.axes[2:])
    return drawing, curves


def _violations(run: RunData) -> dict[str, np.ndarray]:
    """Return the largest deficit of any arm in its readings, each (n_replicates, n_rounds)."""
    columns = {"now": "deficit", "so far": "deficit_sup"}
    columns |= {f"{name}, floored": f"floor_{column}" for name, column in columns.items()}
    largest = {name: run.values[column].max(axis=-1) for name, column in columns.items()}
    return largest | {"now, per round": largest["now"] / run.rounds}


def _over_time(run: RunData, footer: dict, series: str, values: np.ndarray) -> pd.DataFrame:
    curve = summarise(run.law, series, run.rounds, values)
    label, eta = footer["labels"][run.policy], run.cell.get("eta", np.nan)
    return curve.assign(policy=label, eta=eta, panel=footer["experiment"])


def _named(curves: pd.DataFrame) -> pd.DataFrame:
    """Return curves with names, LFG's with its weight; those without a weight come first."""
    weights = curves["eta"].map(", η = {:g}".format, na_action="ignore").fillna("")
    named = curves.assign(name=curves["policy"] + weights)
    return named.sort_values("eta", na_position="first", kind="stable")


def _over_rounds(named: pd.DataFrame, **shown: str) -> so.Plot:
    """Return a panel of every policy, LFG once for each weight, with the looks of all panels."""
    part = panels.of(named, **shown)
    is_level = part["mean"].isna()
    colours = style.palette(named["name"].unique())
    drawing = style.curves(part[~is_level], part[is_level], by="name", colours=colours)
    if is_level.any():
        drawing = drawing.add(style.LEVEL, y="level", legend=False)
    return drawing.label(x=style.ROUNDS).limit(x=(0, None))
