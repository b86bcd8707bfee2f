"""Text files, and tables in CSV, that are written whole or not at all."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairbandits.data.whole import replacing


def write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Write these columns of rows."""
    write_text(path, csv_text([columns, *([row[name] for name in columns] for row in rows)]))


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table by their columns; none without a file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
