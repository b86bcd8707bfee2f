"""The registry of policies, and what they say about wrong parameters."""

import dataclasses
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairbandits as fb
from examples import EXAMPLES, arms_of, instance_of
from fairbandits.policies import POLICIES, make_policy
from fairbandits.policies.parameters import Checked
from fairbandits.rationals import Quotas

HALF, FIVE, TWO = ("1/4", "1/4"), ("1/7",) * 5, fb.Instance((0.5, 0.5))
ERRORS = [
    (lambda: make_policy("ucb2", {}, "a.yaml: fig2"), ["a.yaml: fig2: ", "ucb1", "'ucb2'"]),
    (lambda: make_policy("ucb1", {"sclae": 1}), ["ucb1", "'sclae'", "takes: scale"]),
    (lambda: make_policy("hedge", {"eta": 1}), ["hedge", "'eta'", "takes: none"]),
    (lambda: make_policy("ucb1", {"scale": 0}, "x"), ["x: policy ucb1: ", "above 0", "got 0"]),
    (lambda: make_policy("lfg", {}), ["policy lfg: ", "fractions"]),
    (lambda: fb.UCB1(math.inf), ["scale", "above 0", "inf"]),
    (lambda: fb.EXP3(-1), ["scale", "above 0", "-1"]),
    (lambda: fb.BanditQ((0.1, -0.5)), ["targets", "at least 0", "-0.5", "arm 2"]),
    (lambda: fb.BanditQ((math.nan, 0)), ["targets", "finite", "nan", "arm 1"]),
    (lambda: fb.BanditQ((0, 0), "semi"), ["feedback", "bandit, full", "'semi'"]),
    (lambda: fb.BanditQ((0, 0), subroutine="oga"), ["bandit feedback", "ftrl, exp3p", "'oga'"]),
    (lambda: fb.BanditQ((0, 0), "full", "ftrl"), ["full", "oga, adahedge, squint", "'ftrl'"]),
    (lambda: fb.BanditQ((0, 0), V=-1.0), ["V must", "at least 0", "-1.0"]),
    (lambda: fb.BanditQ((0, 0), V_exponent=math.inf), ["V_exponent", "[-10, 10]", "inf"]),
    (lambda: fb.BanditQ((0, 0), surrogate_index="mid"), ["surrogate_index", "post, pre", "'mid'"]),
    (lambda: fb.BanditQ((0, 0), step_c=0), ["step_c", "above 0", "got 0"]),
    (lambda: fb.BanditQ((0, 0), gamma_rule=3), ["gamma_rule", "1, 2", "got 3"]),
    (lambda: fb.BanditQ((0, 0), tolerance=-1), ["tolerance", "above 0", "-1"]),
    (lambda: fb.BanditQ((0, 0), gamma_rule="one"), ["gamma_rule", "1, 2", "got 'one'"]),
    (lambda: fb.BanditQ({0.1, 0.2}), ["targets", "one entry per arm", "in the order of the arms"]),
    (lambda: fb.BanditQ(pd.Series((0.1, 0.2), (1, 0))), ["labels [1, 0]", "sort_index"]),
    (lambda: fb.BanditQ((0, 10**400)), ["targets must be finite", "for arm 2"]),
    (lambda: fb.BanditQ((0, Decimal("0.1"))), ["targets must be a number", "Decimal('0.1') for"]),
    (lambda: fb.BFUCB({1, 2}, (0, 0)), ["groups", "entry per group", "in the order of the groups"]),
    (lambda: fb.BFUCB(b"ab", (0, 0)), ["groups must have one entry per group", "got b'ab'"]),
    (lambda: fb.BFUCB((1, 10**400), (0, 0)).start(2, 9), ["groups must sum to the number of arms"]),
    (lambda: fb.HTUCB(np.array(0.1), 0.5), ["quotas must have one entry per arm", "array(0.1)"]),
    (lambda: fb.HTUCB((0, 0), np.array(0.1)), ["penalties must be a number, got array(0.1)"]),
    (lambda: fb.HTUCB((0, 0), Fraction(10**400)), ["penalties must be finite and at least 0"]),
    (lambda: fb.EXP3(10**400), ["scale must be a finite number above 0, got 1000"]),
    (lambda: fb.UCB1(ties=np.array([1, 2])), ["ties must be one of", "got [1, 2]"]),
    (lambda: fb.FairLearn((5, 5)), ["less than 1, got 10; write shares", "1/4"]),
    (lambda: fb.FairLearn((0, 0), learner_parameters={1: 2}), ["names with values, got {1: 2}"]),
    (lambda: fb.LFG(("1/2", "2/3")), ["fractions", "at most 1", "7/6"]),
    (lambda: fb.LFG(("-1/3", "1/3")), ["fractions", "at least 0", "-1/3", "arm 1"]),
    (lambda: fb.LFG(("a", 0)), ["fractions", "1/3", "'a'"]),
    (lambda: fb.LFG((1 / 3, 0.1)), ["fractions", "denominator", "2**31"]),
    (lambda: fb.LFG((0.1, 0.1), eta=-1), ["eta", "at least 0", "-1"]),
    (lambda: make_policy("bf_ucb", {"groups": [2]}), ["policy bf_ucb: ", "quotas"]),
    (lambda: fb.BFUCB((), ()), ["groups", "at least 1", "got none"]),
    (lambda: fb.BFUCB((2, 0), (0, 0)), ["groups", "at least 1", "got 0", "group 2"]),
    (lambda: fb.BFUCB((2.5, 1), (0, 0)), ["groups", "whole", "2.5", "group 1"]),
    (lambda: fb.BFUCB((2, 1), (0.1,)), ["quotas", "one entry per group (2)", "got 1"]),
    (lambda: fb.BFUCB((2, 1), (0.1, "-1/3")), ["quotas", "at least 0", "-1/3", "group 2"]),
    (lambda: fb.BFUCB((2, 1), ("2/3", 0.5)), ["quotas", "at most 1", "7/6"]),
    (lambda: fb.BFUCB((2, 1), (0.1, "x")), ["quotas", "1/3", "'x'"]),
    (lambda: fb.BFUCB((2, 1), (0.1, 0.1)).start(4, 9), ["groups", "sum", "(4)", "2+1"]),
    (lambda: fb.BFUCB((1, 1), (0, 0), delta=1), ["delta", "between 0 and 1", "got 1"]),
    (lambda: fb.BFUCB((1, 1), (0, 0), version="code"), ["version", "paper, released", "'code'"]),
    (lambda: fb.BFUCB((1, 1), (0, 0), width="x"), ["width", "paper, released", "'x'"]),
    (lambda: fb.BFUCB((1, 1), (0, 0), box="x"), ["box", "upper, exact", "'x'"]),
    (lambda: fb.BFUCB((1, 1), (0, 0), merit_parameter=-1), ["merit_parameter", "at least 0", "-1"]),
    (lambda: fb.GroupUCB((1, 1), (0.9, 0.9)), ["quotas", "at most 1", "9/5"]),
    (lambda: fb.GroupUCB((1, 1), cap=2), ["cap", "true or false", "got 2"]),
    (lambda: fb.FairXUCB((1, 1), box="exact"), ["box", "upper, uncut", "'exact'"]),
    (lambda: fb.FairXUCB((1, 1), version="released"), ["quotas", "bf_ucb", "None"]),
    (lambda: fb.FairXUCB((1, 1), counts="bf_ucb", quotas=(0, 0)), ["shadow_means must be given"]),
    (lambda: fb.FairXUCB((1, 1), shadow_means=(0.1, -1)), ["shadow_means", "[0, 1]", "-1"]),
    (lambda: fb.GroupOracle((1, 1), (0, 0), (0.1, 1.5)), ["means", "[0, 1]", "1.5", "arm 2"]),
    (lambda: fb.PlugIn((-0.1, 0)), ["targets", "-0.1"]),
    (lambda: fb.PlugIn((0.1, 0)).start(3, 10), ["targets", "(3)"]),
    (lambda: fb.BanditQ((0.1, 0), gain=0), ["gain", "a finite number other than 0", "got 0"]),
    (lambda: fb.EpsilonGreedy(-3), ["epsilon", "[0, 1]", "-3"]),
    (lambda: fb.EpsilonGreedy(True), ["epsilon", "number", "True"]),
    (lambda: fb.EpsilonGreedy(None), ["epsilon", "number", "None"]),
    (lambda: fb.EpsilonGreedy(".3"), ["epsilon", "number", "write .3 without quotes"]),
    (lambda: fb.Constant(0), ["arm", "a whole number other than 0", "got 0"]),
    (lambda: fb.Constant(1.5), ["arm", "whole number", "1.5"]),
    (lambda: fb.FairLearn((0.1,), -1), ["tolerance", "at least 0", "-1"]),
    (lambda: fb.FairLearn((0.1,), learner="ucb11"), ["learner", "did you mean 'ucb1'"]),
    (lambda: fb.FairLearn((0.1,), learner=3), ["learner", "a text", "got 3"]),
    (lambda: fb.FairLearn((0.1,), learner_parameters=3), ["learner_parameters", "names", "got 3"]),
    (lambda: fb.Static((0.5, 0.4)), ["distribution", "sum to 1", "9/10"]),
    (lambda: fb.Static((1.5, -0.5)), ["distribution", "at least 0", "-0.5", "arm 2"]),
    (lambda: fb.FairLearn(HALF, learner_parameters={"speed": 1}), ["ucb1", "speed", "scale"]),
    (lambda: fb.FairLearn(HALF, learner="hedge"), ["hedge", "bandit"]),
    (lambda: fb.run(fb.Constant(3), TWO, 5), ["3", "2"]),
    (lambda: fb.run(fb.Constant(-3), TWO, 5), ["-3", "2"]),
    (lambda: fb.run(fb.FairLearn(FIVE), TWO, 5), ["quotas", "(2)", "got 5"]),
    (lambda: fb.run(fb.UCB1(), TWO, 5, quotas=FIVE), ["quotas", "(2)", "got 5"]),
    (lambda: fb.run(fb.FairLearn(HALF, 0, "constant", {"arm": 6}), TWO, 5), ["6", "2"]),
    (lambda: fb.HTUCB(HALF, (1, math.nan)), ["penalties", "finite", "nan", "arm 2"]),
    (lambda: fb.HTUCB(HALF, 1, threshold="hardd"), ["threshold", "hard, soft", "mean 'hard'"]),
    (lambda: fb.HTUCB(HALF, (1, 1, 1)).start(2, 9), ["penalties", "(2)", "got 3"]),
    (lambda: fb.Prophet((0.5, math.inf), HALF, 1), ["means", "number", "inf"]),
    (lambda: fb.Prophet((0.5,), HALF, 1), ["means", "(2)", "got 1"]),
    (lambda: fb.Prophet((0.5, 0.6), HALF, (1,)).start(2, 9), ["penalties", "(2)", "got 1"]),
    (lambda: fb.GuaranteeKLUCB((0.1, 1.5)), ["targets", "[0, 1]", "1.5", "arm 2"]),
    (lambda: fb.GuaranteeKnapsack((2, 0)), ["targets", "[0, 1]", "got 2", "arm 1"]),
    (lambda: fb.GuaranteeAnytime((0.7, 0.6)), ["targets", "at most 1", "got 1.3"]),
    (lambda: fb.GuaranteeETC((0.1, 0)).start(3, 9), ["targets", "one entry per arm (3)", "got 2"]),
    (lambda: fb.GuaranteeETC((0.1, 0)).start(2, 0), ["horizon", "at least 1", "got 0"]),
    *(
        (lambda policy=policy: policy((0.1, 0)).start(2, None), ["horizon", "at least 1", "None"])
        for policy in (fb.GuaranteeETC, fb.GuaranteeKnapsack, fb.RewardFairUCB)
    ),
]


