"""The measures of a result, by naive sums over arms; results that are joined."""

import re
from fractions import Fraction

import pytest

import fairbandits as fb
from fairbandits.theory.static import static_benchmark

ARMS = fb.Instance((0.7, 0.5, 0.4))
DRAWN = fb.RandomInstance(3, low=0.3, high=0.9)
QUOTAS = ("1/5", "3/10", "1/4")
TARGETS = (0.0, 0.1, 0.05)
SETTINGS = {"seed": 5, "checkpoints": [10, 37, 80], "quotas": QUOTAS}
BOTH = pytest.mark.parametrize("instance", [ARMS, DRAWN], ids=["fixed", "drawn"])


def result_of(instance, policy=None, **others):
    return fb.run(policy or fb.UCB1(), instance, 80, 4, **SETTINGS | others)


def each(result):
    """Yield place, round, pulls, rewards and true means of every replicate and checkpoint."""
    for r in range(result.replicates.size):
        means = result.instance.true_means if result.means is None else result.means[r]
        for c, t in enumerate(result.rounds.tolist()):
            yield (r, c), t, result.plays[r, c].tolist(), result.rewards[r, c].tolist(), list(means)


def test_a_result_says_in_one_line_what_was_run():
    said = repr(result_of(ARMS))
    assert said.startswith("<Result of UCB1: n_replicates = 4, horizon = 80, n_checkpoints = 3,")
    assert "deficit" in said
    assert "\n" not in said


