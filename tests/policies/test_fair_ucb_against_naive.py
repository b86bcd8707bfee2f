"""Fair-Learn, its learners and the measures of fairness against their naive twins."""

import numpy as np
import pytest

import fairbandits as fb
import naive_fair_ucb as twins
from drawn import (
    ROUNDS,
    arms_of,
    assert_same_choices,
    assert_same_run,
    forced,
    instance_of,
    one_of,
    random_quotas,
    recorded,
    settings,
    twin_history,
)
from fairbandits.measures.pulls import r_regret, regret


def problem(setting, rng, losses=True):
    instance = instance_of(setting, rng, losses=losses)
    return instance, random_quotas(rng, instance.n_arms)


def ucb1(rng):
    """Return any options of UCB1."""
    return {
        "scale": one_of(rng, 1.0, 1.6),
        "clock": one_of(rng, "round", "previous"),
        "ties": one_of(rng, "lowest", "random"),
    }


@settings
def test_learners(setting, rng):
    instance = instance_of(setting, rng)
    arms, options = instance.n_arms, ucb1(rng)
    epsilon = one_of(rng, 0.0, 0.1, 0.37, 1)
    arm = int(one_of(rng, 1, -1, arms, -arms))
    pairs = {
        "ucb1": (fb.UCB1(**options), twins.UCB1(arms, **options)),
        "thompson": (fb.Thompson(), twins.Thompson(arms)),
        "epsilon_greedy": (fb.EpsilonGreedy(epsilon), twins.EpsilonGreedy(arms, epsilon)),
        "uniform": (fb.Uniform(), twins.Uniform(arms)),
        "constant": (fb.Constant(arm), twins.Constant(arms, arm)),
    }
    for policy, twin in pairs.values():
        assert_same_run(policy, twin, instance)


@settings
def test_smallest_deficit(setting, rng):
    instance, quotas = problem(setting, rng)
    assert_same_run(fb.SmallestDeficit(quotas), twins.SmallestDeficit(quotas), instance)


# An eta without a simple ratio to the quotas, or two indices could differ by rounding only.
LFG_OPTIONS = {
    "default": {},
    "eta 0": {"eta": 0},
    "eta 1": {"eta": 1, "constant": 2.0},
    "uncapped": {"eta": 6.9314718, "cap": None},
    "low cap": {"eta": 3, "cap": 0.8},
}


@settings
def test_lfg(setting, rng):
    instance, quotas = problem(setting, rng)
    for name in rng.permutation(list(LFG_OPTIONS))[:3]:
        options = LFG_OPTIONS[name] | {"arrivals": one_of(rng, "after", "before")}
        assert_same_run(
            fb.LFG(quotas, **options), twins.LFG(quotas, **options), instance, rounds=100
        )


def any_tolerance(rng):
    return one_of(rng, 0, 1, "1/2", 0.3, f"{rng.integers(1, 40)}/{rng.integers(10, 30)}")


@settings
def test_fair_learn(setting, rng):
    instance, quotas = problem(setting, rng, losses=False)  # EXP3 is for gains
    for learner in twins.LEARNERS[setting % 2 :: 2]:
        tolerance, first = any_tolerance(rng), one_of(rng, "learner", "round_robin")
        name, parameters, twin = twins.theorem_learners(quotas, ROUNDS)[learner]
        policy = fb.FairLearn(quotas, tolerance, name, parameters, first)
        arms = assert_same_run(policy, twins.FairLearn(quotas, tolerance, twin, first), instance)
        if first == "round_robin":
            assert arms[: instance.n_arms] == list(range(instance.n_arms))


@settings
def test_fair_ucb_options(setting, rng):
    instance, quotas = problem(setting, rng)
    options, first = ucb1(rng), one_of(rng, "learner", "round_robin")
    policy = fb.FairLearn(quotas, learner_parameters=options, first_rounds=first)
    twin = twins.FairLearn(quotas, 0, twins.UCB1(instance.n_arms, **options), first)
    assert_same_run(policy, twin, instance)


@settings
def test_fair_learn_with_lfg(setting, rng):
    """LFG's own queues see the forced pulls."""
    instance, quotas = problem(setting, rng)
    fractions = random_quotas(rng, instance.n_arms)
    parameters = {"fractions": fractions, "eta": 4, "arrivals": "before"}
    policy = fb.FairLearn(quotas, 1, learner="lfg", learner_parameters=parameters)
    twin = twins.FairLearn(quotas, 1, twins.LFG(fractions, eta=4, arrivals="before"))
    assert_same_run(policy, twin, instance, rounds=100, compiled=False)


# T-Fair-Learn, and Fair-Learn with estimated quotas.
@settings
def test_t_fair_learn(setting, rng):
    """Also where the quotas, rounded up, take more rounds than there are."""
    horizon = one_of(rng, ROUNDS, 37, 11)
    instance, quotas = problem(setting, rng)
    order, options = one_of(rng, "round_robin", "sequential"), ucb1(rng)
    policy = fb.TFairLearn(quotas, learner_parameters=options, order=order)
    twin = twins.TFairLearn(quotas, horizon, twins.UCB1(instance.n_arms, **options), order)
    assert_same_run(policy, twin, instance, max(horizon, instance.n_arms))


