"""docs/third-edition.md: what two referees said of the second edition, and what became of it."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from fairbandits.audit.ledger import Ledger
from fairbandits.audit.tables import VERDICTS_TABLE
from fairbandits.audit.words import markdown_table
from fairbandits.settings.records import check
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

PAGE, REFEREES = "docs/third-edition.md", "papers/referees.yaml"
#: Claims and their verdicts in the second edition, of commit 1033b08.
BEFORE = "second-edition.csv"
HEAD = """\
# What two referees found in the second edition, and what became of it

Two referees read the second edition of the audit beside the papers, each with a simulator of their
own, and found no error in the runs. What they found weak are questions, instances, limits and
words. Each claim that they judged, and each whose verdict changed, stands below. *Before* is the
verdict of the second edition (`git show 1033b08:audit/verdicts.csv`), *after* that in
`audit/verdicts.csv`. `papers/referees.yaml` has the referees' findings, `papers/*/deviations.yaml`
the history of the rules.
"""
CLASSES = ("the referee's class", "meaning", "claims", "verdict changed since")
COLUMNS = ("claim", "class", "the referee found", "what was done", "before", "after")
UNCOVERED = ("a sentence without a record", "what was done")
#: Where no version of a claim says what changed.
ELSE = "Controls, grades and fresh data ([procedures](procedures.md))."
#: Where a claim rests on others, which are asked in its place.
OTHERS = "Judged by {}."


def verdicts_in(table: Path) -> dict[str, str]:
    """Return the headline of each claim in a table of verdicts, with its grade if it has one."""
    with table.open(encoding="utf-8", newline="") as opened:
        rows = [row for row in csv.DictReader(opened) if not row.get("reading")]
    return {row["id"]: ", ".join(filter(None, (row["verdict"], row.get("grade")))) for row in rows}


def page(ledgers: Mapping[str, Ledger], audit: Path, file: Path = ROOT / REFEREES) -> str:
    """Return the page as Markdown; `audit` is the folder of the committed tables."""
    read = check(read_yaml(file), "referees", REFEREES)
    before, after = verdicts_in(audit / BEFORE), verdicts_in(audit / VERDICTS_TABLE)
    claims = {key for ledger in ledgers.values() for key in ledger.claims}
    found = {key: one for key, one in read.claims.items() if key in claims}
    count = Counter(one.class_ for one in found.values())
    moved = Counter(one.class_ for key, one in found.items() if _moved(key, before, after))
    rows = [
        [name, meaning, str(count[name]), str(moved[name])]
        for name, meaning in read.classes.items()
    ]
    parts = [HEAD, *markdown_table([[*CLASSES], *rows]), ""]
    for ledger in ledgers.values():
        parts += [f"## {ledger.short_title}\n", *_section(ledger, found, before, after), ""]
        if sentences := read.uncovered.get(ledger.paper):
            rows = [[one.said, one.done] for one in sentences]
            parts += [*markdown_table([[*UNCOVERED], *rows]), ""]
    return "\n".join(parts)


def _moved(key: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return whether a claim of both editions has another verdict now, whatever its grade."""
    return key in before and key in after and before[key] != after[key].partition(",")[0]


def _section(
    ledger: Ledger, found: Mapping[str, object], before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[str]:
    reasons = reasons_of(ledger.paper)
    own = [key for key in ledger.claims if key in after or key in found]
    changed = sum(_moved(key, before, after) for key in own)
    new = sum(key not in before for key in own)
    yield f"Of {len(own)} claims {changed} have another verdict and {new} are new.\n"
    table = [[*COLUMNS]]
    for key in own:
        verdicts = [before.get(key, ""), after.get(key, "merely reported")]
        if key in found:
            one = found[key]
            table.append([f"`{key}`", one.class_, one.said, one.done, *verdicts])
        elif key not in before or _moved(key, before, after):
            why = "New." if key not in before else _reason(ledger, key, reasons[key])
            table.append([f"`{key}`", "", "", why, *verdicts])
    yield from markdown_table([[" ".join(cell.split()) for cell in row] for row in table])


def reasons_of(paper: str) -> dict[str, list[str]]:
    """Return why each claim of a paper has each version after the first, from its record."""
    records = read_yaml(paper_file(paper, "claims"))["claims"]
    return {
        key: [change["reason"] for change in record.get("changes", ())]
        for key, record in records.items()
    }


def _reason(ledger: Ledger, key: str, reasons: list[str]) -> str:
    if reasons:
        return reasons[-1]
    others = ", ".join(f"`{one}`" for one in ledger.claims[key].judged_by)
    return OTHERS.format(others) if others else ELSE
