"""What the audit records of BanditQ: against naive twins, and without changing what is played."""

import itertools
import math

import numpy as np
import pytest
import test_policies_against_naive as against

import fairbandits as fb
import naive
import naive_banditq_audit as twins
from drawn import arms_of, one_of
from fairbandits.engine import protocol
from fairbandits.engine.watching import watched
from fairbandits.observers.surrogate_gains import ENDS

feedbacks = pytest.mark.parametrize("feedback", ["full", "bandit"])
indices = pytest.mark.parametrize("index", ["post", "pre"])
#: With means in [0, 1] and targets that can be met.
FEASIBLE = [
    *(against.five, against.two, against.twenty_all_protected, against.always_the_same),
    *(against.no_targets, against.all_alike, against.nearly_always_one),
]
feasible = pytest.mark.parametrize("scenario", FEASIBLE, ids=lambda scenario: scenario.__name__)


SUMS = (fb.QueueSquares(), fb.Starvation(), fb.PlaysSum())


def started(policy, observer, n_arms, horizon):
    """Return the state of a watched policy before the first round."""
    state = policy.start(n_arms, horizon)
    return watched(state, [observer.start(policy, state, n_arms, horizon)], [len(policy.probes)])


def growing(history, measure):
    """Return a measure of the history up to each round, shape (n_rounds, n_arms)."""
    return np.array([measure(history[:t]) for t in range(1, len(history) + 1)], dtype=float)


# --------------------------------------------------------------------------- the recorded sums


def assert_same_tally(result, history):
    for name, measure in (
        ("squares", twins.squared_queues),
        ("starvation", twins.longest_starvation),
        ("plays_sum", twins.summed_plays),
    ):
        against.assert_close(result.probes[name][0], growing(history, measure))


@against.scenarios
@feedbacks
def test_sums_are_those_of_the_history(scenario, feedback, rng):
    full = feedback == "full"
    gain = one_of(rng, 1, 1e-3, 1e6 if full else 1e3, -2.5)
    instance, targets = scenario(rng)
    twin = (naive.BanditQFull if full else naive.BanditQBandit)(
        list(targets), against.weight("sqrt")
    )
    twin.subroutine = twins.Scaled(twin.subroutine, gain)
    history = against.twin_run(naive.run_full if full else naive.run_bandit, twin, instance)
    result = against.recorded(fb.BanditQ(targets, feedback, gain=gain), instance, SUMS)
    same = against.assert_same_full_run if full else against.assert_same_bandit_run
    same(result, history)
    against.assert_same_queues(result, history)
    assert_same_tally(result, history)


def test_starvation_by_hand():
    state = started(fb.BanditQ((0.1, 0, 0)), fb.Starvation(), 3, 10)
    starvation = state.observer
    found = []
    for t, arm in enumerate([0, 0, 1, 2, 2, 2, 0, 1], start=1):
        protocol.learn(state, t, arm, 0.5)
        found.append(starvation.columns[0].astype(int).tolist())
    assert found[1:4] == [[0, 2, 2], [1, 2, 3], [2, 2, 3]]
    assert found[4:] == [[3, 2, 3], [4, 3, 3], [4, 4, 3], [4, 4, 3]]
    assert starvation.run.tolist() == [1, 0, 2]


# -------------------------------------------------------------------------------- inequalities


@feasible
@indices
def test_inequalities(scenario, index, rng):
    penalty, step_c = one_of(rng, *against.PENALTIES), one_of(rng, math.sqrt(0.5), 1)
    instance, targets = scenario(rng)
    options = {"surrogate_index": index, "step_c": step_c}
    policy = fb.BanditQ(targets, "full", **options, **against.PENALTIES[penalty])
    inequalities = fb.BanditQInequalities(instance.means)
    twin = naive.BanditQFull(list(targets), against.weight(penalty), **options)
    history = against.twin_run(naive.run_full, twin, instance)
    result = against.recorded(policy, instance, [inequalities])
    against.assert_same_full_run(result, history)
    terms = instance.means, list(targets), against.weight(penalty), index, step_c
    single = [twins.excesses(history[:t], *terms) for t in range(1, against.ROUNDS + 1)]
    assert list(result.probes) == [*policy.probes, *single[0]]
    for name in inequalities.probes:
        found = result.probes[name]
        expected = np.array([np.broadcast_to(one[name], len(targets)) for one in single])
        # sides of the size of V^2 t leave a difference with fewer digits
        rtol = 1e-6 if penalty == "1e6" else 1e-9
        against.assert_close(found[0], np.maximum.accumulate(expected, axis=0), rtol)
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
    names = [*fb.BanditQ.probes, *inequalities.probes]
    out = np.zeros((len(names), 2))
    for t, (x, reward) in enumerate(BROKEN[name], start=1):
        protocol.learn(state, t, np.array(x, float), np.array(reward, float))
    protocol.probe(state, out)
    assert out[names.index(name)].max() > 0


def test_rate_excess_is_the_missed_reward_beyond_the_queue():
    """Eq. 6 cannot be broken by any rewards: only a queue that is not BanditQ's does."""
    state = started(fb.BanditQ((0.3, 0), "full", V=1), fb.BanditQInequalities((0.5, 0.9)), 2, 100)
    for t in range(1, 4):
        protocol.learn(state, t, np.array([1.0, 0.0]), np.zeros(2))
    state.policy.queues.length[0] = 0.1
    protocol.learn(state, 4, np.array([1.0, 0.0]), np.zeros(2))
    assert state.observer.columns[0, 0] == pytest.approx(1.2 - 0.4)


