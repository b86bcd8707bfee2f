"""Policies side by side: the table against intervals of SciPy's, pictures, and refusals."""

import base64
import re

import matplotlib as mpl
import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import fairbandits as fb
from plain import Plain

ARMS = fb.Instance((0.7, 0.5, 0.4))
QUOTAS = ("1/5", "3/10", "1/4")
TARGETS = (0.0, 0.1, 0.05)
ROUNDS = 90


class Mine(Plain):
    """Pulls the arm of the largest sum."""

    def choose(self, t, coin):
        return t - 1 if t <= self.n_arms else np.argmax(self.sums)


RIVALS = [Mine(), fb.FairUCB(QUOTAS), fb.UCB1()]
USUAL = {"replicates": 6, "quotas": QUOTAS, "seed": 2, "checkpoints": [30, ROUNDS]}


def compare(policies=RIVALS, instance=ARMS, horizon=ROUNDS, **others):
    return fb.compare(policies, instance, horizon, **USUAL | others)


@pytest.fixture(scope="module")
def compared():
    return compare(metrics=("regret", "violation", "reward"))


def test_table_has_a_row_for_each_measure_and_policy(compared):
    table = compared.table
    assert list(table.columns) == [
        *("policy", "metric", "mean", "low", "high"),
        *("difference", "difference_low", "difference_high", "n"),
    ]
    labels = ["Mine", "FairUCB", "UCB1"]
    assert list(table["policy"]) == labels * 3
    assert list(table["metric"]) == np.repeat(["regret", "violation", "reward"], 3).tolist()
    assert set(table["n"]) == {6}


def interval_of(values):
    if np.ptp(values) == 0:
        return values[0], values[0]
    return stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))


def test_intervals_are_those_of_scipy(compared):
    for row in compared.table.itertuples():
        values = getattr(compared.results[row.policy], row.metric)()[:, -1]
        assert row.mean == pytest.approx(np.mean(values), rel=1e-12)
        assert (row.low, row.high) == pytest.approx(interval_of(values), rel=1e-9)
        first = getattr(compared.results["Mine"], row.metric)()[:, -1]
        if row.policy == "Mine":
            assert np.isnan([row.difference, row.difference_low, row.difference_high]).all()
            continue
        assert row.difference == pytest.approx(np.mean(values - first), rel=1e-9)
        paired = interval_of(values - first)
        assert (row.difference_low, row.difference_high) == pytest.approx(paired, rel=1e-9)


def test_measures_of_ones_own():
    def best_pulls(result):
        return result.plays[:, :, 0]

    comparison = compare(metrics=[best_pulls, "regret"])
    assert comparison.table["metric"].tolist() == ["best_pulls"] * 3 + ["regret"] * 3
    assert comparison.table["mean"][2] == comparison.results["UCB1"].plays[:, -1, 0].mean()
    named = compare(metrics={"pulls of the best": best_pulls, "loss": "regret"})
    assert named.table["metric"].unique().tolist() == ["pulls of the best", "loss"]
    assert named.table["mean"].tolist() == comparison.table["mean"].tolist()
    with pytest.raises(ValueError, match="metric words must return numbers, got 'many'"):
        compare(metrics={"words": lambda result: "many"})


@pytest.mark.parametrize(
    ("metric", "given"),
    [
        *((name, {}) for name in ("regret", "violation", "r_regret", "unfairness", "reward")),
        ("violation", {"targets": TARGETS}),
        ("target_regret", {"targets": TARGETS}),
        ("penalised_regret", {"penalties": 0.3}),
    ],
)
def test_each_measure_is_the_method_of_a_result(metric, given):
    quotas = None if "targets" in given else QUOTAS
    comparison = compare([fb.UCB1(), fb.Uniform()], metrics=metric, quotas=quotas, **given)
    for label, result in comparison.results.items():
        wanted = getattr(result, metric)(**given)
        assert comparison.curves[metric, label].tolist() == wanted.tolist()


