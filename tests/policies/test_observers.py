"""Observers of a run: what they may be, in which order they report, and that nothing changes."""

import dataclasses

import numpy as np
import pytest

import fairbandits as fb
from fairbandits.observers import OBSERVERS, make_observer
from fairbandits.policies import make_policy
from plain import Plain

ARMS = fb.Instance((0.6, 0.3, 0.8))
TARGETS = (0.1, 0.05, 0)
CHECKPOINTS = [1, 7, 60]
SUMS = (fb.QueueSquares(), fb.Starvation(), fb.PlaysSum())


def played(policy, observe=(), replicates=2, **options):
    return fb.run(policy, ARMS, 60, replicates, checkpoints=CHECKPOINTS, observe=observe, **options)


class InTurn(Plain):
    probes = ("pulled",)

    def probe(self, out):
        out[0] = self.pulls


class Rewards:
    """An observer in plain Python: the last reward, and how often it looked."""

    probes = ("last", "looks")

    def start(self, policy, state, n_arms, horizon):
        return RewardsState(policy, state)


class RewardsState:
    def __init__(self, policy, state):
        self.policy, self.first = policy, state
        self.last, self.looks = 0.0, 0

    def watch(self, state, t, action, reward):
        self.looks += 1
        assert t == self.looks
        self.last = reward
        self.state = state

    def report(self, state, out):
        out[0, :] = self.last
        out[1, :] = self.looks


@pytest.mark.parametrize(
    "policy", [fb.BanditQ(TARGETS), fb.BanditQ(TARGETS, "full")], ids=["one", "all"]
)
def test_columns_are_in_the_order_asked_for(policy):
    plain = played(policy, compiled=False)
    alone = {observer: played(policy, [observer], compiled=False).probes for observer in SUMS}
    compiled = {SUMS: True}  # each order is a type of its own, compiled in seconds
    for observe in (SUMS, SUMS[::-1], SUMS[1:], SUMS[:1]):
        result = played(policy, observe, compiled=compiled.get(observe, False))
        names = [name for observer in observe for name in observer.probes]
        assert list(result.probes) == [*policy.probes, *names]
        assert list(result.columns())[5:] == [*policy.probes, *names]
        for probes in (plain.probes, *(alone[observer] for observer in observe)):
            for name, values in probes.items():
                assert result.probes[name].tobytes() == values.tobytes(), name
        assert result.plays.tobytes() == plain.plays.tobytes()
        assert result.rewards.tobytes() == plain.rewards.tobytes()


def test_an_observer_in_plain_python():
    for policy, observe in (
        (fb.UCB1(), [Rewards()]),
        (fb.UCB1(), [fb.Starvation(), Rewards(), fb.PlaysSum()]),
        (InTurn(), [Rewards(), fb.Starvation()]),
    ):
        result = played(policy, observe)
        assert result.probes["looks"][:, :, 0].tolist() == [CHECKPOINTS] * 2
        assert np.isin(result.probes["last"], (0.0, 1.0)).all()
        assert result.plays.tobytes() == played(policy).plays.tobytes()


def test_observers_are_checked():
    twice = [fb.Starvation(), fb.PlaysSum(), fb.Starvation()]
    for observe, error, says in (
        (["starvation"], TypeError, r"an observer needs probes .* got 'starvation'"),
        (twice, ValueError, "observe must have each column once, got starvation"),
        ([fb.QueueSquares()], TypeError, "QueueSquares can watch BanditQ only, got UCB1"),
    ):
        with pytest.raises(error, match=says):
            played(fb.UCB1(), observe)


#: What observers cannot be made without.
REQUIRED = {
    "banditq_inequalities": {"means": [0.6, 0.3, 0.8]},
    "merit_regret": {"reference": [0.6, 0.3, 0.8]},
}


