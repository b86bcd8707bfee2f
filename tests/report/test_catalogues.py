"""Tables as Croissant, read by the format's own library, and the software as CodeMeta."""

import json
from hashlib import sha256

import pyarrow as pa
import pytest

from fairbandits.data.store import write_table
from fairbandits.report import catalogues
from fairbandits.settings.schemas import ROOT

#: Of the library by which mlcroissant reads.
pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
POINTS = {"round": [1, 2], "mean": [0.5, 0.25], "series": ["a", "b"]}


def read(file):
    """Return a dataset as the format's own library reads it; importing that takes two seconds."""
    import mlcroissant

    return mlcroissant.Dataset(file)


@pytest.fixture
def described(tmp_path):
    facts = {"kind": "figure", "quantity": "the regret up to round t", "unit": "reward"}
    write_table(tmp_path / "toy" / "fig1.parquet", pa.table(POINTS), facts)
    file = tmp_path / "export" / "croissant.json"
    file.parent.mkdir()
    file.write_text(
        catalogues.croissant(tmp_path, ["toy/fig1.parquet"], file.parent), encoding="utf-8"
    )
    return file


@pytest.mark.slow
def test_tables_are_read_with_meaning_and_unit(described):
    metadata = read(described).metadata
    assert not metadata.ctx.issues.errors
    (table,) = metadata.record_sets
    words = {field.name: field.description for field in table.fields}
    assert words["mean"].startswith("Mean over the replicates of the regret up to round t")
    assert "; reward" in words["mean"]
    types = {field.name: str(field.data_types[0]).rpartition("/")[2] for field in table.fields}
    assert types == {"round": "Integer", "mean": "Float", "series": "Text"}
    (file,) = metadata.distribution
    content = (described.parent / file.content_url).read_bytes()
    assert file.sha256 == sha256(content).hexdigest()


@pytest.mark.slow
def test_rows_are_those_of_the_file(described):
    rows = list(read(described).records("toy/fig1"))
    assert [row["toy/fig1/mean"] for row in rows] == POINTS["mean"]


def test_codemeta_follows_from_pyproject_and_citation():
    text = (ROOT / "codemeta.json").read_text(encoding="utf-8")
    assert catalogues.codemeta(ROOT) == text, "fairbandits export --format codemeta --out ."
    assert json.loads(text)["referencePublication"]
