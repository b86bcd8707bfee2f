"""Cases of made-up cells: companions with rounds of their own, arms, readings that share cells."""

import numpy as np
import pytest

from fairbandits.audit.cases import questions
from fairbandits.audit.claims import Test
from fairbandits.audit.expressions import ExpressionError
from fairbandits.settings.records import Cells, Companion
from small_records import cell_of


def recorded(name, rounds, *, law="uniform02", instance="", queue):
    """Return a dataset of one cell with this column, (n_replicates, n_rounds, n_arms)."""
    n_arms = np.shape(queue)[2]
    experiment = {"name": name, "instance": instance}
    spec = {"name": "banditq", "policy": "banditq", "law": law, "means": (0.5,) * n_arms}
    spec |= {"targets": [0.1] * n_arms, "experiment": experiment}
    return cell_of({"queue": queue}, rounds, **spec).recorded


#: Two arms; the second experiment records other rounds, and has fewer replicates.
DENSE = recorded("dense", [1, 2, 4], queue=[[[1, 9], [2, 8], [3, 7]], [[1, 6], [5, 5], [4, 4]]])
ENDS = recorded("ends", [2, 4], queue=[[[10, 20], [30, 40]]])


class Evidence:
    """Datasets by the name of their experiment."""

    def __init__(self, *datasets):
        self.datasets = datasets

    def recorded(self, name, columns):
        return (one for one in self.datasets if one.experiment.name == name)


def asked(inputs, *, procedure="mean", readings=(), datasets=(DENSE, ENDS), **plan):
    """Return the questions of a plan that reads the first experiment."""
    cells = Cells(experiments=["dense"], **plan.pop("cells", {}))
    whole = Test(cells=cells, inputs=inputs, procedure=procedure, **plan)
    return list(questions(whole, readings, Evidence(*datasets)))


WITH = {"ends": Companion(experiments=["ends"], match=[])}


def test_companion_is_at_its_own_rounds():
    (one,) = asked(
        {"values": "largest(queue[ends]) @ 3", "against": "largest(queue) @ 3"}, companions=WITH
    )
    # one replicate is common to both
    assert (one.data["values"], one.data["against"]) == (20, 8)


def test_cells_with_other_rounds_cannot_be_mixed_before_a_round_is_chosen():
    ends = {"ends": Companion(experiments=["dense"], match=[])}
    (one,) = asked({"values": "largest(queue + queue[ends]) @ T", "against": 0}, companions=ends)
    assert one.data["values"].tolist() == [14, 8]
    ends = {"ends": Companion(experiments=["ends"], match=[])}
    with pytest.raises(ExpressionError, match="rounds of its cell, 3, got 2"):
        asked({"values": "(0 * mean(mu) + queue[ends]) @ T", "against": 0}, companions=ends)


def test_case_can_be_of_one_arm():
    (one,) = asked({"values": "queue @ T", "against": 0}, cells={"arm": 2})
    assert one.data["values"].tolist() == [7, 4]
    assert one.each == ""


def test_several_excesses_are_checked_one_after_the_other():
    given = {"values": ["queue @ T", "t"], "scale": "T"}
    (one,) = asked(given, procedure="exact")
    assert one.data["values"].tolist() == [3, 7, 4, 4, 1, 2, 4]
    assert one.data["scale"].tolist() == [4] * 7


def test_arms_can_be_given_where_there_is_no_cell():
    plan = Test(inputs={"values": "arm + 1"}, procedure="exact", each={"arm": [1, 3]})
    found = list(questions(plan, (), Evidence()))
    assert [(one.each, one.data["values"].tolist()) for one in found] == [
        ("arm 1", [2]),
        ("arm 3", [4]),
    ]


LAWS = ("uniform02", "bernoulli")
#: A cell of each law, and one that belongs to both.
BOTH = [
    recorded("dense", [1], law="uniform02", instance="own", queue=[[[1]]]),
    recorded("dense", [1], law="bernoulli", instance="own", queue=[[[2]]]),
    recorded("dense", [1], law="bernoulli", instance="other", queue=[[[3]]]),
]
RULE = "instance != 'own' or law == reading"


def test_case_of_all_readings_is_put_once():
    given = {"values": 0, "against": "queue"}
    plan = {"each": {"instance": []}, "reading": dict.fromkeys(LAWS, RULE)}
    found = asked(given, readings=LAWS, datasets=BOTH, **plan)
    assert [(one.reading, one.each, one.data["against"]) for one in found] == [
        ("uniform02", "own", 1),
        ("", "other", 3),
        ("bernoulli", "own", 2),
    ]


def test_case_is_put_for_each_reading_if_it_says_the_reading():
    given = {"values": 0, "against": "where(reading == 'bernoulli', queue, -queue)"}
    plan = {"each": {"instance": []}, "reading": dict.fromkeys(LAWS, RULE)}
    found = asked(given, readings=LAWS, datasets=BOTH, **plan)
    assert [(one.reading, one.each, one.data["against"]) for one in found] == [
        ("uniform02", "own", -1),
        ("uniform02", "other", -3),
        ("bernoulli", "own", 2),
        ("bernoulli", "other", 3),
    ]
