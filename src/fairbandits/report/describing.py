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

WIDTH = 100
UNKNOWN = Column(
    "Not in the data dictionary: a policy, an observer or a figure of one's own has it"
)
HEAD = """# The data dictionary

What each column of the tables in `results/` and `audit/` means. Rounds, arms and groups are counted
from 1, as in the papers, replicates from 0. `fairbandits describe FILE` says it of one file.
Parquet files have it as metadata of their columns too, unless an earlier version wrote them. This
page is made by `fairbandits describe`.
"""


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
    from fairbandits.audit.records import COMMITTED

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
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    yield "## Datasets, `results/PAPER/EXPERIMENT.parquet`\n"
    yield f"A row is {ROWS['dataset']}.\n"
    yield from _table(RECORDED)
    yield "\nA parameter that an experiment sweeps is a column of its own name."
    yield "\n## Figures' tables, `results/PAPER/figN.parquet`\n"
    yield f"A row is {ROWS['figure']}. What a figure has the mean of, and in which unit:\n"
    yield "| figures | quantity | unit |"
    yield "|---|---|---|"
    shown: dict[tuple[str, str, str], list[str]] = {}
    for paper, figures in PAPERS.items():
        for name, one in figures.items():
            shown.setdefault((paper, one.quantity, one.unit), []).append(name)
    for (paper, quantity, unit), names in shown.items():
        yield f"| `{paper}` {', '.join(names)} | {_cell(quantity)} | {unit} |"
    yield ""
    words = {"quantity": "the figure's quantity", "unit": "that of the quantity"}
    yield from _table(
        {
            name: one._replace(meaning=one.meaning.format(**words), unit=one.unit.format(**words))
            for name, one in DRAWN.items()
        }
    )
    yield "\n## Replays, `results/banditq/replay_*.parquet`\n"
    yield f"A row is {ROWS['replay']}.\n"
    yield from _table(REPLAYED)
    yield "\n## Findings and verdicts, `results/audit/*.parquet` and `audit/*.csv`\n"
    yield f"A row of findings is {ROWS['findings']}; one of verdicts is {ROWS['verdicts']}.\n"
    yield from _table(JUDGED)
    yield "\n## The arena, `results/arena/*.parquet`\n"
    yield f"A row is {ROWS['arena']}.\n"
    yield from _table(ARENA)
    yield ""


def _table(columns: Mapping[str, Column]) -> Iterator[str]:
    yield "| column | what it is | unit | range | one value for each |"
    yield "|---|---|---|---|---|"
    for name, one in columns.items():
        cells = (_cell(one.meaning), one.unit, _cell(one.range), one.per)
        yield f"| `{name}` | {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("**", "\\*\\*")
