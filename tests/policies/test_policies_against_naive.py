"""Every policy and variant against its naive twin, round by round; arms in groups: test_bf_ucb."""

import itertools
import math

import numpy as np
import pytest

import drawn
import fairbandits as fb
import naive
import naive_banditq_audit
import naive_fair_ucb as twins
import naive_guarantees as guaranteed
import naive_ht_ucb
from drawn import assert_same_choices, assert_same_run, one_of, random_history, random_quotas
from fairbandits import BanditQ, Instance
from fairbandits.policies import learners

ROUNDS = 80
PENALTIES = {"sqrt": {}, "zero": {"V": 0}, "T^.25": {"V_exponent": 0.25}, "1e6": {"V": 1e6}}
WEIGHTS = {"sqrt": math.sqrt(ROUNDS), "zero": 0, "T^.25": ROUNDS**0.25, "1e6": 1e6}


def two(rng):
    means = rng.uniform(0.1, 0.9, 2)
    return Instance(means), (means[0] * rng.uniform(0.2, 0.8), 0)


def twenty_all_protected(rng):
    means = rng.permutation(np.linspace(0.2, 0.9, 20))
    return Instance(means, "beta"), 5 / 6 * means / 20


def zero_mean(rng):
    return Instance((0.0, *rng.uniform(0.1, 0.9, 3))), (0.05, 0.1, 0, 0)


def clipped(rng):
    arms = int(rng.integers(3, 9))
    return Instance(rng.uniform(0.05, 0.9, arms), "uniform02_clipped"), rng.uniform(0, 0.1, arms)


def sure(rng):
    return Instance((0.7, 0.2, 0.45, 0.7), "deterministic"), (0, 0.05, 0.1, 0)


def negative(rng):
    return Instance(rng.normal(size=4), "gaussian", 0.7), (0, 0.1, 0.2, 0)


#: Instances and targets, by name; those of FEASIBLE have means in [0, 1] and can be met.
FEASIBLE = {
    "five": lambda rng: (Instance(naive.CODE4, "uniform02"), naive.CODE4_TARGETS),
    "two": two,
    "twenty, all protected": twenty_all_protected,
    "always the same": sure,
    "no targets": lambda rng: (Instance(rng.uniform(0.1, 0.9, 6), "uniform02"), (0,) * 6),
    "all alike": lambda rng: (Instance((0.73,) * 10, "deterministic"), (0,) * 10),
    "nearly always one": lambda rng: (Instance((0.95,) * 10), (0.3, *[0] * 9)),
}
SCENARIOS = FEASIBLE | {"zero mean": zero_mean, "negative rewards": negative, "clipped": clipped}
scenarios = pytest.mark.parametrize("scenario", SCENARIOS)


def combined(**options):
    return [dict(zip(options, row, strict=True)) for row in itertools.product(*options.values())]


INDICES = ["post", "pre"]
VARIANTS = {
    "full": [
        *combined(subroutine=["oga"], surrogate_index=INDICES, step_c=[math.sqrt(0.5), 1]),
        *combined(subroutine=["adahedge", "squint"], surrogate_index=INDICES),
    ],
    "ftrl": [
        *combined(subroutine=["ftrl"], surrogate_index=INDICES, gamma_rule=[1, 2]),
        {"subroutine": "ftrl", "tolerance": 1e-5},
    ],
    "exp3p": combined(subroutine=["exp3p"], surrogate_index=INDICES),
}
NO_LOSSES = ("exp3p", "negative rewards")


@pytest.mark.parametrize(
    ("kind", "scenario"),
    [pair for pair in itertools.product(VARIANTS, SCENARIOS) if pair != NO_LOSSES],
)
def test_banditq(kind, scenario, rng):
    feedback, make = ("full", naive.BanditQFull) if kind == "full" else ("bandit", bandit_twin)
    variants = VARIANTS[kind]
    for at in rng.permutation(len(variants))[:3]:
        variant, penalty = variants[at], one_of(rng, *PENALTIES)
        instance, targets = SCENARIOS[scenario](rng)
        policy = BanditQ(targets, feedback, **variant, **PENALTIES[penalty])
        twin = make(list(targets), WEIGHTS[penalty], **variant)
        # the twin of FTRL solves for the shift itself, which is as large as the gains
        rtol = 1e-6 if penalty == "1e6" and kind == "ftrl" else 1e-9
        assert_same_run(policy, twin, instance, ROUNDS, rtol)


