"""Blocks of replicates give the numbers of one replicate at a time, bit for bit."""

import itertools
import math

import numpy as np
import pytest
from numba import config, njit

from fairbandits import (
    UCB1,
    BanditQ,
    Instance,
    OwnReward,
    PlaysSum,
    QueueSquares,
    RandomInstance,
    Starvation,
    SurrogateGains,
    run,
    simulation,
)
from fairbandits.engine import laws, streams
from fairbandits.engine.lanes import (
    BLOCKS,
    along_lanes,
    block_of,
    block_source,
    fits,
    lane_of,
    new_block,
)
from fairbandits.engine.protocol import learn
from fairbandits.engine.sources import stream_source
from fairbandits.engine.vectors import (
    LANES,
    absolute,
    anywhere,
    every,
    greatest,
    least,
    load,
    logarithm,
    nearest,
    open_units,
    pick,
    put,
    root,
    select,
    store,
    units,
)
from fairbandits.engine.watching import watched
from fairbandits.policies import learners

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

SPREADS = {"gaussian": 0.5, "beta": 4.0}
#: At least one for every branch: clocks of the queue, signs and sizes of the gains, steps so long
#: that all but one arm drop or that nothing moves, no targets.
CASES = {
    "bandit": [
        (5, {}),
        (5, {"gain": 1.0, "gamma_rule": 2, "surrogate_index": "pre", "V_exponent": 0.25}),
        (3, {"V": 0, "tolerance": 1e-5}),
        (7, {"gain": -1e3, "V": 1.0}),
        (2, {"gain": 1e-3, "targets": 0.0}),
    ],
    "full": [
        (5, {}),
        (5, {"gain": 1.0, "surrogate_index": "pre", "step_c": 1}),
        (3, {"V": 0}),
        (7, {"gain": -1e3, "V": 1.0, "step_c": 30.0}),
        (4, {"V": 0, "targets": 0.0}),
        (4, {"step_c": 1e20}),
        (2, {"gain": 1e6}),
    ],
}


SUMS = (QueueSquares(), Starvation(), PlaysSum())
#: What looks on in the cases with a gain; their orders differ, and so do their places.
OBSERVED = {1.0: SUMS, -1e3: SUMS[1:], 1e-3: SUMS[::-1], 1e6: SUMS[2:]}


def policy_of(rng, feedback, arms, targets=None, **parameters):
    """Return a policy with random targets on some of the arms."""
    if targets is None:
        protected = rng.random(arms) < 0.6
        targets = np.where(protected, rng.uniform(0, 1.5 / arms, arms), 0.0)
    else:
        targets = np.full(arms, targets)
    return BanditQ(targets, feedback, **parameters)


def started(policy, observe, arms, horizon):
    """Return the state before the first round, watched where there are observers."""
    state = policy.start(arms, horizon)
    if not observe:
        return state
    observers = [one.start(policy, state, arms, horizon) for one in observe]
    return watched(state, observers, [len(one.probes) for one in (policy, *observe[:-1])])


def instance_of(rng, law, arms):
    return Instance(rng.uniform(0.05, 0.95, arms), law, SPREADS.get(law))


def assert_same_results(together, apart):
    """Compare a run of several replicates with runs of one each."""
    for row, one in enumerate(apart):
        assert together.replicates[row] == one.replicates[0]
        for name, values in one.columns().items():
            ours = together.columns()[name]
            own = ours[row * values.size :][: values.size]
            assert own.dtype == values.dtype
            assert own.tobytes() == values.tobytes(), (name, row)


@compiled_only
@pytest.mark.parametrize("law", laws.CODES)
@pytest.mark.parametrize(
    ("feedback", "case"), [(kind, case) for kind in CASES for case in CASES[kind]], ids=str
)
def test_a_block_gives_what_each_replicate_gives(feedback, case, law, rng):
    arms, parameters = case
    policy = policy_of(rng, feedback, arms, **parameters)
    instance = instance_of(rng, law, arms)
    rounds = 300
    observe = OBSERVED.get(parameters.get("gain"), ())
    assert block_of(started(policy, observe, arms, rounds)) is not None
    options = {"seed": 4, "stream": "lanes", "checkpoints": [1, 2, 17, 100, rounds]}
    options["observe"] = observe
    replicates = [5, 0, 3, 11, 7, 2, 1]
    together = run(policy, instance, rounds, replicates, **options)
    assert_same_results(
        together, [run(policy, instance, rounds, [one], **options) for one in replicates]
    )
    last = run(policy, instance, rounds, replicates[-1:], compiled=False, **options)
    assert together.probes["queue"][-1].tobytes() == last.probes["queue"].tobytes()


