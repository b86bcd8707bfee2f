"""Findings and verdicts as files: Parquet for the pages and for readers, CSV to be committed."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from fairbandits.audit.finding import FAILED, Finding
from fairbandits.audit.judge import Answer, Verdict
from fairbandits.audit.ledger import Ledger, Test
from fairbandits.experiments.datasets import expect
from fairbandits.experiments.schemas import ROOT
from fairbandits.provenance import AUDIT, SIMULATION, fingerprint
from fairbandits.store import StoreError, read_footer, read_table, replacing, write_table

TEXT, REAL, FLAG, WHOLE = pa.string(), pa.float64(), pa.bool_(), pa.int64()

#: What both tables say of a finding. `against` has what the statistic is judged against, the
#: reference first; these, settings and `also` are JSON.
_FOUND = [
    ("tags", TEXT),
    ("statistic", REAL),
    ("low", REAL),
    ("high", REAL),
    ("n", WHOLE),
    ("p", REAL),
    ("reference", REAL),
    ("against", TEXT),
    ("also", TEXT),
    ("data", TEXT),
    ("code", TEXT),
    ("audit_code", TEXT),
    ("message", TEXT),
]
_RULE = [
    ("test", TEXT),
    ("each", TEXT),
    ("rule", TEXT),
    ("rule_version", WHOLE),
    ("procedure", TEXT),
    ("settings", TEXT),
]
#: One row per question.
FINDINGS = pa.schema(
    [
        *((name, TEXT) for name in ("paper", "claim", "reading")),
        *_RULE,
        ("decides", FLAG),
        ("verdict", TEXT),
        *_FOUND,
    ]
)
#: One row per claim and reading.
VERDICTS = pa.schema(
    [
        *((name, TEXT) for name in ("paper", "claim", "reading")),
        ("headline", FLAG),
        *((name, TEXT) for name in ("verdict", "place", "statement", "kind")),
        *((name, FLAG) for name in ("primary", "extension", "exploratory")),
        ("figure", TEXT),
        *_RULE,
        *_FOUND,
    ]
)
#: Columns of the committed table.
COLUMNS = (
    *("id", "reading", "verdict", "tags", "statistic", "low", "high", "n", "p"),
    *("rule", "data", "code"),
)
#: Digits of a number in it.
DIGITS = 6
ANEW = "`fairbandits replicate audit` makes it anew"


def write_findings(path: Path, ledger: Ledger, found: Iterable[Answer], scale: str) -> None:
    """Write what the tests of one paper find.

    Parameters
    ----------
    path : Path
        Parquet file.
    ledger : Ledger
        The paper's.
    found : iterable of Answer
        In the order in which they are to stand.
    scale : {"paper", "smoke"}
        Of the datasets that were read.
    """
    rows = [_packed(finding_row(ledger, one)) for one in found]
    footer = _footer("findings", {ledger.paper: ledger}, scale)
    write_table(path, pa.Table.from_pylist(rows, FINDINGS), footer)


def read_findings(
    paths: Sequence[Path], ledgers: Mapping[str, Ledger]
) -> tuple[list[Answer], pa.Table, str]:
    """Return the findings of some papers, each in a file, the joint table, and their scale.

    Raises
    ------
    StoreError
        If a file is missing, damaged, foreign, or not made by the present code, rules and datasets;
        or if there is not one for each ledger.
    """
    tables, scales, papers = [], [], []
    for path in paths:
        footer = _fresh(path, "findings", ledgers)
        tables.append(read_table(path))
        scales.append(footer["scale"])
        papers += footer["ledgers"]
    if sorted(papers) != sorted(ledgers):
        raise StoreError(
            f"findings of {', '.join(ledgers)} are needed, each once; got {', '.join(papers)}"
        )
    table = pa.concat_tables(tables)
    scale = "smoke" if "smoke" in scales else "paper"
    return [_answer(row) for row in table.to_pylist()], table, scale


def write_verdicts(
    path: Path, ledgers: Mapping[str, Ledger], verdicts: Iterable[Verdict], scale: str
) -> None:
    """Write the verdicts on the claims of all papers."""
    rows = [_packed(verdict_row(ledgers, one)) for one in verdicts]
    footer = _footer("verdicts", ledgers, scale)
    write_table(path, pa.Table.from_pylist(rows, VERDICTS), footer)


def write_joint_findings(
    path: Path, ledgers: Mapping[str, Ledger], table: pa.Table, scale: str
) -> None:
    """Write the findings of all papers as one table."""
    write_table(path, table.cast(FINDINGS), _footer("findings", ledgers, scale))


def read_verdicts(
    path: Path, ledgers: Mapping[str, Ledger], kind: str = "verdicts"
) -> tuple[list[dict[str, Any]], str]:
    """Return the rows of the verdicts, or of the joint findings, and their scale.

    Columns of JSON are read, and what has no value is None.

    Raises
    ------
    StoreError
        As `read_findings`.
    """
    footer = _fresh(path, kind, ledgers)
    rows = [_unpacked(row) for row in read_table(path).to_pylist()]
    return rows, footer["scale"]


def _fresh(path: Path, kind: str, ledgers: Mapping[str, Ledger]) -> dict[str, Any]:
    """Return a footer, or raise StoreError unless it is of the present code and rules."""
    footer = read_footer(path)
    expect(footer, {"kind": kind}, path)
    for what, wanted in {"code": _code(), "audit_code": _audit_code()}.items():
        if footer[what] != wanted:
            words = {"code": "simulation", "audit_code": "audit"}[what]
            raise StoreError(
                f"{path} is stale: {words} code {footer[what]} made it, this is {wanted}; {ANEW}"
            )
    for paper, digest in footer["ledgers"].items():
        if paper not in ledgers:
            raise StoreError(f"{path} does not belong here: there is no ledger of {paper!r}")
        if digest != ledgers[paper].digest:
            raise StoreError(
                f"{path} is stale: papers/{paper}/claims.yaml has changed since; {ANEW}"
            )
    return footer


def _footer(kind: str, ledgers: Mapping[str, Ledger], scale: str) -> dict[str, Any]:
    digests = {paper: ledger.digest for paper, ledger in ledgers.items()}
    code = {"code": _code(), "audit_code": _audit_code()}
    return {"kind": kind, "scale": scale, "ledgers": digests} | code


def _code() -> str:
    return fingerprint(*SIMULATION)


def _audit_code() -> str:
    return fingerprint(*AUDIT)


# ------------------------------------------------------------------------------------ rows


def finding_row(ledger: Ledger, one: Answer) -> dict[str, Any]:
    """Return a finding as a row, as `read_verdicts` gives it."""
    claim = ledger.claims[one.claim]
    test = _test(ledger, one.claim, one.test)
    outcome = one.finding.verdict if one.finding else FAILED
    return (
        {"paper": claim.paper, "claim": claim.id, "reading": one.reading, "verdict": outcome}
        | _rule(test, one.each)
        | {"decides": test.decides if test else True}
        | _found(one.finding, one.against, one.data, one.message)
    )


def verdict_row(ledgers: Mapping[str, Ledger], one: Verdict) -> dict[str, Any]:
    """Return a verdict as a row, as `read_verdicts` gives it."""
    claim = one.claim
    owner = one.claim.alias_of or claim.id
    ledger = next(ledger for ledger in ledgers.values() if owner in ledger.claims)
    plain = ("paper", "place", "statement", "kind", "primary", "extension", "exploratory", "figure")
    return (
        {"claim": claim.id, "reading": one.reading, "headline": one.headline}
        | {"verdict": one.outcome}
        | {name: getattr(claim, name) for name in plain}
        | _rule(_test(ledger, owner, one.test), one.each)
        | _found(one.finding, one.against, one.data, one.message)
        | {"tags": list(one.tags)}
    )


def _test(ledger: Ledger, claim: str, name: str) -> Test | None:
    return next((test for test in ledger.claims[claim].tests if test.name == name), None)


def _rule(test: Test | None, each: str) -> dict[str, Any]:
    if test is None:
        empty = dict.fromkeys(("test", "rule", "procedure"), "")
        return empty | {"each": each, "rule_version": None, "settings": {}}
    return {
        "test": test.name,
        "each": each,
        "rule": test.rule,
        "rule_version": test.version,
        "procedure": test.procedure,
        "settings": dict(test.settings),
    }


def _found(
    finding: Finding | None, against: Mapping[str, float], data: Sequence[str], message: str
) -> dict[str, Any]:
    made = {"data": list(data), "message": message, "code": _code() if data else ""}
    made |= {"audit_code": _audit_code()}
    if finding is None:
        return made | dict.fromkeys(_NUMBERS) | {"tags": [], "against": {}, "also": {}}
    return made | {
        "tags": list(finding.tags),
        "statistic": finding.statistic,
        "low": finding.low,
        "high": finding.high,
        "n": finding.n,
        "p": finding.p,
        "reference": next(iter(against.values())),
        "against": dict(against),
        "also": dict(finding.also),
    }


_NUMBERS = ("statistic", "low", "high", "n", "p", "reference")


def _packed(row: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: ", ".join(row[name]) for name in ("tags", "data")}
    return dict(row) | lists | {name: _json(row[name]) for name in _OBJECTS}


_OBJECTS = ("settings", "against", "also")


def _json(values: Mapping[str, Any]) -> str:
    """Return JSON in the given order; a number that is none or endless has no place in it."""
    plain = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in values.items()
    }
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def _answer(row: Mapping[str, Any]) -> Answer:
    """Return an answer from its row; every number comes back as it was."""
    row = _unpacked(row)
    finding = None
    if row["verdict"] != FAILED:
        also = {key: math.nan if one is None else one for key, one in row["also"].items()}
        numbers = (row[name] for name in ("statistic", "low", "high", "n", "p"))
        finding = Finding(*numbers, row["verdict"], tuple(row["tags"]), also)
    return Answer(
        row["claim"],
        row["test"],
        row["reading"],
        row["each"],
        finding,
        row["against"],
        tuple(row["data"]),
        row["message"],
    )


def _unpacked(row: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: _parts(row[name]) for name in ("tags", "data")}
    objects = {name: json.loads(row[name]) for name in _OBJECTS}
    return dict(row) | lists | objects


def _parts(text: str) -> list[str]:
    return text.split(", ") if text else []


# ------------------------------------------------------------------------------------ the CSV


def in_short(files: Iterable[str]) -> list[str]:
    """Return datasets with those of one suite as one.

    Examples
    --------
    >>> in_short(["banditq/arms/5.parquet", "banditq/arms/10.parquet", "banditq/one.parquet"])
    ['banditq/arms/*.parquet', 'banditq/one.parquet']
    """
    places = dict.fromkeys(
        str(place.parent / "*.parquet") if len(place.parts) > 2 else str(place)
        for place in map(PurePosixPath, files)
    )
    return list(places)


def csv_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the committed table of verdict rows (`read_verdicts`): short, and the same each time.

    Numbers have six significant digits, so that another version of a library shows no difference
    where there is none to speak of.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        rule = f"{row['rule']} {row['rule_version']}" if row["rule"] else ""
        numbers = [_short(row[name]) for name in ("statistic", "low", "high", "n", "p")]
        start = (row["claim"], row["reading"], row["verdict"], " ".join(row["tags"]))
        writer.writerow([*start, *numbers, rule, " ".join(in_short(row["data"])), row["code"]])
    return text.getvalue()


def _short(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}"


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], scale: str) -> None:
    """Write the committed table.

    Raises
    ------
    StoreError
        If a claim failed, or a small run was to be written where the published scale is kept.
    """
    rows = list(rows)
    if scale == "smoke" and path.resolve() == (ROOT / "audit" / "verdicts.csv").resolve():
        raise StoreError(f"{path} is for the published scale; these verdicts are of a small run")
    if failed := [row["claim"] for row in rows if row["verdict"] == FAILED and scale != "smoke"]:
        raise StoreError(f"{path} is not written: {failed[0]} failed")
    with replacing(path) as temporary:
        temporary.write_text(csv_of(rows), encoding="utf-8")


def read_csv(path: Path, ledgers: Mapping[str, Ledger]) -> list[dict[str, Any]]:
    """Return verdict rows from the committed table and the ledgers, with what these two say.

    Raises
    ------
    StoreError
        If it is missing, of another form, of other claims or rules than the ledgers', or of other
        simulation code.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except FileNotFoundError:
        raise StoreError(f"{path} does not exist; `fairbandits replicate audit` makes it") from None
    if not lines or tuple(lines[0]) != COLUMNS or any(len(one) != len(COLUMNS) for one in lines):
        raise StoreError(f"{path} is not a table of verdicts; {ANEW}")
    rows = list(_from_csv(path, lines[1:], ledgers))
    claims = [key for ledger in ledgers.values() for key in ledger.claims]
    if [row["claim"] for row in rows if row["headline"]] != claims:
        raise StoreError(f"{path} has other claims than the ledgers; {ANEW}")
    return rows


