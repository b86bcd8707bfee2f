"""Findings and verdicts as rows, mappings with the columns of `SCHEMAS`, and as Parquet files."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa

from fairbandits.audit import tables
from fairbandits.audit.claims import Ledger, Ledgers, Test
from fairbandits.audit.code import audit_code
from fairbandits.audit.finding import FAILED, Finding
from fairbandits.audit.judge import Answer, Verdict
from fairbandits.audit.tables import ANEW, FINDINGS_TABLE, NUMBERS, VERDICTS_TABLE, Row, claims_of
from fairbandits.audit.totals import standing
from fairbandits.data import store
from fairbandits.data.provenance import joint
from fairbandits.data.store import StoreError, read_footer
from fairbandits.replication.datasets import expect
from fairbandits.settings.canonical import digest_of
from fairbandits.settings.config import LEDGER
from fairbandits.settings.deciding import Deciding, changed, decided
from fairbandits.settings.schemas import ROOT

OBJECTS = ("settings", "against", "also")
#: Columns of the rule, and of the finding. `against` has the reference values of the statistic, the
#: main one first; it, settings and `also` are JSON.
RULE = ("test", "each", "rule", "rule_version", "procedure", "settings")
FOUND = (
    *("grade", "control", "tags", *NUMBERS, "reference", "against", "also"),
    *(*tables.ORIGIN, "message"),
)
TYPES = {
    **dict.fromkeys(("headline", "decides", "primary", "exploratory"), pa.bool_()),
    **dict.fromkeys((*NUMBERS, "reference"), pa.float64()),
    **dict.fromkeys(("n", "rule_version"), pa.int64()),
}
#: One row per question, and one per claim and reading.
SCHEMAS = {
    kind: pa.schema([(name, TYPES.get(name, pa.string())) for name in names])
    for kind, names in {
        "findings": ("paper", "claim", "reading", *RULE, "decides", "verdict", *FOUND),
        "verdicts": (
            *("paper", "claim", "reading", "headline", "verdict"),
            *(*tables.OF_CLAIM, *RULE, *FOUND),
        ),
    }.items()
}
#: The parts behind the digests of the committed tables, so that a change is told by its name.
PARTS_TABLE, OF_PARTS = "deciding.csv", ("paper", "part", "digest")
#: Most changed parts that a message names.
NAMED = 5


@dataclass(frozen=True)
class Made:
    """Seed, as configured, and datasets that findings were made from."""

    seed: int | str | None = None
    #: dataset -> its ``content`` hash, and ``code``, the fingerprint of what simulated it
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, seed: int | str, results: Path, found: Iterable[Answer]) -> Self:
        """Return the seed and datasets of answers, with the hashes of the datasets on disk."""
        places = dict.fromkeys(place for one in found for place in one.data)
        files = {place: results / place for place in places}
        return cls(seed, {key: source_of(file) for key, file in files.items() if file.is_file()})

    @property
    def exploratory(self) -> bool:
        return self.seed != LEDGER

    def columns(self, data: Iterable[str]) -> dict[str, str]:
        """Return the columns of a row that describe its datasets."""
        known = {place: self.sources.get(place, {}) for place in data}
        return {
            "data_hash": hash_of({place: one.get("content", "") for place, one in known.items()}),
            "code": joint(one["code"] for one in known.values() if one),
            "seed": "" if self.seed is None else str(self.seed),
        }


class Table(NamedTuple):
    """Rows of verdicts or findings, the scale of their datasets, and their origin."""

    rows: list[dict[str, Any]]
    scale: str
    made: Made


def source_of(file: Path) -> dict[str, str]:
    """Return the hash of a dataset's content, and the fingerprint of the code that made it."""
    footer = read_footer(file)
    return {"content": store.content_of(footer), "code": footer["code"]}


def hash_of(contents: Mapping[str, str]) -> str:
    """Return one hash of the content of datasets; empty if one of theirs is unknown."""
    if not contents or not all(contents.values()):
        return ""
    lines = "\n".join(f"{place} {contents[place]}" for place in sorted(contents))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def finding_row(ledger: Ledger, one: Answer, made: Made = Made()) -> dict[str, Any]:
    test = ledger.test(one.claim, one.test) or _NO_TEST
    verdict = one.finding.verdict if one.finding else FAILED
    row = {"paper": ledger.paper, "claim": one.claim, "decides": test.decides, "verdict": verdict}
    return row | _judged(one, test, ledger, made)


