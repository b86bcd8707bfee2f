"""Findings and verdicts as files: Parquet for pages and readers, CSV to be committed."""

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Self

import pyarrow as pa

from fairbandits.audit.finding import FAILED, Finding
from fairbandits.audit.judge import Answer, Verdict
from fairbandits.audit.ledger import Claim, Ledger, Test
from fairbandits.audit.totals import standing
from fairbandits.data.provenance import audit_code, joint
from fairbandits.data.store import (
    StoreError,
    content_of,
    read_footer,
    read_table,
    replacing,
    table_hash,
    write_table,
)
from fairbandits.replication.datasets import expect
from fairbandits.settings.config import LEDGER
from fairbandits.settings.schemas import ROOT

TEXT, REAL, FLAG, WHOLE = pa.string(), pa.float64(), pa.bool_(), pa.int64()

#: Columns of a finding in both tables. `against` has the reference values of the statistic, the
#: main one first; it, settings and `also` are JSON. The last columns are the finding's origin:
#: datasets and the hash of their content, the code that simulated them, their seed (or "ledger"),
#: the digest of the ledger's rules, and the audit's code.
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
    ("data_hash", TEXT),
    ("code", TEXT),
    ("seed", TEXT),
    ("rules", TEXT),
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
    *("rule", "data", "data_hash", "code", "seed", "rules", "audit_code"),
)
#: Significant digits of its numbers.
DIGITS = 6
ANEW = "`fairbandits replicate audit` makes it anew"


@dataclass(frozen=True)
class Made:
    """Seed and datasets that findings were made from.

    `seed` is as configured; `sources` maps each dataset, relative to the folder of results, to its
    ``content`` hash and to ``code``, the fingerprint of the code that simulated it.
    """

    seed: int | str | None = None
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, seed: int | str, results: Path, found: Iterable[Answer]) -> Self:
        """Return the seed and datasets of answers, with the hashes of the datasets on disk."""
        places = dict.fromkeys(place for one in found for place in one.data)
        files = {place: results / place for place in places}
        return cls(seed, {key: source_of(file) for key, file in files.items() if file.is_file()})

    @classmethod
    def joined(cls, made: Iterable[Self]) -> Self:
        """Return the joint origin of all findings; a seed that is a number wins."""
        made = list(made)
        sources = {key: source for one in made for key, source in one.sources.items()}
        return cls(next((one.seed for one in made if one.seed != LEDGER), LEDGER), sources)

    @property
    def exploratory(self) -> bool:
        """Whether the data can be older than the rules."""
        return self.seed != LEDGER

    def columns(self, data: Sequence[str]) -> dict[str, str]:
        """Return the columns of a row that describe its datasets."""
        known = {place: self.sources.get(place, {}) for place in data}
        codes = (one["code"] for one in known.values() if one)
        return {
            "data_hash": hash_of({place: one.get("content", "") for place, one in known.items()}),
            "code": joint(codes),
            "seed": "" if self.seed is None else str(self.seed),
        }


def source_of(file: Path) -> dict[str, str]:
    """Return the hash of a dataset's content, and the fingerprint of the code that made it."""
    footer = read_footer(file)
    return {"content": content_of(footer), "code": footer["code"]}


def hash_of(contents: Mapping[str, str]) -> str:
    """Return one hash of the content of datasets; empty if one of theirs is unknown."""
    if not contents or not all(contents.values()):
        return ""
    lines = "\n".join(f"{place} {contents[place]}" for place in sorted(contents))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def write_findings(
    path: Path,
    ledger: Ledger,
    found: Iterable[Answer],
    scale: str,
    made: Made = Made(),
) -> None:
    """Write the findings of one paper's tests as Parquet, in the order given."""
    rows = [_packed(finding_row(ledger, one, made)) for one in found]
    table = pa.Table.from_pylist(rows, FINDINGS)
    _write(path, table, "findings", {ledger.paper: ledger}, scale, made)


def read_findings(
    paths: Sequence[Path], ledgers: Mapping[str, Ledger]
) -> tuple[list[Answer], pa.Table, str]:
    """Return the findings of several papers, the joint table, and their scale.

    Raises StoreError for a file that is missing, damaged, foreign, or not made by the present code,
    rules and datasets; there must be one for each ledger.
    """
    tables, scales, papers = [], [], []
    for path in paths:
        footer = read_footer(path)
        expect(footer, {"kind": "findings"}, path)
        if problem := next(stale(path, ledgers), None):
            raise StoreError(f"{problem}; {ANEW}")
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


def answers_of(path: Path, ledger: Ledger) -> list[Answer]:
    """Return a file's findings of a paper's present tests, whatever rules the file has."""
    rows = read_table(path).to_pylist()
    return [_answer(row) for row in rows if _test(ledger, row["claim"], row["test"])]


