"""The compiled code gives the interpreter's numbers, bit for bit."""

import itertools
import math

import numpy as np
import pytest
from numba import config, njit

import naive
from fairbandits import (
    BFUCB,
    EXP3,
    HTUCB,
    KLUCB,
    LFG,
    UCB1,
    BanditQ,
    BanditQInequalities,
    Constant,
    EpsilonGreedy,
    FairLearn,
    FairLearnDeficits,
    FairXUCB,
    GroupDeficits,
    GroupOracle,
    GroupUCB,
    GuaranteeAnytime,
    GuaranteeBaseline,
    GuaranteeETC,
    GuaranteeKLUCB,
    GuaranteeKnapsack,
    Hedge,
    InitialPhase,
    Instance,
    MeritRegret,
    Mixture,
    OptionalPulls,
    OwnReward,
    PlaysSum,
    PlugIn,
    Prophet,
    QueueSquares,
    QueueUCB,
    Resampled,
    RewardFairUCB,
    SmallestDeficit,
    Starvation,
    Static,
    SurrogateGains,
    TFairLearn,
    Thompson,
    Uniform,
    run,
)
from fairbandits.engine import laws, normal, streams, width
from fairbandits.engine.loops import LOOPS, new_record
from fairbandits.engine.sources import StreamSource, TapeSource, stream_source
from fairbandits.engine.watching import watched
from fairbandits.observers import OBSERVERS
from fairbandits.policies import POLICIES, learners, merit, simplex

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

ROUNDS = 200
MEANS = (0.3352, 0.2031, 0.7816, 0.0625, 0.6177)
TARGETS = (0.1, 0.05, 0, 0.01, 0)
TOO_MUCH = (0.2, 0.2, 0, 0.05, 0.5)  # for these means
QUOTAS = (0.1, "1/7", 0, "2/9", 0.05)
SHARES = (0.1, 0.9, 0.0, 0.6, 1.0)  # means as a policy may be told
INSTANCES = {
    "uniform02": Instance(MEANS, "uniform02"),
    "uniform02_clipped": Instance(MEANS, "uniform02_clipped"),
    "bernoulli": Instance((*MEANS[:4], 0.0)),
    "gaussian": Instance(MEANS, "gaussian", 0.5),
    "beta": Instance(MEANS, "beta"),
    "deterministic": Instance(MEANS, "deterministic"),
}

