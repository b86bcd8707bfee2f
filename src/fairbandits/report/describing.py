"""The columns of a file in words, and the page of the data dictionary."""

import csv
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fairbandits.data.dictionary import ROWS, TABLES, Column, column_of
from fairbandits.data.store import StoreError, read_footer
from fairbandits.figures import PAPERS
from fairbandits.report.markup import in_symbols, render_text

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
    described = [
        (name, type_of, column_of(kind, name, facts) or UNKNOWN)
        for name, type_of in columns.items()
    ]
    given = {"path": path, "kind": kind, "rows": ROWS, "facts": facts, "columns": described}
    return render_text("described.txt", **given)


def _committed(path: Path) -> tuple[str, dict[str, str]]:
    from fairbandits.audit.rows import COMMITTED

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


def page() -> str:
    shown: dict[tuple[str, str, str], list[str]] = {}
    for paper, figures in PAPERS.items():
        for name, figure in figures.items():
            shown.setdefault((paper, figure.quantity, figure.unit), []).append(name)
    fill = {"quantity": "the figure's quantity", "unit": "that of the quantity"}
    drawn = {
        name: field._replace(meaning=field.meaning.format(**fill), unit=field.unit.format(**fill))
        for name, field in TABLES["drawn"].items()
    }
    text = render_text(
        "data_dictionary.md",
        rows=ROWS,
        figures=[(*key, names) for key, names in shown.items()],
        cell=lambda text: in_symbols(text).replace("|", "\\|").replace("**", "\\*\\*"),
        tables=TABLES | {"drawn": drawn},
    )
    return f"{text}\n"
