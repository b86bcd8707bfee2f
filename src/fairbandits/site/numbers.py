"""The numbers of README, from the tables that they come from.

README marks each number, invisibly for its readers: ``<!--n:NAME-->4 012<!--/n-->``. What NAME is
stands in papers/SLUG/numbers.yaml: a row of a figure's table or of the audit's findings, a column,
and a format. `fairbandits numbers` works them out, writes them into README and into the committed
table `audit/numbers.csv`; a test compares README with that table, and the findings' numbers with
the committed findings.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fairbandits.audit.finding import OUTCOMES
from fairbandits.audit.ledger import Ledger, load_ledgers
from fairbandits.audit.records import read_csv
from fairbandits.audit.totals import left_out, totals
from fairbandits.experiments.config import Config
from fairbandits.experiments.schemas import ConfigError, meant, paper_file, read_yaml
from fairbandits.store import read_table, replacing

MARK = re.compile(r"<!--n:([a-z0-9_]+)-->(.*?)<!--/n-->", re.DOTALL)
TABLE = "numbers.csv"
COLUMNS = ("name", "value", "text", "source")
#: What an entry may say.
KEYS = {"table", "finding", "column", "times", "format"}
#: Significant digits of a value in the table.
DIGITS = 12


@dataclass(frozen=True)
class Number:
    """One number: its value, as README has it, and where it comes from."""

    name: str
    value: float
    text: str
    source: str


def numbers_of(
    paper: str, results: Path, findings: Sequence[Mapping[str, Any]], root: Path
) -> Iterator[Number]:
    """Yield the numbers of a paper.

    Parameters
    ----------
    paper : str
        Its slug.
    results : Path
        Folder of the results, with the figures' tables.
    findings : sequence of mapping
        The audit's findings.
    root : Path
        Holds papers/SLUG/numbers.yaml.

    Raises
    ------
    ConfigError
        If what is named does not exist, or is not one row.
    """
    file = paper_file(paper, "numbers", root)
    if not file.is_file():
        return
    where = f"papers/{paper}/numbers.yaml"
    for name, entry in read_yaml(file).items():
        unknown = [
            key for key in entry if key not in ("table", "finding", "column", "format", "times")
        ]
        if unknown or ("table" in entry) == ("finding" in entry):
            raise ConfigError(
                f"{where}: {name} must have one of table and finding, and may have column, times "
                f"and format; got {', '.join(entry)}"
            )
        if "table" in entry:
            source, row = _of_table(entry["table"], results, f"{where}: {name}")
        else:
            source, row = _of_findings(entry["finding"], findings, f"{where}: {name}")
        column = entry.get("column", "mean" if "table" in entry else "statistic")
        if column not in row:
            raise ConfigError(f"{where}: {name}: no column {column!r}{meant(column, list(row))}")
        value = float(row[column]) * entry.get("times", 1)
        text = f"{value:{entry.get('format', ',.0f')}}".replace(",", " ")
        yield Number(name, value, text, f"{source}, {column}")


def _of_table(
    chosen: Mapping[str, Any], results: Path, place: str
) -> tuple[str, Mapping[str, Any]]:
    """Return where a row of a figure's table is from, and the row; "last" is the largest value."""
    file = results / f"{chosen['file']}.parquet"
    table = read_table(file).to_pandas()
    for key, value in chosen.items():
        if key == "file":
            continue
        if key not in table.columns:
            raise ConfigError(f"{place}: no column {key!r}{meant(key, list(table.columns))}")
        table = table[table[key] == (table[key].max() if value == "last" else value)]
    return _one(table, f"{chosen['file']}.parquet", chosen, place)


def _of_findings(
    chosen: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], place: str
) -> tuple[str, Mapping[str, Any]]:
    table = pd.DataFrame([dict(one) for one in findings])
    for key, value in chosen.items():
        if key not in table.columns:
            raise ConfigError(f"{place}: no column {key!r}{meant(key, list(table.columns))}")
        table = table[table[key] == value]
    return _one(table, "audit/findings.csv", chosen, place)


