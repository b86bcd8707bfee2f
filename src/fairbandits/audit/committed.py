"""The tables of the audit that are committed: verdicts, and every finding behind them."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairbandits.audit.ledger import Ledger, Test
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.records import (
    ANEW,
    check_scale,
    csv_of,
    lines_of,
    other_rules,
    rows_of,
    short,
)
from fairbandits.data.store import StoreError, replacing

VERDICTS_TABLE, FINDINGS_TABLE = "verdicts.csv", "findings.csv"
#: Columns of the table of findings: `what` names the statistic, `against` has its reference values,
#: the main one first; the last column is the digest of the ledger's rules.
FINDING_COLUMNS = (
    *("claim", "test", "reading", "each", "decides", "verdict", "tags"),
    *("what", "statistic", "low", "high", "n", "p", "against", "tightness", "rule", "rules"),
)
NONE = "none"


def write_tables(
    folder: Path,
    verdicts: Iterable[Mapping[str, Any]],
    findings: Iterable[Mapping[str, Any]],
    scale: str,
) -> None:
    """Write the committed tables of verdicts and findings, both whole or neither.

    Raises StoreError if a claim failed, if a small run would replace published-scale tables, or if
    the verdicts rest on other findings.
    """
    verdicts, findings = list(verdicts), list(findings)
    check_scale(folder / VERDICTS_TABLE, verdicts, scale)
    if problem := next(apart(verdicts, findings), None):
        raise StoreError(f"{folder / VERDICTS_TABLE} is not written: {problem}")
    with (
        replacing(folder / VERDICTS_TABLE) as of_verdicts,
        replacing(folder / FINDINGS_TABLE) as of_findings,
    ):
        of_verdicts.write_text(csv_of(verdicts), encoding="utf-8")
        of_findings.write_text(findings_csv_of(findings), encoding="utf-8")


def findings_csv_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the committed table of findings: numbers with six digits, the same each time."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FINDING_COLUMNS)
    for row in rows:
        against = "; ".join(
            f"{name} {NONE if value is None else short(float(value))}"
            for name, value in row["against"].items()
        )
        writer.writerow(
            [
                *(row[name] for name in ("claim", "test", "reading", "each")),
                "yes" if row["decides"] else "no",
                row["verdict"],
                " ".join(row["tags"]),
                STATISTICS.get(row["procedure"], ""),
                *(short(row[name]) for name in ("statistic", "low", "high", "n", "p")),
                against,
                short(row["also"].get("tightness")),
                f"{row['rule']} {row['rule_version']}" if row["rule"] else "",
                row["rules"],
            ]
        )
    return text.getvalue()


def read_findings_csv(
    path: Path, ledgers: Mapping[str, Ledger], paper: str = "", *, anyway: bool = False
) -> list[dict[str, Any]]:
    """Return rows of findings from the committed table, completed from the ledgers.

    Columns that the short table lacks are empty. A table of other rules raises StoreError, unless
    `anyway`: then tests that no longer exist are left out.
    """
    if problem := next(stale_findings_csv(path, ledgers, paper), None) if not anyway else None:
        raise StoreError(f"{problem}; {ANEW}")
    tests = _tests(ledgers, paper)
    found = []
    for row in _rows(path):
        key = row["claim"], row["test"]
        if key in tests:
            found.append(_finding(row, *tests[key]))
    return found


def stale_findings_csv(path: Path, ledgers: Mapping[str, Ledger], paper: str = "") -> Iterator[str]:
    """Yield each reason why the committed findings do not match the ledgers' tests and rules."""
    tests = _tests(ledgers, paper)
    rows = rows_of(paper, _rows(path), ledgers, "claim")
    there = dict.fromkeys((row["claim"], row["test"]) for row in rows)
    for key in (*there, *tests):
        if key not in tests or key not in there:
            which = "is not in the ledgers" if key in there else "is not in it"
            yield f"{path} has other tests than the ledgers: {', '.join(key)} {which}"
            return
    said = set()
    for row in rows:
        ledger, _ = tests[row["claim"], row["test"]]
        if row["rules"] != ledger.digest and ledger.paper not in said:
            said.add(ledger.paper)
            yield f"{path} is stale: {other_rules(ledger.paper, row['rules'], ledger.digest)}"


def apart(
    verdicts: Iterable[Mapping[str, Any]], findings: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield verdicts whose number is not that of any finding that decides their claim."""
    numbers: dict[str, set[tuple[str, ...]]] = {}
    for one in findings:
        if one["decides"]:
            numbers.setdefault(one["claim"], set()).add(_numbers(one))
    for row in verdicts:
        if row["left_out"] or row["n"] is None:
            continue
        if _numbers(row) not in numbers.get(row["claim"], set()):
            under = f" under {row['reading']}" if row["reading"] else ""
            yield f"the verdict on {row['claim']}{under} rests on no finding that is there"


def _numbers(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the numbers that neither joining nor a correction changes."""
    return tuple(short(row[name]) for name in ("statistic", "low", "high"))


def _tests(ledgers: Mapping[str, Ledger], paper: str) -> dict[tuple[str, str], tuple[Ledger, Test]]:
    return {
        (claim.id, test.name): (ledger, test)
        for ledger in ledgers.values()
        if paper in ("", ledger.paper)
        for claim in ledger.claims.values()
        for test in claim.tests
        if not claim.varies
    }


def _rows(path: Path) -> list[dict[str, str]]:
    lines = lines_of(path, FINDING_COLUMNS, "findings")
    return [dict(zip(FINDING_COLUMNS, line, strict=True)) for line in lines]


def _finding(row: Mapping[str, str], ledger: Ledger, test: Test) -> dict[str, Any]:
    rule, _, version = row["rule"].partition(" ")
    against = dict(_against(row["against"].split("; "))) if row["against"] else {}
    plain = ("claim", "test", "reading", "each", "verdict", "rules")
    numbers = ("statistic", "low", "high", "p")
    return {
        "paper": ledger.paper,
        **{name: row[name] for name in plain},
        **{name: float(row[name]) if row[name] else None for name in numbers},
        "n": int(row["n"]) if row["n"] else None,
        "decides": row["decides"] == "yes",
        "tags": row["tags"].split(),
        "rule": rule,
        "rule_version": int(version) if version else None,
        "procedure": test.procedure,
        "settings": dict(test.settings),
        "reference": next(iter(against.values()), None),
        "against": against,
        "also": {"tightness": float(row["tightness"])} if row["tightness"] else {},
        "data": [],
        "message": "",
    }


def _against(parts: Sequence[str]) -> Iterator[tuple[str, float | None]]:
    for part in parts:
        name, _, value = part.rpartition(" ")
        yield name, None if value == NONE else float(value)
