"""The measures of a result, by naive sums over arms; results that are joined."""

import copy
import functools
import math
import re
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fairbandits as fb
from fairbandits.library.identity import same
from plain import Plain

ARMS = fb.Instance((0.7, 0.5, 0.4))
DRAWN = fb.RandomInstance(3, low=0.3, high=0.9)
QUOTAS = ("1/5", "3/10", "1/4")
TARGETS = (0.0, 0.1, 0.05)
SETTINGS = {"seed": 5, "checkpoints": [10, 37, 80], "quotas": QUOTAS}
BOTH = pytest.mark.parametrize("instance", [ARMS, DRAWN], ids=["fixed", "drawn"])


def result_of(instance, policy=None, **others):
    return fb.run(policy or fb.UCB1(), instance, 80, 4, **SETTINGS | others)


def test_a_result_says_in_one_line_what_was_run():
    says = "<Result of UCB1: n_replicates = 4, horizon = 80, n_checkpoints = 3,.*deficit.*>"
    assert re.fullmatch(says, repr(result_of(ARMS)))


@BOTH
def test_measures_are_those_of_what_was_recorded(instance):
    """The measures themselves have naive twins in other tests."""
    result = result_of(instance)
    rounds, plays, means = result.rounds, result.plays, result.true_means
    assert means.shape == ((3,) if instance is ARMS else (4, 3))
    for penalties in (0.3, (0.1, 0.2, 0.6), "half_range"):
        rates = np.ptp(means, axis=-1, keepdims=True) / 2 * np.ones(3)
        rates = rates if penalties == "half_range" else penalties
        wanted = fb.metrics.penalised_regret(rounds, plays, means, QUOTAS, rates)
        assert (result.penalised_regret(penalties) == wanted).all()
    measured = {
        "regret": (result.regret(), (plays, means)),
        "r_regret": (result.r_regret(tolerance=2), (rounds, plays, means, QUOTAS, 2)),
        "target_regret": (result.target_regret(TARGETS), (rounds, plays, means, TARGETS)),
        "target_violation": (result.violation(TARGETS), (rounds, result.rewards, TARGETS)),
        "violation": (result.violation(), (rounds, plays, QUOTAS)),
        "unfairness": (result.unfairness(), (rounds, plays, QUOTAS)),
    }
    for name, (values, arrays) in measured.items():
        assert values.shape == (4, 3)
        assert (values == getattr(fb.metrics, name)(*arrays)).all(), name
    assert (result.reward() == result.rewards.sum(axis=2)).all()
    assert (result.r_regret() < result.regret()).any()
    deficits = result.deficits
    assert (deficits["floor_deficit_sup"] >= deficits["floor_deficit"]).all()


def test_shares_of_all_pulls_are_measured():
    result = fb.run(fb.UCB1(), ARMS, 80, 2, checkpoints=[80], quotas=("1/2", "1/4", 0.25))
    lacks = [max(40 - a, 20 - b, 20 - c) for a, b, c in result.plays[:, -1].tolist()]
    assert result.violation()[:, -1].tolist() == lacks
    for values in (result.r_regret(), result.unfairness(), result.penalised_regret(0.3)):
        assert np.isfinite(values).all()
    violation = fb.metrics.violation(result.rounds, result.plays, result.quotas)
    assert violation.tolist() == result.violation().tolist()


def test_targets_are_those_of_the_policy_where_none_are_given():
    result = fb.run(fb.BanditQ(TARGETS), ARMS, 80, 3, checkpoints=[80])
    assert result.violation().tolist() == result.violation(targets=TARGETS).tolist()
    assert result.target_regret().tolist() == result.target_regret(TARGETS).tolist()


def test_what_a_measure_needs_is_said():
    result = fb.run(fb.UCB1(), ARMS, 20, 2)
    quotas = r'needs quotas; run\(\.\.\., quotas=\("1/5", '
    for call, says in (
        (result.violation, r"violation needs quotas or targets; .*run\(\.\.\., quot"),
        *((call, quotas) for call in (result.r_regret, result.unfairness)),
        (lambda: result.penalised_regret(1), quotas),
        (result.target_regret, r"target_regret needs targets; target_regret\(targets="),
        (
            lambda: result.violation(targets=(0.1, 0.1)),
            r"targets must have one entry per arm \(3\), got 2",
        ),
        (
            lambda: result.violation(targets=(-1, 0.1, 0.1)),
            "targets must be finite and at least 0, got -1 for arm 1",
        ),
        (
            lambda: result.violation(targets=(0, 0, 0)),
            "targets must be above 0 for one arm at least",
        ),
        (
            lambda: result_of(ARMS).penalised_regret((0.1, 0.2)),
            "penalties must have one entry per arm",
        ),
    ):
        with pytest.raises(ValueError, match=says):
            call()


