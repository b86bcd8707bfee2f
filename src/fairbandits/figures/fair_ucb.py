"""Figures 2 to 4 of the Fair-Learn paper: cost of fairness, r-Regret, fairness guarantee.

Beside each stand the effects of its missing parameters: the reading of the gaps, LFG's eta, the
scale of the axis.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from fairbandits.library.style import COLOURS, draw_curve, shades
from fairbandits.measures.pulls import gaps, r_regret, regret, violation
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import Dataset, RunData, runs_of, specs_of

Drawing = tuple[Figure, pd.DataFrame]
#: Below this a logarithmic axis is linear, so that 0 and what lies below it can be seen.
LINEAR = 1.0
SCALES = {"linear": "linear", "symlog": "logarithmic"}


def cost_of_fairness(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw regret and largest violation against the tolerance (Fig. 2)."""
    del published
    measures = {"regret": regret_at_end, "violation": violation_so_far}
    parts = []
    for dataset in datasets:
        for series, measure in measures.items():
            parts += _against_tolerance(dataset, series, measure)
    curves = pd.concat(parts)
    figure, axes = plt.subplots(2, 2, figsize=(10.4, 7.0), layout="constrained", sharey="col")
    readings = list(dict.fromkeys(curves["panel"]))
    for row, scale in zip(axes, SCALES, strict=True):
        for axis, series in zip(row, measures, strict=True):
            for reading, dash in zip(readings, ("-", "--"), strict=True):
                part = curves[(curves["panel"] == reading) & (curves["series"] == series)]
                _cost_curves(axis, part, reading, dash)
            if scale == "symlog":
                axis.set_xscale(scale, linthresh=LINEAR)
            else:
                axis.xaxis.set_major_formatter(EngFormatter(sep=""))
            axis.yaxis.set_major_formatter(EngFormatter(sep=""))
            axis.set_xlabel(f"tolerance α ({SCALES[scale]} axis)")
            axis.set_xlim(left=0)
            axis.set_ylim(bottom=0)
    for row in axes:
        row[0].set_ylabel("regret R(T)")
        row[1].set_ylabel("largest fairness violation so far")
    axes[0, 0].legend()
    return figure, curves


def regret_at_end(run: RunData, footer: dict) -> np.ndarray:
    """Return the regret at the last round, shape (n_replicates,)."""
    return regret(run.values["plays"], footer["means"])[:, -1]


def violation_so_far(run: RunData, footer: dict) -> np.ndarray:
    """Return the largest deficit of any arm in any round, shape (n_replicates,)."""
    del footer
    return violation(run.values["deficit_sup"])[:, -1]


def _against_tolerance(
    dataset: Dataset, series: str, measure: Callable[[RunData, dict], np.ndarray]
) -> Iterable[pd.DataFrame]:
    """Yield a measure of Fair-UCB at every tolerance, and of policies without tolerance at NaN."""
    footer = dataset.footer
    found: dict[str, list[tuple[float, np.ndarray]]] = {}
    for run in runs_of(*dataset):
        tolerance = run.cell.get("tolerance", np.nan)
        label = footer["labels"][run.policy]
        found.setdefault(label, []).append((tolerance, measure(run, footer)))
    (law,) = {spec.law for spec in specs_of(footer).values()}
    for label, points in found.items():
        tolerances, values = zip(*sorted(points, key=lambda point: point[0]), strict=True)
        curve = summarise(law, series, np.array(tolerances), np.stack(values, axis=1), "tolerance")
        yield curve.assign(policy=label, panel=reading_of(footer))


def reading_of(footer: dict) -> str:
    """Return the reading of the gaps of a dataset of Instance 1."""
    spaced = np.diff(gaps(footer["means"]))
    return "gaps 0.01 (i − 1)" if np.allclose(spaced, spaced[0]) else "gaps 0.01 i"


def _cost_curves(axis: Axes, part: pd.DataFrame, reading: str, dash: str) -> None:
    fair, control = (part[part["policy"] == label] for label in ("Fair-UCB", "UCB1"))
    draw_curve(axis, fair, "Fair-UCB", name=f"Fair-UCB, {reading}", dash=dash, one_run=False)
    (level,) = control["mean"]
    name = f"UCB1, {reading}"
    axis.axhline(level, color=COLOURS["UCB1"], ls=dash, lw=1.2, label=name)
    axis.axhspan(
        control["mean_low"].item(), control["mean_high"].item(), color=COLOURS["UCB1"], alpha=0.3
    )


