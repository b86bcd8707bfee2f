"""Findings and verdicts as rows that can be read alone: Parquet files, and CSV as their extract."""

import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

import pyarrow as pa

from fairbandits.audit.answers import Answer
from fairbandits.audit.claims import Claim, Papers, claims_of, committed, stands_for
from fairbandits.audit.code import audit_code
from fairbandits.audit.finding import FAILED, Finding
from fairbandits.audit.judge import Verdict
from fairbandits.audit.totals import Row, left_out
from fairbandits.data import store
from fairbandits.data.provenance import joint
from fairbandits.data.store import StoreError, read_footer
from fairbandits.numerals import first_digits
from fairbandits.replication.datasets import expect
from fairbandits.settings.config import LEDGER
from fairbandits.settings.schemas import ROOT

NUMBERS = ("statistic", "low", "high", "n", "p")
LISTS, OBJECTS, FLAGS = ("tags", "data"), ("settings", "against", "also"), ("decides", "given")
#: What is asked: the number in words, its case, the procedure.
ASKED = ("test", "phrase", "unit", "reading", "each", "procedure", "settings")
#: A row's origin: datasets and the hash of their content, the code that simulated them, their seed
#: (or "ledger"), the code that asks (`Paper.digest`), and the audit's.
ORIGIN = ("data", "data_hash", "code", "seed", "rules", "audit_code")
FOUND = ("grade", "control", "tags", *NUMBERS, "reference", "against", "also", *ORIGIN, "message")
#: What a verdict's row has of its claim.
OF_CLAIM = ("place", "statement", "kind", "primary", "about", "exploratory", "figure")
TYPES = {
    **dict.fromkeys(("headline", "primary", "exploratory", *FLAGS), pa.bool_()),
    **dict.fromkeys((*NUMBERS, "reference"), pa.float64()),
    "n": pa.int64(),
}
#: One row per case, and one per claim and reading.
SCHEMAS = {
    kind: pa.schema([(name, TYPES.get(name, pa.string())) for name in names])
    for kind, names in {
        "findings": ("paper", "claim", *ASKED, *FLAGS, "uncontrolled", "verdict", *FOUND),
        "verdicts": ("paper", "claim", "headline", "verdict", *OF_CLAIM, *ASKED, *FOUND),
    }.items()
}
VERDICTS_TABLE, FINDINGS_TABLE = "verdicts.csv", "findings.csv"
#: Columns of the committed tables. `test` is empty where the phrase tells tests apart.
COMMITTED = {
    "verdicts": (
        *("id", "reading", "verdict", "grade", "tags", "test", "phrase", "unit", "each"),
        *("procedure", "settings", *NUMBERS, "against", *ORIGIN),
    ),
    "findings": (
        *("claim", "test", "phrase", "unit", "reading", "each", *FLAGS, "procedure", "settings"),
        *("verdict", "grade", "control", "tags", *NUMBERS, "against", "tightness", "rules"),
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


# -------------------------------------------------------------------------------------- rows


def finding_row(papers: Papers, one: Answer, made: Made = Made()) -> dict[str, Any]:
    paper = papers[claims_of(papers)[one.claim].paper]
    verdict = one.finding.verdict if one.finding else FAILED
    row = {"paper": paper.slug, "claim": one.claim, "verdict": verdict}
    row |= {name: getattr(one, name) for name in (*FLAGS, "uncontrolled")}
    return row | _judged(one, paper.digest, made)


def verdict_row(papers: Papers, one: Verdict, made: Made = Made()) -> dict[str, Any]:
    claim = one.claim
    digest = papers[stands_for(claim, papers).paper].digest
    row = {"claim": claim.id, "headline": one.headline, "verdict": one.outcome}
    row |= {name: getattr(claim, name) for name in ("paper", *OF_CLAIM)}
    return row | _judged(one, digest, made) | {"tags": [*one.tags], "grade": one.grade}


def _judged(one: Answer, digest: str, made: Made) -> dict[str, Any]:
    finding = one.finding
    return {
        **{name: getattr(one, name) for name in (*ASKED, "message")},
        **{name: getattr(finding, name, None) for name in NUMBERS},
        **{name: getattr(finding, name, "") for name in ("grade", "control")},
        "settings": dict(one.settings),
        "tags": list(finding.tags) if finding else [],
        "reference": next(iter(one.against.values())) if finding and one.against else None,
        "against": dict(one.against) if finding else {},
        "also": dict(finding.also) if finding else {},
        **{"data": list(one.data), **made.columns(one.data)},
        **{"rules": digest, "audit_code": audit_code()},
    }


def answer_of(row: Row) -> Answer:
    """Return the answer of a finding's row; every number is restored exactly."""
    found = {name: row[name] for name in (*NUMBERS, "verdict", "control", "grade")}
    found["also"] = {key: math.nan if one is None else one for key, one in row["also"].items()}
    finding = None if row["verdict"] == FAILED else Finding(**found, tags=(*row["tags"],))
    names = ("claim", *ASKED, *FLAGS, "uncontrolled", "against", "message")
    own = {name: row[name] for name in names} | {"data": (*row["data"],)}
    return Answer(**own, finding=finding)


def finite(value: Any) -> Any:
    """Return a value with NaN and infinity as None, since JSON has neither."""
    if isinstance(value, Mapping):
        return {key: finite(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def apart(verdicts: Iterable[Row], findings: Iterable[Row]) -> Iterator[str]:
    """Yield verdicts whose number is not that of any finding that decides their claim."""

    def shown(row: Row) -> tuple[str, ...]:  # neither joining nor a correction changes these
        return row["claim"], *(short(row[name]) for name in ("statistic", "low", "high"))

    deciding = {shown(one) for one in findings if one["decides"]}
    for row in verdicts:
        if not row["left_out"] and row["n"] is not None and shown(row) not in deciding:
            under = f" under {row['reading']}" if row["reading"] else ""
            yield f"the verdict on {row['claim']}{under} rests on no finding that is there"


# ------------------------------------------------------------------------------------- files


def write(
    path: Path, kind: str, rows: Iterable[Row], papers: Papers, scale: str, made: Made = Made()
) -> None:
    """Write rows as Parquet, lists as text and objects as JSON with NaN and infinity as null."""
    packed = [
        {**row, **{name: ", ".join(row[name]) for name in LISTS}}
        | {name: json.dumps(finite(row[name]), ensure_ascii=False) for name in OBJECTS}
        for row in rows
    ]
    table = pa.Table.from_pylist(packed, SCHEMAS[kind])
    footer = {
        "kind": kind,
        "scale": scale,
        "ledgers": {slug: paper.digest for slug, paper in papers.items()},
        "content": store.table_hash(table),
        "seed": made.seed,
        "exploratory": made.exploratory,
        "sources": dict(made.sources),
        "audit_code": audit_code(),
    }
    store.write_table(path, table, footer)


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
    if problem := next(apart(verdicts, findings), None):
        raise StoreError(f"{path} is not written: {problem}")
    with (
        store.replacing(path) as of_verdicts,
        store.replacing(folder / FINDINGS_TABLE) as of_findings,
    ):
        of_verdicts.write_text(csv_of(verdicts, "verdicts"), encoding="utf-8")
        of_findings.write_text(csv_of(findings, "findings"), encoding="utf-8")


def read(
    path: Path, papers: Papers, kind: str = "verdicts", *, paper: str = "", anyway: bool = False
) -> Table:
    """Return the rows of a table, of all papers or one, with the prose of the claims.

    StoreError for a stale one, unless `anyway`: then claims that are gone are left out.
    """
    if not anyway and (problem := next(stale(path, papers, kind, paper), None)):
        raise StoreError(f"{problem}; {ANEW}")
    claims = claims_of(papers)
    if path.suffix == ".csv":
        rows = list(_from_lines(lines_of(path, kind), kind, papers))
        rows = [row for row in rows if paper in ("", row["paper"])]
        return Table(rows, "paper", Made())
    footer = read_footer(path)
    expect(footer, {"kind": kind}, path)
    rows = [row for row in store.read_table(path).to_pylist() if row["claim"] in claims]
    rows = [row for row in rows if paper in ("", row["paper"])]
    for row in rows:
        row |= {name: row[name].split(", ") if row[name] else [] for name in LISTS}
        row |= {name: json.loads(row[name]) for name in OBJECTS}
        if kind == "verdicts":  # prose can change without the rest
            row |= _of_claim(claims[row["claim"]], row, papers)
    return Table(rows, footer["scale"], Made(footer.get("seed"), footer.get("sources", {})))


def _of_claim(claim: Claim, row: Row, papers: Papers) -> dict[str, Any]:
    """Return what a verdict's row has of its claim, and whether its data are the older."""
    older = not papers[claim.paper].pinned.isdisjoint(written_out(row["data"]))
    found = {name: getattr(claim, name) for name in (*OF_CLAIM, "basis")}
    return found | {"left_out": left_out(claim), "older": older}


def stale(path: Path, papers: Papers, kind: str = "verdicts", paper: str = "") -> Iterator[str]:
    """Yield why a table does not match the code, and the claims of all papers or one."""
    if path.suffix == ".csv":
        claims, lines = claims_of(papers), lines_of(path, kind)
        # all claims of a paper have one digest, so that it tells whose a claim was that is gone
        there = [one for one in lines if one["claim"] in claims]
        of_digest = {one["rules"]: claims[one["claim"]].paper for one in there}
        of = {one["claim"]: of_digest.get(one["rules"], paper) for one in lines}
        of |= {key: claim.paper for key, claim in claims.items()}
        own = [one for one in lines if paper in ("", of[one["claim"]])]
        if other := _other_claims(own, kind, papers, paper):
            yield f"{path} has other claims or readings than there are: {other}"
            return
        tested = ((stands_for(claims[one["claim"]], papers), one["rules"]) for one in own)
        digests = {(claim.paper, rules) for claim, rules in tested}
    else:
        footer = read_footer(path)
        expect(footer, {"kind": kind}, path)
        was, now = footer["audit_code"], audit_code()
        if was != now:
            yield f"{path} is stale: audit code {was} made it, this is {now}"
        digests = {one for one in footer["ledgers"].items() if paper in ("", one[0])}
    for slug, digest in sorted(digests):
        if slug not in papers:
            yield f"{path} does not belong here: there are no claims of {slug!r}"
        elif digest != papers[slug].digest:
            yield (
                f"{path} is stale: papers/{slug}/claims.py, or a file beside it, has changed since "
                f"(digest {digest or 'none'}, now {papers[slug].digest})"
            )


def _other_claims(lines: Sequence[Mapping[str, str]], kind: str, papers: Papers, paper: str) -> str:
    """Return the first claim, and reading of a verdict, that differs from what there is, if any."""
    is_verdict, claims = kind == "verdicts", committed(papers)
    there = dict.fromkeys((one["claim"], one["reading"] if is_verdict else "") for one in lines)
    wanted: dict[tuple[str, str], None] = {}
    for key, claim in claims.items():
        readings = claims.get(claim.alias_of, claim).readings
        own = ("",) if claim.untestable else readings if len(readings) == 1 else ("", *readings)
        if not is_verdict:
            own = ("",) if claim.of else ()
        if paper in ("", claim.paper):
            wanted |= dict.fromkeys((key, name) for name in own)
    for key in (*there, *wanted):
        if key not in there or key not in wanted:
            which = "is in no claims.py" if key in there else "is not in it"
            return f"{', '.join(filter(None, key))} {which}"
    return "" if [*there] == [*wanted] else "they are in another order"


# --------------------------------------------------------------------------------------- CSV


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
    with store.replacing(path) as temporary:
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
    return str(value) if isinstance(value, int) else first_digits(value, DIGITS)


def _against(values: Mapping[str, float | None]) -> str:
    texts = {name: NONE if one is None else short(float(one)) for name, one in values.items()}
    return "; ".join(f"{name} {text}" for name, text in texts.items())


def _against_from(text: str) -> dict[str, float | None]:
    parts = (part.rpartition(" ") for part in text.split("; ") if part)
    return {name: None if value == NONE else float(value) for name, _, value in parts}


def _settings(values: Mapping[str, Any]) -> str:
    """Return settings as text: "level 0.99; claim at least"; only a text stands without JSON."""
    texts = {k: one if isinstance(one, str) else json.dumps(one) for k, one in values.items()}
    return "; ".join(f"{name} {text}" for name, text in texts.items())


def _settings_from(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, _, value in (part.partition(" ") for part in text.split("; ") if part):
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


#: Column of a committed table -> its text from a row, and its value from the text; others are text.
AS_TEXT: dict[str, Callable[[Row], str]] = {
    "id": lambda row: row["claim"],
    "test": lambda row: "" if row["test"] == row["phrase"] else row["test"],
    "tags": lambda row: " ".join(row["tags"]),
    "settings": lambda row: _settings(row["settings"]),
    "against": lambda row: _against(row["against"]),
    "tightness": lambda row: short(row["also"].get("tightness")),
    "data": lambda row: " ".join(in_short(row["data"])),
    **{name: lambda row, name=name: "yes" if row[name] else "no" for name in FLAGS},
    **{name: lambda row, name=name: short(row[name]) for name in NUMBERS},
}
FROM_TEXT: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys((*NUMBERS, "tightness"), lambda text: float(text) if text else None),
    **dict.fromkeys(LISTS, str.split),
    **dict.fromkeys(FLAGS, lambda text: text == "yes"),
    "n": lambda text: int(text) if text else None,
    "settings": _settings_from,
    "against": _against_from,
}


def csv_of(rows: Iterable[Row], kind: str) -> str:
    columns = COMMITTED[kind]
    as_text = [AS_TEXT.get(name, itemgetter(name)) for name in columns]
    return csv_text([columns, *([text(row) for text in as_text] for row in rows)])


def lines_of(path: Path, kind: str) -> list[dict[str, str]]:
    """Return the lines of a committed table; StoreError for other columns."""
    if not path.is_file():
        raise StoreError(f"{path} does not exist; `fairbandits replicate audit` makes it")
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = [*csv.reader(file)] or [[]]
    if tuple(header) != COMMITTED[kind] or {len(header), *map(len, lines)} != {len(header)}:
        raise StoreError(f"{path} is not a table of {kind}; {ANEW}")
    columns = ["claim" if name == "id" else name for name in header]
    return [dict(zip(columns, line, strict=True)) for line in lines]


def _from_lines(
    lines: Iterable[Mapping[str, str]], kind: str, papers: Papers
) -> Iterator[dict[str, Any]]:
    """Yield lines of a committed table as rows, without claims that no longer exist."""
    claims, before = claims_of(papers), ""
    for line in lines:
        claim = claims.get(line["claim"])
        if claim is None:
            continue
        row = {name: FROM_TEXT.get(name, str)(text) for name, text in line.items()}
        row |= {"paper": claim.paper, "message": "", "test": row["test"] or row["phrase"]}
        row["reference"] = next(iter(row["against"].values()), None)
        tightness = row.pop("tightness", None)
        row["also"] = {} if tightness is None else {"tightness": tightness}
        if kind == "verdicts":
            row |= _of_claim(claim, row, papers) | {"headline": claim.id != before}
            before = claim.id
        else:
            row |= {"data": [], "uncontrolled": ""}
        yield row
