"""Tables, pictures and words of the arena's page."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from fairbandits.arena import picture
from fairbandits.arena.decisions import (
    STRICTLY,
    choices,
    kept_for,
    needs_horizon,
    summary,
    surely_less,
    thousandths,
    with_symbols,
)
from fairbandits.arena.entrant import enter, entrant_of
from fairbandits.arena.roles import CONTROL, ORACLE, Arena, Terms, load_arena
from fairbandits.arena.settings import SLUG, TABLES, arena_code, arena_config
from fairbandits.arena.standings import KEPT
from fairbandits.data.store import StoreError, read_footer, read_table
from fairbandits.numerals import number
from fairbandits.policies import HOMES
from fairbandits.replication.datasets import expect
from fairbandits.report import entrant
from fairbandits.report.markup import Html, as_figure, data_table, folded, link, offer, render
from fairbandits.report.pages import CONFIG, NotReady, in_project, other_scale
from fairbandits.settings.schemas import read_yaml

#: The policy compared with its rivals, and the contract that it was made for.
BANDITQ, REWARDS = "BanditQ", "minimum_reward"
offer(kept_for, thousandths, with_symbols, CONTROL=CONTROL, KEPT=KEPT, STRICTLY=STRICTLY)
offer(REMARKS=entrant.REMARKS)


@dataclass(frozen=True)
class Shown:
    """The arena and its tables by name; `scale` is empty at the configured one."""

    arena: Arena
    tables: dict[str, pd.DataFrame]
    scale: str
    folder: Path

    def of(self, name: str, contract: str) -> pd.DataFrame:
        rows = self.tables[name]
        return rows[rows["contract"] == contract]

    @property
    def linked(self) -> dict[str, Html]:
        """Return each policy's name on pages as a link to what the library says of it."""
        named = {
            experiment.labels[run.name.rpartition("-")[0]]: HOMES[run.spec.policy].partition(":")[2]
            for experiment in self.arena.config.experiments
            for run in experiment.runs
        }
        return {label: link(f"library#fb-{home}", label) for label, home in named.items()}

    @property
    def horizons(self) -> list[int]:
        return sorted(self.tables["standings"]["horizon"].unique())

    def longest(self, name: str, contract: str) -> pd.DataFrame:
        """Return a table's rows of a contract, each instance's at its longest horizon."""
        rows = self.of(name, contract)
        return rows[rows["horizon"] == rows.groupby("instance")["horizon"].transform("max")]

    def each(self) -> Iterator[tuple[Terms, pd.DataFrame, picture.Looks]]:
        """Yield each contract, its longest runs' standings and the policies' colours there."""
        labels = list(self.tables["standings"]["label"].unique())
        for terms in self.arena.terms:
            rows = self.longest("standings", terms.name)
            yield terms, rows, picture.looks(labels, rows)


def open_arena(results: str | Path) -> Shown:
    """Return the arena's tables, or raise NotReady for one that is missing or stale."""
    folder = in_project(results) / SLUG
    tables, scale = {}, ""
    try:
        for name in TABLES:
            file = folder / f"{name}.parquet"
            footer = read_footer(file)
            expect(footer, {"kind": "arena", "table": name, "code": arena_code()}, file)
            tables[name] = read_table(file).to_pandas()
            scale = footer.get("scale", "")
    except StoreError as error:
        raise NotReady.of(error, "`fairbandits replicate arena` makes it") from None
    return Shown(load_arena(arena_config(read_yaml(CONFIG), str(CONFIG))), tables, scale, folder)


def banner(page: Shown) -> Html | None:
    return other_scale(page.scale, "") if page.scale else None


def decision(page: Shown) -> Html:
    """Return which policy to use: for each contract, by what is demanded and known."""
    picks = [(terms, list(choices(page.of("standings", terms.name)))) for terms in page.arena.terms]
    return render("arena_decision.html", found=picks, linked=page.linked, horizons=page.horizons)


def rule(page: Shown) -> Html:
    runs = page.tables["standings"].groupby("horizon")["replicates"].max()
    return render("arena_rule.html", runs=runs.to_dict())


def overview(page: Shown) -> Html:
    """Return a picture of each contract; a narrow screen has them folded."""
    panels = [
        as_figure(picture.overview(terms, rows, colours), entrant.caption(terms))
        for terms, rows, colours in page.each()
    ]
    return render("arena_overview.html", panels=panels, horizon=page.horizons[-1])


