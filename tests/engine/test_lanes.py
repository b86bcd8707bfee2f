"""Blocks of replicates give the numbers of one replicate at a time, bit for bit."""

import itertools
import math

import numpy as np
import pytest
from numba import config, njit

from fairbandits import (
    HTUCB,
    BanditQ,
    EpsilonGreedy,
    FairLearn,
    FairXUCB,
    Instance,
    OwnReward,
    PlaysSum,
    QueueSquares,
    RandomInstance,
    Starvation,
    SurrogateGains,
    run,
)
from fairbandits.engine import laws, streams, vectors
from fairbandits.engine.lanes import along_lanes, block_of, fits, lane_of
from fairbandits.engine.loops import LOOPS, new_record
from fairbandits.engine.sources import stream_source
from fairbandits.engine.vectors import LANES, Rows, Vector, with_lane
from fairbandits.engine.watching import watched
from fairbandits.engine.width import (
    absolute,
    anywhere,
    greatest,
    least,
    log,
    nearest,
    no,
    ratio,
    sqrt,
    where,
    whole,
    whole_part,
)
from fairbandits.library import simulation
from fairbandits.library.simulation import Setting, run_each

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
#: What looks on in the cases with a gain, in either order where the gain is 1 and where it is not.
OBSERVED = {1.0: SUMS} | dict.fromkeys((-1e3, 1e-3, 1e6), SUMS[::-1])


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
    assert block_of([started(policy, observe, arms, rounds)] * LANES) is not None
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
    loop = LOOPS["full"]
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


def counted(feedback, monkeypatch):
    """Return a list that will hold for each loop played whether it was a block, `Rows`."""
    played = []

    def play(state, source, record, start, stop):
        played.append(type(record.plays))
        return LOOPS[feedback](state, source, record, start, stop)

    monkeypatch.setattr(simulation, "LOOPS", {feedback: play})
    return played


@compiled_only
@pytest.mark.parametrize("feedback", CASES)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 9, 11, 16, 21])
def test_any_number_of_replicates(feedback, count, rng, monkeypatch):
    played = counted(feedback, monkeypatch)
    policy = policy_of(rng, feedback, 3)
    instance = instance_of(rng, "uniform02", 3)
    together = run(policy, instance, 60, count, checkpoints=[30, 60])
    assert played.count(Rows) == count // LANES + (count % LANES >= 3)
    apart = [run(policy, instance, 60, [one], checkpoints=[30, 60]) for one in range(count)]
    assert_same_results(together, apart)


@compiled_only
def test_without_a_form_for_blocks_replicates_run_one_by_one(rng, monkeypatch):
    played = counted("bandit", monkeypatch)
    targets = (0.1, 0.0, 0.05)
    instance = instance_of(rng, "bernoulli", 3)
    others = [
        BanditQ(targets, subroutine="exp3p"),
        BanditQ(targets, "full", "adahedge"),
        BanditQ(targets, "full", "squint", gain=2),
        EpsilonGreedy(),
    ]
    for policy in others:
        assert block_of([policy.start(3, 50)] * LANES) is None
        assert block_of([started(policy, (Starvation(),), 3, 50)] * LANES) is None
    assert block_of([object()] * LANES) is None  # the state of a policy in plain Python
    together = run(others[-1], instance, 50, LANES, checkpoints=[50])
    apart = [run(others[-1], instance, 50, [one], checkpoints=[50]) for one in range(LANES)]
    assert_same_results(together, apart)
    run(BanditQ(targets), instance, 50, LANES, checkpoints=[50], compiled=False)
    assert Rows not in played