@pytest.mark.parametrize("parameters", [{}, {"surrogate_index": "pre"}, {"gain": -2.0}], ids=str)
def test_a_policy_that_sees_its_own_reward_among_all(parameters, rng):
    targets = {"targets": rng.uniform(0, 0.2, 4), **parameters}
    policy, observe = OwnReward("banditq", targets), (SurrogateGains(),)
    instance = instance_of(rng, "uniform02", 4)
    options = {"checkpoints": [1, 12, 1200], "observe": observe}
    if not config.DISABLE_JIT:
        together = run(policy, instance, 1200, 5, **options)
        apart = [run(policy, instance, 1200, [one], **options) for one in range(5)]
        assert_same_results(together, apart)
    loop = BLOCKS["full"]
    whole = block_run(policy, instance, [0, 15], loop, observe)
    assert whole == block_run(policy, instance, [0, 1, 2, 15], loop, observe)
    interpreted = getattr(loop, "py_func", loop)
    assert whole == block_run(policy, instance, [0, 15], interpreted, observe)


@compiled_only
@pytest.mark.parametrize("feedback", CASES)
@pytest.mark.parametrize("arms", [5, 60])
def test_long_runs(feedback, arms, rng):
    policy = policy_of(rng, feedback, arms)
    instance = RandomInstance(arms, 0.05, 0.95, law="bernoulli")
    options = {"seed": 1, "checkpoints": [10, 5000, 20_000], "observe": SUMS}
    together = run(policy, instance, 20_000, LANES, **options)
    apart = [run(policy, instance, 20_000, [one], **options) for one in range(LANES)]
    assert_same_results(together, apart)


@compiled_only
@pytest.mark.parametrize("feedback", CASES)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 9, 11, 16, 21])
def test_any_number_of_replicates(feedback, count, rng, monkeypatch):
    blocks = []

    def counted(*arguments):
        blocks.append(1)
        return BLOCKS[feedback](*arguments)

    monkeypatch.setattr(simulation, "BLOCKS", {feedback: counted})
    policy = policy_of(rng, feedback, 3)
    instance = instance_of(rng, "uniform02", 3)
    together = run(policy, instance, 60, count, checkpoints=[30, 60])
    assert len(blocks) == count // LANES + (count % LANES >= 3)
    apart = [run(policy, instance, 60, [one], checkpoints=[30, 60]) for one in range(count)]
    assert_same_results(together, apart)


@compiled_only
def test_without_a_form_for_blocks_replicates_run_one_by_one(rng, monkeypatch):
    monkeypatch.setattr(simulation, "BLOCKS", {})
    targets = (0.1, 0.0, 0.05)
    instance = instance_of(rng, "bernoulli", 3)
    others = [
        BanditQ(targets, subroutine="exp3p"),
        BanditQ(targets, "full", "adahedge"),
        BanditQ(targets, "full", "squint", gain=2),
        UCB1(ties="random"),
    ]
    for policy in others:
        assert block_of(policy.start(3, 50)) is None
        assert block_of(started(policy, (Starvation(),), 3, 50)) is None
    full = BanditQ(targets, "full")
    assert block_of(started(full, (Starvation(), SurrogateGains()), 3, 50)) is None
    assert block_of(object()) is None  # the state of a policy in plain Python
    together = run(others[-1], instance, 50, LANES, checkpoints=[50])
    apart = [run(others[-1], instance, 50, [one], checkpoints=[50]) for one in range(LANES)]
    assert_same_results(together, apart)
    run(BanditQ(targets), instance, 50, LANES, checkpoints=[50], compiled=False)


