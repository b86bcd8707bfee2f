"""What the audit of Fair-Learn runs: its record and two wrappers, against their naive twins."""

import re

import numpy as np
import pytest

import naive_fair_audit as audit
import naive_fair_ucb as twins
from fairbandits import (
    UCB1,
    FairLearn,
    FairLearnDeficits,
    Instance,
    Mixture,
    Resampled,
    Uniform,
    run,
)
from fairbandits.engine import protocol, streams
from fairbandits.rationals import quota_numerators

SEED = 20241120
STREAM = "observed"
ROUNDS = 120
REPLICATE = 2
DEFICITS = (FairLearnDeficits(),)
TOLERANCES = (0, 1, 3, "1/2", "9/10", "5/2", 0.3)


def drawn_quotas(rng, arms, largest):
    """Return rational quotas of sum below 1, none above `largest`."""
    denominator = int(rng.integers(5 * arms, 300))
    while True:
        shares = rng.integers(0, int(largest * denominator) + 1, arms)
        if shares.sum() < denominator:
            return tuple(f"{share}/{denominator}" for share in shares.tolist())


def below_kth(rng):
    return drawn_quotas(rng, 5, 1 / 5)


def wider(rng):
    return drawn_quotas(rng, 4, 1 / 3)


def beyond(rng):
    return drawn_quotas(rng, 4, 0.9)


def two(rng):
    return drawn_quotas(rng, 2, 0.9)


def equal(rng):
    return ("9/100",) * 10


def with_none(rng):
    return ("1/2", "1/3", 0, "4/25", 0)


SCENARIOS = (below_kth, wider, beyond, two, equal, with_none)
scenarios = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)


def played(policy, instance, rounds=ROUNDS, replicates=(REPLICATE,), **options):
    """Return the result with a checkpoint at every round."""
    every = {"checkpoints": range(1, rounds + 1)}
    options = {"seed": SEED, "stream": STREAM} | every | options
    return run(policy, instance, rounds, replicates, **options)


def arms_of(result, place=0):
    """Return the arm of every round."""
    pulls = np.diff(result.plays[place], axis=0, prepend=0)
    assert (pulls.sum(axis=1) == 1).all()
    return pulls.argmax(axis=1).tolist()


def evenly(arms):
    return Instance(np.linspace(0.9, 0.1, arms))


# ------------------------------------------------------------------------------------ the record


@scenarios
@pytest.mark.parametrize("learner", ["ucb1", "uniform", "first", "last", "adversary"])
def test_record_of_every_round(scenario, learner, rng):
    quotas = scenario(rng)
    name, parameters, _ = twins.theorem_learners(quotas, ROUNDS)[learner]
    for tolerance in TOLERANCES:
        policy = FairLearn(quotas, tolerance, name, parameters)
        result = played(policy, evenly(len(quotas)), observe=DEFICITS)
        expected = audit.observed(arms_of(result), quotas, tolerance)
        assert tuple(result.probes) == tuple(expected[0])
        for probe, values in result.probes.items():
            assert values[0].tolist() == [row[probe] for row in expected], (probe, tolerance)


@pytest.mark.parametrize("first_rounds", ["learner", "round_robin"])
def test_record_with_rewards_and_first_rounds(first_rounds, rng):
    quotas = below_kth(rng)
    policy = FairLearn(quotas, 0, "thompson", first_rounds=first_rounds)
    instance = Instance((0.8, 0.7, 0.6, 0.5, 0.4), "beta")
    result = played(policy, instance, replicates=[0, 7], observe=DEFICITS)
    for place in range(2):
        expected = audit.observed(arms_of(result, place), quotas, 0)
        for probe, values in result.probes.items():
            assert values[place].tolist() == [row[probe] for row in expected], probe


