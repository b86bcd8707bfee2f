"""Fair-Learn, its learners and the measures of fairness against their naive twins."""

import numpy as np
import pytest

import naive_fair_ucb as twins
from fairbandits import (
    LFG,
    UCB1,
    Constant,
    EpsilonGreedy,
    FairLearn,
    Instance,
    SmallestDeficit,
    TFairLearn,
    Thompson,
    Uniform,
    run,
)
from fairbandits.engine import protocol, streams
from fairbandits.measures.pulls import r_regret, regret

ROUNDS = 150
SEED = 20240816
STREAM = "naive-fair"
REPLICATE = 3


def as_texts(shares, denominator):
    """Return the quotas as they stand in a configuration file."""
    return tuple(f"{share}/{denominator}" for share in np.asarray(shares).tolist())


def random_quotas(rng, arms):
    """Return rational quotas of sum below 1, of any size."""
    denominator = int(rng.integers(arms + 1, 300))
    weights = rng.dirichlet(np.full(arms + 1, rng.choice([0.3, 1.0, 30.0])))
    return as_texts(rng.multinomial(denominator - 1, weights)[:arms], denominator)


def three(rng):
    return Instance((0.7, 0.5, 0.4)), ("1/5", "3/10", "1/4")


def ten(rng):
    return Instance((0.8, *(0.8 - 0.01 * i for i in range(2, 11)))), (0.09,) * 10


def two(rng):
    return Instance(rng.uniform(0.1, 0.9, 2)), random_quotas(rng, 2)


def five(rng):
    return Instance(rng.uniform(0.1, 0.9, 5), "beta"), random_quotas(rng, 5)


def wide(rng):
    return Instance(rng.uniform(0.1, 0.9, 6), "uniform02"), random_quotas(rng, 6)


def negative_rewards(rng):
    return Instance(rng.normal(size=4), "gaussian", 0.7), random_quotas(rng, 4)


def sure_rewards(rng):
    return Instance((0.0, 1.0, 0.5, 1.0, 0.0)), random_quotas(rng, 5)


def decimal_quotas(rng):
    shares = rng.multinomial(99, rng.dirichlet(np.ones(5)))[:4]
    return Instance(rng.uniform(0.1, 0.9, 4)), tuple((shares / 100).round(2).tolist())


def all_alike(rng):
    return Instance((0.73,) * 6, "deterministic"), ("1/7",) * 6


def two_alike(rng):
    return Instance((0.25, 0.75, 0.5, 0.75), "deterministic"), ("1/8", "1/4", "0", "1/4")


def no_quotas(rng):
    return Instance(rng.uniform(0.1, 0.9, 4)), (0, 0, 0, 0)


SCENARIOS = [
    three,
    ten,
    two,
    five,
    wide,
    negative_rewards,
    sure_rewards,
    decimal_quotas,
    all_alike,
    two_alike,
    no_quotas,
]
scenarios = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
#: EXP3 is for gains.
gains = pytest.mark.parametrize(
    "scenario",
    [scenario for scenario in SCENARIOS if scenario is not negative_rewards],
    ids=lambda scenario: scenario.__name__,
)


def twin_history(twin, instance, rounds=ROUNDS, replicate=REPLICATE):
    """Return the twin's history on the same streams as `recorded`."""
    extras = {
        "beta": {"m": instance.spread},
        "gaussian": {"sd": instance.spread},
    }.get(instance.law, {})
    address = (SEED, STREAM, replicate)
    return twins.play(twin, instance.means, instance.law, rounds, *address, **extras)


def recorded(policy, instance, rounds=ROUNDS, **options):
    """Return the result with a checkpoint at every round."""
    every = range(1, rounds + 1)
    return run(
        policy,
        instance,
        rounds,
        [REPLICATE],
        seed=SEED,
        stream=STREAM,
        checkpoints=every,
        **options,
    )


def arms_of(result):
    """Return the arm of every round."""
    pulls = np.diff(result.plays[0], axis=0, prepend=0)
    assert (pulls.sum(axis=1) == 1).all()
    return pulls.argmax(axis=1).tolist()


def assert_same_run(policy, twin, instance, rounds=ROUNDS):
    history = twin_history(twin, instance, rounds)
    result = recorded(policy, instance, rounds)
    assert arms_of(result) == [record["arm"] for record in history]
    accrued = np.array([record["accrued"] for record in history])
    np.testing.assert_allclose(result.rewards[0], accrued, rtol=1e-9, atol=1e-12)
    return [record["arm"] for record in history]