@compiled_only
@pytest.mark.parametrize("too_much", [{"quotas": (f"1/{2**20 + 1}", 0, 0)}, {"horizon": 101}])
def test_what_is_not_exact_in_lanes_runs_one_by_one(too_much, rng, monkeypatch):
    monkeypatch.setattr(simulation, "BLOCKS", {})
    monkeypatch.setattr(simulation, "MOST_ROUNDS", 100)
    policy, instance = policy_of(rng, "bandit", 3), instance_of(rng, "bernoulli", 3)
    options = {"horizon": 50, "checkpoints": [50], "quotas": ("1/3", 0, 0)} | too_much
    together = run(policy, instance, replicates=LANES, compiled=True, **options)
    apart = [run(policy, instance, replicates=[one], compiled=True, **options) for one in range(8)]
    assert_same_results(together, apart)
    assert fits(2**20)


@compiled_only
@pytest.mark.parametrize("arms", [2, 3, 8, 20])
@pytest.mark.parametrize("count", [5, LANES])
def test_a_block_follows_deficits(arms, count, rng):
    """All of the pulls but a few are owed, of one arm none."""
    policy = policy_of(rng, "bandit", arms)
    instance = instance_of(rng, "bernoulli", arms)
    quotas = [f"{one}/{arms**2 // 2}" for one in rng.permutation(arms)]
    options = {"checkpoints": [1, 2, 3, 100, 3000], "quotas": quotas, "compiled": True}
    together = run(policy, instance, 3000, count, **options)
    apart = [run(policy, instance, 3000, [one], **options) for one in range(count)]
    assert_same_results(together, apart)
    assert (together.deficits["deficit_sup"] >= together.deficits["deficit"]).all()


