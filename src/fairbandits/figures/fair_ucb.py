"""Figures 2 to 4 of the Fair-Learn paper: cost of fairness, r-Regret, fairness guarantee."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fairbandits.figures import figure, panels
from fairbandits.library.style import COLOURS, draw_curve, legend, named, shades
from fairbandits.measures.pulls import gaps, r_regret, regret
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import Dataset, RunData, runs_of

#: Below this a logarithmic axis is linear, so that 0 and what lies below it can be seen.
LINEAR = 1.0
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
    against the tolerance, on a linear axis above and a logarithmic axis below. Solid: {{ what }};
    circles and dashed: the other reading of the gaps, at fewer tolerances, with a thin bar for
    95 % of the replicates; horizontal lines: UCB1, which ignores quotas. Mean over
    {{ replicates }} replicates; {{ spread }}. The instance and the tolerances are reconstructed.

    Columns
    -------
    tolerance : pulls
        Tolerance alpha, the pulls that an arm may be behind its quota. Range: none for policies
        without a tolerance.
    """
    curves = pd.concat(part for dataset in datasets for part in _against_tolerance(dataset))
    drawing, axes = panels.grid(2, 2, 7.0, sharey="col")
    readings = panels.different(curves, "panel")
    for row, scale in zip(axes, ("linear", "logarithmic"), strict=True):
        for axis, part in panels.each(row, curves, series=("regret", "violation")):
            for reading, dash in zip(readings, ("-", "--"), strict=True):
                _cost_curves(axis, panels.of(part, panel=reading), reading, dash)
            if scale == "logarithmic":
                axis.set_xscale("symlog", linthresh=LINEAR)
            else:
                panels.thousands(axis.xaxis)
            panels.thousands(axis.yaxis)
            axis.set(xlabel=f"tolerance α ({scale} axis)", xlim=(0, None), ylim=(0, None))
        row[0].set_ylabel("regret R(T), in reward")
        row[1].set_ylabel("largest violation so far, in pulls")
    legend(axes[0, 0], named(*axes.flat))
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


def _cost_curves(axis: Axes, part: pd.DataFrame, reading: str, dash: str) -> None:
    fair = panels.of(part, policy="Fair-UCB")
    name = f"Fair-UCB, {reading}"
    if len(fair) < JOINED:
        at, colour = fair["tolerance"], COLOURS["Fair-UCB"]
        axis.vlines(at, fair["run_low"], fair["run_high"], color=colour, lw=0.8)
        axis.vlines(at, fair["mean_low"], fair["mean_high"], color=colour, lw=2)
        look = {"color": colour, "mfc": colour if dash == "-" else "white", "clip_on": False}
        axis.plot(at, fair["mean"], "o", ms=5, label=name, zorder=3, **look)
    else:
        draw_curve(axis, fair, "Fair-UCB", name=name, dash=dash, one_run=False)
    (control,) = panels.of(part, policy="UCB1").itertuples()
    colour = COLOURS["UCB1"]
    axis.axhline(control.mean, color=colour, ls=dash, lw=1.2, label=f"UCB1, {reading}")
    axis.axhspan(control.mean_low, control.mean_high, color=colour, alpha=0.3)


@figure(
    fig3="r-Regret", reads=["plays", "eta"], quantity="the r-Regret up to round t", unit="reward"
)
def r_regret_over_time(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the r-Regret of Fair-UCB and LFG over time.

    r-Regret of Fair-UCB and of LFG with several weights η, for both readings of the gaps, up to
    {{ horizon }} rounds (above) and up to {{ shows[2].horizon }} rounds (below). Lines: mean over
    {{ replicates }} replicates above and {{ shows[2].replicates }} below; {{ spread }}; thin line:
    one replicate. The vertical axis is linear below 1. The instance, the tolerance 0 and η are
    reconstructed.

    Columns
    -------
    eta
        LFG's weight eta of the rewards. Range: at least 0; none for other policies.
    """
    curves = pd.concat(
        _over_time(run, footer, "r-Regret", r_regret(run.rounds, run.values["plays"], *given))
        for table, footer in datasets
        for given in [(footer["means"], footer["quotas"])]
        for run in runs_of(table, footer)
    )
    drawing, axes = panels.grid(2, 2, 7.0, sharey=True)
    for axis, (_, footer) in zip(axes.flat, datasets, strict=True):
        name = footer["experiment"]
        _over_rounds(axis, curves, name.startswith("r_regret_long"), panel=name)
        axis.set_title(reading_of(footer))
    panels.label_rows(axes, "r-Regret, in reward\n(logarithmic above 1)")
    panels.legend_below(drawing, axes, 6, _names(curves))
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
    the round (left) and divided by the round (right). Dotted: η times the largest gap. Lines:
    mean over {{ replicates }} replicates above and {{ shows[1].replicates }} below; {{ spread }};
    thin line: one replicate. The instance, the horizon, the tolerance 0 and η are reconstructed.
    """
    curves = pd.concat(
        _over_time(run, dataset.footer, series, values)
        for dataset in datasets
        for run in runs_of(*dataset)
        for series, values in _violations(run).items()
    )
    drawing, axes = panels.grid(2, 2, 7.0)
    short, long = (dataset.footer["experiment"] for dataset in datasets)
    shown = (
        (short, "now", "violation in the round, in pulls"),
        (short, "so far", "largest violation so far, in pulls"),
        (long, "now", "violation in the round, in pulls"),
        (long, "now, per round", "violation per round, in pulls"),
    )
    for axis, (name, series, words) in zip(axes.flat, shown, strict=True):
        linear = 1e-4 if series.endswith("per round") else LINEAR
        _over_rounds(axis, curves, name == long, linear, panel=name, series=series)
        axis.set_ylabel(f"{words}\n(logarithmic above {linear:g})")
    largest = gaps(datasets[1].footer["means"]).max()
    for eta in panels.different(panels.of(curves, panel=long, policy="LFG"), "eta"):
        axes[1, 0].axhline(eta * largest, **panels.LEVEL_LINE)  # where LFG's queues settle
    panels.legend_below(drawing, axes, 6, _names(curves))
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


def _name(policy: str, eta: float) -> str:
    return policy if np.isnan(eta) else f"{policy}, η = {eta:g}"


def _names(curves: pd.DataFrame) -> list[str]:
    """Return the names of the curves of all panels, in order of eta."""
    different = curves[["policy", "eta"]].drop_duplicates()
    ordered = different.sort_values("eta", na_position="first", kind="stable")
    return [_name(policy, eta) for policy, eta in ordered.itertuples(index=False)]


def _over_rounds(
    axis: Axes, curves: pd.DataFrame, log: bool, linear: float = LINEAR, **shown: str
) -> None:
    """Draw every policy, LFG once for each eta; those without eta come last, to lie on top."""
    etas = sorted(curves["eta"].dropna().unique())
    colours = dict(zip(etas, shades("LFG", len(etas)), strict=True))
    part = panels.of(curves, **shown)
    for (eta, label), curve in part.groupby(["eta", "policy"], dropna=False):
        draw_curve(axis, curve, label, name=_name(label, eta), colour=colours.get(eta))
    axis.set_yscale("symlog", linthresh=linear)
    panels.zero_line(axis)
    panels.rounds_axis(axis, part, log)
