"""Verdicts under other data: a salt draws a paper's runs anew, and its claims are judged again."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.audit.cells import Evidence
from fairbandits.audit.claims import Claim, Ledger
from fairbandits.audit.expressions import called
from fairbandits.audit.judge import answers, judge
from fairbandits.audit.records import deciding_under
from fairbandits.audit.tables import VERDICTS_TABLE, csv_rows, csv_text, write_text
from fairbandits.settings.canonical import digest_of
from fairbandits.settings.config import Config
from fairbandits.settings.deciding import deciding
from fairbandits.settings.scales import folders_in
from fairbandits.settings.schemas import ROOT

TABLE = ROOT / "audit" / "agreement.csv"
#: `deciding` is a hash of what decided the claim; `again` says whether the committed verdict,
#: `verdict`, came again, and `found` which one came.
COLUMNS = ("claim", "salt", "deciding", "verdict", "found", "again")

#: Of a claim that derivations and enumeration decide, or numbers drawn with seeds of its record.
NOTHING_DRAWN = "What decides it is the same under other seeds: no run of ours is read."


class Again(NamedTuple):
    """A claim's committed verdict, and the one under a salt."""

    claim: str
    primary: bool
    verdict: str
    found: str

    @property
    def agrees(self) -> bool:
        return self.verdict == self.found


def settings_of(paper: str, salt: str, results: str) -> dict[str, Any]:
    """Return the settings that draw all data of a paper anew, in a folder of its own."""
    folder = f"{results}/rejudge/{paper}/{digest_of(salt)}"
    return {"salt": salt, "papers": [paper], "pathvars": folders_in(folder)}


def judged_again(ledger: Ledger, of: Iterable[str], but: Collection[str] = ()) -> Ledger:
    """Return a ledger of these claims and what they need, both without those in `but`."""
    claims, wanted = ledger.claims, set(of) - set(but)
    wanted |= {key for name in wanted for key in (claims[name].alias_of, *claims[name].judged_by)}
    families = {claims[key].family for key in wanted if key in claims}
    together = {name for name in families if name and ledger.families[name].correction == "holm"}
    wanted |= {key for key, one in claims.items() if one.family in together and key not in but}
    return replace(ledger, claims={key: one for key, one in claims.items() if key in wanted})


def recorded(paper: str, salt: str, table: Path = TABLE) -> set[str]:
    """Return the claims whose agreement under a salt is recorded, by what decides them now."""
    digests = deciding(paper).claims
    rows = (row for row in csv_rows(table) if row["salt"] == salt)
    return {row["claim"] for row in rows if digests.get(row["claim"]) == row["deciding"]}


def data_of(ledger: Ledger, config: Config) -> list[str]:
    tests = [test for one in ledger.claims.values() for test in one.tests]
    names = dict.fromkeys(name for test in tests for name in test.experiments)
    read = [one.dataset for name in names for one in config.named(ledger.paper, name)]
    calls = {call for test in tests for one in test.expressions for call in called(one)}
    if calls & {"replayed", "replayed_at"}:
        read += [one.table for one in config.replays if one.paper == ledger.paper]
    return list(dict.fromkeys(read))


def verdicts_on(ledger: Ledger, config: Config, results: Path) -> list[Again]:
    """Return the claims' verdicts by the data in a folder beside the committed ones."""
    rows = csv_rows(ROOT / "audit" / VERDICTS_TABLE)
    before = {row["id"]: row["verdict"] for row in reversed(rows)}  # a headline stands first
    found = judge({ledger.paper: ledger}, answers(ledger, Evidence(config, ledger.paper, results)))
    return [
        Again(one.claim.id, one.claim.primary, before[one.claim.id], one.outcome)
        for one in found
        if one.headline and one.claim.id in before
    ]


def summary(salt: str, found: Sequence[Again]) -> list[str]:
    agree = sum(one.agrees for one in found)
    primary = [one.agrees for one in found if one.primary]
    stands = f", of those that the paper stands on {sum(primary)} of {len(primary)}"
    came = f"Under the salt {salt!r} {agree} of {len(found)} verdicts came again"
    lines = [f"{came}{stands if primary else ''}."]
    lines += [f"  {one.claim}: {one.verdict} -> {one.found}" for one in found if not one.agrees]
    return lines


def record(paper: str, salt: str, found: Iterable[Again], table: Path = TABLE) -> None:
    """Write the agreement of primary claims under a salt, in place of one that no longer counts."""
    digests, found = deciding(paper).claims, [one for one in found if one.primary]
    now = recorded(paper, salt, table) - {one.claim for one in found}
    gone = digests.keys() - now
    rows = [row for row in csv_rows(table) if row["salt"] != salt or row["claim"] not in gone]
    lines = [[row[name] for name in COLUMNS] for row in rows]
    for one in found:
        if one.claim in digests:
            again = "yes" if one.agrees else "no"
            lines.append([one.claim, salt, digests[one.claim], one.verdict, one.found, again])
    write_text(table, csv_text([COLUMNS, *sorted(lines)]))
    _agreement.cache_clear()


def came_again(tested: Claim, ledger: Ledger) -> str:
    """Return under how many salts a claim's verdict is the same, in words; empty if under none."""
    judges = (tested, *(ledger.claims[name] for name in tested.judged_by))
    tests = [test for one in judges for test in one.tests if test.decides]
    if tests and all(test.is_given for test in tests):
        return NOTHING_DRAWN
    now = tested.id, deciding_under(ledger).claims.get(tested.id)
    own = [row for row in _agreement(TABLE) if (row["claim"], row["deciding"]) == now]
    if not own:
        return ""
    others = [row["found"] for row in own if row["again"] == "no"]
    said = f"The verdict is the same under {len(own) - len(others)} of {len(own)} other seeds"
    other = f" Under the rest: {' or '.join(dict.fromkeys(others))}." if others else ""
    return f"{said}, each with data of its own.{other}"


_agreement = cache(csv_rows)