def bandit_twin(targets, V, **options):
    options = {"tol" if name == "tolerance" else name: value for name, value in options.items()}
    return naive.BanditQBandit(targets, V, ROUNDS, **options)


@scenarios
@pytest.mark.parametrize(("index", "scale"), [("surrogate", 1), ("max_weight", 1.6)])
def test_queue_ucb(scenario, index, scale, rng):
    penalty = one_of(rng, *PENALTIES)
    instance, targets = SCENARIOS[scenario](rng)
    policy = fb.QueueUCB(targets, index, scale=scale, **PENALTIES[penalty])
    twin = naive_banditq_audit.QueueUCB(list(targets), WEIGHTS[penalty], index, scale)
    assert_same_run(policy, twin, instance, ROUNDS)


@scenarios
def test_learners_of_banditq_alone(scenario, rng):
    instance, _ = SCENARIOS[scenario](rng)
    arms = instance.n_arms
    shares = (rng.multinomial(1000, np.full(arms, 1 / arms)) / 1000).tolist()
    for policy, twin in (
        (fb.EXP3(1.6), naive.Exp3(arms, ROUNDS, 1.6)),
        (fb.Static(shares), naive.StaticOracle(shares)),
        (fb.Hedge(), naive.BanditQFull([0.0] * arms, 1, subroutine="adahedge")),
    ):
        assert_same_run(policy, twin, instance, ROUNDS)


@pytest.mark.parametrize("exponent", [-40, -16, -12, -10, -9, -6, -4, -2, 0, 1, 3, 6])
def test_squint_weights(exponent):
    """Also where rounding alone tells the gains of the arms apart."""
    for variance in (10.0**exponent, 3 * 10.0**exponent):
        for ratio in (-100, -4, -1, -0.5, -1e-9, 0, 1e-9, 0.3, 1, 4, 100):
            regret = ratio * math.sqrt(variance)
            weight = learners._log_evidence(regret, variance)
            expected = naive.squint_log_weight(regret, variance)
            assert weight == pytest.approx(expected, rel=1e-12, abs=1e-9)


def of_banditq(rng, arms, rounds):
    """Return policy and twin by label; FTRL and EXP3 are for rewards in [0, 1]."""
    first_alone = [0.1, *[0.0] * (arms - 1)]
    adaptive = {"gamma_rule": 2, "surrogate_index": "pre"}
    V = math.sqrt(rounds)
    exp3p = naive.BanditQBandit([0.1] * arms, V, rounds, subroutine="exp3p")
    twin = naive.BanditQBandit(first_alone, V, **adaptive)
    return {
        "exp3": (fb.EXP3(), naive.Exp3(arms, rounds)),
        "ftrl": (BanditQ(first_alone), naive.BanditQBandit(first_alone, V)),
        "ftrl, adaptive": (BanditQ(first_alone, **adaptive), twin),
        "exp3p": (BanditQ([0.1] * arms, subroutine="exp3p"), exp3p),
    }


#: An eta without a simple ratio to the quotas, or two indices could differ by rounding only.
LFG_OPTIONS = {
    "default": {},
    "eta 0": {"eta": 0},
    "eta 1": {"eta": 1, "constant": 2.0},
    "uncapped": {"eta": 6.9314718, "cap": None},
    "low cap": {"eta": 3, "cap": 0.8},
    "infinite without pulls": {"eta": 2, "cap": None, "unpulled": None},
    "nothing for infinity": {"eta": 0, "unpulled": None},
}


def options_of_ucb1(rng):
    return {
        "scale": one_of(rng, 1.0, 1.6),
        "clock": one_of(rng, "round", "previous"),
        "ties": one_of(rng, "lowest", "random"),
    }


