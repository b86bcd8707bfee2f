"""Whatever bytes a file has, its reader reads it, or refuses it in its own words and in seconds."""

import json
import string

import nbformat
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fairbandits.audit.own import HISTORY, read_history
from fairbandits.data.store import StoreError, read_table, write_table
from fairbandits.replication.bundles import read_plan
from fairbandits.replication.lock import read_lock
from fairbandits.report.build import _read
from fairbandits.settings.schemas import ConfigError, read_yaml

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda sub: st.lists(sub, max_size=3) | st.dictionaries(st.sampled_from(string.hexdigits), sub),
)
SIGNS = st.text("[]{}-?:,&*!|>'\"%@#<=~.019eE_+ ab\t\n\\\0\u2028", max_size=60).map(str.encode)
ANY = st.binary(max_size=60) | SIGNS | JSON.map(lambda content: json.dumps(content).encode())


def spoilt(content):
    """Return bytes of a file of which some were replaced, and all before or after are left out."""
    ends = st.integers(0, len(content))
    return st.builds(
        lambda at, new, more: content[:at] + new + content[at + more :], ends, ANY, ends
    )


def table(file):
    write_table(file, pa.table({"x": [1.0, 2.0]}), {"kind": "chunk"})


def notebook(file):
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), file)


def text(content):
    return lambda file: file.write_text(content)


#: Reader -> the file's name, what writes a good one, and the reader's own error.
READERS = {
    "settings": ("a.yaml", text("a: &a {b: [1e3, 'c']}\nd: {<<: *a}\n"), read_yaml, ConfigError),
    "plan": ("a.json", text("[]"), lambda file: read_plan(file, "chunks"), ConfigError),
    "lock": ("a.lock", text('{"seed": 1, "runs": {}}'), read_lock, StoreError),
    "history": (HISTORY, text("[]"), lambda file: read_history(file.parent), StoreError),
    "table": ("a.parquet", table, read_table, StoreError),
    "notebook": ("a.ipynb", notebook, _read, ValueError),
}


def fuzz(kind, folder, tries):
    name, make, read, error = READERS[kind]
    make(file := folder / name)
    read(file)
    tried = []

    @settings(
        max_examples=tries,
        deadline=5000,
        database=None,
        derandomize=True,
        suppress_health_check=[*HealthCheck],
    )
    @given(ANY | spoilt(file.read_bytes()))
    @example(b"[" * 200_000)
    @example(b'{"a":' * 200_000)
    @example(b"\xff\xfe")
    def reads(content):
        tried.append(content)
        file.write_bytes(content)
        said = str(file)
        try:
            read(file)
        except error as refused:
            said = str(refused)
        assert str(file) in said

    reads()
    return len(tried)


@pytest.mark.parametrize("kind", READERS)
def test_any_bytes_are_read_or_refused(kind, tmp_path, record_property):
    record_property("tries", fuzz(kind, tmp_path, 60))


@pytest.mark.campaign
@pytest.mark.parametrize("kind", READERS)
def test_many_bytes_are_read_or_refused(kind, tmp_path, record_property):
    record_property("tries", fuzz(kind, tmp_path, 5000))
