"""From a record to the data of its procedure: choosing, repeating, stacking; bad records."""

import dataclasses
import json
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import numpy as np
import pytest

from fairbandits.audit import cases
from fairbandits.audit.cases import questions
from fairbandits.audit.cells import Recorded, defaults
from fairbandits.audit.claims import Test
from fairbandits.audit.expressions import ExpressionError
from fairbandits.audit.ledger import check_test
from fairbandits.policies import HOMES, POLICIES
from fairbandits.replication.recorded import RunData
from fairbandits.settings.records import Cells, Companion
from fairbandits.settings.spec import RunSpec
from fairbandits.theory import fair_learn_counts

MEANS = (0.5, 0.75, 0.25)


def run_of(policy, law, horizon, replicates, *, factor=1, sweep=None, cell=None, parameters=None):
    """Return a run of three arms recorded at T/10, T/2 and T; pulls are k t factor of arm k + 1."""
    rounds = np.array([horizon // 10, horizon // 2, horizon])
    plays = (factor * rounds[:, None] * np.arange(1, 4) * np.ones((replicates, 1, 1))).astype(int)
    plays = plays + np.arange(replicates)[:, None, None]
    spec = RunSpec(
        stream="s",
        policy="lfg" if policy == "lfg" else "ucb1",
        parameters=parameters or {},
        law=law,
        horizon=horizon,
        checkpoints={},
        means=MEANS,
        sweep=sweep or {},
    )
    values = {"plays": plays, "reward": plays / 2.0}
    return RunData(f"{policy}-{law}", policy, law, rounds, values, cell or {}, spec)


class Fake:
    """Evidence with experiments made up by hand."""

    def __init__(self, **experiments):
        self.experiments = experiments
        self.columns = {}

    def recorded(self, name, columns):
        self.columns[name] = columns
        for instance, runs in self.experiments[name].items():
            experiment = SimpleNamespace(
                name=f"{name}_{instance}", suite=name, instance=instance, paper="banditq"
            )
            labels = {run.policy: run.policy.upper() for run in runs}
            footer = {
                "labels": labels,
                "replicates": len(runs[0].values["plays"]),
                "targets": [0.1, 0.0, 0.2],
            }
            yield Recorded(experiment, footer, runs)


@pytest.fixture
def evidence():
    return Fake(
        suite={
            "five_100": [run_of("ucb", "beta", 100, 4), run_of("ucb", "coin", 100, 4, factor=2)],
            "five_1000": [run_of("ucb", "beta", 1000, 4), run_of("ucb", "coin", 1000, 4, factor=2)],
        },
        rivals={
            "": [
                run_of("lfg", "beta", 1000, 3, cell={"eta": 10.0}, sweep={"eta": [10, "1/2"]}),
                run_of("lfg", "beta", 1000, 3, cell={"eta": 0.5}, sweep={"eta": [10, "1/2"]}),
                run_of("ucb", "beta", 1000, 3, factor=3),
            ]
        },
    )


def asked(evidence, readings=(), cells=None, **record):
    """Return the questions of a plan; cells are those of the suite unless said otherwise."""
    record = {"procedure": "mean"} | record
    cells = {"experiments": ["suite"]} if cells is None else cells
    plan = Test(cells=Cells(**cells) if cells else None, **record)
    return list(questions(plan, readings, evidence))


def test_a_case_for_each_combination_of_coordinates(evidence):
    found = asked(
        evidence,
        each={"T": [], "law": [], "arm": []},
        arms="target > 0",
        inputs={"values": "plays @ T", "against": "0.5 * T"},
    )
    assert [one.each for one in found][:3] == [
        "T = 100, beta, arm 1",
        "T = 100, beta, arm 3",
        "T = 100, coin, arm 1",
    ]
    assert len(found) == 8
    np.testing.assert_array_equal(found[1].data["values"], 300 + np.arange(4))
    assert found[1].data["against"] == 50.0
    assert evidence.columns["suite"] == ["plays"]


def test_rounds_are_recorded_ones_each_once(evidence):
    found = asked(
        evidence,
        cells={"experiments": ["suite"], "T": 1000, "law": "beta"},
        each={"round": []},
        rounds="[T / 3, T / 2, T]",
        inputs={"values": "total(plays) @ round", "against": "round"},
    )
    assert [(one.each, one.data["against"]) for one in found] == [
        ("t = 100", 100.0),
        ("t = 500", 500.0),
        ("t = 1000", 1000.0),
    ]
    assert found[0].data["values"][0] == 600


def test_cells_are_stacked_as_points_in_their_order(evidence):
    (found,) = asked(
        evidence,
        cells={"experiments": ["suite"], "law": "coin"},
        over="T",
        procedure="slope",
        inputs={"horizons": "T", "values": "largest(plays) @ T"},
    )
    np.testing.assert_array_equal(found.data["horizons"], [100, 1000])
    assert [len(one) for one in found.data["values"]] == [4, 4]
    assert found.data["values"][1][0] == 6000


def test_a_list_of_expressions_is_points(evidence):
    (found,) = asked(
        evidence,
        cells={"experiments": ["suite"], "law": "beta", "T": 1000},
        inputs={"values": ["total(plays) @ (T / 10)", "total(plays) @ T"], "against": [1, "T"]},
    )
    np.testing.assert_array_equal(found.data["values"][0], [600, 6000])
    assert found.data["against"].tolist() == [1, 1000]


def test_companions_have_the_replicates_that_both_have(evidence):
    record = {
        "cells": {"experiments": ["suite"], "law": "beta", "T": 1000},
        "companions": {
            "lfg": Companion(experiments=["rivals"], policy="lfg", eta=10, match=["law"])
        },
        "inputs": {"values": "total(plays) @ T", "against": "total(plays[lfg]) @ T"},
    }
    (found,) = asked(evidence, **record)
    assert len(found.data["values"]) == len(found.data["against"]) == 3
    (apart,) = asked(evidence, **record, settings={"paired": False})
    assert [len(apart.data[name]) for name in ("values", "against")] == [4, 3]


def test_a_companion_must_be_one_cell(evidence):
    with pytest.raises(ValueError, match="companion 'lfg' must be one cell for law = beta, got 2"):
        asked(
            evidence,
            cells={"experiments": ["suite"], "law": "beta", "T": 1000},
            companions={"lfg": Companion(experiments=["rivals"], policy="lfg", match=["law"])},
            inputs={"values": "total(plays[lfg]) @ T", "against": 1},
        )


def test_several_cells_are_an_error_unless_they_are_pooled_or_stacked(evidence):
    with pytest.raises(ValueError, match="a case must be one cell, got 2"):
        asked(evidence, each={"T": []}, inputs={"values": "total(plays) @ T", "against": 1})
    with pytest.raises(ValueError, match="must differ in T, got"):
        asked(
            evidence,
            over="T",
            procedure="slope",
            inputs={"horizons": "T", "values": "total(plays) @ T"},
        )
    (found,) = asked(evidence, procedure="exact", inputs={"values": "plays @ T"})
    assert found.data["values"].shape == (4 * 4 * 3,)
    assert found.data["values"].dtype.kind == "i"


def test_a_scale_is_pooled_as_its_values_are(evidence):
    (found,) = asked(evidence, procedure="exact", inputs={"values": "plays", "scale": "t"})
    assert found.data["scale"].shape == found.data["values"].shape
    assert set(found.data["scale"]) == {10, 50, 100, 500, 1000}


def test_readings_by_coordinate_by_rule_and_by_replicate(evidence):
    record = {"inputs": {"values": "total(plays) @ T", "against": 1}, "each": {"T": []}}
    found = asked(evidence, ["coin", "beta"], reading="law", **record)
    assert [(one.reading, one.each) for one in found] == [
        ("coin", "T = 100"),
        ("coin", "T = 1000"),
        ("beta", "T = 100"),
        ("beta", "T = 1000"),
    ]
    rule = {"coin": "law == 'coin' and T > 100", "beta": "law == 'beta'"}
    found = asked(evidence, ["coin", "beta"], reading=rule, **record)
    assert [(one.reading, one.each) for one in found] == [
        ("coin", "T = 1000"),
        ("beta", "T = 1000"),
        ("beta", "T = 100"),
    ]
    cells = {"experiments": ["suite"], "law": "beta", "T": 1000}
    rule = {"few": "total(plays) @ T < 6006", "many": "total(plays) @ T >= 6006", "all": True}
    inputs = {"values": "total(plays) @ T", "against": 1}
    found = asked(evidence, ["few", "many", "all"], cells, reading=rule, inputs=inputs)
    assert [(one.reading, len(one.data["values"])) for one in found] == [
        ("few", 2),
        ("many", 2),
        ("all", 4),
    ]


def test_kept_replicates(evidence):
    (found,) = asked(
        evidence,
        cells={"experiments": ["suite"], "law": "beta", "T": 1000},
        keep="total(plays) @ T > 6003",
        inputs={"values": "total(plays) @ T", "against": 1},
    )
    np.testing.assert_array_equal(found.data["values"], [6006, 6009])


@pytest.mark.parametrize(
    "condition", [{"keep": "total(plays) @ T > 1e9"}, {"each": {"arm": []}, "arms": "target > 1"}]
)
@pytest.mark.parametrize("procedure", ["mean", "share", "exact"])
def test_a_condition_that_nothing_meets_leaves_no_data(evidence, condition, procedure):
    inputs = {"values": "largest(plays) @ T >= 0"}
    (found,) = asked(
        evidence,
        cells={"experiments": ["suite"], "law": "beta", "T": 1000},
        procedure=procedure,
        inputs=inputs | ({"against": 1} if procedure == "mean" else {}),
        **condition,
    )
    assert not found.data


def test_cells_are_chosen_by_values_lists_and_rules(evidence):
    sample = {"inputs": {"values": "total(plays) @ T", "against": "eta"}, "each": {"eta": []}}
    for cells, etas in (
        ({"policy": "lfg", "eta": "1/2"}, [0.5]),
        ({"policy": ["lfg", "other"]}, [10.0, 0.5]),
        ({"policy": "lfg", "where": "eta > 1"}, [10.0]),
        ({"eta": [10, 0.5]}, [10.0, 0.5]),  # UCB1 has none, and is left out
    ):
        found = asked(evidence, cells={"experiments": ["rivals"]} | cells, **sample)
        assert [one.data["against"] for one in found] == etas


def test_what_is_not_there_is_an_error(evidence):
    sample = {"inputs": {"values": "total(plays) @ T", "against": 1}}
    with pytest.raises(ValueError, match="no cell of its experiments"):
        asked(evidence, cells={"experiments": ["suite"], "law": "gauss"}, **sample)
    with pytest.raises(ValueError, match="policy 'ucb' has no 'eta'"):
        asked(evidence, each={"eta": []}, **sample)
    share = {"procedure": "share", "inputs": {"values": "plays @ T > 1"}}
    with pytest.raises(ValueError, match="values must have one value for each replicate"):
        asked(evidence, each={"T": [], "law": []}, **share)
    with pytest.raises(ValueError, match="does not record 'queue'"):
        asked(evidence, each={"T": [], "law": []}, inputs={"values": "queue @ T", "against": 1})


def test_a_test_without_cells_asks_functions(evidence):
    found = asked(
        evidence,
        cells={},
        each={"base": [1.0, 4.0]},
        procedure="exact",
        inputs={"values": "sqrt(base)", "printed": "2"},
    )
    assert [(one.each, one.data) for one in found] == [
        ("base = 1", {"values": 1.0, "printed": "2"}),
        ("base = 4", {"values": 2.0, "printed": "2"}),
    ]


def test_what_needs_no_run_is_counted_once_and_kept(monkeypatch):
    kept, counted = {}, ("fair_learn_violations", [4, 20, "1/2", 1])
    monkeypatch.setattr(cases, "remembered", lambda *_: kept)
    config = SimpleNamespace(most={})
    evidence = SimpleNamespace(paper="ht_ucb", seed=5, config=config)
    scope = cases.CaseScope(evidence, None, {})
    first = scope.call(*counted)
    kept |= json.loads(json.dumps(kept))  # as in a file
    monkeypatch.setattr(fair_learn_counts, "largest_lack", None)
    again = scope.call(*counted)
    assert (again.tolist(), again.dtype, again.shape) == (first.tolist(), first.dtype, (4, 1, 1))
    for other in ([*counted[1][:3], 0], [5, *counted[1][1:]]):
        with pytest.raises(TypeError):
            scope.call(counted[0], other)
    other = SimpleNamespace(paper="ht_ucb", seed=6, config=config)
    with pytest.raises(TypeError):
        dataclasses.replace(scope, evidence=other).call(*counted)
    assert len(kept) == 1
    assert scope.call("ceil", [1.5]) == 2
    assert len(kept) == 1


def test_a_small_run_goes_through_fewer_cases(monkeypatch):
    monkeypatch.setattr(cases, "remembered", lambda *_: {})
    config = SimpleNamespace(most={"number": 3, "largest": 5, "x": 1})
    scope = cases.CaseScope(SimpleNamespace(paper="fair_ucb", seed=5, config=config), None, {})
    assert scope.call("fair_learn_violations", [4, 20, "1/2", 1]).shape == (3, 1, 1)
    assert scope.call("fair_learn_violations", [2, 20, "1/2", 1]).shape == (2, 1, 1)
    assert scope.call("ceil", [1.5]) == 2  # arithmetic is the same at every scale


def test_what_is_kept_needs_no_package_that_the_library_does_without(monkeypatch):
    def version(name):
        if name == "sympy":
            raise PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(cases, "version", version)
    assert cases._libraries.__wrapped__().endswith("numpy 1 scipy 1")


@pytest.mark.parametrize("name", HOMES)
def test_remembered_defaults_are_those_of_the_class(name):
    fields = dataclasses.fields(POLICIES[name])
    wanted = {one.name: one.default for one in fields if one.default is not dataclasses.MISSING}
    assert defaults(name) == wanted | {"feedback": POLICIES[name].feedback}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"inputs": {"values": "plays[lfg] @ T", "against": 1}}, "no companion 'lfg'"),
        (
            {"inputs": {"values": "totl(plays) @ T", "against": 1}},
            "no function 'totl'; did you mean",
        ),
        ({"inputs": {"values": "total() @ T", "against": 1}}, "total takes 1 values, got 0"),
        ({"arms": "target > reward"}, "units do not fit"),
        ({"reading": {"one": "lw == 'beta'"}}, "no measure or coordinate 'lw'"),
        ({"cells": Cells(experiments=["suite"], where="x.y")}, "Attribute is not"),
        ({"companions": {"a": Companion(match=["lawn"])}}, "no measure or coordinate 'lawn'"),
    ],
)
def test_a_record_that_cannot_be_meant_is_refused(record, words):
    plan = {
        "cells": Cells(experiments=["suite"]),
        "procedure": "mean",
        "inputs": {"values": "plays @ T", "against": 1},
    }
    with pytest.raises(ExpressionError) as error:
        check_test(Test(**plan | record), ["eta"])
    assert words in str(error.value)
