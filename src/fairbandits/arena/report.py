"""One HTML page on a user's own policy in the arena; it needs no other file."""

from html import escape
from pathlib import Path

import pandas as pd

from fairbandits.arena import picture
from fairbandits.arena.decisions import pareto
from fairbandits.arena.entrant import Outcome, half
from fairbandits.arena.roles import Arena
from fairbandits.data.store import replacing
from fairbandits.settings.formulas import plain

_STYLE = (
    "body{font:16px/1.5 sans-serif;margin:0 auto;max-width:70rem;padding:0 1rem 3rem;"
    "color:#222;background:#fff}"
    "table{border-collapse:collapse;font-size:.9rem}th,td{padding:.2rem .6rem;text-align:left;"
    "border-bottom:1px solid #ddd}td.n{text-align:right}.s{overflow-x:auto}"
    ".y{background:#fdf0f3;font-weight:bold}"
    ".o{border:2px solid #c2003a;padding:.2rem 1rem}"
)
HEADER = (
    *("policy", "kind", "keeps it", "shortfall, {unit}", "contract regret, reward"),
    *("rank by regret", "by shortfall", "Pareto-optimal"),
)
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


def page(arena: Arena, outcome: Outcome) -> str:
    """Return the page."""
    failures = "".join(f"<p>{escape(one)}</p>" for one in outcome.failures.values())
    box = f'<div class="o">{failures}</div>' if failures else ""
    title = f"{escape(outcome.label)} in the arena"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{title}</h1>{box}{body(arena, outcome)}</body></html>\n"
    )


def body(arena: Arena, outcome: Outcome) -> str:
    """Return the page's content: pictures and a table for each instance, contract by contract."""
    yours = [outcome.label]
    everyone = list(pd.concat(outcome.tables.values())["label"].unique())
    titles = {one.instance: one.title for one in arena.config.experiments}
    parts = [f"<p>{escape(one)}</p>" for one in outcome.words]
    parts.append(f"<p>{PICTURES}</p>")
    for terms in arena.terms:
        tables = {
            name: one for (contract, name), one in outcome.tables.items() if contract == terms.name
        }
        if not tables:
            continue
        look = picture.looks_under(everyone, pd.concat(tables.values()), yours)
        parts.append(f"<h2>{escape(terms.title)}</h2><p>{escape(plain(terms.says))}</p>")
        panels = [
            picture.panel(titles[name], one, look, terms.unit, yours)
            for name, one in tables.items()
        ]
        parts += [picture.legend(look, yours), picture.grid(panels)]
        parts += [
            _table(titles[name], one, outcome.label, terms.unit) for name, one in tables.items()
        ]
    skipped = "".join(
        f"<li>{escape(arena.of(contract).title)}, {escape(titles[name])}: {escape(reason)}</li>"
        for (contract, name), reason in outcome.skipped.items()
    )
    if skipped:
        parts.append(f"<h2>Not applicable</h2><ul>{skipped}</ul>")
    return "".join(parts)


def _table(title: str, rows: pd.DataFrame, label: str, unit: str) -> str:
    lines = []
    for one in rows[rows["usual"]].sort_values("contract_regret").itertuples():
        words = (one.label, one.kind, "yes" if one.kept else "no")
        numbers = (
            *(half(one, name) for name in ("shortfall", "contract_regret")),
            *(f"{rank:.1f}" for rank in (one.contract_regret_rank, one.shortfall_rank)),
        )
        cells = [f"<td>{escape(word)}</td>" for word in words]
        cells += [f'<td class="n">{number}</td>' for number in numbers]
        look = ' class="y"' if one.label == label else ""
        lines.append(f"<tr{look}>{''.join(cells)}<td>{escape(pareto(one))}</td></tr>")
    heads = "".join(f'<th scope="col">{one.format(unit=unit)}</th>' for one in HEADER)
    return (
        f'<h3>{escape(title)}</h3><div class="s"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
