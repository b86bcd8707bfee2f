"""The numbers in docs/findings.md and docs/figures.md, computed from the tables that have them.

A mark in a page is ``<!--n:NAME-->4 012<!--/n-->``; docs/adding-a-paper.md says what NAME can be.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from fairbandits.arena.picture import price_of_quotas
from fairbandits.arena.settings import SLUG as ARENA
from fairbandits.audit.claims import Papers
from fairbandits.audit.finding import GRADES, INCONCLUSIVE, NOT_REPRODUCED, OUTCOMES, REPRODUCED
from fairbandits.audit.rows import FINDINGS_TABLE, VERDICTS_TABLE
from fairbandits.audit.sentences import AGREEMENT, agreement
from fairbandits.audit.totals import Totals, tally
from fairbandits.data.store import read_table
from fairbandits.data.texts import csv_rows, csv_text, write_text
from fairbandits.figures import PAPERS
from fairbandits.library import style
from fairbandits.report import headlines
from fairbandits.report.audit import Audit, committed
from fairbandits.report.markup import minus
from fairbandits.report.pages import NAMES
from fairbandits.settings.config import Config
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import ConfigError, paper_file, read_yaml

MARK = re.compile(r"<!--n:([a-z0-9_]+)-->(.*?)<!--/n-->", re.DOTALL)
#: The picture of a figure in a page: its file, paper and name.
IMAGE = re.compile(r"!\[[^]]*\]\((\.\./figures/(\w+)/(\w+)\.png)\)")
FINDINGS_PAGE = "docs/findings.md"
PAGES = (FINDINGS_PAGE, "docs/figures.md")
TABLE = "numbers.csv"
#: Takes a paper's place in the totals of all papers.
ALL = "all"
#: Each source of a number, and the column that it takes by default.
SOURCES = {
    **{"table": "mean", "runs": "reward", "finding": "statistic", "arena": "least"},
    **{"count": "rows", "setting": "value"},
}
#: What an entry may have beside its source.
KEYS = ("unit", "column", "times", "format")
FINDINGS = f"audit/{FINDINGS_TABLE}"
#: Significant digits of a value in the table.
DIGITS = 12


class Number(NamedTuple):
    """One number, and its text as on pages."""

    name: str
    value: float
    text: str
    source: str


def numbers_of(
    paper: str, audit: Audit, root: Path, only: Collection[str] | None = None
) -> Iterator[Number]:
    """Yield the numbers of a paper, or of the arena, of those in `only`."""
    file = paper_file(paper, "numbers", root)
    for name, entry in read_yaml(file).items() if file.is_file() else ():
        if only is not None and name not in only:
            continue
        where = f"papers/{paper}/numbers.yaml: {name}"
        kind = _kind(entry, where)
        if kind == "setting":
            source, row = _setting(paper, entry[kind], root, where)
        else:
            source, row = _row(kind, entry[kind], audit, where)
        column = entry.get("column", SOURCES[kind])
        expect_known(column, row, f"{where}: no column {column!r}")
        try:
            value = float(row[column]) * entry.get("times", 1)
        except (TypeError, ValueError):
            raise ConfigError(f"{where}: {column} must be a number, got {row[column]!r}") from None
        text = f"{value:{entry.get('format', ',.0f')}}".replace(",", " ")
        yield Number(name, value, text, f"{source}, {column}")


def _kind(entry: Mapping[str, Any], where: str) -> str:
    """Return the one of `SOURCES` that an entry has, and check the entry's other keys."""
    kinds = [key for key in entry if key in SOURCES]
    if len(kinds) != 1:
        raise ConfigError(
            f"{where} must have one of {', '.join(SOURCES)}; got {', '.join(entry) or 'nothing'}"
        )
    (kind,) = kinds
    keys = ("unit", "format") if kind == "count" else KEYS
    if others := [key for key in entry if key not in (kind, *keys)]:
        raise ConfigError(
            f"{where} may have {', '.join(keys)} beside {kind}; got {', '.join(others)}"
        )
    if not isinstance(entry.get("unit"), str) or not entry["unit"]:
        raise ConfigError(f"{where} must have a unit, got {entry.get('unit', 'none')!r}")
    return kind


