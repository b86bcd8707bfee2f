"""What the page of the arena is made with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML, Markdown

from fairbandits.arena import picture, report
from fairbandits.arena.entrant import enter, entrant_of
from fairbandits.arena.findings import BANDITQ, REWARDS, beside, findings, surely_less
from fairbandits.arena.roles import Arena, Terms, load_arena
from fairbandits.arena.settings import SLUG, TABLES, arena_code, arena_config
from fairbandits.arena.standings import ORACLE
from fairbandits.experiments.datasets import expect
from fairbandits.experiments.schemas import read_yaml
from fairbandits.site.formulas import typeset
from fairbandits.site.pages import (
    CONFIG,
    Cell,
    NotReady,
    data_table,
    folded,
    number,
    other_scale,
    shown,
    table,
)
from fairbandits.store import StoreError, read_footer, read_table

#: Letters of the configuration, as formulas are written.
GREEK = {"λ": "lambda", "μ": "mu", "β": "beta"}


@dataclass(frozen=True)
class Shown:
    """The arena and its tables.

    Attributes
    ----------
    arena : Arena
        As configured.
    tables : dict of str to DataFrame
        By name.
    scale : str
        At which it was run, if not at the configured one.
    folder : Path
        Where the tables are.
    """

    arena: Arena
    tables: dict[str, pd.DataFrame]
    scale: str
    folder: Path

    def of(self, name: str, contract: str) -> pd.DataFrame:
        """Return the rows of a table that are of one contract."""
        found = self.tables[name]
        return found[found["contract"] == contract]


def open_arena(results: str | Path) -> Shown:
    """Return the arena's tables, all of them there and made by the present code.

    Raises
    ------
    NotReady
        If one is missing or stale, with the way out.
    """
    folder = Path(results) / SLUG
    tables, scale = {}, ""
    try:
        for name in TABLES:
            file = folder / f"{name}.parquet"
            footer = read_footer(file)
            expect(footer, {"kind": "arena", "table": name, "code": arena_code()}, file)
            tables[name] = read_table(file).to_pandas()
            scale = footer.get("scale", "")
    except StoreError as error:
        reason = str(error).partition("; ")[0]
        raise NotReady(f"{reason}; `fairbandits replicate arena` makes it") from None
    return Shown(load_arena(arena_config(read_yaml(CONFIG), str(CONFIG))), tables, scale, folder)


def said(words: str) -> str:
    """Return words as HTML, their formulas as mathematics."""
    for letter, name in GREEK.items():
        words = words.replace(letter, name)
    return typeset(words)


def of_words(groups: dict[str, list[list[str]]], header: Sequence[str], name: str) -> HTML:
    """Return a table whose cells are words, which may take several lines."""
    return HTML(f'<div class="fb-wrap">{table(groups, header, name).data}</div>')


def banner(found: Shown) -> HTML | None:
    """Return what is said first of another scale than the configured one."""
    return other_scale(found.scale, "") if found.scale else None


def what_ran(found: Shown) -> Markdown:
    """Return in words how large the arena is."""
    rows = found.tables["standings"]
    instances = rows["instance"].nunique()
    return Markdown(
        f"{instances} instances, {len(found.arena.terms)} contracts, "
        f"{rows['label'].nunique()} policies with {rows.groupby('label')['name'].nunique().sum()} "
        f"settings; {number(rows['horizon'].max())} rounds, {rows['replicates'].max()} replicates. "
        "All policies of a replicate meet the same rewards, pull by pull."
    )


def contracts(found: Shown) -> HTML:
    """Return what each contract says, and on how many instances it is judged."""
    rows = [
        [escape(one.title), said(one.says), one.unit, str(len(found.arena.instances(one.name)))]
        for one in found.arena.terms
    ]
    header = ("contract", "what is owed", "a violation counts", "instances")
    return of_words({"": rows}, header, "contracts")


def instances(found: Shown) -> HTML:
    """Return the instances, each with the reason why it is there."""
    groups = {}
    for suite in dict.fromkeys(one.suite for one in found.arena.terms):
        rows = []
        for one in found.arena.config.named(SLUG, suite):
            n_arms = one.runs[0].spec.n_arms
            facts = [
                f"{n_arms} arms",
                *([f"groups of {', '.join(map(str, one.groups))}"] if one.groups else []),
            ]
            rows.append(
                [
                    escape(one.title),
                    "; ".join([*facts, *one.laws]),
                    escape(found.arena.reasons[one.instance]),
                ]
            )
        groups[escape(found.arena.config.named(SLUG, suite)[0].suite)] = rows
    return of_words(groups, ("instance", "size and law", "why it is here"), "instances")


def translations(found: Shown) -> HTML:
    """Return how each policy meets each contract."""
    header = ("policy", *(one.title for one in found.arena.terms))
    labels = {
        policy: label
        for one in found.arena.config.experiments
        for policy, label in one.labels.items()
    }
    rows = []
    for policy in found.arena.terms[0].roles:
        cells = [escape(labels[policy])]
        for one in found.arena.terms:
            role = one.roles[policy]
            kind = f"<strong>{role.kind}</strong>" if role.applies else f"<em>{role.kind}</em>"
            cells.append(kind if role.kind == "own" else f"{kind}: {said(role.says)}")
        rows.append(cells)
    return of_words({"": rows}, header, "translations")


def sentences(found: Shown) -> HTML:
    """Return what was found, in words that the numbers make."""
    by_contract: dict[str, list[str]] = {}
    for contract, words in findings(found.arena, found.tables):
        by_contract.setdefault(contract, []).append(words)
    parts = [
        f"<p><strong>{escape(found.arena.of(contract).title)}</strong></p><ul>"
        + "".join(f"<li>{escape(one)}</li>" for one in words)
        + "</ul>"
        for contract, words in by_contract.items()
    ]
    return HTML("".join(parts))


def banditq(found: Shown) -> HTML:
    """Return BanditQ beside each other policy under the contract that it was made for."""
    rows, pairs = (found.of(name, REWARDS) for name in ("standings", "pairs"))
    lines = [
        [escape(one.label), *map(str, one[2:])] for one in beside(BANDITQ, rows, pairs).itertuples()
    ]
    header = ("BanditQ beside", "instances", "less regret", "more regret")
    header += ("less violation", "more violation")
    return table({"": lines}, header, "beside_banditq")


def each_contract(found: Shown) -> Iterator[HTML]:
    """Yield for each contract the answer as a table, and the pictures."""
    everyone = found.tables["standings"]["label"].unique()
    look = picture.looks(list(everyone))
    for terms in found.arena.terms:
        rows = found.of("standings", terms.name)
        yield HTML(f'<h3 id="{terms.name}">{escape(terms.title)}</h3><p>{said(terms.says)}</p>')
        used = {label: one for label, one in look.items() if label in set(rows["label"])}
        panels = [
            picture.panel(
                experiment.title, rows[rows["instance"] == experiment.instance], look, terms.unit
            )
            for experiment in found.arena.instances(terms.name)
        ]
        yield HTML(f"{picture.legend(used)}{picture.grid(panels)}<p>{CAPTION}</p>")
        yield answer(found, terms, rows)


CAPTION = (
    "Regret against the best that keeps the contract, over what is lacking at the last round, "
    "both even near 0 and logarithmic beyond; bars are 95 % t intervals. Large marks are usual "
    "settings, small ones the others of the sweep, joined; empty ones know the means. The "
    "dashed line joins those that are not dominated and do not know the means."
).replace(" %", "\u00a0%")


def answer(found: Shown, terms: Terms, rows: pd.DataFrame) -> HTML:
    """Return for each instance who is not dominated, and what the contract costs."""
    lines = []
    for experiment in found.arena.instances(terms.name):
        own = rows[rows["instance"] == experiment.instance]
        free = own[(own["dominated_by"] == "") & (own["kind"] != ORACLE)].sort_values("violation")
        names = [
            f"{escape(one.name)} ({number(one.regret, 1)} | {number(one.violation, 1)})"
            for one in free.itertuples()
        ]
        price = own["price"].iloc[0]
        share = 100 * price / (price + own["optimum"].iloc[0])
        lines.append(
            [
                escape(experiment.title),
                f"{price:.3g} ({share:.0f}\u00a0%)",
                "; ".join(names),
            ]
        )
    header = (
        "instance",
        "price of fairness: reward a round, and of what can be had",
        f"not dominated, without knowing the means (regret | {terms.unit} lacking)",
    )
    return of_words({"": lines}, header, f"answer_{terms.name}")


def all_standings(found: Shown) -> HTML:
    """Return the standings of all policies at their usual settings, to sort and to filter."""
    rows = found.tables["standings"]
    rows = rows[rows["usual"]]
    titles = {one.instance: one.title for one in found.arena.config.experiments}
    names = {one.name: one.title for one in found.arena.terms}
    header = (
        *("contract", "instance", "policy", "kind", "regret", "violation", "largest so far"),
        *("rank by regret", "rank by violation", "dominated by"),
    )
    lines = [
        [
            names[one.contract],
            titles[one.instance],
            one.label,
            one.kind,
            *(_measured(one, name) for name in ("regret", "violation", "supremum")),
            *(_measured(one, name) for name in ("regret_rank", "violation_rank")),
            one.dominated_by,
        ]
        for one in rows.itertuples()
    ]
    html = data_table(
        header, lines, "standings", selects=("contract", "instance", "policy", "kind")
    )
    return folded(f"All {len(lines)} standings", html)


def _measured(one, name: str) -> Cell:
    """Return a mean with half of its interval."""
    mean, high = getattr(one, name), getattr(one, f"{name}_high")
    digits = 1 if max(abs(mean), high - mean) < 1000 else 0
    return Cell(f"{number(mean, digits)} ± {number(high - mean, digits)}", float(mean))


def duels(found: Shown) -> Iterator[HTML]:
    """Yield for each contract on how many instances one policy has surely less than another."""
    for terms in found.arena.terms:
        pairs = found.of("pairs", terms.name)
        labels = list(dict.fromkeys([*pairs["policy"], *pairs["other"]]))
        less = {
            measure: surely_less(pairs[pairs["measure"] == measure])
            for measure in ("regret", "violation")
        }
        rows = [
            [
                escape(one),
                *(
                    "" if one == other else " | ".join(str(less[m][one, other]) for m in less)
                    for other in labels
                ),
            ]
            for one in labels
        ]
        header = ("less than", *map(escape, labels))
        yield folded(terms.title, table({"": rows}, header, f"duels_{terms.name}").data)


def cost(found: Shown) -> HTML:
    """Return what a round of each policy costs, on the machine where the tables were made."""
    rows = found.tables["costs"].sort_values("nanoseconds")
    rows = rows.drop_duplicates("label")
    lines = [
        [one.label, Cell(number(one.nanoseconds), float(one.nanoseconds))]
        for one in rows.itertuples()
    ]
    return HTML(data_table(("policy", "nanoseconds a round, five arms"), lines, "costs"))


def place(results: str | Path, policy: Any, instance: str, contract: str) -> HTML:
    """Run a class in the arena on one instance, and return where it stands among the stored ones.

    Parameters
    ----------
    results : str or Path
        Folder of the results.
    policy : type
        The class, as in a notebook; what `fairbandits arena` takes from a file.
    instance, contract : str
        Their names.
    """
    config = arena_config(read_yaml(CONFIG), str(CONFIG))
    config = replace(config, folders=config.folders | {"results": str(results)})
    arena = load_arena(config)
    entrant = entrant_of(policy.__name__, policy)
    outcome = enter(arena, entrant, [contract], [instance])
    for words in outcome.failures.values():
        raise ValueError(words)
    return HTML(report.body(arena, outcome))


def files(found: Shown) -> HTML:
    """Return where the tables are."""
    places = ", ".join(f"<code>{shown(found.folder / f'{name}.parquet')}</code>" for name in TABLES)
    return HTML(f"<p>Tables: {places}.</p>")
