"""The committed tables: findings and verdicts as CSV files, which the ledgers complete."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

from fairbandits.audit.claims import Claim, Ledgers
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.totals import Row, standing
from fairbandits.data.store import StoreError, replacing

NUMBERS = ("statistic", "low", "high", "n", "p")
LISTS = ("tags", "data")
#: A finding's origin: datasets and the hash of their content, the code that simulated them, their
#: seed (or "ledger"), the digest of the ledger's rules, and the audit's code.
ORIGIN = ("data", "data_hash", "code", "seed", "rules", "audit_code")
#: What a verdict's row has of its claim.
OF_CLAIM = ("place", "statement", "kind", "primary", "about", "exploratory", "figure")
VERDICTS_TABLE, FINDINGS_TABLE = "verdicts.csv", "findings.csv"
#: Columns of the committed tables; `what` names the statistic.
COMMITTED = {
    "verdicts": (
        *("id", "reading", "verdict", "grade", "tags", "test", "each"),
        *(*NUMBERS, "against", "rule", *ORIGIN),
    ),
    "findings": (
        *("claim", "test", "reading", "each", "decides", "verdict", "grade", "control", "tags"),
        *("what", *NUMBERS, "against", "tightness", "rule", "rules"),
    ),
}
#: Significant digits of their numbers, and the word for a reference value that there is not.
DIGITS, NONE = 6, "none"
ANEW = "`fairbandits replicate audit` makes it anew"


def claims_of(ledgers: Ledgers) -> dict[str, Claim]:
    return {key: one for ledger in ledgers.values() for key, one in ledger.claims.items()}


def committed(ledgers: Ledgers) -> dict[str, Claim]:
    """Return the claims with the same verdict on all machines, so that a run changes no table."""
    claims = claims_of(ledgers)
    return {key: one for key, one in claims.items() if not claims.get(one.alias_of, one).varies}


def stands_for(claim: Claim, ledgers: Ledgers) -> Claim:
    """Return the claim itself or, for an alias, the claim that it stands for."""
    return claims_of(ledgers)[claim.alias_of] if claim.alias_of else claim


def older(row: Row, ledgers: Ledgers) -> bool:
    """Return whether the data of a verdict are older than its rule: no change draws them anew."""
    return not ledgers[row["paper"]].pinned.isdisjoint(written_out(row["data"]))


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by their columns; none without a file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_text(path: Path, text: str) -> None:
    """Write a text, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def in_short(files: Iterable[str]) -> list[str]:
    """Return paths of files, those in one folder joined with braces, as shells write it.

    >>> in_short(["banditq/arms/5.parquet", "banditq/arms/10.parquet", "banditq/one.parquet"])
    ['banditq/arms/{5,10}.parquet', 'banditq/one.parquet']
    """
    kept: dict[tuple[str, str], list[str]] = {}
    for place in map(PurePosixPath, files):
        alone = len(place.parts) < 3  # a suite has a folder of its own
        kept.setdefault((str(place.parent), place.stem if alone else ""), []).append(place.stem)
    return [
        f"{folder}/{names[0] if len(names) == 1 else '{' + ','.join(names) + '}'}.parquet"
        for (folder, _), names in kept.items()
    ]


def written_out(places: Iterable[str]) -> list[str]:
    """Return the files that `in_short` names."""
    found = []
    for place in places:
        before, _, rest = place.partition("{")
        names, _, after = rest.partition("}")
        found += [f"{before}{name}{after}" for name in names.split(",")]
    return found


def short(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}"


def _against(values: Mapping[str, float | None]) -> str:
    texts = {name: NONE if one is None else short(float(one)) for name, one in values.items()}
    return "; ".join(f"{name} {text}" for name, text in texts.items())


def _against_from(text: str) -> dict[str, float | None]:
    parts = (part.rpartition(" ") for part in text.split("; ") if part)
    return {name: None if value == NONE else float(value) for name, _, value in parts}


#: Column of a committed table -> its text from a row, and its value from the text; others are text.
AS_TEXT: dict[str, Callable[[Row], str]] = {
    "id": lambda row: row["claim"],
    "tags": lambda row: " ".join(row["tags"]),
    "what": lambda row: STATISTICS.get(row["procedure"], ""),
    "against": lambda row: _against(row["against"]),
    "tightness": lambda row: short(row["also"].get("tightness")),
    "decides": lambda row: "yes" if row["decides"] else "no",
    "rule": lambda row: f"{row['rule']} {row['rule_version']}" if row["rule"] else "",
    "data": lambda row: " ".join(in_short(row["data"])),
    **{name: lambda row, name=name: short(row[name]) for name in NUMBERS},
}
FROM_TEXT: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys((*NUMBERS, "tightness"), lambda text: float(text) if text else None),
    **dict.fromkeys(LISTS, str.split),
    "n": lambda text: int(text) if text else None,
    "decides": lambda text: text == "yes",
    "against": _against_from,
}


