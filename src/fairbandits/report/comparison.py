"""Our curves over replicates beside the published single runs, as pictures and in numbers."""

import importlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import seaborn.objects as so

from fairbandits.figures import PAPERS
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
        points = [
            (row["quantity"], row["round"] if row["quantity"] == "value" else horizon, row["value"])
            for row in figure["values"]
            if row["series"] == curve.series and (comparable or row["quantity"] != "value")
        ]
        if not any(point[:2] == ("value", horizon) for point in points):
            points = [("value", horizon, np.nan), *points]
        for quantity, at, read in points:
            values = observe(curve, quantity, at)
            row = summarise(curve.law, curve.series, np.array([at]), values[:, None])
            said = f"round {number(at)}" if quantity == "value" else quantity
            read = read if comparable else np.nan
            rows.append(row.assign(quantity=quantity, said=said, published=read))
    return pd.concat(rows, ignore_index=True)


def curves(paper: Paper, figure: str) -> list[Curve]:
    shows = PAPERS[paper.slug][figure].function.replace("_", " ")
    probes = ["queue", "queue_max"] if shows == "queues" else []
    file = paper.file(paper.shown_in(figure)[0].name)
    data, footer = load_dataset(file, ["run", "round", "reward", *probes])
    curves = []
    drawing = importlib.import_module(f"fairbandits.figures.{paper.slug}")
    for run in runs_of(data, footer):
        for series, values in drawing.measured(run, footer, shows).items():
            peaks = run.values["queue_max"][:, -1, int(series[-1]) - 1] if probes else None
            curves.append(Curve(run.law, series, run.rounds, values, peaks))
    return curves


@style.in_style()
def laid_over(paper: Paper) -> Html:
    """Return the curves of BanditQ's experiments with the points read off the published ones."""
    figures = published(paper.slug)["figures"]
    names = sorted(name for experiment in paper.experiments for name in experiment.figures)
    plots = []
    for name in names:
        drawn, entry = paper.table(name), figures[name]
        series = list(dict.fromkeys(point["series"] for point in entry["values"]))
        curves = drawn[(drawn["law"] == RELEASED) & drawn["series"].isin(series)]
        is_whole = drawn["round"].max() == entry["horizon"]  # else nothing is known of ours
        read = pd.DataFrame(point for point in entry["values"] if "round" in point and is_whole)
        read = read.reindex(columns=["series", "round", "value"])
        declared = PAPERS[paper.slug][name]
        plot = style.curves(curves.iloc[THINNED::THINNED], read, layers=("runs", "mean"))
        plot = plot.add(style.CIRCLE, y="value", legend=False).limit(x=(0, None))
        title = f"Figure {name[3:]}\n{declared.label}"
        plots.append(plot.label(title=title, x=style.ROUNDS, y=declared.unit))
    note = style.note(curves, ("runs", "mean"), "circles: published" if is_whole else "")
    drawing = style.drawn((style.PAGE, 3.9), note, *plots, columns=4)
    return as_figure(drawing, NAMES["captions"]["laid_over"])


@style.in_style()
def notebook_laid_over(audit: Audit, claim: str) -> Html | None:
    """Return our runs of the notebook's instance and the published numbers; both are findings."""
    findings = [row for row in audit.found(claim) if "printed" in (row["also"] or {})]
    if audit.scale != "paper" or not findings:
        return None
    judging = audit.judging(claim)
    printed, readings = published(judging.slug), judging.readings
    plots = []
    for quantity, unit in NAMES["of_the_notebook"].items():
        entries = printed[quantity]["values"]
        places = {
            row["value"]: f"β = {row['quota']}" if "quota" in row else f"group {row['group']}"
            for row in entries
        }
        ours = [
            {
                name: row["also"][key]
                for name, key in zip(("low", "mean", "high"), OURS, strict=True)
            }
            | {"place": places[row["also"]["printed"]], "value": row["also"]["printed"]}
            | {"reading": "ours, " + readings[row["reading"]].partition(":")[0].lower()}
            for row in findings
            if quantity in row["phrase"].split()
        ]
        plot = style.plot(pd.DataFrame(ours), "reading", x="place", marker="reading")
        beside = so.Dodge(by=["color"])
        plot = plot.add(style.BAR, beside, ymin="low", ymax="high", legend=False)
        plot = plot.add(so.Dot(pointsize=4), beside, y="mean")
        plot = plot.add(style.CIRCLE, y="value", legend=False)
        plots.append(plot.label(x="", y=unit).limit(y=(0, None)))
    notes = ["mark: mean of our runs", "bar: from the lowest to the highest", "circle: published"]
    drawing = style.drawn((style.PAGE, 2.8), notes, *plots, columns=2)
    return as_figure(drawing, NAMES["captions"]["notebook_laid_over"])