def test_plot_has_a_panel_for_each_measure(compared):
    before, windows = mpl.rcParams.copy(), plt.get_fignums()
    figure = compared.plot()
    assert mpl.rcParams.copy() == before
    assert plt.get_fignums() == windows
    assert isinstance(figure, matplotlib.figure.Figure)
    shown = [axis.get_ylabel() for axis in figure.axes]
    assert shown == ["regret (reward units)", "violation (pulls)", "reward"]
    assert "mean over n = 6 replicates" in figure.get_supxlabel()
    (names,) = figure.legends
    labels = [text.get_text() for text in names.get_texts()]
    assert labels == ["Mine", "FairUCB", "UCB1"]
    colours = [line.get_color() for line in names.get_lines()]
    assert len(set(colours)) == 3
    for axis, metric in zip(figure.axes, ("regret", "violation", "reward"), strict=True):
        assert len(axis.patches) == 3  # the bands
        assert [line.get_color() for line in axis.get_lines()] == colours
        for line, label in zip(axis.get_lines(), labels, strict=True):
            wanted = compared.curves[metric, label].mean(axis=0)
            np.testing.assert_allclose(line.get_ydata(), wanted)


def test_a_notebook_shows_table_and_picture(compared):
    text = compared._repr_html_()
    assert text.count("<tr") == 10
    (image,) = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    assert base64.b64decode(image).startswith(b"\x89PNG")
    assert "FairUCB" in repr(compared)
    assert len(repr(compared).splitlines()) == 12
    assert compared.plot()._repr_png_().startswith(b"\x89PNG")


def test_the_caption_says_what_was_played():
    log = {"variation": ["A", "B", "A", "B"], "bought": [0, 1, 1, None]}
    with pytest.warns(UserWarning, match="1 of 4 rows without arm or reward left out"):
        bought = fb.World.from_table(log, arm="variation", reward="bought")
    prices = fb.World(lambda arm, number, coin: 1.0, (1, 1), law="prices of 2024")
    tide = fb.World.moving(lambda t: (0.5, 0.4))
    for world, says in (
        (bought, "2 arms (A, B), a log of 3 rewards (1 of 4 rows without arm or reward left out)"),
        (prices, "2 arms, prices of 2024, means 1, 1"),
        (tide, "2 arms, bernoulli, means that move"),
    ):
        comparison = compare([fb.UCB1()], world, quotas=(0.5, 0.5))
        assert repr(comparison).startswith(says)
    assert f"<caption>{says}" in comparison._repr_html_()


UNROUND = np.random.default_rng(0).dirichlet([1, 1, 1]) * 0.9


def targets(*values):
    return {"quotas": None, "targets": values}


def penalties(values):
    return {"metrics": "penalised_regret", "penalties": values}


def returning(of_regret):
    return {"metrics": {"mine": lambda result: of_regret(result.regret())}}


def means_of_regret(result):
    return result.regret().mean(axis=0)


