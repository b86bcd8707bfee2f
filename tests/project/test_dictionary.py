"""The data dictionary has every column that there is, and says what it means."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import real
from commands import said
from fairbandits.audit.rows import COMMITTED, SCHEMAS
from fairbandits.data import dictionary
from fairbandits.data.dictionary import RECORDED, TABLES, Column, column_of
from fairbandits.data.store import StoreError, read_table, table_hash, write_table
from fairbandits.report.describing import describe, page
from fairbandits.settings.schemas import ROOT


def probes_of(registry):
    """Return the probes of all registered classes that have some of their own."""
    listed = (registry[name].probes for name in registry)
    return {probe for probes in listed if isinstance(probes, tuple) for probe in probes}


def test_every_recorded_column_is_in_it():
    from fairbandits.library.simulation import TAKEN
    from fairbandits.observers import OBSERVERS
    from fairbandits.policies import POLICIES

    names = {*TAKEN, *probes_of(POLICIES), *probes_of(OBSERVERS)}
    assert [name for name in sorted(names) if column_of("dataset", name, {}) is None] == []


def test_a_column_is_described_where_it_is_written(tmp_path, monkeypatch):
    section = """
    Columns
    -------
    sum_of_it : pulls, or reward
        Sum of 1. of it, over
        rounds 1..t. Range: at least 0. One value for each round. Never falls.
    other
        Nothing else.

    References
    ----------
    """
    monkeypatch.setattr(dictionary, "PACKAGE", tmp_path)
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "one.py").write_text(f'class One:\n    """One.\n{section}"""\n')
    assert dictionary.declared("some") == {
        "sum_of_it": Column(
            "Sum of 1. of it, over rounds 1..t", "pulls, or reward", "at least 0", "round", True
        ),
        "other": Column("Nothing else"),
    }
    (tmp_path / "some" / "two.py").write_text(f'class Two:\n    """Two.\n{section}"""\n')
    with pytest.raises(ValueError, match="the column sum_of_it is described twice in some"):
        dictionary.declared("some")


def test_every_swept_parameter_is_in_it():
    for experiment in real.config().experiments:
        facts = experiment.facts()
        swept = {name for run in facts["runs"].values() for name in run.get("sweep", ())}
        for name in swept:
            assert name in column_of("dataset", name, facts).meaning
    assert column_of("dataset", "tolerance", {}) is None


def test_every_column_of_the_audit_is_in_it():
    names = {name for kind in SCHEMAS for name in (*SCHEMAS[kind].names, *COMMITTED[kind])}
    assert names == TABLES["judged"].keys()


def test_the_page_is_in_the_documents():
    text = (ROOT / "docs" / "data-dictionary.md").read_text(encoding="utf-8")
    assert page() == text, "fairbandits describe > docs/data-dictionary.md"
    assert said("describe") == text


def test_files_carry_it_and_their_content_stays(tmp_path):
    file, table = tmp_path / "some.parquet", pa.table({"arm": [1], "other": [1.0]})
    write_table(file, table, {"kind": "dataset"})
    arm, other = pq.read_schema(file)
    assert arm.metadata == {
        b"description": RECORDED["arm"].meaning.encode(),
        b"range": RECORDED["arm"].range.encode(),
    }
    assert other.metadata is None
    assert table_hash(read_table(file)) == table_hash(table)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("README.md", "is not a readable Parquet file"),
        ("benchmarks/growth.csv", "is none of the committed tables, audit/verdicts.csv and"),
        ("none.csv", "cannot be read"),
        ("none.parquet", "does not exist"),
    ],
)
def test_another_file_is_refused(name, message):
    with pytest.raises(StoreError, match=message) as error:
        describe(ROOT / name)
    assert str(Path(name)) in str(error.value)
    assert "delete" not in str(error.value)  # it was only looked at
