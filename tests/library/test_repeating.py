"""A replicate depends on its address alone: what draws on anything else is refused."""

import copy
import itertools
import multiprocessing
import os
import random
import threading
import time
import uuid
from collections import Counter
from functools import lru_cache, partial
from types import SimpleNamespace

import numpy as np
import pytest

import fairbandits as fb
from fairbandits.library import repeating
from plain import Plain

ARMS = fb.Instance((0.7, 0.5, 0.4))
GENERATOR, TURNS, STARTS = np.random.default_rng(3), itertools.cycle([0, 1, 2, 2]), Counter()
DRAW = random.Random(1).getrandbits


class Own(Plain):
    """Pulls the arm that a function of state and round names."""

    def __init__(self, pick=lambda state, t: t):
        self.pick, self.seen = pick, []
        self.held = SimpleNamespace(numbers=iter(range(10**6)))

    def start(self, n_arms, horizon):
        STARTS[Own] += 1
        fresh = super().start(n_arms, horizon)
        fresh.start_number = STARTS[Own]
        return fresh

    def choose(self, t, coin):
        return self.pick(self, t) % self.n_arms

    def learn(self, t, arm, reward):
        self.seen.append(reward)


class Shares(Own):
    """The same under full information."""

    feedback = "full"

    def choose(self, t, coin):
        x = np.ones(self.n_arms)
        x[self.pick(self, t) % self.n_arms] += 1
        return x / x.sum()


class Holding(Own):
    """Keeps a generator, the same in all replicates."""

    def __init__(self, keep):
        super().__init__(lambda state, t: t)
        self.keep = keep

    def start(self, n_arms, horizon):
        fresh = super().start(n_arms, horizon)
        fresh.tools = self.keep(np.random.default_rng(1))
        return fresh


class Slots:
    __slots__ = ("chance",)

    def __init__(self, chance):
        self.chance = chance


class Reporting(Own):
    probes = ("now",)

    def probe(self, out):
        out[:] = time.perf_counter_ns()


class Clock:
    """An observer that reports the time from some round on."""

    probes = ("time",)

    def __init__(self, first=10**6):
        self.first, self.t = first, 0

    def start(self, policy, state, n_arms, horizon):
        return Clock(self.first)

    def watch(self, state, t, action, reward):
        self.t = t

    def report(self, state, out):
        out[:] = time.perf_counter_ns() if self.t >= self.first else 0


def counting():
    count = 0

    def pick(state, t):
        nonlocal count
        count += 1
        return count // 7

    return pick


@lru_cache
def drawn_once(t):
    return uuid.uuid4().int


HERE = {
    "a generator of the module": lambda state, t: int(GENERATOR.integers(3)),
    "time": lambda state, t: time.perf_counter_ns() // 100,
    "the system's chance": lambda state, t: os.urandom(1)[0],
    "uuid": lambda state, t: uuid.uuid4().int,
    "late chance": lambda state, t: 0 if t < 40 else uuid.uuid4().int,
    "id": lambda state, t: id(state) // 16,
    "a shared iterator": lambda state, t: next(TURNS),
    "an iterator in an object": lambda state, t: next(state.held.numbers) // 7,
    "a shared list": lambda state, t: len(state.seen) // 7,
    "a counter of starts": lambda state, t: state.start_number,
    "nonlocal": counting(),
    "a bound method": lambda state, t: DRAW(2),
}
ELSEWHERE = {
    "a hash of a text": lambda state, t: hash(f"arm {t}"),
    "the order of a set": lambda state, t: int(list({f"arm {k}" for k in range(9)})[t % 9][-1]),
    # with the round, as two numbers can name the same arm
    "the process": lambda state, t: hash((os.getpid(), t)),
    "the thread": lambda state, t: hash((threading.get_native_id(), t)),
    "a cache": lambda state, t: drawn_once(t),
}


@pytest.mark.parametrize("kind", [Own, Shares])
@pytest.mark.parametrize("pick", HERE.values(), ids=HERE)
def test_what_differs_in_one_process_is_refused(pick, kind):
    with pytest.raises(ValueError, match=rf"^{kind.__name__} acts otherwise in round \d+ when .*"):
        fb.run(kind(pick), ARMS, 60, [4, 2], checkpoints=[60])


def test_the_first_round_that_differs_is_named():
    with pytest.raises(ValueError, match="when replicate 4 is played again, as if by") as caught:
        fb.run(Own(HERE["late chance"]), ARMS, 900, [4, 2], checkpoints=[900])
    replicate, at = caught.value.place.split(", round ")
    assert replicate == "replicate 4"
    assert 40 <= int(at) < 60


