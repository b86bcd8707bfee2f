"""Every figure: drawn from a dataset, with the numbers of the dataset, the same bytes each time."""

import html
import struct
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest
import yaml
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from scipy import stats

import naive
import small
from fairbandits.data.dictionary import column_of
from fairbandits.data.provenance import replay_code
from fairbandits.data.store import read_footer, read_table
from fairbandits.figures import PAPERS, fair_ucb
from fairbandits.figures.draw import draw, drawn, function_of
from fairbandits.library import style
from fairbandits.library.style import LAW_TITLES
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import runs_of
from fairbandits.report.numbers import IMAGE, described
from settings_of_a_user import set_otherwise

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it has invalid escapes
    import colorspacious

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
REPLICATES = small.REPLICATES
DRAWN = [(paper, figure) for paper, figures in PAPERS.items() for figure in figures]
every_figure = pytest.mark.parametrize(("paper", "figure"), DRAWN, ids=map("-".join, DRAWN))
#: What the horizontal axis has where it is not the number of rounds.
ACROSS = {
    ("fair_ucb", "fig2"): "tolerance",
    ("ht_ucb", "fig1"): "1 / Δ²",
    ("ht_ucb", "fig3"): "scale parameter η",
    ("ht_ucb", "fig4"): "summed shortfall (pulls)",
    ("bf_ucb", "fig3b"): "BF-UCB",
    ("bf_ucb", "fig3c"): "A10",
}
CURVE = ["mean", "mean_low", "mean_high", "run_low", "run_high", "one_run"]


def configured(kind):
    """Return the paper and name of each figure of experiments, or replays, in the configuration."""
    return [
        (file.parent.name, figure)
        for file in sorted(ROOT.glob("papers/*/experiments.yaml"))
        for block in yaml.safe_load(file.read_text(encoding="utf-8")).get(kind, {}).values()
        for figure in block.get("figures", [])
    ]


SIMULATED, REPLAYED = configured("experiments"), configured("replays")
#: One figure of each kind.
KINDS = {(pair[0], PAPERS[pair[0]][pair[1]].function, pair in REPLAYED): pair for pair in DRAWN}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small.small_results(tmp_path_factory)


@pytest.fixture(scope="module")
def config(folder):
    return small.small_config(folder)


def datasets_of(config, paper, figure):
    folder = Path(config.folders["results"]) / "results"
    return [folder / experiment.dataset for experiment in config.shown_in(paper, figure)]


@pytest.fixture(scope="module")
def replays(folder):
    table = "results/banditq/replay_1000_{}.parquet".format
    return {feedback: folder / table(feedback) for feedback in ("full", "bandit")}


def feedback_of(figure):
    return "full" if int(figure.removeprefix("fig")) <= 10 else "bandit"


def replayed(file):
    replay = read_table(file).to_pandas()
    replay.attrs = read_footer(file)
    return replay


#: What each figure of a replay shows: quantity in its columns, and series.
SHOWN = {f"fig{k}": ("rate", "queue", "regret")[(k - 8) % 3] for k in range(8, 14)}


@pytest.fixture(scope="module")
def drawings(folder):
    def drawn(paper, figure):
        images = folder / "figures" / paper / figure
        table = folder / "results" / paper / f"{figure}.parquet"
        return {kind: images.with_suffix(f".{kind}") for kind in ("svg", "png")} | {"table": table}

    return drawn


def test_configured_figures_are_those_that_can_be_drawn():
    assert sorted(SIMULATED + REPLAYED) == sorted(DRAWN)


@every_figure
def test_figure_is_written(drawings, paper, figure):
    files = drawings(paper, figure)
    svg = files["svg"].read_text(encoding="utf-8")
    assert svg.startswith("<?xml")
    number, text = figure.removeprefix("fig"), html.unescape(svg)
    assert f"<title>Figure {number}: {PAPERS[paper][figure].label}</title>" in text
    told = text.partition("<desc>")[2].partition("</desc>")[0]
    assert f"{REPLICATES} replicates" in told or "one run of" in told
    assert ACROSS.get((paper, figure), "number of rounds") in svg  # text stays text
    assert "<dc:date>" not in svg
    png = files["png"].read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    assert 800 <= width <= 1600
    assert height <= 1.3 * width
    footer = read_footer(files["table"])
    assert (footer["kind"], footer["paper"], footer["figure"]) == ("figure", paper, figure)
    for name in read_table(files["table"]).column_names:
        assert column_of("figure", name, footer), f"{name} is not in the data dictionary"
    if (paper, figure) in REPLAYED:
        assert footer["datasets"] == []
        assert footer["replay"]["code"] == replay_code()
    else:
        assert footer["datasets"][0]["seed"] == small.SEED


