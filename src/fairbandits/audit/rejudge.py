"""Verdicts under other data: a salt draws a paper's runs anew, and its claims are judged again."""

from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.audit.claims import Paper, without
from fairbandits.audit.finding import FAILED
from fairbandits.audit.judge import judge
from fairbandits.audit.rows import VERDICTS_TABLE
from fairbandits.audit.run import find
from fairbandits.audit.sentences import AGREEMENT, agreement
from fairbandits.data.texts import csv_rows, write_csv
from fairbandits.settings.config import Config
from fairbandits.settings.scales import folders_in
from fairbandits.settings.schemas import ROOT
from fairbandits.settings.seeds import latest

#: `again` says whether the committed verdict, `verdict`, came again, and `found` which one came.
COLUMNS = ("release", "claim", "salt", "verdict", "found", "again")


class Again(NamedTuple):
    """A claim's committed verdict, and the one under a salt; `why` it failed there."""

    claim: str
    primary: bool
    verdict: str
    found: str
    why: str = ""

    @property
    def agrees(self) -> bool:
        return self.verdict == self.found

    @property
    def failed(self) -> bool:
        return self.found == FAILED


def settings_of(paper: str, salt: str, results: str) -> dict[str, Any]:
    """Return the settings that draw all data of a paper anew, in a folder of its own."""
    folder = f"{results}/rejudge/{paper}/{sha256(salt.encode()).hexdigest()[:16]}"
    return {"salt": salt, "papers": [paper], "pathvars": folders_in(folder)}


def judged_again(paper: Paper, of: Iterable[str], but: Collection[str] = ()) -> Paper:
    """Return a paper with these claims and what they need, both without those in `but`."""
    claims, wanted = paper.claims, set(of) - set(but)
    wanted |= {key for name in wanted for key in (claims[name].alias_of, *claims[name].judged_by)}
    if any(claims[key].primary and claims[key].of for key in wanted if key in claims):
        wanted |= {key for key, c in claims.items() if c.primary and c.of and key not in but}
    return without(paper, wanted)


def recorded(paper: Paper, salt: str, table: Path = AGREEMENT) -> set[str]:
    """Return a paper's claims whose agreement under a salt is recorded for the latest release."""
    rows = (row for row in agreement(table) if row["salt"] == salt)
    return {row["claim"] for row in rows} & paper.claims.keys()


def verdicts_on(paper: Paper, config: Config, results: Path) -> list[Again]:
    """Return the claims' verdicts by the data in a folder beside the committed ones."""
    rows = csv_rows(ROOT / "audit" / VERDICTS_TABLE)
    before = {row["id"]: row["verdict"] for row in reversed(rows)}  # a headline stands first
    answers, *_ = find(config, paper, results)
    return [
        Again(row.claim.id, row.claim.primary, before[row.claim.id], row.verdict, row.message)
        for row in judge({paper.slug: paper}, answers)
        if row.headline and row.claim.id in before
    ]


def summary(salt: str, again: Sequence[Again]) -> list[str]:
    agree = sum(row.agrees for row in again)
    primary = [row.agrees for row in again if row.primary]
    stands = f", of those that the paper stands on {sum(primary)} of {len(primary)}"
    came = f"Under the salt {salt!r} {agree} of {len(again)} verdicts came again"
    lines = [f"{came}{stands if primary else ''}."]
    for row in (row for row in again if not row.agrees):
        why = f": {row.why}" if row.failed else ""
        lines.append(f"  {row.claim}: {row.verdict} -> {row.found}{why}")
    return lines


def record(salt: str, again: Iterable[Again], table: Path = AGREEMENT) -> None:
    """Write the agreement of primary claims under a salt, in place of those of other releases.

    A claim that failed has no verdict to compare, and is left out.
    """
    lines = {(row["claim"], row["salt"]): row for row in agreement(table)}
    for row in again:
        if row.primary and not row.failed:
            line = latest()["release"], row.claim, salt, row.verdict, row.found
            line += ("yes" if row.agrees else "no",)
            lines[row.claim, salt] = dict(zip(COLUMNS, line, strict=True))
    write_csv(table, COLUMNS, [lines[key] for key in sorted(lines)])
    agreement.cache_clear()
