"""The plot of how a round's time grows has all its points, and is drawn from the committed data."""

import growth
import pytest
from bench import HERE
from click.testing import CliRunner
from numba import config
from PIL import Image

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def test_few_points_are_measured_written_and_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "ROUNDS", (100, 1000))
    monkeypatch.setattr(growth, "ARMS", (2, 10))
    monkeypatch.setattr(growth, "MANY_ROUNDS", 1000)
    monkeypatch.setattr(growth, "FEWER_ROUNDS", {})
    monkeypatch.setattr(growth, "POLICIES", {"UCB1": growth.POLICIES["UCB1"]})
    done = CliRunner().invoke(growth.main, ["--repetitions", "3", "--folder", str(tmp_path)])
    assert done.exit_code == 0, done.output
    rows = growth.read(tmp_path / "growth.csv")
    ours = [(int(row["arms"]), int(row["rounds"])) for row in rows if row["way"] == "ours"]
    assert ours == [(10, 100), (10, 1000), (2, 1000)]
    for row in rows:
        assert 0 < float(row["min_ns"]) <= float(row["median_ns"]) <= float(row["max_ns"])
    assert [x for x, *_ in growth.curve(rows, "UCB1", "ours", "rounds")] == [100, 1000]
    assert [x for x, *_ in growth.curve(rows, "UCB1", "ours", "arms")] == [2, 10]
    assert {file.name for file in tmp_path.iterdir()} == {"growth.csv", "growth.svg", "growth.png"}


def test_the_committed_plot_is_drawn_from_the_committed_data(tmp_path):
    rows = growth.read(HERE / "growth.csv")
    growth.draw(rows, tmp_path / "growth.svg", tmp_path / "growth.png")
    assert (tmp_path / "growth.svg").read_bytes() == (HERE / "growth.svg").read_bytes()
    with Image.open(HERE / "growth.png") as image:
        assert image.width <= 1600
