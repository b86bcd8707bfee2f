"""Fair-Learn counted in fractions, with learners of all kinds."""

import itertools
from fractions import Fraction

import pytest

from fairbandits.theory import fair_learn_adversary as adversary
from fairbandits.theory import fair_learn_counts as fair_learn


def test_cheapest_counts_are_the_floors():
    half, third = Fraction(1, 2), Fraction(1, 3)
    counted = fair_learn.Counted(100, [Fraction(0), half], [third, Fraction(2, 7)], Fraction(3))
    assert counted.cheapest() == [75, 25]  # floor(200 / 7) - 3
    assert counted.r_regret_numerator([75, 25]) == 0
    assert counted.r_regret_numerator([74, 26]) > 0 > counted.r_regret_numerator([76, 24])
    assert counted.is_fair([75, 25])
    assert not counted.is_fair([76, 24])
    assert set(fair_learn.cheapest_fair(200, seed=1)) == {0}
    assert min(fair_learn.other_fair(200, seed=1)) >= 0


@pytest.mark.parametrize(
    ("quotas", "denominator", "tolerance", "learner", "at"),
    [
        ([9] * 10, 100, 50, "first arm", 12),
        ([4, 6, 5], 20, 10, "first arm", 20),  # Instance 2, alpha 1/2
        ([1] * 10, 20, 18, "first arm", 20),  # Instance 1, alpha 9/10
        ([30, 25, 20, 10, 5, 4, 3, 2], 100, 0, "last arm", 20),
        ([3, 2, 0, 1, 0], 6, 0, "last arm", 6),
        ([9] * 10, 100, 100, "first arm", None),
        ([3, 2, 0, 1, 0], 6, 0, "first arm", None),
    ],
)
def test_the_round_in_which_fair_learn_fails(quotas, denominator, tolerance, learner, at):
    """Counted by hand; up to the round before, or to a thousand, no arm lacks more than alpha."""

    def broken(rounds):
        given = tolerance, fair_learn.LEARNERS[learner], rounds
        return fair_learn.largest_lack(quotas, denominator, *given) * denominator > tolerance

    assert not broken(at - 1 if at else 1000)
    assert at is None or broken(at)


def test_flearn_keeps_quotas_below_equal_shares_alone():
    violations = fair_learn.fair_learn_violations
    assert max(violations(100, 200, 0, 1, seed=20240919)) == 0
    assert max(violations(100, 400, 0, 0, seed=20240919)) == 1
    assert max(violations(50, 400, "1/2", 1, seed=20240919)) == 1
    # the smallest example by hand: quotas 1/4 of three arms, tolerance 2, the last arm waits
    ahead = fair_learn.LEARNERS["smallest deficit"]
    assert ahead(1, [1, -2, -2]) == 1
    assert fair_learn.largest_lack([1, 1, 1], 4, 8, ahead, 100) >= 2


def test_r_regret_is_of_all_outcomes():
    """Two arms, three rounds: each once, then the one with the larger mean, the first on a tie."""
    means, quotas = [Fraction(1, 2), Fraction(1, 4)], [Fraction(0)] * 2
    regrets = list(fair_learn.expected_r_regrets(means, quotas, 3))
    second = Fraction(1, 2) * Fraction(1, 4)  # the first arm failed, the second did not
    assert regrets == [0, Fraction(1, 4), Fraction(1, 4) * (1 + second)]


def test_equal_indices_are_broken_at_random_on_average():
    """In round 3 both arms have failed, or both have not: half of these pulls are of arm 2."""
    means, quotas = [Fraction(1, 2), Fraction(1, 4)], [Fraction(0)] * 2
    *_, regret = fair_learn.expected_r_regrets(means, quotas, 3, "random")
    equal = Fraction(1, 2) * Fraction(3, 4) + Fraction(1, 2) * Fraction(1, 4)
    assert regret == Fraction(1, 4) * (1 + Fraction(1, 8) + equal / 2)


def test_a_quota_of_the_best_arm_costs_in_round_8():
    three = ["3/4", "7/10", "1/20"], ["3/11", "0", "0"]
    assert [fair_learn.quotas_cost(*three, t) for t in (7, 8, 9)] == [0, 1, 0]


def test_a_first_phase_rounded_up_pays_for_a_part_of_a_pull():
    """Two arms, quotas in thirds: (1, 1) and (1, 0), whose first pays unless T is 3."""
    assert fair_learn.paid_while_filling(2, 3) == [1, 1, 0, 1, 1] * 2


@pytest.mark.parametrize("tolerance", ["0", "1/2"])
def test_the_adversary_is_the_worst_of_all_learners_that_are_gone_through(tolerance):
    """Every sequence of wishes in the first rounds, with ties to the lowest arm."""
    quotas, denominator, alpha = (1, 1, 1), 4, Fraction(tolerance)
    given = quotas, denominator, alpha * denominator
    worst = max(
        fair_learn.largest_lack(*given, lambda t, _, w=wishes: w[t - 1], 8)
        for wishes in itertools.product(range(3), repeat=8)
    )
    amounts = adversary.worst_amounts(quotas, denominator, alpha, True)["fair"]
    assert amounts == (worst - alpha) * alpha.denominator


def test_the_adversary_breaks_what_is_known_to_break():
    worst = adversary.worst_learner
    assert max(worst("fair", 3, 6, "kth", "0")) <= 0
    assert max(worst("fair", 3, 7, "all", "0")) > 0
    assert max(worst("pulled", 3, 5, "wider", "0")) > 0
    assert max(worst("rise k - 1", 3, 6, "wider", "0")) <= 0
    assert set(adversary.lack_asleep(2, 4, "1/2")) == {1}  # nobody can pull an arm that sleeps


def test_quotas_are_within_their_span():
    within = adversary.quotas_within
    assert list(within(2, 5, "kth")) == [(2, 2), (2, 1), (2, 0), (1, 1), (1, 0)]
    assert (2, 2, 0) in within(3, 5, "wider")
    with pytest.raises(ValueError, match="span must be one of kth, wider, all, got 'none'"):
        list(within(2, 5, "none"))
