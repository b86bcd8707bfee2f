"""Blocks of replicates give the numbers of one replicate at a time, bit for bit."""

import math

import numpy as np
import pytest
from numba import config, njit

import fairbandits as fb
from examples import TARGETS, instance_of
from fairbandits.engine import loops, streams, width
from fairbandits.engine.elementary import log
from fairbandits.engine.lanes import block_of
from fairbandits.engine.vectors import LANES, Rows, Vector
from fairbandits.engine.watching import watched
from fairbandits.library import simulation
from fairbandits.library.simulation import Setting, columns_of, play

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def counted(feedback, monkeypatch):
    """Return a list that will hold for each loop played whether it was a block, `Rows`."""
    played = []

    def play(state, source, record, start, stop):
        played.append(type(record.plays))
        return loops.LOOPS[feedback](state, source, record, start, stop)

    monkeypatch.setattr(simulation, "LOOPS", {feedback: play})
    return played


@compiled_only
@pytest.mark.parametrize("feedback", ["bandit", "full"])
def test_any_number_of_replicates(feedback, monkeypatch):
    played = counted(feedback, monkeypatch)
    policy, instance = fb.BanditQ(TARGETS, feedback), instance_of("uniform02", 5)
    alone = [fb.run(policy, instance, 60, [k], checkpoints=[30, 60]) for k in range(21)]
    for count in (1, 2, 3, 4, 8, 9, 10, 11, 16, 21):
        played.clear()
        together = fb.run(policy, instance, 60, count, checkpoints=[30, 60])
        enough = 2 if count > LANES else 3
        assert played.count(Rows) == count // LANES + (count % LANES >= enough)
        for name, values in together.columns().items():
            apart = np.concatenate([result.columns()[name] for result in alone[:count]])
            assert values.tobytes() == apart.tobytes(), name


FINE = (f"1/{2**20 + 1}", 0, "1/2")
#: Multiples must be exact, and a learner must not change when a lane asks it in vain.
WITHOUT = {
    "exp3p": fb.BanditQ((0.1, 0, 0.05), subroutine="exp3p"),
    "squint": fb.BanditQ((0.1, 0, 0.05), "full", "squint", gain=2),
    "epsilon-greedy": fb.EpsilonGreedy(),
    "fine-lfg": fb.LFG(FINE),
    "fine-fair": fb.FairLearn(FINE),
    "fine-ht": fb.HTUCB(FINE, 1),
    "fine-bf": fb.BFUCB((1, 1, 1), FINE),
    "fine-bf-uncut": fb.BFUCB((1, 1, 1), FINE, box="uncut"),
    "fine-gef": fb.GroupUCB((1, 1, 1), FINE),
    "thompson": fb.FairLearn((0.3, 0, 0.3), learner="thompson"),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_without_a_block(name):
    policy = WITHOUT[name]
    state = policy.start(3, 10**8)
    assert block_of([state] * LANES) is None
    seen = watched(state, [fb.Starvation().start(policy, state, 3, 10**8)], [len(policy.probes)])
    assert block_of([seen] * LANES) is None
    assert block_of([object()] * LANES) is None  # the state of a policy in plain Python


@compiled_only
@pytest.mark.parametrize("than", [{"quotas": FINE}, {"horizon": 101}, {"compiled": False}], ids=str)
def test_what_is_not_exact_in_lanes_runs_one_by_one(than, monkeypatch):
    """Quotas and rounds of a run too, and what is interpreted."""
    played = counted("bandit", monkeypatch)
    monkeypatch.setattr(simulation, "MOST_ROUNDS", 100)
    options = {"horizon": 50, "checkpoints": [50], "compiled": True} | than
    fb.run(fb.BanditQ((0.1, 0, 0)), instance_of("bernoulli", 3), replicates=LANES, **options)
    assert played
    assert Rows not in played


def own_quotas(rng, i):
    quotas = [f"{part}/100" for part in rng.integers(0, 20, 4)]
    return Setting(fb.FairLearn(quotas, tolerance=i), (fb.PlaysSum(),), quotas)


def own_penalties(rng, i):
    return Setting(fb.HTUCB([f"{i}/97", "1/8", 0, 0], rng.random(4)))


def own_means(rng, i):
    released = {"version": "released", "quotas": (0.2, 0.3)}
    return Setting(fb.FairXUCB((2, 2), **released, shadow_means=rng.random(4)))


@pytest.mark.parametrize("make", [own_quotas, own_penalties, own_means])
def test_replicates_with_settings_of_their_own(make, rng, monkeypatch):
    settings = [make(rng, i) for i in range(LANES + 1)]
    played = counted("bandit", monkeypatch)
    options = {"seed": 1, "stream": "own", "checkpoints": [10, 500], "compiled": True}
    instance = instance_of("bernoulli", 4)
    together = play(settings, instance, 500, range(LANES + 1), **options)
    columns = columns_of(together)
    assert config.DISABLE_JIT or played == [Rows, np.ndarray]
    for i, (policy, observe, quotas) in enumerate(settings):
        options |= {"quotas": quotas, "observe": observe, "compiled": False}
        alone = fb.run(policy, instance, 500, [i], **options).columns()
        mine = columns["replicate"] == i
        for name, values in alone.items():
            assert columns[name][mine].tobytes() == values.tobytes(), name


SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, 1e-160, 0.1)

