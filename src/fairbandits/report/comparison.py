"""Our curves over replicates beside the published single runs, in numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairbandits.figures.banditq import measured
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import runs_of
from fairbandits.report.pages import Paper, number, quantity
from fairbandits.settings.schemas import paper_file, read_yaml


@dataclass(frozen=True)
class Curve:
    """One quantity in all replicates under one reward law."""

    law: str
    series: str  # the curve's name in its figure
    rounds: np.ndarray  # (n_rounds,)
    values: np.ndarray  # (n_replicates, n_rounds)
    peaks: np.ndarray | None = None  # maxima over all rounds, (n_replicates,), where recorded


def published(paper: str) -> dict[str, Any]:
    """Return papers/SLUG/published.yaml: what is known of a paper's published curves."""
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
    """Return a row per law and quantity: our summary, and the published number if known.

    `figure` is the figure's entry in papers/SLUG/published.yaml; nothing is known of our horizon
    where it is not the published one.
    """
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
    """Return the quantity of a figure of BanditQ's in every replicate."""
    shows = quantity(paper.slug, figure)
    probes = ["queue", "queue_max"] if shows == "queues" else []
    data, footer = paper.dataset(
        paper.shown_in(figure)[0].name, ["run", "round", "reward", *probes]
    )
    found = []
    for run in runs_of(data, footer):
        for series, values in measured(run, footer, shows).items():
            peaks = run.values["queue_max"][:, -1, int(series[-1]) - 1] if probes else None
            found.append(Curve(run.law, series, run.rounds, values, peaks))
    return found
