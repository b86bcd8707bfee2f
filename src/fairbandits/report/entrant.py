"""A user's own policy in the arena: one HTML page, which needs no other file."""

from pathlib import Path

import pandas as pd

from fairbandits.arena.decisions import pareto
from fairbandits.arena.entrant import Outcome, half
from fairbandits.arena.roles import Arena
from fairbandits.data.store import replacing
from fairbandits.report import picture
from fairbandits.report.markup import Html, render

#: How to read the pictures.
PICTURES = (
    "On green ground a contract is kept. Empty marks know the true means, grey ones ignore the "
    "contract; the dashed line joins the Pareto-optimal policies that do not know the "
    "means, whether they keep the contract or not."
)


def write(arena: Arena, outcome: Outcome, out: Path) -> None:
    """Write the page into a file, wholly or not at all."""
    with replacing(out) as temporary:
        temporary.write_text(page(arena, outcome), encoding="utf-8")


def page(arena: Arena, outcome: Outcome) -> Html:
    """Return the page."""
    failures = list(outcome.failures.values())
    shown = body(arena, outcome)
    return render("entrant_page.html", label=outcome.label, failures=failures, body=shown)


def body(arena: Arena, outcome: Outcome) -> Html:
    """Return the page's content: pictures and a table for each instance, contract by contract."""
    yours = [outcome.label]
    everyone = list(pd.concat(outcome.tables.values())["label"].unique())
    titles = {one.instance: one.title for one in arena.config.experiments}
    contracts = []
    for terms in arena.terms:
        tables = [
            (titles[name], table)
            for (contract, name), table in outcome.tables.items()
            if contract == terms.name
        ]
        if tables:
            look = picture.looks_under(everyone, pd.concat(one for _, one in tables), yours)
            panels = [picture.panel(title, one, look, terms.unit, yours) for title, one in tables]
            contracts.append((terms, look, panels, [(key, _lines(one)) for key, one in tables]))
    skipped = [
        (arena.of(contract).title, titles[name], reason)
        for (contract, name), reason in outcome.skipped.items()
    ]
    return render(
        "entrant.html",
        outcome=outcome,
        contracts=contracts,
        skipped=skipped,
        how_to_read=PICTURES,
        half=half,
        pareto=pareto,
    )


def _lines(rows: pd.DataFrame) -> list:
    return list(rows[rows["usual"]].sort_values("contract_regret").itertuples())
