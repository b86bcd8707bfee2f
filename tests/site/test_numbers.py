"""README's numbers: worked out from tables, written between their marks, and the committed ones."""

import pandas as pd
import pyarrow as pa
import pytest
import yaml

from fairbandits.experiments.schemas import ROOT, ConfigError
from fairbandits.site.numbers import MARK, csv_of, differing, numbers_of, texts_of, written
from fairbandits.store import write_table

FINDINGS = [
    {"claim": "t-a", "test": "mean", "each": "arm 1", "statistic": "0.25"},
    {"claim": "t-a", "test": "mean", "each": "arm 2", "statistic": "1234.5"},
]


@pytest.fixture
def place(tmp_path):
    """Return a function from entries to the numbers of a paper with one figure's table."""
    frame = pd.DataFrame({"series": ["a", "a", "b"], "round": [1, 9, 9], "mean": [1.0, 2.5, -3.0]})
    file = tmp_path / "results" / "toy" / "fig1.parquet"
    write_table(file, pa.Table.from_pandas(frame, preserve_index=False), {"kind": "figure"})
    (tmp_path / "papers" / "toy").mkdir(parents=True)

    def function(entries):
        file = tmp_path / "papers" / "toy" / "numbers.yaml"
        file.write_text(yaml.safe_dump(entries))
        return list(numbers_of("toy", tmp_path / "results", FINDINGS, tmp_path))

    return function


def test_numbers_come_from_tables_and_findings(place):
    ends = {"table": {"file": "toy/fig1", "series": "a", "round": "last"}, "format": ".2f"}
    share = {"finding": {"claim": "t-a", "each": "arm 1"}, "times": 100, "format": ".0f"}
    large = {"finding": {"claim": "t-a", "each": "arm 2"}, "format": ",.1f"}
    found = {one.name: one for one in place({"ends": ends, "share": share, "large": large})}
    one, two, three = (found[name] for name in ("ends", "share", "large"))
    assert (one.value, one.text) == (2.5, "2.50")
    assert one.source == "toy/fig1.parquet: round = last, series = a, mean"
    assert (two.value, two.text) == (25.0, "25")
    assert three.text == "1 234.5"
    assert csv_of([one]).splitlines()[1].startswith("ends,2.5,2.50,")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"table": {"file": "toy/fig1"}}, "must have one row with , got 3"),
        (
            {"table": {"file": "toy/fig1", "seres": "a"}},
            "no column 'seres'; did you mean 'series'?",
        ),
        (
            {"finding": {"claim": "t-b"}},
            "audit/findings.csv must have one row with claim = t-b, got 0",
        ),
        ({"finding": {"claim": "t-a"}, "table": {}}, "must have one of table and finding"),
        ({"finding": {"claim": "t-a"}, "clmn": 1}, "must have one of table and finding, and may"),
        (
            {"table": {"file": "toy/fig1", "series": "b"}, "column": "men"},
            "no column 'men'; did you mean 'mean'?",
        ),
    ],
)
def test_what_is_not_one_row_is_refused(entry, words, place):
    with pytest.raises(ConfigError) as error:
        place({"x": entry})
    assert "papers/toy/numbers.yaml: x" in str(error.value)
    assert words in str(error.value)


def test_marks_are_filled_and_compared():
    text = "from <!--n:one-->1<!--/n--> to <!--n:two-->9<!--/n-->"
    assert written(text, {"one": "1", "two": "2"}).endswith("to <!--n:two-->2<!--/n-->")
    assert differing(text, {"one": "1", "two": "2"}) == ["two: README.md has '9', it is '2'"]
    with pytest.raises(ConfigError, match="no number 'two'; did you mean"):
        written(text, {"one": "1", "two_": "2"})


def test_readme_has_the_committed_numbers():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert MARK.findall(text)
    assert differing(text, texts_of(ROOT / "audit" / "numbers.csv")) == []