ONE = {
    "neg": lambda a: -a,
    "sqrt": lambda a: width.sqrt(width.absolute(a)),
    "absolute": lambda a: width.absolute(a),
    "nearest": lambda a: width.nearest(a) + width.nearest(a / 2),
    "number_right": lambda a: (a + 1.5) * 3 - 0.1,
    "number_left": lambda a: 1.5 / (2 - a),
    "log": lambda a: log(a),
    "whole": lambda a: width.whole(width.where((a > 0.0) & (a < math.inf), a, 1.0)),
    "whole_part": lambda a: width.whole_part(
        width.where(width.absolute(a) < 1e15, width.nearest(a), 7.0), 3
    ),
    "lanes": lambda a: width.with_lane(a, 3, width.lane(a, 2) + 1.0),
}
TWO = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "greatest": lambda a, b: width.greatest(a, b),
    "least": lambda a, b: width.least(a, b),
    "ratio": lambda a, b: width.ratio(a, b),
    "lt": lambda a, b: width.where(a < b, a, b),
    "le": lambda a, b: width.where(a <= b, a, 0.25),
    "gt": lambda a, b: width.where(a > b, a, b),
    "ge": lambda a, b: width.where(a >= b, 0.25, b),
    "eq": lambda a, b: width.where(a == b, 1.0, 0.0),
    "ne": lambda a, b: width.where(a != b, 1.0, 0.0),
    "and": lambda a, b: width.where((a > 0.5) & (b > 0.5), a, b),
    "and_true": lambda a, b: width.where((a > 0.5) & True, a, b),
    "or": lambda a, b: width.where((a > 0.5) | (b > 0.5), a, b),
    "no": lambda a, b: width.where(width.no(a > b), a, b),
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
    njit(apply_two if binary else apply_one, error_model="numpy")(*given, ours)
    with np.errstate(all="ignore"):
        for k in range(len(a)):
            theirs[k] = function.py_func(*(argument[k] for argument in given))
    assert bits_or_nan(ours.array) == bits_or_nan(theirs.array)


def test_greatest_and_least_are_pythons(rng):
    a, b = numbers(rng).view(Vector), numbers(rng).view(Vector)
    for ours, python in ((width.greatest(a, b), max), (width.least(a, b), min)):
        for value, x, y in zip(ours.ravel(), a.ravel(), b.ravel(), strict=True):
            assert np.array(value).tobytes() == np.array(python(x, y)).tobytes()


@njit
def put_rows(array, rows, values, out, coins):
    array[rows[0]] = values[0]
    coins[rows[0]] = coins[rows[1]]
    out[0] = array[rows[0]]
    out[1:][0] = 0.5


def test_a_row_of_its_own_for_each_lane(rng):
    rows = rng.permuted(np.tile(np.arange(5.0)[:, None], LANES), axis=0)[:2].copy()
    array, values, out = rng.random((5, LANES)), rng.random((1, LANES)), np.zeros((2, LANES))
    coins = rng.integers(0, streams.MASK, (5, LANES), dtype=np.uint64, endpoint=True)
    expected, expected_words = array.copy(), coins.copy()
    for lane, (row, other) in enumerate(rows.astype(int).T):
        expected[row, lane] = values[0, lane]
        expected_words[row, lane] = coins[other, lane]
    put_rows(*map(Rows, (array, rows, values, out, coins)))
    assert array.tolist() == expected.tolist()
    assert coins.tolist() == expected_words.tolist()
    assert out.tolist() == [*values.tolist(), [0.5] * LANES]


def test_a_vector_never_changes():
    rows = Rows(np.ones((2, LANES)))
    lane = same = rows[0]
    lane += 1.0
    assert same.tolist() == [1.0] * LANES
    assert lane.tolist() == [2.0] * LANES
    assert rows.array.tolist() == np.ones((2, LANES)).tolist()


@pytest.mark.parametrize(("start", "passed"), [(0, 0), (2, 1), (4, 1), (9, 2)])
def test_checkpoints_before_a_piece_are_passed(start, passed):
    """Also when a run goes on after the last of them."""
    assert loops._passed(np.array([2, 5]), start) == passed