def test_inequalities_need_targets_that_can_be_met():
    policy = fb.BanditQ((0.3, 0.3), "full")
    with pytest.raises(ValueError, match=r"must be at most 1, got 1\.2000"):
        started(policy, fb.BanditQInequalities((0.5, 0.5)), 2, 10)
    policy = fb.BanditQ((0.3, 0), "full")
    with pytest.raises(ValueError, match=r"means must have one entry per arm \(2\), got 3"):
        started(policy, fb.BanditQInequalities((0.5, 0.5, 0.5)), 2, 10)
    with pytest.raises(ValueError, match="targets cannot be met"):
        started(policy, fb.BanditQInequalities((0, 0.5)), 2, 10)


# ----------------------------------------------------------------------------- surrogate rewards


def own_reward(targets, **parameters):
    return fb.OwnReward("banditq", {"targets": tuple(targets), **parameters})


def assert_same_surrogates(result, history, penalty, index):
    found = {name: values[0] for name, values in result.probes.items()}
    rows = np.array(twins.surrogates(history, penalty, index))
    against.assert_close(found["gain_sum"], rows.cumsum(axis=0))
    against.assert_close(found["gain_squares"], (rows**2).cumsum(axis=0))
    against.assert_close(found["gain_max"], np.maximum.accumulate(abs(rows), axis=0))
    norm = np.maximum.accumulate(np.sqrt((rows**2).sum(axis=1)))
    regret = [
        twins.surrogate_regret(history[:t], penalty, index) for t in range(1, len(history) + 1)
    ]
    for name, expected in (("gain_norm", norm), ("surrogate_regret", np.array(regret))):
        assert (found[name] == found[name][:, :1]).all()
        # a difference of sums of the size of V t
        scale = max(1.0, float(abs(rows).sum()))
        np.testing.assert_allclose(found[name][:, 0], expected, rtol=1e-9, atol=1e-12 * scale)


@against.scenarios
@indices
@feedbacks
def test_surrogates(scenario, index, feedback, rng):
    """With full information, and where they are not seen."""
    penalty = one_of(rng, *against.PENALTIES)
    instance, targets = scenario(rng)
    options = {"surrogate_index": index, **against.PENALTIES[penalty]}
    given = {"surrogate_index": index}
    if feedback == "full":
        policy, play = fb.BanditQ(targets, "full", **options), naive.run_full
        twin = naive.BanditQFull(list(targets), against.weight(penalty), **given)
    else:
        policy, play = own_reward(targets, **options), twins.run_unseen
        twin = naive.BanditQBandit(list(targets), against.weight(penalty), **given)
    history = against.twin_run(play, twin, instance)
    result = against.recorded(policy, instance, [fb.SurrogateGains()])
    if feedback == "full":
        against.assert_same_full_run(result, history)
    else:
        assert arms_of(result) == [one["arm"] for one in history]
        against.assert_close(result.rewards[0], against.column(history, "accrued"))
    against.assert_same_queues(result, history)
    assert_same_surrogates(result, history, against.weight(penalty), index)


@pytest.mark.parametrize("seen", ["full", "bandit"])
@pytest.mark.parametrize("rounds", [[1, 2, 9, 10, 11, 12, 100, 101, 150], [999, 1000, 1001, 2300]])
def test_correlations(seen, rounds, rng):
    means = rng.uniform(0.2, 0.8, 2).tolist()
    targets = [0.4 * means[0], 0]
    horizon = rounds[-1]
    address = (against.SEED, "naive", against.REPLICATE)
    options = {"checkpoints": rounds, "observe": [fb.SurrogateGains()]}
    options |= {"seed": against.SEED, "stream": "naive"}
    policy = fb.BanditQ(targets, "full") if seen == "full" else own_reward(targets)
    arms = fb.Instance(means, "uniform02")
    result = fb.run(policy, arms, horizon, [against.REPLICATE], **options)
    if seen == "full":
        twin = naive.BanditQFull(targets, math.sqrt(horizon))
        history = naive.run_full(twin, means, "uniform02", horizon, *address)
    else:
        twin = naive.BanditQBandit(targets, math.sqrt(horizon))
        history = twins.run_unseen(twin, means, "uniform02", horizon, *address)
    values = list(zip(*twins.surrogates(history, math.sqrt(horizon), "post"), strict=True))
    for first, last in itertools.pairwise((0, *ENDS)):
        found = result.probes[f"correlation_{last}"][0]
        for place, t in enumerate(rounds):
            for arm in range(2):
                expected = twins.mean_autocorrelation(values[arm][:t], range(first + 1, last + 1))
                assert found[place, arm] == pytest.approx(expected, rel=1e-9, abs=1e-12)


# ------------------------------------------------------------------------- other policies


@against.scenarios
@pytest.mark.parametrize(("index", "scale"), [("surrogate", 1), ("max_weight", 1.6)])
def test_queue_ucb(scenario, index, scale, rng):
    penalty = one_of(rng, *against.PENALTIES)
    instance, targets = scenario(rng)
    policy = fb.QueueUCB(targets, index, scale=scale, **against.PENALTIES[penalty])
    twin = twins.QueueUCB(list(targets), against.weight(penalty), index, scale)
    history = against.twin_run(naive.run_bandit, twin, instance)
    result = against.recorded(policy, instance)
    against.assert_same_bandit_run(result, history)
    against.assert_same_queues(result, history)