def _setting(
    paper: str, chosen: Mapping[str, str], root: Path, where: str
) -> tuple[str, dict[str, Any]]:
    """Return the file of an experiment's setting, such as its horizon, and its value."""
    files = [paper_file(paper, part, root) for part in ("experiments", "audit")]
    name, key = chosen["experiment"], chosen["key"]
    blocks = {file: read_yaml(file)["experiments"] for file in files if file.is_file()}
    homes = {experiment: file for file, experiments in blocks.items() for experiment in experiments}
    expect_known(name, homes, f"{where}: no experiment {name!r}")
    block = blocks[homes[name]][name]
    expect_known(key, block, f"{where}: {name} has no setting {key!r}")
    return f"{homes[name].relative_to(root)}: {name}, {key}", {"value": block[key]["value"]}


def _row(
    kind: str, chosen: Mapping[str, Any], audit: Audit, where: str
) -> tuple[str, dict[str, Any]]:
    """Return where a number comes from, in words, and the row of a table that has it."""
    rest, file = dict(chosen), FINDINGS
    if kind in ("table", "runs"):
        file = f"{rest.pop('file')}.parquet"
        table = read_table(audit.results / file).to_pandas()
    elif kind == "arena":
        from fairbandits.arena.decisions import summary

        file = f"{ARENA}/standings.parquet"
        judged = {key: rest.pop(key) for key in ("contract", "horizon") if key in rest}
        table = summary(_rows(read_table(audit.results / file).to_pandas(), judged, where))
    else:
        table = pd.DataFrame(audit.findings)
    query = ", ".join(f"{key} = {value}" for key, value in chosen.items() if key != "file")
    if kind == "count":
        return f"{file}: {query}", {"rows": _count(rest, table, where)}
    rows = _rows(table, rest, where)
    if kind == "runs" and len(rows) and rows["replicate"].is_unique:
        return f"{file}: {query}, mean over replicates", rows.mean(numeric_only=True).to_dict()
    if len(rows) != 1:
        raise ConfigError(f"{where}: {file} must have one row with {query}, got {len(rows)}")
    return f"{file}: {query}", rows.iloc[0].to_dict()


def _count(chosen: dict[str, Any], table: pd.DataFrame, where: str) -> int:
    """Return how many findings of a test have an outcome, or how many there are in all."""
    for key in ("claim", "test"):
        if key not in chosen:
            raise ConfigError(f"{where}: count must name claim and test, got no {key}")
    outcome = chosen.pop("outcome", None)
    rows = _rows(table, chosen, where)
    if rows.empty:  # a name that is wrong would be counted as 0
        query = ", ".join(f"{key} = {value}" for key, value in chosen.items())
        raise ConfigError(f"{where}: {FINDINGS} must have rows with {query}, got none")
    if outcome is None:
        return len(rows)
    expect_known(outcome, OUTCOMES, f"{where}: no outcome {outcome!r}")
    return int((rows["verdict"] == outcome).sum())


def _rows(table: pd.DataFrame, chosen: Mapping[str, Any], where: str) -> pd.DataFrame:
    """Return rows with these values; "first" and "last" are ends of what earlier keys leave."""
    for key, value in chosen.items():
        expect_known(key, table.columns, f"{where}: no column {key!r}")
        if isinstance(value, Mapping):  # ``{from: 1000}``
            table = table[table[key] >= value["from"]]
        else:
            ends = {"first": table[key].min, "last": table[key].max}
            table = table[table[key] == (ends[value]() if value in ends else value)]
    return table


def csv_of(numbers: Sequence[Number]) -> str:
    rows = ((num.name, f"{num.value:.{DIGITS}g}", num.text, num.source) for num in numbers)
    return csv_text([Number._fields, *rows])


def texts_of(file: Path) -> dict[str, str]:
    return {row["name"]: minus(row["text"]) for row in csv_rows(file)}


def written(text: str, numbers: Mapping[str, str], page: str) -> str:
    """Return a page's text with its marked numbers filled in; ConfigError for an unknown name."""

    def filled(mark: re.Match[str]) -> str:
        name = mark[1]
        expect_known(name, numbers, f"{page}: no number {name!r}")
        return f"<!--n:{name}-->{numbers[name]}<!--/n-->"

    return MARK.sub(filled, text)


def described(text: str) -> str:
    """Return a page's text whose figures of papers tell in words what they show."""

    def shown(image: re.Match[str]) -> str:
        path, paper, figure = image.groups()
        return f"![Figure {figure.removeprefix('fig')}: {PAPERS[paper][figure].label}]({path})"

    return IMAGE.sub(shown, text)


