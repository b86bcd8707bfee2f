"""Our curves over replicates beside the published single runs, in numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairbandits.measures.rates import realised_regret, reward_rates
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import RunData, runs_of
from fairbandits.report.pages import Paper, number, quantity
from fairbandits.settings.schemas import paper_file, read_yaml

#: The arms of BanditQ's instance that are promised something.
PROTECTED = (0, 1)


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
    if quantity == "value":
        return np.array([np.interp(round_, curve.rounds, values) for values in curve.values])
    if quantity == "maximum" and curve.peaks is not None:
        return curve.peaks
    late = curve.rounds >= curve.rounds[-1] / 2
    chosen = curve.values[:, late] if quantity.startswith("late ") else curve.values
    match quantity.removeprefix("late "):
        case "maximum":
            return chosen.max(axis=1)
        case "minimum":
            return chosen.min(axis=1)
        case "mean" if chosen is not curve.values:
            rounds = curve.rounds[late]
            return np.trapezoid(chosen, rounds, axis=1) / (rounds[-1] - rounds[0])
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
    columns = ["run", "round", "reward", *probes]
    data, footer = paper.dataset(paper.of_figure(figure).name, columns)
    return [curve for run in runs_of(data, footer) for curve in _curves(run, footer, shows)]


def _curves(run: RunData, footer: dict[str, Any], shows: str) -> list[Curve]:
    rounds, reward = run.rounds, run.values["reward"]
    if shows == "rates":
        rates = reward_rates(rounds, reward)
        return [Curve(run.law, f"arm {k + 1}", rounds, rates[:, :, k]) for k in PROTECTED]
    if shows == "queues":
        queue, peak = run.values["queue"], run.values["queue_max"]
        return [
            Curve(run.law, f"arm {k + 1}", rounds, queue[:, :, k], peak[:, -1, k])
            for k in PROTECTED
        ]
    if shows == "regret":
        regret = realised_regret(rounds, reward, footer["means"], footer["targets"])
        return [Curve(run.law, "regret", rounds, regret)]
    return [Curve(run.law, footer["labels"][run.policy], rounds, reward.sum(axis=-1))]