def write_verdicts(
    path: Path,
    ledgers: Mapping[str, Ledger],
    verdicts: Iterable[Verdict],
    scale: str,
    made: Mapping[str, Made],
) -> None:
    """Write the verdicts on the claims of all papers; `made` has one entry for each paper."""
    rows = [_packed(verdict_row(ledgers, one, made[one.claim.paper])) for one in verdicts]
    table = pa.Table.from_pylist(rows, VERDICTS)
    _write(path, table, "verdicts", ledgers, scale, Made.joined(made.values()))


def write_joint_findings(
    path: Path, ledgers: Mapping[str, Ledger], table: pa.Table, scale: str, made: Mapping[str, Made]
) -> None:
    """Write the findings of all papers as one table."""
    _write(path, table.cast(FINDINGS), "findings", ledgers, scale, Made.joined(made.values()))


def read_verdicts(
    path: Path,
    ledgers: Mapping[str, Ledger],
    kind: str = "verdicts",
    *,
    anyway: bool = False,
) -> tuple[list[dict[str, Any]], str]:
    """Return the rows of the verdicts, or of the joint findings (`kind`), and their scale.

    JSON columns are parsed, and empty values are None. Place, statement and the fields that totals
    need (`fairbandits.audit.totals.standing`) come from the ledger. Raises StoreError as
    `read_findings`; with `anyway` stale rows are read too, without claims that no longer exist.
    """
    footer = read_footer(path)
    expect(footer, {"kind": kind}, path)
    if problem := next(stale(path, ledgers), None) if not anyway else None:
        raise StoreError(f"{problem}; {ANEW}")
    claims = {key: one for ledger in ledgers.values() for key, one in ledger.claims.items()}
    rows = [_unpacked(row) for row in read_table(path).to_pylist() if row["claim"] in claims]
    if kind == "verdicts":  # prose can change without the rules
        for row in rows:
            claim = claims[row["claim"]]
            row |= {"place": claim.place, "statement": claim.statement} | standing(claim)
    return rows, footer["scale"]


def made_of(path: Path) -> Made:
    """Return the recorded origin of verdicts or findings."""
    footer = read_footer(path)
    return Made(footer.get("seed"), footer.get("sources", {}))


def stale(path: Path, ledgers: Mapping[str, Ledger], paper: str = "") -> Iterator[str]:
    """Yield why findings or verdicts do not match the code, and the rules of all papers or one."""
    footer = read_footer(path)
    made, wanted = footer["audit_code"], _audit_code()
    if made != wanted:
        yield f"{path} is stale: audit code {made} made it, this is {wanted}"
    for one, digest in footer["ledgers"].items():
        if paper not in ("", one):
            continue
        if one not in ledgers:
            yield f"{path} does not belong here: there is no ledger of {one!r}"
        elif digest != ledgers[one].digest:
            yield f"{path} is stale: {other_rules(one, digest, ledgers[one].digest)}"


def other_rules(paper: str, made: str, now: str) -> str:
    """Return the message that a paper's rules have changed since."""
    return (
        f"the rules in papers/{paper}/claims.yaml have changed since (digest {made or 'none'}, "
        f"now {now})"
    )


def _write(
    path: Path,
    table: pa.Table,
    kind: str,
    ledgers: Mapping[str, Ledger],
    scale: str,
    made: Made,
) -> None:
    """Write a table; its footer has its origin and the hash of its content."""
    digests = {paper: ledger.digest for paper, ledger in ledgers.items()}
    seed = {"seed": made.seed, "exploratory": made.exploratory, "sources": dict(made.sources)}
    found = {"kind": kind, "scale": scale, "ledgers": digests, "content": table_hash(table)}
    write_table(path, table, found | seed | {"audit_code": _audit_code()})


def _audit_code() -> str:
    return audit_code()


# ------------------------------------------------------------------------------------ rows


def finding_row(ledger: Ledger, one: Answer, made: Made = Made()) -> dict[str, Any]:
    """Return a finding as a row, as `read_verdicts` gives it."""
    claim = ledger.claims[one.claim]
    test = _test(ledger, one.claim, one.test)
    outcome = one.finding.verdict if one.finding else FAILED
    return (
        {"paper": claim.paper, "claim": claim.id, "reading": one.reading, "verdict": outcome}
        | _rule(test, one.each)
        | {"decides": test.decides if test else True}
        | _found(one.finding, one.against, one.data, one.message)
        | _decided(ledger, one.data, made)
    )