@pytest.mark.parametrize(("paper", "figure"), DRAWN[::4], ids=map("-".join, DRAWN[::4]))
def test_two_drawings_are_the_same_bytes_under_any_settings(
    config, drawings, replays, paper, figure, tmp_path
):
    again = {kind: tmp_path / f"again.{kind}" for kind in ("svg", "png", "table")}
    is_replay = (paper, figure) in REPLAYED
    data = [] if is_replay else datasets_of(config, paper, figure)
    with set_otherwise():
        draw(paper, figure, data, replays[feedback_of(figure)] if is_replay else None, **again)
    for kind, file in drawings(paper, figure).items():
        assert file.read_bytes() == again[kind].read_bytes(), kind


@pytest.mark.parametrize(("paper", "figure"), SIMULATED, ids=map("-".join, SIMULATED))
def test_first_panel_shows_the_primary_law(config, drawings, paper, figure):
    files, laws = drawings(paper, figure), config.shown_in(paper, figure)[0].laws
    curves = read_table(files["table"]).to_pandas()
    assert list(dict.fromkeys(curves["law"])) == list(laws)
    if paper == "banditq":
        text = html.unescape(files["svg"].read_text(encoding="utf-8"))
        places = [text.index(f">{LAW_TITLES[law]}</text>") for law in laws]
        assert places == sorted(places)
        assert laws[0] == "uniform02"


@pytest.mark.parametrize("figure", SHOWN)
def test_replay_and_what_was_read_off_are_drawn(replays, figure):
    """The horizon is the published one here, so that the last round was read off."""
    replay = replayed(replays[feedback_of(figure)])
    replay["round"] = replay["round"] + 3_000_000 - replay["round"].max()
    drawing, curves, _ = drawn(function_of("banditq", figure), [], replay)
    (axis,) = drawing.axes
    kind = SHOWN[figure]
    columns = (
        {"regret": "regret"} if kind == "regret" else {f"arm {k}": f"{kind}_{k}" for k in (1, 2)}
    )
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == list(columns)
    lines, levels = axis.lines[: len(columns)], axis.lines[len(columns) :]
    for line, column in zip(lines, columns.values(), strict=True):
        assert line.get_ydata().tolist() == replay[column].tolist()
        assert line.get_xdata().tolist() == replay["round"].tolist()
    entry = yaml.safe_load((ROOT / "papers/banditq/published.yaml").read_text())["figures"][figure]
    ends = [point["value"] for point in entry["values"] if point["round"] == 3_000_000]
    drawn_at = np.concatenate([circles.get_offsets() for circles in axis.collections])
    assert drawn_at[:, 1].tolist() == ends
    assert len(ends) == len(columns)
    assert curves["published"].dropna().tolist() == ends
    note = " ".join(drawing.get_supxlabel().split())
    assert "circles: read off the published figure" in note
    assert ("fluid equilibrium" in note) == (kind == "queue")
    assert len(levels) == (0 if kind == "regret" else 2)
    if kind == "rate":
        assert levels[1].get_ydata()[0] == replay.attrs["means"][1] / 3


def test_a_shared_legend_names_the_curves_of_all_experiments(config, monkeypatch):
    """The first experiment of Figure 4 has other weights here than the second, as in a variant."""

    def thinned(table, footer):
        first = footer["experiment"] == "fairness"
        runs = runs_of(table, footer)
        return (run for run in runs if first != (run.cell.get("eta") in (100, 1000)))

    monkeypatch.setattr(fair_ucb, "runs_of", thinned)
    drawing, *_ = drawn(fair_ucb.fairness, datasets_of(config, "fair_ucb", "fig4"), None)
    written = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert written == ["Fair-UCB", *(f"LFG, η = {eta}" for eta in (1, 10, 100, 1000, 10000))]
    colours = {to_hex(line.get_color()) for line in drawing.legends[0].get_lines()}
    shown = [{to_hex(line.get_color()) for line in axis.get_lines()} for axis in drawing.axes]
    assert shown[0] != shown[2]
    assert colours == set().union(*shown)


def test_lines_join_no_points_that_are_far_apart(config):
    drawing, *_ = drawn(fair_ucb.cost_of_fairness, datasets_of(config, "fair_ucb", "fig2"), None)
    for axis in drawing.axes:
        assert sorted(line.get_xdata().size for line in axis.get_lines()) == [2, 2, 39]
        assert 11 in [len(circles.get_offsets()) for circles in axis.collections]


def test_pictures_in_documents_tell_in_words_what_they_show():
    text = (ROOT / "docs/figures.md").read_text(encoding="utf-8")
    assert described(text) == text
    assert len(IMAGE.findall(text)) == len(DRAWN)
    for file in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        assert "![](" not in file.read_text(encoding="utf-8"), file


def look_of(handle):
    """Return the form of a curve in a legend: its dashes and its mark."""
    if isinstance(handle, Line2D):
        return f"{handle._unscaled_dash_pattern} {handle.get_marker()}"
    return str(handle.get_paths()[0].vertices)


