"""Verdicts under other data: a salt draws a paper's runs anew, and its claims are judged again.

audit/agreement.csv has a line for each claim and salt. Lines of other rules do not count.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.audit.ledger import Claim, Ledger
from fairbandits.data.store import replacing
from fairbandits.settings.canonical import digest_of
from fairbandits.settings.deciding import deciding
from fairbandits.settings.schemas import ROOT, paper_file

TABLE = ROOT / "audit" / "agreement.csv"
#: `deciding` is a hash of what decided the claim; `again` says whether the committed verdict,
#: `verdict`, came again, and `found` which one came.
COLUMNS = ("claim", "salt", "deciding", "verdict", "found", "again")


class Again(NamedTuple):
    """A claim's committed verdict, and the one under a salt."""

    claim: str
    primary: bool
    verdict: str
    found: str

    @property
    def agrees(self) -> bool:
        """Whether the verdict came again."""
        return self.verdict == self.found


def settings_of(paper: str, salt: str, results: str) -> dict[str, Any]:
    """Return the settings that draw all data of a paper anew, in a folder of its own."""
    folder = f"{results}/rejudge/{paper}/{digest_of(salt)}"
    inside = {name: f"{folder}/{name}" for name in ("figures", "audit", "logs")}
    folders = {"results": folder, **inside, "benchmarks": f"{folder}/logs/benchmarks"}
    return {"salt": salt, "papers": [paper], "pathvars": folders}


def compared(rows: Iterable[Mapping[str, Any]], before: Mapping[str, str]) -> list[Again]:
    """Return the headlines of a run under a salt beside the committed verdicts of these claims."""
    return [
        Again(row["claim"], row["primary"], before[row["claim"]], row["verdict"])
        for row in rows
        if row["headline"] and row["claim"] in before
    ]


def committed_verdicts(folder: Path) -> dict[str, str]:
    """Return the verdict of each claim's headline in the committed table."""
    with (folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        found: dict[str, str] = {}
        for row in csv.DictReader(file):
            found.setdefault(row["id"], row["verdict"])
    return found


def summary(salt: str, found: Sequence[Again]) -> list[str]:
    """Return how many verdicts came again under a salt, and those that did not."""
    agree = sum(one.agrees for one in found)
    primary = [one for one in found if one.primary]
    lines = [
        f"Under the salt {salt!r} {agree} of {len(found)} verdicts came again, of those that the "
        f"paper stands on {sum(one.agrees for one in primary)} of {len(primary)}."
    ]
    lines += [f"  {one.claim}: {one.verdict} -> {one.found}" for one in found if not one.agrees]
    return lines


def record(paper: str, salt: str, found: Iterable[Again], table: Path = TABLE) -> None:
    """Write the agreement of a paper's primary claims under a salt, in place of an earlier one."""
    digests = deciding(paper).claims
    own = {one.claim: one for one in found if one.primary and one.claim in digests}
    kept = [row for row in _rows(table) if row["salt"] != salt or row["claim"] not in digests]
    new = [
        dict(
            zip(
                COLUMNS,
                (
                    *(one.claim, salt, digests[one.claim], one.verdict, one.found),
                    "yes" if one.agrees else "no",
                ),
                strict=True,
            )
        )
        for one in own.values()
    ]
    rows = sorted([*kept, *new], key=lambda row: (row["claim"], row["salt"]))
    with replacing(table) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    _of_claims.cache_clear()


def came_again(tested: Claim, ledger: Ledger) -> str:
    """Return under how many salts a claim's verdict came again, in words; empty if under none."""
    rows = _of_claims(TABLE).get(tested.id, ())
    if not rows or not paper_file(ledger.paper, "claims").is_file():
        return ""
    now = _digests(ledger.paper, ledger.digest).get(tested.id)
    own = [row for row in rows if row["deciding"] == now]
    agree = sum(row["again"] == "yes" for row in own)
    if not own:
        return ""
    return f"The verdict came again under {agree} of {len(own)} salts, each with data of its own."


@cache
def _digests(paper: str, digest: str) -> Mapping[str, str]:
    found = deciding(paper)
    return found.claims if found.digest == digest else {}


@cache
def _of_claims(table: Path) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for row in _rows(table):
        found.setdefault(row["claim"], []).append(row)
    return found


def _rows(table: Path) -> list[dict[str, str]]:
    if not table.is_file():
        return []
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
