"""Proofs by computer algebra: which steps hold, and that a wrong one is found."""

import numpy as np
import pytest
import sympy

from fairbandits.theory.derivations import (
    group_regret,
    hard_threshold,
    self_bounding,
    steps,
    ucb1_proofs,
)

#: Proofs whose printed steps do not all hold, or that are put so that they fail: what is no less
#: is equal.
BROKEN = {
    *("minimum_free", "eq13_free", "eq20", "second_time", "any_round", "eq33", "ties"),
    *("first_term", "eq40", "eq44", "eq46", "eq48", "near_optimal_critical"),
    *("without_quota", "equation_21_many_arms", "tie", "eq13_family", "two_over_T2"),
    "not_very_critical",
}
PROOFS = {
    name: proof
    for module in (group_regret, hard_threshold, self_bounding, ucb1_proofs)
    for name, proof in module.PROOFS.items()
}


def check(steps):
    """Return 0 for each step that holds, else 1."""
    return [step() for step in steps]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROOFS)
def test_steps_hold_but_for_those_that_are_known_not_to(name):
    steps = check(PROOFS[name])
    assert steps
    assert set(steps) <= {0, 1}
    assert any(steps) == (name in BROKEN)


def test_eq_33_fails_from_the_third_arm_on():
    assert check(PROOFS["eq33"]) == [0, 0, 1, 1, 1]


def test_steps_of_queues_hold_the_recursion():
    """They are made anew of a queue that forgets a half."""
    broken = [
        steps.at_most(self_bounding.target - won, self_bounding.after(y) / 2 - self_bounding.queue)
        for y, won in self_bounding.ROUNDS
    ]
    assert check(broken) == [1, 0]


def test_what_is_wrong_is_found():
    (t,) = steps.positive("t")
    wrong = [steps.equal(2 * t, t), steps.tends(1 / t, 1, t), steps.above_0(-t)]
    assert check(wrong) == [1, 1, 1]
    cost = -sympy.diff(group_regret.earned, group_regret.step).subs(group_regret.step, 0)
    losses = group_regret.LOSS, 2 * group_regret.LOSS
    assert check([steps.equal(cost, loss) for loss in losses]) == [0, 1]


def test_inequalities_are_shown_by_signs_alone():
    (x, y), (u,) = steps.positive("x y"), steps.nonnegative("u")
    assert steps.at_most(x, x + u)() == 0
    assert steps.at_most(x + u, x)() == 1
    assert steps.at_most(2 * x * y, x**2 + y**2)() == 0
    assert steps.at_most(1 / (x + u), 1 / x)() == 0
    assert steps.at_most(x, y)() == 1


@pytest.mark.parametrize(("which", "power"), [(0, 0), (0, 0.5), (1, 0)])
def test_the_fluid_regret_rises_over_an_order_without_its_logarithm_alone(which, power):
    orders = {(0.5, 0): True, (0.5, 0.5): False, (1, -1): False}
    rising = {order: group_regret.rises(2, which, order, power, 5) > 0 for order in orders}
    for order, rises in orders.items():
        assert set(rising[order].tolist()) == {rises}


def test_the_fluid_regret_of_equal_means_does_not_rise():
    assert abs(group_regret.fluid(np.full(3, 0.5), np.array([1000]), 0.01)).max() < 1e-6


def test_a_limit_or_a_sign_that_is_not_known_is_no_verdict():
    x, y = steps.positive("x y")
    with pytest.raises(ValueError, match=r"limit of .* is not known"):
        steps.not_endless(x * sympy.log(y), x)()
    with pytest.raises(ValueError, match="the sign of x - y is not known"):
        steps.not_above_0(x - y)()
    assert [steps.not_endless(term, x)() for term in (x, 1 / x, -x)] == [1, 0, 0]


def test_a_larger_index_is_rare_only_with_the_pulls_that_its_gap_needs():
    gap, pulls = hard_threshold.D, 8 * hard_threshold.L / hard_threshold.D**2
    failing = [sum(check(hard_threshold.event(gap, part * pulls))) for part in (1, 2, 1 / 2)]
    assert failing == [0, 0, 1]
