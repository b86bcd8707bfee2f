"""Contracts: what they measure, against counts by hand; what they cost, against closed forms."""

import numpy as np
import pytest

import fairbandits as fb
from fairbandits.library.contracts import GroupExposure, GroupMerit, MinimumPulls, MinimumReward
from fairbandits.measures.groups import fair_optimum
from fairbandits.theory.penalised import oracle_allocation
from fairbandits.theory.static import static_benchmark

MEANS = (0.3352, 0.2031, 0.2411, 0.7816, 0.6177)


class Seen:
    """One replicate, recorded after 3 and after 10 rounds."""

    rounds = np.array([3, 10])
    plays = np.array([[[3, 0, 0], [4, 1, 5]]])
    rewards = np.array([[[1.0, 0.0, 0.0], [1.5, 0.5, 4.0]]])
    true_means = np.array((0.5, 0.4, 0.9))
    deficits = ()


def test_pulls_are_counted_whole_and_the_worst_round_stays():
    contract = MinimumPulls(("1/3", "1/3", 0))
    assert contract.shortfall(Seen).tolist() == [[1, 2]]
    assert contract.shortfall(Seen).dtype == np.int64
    assert MinimumPulls((0, 0, "1/3")).shortfall(Seen).tolist() == [[1, 0]]
    assert MinimumPulls((0, 0, "1/3")).worst_shortfall(Seen).tolist() == [[1, 1]]


def test_supremum_is_that_of_all_rounds_where_a_run_kept_it():
    quotas = ("1/5", "3/10", "1/4")
    arms = fb.Instance((0.7, 0.5, 0.4))
    result = fb.run(fb.LFG(quotas), arms, 300, 3, checkpoints=[300], quotas=quotas)
    every = fb.run(fb.LFG(quotas), arms, 300, 3, checkpoints=range(1, 301))
    contract = MinimumPulls(quotas)
    worst, of_every = (contract.worst_shortfall(runs)[:, -1] for runs in (result, every))
    assert worst.tolist() == of_every.tolist()


def test_rewards_and_groups_lack_what_they_lack():
    assert MinimumReward((0.2, 0.1, 0)).shortfall(Seen)[0] == pytest.approx([0.3, 0.5])
    assert GroupExposure((2, 1), ("1/2", "1/5")).shortfall(Seen).tolist() == [[0, 0]]
    assert GroupExposure((2, 1), ("3/5", "2/5")).shortfall(Seen).tolist() == [[1, 1]]
    merit = GroupMerit((2, 1), (0, 0))  # 5/9 and 4/9 of what their group has
    assert merit.shortfall(Seen)[0] == pytest.approx([3 * 4 / 9, abs(4 - 5 * 5 / 9)])


def test_regret_is_that_of_the_measures():
    quotas = ("1/3", "1/3", 0)
    measured = fb.metrics.r_regret(Seen.rounds, Seen.plays, Seen.true_means, quotas)
    assert (MinimumPulls(quotas).contract_regret(Seen) == measured).all()
    drawn = type("Drawn", (Seen,), {"true_means": Seen.true_means[None]})
    exposure = GroupExposure((2, 1), ("3/5", "2/5"))
    wanted = [0.4 * 3 - 0.4 * 1, 0.4 * 4 + 0.5 - 0.4 * 6]
    assert exposure.contract_regret(Seen)[0] == pytest.approx(wanted)
    assert (exposure.contract_regret(drawn) == exposure.contract_regret(Seen)).all()
    merit = GroupMerit((2, 1), ("3/5", "2/5"))
    assert merit.shortfall(drawn) == pytest.approx(merit.shortfall(Seen))


def test_optimum_is_the_static_one():
    targets = (0.1676, 0.0677, 0, 0, 0)
    optimum = MinimumReward(targets).optimum(MEANS)
    closed = static_benchmark(MEANS, targets)
    assert optimum.distribution == pytest.approx(closed.distribution)
    assert optimum.reward == pytest.approx(closed.reward)
    quotas = ("1/5", "1/10", 0, "1/20", "1/3")
    shares = oracle_allocation(MEANS, quotas, 1)  # dearer than any gap
    assert MinimumPulls(quotas).optimum(MEANS).distribution == pytest.approx(shares)


def test_optimum_of_groups_is_the_fair_one():
    groups, quotas = (3, 2), ("1/5", "2/5")
    a_million = np.array([10**6])
    optimum = GroupMerit(groups, quotas).optimum(MEANS)
    closed = fair_optimum(a_million, MEANS, groups, quotas)[0] / 10**6
    assert optimum.reward == pytest.approx(closed)
    best = GroupExposure(groups, ("1/2", 0)).optimum(MEANS)
    assert best.distribution == pytest.approx([0.5, 0, 0, 0.5, 0])


def test_who_keeps_nothing_pays_nothing():
    assert MinimumPulls((0,) * 5).price(MEANS) == pytest.approx(0)
    assert GroupExposure((5,), (1,)).price(MEANS) == pytest.approx(0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MinimumReward((0.5, 0.4)).optimum((0.6, 0.5)), "at most 1, got 1.6333"),
        (lambda: MinimumReward((0.5, 0.0)).optimum((0.4, 0.9)), "minimum_reward cannot be kept"),
        (lambda: MinimumPulls((0.1, 0.1)).optimum((0.6, 0.5, 0.4)), "quotas"),
        (lambda: GroupExposure((2, 1), (0.1, 0.1)).optimum((0.6, 0.5)), "sum to the number of arm"),
        (lambda: MinimumPulls((0.1, 0.1)).price((True, 0)), "means must be a number, got True for"),
        (lambda: MinimumPulls((0.1, 0.1)).price({0.5: 1}), "means .* in the order of the arms"),
        (
            lambda: MinimumPulls((0.1, 0.1)).optimum((np.nan, 1)),
            "must be finite, got nan for arm",
        ),
        (lambda: MinimumPulls((0.1, 0.1)).optimum(("0.5", 1)), "got '0.5' for arm 1; write 0.5 "),
        (lambda: GroupMerit((2, 1), (0.1, 0.1)).price((0, 0, 1)), "one above 0 in each group, got"),
        (lambda: MinimumPulls((0.1, 0.1)).shortfall(Seen), r"quotas must .* \(3\), got 2"),
        (lambda: MinimumPulls((0.1, 0.1)).worst_shortfall(Seen), r"quotas must .* \(3\), got 2"),
        (lambda: MinimumReward((0.1, 0)).contract_regret(Seen), r"targets must .* \(3\), got 2"),
        (lambda: GroupExposure((1, 1), (0.1, 0)).shortfall(Seen), r"number of arms \(3\), got 2"),
        (lambda: MinimumPulls((0.5, 0.5)), "less than 1, got 1"),
        (lambda: MinimumReward((0, 0)), "above 0 for one arm"),
        (lambda: MinimumReward((-0.1, 0)), "-0.1"),
        (lambda: GroupExposure((1, 2), (0.6, 0.6)), "at most 1, got 6/5"),
        (lambda: GroupExposure((1, 2), (0.6,)), "2"),
    ],
)
def test_wrong_contracts_and_infeasible_ones_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
