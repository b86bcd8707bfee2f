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
    """Return a quantity of each replicate's curve, shape (n_replicates,).

    `quantity` is ``value`` (at `round_`, linear between recorded rounds), ``maximum``, ``minimum``;
    or ``late mean``, ``late minimum``, ``late maximum`` over the second half of the horizon, the
    mean by the trapezoid rule.
    """
    late = curve.rounds >= curve.rounds[-1] / 2
    rounds, values = curve.rounds[late], curve.values[:, late]
    match quantity:
        case "value":
            return np.array([np.interp(round_, curve.rounds, one) for one in curve.values])
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
    """Return a row per law and quantity: our summary, and the published number.

    `figure` is the figure's entry in papers/SLUG/published.yaml; ``said`` is the quantity in words,
    ``published`` is NaN where nothing is known or our horizon is not the published one.
    """
    rows = []
    for curve in curves:
        horizon = int(curve.rounds[-1])
        comparable = horizon == figure["horizon"]
        known = [one for one in figure["values"] if one["series"] == curve.series]
        last = {"quantity": "value", "round": horizon, "value": np.nan}
        if not comparable:
            known = [one | {"round": horizon} for one in known if one["quantity"] != "value"]
        if not any(one["quantity"] == "value" and one["round"] == horizon for one in known):
            known = [last, *known]
        for one in known:
            values = observe(curve, one["quantity"], one.get("round", horizon))
            read = one["value"] if comparable else np.nan
            at = one["round"] if one["quantity"] == "value" else horizon
            row = summarise(curve.law, curve.series, np.array([at]), values[:, None])
            said = f"round {number(at)}" if one["quantity"] == "value" else one["quantity"]
            rows.append(row.assign(quantity=one["quantity"], said=said, published=read))
    return pd.concat(rows, ignore_index=True)


def curves(paper: Paper, figure: str) -> list[Curve]:
    """Return the quantity of a figure of BanditQ's in every replicate."""
    shows = quantity(paper.slug, figure)
    probes = ["queue", "queue_max"] if shows == "queues" else []
    data, footer = paper.dataset(paper.of_figure(figure).name, ["run", "round", "reward", *probes])
    return [
        Curve(run.law, series, run.rounds, values, _peaks(run.values, series))
        for run in runs_of(data, footer)
        for series, values in measured(run, footer, shows).items()
    ]


def _peaks(values: dict[str, np.ndarray], series: str) -> np.ndarray | None:
    """Return the largest queue of an arm in any round, where it was recorded."""
    return values["queue_max"][:, -1, int(series[-1]) - 1] if "queue_max" in values else None