@BOTH
def test_joined_parts_are_the_whole(instance):
    whole = result_of(instance)
    parts = [fb.run(fb.UCB1(), instance, 80, some, **SETTINGS) for some in ([0, 1], [2], [3])]
    joined = fb.join(parts)
    assert isinstance(joined, fb.Result)
    for name in ("plays", "rewards", "replicates", "rounds"):
        assert getattr(joined, name).tobytes() == getattr(whole, name).tobytes()
    assert joined.violation().tolist() == whole.violation().tolist()
    assert joined.regret().tolist() == whole.regret().tolist()
    assert joined.to_frame().equals(whole.to_frame())
    assert fb.join(iter(parts[::-1])).replicates.tolist() == [3, 2, 0, 1]


class Coin(Plain):
    """Pulls one of two arms by the coin."""

    def __init__(self, parameter=None):
        self.parameter = parameter

    def choose(self, t, coin):
        return int(fb.unit(coin) < 0.5)


def weights(*changed):
    uneven = np.zeros(3000)
    uneven[list(changed)] = 1
    return uneven


def plus(number):
    return lambda x: x + number


#: Parameters of two policies: whether they are the same by value.
PARAMETERS = [
    (0.25, 0.25, True),
    (0.25, 0.75, False),
    (1, np.float64(1), True),
    (np.nan, float("nan"), True),
    (0.0, -0.0, True),
    (weights(), weights(), True),
    (weights(), weights(1500), False),
    (np.array([0.1]), np.array([0.1 + 1e-10]), False),
    (np.zeros(3), np.zeros(3, np.float32), False),
    (np.zeros(3), np.zeros((1, 3)), False),
    (np.array([np.nan, -0.0]), np.array([np.nan, 0.0]), True),
    (np.array(["a", None], object), np.array(["a", None], object), True),
    (np.ma.masked_equal([1, 2], 2), np.ma.masked_equal([1, 2], 1), False),
    (pd.Series([1, 2]), pd.Series([1, 2]), True),
    (pd.Series([1, 2]), pd.Series([1, 2], index=[1, 0]), False),
    ({"a": [weights()], "b": {1}}, {"b": {1}, "a": [weights()]}, True),
    ({"a": [weights()]}, {"a": [weights(3)]}, False),
    (plus(1), plus(1), True),
    (plus(1), plus(2), False),
    (functools.partial(max, 1), functools.partial(max, 1), True),
    (functools.partial(max, 1), functools.partial(max, 2), False),
    (functools.cache(plus(1)), functools.cache(plus(2)), False),
    (math.sqrt, math.sin, False),
    (fb.FairUCB(("1/5", 0.2)), fb.FairUCB((0.2, "1/5")), True),
    (threading.Lock(), threading.Lock(), False),
]


@pytest.mark.parametrize(("settings", "other", "is_same"), PARAMETERS, ids=range(len(PARAMETERS)))
def test_policies_are_compared_by_value(settings, other, is_same):
    parts = [fb.run(Coin(settings), ARMS, 20, [0]), fb.run(Coin(other), ARMS, 20, [1])]
    if is_same:
        assert fb.join(parts).replicates.tolist() == [0, 1]
    else:
        with pytest.raises(ValueError, match="results must be of one policy"):
            fb.join(parts)
    again = [parts[0], replace(parts[0], replicates=np.array([1]))]
    assert fb.join(again).replicates.tolist() == [0, 1]


