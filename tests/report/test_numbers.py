"""Numbers of pages: worked out from tables, written between their marks, and those committed."""

import shutil

import pandas as pd
import pyarrow as pa
import pytest
import yaml

import real
from fairbandits.audit.rows import read
from fairbandits.audit.totals import tally
from fairbandits.data.store import write_table
from fairbandits.report.audit import Audit
from fairbandits.report.numbers import (
    ALL,
    ARENA,
    MARK,
    PAGES,
    csv_of,
    edited_pages,
    numbers_of,
    repetitions,
    texts_of,
    totals_of,
    written,
)
from fairbandits.settings.schemas import ROOT, ConfigError, read_yaml

OWN = real.papers()


def own_numbers(paper):
    file = ROOT / "papers" / paper / "numbers.yaml"
    return read_yaml(file) if file.is_file() else {}


#: Each number that pages can cite -> its paper.
KNOWN = {
    name: paper
    for paper in (*OWN, ALL, ARENA)
    for name in (*own_numbers(paper), *(total.name for total in totals_of({paper: tally([])})))
}
KNOWN |= {number.name: ALL for number in repetitions()}
COMMITTED = {row["claim"] for row in read(ROOT / "audit" / "findings.csv", OWN, "findings").rows}
JUDGED = {slug for slug, paper in OWN.items() if COMMITTED & paper.claims.keys()}
JUDGED |= {ALL, ARENA}

FINDINGS = [
    dict(zip(("claim", "test", "each", "verdict", "statistic"), row, strict=True))
    for row in [
        ("t-a", "mean", "arm 1", "reproduced", "0.25"),
        ("t-a", "mean", "arm 2", "reproduced", "1234.5"),
        ("t-a", "cells", "T = 500", "reproduced", "1"),
        ("t-a", "cells", "T = 1000", "not reproduced", "-1"),
        ("t-a", "cells", "T = 2000", "inconclusive", ""),
        ("t-a", "cells", "T = 4000", "reproduced", "2"),
    ]
]


@pytest.fixture
def numbers(tmp_path):
    """Return a function from entries to the numbers of a paper with one figure's table."""
    frame = pd.DataFrame({"series": ["a", "a", "b"], "round": [1, 9, 9], "mean": [1.0, 2.5, -3.0]})
    file = tmp_path / "results" / "toy" / "fig1.parquet"
    write_table(file, pa.Table.from_pandas(frame, preserve_index=False), {"kind": "figure"})
    (tmp_path / "papers" / "toy").mkdir(parents=True)

    def function(entries):
        entries = {name: {"unit": "pulls"} | entry for name, entry in entries.items()}
        file = tmp_path / "papers" / "toy" / "numbers.yaml"
        file.write_text(yaml.safe_dump(entries))
        judged = Audit({}, [], FINDINGS, "paper", tmp_path / "results")
        return list(numbers_of("toy", judged, tmp_path))

    return function


def test_numbers_come_from_tables_and_findings(numbers):
    ends = {"table": {"file": "toy/fig1", "series": "a", "round": "last"}, "format": ".2f"}
    begins = {"table": {"file": "toy/fig1", "series": "a", "round": "first"}, "format": "+.1f"}
    share = {"finding": {"claim": "t-a", "each": "arm 1"}, "times": 100, "format": ".0f"}
    large = {"finding": {"claim": "t-a", "each": "arm 2"}, "format": ",.1f"}
    entries = {"ends": ends, "share": share, "large": large, "begins": begins}
    by_name = {number.name: number for number in numbers(entries)}
    first, second, third, fourth = (by_name[name] for name in entries)
    assert (first.value, first.text) == (2.5, "2.50")
    assert first.source == "toy/fig1.parquet: round = last, series = a, mean"
    assert (second.value, second.text) == (25.0, "25")
    assert third.text == "1 234.5"
    assert fourth.text == "+1.0"
    assert csv_of([first]).splitlines()[1].startswith("ends,2.5,2.50,")


def test_a_setting_is_read_from_its_experiment(numbers, tmp_path):
    file = tmp_path / "papers" / "toy" / "audit.yaml"
    chosen = {"experiment": "long", "key": "horizon"}
    for rounds in (5000, 70000):  # the text follows the experiment
        file.write_text(yaml.safe_dump({"experiments": {"long": {"horizon": {"value": rounds}}}}))
        (number,) = numbers({"rounds": {"setting": chosen}})
        assert number.text == f"{rounds:,}".replace(",", " ")
        assert number.source == "papers/toy/audit.yaml: long, horizon, value"
    with pytest.raises(ConfigError, match="no experiment 'lang'; did you mean 'long'"):
        numbers({"rounds": {"setting": chosen | {"experiment": "lang"}}})


def test_runs_are_averaged_over_replicates(numbers, tmp_path):
    frame = pd.DataFrame({"replicate": [0, 1, 0], "round": [9, 9, 1], "reward": [1.0, 2.0, 7.0]})
    file = tmp_path / "results" / "toy" / "runs.parquet"
    write_table(file, pa.Table.from_pandas(frame, preserve_index=False), {"kind": "dataset"})
    (number,) = numbers({"x": {"runs": {"file": "toy/runs", "round": "last"}, "format": ".1f"}})
    assert number.text == "1.5"
    with pytest.raises(ConfigError, match="must have one row with , got 3"):
        numbers({"x": {"runs": {"file": "toy/runs"}}})