def of_quotas(rng, arms, rounds):
    """Return policy and twin by label: those without targets, with any options."""
    quotas, fractions = random_quotas(rng, arms), random_quotas(rng, arms)
    tolerance = one_of(rng, 0, 1, "1/2", 0.3, f"{rng.integers(1, 40)}/{rng.integers(10, 30)}")
    first, arrivals = one_of(rng, "learner", "round_robin"), one_of(rng, "after", "before")
    ucb1 = options_of_ucb1(rng)
    epsilon, arm = one_of(rng, 0.0, 0.1, 0.37, 1), int(one_of(rng, 1, -1, arms, -arms))
    pairs = {
        "ucb1": (fb.UCB1(**ucb1), twins.UCB1(arms, **ucb1)),
        "thompson": (fb.Thompson(), twins.Thompson(arms)),
        "epsilon_greedy": (fb.EpsilonGreedy(epsilon), twins.EpsilonGreedy(arms, epsilon)),
        "uniform": (fb.Uniform(), twins.Uniform(arms)),
        "constant": (fb.Constant(arm), twins.Constant(arms, arm)),
        "smallest_deficit": (fb.SmallestDeficit(quotas), twins.SmallestDeficit(quotas)),
        "fair, ucb1 with options": (
            fb.FairLearn(quotas, learner_parameters=ucb1, first_rounds=first),
            twins.FairLearn(quotas, 0, twins.UCB1(arms, **ucb1), first),
        ),
        "fair, lfg": (  # whose own queues see the forced pulls
            fb.FairLearn(quotas, 1, "lfg", {"fractions": fractions, "arrivals": arrivals}),
            twins.FairLearn(quotas, 1, twins.LFG(fractions, arrivals=arrivals)),
        ),
    }
    for label, options in LFG_OPTIONS.items():
        given = options | {"arrivals": arrivals}
        pairs[f"lfg, {label}"] = fb.LFG(quotas, **given), twins.LFG(quotas, **given)
    each = tuple(rng.uniform(0, one_of(rng, 0.2, 1.0, 5.0), arms).tolist())
    penalties, nearly_all = one_of(rng, each, float(each[0]), 1e3), (f"999/{1000 * arms}",) * arms
    for threshold in ("hard", "soft"):
        given = one_of(rng, quotas, nearly_all), penalties, ucb1["clock"], threshold
        pairs[f"ht_ucb, {threshold}"] = fb.HTUCB(*given), naive_ht_ucb.HTUCB(*given)
    for name, (learner, given, twin) in twins.theorem_learners(quotas, rounds).items():
        pairs[f"fair, {name}"] = (
            fb.FairLearn(quotas, tolerance, learner, given, first),
            twins.FairLearn(quotas, tolerance, twin, first),
        )
    return pairs


def of_own_rounds(rng, arms, rounds):
    """Return policy and twin by label: those that count on having chosen all arms themselves."""
    quotas, most = random_quotas(rng, arms), one_of(rng, 0.1, 0.9)
    targets = (rng.uniform(0, most, arms) * (rng.random(arms) < 0.7)).tolist()
    order, ucb1 = one_of(rng, "round_robin", "sequential"), options_of_ucb1(rng)
    twin = twins.TFairLearn(quotas, rounds, twins.UCB1(arms, **ucb1), order)
    pairs = {"t_fair_learn": (fb.TFairLearn(quotas, learner_parameters=ucb1, order=order), twin)}
    for name, (learner, given, twin) in twins.theorem_learners(quotas, rounds).items():
        if name in ("ucb1", "thompson", "uniform", "epsilon_greedy", "last"):
            mixture = twins.Mixture(quotas, twin)
            pairs[f"mixture, {name}"] = fb.Mixture(quotas, learner, given), mixture
    for learner, twin in (("ucb1", twins.UCB1), ("thompson", twins.Thompson)):
        plug_in = twins.PlugIn(targets, twin(arms))
        pairs[f"plug_in, {learner}"] = fb.PlugIn(targets, learner), plug_in
    return pairs


def of_guarantees(rates, rounds):
    """Return policy and twin by label: those for guaranteed reward rates, and KL-UCB."""
    arms = len(rates)
    pairs = {
        "kl_ucb": (fb.KLUCB(), guaranteed.KLUCB(arms)),
        "kl_ucb, 3": (fb.KLUCB(3), guaranteed.KLUCB(arms, 3)),
        "etc, 1/5": (fb.GuaranteeETC(rates, 0.2), guaranteed.GuaranteeETC(rates, rounds, 0.2)),
        "fair": (fb.RewardFairUCB(rates), guaranteed.RewardFairUCB(rates, rounds, arms)),
        "fair, one agent": (fb.RewardFairUCB(), guaranteed.RewardFairUCB([0] * arms, rounds, 1)),
    }
    for name in ("GuaranteeBaseline", "GuaranteeAnytime"):
        pairs[name] = getattr(fb, name)(rates), getattr(guaranteed, name)(rates)
    for name in ("GuaranteeETC", "GuaranteeKnapsack"):
        pairs[name] = getattr(fb, name)(rates), getattr(guaranteed, name)(rates, rounds)
    for options in itertools.product(("mean", "upper", "lower"), (1.5,), ("upper", "normalise")):
        twin = guaranteed.GuaranteeKLUCB(rates, *options)
        pairs[", ".join(options[::2])] = fb.GuaranteeKLUCB(rates, *options), twin
    return pairs