@compiled_only
@pytest.mark.parametrize("too_much", [{"quotas": (f"1/{2**20 + 1}", 0, 0)}, {"horizon": 101}])
def test_what_is_not_exact_in_lanes_runs_one_by_one(too_much, rng, monkeypatch):
    played = counted("bandit", monkeypatch)
    monkeypatch.setattr(simulation, "MOST_ROUNDS", 100)
    policy, instance = policy_of(rng, "bandit", 3), instance_of(rng, "bernoulli", 3)
    options = {"horizon": 50, "checkpoints": [50], "quotas": ("1/3", 0, 0)} | too_much
    together = run(policy, instance, replicates=LANES, compiled=True, **options)
    apart = [run(policy, instance, replicates=[one], compiled=True, **options) for one in range(8)]
    assert_same_results(together, apart)
    assert fits(2**20)
    assert Rows not in played


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
    source = block_of(
        [
            stream_source(instance.law, means, instance.spread, 5, "pieces", lane)
            for lane in range(LANES)
        ]
    )
    state = block_of([started(policy, observe, means.size, horizon)] * LANES)
    checkpoints = np.unique([1, 2, horizon // 2, horizon - 1, horizon])
    n_probes = sum(len(one.probes) for one in (policy, *observe))
    quotas = (range(means.size), means.size**2) if policy.feedback == "bandit" else None
    record = new_record(policy.feedback, means.size, checkpoints, n_probes, quotas)
    record = block_of([record] * LANES)
    for start, stop in itertools.pairwise(cuts):
        loop(state, source, record, start, stop)
    return [array.tobytes() for array in (*arrays_of(record), *arrays_of(state))]


def arrays_of(state):
    if isinstance(state, np.ndarray | Rows):
        return [getattr(state, "array", state)]
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
    loop = LOOPS[feedback]
    observe = OBSERVED.get(parameters.get("gain"), ())
    whole = block_run(policy, instance, [0, 40], loop, observe)
    assert whole == block_run(policy, instance, [0, 1, 2, 20, 21, 40], loop, observe)
    assert whole == block_run(policy, instance, [0, 40], getattr(loop, "py_func", loop), observe)


def test_lanes_of_a_record(rng):
    for feedback, kind in (("bandit", np.int64), ("full", np.float64)):
        one = new_record(feedback, 3, np.array([4, 9]), 2)
        block = block_of([one] * LANES)
        for rows in (block.plays_at, block.rewards_at, block.probes_at, block.deficit_sup_at):
            rows.array[...] = rng.integers(0, 9, rows.array.shape)
        for lane in range(LANES):
            copies = lane_of(block, lane, one)
            assert copies.plays_at.dtype == kind
            for name in ("plays_at", "rewards_at", "probes_at", "deficit_sup_at"):
                expected = getattr(block, name).array[..., lane]
                assert getattr(copies, name).tolist() == expected.tolist()


def test_lanes_can_differ(rng):
    """Each lane has the targets of its own."""
    instance = instance_of(rng, "uniform02", 4)
    policies = [BanditQ(rng.uniform(0.01, 0.2, 4), "full") for _ in range(LANES)]
    means, checkpoints = np.array(instance.means), np.array([30, 60])
    sources = [stream_source("uniform02", means, 0.0, 3, "s", one) for one in range(LANES)]
    record = new_record("full", 4, checkpoints, 4)
    several = block_of([record] * LANES)
    state = block_of([policy.start(4, 60) for policy in policies])
    LOOPS["full"](state, block_of(sources), several, 0, 60)
    options = {"seed": 3, "stream": "s", "checkpoints": checkpoints}
    for lane, policy in enumerate(policies):
        own = run(policy, instance, 60, [lane], **options)
        assert lane_of(several, lane, record).rewards_at.tobytes() == own.rewards[0].tobytes()
    assert block_of([BanditQ((0.1,) * n).start(n, 60) for n in (2, 3) * 4]) is None
    assert block_of([BanditQ((0.1, 0), V=v).start(2, 60) for v in range(LANES)]) is None


def own_quotas(rng, i):
    quotas = [f"{part}/100" for part in rng.integers(0, 20, 4)]
    return Setting(FairLearn(quotas, tolerance=i), (Starvation(),), quotas)


def own_penalties(rng, i):
    return Setting(HTUCB([f"{i}/97", "1/8", 0, 0], rng.random(4)))


def own_means(rng, i):
    released = {"version": "released", "quotas": (0.2, 0.3)}
    return Setting(FairXUCB((2, 2), **released, shadow_means=rng.random(4)))


@pytest.mark.parametrize("make", [own_quotas, own_penalties, own_means])
def test_replicates_with_settings_of_their_own(make, rng, monkeypatch):
    settings = [make(rng, i) for i in range(LANES + 1)]
    played = counted("bandit", monkeypatch)
    options = {"seed": 1, "stream": "own", "checkpoints": [10, 500], "compiled": True}
    instance = instance_of(rng, "bernoulli", 4)
    together = run_each(settings, instance, 500, range(LANES + 1), **options)
    assert config.DISABLE_JIT or played == [Rows, np.ndarray]
    for i, (policy, observe, quotas) in enumerate(settings):
        options |= {"quotas": quotas, "observe": observe, "compiled": False}
        assert_same_results(together[i], [run(policy, instance, 500, [i], **options)])


# Vectors.

SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, 1e-160, 0.1)

ONE = {
    "neg": lambda a: -a,
    "sqrt": lambda a: sqrt(absolute(a)),
    "absolute": lambda a: absolute(a),
    "nearest": lambda a: nearest(a) + nearest(a / 2),
    "number_right": lambda a: (a + 1.5) * 3 - 0.1,
    "number_left": lambda a: 1.5 / (2 - a),
    "log": lambda a: log(where((a > 0.0) & (a < math.inf), a, 1.0)),
    "whole": lambda a: whole(where((a > 0.0) & (a < math.inf), a, 1.0)),
    "whole_part": lambda a: whole_part(where(absolute(a) < 1e15, nearest(a), 7.0), 3),
    "lanes": lambda a: with_lane(a, 3, vectors.lane(a, 2) + 1.0),
}
TWO = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "greatest": lambda a, b: greatest(a, b),
    "least": lambda a, b: least(a, b),
    "ratio": lambda a, b: ratio(a, b),
    "lt": lambda a, b: where(a < b, a, b),
    "le": lambda a, b: where(a <= b, a, 0.25),
    "gt": lambda a, b: where(a > b, a, b),
    "ge": lambda a, b: where(a >= b, 0.25, b),
    "eq": lambda a, b: where(a == b, 1.0, 0.0),
    "ne": lambda a, b: where(a != b, 1.0, 0.0),
    "and": lambda a, b: where((a > 0.5) & (b > 0.5), a, b),
    "and_true": lambda a, b: where((a > 0.5) & True, a, b),
    "or": lambda a, b: where((a > 0.5) | (b > 0.5), a, b),
    "no": lambda a, b: where(no(a > b), a, b),
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
        for k in range(len(out)):
            out[k] = function(a[k])

    def apply_two(a, b, out):
        for k in range(len(out)):
            out[k] = function(a[k], b[k])

    a, b = Rows(numbers(rng)), Rows(numbers(rng))
    ours, theirs = Rows(np.zeros_like(a.array)), Rows(np.zeros_like(a.array))
    given = (a, b) if binary else (a,)
    loop = njit(apply_two if binary else apply_one, error_model="numpy")
    loop(*given, ours)
    with np.errstate(all="ignore"):
        for k in range(len(a)):
            theirs[k] = function.py_func(*(one[k] for one in given))
    assert bits_or_nan(ours.array) == bits_or_nan(theirs.array)


def test_greatest_and_least_are_pythons(rng):
    a, b = numbers(rng).view(Vector), numbers(rng).view(Vector)
    for ours, python in ((greatest(a, b), max), (least(a, b), min)):
        for value, x, y in zip(ours.ravel(), a.ravel(), b.ravel(), strict=True):
            assert np.array(value).tobytes() == np.array(python(x, y)).tobytes()


@njit
def words_and_rows(words, rows, other, out):
    words[1] = streams.mixed(words[0])
    out[0] = streams.unit(words[1])
    out[1] = other[rows[0]]
    out[2] = streams.unit(words[rows[1]])
    out[3] = streams.open_unit(words[1])
    return anywhere(rows[0] > 3.0), anywhere(rows[0] > 4.0)


def test_words_and_rows(rng):
    words = Rows(rng.integers(0, streams.MASK, (2, LANES), dtype=np.uint64, endpoint=True))
    words.array[0, 0] = streams.MASK
    rows = np.array([[0, 4, 2, 1, 3, 0, 2, 1], [0, 1, 1, 0, 0, 0, 1, 1]], float)
    other, out = rng.random((5, LANES)), np.zeros((4, LANES))
    given = words.array[0].tolist()
    found = words_and_rows(words, Rows(rows), Rows(other), Rows(out))
    assert found == (True, False)
    mixed = [streams.mixed(w) for w in given]
    assert words.array[1].tolist() == mixed
    assert out[0].tolist() == [streams.unit(w) for w in mixed]
    assert out[1].tolist() == [other[int(row), lane] for lane, row in enumerate(rows[0])]
    picked = [words.array[int(row), lane] for lane, row in enumerate(rows[1])]
    assert out[2].tolist() == [streams.unit(w) for w in picked]
    assert out[3].tolist() == [streams.open_unit(w) for w in mixed]


@njit
def put_rows(array, rows, values, out, words):
    array[rows[0]] = values[0]
    words[rows[0]] = words[rows[1]]
    out[0] = array[rows[0]]
    out[1:][0] = 0.5


def test_a_row_of_its_own_for_each_lane(rng):
    rows = rng.permuted(np.tile(np.arange(5.0)[:, None], LANES), axis=0)[:2].copy()
    array, values, out = rng.random((5, LANES)), rng.random((1, LANES)), np.zeros((2, LANES))
    words = rng.integers(0, streams.MASK, (5, LANES), dtype=np.uint64, endpoint=True)
    expected, expected_words = array.copy(), words.copy()
    for lane, (row, other) in enumerate(rows.astype(int).T):
        expected[row, lane] = values[0, lane]
        expected_words[row, lane] = words[other, lane]
    put_rows(*map(Rows, (array, rows, values, out, words)))
    assert array.tolist() == expected.tolist()
    assert words.tolist() == expected_words.tolist()
    assert out.tolist() == [*values.tolist(), [0.5] * LANES]


def test_a_vector_never_changes():
    rows = Rows(np.ones((2, LANES)))
    one = same = rows[0]
    one += 1.0
    assert same.tolist() == [1.0] * LANES
    assert one.tolist() == [2.0] * LANES
    assert rows.array.tolist() == np.ones((2, LANES)).tolist()


def test_arrays_along_lanes_begin_where_vectors_like_it():
    for size in (1, 5, 64):
        array = along_lanes([np.arange(size)] * LANES)
        assert array.ctypes.data % 64 == 0
        assert array.shape == (size, LANES)
        assert (array == np.arange(size)[:, None]).all()