#: At least one example of every registered policy; a policy without one fails the tests below.
#: Each type of a state is compiled anew, in seconds; readings are run-time values of it. So what
#: has a learner has a cheap one here, Fair-Learn also UCB1 and itself. How a learner plays is
#: tested with the learner by itself, and how blocks of replicates play in tests/engine.
EXAMPLES = {
    "banditq": [
        BanditQ(TARGETS),
        BanditQ(TARGETS, gamma_rule=2, surrogate_index="pre", V_exponent=0.25),
        BanditQ(TARGETS, V=0, tolerance=1e-5),
        BanditQ(TARGETS, subroutine="exp3p"),
        BanditQ(TARGETS, subroutine="exp3p", V=0, surrogate_index="pre"),
        BanditQ(TARGETS, feedback="full"),
        BanditQ(TARGETS, feedback="full", step_c=1, surrogate_index="pre", V=0),
        BanditQ(TARGETS, feedback="full", subroutine="adahedge"),
        BanditQ(TARGETS, feedback="full", subroutine="adahedge", V=0, surrogate_index="pre"),
        BanditQ(TARGETS, feedback="full", subroutine="squint"),
        BanditQ(TARGETS, subroutine="exp3p", gain=0.3),
        BanditQ(TARGETS, gamma_rule=2, V=0, gain=-1e3),
        BanditQ(TARGETS, feedback="full", gain=1e-3),
        BanditQ(TARGETS, "full", "adahedge", gain=-2),
        BanditQ(TARGETS, feedback="full", subroutine="squint", V=1e6),
    ],
    "bf_ucb": [
        BFUCB((3, 2), (0.4, "1/3")),
        BFUCB((3, 2), (0.4, 0.4), version="released"),
        BFUCB((1, 4), (0, 0), None, width="horizon", box="exact"),
        BFUCB((5,), (0.5,), policy_from="mean", draw="released"),
        BFUCB((3, 2), (0.1, 0.2), box="uncut"),
        BFUCB((2, 2, 1), (0.1, 0.2, 0.3), merit_parameter=2, box="exact", learner="random"),
        BFUCB((2, 3), (0.1, 0.2), merit="exponential", merit_parameter=2, learner="least_owed"),
        BFUCB((2, 3), (0.1, 0.2), merit_parameter=0.5, learner="first"),
        BFUCB((2, 3), (0.1, 0.2), merit_parameter=1.7, box="exact"),
    ],
    "constant": [Constant(), Constant(-1)],
    "epsilon_greedy": [EpsilonGreedy(), EpsilonGreedy(0), EpsilonGreedy(1)],
    "exp3": [EXP3(2.0), EXP3(2.0, gamma=1)],
    "fair_learn": [
        FairLearn(QUOTAS),
        FairLearn(QUOTAS, "5/2", first_rounds="round_robin"),
        FairLearn(QUOTAS, 1, learner_parameters={"clock": "own", "ties": "random"}),
        FairLearn(QUOTAS, 1, "fair_learn", {"quotas": (0.1, 0, 0, 0, "1/7"), "learner": "uniform"}),
    ],
    "fairx_ucb": [
        FairXUCB((3, 2)),
        FairXUCB((3, 2), version="released", quotas=(0.4, 0.4), shadow_means=SHARES),
        FairXUCB((3, 2), box="uncut"),
        FairXUCB((2, 3), counts="bf_ucb", quotas=(0.1, 0.4), shadow_means=SHARES),
        FairXUCB((4, 1), None, clock="round", width="released"),
    ],
    "group_oracle": [
        GroupOracle((3, 2), (0.4, 0.4), SHARES),
        GroupOracle((3, 2), (0.4, 0.4), SHARES, "uniform", "floor"),
        GroupOracle((3, 2), (0.4, 0.4), SHARES, "best", merit="exponential"),
    ],
    "group_ucb": [
        GroupUCB((3, 2)),
        GroupUCB((3, 2), (0.4, 0.4)),
        GroupUCB((3, 2), ("1/3", 0.1), version="released"),
        GroupUCB((1, 4), index="paper", cap=True, ties="random"),
    ],
    "guarantee_anytime": [GuaranteeAnytime(TARGETS), GuaranteeAnytime(TOO_MUCH)],
    "guarantee_baseline": [GuaranteeBaseline(TARGETS), GuaranteeBaseline(TOO_MUCH, 2)],
    "guarantee_etc": [GuaranteeETC(TARGETS), GuaranteeETC(TOO_MUCH, 0.1)],
    "guarantee_kl_ucb": [
        *(GuaranteeKLUCB(TARGETS, estimate) for estimate in ("mean", "upper", "lower")),
        GuaranteeKLUCB(TOO_MUCH, constant=0.1),
        GuaranteeKLUCB(TOO_MUCH, "lower", excess="normalise"),
    ],
    "guarantee_knapsack": [GuaranteeKnapsack(TARGETS), GuaranteeKnapsack((0,) * 5)],
    "hedge": [Hedge()],
    "ht_ucb": [
        HTUCB(QUOTAS, 0.3),
        HTUCB(QUOTAS, (0.3, 0, 2.5, 1, 0.1), "previous", "soft", "random"),
    ],
    "kl_ucb": [KLUCB(), KLUCB(3.03)],
    "lfg": [
        LFG(("1/3", 0.1, 0, 0.25, 0)),
        LFG(QUOTAS, arrivals="before", ties="random"),
        LFG((0.1,) * 5, eta=1, constant=2, cap=None, weights=(1, 2, 0, 1, 0.5)),
    ],
    "mixture": [Mixture(QUOTAS, "thompson"), Mixture((0,) * 5, "thompson")],
    "own_reward": [OwnReward("thompson"), OwnReward("banditq", {"targets": TARGETS})],
    "plug_in": [PlugIn(TARGETS, "thompson"), PlugIn((0,) * 5, "thompson")],
    "prophet": [Prophet(MEANS, QUOTAS, 0.5)],
    "queue_ucb": [
        QueueUCB(TARGETS),
        QueueUCB(TARGETS, "max_weight", scale=1.6),
        QueueUCB(TARGETS, "max_weight", V=0),
    ],
    "resampled": [
        Resampled("thompson"),
        Resampled("fair_learn", {"quotas": QUOTAS, "tolerance": 1, "learner": "uniform"}),
    ],
    "reward_fair_ucb": [RewardFairUCB(), RewardFairUCB(TARGETS), RewardFairUCB(TOO_MUCH)],
    "static": [Static((0.2, "1/3", 0, "1/3", "2/15"))],
    "smallest_deficit": [SmallestDeficit(QUOTAS)],
    "t_fair_learn": [TFairLearn(QUOTAS), TFairLearn(QUOTAS, order="sequential")],
    "thompson": [Thompson(), Thompson((0.3, 2.5))],
    "ucb1": [UCB1(), UCB1(1.6, "previous", "random"), UCB1(clock="own")],
    "uniform": [Uniform()],
}