def renew(config: Config, own: Papers, results: Path | None, root: Path) -> str:
    """Write the pages' numbers, their table and the first picture; return what it wrote."""
    table = root / config.folders["audit"] / TABLE
    audit = committed(own, table.parent, results or root / config.results)
    shown = headlines.load_headlines(own, root)
    headlines.refuse(shown, audit)
    counted = {paper: tally(audit.of(paper)) for paper in own}
    papers = [*dict.fromkeys(experiment.paper for experiment in config.experiments), ARENA]
    numbers = [*totals_of(counted | {ALL: tally(audit.rows)}), *repetitions()]
    numbers += [number for paper in papers for number in numbers_of(paper, audit, root)]
    texts = {number.name: minus(number.text) for number in numbers}
    pages = _pages(shown, texts, root)
    write_text(table, csv_of(numbers))
    for page, text in pages.items():
        write_text(root / page, text)
    images = root / config.folders["figures"] / ARENA
    drawn = price_of_quotas(shown_first(audit.results))
    told = "Regret against shortfall", NAMES["captions"]["price_of_quotas"]
    style.save(drawn, images.with_suffix(".svg"), images.with_suffix(".png"), *told)
    marked = sum(len(MARK.findall(text)) for text in pages.values())
    where = f"{marked} in {' and '.join(PAGES)}, {ARENA} in {config.folders['figures']}"
    return f"{len(numbers)} numbers in {table.name}, {where}"


def _pages(shown: list[headlines.Headline], texts: Mapping[str, str], root: Path) -> dict[str, str]:
    """Return each page's text with these findings and numbers."""
    pages = {page: (root / page).read_text(encoding="utf-8") for page in PAGES}
    pages[FINDINGS_PAGE] = headlines.written(pages[FINDINGS_PAGE], shown)
    return {page: described(written(text, texts, page)) for page, text in pages.items()}


def edited_pages(own: Papers, root: Path) -> list[str]:
    """Return a line for each committed page with other findings or numbers than are committed."""
    texts = texts_of(root / "audit" / TABLE)
    pages = _pages(headlines.load_headlines(own, root), texts, root)
    return [
        f"{page} has other findings or numbers than are committed; `fairbandits numbers` mends it"
        for page, text in pages.items()
        if text != (root / page).read_text(encoding="utf-8")
    ]


def shown_first(results: Path) -> pd.DataFrame:
    """Return the arena's standings that the first picture shows."""
    standings, shown = read_table(results / ARENA / "standings.parquet").to_pandas(), NAMES["first"]
    return standings[standings[[*shown]].eq(shown).all(axis=1)]


def totals_of(counted: Mapping[str, Totals]) -> Iterator[Number]:
    """Yield the totals of each paper, PAPER_not_reproduced, and of all, all_claims."""
    for name, totals in counted.items():
        counts = {outcome: totals.counted.get(outcome, 0) for outcome in OUTCOMES}
        for outcome in (REPRODUCED, NOT_REPRODUCED):
            grades = totals.grades.get(outcome, {})
            counts |= {f"{outcome} {grade}": grades.get(grade, 0) for grade in GRADES}
        counts |= {
            "reproduced in part": totals.in_part.get(REPRODUCED, 0),
            "confirmatory": totals.confirmatory,
        }
        for label, count in (counts | {"claims": totals.claims, "printed": totals.printed}).items():
            key = f"{name}_{label.replace(' ', '_')}"
            yield Number(key, count, str(count), f"audit/{VERDICTS_TABLE}")


def repetitions() -> Iterator[Number]:
    """Yield how many primary verdicts were repeated under other seeds, and what came of it.

    A verdict is contradicted if another came, and neither is inconclusive.
    """
    rows = agreement(AGREEMENT)
    others = [(row["verdict"], row["found"]) for row in rows if row["again"] == "no"]
    contradicted = sum(INCONCLUSIVE not in verdicts for verdicts in others)
    counts = {"repeated": len(rows), "came_again": len(rows) - len(others)}
    for name, count in (counts | {"contradicted": contradicted}).items():
        yield Number(f"{ALL}_{name}", count, str(count), f"audit/{AGREEMENT.name}")
