"""One HTML page on a user's own policy in the arena; it needs no other file."""

from html import escape
from pathlib import Path

import pandas as pd

from fairbandits.arena import picture
from fairbandits.arena.entrant import Outcome
from fairbandits.arena.roles import Arena
from fairbandits.store import replacing

_STYLE = (
    "body{font:16px/1.5 sans-serif;margin:0 auto;max-width:70rem;padding:0 1rem 3rem;"
    "color:#222;background:#fff}"
    "table{border-collapse:collapse;font-size:.9rem}th,td{padding:.2rem .6rem;text-align:left;"
    "border-bottom:1px solid #ddd}td.n{text-align:right}.s{overflow-x:auto}"
    ".y{background:#fdf0f3;font-weight:bold}"
    ".o{border:2px solid #c2003a;padding:.2rem 1rem}"
)
HEADER = ("policy", "kind", "regret", "violation", "rank by regret", "by violation", "dominated by")


def write(arena: Arena, outcome: Outcome, out: Path) -> None:
    """Write the page.

    Parameters
    ----------
    arena : Arena
        The arena.
    outcome : Outcome
        What became of the policy.
    out : Path
        The file; it appears whole or not at all.
    """
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
    """Return what the page shows: pictures and a table for each instance, contract by contract."""
    yours = [outcome.label]
    everyone = pd.concat(outcome.tables.values())["label"].unique()
    look = picture.looks(list(everyone), yours)
    titles = {one.instance: one.title for one in arena.config.experiments}
    parts = [f"<p>{_what_ran(outcome)}</p>", picture.legend(look, yours)]
    for terms in arena.terms:
        tables = {
            name: one for (contract, name), one in outcome.tables.items() if contract == terms.name
        }
        if not tables:
            continue
        parts.append(f"<h2>{escape(terms.title)}</h2><p>{escape(terms.says)}</p>")
        panels = [
            picture.panel(titles[name], one, look, terms.unit, yours)
            for name, one in tables.items()
        ]
        parts.append(picture.grid(panels))
        parts += [_table(titles[name], one, outcome.label) for name, one in tables.items()]
    skipped = "".join(
        f"<li>{escape(arena.of(contract).title)}, {escape(titles[name])}: {escape(reason)}</li>"
        for (contract, name), reason in outcome.skipped.items()
    )
    if skipped:
        parts.append(f"<h2>Not applicable</h2><ul>{skipped}</ul>")
    return "".join(parts)


def _what_ran(outcome: Outcome) -> str:
    words = (
        f"{outcome.horizon} rounds, {outcome.replicates} replicates, on the rewards that the "
        "stored policies met, pull by pull. Means over replicates with 95\u00a0% t intervals. "
        "Empty marks know the true means; the dashed line joins those that are not dominated and "
        "do not."
    )
    if outcome.horizon < outcome.stored:
        words += (
            f" The stored policies were run for {outcome.stored} rounds and are looked at after as "
            "many as yours; who is tuned to the number of rounds, as BanditQ is, could do better."
        )
    return words


def _table(title: str, rows: pd.DataFrame, label: str) -> str:
    lines = []
    for one in rows[rows["usual"]].sort_values("regret").itertuples():
        cells = [
            f"<td>{escape(one.label)}</td><td>{escape(one.kind)}</td>",
            *(
                f'<td class="n">{_short(mean)} ± {_short(high - mean)}</td>'
                for mean, high in (
                    (one.regret, one.regret_high),
                    (one.violation, one.violation_high),
                )
            ),
            f'<td class="n">{one.regret_rank:.1f}</td><td class="n">{one.violation_rank:.1f}</td>',
            f"<td>{escape(one.dominated_by)}</td>",
        ]
        look = ' class="y"' if one.label == label else ""
        lines.append(f"<tr{look}>{''.join(cells)}</tr>")
    heads = "".join(f'<th scope="col">{one}</th>' for one in HEADER)
    return (
        f'<h3>{escape(title)}</h3><div class="s"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _short(value: float) -> str:
    return f"{round(value, 6) + 0:.4g}"  # no minus before zero, and no rounding errors