def block_run(policy, instance, cuts, loop, observe):
    """Return the record and the state's arrays after playing the pieces between the cuts."""
    horizon = cuts[-1]
    means = np.array(instance.means)
    source = block_source(
        [
            stream_source(instance.law, means, instance.spread, 5, "pieces", lane)
            for lane in range(LANES)
        ]
    )
    state = block_of(started(policy, observe, means.size, horizon))
    checkpoints = np.unique([1, 2, horizon // 2, horizon - 1, horizon])
    n_probes = sum(len(one.probes) for one in (policy, *observe))
    quotas = (range(means.size), means.size**2) if policy.feedback == "bandit" else None
    record = new_block(means.size, checkpoints, n_probes, quotas)
    with np.errstate(all="ignore"):  # interpreted, NumPy tells of words that wrap
        for start, stop in itertools.pairwise(cuts):
            loop(state, source, record, start, stop)
    return [array.tobytes() for array in (*arrays_of(record), *arrays_of(state))]


def arrays_of(state):
    if isinstance(state, np.ndarray):
        return [state]
    parts = state if isinstance(state, tuple) else ()
    return [array for part in parts for array in arrays_of(part)]


@pytest.mark.parametrize("law", laws.CODES)
@pytest.mark.parametrize(
    ("feedback", "case"), [(kind, case) for kind in CASES for case in CASES[kind][:4]], ids=str
)
def test_blocks_in_pieces_compiled_and_interpreted(feedback, case, law, rng):
    arms, parameters = case
    policy = policy_of(rng, feedback, arms, **parameters)
    instance = instance_of(rng, law, arms)
    loop = BLOCKS[feedback]
    observe = OBSERVED.get(parameters.get("gain"), ())
    whole = block_run(policy, instance, [0, 40], loop, observe)
    assert whole == block_run(policy, instance, [0, 1, 2, 20, 21, 40], loop, observe)
    assert whole == block_run(policy, instance, [0, 40], getattr(loop, "py_func", loop), observe)


def test_lanes_of_a_record(rng):
    record = new_block(3, np.array([4, 9]), 2)
    for array in (record.plays_at, record.rewards_at, record.probes_at, record.deficit_sup_at):
        array[...] = rng.integers(0, 9, array.shape)
    for lane in range(LANES):
        for feedback, kind in (("bandit", np.int64), ("full", np.float64)):
            copies = lane_of(record, lane, feedback)
            assert copies.plays_at.dtype == kind
            for name in copies._fields:
                expected = getattr(record, name)[..., lane]
                assert getattr(copies, name).tolist() == expected.tolist()


# The learners by themselves, on gains of any sign and size.

LEARNERS = {
    "oga": lambda arms: learners.oga(arms, math.sqrt(0.5)),
    "oga-scaled": lambda arms: learners.scaled(learners.oga(arms, 1.0), -0.3),
    "ftrl": lambda arms: learners.ftrl(arms, False, 1e-10),
    "ftrl-adaptive": lambda arms: learners.ftrl(arms, True, 1e-5),
    "ftrl-scaled": lambda arms: learners.scaled(learners.ftrl(arms, False, 1e-10), -1e3),
}


@njit
def learn_all(learner, t, g, gains):
    for k in range(g.shape[0]):
        store(gains, k, learner.factor * load(g, k))
    learn(learner, t, None, gains)


@njit
def learn_own(learner, t, arms, g):
    learn(learner, t, load(arms, 0), learner.factor * load(g, 0))


def narrow(learner):
    return learner.learner if isinstance(learner, learners.Scaled) else learner


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_on_random_gains(name, rng):
    full = name.startswith("oga")
    for arms in (2, 3, 5, 24, 150):
        ones = [LEARNERS[name](arms) for _ in range(LANES)]
        block = block_of(LEARNERS[name](arms))
        for t in range(1, 40):
            g = rng.exponential(10.0 ** rng.integers(-2, 5, LANES), (arms, LANES))
            if rng.random() < 0.3:
                g = np.minimum(np.round(g), 2.0)  # ties and zeros
            if rng.random() < 0.3:
                g *= rng.choice([-1.0, 1.0], LANES)
            pulled = rng.integers(arms, size=LANES)
            for lane, one in enumerate(ones):
                if full:
                    learners.ascend(one, g[:, lane].copy())
                else:
                    learners.absorb(one, t, int(pulled[lane]), float(g[pulled[lane], lane]))
            with np.errstate(all="ignore"):
                if full:
                    learn_all(block, t, g, np.zeros_like(g))
                else:
                    own = g[pulled, np.arange(LANES)][None, :]
                    learn_own(block, t, pulled[None, :].astype(float), own)
            for lane, one in enumerate(ones):
                for field, value in narrow(one)._asdict().items():
                    if isinstance(value, np.ndarray) and field not in ("gaps", "moved"):
                        ours = getattr(block, field)[:, lane]
                        assert ours.tobytes() == value.tobytes(), (arms, t, field)


# Vectors.

SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, 1e-160, 0.1)

ONE = {
    "neg": lambda a: -a,
    "root": lambda a: root(absolute(a)),
    "absolute": lambda a: absolute(a),
    "nearest": lambda a: nearest(a) + nearest(a / 2),
    "number_right": lambda a: (a + 1.5) * 3 - 0.1,
    "number_left": lambda a: 1.5 / (2 - a),
    "logarithm": lambda a: logarithm(select((a > 0.0) & (a < math.inf), a, 1.0)),
    "every": lambda a: every(2) + every(0.5) * a,
}
TWO = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "greatest": lambda a, b: greatest(a, b),
    "least": lambda a, b: least(a, b),
    "lt": lambda a, b: select(a < b, a, b),
    "le": lambda a, b: select(a <= b, a, 0.25),
    "gt": lambda a, b: select(a > b, a, b),
    "ge": lambda a, b: select(a >= b, 0.25, b),
    "eq": lambda a, b: select(a == b, 1.0, 0.0),
    "and": lambda a, b: select((a > 0.5) & (b > 0.5), a, b),
    "or": lambda a, b: select((a > 0.5) | (b > 0.5), a, b),
    "not": lambda a, b: select(~(a > b), a, b),
}


def numbers(rng, rows=200):
    """Return rows of random numbers of all sizes, and the special ones."""
    values = rng.normal(size=(rows, LANES)) * 10.0 ** rng.integers(-20, 20, (rows, LANES))
    special = rng.random((rows, LANES)) < 0.4
    return np.where(special, rng.choice(SPECIAL, (rows, LANES)), values)


def bits_or_nan(values):
    """Return bits; of what is not a number only that it is none, since its sign is free."""
    return np.where(np.isnan(values), np.nan, values).tobytes()