def each_contract(page: Shown) -> Iterator[Html]:
    """Yield for each contract the results of each policy, and its instances' pictures, folded."""
    for terms, rows, colours in page.each():
        every = page.of("standings", terms.name)
        kept = {column: every.groupby(["name", "horizon"])[column].sum() for column in KEPT}
        given = {"lines": summary(rows).to_dict("records"), "kept": kept}
        given |= {"needs": needs_horizon(every, "kept"), "horizons": page.horizons}
        yield render("arena_contract.html", terms=terms, **given)
        titles = {exp.instance: exp.title for exp in page.arena.instances(terms.name)}
        drawing = picture.instances(terms, rows, colours, titles)
        shown = as_figure(drawing, entrant.caption(terms))
        yield render("arena_pictures.html", shown=shown, n_instances=len(titles))


def banditq(page: Shown) -> Html:
    """Return BanditQ beside the other policies under its own contract, the recommended first."""
    pairs = page.longest("pairs", REWARDS)
    kinds = page.longest("standings", REWARDS).set_index("label")["kind"]
    less = [
        surely_less(pairs[pairs["measure"] == measure])
        for measure in ("contract_regret", "shortfall")
    ]
    both = pairs[(pairs["policy"] == BANDITQ) | (pairs["other"] == BANDITQ)]
    others = both["policy"].where(both["policy"] != BANDITQ, both["other"])
    best = next(choices(page.of("standings", REWARDS))).label
    rows = {}
    for other in dict.fromkeys([best, *others]):
        if other != BANDITQ and ORACLE not in set(kinds[[other]]):
            orders = ((BANDITQ, other), (other, BANDITQ))
            instances = both[others == other]["instance"].nunique()
            rows[other] = [instances, *(counts[pair] for counts in less for pair in orders)]
    return render("arena_beside.html", rows=rows, best=best)


def contracts(page: Shown) -> Html:
    labels = {
        key: name for exp in page.arena.config.experiments for key, name in exp.labels.items()
    }
    return render("arena_contracts.html", arena=page.arena, labels=labels, linked=page.linked)


def instances(page: Shown) -> Html:
    rows = page.tables["standings"]
    prices = rows.groupby(["contract", "instance"])[["price", "optimum"]].first()
    suites: dict[str, list[Terms]] = {}
    for terms in page.arena.terms:
        suites.setdefault(terms.suites[0], []).append(terms)
    groups = [(terms, page.arena.instances(terms[0].name)) for terms in suites.values()]
    given = {"prices": prices.to_dict("index"), "reasons": page.arena.reasons}
    return render("arena_instances.html", groups=groups, **given)


def all_standings(page: Shown) -> Html:
    """Return all policies' standings at their usual settings, as a table to sort and filter."""
    rows = page.tables["standings"]
    rows = rows[rows["usual"]]
    titles = {experiment.instance: experiment.title for experiment in page.arena.config.experiments}
    selected = ("contract", "T", "instance", "policy", "kind", "keeps it at the end")
    lines = [
        {
            "contract": terms.title,
            "T": number(row.horizon),
            "instance": titles[row.instance],
            "policy": row.label,
            "kind": row.kind,
            "keeps it at the end": "yes" if row.kept else "no",
            "contract regret, reward": _measured(row, "contract_regret"),
            "shortfall": _measured(row, "shortfall", terms.unit),
            "worst shortfall": _measured(row, "worst_shortfall", terms.unit),
            "rank by contract regret": _measured(row, "contract_regret_rank"),
            "rank by shortfall": _measured(row, "shortfall_rank"),
            "dominated by": with_symbols(row.dominated_by),
        }
        for row in rows.itertuples()
        for terms in [page.arena.of(row.contract)]
    ]
    html = data_table(lines, "standings", dict.fromkeys(selected, "select"))
    return folded(f"All {len(lines)} standings", html)


def _measured(row: Any, name: str, unit: str = "") -> tuple[str, float]:
    mean, high = getattr(row, name), getattr(row, f"{name}_high")
    digits = 1 if max(abs(mean), high - mean) < 1000 else 0
    return f"{number(mean, digits)} ± {number(high - mean, digits)} {unit}".rstrip(), float(mean)


def place(results: str | Path, policy: Any, instance: str, contract: str) -> Html:
    """Run a user's class on one instance, and return its standing among the stored policies."""
    config = arena_config(read_yaml(CONFIG), str(CONFIG))
    config = replace(config, folders=config.folders | {"results": str(in_project(results))})
    arena = load_arena(config)
    outcome = enter(arena, entrant_of(policy.__name__, policy), [contract], [instance])
    for message in outcome.failures.values():
        raise ValueError(message)
    return entrant.body(arena, outcome)


def files(page: Shown) -> Html:
    return render("arena_files.html", files=[page.folder / f"{name}.parquet" for name in TABLES])
