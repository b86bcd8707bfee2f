"""Findings and verdicts as rows, and tables of rows as files.

A row is a mapping with the columns of `SCHEMAS`. A Parquet file has all of them, its footer what it
was made from. A committed table, a CSV file, has the columns `COMMITTED`, its numbers with six
digits, so that no difference between versions of a library shows; the ledgers complete it.
"""

import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

import pyarrow as pa

from fairbandits.audit.finding import FAILED, Finding
from fairbandits.audit.judge import Answer, Verdict
from fairbandits.audit.ledger import Claim, Ledger, Ledgers, Test
from fairbandits.audit.procedures import STATISTICS
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
from fairbandits.settings.canonical import digest_of
from fairbandits.settings.config import LEDGER
from fairbandits.settings.deciding import changed, deciding
from fairbandits.settings.schemas import ROOT, paper_file

Row = Mapping[str, Any]

NUMBERS = ("statistic", "low", "high", "n", "p")
LISTS, OBJECTS = ("tags", "data"), ("settings", "against", "also")
FLAGS = ("headline", "decides", "primary", "exploratory")
#: Columns of the rule, and of the finding. `against` has the reference values of the statistic, the
#: main one first; it, settings and `also` are JSON. The last columns are the finding's origin:
#: datasets and the hash of their content, the code that simulated them, their seed (or "ledger"),
#: the digest of the ledger's rules, and the audit's code.
RULE = ("test", "each", "rule", "rule_version", "procedure", "settings")
ORIGIN = ("data", "data_hash", "code", "seed", "rules", "audit_code")
FOUND = ("grade", "control", "tags", *NUMBERS, "reference", "against", "also", *ORIGIN, "message")
#: What a verdict's row has of its claim.
OF_CLAIM = ("place", "statement", "kind", "primary", "about", "exploratory", "figure")
TYPES = {
    **dict.fromkeys(FLAGS, pa.bool_()),
    **dict.fromkeys((*NUMBERS, "reference"), pa.float64()),
    **dict.fromkeys(("n", "rule_version"), pa.int64()),
}


def _schema(*names: str) -> pa.Schema:
    return pa.schema([(name, TYPES.get(name, pa.string())) for name in names])


#: One row per question, and one per claim and reading.
SCHEMAS = {
    "findings": _schema("paper", "claim", "reading", *RULE, "decides", "verdict", *FOUND),
    "verdicts": _schema(
        *("paper", "claim", "reading", "headline", "verdict"), *OF_CLAIM, *RULE, *FOUND
    ),
}
VERDICTS_TABLE, FINDINGS_TABLE = "verdicts.csv", "findings.csv"
#: The parts behind the digests of the committed tables, so that a change is told by its name.
PARTS_TABLE, OF_PARTS = "deciding.csv", ("paper", "part", "digest")
#: Most changed parts that a message names.
NAMED = 5
#: Columns of the committed tables; `what` names the statistic.
COMMITTED = {
    "verdicts": ("id", "reading", "verdict", "grade", "tags", *NUMBERS, "rule", *ORIGIN),
    "findings": (
        *("claim", "test", "reading", "each", "decides", "verdict", "grade", "control", "tags"),
        *("what", *NUMBERS, "against", "tightness", "rule", "rules"),
    ),
}
#: Significant digits of their numbers, and the word for a reference value that there is not.
DIGITS, NONE = 6, "none"
ANEW = "`fairbandits replicate audit` makes it anew"


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
    return {"content": content_of(footer), "code": footer["code"]}


def hash_of(contents: Mapping[str, str]) -> str:
    """Return one hash of the content of datasets; empty if one of theirs is unknown."""
    if not contents or not all(contents.values()):
        return ""
    lines = "\n".join(f"{place} {contents[place]}" for place in sorted(contents))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def claims_of(ledgers: Ledgers) -> dict[str, Claim]:
    """Return the claims of all ledgers by their ids."""
    return {key: one for ledger in ledgers.values() for key, one in ledger.claims.items()}


def committed(ledgers: Ledgers) -> dict[str, Claim]:
    """Return the claims with the same verdict on all machines, so that a run changes no table."""
    claims = claims_of(ledgers)
    return {key: one for key, one in claims.items() if not claims.get(one.alias_of, one).varies}


def judging(claim: str, ledgers: Ledgers) -> Ledger:
    """Return the ledger with a claim's tests; for an alias, that of the claim it stands for."""
    own = next(ledger for ledger in ledgers.values() if claim in ledger.claims)
    other = own.claims[claim].alias_of
    return judging(other, ledgers) if other else own


