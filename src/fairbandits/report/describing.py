"""The columns of a file in words, and the page of the data dictionary."""

import csv
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fairbandits.data.dictionary import (
    ARENA,
    DRAWN,
    JUDGED,
    RECORDED,
    REPLAYED,
    ROWS,
    Column,
    column_of,
)
from fairbandits.data.store import StoreError, read_footer
from fairbandits.figures import PAPERS
from fairbandits.report.markup import Html, render

WIDTH = 100
UNKNOWN = Column(
    "Not in the data dictionary: a policy, an observer or a figure of one's own has it"
)


def describe(path: Path) -> str:
    """Return in words content and columns of one of our Parquet files or committed tables (CSV)."""
    if path.suffix == ".csv":
        kind, columns = _committed(path)
        facts: dict[str, Any] = {}
    else:
        try:
            facts = read_footer(path)
        except StoreError as error:  # without the way out: nothing is to be deleted for a look
            raise StoreError(str(error).partition("; ")[0]) from error
        kind = str(facts.get("kind", "none"))
        if kind not in ROWS:
            raise StoreError(f"{path} is of no kind that the data dictionary has: {kind!r}")
        schema = pq.read_schema(path)
        columns = {field.name: str(field.type) for field in schema}
        facts["rows"] = pq.read_metadata(path).num_rows
    lines = [f"{path}: {kind}", f"A row is {ROWS[kind]}.", *_facts(facts), ""]
    for name, type_of in columns.items():
        column = column_of(kind, name, facts) or UNKNOWN
        lines += [_title(name, type_of, column), *_indented(_sentences(column))]
    return "\n".join(lines)


def _committed(path: Path) -> tuple[str, dict[str, str]]:
    """Return the kind of a committed table, and its columns."""
    from fairbandits.audit.tables import COMMITTED

    try:
        with path.open(encoding="utf-8", newline="") as file:
            header = tuple(next(csv.reader(file), ()))
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    for kind, columns in COMMITTED.items():
        if header == columns:
            return kind, dict.fromkeys(columns, "text")
    raise StoreError(
        f"{path} is none of the committed tables, audit/verdicts.csv and audit/findings.csv: its "
        f"columns are {', '.join(header) or 'none'}"
    )


#: Facts of a file besides its columns, and their keys in its footer.
SAID = ("paper", "experiment", "title", "figure", "replay", "rows", "horizon", "replicates", "seed")


def _facts(footer: Mapping[str, Any]) -> Iterator[str]:
    said = dict(footer)
    if "changed" in said:
        said["changed"] = "; ".join(said["changed"])
    for name in (*SAID, "scale", "changed", "commit"):
        value = said.get(name)
        if value is not None and not (name == "replicates" and isinstance(value, list)):
            yield f"{name}: {value:,}" if name == "rows" else f"{name}: {value}"


def _title(name: str, type_of: str, column: Column) -> str:
    kind = "text" if "string" in type_of else type_of
    return f"{name} ({kind}{', ' + column.unit if column.unit else ''})"


def _sentences(column: Column) -> str:
    parts = [column.meaning]
    parts += [f"Range: {column.range}"] if column.range else []
    parts += [f"One value for each {column.per}"] if column.per else []
    return ". ".join(parts) + "."


def _indented(text: str) -> list[str]:
    blank = " " * 4
    return textwrap.wrap(text, WIDTH, initial_indent=blank, subsequent_indent=blank)


# ------------------------------------------------------------------------------------ the page


def page() -> str:
    """Return the data dictionary as Markdown."""
    shown: dict[tuple[str, str, str], list[str]] = {}
    for paper, figures in PAPERS.items():
        for name, one in figures.items():
            shown.setdefault((paper, one.quantity, one.unit), []).append(name)
    words = {"quantity": "the figure's quantity", "unit": "that of the quantity"}
    drawn = {
        name: one._replace(meaning=one.meaning.format(**words), unit=one.unit.format(**words))
        for name, one in DRAWN.items()
    }
    text = render(
        "data_dictionary.md",
        rows={kind: Html(words) for kind, words in ROWS.items()},
        figures=[(*key, names) for key, names in shown.items()],
        table=_table,
        cell=_cell,
        tables={
            "recorded": RECORDED,
            "drawn": drawn,
            "replayed": REPLAYED,
            "judged": JUDGED,
            "arena": ARENA,
        },
    )
    return f"{text}\n"


def _table(columns: Mapping[str, Column]) -> Html:
    lines = ["| column | what it is | unit | range | one value for each |", "|---|---|---|---|---|"]
    for name, one in columns.items():
        cells = (_cell(one.meaning), one.unit, _cell(one.range), one.per)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return Html("\n".join(lines))


def _cell(text: str) -> Html:
    return Html(text.replace("|", "\\|").replace("**", "\\*\\*"))
