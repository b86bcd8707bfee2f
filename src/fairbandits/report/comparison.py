"""Our curves over replicates beside the published single runs, as pictures and in numbers."""

import importlib
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairbandits.figures import PAPERS, panels
from fairbandits.library import style
from fairbandits.measures.summary import summarise
from fairbandits.numerals import number
from fairbandits.replication.datasets import load_dataset
from fairbandits.replication.recorded import runs_of
from fairbandits.report.audit import Audit
from fairbandits.report.markup import Html, as_figure
from fairbandits.report.pages import NAMES, Paper
from fairbandits.settings.schemas import paper_file, read_yaml

#: The law of the published runs of BanditQ: that of the released program.
RELEASED = "uniform02"
#: How published numbers are drawn.
POINTS = {"marker": "o", "ms": 8, "mfc": "none", "mec": "black", "ls": "", "clip_on": False}
#: What a finding on a published number says of our runs.
OURS = ("lowest of ours", "mean", "highest of ours")
#: Of so many rounds a small picture shows one.
THINNED = 8


class Curve(NamedTuple):
    """One quantity in all replicates under one reward law."""

    law: str
    series: str  # the curve's name in its figure
    rounds: np.ndarray  # (n_rounds,)
    values: np.ndarray  # (n_replicates, n_rounds)
    peaks: np.ndarray | None = None  # maxima over all rounds, (n_replicates,), where recorded


def published(paper: str) -> dict[str, Any]:
    return read_yaml(paper_file(paper, "published"))


def observe(curve: Curve, quantity: str, round_: int) -> np.ndarray:
    """Return a quantity of each replicate's curve; what is late is in the second half."""
    late = curve.rounds >= curve.rounds[-1] / 2
    rounds, values = curve.rounds[late], curve.values[:, late]
    match quantity:
        case "value":
            return np.array([np.interp(round_, curve.rounds, run) for run in curve.values])
        case "maximum":
            return curve.values.max(axis=1) if curve.peaks is None else curve.peaks
        case "minimum":
            return curve.values.min(axis=1)
        case "late maximum":
            return values.max(axis=1)
        case "late minimum":
            return values.min(axis=1)
        case "late mean":
            return np.trapezoid(values, rounds, axis=1) / (rounds[-1] - rounds[0])
    raise ValueError(f"no quantity {quantity!r} of a curve")


def compare(curves: Iterable[Curve], figure: dict[str, Any]) -> pd.DataFrame:
    """Return a row per law and quantity: our summary, and the number in published.yaml if known."""
    rows = []
    for curve in curves:
        horizon = int(curve.rounds[-1])
        comparable = horizon == figure["horizon"]
        known = [
            (one["quantity"], one["round"] if one["quantity"] == "value" else horizon, one["value"])
            for one in figure["values"]
            if one["series"] == curve.series and (comparable or one["quantity"] != "value")
        ]
        if not any(known_of[:2] == ("value", horizon) for known_of in known):
            known = [("value", horizon, np.nan), *known]
        for what, at, read in known:
            values = observe(curve, what, at)
            row = summarise(curve.law, curve.series, np.array([at]), values[:, None])
            said = f"round {number(at)}" if what == "value" else what
            read = read if comparable else np.nan
            rows.append(row.assign(quantity=what, said=said, published=read))
    return pd.concat(rows, ignore_index=True)


def curves(paper: Paper, figure: str) -> list[Curve]:
    shows = PAPERS[paper.slug][figure].function.replace("_", " ")
    probes = ["queue", "queue_max"] if shows == "queues" else []
    file = paper.file(paper.shown_in(figure)[0].name)
    data, footer = load_dataset(file, ["run", "round", "reward", *probes])
    found = []
    drawing = importlib.import_module(f"fairbandits.figures.{paper.slug}")
    for run in runs_of(data, footer):
        for series, values in drawing.measured(run, footer, shows).items():
            peaks = run.values["queue_max"][:, -1, int(series[-1]) - 1] if probes else None
            found.append(Curve(run.law, series, run.rounds, values, peaks))
    return found


@style.in_style()
def laid_over(paper: Paper) -> Html:
    """Return the curves of BanditQ's experiments with the points read off the published ones."""
    known = published(paper.slug)["figures"]
    names = sorted(name for one in paper.experiments for name in one.figures)
    drawing, axes = panels.grid(2, math.ceil((len(names) + 1) / 2), 5.0)
    for axis, name in zip(axes.flat, names, strict=False):
        drawn, entry = paper.table(name), known[name]
        title = f"Figure {name[3:]}\n{PAPERS[paper.slug][name].label}"
        axis.set_title(title, fontsize="small")
        panels.rounds_axis(axis, drawn)
        if drawn["mean"].abs().max() > 1:
            panels.thousands(axis.yaxis)
        axis.set_ylabel(PAPERS[paper.slug][name].unit, fontsize="small")
        axis.locator_params(nbins=4)
        for series in dict.fromkeys(one["series"] for one in entry["values"]):
            curve = panels.of(drawn, law=RELEASED, series=series).iloc[THINNED::THINNED]
            band = curve["round"], curve["run_low"], curve["run_high"]
            axis.fill_between(*band, color=style.COLOURS[series], alpha=0.25, lw=0)
            axis.plot("round", "mean", data=curve, color=style.COLOURS[series], label=series)
        if drawn["round"].max() == entry["horizon"]:  # else nothing is known of ours
            read = [(one["round"], one["value"]) for one in entry["values"] if "round" in one]
            axis.plot(*zip(*read, strict=True), **POINTS, label="published")
    axes.flat[-1].axis("off")
    style.legend(axes.flat[-1], style.named(*axes.flat), loc="center")
    return as_figure(drawing, NAMES["captions"]["laid_over"])


@style.in_style()
def notebook_laid_over(audit: Audit, claim: str) -> Html | None:
    """Return our runs of the notebook's instance and the published numbers; both are findings."""
    found = [one for one in audit.found(claim) if "printed" in (one["also"] or {})]
    if audit.scale != "paper" or not found:
        return None
    judging = audit.judging(claim)
    known, readings = published(judging.slug), judging.readings
    drawing, axes = panels.grid(1, 2, 3.4)
    for axis, (what, unit) in zip(axes[0], NAMES["of_the_notebook"].items(), strict=True):
        entries = known[what]["values"]
        places = {one["value"]: place for place, one in enumerate(entries)}
        for k, reading in enumerate(dict.fromkeys(one["reading"] for one in found)):
            own = (one for one in found if one["reading"] == reading)
            ours = [one["also"] for one in own if what in one["phrase"].split()]
            low, mean, high = (np.array([one[key] for one in ours]) for key in OURS)
            axis.errorbar(
                [places[one["printed"]] + 0.15 * (k - 1) for one in ours],
                mean,
                [mean - low, high - mean],
                fmt="o",
                capsize=4,
                color=style.PALETTE[k],
                label="ours, " + readings[reading].partition(":")[0].lower(),
            )
        at = [0.15 + place for place in places.values()]
        axis.plot(at, list(places), **POINTS, label="published")
        names = [
            f"β = {one['quota']}" if "quota" in one else f"group {one['group']}" for one in entries
        ]
        axis.set_xticks(range(len(names)), names)
        axis.set_ylabel(unit)
        axis.set(xlim=(-0.5, len(names) - 0.5), ylim=0)
    panels.thousands(axes[0, 0].yaxis)
    style.legend(axes[0, 0], style.named(axes[0, 0]))
    return as_figure(drawing, NAMES["captions"]["notebook_laid_over"])