# The learners by themselves.


@scenarios
@pytest.mark.parametrize("ties", ["lowest", "random"])
@pytest.mark.parametrize("clock", ["round", "previous", "own"])
@pytest.mark.parametrize("scale", [1.0, 1.6])
def test_ucb1(scenario, scale, clock, ties, rng):
    instance, _ = scenario(rng)
    twin = twins.UCB1(instance.n_arms, scale, clock, ties)
    assert_same_run(UCB1(scale=scale, clock=clock, ties=ties), twin, instance)


@scenarios
@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.5, 0.5), (3.0, 1.5)])
def test_thompson(scenario, prior, rng):
    instance, _ = scenario(rng)
    assert_same_run(Thompson(prior=prior), twins.Thompson(instance.n_arms, prior), instance)


@scenarios
@pytest.mark.parametrize("epsilon", [0.1, 0.0, 0.37, 1.0])
def test_epsilon_greedy(scenario, epsilon, rng):
    instance, _ = scenario(rng)
    twin = twins.EpsilonGreedy(instance.n_arms, epsilon)
    assert_same_run(EpsilonGreedy(epsilon=epsilon), twin, instance)


@scenarios
def test_uniform(scenario, rng):
    instance, _ = scenario(rng)
    assert_same_run(Uniform(), twins.Uniform(instance.n_arms), instance)


@pytest.mark.parametrize("arm", [1, 2, 5, -1, -2, -5])
def test_constant(arm, rng):
    instance, _ = five(rng)
    arms = assert_same_run(Constant(arm=arm), twins.Constant(5, arm), instance)
    assert set(arms) == {arm - 1 if arm > 0 else 5 + arm}


@scenarios
def test_smallest_deficit(scenario, rng):
    instance, quotas = scenario(rng)
    assert_same_run(SmallestDeficit(quotas), twins.SmallestDeficit(quotas), instance)


# An eta without a simple ratio to the quotas, or two indices could differ by rounding only.
LFG_OPTIONS = {
    "default": {},
    "eta 0": {"eta": 0},
    "eta 1": {"eta": 1, "constant": 2.0},
    "uncapped": {"eta": 6.9314718, "cap": None},
    "low cap": {"eta": 3, "cap": 0.8},
    "weighted": {"eta": 5, "weights": (0.5, 2.0, 1.0, 0.0, 0.25, 1.5, 3.0, 0.1, 1.0, 0.9)},
}


@scenarios
@pytest.mark.parametrize("ties", ["lowest", "random"])
@pytest.mark.parametrize("arrivals", ["after", "before"])
@pytest.mark.parametrize("options", LFG_OPTIONS.values(), ids=LFG_OPTIONS)
def test_lfg(scenario, options, arrivals, ties, rng):
    instance, quotas = scenario(rng)
    options = options | {"arrivals": arrivals, "ties": ties}
    if "weights" in options:
        options["weights"] = options["weights"][: instance.n_arms]
    twin = twins.LFG(quotas, **options)
    assert_same_run(LFG(quotas, **options), twin, instance, rounds=100)


def test_lfg_arrivals_matter(rng):
    """In round 1 the queues are the fractions, or nothing; the other terms are equal."""
    instance, quotas = Instance((0.5, 0.5, 0.5)), ("1/5", "1/2", "1/4")
    first = {
        arrivals: assert_same_run(
            LFG(quotas, arrivals=arrivals), twins.LFG(quotas, arrivals=arrivals), instance, 5
        )[0]
        for arrivals in ("after", "before")
    }
    assert first == {"after": 0, "before": 1}


@pytest.mark.parametrize("name", ["ucb1", "lfg"])
def test_random_ties_happen_and_are_broken_by_the_coin(name, rng):
    instance, quotas = all_alike(rng)
    lowest, other = (
        assert_same_run(
            UCB1(ties=ties) if name == "ucb1" else LFG(quotas, ties=ties),
            twins.UCB1(6, ties=ties) if name == "ucb1" else twins.LFG(quotas, ties=ties),
            instance,
        )
        for ties in ("lowest", "random")
    )
    assert lowest[:6] == [0, 1, 2, 3, 4, 5]
    assert lowest != other
    assert set(other) == set(range(6))
    if name == "ucb1":  # which has no ties among arms never pulled
        assert lowest[:6] == other[:6]
        assert lowest[6:12] == [0, 1, 2, 3, 4, 5]


