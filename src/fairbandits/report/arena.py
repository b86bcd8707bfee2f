"""Tables, pictures and words of the arena's page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import Markdown

from fairbandits.arena import picture, report
from fairbandits.arena.decisions import choices, summary, surely_less, thousandths
from fairbandits.arena.entrant import enter, entrant_of
from fairbandits.arena.roles import CONTROL, ORACLE, Arena, Terms, load_arena
from fairbandits.arena.settings import SLUG, TABLES, arena_code, arena_config
from fairbandits.arena.standings import KEPT
from fairbandits.data.store import StoreError, read_footer, read_table
from fairbandits.replication.datasets import expect
from fairbandits.report.markup import Cell, Html, data_table, folded, joined, table, typeset
from fairbandits.report.pages import CONFIG, NotReady, listed, number, other_scale, shown, span
from fairbandits.settings.schemas import read_yaml

#: The policy compared with its rivals, and the contract that it was made for.
BANDITQ, REWARDS = "BanditQ", "minimum_reward"
#: Columns of two measures in a thousand rounds.
PER_THOUSAND = ("contract regret, reward in 1\u202f000 rounds", "shortfall in 1\u202f000 rounds")
STRONG = Html("<strong>{}</strong>")
#: A cell with two lines.
CELL = Html('<span style="white-space:normal">{}<br><small>{}</small></span>')


@dataclass(frozen=True)
class Shown:
    """The arena and its tables by name; `scale` is empty at the configured one."""

    arena: Arena
    tables: dict[str, pd.DataFrame]
    scale: str
    folder: Path

    def of(self, name: str, contract: str) -> pd.DataFrame:
        """Return a table's rows of one contract."""
        rows = self.tables[name]
        return rows[rows["contract"] == contract]

    @property
    def labels(self) -> list[str]:
        """Names of all policies as pages show them."""
        return list(self.tables["standings"]["label"].unique())


def open_arena(results: str | Path) -> Shown:
    """Return the arena's tables, or raise NotReady for one that is missing or stale."""
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


def of_words(groups: dict[str, list[list[str]]], header: Sequence[str], name: str) -> Html:
    """Return a table whose cells are prose of several lines."""
    return Html('<div class="fb-wrap">{}</div>').format(table(groups, header, name))


def banner(page: Shown) -> Html | None:
    """Return the notice above tables of another scale than the configured one."""
    return other_scale(page.scale, "") if page.scale else None


def _titled(terms: Terms) -> str:
    return terms.title[0].upper() + terms.title[1:]


def _of(count: int, total: int) -> str:
    return f"{count} of {total}"


def decision(page: Shown) -> Html:
    """Return which policy to use: for each contract, by what is demanded and known."""
    groups: dict[str, list[list[str]]] = {}
    for terms in page.arena.terms:
        lines = groups.setdefault(_titled(terms) + ". " + typeset(terms.says), [])
        for choice in choices(page.arena, page.of("standings", terms.name)):
            lack = thousandths(choice.rows, "worst_shortfall" if choice.always else "shortfall")
            regret = thousandths(choice.rows, "contract_regret")
            name = STRONG.format(choice.rows["label"].iloc[0])
            kept = f"kept on {_of(choice.kept, choice.total)}, cheapest on {choice.least}"
            cells = (
                ("in every round" if choice.always else "at the end", f"T {choice.horizon}"),
                (name if choice.kept == choice.total else "none; nearest is " + name, kept),
                (number(regret.mean(), 2), span(regret.min(), regret.max(), 2)),
                (f"{number(lack.mean(), 2)} {terms.unit}", f"at most {number(lack.max(), 2)}"),
            )
            lines.append([CELL.format(*both) for both in cells])
    header = ("the contract must hold", "use", *PER_THOUSAND)
    return of_words(groups, header, "decision")


def rule(page: Shown) -> Markdown:
    """Return the rule behind the decision table, in words."""
    rows = page.tables["standings"]
    end, always = (f"{1 / part:,.0f}".replace(",", "\u202f") for _, part in KEPT.values())
    return Markdown(
        f"A policy keeps a contract *at the end* if its shortfall after the last round is at most "
        f"1 in {end} rounds, and *in every round* if its shortfall in the worst round is at most 1 "
        f"in {always}, each by the upper end of the 95\u00a0% interval of the mean. The worst "
        "round is that of all rounds for *minimum pulls*, else of the recorded ones. Of the "
        "policies that keep the contract on all instances the table names the one with the least "
        "mean rank by contract regret; *cheapest* counts where it has the least of all that keep "
        "the contract. Where no policy does, it says *none*, and names the one "
        "that is least short of those that keep it on most instances. No policy here knows the "
        "true means; where the number of rounds T is not known, policies that need it are left "
        "out. Numbers are means over instances, below them their range; "
        f"{number(rows['horizon'].max())} rounds, "
        f"{rows['replicates'].max()} replicates."
    )


