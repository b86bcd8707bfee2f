"""The numbers on the pages: computed from results, compared with what was published."""

import base64
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import shrunk
import small
from fairbandits.data.store import read_footer
from fairbandits.numerals import number
from fairbandits.report import comparison, pages
from fairbandits.report.comparison import Curve, compare, observe, published
from settings_of_a_user import set_otherwise

FIGURES = [f"fig{n}" for n in range(1, 8)]


def curve(*values, law="uniform02", series="arm 1", rounds=None, peaks=None):
    """Return a curve of these replicates at rounds 10, 20, ..., or at the given ones."""
    values = np.array(values, float)
    rounds = np.arange(1, values.shape[1] + 1) * 10 if rounds is None else np.array(rounds)
    return Curve(law, series, rounds, values, peaks)


@pytest.fixture
def paper(tmp_path_factory):
    folder = small.small_results(tmp_path_factory)
    return pages.open_paper("banditq", folder / "results", folder / "figures")


@pytest.mark.parametrize(
    ("quantity", "at", "expected"),
    [
        ("value", 40, [2, 8]),
        ("value", 25, [4.5, 4]),
        ("maximum", 0, [5, 10]),
        ("minimum", 0, [1, -2]),
        ("late maximum", 0, [5, 10]),
        ("late minimum", 0, [2, -2]),
        ("late mean", 0, [(4.5 + 3) / 2, (4 + 9) / 2]),  # rounds 20, 30 and 40
    ],
)
def test_observed_quantities(quantity, at, expected):
    observed = observe(curve([1, 5, 4, 2], [3, -2, 10, 8]), quantity, at)
    np.testing.assert_allclose(observed, expected)


def test_published_number_stands_beside_the_range_of_runs():
    values = np.linspace(0, 100, 101)[:, None] * [1, 1, 1, 1]
    value = {"series": "arm 1", "quantity": "value", "round": 40, "value": 99.5}
    ours = compare([curve(*values)], {"horizon": 40, "values": [value]})
    (row,) = ours.to_dict("records")
    assert (row["run_low"], row["run_high"]) == pytest.approx((2.5, 97.5))
    assert row["published"] == 99.5
    more = {"published run": "published"}
    html = pages.values(ours, "t", ["series", "said"], ["law"], 1, more=more)
    for text in ("2.5 to 97.5", ">99.5<", '<th scope="row">arm 1, round 40</th>', ">uniform02<"):
        assert text in html


def test_rounds_are_the_nearest_recorded_ones_of_each_run():
    rounds = {"a": [1, 9, 12, 100], "b": [1, 40, 1000]}
    drawn = pd.DataFrame([{"run": run, "round": t} for run, ts in rounds.items() for t in ts])
    nearest = pages.at_parts(drawn, [0.1, 1], ["run"])
    assert nearest.to_numpy().tolist() == [["a", 9], ["a", 100], ["b", 40], ["b", 1000]]


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_tables_agree_with_the_drawn_curves(paper, name):
    drawn = paper.table(name).groupby(["law", "series"]).last()
    compared = compare(comparison.curves(paper, name), published("banditq")["figures"][name])
    last = compared[compared["quantity"] == "value"].set_index(["law", "series"])
    assert set(last.index) <= set(drawn.index)
    assert len(last) >= 2
    for column in ("mean", "mean_low", "mean_high", "run_low", "run_high", "n_replicates"):
        np.testing.assert_allclose(last[column], drawn.loc[last.index, column])


def drawing_of(shown):
    return base64.b64decode(re.search(r'base64,([^"]+)"', shown)[1]).decode()


