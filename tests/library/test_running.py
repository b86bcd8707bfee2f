"""Replicates in several processes, and how far a run is: the numbers are those of one process."""

import re

import pytest

import fairbandits as fb
from fairbandits.engine.streams import stream_key, word
from plain import Plain, arrays_of

ARMS = fb.Instance((0.7, 0.5, 0.4))
DRAWN = fb.RandomInstance(3, low=0.2, high=0.9)
QUOTAS = ("1/5", "3/10", "1/4")
ROUNDS = 60


class InTurn(Plain):
    """Pulls the arms in turn, or one too far, and reports its pulls."""

    probes = ("pulled",)

    def choose(self, t, coin):
        return (t + int(2 * fb.unit(coin))) % self.n_arms

    def probe(self, out):
        out[0] = self.pulls


class Failing(Plain):
    def choose(self, t, coin):
        return 0 if t < 5 else 99


class Shared(Plain):
    def start(self, n_arms, horizon):
        return self


@pytest.mark.parametrize("instance", [ARMS, DRAWN], ids=["fixed", "drawn"])
@pytest.mark.parametrize("policy", [InTurn(), fb.UCB1()], ids=["plain", "ours"])
def test_any_number_of_processes_gives_the_same_numbers(policy, instance):
    settings = {"seed": 3, "checkpoints": [7, ROUNDS], "quotas": QUOTAS, "stream": "a name"}
    wanted = fb.run(policy, instance, ROUNDS, [9, 2, 5, 0, 7], **settings)
    result = fb.run(policy, instance, ROUNDS, [9, 2, 5, 0, 7], n_jobs=2, **settings)
    assert arrays_of(result) == arrays_of(wanted)
    for name in ("policy", "instance", "horizon", "seed", "stream", "quotas"):
        assert getattr(result, name) == getattr(wanted, name), name
    assert result.replicates.tolist() == [9, 2, 5, 0, 7]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_counts_the_replicates(capsys, n_jobs):
    fb.run(InTurn(), ARMS, 20, 4, progress=True, n_jobs=n_jobs)
    captured = capsys.readouterr()
    lines = [line.rstrip() for line in captured.err.split("\r") if line]
    assert len(lines) == 4
    for done, line in enumerate(lines, start=1):
        assert re.fullmatch(rf"InTurn: {done} of 4 replicates, about \d+ s left", line)
    assert captured.err.endswith("\n")
    assert captured.out == ""


@pytest.mark.parametrize("n_jobs", [0, -1, 1.0, True, "2", None])
def test_n_jobs_is_a_whole_number(n_jobs):
    expected = rf"n_jobs must be a whole number of at least 1, got {re.escape(repr(n_jobs))}; os\."
    with pytest.raises(ValueError, match=expected):
        fb.run(InTurn(), ARMS, 20, 2, n_jobs=n_jobs)


@pytest.mark.parametrize("settings", [{"n_jobs": 2}, {"progress": True}])
def test_what_is_wrong_is_said_as_in_one_process(settings):
    for policy, quotas, error, says in (
        (Failing(), None, ValueError, "Failing.choose must return an arm .* in round 5"),
        (Shared(), None, TypeError, "Shared.start must return a fresh object"),
        (InTurn(), ["1/2"] * 3, ValueError, "quotas must sum to at most 1, got 3/2"),
    ):
        with pytest.raises(error, match=says):
            fb.run(policy, ARMS, 20, 4, quotas=quotas, **settings)


def test_an_error_has_its_place():
    coin_of_replicate_9 = word(*stream_key(0, "run", 9, "coin", 0), 5)

    class Late(Plain):
        def choose(self, t, coin):
            return 99 if coin == coin_of_replicate_9 else 0

    with pytest.raises(ValueError, match="in round 5") as caught:
        fb.run(Late(), ARMS, 20, [4, 9, 2])
    assert caught.value.place == "replicate 9, round 5"


def test_a_warning_comes_from_other_processes_once():
    policy = fb.BanditQ((0.6, 0.6, 0.0))
    with pytest.warns(UserWarning, match="targets cannot be met") as caught:
        fb.run(policy, ARMS, 20, 6, n_jobs=2)
    assert len(caught) == 1


class Watching:
    """An observer with these methods."""

    probes = ("seen",)

    def __init__(self, watch, report):
        self.watch, self.report = watch, report

    def start(self, policy, state, n_arms, horizon):
        return Watching(self.watch, self.report)


def test_what_is_no_policy_or_stream_is_refused():
    for policy, stream, says in (
        ("ucb1", "run", r"such as fairbandits.UCB1\(\), got 'ucb1'"),
        (fb.UCB1(), 3, "stream must be a text, such as 'run', got 3"),
        (fb.UCB1(), "\ud800", r"stream must be a text, such as 'run', got '\\ud800'"),
    ):
        with pytest.raises(TypeError, match=says):
            fb.run(policy, ARMS, 20, stream=stream)
    for observer, says in (
        (fb.Starvation, "an observer is an object, and Starvation is its class; write Starvation"),
        (fb.UCB1(), r"UCB1.start must take \(policy, state, n_arms, horizon\)"),
        (
            Watching(lambda t, arm, reward: 0, lambda state, out: 0),
            r"Watching.watch must take \(state, t, action, reward\), it takes \(t, arm, reward\)",
        ),
        (
            Watching(lambda *given: 0, lambda state, out, more: 0),
            r"Watching.report must take \(state, out\), it takes \(state, out, more\)",
        ),
        (
            Watching(lambda *given: 0, None),
            "Watching.start must return an object with a method rep",
        ),
    ):
        with pytest.raises(TypeError, match=says):
            fb.run(fb.UCB1(), ARMS, 20, observe=[observer])