def csv_of(rows: Iterable[Row], kind: str) -> str:
    columns = COMMITTED[kind]
    as_text = [AS_TEXT.get(name, itemgetter(name)) for name in columns]
    return csv_text([columns, *([text(row) for text in as_text] for row in rows)])


def lines_of(path: Path, kind: str, ledgers: Ledgers, paper: str = "") -> list[dict[str, str]]:
    """Return the lines of a committed table, of all papers or one; StoreError for other columns."""
    if not path.is_file():
        raise StoreError(f"{path} does not exist; `fairbandits replicate audit` makes it")
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = [*csv.reader(file)] or [[]]
    if tuple(header) != COMMITTED[kind] or {len(header), *map(len, lines)} != {len(header)}:
        raise StoreError(f"{path} is not a table of {kind}; {ANEW}")
    columns = ["claim" if name == "id" else name for name in header]
    rows = [dict(zip(columns, line, strict=True)) for line in lines]
    papers = {key: claim.paper for key, claim in claims_of(ledgers).items()}
    of_rules = {row["rules"]: papers[row["claim"]] for row in rows if row["claim"] in papers}
    homes = (papers.get(row["claim"], of_rules.get(row["rules"], paper)) for row in rows)
    return [row for row, home in zip(rows, homes, strict=True) if paper in ("", home)]


def completed(lines: Iterable[Mapping[str, str]], kind: str, ledgers: Ledgers) -> Iterator[dict]:
    """Yield lines of a committed table as rows, without claims and tests that no longer exist."""
    claims, before = claims_of(ledgers), ""
    for line in lines:
        claim = claims.get(line["claim"])
        if claim is None:
            continue
        row = {name: FROM_TEXT.get(name, str)(text) for name, text in line.items()}
        rule, _, version = row["rule"].partition(" ")
        row |= {"paper": claim.paper, "message": "", "rule": rule}
        row["rule_version"] = int(version) if version else None
        row["reference"] = next(iter(row["against"].values()), None)
        if kind == "verdicts":
            row |= {name: getattr(claim, name) for name in OF_CLAIM} | standing(claim)
            row["older"] = older(row, ledgers)
            row["headline"] = claim.id != before
            before = claim.id
        elif test := ledgers[claim.paper].test(claim.id, row["test"]):
            tightness = row.pop("tightness")
            row |= {"procedure": test.procedure, "settings": dict(test.settings), "data": []}
            row["also"] = {} if tightness is None else {"tightness": tightness}
        else:
            continue
        yield row


def other_claims(
    lines: Sequence[Mapping[str, str]], kind: str, ledgers: Ledgers, paper: str
) -> str:
    """Return the first claim and reading, or test, that differs from the ledgers', if one does."""
    of_line = "reading" if kind == "verdicts" else "test"
    there = dict.fromkeys((line["claim"], line[of_line]) for line in lines)
    claims, wanted = committed(ledgers), {}
    for key, claim in claims.items():
        own = [test.name for test in claim.tests]
        if kind == "verdicts":
            readings = () if claim.untestable else claims.get(claim.alias_of, claim).readings
            own = readings if len(readings) == 1 else ("", *readings)
        if paper in ("", claim.paper):
            wanted |= dict.fromkeys((key, name) for name in own)
    for key in (*there, *wanted):
        if key not in there or key not in wanted:
            which = "is not in the ledgers" if key in there else "is not in it"
            return f"{', '.join(filter(None, key))} {which}"
    return "" if [*there] == [*wanted] else "they are in another order"


def apart(verdicts: Iterable[Row], findings: Iterable[Row]) -> Iterator[str]:
    """Yield verdicts whose number is not that of any finding that decides their claim."""

    def shown(row: Row) -> tuple[str, ...]:  # neither joining nor a correction changes these
        return row["claim"], *(short(row[name]) for name in ("statistic", "low", "high"))

    deciding = {shown(one) for one in findings if one["decides"]}
    for row in verdicts:
        if not row["left_out"] and row["n"] is not None and shown(row) not in deciding:
            under = f" under {row['reading']}" if row["reading"] else ""
            yield f"the verdict on {row['claim']}{under} rests on no finding that is there"
