"""docs/third-edition.md: what referees said of the second edition's verdicts, and what was done."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from fairbandits.audit.ledger import Ledger
from fairbandits.audit.records import VERDICTS_TABLE
from fairbandits.audit.view import markdown_table
from fairbandits.settings.records import Remark, check
from fairbandits.settings.schemas import ROOT, ConfigError, meant, paper_file, parse_yaml

PAGE = "docs/third-edition.md"
#: Claims and their verdicts in the second edition, of commit 1033b08.
BEFORE = "second-edition.csv"
HEAD = """\
# Verdicts of the second and of the third edition

Two referees read the second edition of the audit beside the papers, with programs of their own,
and found no error in the simulations. What they found weak are the questions, the instances, the
limits and the words. Each remark stands below, with what became of it; *no* in the last column
means that we do not agree, and say why. *Before* is the verdict in the second edition, `git show
1033b08:audit/verdicts.csv`, *after* that in `audit/verdicts.csv`. The first edition's page is in
the history, `git show 1033b08:docs/first-edition.md`.
"""
COLUMNS = ("claim", "the referee", "what was done", "before", "after", "agreed")


def remarks_of(paper: str, ledgers: Mapping[str, Ledger], root: Path = ROOT) -> list[Remark]:
    """Return what papers/SLUG/referee.yaml says, in its order; nothing without the file.

    Raises ConfigError for a claim that does not exist and is not marked as dropped, or is both.
    """
    file = paper_file(paper, "referee", root)
    if not file.is_file():
        return []
    where = str(file.relative_to(root))
    content = parse_yaml(file.read_text(encoding="utf-8"), where)
    known = [key for ledger in ledgers.values() for key in ledger.claims]
    found = check({"remarks": content}, "referee", where).remarks
    for one in found:
        if one.dropped and one.claim in known:
            raise ConfigError(f"{where}: {one.claim} is marked as dropped, but it has a record")
        if not one.dropped and one.claim not in known:
            hint = meant(one.claim, known)
            raise ConfigError(
                f"{where}: no claim {one.claim!r}{hint} A claim that was dropped has "
                "`dropped: true`, and the reason under `done`"
            )
    return found


def verdicts_in(table: Path) -> dict[str, str]:
    """Return the headline of each claim in a table of verdicts, with its grade if it has one."""
    with table.open(encoding="utf-8", newline="") as opened:
        rows = [row for row in csv.DictReader(opened) if not row.get("reading")]
    return {row["id"]: ", ".join(filter(None, (row["verdict"], row.get("grade")))) for row in rows}


def page(ledgers: Mapping[str, Ledger], audit: Path, root: Path = ROOT) -> str:
    """Return the page as Markdown; `audit` is the folder of the committed tables."""
    before, after = verdicts_in(audit / BEFORE), verdicts_in(audit / VERDICTS_TABLE)
    parts = [HEAD]
    for paper, ledger in ledgers.items():
        if remarks := remarks_of(paper, ledgers, root):
            parts += [f"## {ledger.short_title}\n", *_section(remarks, before, after), ""]
    return "\n".join(parts)


def _section(
    remarks: list[Remark], before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[str]:
    claims = {one.claim for one in remarks}
    changed = sum(before.get(key) != after.get(key, "").partition(",")[0] for key in claims)
    agreed = sum(one.agree for one in remarks)
    yield (
        f"{len(remarks)} remarks, {agreed} of which we agree with, on {len(claims)} claims, "
        f"{changed} of which have another verdict, or are new or gone.\n"
    )
    table = [[*COLUMNS]]
    for one in remarks:
        now = "dropped" if one.dropped else after.get(one.claim, "not judged yet")
        was = before.get(one.claim, "not there")
        table.append([f"`{one.claim}`", one.said, one.done, was, now, "yes" if one.agree else "no"])
    yield from markdown_table([[" ".join(cell.split()) for cell in row] for row in table])