@pytest.mark.parametrize(("call", "phrases"), ERRORS, ids=[phrases[0] for _, phrases in ERRORS])
def test_parameter_errors_name_the_value_and_the_range(call, phrases):
    with pytest.raises(ValueError, match=r"\S") as caught:
        call()
    for word in phrases:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", POLICIES)
def test_make_policy_makes_every_policy(name):
    example = EXAMPLES[name][0]
    made = make_policy(name, vars(example))
    assert made == example
    assert hash(made) == hash(example)
    result = fb.run(made, instance_of("bernoulli", arms_of(made)), 20, checkpoints=[20])
    assert result.plays.sum() == pytest.approx(20)


@pytest.mark.parametrize("hint", [Any, tuple, int | str, list[float]])
def test_a_field_that_does_not_say_what_it_can_be(hint):
    policy = dataclasses.make_dataclass("Vague", [("rate", hint)], bases=(Checked,), frozen=True)
    with pytest.raises(TypeError, match=r"^Vague\.rate: its type must be float, int, bool or str"):
        policy(1)


def test_quotas_are_kept_as_written_and_parsed_once():
    quotas = fb.FairLearn((0.2, "1/3")).quotas
    assert (quotas, quotas.numerators, quotas.denominator) == ((0.2, "1/3"), (3, 5), 15)
    assert Quotas(quotas) is quotas
    assert json.dumps(quotas) == '[0.2, "1/3"]'
    again = pickle.loads(pickle.dumps(quotas))
    assert (again, again.numerators, again.denominator) == (quotas, (3, 5), 15)