# Fair-Learn.


def tolerances(rng):
    return [0, 1, "1/2", 0.3, f"{int(rng.integers(1, 40))}/{int(rng.integers(10, 30))}"]


@gains
@pytest.mark.parametrize("learner", twins.LEARNERS)
def test_fair_learn(scenario, learner, rng):
    instance, quotas = scenario(rng)
    for tolerance in tolerances(rng):
        name, parameters, twin = twins.theorem_learners(quotas, ROUNDS)[learner]
        policy = FairLearn(quotas, tolerance, learner=name, learner_parameters=parameters)
        assert_same_run(policy, twins.FairLearn(quotas, tolerance, twin), instance)


@scenarios
@pytest.mark.parametrize("learner", ["ucb1", "first", "adversary"])
def test_fair_learn_after_a_round_robin(scenario, learner, rng):
    instance, quotas = scenario(rng)
    for tolerance in tolerances(rng)[::2]:
        name, parameters, twin = twins.theorem_learners(quotas, ROUNDS)[learner]
        policy = FairLearn(
            quotas,
            tolerance,
            learner=name,
            learner_parameters=parameters,
            first_rounds="round_robin",
        )
        twin = twins.FairLearn(quotas, tolerance, twin, "round_robin")
        arms = assert_same_run(policy, twin, instance)
        assert arms[: instance.n_arms] == list(range(instance.n_arms))


@scenarios
@pytest.mark.parametrize("first_rounds", ["learner", "round_robin"])
@pytest.mark.parametrize("clock", ["round", "previous", "own"])
@pytest.mark.parametrize("ties", ["lowest", "random"])
def test_fair_ucb_options(scenario, ties, clock, first_rounds, rng):
    instance, quotas = scenario(rng)
    options = {"scale": 1.25, "clock": clock, "ties": ties}
    policy = FairLearn(quotas, learner_parameters=options, first_rounds=first_rounds)
    twin = twins.FairLearn(quotas, 0, twins.UCB1(instance.n_arms, **options), first_rounds)
    assert_same_run(policy, twin, instance)


OTHER_LEARNERS = {
    "thompson": ({"prior": (2.0, 0.7)}, lambda arms: twins.Thompson(arms, (2.0, 0.7))),
    "epsilon_greedy": ({"epsilon": 0.4}, lambda arms: twins.EpsilonGreedy(arms, 0.4)),
    "constant": ({"arm": -2}, lambda arms: twins.Constant(arms, -2)),
}


@scenarios
@pytest.mark.parametrize("name", OTHER_LEARNERS)
def test_fair_learn_hands_parameters_on(scenario, name, rng):
    instance, quotas = scenario(rng)
    parameters, twin = OTHER_LEARNERS[name]
    policy = FairLearn(quotas, learner=name, learner_parameters=parameters)
    assert_same_run(policy, twins.FairLearn(quotas, 0, twin(instance.n_arms)), instance)


@scenarios
def test_fair_learn_with_lfg(scenario, rng):
    """LFG's own queues see the forced pulls."""
    instance, quotas = scenario(rng)
    fractions = random_quotas(rng, instance.n_arms)
    parameters = {"fractions": fractions, "eta": 4, "arrivals": "before"}
    policy = FairLearn(quotas, 1, learner="lfg", learner_parameters=parameters)
    twin = twins.FairLearn(quotas, 1, twins.LFG(fractions, eta=4, arrivals="before"))
    assert_same_run(policy, twin, instance, rounds=100)


def test_own_clock_stands_still_in_forced_rounds(rng):
    """So that the two clocks give different runs."""
    instance, quotas = ten(rng)
    own, common = (
        assert_same_run(
            FairLearn(quotas, learner_parameters={"clock": clock}),
            twins.FairLearn(quotas, 0, twins.UCB1(10, clock=clock)),
            instance,
            rounds=300,
        )
        for clock in ("own", "round")
    )
    assert own != common


# T-Fair-Learn.