@pytest.mark.parametrize(("paper", "figure"), KINDS.values())
def test_curves_are_told_apart_without_colours(config, folder, replays, paper, figure):
    """Curves differ in dashes or marks, and so in grey; bars stand in the legend's order."""
    published, data = None, []
    if (paper, figure) in REPLAYED:
        published = replayed(replays[feedback_of(figure)])
    else:
        data = datasets_of(config, paper, figure)
    if beside := PAPERS[paper][figure].beside:
        published = replayed(folder / "results" / paper / f"{beside}.parquet")
    drawing, *_ = drawn(function_of(paper, figure), data, published)
    handles = drawing.legends[0].legend_handles
    curves = [handle for handle in handles if isinstance(handle, Line2D | PathCollection)]
    assert curves or figure in ("fig3b", "fig3c")
    assert len(set(map(look_of, curves))) == len(curves)


def test_colours_are_told_apart_by_readers_who_confuse_some():
    """Seaborn's palette, as far as policies use it, under three deficiencies of full severity."""
    colours = np.array([style.PALETTE[index] for index in sorted(set(style.PLACES.values()))])
    for deficiency in ("deuteranomaly", "protanomaly", "tritanomaly"):
        space = {"name": "sRGB1+CVD", "cvd_type": deficiency, "severity": 100}
        seen = colorspacious.cspace_convert(colours, space, "sRGB1").clip(0, 1)
        for colour, other in combinations(seen, 2):
            # as CIECAM02 has it, of which 1 is hardly noticeable
            assert colorspacious.deltaE(colour, other, input_space="sRGB1") > 5


def quantity(paper, figure, config, run, series):
    """Return a curve's values in all replicates, straight from the dataset's rows."""
    table = read_table(datasets_of(config, paper, figure)[0])
    rows = table.filter(pc.equal(table["run"], run.name)).to_pandas()
    arms = len(run.spec.means)
    rounds = rows["round"].to_numpy().reshape(REPLICATES, -1, arms)[0, :, 0]
    reward, queue = (rows[c].to_numpy().reshape(REPLICATES, -1, arms) for c in ("reward", "queue"))
    targets = config.experiment(run.paper, run.experiment).targets
    _, benchmark = naive.static_benchmark(run.spec.means, list(targets))
    earned = reward.sum(axis=2)
    if series == "regret":
        return rounds, benchmark * rounds - earned
    if series.endswith(", less benchmark"):
        return rounds, earned - benchmark * rounds
    if series.startswith("arm "):
        arm = int(series.removeprefix("arm ")) - 1
        rates = figure in ("fig1", "fig4")
        return rounds, reward[:, :, arm] / rounds if rates else queue[:, :, arm]
    return rounds, earned


@pytest.mark.parametrize(("paper", "figure"), [row for row in SIMULATED if row[0] == "banditq"])
def test_table_has_the_means_of_the_dataset(config, drawings, paper, figure):
    curves = read_table(drawings(paper, figure)["table"]).to_pandas()
    assert list(curves) == ["law", "series", "round", *CURVE, "n_replicates"]
    assert set(curves["n_replicates"]) == {REPLICATES}
    experiment = config.shown_in(paper, figure)[0]
    seen = 0
    for run in experiment.runs:
        law = run.spec.law
        label = experiment.labels[run.name.removesuffix(f"-{law}")]
        names = {
            "fig1": ["arm 1", "arm 2"],
            "fig2": ["arm 1", "arm 2"],
            "fig3": ["regret"],
            "fig7": [label, f"{label}, less benchmark"],
        }[{"fig4": "fig1", "fig5": "fig2", "fig6": "fig3"}.get(figure, figure)]
        for series in names:
            curve = curves[(curves["law"] == law) & (curves["series"] == series)]
            rounds, values = quantity(paper, figure, config, run, series)
            assert curve["round"].tolist() == rounds.tolist()
            np.testing.assert_allclose(curve["mean"], values.sum(axis=0) / REPLICATES, rtol=1e-12)
            np.testing.assert_allclose(curve["one_run"], values[0], rtol=1e-12)
            seen += len(curve)
    assert seen == len(curves)


def test_summary_of_curves(rng):
    curves = rng.normal(size=(50, 4)) * [1, 10, 0.1, 0] + 5
    rounds = np.array([1, 2, 5, 9])
    summary = summarise("bernoulli", "mine", rounds, curves)
    assert set(summary["law"]) == {"bernoulli"}
    assert set(summary["series"]) == {"mine"}
    assert summary["round"].tolist() == rounds.tolist()
    assert summary["n_replicates"].tolist() == [50] * 4
    np.testing.assert_allclose(summary["mean"], curves.mean(axis=0))
    for k in range(3):
        low, high = stats.t.interval(0.95, 49, curves[:, k].mean(), stats.sem(curves[:, k]))
        assert summary["mean_low"][k] == pytest.approx(low)
        assert summary["mean_high"][k] == pytest.approx(high)
        inside = (curves[:, k] >= summary["run_low"][k]) & (curves[:, k] <= summary["run_high"][k])
        assert 46 <= inside.sum() <= 48
    assert summary.loc[3, CURVE].tolist() == [5] * 6  # no spread, no width
    assert isinstance(summary, pd.DataFrame)