@pytest.mark.slow
def test_published_points_lie_over_curves_of_their_horizon(paper, monkeypatch):
    drawn = drawing_of(comparison.laid_over(paper))
    assert "circles: published" not in drawn  # a small run is shorter
    known = published("banditq")
    for name, entry in known["figures"].items():
        if name in FIGURES:
            entry["horizon"] = int(paper.table(name)["round"].max())
            for read in entry["values"]:
                read["round"] = min(read.get("round", 0), entry["horizon"])
    monkeypatch.setattr(comparison, "published", lambda slug: known)
    with set_otherwise():
        drawn = drawing_of(comparison.laid_over(paper))
    for text in ("circles: published", ">oracle LFG<", ">Figure 7<", ">regret, bandit feedback<"):
        assert text in drawn


def test_numbers_of_the_notebook_stand_beside_ours():
    def row(phrase, printed):
        also = {"lowest of ours": 0.0, "mean": 1.0, "highest of ours": 2.0, "printed": printed}
        return {"reading": "released", "phrase": phrase, "also": also}

    findings = [row("the regret minus ours", 66200), row("the distance minus ours", 0.009)]
    paper = SimpleNamespace(slug="bf_ucb", readings={"released": "As released: a cut."})
    judged = SimpleNamespace(scale="paper", found=lambda _: findings, judging=lambda _: paper)
    drawn = drawing_of(comparison.notebook_laid_over(judged, "bf-notebook-magnitudes"))
    for text in ("circle: published", ">ours, as released<", ">β = 0.3<", ">group 2<"):
        assert text in drawn
    judged.scale = "smoke"
    assert comparison.notebook_laid_over(judged, "bf-notebook-magnitudes") is None


def linked(paper, folder, name):
    """Link a paper's results into a folder, but copy the file of this name, which is returned."""
    (folder / "results" / "banditq").mkdir(parents=True)
    for file in (paper.results / "banditq").iterdir():
        (folder / "results" / "banditq" / file.name).symlink_to(file)
    copy = folder / "results" / "banditq" / f"{name}.parquet"
    copy.unlink()
    return shutil.copyfile(paper.file(name), copy)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"code": "0" * 16}, "is stale"),
        ({"means": [0.5] * 5}, "its means is"),
        ({"runs": {}}, "was run with other settings than papers/banditq/experiments.yaml has"),
    ],
)
def test_results_of_something_else_are_refused(paper, tmp_path, change, says):
    shrunk.rewritten(linked(paper, tmp_path, "oracle_lfg"), **change)
    with pytest.raises(pages.NotReady, match=says) as caught:
        pages.open_paper("banditq", tmp_path / "results", paper.figures)
    assert "make replicate" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["seed", "code"])
def test_figures_of_another_dataset_are_refused(paper, tmp_path, key):
    drawn_of = read_footer(paper.file("fig7"))["datasets"]
    drawn_of[0][key] = "another"
    shrunk.rewritten(linked(paper, tmp_path, "fig7"), datasets=drawn_of)
    says = f"fig7.parquet is stale: oracle_lfg had {key} another when it was drawn, now "
    with pytest.raises(pages.NotReady, match=says):
        pages.open_paper("banditq", tmp_path / "results", paper.figures)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0, 0, "0"),
        (-0.4, 0, "0"),
        (-13982.4, 0, "−13\u202f982"),
        (1234567.891, 2, "1\u202f234\u202f567.89"),
        (0.16651, 5, "0.16651"),
    ],
)
def test_numbers(value, digits, text):
    assert number(value, digits) == text


@pytest.mark.parametrize("folder", ["notebooks", "."])
def test_notebooks_find_their_results_from_their_folder_and_the_projects(monkeypatch, folder):
    monkeypatch.chdir(pages.ROOT / folder)
    assert pages.in_project("../results").resolve() == pages.ROOT / "results"
    for other in ("results/smoke", "/tmp/results"):
        assert str(pages.in_project(other)) == other


def test_missing_files_name_the_folders_that_were_searched(tmp_path):
    message = f"are missing in {tmp_path}/x and {tmp_path}/y, first x/banditq/"
    with pytest.raises(pages.NotReady, match=re.escape(message)):
        pages.open_paper("banditq", tmp_path / "x", tmp_path / "y")
