"""Proofs by computer algebra, an adversary in integers, and short runs in full."""

import itertools
from fractions import Fraction

import pytest
import sympy

from fairbandits.audit.mathematics import (
    derivations,
    fair_learn_adversary,
    hard_threshold,
    small_runs,
    ucb1_proofs,
)
from fairbandits.audit.mathematics.counterexamples import fair_learn

#: Proofs whose printed steps do not all hold.
BROKEN = {
    *("minimum_free", "eq13_free", "eq19", "eq20", "second_time", "any_round", "eq33", "ties"),
    *("first_term", "eq40", "eq44", "eq46", "eq48", "near_optimal_critical"),
}


@pytest.mark.parametrize("proof", hard_threshold.PROOFS)
def test_steps_of_the_hard_threshold_paper(proof):
    assert hard_threshold.broken_steps(proof).any() == (proof in BROKEN)


def test_eq_33_fails_from_the_third_arm_on():
    assert hard_threshold.broken_steps("eq33").tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("proof", ucb1_proofs.STEPS)
def test_steps_about_ucb1(proof):
    """Two questions are put so that they fail: what is no less is equal."""
    steps = ucb1_proofs.STEPS[proof]()
    assert any(steps) == (proof in {"without_quota", "same_bounds"})


def test_a_wrong_constant_is_found(monkeypatch):
    monkeypatch.setattr(ucb1_proofs, "_CONSTANT", sympy.Integer(1))
    assert any(ucb1_proofs._with_floor())


def test_inequalities_are_shown_by_signs_alone():
    (x, y), (u,) = derivations.positive("x y"), derivations.nonnegative("u")
    assert derivations.above(x, x + u) == 0
    assert derivations.above(x + u, x) == 1
    assert derivations.above(2 * x * y, x**2 + y**2) == 0
    assert derivations.above(1 / (x + u), 1 / x) == 0
    assert derivations.above(x, y) == 1


def test_r_regret_is_of_all_outcomes():
    """Two arms, three rounds: each once, then the one with the larger mean, the first on a tie."""
    means, quotas = [Fraction(1, 2), Fraction(1, 4)], [Fraction(0)] * 2
    found = list(small_runs._r_regrets(means, quotas, 3))
    second = Fraction(1, 2) * Fraction(1, 4)  # the first arm failed, the second did not
    assert found == [0, Fraction(1, 4), Fraction(1, 4) * (1 + second)]


def test_a_check_reads_each_arm():
    assert [small_runs.looked_at(k) for k in (2, 5, 9)] == [2, 5, 9]


@pytest.mark.parametrize("tolerance", ["0", "1/2"])
def test_the_adversary_is_the_worst_of_all_learners_that_are_gone_through(tolerance):
    """Every sequence of wishes in the first rounds, with ties to the lowest arm."""
    quotas, denominator, alpha = (1, 1, 1), 4, Fraction(tolerance)
    worst = max(
        quota * t // denominator - n - alpha
        for wishes in itertools.product(range(3), repeat=8)
        for t, pulls, _ in fair_learn(
            quotas, denominator, alpha * denominator, lambda t, _, w=wishes: w[t - 1], 8
        )
        for quota, n in zip(quotas, pulls, strict=True)
    )
    found = fair_learn_adversary._worst(quotas, denominator, alpha, True)["fair"]
    assert found == worst * alpha.denominator


def test_the_adversary_breaks_what_is_known_to_break():
    def worst(statement, *given):
        return max(fair_learn_adversary.worst_of_all(statement, *given, forces=True))

    assert worst("fair", 3, 6, "kth", "0") <= 0
    assert worst("fair", 3, 7, "all", "0") > 0
    assert worst("pulled", 3, 5, "wider", "0") > 0
    assert worst("rise k - 1", 3, 6, "wider", "0") <= 0


def test_quotas_are_within_their_span():
    assert list(fair_learn_adversary.quotas_within(2, 5, "kth")) == [
        (2, 2),
        (2, 1),
        (2, 0),
        (1, 1),
        (1, 0),
    ]
    assert (2, 2, 0) in fair_learn_adversary.quotas_within(3, 5, "wider")
    with pytest.raises(ValueError, match="span must be one of kth, wider, all, got 'none'"):
        list(fair_learn_adversary.quotas_within(2, 5, "none"))


def test_nobody_can_pull_an_arm_that_sleeps():
    assert set(fair_learn_adversary.asleep_in_all(2, 4, "1/2")) == {1}
