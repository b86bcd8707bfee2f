"""The public call: a user's own policy, the shape of results, determinism, and error messages."""

import doctest
import importlib
import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import fairbandits as fb
from fairbandits.library.simulation import TAKEN
from fairbandits.rationals import rational
from plain import Plain, arrays_of

FOUR = fb.Instance((0.3352, 0.2031, 0.7816, 0.6177), "uniform02")
TARGETS = (0.1, 0.05, 0, 0)
ROUNDS = 120
EVERY = range(1, ROUNDS + 1)
BANDITS = [fb.BanditQ(TARGETS), fb.EXP3(1.6), fb.LFG(("1/3", 0.1, 0, 0)), fb.UCB1(1.6)]
FULL = [fb.BanditQ(TARGETS, feedback="full"), fb.Hedge()]


def name_of(policy):
    return f"{type(policy).__name__}-{getattr(policy, 'subroutine', policy.feedback)}"


class PlainUCB1(Plain):
    """UCB1 in plain Python that keeps a diary."""

    probes = ("diary", "latest")

    def __init__(self, scale=1.0):
        self.scale = scale

    def start(self, n_arms, horizon):
        state = super().start(n_arms, horizon)
        state.seen = self.seen = []
        return state

    def choose(self, t, coin):
        if t <= self.n_arms:
            return t - 1
        return np.argmax(self.sums / self.pulls + np.sqrt(2 * math.log(t) / self.pulls))

    def learn(self, t, arm, reward):
        super().learn(t, arm, reward / self.scale)
        self.seen.append(t)

    def probe(self, out):
        out[0] = len(self.seen)
        out[1] = self.seen[-1]


class Scripted:
    """Returns what it is told to, whatever that is."""

    def __init__(self, answer, feedback="bandit", at=1):
        self.answer, self.feedback, self.at = answer, feedback, at

    def start(self, n_arms, horizon):
        self.n_arms = n_arms
        return self

    def choose(self, t, coin):
        if t >= self.at:
            return self.answer
        return 0 if self.feedback == "bandit" else np.full(self.n_arms, 1 / self.n_arms)

    def learn(self, t, action, reward):
        pass


@pytest.mark.parametrize("scale", [1.0, 1.6])
def test_plain_ucb1_plays_like_ucb1(scale):
    options = {"seed": 3, "checkpoints": EVERY, "stream": "a name"}
    policy = PlainUCB1(scale)
    plain = fb.run(policy, FOUR, ROUNDS, 3, **options)
    ours = fb.run(fb.UCB1(scale), FOUR, ROUNDS, 3, compiled=True, **options)
    assert arrays_of(replace(plain, probes={})) == arrays_of(ours)
    assert list(plain.probes) == ["diary", "latest"]
    assert all((values == np.array(EVERY)[:, None]).all() for values in plain.probes.values())
    assert policy.seen == list(EVERY)


@pytest.mark.parametrize("answer", [-1, 4, 10**6, 1.0, None, "2", np.float64(1.0), [1], True])
def test_a_wrong_arm_is_refused(answer):
    got = re.escape(repr(answer))
    expected = rf"Scripted.choose must return an arm in 0..3, got {got} in round 5"
    with pytest.raises(ValueError, match=expected):
        fb.run(Scripted(answer, at=5), FOUR, ROUNDS)


@pytest.mark.parametrize(
    "answer",
    [
        *([0.5, 0.5], 0.25, [0.5, 0.5, 0.5, -0.5], [0.25, 0.25, 0.25, 0.25001]),
        *([math.nan, 0.5, 0.25, 0.25], [[0.25, 0.25, 0.25, 0.25]], None),
        *(["0.5", "0.5", "0", "0"], np.array(["1", 0, 0, 0], object), [b"1", b"0", b"0", b"0"]),
        *(np.ma.array([0.5, 0.5, 0, 0], mask=[0, 0, 0, 1]), {0: 1}, [[1], [0, 0], [], []]),
    ],
)
def test_wrong_probabilities_are_refused(answer):
    expected = r"Scripted.choose must return 4 probabilities that sum to 1, got (.|\n)* in round 5"
    with pytest.raises(ValueError, match=expected):
        fb.run(Scripted(answer, "full", at=5), FOUR, ROUNDS)


@pytest.mark.parametrize("feedback", ["bandit", "full"])
@pytest.mark.parametrize("missing", ["choose", "learn", "probe"])
def test_missing_methods_are_named(feedback, missing):
    class State:
        pass

    class Incomplete:
        probes = ("one",)

        def start(self, n_arms, horizon):
            return State()

    Incomplete.feedback = feedback
    for method in {"choose", "learn", "probe"} - {missing}:
        setattr(State, method, lambda self, *arguments: 0)
    with pytest.raises(TypeError, match=rf"Incomplete.start .* a method {missing}; State has none"):
        fb.run(Incomplete(), FOUR, ROUNDS)


