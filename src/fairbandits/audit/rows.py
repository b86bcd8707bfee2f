"""Findings and verdicts as rows that can be read alone: Parquet files, and CSV as their extract."""

import csv
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

import pyarrow as pa

from fairbandits.audit.claims import OWN, Claim, Papers, claims_of, committed, stands_for
from fairbandits.audit.code import audit_code
from fairbandits.audit.finding import CONFIRMATORY, EXPLORATORY, FAILED, Answer
from fairbandits.audit.judge import Verdict
from fairbandits.audit.totals import Row, grouped, left_out
from fairbandits.data import store
from fairbandits.data.provenance import joint
from fairbandits.data.store import StoreError, read_footer
from fairbandits.data.texts import csv_text
from fairbandits.numerals import first_digits
from fairbandits.replication.datasets import expect
from fairbandits.settings.config import FROZEN
from fairbandits.settings.schemas import ROOT

NUMBERS = ("statistic", "low", "high", "n", "p")
LISTS, OBJECTS, FLAGS = ("tags", "data"), ("settings", "against", "also"), ("decides", "given")
#: What is asked: the number in words, its case, the procedure.
ASKED = ("test", "phrase", "unit", "reading", "each", "procedure", "settings")
#: A row's origin: datasets and the hash of their content, the code that simulated them, their seed
#: (or "frozen"), the code that asks (`Paper.digest`), and the audit's.
ORIGIN = ("data", "data_hash", "code", "seed", "rules", "audit_code")
FOUND = ("grade", "control", "tags", *NUMBERS, "reference", "against", "also", *ORIGIN, "message")
#: What a verdict's row has of its claim.
OF_CLAIM = ("place", "statement", "kind", "primary", "about", "reported", "figure")
TYPES = {
    **dict.fromkeys(("headline", "primary", "reported", *FLAGS), pa.bool_()),
    **dict.fromkeys((*NUMBERS, "reference"), pa.float64()),
    "n": pa.int64(),
}
#: One row per case, and one per claim and reading.
SCHEMAS = {
    kind: pa.schema([(name, TYPES.get(name, pa.string())) for name in names])
    for kind, names in {
        "findings": ("paper", "claim", *ASKED, *FLAGS, "uncontrolled", "verdict", *FOUND),
        "verdicts": ("paper", "claim", "headline", "verdict", "status", *OF_CLAIM, *ASKED, *FOUND),
    }.items()
}
VERDICTS_TABLE, FINDINGS_TABLE = "verdicts.csv", "findings.csv"
#: Columns of the committed tables. `test` is empty where the phrase tells tests apart.
COMMITTED = {
    "verdicts": (
        *("id", "reading", "verdict", "status", "grade", "tags", "test", "phrase", "unit", "each"),
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
    def of(cls, seed: int | str, results: Path, answers: Iterable[Answer]) -> Self:
        """Return the seed and datasets of answers, with the hashes of the datasets on disk."""
        datasets = dict.fromkeys(dataset for answer in answers for dataset in answer.data)
        files = {dataset: results / dataset for dataset in datasets}
        return cls(seed, {key: source_of(file) for key, file in files.items() if file.is_file()})

    @property
    def exploratory(self) -> bool:
        return self.seed != FROZEN

    def columns(self, data: Iterable[str]) -> dict[str, str]:
        """Return the columns of a row that describe its datasets."""
        known = {key: self.sources.get(key, {}) for key in data}
        return {
            "data_hash": hash_of({key: source.get("content", "") for key, source in known.items()}),
            "code": joint(source["code"] for source in known.values() if source),
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
    lines = "\n".join(f"{dataset} {contents[dataset]}" for dataset in sorted(contents))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


# -------------------------------------------------------------------------------------- rows


def finding_row(papers: Papers, answer: Answer, made: Made = Made()) -> dict[str, Any]:
    paper = papers[claims_of(papers)[answer.claim].paper]
    return _row(answer, paper.digest, made) | {"paper": paper.slug}


def verdict_row(papers: Papers, verdict: Verdict, made: Made = Made()) -> dict[str, Any]:
    row = _row(verdict, papers[stands_for(verdict.claim, papers).paper].digest, made)
    follows = verdict.claim.paper == OWN and not made.exploratory  # papers': see `freeze`
    status = CONFIRMATORY if follows else EXPLORATORY
    return row | {"claim": verdict.claim.id, "status": status} | _of_claim(verdict.claim)


def _row(item: Answer, digest: str, made: Made) -> dict[str, Any]:
    row = vars(item) | {"tags": [*item.tags], "data": [*item.data], **made.columns(item.data)}
    row |= {"reference": next(iter(item.against.values()), None)}
    return row | {"rules": digest, "audit_code": audit_code()}


def _of_claim(claim: Claim) -> dict[str, Any]:
    """Return what a verdict's row has of its claim."""
    names = ("paper", *OF_CLAIM, *(["basis"] if claim.paper != OWN else []))
    return {name: getattr(claim, name) for name in names} | {"left_out": left_out(claim)}


def answer_of(row: Row) -> Answer:
    """Return the answer of a finding's row; every number is restored exactly."""
    answer = Answer(**{f.name: row[f.name] for f in fields(Answer)})
    also = {key: math.nan if value is None else value for key, value in row["also"].items()}
    return replace(answer, tags=(*row["tags"],), data=(*row["data"],), also=also)


def finite(value: Any) -> Any:
    """Return a value with NaN and infinity as None, since JSON has neither."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def apart(verdicts: Iterable[Row], findings: Iterable[Row]) -> Iterator[str]:
    """Yield verdicts whose number is not that of any finding that decides their claim."""

    def shown(row: Row) -> tuple[str, ...]:  # neither joining nor a correction changes these
        return row["claim"], *(short(row[name]) for name in ("statistic", "low", "high"))

    deciding = {shown(row) for row in findings if row["decides"]}
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
        "rules": {slug: paper.digest for slug, paper in papers.items()},
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
    if path.suffix == ".csv":
        rows, scale, made = _from_lines(lines_of(path, kind)), "paper", Made()
    else:
        footer = read_footer(path)
        expect(footer, {"kind": kind}, path)
        rows, scale = store.read_table(path).to_pylist(), footer["scale"]
        made = Made(footer.get("seed"), footer.get("sources", {}))
        for row in rows:
            row |= {name: row[name].split(", ") if row[name] else [] for name in LISTS}
            row |= {name: json.loads(row[name]) for name in OBJECTS}
    claims = claims_of(papers)
    kept = [row | {"paper": claims[row["claim"]].paper} for row in rows if row["claim"] in claims]
    kept = [row for row in kept if paper in ("", row["paper"])]
    for row in kept if kind == "verdicts" else ():  # prose can change without the rest
        row |= _of_claim(claims[row["claim"]])
    return Table(kept, scale, made)


def stale(path: Path, papers: Papers, kind: str = "verdicts", paper: str = "") -> Iterator[str]:
    """Yield why a table does not match the code, and the claims of all papers or one."""
    if path.suffix == ".csv":
        claims = {key: c for key, c in claims_of(papers).items() if paper in ("", c.paper)}
        lines = [line for line in lines_of(path, kind) if line["claim"] in claims]
        rules_of = {line["claim"]: line["rules"] for line in lines}
        due = (key for key, claim in committed(papers).items() if kind == "verdicts" or claim.of)
        if lacking := next((key for key in due if key in claims and key not in rules_of), None):
            yield f"{path} has other claims than there are: {lacking} is not in it"
            return
        digests = {(stands_for(claims[key], papers).paper, rule) for key, rule in rules_of.items()}
    else:
        footer = read_footer(path)
        expect(footer, {"kind": kind}, path)
        was, now = footer["audit_code"], audit_code()
        if was != now:
            yield f"{path} is stale: audit code {was} made it, this is {now}"
        digests = {pair for pair in footer.get("rules", {}).items() if paper in ("", pair[0])}
    for slug, digest in sorted(digests):
        if slug not in papers:
            yield f"{path} does not belong here: there are no claims of {slug!r}"
        elif digest != papers[slug].digest:
            yield (
                f"{path} is stale: papers/{slug}/claims.py, or a file beside it, has changed since "
                f"(digest {digest or 'none'}, now {papers[slug].digest})"
            )


# --------------------------------------------------------------------------------------- CSV


def in_short(files: Iterable[str]) -> list[str]:
    """Return paths of files, those in one folder joined with braces, as shells write it.

    >>> in_short(["banditq/arms/5.parquet", "banditq/arms/10.parquet", "banditq/one.parquet"])
    ['banditq/arms/{5,10}.parquet', 'banditq/one.parquet']
    """

    def home(path: PurePosixPath) -> PurePosixPath:
        return path.parent if len(path.parts) > 2 else path  # a suite has a folder of its own

    return [
        f"{path.parent}/{{{','.join(other.stem for other in (path, *others))}}}.parquet"
        if others
        else str(path)
        for path, *others in grouped(map(PurePosixPath, files), home).values()
    ]


def written_out(places: Iterable[str]) -> list[str]:
    """Return the files that `in_short` names."""
    files = []
    for pattern in places:
        before, _, rest = pattern.partition("{")
        names, _, after = rest.partition("}")
        files += [f"{before}{name}{after}" for name in names.split(",")]
    return files


def short(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return str(value) if isinstance(value, int) else first_digits(value, DIGITS)


def _against_from(text: str) -> dict[str, float | None]:
    parts = (part.rpartition(" ") for part in text.split("; ") if part)
    return {name: None if value == NONE else float(value) for name, _, value in parts}


def _settings_from(text: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, _, value in (part.partition(" ") for part in text.split("; ") if part):
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


#: Column of a committed table -> its text from a row, and its value from the text; others are text.
AS_TEXT: dict[str, Callable[[Row], str]] = {
    "id": itemgetter("claim"),
    "test": lambda row: "" if row["test"] == row["phrase"] else row["test"],
    "tags": lambda row: " ".join(row["tags"]),
    "settings": lambda row: "; ".join(  # only a text stands without JSON
        f"{name} {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in row["settings"].items()
    ),
    "against": lambda row: "; ".join(
        f"{name} {NONE if value is None else short(float(value))}"
        for name, value in row["against"].items()
    ),
    "tightness": lambda row: short(row["also"].get("tightness")),
    "data": lambda row: " ".join(in_short(row["data"])),
    **{name: lambda row, name=name: "yes" if row[name] else "no" for name in FLAGS},
    **{name: lambda row, name=name: short(row[name]) for name in NUMBERS},
}
FROM_TEXT: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys((*NUMBERS, "tightness"), lambda text: float(text) if text else None),
    "tags": str.split,
    "data": lambda text: written_out(text.split()),
    **dict.fromkeys(FLAGS, lambda text: text == "yes"),
    "n": lambda text: int(text) if text else None,
    "settings": _settings_from,
    "against": _against_from,
}


def text_of(row: Row, name: str) -> str:
    """Return the text of a column of a committed table."""
    return AS_TEXT[name](row) if name in AS_TEXT else row[name]


def csv_of(rows: Iterable[Row], kind: str) -> str:
    columns = COMMITTED[kind]
    return csv_text([columns, *([text_of(row, name) for name in columns] for row in rows)])


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


def _from_lines(lines: Iterable[Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield lines of a committed table as rows; the first verdict on a claim is its headline."""
    before = ""
    for line in lines:
        row = {name: FROM_TEXT.get(name, str)(text) for name, text in line.items()}
        row |= {"headline": row["claim"] != before, "test": row["test"] or row["phrase"]}
        before = row["claim"]
        tightness = row.pop("tightness", None)
        row["also"] = {} if tightness is None else {"tightness": tightness}
        row["reference"] = next(iter(row["against"].values()), None)
        yield {"data": [], "uncontrolled": "", "message": ""} | row