#: Label -> what makes policy and twin, among others, for a number of arms and rounds.
PAIRS = {
    label: make_pairs
    for make_pairs in (of_banditq, of_quotas, of_own_rounds)
    for label in make_pairs(np.random.default_rng(0), 2, 9)
}
#: Kinds of states that nothing else compiles.
INTERPRETED = ("fair, lfg", "mixture", "plug_in")
GUARANTEES = tuple(of_guarantees([0.1, 0], 9))


@drawn.settings
@pytest.mark.parametrize("label", [label for label in PAIRS if PAIRS[label] is not of_banditq])
def test_same_run(label, setting, rng):
    """T-Fair-Learn also where the quotas, rounded up, take more rounds than there are."""
    instance = drawn.instance_of(setting, rng, losses=label != "fair, exp3")
    rounds = max(one_of(rng, 100, 37, 11) if label == "t_fair_learn" else 100, instance.n_arms)
    policy, twin = PAIRS[label](rng, instance.n_arms, rounds)[label]
    compiled = not label.startswith(INTERPRETED)
    history = assert_same_run(policy, twin, instance, rounds, compiled=compiled)
    if getattr(policy, "first_rounds", "learner") == "round_robin" or label.startswith("ht_ucb"):
        arms = range(instance.n_arms)
        assert [record["arm"] for record in history[: len(arms)]] == [*arms]


@pytest.mark.parametrize("label", [label for label in PAIRS if PAIRS[label] is not of_own_rounds])
def test_choices_after_random_histories(label, rng):
    """The policies made to learn from arms and rewards that they did not choose."""
    for arms in (2, 3, 3, 10, 10):
        policy, twin = PAIRS[label](rng, arms, 100)[label]
        history = random_history(rng, arms, 100, rewards=(0.0, 0.5, 1.0))
        assert_same_choices(policy, twin, arms, 100, history)


#: Means and guarantees.
PROBLEMS = {
    "published": ((0.6, 0.7, 0.5), (0.2, 0.1, 0.25)),
    "no gap": ((0.8, 0.9, 0.7), (0.8 / 3, 0.3, 0.7 / 3)),
    "some without": ((0.3, 0.4, 0.95, 0.1), (0, 0.3, 0, 0)),
    "none": ((0.4, 0.5, 0.6), (0, 0, 0)),
    "infeasible": ((0.3, 0.2, 0.9), (0.25, 0.15, 0.4)),
    "far too much": ((0.05, 0.5), (0.3, 0.7)),
    "ties": ((1.0, 0.5, 1.0, 0.0), (0.25, 0, 0.25, 0)),
    "all alike": ((0.9,) * 5, (0.15,) * 5),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("label", GUARANTEES)
def test_guarantees(label, problem):
    means, rates = PROBLEMS[problem]
    for law in ("bernoulli", "uniform02"):
        policy, twin = of_guarantees(rates, ROUNDS)[label]
        assert_same_run(policy, twin, Instance(means, law), ROUNDS, compiled=False)


@pytest.mark.parametrize("arms", [2, 6])
@pytest.mark.parametrize("label", GUARANTEES)
def test_guarantees_after_random_histories(label, arms, rng):
    """Also for rewards outside [0, 1]; on an extreme coin rounding alone would decide."""
    rates = (rng.random(arms) / arms * (rng.random(arms) < 0.7)).tolist()
    history = random_history(rng, arms, ROUNDS, (0.0, 0.5, 1.0, 1.3, -0.2), extreme=0)
    assert_same_choices(*of_guarantees(rates, ROUNDS)[label], arms, ROUNDS, history)