SUMS = (QueueSquares(), Starvation(), PlaysSum())
INEQUALITIES = (BanditQInequalities(MEANS),)
SURROGATES = (SurrogateGains(),)
DEFICITS = (FairLearnDeficits(),)
OF_GROUPS = (InitialPhase(), GroupDeficits(), OptionalPulls())
MERIT = (MeritRegret(SHARES), *OF_GROUPS)
NINE_FIFTIETHS = ("9/50",) * 5
#: At least one example of every registered observer, with a policy to watch: one type of what is
#: watched for every form that the observer has.
WATCHED = {
    "banditq_inequalities": [
        (BanditQ(TARGETS, "full"), INEQUALITIES),
        (BanditQ(TARGETS, "full", V=0, surrogate_index="pre", step_c=1), INEQUALITIES),
    ],
    "fair_learn_deficits": [
        (FairLearn(QUOTAS), DEFICITS),
        (FairLearn(QUOTAS, "5/2", first_rounds="round_robin"), DEFICITS),
        (FairLearn(("2/5", "1/4", "1/9", "1/9", "1/9"), 0), DEFICITS),
        (FairLearn(NINE_FIFTIETHS, 1), DEFICITS),
    ],
    "group_deficits": [(GroupUCB((3, 2), ("1/3", 0.1), version="released"), OF_GROUPS)],
    "initial_phase": [(FairXUCB((3, 2)), (InitialPhase(),))],
    "merit_regret": [
        (BFUCB((3, 2), (0.4, 0.4), version="released"), MERIT),
        (BFUCB((1, 4), (0, 0), None, width="horizon", box="exact"), MERIT),
        (BFUCB((2, 3), (0.1, 0.2), draw="released", merit="exponential"), MERIT),
        (BFUCB((3, 2), (0.1, 0.2), box="uncut"), MERIT),
    ],
    "optional_pulls": [
        (BFUCB((2, 2, 1), (0.1, 0.2, 0.3), learner="random"), MERIT),
        (GroupUCB((3, 2)), OF_GROUPS),
    ],
    "plays_sum": [(Uniform(), (Starvation(), PlaysSum())), (Hedge(), (PlaysSum(),))],
    "queue_squares": [
        (BanditQ(TARGETS), SUMS),
        (BanditQ(TARGETS, gamma_rule=2, V=0, gain=-1e3), SUMS[::-1]),
        (BanditQ(TARGETS, "full", V=0, surrogate_index="pre"), SUMS),
    ],
    "starvation": [(Uniform(), (Starvation(), PlaysSum())), (BanditQ(TARGETS, "full"), SUMS)],
    "surrogate_gains": [
        (BanditQ(TARGETS, "full"), SURROGATES),
        (OwnReward("banditq", {"targets": TARGETS}), SURROGATES),
        (
            OwnReward("banditq", {"targets": TARGETS, "V": 0, "surrogate_index": "pre"}),
            SURROGATES,
        ),
    ],
}
CASES = {name: [(policy, ()) for policy in policies] for name, policies in EXAMPLES.items()}
CASES |= {f"{name}, watching": cases for name, cases in WATCHED.items()}


def assert_same_bits(a, b):
    assert a.plays.dtype == b.plays.dtype
    assert a.plays.tobytes() == b.plays.tobytes()
    assert a.rewards.tobytes() == b.rewards.tobytes()
    assert a.probes.keys() == b.probes.keys()
    for name in a.probes:
        assert a.probes[name].tobytes() == b.probes[name].tobytes(), name


def assert_same_records(a, b):
    for name in a._fields:
        assert np.asarray(getattr(a, name)).tobytes() == np.asarray(getattr(b, name)).tobytes(), (
            name
        )


