"""Policies from outside the package, compiled: the same numbers, nothing on the disk, refusals."""

import numba
import numpy as np
import pytest

import fairbandits as fb
from fairbandits.engine.loops import LOOPS
from plain import arrays_of

ARMS = fb.Instance((0.7, 0.5, 0.4))
QUOTAS = (0.2, 0.3, 0.25)
ROUNDS = 60

jit_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is of what is compiled")


class FairGreedy:
    """Pulls the arm that lacks most, else the best mean, now and then any; counts its pulls."""

    feedback = "bandit"
    probes = ("pulled",)
    rate = 0.125

    def __init__(self, quotas=QUOTAS):
        self.quotas = np.array(quotas)

    def start(self, n_arms, horizon):
        fresh = FairGreedy(self.quotas)
        fresh.pulls, fresh.sums = np.zeros(n_arms, np.int64), np.zeros(n_arms)
        fresh.names = ["not", "used"]
        return fresh

    def choose(self, t, coin):
        if fb.unit(coin) < self.rate:
            return int(self.pulls.size * fb.unit(fb.inner(coin, 1)))
        lacks = self.quotas * t - self.pulls
        if lacks.max() >= 1:
            return np.argmax(lacks)
        return np.argmax(self.sums / np.maximum(self.pulls, 1))

    def learn(self, t, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward

    def probe(self, out):
        out[0] = self.pulls


class Softmax:
    """Full information: probabilities by the rewards so far."""

    feedback = "full"

    def start(self, n_arms, horizon):
        fresh = Softmax()
        fresh.sums, fresh.rate = np.zeros(n_arms), 1 / np.sqrt(horizon)
        return fresh

    def choose(self, t, coin):
        weights = np.exp(self.rate * (self.sums - self.sums.max()))
        return weights / weights.sum()

    def learn(self, t, x, rewards):
        for k in range(rewards.size):
            self.sums[k] += rewards[k]


WATCHED = {"quotas": QUOTAS, "observe": [fb.PlaysSum()], "checkpoints": [20, ROUNDS]}


@pytest.mark.parametrize(
    ("policy", "settings"),
    [(FairGreedy(), WATCHED), (Softmax(), {"checkpoints": [20, ROUNDS]})],
    ids=["bandit", "full"],
)
def test_numbers_are_those_of_plain_python_and_nothing_is_kept(policy, settings, monkeypatch):
    wanted = arrays_of(fb.run(policy, ARMS, ROUNDS, 4, seed=5, **settings))
    fast = fb.compiled(policy)
    kept = []
    if not numba.config.DISABLE_JIT:
        for name in ("save_overload", "load_overload"):
            monkeypatch.setattr(LOOPS[policy.feedback]._cache, name, lambda *it: kept.append(it))
    for how in ({"compiled": True}, {"compiled": False}, {"compiled": False, "n_jobs": 2}):
        assert arrays_of(fb.run(fast, ARMS, ROUNDS, 4, seed=5, **how, **settings)) == wanted
    assert not kept


@jit_only
def test_an_action_or_a_place_out_of_range_is_said():
    class Wrong:
        feedback = "bandit"
        answer, at = 0, 0

        def start(self, n_arms, horizon):
            fresh = Wrong()
            fresh.answers, fresh.at = np.array([self.answer]), self.at
            return fresh

        def choose(self, t, coin):
            return self.answers[self.at]

        def learn(self, t, arm, reward):
            pass

    policy = Wrong()
    fast = fb.compiled(policy)
    fb.run(fast, ARMS, ROUNDS, compiled=True)
    for answer in (-1, 3):
        policy.answer = answer
        with pytest.raises(ValueError, match=r"Wrong.choose must return an arm, a whole number"):
            fb.run(fast, ARMS, ROUNDS, compiled=True)
    policy.at = 9
    with pytest.raises(IndexError, match="out of bounds"):
        fb.run(fast, ARMS, ROUNDS, compiled=True)


class Base:
    feedback = "bandit"

    def start(self, n_arms, horizon):
        fresh = type(self)()
        fresh.sums = np.zeros(n_arms)
        return fresh

    def choose(self, t, coin):
        return (t - 1) % self.sums.size

    def learn(self, t, arm, reward):
        self.sums[arm] += reward


class Keyed(Base):
    def choose(self, t, coin):
        return max(range(3), key=lambda k: self.sums[k])


class Halves(Base):
    def choose(self, t, coin):
        return 0.5


class Truths(Base):
    def choose(self, t, coin):
        return True


class Counting(Base):
    count = 0

    def learn(self, t, arm, reward):
        self.count += 1


class Listed(Base):
    def start(self, n_arms, horizon):
        fresh = type(self)()
        fresh.sums, fresh.names = [0.0] * n_arms, "abc"
        return fresh


class AllWrong(Listed):
    def choose(self, t, coin):
        self.last = t
        return len(self.names) - 3


class Hidden(Base):
    _step = 1

    def choose(self, t, coin):
        return (t * self._step) % self.sums.size


class Helped(Base):
    def choose(self, t, coin):
        return self.best()

    def best(self):
        return 0


class Leaking(Base):
    sums = np.zeros(3)

    def start(self, n_arms, horizon):
        return self


class Armless(Base):
    def start(self, n_arms, horizon):
        return object()


@pytest.mark.parametrize("policy", [Halves, Truths])
def test_what_is_no_arm_is_refused_in_the_interpreter_too(policy):
    with pytest.raises(ValueError, match=rf"{policy.__name__}.choose must return an arm, a whole"):
        fb.run(fb.compiled(policy()), ARMS, ROUNDS, compiled=False)


REFUSED = {
    Keyed: r"^Keyed.choose cannot be compiled in .*py, line \d+ \(return max.*; compiled code",
    Halves: "^Halves cannot be compiled: choose must return the number of an arm",
    Listed: r"self.sums, used in test_comp.*py, line \d+ \(return \(t - 1\).*, must be a number or "
    r"a NumPy array of numbers, got \[0.0, 0.0, 0.0\]",
    AllWrong: "self.last is set .*; self.names, .*; self.sums, used",
    Hidden: r"self._step, used in .*, needs a name that does not begin with",
    Counting: r"Counting cannot be compiled: self.count is set in test_compiling.py, line \d+ "
    r"\(self.count \+= 1\), .*write self.count = np.zeros",
    Helped: "self.best, used in .*, is a method of one's own; write it as a function",
    Leaking: "Leaking.start must return a fresh object for each replicate",
    Armless: "Armless.start must return an object with a method choose; object has none",
}


@pytest.mark.parametrize("policy", REFUSED)
def test_what_cannot_be_compiled_is_named(policy):
    if policy in (Keyed, Halves) and numba.config.DISABLE_JIT:
        pytest.skip("it is Numba that refuses it")
    with pytest.raises(TypeError, match=REFUSED[policy]) as caught:
        fb.run(fb.compiled(policy()), ARMS, ROUNDS)
    assert "\n" not in str(caught.value)


def test_what_is_no_policy_is_refused():
    for wrong, says in ((object(), "needs a feedback attribute"), (Base, "and Base is its class")):
        with pytest.raises(TypeError, match=f"a policy .*{says}"):
            fb.compiled(wrong)
