"""Parquet files with provenance, written whole or not at all, that can be verified.

Each file's footer has a key ``fairbandits`` with JSON: kind, origin, code, versions and commit.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairbandits.data.dictionary import metadata_of
from fairbandits.data.provenance import git_commit, package_versions
from fairbandits.data.whole import replacing

SCHEMA_VERSION = 1
KEY = b"fairbandits"


class StoreError(Exception):
    """A file that cannot be used; says why and what to do."""


def _unusable(path: Path, why: str) -> StoreError:
    return StoreError(f"{path} {why}; delete it and run again")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def write_table(path: Path, table: pa.Table, footer: Mapping[str, Any]) -> None:
    """Write a table with its footer, to which versions and commit are added; folders are made."""
    write_tables(path, table.schema, [table], footer)


def write_tables(
    path: Path, schema: pa.Schema, tables: Iterable[pa.Table], footer: Mapping[str, Any]
) -> None:
    """Write tables below each other, with nulls for columns of the `schema` that one lacks."""
    record = {"schema": SCHEMA_VERSION, **footer}
    record |= {"packages": package_versions(), "commit": git_commit()}
    floats = [f.name for f in schema if pa.types.is_floating(f.type)]
    strings = [f.name for f in schema if not pa.types.is_primitive(f.type)]
    kind = str(record.get("kind", ""))
    described = [one.with_metadata(metadata_of(kind, one.name, record)) for one in schema]
    schema = pa.schema(described, {KEY: json.dumps(record).encode()})
    how = {"compression": "zstd", "compression_level": 1, "use_dictionary": strings}
    # bytes of equal significance side by side compress, whole doubles hardly do
    how["column_encoding"] = dict.fromkeys(floats, "BYTE_STREAM_SPLIT")
    how["write_page_checksum"] = True  # doubles that do not compress have no other
    with replacing(path) as temporary, pq.ParquetWriter(temporary, schema, **how) as writer:
        for table in tables:
            columns = [
                table[field.name].cast(field.type)
                if field.name in table.column_names
                else pa.nulls(table.num_rows, field.type)
                for field in schema
            ]
            writer.write_table(pa.table(columns, schema=schema))


def read_footer(path: Path) -> dict[str, Any]:
    """Return a file's footer; StoreError if it is missing, not Parquet, or not ours as of now."""
    try:
        metadata = pq.read_schema(path).metadata or {}
    except FileNotFoundError:
        raise StoreError(f"{path} does not exist; `fairbandits replicate` makes it") from None
    except (pa.ArrowException, OSError) as error:
        raise _unusable(path, f"is not a readable Parquet file ({_first_line(error)})") from error
    if KEY not in metadata:
        raise StoreError(
            f"{path} was not written by fairbandits (its footer has no key 'fairbandits'); "
            "move it away and run again"
        )
    try:
        footer = dict(json.loads(metadata[KEY]))
    except (ValueError, TypeError) as error:
        raise _unusable(path, f"is damaged (its footer: {_first_line(error)})") from error
    if (version := footer.get("schema")) != SCHEMA_VERSION:
        reads = f"has schema version {version!r}, this code reads {SCHEMA_VERSION}"
        raise _unusable(path, reads)
    return footer


def read_table(
    path: Path, columns: list[str] | None = None, rows: pc.Expression | None = None
) -> pa.Table:
    """Return a file's table, or some columns and rows that it has; StoreError as `read_footer`."""
    said = read_footer(path).get("content")
    whole = columns is None and rows is None
    with _readable(path):
        if columns is not None:
            names = pq.read_schema(path).names
            columns = [name for name in columns if name in names]
        table = pq.read_table(path, columns=columns, filters=rows, page_checksum_verification=True)
    if whole and isinstance(said, str) and (now := table_hash(table)) != said:
        raise _unusable(path, f"was changed: its content has hash {now}, the footer says {said}")
    return table


def row_groups(path: Path, columns: list[str] | None = None) -> Iterator[pa.Table]:
    """Yield a table, or some columns, in the parts that were written; StoreError if damaged."""
    with _readable(path):
        file = pq.ParquetFile(path, page_checksum_verification=True)
        for place in range(file.num_row_groups):
            yield file.read_row_group(place, columns)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise _unusable(path, f"is damaged ({_first_line(error)})") from error


#: Hexadecimal digits of a replicate's hash.
DIGITS = 8


def replicate_hashes(columns: Mapping[str, np.ndarray]) -> dict[int, str]:
    """Return a content hash for each replicate in a chunk's columns, whatever the chunk is."""
    replicate = columns["replicate"]
    order = np.argsort(replicate, kind="stable")
    numbers, starts = np.unique(replicate[order], return_index=True)
    parts = {name: np.split(values[order], starts[1:]) for name, values in columns.items()}
    each = ({name: some[i] for name, some in parts.items()} for i in range(numbers.size))
    hashes = (content_hash(own)[:DIGITS] for own in each)
    return dict(zip(numbers.tolist(), hashes, strict=True))


def content_of_run(hashes: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:16]


def content_of(footer: Mapping[str, Any]) -> str:
    """Return the hash of content in a footer, a dataset's of all its runs; empty without one."""
    content = footer.get("content", "")
    if isinstance(content, str):
        return content
    lines = "\n".join(f"{run} {content[run]}" for run in sorted(content))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def table_hash(table: pa.Table) -> str:
    """Return a hash of a table's content, texts and empty places too, for its footer."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        is_whole = pa.types.is_primitive(column.type) and not column.null_count
        text = b"" if is_whole else json.dumps(column.to_pylist()).encode()
        columns[name] = column.to_numpy() if is_whole else np.frombuffer(text, np.uint8)
    return content_hash(columns)[:16]


def content_hash(columns: Mapping[str, np.ndarray]) -> str:
    """Return a hash of numeric columns, their names and types, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for name in sorted(columns):
        values = np.ascontiguousarray(columns[name])
        values = values.astype(values.dtype.newbyteorder("<"), copy=False)
        digest.update(f"{name}:{values.dtype.str}:{values.size}\n".encode())
        digest.update(values)
    return digest.hexdigest()
