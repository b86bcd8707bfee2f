"""A user's own policy in the arena, in words and as an HTML page, which needs no other file."""

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from fairbandits.arena import picture
from fairbandits.arena.decisions import pareto
from fairbandits.arena.entrant import Outcome
from fairbandits.arena.roles import TOLD, Arena, Terms
from fairbandits.arena.standings import KEPT
from fairbandits.data.store import replacing
from fairbandits.numerals import number, significant
from fairbandits.settings.formulas import plain
from fairbandits.settings.schemas import read_yaml

#: The page's frame, with its title, failures and body left open.
PAGE = Path(__file__).with_suffix(".html")
#: How to read standings and pictures, by occasion.
REMARKS = read_yaml(Path(__file__).with_suffix(".yaml"))


def lines(arena: Arena, outcome: Outcome) -> Iterator[str]:
    """Yield the printed lines about an outcome."""
    rows = []
    for (contract, instance), table in outcome.tables.items():
        (one,) = table[table["label"] == outcome.label].itertuples()
        row = {"contract": contract, "instance": instance, "keeps it": "yes" if one.kept else "no"}
        row["shortfall"] = f"{_half(one, 'shortfall')} {arena.of(contract).unit}"
        row["contract regret (reward)"] = _half(one, "contract_regret")
        row["rank by regret"] = f"{one.contract_regret_rank:.1f} of {table['usual'].sum()}"
        rows.append(row | {"Pareto-optimal": pareto(one)})
    if rows:
        yield outcome.label
        yield pd.DataFrame(rows).to_string(index=False)
        yield from _remarks(outcome)
    for (contract, instance), reason in outcome.skipped.items():
        yield f"Not applicable: {contract} on {instance}: {reason}"
    yield from outcome.failures.values()


def _remarks(outcome: Outcome) -> Iterator[str]:
    """Yield how to read the standings."""
    facts = {name: number(getattr(outcome, name)) for name in ("horizon", "stored", "replicates")}
    facts["most"] = significant(KEPT["kept"][1] * outcome.horizon, trimmed=True)
    yield REMARKS["runs"].format(**facts)
    if outcome.horizon < outcome.stored:
        yield REMARKS["shorter"].format(**facts)
    told = [key[0] for key, table in outcome.tables.items() if TOLD in set(table["kind"])]
    yield from (REMARKS["told"].format(one) for one in dict.fromkeys(told))


def _half(one: Any, measure: str) -> str:
    """Return a mean of a row of standings with the half width of its interval."""
    mean, high = getattr(one, measure), getattr(one, f"{measure}_high")
    # without rounding errors
    return " ± ".join(significant(round(value, 6), trimmed=True) for value in (mean, high - mean))


def write(arena: Arena, outcome: Outcome, out: Path) -> None:
    """Write the page into a file, wholly or not at all."""
    failures = _each("p", outcome.failures.values())
    if failures:
        failures = f'<div class="failed">{failures}</div>'
    title, shown = escape(f"{outcome.label} in the arena"), body(arena, outcome)
    with replacing(out) as temporary:
        page = Template(PAGE.read_text(encoding="utf-8"))
        page = page.substitute(title=title, failures=failures, body=shown)
        temporary.write_text(page, encoding="utf-8")


def _each(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(one)}</{tag}>" for one in texts)


def body(arena: Arena, outcome: Outcome) -> str:
    """Return the page's content: pictures and a table for each instance, contract by contract."""
    yours = [outcome.label]
    everyone = list(pd.concat(outcome.tables.values())["label"].unique())
    titles = {one.instance: one.title for one in arena.config.experiments}
    parts = [_each("p", [*_remarks(outcome), REMARKS["pictures"]])]
    for terms in arena.terms:
        tables = {key[1]: one for key, one in outcome.tables.items() if key[0] == terms.name}
        if tables:
            look = picture.looks(everyone, pd.concat(tables.values()), yours)
            panels = [
                picture.panel(titles[name], table, look, terms.unit, yours)
                for name, table in tables.items()
            ]
            parts += [_each("h2", [terms.title.capitalize()]), _each("p", [plain(terms.says)])]
            parts += [picture.legend(look, yours), picture.grid(panels)]
            for name, table in tables.items():
                parts += [_each("h3", [titles[name]]), _table(table, terms, outcome.label)]
    if outcome.skipped:
        skipped = (
            f"{arena.of(contract).title}, {titles[name]}: {reason}"
            for (contract, name), reason in outcome.skipped.items()
        )
        parts.append(f"<h2>Not applicable</h2><ul>{_each('li', skipped)}</ul>")
    return "".join(parts)


def _table(rows: pd.DataFrame, terms: Terms, label: str) -> str:
    """Return the standings of usual settings as HTML, those of `label` in bold letters."""
    shown = [
        {
            "policy": one.label,
            "kind": one.kind,
            "keeps it": "yes" if one.kept else "no",
            f"shortfall, {terms.unit}": _half(one, "shortfall"),
            "contract regret, reward": _half(one, "contract_regret"),
            "rank by regret": f"{one.contract_regret_rank:.1f}",
            "rank by shortfall": f"{one.shortfall_rank:.1f}",
            "Pareto-optimal": pareto(one),
        }
        for one in rows[rows["usual"]].sort_values("contract_regret").itertuples()
    ]
    with pd.option_context("display.max_colwidth", None):  # else it shortens long cells
        table = pd.DataFrame(shown).to_html(index=False, border=0, justify="left")
    yours = escape(label)
    table = table.replace('class="dataframe"', 'class="fb-table"')  # the look of the site's own
    table = table.replace(f"<td>{yours}</td>", f"<td><strong>{yours}</strong></td>")
    return f'<div class="fb-scroll fb-wrap fb-rows" tabindex="0">{table}</div>'