CELLS = {"claim": "t-a", "test": "cells"}


def test_findings_are_counted_by_their_outcome(numbers):
    outcomes = ("reproduced", "not reproduced", "inconclusive", "not testable")
    entries = {text.replace(" ", "_"): {"count": CELLS | {"outcome": text}} for text in outcomes}
    entries |= {"all": {"count": CELLS}, "one": {"count": CELLS | {"each": "T = 500"}}}
    by_name = {number.name: number for number in numbers(entries)}
    assert [by_name[name].text for name in entries] == ["2", "1", "1", "0", "4", "1"]
    source = "audit/findings.csv: claim = t-a, outcome = not reproduced, test = cells, rows"
    assert by_name["not_reproduced"].source == source


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"table": {"file": "toy/fig1"}}, "must have one row with , got 3"),
        ({"table": {"file": "toy/fig1", "seres": "a"}}, "no column 'seres'; did you mean 'series'"),
        ({"finding": {"claim": "t-b"}}, "must have one row with claim = t-b, got 0"),
        ({"finding": {"claim": "t-a"}, "table": {}}, "must have one of table, runs, finding, aren"),
        ({}, "must have one of table, runs, finding, arena, count, setting; got unit"),
        ({"finding": {"claim": "t-a", "each": "arm 1"}, "unit": ""}, "x must have a unit, got ''"),
        ({"count": CELLS, "times": 2}, "may have unit, format beside count; got times"),
        ({"count": {"claim": "t-a"}}, "count must name claim and test, got no test"),
        ({"count": CELLS | {"test": "cell"}}, "rows with claim = t-a, test = cell, got none"),
        ({"count": CELLS | {"outcome": "reproducd"}}, "no outcome 'reproducd'; did you mean 'repr"),
        ({"finding": {"each": "T = 2000"}}, "statistic must be a number, got ''"),
        ({"table": {"file": "toy/fig1", "series": "b"}, "column": "men"}, "did you mean 'mean'?"),
    ],
)
def test_what_is_not_one_row_is_refused(entry, message, numbers):
    with pytest.raises(ConfigError) as error:
        numbers({"x": entry})
    assert "papers/toy/numbers.yaml: x" in str(error.value)
    assert message in str(error.value)


def test_marks_are_filled():
    text = "from <!--n:one-->1<!--/n--> to <!--n:two-->9<!--/n-->"
    assert written(text, {"one": "1", "two": "2"}, "a page").endswith("to <!--n:two-->2<!--/n-->")
    with pytest.raises(ConfigError, match="no number 'two'; did you mean"):
        written(text, {"one": "1", "two_": "2"}, "a page")


def pages():
    return "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)


def test_pages_have_the_committed_numbers():
    """Those of papers whose claims are judged; the others have no committed table yet."""
    text = pages()
    names = {name for name, _ in MARK.findall(text)}
    assert names <= KNOWN.keys()
    waiting = {name for name in names if KNOWN[name] not in JUDGED}
    assert len(names - waiting) > 20
    others = MARK.sub(lambda mark: "" if mark[1] in waiting else mark[0], text)
    assert written(others, texts_of(ROOT / "audit" / "numbers.csv"), "pages") == others


def test_repetitions_are_those_of_the_committed_table():
    texts = texts_of(ROOT / "audit" / "numbers.csv")
    assert {number.name: number.text for number in repetitions()}.items() <= texts.items()


def test_a_verdict_is_contradicted_if_it_and_another_are_sure(monkeypatch):
    came = [("a", "a", "yes"), ("a", "inconclusive", "no"), ("inconclusive", "a", "no")]
    rows = [dict(zip(("verdict", "found", "again"), row, strict=True)) for row in came]
    for contrary in (0, 1):
        monkeypatch.setattr("fairbandits.report.numbers.agreement", lambda _, now=rows: now)
        assert [number.value for number in repetitions()] == [len(rows), 1, contrary]
        rows = [*rows, {"verdict": "a", "found": "b", "again": "no"}]


@pytest.mark.parametrize(
    ("page", "before", "after"),
    [
        (PAGES[0], "<!--/n-->", "0<!--/n-->"),
        (PAGES[0], "*Setting.*", "*Settings.*"),
        (PAGES[1], "<!--/n-->", "0<!--/n-->"),
    ],
)
def test_an_edited_page_is_named(page, before, after, tmp_path):
    for name in ("audit", "figures", "papers"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    assert edited_pages(OWN, tmp_path) == []
    file = tmp_path / page
    text = file.read_text(encoding="utf-8")
    begin = text.index("<!--findings-->") if page == PAGES[0] else 0
    assert before in text[begin:]
    file.write_text(text[:begin] + text[begin:].replace(before, after, 1), encoding="utf-8")
    assert [line.partition(" ")[0] for line in edited_pages(OWN, tmp_path)] == [page]


def test_each_defined_number_is_cited():
    """A number that no page has is worked out for nobody; totals are for a table."""
    text = pages()
    cited = {name for name, _ in MARK.findall(text)}
    for paper in (*OWN, ARENA):
        assert own_numbers(paper).keys() <= cited
