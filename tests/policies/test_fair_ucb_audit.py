"""What the audit records of Fair-Learn, against its naive twin and by hand."""

import re

import numpy as np
import pytest

import drawn
import naive_fair_audit as audit
import naive_fair_ucb as twins
from fairbandits import FairLearn, FairLearnDeficits, Instance

DEFICITS = (FairLearnDeficits(),)


def evenly(arms):
    return Instance(np.linspace(0.9, 0.1, arms))


@drawn.settings
@pytest.mark.parametrize("learner", ["ucb1", "uniform", "first", "last", "adversary"])
def test_record_of_every_round(learner, setting, rng):
    instance = drawn.instance_of(setting, rng)
    quotas = drawn.random_quotas(rng, instance.n_arms)
    name, parameters, _ = twins.theorem_learners(quotas, drawn.ROUNDS)[learner]
    first = drawn.one_of(rng, "learner", "round_robin")
    options = {"compiled": learner == "ucb1", "observe": DEFICITS}  # the observer sees no learner
    for tolerance in (0, drawn.one_of(rng, 1, 3, "1/2", "9/10", "5/2", 0.3)):
        policy = FairLearn(quotas, tolerance, name, parameters, first)
        result = drawn.recorded(policy, instance, replicates=[0, 7], **options)
        for place in range(2):
            expected = audit.observed(drawn.arms_of(result, place), quotas, tolerance)
            assert tuple(result.probes) == tuple(expected[0])
            for probe, values in result.probes.items():
                assert values[place].tolist() == [row[probe] for row in expected], probe


def probes_of(quotas, tolerance, learner, rounds, **parameters):
    policy = FairLearn(quotas, tolerance, learner, parameters)
    options = {"checkpoints": [rounds], "observe": DEFICITS, "compiled": False}
    result = drawn.recorded(policy, evenly(len(quotas)), rounds, **options)
    return {probe: values[0, 0].tolist() for probe, values in result.probes.items()}


def test_first_violations_by_hand():
    """Of the counterexamples to Theorem 1 (B3, B4.1 and B4.2 of the specification)."""
    halves = probes_of(("9/100",) * 10, "1/2", "constant", 1000, arm=1)
    assert halves["first_beyond"][-3:] == [12, 12, 12]
    eight = ("3/10", "1/4", "1/5", "1/10", "1/20", "1/25", "3/100", "1/50")
    assert probes_of(eight, 0, "constant", 1000, arm=-1)["first_beyond"] == [20, *[0] * 7]
    five = ("1/2", "1/3", 0, "4/25", 0)
    assert probes_of(five, 0, "constant", 1000, arm=-1)["first_beyond"] == [6, 0, 0, 0, 0]
    assert not any(probes_of(("9/100",) * 10, 1, "constant", 1000, arm=1)["first_beyond"])


def test_record_by_hand():
    """Quotas 1/4 and 0; the second arm is pulled but in the rounds 2, 6 and 10."""
    found = probes_of(("1/4", 0), 0, "constant", 12, arm=-1)
    policy = FairLearn(("1/4", 0), 0, "constant", {"arm": -1})
    arms = drawn.arms_of(drawn.recorded(policy, evenly(2), 12, compiled=False))
    assert arms == [0 if t in (2, 6, 10) else 1 for t in range(1, 13)]
    assert found == {
        # at deficits of 0 and 1/4 the first arm is alone in the lower of two classes, M_2
        "crowding_k": [-1, -1],
        "crowding_k_minus_1": [0, 0],  # and in the only one
        "rise_k": [1, 0],
        "rise_k_minus_1": [1, 0],
        "pulled_excess": [-2, -4],  # 2/4 - 1 and 0 - 1, in quarters
        "first_beyond": [0, 0],
    }


def test_an_arm_never_pulled_has_no_excess():
    found = probes_of((0, 0, "1/10"), 0, "constant", 40, arm=1)
    assert found["pulled_excess"][1] == -(2**62)


def test_numbers_that_a_float_cannot_hold_are_refused():
    def watch(policy, horizon):
        return DEFICITS[0].start(policy, policy.start(2, horizon), 2, horizon)

    policy = FairLearn(("1/3", f"1/{2**20}"), 0)
    words = "quotas and tolerance must be such that arms * (denominator * horizon + tolerance)"
    watch(policy, 2**30)
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        watch(policy, 2**32)
    assert str(error.value).endswith(f"is below 2**53, got {2 * 3 * 2**52}")
    with pytest.raises(ValueError, match=re.escape(words)):
        watch(FairLearn(("1/3", 0), 10**18), 100)
