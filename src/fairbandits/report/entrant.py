"""A user's own policy in the arena, in words and as an HTML page, which needs no other file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from fairbandits.arena import picture
from fairbandits.arena.decisions import pareto
from fairbandits.arena.entrant import Outcome
from fairbandits.arena.roles import TOLD, Arena, Terms
from fairbandits.arena.standings import KEPT
from fairbandits.data.store import replacing
from fairbandits.numerals import number, significant
from fairbandits.report.markup import Html, as_figure, offer, render
from fairbandits.settings.formulas import plain
from fairbandits.settings.schemas import read_yaml

#: How to read standings and pictures, by occasion.
REMARKS = read_yaml(Path(__file__).with_suffix(".yaml"))


def lines(arena: Arena, outcome: Outcome) -> Iterator[str]:
    """Yield the printed lines about an outcome."""
    rows = []
    for (contract, instance), table in outcome.tables.items():
        last = longest(table)
        (standing,) = last[last["label"] == outcome.label].itertuples()
        row = {"contract": contract, "instance": instance}
        row["keeps it for T ="] = kept_at(table, standing.name)
        row["shortfall"] = f"{half(standing, 'shortfall')} {arena.of(contract).unit}"
        row["contract regret (reward)"] = half(standing, "contract_regret")
        row["rank by regret"] = f"{standing.contract_regret_rank:.1f} of {last['usual'].sum()}"
        rows.append(row | {"Pareto-optimal": pareto(standing)})
    if rows:
        yield outcome.label
        yield pd.DataFrame(rows).to_string(index=False)
        yield from _remarks(outcome)
    for (contract, instance), reason in outcome.skipped.items():
        yield f"Not applicable: {contract} on {instance}: {reason}"
    yield from outcome.failures.values()


def _remarks(outcome: Outcome) -> Iterator[str]:
    """Yield how to read the standings."""
    each = (f"{number(T)} rounds (n = {n} replicates)" for T, n in outcome.replicates.items())
    yield REMARKS["runs"].format(runs=", ".join(each), limit=number(1 / KEPT["kept"][1]))
    if outcome.left_out:
        yield REMARKS["left_out"].format(", ".join(map(number, outcome.left_out)))
    if outcome.needs_horizon:
        yield REMARKS["needs_horizon"]
    told = [key[0] for key, table in outcome.tables.items() if TOLD in set(table["kind"])]
    yield from (REMARKS["told"].format(contract) for contract in dict.fromkeys(told))


def longest(table: pd.DataFrame) -> pd.DataFrame:
    """Return the standings after the longest runs."""
    return table[table["horizon"] == table["horizon"].max()]


def kept_at(table: pd.DataFrame, name: str) -> str:
    """Return the horizons at which a policy keeps the contract on an instance."""
    kept = table[(table["name"] == name) & table["kept"]]
    return ", ".join(map(number, kept["horizon"])) or "none"


def half(one: Any, measure: str) -> str:
    """Return a mean of a row of standings with the half width of its interval."""
    mean, high = getattr(one, measure), getattr(one, f"{measure}_high")
    # without rounding errors
    return " ± ".join(significant(round(value, 6), trimmed=True) for value in (mean, high - mean))


def caption(terms: Terms) -> str:
    """Return what a picture of a contract shows."""
    return f"{terms.title[0].upper()}{terms.title[1:]}: contract regret against shortfall"


def write(arena: Arena, outcome: Outcome, out: Path) -> None:
    """Write the page into a file, wholly or not at all."""
    with replacing(out) as temporary:
        page = render("entrant.html", outcome=outcome, body=body(arena, outcome))
        temporary.write_text(page, encoding="utf-8")


def body(arena: Arena, outcome: Outcome) -> Html:
    """Return the page's content: pictures and a table for each instance, contract by contract."""
    yours = [outcome.label]
    everyone = list(pd.concat(outcome.tables.values())["label"].unique())
    titles = {experiment.instance: experiment.title for experiment in arena.config.experiments}
    parts = []
    for terms in arena.terms:
        tables = {key[1]: table for key, table in outcome.tables.items() if key[0] == terms.name}
        if tables:
            rows = pd.concat(longest(table).assign(instance=name) for name, table in tables.items())
            colours = picture.looks(everyone, rows, yours)
            drawing = picture.instances(
                terms, rows, colours, {name: titles[name] for name in tables}
            )
            parts.append((terms, as_figure(drawing, caption(terms)), tables))
    given = {"arena": arena, "outcome": outcome, "yours": yours, "titles": titles, "found": parts}
    return render(
        "entrant_body.html",
        remarks=[*_remarks(outcome), REMARKS["pictures"], REMARKS["kinds"]],
        **given,
    )


offer(half, kept_at, longest, pareto, plain)