def test_a_policy_needs_feedback_and_start():
    for broken in (object(), *(Scripted(0, kind) for kind in ("semi", None, ["full"])), Scripted):
        with pytest.raises(TypeError, match=r"feedback attribute, 'bandit' or 'full'; \w+ has"):
            fb.run(broken, FOUR, ROUNDS)


WHOLE = "must be a whole number of at least"
WRONG = [
    *(("horizon", bad, f"horizon {WHOLE} 1") for bad in (0, -5, 2.0, "10", True, None, math.nan)),
    *(("horizon", bad, r"horizon must be at most 2\*\*53") for bad in (2**53 + 1, 10**400)),
    ("horizon", 3, r"horizon must be at least the number of arms \(4\)"),
    *(("seed", bad, f"seed {WHOLE} 0") for bad in (-1, 1.5, "x", True)),
    *(("replicates", bad, "replicates must") for bad in (0, -1, True, 2.0)),
    *(("replicates", bad, "replicates must") for bad in ([], [0, 0], [-1], [0.5], [True], ["a"])),
    *(("replicates", bad, "replicates must") for bad in (np.array(2), {1: 2}, [True, 2])),
    *(("checkpoints", bad, "checkpoints must .* in") for bad in ([], [0], [ROUNDS + 1], [2, 1])),
    *(("checkpoints", bad, "checkpoints must") for bad in ([3, 3], [1.0], [[1, 2]], 5, ["a"])),
    *(("checkpoints", bad, "checkpoints must") for bad in ([True, 3], np.ma.array([1], mask=[1]))),
]


@pytest.mark.parametrize(("name", "value", "says"), WRONG)
def test_a_wrong_argument_is_named_with_its_value(name, value, says):
    with pytest.raises(ValueError, match=rf"{says}.*, got {re.escape(repr(value))}"):
        fb.run(**{"policy": fb.UCB1(), "instance": FOUR, "horizon": ROUNDS, name: value})


@pytest.mark.parametrize("replicates", [[2**31], [0, 2**33], np.array([2**63], np.uint64)])
def test_numbers_of_replicates_fit_their_column(replicates):
    with pytest.raises(ValueError, match=rf"numbers below 2\*\*31, got {max(replicates)}"):
        fb.run(fb.UCB1(), FOUR, ROUNDS, replicates)
    with pytest.raises(ValueError, match=r"replicates must be at most 2\*\*31, got 8589934592"):
        fb.run(fb.UCB1(), FOUR, ROUNDS, 2**33)
    last = fb.run(fb.UCB1(), FOUR, 4, [2**31 - 1]).columns()["replicate"]
    assert set(last.tolist()) == {2**31 - 1}


@pytest.mark.parametrize("policy", [*BANDITS, *FULL], ids=name_of)
def test_frame_is_the_tidy_form_of_the_result(policy):
    result = fb.run(policy, FOUR, ROUNDS, [5, 2], checkpoints=[3, 50, 100])
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["replicate", "round", "arm", "plays", "reward", *policy.probes]
    assert len(frame) == 2 * 3 * 4
    assert (frame.dtypes["replicate"], frame.dtypes["arm"]) == (np.int32, np.int32)
    for row in frame.itertuples():
        where = ([5, 2].index(row.replicate), [3, 50, 100].index(row.round), row.arm - 1)
        assert row.plays == result.plays[where]
        assert row.reward == result.rewards[where]
        for name in policy.probes:
            assert getattr(row, name) == result.probes[name][where]
    assert frame[["replicate", "round", "arm"]].duplicated().sum() == 0


@pytest.mark.parametrize("horizon", [1, 2, 3, 1999, 2001, 4001, 12_345])
def test_checkpoint_grid_ends_at_the_horizon(horizon):
    grid = fb.checkpoint_grid(horizon)
    assert (grid[0], grid[-1]) == (1, horizon)
    assert (np.diff(grid) > 0).all()
    if horizon < 4000:
        assert grid.tolist() == list(range(1, horizon + 1))
    default = fb.run(fb.Static((0.5, 0.5)), fb.Instance((0.5, 0.5)), max(horizon, 2)).rounds
    assert default.tolist() == fb.checkpoint_grid(max(horizon, 2)).tolist()


@pytest.mark.parametrize("policy", [*BANDITS, *FULL], ids=name_of)
def test_replicates_do_not_depend_on_their_company(policy):
    options = {"seed": 8, "checkpoints": [1, 40, ROUNDS], "compiled": True}
    together = fb.run(policy, FOUR, ROUNDS, 6, **options)
    every = fb.run(policy, FOUR, ROUNDS, 6, **options | {"checkpoints": EVERY})
    for name in ("plays", "rewards"):
        at = getattr(every, name)[:, [0, 39, ROUNDS - 1]]
        assert at.tobytes() == getattr(together, name).tobytes()
    for order in ([5, 4, 3, 2, 1, 0], np.array([4, 1])):
        some = fb.run(policy, FOUR, ROUNDS, order, **options)
        for records, wanted in ((vars(some), vars(together)), (some.probes, together.probes)):
            for name in {"plays", "rewards", *policy.probes} & records.keys():
                assert records[name].tobytes() == wanted[name][order].tobytes(), name
    assert len({together.rewards[k].tobytes() for k in range(6)}) == 6