def probes_of(quotas, tolerance, learner, rounds, **parameters):
    policy = FairLearn(quotas, tolerance, learner, parameters)
    options = {"checkpoints": [rounds], "observe": DEFICITS}
    result = played(policy, evenly(len(quotas)), rounds, **options)
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
    assert arms_by_hand() == [0 if t in (2, 6, 10) else 1 for t in range(1, 13)]
    assert found == {
        # at deficits of 0 and 1/4 the first arm is alone in the lower of two classes, M_2
        "crowding_k": [-1, -1],
        "crowding_k_minus_1": [0, 0],  # and in the only one
        "rise_k": [1, 0],
        "rise_k_minus_1": [1, 0],
        "pulled_excess": [-2, -4],  # 2/4 - 1 and 0 - 1, in quarters
        "first_beyond": [0, 0],
    }


def arms_by_hand():
    policy = FairLearn(("1/4", 0), 0, "constant", {"arm": -1})
    return arms_of(played(policy, evenly(2), 12))


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


def test_only_fair_learn_has_these_deficits():
    with pytest.raises(TypeError, match="FairLearnDeficits can watch FairLearn only, got UCB1"):
        played(UCB1(), evenly(2), observe=DEFICITS)


# ---------------------------------------------------------------------------------- the mixture


def assert_same_run(policy, twin, instance, rounds=ROUNDS):
    result = played(policy, instance, rounds)
    extras = {"beta": {"m": instance.spread}, "gaussian": {"sd": instance.spread}}
    history = twins.play(
        *(twin, instance.means, instance.law, rounds, SEED, STREAM, REPLICATE),
        **extras.get(instance.law, {}),
    )
    assert arms_of(result) == [row["arm"] for row in history]
    accrued = [row["accrued"] for row in history]
    if instance.law == "bernoulli":
        assert result.rewards[0].tolist() == accrued
    else:
        np.testing.assert_allclose(result.rewards[0], accrued, rtol=1e-12, atol=1e-12)


LAWS = ("bernoulli", "beta", "deterministic", "uniform02")
laws = pytest.mark.parametrize("law", LAWS)


@scenarios
@laws
@pytest.mark.parametrize("learner", ["ucb1", "thompson", "epsilon_greedy", "uniform", "last"])
def test_mixture(scenario, law, learner, rng):
    quotas = scenario(rng)
    name, parameters, twin = twins.theorem_learners(quotas, ROUNDS)[learner]
    instance = Instance(rng.uniform(0.1, 0.9, len(quotas)), law)
    policy = Mixture(quotas, name, parameters)
    assert_same_run(policy, audit.Mixture(quotas, twin), instance)


def test_mixture_after_random_histories(rng):
    quotas = ("1/7", "0", "2/7", "1/9")
    state = Mixture(quotas, "ucb1", {"ties": "random"}).start(4, 300)
    twin = audit.Mixture(quotas, twins.UCB1(4, ties="random"))
    coins = rng.integers(0, streams.MASK, 300, dtype=np.uint64, endpoint=True)
    for t, (coin, arm) in enumerate(zip(coins.tolist(), rng.integers(0, 4, 300), strict=True), 1):
        assert protocol.choose(state, t, coin) == twin.choose(coin)
        protocol.learn(state, t, int(arm), 0.5)
        twin.advance(int(arm), 0.5)


def test_mixture_without_quotas_is_the_learner():
    for learner, plain in (("ucb1", UCB1()), ("uniform", Uniform())):
        mixed = played(Mixture((0, 0, 0), learner), evenly(3))
        assert np.array_equal(mixed.plays, played(plain, evenly(3)).plays)


def test_mixture_meets_its_quotas_in_the_mean():
    """Each arm but the constant one is pulled by the quotas alone: binomial, within 5 sd."""
    quotas = ("1/5", "3/10", "1/4")
    rounds, replicates = 2000, 50
    policy = Mixture(quotas, "constant", {"arm": 1})
    result = played(policy, evenly(3), rounds, replicates, checkpoints=[rounds])
    pulls = result.plays[:, 0, 1:].sum(axis=0) / (rounds * replicates)
    for share, r in zip(pulls, (0.3, 0.25), strict=True):
        assert abs(share - r) < 5 * np.sqrt(r * (1 - r) / (rounds * replicates))
    assert result.plays[:, 0, 1].std() > 10  # which is no guarantee on a path


