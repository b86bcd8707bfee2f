"""Late feedback: nothing changes without delay, quotas count pulls at once, and naive twins."""

import importlib
import pickle

import numpy as np
import pytest
from test_compiling import FairGreedy, Softmax

import fairbandits as fb
import naive_fair_ucb as fair
import naive_late as twins
from drawn import REPLICATE, SEED, STREAM, arms_of, one_of, random_quotas, recorded, settings
from examples import EXAMPLES, instance_of
from examples import arms_of as n_arms_of
from fairbandits.policies import late as late_states
from naive_ht_ucb import HTUCB
from plain import Plain

ROUNDS = 150
ARMS = fb.Instance((0.7, 0.5, 0.4))
QUOTAS = ("1/5", "3/10", "1/4")
WRAPPED = {"delayed": fb.Delayed, "batched": fb.Batched}


def wrapped(policy, wrappers):
    for kind, number in reversed(wrappers):
        policy = WRAPPED[kind](policy, number)
    return policy


def wrappers_of(rng):
    some = [
        ("delayed", int(one_of(rng, 1, 5, 30, ROUNDS - 1, 10**20))),
        ("batched", int(one_of(rng, 2, 7, 40, ROUNDS, 10**20))),
    ]
    first, most, more = rng.integers([0, 1, 0], [2, 3, 2]).tolist()
    return some[first:][:most] + [("delayed", 3)] * more


PLAIN = {"plain": [FairGreedy([0.1] * 5), Softmax(), fb.compiled(Softmax())]}


