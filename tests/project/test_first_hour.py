"""The first hour with the library: what a newcomer types, in this order, and what is answered."""

import random
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import fairbandits as fb
import own_policy
import small
from commands import invoke, said
from fairbandits.audit import own
from fairbandits.engine import kinds

CLAIMS = own_policy.shown("your-own-claims.md")["my_claims.py"]
ARMS = fb.instances.fair_ucb(2)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Compile nothing but what is asked for: all runs are short."""
    for name in ("COMPILING", "LOADING", "FIRST"):
        monkeypatch.setattr(kinds, name, 10**12)
    monkeypatch.setattr(own, "COMPILING", 10**12)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with README's file and the claims of the guide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / own_policy.NAME).write_text(own_policy.SOURCE)
    (tmp_path / "my_claims.py").write_text(CLAIMS)
    yield tmp_path
    sys.modules.pop("my_policies", None)


def judged(*words):
    found = invoke("judge", "my_claims.py", "--cores", "1", *words)
    assert found.exit_code == 0, found.output
    return found


def test_the_same_file_goes_to_the_arena(folder, tmp_path_factory):
    results = str(small.small_arena(tmp_path_factory))
    words = ["arena", "my_policies.py:FairGreedy", "--instances", "fair_ucb_2", "--jobs", "1"]
    words += ["--contract", "minimum_pulls", "--results", results]
    assert re.search(r"minimum_pulls\s+fair_ucb_2\s+(yes|no)", said(*words))


def test_quotas_of_an_instance_are_numbers():
    quotas = ARMS.quotas
    assert quotas == (Fraction(1, 5), Fraction(3, 10), Fraction(1, 4))
    assert f"{quotas[0]} {quotas[0]!r} {quotas[0]:.2f}" == "1/5 1/5 0.20"
    assert quotas[0] * 10 - 1 == 1
    assert quotas[0] < quotas[2] < 0.26
    assert np.array(quotas, float).tolist() == [0.2, 0.3, 0.25]
    text = ("1/5", "3/10", "1/4")
    one, other = (fb.run(fb.FairUCB(given), ARMS, 200, 2, quotas=given) for given in (quotas, text))
    assert one.plays.tolist() == other.plays.tolist()
    assert one.quotas == other.quotas


#: Three arms with quotas, a short run, and one claim more.
SHORT = """import fairbandits as fb
from fairbandits.claims import Study, mean, rounded
from my_policies import FairGreedy

study = Study(
    instances={{"three_arms": {instance}}},
    policies={{"greedy": (FairGreedy, {parameters})}},
    horizon=100,
    replicates=10,
)


@study.claim()
def mine_alone(runs):
    \"\"\"What is asked.\"\"\"
    run = runs("instances")
    yield {test}
