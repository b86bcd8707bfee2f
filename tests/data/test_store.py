"""Parquet files: what they say of themselves, that they are whole, that anyone can read them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from fairbandits.data import store
from fairbandits.data.provenance import git_commit, package_versions
from fairbandits.data.store import (
    HASHES,
    KEY,
    SCHEMA_VERSION,
    StoreError,
    content_hash,
    read_footer,
    read_table,
    replacing,
    row_groups,
    table_hash,
    write_table,
)

ROWS = 300
RECORD = {"kind": "chunk", "block": {"means": [0.1, 0.2]}, "seed": 3}


@pytest.fixture
def table(rng):
    """Return a table with every type of column that our files have."""
    name = pa.DictionaryArray.from_arrays(pa.array(np.zeros(ROWS, np.int32)), pa.array(["one-law"]))
    return pa.table(
        {
            "run": name,
            "replicate": np.arange(ROWS, dtype=np.int32) // 10,
            "round": np.arange(ROWS, dtype=np.int64) * 10**9,
            "reward": rng.normal(size=ROWS),
            "queue": np.round(rng.normal(size=ROWS)),
        }
    )


@pytest.fixture
def file(tmp_path, table):
    path = tmp_path / "folder" / "data.parquet"
    write_table(path, table, RECORD)
    return path


def numeric(table):
    return {name: table[name].to_numpy() for name in table.column_names if name != "run"}


def refusal(path):
    """Return the message with which a file is refused: one line that names it."""
    with pytest.raises(StoreError) as error:
        read_table(path)
    text = str(error.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text


def test_round_trip(file, table):
    again = read_table(file)
    assert again.schema.remove_metadata() == table.schema
    assert again.equals(table)
    assert read_table(file, ["reward", "round"]).column_names == ["reward", "round"]


def test_footer_says_what_made_the_file(file):
    footer = read_footer(file)
    made_by = {"packages": package_versions(), "commit": git_commit()}
    assert footer == RECORD | {"schema": SCHEMA_VERSION} | made_by
    assert {"fairbandits", "numba", "numpy", "pyarrow"} == footer["packages"].keys()
    assert json.loads(pq.read_schema(file).metadata[KEY]) == footer


def test_same_table_gives_same_bytes(file, table, tmp_path):
    write_table(tmp_path / "again.parquet", table, RECORD)
    assert (tmp_path / "again.parquet").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("before", [{}, {"data.parquet": b"old"}], ids=["new", "old"])
def test_failed_writing_leaves_all_as_it_was(tmp_path, before):
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)

    def fail():
        with replacing(tmp_path / "data.parquet") as temporary:
            temporary.write_bytes(b"half")
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        fail()
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_nothing_is_seen_at_the_path_before_it_is_whole(tmp_path):
    path = tmp_path / "new" / "data.txt"
    with replacing(path) as temporary:
        temporary.write_text("all")
        assert temporary.parent == path.parent
        assert temporary.suffix == path.suffix
        assert not path.exists()
    assert path.read_text() == "all"
    assert list(path.parent.iterdir()) == [path]


def test_no_parquet_file(file, rng, tmp_path):
    missing = tmp_path / "none.parquet"
    assert refusal(missing) == f"{missing} does not exist; `fairbandits replicate` makes it"
    content = file.read_bytes()
    cut = [content[: int(left * len(content))] for left in (0.0, 0.1, 0.5, 0.9, 0.999)]
    for form in (*cut, *(rng.bytes(size) for size in (1, 8, 1000))):
        file.write_bytes(form)
        text = refusal(file)
        assert "is not a readable Parquet file" in text
        assert text.endswith("delete it and run again")


def test_no_flipped_bit_goes_unseen(file, rng):
    """Pages have checksums: doubles that do not compress would give another number."""
    content = file.read_bytes()
    length = pq.ParquetFile(file).metadata.serialized_size + 8
    wanted = content_hash(numeric(read_table(file)))
    unseen = 0
    for at in rng.choice(len(content) - length, 200, replace=False):
        spoilt = bytearray(content)
        spoilt[at] ^= 1 << int(rng.integers(8))
        file.write_bytes(spoilt)
        try:
            table = read_table(file)
        except StoreError:
            continue
        unseen += 1  # it was in what pages say of themselves, not in their data
        assert content_hash(numeric(table)) == wanted
    assert unseen < 50


def of_version(version):
    """Return metadata of another schema version, and what is said of it."""
    record = json.dumps({"schema": version, "kind": "chunk"}).encode()
    return {KEY: record}, f"has schema version {version!r}, this code reads {SCHEMA_VERSION}"


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        *(({KEY: text}, "is damaged") for text in (b"not JSON", b"\xff", b"[1]", b"3", b'"text"')),
        *((metadata, "was not written by fairbandits") for metadata in (None, {b"pandas": b"{}"})),
        *map(of_version, (0, SCHEMA_VERSION + 1, "1", None)),
    ],
)
def test_other_footers(tmp_path, table, metadata, says):
    path = tmp_path / "other.parquet"
    pq.write_table(table.replace_schema_metadata(metadata), path)
    assert says in refusal(path)


def test_hash_is_of_the_content_only(table, tmp_path):
    columns = numeric(table)
    wanted = content_hash(columns)
    assert len(wanted) == 64
    assert content_hash(dict(reversed(columns.items()))) == wanted
    assert content_hash({name: np.repeat(v, 2)[::2] for name, v in columns.items()}) == wanted
    big = {name: v.astype(v.dtype.newbyteorder(">")) for name, v in columns.items()}
    assert content_hash(big) == wanted
    chunked = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    assert chunked["reward"].num_chunks == 2
    assert content_hash(numeric(chunked)) == wanted
    options = [
        {},
        {"compression": "none", "use_dictionary": False},
        {"compression": "gzip", "row_group_size": 11, "data_page_version": "2.0"},
        {"column_encoding": {"reward": "BYTE_STREAM_SPLIT"}, "use_dictionary": ["run"]},
    ]
    for k, chosen in enumerate(options):
        pq.write_table(table, tmp_path / f"{k}.parquet", **chosen)
        assert content_hash(numeric(pq.read_table(tmp_path / f"{k}.parquet"))) == wanted
    write_table(tmp_path / "ours.parquet", table, {})
    assert content_hash(numeric(read_table(tmp_path / "ours.parquet"))) == wanted


#: What is changed, or taken away, of the columns.
CHANGES = {
    "one ulp": lambda columns: columns | {"reward": np.nextafter(columns["reward"], np.inf)},
    "rows swapped": lambda columns: columns | {"round": np.roll(columns["round"], 1)},
    "names exchanged": lambda c: c | {"queue": c["reward"], "reward": c["queue"]},
    "narrower": lambda columns: columns | {"queue": columns["queue"].astype(np.float32)},
    "a column less": lambda columns: {name: columns[name] for name in columns if name != "queue"},
    "a row less": lambda columns: {name: values[:-1] for name, values in columns.items()},
    "a row in the next column": lambda c: (
        c | {"queue": np.append(c["queue"], c["reward"][0]), "reward": c["reward"][1:]}
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_hash_sees_every_change(table, change):
    columns = numeric(table)
    assert content_hash(CHANGES[change](dict(columns))) != content_hash(columns)


def test_a_table_has_the_same_hash_after_it_was_read(tmp_path):
    columns = {"flag": [True, False, None], "real": [0.1, None, -0.0]}
    columns |= {"word": pa.array(["a", None, "ü"]).dictionary_encode()}
    given = pa.table(columns | {"whole": pa.array([1, 2, 3], pa.int16())})
    file = tmp_path / "table.parquet"
    write_table(file, given, {"kind": "any", "content": table_hash(given)})
    assert read_table(file).num_rows == 3  # it would be refused
    for name in given.column_names:
        at = given.column_names.index(name)
        other = given.set_column(at, name, given[name].take(pa.array([1, 0, 2])))
        write_table(file, other, read_footer(file))
        with pytest.raises(StoreError, match=f"{file} was changed: its content has hash"):
            read_table(file)


@pytest.mark.parametrize("column", ["run", "reward", "round"])
def test_values_that_changed_below_their_footer_are_refused_by_every_reader(file, table, column):
    other = table[column].combine_chunks().take(pa.array([*range(1, ROWS), 0]))
    if column == "run":
        other = pa.array(["another"] * ROWS).dictionary_encode()
    at = table.column_names.index(column)
    known = pq.read_metadata(file).metadata
    with pq.ParquetWriter(file, pq.read_schema(file)) as writer:
        writer.write_table(table.set_column(at, column, other).cast(writer.schema))
        writer.add_key_value_metadata({HASHES: known[HASHES]})
    said = f"{file} was changed: {column} has other values than were written"
    readers = read_table, lambda file: read_table(file, [column]), lambda file: [*row_groups(file)]
    for read in readers:
        with pytest.raises(StoreError, match=said):
            read(file)
    others = [name for name in table.column_names if name != column]
    assert read_table(file, others).num_rows == ROWS


def test_rows_are_chosen_after_all_were_verified(tmp_path, table, monkeypatch):
    monkeypatch.setattr(store, "GROUP", 70)
    write_table(tmp_path / "parts.parquet", table, RECORD)
    names, rows = ["replicate", "reward"], pc.field("replicate") < 9
    chosen = read_table(tmp_path / "parts.parquet", names, rows)
    assert chosen.equals(table.select(names).slice(0, 90))


def with_pandas(file):
    return {name: column.to_numpy() for name, column in pd.read_parquet(file).items()}


def with_polars(file):
    import polars as pl

    return {column.name: column.to_numpy() for column in pl.read_parquet(file)}


def with_duckdb(file):
    import duckdb

    return duckdb.connect().read_parquet(str(file)).fetchnumpy()


SLOW = {"marks": pytest.mark.slow}


@pytest.mark.parametrize(
    "reader", [with_pandas, pytest.param(with_polars, **SLOW), pytest.param(with_duckdb, **SLOW)]
)
def test_others_read_the_same_numbers(file, table, reader):
    columns = reader(file)
    assert list(columns) == table.column_names
    assert set(np.asarray(columns.pop("run")).astype(str)) == {"one-law"}
    same = {name: np.asarray(values) for name, values in columns.items()}
    assert content_hash(same) == content_hash(numeric(table))


def test_a_file_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "zeros.parquet"
    write_table(file, pa.table({"x": np.zeros(10**6)}), {"kind": "figure"})
    assert read_table(file).num_rows == 10**6
    monkeypatch.setattr(store, "GROUP", 10**5)
    monkeypatch.setattr(store, "DENSEST", 1)
    with pytest.raises(StoreError, match="is damaged: so few bytes cannot have 10"):
        read_table(file)