def verdict_row(ledgers: Ledgers, one: Verdict, made: Made) -> dict[str, Any]:
    claim, tested = one.claim, tables.stands_for(one.claim, ledgers)
    ledger = ledgers[tested.paper]
    test = ledger.test(tested.id, one.test) or _NO_TEST
    row = {"claim": claim.id, "headline": one.headline, "verdict": one.outcome}
    row |= {name: getattr(claim, name) for name in ("paper", *tables.OF_CLAIM)}
    return row | _judged(one, test, ledger, made) | {"tags": [*one.tags], "grade": one.grade}


#: In place of the test where claims fail before any, and where others judge.
_NO_TEST = Test.model_construct(procedure="")


def _judged(one: Answer, test: Test, ledger: Ledger, made: Made) -> dict[str, Any]:
    finding = one.finding
    return {
        **{name: getattr(finding, name, None) for name in NUMBERS},
        **{name: getattr(finding, name, "") for name in ("grade", "control")},
        **{name: getattr(one, name) for name in ("reading", "each", "message")},
        **{name: getattr(test, name) for name in ("rule", "procedure")},
        **{"test": test.name, "rule_version": test.version, "settings": dict(test.settings)},
        "tags": list(finding.tags) if finding else [],
        "reference": next(iter(one.against.values())) if finding else None,
        "against": dict(one.against) if finding else {},
        "also": dict(finding.also) if finding else {},
        **{"data": list(one.data), **made.columns(one.data)},
        **{"rules": ledger.digest, "audit_code": audit_code()},
    }


def answer_of(row: Row) -> Answer:
    """Return the answer of a finding's row; every number is restored exactly."""
    found = {name: row[name] for name in (*NUMBERS, "verdict", "control", "grade")}
    found["also"] = {key: math.nan if one is None else one for key, one in row["also"].items()}
    failed = row["verdict"] == FAILED
    finding = None if failed else Finding(**found, tags=(*row["tags"],))
    names = (row[name] for name in ("claim", "test", "reading", "each"))
    return Answer(*names, finding, row["against"], tuple(row["data"]), row["message"])


