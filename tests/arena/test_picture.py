"""Pictures of the arena: what they say, and that equal standings give equal bytes."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from fairbandits.arena import picture
from fairbandits.arena.roles import CONTROL, ORACLE
from settings_of_a_user import set_otherwise

TERMS = SimpleNamespace(title="minimum pulls", unit="pulls")
KINDS = {"A": "own", "B & C": "own", "UCB1": CONTROL, "optimum": ORACLE, "mine": "yours"}
TITLES = {"two": "Second", "one": "<One>"}


@pytest.fixture
def rows():
    """Return standings of five policies on two instances, the first policy with two settings."""
    made = []
    for instance in ("one", "two"):
        for k, (label, kind) in enumerate(KINDS.items()):
            for setting in ("", "eta 2")[: 1 + (label == "A")]:
                row = {"instance": instance, "label": label, "kind": kind, "horizon": 1000}
                row |= {"name": f"{label} {setting}".strip(), "usual": not setting}
                row |= {"setting": setting, "replicates": 5, "price": 0.001}
                row |= {"dominated_by": "" if k < 2 else "A", "shortfall": k / 2}
                row["contract_regret"] = 10.0 - 3 * k - bool(setting)
                for name in ("shortfall", "contract_regret"):
                    row |= {f"{name}_low": row[name] - 1, f"{name}_high": row[name] + 1}
                made.append(row)
    return pd.DataFrame(made)


def bytes_of(drawing):
    image = io.BytesIO()
    drawing.savefig(image, format="svg", metadata={"Date": None})
    return image.getvalue()


def names_in(drawing):
    return [text.get_text() for text in drawing.legends[0].get_texts()]


def marks_of(axes):
    """Return the places of the large marks and of the small ones."""
    marks = [mark for mark in axes.collections if isinstance(mark, PathCollection)]
    sizes = sorted({mark.get_sizes()[0] for mark in marks}, reverse=True)
    by_size = {size: set() for size in sizes}
    for mark in marks:
        by_size[mark.get_sizes()[0]] |= {tuple(point) for point in mark.get_offsets().tolist()}
    return [sorted(places) for places in by_size.values()]


def test_each_policy_has_a_colour_of_its_own(rows):
    look = picture.looks([*KINDS, "elsewhere"], rows, ["mine"])
    assert list(look) == list(KINDS)
    assert len({to_hex(colour) for colour in look.values()}) == len(look)
    assert (look["UCB1"], look["mine"]) == (picture.IGNORES, picture.YOURS)
    many = picture.looks([f"p{k}" for k in range(30)], rows.assign(label="p0"))
    assert set(many) == {"p0"}


def test_instances_show_every_setting_of_every_policy(rows):
    look = picture.looks(list(KINDS), rows, ["mine"])
    drawing = picture.instances(TERMS, rows, look, TITLES)
    assert [axes.get_title() for axes in drawing.axes] == [*TITLES.values()]
    assert names_in(drawing) == [*KINDS]
    for axes in drawing.axes:
        large, small = marks_of(axes)
        assert large == [(0, 10), (0.5, 7), (1, 4), (1.5, 1), (2, -2)]
        assert small == [(0, 9)]
        (front,) = (line for line in axes.lines if to_hex(line.get_color()) == to_hex(".33"))
        assert front.get_xdata().tolist() == [0, 0, 0.5]
    handles = drawing.legends[0].legend_handles
    filled = [handle.get_facecolor()[0, 3] > 0 for handle in handles]
    assert filled == [kind != ORACLE for kind in KINDS.values()]
    assert len({str(handle.get_paths()[0].vertices) for handle in handles}) == len(KINDS)
    with set_otherwise():
        assert bytes_of(drawing) == bytes_of(picture.instances(TERMS, rows, look, TITLES))


def test_a_contract_shows_all_policies_but_those_that_know_the_means(rows):
    look = picture.looks(list(KINDS), rows)
    more = rows[rows["label"] == "A"].assign(instance="three", contract_regret=1000)
    shown = pd.concat([rows, more])
    drawing = picture.overview(TERMS, shown, look)
    (axes,) = drawing.axes
    assert axes.get_title() == TERMS.title
    assert names_in(drawing) == ["A", "B & C", "UCB1", "mine"]
    large, small = marks_of(axes)
    assert large == [(0, 10), (0.5, 7), (1, 4), (2, -2)]  # of the two instances that all ran on
    assert (0, 1000) in small
    (front,) = (line for line in axes.lines if to_hex(line.get_color()) == to_hex(".33"))
    assert front.get_ydata().tolist() == [10, 7, -2]  # not of UCB1, which ignores the contract
    with set_otherwise():
        assert bytes_of(drawing) == bytes_of(picture.overview(TERMS, shown, look))


def test_intervals_of_points_with_the_same_shortfall_stay_apart(rows):
    first = rows[rows["instance"] == "one"]
    (axes,) = picture.price_of_quotas(first).axes
    bars = [bar for bar in axes.collections if isinstance(bar, LineCollection)]
    (lengths,) = {len(segment) for bar in bars for segment in bar.get_segments()}
    assert lengths == 2
    tall = {np.ptp(segment[:, 1]).round(9) for bar in bars for segment in bar.get_segments()}
    assert tall == {0, 2}
    assert not any("optimum" in text.get_text() for text in axes.texts)
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["η = 2"]


@pytest.mark.parametrize("name", ["_Mine", "$5 to $10", "$x^^$", r"\frac 50 %", "a 0.00012345"])
def test_names_are_written_as_they_are(rows, name):
    rows = rows.replace({"A": name, "A eta 2": f"{name} 2"})
    look = picture.looks([name, *KINDS], rows, [name])
    for drawing in (
        picture.overview(TERMS, rows, look),
        picture.instances(TERMS, rows, look, TITLES),
    ):
        assert name in names_in(drawing)
        assert not any(text.get_parse_math() for text in drawing.legends[0].get_texts())
        bytes_of(drawing)
