"""What the audit records of BanditQ: against naive twins, and without changing what is played."""

import itertools
import math

import numpy as np
import pytest
from test_policies_against_naive import FEASIBLE, PENALTIES, ROUNDS, SCENARIOS, WEIGHTS, scenarios

import fairbandits as fb
import naive
import naive_banditq_audit as twins
from drawn import assert_agrees, one_of, recorded, twin_history
from fairbandits.engine import protocol
from fairbandits.engine.watching import watched
from fairbandits.observers.surrogate_gains import ENDS

feedbacks = pytest.mark.parametrize("feedback", ["full", "bandit"])
indices = pytest.mark.parametrize("index", ["post", "pre"])


def started(policy, observer, n_arms, horizon):
    """Return the state of a watched policy before the first round."""
    state = policy.start(n_arms, horizon)
    return watched(state, [observer.start(policy, state, n_arms, horizon)], [len(policy.probes)])


SUMS = {
    "squares": (fb.QueueSquares(), twins.squared_queues),
    "starvation": (fb.Starvation(), twins.longest_starvation),
    "plays_sum": (fb.PlaysSum(), twins.summed_plays),
}


@scenarios
@feedbacks
def test_sums_are_those_of_the_history(scenario, feedback, rng):
    full = feedback == "full"
    gain = one_of(rng, 1, 1e-3, 1e6 if full else 1e3, -2.5)
    instance, targets = SCENARIOS[scenario](rng)
    twin = (naive.BanditQFull if full else naive.BanditQBandit)(list(targets), WEIGHTS["sqrt"])
    twin.subroutine = twins.Scaled(twin.subroutine, gain)
    history = twin_history(twin, instance, ROUNDS)
    for t, record in enumerate(history, start=1):
        record |= {name: measure(history[:t]) for name, (_, measure) in SUMS.items()}
    observe = [observer for observer, _ in SUMS.values()]
    policy = fb.BanditQ(targets, feedback, gain=gain)
    assert_agrees(recorded(policy, instance, ROUNDS, observe=observe), history)


@pytest.mark.parametrize("scenario", FEASIBLE)
@indices
def test_inequalities(scenario, index, rng):
    penalty, step_c = one_of(rng, *PENALTIES), one_of(rng, math.sqrt(0.5), 1)
    instance, targets = FEASIBLE[scenario](rng)
    options = {"surrogate_index": index, "step_c": step_c}
    policy = fb.BanditQ(targets, "full", **options, **PENALTIES[penalty])
    inequalities = fb.BanditQInequalities(instance.means)
    twin = naive.BanditQFull(list(targets), WEIGHTS[penalty], **options)
    history = twin_history(twin, instance, ROUNDS)
    largest = dict.fromkeys(inequalities.probes, -math.inf)
    for t, record in enumerate(history, start=1):
        terms = instance.means, list(targets), WEIGHTS[penalty], index, step_c
        excesses = twins.excesses(history[:t], *terms)
        largest = {name: np.maximum(largest[name], excesses[name]) for name in inequalities.probes}
        record |= {name: np.broadcast_to(side, len(targets)) for name, side in largest.items()}
    result = recorded(policy, instance, ROUNDS, observe=[inequalities])
    # sides of the size of V^2 t leave a difference with fewer digits
    assert_agrees(result, history, rtol=1e-6 if penalty == "1e6" else 1e-9)
    # both sides are added up alike, so that no rounding shows
    assert (result.probes["eq6_excess"] <= 0).all()
    assert (result.probes["queue_excess"] <= 0).all()