def r_regret_over_time(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the r-Regret of Fair-UCB and LFG over time (Fig. 3)."""
    del published
    parts = []
    for dataset in datasets:
        footer = dataset.footer
        for run in runs_of(*dataset):
            plays, quotas = run.values["plays"], footer["quotas"]
            values = r_regret(run.rounds, plays, footer["means"], quotas)
            parts.append(_over_time(run, footer, "r-Regret", values))
    curves = pd.concat(parts)
    figure, axes = plt.subplots(2, 2, figsize=(10.4, 7.0), layout="constrained", sharey=True)
    names = [dataset.footer["experiment"] for dataset in datasets]
    titles = [reading_of(dataset.footer) for dataset in datasets]
    colours = _colours(curves)
    for axis, name, title in zip(axes.flat, names, titles, strict=True):
        part = curves[curves["panel"] == name]
        _policies(axis, part, colours)
        axis.set_title(title, fontsize="medium")
        axis.set_yscale("symlog", linthresh=LINEAR)
        axis.axhline(0, color="0.6", lw=0.8)
        _time_axis(axis, part, log=name.startswith("r_regret_long"))
    for row in axes:
        row[0].set_ylabel("r-Regret (logarithmic above 1)")
    _legend(figure, axes[0, 0])
    return figure, curves


def fairness(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the fairness violation of Fair-UCB and LFG over time (Fig. 4)."""
    del published
    parts = []
    for dataset in datasets:
        footer = dataset.footer
        for run in runs_of(*dataset):
            now = violation(run.values["deficit"])
            measures = {
                "now": now,
                "so far": violation(run.values["deficit_sup"]),
                "now, floored": violation(run.values["floor_deficit"]),
                "so far, floored": violation(run.values["floor_deficit_sup"]),
                "now, per round": now / run.rounds,
            }
            parts += [_over_time(run, footer, name, values) for name, values in measures.items()]
    curves = pd.concat(parts)
    figure, axes = plt.subplots(2, 2, figsize=(10.4, 7.0), layout="constrained")
    short, long = (dataset.footer["experiment"] for dataset in datasets)
    panels = (
        (short, "now", "violation of the round"),
        (short, "so far", "largest violation so far"),
        (long, "now", "violation of the round"),
        (long, "now, per round", "violation of the round, divided by it"),
    )
    colours = _colours(curves)
    for axis, (name, series, words) in zip(axes.flat, panels, strict=True):
        part = curves[(curves["panel"] == name) & (curves["series"] == series)]
        _policies(axis, part, colours)
        linear = 1e-4 if series.endswith("per round") else LINEAR
        axis.set_yscale("symlog", linthresh=linear)
        axis.axhline(0, color="0.6", lw=0.8)
        _time_axis(axis, part, log=name == long)
        axis.set_ylabel(f"{words}\n(logarithmic above {linear:g})")
    _limits(axes[1, 0], datasets[1].footer)
    _legend(figure, axes[0, 0])
    return figure, curves


def _limits(axis: Axes, footer: dict) -> None:
    """Draw the level at which LFG's queues settle: eta times the largest gap."""
    etas = [eta for spec in specs_of(footer).values() for eta in spec.sweep.get("eta", [])]
    for eta in etas:
        level = eta * gaps(footer["means"]).max()
        axis.axhline(level, color="0.35", lw=0.9, ls=(0, (1, 2)))


def _over_time(run: RunData, footer: dict, series: str, values: np.ndarray) -> pd.DataFrame:
    curve = summarise(run.law, series, run.rounds, values)
    label, eta = footer["labels"][run.policy], run.cell.get("eta", np.nan)
    return curve.assign(policy=label, eta=eta, panel=footer["experiment"])


def _colours(curves: pd.DataFrame) -> dict[float, Any]:
    """Return a shade of LFG's colour for each eta of a figure."""
    etas = sorted(curves["eta"].dropna().unique())
    return dict(zip(etas, shades("LFG", len(etas)), strict=True))


def _policies(axis: Axes, curves: pd.DataFrame, colours: dict[float, Any]) -> None:
    """Draw every policy, LFG once for each eta; those without eta come last, to lie on top."""
    for (eta, label), part in curves.groupby(["eta", "policy"], dropna=False):
        if np.isnan(eta):
            draw_curve(axis, part, label)
        else:
            draw_curve(axis, part, label, name=f"{label}, η = {eta:g}", colour=colours[eta])


def _legend(figure: Figure, axis: Axes) -> None:
    """Put the names of the policies below all panels."""
    handles, names = axis.get_legend_handles_labels()
    figure.legend(
        [*handles[-1:], *handles[:-1]],
        [*names[-1:], *names[:-1]],
        loc="outside lower center",
        ncols=6,
    )


def _time_axis(axis: Axes, part: pd.DataFrame, log: bool) -> None:
    axis.set_xlabel("number of rounds")
    if log:
        axis.set_xscale("log")
        axis.set_xlim(min(100, part["round"].max() / 10), part["round"].max())
    else:
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
        axis.set_xlim(0, part["round"].max())


#: Name of each figure -> the function that draws it, and the recorded columns that it needs.
FIGURES = {
    "fig2": (cost_of_fairness, ["plays", "tolerance", "deficit_sup"]),
    "fig3": (r_regret_over_time, ["plays", "eta"]),
    "fig4": (
        fairness,
        ["eta", "deficit", "deficit_sup", "floor_deficit", "floor_deficit_sup"],
    ),
}
