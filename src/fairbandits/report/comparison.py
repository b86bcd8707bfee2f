"""Our curves over replicates beside the published single runs, in numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML, Markdown

from fairbandits.library.style import LAW_TITLES
from fairbandits.measures.summary import summarise
from fairbandits.report.pages import link_to_claim, listed, number, prose, span, value_table
from fairbandits.settings.schemas import paper_file, read_yaml

#: Reward laws in running text.
LAW_WORDS = {"uniform02": "the released program's rewards", "bernoulli": "Bernoulli rewards"}


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

    `figure` is the figure's entry in papers/SLUG/published.yaml; ``published`` is NaN where nothing
    is known or our horizon is not the published one.
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
            row = over_replicates(values, curve.law, curve.series, at)
            rows.append(row | {"quantity": one["quantity"], "published": read})
    return pd.DataFrame(rows)


def over_replicates(
    values: np.ndarray, law: str = "", series: str = "", round_: int = 0
) -> dict[str, Any]:
    """Return `summarise` of one number per replicate."""
    return summarise(law, series, np.array([round_]), values[:, None]).iloc[0].to_dict()


def _named(row: Any, horizon: int) -> str:
    """Return a row's quantity in words."""
    series = {"regret": ""}.get(row.series, f"{row.series}, ")
    where = {
        "value": "last round" if row.round == horizon else f"round {number(row.round)}",
        "maximum": "maximum",
        "minimum": "minimum",
        "late mean": "mean of second half",
        "late minimum": "minimum of second half",
        "late maximum": "maximum of second half",
    }[row.quantity]
    return series + where


def comparison_table(comparison: pd.DataFrame, digits: int, name: str) -> HTML:
    """Return the comparison as a table, one law after the other."""
    groups = {}
    for law, part in comparison.groupby("law", sort=False):
        horizon = part["round"].max()
        (n,) = part["n_replicates"].unique()
        heading = f"{LAW_TITLES.get(law, law)}: n = {n} runs of {number(horizon)} rounds"
        groups[heading] = [
            [
                _named(row, horizon),
                number(row.mean, digits),
                span(row.mean_low, row.mean_high, digits),
                span(row.run_low, row.run_high, digits),
                "" if np.isnan(row.published) else number(row.published, digits),
            ]
            for row in part.itertuples()
        ]
    header = ["", "mean", "95 % interval", "95 % of our runs", "published run"]
    return value_table(groups, header, name)


def judged_by(paper: str, figure: str) -> HTML:
    """Return a link to the claim that judges whether our curves and the published ones agree."""
    question = "Whether the published curves could be one more run of ours"
    return judged(question, f"{paper}-{figure}-published")


def judged(question: str, *claims: str) -> HTML:
    """Return links to the claims that answer a question for which the page only has numbers.

    `question` is plain text that begins a sentence: ``Whether ...``.
    """
    links = listed([link_to_claim(claim, escape(claim)) for claim in claims])
    which = "claims" if len(claims) > 1 else "claim"
    return HTML(f"<p>{escape(question)} is judged as {which} {links}.</p>")


def reading_guide(known: dict[str, Any]) -> Markdown:
    """Return how to read the tables of our numbers beside the published ones."""
    return prose(
        f"The published numbers were {known['source']}, with a reading error of "
        f"{known['reading_error']}. Each published curve is a single run. It is laid beside the "
        "range that holds 95 % of our runs: of numbers of the same program, about one in twenty "
        "falls outside. Maxima and minima are over the recorded rounds, maxima of queues over all "
        "rounds."
    )