def _from_csv(
    path: Path, lines: Sequence[Sequence[str]], ledgers: Mapping[str, Ledger]
) -> Iterator[dict[str, Any]]:
    claims = {key: claim for ledger in ledgers.values() for key, claim in ledger.claims.items()}
    before = ""
    for line in lines:
        row: dict[str, Any] = dict(zip(COLUMNS, line, strict=True))
        key, code = row.pop("id"), row["code"]
        if key not in claims:
            raise StoreError(f"{path} has other claims than the ledgers: {key!r}; {ANEW}")
        if code not in ("", _code()):
            raise StoreError(
                f"{path} is stale: simulation code {code} made it, this is {_code()}; {ANEW}"
            )
        claim = claims[key]
        plain = ("paper", "place", "statement", "kind")
        flags = ("primary", "extension", "exploratory", "figure")
        rule, _, version = row["rule"].partition(" ")
        _check_version(path, claims[claim.alias_of or key], rule, version)
        yield row | {
            "claim": key,
            "headline": key != before,
            **{name: getattr(claim, name) for name in (*plain, *flags)},
            **{name: float(row[name]) if row.get(name) else None for name in _NUMBERS},
            "n": int(row["n"]) if row["n"] else None,
            "tags": row["tags"].split(),
            "data": row["data"].split(),
            "rule": rule,
            "rule_version": int(version) if version else None,
            "message": "",
        }
        before = key


def _check_version(path: Path, claim: Any, rule: str, version: str) -> None:
    versions = {test.rule: str(test.version) for test in claim.tests}
    if rule and versions.get(rule) != version:
        raise StoreError(
            f"{path} is stale: {claim.id} was judged by {rule} {version}, "
            f"the ledger has {versions.get(rule, 'no such rule')}; {ANEW}"
        )