@scenarios
@pytest.mark.parametrize("order", ["round_robin", "sequential"])
@pytest.mark.parametrize("learner", ["ucb1", "uniform"])
@pytest.mark.parametrize("horizon", [ROUNDS, 37, 11])
def test_t_fair_learn(scenario, horizon, learner, order, rng):
    """Also where the quotas, rounded up, take more rounds than there are."""
    instance, quotas = scenario(rng)
    name, parameters, twin = twins.theorem_learners(quotas, horizon)[learner]
    policy = TFairLearn(quotas, learner=name, learner_parameters=parameters, order=order)
    assert_same_run(policy, twins.TFairLearn(quotas, horizon, twin, order), instance, horizon)


@pytest.mark.parametrize("clock", ["round", "previous", "own"])
def test_t_fair_ucb_clocks(clock, rng):
    instance, quotas = three(rng)
    policy = TFairLearn(quotas, learner_parameters={"clock": clock})
    twin = twins.TFairLearn(quotas, ROUNDS, twins.UCB1(3, clock=clock))
    assert_same_run(policy, twin, instance)


def test_t_fair_learn_pulls_the_others_only_afterwards():
    """An arm without quota is not pulled before all quotas are filled."""
    quotas = ("0", "1/3", "0", "1/4")
    policy = TFairLearn(quotas)
    twin = twins.TFairLearn(quotas, ROUNDS, twins.UCB1(4))
    arms = assert_same_run(policy, twin, Instance((0.9, 0.5, 0.8, 0.4)))
    assert twin.first_phase() == 88
    assert sorted(arms[:88]) == [1] * 50 + [3] * 38
    assert arms[88:90] == [0, 2]


# The policies made to learn from arms and rewards that they did not choose, on extreme coins too.


def forced(rng, arms, rounds):
    """Return random arms, rewards in [0, 1] (some of them 0 or equal), and coins."""
    rewards = np.where(rng.random(rounds) < 0.5, rng.random(rounds), rng.integers(0, 3, rounds) / 2)
    coins = rng.integers(0, streams.MASK, rounds, dtype=np.uint64, endpoint=True)
    coins[rng.random(rounds) < 0.1] = streams.MASK
    coins[rng.random(rounds) < 0.1] = 0
    return zip(
        rng.integers(0, arms, rounds).tolist(), rewards.tolist(), coins.tolist(), strict=True
    )


def pairs(rng, arms):
    """Return label -> policy and twin."""
    quotas = random_quotas(rng, arms)
    cases = {
        f"ucb1-{clock}-{ties}": (
            UCB1(clock=clock, ties=ties),
            twins.UCB1(arms, clock=clock, ties=ties),
        )
        for clock in ("round", "previous", "own")
        for ties in ("lowest", "random")
    }
    cases |= {
        f"lfg-{arrivals}-{ties}": (
            LFG(quotas, eta=2, arrivals=arrivals, ties=ties),
            twins.LFG(quotas, eta=2, arrivals=arrivals, ties=ties),
        )
        for arrivals in ("after", "before")
        for ties in ("lowest", "random")
    }
    for name, (registered, parameters, twin) in twins.theorem_learners(quotas, 100).items():
        policy = FairLearn(quotas, 1, learner=registered, learner_parameters=parameters)
        cases[f"fair-{name}"] = policy, twins.FairLearn(quotas, 1, twin)
    return cases | {
        "thompson": (Thompson(), twins.Thompson(arms)),
        "epsilon_greedy": (EpsilonGreedy(0.3), twins.EpsilonGreedy(arms, 0.3)),
        "uniform": (Uniform(), twins.Uniform(arms)),
        "smallest_deficit": (SmallestDeficit(quotas), twins.SmallestDeficit(quotas)),
    }


PAIRS = tuple(pairs(np.random.default_rng(0), 2))


@pytest.mark.parametrize("arms", [2, 3, 10])
@pytest.mark.parametrize("case", PAIRS)
def test_choices_after_random_histories(case, arms, rng):
    ours, twin = pairs(rng, arms)[case]
    state = ours.start(arms, 100)
    for t, (arm, reward, coin) in enumerate(forced(rng, arms, 100), start=1):
        assert protocol.choose(state, t, coin) == twin.choose(coin), t
        protocol.learn(state, t, arm, reward)
        twin.advance(arm, reward)


# The measures.

MEASURES = ("deficit", "floor_deficit", "deficit_sup", "floor_deficit_sup")


