"""Verdicts in the forms that other programs read."""

import csv

import pytest

from fairbandits.report import export

HEAD = {"grade": "measured", "tags": ["IN-PART", "RARE"], "statistic": 0.5, "low": 0.4, "n": 30}
HEAD |= {"high": 0.6, "p": 0.001, "data": ["a.parquet"]}
CLAIM = {"id": "one", "paper": "toy", "place": "p. 1", "statement": "a < b", "kind": "rate"}
CLAIM |= {"basis": "printed", "left_out": None, "verdict": "reproduced", "headline": HEAD}
SAID = {"scale": "smoke", "claims": [CLAIM, CLAIM | {"id": "two", "left_out": "alias"}]}


def test_the_table_has_a_line_for_each_claim_that_counts(tmp_path):
    with export.write("csv", SAID, tmp_path).open(newline="") as file:
        (line,) = csv.DictReader(file)
    for name in ("id", "paper", "place", "statement", "basis", "verdict"):
        assert line[name] == CLAIM[name]
    for name in ("statistic", "low", "high", "n", "p", "grade"):
        assert line[name] == str(HEAD[name])
    assert (line["tags"], line["data"]) == ("IN-PART RARE", "a.parquet")


@pytest.mark.parametrize(("scale", "marked"), [("smoke", True), ("paper", False)])
def test_the_page_escapes_statements_and_marks_small_runs(scale, marked, tmp_path):
    text = export.write("html", SAID | {"scale": scale}, tmp_path).read_text(encoding="utf-8")
    assert "Verdicts on 1 claims" in text
    assert "<td>one</td><td>a &lt; b</td><td>reproduced</td><td>measured</td><td>30</td>" in text
    assert ("these are not results" in text) == marked