def verdict_row(ledgers: Mapping[str, Ledger], one: Verdict, made: Made) -> dict[str, Any]:
    """Return a verdict as a row, as `read_verdicts` gives it."""
    claim = one.claim
    owner = one.claim.alias_of or claim.id
    ledger = _ledger_of(claim.id, ledgers)
    plain = ("paper", "place", "statement", "kind", "primary", "extension", "exploratory", "figure")
    return (
        {"claim": claim.id, "reading": one.reading, "headline": one.headline}
        | {"verdict": one.outcome}
        | {name: getattr(claim, name) for name in plain}
        | _rule(_test(ledger, owner, one.test), one.each)
        | _found(one.finding, one.against, one.data, one.message)
        | _decided(ledger, one.data, made)
        | {"tags": list(one.tags)}
    )


def _test(ledger: Ledger, claim: str, name: str) -> Test | None:
    tests = ledger.claims[claim].tests if claim in ledger.claims else ()
    return next((test for test in tests if test.name == name), None)


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
    made = {"data": list(data), "message": message}
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


def _decided(ledger: Ledger, data: Sequence[str], made: Made) -> dict[str, str]:
    return made.columns(data) | {"rules": ledger.digest, "audit_code": _audit_code()}


_NUMBERS = ("statistic", "low", "high", "n", "p", "reference")


def _packed(row: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: ", ".join(row[name]) for name in ("tags", "data")}
    return dict(row) | lists | {name: _json(row[name]) for name in _OBJECTS}


_OBJECTS = ("settings", "against", "also")


def _json(values: Mapping[str, Any]) -> str:
    """Return JSON in the given order, with NaN and infinity as null."""
    plain = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in values.items()
    }
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def _answer(row: Mapping[str, Any]) -> Answer:
    """Return the answer of a row; every number is restored exactly."""
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
    """Return paths of files, those in one folder joined with braces, as shells write it.

    Examples
    --------
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
    """Return the files that `in_short` names.

    Examples
    --------
    >>> written_out(["banditq/arms/{5,10}.parquet", "banditq/one.parquet"])
    ['banditq/arms/5.parquet', 'banditq/arms/10.parquet', 'banditq/one.parquet']
    """
    found = []
    for place in places:
        before, _, rest = place.partition("{")
        names, _, after = rest.partition("}")
        found += [f"{before}{name}{after}" for name in names.split(",")]
    return found


def csv_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return verdict rows (`read_verdicts`) as the committed CSV, the same on every machine.

    Numbers have six significant digits, so that no difference between versions of a library shows.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        rule = f"{row['rule']} {row['rule_version']}" if row["rule"] else ""
        numbers = [short(row[name]) for name in ("statistic", "low", "high", "n", "p")]
        start = (row["claim"], row["reading"], row["verdict"], " ".join(row["tags"]))
        decided = [row[name] for name in COLUMNS[COLUMNS.index("data") + 1 :]]
        writer.writerow([*start, *numbers, rule, " ".join(in_short(row["data"])), *decided])
    return text.getvalue()


def short(value: float | None) -> str:
    """Return a number of a committed table as text; empty for none."""
    if value is None or math.isnan(value):
        return ""
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}"


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], scale: str) -> None:
    """Write the committed table; StoreError if a claim failed, or if the scale is too small."""
    rows = list(rows)
    check_scale(path, rows, scale)
    with replacing(path) as temporary:
        temporary.write_text(csv_of(rows), encoding="utf-8")


def check_scale(path: Path, rows: Iterable[Mapping[str, Any]], scale: str) -> None:
    """Raise StoreError unless these verdict rows may be committed here."""
    if scale == "smoke" and path.resolve().parent == (ROOT / "audit").resolve():
        raise StoreError(f"{path} is for the published scale; these verdicts are of a small run")
    if failed := [row["claim"] for row in rows if row["verdict"] == FAILED and scale != "smoke"]:
        raise StoreError(f"{path} is not written: {failed[0]} failed")


def read_csv(
    path: Path, ledgers: Mapping[str, Ledger], *, anyway: bool = False
) -> list[dict[str, Any]]:
    """Return verdict rows from the committed table, completed from the ledgers.

    A table of other claims or rules raises StoreError, unless `anyway`: then claims that no longer
    exist are left out.
    """
    lines = _lines(path)
    if problem := next(stale_csv(path, ledgers), None) if not anyway else None:
        raise StoreError(f"{problem}; {ANEW}")
    return list(_from_csv(lines, ledgers))


def committed(ledgers: Mapping[str, Ledger]) -> dict[str, Claim]:
    """Return the claims of the committed tables: those with the same verdict on all machines.

    A finished run then leaves the tables as they were.
    """
    claims = {key: one for ledger in ledgers.values() for key, one in ledger.claims.items()}
    return {key: one for key, one in claims.items() if not claims.get(one.alias_of, one).varies}


def rows_of(
    paper: str, rows: Iterable[Mapping[str, str]], ledgers: Mapping[str, Ledger], claim: str
) -> list[Mapping[str, str]]:
    """Return a paper's rows of a committed table; all rows if `paper` is empty.

    `claim` is the name of the column with the claim. A claim that no ledger has belongs to the
    paper whose other rows have the same ``rules`` digest.
    """
    rows = list(rows)
    papers = {key: one.paper for one in ledgers.values() for key in one.claims}
    of_rules = {row["rules"]: papers[row[claim]] for row in rows if row[claim] in papers}
    return [
        row
        for row in rows
        if paper in ("", papers.get(row[claim]) or of_rules.get(row["rules"], paper))
    ]


def stale_csv(path: Path, ledgers: Mapping[str, Ledger], paper: str = "") -> Iterator[str]:
    """Yield why the committed table does not match the claims and rules of all papers, or one."""
    claims = committed(ledgers)
    lines = (dict(zip(COLUMNS, line, strict=True)) for line in _lines(path))
    rows = rows_of(paper, lines, ledgers, "id")
    for row in rows:
        if row["id"] not in claims:
            yield f"{path} has other claims than the ledgers: {row['id']!r}"
            return
    wanted = [key for key, claim in claims.items() if paper in ("", claim.paper)]
    if list(dict.fromkeys(row["id"] for row in rows)) != wanted:
        yield f"{path} has other claims than the ledgers"
    yield from _other_readings(path, ledgers, rows)
    said = set()
    for row in rows:
        ledger = _ledger_of(row["id"], ledgers)
        if row["rules"] != ledger.digest and ledger.paper not in said:
            said.add(ledger.paper)
            yield f"{path} is stale: {other_rules(ledger.paper, row['rules'], ledger.digest)}"
    for row in rows:
        yield from _other_version(path, claims, row)


def _other_readings(
    path: Path, ledgers: Mapping[str, Ledger], rows: Iterable[Mapping[str, str]]
) -> Iterator[str]:
    """Yield claims whose rows are not their headline and, of several readings, each of these."""
    of_claim: dict[str, list[str]] = {}
    for row in rows:
        of_claim.setdefault(row["id"], []).append(row["reading"])
    claims = {key: claim for ledger in ledgers.values() for key, claim in ledger.claims.items()}
    for key, found in of_claim.items():
        claim = claims[claims[key].alias_of or key]
        own = [] if claim.untestable else list(claim.readings)
        if found != (["", *own] if len(own) != 1 else own):
            yield f"{path} has other readings of {key} than the ledger"
            return


def _lines(path: Path) -> list[list[str]]:
    return lines_of(path, COLUMNS, "verdicts")


def lines_of(path: Path, columns: Sequence[str], what: str) -> list[list[str]]:
    """Return the lines of a committed table below its header; StoreError for other columns."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except FileNotFoundError:
        raise StoreError(f"{path} does not exist; `fairbandits replicate audit` makes it") from None
    if not lines or lines[0] != list(columns) or any(len(one) != len(columns) for one in lines):
        raise StoreError(f"{path} is not a table of {what}; {ANEW}")
    return lines[1:]