def assert_same_measures(found, expected, rows):
    assert set(found) >= set(MEASURES)
    for name in MEASURES:
        values = [[float(value) for value in expected[name][row]] for row in rows]
        assert np.array_equal(found[name], np.array(values)), name  # rounded once, or not at all


MEASURED = {
    "uniform": lambda quotas: Uniform(),
    "constant": lambda quotas: Constant(-1),
    "ucb1": lambda quotas: UCB1(),
    "fair": lambda quotas: FairLearn(quotas, "1/2"),
    "t-fair": lambda quotas: TFairLearn(quotas, order="sequential"),
}


@scenarios
@pytest.mark.parametrize("policy", MEASURED)
def test_violations_at_every_round(scenario, policy, rng):
    instance, quotas = scenario(rng)
    result = recorded(MEASURED[policy](quotas), instance, quotas=quotas)
    expected = twins.violations(arms_of(result), quotas)
    found = {name: values[0] for name, values in result.deficits.items()}
    assert_same_measures(found, expected, range(ROUNDS))
    for name in ("floor_deficit", "floor_deficit_sup"):
        assert result.deficits[name].dtype.kind == "i"


def test_suprema_see_the_rounds_between_checkpoints(rng):
    """And all replicates; the quotas need not be the policy's own."""
    instance, _ = wide(rng)
    quotas = random_quotas(rng, 6)
    policy = FairLearn(random_quotas(rng, 6), 2, learner="thompson")
    rounds = (1, 2, 10, 61, 150)
    options = {"seed": SEED, "stream": STREAM, "quotas": quotas}
    every = run(policy, instance, 150, [5, 0, 9], checkpoints=range(1, 151), **options)
    some = run(policy, instance, 150, [5, 0, 9], checkpoints=rounds, **options)
    for replicate in range(3):
        plays = np.diff(every.plays[replicate], axis=0, prepend=0)
        expected = twins.violations(plays.argmax(axis=1).tolist(), quotas)
        for name in MEASURES:
            assert some.deficits[name].shape == (3, 5, 6)
        found = {name: values[replicate] for name, values in some.deficits.items()}
        assert_same_measures(found, expected, [t - 1 for t in rounds])


def test_no_measures_without_quotas():
    assert not recorded(UCB1(), Instance((0.5, 0.6)), 5).deficits


@scenarios
@pytest.mark.parametrize("tolerance", [0, 3, "5/2", 0.1])
def test_regrets(scenario, tolerance, rng):
    instance, quotas = scenario(rng)
    means = instance.means
    rounds = np.arange(1, ROUNDS + 1)
    plays = np.array(
        [
            [
                record["pulls"]
                for record in twin_history(twins.Uniform(len(means)), instance, replicate=replicate)
            ]
            for replicate in range(2)
        ]
    )
    plain = [[twins.regret(row, means) for row in rows] for rows in plays.tolist()]
    fair = [
        [
            twins.r_regret(t, row, means, quotas, tolerance)
            for t, row in zip(rounds.tolist(), rows, strict=True)
        ]
        for rows in plays.tolist()
    ]
    found = regret(plays, means)
    assert found.shape == (2, ROUNDS)
    np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-12)
    found = r_regret(rounds, plays, means, quotas, tolerance)
    assert found.shape == (2, ROUNDS)
    np.testing.assert_allclose(found, fair, rtol=1e-12, atol=1e-11)
    last = r_regret(rounds[-1:], plays[:, -1:], means, quotas, tolerance)
    assert np.array_equal(last, found[:, -1:])


def test_naive_measures_by_hand():
    """r = 2/5, 1/3 and the arms 0, 2, 1, 1, 0."""
    measures = twins.violations([0, 2, 1, 1, 0], ["2/5", "1/3", "0"])
    assert measures["floor_deficit"] == [
        [-1, 0, 0],
        [-1, 0, -1],
        [0, 0, -1],
        [0, -1, -1],
        [0, -1, -1],
    ]
    assert measures["floor_deficit_sup"][-1] == [0, 0, 0]
    assert measures["deficit"][3] == twins.exactly(["3/5", "-2/3", "-1"])
    assert measures["deficit_sup"][3] == twins.exactly(["3/5", "2/3", "0"])
    means = (0.9, 0.4, 0.5)
    assert twins.regret([2, 2, 1], means) == pytest.approx(1.4)
    assert twins.r_regret(5, [2, 2, 1], means, ["2/5", "1/3", "0"]) == pytest.approx(0.9)