# ------------------------------------------------------------------------------------ rows


def finding_row(ledger: Ledger, one: Answer, made: Made = Made()) -> dict[str, Any]:
    """Return a finding as a row."""
    test = ledger.test(one.claim, one.test)
    return {
        "paper": ledger.paper,
        "claim": one.claim,
        "decides": test.decides if test else True,
        "verdict": one.finding.verdict if one.finding else FAILED,
        **_judged(one, test, ledger, made),
    }


def verdict_row(ledgers: Ledgers, one: Verdict, made: Made) -> dict[str, Any]:
    """Return a verdict as a row."""
    claim, ledger = one.claim, judging(one.claim.id, ledgers)
    return {
        "claim": claim.id,
        "headline": one.headline,
        "verdict": one.outcome,
        **{name: getattr(claim, name) for name in ("paper", *OF_CLAIM)},
        **_judged(one, ledger.test(claim.alias_of or claim.id, one.test), ledger, made),
        "tags": list(one.tags),
        "grade": one.grade,
    }


def _judged(one: Answer | Verdict, test: Test | None, ledger: Ledger, made: Made) -> dict[str, Any]:
    finding = one.finding
    return {
        "reading": one.reading,
        "test": test.name if test else "",
        "each": one.each,
        "rule": test.rule if test else "",
        "rule_version": test.version if test else None,
        "procedure": test.procedure if test else "",
        "settings": dict(test.settings) if test else {},
        "grade": finding.grade if finding else "",
        "control": finding.control if finding else "",
        "tags": list(finding.tags) if finding else [],
        **{name: getattr(finding, name, None) for name in NUMBERS},
        "reference": next(iter(one.against.values())) if finding else None,
        "against": dict(one.against) if finding else {},
        "also": dict(finding.also) if finding else {},
        "data": list(one.data),
        **made.columns(one.data),
        "rules": ledger.digest,
        "audit_code": audit_code(),
        "message": one.message,
    }


def answer_of(row: Row) -> Answer:
    """Return the answer of a finding's row; every number is restored exactly."""
    finding = None
    if row["verdict"] != FAILED:
        also = {key: math.nan if one is None else one for key, one in row["also"].items()}
        numbers = (row[name] for name in NUMBERS)
        numbers = (*numbers, row["verdict"], tuple(row["tags"]), also)
        finding = Finding(*numbers, row["control"], row["grade"])
    names = (row[name] for name in ("claim", "test", "reading", "each"))
    return Answer(*names, finding, row["against"], tuple(row["data"]), row["message"])


def answers_of(path: Path, ledger: Ledger) -> list[Answer]:
    """Return a file's findings of a paper's present tests, whatever rules the file has."""
    rows = read(path, {ledger.paper: ledger}, "findings", anyway=True).rows
    return [answer_of(row) for row in rows if ledger.test(row["claim"], row["test"])]


# ------------------------------------------------------------------- Parquet files, any table


def write(
    path: Path, kind: str, rows: Iterable[Row], ledgers: Ledgers, scale: str, made: Made = Made()
) -> None:
    """Write rows of ``findings`` or ``verdicts`` as Parquet, in the order given."""
    table = pa.Table.from_pylist([_packed(row) for row in rows], SCHEMAS[kind])
    footer = {
        "kind": kind,
        "scale": scale,
        "ledgers": {paper: ledger.digest for paper, ledger in ledgers.items()},
        "parts": {paper: parts_of(ledger) for paper, ledger in ledgers.items()},
        "content": table_hash(table),
        "seed": made.seed,
        "exploratory": made.exploratory,
        "sources": dict(made.sources),
        "audit_code": audit_code(),
    }
    write_table(path, table, footer)


def write_findings(
    path: Path, ledger: Ledger, found: Iterable[Answer], scale: str, made: Made = Made()
) -> None:
    """Write the findings of one paper's tests."""
    rows = (finding_row(ledger, one, made) for one in found)
    write(path, "findings", rows, {ledger.paper: ledger}, scale, made)


