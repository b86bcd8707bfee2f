"""docs/third-edition.md: what two referees said of the second edition, and what became of it."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from fairbandits.audit.ledger import Ledger
from fairbandits.audit.tables import VERDICTS_TABLE, csv_rows
from fairbandits.audit.words import markdown_table
from fairbandits.report.markup import render_text
from fairbandits.settings.models import validated
from fairbandits.settings.records import RefereesFile
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

PAGE, REFEREES = "docs/third-edition.md", "papers/referees.yaml"
#: Claims and their verdicts in the second edition, of commit 1033b08.
BEFORE = "second-edition.csv"


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
    return render_text(
        "third_edition.md",
        table=markdown_table,
        read=read,
        ledgers=ledgers,
        judged=judged,
        before=before,
        after=after,
        moved=moved,
        known=after.keys() | judged.keys(),
        silent=before.keys() - judged.keys(),
        classes=Counter(one.class_ for one in judged.values()),
        classes_moved=Counter(judged[key].class_ for key in moved & judged.keys()),
        records={paper: read_yaml(paper_file(paper, "claims"))["claims"] for paper in ledgers},
    )