def finite(value: Any) -> Any:
    """Return a value with NaN and infinity as None, since JSON has neither."""
    if isinstance(value, Mapping):
        return {key: finite(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write(
    path: Path, kind: str, rows: Iterable[Row], ledgers: Ledgers, scale: str, made: Made = Made()
) -> None:
    """Write rows as Parquet, lists as text and objects as JSON with NaN and infinity as null."""
    packed = [
        {**row, **{name: ", ".join(row[name]) for name in tables.LISTS}}
        | {name: json.dumps(finite(row[name]), ensure_ascii=False) for name in OBJECTS}
        for row in rows
    ]
    table = pa.Table.from_pylist(packed, SCHEMAS[kind])
    footer = {
        "kind": kind,
        "scale": scale,
        "ledgers": {paper: ledger.digest for paper, ledger in ledgers.items()},
        "parts": {paper: deciding_under(one).parts for paper, one in ledgers.items()},
        "content": store.table_hash(table),
        "seed": made.seed,
        "exploratory": made.exploratory,
        "sources": dict(made.sources),
        "audit_code": audit_code(),
    }
    store.write_table(path, table, footer)


def write_findings(
    path: Path, ledger: Ledger, found: Iterable[Answer], scale: str, made: Made = Made()
) -> None:
    rows = (finding_row(ledger, one, made) for one in found)
    write(path, "findings", rows, {ledger.paper: ledger}, scale, made)


def write_committed(
    folder: Path, verdicts: Iterable[Row], findings: Iterable[Row], scale: str
) -> None:
    """Write the committed tables of verdicts and findings, whole, or neither of them."""
    verdicts, findings, path = list(verdicts), list(findings), folder / VERDICTS_TABLE
    if scale == "smoke" and folder.resolve() == (ROOT / "audit").resolve():
        raise StoreError(f"{path} is for the published scale; these verdicts are of a small run")
    failed = [row["claim"] for row in verdicts if row["verdict"] == FAILED]
    if failed and scale != "smoke":
        raise StoreError(f"{path} is not written: {failed[0]} failed")
    if problem := next(tables.apart(verdicts, findings), None):
        raise StoreError(f"{path} is not written: {problem}")
    with (
        store.replacing(path) as of_verdicts,
        store.replacing(folder / FINDINGS_TABLE) as of_findings,
    ):
        of_verdicts.write_text(tables.csv_of(verdicts, "verdicts"), encoding="utf-8")
        of_findings.write_text(tables.csv_of(findings, "findings"), encoding="utf-8")


def read(
    path: Path, ledgers: Ledgers, kind: str = "verdicts", *, paper: str = "", anyway: bool = False
) -> Table:
    """Return the rows of a table, of all papers or one, with the prose of the ledgers.

    StoreError for a stale one, unless `anyway`: then claims and tests that are gone are left out.
    """
    if not anyway and (problem := next(stale(path, ledgers, kind, paper), None)):
        raise StoreError(f"{problem}; {ANEW}")
    if path.suffix == ".csv":
        lines = tables.lines_of(path, kind, ledgers, paper)
        return Table(list(tables.completed(lines, kind, ledgers)), "paper", Made())
    footer, claims = read_footer(path), claims_of(ledgers)
    expect(footer, {"kind": kind}, path)
    rows = [row for row in store.read_table(path).to_pylist() if row["claim"] in claims]
    rows = [row for row in rows if paper in ("", row["paper"])]
    for row in rows:
        row |= {name: row[name].split(", ") if row[name] else [] for name in tables.LISTS}
        row |= {name: json.loads(row[name]) for name in OBJECTS}
        if kind == "verdicts":  # prose can change without the rules
            claim = claims[row["claim"]]
            row |= {"place": claim.place, "statement": claim.statement} | standing(claim)
            row["older"] = tables.older(row, ledgers)
    return Table(rows, footer["scale"], Made(footer.get("seed"), footer.get("sources", {})))


def stale(path: Path, ledgers: Ledgers, kind: str = "verdicts", paper: str = "") -> Iterator[str]:
    """Yield why a table does not match the code, and the claims and rules of all papers or one."""
    if path.suffix == ".csv":
        lines = tables.lines_of(path, kind, ledgers, paper)
        if other := tables.other_claims(lines, kind, ledgers, paper):
            yield f"{path} has other claims, readings or tests than the ledgers: {other}"
            return
        claims = claims_of(ledgers)
        tested = ((tables.stands_for(claims[one["claim"]], ledgers), one["rules"]) for one in lines)
        digests = {(claim.paper, rules) for claim, rules in tested}
        parts = _parts_beside(path)
    else:
        footer = read_footer(path)
        expect(footer, {"kind": kind}, path)
        was, now = footer["audit_code"], audit_code()
        if was != now:
            yield f"{path} is stale: audit code {was} made it, this is {now}"
        digests = {one for one in footer["ledgers"].items() if paper in ("", one[0])}
        parts = footer.get("parts", {})
    for one, digest in sorted(digests):
        if one not in ledgers:
            yield f"{path} does not belong here: there is no ledger of {one!r}"
        elif digest != ledgers[one].digest:
            yield (
                f"{path} is stale: what decides the claims of {one} has changed since"
                f"{_names(parts.get(one, {}), digest, ledgers[one])} "
                f"(digest {digest or 'none'}, now {ledgers[one].digest})"
            )


_decided = cache(decided)


def deciding_under(ledger: Ledger) -> Deciding:
    """Return all that decides a ledger's claims; nothing if its files give another digest."""
    found = _decided(ledger.paper)  # nothing for claims on one's own policies
    return found if found.digest == ledger.digest else Deciding({}, {}, {})


def _names(was: Mapping[str, str], digest: str, ledger: Ledger) -> str:
    """Return what has changed, in words; nothing if that is not known."""
    now = deciding_under(ledger).parts
    if not now or digest_of(was) != digest:
        return ""
    names = changed(was, now)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f": {', '.join(names[:NAMED])}{more}"


def write_parts(folder: Path, ledgers: Ledgers) -> None:
    parts = {paper: deciding_under(ledger).parts for paper, ledger in ledgers.items()}
    lines = ([paper, *one] for paper, own in parts.items() for one in own.items())
    tables.write_text(folder / PARTS_TABLE, tables.csv_text([OF_PARTS, *lines]))


def _parts_beside(table: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for row in tables.csv_rows(table.with_name(PARTS_TABLE)):
        found.setdefault(row["paper"], {})[row["part"]] = row["digest"]
    return found
