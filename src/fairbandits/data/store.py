"""Parquet files with provenance, written whole or not at all, that are verified when they are read.

Each file's footer has a key ``fairbandits`` with JSON: kind, origin, code, versions and commit. A
key ``fairbandits.hashes`` has a hash of that JSON, and checksums of each column's groups of rows.
"""

import hashlib
import json
import zlib
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
#: Most rows of a group, which has a checksum for each column.
GROUP = 1 << 20
#: Most values for each byte of a file, if they are more than such a group's; ours have 13.
DENSEST = 200


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
    described = [field.with_metadata(metadata_of(kind, field.name, record)) for field in schema]
    text = json.dumps(record).encode()
    schema = pa.schema(described, {KEY: text})
    hashes: dict[str, list[str]] = {name: [] for name in schema.names}
    how = {"compression": "zstd", "compression_level": 1, "use_dictionary": strings}
    # bytes of equal significance side by side compress, whole doubles hardly do
    how["column_encoding"] = dict.fromkeys(floats, "BYTE_STREAM_SPLIT")
    how["write_page_checksum"] = True  # doubles that do not compress have no other
    with (
        replacing(path, lasting=kind != "chunk") as temporary,  # chunks soon become a dataset
        pq.ParquetWriter(temporary, schema, **how) as writer,
    ):
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
                for name, checksums in hashes.items():
                    checksums.append(checksum_of(group[name]))
        lines = {name: " ".join(checksums) for name, checksums in hashes.items()}
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
            values = file.metadata.num_rows * len(names)
    except FileNotFoundError:
        raise StoreError(f"{path} does not exist; `fairbandits replicate` makes it") from None
    if values > max(GROUP * len(names), DENSEST * path.stat().st_size):
        raise _unusable(path, f"is damaged: so few bytes cannot have {values} values")
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
    stat = path.stat()
    known = _VERIFIED.setdefault((path, stat.st_ino, stat.st_size, stat.st_ctime_ns), set())
    for index in range(file.num_row_groups):
        with named(path):
            group = file.read_row_group(index, wanted)
            for name in wanted:
                if (name, index) in known:
                    continue
                if checksum_of(group[name]) != hashes[name][index]:
                    raise _unusable(path, f"was changed: {name} has other values than were written")
                known.add((name, index))
        yield group


#: What this process has verified: file as it is -> columns, each with the place of its group.
_VERIFIED: dict[tuple, set[tuple[str, int]]] = {}


@contextmanager
def named(path: Path, what: str = "is damaged") -> Iterator[None]:
    """Name the file in whatever a library raises that reads it; a missing file stays one."""
    try:
        yield
    except (StoreError, FileNotFoundError):
        raise
    except Exception as error:  # libraries have more kinds of errors than anybody lists
        text = " ".join(str(error).split())
        raise _unusable(path, f"{what} ({type(error).__name__}{text and ': '}{text})") from error


#: Hexadecimal digits of a replicate's hash.
DIGITS = 8


def replicate_hashes(columns: Mapping[str, np.ndarray]) -> dict[int, str]:
    """Return a content hash for each replicate in a chunk's columns, whatever the chunk is."""
    replicate = columns["replicate"]
    order = np.argsort(replicate, kind="stable")
    numbers, starts = np.unique(replicate[order], return_index=True)
    parts = {name: np.split(values[order], starts[1:]) for name, values in columns.items()}
    each = ({name: some[i] for name, some in parts.items()} for i in range(numbers.size))
    hashes = (content_hash(rows)[:DIGITS] for rows in each)
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


def checksum_of(column: pa.ChunkedArray) -> str:
    """Return a checksum of a column: its type, its values, and which are missing.

    It is fast, and tells values that changed below a footer that did not. Who forges both is told
    by `results.lock` and the manifest, which have SHA-256.
    """
    crc = zlib.crc32(f"{len(column)} {column.null_count}".encode())
    if pa.types.is_primitive(column.type):
        crc = zlib.crc32(str(column.type).encode(), crc)
        if column.null_count:
            crc = zlib.crc32(np.packbits(column.is_valid().to_numpy()), crc)
            column = column.fill_null(pa.scalar(0).cast(column.type))
        crc = zlib.crc32(np.ascontiguousarray(column.to_numpy()), crc)
    elif pa.types.is_dictionary(column.type):  # labels of long blocks of rows
        if column.num_chunks != 1:
            column = column.unify_dictionaries()
        column = column.combine_chunks()
        labels, codes = column.dictionary.to_pylist(), column.indices
        codes = (codes.fill_null(-1) if codes.null_count else codes).to_numpy()
        starts = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist()][: codes.size]
        blocks = [(start, labels[codes[start]] if codes[start] >= 0 else None) for start in starts]
        crc = zlib.crc32(json.dumps(blocks).encode(), crc)
    else:
        crc = zlib.crc32(json.dumps(column.to_pylist()).encode(), crc)
    return f"{crc:08x}"


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
