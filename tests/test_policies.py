"""The registry of policies, and what they say about wrong parameters."""

import math

import pytest

from fairbandits import EXP3, LFG, UCB1, BanditQ, Instance, Static, run
from fairbandits.policies import POLICIES, make_policy

ERRORS = [
    (lambda: make_policy("ucb2", {}, "a.yaml: fig2"), ["a.yaml: fig2: ", "ucb1", "'ucb2'"]),
    (lambda: make_policy("ucb1", {"sclae": 1}), ["ucb1", "'sclae'", "takes: scale"]),
    (lambda: make_policy("hedge", {"eta": 1}), ["hedge", "'eta'", "takes: none"]),
    (lambda: make_policy("ucb1", {"scale": 0}, "x"), ["x: policy ucb1: ", "above 0", "got 0"]),
    (lambda: make_policy("lfg", {}), ["policy lfg: ", "fractions"]),
    (lambda: UCB1(math.inf), ["scale", "above 0", "inf"]),
    (lambda: EXP3(-1), ["scale", "above 0", "-1"]),
    (lambda: EXP3(gamma=1.5), ["gamma", "(0, 1]", "1.5"]),
    (lambda: EXP3(gamma=0), ["gamma", "(0, 1]", "got 0"]),
    (lambda: BanditQ((0.1, -0.5)), ["targets", "at least 0", "-0.5", "arm 2"]),
    (lambda: BanditQ((math.nan, 0)), ["targets", "finite", "nan", "arm 1"]),
    (lambda: BanditQ((0, 0), "semi"), ["feedback", "bandit, full", "'semi'"]),
    (lambda: BanditQ((0, 0), subroutine="oga"), ["bandit feedback", "ftrl, exp3p", "'oga'"]),
    (lambda: BanditQ((0, 0), "full", "ftrl"), ["full", "oga, adahedge, squint", "'ftrl'"]),
    (lambda: BanditQ((0, 0), V=-1.0), ["V must", "at least 0", "-1.0"]),
    (lambda: BanditQ((0, 0), V_exponent=math.inf), ["V_exponent", "finite", "inf"]),
    (lambda: BanditQ((0, 0), surrogate_index="mid"), ["surrogate_index", "post, pre", "'mid'"]),
    (lambda: BanditQ((0, 0), step_c=0), ["step_c", "above 0", "got 0"]),
    (lambda: BanditQ((0, 0), gamma_rule=3), ["gamma_rule", "1, 2", "got 3"]),
    (lambda: BanditQ((0, 0), tolerance=-1), ["tolerance", "above 0", "-1"]),
    (lambda: BanditQ((0, 0), confidence=1), ["confidence", "between 0 and 1", "got 1"]),
    (lambda: LFG(("1/2", "2/3")), ["fractions", "at most 1", "7/6"]),
    (lambda: LFG(("-1/3", "1/3")), ["fractions", "at least 0", "-1/3", "arm 1"]),
    (lambda: LFG(("a", 0)), ["fractions", "1/3", "'a'"]),
    (lambda: LFG((1 / 3, 0.1)), ["fractions", "denominator", "2**31"]),
    (lambda: LFG((0.1, 0.1), eta=-1), ["eta", "at least 0", "-1"]),
    (lambda: LFG((0.1, 0.1), constant=0), ["constant", "above 0", "got 0"]),
    (lambda: LFG((0.1, 0.1), cap=-1), ["cap", "above 0", "-1"]),
    (lambda: LFG((0.1, 0.1), weights=(1, -2)), ["weights", "at least 0", "-2", "arm 2"]),
    (lambda: Static((0.5, 0.4)), ["distribution", "sum to 1", "9/10"]),
    (lambda: Static((1.5, -0.5)), ["distribution", "at least 0", "-1/2", "arm 2"]),
    (lambda: Static(("x", 1)), ["distribution", "'x'"]),
]


@pytest.mark.parametrize(("call", "words"), ERRORS, ids=[words[0] for _, words in ERRORS])
def test_parameter_errors_name_the_value_and_the_range(call, words):
    with pytest.raises(ValueError, match=r"must|takes|required|missing|lie") as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_make_policy_makes_every_policy():
    required = {
        "banditq": {"targets": [0.1, 0.0]},
        "fair_learn": {"quotas": ["1/3", 0.1]},
        "ht_ucb": {"quotas": ["1/3", 0.1], "penalties": [0.5, 1]},
        "lfg": {"fractions": ["1/3", 0.1]},
        "prophet": {"means": [0.5, 0.25], "quotas": ["1/3", 0.1], "penalties": 0.3},
        "smallest_deficit": {"quotas": ["1/3", 0.1]},
        "t_fair_learn": {"quotas": ["1/3", 0.1]},
        "static": {"distribution": [0.5, 0.5]},
    }
    for name, policy in POLICIES.items():
        made = make_policy(name, required.get(name, {}))
        assert type(made) is policy
        result = run(made, Instance((0.5, 0.25)), 20, checkpoints=[20])
        assert result.plays.sum() == pytest.approx(20)
        assert hash(made) == hash(make_policy(name, required.get(name, {})))