@pytest.mark.parametrize("policies", [*EXAMPLES.values(), *PLAIN.values()], ids=[*EXAMPLES, *PLAIN])
def test_without_delay_nothing_changes(policies):
    """Also of what is in plain Python and says nothing of its counts."""
    for policy in policies:
        instance = instance_of("uniform02", n_arms_of(policy))
        rounds = getattr(policy, "initial_rounds", 0) + 60
        how = {"checkpoints": range(1, rounds + 1), "compiled": False}
        wrapped = (policy, fb.Delayed(policy, 0), fb.Batched(fb.Delayed(policy, 0), 1))
        plain, *late = (fb.run(rival, instance, rounds, 2, **how).columns() for rival in wrapped)
        for columns in late:
            for key, values in plain.items():
                assert columns[key].tobytes() == values.tobytes(), (policy, key)
        # feedback that comes too late for some draw, or never, is no error
        for number in (rounds // 4, 10**20):
            fb.run(fb.Batched(policy, number), instance, rounds, 1, **how)


@settings
def test_late_policies_against_naive_ones(setting, rng):
    quotas = random_quotas(rng, 4)
    means = rng.uniform(0.1, 0.9, 4)
    targets = tuple(0.2 * means * rng.integers(0, 2, 4))
    pairs = [
        (fb.FairUCB(quotas), fair.FairLearn(quotas, 0, fair.UCB1(4))),
        (fb.LFG(quotas, eta=10), fair.LFG(quotas, eta=10)),
        (fb.HTUCB(quotas, penalties=0.3), HTUCB(quotas, 0.3)),
        (fb.TFairLearn(quotas), fair.TFairLearn(quotas, ROUNDS, fair.UCB1(4))),
        (fb.BFUCB((3, 1), quotas[:2]), twins.BFUCB((3, 1), quotas[:2])),
        (fb.BFUCB((10, 2), quotas[:2], box="uncut"), twins.BFUCB((10, 2), quotas[:2], False)),
        (fb.EXP3(), twins.EXP3(4, ROUNDS)),
        (fb.BanditQ(targets, V=3), twins.BanditQ(targets, 3)),
    ]
    for policy, twin in pairs:
        wrappers = wrappers_of(rng)
        late = wrapped(policy, wrappers)
        n_arms = sum(getattr(policy, "groups", (4,)))
        arms = means if n_arms == 4 else rng.uniform(0.1, 0.9, n_arms)
        result = recorded(late, fb.Instance(arms), ROUNDS, compiled=False)
        played = twins.play(twin, wrappers, arms, ROUNDS, SEED, STREAM, REPLICATE)
        assert arms_of(result) == played, late
    wrappers = wrappers_of(rng)
    late = wrapped(fb.BanditQ(targets, feedback="full", V=3), wrappers)
    result = recorded(late, fb.Instance(means), ROUNDS, compiled=False)
    address = (means, ROUNDS, SEED, STREAM, REPLICATE)
    expected = np.cumsum(twins.play_full(targets, 3, wrappers, *address), axis=0)
    np.testing.assert_allclose(result.plays[0], expected, rtol=1e-9)


def test_quotas_are_kept_without_any_feedback():
    """In every round as far as the policies promise it; only rewards are needed for the rest."""
    how = {"instance": ARMS, "horizon": 300, "compiled": False}
    for policy in (fb.FairUCB(QUOTAS), fb.GroupUCB((1, 1, 1), QUOTAS), fb.BFUCB((1, 1, 1), QUOTAS)):
        result = fb.run(fb.Delayed(policy, 999), replicates=2, quotas=QUOTAS, **how)
        assert result.deficits["floor_deficit_sup"].max() <= 1
    for policy in (fb.Prophet(ARMS.means, QUOTAS, 1), fb.SmallestDeficit(QUOTAS)):
        assert (fb.run(fb.Batched(policy, 99), **how).plays == fb.run(policy, **how).plays).all()


def test_every_policy_with_quotas_says_what_counts_them():
    """Those without a count divide by chance, or have no quotas."""
    for table in (late_states.AT_ONCE, late_states.NOTED):
        for state_name, names in table.items():
            file, _, name = state_name.partition(":")
            state = getattr(importlib.import_module(f"fairbandits.policies.{file}"), name)
            assert {*names} <= {*state._fields}, state_name
    for name, (policy, *_) in EXAMPLES.items():
        state = fb.Delayed(policy, 1).start(n_arms_of(policy), 50)
        quotas = getattr(policy, "quotas", getattr(policy, "fractions", None))
        if quotas is not None and name != "mixture":
            assert state.chooser is not state.learner, name


def test_the_arm_of_a_late_reward_is_that_of_its_round():
    """Where rewards have no chance, those of rounds are those of pulls."""
    sure, how = fb.Instance(ARMS.means, "deterministic"), {"horizon": 80, "compiled": False}
    rivals = (fb.Delayed(learner, 7) for learner in (fb.OwnReward("ucb1"), fb.UCB1()))
    drawn, pulled = (fb.run(rival, sure, **how).plays for rival in rivals)
    assert (drawn == pulled).all()


class Fair(Plain):
    """Fair-UCB in plain Python, which tells the pulls made from those seen."""

    at_once = ("pulls",)
    quotas = np.array([0.25, 0.5, 0.125])  # exact

    def start(self, n_arms, horizon):
        fresh = super().start(n_arms, horizon)
        fresh.quotas, fresh.seen = self.quotas, np.zeros(n_arms)
        return fresh

    def choose(self, t, coin):
        lacks = self.quotas * (t - 1) - self.pulls
        if lacks.max() > 0:
            return np.argmax(lacks)
        if self.seen.min() == 0:
            return np.argmin(self.seen > 0)
        return np.argmax(self.sums / self.seen + np.sqrt(2 * np.log(t)) * (1 / np.sqrt(self.seen)))

    def learn(self, t, arm, reward):
        self.pulls[arm] += 1
        self.seen[arm] += 1
        self.sums[arm] += reward


class PlainEXP3:
    """Of two arms, with the probabilities of the last draw in `x`."""

    feedback, noted = "bandit", ("x",)

    def start(self, n_arms, horizon):
        fresh = PlainEXP3()
        fresh.x, fresh.weights = np.full(2, 0.5), np.ones(2)
        fresh.gamma = min(1.0, np.sqrt(2 * np.log(2) / ((np.e - 1) * horizon)))
        return fresh

    def choose(self, t, coin):
        for k in range(2):
            self.x[k] = (1 - self.gamma) * self.weights[k] / self.weights.sum() + self.gamma / 2
        return 0 if self.x[0] > fb.unit(coin) else 1

    def learn(self, t, arm, reward):
        self.weights[arm] *= np.exp(self.gamma / 2 * reward / self.x[arm])


def test_plain_python_learns_as_late_as_compiled_code():
    wrappers = [("batched", 8), ("delayed", 11)]
    how = {"horizon": 200, "replicates": 3, "checkpoints": range(1, 201)}
    for policy, plain, arms in (
        (fb.FairUCB((0.25, 0.5, 0.125)), Fair(), ARMS),
        (fb.EXP3(), PlainEXP3(), fb.Instance((0.7, 0.5))),
    ):
        expected = fb.run(wrapped(policy, wrappers), arms, **how).plays
        late = wrapped(plain, wrappers)
        for rival in (late, fb.compiled(late)):
            assert (fb.run(rival, arms, **how).plays == expected).all()
        assert (fb.run(late, arms, **how, n_jobs=2).plays == expected).all()


def test_wrappers_add_up():
    """And a policy in them has its own targets, labels and identity."""
    policy = fb.LFG(QUOTAS, eta=10)
    how = {"instance": ARMS, "horizon": 300, "replicates": 2, "compiled": False}
    for nested, flat in (
        (fb.Delayed(fb.Delayed(policy, 20), 30), fb.Delayed(policy, 50)),
        (fb.Batched(fb.Batched(policy, 5), 20), fb.Batched(policy, 20)),
    ):
        assert (fb.run(nested, **how).plays == fb.run(flat, **how).plays).all()
    late = fb.Batched(fb.Delayed(policy, 1), 50)
    assert late.label == "LFG, delayed by 1 round, in batches of 50 rounds"
    assert late == pickle.loads(pickle.dumps(late)) != fb.Batched(fb.Delayed(policy, 2), 50)
    rivals = [fb.Uniform(), fb.Delayed(fb.Uniform(), 100)]
    compared = fb.compare(rivals, ARMS, 20, replicates=2, quotas=QUOTAS)
    label = "Uniform, delayed by 100 rounds"
    assert [*compared.results] == ["Uniform", label]
    assert label in repr(compared.results[label])
    targets = fb.Delayed(fb.BanditQ((0.1, 0.1, 0)), 10)
    result = fb.run(targets, ARMS, 100, 2)
    assert (result.violation() == result.violation((0.1, 0.1, 0))).all()
    again = fb.run(fb.Delayed(fb.BanditQ((0.1, 0.1, 0)), np.int64(10)), ARMS, 100, [2])
    assert fb.join([result, again]).replicates.tolist() == [0, 1, 2]


class Unnamed(Fair):
    at_once = "pulls"


class Numbered(Fair):
    at_once = (1,)


class Nothing(Fair):
    noted = None


class Itself(Fair):
    def start(self, n_arms, horizon):
        vars(self).update(vars(super().start(n_arms, horizon)))
        return self


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda: fb.Delayed(fb.UCB1(), -1), "rounds must be a whole number of at least 0, got -1"),
        (lambda: fb.Delayed(fb.UCB1(), 2.0), "rounds must be .*, got 2.0"),
        (lambda: fb.Delayed(fb.UCB1(), True), "rounds must be .*, got True"),
        (lambda: fb.Batched(fb.UCB1(), 0), "size must be a whole number of at least 1, got 0"),
        (lambda: fb.Batched(fb.UCB1, 5), r"UCB1 is its class; write UCB1\(...\)"),
        (lambda: fb.Delayed("UCB1", 5), "a policy needs a feedback attribute"),
        (lambda: fb.Delayed(Unnamed(), 5), "Unnamed.at_once must be a tuple of attributes"),
        (lambda: fb.Delayed(Numbered(), 5), r"Numbered.at_once must .*, got \(1,\)"),
        (lambda: fb.Delayed(Nothing(), 5), "Nothing.noted must be a tuple of .*, got None"),
        (lambda: fb.Delayed(Itself(), 5), "Itself.start must return a fresh object"),
    ],
)
def test_what_is_wrong_is_named(policy, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fb.run(policy(), ARMS, 10)