def _one(
    table: pd.DataFrame, file: str, chosen: Mapping[str, Any], place: str
) -> tuple[str, Mapping[str, Any]]:
    words = ", ".join(f"{key} = {value}" for key, value in chosen.items() if key != "file")
    if len(table) != 1:
        raise ConfigError(f"{place}: {file} must have one row with {words}, got {len(table)}")
    return f"{file}: {words}", table.iloc[0].to_dict()


def csv_of(numbers: Sequence[Number]) -> str:
    """Return numbers as the text of the committed table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in numbers:
        writer.writerow([one.name, f"{one.value:.{DIGITS}g}", one.text, one.source])
    return out.getvalue()


def texts_of(file: Path) -> dict[str, str]:
    """Return the numbers of the committed table as README has them, by name."""
    with file.open(encoding="utf-8", newline="") as opened:
        return {row["name"]: row["text"] for row in csv.DictReader(opened)}


def written(text: str, numbers: Mapping[str, str]) -> str:
    """Return a text with its marked numbers.

    Raises
    ------
    ConfigError
        If a mark names no number.

    Examples
    --------
    >>> written("ends at <!--n:regret-->?<!--/n--> pulls", {"regret": "4 012"})
    'ends at <!--n:regret-->4 012<!--/n--> pulls'
    """

    def of(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in numbers:
            raise ConfigError(f"README.md: no number {name!r}{meant(name, list(numbers))}")
        return f"<!--n:{name}-->{numbers[name]}<!--/n-->"

    return MARK.sub(of, text)


def differing(text: str, numbers: Mapping[str, str]) -> list[str]:
    """Return a line for each marked number that is not as it should be."""
    written(text, numbers)
    return [
        f"{name}: README.md has {value!r}, it is {numbers[name]!r}"
        for name, value in MARK.findall(text)
        if value != numbers[name]
    ]


def renew(config: Config, results: Path | None, root: Path, *, check: bool) -> list[str]:
    """Write README's numbers and their table, or with `check` only say which differ.

    Returns
    -------
    list of str
        What was done, or a line for each number that differs.
    """
    results = results or root / config.folders["results"]
    table, readme = root / config.folders["audit"] / TABLE, root / "README.md"
    rows = read_findings(root / config.folders["audit"])
    papers = dict.fromkeys(one.paper for one in config.experiments)
    found = list(totals_of(load_ledgers(config, root), root / config.folders["audit"]))
    found += [one for paper in papers for one in numbers_of(paper, results, rows, root)]
    texts, text = {one.name: one.text for one in found}, readme.read_text(encoding="utf-8")
    if check:
        return differing(text, texts) or [f"all {len(MARK.findall(text))} numbers are as they are"]
    with replacing(table) as temporary:
        temporary.write_text(csv_of(found), encoding="utf-8")
    with replacing(readme) as temporary:
        temporary.write_text(written(text, texts), encoding="utf-8")
    return [f"{len(found)} numbers in {table.name}, {len(MARK.findall(text))} in README.md"]


def totals_of(ledgers: Mapping[str, Ledger], folder: Path) -> Iterator[Number]:
    """Yield how many claims of each paper have which verdict, e.g. banditq_not_reproduced."""
    rows = read_csv(folder / "verdicts.csv", ledgers)
    for paper, ledger in ledgers.items():
        pairs = [
            (left_out(ledger.claims[row["claim"]]), row["verdict"])
            for row in rows
            if row["headline"] and row["claim"] in ledger.claims
        ]
        counted, _ = totals(pairs)
        for outcome in OUTCOMES:
            name, count = f"{paper}_{outcome.replace(' ', '_')}", counted.get(outcome, 0)
            yield Number(name, count, str(count), "audit/verdicts.csv")
        total = sum(counted.values())
        yield Number(f"{paper}_claims", total, str(total), "audit/verdicts.csv")


def read_findings(folder: Path) -> list[dict[str, str]]:
    """Return the rows of the committed findings, as text; none if there is no such table."""
    file = folder / "findings.csv"
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))