def test_a_measure_of_ones_own_can_use_an_array_again():
    buffer = np.zeros((6, 2))
    metrics = {"mine": lambda result: np.add(result.regret(), 0, out=buffer), "regret": "regret"}
    curves = compare(metrics=metrics).curves
    for (name, label), curve in curves.items():
        assert (curve == curves["regret", label]).all(), name


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"policies": []}, "policies must hold at least one policy, got none"),
        (
            {"policies": [fb.UCB1(), fb.UCB1(2.0)]},
            r'label UCB1; .* own: compare\(\{"UCB1": \.\.\., ',
        ),
        ({"metrics": "regrets"}, r"metric 'regrets' is unknown; did you mean 'regret'\?"),
        ({"metrics": ["regret", "regret"]}, "metrics must have each name once, got 'regret' twice"),
        ({"metrics": []}, "metrics must name at least one of regret, .* got none"),
        (
            {"quotas": None},
            "'violation' needs quotas or targets: give quotas=.* or targets=.*such as 'regret'",
        ),
        ({"metrics": "penalised_regret"}, "needs penalties: give penalties=0.5"),
        ({"metrics": "target_regret"}, "needs targets: give targets="),
        ({"targets": TARGETS}, "give quotas or targets, not both"),
        ({"replicates": 1}, "replicates must be at least 2, since intervals are over them, got 1"),
        ({"quotas": ("1/2", "1/2", "1/2")}, "quotas must sum to at most 1, got 3/2$"),
        ({"quotas": (5, 5, 5)}, 'at most 1, got 15; write shares: "1/4", or 0.05 for 5 per cent'),
        ({"quotas": 0.2}, r"quotas must have one entry per arm, as \(0.3, 0.2\), got 0.2$"),
        ({"quotas": {0: 0.2, 1: 0.1, 2: 0.05}}, "quotas .* write the values in the order of the"),
        (
            {"quotas": np.full((1, 3), 0.1)},
            r"quotas .* got ndarray of shape \(1, 3\); take one row",
        ),
        *(
            (
                {"quotas": pd.Series([0.3, 0.1, 0.2], index=pd.Index([2, 0, 1], dtype=dtype))},
                r"with labels \[2(.0)?, 0(.0)?, 1(.0)?\]; write sort_index\(\), if these are arms",
            )
            for dtype in (int, "uint8", float, object, "category", "Int64")
        ),
        ({"quotas": bytearray(3)}, "quotas must have one entry per arm, .* got bytearray"),
        (
            {"quotas": UNROUND},
            r"denominator of at most 2\*\*31, .*; round what is computed: quotas=\[round",
        ),
        (targets("1/10", 0, 0), "targets must be a number, got '1/10' for arm"),
        (targets("0.1", 0, 0), "got '0.1' for arm 1; write 0.1 without quotes"),
        (
            {"quotas": None, "targets": {0: 0.1}},
            "targets must have one entry per arm, .* in the order",
        ),
        (targets(0.1, 0.1), r"targets must have one entry per arm \(3\)"),
        (targets(0.1, np.nan, 0), "finite and at least 0, got nan for arm 2"),
        (targets(0.6, 0.4, 0), r"met: .* at most 1, got 1\.6571; divide the targets by 1\.66"),
        (penalties(np.nan), "penalties must be finite and at least 0, got nan"),
        (penalties(-np.inf), "penalties must be finite and at least 0, got -inf"),
        (penalties((1, 1, -1)), "penalties must be finite and at least 0, got -1 for arm 3"),
        (penalties({1: 1}), "penalties must have one entry per arm"),
        (penalties("half"), "penalties must be numbers or 'half_range', got 'half'"),
        ({"policies": [fb.LFG((0.1, 0.1))]}, "policy LFG: fractions must have one entry"),
        (
            targets(0, 0.1) | {"instance": fb.Instance((0.7, 0.0))},
            "targets cannot be met: an arm with a target has mean 0",
        ),
        (
            {"metrics": means_of_regret},
            r"an array of shape \(n_replicates, n_checkpoints\), here \(6, 2\), got \(2,\)",
        ),
        ({"policies": fb.UCB1()}, r"policies must be a list, or a dict by label, .*compare\(\[one"),
        ({"policies": [fb.UCB1]}, "UCB1 is its class; write UCB1"),
        ({"policies": {1: fb.UCB1()}}, "labels of policies must be text, got 1"),
        ({"policies": {"\ud800": fb.UCB1()}}, r"labels of policies must be text, got '\\ud800'"),
        ({"metrics": {1: "regret"}}, "names of metrics must be text, got 1"),
        ({"metrics": None}, "metrics must be a list of names or functions, got None"),
        (returning(lambda regret: regret.astype(str)), "mine must return numbers, got ndarray of"),
        (returning(lambda regret: regret * 1j), "metric mine must return numbers, got ndarray of"),
        (
            returning(lambda regret: np.ma.masked_all(regret.shape)),
            "metric mine must return numbers, got MaskedArray of shape",
        ),
        ({"instance": (0.7, 0.5, 0.4)}, "instance must be an Instance"),
    ],
)
def test_what_is_wrong_is_said_with_the_way_out(wrong, says):
    with pytest.raises((ValueError, TypeError), match=says):
        compare(**wrong)


def test_targets_of_drawn_instances_are_checked_for_each_replicate():
    drawn = fb.RandomInstance(3, low=0.2, high=0.9)
    with pytest.raises(ValueError, match=r"targets cannot be met in replicate \d+: .* divide"):
        compare([fb.UCB1()], drawn, quotas=None, targets=(0.3, 0.3, 0.3))


def test_a_mapping_gives_labels():
    comparison = compare({"wide": fb.UCB1(), "narrow": fb.UCB1(scale=0.5)}, metrics=["regret"])
    assert list(comparison.results) == comparison.table["policy"].tolist() == ["wide", "narrow"]