def test_classes_of_ones_own_are_compared_by_their_code():
    def made(arm):
        class Mine(Coin):
            def choose(self, t, coin):
                return arm

        return Mine()

    def made_again(arm):
        class Mine(Coin):
            def choose(self, t, coin):
                return arm + 0

        return Mine()

    assert same(made(0), made(0))
    for other in (made(1), made_again(0)):
        parts = fb.run(made(0), ARMS, 20, [0]), fb.run(other, ARMS, 20, [1])
        with pytest.raises(ValueError, match="results must be of one policy"):
            fb.join(parts)


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (lambda: fb.World.from_table(np.eye(3)), fb.World.from_table(np.ones((3, 3)))),
        (lambda: fb.World.from_table(np.eye(3), "round"), fb.World.from_table(np.eye(3))),
        (
            lambda: fb.World.moving(lambda t: (0.5, 0.4, 1 / t)),
            fb.World.moving(lambda t: (0.5, 0.4, 0.5)),
        ),
        (lambda: fb.Instance(np.array([0.7, 0.5])), fb.Instance((0.7, 0.4))),
    ],
    ids=["drawn", "in turn", "moving", "fixed"],
)
def test_an_instance_made_again_is_the_same(make, other):
    settings = {"horizon": 3, "quotas": None, "checkpoints": [3]}
    first, second, third = (
        fb.run(fb.Uniform(), world, replicates=[k], **settings)
        for k, world in enumerate((make(), make(), other))
    )
    assert fb.join([first, second]).replicates.tolist() == [0, 1]
    with pytest.raises(ValueError, match="results must be of one run; instance is"):
        fb.join([first, third])


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({"replicates": [1, 2]}, r"1 is in two of them, so give the second run others: run"),
        ({"seed": 6}, "seed is 5 and 6"),
        ({"quotas": ("1/5", "1/5", "1/5")}, "quotas is "),
        ({"horizon": 90}, "horizon is 80 and 90"),
        ({"instance": fb.Instance((0.7, 0.5, 0.3))}, "instance is "),
        ({"policy": fb.UCB1(scale=2)}, "results must be of one policy"),
        ({"checkpoints": [10, 36, 80]}, "results must have the same checkpoints"),
        ({"observe": [fb.PlaysSum()]}, "results must have the same probes, got none and "),
    ],
)
def test_parts_of_different_runs_are_not_joined(others, says):
    usual = {"policy": fb.UCB1(), "instance": ARMS, "horizon": 80, "compiled": False, **SETTINGS}
    first = fb.run(**usual, replicates=[0, 1])
    second = fb.run(**{"replicates": [2], **usual, **others})
    with pytest.raises(ValueError, match=says):
        fb.join([first, second])


def test_results_are_equal_by_value():
    result, again, other = (fb.run(fb.Uniform(), ARMS, 20, 2, seed=seed) for seed in (1, 1, 2))
    assert result == again == copy.deepcopy(result)
    assert result != other
    assert result != 3


def test_only_results_are_joined():
    alone = fb.run(fb.Uniform(), fb.Instance((0.5, 0.4)), 5)
    for wrong, error, says in (
        ([], ValueError, "results must hold at least one, got none"),
        ([3], TypeError, "must be those of fairbandits.run, got 3"),
        (alone, TypeError, "must be a list: join([first, second])"),
        (None, TypeError, "must be a list: join([first, second])"),
    ):
        with pytest.raises(error, match=re.escape(says)):
            fb.join(wrong)


def test_fair_ucb_is_fair_learn_with_ucb1():
    result = fb.run(fb.FairUCB(QUOTAS, tolerance="1/2"), ARMS, 80, 3, **SETTINGS)
    wanted = fb.run(fb.FairLearn(QUOTAS, tolerance="1/2", learner="ucb1"), ARMS, 80, 3, **SETTINGS)
    assert result.plays.tobytes() == wanted.plays.tobytes()
    assert result.rewards.tobytes() == wanted.rewards.tobytes()
    assert isinstance(fb.FairUCB(QUOTAS), fb.FairLearn)
    with pytest.raises(TypeError, match="learner"):
        fb.FairUCB(QUOTAS, learner="thompson")


class Turns(Plain):
    """Pulls the arms in turn, and has targets of any form, as a property."""

    ARMS = np.arange(3)

    def __init__(self, targets):
        self.given = targets

    @property
    def targets(self):
        return self.given

    def choose(self, t, coin):
        return self.ARMS[t % 3]


@pytest.mark.parametrize("policy", [fb.compiled, lambda policy: policy], ids=["compiled", "plain"])
@pytest.mark.parametrize("made", [np.array, pd.Series, list, tuple])
def test_targets_and_constants_of_a_policy_can_be_arrays(made, policy):
    arms = fb.Instance((0.7, 0.5, 0.4))
    wanted = fb.run(policy(Turns(())), arms, 50, 2).violation((0.1, 0.1, 0.1))
    assert (fb.run(policy(Turns(made([0.1, 0.1, 0.1]))), arms, 50, 2).violation() == wanted).all()
    for none in (made([]), None):
        with pytest.raises(ValueError, match="violation needs quotas or targets"):
            fb.run(policy(Turns(none)), arms, 50, 2).violation()