def _ledger_of(claim: str, ledgers: Mapping[str, Ledger]) -> Ledger:
    """Return the ledger with a claim's tests; for an alias, that of the claim it stands for."""
    own = next(ledger for ledger in ledgers.values() if claim in ledger.claims)
    other = own.claims[claim].alias_of
    return _ledger_of(other, ledgers) if other else own


def _from_csv(
    lines: Sequence[Sequence[str]], ledgers: Mapping[str, Ledger]
) -> Iterator[dict[str, Any]]:
    claims = {key: claim for ledger in ledgers.values() for key, claim in ledger.claims.items()}
    before = ""
    for line in lines:
        row: dict[str, Any] = dict(zip(COLUMNS, line, strict=True))
        key = row.pop("id")
        if key not in claims:
            continue
        claim = claims[key]
        plain = ("paper", "place", "statement", "kind")
        flags = ("primary", "extension", "exploratory", "figure")
        rule, _, version = row["rule"].partition(" ")
        yield row | {
            "claim": key,
            "headline": key != before,
            **standing(claim),
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


def _other_version(
    path: Path, claims: Mapping[str, Claim], row: Mapping[str, str]
) -> Iterator[str]:
    claim = claims[claims[row["id"]].alias_of or row["id"]]
    rule, _, version = row["rule"].partition(" ")
    versions = {test.rule: str(test.version) for test in claim.tests}
    if rule and versions.get(rule) != version:
        yield (
            f"{path} is stale: {claim.id} was judged by {rule} {version}, "
            f"the ledger has {versions.get(rule, 'no such rule')}"
        )