def overview(page: Shown) -> Html:
    """Return one picture of all contracts: contract regret against shortfall."""
    panels = []
    for terms in page.arena.terms:
        rows = page.of("standings", terms.name)
        panels.append(picture.overview(terms, rows, picture.looks_under(page.labels, rows)))
    drawn = Html(picture.grid(panels, "24rem"))
    return Html('<div id="overview">{}</div>').format(drawn)


def each_contract(page: Shown) -> Iterator[Html]:
    """Yield for each contract the results of each policy, and its instances' pictures, folded."""
    for terms in page.arena.terms:
        rows = page.of("standings", terms.name)
        lines = summary(rows)
        start = Html('<h3 id="{}">{}</h3><p>{}</p>')
        yield start.format(terms.name, _titled(terms), _headline(lines))
        yield _summary(terms, lines)
        look = picture.looks_under(page.labels, rows)
        panels = [
            picture.panel(
                instance.title, rows[rows["instance"] == instance.instance], look, terms.unit
            )
            for instance in page.arena.instances(terms.name)
        ]
        pictures = f"{picture.legend(look)}{picture.grid(panels)}<p>{CAPTION}</p>"
        yield folded(f"Each of the {len(panels)} instances as a picture", Html(pictures))


def _headline(lines: pd.DataFrame) -> str:
    """Return the first finding under a contract, and the policies dominated everywhere."""
    total = lines["instances"].max()
    if lines["kept"].any():
        best = lines.loc[lines["least"].idxmax()]
        words = (
            f"{best['label']} keeps the contract at the end on {_of(best['kept'], total)} "
            f"instances, and on {best['least']} it has the least contract regret of all policies "
            "that keep the contract there."
        )
    else:
        best = lines.loc[lines["shortfall"].idxmin()]
        words = (
            f"No policy keeps the contract on any instance. {best['label']} is least short, and is "
            f"dominated on {_of(total - best['pareto'], total)}."
        )
    made = lines[(lines["pareto"] == 0) & (lines["kind"] != CONTROL)]
    worse = [
        f"{line.label} (most often by {max(line.by, key=line.by.get)})"
        for line in made.itertuples()
    ]
    return words + (f" Dominated on every instance: {listed(worse)}." if worse else "")


def _summary(terms: Terms, lines: pd.DataFrame) -> Html:
    rows = []
    for line in lines.itertuples():
        ignores = line.kind == CONTROL
        rows.append(
            [
                joined([line.label, *[Html(" <em>(ignores the contract)</em>")] * ignores]),
                _of(line.kept, line.instances),
                _of(line.kept_always, line.instances),
                number(line.contract_regret, 2),
                number(line.shortfall, 2),
                _of(line.least, line.instances),
                _of(line.pareto, line.instances)
                + (f", {line.breaking} by breaking it" if line.breaking else ""),
                ", ".join(
                    f"{name if name != line.label else 'its other settings'} {count}"
                    for name, count in line.by.most_common()
                ),
            ]
        )
    header = (
        *("policy", "keeps it at the end on", "in every round on", PER_THOUSAND[0]),
        PER_THOUSAND[1].replace("shortfall", f"shortfall, {terms.unit}"),
        *("least regret of those that keep it on", "Pareto-optimal on", "else dominated by"),
    )
    return of_words({"": rows}, header, f"summary_{terms.name}")


CAPTION = (
    "Contract regret over shortfall at the last round, both even near 0 and logarithmic beyond; "
    "bars are 95\u00a0% t intervals. Large marks are usual settings, small ones the others of the "
    f"sweep, joined. {report.PICTURES}"
)


def banditq(page: Shown) -> Html:
    """Return BanditQ beside the other policies under its own contract, the recommended first."""
    pairs = page.of("pairs", REWARDS)
    kinds = page.of("standings", REWARDS).set_index("label")["kind"]
    less = {
        measure: surely_less(pairs[pairs["measure"] == measure])
        for measure in ("contract_regret", "shortfall")
    }
    both = pairs[(pairs["policy"] == BANDITQ) | (pairs["other"] == BANDITQ)]
    others = both["policy"].where(both["policy"] != BANDITQ, both["other"])
    named = next(choices(page.arena, page.of("standings", REWARDS))).rows["label"].iloc[0]
    rows = {
        other: [
            both[others == other]["instance"].nunique(),
            *(
                counts[pair]
                for counts in less.values()
                for pair in ((BANDITQ, other), (other, BANDITQ))
            ),
        ]
        for other in dict.fromkeys([named, *others])
        if other != BANDITQ and ORACLE not in set(kinds[[other]])
    }
    words = ""
    if named in rows:
        total, cheaper, dearer, fairer, unfairer = rows[named]
        words = (
            f"Beside {named}, on {total} instances: BanditQ has less contract regret on "
            f"{cheaper} and more on {dearer}, and less shortfall on {fairer} and more on "
            f"{unfairer}."
        )
    header = ("BanditQ beside", "instances", "less contract regret", "more contract regret")
    header += ("less shortfall", "more shortfall")
    lines = [[other, *counts] for other, counts in rows.items()]
    said = Html("<p>{}</p>").format(words) if words else Html()
    return said + table({"": lines}, header, "beside_banditq")


