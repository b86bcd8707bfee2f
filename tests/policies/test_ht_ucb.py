"""HT-UCB by hand, the prophet against its twin; penalised regret, oracle and fluid law."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

import naive_ht_ucb as naive
from drawn import arms_of, as_texts, instance_of, one_of, random_quotas, recorded
from drawn import settings as ten
from fairbandits import HTUCB, Instance, Prophet, run
from fairbandits.engine import protocol
from fairbandits.measures.penalised import (
    mean_reward,
    penalised_loss,
    penalised_regret,
    unfairness,
    unfairness_levels,
)
from fairbandits.theory.penalised import arm_sets, fluid_pulls, oracle_loss

SEED = 20240901
many = settings(deadline=None, derandomize=True, max_examples=200)

TAU = ("1/20",) * 9
#: The paper's experiments A and B: means and penalty rate, for nine arms and T = 20000.
PAPER = {
    "A1": ((0.9, 0.8, 0.7, 0.6, 0.6, 0.4, 0.3, 0.2, 0.1), 0.45),
    "A2": ((0.95, 0.8, 0.7, 0.6, 0.6, 0.4, 0.3, 0.2, 0.1), 0.41),
    "A3": ((0.9, 0.8, 0.7, 0.6, 0.6, 0.425, 0.4, 0.375, 0.35), 0.45),
    "B1": ((0.9, 0.86, 0.84, 0.82, 0.6, 0.4, 0.3, 0.2, 0.1), 0.45),
    "B2": ((0.95, 0.85, 0.84, 0.83, 0.82, 0.4, 0.3, 0.2, 0.1), 0.45),
    "B3": ((0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), 0.45),
}


def test_an_arm_at_its_quota_is_not_short():
    """N < tau n at tau n = 1, 2, ..., where the product in floating point is too large by one bit.

    Of two arms the first pays nothing, but 100 while it is short.
    """
    spoilt = 0.4 * 0.8 / 8
    assert spoilt > 0.04
    state = HTUCB(("1/25", 0), 100.0).start(2, 20_000)
    deceived = 0
    for n in range(25, 20_001, 25):
        protocol.learn(state, n - 25, 0, 0.0)
        while state.means.pulls.sum() < n - 1:
            protocol.learn(state, n - 24, 1, 50.0)
        assert state.means.pulls[0] == n // 25
        assert protocol.choose(state, n, 0) == 1
        assert protocol.choose(state, n + 1, 0) == 0  # one round later it is short
        deceived += n // 25 < spoilt * n
    assert deceived == 800
    with pytest.raises(ValueError, match=r"denominator of at most 2\*\*31"):
        HTUCB((spoilt, 0), 100.0)


def test_the_soft_threshold_grows_with_the_missing_share():
    state = HTUCB(("1/4", "1/2"), (2.0, 1.0), threshold="soft").start(2, 100)
    for t, arm in enumerate((0, *(1,) * 18), start=1):
        protocol.learn(state, t, arm, 0.0)
    bonus = math.sqrt(2 * math.log(20))  # 4 of 5 and none of 10 pulls are missing
    equal = 2.0 * 4 / 5 + bonus - bonus / math.sqrt(18)
    for mean, arm in ((equal - 1e-14, 0), (equal + 1e-14, 1)):
        state.means.mean[1] = mean
        assert protocol.choose(state, 20, 0) == arm


def test_large_denominators_and_long_runs():
    """The products of quotas and rounds stay whole numbers in 64 bits."""
    denominator, n = 2**31, 2**31
    state = HTUCB((f"{denominator // 2 - 1}/{denominator}", 0), 1e6).start(2, n)
    state.means.mean[:] = 0.0
    state.means.pulls[:] = n // 2 - 1, n // 2
    state.means.inverse_root[:] = state.means.pulls**-0.5
    for short, missing in ((1, 0), (0, 1)):
        state.scaled_pulls[:] = (state.means.pulls - [missing, 0]) * denominator
        state.means.mean[1] = 1.0
        assert protocol.choose(state, n, 0) == short


@st.composite
def problems(draw, arms=None, most=12):
    """Return means, quotas and penalty rates with few digits, so that ties are common."""
    arms = draw(st.integers(2, 6)) if arms is None else arms
    tenths = st.lists(st.integers(0, 10), min_size=arms, max_size=arms)
    means = [f"{mean}/10" for mean in draw(tenths)]
    shares = draw(st.lists(st.integers(0, most), min_size=arms, max_size=arms))
    quotas = as_texts(shares, sum(shares) + draw(st.integers(1, 20)))
    penalties = [f"{rate}/10" for rate in draw(tenths)]
    return means, quotas, penalties


def floats(values):
    return [float(Fraction(value)) for value in values]


@many
@given(st.data(), st.integers(2, 4))
def test_the_prophet_has_the_least_regret_of_all(data, arms):
    means, quotas, penalties = data.draw(problems(arms))
    horizon = data.draw(st.integers(arms, {2: 40, 3: 20, 4: 11}[arms]))
    plan = Prophet(means, quotas, floats(penalties)).plan(horizon)
    assert plan.min() >= 0
    assert plan.sum() == horizon
    regret = naive.regret(horizon, plan.tolist(), means, quotas, penalties)
    assert regret == naive.least_regret(horizon, means, quotas, penalties)


@ten
def test_the_prophet_plays_its_plan(setting, rng):
    """The arm furthest behind goes next: none is ever a pull for each other arm from its share."""
    instance = instance_of(setting, rng)
    arms = instance.n_arms
    horizon = max(one_of(rng, 7, 100, 2345), arms)
    penalties = one_of(rng, rng.uniform(0, 1, arms).tolist(), 0.3, 1e3)
    policy = Prophet(instance.means, random_quotas(rng, arms), penalties)
    result = recorded(policy, instance, horizon)
    plan = policy.plan(horizon)
    planned = plan * result.rounds[:, None] / horizon
    assert np.abs(result.plays[0] - planned).max() < arms
    assert result.plays[0, -1].tolist() == plan.tolist()


def test_the_prophets_order_by_hand():
    policy = Prophet((0.9, 0.5, 0.4), ("0.2", "0.3", "0.1"), (1, 1, 0.45))
    assert policy.plan(10).tolist() == [7, 3, 0]  # 0.45 is less than the gap of 0.5
    result = recorded(policy, Instance((0.9, 0.5, 0.4)), rounds=10)
    assert arms_of(result) == [0, 1, 0, 0, 0, 1, 0, 0, 1, 0]  # 5 : 5 in round 5


def test_the_prophet_fills_quotas_that_cost_what_they_save():
    """A_k = Delta_k is critical, although 0.9 - 0.6 > 0.3 in floating point."""
    assert Prophet((0.9, 0.6), ("1/10", "1/5"), 0.3).plan(100).tolist() == [80, 20]


@pytest.mark.parametrize("shape", [(5,), (3, 5)], ids=["one instance", "one for each replicate"])
def test_measures_equal_the_naive_ones(shape, rng):
    rounds, quotas = np.array([1, 10, 333, 10**7]), random_quotas(rng, 5)
    plays = np.array(
        [[rng.multinomial(t, rng.dirichlet(np.ones(5))) for t in rounds] for _ in range(3)]
    )
    means, penalties = rng.uniform(0, 1, (2, *shape)).round(3)
    of_each = (np.broadcast_to(values, (3, 5)).tolist() for values in (means, penalties))
    replicates = list(zip(plays.tolist(), *of_each, strict=True))

    def naively(measure):
        return [
            [measure(t, N, mu, A) for t, N in zip(rounds.tolist(), rows, strict=True)]
            for rows, mu, A in replicates
        ]

    for twin, measure in ((naive.regret, penalised_regret), (naive.loss, penalised_loss)):
        expected = naively(lambda t, N, mu, A, of=twin: float(of(t, N, mu, quotas, A)))
        values = measure(rounds, plays, means, quotas, penalties)
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)
    least = naively(lambda t, N, mu, A: float(naive.oracle_loss(t, mu, quotas, A)))
    values = np.broadcast_to(oracle_loss(rounds, means, quotas, penalties), (3, 4))
    np.testing.assert_allclose(values, least, rtol=1e-12, atol=1e-12)
    earned = naively(lambda t, N, mu, A: np.dot(mu, N))
    np.testing.assert_allclose(mean_reward(plays, means), earned, rtol=1e-12)
    missing = np.array(naively(lambda t, N, mu, A: floats(naive.levels(t, N, quotas))))
    assert np.array_equal(unfairness_levels(rounds, plays, quotas), missing)  # rounded once
    total = unfairness(rounds, plays, quotas)
    np.testing.assert_allclose(total, missing.sum(axis=2), rtol=1e-14)


@many
@given(st.data(), problems())
def test_no_pulls_have_less_regret_than_the_oracle(data, problem):
    means, quotas, penalties = problem
    arms = len(means)
    N = data.draw(st.lists(st.integers(0, 50), min_size=arms, max_size=arms))
    exact = naive.regret(sum(N), N, means, quotas, penalties)
    assert exact >= 0
    case = np.array(floats(means)), quotas, np.array(floats(penalties))
    regret = penalised_regret(np.array([sum(N)]), np.array([N]), *case)[0]
    assert regret >= 0
    assert regret == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@many
@given(problems())
def test_arm_sets_equal_the_naive_ones(problem):
    means, _, penalties = problem
    sets = np.array(arm_sets(means, penalties))
    assert (sets.sum(axis=0) == 1).all()
    names = ("optimal", "critical", "non-critical")
    assert [names[k] for k in sets.argmax(axis=0)] == naive.kinds(means, penalties)
    assert np.array_equal(sets, arm_sets(floats(means), floats(penalties)))


def test_fluid_law_equals_the_naive_one(rng):
    for _ in range(100):
        arms = int(rng.integers(2, 12))
        means, penalties = rng.uniform(0, 1, (2, arms))
        quotas, horizon = random_quotas(rng, arms), int(10 ** rng.uniform(2, 7))
        best = int(means.argmax())
        wanted = naive.fluid(means.tolist(), quotas, penalties.tolist(), horizon)
        pulls = fluid_pulls(means, quotas, penalties, horizon)
        assert pulls.sum() == pytest.approx(horizon, rel=1e-9)
        if wanted[best] > float(Fraction(quotas[best])) * horizon:  # where the naive law holds
            np.testing.assert_allclose(pulls, wanted, rtol=1e-6)


def test_fluid_law_refuses_a_horizon_without_logarithm():
    with pytest.raises(ValueError, match="horizon must be at least 2, got 1"):
        fluid_pulls((0.9, 0.8), (0.1, 0.1), 0.5, 1)


@pytest.mark.parametrize("case", PAPER)
def test_simulated_pulls_follow_the_fluid_law(case):
    means, rate = PAPER[case]
    replicates = 4 if config.DISABLE_JIT else 40
    instance = Instance(means, "gaussian", 1 / 9)
    options = {"seed": SEED, "stream": "fluid", "checkpoints": [20_000]}
    plays = run(HTUCB(TAU, rate), instance, 20_000, replicates, **options).plays[:, 0]
    error = plays.std(axis=0, ddof=1) / math.sqrt(replicates)
    predicted = fluid_pulls(means, TAU, rate, 20_000)
    # The law is good to 1 %, but for arms 2 and 9 of A3: what they would get without regard to the
    # quota is within 0.2 % of it, so that noise moves them one way only.
    tolerance = 0.03 if case == "A3" else 0.01
    allowed = tolerance * predicted + 1 + 3 * error
    assert (np.abs(plays.mean(axis=0) - predicted) <= allowed).all()


def test_measures_by_hand():
    """Gaps 0, 0.2, 0.5; the second arm is critical and lacks 2, the third is not and has 4."""
    rounds, plays = np.array([100]), np.array([[78, 18, 4]])
    case = (0.9, 0.7, 0.4), ("1/2", "1/5", "1/10"), 0.3
    assert unfairness_levels(rounds, plays, case[1]).tolist() == [[0, 2, 6]]
    assert unfairness(rounds, plays, case[1]).tolist() == [8]
    assert penalised_loss(rounds, plays, *case) == pytest.approx(3.6 + 0.6 + 2.0 + 1.8)
    assert oracle_loss(rounds, *case) == pytest.approx(4 + 3)
    assert penalised_regret(rounds, plays, *case) == pytest.approx(1.0)
    assert mean_reward(plays, case[0]) == pytest.approx(70.2 + 12.6 + 1.6)