@settings
def test_plug_in(setting, rng):
    """With targets within reach and out of reach."""
    instance, most = instance_of(setting, rng), one_of(rng, 0.1, 0.9)
    arms = instance.n_arms
    targets = (rng.uniform(0, most, arms) * (rng.random(arms) < 0.7)).tolist()
    name = one_of(rng, "ucb1", "thompson", "uniform")
    twin = {"ucb1": twins.UCB1, "thompson": twins.Thompson, "uniform": twins.Uniform}[name](arms)
    policy, twin = fb.PlugIn(targets, name), twins.PlugIn(targets, twin)
    assert_same_run(policy, twin, instance, compiled=name == "thompson")  # as in examples.py


# The policies made to learn from arms and rewards that they did not choose, on extreme coins too.
def pairs(rng, arms):
    """Return label -> policy and twin."""
    quotas, options = random_quotas(rng, arms), ucb1(rng)
    lfg = {"eta": 2, "arrivals": one_of(rng, "after", "before")}
    cases = {
        "ucb1": (fb.UCB1(**options), twins.UCB1(arms, **options)),
        "lfg": (fb.LFG(quotas, **lfg), twins.LFG(quotas, **lfg)),
        "thompson": (fb.Thompson(), twins.Thompson(arms)),
        "epsilon_greedy": (fb.EpsilonGreedy(0.3), twins.EpsilonGreedy(arms, 0.3)),
        "uniform": (fb.Uniform(), twins.Uniform(arms)),
        "smallest_deficit": (fb.SmallestDeficit(quotas), twins.SmallestDeficit(quotas)),
    }
    for name, (registered, parameters, twin) in twins.theorem_learners(quotas, 100).items():
        policy = fb.FairLearn(quotas, 1, learner=registered, learner_parameters=parameters)
        cases[f"fair-{name}"] = policy, twins.FairLearn(quotas, 1, twin)
    return cases


PAIRS = tuple(pairs(np.random.default_rng(0), 2))


@pytest.mark.parametrize("case", PAIRS)
def test_choices_after_random_histories(case, rng):
    for arms in (2, 3, 3, 10, 10):
        ours, twin = pairs(rng, arms)[case]
        assert_same_choices(ours, twin, arms, 100, forced(rng, arms, 100))


MEASURES = ("deficit", "floor_deficit", "deficit_sup", "floor_deficit_sup")


def assert_same_measures(found, expected, rows):
    assert set(found) >= set(MEASURES)
    for name in MEASURES:
        values = [[float(value) for value in expected[name][row]] for row in rows]
        assert np.array_equal(found[name], np.array(values)), name  # rounded once, or not at all


@settings
def test_violations_at_every_round(setting, rng):
    instance, quotas = problem(setting, rng)
    policy = one_of(rng, fb.Uniform(), fb.Constant(-1), fb.UCB1(), fb.FairLearn(quotas, "1/2"))
    result = recorded(policy, instance, quotas=quotas)
    expected = twins.violations(arms_of(result), quotas)
    found = {name: values[0] for name, values in result.deficits.items()}
    assert_same_measures(found, expected, range(ROUNDS))
    for name in ("floor_deficit", "floor_deficit_sup"):
        assert result.deficits[name].dtype.kind == "i"


def test_suprema_see_the_rounds_between_checkpoints(rng):
    """And all replicates; the quotas need not be the policy's own."""
    instance, quotas = fb.Instance(rng.uniform(0.1, 0.9, 6), "uniform02"), random_quotas(rng, 6)
    policy = fb.FairLearn(random_quotas(rng, 6), 2, learner="thompson")
    rounds = (1, 2, 10, 61, 150)
    every = recorded(policy, instance, 150, [5, 0, 9], quotas=quotas)
    some = recorded(policy, instance, 150, [5, 0, 9], quotas=quotas, checkpoints=rounds)
    for replicate in range(3):
        expected = twins.violations(arms_of(every, replicate), quotas)
        for name in MEASURES:
            assert some.deficits[name].shape == (3, 5, 6)
        found = {name: values[replicate] for name, values in some.deficits.items()}
        assert_same_measures(found, expected, [t - 1 for t in rounds])


@settings
def test_regrets(setting, rng):
    instance, quotas = problem(setting, rng)
    means, tolerance = instance.means, one_of(rng, 0, 3, "5/2", 0.1)
    rounds = np.arange(1, ROUNDS + 1)
    uniform = twins.Uniform(len(means))
    histories = [twin_history(uniform, instance, replicate=replicate) for replicate in range(2)]
    plays = [[record["pulls"] for record in history] for history in histories]
    plain = [[twins.regret(row, means) for row in rows] for rows in plays]
    fair = [
        [twins.r_regret(t, row, means, quotas, tolerance) for t, row in enumerate(rows, 1)]
        for rows in plays
    ]
    np.testing.assert_allclose(regret(np.array(plays), means), plain, rtol=1e-12, atol=1e-12)
    found = r_regret(rounds, np.array(plays), means, quotas, tolerance)
    assert found.shape == (2, ROUNDS)
    np.testing.assert_allclose(found, fair, rtol=1e-12, atol=1e-11)
    last = r_regret(rounds[-1:], np.array(plays)[:, -1:], means, quotas, tolerance)
    assert np.array_equal(last, found[:, -1:])