def contracts(page: Shown) -> Html:
    """Return the statement of each contract and how each policy meets it, folded."""
    header = ("policy", *(terms.title for terms in page.arena.terms), "needs T")
    labels = {
        policy: label
        for experiment in page.arena.config.experiments
        for policy, label in experiment.labels.items()
    }
    rows = []
    for policy in page.arena.terms[0].roles:
        cells: list[str] = [labels[policy]]
        for terms in page.arena.terms:
            role = terms.roles[policy]
            kind = (STRONG if role.applies else Html("<em>{}</em>")).format(role.kind)
            cells.append(kind if role.kind == "own" else kind + ": " + typeset(role.says))
        rows.append([*cells, page.arena.needs_horizon.get(policy, "")])
    html = of_words({"": rows}, header, "translations")
    return folded("How each of the policies meets each contract", html)


def instances(page: Shown) -> Html:
    """Return the instances: their contracts' costs, and why each is in the arena."""
    groups: dict[str, list[list[str]]] = {}
    for suite in dict.fromkeys(terms.suite for terms in page.arena.terms):
        terms = [each for each in page.arena.terms if each.suite == suite]
        lines = groups.setdefault(" / ".join(map(_titled, terms)), [])
        for experiment in page.arena.config.named(SLUG, suite):
            facts = [f"{experiment.runs[0].spec.n_arms} arms", *experiment.laws]
            facts += (
                [f"groups of {listed([*map(str, experiment.groups)])}"] if experiment.groups else []
            )
            prices = [
                _price(rows[rows["instance"] == experiment.instance].iloc[0])
                for rows in (page.of("standings", each.name) for each in terms)
            ]
            reason = page.arena.reasons[experiment.instance]
            price = " / ".join(dict.fromkeys(prices))
            lines.append([experiment.title, ", ".join(facts), price, reason])
    header = ("instance", "size and law", "price of fairness", "why it is here")
    return of_words(groups, header, "instances")


def _price(row: pd.Series) -> str:
    share = 100 * row["price"] / (row["price"] + row["optimum"])
    return f"{number(1000 * row['price'], 1)} ({share:.0f}\u00a0%)"


def all_standings(page: Shown) -> Html:
    """Return all policies' standings at their usual settings, as a table to sort and filter."""
    rows = page.tables["standings"]
    rows = rows[rows["usual"]]
    titles = {experiment.instance: experiment.title for experiment in page.arena.config.experiments}
    terms = {each.name: each for each in page.arena.terms}
    measured = ("contract_regret", "shortfall", "worst_shortfall")
    ranks = ("contract_regret_rank", "shortfall_rank")
    header = (
        *("contract", "instance", "policy", "kind", "keeps it at the end", "shortfall counts"),
        *("contract regret, reward", "shortfall", "worst shortfall"),
        *("rank by contract regret", "rank by shortfall", "dominated by"),
    )
    lines = [
        [
            *(terms[row.contract].title, titles[row.instance], row.label, row.kind),
            *("yes" if row.kept else "no", terms[row.contract].unit),
            *(_measured(row, name) for name in (*measured, *ranks)),
            row.dominated_by,
        ]
        for row in rows.itertuples()
    ]
    html = data_table(header, lines, "standings", selects=header[:5])
    return folded(f"All {len(lines)} standings", html)


def _measured(row, name: str) -> Cell:
    """Return a mean with half the width of its interval."""
    mean, high = getattr(row, name), getattr(row, f"{name}_high")
    digits = 1 if max(abs(mean), high - mean) < 1000 else 0
    return Cell(f"{number(mean, digits)} ± {number(high - mean, digits)}", float(mean))


def cost(page: Shown) -> Html:
    """Return the time of a round of each policy, on the machine that made the tables."""
    rows = page.tables["costs"].sort_values("nanoseconds")
    rows = rows.drop_duplicates("label")
    lines = [
        [row.label, Cell(number(row.nanoseconds), float(row.nanoseconds))]
        for row in rows.itertuples()
    ]
    html = data_table(("policy", "nanoseconds a round, five arms"), lines, "costs")
    return folded("Time of a round of each policy, on the machine that made these tables", html)


def place(results: str | Path, policy: Any, instance: str, contract: str) -> Html:
    """Run a user's class on one instance, and return its standing among the stored policies.

    The notebook's form of `fairbandits arena`; `results` is the folder of the results.
    """
    config = arena_config(read_yaml(CONFIG), str(CONFIG))
    config = replace(config, folders=config.folders | {"results": str(results)})
    arena = load_arena(config)
    entrant = entrant_of(policy.__name__, policy)
    outcome = enter(arena, entrant, [contract], [instance])
    for words in outcome.failures.values():
        raise ValueError(words)
    return Html(report.body(arena, outcome))


def files(page: Shown) -> Html:
    """Return links to the arena's tables."""
    place = Html("<code>{}</code>")
    places = (place.format(shown(page.folder / f"{name}.parquet")) for name in TABLES)
    return Html("<p>Tables: {}.</p>").format(joined(places, ", "))
