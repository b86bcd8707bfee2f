"""Every policy and variant against its naive twin, round by round."""

import itertools
import math

import numpy as np
import pytest

import naive
from drawn import arms_of, assert_same_choices, forced, one_of
from fairbandits import EXP3, BanditQ, Hedge, Instance, Static, run
from fairbandits.policies import learners

ROUNDS = 80
SEED = 20240715
REPLICATE = 4
PENALTIES = {"sqrt": {}, "zero": {"V": 0}, "T^.25": {"V_exponent": 0.25}, "1e6": {"V": 1e6}}


def five(rng):
    return Instance(naive.CODE4, "uniform02"), naive.CODE4_TARGETS


def two(rng):
    means = rng.uniform(0.1, 0.9, 2)
    return Instance(means), (means[0] * rng.uniform(0.2, 0.8), 0)


def twenty_all_protected(rng):
    means = rng.permutation(np.linspace(0.2, 0.9, 20))
    return Instance(means, "beta"), 5 / 6 * means / 20


def zero_mean(rng):
    return Instance((0.0, *rng.uniform(0.1, 0.9, 3))), (0.05, 0.1, 0, 0)


def negative_rewards(rng):
    return Instance(rng.normal(size=4), "gaussian", 0.7), (0, 0.1, 0.2, 0)


def clipped(rng):
    arms = int(rng.integers(3, 9))
    return Instance(rng.uniform(0.05, 0.9, arms), "uniform02_clipped"), rng.uniform(0, 0.1, arms)


def always_the_same(rng):
    return Instance((0.7, 0.2, 0.45, 0.7), "deterministic"), (0, 0.05, 0.1, 0)


def no_targets(rng):
    return Instance(rng.uniform(0.1, 0.9, 6), "uniform02"), (0,) * 6


def all_alike(rng):
    return Instance((0.73,) * 10, "deterministic"), (0,) * 10


def nearly_always_one(rng):
    return Instance((0.95,) * 10), (0.3, *[0] * 9)


SCENARIOS = [
    *(five, two, twenty_all_protected, zero_mean, negative_rewards, clipped, always_the_same),
    *(no_targets, all_alike, nearly_always_one),
]
scenarios = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)


def combined(**options):
    """Return all combinations of the options, as dictionaries."""
    return [dict(zip(options, row, strict=True)) for row in itertools.product(*options.values())]


FULL = [
    *combined(subroutine=["oga"], surrogate_index=["post", "pre"], step_c=[math.sqrt(0.5), 1]),
    *combined(subroutine=["adahedge", "squint"], surrogate_index=["post", "pre"]),
]
FTRL = [
    *combined(subroutine=["ftrl"], surrogate_index=["post", "pre"], gamma_rule=[1, 2]),
    {"subroutine": "ftrl", "tolerance": 1e-5},
]


def extras(instance):
    """Return the law's own parameters under the names of the naive twin."""
    if instance.law == "beta":
        return {"m": instance.spread}
    return {"sd": instance.spread} if instance.law == "gaussian" else {}


def weight(penalty):
    """Return V as a number."""
    return {"sqrt": math.sqrt(ROUNDS), "zero": 0, "T^.25": ROUNDS**0.25, "1e6": 1e6}[penalty]


def twin_run(play, twin, instance):
    """Return the twin's history on the same streams as `recorded`."""
    address = (SEED, "naive", REPLICATE)
    return play(twin, instance.means, instance.law, ROUNDS, *address, **extras(instance))


def recorded(policy, instance, observe=()):
    """Return the result with a checkpoint at every round."""
    options = {"checkpoints": range(1, ROUNDS + 1), "observe": observe}
    return run(policy, instance, ROUNDS, [REPLICATE], seed=SEED, stream="naive", **options)


def column(history, name):
    return np.array([record[name] for record in history], dtype=float)


def assert_close(found, expected, rtol=1e-9):
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-3 * rtol * scale)


def assert_same_queues(result, history):
    queue = column(history, "queue")
    assert_close(result.probes["queue"][0], queue)
    assert_close(result.probes["idleness"][0], column(history, "idle"))
    assert_close(result.probes["queue_max"][0], np.maximum.accumulate(queue, axis=0))


def assert_same_full_run(result, history):
    x = column(history, "x")
    assert_close(result.plays[0], x.cumsum(axis=0))
    assert_close(np.diff(result.plays[0], axis=0, prepend=0), x)
    assert_close(result.rewards[0], column(history, "accrued"))


def assert_same_bandit_run(result, history):
    assert arms_of(result) == [record["arm"] for record in history]
    assert (result.plays[0] == column(history, "pulls")).all()
    assert_close(result.rewards[0], column(history, "accrued"))


