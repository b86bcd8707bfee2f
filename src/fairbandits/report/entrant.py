"""A user's own policy in the arena, in words and as an HTML page, which needs no other file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from fairbandits.arena.decisions import pareto
from fairbandits.arena.entrant import Outcome
from fairbandits.arena.roles import TOLD, Arena
from fairbandits.arena.standings import KEPT
from fairbandits.data.store import replacing
from fairbandits.report import picture
from fairbandits.report.markup import Html, render, render_text

#: How to read the pictures.
PICTURES = (
    "On green ground a contract is kept. Empty marks know the true means, grey ones ignore the "
    "contract; the dashed line joins the Pareto-optimal policies that do not know the "
    "means, whether they keep the contract or not."
)


def lines(arena: Arena, outcome: Outcome) -> Iterator[str]:
    """Yield the printed lines about an outcome."""
    rows = []
    for (contract, instance), table in outcome.tables.items():
        (one,) = table[table["label"] == outcome.label].itertuples()
        rows.append(
            {
                "contract": contract,
                "instance": instance,
                "keeps it": "yes" if one.kept else "no",
                "shortfall": f"{_half(one, 'shortfall')} {arena.of(contract).unit}",
                "contract regret (reward)": _half(one, "contract_regret"),
                "rank by regret": f"{one.contract_regret_rank:.1f} of {table['usual'].sum()}",
                "Pareto-optimal": pareto(one),
            }
        )
    if rows:
        yield outcome.label
        yield pd.DataFrame(rows).to_string(index=False)
        yield from _remarks(outcome)
    for (contract, instance), reason in outcome.skipped.items():
        yield f"Not applicable: {contract} on {instance}: {reason}"
    yield from outcome.failures.values()


def _remarks(outcome: Outcome) -> list[str]:
    told = [key[0] for key, table in outcome.tables.items() if (table["kind"] == TOLD).any()]
    given = {"part": KEPT["kept"][1], "told": dict.fromkeys(told)}
    return render_text("entrant_words.md", outcome=outcome, **given).splitlines()


def _half(one: Any, measure: str) -> str:
    """Return a mean of a row of standings with the half width of its interval."""
    mean, high = getattr(one, measure), getattr(one, f"{measure}_high")
    # no minus before zero, and no rounding errors
    return " ± ".join(f"{round(value, 6) + 0:.4g}" for value in (mean, high - mean))


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
        label=outcome.label,
        remarks=_remarks(outcome),
        contracts=contracts,
        skipped=skipped,
        how_to_read=PICTURES,
        half=_half,
        pareto=pareto,
    )


def _lines(rows: pd.DataFrame) -> list:
    return list(rows[rows["usual"]].sort_values("contract_regret").itertuples())