def modules_with_examples():
    root = Path(fb.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if ">>>" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(root.parent).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("module", list(modules_with_examples()))
def test_examples_in_docstrings(module):
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0
    assert results.failed == 0


class Counted(NamedTuple):
    seen: list

    def choose(self, t, coin):
        return 0

    def learn(self, t, action, reward):
        self.seen.append((action, reward))


class OfNamedTuple(Plain):
    def start(self, n_arms, horizon):
        return Counted([])


def test_a_state_that_is_a_named_tuple_runs_in_the_interpreter():
    result = fb.run(OfNamedTuple(), fb.Instance((0.5, 0.5)), horizon=10, checkpoints=[10])
    assert result.plays.tolist() == [[[10, 0]]]


FINE = (f"1/{2**31 - 1}", 0)
TWO = fb.Instance((0.9, 0.1))


@pytest.mark.parametrize(
    "policy",
    [
        *(fb.FairLearn(FINE), fb.HTUCB(FINE, 1.0), fb.LFG(FINE), fb.SmallestDeficit(FINE)),
        *(fb.BFUCB((1, 1), FINE), fb.GroupOracle((1, 1), FINE, (0.9, 0.1))),
    ],
    ids=lambda policy: type(policy).__name__,
)
def test_products_of_quotas_and_rounds_stay_within_64_bits(policy):
    policy.start(2, 2**31)
    expected = "denominator of at most 536870912 in 8589934592 rounds, got 2147483647"
    with pytest.raises(ValueError, match=expected):
        fb.run(policy, TWO, 2**33, checkpoints=[1])
    with pytest.raises(ValueError, match=expected):
        fb.run(fb.UCB1(), TWO, 2**33, checkpoints=[1], quotas=FINE)


@pytest.mark.parametrize("compiled", [None, False])
def test_a_method_that_would_not_be_called_is_refused(compiled):
    class Mine(fb.UCB1):
        def choose(self, t, coin):
            return 1

    expected = r"Mine has a method choose that would never be called: .* methods choose and learn"
    with pytest.raises(TypeError, match=expected):
        fb.run(Mine(), TWO, 10, compiled=compiled)

    class Seeing(fb.Starvation):
        def watch(self, state, t, action, reward):
            pass

    with pytest.raises(TypeError, match="Seeing has a method watch that would never be called"):
        fb.run(fb.UCB1(), TWO, 10, observe=[Seeing()], compiled=compiled)


@pytest.mark.parametrize(
    ("probes", "error", "says"),
    [
        ("ab", TypeError, "be a tuple of names, got 'ab'"),
        ((1,), TypeError, r"be a tuple of names, got \(1,\)"),
        *((("free", name), ValueError, f"have other names.* got '{name}'") for name in TAKEN),
    ],
)
def test_a_probe_cannot_have_the_name_of_a_column(probes, error, says):
    class Probing(Scripted):
        def probe(self, out):
            pass

    Probing.probes = probes
    with pytest.raises(error, match=f"Probing.probes must {says}"):
        fb.run(Probing(0), TWO, 10)


def test_each_replicate_starts_afresh():
    assert fb.run(Scripted(0), TWO, 10, checkpoints=[10]).plays.tolist() == [[[10, 0]]]
    with pytest.raises(TypeError, match=r"Scripted.start must return a fresh object for each repl"):
        fb.run(Scripted(0), TWO, 10, 2)


def test_targets_that_nobody_can_meet_are_said():
    with pytest.warns(UserWarning, match=r"targets cannot be met .* at most 1, got 10.0000"):
        fb.run(fb.BanditQ((0.9, 0.9)), TWO, 10)
    drawn = fb.RandomInstance(2, low=0.5)
    with pytest.warns(UserWarning, match="targets cannot be met"):
        fb.run(fb.BanditQ((0.5, 0.5), feedback="full"), drawn, 10, 3)
    fb.run(fb.BanditQ((0.45, 0.05)), TWO, 10)  # need every round: no warning


def test_a_float_that_is_a_fraction_is_said_to_be_one():
    with pytest.raises(ValueError, match=r'; write "1/3" in place of 0.3333333333333333'):
        fb.run(fb.UCB1(), TWO, 10, quotas=[1 / 3, 0.1])
    with pytest.raises(ValueError, match=r"at most 2\*\*31, got \d+$"):
        fb.FairLearn((0.1234567890123456, 0.1))


LONG = ["1e1_000_000_000", "0." + "0" * 9_000_000, "9" * 1001, "1/1" + "0" * 301]


@pytest.mark.parametrize("value", ["1e999999999", "1e-400", 10**400, "1e301", *LONG])
def test_numbers_beyond_all_measure_are_refused_at_once(value):
    with pytest.raises(ValueError, match=r"x must be 0, or between 1e-300 and .*, got .{,80}$"):
        rational("x", value)
    assert rational("x", "1e-300") == Fraction(1, 10**300)