@BOTH
def test_regrets(instance):
    result = result_of(instance)
    found = result.regret(), result.r_regret(tolerance=2), result.target_regret(TARGETS)
    assert {one.shape for one in (*found, result.reward())} == {(4, 3)}
    for place, t, plays, rewards, means in each(result):
        gaps = [max(means) - mu for mu in means]
        owed = [max(0, Fraction(quota) * t // 1 - 2) for quota in QUOTAS]
        earned = sum(mu * n for mu, n in zip(means, plays, strict=True))
        wanted = (
            sum(gap * n for gap, n in zip(gaps, plays, strict=True)),
            sum(gap * (n - free) for gap, n, free in zip(gaps, plays, owed, strict=True)),
            static_benchmark(means, TARGETS).reward * t - earned,
        )
        assert [one[place] for one in found] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        assert result.reward()[place] == pytest.approx(sum(rewards), rel=1e-12)
    assert (result.r_regret() < result.regret()).any()


@BOTH
def test_violation_of_quotas_and_of_targets(instance):
    result = result_of(instance)
    found, lacking = result.violation(), result.violation(targets=TARGETS)
    assert found.shape == lacking.shape == (4, 3)
    for place, t, plays, rewards, _ in each(result):
        pulls = max(Fraction(q) * t - n for q, n in zip(QUOTAS, plays, strict=True))
        assert found[place] == pytest.approx(float(pulls), rel=1e-12)
        wanted = max(TARGETS[arm] * t - rewards[arm] for arm in (1, 2))
        assert lacking[place] == pytest.approx(wanted, rel=1e-12)
    deficits = result.deficits
    assert (deficits["floor_deficit_sup"] >= deficits["floor_deficit"]).all()


@BOTH
@pytest.mark.parametrize("penalties", [0.3, (0.1, 0.2, 0.6), "half_range"])
def test_penalised_regret_and_unfairness(instance, penalties):
    result = result_of(instance)
    found, unfair = result.penalised_regret(penalties), result.unfairness()
    assert found.shape == unfair.shape == (4, 3)
    for place, t, plays, _, means in each(result):
        rates = {"half_range": [(max(means) - min(means)) / 2] * 3, 0.3: [0.3] * 3}
        rates = rates.get(penalties, penalties)
        owed = [float(Fraction(quota) * t) for quota in QUOTAS]
        gaps = [max(means) - mu for mu in means]
        lacks = [max(0.0, due - n) for due, n in zip(owed, plays, strict=True)]
        loss = sum(
            gap * n + rate * lack
            for gap, n, rate, lack in zip(gaps, plays, rates, lacks, strict=True)
        )
        least = sum(min(g, a) * due for g, a, due in zip(gaps, rates, owed, strict=True))
        assert found[place] == pytest.approx(loss - least, rel=1e-9, abs=1e-9)
        assert unfair[place] == pytest.approx(sum(lacks), rel=1e-9, abs=1e-9)


def test_targets_are_those_of_the_policy_where_none_are_given():
    result = fb.run(fb.BanditQ(TARGETS), ARMS, 80, 3, checkpoints=[80])
    assert result.violation().tolist() == result.violation(targets=TARGETS).tolist()
    assert result.target_regret().tolist() == result.target_regret(TARGETS).tolist()


def test_what_a_measure_needs_is_said():
    result = fb.run(fb.UCB1(), ARMS, 20, 2)
    with pytest.raises(ValueError, match=r"violation needs quotas or targets; .*run\(\.\.\., quot"):
        result.violation()
    for call in (result.r_regret, result.unfairness, lambda: result.penalised_regret(1)):
        with pytest.raises(ValueError, match=r'needs quotas; run\(\.\.\., quotas=\("1/5", '):
            call()
    with pytest.raises(ValueError, match=r"target_regret needs targets; target_regret\(targets="):
        result.target_regret()
    with pytest.raises(ValueError, match=r"targets must have one entry per arm \(3\), got 2"):
        result.violation(targets=(0.1, 0.1))
    with pytest.raises(ValueError, match="targets must be finite and at least 0, got -1 for arm 1"):
        result.violation(targets=(-1, 0.1, 0.1))
    with pytest.raises(ValueError, match="targets must be above 0 for one arm at least"):
        result.violation(targets=(0, 0, 0))
    with pytest.raises(ValueError, match="penalties must have one entry per arm"):
        result_of(ARMS).penalised_regret((0.1, 0.2))


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


class Coin:
    """Pulls arm 0, or the other with some chance."""

    feedback = "bandit"

    def __init__(self, chance=0.5):
        self.chance = chance

    def start(self, n_arms, horizon):
        return Coin(self.chance)

    def choose(self, t, coin):
        return int(fb.unit(coin) < self.chance)

    def learn(self, t, arm, reward):
        pass


def test_a_policy_without_equality_is_known_by_what_it_shows():
    first = fb.run(Coin(0.25), ARMS, 20, [0])
    assert fb.join([first, fb.run(Coin(0.25), ARMS, 20, [1])]).plays.shape[0] == 2
    with pytest.raises(ValueError, match="results must be of one policy"):
        fb.join([first, fb.run(Coin(0.75), ARMS, 20, [1])])


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


def test_only_results_are_joined():
    with pytest.raises(ValueError, match="results must hold at least one, got none"):
        fb.join([])
    with pytest.raises(TypeError, match=re.escape("must be those of fairbandits.run, got 3")):
        fb.join([3])


def test_fair_ucb_is_fair_learn_with_ucb1():
    found = fb.run(fb.FairUCB(QUOTAS, tolerance="1/2"), ARMS, 80, 3, **SETTINGS)
    wanted = fb.run(fb.FairLearn(QUOTAS, tolerance="1/2", learner="ucb1"), ARMS, 80, 3, **SETTINGS)
    assert found.plays.tobytes() == wanted.plays.tobytes()
    assert found.rewards.tobytes() == wanted.rewards.tobytes()
    assert isinstance(fb.FairUCB(QUOTAS), fb.FairLearn)
    with pytest.raises(TypeError, match="learner"):
        fb.FairUCB(QUOTAS, learner="thompson")
    with pytest.raises(ValueError, match='write "1/3" in place of'):
        fb.FairUCB((1 / 3, 0.1, 0.1))