#: Rounds of plays and rewards as no instance has them: what they break.
BROKEN = {
    "eq8_excess": [*[([1, 0], [0, 0])] * 3, ([1, 0], [4, 0])],
    "eq11_excess": [([0, 1], [90, 0])] * 30,
    "eq12_excess": [([1, 0], [0, 90])],
    "eq13_excess": [*[([1, 0], [0, 0])] * 3, ([1, 0], [400, 0])],
    "queue_excess": [([1, 0], [-1, 0])],
    "floor_excess": [([0, 9], [0, 0])],
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_an_inequality_shows(name):
    inequalities = fb.BanditQInequalities((0.5, 0.9))
    state = started(fb.BanditQ((0.3, 0), "full", V=1), inequalities, 2, 100)
    for t, (x, reward) in enumerate(BROKEN[name], start=1):
        protocol.learn(state, t, np.array(x, float), np.array(reward, float))
    assert state.observer.columns[inequalities.probes.index(name)].max() > 0


def test_rate_excess_is_the_missed_reward_beyond_the_queue():
    """Eq. 6 cannot be broken by any rewards: only a queue that is not BanditQ's does."""
    state = started(fb.BanditQ((0.3, 0), "full", V=1), fb.BanditQInequalities((0.5, 0.9)), 2, 100)
    for t in range(1, 4):
        protocol.learn(state, t, np.array([1.0, 0.0]), np.zeros(2))
    state.policy.queues.length[0] = 0.1
    protocol.learn(state, 4, np.array([1.0, 0.0]), np.zeros(2))
    assert state.observer.columns[0, 0] == pytest.approx(1.2 - 0.4)


def test_inequalities_need_targets_that_can_be_met():
    for target, means, says in (
        (0.3, (0.5, 0.5), r"must be at most 1, got 1\.2000"),
        (0, (0.5, 0.5, 0.5), r"means must have one entry per arm \(2\), got 3"),
        (0, (0, 0.5), "targets cannot be met"),
    ):
        with pytest.raises(ValueError, match=says):
            started(fb.BanditQ((0.3, target), "full"), fb.BanditQInequalities(means), 2, 10)


CORRELATIONS = [f"correlation_{last}" for last in ENDS]


def pair(feedback, targets, weight, index="post", **penalty):
    """Return BanditQ, its twin, and who plays this; bandit feedback hides rewards of a round."""
    options = {"surrogate_index": index, **penalty}
    if feedback == "full":
        twin = naive.BanditQFull(list(targets), weight, index)
        return fb.BanditQ(targets, "full", **options), twin, naive.run_full
    policy = fb.OwnReward("banditq", {"targets": tuple(targets), **options})
    return policy, naive.BanditQBandit(list(targets), weight, None, index), twins.run_unseen


@scenarios
@indices
@feedbacks
def test_surrogates(scenario, index, feedback, rng):
    penalty = one_of(rng, *PENALTIES)
    instance, targets = SCENARIOS[scenario](rng)
    policy, twin, play = pair(feedback, targets, WEIGHTS[penalty], index, **PENALTIES[penalty])
    history = twin_history(twin, instance, ROUNDS, play=play)
    result = recorded(policy, instance, ROUNDS, observe=[fb.SurrogateGains()])
    gains = np.array(twins.surrogates(history, WEIGHTS[penalty], index))
    regret = np.array(
        [twins.surrogate_regret(history[:t], WEIGHTS[penalty], index) for t in range(1, ROUNDS + 1)]
    )
    norm = np.maximum.accumulate(np.sqrt((gains**2).sum(axis=1)))
    columns = {
        "gain_sum": gains.cumsum(axis=0),
        "gain_squares": (gains**2).cumsum(axis=0),
        "gain_max": np.maximum.accumulate(abs(gains), axis=0),
        "gain_norm": np.broadcast_to(norm[:, None], gains.shape),
    }
    for t, record in enumerate(history):
        record |= {name: values[t] for name, values in columns.items()}
    # the probabilities of one twin have fewer digits, as in test_banditq
    assert_agrees(result, history, without=["probability", "surrogate_regret", *CORRELATIONS])
    # a difference of sums of the size of V t
    scale = max(1.0, float(abs(gains).sum()))
    regrets = result.probes["surrogate_regret"][0]
    np.testing.assert_allclose(regrets.T, [regret] * len(regrets.T), rtol=1e-9, atol=1e-12 * scale)


@feedbacks
@pytest.mark.parametrize("rounds", [[1, 2, 9, 10, 11, 12, 100, 101, 150], [999, 1000, 1001, 2300]])
def test_correlations(feedback, rounds, rng):
    means = rng.uniform(0.2, 0.8, 2).tolist()
    horizon, arms = rounds[-1], fb.Instance(means, "uniform02")
    policy, twin, play = pair(feedback, [0.4 * means[0], 0], math.sqrt(horizon))
    options = {"checkpoints": rounds, "observe": [fb.SurrogateGains()]}
    result = recorded(policy, arms, horizon, **options)
    history = twin_history(twin, arms, horizon, play=play)
    gains = list(zip(*twins.surrogates(history, math.sqrt(horizon), "post"), strict=True))
    for name, (first, last) in zip(CORRELATIONS, itertools.pairwise((0, *ENDS)), strict=True):
        lags = range(first + 1, last + 1)
        expected = [[twins.mean_autocorrelation(gain[:t], lags) for gain in gains] for t in rounds]
        np.testing.assert_allclose(result.probes[name][0], expected, rtol=1e-9, atol=1e-12)


def test_starvation_by_hand():
    state = started(fb.BanditQ((0.1, 0, 0)), fb.Starvation(), 3, 10)
    starvation = state.observer
    after = []
    for t, arm in enumerate([0, 0, 1, 2, 2, 2, 0, 1], start=1):
        protocol.learn(state, t, arm, 0.5)
        after.append(starvation.columns[0].astype(int).tolist())
    assert after[1:4] == [[0, 2, 2], [1, 2, 3], [2, 2, 3]]
    assert after[4:] == [[3, 2, 3], [4, 3, 3], [4, 4, 3], [4, 4, 3]]
    assert starvation.run.tolist() == [1, 0, 2]
