"""A policy with several values of a parameter: a comparison, its picture, and refusals."""

import re
from functools import partial

import numpy as np
import pytest

import fairbandits as fb
from plain import Plain

ARMS = fb.Instance((0.7, 0.5, 0.4))
QUOTAS = (0.2, 0.3, 0.25)
GIVEN = {"replicates": 3, "quotas": QUOTAS}


class Mine(Plain):
    """Pulls the arm of the largest mean plus a bonus."""

    def __init__(self, bonus, start_at=0):
        self.bonus, self.start_at = bonus, start_at

    def choose(self, t, coin):
        return int(np.argmax((self.sums + self.bonus) / (self.pulls + 1)))


class Forgets(Mine):
    def __init__(self, bonus, other=0):
        super().__init__(bonus)


def sweep(policy, parameter, values, **others):
    return fb.sweep(policy, parameter, values, ARMS, 90, **GIVEN | others)


@pytest.mark.parametrize(
    ("policy", "parameter", "values", "others", "alone"),
    [
        (fb.LFG(QUOTAS, cap=None), "eta", [1, 10.0], {}, partial(fb.LFG, QUOTAS, cap=None)),
        (fb.LFG, "eta", (1, 10), {"fractions": QUOTAS}, partial(fb.LFG, QUOTAS)),
        (partial(fb.LFG, QUOTAS), "eta_exponent", [0.5, 1], {}, None),
        (fb.FairUCB, "tolerance", range(0, 20, 10), {}, partial(fb.FairUCB, QUOTAS)),
        (Mine(1, start_at=2), "bonus", np.array([0.5, 2]), {}, Mine),
        (Mine, "bonus", [0.5, 2], {"start_at": 1}, Mine),
        (fb.compiled(Mine(1)), "bonus", [0.5, 2.0], {}, Mine),
        (lambda bonus: Mine(bonus), "bonus", [0.5, 2], {}, Mine),
    ],
)
def test_a_sweep_is_a_comparison_of_the_values(policy, parameter, values, others, alone):
    swept = sweep(policy, parameter, values, **others)
    alone = alone or policy
    wanted = {str(value): alone(**{parameter: value}) for value in values}
    compared = fb.compare(wanted, ARMS, 90, **GIVEN)
    table = swept.table
    assert list(table.columns)[:3] == [parameter, "metric", "mean"]
    assert table[parameter].tolist() == 2 * list(values)
    assert table["mean"].tolist() == compared.table["mean"].tolist()
    assert repr(swept).startswith("3 arms")
    figure = swept.plot()
    assert [axis.get_ylabel() for axis in figure.axes] == [
        "regret (reward units)",
        "violation (pulls)",
    ]
    for axis, metric in zip(figure.axes, ("regret", "violation"), strict=True):
        x, y = axis.get_lines()[0].get_data()
        assert x.tolist() == list(values)
        np.testing.assert_allclose(y, table[table["metric"] == metric]["mean"])
        assert axis.get_xlabel() == parameter


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1, 10, 100], "log"),
        ([0.5, 1, 2, 4, 8, 16], "log"),
        ([100, 1, 10], "log"),
        ([0, 1, 10, 100], "symlog"),
        ([1, 10], "log"),
        ([1, 2, 3], "function"),
        ([0, 0.1, 0.2, 0.9], "function"),
        (list(range(1, 40)), "function"),
        ([5], "function"),
    ],
)
def test_the_axis_is_logarithmic_for_geometric_values(values, scale):
    """Seaborn calls an even scale a function."""
    swept = sweep(fb.LFG(QUOTAS), "eta", values)
    figure = swept.plot()
    for axis in figure.axes:
        assert axis.get_xscale() == scale
        assert axis.get_lines()[0].get_xdata().tolist() == sorted(values)
        if len(values) <= 10:
            assert [float(text.get_text()) for text in axis.get_xticklabels()] == values
    figure.draw_without_rendering()


def test_values_can_be_words_and_other_kinds_of_picture_are_there():
    class Odd(Mine):
        def __init__(self, mean):
            super().__init__(len(mean))
            self.mean = mean

    values = ["$x^^$", "_b", "", "long " * 80]
    swept = sweep(Odd, "mean", values, metrics="regret")
    assert list(swept.table)[:3] == ["parameter mean", "metric", "mean"]
    shown = swept.plot().axes[0].get_xticklabels()
    assert [text.get_text() for text in shown][:3] == values[:3]
    for kind in swept.kinds[:2] + swept.kinds[3:]:
        swept.plot(kind).draw_without_rendering()
    swept._repr_html_()
    with pytest.raises(ValueError, match="one of parameter, rounds, tradeoff, pulls, got 'x'"):
        swept.plot("x")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((fb.LFG(QUOTAS), "etta", [1]), "LFG has no parameter 'etta'; did you mean 'eta'?; its "
         "parameters are fractions, eta, eta_exponent, constant, cap, unpulled, arrivals"),
        ((fb.LFG, "eta", [1], {"fraction": QUOTAS}), "no parameter 'fraction'; did you mean 'frac"),
        ((fb.LFG, "eta", [1], {"replicate": 3}), "'replicate'; did you mean 'replicates'?; its"),
        ((fb.LFG(QUOTAS), "quotas", [1]), "LFG has no parameter 'quotas'; its parameters are"),
        ((fb.Uniform(), "eta", [1]), "Uniform has no parameter 'eta'; it has none"),
        ((fb.LFG, "eta", [1]), "LFG needs fractions; sweep(LFG, ..., fractions=...)"),
        ((fb.LFG(QUOTAS), "eta", [1], {"eta": 2}), "eta takes the values, and not 2 beside them"),
        ((Forgets(1), "bonus", [1]), "Forgets does not keep its parameter other as an attribute; "
         "give the class: sweep(Forgets, ..., other=...)"),
        ((fb.LFG(QUOTAS), "eta", [1, -1]), "LFG with eta = -1: "),
        ((fb.LFG(QUOTAS), "eta", [1, 1]), "values must be different, got 1 twice"),
        ((fb.LFG(QUOTAS), "eta", [1, 1.0]), "values must be different, got 1.0 twice"),
        ((fb.LFG(QUOTAS), "eta", {1: 2}), "must be a list, such as [1, 10, 100], got {1: 2}"),
        ((fb.LFG(QUOTAS), "eta", {1, 2}), "must be a list, such as [1, 10, 100], got {1, 2}"),
        ((fb.LFG(QUOTAS), "eta", np.array(1)), "must be a list, such as [1, 10, 100], got ar"),
        ((fb.LFG(QUOTAS), "eta", []), "values must hold at least one value, got none"),
        ((fb.LFG(QUOTAS), "eta", 5), "values must be a list, such as [1, 10, 100], got 5"),
        (("LFG", "eta", [1]), "policy must be a policy or its class, such as fb.LFG, got 'LFG'"),
        ((fb.LFG(QUOTAS), "eta", [1], {"quotas": None}), "'violation' needs quotas or targets"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_way_out(given, says):
    policy, parameter, values, *others = given
    with pytest.raises((TypeError, ValueError), match=re.escape(says)):
        sweep(policy, parameter, values, **(others or [{}])[0])
