"""The page that teaches how a policy of one's own is compared and compiled."""

from functools import cache

import nbformat
import pytest

import own_policy
import small
from fairbandits.report import late


def cells():
    notebook = nbformat.read(small.NOTEBOOKS / "your_own_policy.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell.source for cell in code if "remove-cell" not in cell.metadata.get("tags", [])]


def value_of(cell, names):
    """Run a cell, and return the value of its last line, as a notebook shows it."""
    *lines, last = cell.splitlines()
    exec(compile("\n".join(lines), "your_own_policy.ipynb", "exec"), names)
    return eval(last, names)


def lines_of(cell):
    return [line for line in cell.splitlines() if line.strip()]


def test_its_policy_is_that_of_the_readme():
    first, *others = cells()
    assert first.startswith(own_policy.CLASS)
    assert len(lines_of(first.removeprefix(own_policy.CLASS))) <= 4
    assert sum(len(lines_of(cell)) for cell in others) <= 9
    assert "fb.compare" in first
    assert "fb.compiled" in others[0]


@pytest.mark.slow
def test_it_has_a_place_in_the_arena(tmp_path_factory):
    first, *_, last = cells()
    folder = small.small_results(tmp_path_factory)
    names = {"__name__": "page", "results": folder / "results"}
    value_of(first.replace("2_000", "200"), names)
    shown = value_of(last, names)
    assert "FairGreedy (yours)" in shown
    assert shown.count("data:image/svg+xml") == 1


def test_it_reads_the_picture_of_late_feedback_aright(monkeypatch):
    *_, cell, _ = cells()
    small_run = {"DELAYS": (0, 10, 100), "ROUNDS": 600, "REPLICATES": 3}
    monkeypatch.setattr(late, "costs", cache(late.costs))
    for name, value in small_run.items():
        monkeypatch.setattr(late, name, value)
    shown = value_of(cell, {})
    assert "T = 600 " in shown
    assert "n = 3 replicates" in shown
    rows = late.costs().pivot(index=["law", "series"], columns="delay", values="mean")
    worst = rows.loc[[*late.MEASURES][1]]
    for kept in ("Fair-UCB", "BF-UCB"):
        assert worst.loc[kept].max() < 1
    assert worst.loc["HT-UCB"].is_monotonic_increasing
    assert worst.loc["HT-UCB", 100] > 10
