"""The first hour with the library: what a newcomer types, in this order, and what is answered."""

import random
import re
import sys
from fractions import Fraction

import numpy as np
import pytest

import fairbandits as fb
import own_policy
import small
from commands import said
from plain import Plain

ARMS = fb.instances.fair_ucb(2)


def test_readmes_policy_goes_to_the_arena(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_policies", raising=False)
    (file := tmp_path / own_policy.NAME).write_text(own_policy.SOURCE)
    arguments = ["arena", f"{file}:FairGreedy", "--results", small.small_arena(tmp_path_factory)]
    arguments += ["--contract", "minimum_pulls", "--instances", "fair_ucb_2", "--jobs", "1"]
    arguments += ["--out", tmp_path / "page.html"]
    assert re.search(r"minimum_pulls\s+fair_ucb_2\s+(yes|no)", said(*arguments))


def test_quotas_of_an_instance_are_numbers():
    quotas = ARMS.quotas
    assert quotas == (Fraction(1, 5), Fraction(3, 10), Fraction(1, 4))
    assert f"{quotas[0]} {quotas[0]!r} {quotas[0]:.2f}" == "1/5 1/5 0.20"
    assert quotas[0] * 10 - 1 == 1
    assert quotas[0] < quotas[2] < 0.26
    assert np.array(quotas, float).tolist() == [0.2, 0.3, 0.25]
    text = ("1/5", "3/10", "1/4")
    numbers, other = (fb.run(fb.FairUCB(r), ARMS, 200, 2, quotas=r) for r in (quotas, text))
    assert numbers.plays.tolist() == other.plays.tolist()
    assert numbers.quotas == other.quotas


def helper():
    return random.random()


class Global(Plain):
    def choose(self, t, coin):
        return np.random.randint(3)  # noqa: NPY002


class Helped(Plain):
    def choose(self, t, coin):
        return self.by_chance()

    def by_chance(self):
        return int(3 * helper())


class NoTime(Plain):
    def learn(self, arm, reward):
        pass


class NoHorizon(Plain):
    def start(self, n_arms):
        pass


def compare(policy, **settings):
    return fb.compare([policy], ARMS, 60, replicates=2, **settings)


WRONG = [
    (lambda: fb.UCB(), AttributeError, "no attribute 'UCB'; did you mean 'UCB1'?"),
    (lambda: fb.instances.fairucb, AttributeError, "'fairucb'; did you mean 'fair_ucb'?"),
    (lambda: fb.FairUCB(0.2), ValueError, "quotas must have one entry per arm, .* got 0.2"),
    (lambda: fb.HTUCB("1/5", 0.5), ValueError, "quotas must have one entry per arm, .* got '1/5'"),
    (
        lambda: fb.BanditQ(ARMS.quotas),
        ValueError,
        r"targets are rates of reward, got quotas, .*: \(1/5, 3/10, 1/4\); give targets=",
    ),
    (
        lambda: compare(NoTime()),
        TypeError,
        r"NoTime.learn must take \(t, action, reward\), it takes \(arm, reward\); write def learn",
    ),
    (lambda: compare(NoHorizon()), TypeError, r"NoHorizon.start must take \(n_arms, horizon\)"),
    (lambda: compare(fb.Hedge()), ValueError, "leave them away, or give targets in their place"),
    (
        lambda: compare(Global()),
        ValueError,
        r"np.random.randint in Global.choose \(.*py, line \d+\)",
    ),
    (lambda: compare(Helped()), ValueError, r"draws from random.random in helper \(.*unit\(coin\)"),
    (lambda: compare(fb.compiled(Global())), ValueError, "np.random.randint in Global.choose"),
]


@pytest.mark.parametrize(("call", "error", "says"), WRONG, ids=[row[2][:40] for row in WRONG])
def test_what_cannot_work_is_said_at_once(call, error, says):
    with pytest.raises(error, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)
