"""What catalogues read: tables as Croissant 1.1, and the software as CodeMeta 3.0."""

import json
import os
import tomllib
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import mlcroissant as mlc
import pyarrow.parquet as pq

from fairbandits import __version__
from fairbandits.data.dictionary import ROWS, column_of
from fairbandits.data.store import read_footer
from fairbandits.report.crate import LICENSE
from fairbandits.report.export import as_json
from fairbandits.report.markup import render_text
from fairbandits.settings.schemas import read_yaml

#: Types of Parquet columns by the first letters of their names; all others are texts.
TYPES = {
    ("int", "uint"): mlc.DataType.INTEGER,
    ("double", "float"): mlc.DataType.FLOAT,
    ("bool",): mlc.DataType.BOOL,
}


def croissant(results: Path, tables: Iterable[str], home: Path) -> str:
    """Return the description of tables, named from the folder of results, that stands in `home`."""
    files, records = [], []
    for name in tables:
        content = (results / name).read_bytes()
        files.append(
            mlc.FileObject(
                id=name,
                name=name,
                content_url=os.path.relpath(results / name, home),
                content_size=f"{len(content)} B",
                encoding_formats=["application/x-parquet"],
                sha256=sha256(content).hexdigest(),
            )
        )
        records.append(_records(results / name, name))
    metadata = mlc.Metadata(
        name="fairbandits",
        description="Curves, findings and verdicts of fair-bandit papers that were run again.",
        license=[LICENSE],
        version=__version__,
        distribution=files,
        record_sets=records,
    )
    return as_json(metadata.to_json())


def _records(file: Path, name: str) -> mlc.RecordSet:
    footer, table = read_footer(file), name.removesuffix(".parquet")
    kind, fields = footer["kind"], []
    for column in pq.read_schema(file):
        known = column_of(kind, column.name, footer)
        words = (known.meaning, known.unit, known.range) if known else ()
        kinds = (given for starts, given in TYPES.items() if str(column.type).startswith(starts))
        fields.append(
            mlc.Field(
                id=f"{table}/{column.name}",
                name=column.name,
                description="; ".join(filter(None, words)) or column.name,
                data_types=[next(kinds, mlc.DataType.TEXT)],
                source=mlc.Source(file_object=name, extract=mlc.Extract(column=column.name)),
            )
        )
    return mlc.RecordSet(id=table, name=table, description=ROWS[kind], fields=fields)


def codemeta(root: Path) -> str:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = read_yaml(root / "CITATION.cff")
    return as_json(json.loads(render_text("codemeta.json", project=project, citation=citation)))