@pytest.mark.parametrize("pick", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_differs_between_processes_is_refused_if_there_are_several(pick, monkeypatch):
    monkeypatch.setattr(repeating, "_same_elsewhere", set())
    with pytest.raises(ValueError, match=r"Own acts otherwise in round .* in another process"):
        fb.run(Own(pick), ARMS, 60, 4, n_jobs=2)


def test_a_class_is_asked_elsewhere_once(monkeypatch):
    monkeypatch.setattr(repeating, "_same_elsewhere", set())
    alone = fb.run(Own(), ARMS, 60, 4)
    assert (fb.run(Own(), ARMS, 60, 4, n_jobs=2).plays == alone.plays).all()
    monkeypatch.setattr(repeating, "_asked_elsewhere", None)
    assert (fb.run(Own(lambda state, t: t), ARMS, 60, 4, n_jobs=2).plays == alone.plays).all()
    for pick, observe in ((lambda state, t: 2 * t, ()), (lambda state, t: t, [Clock()])):
        with pytest.raises(TypeError, match="'NoneType' object is not callable"):
            fb.run(Own(pick), ARMS, 60, 4, n_jobs=2, observe=observe)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Holding(lambda chance: {"chance": [chance]}), r"self.tools\['chance'\]\[0\], which"),
        *(
            (Holding(keep), "Holding keeps a generator in self.tools")
            for keep in (
                Slots,
                lambda chance: chance.integers,
                lambda chance: partial(chance.integers, 3),
                lambda chance: lambda: chance.random(),
            )
        ),
        (Reporting(), "Reporting reports otherwise in round 60"),
    ],
)
def test_chance_that_is_kept_or_reported_is_refused(policy, says):
    with pytest.raises(ValueError, match=says):
        fb.run(policy, ARMS, 60, 2, checkpoints=[60])


@pytest.mark.parametrize(("policy", "observe"), [(Reporting(), ()), (fb.UCB1(), [Clock(900)])])
def test_what_is_reported_is_compared_in_a_long_run_too(policy, observe):
    with pytest.raises(ValueError, match="reports otherwise in round 1000 when replicate 0"):
        fb.run(policy, ARMS, 1200, 2, observe=observe, checkpoints=[1200])


class Compiled:
    """Learns into an array that all replicates share, or draws in compiled code."""

    feedback = "bandit"

    def __init__(self):
        self.sums = np.zeros(1)

    def start(self, n_arms, horizon):
        return copy.copy(self)

    def choose(self, t, coin):
        return int(self.sums[0]) % 3

    def learn(self, t, arm, reward):
        self.sums[0] += reward


def test_what_compiled_code_shares_is_refused():
    with pytest.raises(ValueError, match="Compiled acts otherwise in round"):
        fb.run(fb.compiled(Compiled()), ARMS, 600, 2, checkpoints=[600])


@pytest.mark.parametrize("policy", [fb.UCB1(), Own()], ids=["ours", "plain"])
def test_a_world_pays_by_its_coins_alone(policy):
    world = fb.World(lambda arm, number, coin: GENERATOR.random(), means=(0.5, 0.5))
    with pytest.raises(ValueError, match=r"is paid otherwise in round 1 when .* pay that takes"):
        fb.run(policy, world, 60, 2, checkpoints=[60])
    tides = fb.World.moving(lambda t: (0.5, 0.2 + 0.2 * GENERATOR.random()))
    with pytest.raises(ValueError, match="otherwise in round"):
        fb.run(policy, tides, 60, 2, checkpoints=[60])


class Fine(Own):
    """Looks at the clock, and draws by the coin."""

    def choose(self, t, coin):
        self.took = time.perf_counter()
        chance = np.random.default_rng(coin)
        return int(chance.integers(self.n_arms)) + 0 * hash((t, 3))


def test_what_does_not_decide_is_no_matter():
    assert fb.run(Fine(), ARMS, 60, 2).plays.sum() > 0


def test_ours_are_not_played_again(monkeypatch):
    monkeypatch.setattr(repeating, "_told", None)
    fb.run(fb.UCB1(), ARMS, 60, 2)


class Drawing(Clock):
    def start(self, policy, state, n_arms, horizon):
        return Drawing()

    def watch(self, state, t, action, reward):
        random.random()


@pytest.mark.parametrize(
    ("policy", "instance", "observe", "says"),
    [
        (fb.UCB1(), ARMS, [fb.Starvation(), Drawing()], "Drawing"),
        (Own(), ARMS, [Drawing()], "Own or Drawing"),
        (fb.Delayed(fb.UCB1(), 3), ARMS, [Drawing()], "Drawing"),
        (fb.UCB1(), fb.World(lambda arm, number, coin: random.random(), (0.5, 0.5)), (), "World"),
        (Own(lambda state, t: int(state.draw())), fb.World.from_table(np.eye(3)), (), "Own"),
    ],
)
def test_what_could_have_drawn_is_named(policy, instance, observe, says, monkeypatch):
    monkeypatch.setattr(Own, "draw", lambda state: random.random(), raising=False)
    with pytest.raises(ValueError, match=f"^{says}, or what it calls, draws from random or numpy"):
        fb.run(policy, instance, 60, 2, observe=observe)


def in_a_worker(seed):
    return fb.run(Own(), ARMS, 60, 4, seed=seed, n_jobs=2, checkpoints=[60]).plays.tolist()


def test_a_worker_of_a_pool_plays_in_one_process():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(in_a_worker, [0, 1]) == [in_a_worker(0), in_a_worker(1)]