"""


def with_claim(test, instance="fb.instances.fair_ucb(2)", parameters=None):
    text = SHORT.format(test=test, instance=instance, parameters=parameters or {})
    Path("my_claims.py").write_text(text)
    sys.modules.pop("my_policies", None)


@pytest.mark.parametrize("given", [{}, {"quotas": ["1/5", 0.3, 0.25]}])
def test_a_policy_of_ones_own_gets_numbers_from_a_file(folder, given):
    source = own_policy.SOURCE.replace(
        "self.quotas = np.array(quotas, float)",
        "self.quotas = np.array([quota * 1 for quota in quotas], float)",
    )
    (folder / own_policy.NAME).write_text(source)
    with_claim('mean("regret", run.end("regret"), at_most=1)', parameters=given)
    assert "1 claim;" in judged("--check").output
    (block,) = own.check(Path("my_claims.py")).config.experiments
    assert list(block.runs[0].spec.quotas) == ["1/5", "3/10", "1/4"]


@pytest.mark.parametrize("owed", ["quotas", "targets"])
def test_violation_is_one_thing_in_library_and_claims(folder, owed):
    given = {"quotas": ("1/5",) * 3, "targets": (0.1, 0.2, 0)}[owed]
    instance = f"(fb.Instance((0.5, 0.4, 0.3)), {{{owed!r}: {given!r}}})"
    test = 'mean("violation", run.end("violation"), at_most=0.5)'
    with_claim(test, instance, {"quotas": [0.2, 0.2, 0.2]})
    judged()
    (table,) = folder.glob("my_claims/*/own/instances/three_arms.parquet")
    last = fb.store.read_table(table).to_pandas().query("round == 100")
    plays, rewards = (last[one].to_numpy().reshape(10, 1, 3) for one in ("plays", "reward"))
    wanted = {
        "quotas": lambda: fb.metrics.violation([100], plays, given).mean(),
        "targets": lambda: fb.metrics.target_violation([100], rewards, given).mean(),
    }[owed]()
    (report,) = folder.glob("my_claims/*/report.md")
    assert re.search(rf"violation: {wanted:.4g}", report.read_text())


def test_of_a_constant_the_exact_test_is_named(folder):
    with_claim('mean("pulls", run.end("plays").sum(axis=1), at_most=100)')
    found = judged()
    assert "1 inconclusive" in found.stdout
    assert "use `rounded` (`exact` where it is a whole number)" in found.stderr
    with_claim('rounded("pulls beyond 100", run.end("plays").sum(axis=1) - 100)')
    assert "1 reproduced" in judged().stdout


def helper():
    return random.random()


class Own:
    """What a newcomer changes."""

    feedback = "bandit"

    def start(self, n_arms, horizon):
        return type(self)()

    def choose(self, t, coin):
        return 0

    def learn(self, t, arm, reward):
        pass


class Global(Own):
    def choose(self, t, coin):
        return np.random.randint(3)  # noqa: NPY002


class Helped(Own):
    def choose(self, t, coin):
        return self.by_chance()

    def by_chance(self):
        return int(3 * helper())


class NoTime(Own):
    def learn(self, arm, reward):
        pass


class NoHorizon(Own):
    def start(self, n_arms):
        return type(self)()


class NoStart:
    feedback = "bandit"


def compare(policy, **settings):
    return fb.compare([policy], ARMS, 60, replicates=2, **settings)


WRONG = [
    (lambda: fb.UCB(), AttributeError, "no attribute 'UCB'; did you mean 'UCB1'?"),
    (lambda: fb.instances.fairucb, AttributeError, "'fairucb'; did you mean 'fair_ucb'?"),
    (lambda: fb.FairUCB(0.2), ValueError, "quotas must have one entry per arm, .* got 0.2"),
    (lambda: fb.HTUCB("1/5", 0.5), ValueError, "quotas must have one entry per arm, .* got '1/5'"),
    (
        lambda: fb.LFG(ARMS.quotas, eta="100"),
        ValueError,
        "eta must be a number, got '100'; write 100 without quotes",
    ),
    (
        lambda: fb.BanditQ(ARMS.quotas),
        ValueError,
        r"targets are rates of reward, got quotas, .*: \(1/5, 3/10, 1/4\); give targets=",
    ),
    (lambda: fb.BanditQ((0.1, "1/5")), ValueError, "targets must be a number, got '1/5' for arm 2"),
    (
        lambda: compare(NoTime()),
        TypeError,
        r"NoTime.learn must take \(t, action, reward\), it takes \(arm, reward\); write def learn",
    ),
    (lambda: compare(NoHorizon()), TypeError, r"NoHorizon.start must take \(n_arms, horizon\)"),
    (lambda: compare(NoStart()), TypeError, r"needs a method start\(n_arms, horizon\); NoStart"),
    (lambda: compare(fb.Hedge()), ValueError, "leave them away, or give targets in their place"),
    (
        lambda: compare(Global()),
        ValueError,
        r"np.random.randint in Global.choose \(.*py, line \d+\)",
    ),
    (lambda: compare(Helped()), ValueError, r"draws from random.random in helper \(.*unit\(coin\)"),
    (lambda: compare(fb.compiled(Global())), ValueError, "np.random.randint in Global.choose"),
]


@pytest.mark.parametrize(("call", "error", "says"), WRONG, ids=[one[2][:40] for one in WRONG])
def test_what_cannot_work_is_said_at_once(call, error, says):
    with pytest.raises(error, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)