def test_bounds_of_the_mixture_are_rounded_once():
    quotas = ("1/3", 0, "1/7", "1/10")
    numerators, denominator = quota_numerators(quotas)
    bounds = Mixture(quotas).start(4, 10).bounds
    assert bounds.tolist() == [
        sum(numerators[: arm + 1]) / denominator for arm in range(4)
    ]  # integers, divided once


# -------------------------------------------------------------------------------- resampled rewards


@laws
@pytest.mark.parametrize("learner", ["ucb1", "thompson", "epsilon_greedy"])
def test_resampled(law, learner, rng):
    quotas = ("1/5", "0", "1/4", "1/10")
    name, parameters, twin = twins.theorem_learners(quotas, ROUNDS)[learner]
    instance = Instance(rng.uniform(0.1, 0.9, 4), law)
    assert_same_run(Resampled(name, parameters), audit.Resampled(twin), instance)


def test_resampled_around_fair_learn(rng):
    """So that also what a forced pull earns is shown as a coin."""
    quotas = ("1/5", "1/6", "1/4")
    instance = Instance(rng.uniform(0.2, 0.8, 3), "beta")
    parameters = {"quotas": quotas, "learner": "ucb1", "learner_parameters": {"clock": "own"}}
    twin = audit.Resampled(twins.FairLearn(quotas, 0, twins.UCB1(3, clock="own")))
    assert_same_run(Resampled("fair_learn", parameters), twin, instance)


def test_coins_of_bernoulli_rewards_are_the_rewards():
    shown, plain = (played(policy, evenly(4)) for policy in (Resampled("ucb1"), UCB1()))
    assert np.array_equal(shown.plays, plain.plays)
    assert np.array_equal(shown.rewards, plain.rewards)


def test_rewards_that_are_no_probabilities(rng):
    """Are shown as the nearer of 0 and 1; recorded are the real ones."""
    instance = Instance((-3.0, 5.0, 0.0), "deterministic")
    result = played(Resampled("ucb1"), instance)
    same = played(UCB1(), Instance((0.0, 1.0, 0.0), "deterministic"))
    assert np.array_equal(result.plays, same.plays)
    assert np.array_equal(result.rewards, result.plays * np.array(instance.means))


def test_learner_sees_nothing_but_coins():
    state = Resampled("thompson").start(3, 100)
    for t in range(1, 101):
        arm = protocol.choose(state, t, streams.word(1, 3, t))
        protocol.learn(state, t, arm, 0.3)
    learnt = np.concatenate([state.learner.successes, state.learner.failures])
    assert (learnt == np.rint(learnt)).all()
    assert learnt.sum() == 106
    assert 15 < state.learner.successes.sum() - 3 < 45  # 30 expected, sd 4.6


@pytest.mark.parametrize("policy", [Mixture, Resampled])
def test_wrong_learners_are_refused(policy):
    quotas = {"quotas": ("1/5", "1/5")} if policy is Mixture else {}
    with pytest.raises(ValueError, match=r"learner must be one of .*, got 'ucb'"):
        policy(**quotas, learner="ucb")
    with pytest.raises(ValueError, match="hedge needs full information"):
        policy(**quotas, learner="hedge")
    with pytest.raises(ValueError, match="learner: policy ucb1 has no parameter 'clok'"):
        policy(**quotas, learner_parameters={"clok": "own"})


def test_wrong_quotas_of_the_mixture_are_refused():
    with pytest.raises(ValueError, match="quotas must sum to less than 1, got 7/6"):
        Mixture(("1/2", "2/3"))
    with pytest.raises(ValueError, match=r"quotas must have one entry per arm \(3\), got 2"):
        Mixture(("1/2", "1/3")).start(3, 10)