def read(
    path: Path, ledgers: Ledgers, kind: str = "verdicts", *, paper: str = "", anyway: bool = False
) -> Table:
    """Return the rows of a table of ``verdicts`` or ``findings``, of all papers or one.

    Prose comes from the ledgers. StoreError for a file that is missing, damaged, foreign, or not
    made by the present code and rules; with `anyway` stale rows are read too, without claims and
    tests that no longer exist.
    """
    if not anyway and (problem := next(stale(path, ledgers, kind, paper), None)):
        raise StoreError(f"{problem}; {ANEW}")
    if path.suffix == ".csv":
        return Table(list(_completed(lines_of(path, kind), kind, ledgers, paper)), "paper", Made())
    footer, claims = _footer(path, kind), claims_of(ledgers)
    rows = [_unpacked(row) for row in read_table(path).to_pylist() if row["claim"] in claims]
    rows = [row for row in rows if paper in ("", row["paper"])]
    if kind == "verdicts":  # prose can change without the rules
        for row in rows:
            claim = claims[row["claim"]]
            row |= {"place": claim.place, "statement": claim.statement} | standing(claim)
    return Table(rows, footer["scale"], Made(footer.get("seed"), footer.get("sources", {})))


def _footer(path: Path, kind: str) -> dict[str, Any]:
    footer = read_footer(path)
    expect(footer, {"kind": kind}, path)
    return footer


def _packed(row: Row) -> dict[str, Any]:
    """Return a row with lists as text and objects as JSON, NaN and infinity as null."""
    lists = {name: ", ".join(row[name]) for name in LISTS}
    objects = {name: json.dumps(finite(row[name]), ensure_ascii=False) for name in OBJECTS}
    return dict(row) | lists | objects


def _unpacked(row: Row) -> dict[str, Any]:
    lists = {name: row[name].split(", ") if row[name] else [] for name in LISTS}
    return dict(row) | lists | {name: json.loads(row[name]) for name in OBJECTS}