@scenarios
def test_banditq_full(scenario, rng):
    for place in rng.permutation(len(FULL))[:4]:
        variant, penalty = FULL[place], one_of(rng, *PENALTIES)
        instance, targets = scenario(rng)
        policy = BanditQ(targets, feedback="full", **variant, **PENALTIES[penalty])
        twin = naive.BanditQFull(list(targets), weight(penalty), **variant)
        history = twin_run(naive.run_full, twin, instance)
        result = recorded(policy, instance)
        assert_same_full_run(result, history)
        assert_same_queues(result, history)
        assert not result.probes["probability"].any()


@scenarios
def test_banditq_ftrl(scenario, rng):
    for place in rng.permutation(len(FTRL))[:3]:
        variant, penalty = FTRL[place], one_of(rng, *PENALTIES)
        instance, targets = scenario(rng)
        policy = BanditQ(targets, **variant, **PENALTIES[penalty])
        options = {"tol" if name == "tolerance" else name: value for name, value in variant.items()}
        twin = naive.BanditQBandit(list(targets), weight(penalty), ROUNDS, **options)
        history = twin_run(naive.run_bandit, twin, instance)
        result = recorded(policy, instance)
        assert_same_bandit_run(result, history)
        assert_same_queues(result, history)
        # the twin solves for the shift itself, which is as large as the gains
        rtol = 1e-6 if penalty == "1e6" else 1e-9
        assert_close(result.probes["probability"][0], column(history, "x").cumsum(axis=0), rtol)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_banditq_exp3p(penalty, rng):
    index = one_of(rng, "post", "pre")
    scenario = one_of(rng, five, two, zero_mean, clipped, no_targets)  # for gains, not for losses
    instance, targets = scenario(rng)
    options = {"subroutine": "exp3p", "surrogate_index": index}
    policy = BanditQ(targets, **options, **PENALTIES[penalty])
    twin = naive.BanditQBandit(list(targets), weight(penalty), ROUNDS, **options)
    twin.subroutine = naive.Exp3P(instance.n_arms, ROUNDS, 0.01)
    history = twin_run(naive.run_bandit, twin, instance)
    result = recorded(policy, instance)
    assert_same_bandit_run(result, history)
    assert_same_queues(result, history)
    assert_close(result.probes["probability"][0], column(history, "x").cumsum(axis=0))


@scenarios
def test_baselines(scenario, rng):
    instance, _ = scenario(rng)
    shares = rng.multinomial(1000, np.full(instance.n_arms, 1 / instance.n_arms)) / 1000
    for policy, twin in (
        (EXP3(1.6), naive.Exp3(instance.n_arms, ROUNDS, 1.6)),
        (Static(shares.tolist()), naive.StaticOracle(shares.tolist())),
    ):
        history = twin_run(naive.run_bandit, twin, instance)
        assert_same_bandit_run(recorded(policy, instance), history)
    history = twin_run(naive.run_full, naive.AdaHedge(instance.n_arms), instance)
    assert_same_full_run(recorded(Hedge(), instance), history)


@pytest.mark.parametrize("exponent", [-40, -16, -12, -10, -9, -6, -4, -2, 0, 1, 3, 6])
def test_squint_weights(exponent):
    """Also where rounding alone tells the gains of the arms apart."""
    for variance in (10.0**exponent, 3 * 10.0**exponent):
        for ratio in (-100, -4, -1, -0.5, -1e-9, 0, 1e-9, 0.3, 1, 4, 100):
            regret = ratio * math.sqrt(variance)
            found = learners._log_evidence(regret, variance)
            expected = naive.squint_log_weight(regret, variance)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)


# The same policies made to learn from arms and rewards that they did not choose.
ADAPTIVE = {"gamma_rule": 2, "surrogate_index": "pre"}
FORCED = {
    "exp3": lambda arms: (EXP3(), naive.Exp3(arms, ROUNDS)),
    "ftrl": lambda arms: (
        BanditQ((0.1, *[0] * (arms - 1))),
        naive.BanditQBandit([0.1, *[0] * (arms - 1)], math.sqrt(ROUNDS)),
    ),
    "ftrl-adaptive": lambda arms: (
        BanditQ((0.1, *[0] * (arms - 1)), **ADAPTIVE),
        naive.BanditQBandit([0.1, *[0] * (arms - 1)], math.sqrt(ROUNDS), **ADAPTIVE),
    ),
    "exp3p": lambda arms: (
        BanditQ((0.1,) * arms, subroutine="exp3p"),
        naive.BanditQBandit([0.1] * arms, math.sqrt(ROUNDS), ROUNDS, subroutine="exp3p"),
    ),
}


@pytest.mark.parametrize("arms", [2, 3, 10])
@pytest.mark.parametrize("policy", FORCED)
def test_choices_after_random_histories(policy, arms, rng):
    for _ in range(4):
        ours, twin = FORCED[policy](arms)
        history = forced(rng, arms, ROUNDS)
        assert_same_choices(ours, twin, arms, ROUNDS, history, naive.unit)