def arrays_of(state):
    """Return copies of all arrays inside a state, in order."""
    if isinstance(state, np.ndarray):
        return [state.copy()]
    if isinstance(state, tuple):
        return [array for part in state for array in arrays_of(part)]
    return []


def played(policy, source, cuts, loop, observe=()):
    """Return the record and the state's arrays after playing the blocks between the cuts."""
    horizon = cuts[-1]
    state = policy.start(len(MEANS), horizon)
    n_probes = [len(one.probes) for one in (policy, *observe)]
    if observe:
        observers = [one.start(policy, state, len(MEANS), horizon) for one in observe]
        state = watched(state, observers, n_probes[:-1])
    checkpoints = np.unique(np.array([1, 2, 3, horizon // 2, horizon - 1, horizon]))
    record = new_record(policy.feedback, len(MEANS), checkpoints, sum(n_probes))
    for start, stop in itertools.pairwise(cuts):
        loop(state, source(start, stop), record, start, stop)
    return record, arrays_of(state)


def streamed(law, replicate=0):
    instance = INSTANCES[law]
    means = np.array(instance.means)
    source = stream_source(law, means, instance.spread, 5, "blocks", replicate)
    return lambda start, stop: source


def test_examples_cover_the_registry():
    assert EXAMPLES.keys() == POLICIES.keys()
    for name, examples in EXAMPLES.items():
        assert {type(example) for example in examples} == {POLICIES[name]}
    assert WATCHED.keys() == OBSERVERS.keys()
    for name, examples in WATCHED.items():
        assert all(OBSERVERS[name] in map(type, observe) for _, observe in examples)


def test_instances_cover_the_laws():
    assert INSTANCES.keys() == laws.CODES.keys()


@compiled_only
@pytest.mark.parametrize("law", laws.CODES)
@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same(name, law):
    for policy, observe in CASES[name]:
        options = {"seed": 9, "stream": "bits", "checkpoints": [1, 2, 17, 100, ROUNDS]}
        options["observe"] = observe
        compiled = run(policy, INSTANCES[law], ROUNDS, [0, 3], compiled=True, **options)
        interpreted = run(policy, INSTANCES[law], ROUNDS, [0, 3], compiled=False, **options)
        assert np.isfinite(compiled.rewards).all()
        assert_same_bits(compiled, interpreted)


@pytest.mark.parametrize("name", CASES)
def test_blocks_are_the_same_as_one_call(name):
    for policy, observe in CASES[name]:
        loop = LOOPS[policy.feedback]
        source = streamed("uniform02")
        record, state = played(policy, source, [0, 60], loop, observe)
        for cuts in ([0, 1, 2, 3, 30, 31, 60], [0, 29, 60], [0, 59, 60], list(range(61))):
            other_record, other_state = played(policy, source, cuts, loop, observe)
            assert_same_records(record, other_record)
            assert [a.tobytes() for a in state] == [a.tobytes() for a in other_state]


@compiled_only
@pytest.mark.parametrize("name", CASES)
def test_states_are_the_same_after_a_run(name):
    for policy, observe in CASES[name]:
        loop = LOOPS[policy.feedback]
        source = streamed("beta", 1)
        record, state = played(policy, source, [0, ROUNDS], loop, observe)
        other_record, other_state = played(policy, source, [0, ROUNDS], loop.py_func, observe)
        assert_same_records(record, other_record)
        assert [a.tobytes() for a in state] == [a.tobytes() for a in other_state]


# A tape, as the replays use it.


def tape(rng, rounds):
    """Return a source for blocks of rounds, and all its uniforms, scales and coins."""
    uniforms = rng.random((rounds, len(MEANS)))
    scale = 2 * np.array(MEANS)
    coins = rng.integers(0, streams.MASK, rounds, dtype=np.uint64, endpoint=True)

    def source(start, stop):
        return TapeSource(start, uniforms[start:stop].copy(), scale, coins[start:stop].copy())

    return source, uniforms, scale, coins


TAPED = [BanditQ(TARGETS, tolerance=1e-5), BanditQ(TARGETS, feedback="full")]


@pytest.mark.parametrize("policy", TAPED, ids=["bandit", "full"])
def test_tape_in_blocks_compiled_and_interpreted(policy, rng):
    loop = LOOPS[policy.feedback]
    source, *_ = tape(rng, 90)
    record, state = played(policy, source, [0, 90], loop)
    for cuts, other in (([0, 90], getattr(loop, "py_func", loop)), ([0, 1, 45, 46, 90], loop)):
        other_record, other_state = played(policy, source, cuts, other)
        assert_same_records(record, other_record)
        assert [a.tobytes() for a in state] == [a.tobytes() for a in other_state]


def test_tape_gives_the_naive_run(rng):
    rounds = 90
    source, uniforms, scale, coins = tape(rng, rounds)
    bandit, full = TAPED
    penalty = math.sqrt(rounds)
    record, _ = played(bandit, source, [0, rounds], LOOPS["bandit"])
    history = naive.banditq_bandit(
        MEANS,
        TARGETS,
        rounds,
        penalty,
        lambda t, n, arm: scale[arm] * uniforms[t - 1, arm],
        lambda t: naive.unit(int(coins[t - 1])),
        tol=1e-5,
    )
    assert record.plays.tolist() == history[-1]["pulls"]
    np.testing.assert_allclose(record.rewards, history[-1]["accrued"], rtol=1e-12)
    np.testing.assert_allclose(record.probes_at[-1, 0], history[-1]["queue"], rtol=1e-9, atol=1e-12)

    record, _ = played(full, source, [0, rounds], LOOPS["full"])
    history = naive.banditq_full(
        MEANS, TARGETS, rounds, penalty, lambda t, arm: scale[arm] * uniforms[t - 1, arm]
    )
    np.testing.assert_allclose(record.rewards, history[-1]["accrued"], rtol=1e-9)
    np.testing.assert_allclose(record.probes_at[-1, 0], history[-1]["queue"], rtol=1e-9, atol=1e-12)


def test_tape_of_a_stream_is_the_stream():
    rounds = 50
    policy = TAPED[1]
    addressed = streamed("uniform02")(0, rounds)
    assert isinstance(addressed, StreamSource)
    keys = list(zip(addressed.base.tolist(), addressed.gamma.tolist(), strict=True))
    uniforms = np.array(
        [[streams.unit(streams.word(*key, t)) for key in keys] for t in range(1, 51)]
    )
    taped = TapeSource(0, uniforms, 2 * np.array(MEANS), np.zeros(rounds, np.uint64))
    record, _ = played(policy, lambda *_: addressed, [0, rounds], LOOPS["full"])
    other, _ = played(policy, lambda *_: taped, [0, rounds], LOOPS["full"])
    assert_same_records(record, other)


# The kernels by themselves, on inputs of all sizes.


def both(function):
    """Return a check that a kernel gives the same bits compiled and interpreted."""
    compiled = njit(function)

    def check(*arguments):
        ours, theirs = ([_copied(a) for a in arguments] for _ in range(2))
        assert _bits(compiled(*ours)) == _bits(function(*theirs)), arguments
        for mine, other in zip(ours, theirs, strict=True):
            assert _bits(mine) == _bits(other), arguments

    return check


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _bits(value):
    if isinstance(value, tuple):
        return tuple(_bits(part) for part in value)
    return None if value is None else np.asarray(value).tobytes()


def sizes(rng, count=30):
    """Return some random lengths of vectors."""
    return [1, 2, 3, 5, 8, 17, 64, *rng.integers(1, 200, count).tolist()]


def vectors(rng, scales=(1e-8, 1.0, 1e8)):
    """Return random vectors, some of them with ties and zeros."""
    for size in sizes(rng):
        vector = rng.normal(size=size) * rng.choice(scales)
        yield np.round(vector, 1) if rng.random() < 0.3 else vector


def distribution(rng, size):
    return rng.dirichlet(np.full(size, 0.3))


@compiled_only
def test_quantile(rng):
    check = both(lambda p: normal.quantile(p))
    for p in [*rng.random(2000), *(10.0 ** -rng.uniform(0, 300, 300)), 0.5, 0.075, 0.925]:
        check(float(p))


@compiled_only
def test_gamma_draws(rng):
    check = both(lambda w, j, shape: laws._gamma(w, j, shape))
    words = rng.integers(0, streams.MASK, 500, dtype=np.uint64, endpoint=True)
    for w, shape in zip(words, 10.0 ** rng.uniform(-1.5, 3, words.size), strict=True):
        check(w, int(rng.integers(0, 9)), float(shape))


@compiled_only
def test_copies(rng):
    assign = both(lambda out, values: width.assign(out, values))
    fill = both(lambda out, value: width.fill(out, value))
    largest = both(lambda values: width.largest(values))
    for vector in vectors(rng):
        assign(np.zeros(vector.size), vector)
        fill(vector, 0.25)
        largest(vector)


@compiled_only
def test_sample(rng):
    check = both(lambda x, coin: simplex.sample(x, coin))
    coins = rng.integers(0, streams.MASK, 40, dtype=np.uint64, endpoint=True)
    for size in sizes(rng):
        x = distribution(rng, size)
        for coin in (*coins, np.uint64(0), np.uint64(streams.MASK)):
            check(x, coin)


@compiled_only
def test_merit_kernels(rng):
    vertex = both(lambda *arguments: merit.best_vertex(*arguments))
    for size in sizes(rng):
        lower, upper = np.sort(rng.random((2, size)), axis=0)
        for kind, c in ((0, 1.0), (0, 0.0), (0, 0.5), (0, 2.0), (0, 1.3), (1, 2.0)):
            vertex(lower, upper, size, kind, c, np.zeros(size))


@compiled_only
def test_log_barrier_shift(rng):
    check = both(lambda gaps, start, tol: simplex.log_barrier_shift(gaps, start, tol))
    for vector in vectors(rng, (1e-8, 1.0, 1e4, 1e12)):
        gaps = vector - vector.min()
        check(gaps, rng.choice([0.01, 1.0, float(gaps.size), 1e3]), rng.choice([1e-10, 1e-5]))


@compiled_only
def test_mass_and_logs(rng):
    check = both(lambda gaps, p: simplex.mass_and_logs(gaps, 0.0, p))
    for size in sizes(rng):
        check(10.0 ** rng.uniform(-70, 70, size), 10.0 ** rng.uniform(-70, 70, size))


@compiled_only
def test_learner_formulas(rng):
    mix = both(lambda gains, rate: learners._mix(gains, rate))
    evidence = both(lambda regret, variance: learners._log_evidence(regret, variance))
    erfcx = both(lambda x: learners._erfcx(x))
    raised = both(lambda bound, size: learners._raise_bound(bound, size))
    for vector in vectors(rng):
        mix(vector, rng.choice([math.inf, 1e-3, 1.0, 1e3]))
    for _ in range(2000):
        variance = 10.0 ** rng.uniform(-6, 6)
        evidence(float(rng.normal(scale=3) * math.sqrt(variance)), float(variance))
        erfcx(float(10.0 ** rng.uniform(-6, 3)))
        raised(np.array([rng.choice([0.0, 1.0, 3.7])]), float(rng.exponential(10)))


LEARNERS = {
    "oga": lambda arms: learners.oga(arms, math.sqrt(0.5)),
    "adahedge": learners.adahedge,
    "squint": learners.squint,
    "ftrl": lambda arms: learners.ftrl(arms, False, 1e-10),
    "ftrl-adaptive": lambda arms: learners.ftrl(arms, True, 1e-5),
    "exp3p": lambda arms: learners.exp3p(arms, 100, 0.01),
    "oga-scaled": lambda arms: learners.scaled(learners.oga(arms, 1.0), -0.3),
    "ftrl-scaled": lambda arms: learners.scaled(learners.ftrl(arms, False, 1e-10), -1e3),
}


@njit
def ascend(learner, g):
    learners.ascend(learner, g)


@njit
def absorb(learner, t, arm, g):
    learners.absorb(learner, t, arm, g)


@compiled_only
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_on_random_gains(name, rng):
    full = name.partition("-")[0] in ("oga", "adahedge", "squint")
    step = learners.ascend if full else learners.absorb
    compiled = ascend if full else absorb
    for arms in (2, 3, 5, 24, 150):
        ours, theirs = LEARNERS[name](arms), LEARNERS[name](arms)
        for t in range(1, 60):
            g = rng.exponential(10.0 ** rng.integers(-2, 5), arms)
            if rng.random() < 0.3:
                g = np.minimum(np.round(g), 2.0)  # ties and zeros
            if full:
                compiled(ours, g)
                step(theirs, g)
            else:
                arm = int(rng.integers(arms))
                compiled(ours, t, arm, float(g[arm]))
                step(theirs, t, arm, float(g[arm]))
            for mine, other in zip(arrays_of(ours), arrays_of(theirs), strict=True):
                assert mine.tobytes() == other.tobytes(), t
