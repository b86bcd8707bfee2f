"""The data dictionary: meaning, unit, range and shape of each column of our tables.

What policies, observers and figures write is described where they do, in the section ``Columns``
of a docstring, and read from the source; all else is in ``columns.csv``. No number depends on it.
"""

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.data.provenance import PACKAGE
from fairbandits.data.texts import csv_rows


class Column(NamedTuple):
    """What a column is."""

    meaning: str  # in words, with a formula if there is one
    unit: str = ""  # empty for names, texts and pure numbers
    range: str = ""  # possible values
    per: str = ""  # what has a value each, unless every row does
    grows: bool = False  # whether it never falls from round to round


#: The section of a docstring, an entry of it, and what a description can end with.
SECTION = re.compile(r"^    Columns\n    -------\n((?:    .*\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^(\w+)(?: : (.+))?\n((?: +.*\n)+)", re.MULTILINE)
WORDS = re.compile(r"(.+?)\.(?: Range: (.+?)\.)?(?: One value for each (.+?)\.)?( Never falls\.)?")


def declared(*folders: str) -> dict[str, Column]:
    """Return the columns that docstrings in some folders of the package describe."""
    files = [file for folder in folders for file in sorted((PACKAGE / folder).glob("*.py"))]
    sections = [section for file in files for section in SECTION.findall(file.read_text("utf-8"))]
    columns: dict[str, Column] = {}
    for entry in (item for section in sections for item in ENTRY.findall(textwrap.dedent(section))):
        name, unit, text = entry
        if name in columns:
            raise ValueError(f"the column {name} is described twice in {' and '.join(folders)}")
        meaning, range_of, per, grows = WORDS.fullmatch(" ".join(text.split())).groups("")
        columns[name] = Column(meaning, unit, range_of, per, bool(grows))
    return columns


def _tabled() -> dict[str, dict[str, Column]]:
    tables: dict[str, dict[str, Column]] = {}
    for row in csv_rows(Path(__file__).parent / "columns.csv"):
        texts = (row[key] for key in Column._fields[:-1])
        column = Column(*texts, grows=row["grows"] == "yes")
        tables.setdefault(row["table"], {})[row["column"]] = column
    return tables


SERIES_QUANTITY = "the quantity that the figure shows of the series"
#: Table -> its columns; `RECORDED` are those of datasets and of the chunks they are joined from.
TABLES = _tabled()
RECORDED, _ARENA = TABLES["recorded"], TABLES["arena"]
RECORDED |= declared("policies", "observers")
TABLES["drawn"] |= declared("figures")
_MEASURED = ("contract_regret", "shortfall", "worst_shortfall")
_ARENA |= {
    f"{name}_{end}": Column(f"{word} end of the 95 % t interval of `{name}`", _ARENA[name].unit)
    for name in (*_MEASURED, *(f"{measure}_rank" for measure in _MEASURED[:2]))
    for end, word in (("low", "Lower"), ("high", "Upper"))
}

#: Kind of a file, from its footer -> its possible columns.
KINDS: dict[str, dict[str, Column]] = {
    "dataset": RECORDED,
    "chunk": RECORDED,
    "figure": TABLES["drawn"],
    "replay": TABLES["replayed"],
    "findings": TABLES["judged"],
    "verdicts": TABLES["judged"],
    "arena": _ARENA,
    "result": RECORDED,
    "comparison": RECORDED,
    "sweep": RECORDED,
}
#: Meaning of a row, by kind of file.
ROWS = {
    "dataset": "a run, replicate, recorded round and arm; sums are over the rounds from 1 on",
    "chunk": "a replicate, recorded round and arm of one run",
    "figure": "a point of a curve",
    "replay": "a recorded round of the authors' own run",
    "findings": "a question of a test, and what was found",
    "verdicts": "a claim under a reading",
    "arena": "of `standings` a contract, instance, policy and setting; of `pairs` a contract, "
    "instance, measure and two policies",
    "result": "a replicate, recorded round and arm of one run of the library",
    "comparison": "a policy, replicate, recorded round and arm",
    "sweep": "a policy, replicate, recorded round and arm",
}


def column_of(kind: str, name: str, footer: Mapping[str, Any]) -> Column | None:
    known = KINDS.get(kind, {}).get(name)
    if kind == "figure" and known:
        said = {"quantity": footer.get("quantity", SERIES_QUANTITY), "unit": footer.get("unit", "")}
        texts = {key: getattr(known, key).format(**said) for key in ("meaning", "unit")}
        return known._replace(**texts)
    if known or KINDS.get(kind) is not RECORDED:
        return known
    runs = footer["runs"].values() if "runs" in footer else [footer.get("run", {})]
    if any(name in run.get("sweep", {}) for run in runs):
        rest = "which the experiment sweeps; none for runs without it"
        meaning = f"Value of the policy's parameter `{name}`, {rest}"
        return Column(meaning, per="run and cell of the sweep")
    return None


def metadata_of(kind: str, name: str, footer: Mapping[str, Any]) -> dict[str, str]:
    """Return a column's entry as metadata of a Parquet file; empty if unknown."""
    column = column_of(kind, name, footer)
    if column is None:
        return {}
    given = {key: getattr(column, key) for key in ("unit", "range", "per")}
    return {"description": column.meaning} | {key: value for key, value in given.items() if value}