def finite(value: Any) -> Any:
    """Return a value with NaN and infinity as None, since JSON has neither."""
    if isinstance(value, Mapping):
        return {key: finite(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def stale(path: Path, ledgers: Ledgers, kind: str = "verdicts", paper: str = "") -> Iterator[str]:
    """Yield why a table does not match the code, and the claims and rules of all papers or one."""
    if path.suffix == ".csv":
        rows = _of_paper(lines_of(path, kind), ledgers, paper)
        if other := _other_claims(rows, kind, ledgers, paper):
            yield f"{path} has other claims, readings or tests than the ledgers: {other}"
            return
        digests = {(judging(_claim(row), ledgers).paper, row["rules"]) for row in rows}
        parts = _parts_beside(path)
    else:
        footer = _footer(path, kind)
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


def parts_of(ledger: Ledger) -> Mapping[str, str]:
    """Return the parts behind a ledger's digest; none if its files give another one."""
    return _parts(ledger.paper, ledger.digest)


@cache
def _parts(paper: str, digest: str) -> Mapping[str, str]:
    if not paper_file(paper, "claims").is_file():  # claims on policies of one's own
        return {}
    found = deciding(paper)
    return found.parts if found.digest == digest else {}


def _names(was: Mapping[str, str], digest: str, ledger: Ledger) -> str:
    """Return what has changed, in words; nothing if that is not known."""
    now = parts_of(ledger)
    if not now or digest_of(was) != digest:
        return ""
    names = changed(was, now)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f": {', '.join(names[:NAMED])}{more}"


# ---------------------------------------------------------------------- the committed tables


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV, the same on every machine."""
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


def write_committed(
    folder: Path, verdicts: Iterable[Row], findings: Iterable[Row], scale: str
) -> None:
    """Write the committed tables of verdicts and findings, both whole or neither.

    Raises StoreError if a claim failed, if a small run would replace published-scale tables, or if
    the verdicts rest on other findings.
    """
    verdicts, findings, path = list(verdicts), list(findings), folder / VERDICTS_TABLE
    if scale == "smoke" and folder.resolve() == (ROOT / "audit").resolve():
        raise StoreError(f"{path} is for the published scale; these verdicts are of a small run")
    failed = [row["claim"] for row in verdicts if row["verdict"] == FAILED]
    if failed and scale != "smoke":
        raise StoreError(f"{path} is not written: {failed[0]} failed")
    if problem := next(apart(verdicts, findings), None):
        raise StoreError(f"{path} is not written: {problem}")
    with replacing(path) as of_verdicts, replacing(folder / FINDINGS_TABLE) as of_findings:
        of_verdicts.write_text(csv_of(verdicts, "verdicts"), encoding="utf-8")
        of_findings.write_text(csv_of(findings, "findings"), encoding="utf-8")


def write_parts(folder: Path, ledgers: Ledgers) -> None:
    """Write the parts behind the digests of the committed tables."""
    parts = {paper: parts_of(ledger) for paper, ledger in ledgers.items()}
    lines = ([paper, *one] for paper, own in parts.items() for one in own.items())
    write_text(folder / PARTS_TABLE, csv_text([OF_PARTS, *lines]))


def _parts_beside(table: Path) -> dict[str, dict[str, str]]:
    """Return the parts, by paper, that were written with a committed table."""
    found: dict[str, dict[str, str]] = {}
    for row in csv_rows(table.with_name(PARTS_TABLE)):
        found.setdefault(row["paper"], {})[row["part"]] = row["digest"]
    return found


def csv_of(rows: Iterable[Row], kind: str) -> str:
    """Return rows as a committed table."""
    columns = COMMITTED[kind]
    as_text = {name: AS_TEXT.get(name, itemgetter(name)) for name in columns}
    return csv_text([columns, *([as_text[name](row) for name in columns] for row in rows)])


def short(value: float | None) -> str:
    """Return a number of a committed table as text; empty for none."""
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


def lines_of(path: Path, kind: str) -> list[dict[str, str]]:
    """Return the lines of a committed table; StoreError for other columns."""
    if not path.is_file():
        raise StoreError(f"{path} does not exist; `fairbandits replicate audit` makes it")
    columns = list(COMMITTED[kind])
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file)) or [[]]
    if header != columns or any(len(line) != len(columns) for line in lines):
        raise StoreError(f"{path} is not a table of {kind}; {ANEW}")
    return [dict(zip(columns, line, strict=True)) for line in lines]


def _claim(line: Mapping[str, str]) -> str:
    return line["id"] if "id" in line else line["claim"]


def _completed(
    lines: Iterable[Mapping[str, str]], kind: str, ledgers: Ledgers, paper: str
) -> Iterator[dict[str, Any]]:
    """Yield lines of a committed table as rows, without claims and tests that no longer exist."""
    claims, before = claims_of(ledgers), ""
    for line in lines:
        claim = claims.get(_claim(line))
        if claim is None or paper not in ("", claim.paper):
            continue
        row = {name: FROM_TEXT.get(name, str)(text) for name, text in line.items()}
        rule, _, version = row["rule"].partition(" ")
        row |= {"claim": claim.id, "paper": claim.paper, "message": "", "rule": rule}
        row["rule_version"] = int(version) if version else None
        if kind == "verdicts":
            row |= {name: getattr(claim, name) for name in OF_CLAIM} | standing(claim)
            row |= {"headline": claim.id != before, "reference": None}
            before = claim.id
        elif test := ledgers[claim.paper].test(claim.id, row["test"]):
            tightness = row.pop("tightness")
            row |= {"procedure": test.procedure, "settings": dict(test.settings), "data": []}
            row["also"] = {} if tightness is None else {"tightness": tightness}
            row["reference"] = next(iter(row["against"].values()), None)
        else:
            continue
        yield row


def _of_paper(lines: list[dict[str, str]], ledgers: Ledgers, paper: str) -> list[dict[str, str]]:
    """Return the lines of a paper, or all; one of no known claim is of the paper of its rules."""
    papers = {key: claim.paper for key, claim in claims_of(ledgers).items()}
    of_rules = {one["rules"]: papers[_claim(one)] for one in lines if _claim(one) in papers}

    def home(line: Mapping[str, str]) -> str:
        return papers.get(_claim(line)) or of_rules.get(line["rules"], paper)

    return [line for line in lines if paper in ("", home(line))]


def _other_claims(
    lines: Iterable[Mapping[str, str]], kind: str, ledgers: Ledgers, paper: str
) -> str:
    """Return the first claim and reading, or test, that differs from the ledgers', if one does."""
    of_line = "reading" if kind == "verdicts" else "test"
    there = dict.fromkeys((_claim(line), line[of_line]) for line in lines)
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

    def numbers(row: Row) -> tuple[str, ...]:  # that neither joining nor a correction changes
        return row["claim"], *(short(row[name]) for name in ("statistic", "low", "high"))

    deciding = {numbers(one) for one in findings if one["decides"]}
    for row in verdicts:
        if not row["left_out"] and row["n"] is not None and numbers(row) not in deciding:
            under = f" under {row['reading']}" if row["reading"] else ""
            yield f"the verdict on {row['claim']}{under} rests on no finding that is there"


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
