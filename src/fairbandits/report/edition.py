"""docs/third-edition.md: what two referees said of the second edition, and what became of it."""

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairbandits.audit.ledger import Claim, Ledger
from fairbandits.audit.tables import VERDICTS_TABLE
from fairbandits.audit.words import markdown_table
from fairbandits.report.markup import render_text
from fairbandits.settings.records import check
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

PAGE, REFEREES = "docs/third-edition.md", "papers/referees.yaml"
#: Claims and their verdicts in the second edition, of commit 1033b08.
BEFORE = "second-edition.csv"
CLASSES = ("the referee's class", "meaning", "claims", "verdict changed since")
COLUMNS = ("claim", "class", "the referee found", "what was done", "before", "after")
UNCOVERED = ("a sentence without a record", "what was done")
#: Where no version of a claim says what changed.
ELSE = "Controls, grades and fresh data ([procedures](procedures.md))."


def rows_of(table: Path) -> list[dict[str, str]]:
    """Return the rows of a committed table."""
    with table.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def _verdicts_in(table: Path) -> dict[str, str]:
    """Return the headline of each claim in a table of verdicts, with its grade if it has one."""
    heads = [row for row in rows_of(table) if not row.get("reading")]
    return {row["id"]: ", ".join(filter(None, (row["verdict"], row.get("grade")))) for row in heads}


def page(ledgers: Mapping[str, Ledger], audit: Path, file: Path = ROOT / REFEREES) -> str:
    """Return the page as Markdown; `audit` is the folder of the committed tables."""
    read = check(read_yaml(file), "referees", REFEREES)
    before, after = _verdicts_in(audit / BEFORE), _verdicts_in(audit / VERDICTS_TABLE)
    # verdicts of both editions that differ, whatever their grade
    moved = {key for key in before if after.get(key, before[key]).partition(",")[0] != before[key]}
    claims = {key for ledger in ledgers.values() for key in ledger.claims}
    judged = {key: one for key, one in read.claims.items() if key in claims}
    count = Counter(one.class_ for one in judged.values())
    of_moved = Counter(one.class_ for key, one in judged.items() if key in moved)
    papers = []
    for ledger in ledgers.values():
        own = [key for key in ledger.claims if key in after or key in judged]
        new = {key for key in own if key not in before}
        lines = [
            _line(ledger.claims[key], judged.get(key), before.get(key, ""), after.get(key))
            for key in own
            if key in judged or key in new or key in moved
        ]
        uncovered = [(one.said, one.done) for one in read.uncovered.get(ledger.paper, ())]
        tables = _table(COLUMNS, lines), _table(UNCOVERED, uncovered) if uncovered else ""
        papers.append((ledger.short_title, len(own), len(moved & {*own}), len(new), *tables))
    classes = [
        (name, meaning, str(count[name]), str(of_moved[name]))
        for name, meaning in read.classes.items()
    ]
    return render_text("third_edition.md", classes=_table(CLASSES, classes), papers=papers)


def _table(header: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    return "\n".join(markdown_table([[*header], *([*line] for line in lines)]))


def _line(claim: Claim, judged: Any, before: str, after: str | None) -> tuple[str, ...]:
    """Return what the referees said of a claim, or else why its verdict is another one."""
    if judged:
        said = judged.class_, judged.said, judged.done
    else:
        said = "", "", _reason(claim) if before else "New."
    cells = (f"`{claim.id}`", *said, before, after or "merely reported")
    return tuple(" ".join(cell.split()) for cell in cells)


def _reason(claim: Claim) -> str:
    if reasons := reasons_of(claim.paper)[claim.id]:
        return reasons[-1]
    # a claim that rests on others, which are asked in its place
    others = ", ".join(f"`{one}`" for one in claim.judged_by)
    return f"Judged by {others}." if others else ELSE


def reasons_of(paper: str) -> dict[str, list[str]]:
    """Return why each claim of a paper has each version after the first, from its record."""
    records = read_yaml(paper_file(paper, "claims"))["claims"]
    return {
        key: [change["reason"] for change in record.get("changes", ())]
        for key, record in records.items()
    }
