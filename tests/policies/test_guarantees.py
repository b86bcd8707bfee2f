"""The policies for guaranteed reward rates and KL-UCB: their constants and limits."""

import math
import re

import pytest

import naive_guarantees as twins
from fairbandits import GuaranteeKnapsack
from fairbandits.audit.claims import OWN
from fairbandits.policies import kl
from fairbandits.settings.schemas import ROOT
from fairbandits.settings.seeds import root_seed


def test_constants_of_the_knapsack_policy():
    """In few rounds they hardly change what is chosen."""
    state = GuaranteeKnapsack((0.2, 0.1, 0)).start(3, 10_000)
    twin = twins.GuaranteeKnapsack((0.2, 0.1, 0), 10_000)
    assert (state.exploration, state.step) == pytest.approx((twin.gamma, twin.gamma / 9))
    assert state.bonus == pytest.approx(twin.gamma / 9 * twin.alpha / math.sqrt(30_000))
    assert twin.gamma < 0.1


def test_limits_are_those_of_bisection(rng):
    means = [0.0, 1e-9, 1e-3, 0.5, 0.97, 1 - 1e-9, *rng.random(20)]
    for p in map(float, means):
        for divergence in map(float, [1e-8, 1e-3, 0.3, 2.0, 40.0, *rng.exponential(size=4)]):
            x = kl.log_gap(p, kl.negentropy(p), divergence, kl.UNKNOWN)
            near = kl.log_gap(p, kl.negentropy(p), divergence * 1.01, kl.UNKNOWN)
            for gap in (x, kl.log_gap(p, kl.negentropy(p), divergence, near)):
                expected = twins.kl_upper(p, divergence)
                assert 1 - math.exp(gap) == pytest.approx(expected, rel=0, abs=3e-12)


@pytest.mark.parametrize("rounds", [1200])
@pytest.mark.parametrize(
    "means", [(0.5, 0.52, 0.48), (0.9, 0.99, 0.2, 0.95), (0.3,) * 4, (0.02, 0.01), (0.6,)]
)
def test_the_leader_is_that_of_a_full_comparison(means, rounds, rng):
    floor = (0.0, 0.4, 0.0, 0.1)[: len(means)]
    limits = kl.no_pulls(len(means), 2.0, floor)
    known = 0
    for clock in range(rounds):
        asked = clock < 200 or rng.random() < 0.8  # with gaps, as policies ask
        known += clock <= limits.marks[kl.UNTIL] and kl._leads(limits, kl.level(limits, clock))
        arm = kl.largest(limits, clock) if asked else int(rng.integers(len(means)))
        if asked:
            level = kl.level(limits, clock)
            every = [kl.upper_limit(limits, k, level) for k in range(len(means))]
            assert every.index(max(every)) == arm
        kl.learn(limits, arm, float(rng.random() < means[arm]))
    if len(means) in (2, 3, 4) and means[0] != means[1]:
        assert known > rounds / 4  # so that the shortcut is what is tested


def test_the_seed_on_the_page_follows_from_the_rules_that_were_frozen():
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    digest = re.search(r"digest `(\w{16})`", page)[1]
    command, seed = re.search(r"judge (papers/\S+) --seed (\d+)`", page).groups()
    assert int(seed) == root_seed(digest, OWN)
    assert f"--seed {seed}`" in (ROOT / command).read_text(encoding="utf-8")
