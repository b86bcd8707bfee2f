"""docs/third-edition.md: what two referees said of the second edition, and what became of it."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairbandits.audit.ledger import Claim, Ledger
from fairbandits.audit.tables import VERDICTS_TABLE, csv_rows
from fairbandits.audit.words import markdown_table
from fairbandits.report.markup import in_symbols, render_text
from fairbandits.settings.models import validated
from fairbandits.settings.records import RefereesFile
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

PAGE, REFEREES = "docs/third-edition.md", "papers/referees.yaml"
#: Claims and their verdicts in the second edition, of commit 1033b08.
BEFORE = "second-edition.csv"
#: Where no version of a claim says what changed.
ELSE = "Controls, grades and fresh data ([procedures](procedures.md))."


def _verdicts_in(table: Path) -> dict[str, str]:
    heads = [row for row in csv_rows(table.resolve(strict=True)) if not row.get("reading")]
    return {row["id"]: ", ".join(filter(None, (row["verdict"], row.get("grade")))) for row in heads}


def page(ledgers: Mapping[str, Ledger], audit: Path, file: Path = ROOT / REFEREES) -> str:
    """Return the page as Markdown; `audit` is the folder of the committed tables."""
    read = validated(read_yaml(file), RefereesFile, REFEREES)
    before, after = _verdicts_in(audit / BEFORE), _verdicts_in(audit / VERDICTS_TABLE)
    # verdicts of both editions that differ, whatever their grade
    moved = {key for key in before if after.get(key, before[key]).partition(",")[0] != before[key]}
    claims = {key for ledger in ledgers.values() for key in ledger.claims}
    judged = {key: one for key, one in read.claims.items() if key in claims}
    papers = []
    for paper, ledger in ledgers.items():
        records = read_yaml(paper_file(paper, "claims"))["claims"]
        own = {key: one for key, one in ledger.claims.items() if key in after or key in judged}
        lines = {
            key: _line(one, judged.get(key), before.get(key, ""), after.get(key), records[key])
            for key, one in own.items()
        }
        new = own.keys() - before.keys()
        changed = [line for key, line in lines.items() if key in moved]
        others = [lines[key] for key in lines if key in judged.keys() | new and key not in moved]
        uncovered = [(one.said, one.done) for one in read.uncovered.get(paper, ())]
        papers.append((ledger.short_title, len(own), len(new), changed, others, uncovered))
    of_class = Counter(one.class_ for one in judged.values())
    moved_of_class = Counter(judged[key].class_ for key in moved & judged.keys())
    classes = [
        (name, meaning, str(of_class[name]), str(moved_of_class[name]))
        for name, meaning in read.classes.items()
    ]
    return render_text("third_edition.md", classes=classes, papers=papers, table=markdown_table)


def _line(claim: Claim, judged: Any, before: str, after: str | None, record: Any) -> list[str]:
    """Return what the referees said of a claim, or else why its verdict is another one."""
    if judged:
        cells = [judged.class_, judged.said, judged.done]
    else:
        cells = ["", "", _reason(claim, record) if before else "New."]
    return [f"`{claim.id}`", *map(in_symbols, [*cells, before, after or "merely reported"])]


def _reason(claim: Claim, record: Any) -> str:
    if changes := record.get("changes"):
        return changes[-1]["reason"]
    # a claim that rests on others, which are asked in its place
    others = ", ".join(f"`{one}`" for one in claim.judged_by)
    return f"Judged by {others}." if others else ELSE