@compiled_only
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_vectors_are_numpys(name, rng):
    function = njit(ONE.get(name) or TWO[name])
    binary = name in TWO

    def apply_one(a, out):
        for k in range(out.shape[0]):
            store(out, k, function(load(a, k)))

    def apply_two(a, b, out):
        for k in range(out.shape[0]):
            store(out, k, function(load(a, k), load(b, k)))

    a, b = numbers(rng), numbers(rng)
    ours, theirs = np.zeros_like(a), np.zeros_like(a)
    given = (a, b) if binary else (a,)
    loop = njit(apply_two if binary else apply_one, error_model="numpy")
    loop(*given, ours)
    with np.errstate(all="ignore"):
        for k in range(len(a)):
            theirs[k] = function.py_func(*(one[k] for one in given))
    assert bits_or_nan(ours) == bits_or_nan(theirs)


def test_greatest_and_least_are_pythons(rng):
    a, b = numbers(rng), numbers(rng)
    for ours, python in ((greatest(a, b), max), (least(a, b), min)):
        for value, x, y in zip(ours.ravel(), a.ravel(), b.ravel(), strict=True):
            assert np.array(value).tobytes() == np.array(python(x, y)).tobytes()


@njit
def words_and_rows(words, rows, other, out):
    z = (load(words, 0) ^ (load(words, 0) >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    store(words, 1, z + load(words, 0))
    store(out, 0, units(load(words, 1)))
    store(out, 1, pick(other, load(rows, 0)))
    store(out, 2, units(pick(words, load(rows, 1))))
    store(out, 3, open_units(load(words, 1)))
    return anywhere(load(rows, 0) > 3.0), anywhere(load(rows, 0) > 4.0)


def test_words_and_rows(rng):
    words = rng.integers(0, streams.MASK, (2, LANES), dtype=np.uint64, endpoint=True)
    words[0, 0] = streams.MASK
    rows = np.array([[0, 4, 2, 1, 3, 0, 2, 1], [0, 1, 1, 0, 0, 0, 1, 1]], float)
    other, out = rng.random((5, LANES)), np.zeros((4, LANES))
    given = words[0].tolist()
    with np.errstate(over="ignore"):
        found = words_and_rows(words, rows, other, out)
    assert found == (True, False)
    mixed = [((w ^ (w >> 30)) * 0xBF58_476D_1CE4_E5B9 + w) & streams.MASK for w in given]
    assert words[1].tolist() == mixed
    assert out[0].tolist() == [streams.unit(w) for w in mixed]
    assert out[1].tolist() == [other[int(row), lane] for lane, row in enumerate(rows[0])]
    picked = [words[int(row), lane] for lane, row in enumerate(rows[1])]
    assert out[2].tolist() == [streams.unit(w) for w in picked]
    assert out[3].tolist() == [streams.open_unit(w) for w in mixed]


@njit
def put_rows(array, rows, values, out, words):
    put(array, load(rows, 0), load(values, 0))
    put(words, load(rows, 0), pick(words, load(rows, 1)))
    store(out, 0, pick(array, load(rows, 0)))


def test_put_writes_one_entry_of_each_lane(rng):
    rows = rng.permuted(np.tile(np.arange(5.0)[:, None], LANES), axis=0)[:2].copy()
    array, values, out = rng.random((5, LANES)), rng.random((1, LANES)), np.zeros((1, LANES))
    words = rng.integers(0, streams.MASK, (5, LANES), dtype=np.uint64, endpoint=True)
    expected, expected_words = array.copy(), words.copy()
    for lane, (row, other) in enumerate(rows.astype(int).T):
        expected[row, lane] = values[0, lane]
        expected_words[row, lane] = words[other, lane]
    put_rows(array, rows, values, out, words)
    assert array.tolist() == expected.tolist()
    assert words.tolist() == expected_words.tolist()
    assert out.tolist() == values.tolist()


def test_arrays_along_lanes_begin_where_vectors_like_it():
    for size in (1, 5, 64):
        array = along_lanes([np.arange(size)] * LANES)
        assert array.ctypes.data % 64 == 0
        assert array.shape == (size, LANES)
        assert (array == np.arange(size)[:, None]).all()
