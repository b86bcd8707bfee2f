"""Asking a claim: labels, readings, controls, selections of runs, and errors with their line."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import real
from fairbandits.audit.answers import answers
from fairbandits.audit.finding import FAILED
from fairbandits.audit.runs import Runs
from fairbandits.audit.tests import LABELS, READINGS
from fairbandits.audit.tiny import Tiny
from fairbandits.claims import (
    arms,
    cases,
    enumerated,
    exact,
    falls,
    mean,
    printed,
    proof,
    reading,
    readings,
    share,
    slope,
)
from small_claims import asked, paper_of, runs, spread

VALUES = np.arange(10.0) + 1


def test_loops_label_cases_and_equal_phrases_are_one_test():
    def some_claim(runs):
        for arm in arms([0, 2]):
            for t in cases(round=[10, 20]):
                yield mean("number", VALUES + arm + t, at_least=0)
        for _ in cases(of={"a_name": 3}):
            yield mean("another", VALUES, at_least=0, beside=True, case="more")

    answered = asked(some_claim)
    assert [answer.test for answer in answered] == ["number"] * 4 + ["another"]
    labels = [f"arm {arm}, t = {t}" for arm in (1, 3) for t in (10, 20)]
    assert [answer.each for answer in answered] == [*labels, "a name, more"]
    assert [answer.decides for answer in answered] == [True] * 4 + [False]
    usual = {"level": 0.99, "claim": "at least", "paired": True, "materiality": 0.0}
    assert answered[0].settings == usual


def test_a_loop_that_breaks_leaves_no_label():
    for _ in arms([0, 1]):
        for _ in readings("one", "two"):
            break
        break
    assert (LABELS, READINGS) == ([], [])
    with pytest.raises(ZeroDivisionError), reading("one"):
        _ = 1 / 0
    assert READINGS == []


def test_readings_are_context_or_loop():
    def some_claim(runs):
        with reading("one"):
            yield mean("number", VALUES, at_least=0)
        for value in readings(two=-1):
            yield mean("number", value * VALUES, at_least=0)
        for value in readings({("one", "two"): 1}):
            yield mean("third", value * VALUES, at_least=0)

    answered = asked(some_claim, readings=["one", "two"])
    assert [(answer.test, answer.reading, answer.verdict) for answer in answered] == [
        ("number", "one", "reproduced"),
        ("number", "two", "not reproduced"),
        ("third", "one", "reproduced"),
        ("third", "two", "reproduced"),
    ]


def test_what_if_changes_deciding_tests_that_have_the_setting():
    def some_claim(runs):
        yield mean("number", VALUES, at_least=0)
        yield exact("excess", [0])
        yield mean("beside", VALUES, at_least=0, beside=True)

    paper = paper_of(t_a=some_claim)
    answered = answers(paper.claims["t-a"], paper, runs(), level=0.95)
    assert [answer.settings.get("level") for answer in answered] == [0.95, None, 0.99]


ONE = {"readings": ["one", "two"]}


@pytest.mark.parametrize(
    ("wrong", "message", "said"),
    [
        (lambda: [mean("x", VALUES, at_least=0)] * 2, "two cases '' of 'x'", {}),
        (lambda: [mean("x", VALUES)], "TypeError: exactly one of at_most, .* got none", {}),
        (lambda: [mean("x", VALUES, 0, 1)], "got at_most, at_least", {}),
        (lambda: [share("x", VALUES > 3, 0.1), mean("x", VALUES, 0)], "'x' is two tests", {}),
        (lambda: [mean("x", VALUES, 0), mean("x", VALUES, 0, beside=True)], "two tests", {}),
        (lambda: [mean("x", VALUES, 0), mean("x", VALUES, 0, unit="pulls")], "two tests", {}),
        (lambda: [mean("x", np.ones((5, 3)), np.ones(2))], "bound for each point: 3, got 2", {}),
        (lambda: [slope("x", [1, 2], [VALUES], 0)], "at 2 points are needed, got 1", {}),
        (lambda: [mean("x", VALUES, 0, units="pulls")], "did you mean 'unit'", {}),
        (lambda: [mean("x", [np.nan, 1.0], 0)], "values must be finite", {}),
        (lambda: [mean("x", [1.0], 0)], "values must have at least 2 entries", {}),
        (lambda: [3], "TypeError: a claim yields tests, got 3", {}),
        (lambda: [mean("x", VALUES, 0, readings=("three",))], "claim has no reading 'three'", {}),
        (lambda: [mean("x", VALUES, 0, readings=("one",))], "decides under reading 'two'", ONE),
        (lambda: [], "no test decides: the function yields none, or all are beside", {}),
        (lambda: [mean("x", VALUES, 0, beside=True)], "no test decides", {}),
        (lambda: [mean("x", VALUES, 0)], "'x' needs a control, or `unc", {"primary": True}),
        (lambda: {}["arm"], "KeyError: 'arm'", {}),
    ],
)
def test_an_error_has_file_and_line(wrong, message, said):
    def some_claim(runs):
        yield from wrong()

    answer = asked(some_claim, **said)[-1]
    assert answer.verdict == FAILED
    with pytest.raises(ValueError, match=rf"^{Path(__file__).name}(, line \d+)?: .*{message}"):
        raise ValueError(answer.message)
    if "decides" not in message:
        lines, first = inspect.getsourcelines(some_claim)
        line = int(answer.message.split("line ")[1].split(":")[0])
        assert line in range(first - 30, first + len(lines))


def test_a_claim_without_a_yield_is_an_error():
    (case,) = asked(lambda runs: None)
    assert case.message.endswith("TypeError: a claim yields tests, and this function has no yield")


def test_a_case_that_fails_leaves_the_others_alone():
    def some_claim(runs):
        for arm in arms([0, 1, 2]):
            yield mean("number", [np.nan, 1.0] if arm == 1 else VALUES, at_least=0)

    answered = asked(some_claim)
    assert [answer.verdict == FAILED for answer in answered] == [False, True, False]


def test_a_control_is_values_or_a_test():
    case = mean("number", VALUES, at_least=2)
    by_values, by_test = case.control(-VALUES), case.control(mean("", -VALUES, at_least=2))
    assert np.array_equal(by_values.of_control["values"], by_test.of_control["values"])
    more = np.append(-VALUES, 5.0)  # no more replicates than the case has
    assert len(case.control(more).of_control["values"]) == len(VALUES)
    x, values = [10, 100, 1000], [VALUES, VALUES, VALUES]
    assert slope("exponent", x, values, at_most=0).control(values).of_control
    with pytest.raises(ValueError, match="the control is at"):
        falls("exponent", x, values).control(([1, 2, 3], values))


def test_a_control_that_passes_leaves_nothing_reproduced():
    def some_claim(runs):
        yield mean("number", spread(1), at_least=0).control(spread(2))

    (answer,) = asked(some_claim, primary=True)
    assert (answer.control, answer.verdict) == ("reproduced", "inconclusive")
    assert "TRIVIAL" in answer.tags


def test_replicates_are_cut_to_those_that_both_have():
    case = mean("number", VALUES, at_least=np.ones(7))
    assert [len(case.data[name]) for name in ("values", "against")] == [7, 7]
    assert len(mean("number", VALUES, at_least=np.ones(7), paired=False).data["values"]) == 10
    bound = mean("number", np.ones((5, 1)), at_most=np.ones(1))
    assert bound.data["values"].shape == (5,)


def test_a_proof_is_made_when_it_is_judged():
    made = []

    def steps(name, n=3):
        made.append((name, n))
        return [0] * n

    case = proof(steps, "lemma", ("other", 2))
    assert made == []
    assert (case.given, len(case.data({})["values"])) == (True, 5)
    made.clear()
    case.data({"n": 1})  # `--most n=1` cuts an enumeration
    assert made == [("lemma", 3), ("other", 1)]
    with pytest.raises(TypeError, match="too many positional"):
        proof(steps, ("lemma", 1, 2)).data.expect()
    drawn = enumerated("of two", lambda n, seed: [seed] * n, (2,), seed=5)
    assert (drawn.given, list(drawn.data({})["values"])) == (False, [5, 5])
    assert printed("number", 0.3351, "0.335").given


@pytest.fixture(scope="module")
def made():
    return Tiny(real.config(), "banditq")


def test_a_selection_of_one_run_is_that_run(made):
    some = made("suite_full", "suite_bandit", instance="five_arms")
    alone = some("suite_full", policy="banditq", law="bernoulli").longest
    assert (len(alone), alone.instance, alone.policy, alone.N) == (1, "five_arms", "banditq", 5)
    plays = alone["plays"]
    assert plays.shape == (4, alone.rounds.size, 5)
    assert np.array_equal(alone.end("plays"), plays[:, -1])
    half = alone.T // 2
    assert np.array_equal(alone.at("plays", half), plays[:, alone.rounds <= half][:, -1])
    assert np.array_equal(alone.at("plays", [half, alone.T])[:, 1], plays[:, -1])
    assert np.array_equal(alone.config.targets, alone["target"])
    assert {run.law for run in alone + some("suite_full", law="uniform02")} >= {"bernoulli"}


def test_groups_label_cases_and_readings(made):
    groups, labels = {}, []
    for group in made("suite_full", instance="five_arms").each("policy", reading="law"):
        groups[group.policy, group.law] = group
        labels.append(((*LABELS,), (*READINGS,)))
    assert labels[0] == ((next(iter(groups))[0],), (next(iter(groups))[1],))
    assert (LABELS, READINGS, len(groups)) == ([], [], len(labels))
    points = made("suite_full", "suite_full", instance="hard", policy="banditq")
    points = points(law=points[0].law)
    x, values = points.over("T", "reward")
    assert (list(x), len(values)) == (sorted(x), len(points))
    assert (x[-1], x[0]) == (points.longest.T, points.shortest.T)
    with pytest.raises(ValueError, match="two runs have one value on the axis"):
        points.over("N", "reward")


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (lambda runs: runs("suite_full")("arms_*"), r"no run of arms_\* here"),
        (lambda runs: runs("suite_full", T=7), "no run has T = 7, but .*20000"),
        (lambda runs: runs("suite_full").T, "T is not one value here: "),
    ],
)
def test_what_a_selection_lacks_is_named(select, message, made):
    """Besides what the planted faults show (test_tiny.py)."""
    with pytest.raises(ValueError, match=message):
        select(made)


def test_runs_of_nothing_have_no_private_names():
    with pytest.raises(AttributeError):
        _ = Runs([])._private
