"""Pictures of comparisons: what they show, names as they are written, and settings of the user."""

import io
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import QuadMesh

import fairbandits as fb
from settings_of_a_user import set_otherwise

QUOTAS = (0.2, 0.3, 0.25)
ARMS = fb.Instance((0.7, 0.5, 0.4))
#: Names that Matplotlib would leave out, set as a formula, refuse, or that leave no room.
ODD = (
    *("_Mine", "_child1", "$5 to $10", "$x^^$", r"\frac{1}{2} \$ 50 %", "", "two\nlines", "tab\t"),
    *("_nolegend_", "a" * 300, "many words " * 50, "$\\alpha$ " * 3),
)
MANY, OWED = 12, (0,) * 6 + (0.08,) * 6


class _Mine(fb.UCB1):
    pass


def compare(policies, n_arms=3, **others):
    arms = ARMS if n_arms == 3 else fb.Instance(tuple(np.linspace(0.9, 0.1, n_arms).tolist()))
    quotas = QUOTAS if n_arms == 3 else OWED
    given = {"replicates": 3, "quotas": quotas, "checkpoints": [1, 60, 120, 300]} | others
    return fb.compare(policies, arms, 300, **given)


@pytest.fixture(scope="module")
def many():
    return compare([fb.UCB1(), fb.FairUCB(OWED)], MANY)


def file_of(figure, kind="svg"):
    image = io.BytesIO()
    figure.savefig(image, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return image.getvalue()


def names_in(texts):
    """Return the names in texts of a picture, which are no formulas."""
    assert not any(text.get_parse_math() for text in texts)
    return ["".join(text.get_text().split()) for text in texts]


def short(name):
    return "".join(name.split())


@pytest.mark.parametrize("kind", ["rounds", "tradeoff", "pulls"])
def test_names_are_written_as_they_are(kind):
    figure = compare(dict.fromkeys(ODD, fb.Uniform())).plot(kind)
    if kind == "pulls":
        written = names_in([axis.title for axis in figure.axes])
    else:
        written = names_in(figure.legends[0].get_texts())
    for name, shown in zip(ODD, written, strict=True):
        assert shown == short(name) or (shown[-1] == "…" and short(name).startswith(shown[:-1]))
    assert b"$5 to $10" in file_of(figure)


def test_a_private_class_and_measures_have_their_names():
    measures = {"$x^^$": "regret", "_y": "reward"}
    figure = compare([_Mine(), fb.UCB1()], metrics=measures).plot()
    assert names_in(figure.legends[0].get_texts()) == ["_Mine", "UCB1"]
    assert names_in([axis.yaxis.label for axis in figure.axes]) == ["$x^^$", "_y"]
    file_of(figure)


def test_pulls_are_the_shares_of_arms_with_their_quotas():
    compared = compare([fb.UCB1(), fb.FairUCB(QUOTAS), fb.Uniform(), _Mine()])
    figure = compared.plot("pulls")
    assert [axis.get_title() for axis in figure.axes] == ["UCB1", "FairUCB", "Uniform", "_Mine"]
    for axis, result in zip(figure.axes, compared.results.values(), strict=True):
        means, levels = axis.get_lines()[:3], axis.get_lines()[3:]
        for k, line in enumerate(means):
            shares = (result.plays[:, :, k] / result.rounds).mean(axis=0)
            assert line.get_xdata().tolist() == [60, 120, 300]  # the first round says nothing
            np.testing.assert_allclose(line.get_ydata(), shares[1:])
        assert [line.get_ydata()[0] for line in levels] == [*map(float, result.quotas)]
        assert [line.get_color() for line in levels] == [line.get_color() for line in means]
    (written,) = figure.legends
    assert names_in(written.get_texts()) == ["arm1", "arm2", "arm3"]
    assert "quota" in file_of(figure).decode()
    without = compare([fb.UCB1()], quotas=None, metrics="regret")
    assert "quota" not in file_of(without.plot("pulls")).decode()


def test_a_picture_says_what_its_bands_are_and_of_how_many_replicates():
    figure = compare([fb.UCB1()]).plot()
    assert figure.get_supxlabel() == (
        "Line: mean over n = 3 replicates; dark band: 95 % t interval of the mean."
    )
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["a", "b"]


def test_many_arms_are_a_map_with_those_behind_their_quotas(many):
    figure = many.plot("pulls")
    *maps, bar = figure.axes
    for axis, result in zip(maps, many.results.values(), strict=True):
        (mesh,) = (part for part in axis.collections if isinstance(part, QuadMesh))
        shares = result.plays.mean(axis=0) / result.rounds[:, None]
        np.testing.assert_allclose(mesh.get_array().filled(0), shares.T)
        (beside,) = axis.child_axes
        (quotas,) = (part.get_array() for part in beside.collections)
        assert quotas.filled(0).ravel().tolist() == [float(quota) for quota in result.quotas]
        marked = [line.get_ydata()[0] - 1 for line in beside.lines]
        behind = result.deficits["deficit"][:, -1].mean(axis=0) >= 1
        assert marked == np.flatnonzero(behind).tolist()
    assert len(maps[0].child_axes[0].lines) > len(maps[1].child_axes[0].lines) == 0
    assert maps[0].get_ylabel() == "arm"
    assert bar.get_ylabel() == "share of the pulls so far; white: none"
    for kind in ("png", "svg"):
        file_of(figure, kind)
    alone = compare([fb.UCB1()], MANY, checkpoints=[300], quotas=None, metrics="regret")
    file_of(alone.plot("pulls"))


@pytest.mark.parametrize("n_arms", [3, MANY])
def test_arms_with_labels_have_their_names(n_arms):
    compared = compare([fb.UCB1()], n_arms)
    (result,) = compared.results.values()
    labelled = SimpleNamespace(labels=ODD[:n_arms])
    object.__setattr__(result, "instance", labelled)
    figure = compared.plot("pulls")
    axis = figure.axes[0]
    texts = figure.legends[0].get_texts() if n_arms == 3 else axis.get_yticklabels()
    assert [name[:9] for name in names_in(texts)] == [short(name)[:9] for name in ODD[:n_arms]]
    file_of(figure)


def test_unknown_kinds_are_told_what_can_be_plotted(many):
    for wrong in ("pull", None, ["pulls"], "parameter"):
        with pytest.raises(ValueError, match="kind must be one of rounds, tradeoff, pulls, got"):
            many.plot(wrong)


def test_settings_of_the_user_change_nothing_and_stay(many):
    few = compare([fb.UCB1(), fb.FairUCB(QUOTAS)])
    swept = fb.sweep(fb.UCB1(), "scale", [0.5, 1, 5], ARMS, 60, replicates=2, quotas=QUOTAS)
    shown = [*((few, kind) for kind in few.kinds), (many, "pulls"), (swept, "parameter")]

    def drawn():
        return [few._repr_html_(), *(file_of(thing.plot(kind)) for thing, kind in shown)]

    usual = drawn()
    colours = dict(mpl.colors.get_named_colors_mapping())
    with set_otherwise():
        assert drawn() == usual
        assert dict(mpl.colors.get_named_colors_mapping()) == colours  # seaborn can change "b"
