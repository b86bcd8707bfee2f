"""Parquet files with provenance, written whole or not at all, that are verified when they are read.

Each file's footer has a key ``fairbandits`` with JSON: kind, origin, code, versions and commit. A
key ``fairbandits.hashes`` has hashes of that JSON and of each column, one for each group of rows.
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

SCHEMA_VERSION = 2
KEY, HASHES = b"fairbandits", b"fairbandits.hashes"
#: Most rows of a group.
GROUP = 1 << 20


class StoreError(Exception):
    """A file that cannot be used; says why and what to do."""


def _unusable(path: Path, why: str) -> StoreError:
    return StoreError(f"{path} {why}; delete it and run again")


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
    text = json.dumps(record).encode()
    schema = pa.schema(described, {KEY: text})
    hashes: dict[str, list[str]] = {name: [] for name in schema.names}
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
            for start in range(0, table.num_rows or 1, GROUP):
                group = pa.table(columns, schema=schema).slice(start, GROUP)
                writer.write_table(group)
                for name, own in hashes.items():
                    own.append(column_hash(group[name]))
        lines = {name: " ".join(own) for name, own in hashes.items()}
        writer.add_key_value_metadata({HASHES: json.dumps([_digest(text), lines]).encode()})


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def read_footer(path: Path) -> dict[str, Any]:
    """Return a file's footer; StoreError if it is missing, not Parquet, or not ours as of now."""
    return _opened(path)[1]


def _opened(path: Path) -> tuple[pq.ParquetFile, dict[str, Any], dict[str, list[str]]]:
    """Return a file, its footer, and hashes of its columns' groups; StoreError as above."""
    try:
        with named(path, "is not a readable Parquet file"):
            file = pq.ParquetFile(path, page_checksum_verification=True)
            names, metadata = file.schema_arrow.names, file.metadata.metadata or {}
    except FileNotFoundError:
        raise StoreError(f"{path} does not exist; `fairbandits replicate` makes it") from None
    if KEY not in metadata:
        raise StoreError(
            f"{path} was not written by fairbandits (its footer has no key 'fairbandits'); "
            "move it away and run again"
        )
    with named(path, "is damaged (its footer)"):
        footer = dict(json.loads(metadata[KEY]))
    if (version := footer.get("schema")) != SCHEMA_VERSION:
        reads = f"has schema version {version!r}, this code reads {SCHEMA_VERSION}"
        raise _unusable(path, reads)
    with named(path, "is damaged (its footer)"):
        digest, lines = json.loads(metadata[HASHES])
        hashes = {name: line.split() for name, line in lines.items()}
        if digest != _digest(metadata[KEY]) or list(hashes) != names:
            raise ValueError("its record or its columns are not those that were written")
    return file, footer, hashes


def read_table(
    path: Path, columns: list[str] | None = None, rows: pc.Expression | None = None
) -> pa.Table:
    """Return a file's table, or some columns that it has, and `rows` by these; all are verified."""
    footer = read_footer(path)
    groups = list(row_groups(path, columns))
    table = pa.concat_tables(groups)
    said = footer.get("content")
    if columns is None and isinstance(said, str) and (now := table_hash(table)) != said:
        raise _unusable(path, f"was changed: its content has hash {now}, the footer says {said}")
    return table if rows is None else table.filter(rows)


def row_groups(path: Path, columns: list[str] | None = None) -> Iterator[pa.Table]:
    """Yield a table, or some columns that it has, in the parts that were written; all verified."""
    file, _, hashes = _opened(path)
    wanted = [name for name in (hashes if columns is None else columns) if name in hashes]
    for place in range(file.num_row_groups):
        with named(path):
            group = file.read_row_group(place, wanted)
            others = [name for name in wanted if column_hash(group[name]) != hashes[name][place]]
        if others:
            raise _unusable(path, f"was changed: {others[0]} has other values than were written")
        yield group


@contextmanager
def named(path: Path, what: str = "is damaged") -> Iterator[None]:
    """Name the file in whatever a library raises that reads it; a missing file stays one."""
    try:
        yield
    except (StoreError, FileNotFoundError):
        raise
    except Exception as error:  # libraries have more kinds of errors than anybody lists
        words = " ".join(str(error).split())
        raise _unusable(path, f"{what} ({type(error).__name__}{words and ': '}{words})") from error


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


def column_hash(column: pa.ChunkedArray) -> str:
    """Return a hash of a column: its type, its values, and which are missing."""
    digest = hashlib.sha256(f"{len(column)} {column.null_count}\n".encode())
    if pa.types.is_primitive(column.type):
        digest.update(f"{column.type}\n".encode())
        if column.null_count:
            digest.update(np.packbits(column.is_valid().to_numpy()))
            column = column.fill_null(pa.scalar(0).cast(column.type))
        digest.update(np.ascontiguousarray(column.to_numpy()))
    elif pa.types.is_dictionary(column.type):  # labels of long blocks of rows
        column = column.unify_dictionaries().combine_chunks()
        codes, words = column.indices.fill_null(-1).to_numpy(), column.dictionary.to_pylist()
        starts = np.flatnonzero(np.diff(codes, prepend=-2)).tolist()
        blocks = [(start, words[codes[start]] if codes[start] >= 0 else None) for start in starts]
        digest.update(json.dumps(blocks).encode())
    else:
        digest.update(json.dumps(column.to_pylist()).encode())
    return digest.hexdigest()[:16]


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