def test_make_observer():
    for name, kind in OBSERVERS.items():
        made = make_observer(name, REQUIRED.get(name, {}))
        assert type(made) is kind
        assert hash(made) == hash(make_observer(name, REQUIRED.get(name, {})))
        assert dataclasses.is_dataclass(made)
        assert getattr(fb, kind.__name__) is kind
    for name, parameters, says in (
        ("pulls", {}, "^here: observer must be one of .*, got 'pulls'"),
        ("starvation", {"most": 1}, "observer starvation has no parameter 'most'; it takes"),
        (
            "banditq_inequalities",
            {"means": [2.0]},
            "here: observer banditq_inequalities: means must lie",
        ),
        ("banditq_inequalities", {}, "observer banditq_inequalities: .* 'means'"),
    ):
        with pytest.raises(ValueError, match=says):
            make_observer(name, parameters, where="here")
    assert fb.BanditQInequalities([1, 0.5]).means == (1.0, 0.5)


#: Policies by name and parameters, of which each observer can watch some.
ASKED, OF_FULL = {"targets": TARGETS}, ({}, {"gain": 1}, {"subroutine": "squint"}, {"gain": 9})
CONFIGURED = [
    ("banditq", ASKED),
    ("banditq", ASKED | {"subroutine": "exp3p"}),
    *(("banditq", ASKED | {"feedback": "full"} | options) for options in OF_FULL),
    ("queue_ucb", {"targets": TARGETS}),
    ("own_reward", {"learner": "banditq", "learner_parameters": {"targets": TARGETS}}),
    ("own_reward", {"learner": "queue_ucb", "learner_parameters": {"targets": TARGETS}}),
    ("own_reward", {}),
    ("fair_learn", {"quotas": [0.1, 0, 0.2]}),
    ("t_fair_learn", {"quotas": [0.1, 0, 0.2]}),
    ("bf_ucb", {"groups": [1, 2], "quotas": ["1/3", 0.1]}),
    ("fairx_ucb", {"groups": [1, 2]}),
    ("group_oracle", {"groups": [1, 2], "quotas": ["1/3", 0.1], "means": [0.5, 0.25, 1]}),
    ("group_ucb", {"groups": [1, 2]}),
    ("ucb1", {}),
    ("hedge", {}),
]
#: Places of the policies that each observer can watch.
FITTING = dict.fromkeys(("plays_sum", "starvation"), range(len(CONFIGURED)))
FITTING |= {"banditq_inequalities": [2, 3], "queue_squares": [0, 1, 2, 3, 4, 5, 17]}
FITTING |= {"surrogate_gains": [2, 3, 4, 5, 7, 17], "group_deficits": [12, 14, 15]}
FITTING |= {"initial_phase": [12, 13, 15], "optional_pulls": [12, 15], "merit_regret": [12]}


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ((0, 1, 2), r"\[0, 1\].*2.*arm 3"),
        ((0.1,), r"one entry per arm \(3\), got 1"),
        ((1, 0, 0), "above 0 in every group, group 2 has none"),
    ],
)
def test_merits_of_the_reference_are_checked(reference, message):
    with pytest.raises(ValueError, match=f"reference must .*{message}"):
        played(fb.BFUCB((1, 2), (0, 0)), [fb.MeritRegret(reference)])


@pytest.mark.parametrize("name", OBSERVERS)
def test_an_observer_refuses_what_it_cannot_watch(name):
    observer = make_observer(name, REQUIRED.get(name, {}))
    says = f"{type(observer).__name__} can watch"
    fitting = [at for at, policy in enumerate(CONFIGURED) if accepted(says, observer, *policy)]
    assert fitting == list(FITTING[name])


def accepted(message, observer, policy, parameters):
    """Return whether an observer can watch a policy; otherwise it must say so in these words."""
    made = make_policy(policy, parameters)
    try:
        observer.start(made, made.start(3, 60), 3, 60)
    except TypeError as error:
        if not str(error).startswith(message):
            raise
        return False
    return True
