"""docs/third-edition.md: verdicts of the second and of the third edition, and why they differ."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fairbandits.audit.ledger import Ledger
from fairbandits.audit.records import VERDICTS_TABLE
from fairbandits.audit.view import markdown_table
from fairbandits.settings.schemas import paper_file, read_yaml

PAGE = "docs/third-edition.md"
#: Claims and their verdicts in the second edition, of commit 1033b08.
BEFORE = "second-edition.csv"
HEAD = """\
# Verdicts of the second and of the third edition

Two referees read the second edition of the audit beside the papers, with programs of their own,
and found no error in the simulations. What they found weak are the questions, the instances, the
limits and the words. Each claim whose verdict changed stands below, with what its record says of
its latest version. *Before* is the verdict in the second edition, `git show
1033b08:audit/verdicts.csv`, *after* that in `audit/verdicts.csv`. The first edition's page is in
the history, `git show 1033b08:docs/first-edition.md`.
"""
COLUMNS = ("claim", "before", "after", "what changed")
#: Where no version of a claim says what changed.
ELSE = "Controls, grades and fresh data ([procedures](procedures.md))."
#: Where a claim rests on others, which are asked in its place.
OTHERS = "Judged by {}."


def verdicts_in(table: Path) -> dict[str, str]:
    """Return the headline of each claim in a table of verdicts, with its grade if it has one."""
    with table.open(encoding="utf-8", newline="") as opened:
        rows = [row for row in csv.DictReader(opened) if not row.get("reading")]
    return {row["id"]: ", ".join(filter(None, (row["verdict"], row.get("grade")))) for row in rows}


def page(ledgers: Mapping[str, Ledger], audit: Path) -> str:
    """Return the page as Markdown; `audit` is the folder of the committed tables."""
    before, after = verdicts_in(audit / BEFORE), verdicts_in(audit / VERDICTS_TABLE)
    parts = [HEAD]
    for ledger in ledgers.values():
        parts += [f"## {ledger.short_title}\n", *_section(ledger, before, after), ""]
    return "\n".join(parts)


def _section(ledger: Ledger, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    reasons = reasons_of(ledger.paper)
    own = [key for key in ledger.claims if key in after]
    new = [key for key in own if key not in before]
    changed = [key for key in own if key in before and before[key] != after[key].partition(",")[0]]
    yield (
        f"{len(own)} claims, {len(changed)} of which have another verdict and {len(new)} are new.\n"
    )
    table = [[*COLUMNS]]
    for key in own:
        if key in (*changed, *new):
            why = "New." if key in new else _reason(ledger, key, reasons[key])
            table.append([f"`{key}`", before.get(key, "not there"), after[key], why])
    yield from markdown_table([[" ".join(cell.split()) for cell in row] for row in table])


def reasons_of(paper: str) -> dict[str, list[str]]:
    """Return why each claim of a paper has each version after the first, from its record."""
    records = read_yaml(paper_file(paper, "claims"))["claims"]
    return {
        key: [change["reason"] for change in record.get("changes", ())]
        for key, record in records.items()
    }


def _reason(ledger: Ledger, key: str, reasons: Sequence[str]) -> str:
    claim = ledger.claims[key]
    if reasons:
        return reasons[-1]
    return (
        OTHERS.format(", ".join(f"`{one}`" for one in claim.judged_by)) if claim.judged_by else ELSE
    )
