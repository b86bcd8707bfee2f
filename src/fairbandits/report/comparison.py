"""Our curves over replicates beside the published single runs, as pictures and in numbers."""

import importlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import seaborn.objects as so

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
    plots = []
    for name in names:
        drawn, entry = paper.table(name), known[name]
        series = list(dict.fromkeys(one["series"] for one in entry["values"]))
        curves = drawn[(drawn["law"] == RELEASED) & drawn["series"].isin(series)]
        is_whole = drawn["round"].max() == entry["horizon"]  # else nothing is known of ours
        read = pd.DataFrame(one for one in entry["values"] if "round" in one and is_whole)
        read = read.reindex(columns=["series", "round", "value"])
        declared = PAPERS[paper.slug][name]
        plot = style.curves(curves.iloc[THINNED::THINNED], read, layers=("runs", "mean"))
        plot = plot.add(style.CIRCLE, y="value", legend=False).limit(x=(0, None))
        title = f"Figure {name[3:]}\n{declared.label}"
        plots.append(plot.label(title=title, x=panels.ROUNDS, y=declared.unit))
    said = style.note(curves, ("runs", "mean"), "circles: published" if is_whole else "")
    drawing = style.drawn((style.PAGE, 3.9), said, *plots, columns=4)
    return as_figure(drawing, NAMES["captions"]["laid_over"])


@style.in_style()
def notebook_laid_over(audit: Audit, claim: str) -> Html | None:
    """Return our runs of the notebook's instance and the published numbers; both are findings."""
    found = [one for one in audit.found(claim) if "printed" in (one["also"] or {})]
    if audit.scale != "paper" or not found:
        return None
    judging = audit.judging(claim)
    known, readings = published(judging.slug), judging.readings
    plots = []
    for what, unit in NAMES["of_the_notebook"].items():
        entries = known[what]["values"]
        places = {
            one["value"]: f"β = {one['quota']}" if "quota" in one else f"group {one['group']}"
            for one in entries
        }
        ours = [
            {
                name: one["also"][key]
                for name, key in zip(("low", "mean", "high"), OURS, strict=True)
            }
            | {"place": places[one["also"]["printed"]], "value": one["also"]["printed"]}
            | {"reading": "ours, " + readings[one["reading"]].partition(":")[0].lower()}
            for one in found
            if what in one["phrase"].split()
        ]
        plot = style.plot(pd.DataFrame(ours), "reading", x="place", marker="reading")
        beside = so.Dodge(by=["color"])
        plot = plot.add(style.BAR, beside, ymin="low", ymax="high", legend=False)
        plot = plot.add(so.Dot(pointsize=4), beside, y="mean")
        plot = plot.add(style.CIRCLE, y="value", legend=False)
        plots.append(plot.label(x="", y=unit).limit(y=(0, None)))
    said = ["mark: mean of our runs", "bar: from the lowest to the highest", "circle: published"]
    drawing = style.drawn((style.PAGE, 2.8), said, *plots, columns=2)
    return as_figure(drawing, NAMES["captions"]["notebook_laid_over"])
