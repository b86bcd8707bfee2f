"""Fair-Learn with estimated quotas against its naive twin, and what it is for."""

import numpy as np
import pytest

import naive_fair_ucb as twins
from fairbandits import Instance, PlugIn, run

SEED, STREAM, REPLICATE, ROUNDS = 20261122, "plug-in", 2, 150
LEARNERS = {"ucb1": twins.UCB1, "thompson": twins.Thompson, "uniform": twins.Uniform}


def five(rng):
    return rng.uniform(0.1, 0.9, 5), rng.uniform(0, 0.15, 5)


def some_unprotected(rng):
    return rng.uniform(0.1, 0.9, 4), (0, 0.1, 0, 0.05)


def out_of_reach(rng):
    return rng.uniform(0.05, 0.3, 3), (0.3, 0.2, 0.1)


def nothing_to_earn(rng):
    return (0.7, 0.0, 0.4), (0, 0.1, 0.1)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("scenario", [five, some_unprotected, out_of_reach, nothing_to_earn])
def test_against_naive(scenario, learner, rng):
    means, targets = (tuple(map(float, one)) for one in scenario(rng))
    options = {"seed": SEED, "stream": STREAM, "checkpoints": range(1, ROUNDS + 1)}
    found = run(PlugIn(targets, learner), Instance(means), ROUNDS, [REPLICATE], **options)
    twin = twins.PlugIn(targets, LEARNERS[learner](len(means)))
    history = twins.play(twin, means, "bernoulli", ROUNDS, SEED, STREAM, REPLICATE)
    assert found.plays[0].tolist() == [row["pulls"] for row in history]


def test_it_meets_targets_that_it_can_estimate():
    arms, targets = Instance((0.3, 0.2, 0.8)), (0.15, 0.06, 0)
    found = run(PlugIn(targets), arms, 4_000, 3, checkpoints=[4_000])
    assert (found.violation(targets) < 80).all()
    assert (np.abs(found.target_regret(targets)) < 160).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PlugIn((-0.1, 0)), "-0.1"),
        (lambda: PlugIn((0.1, 0), "nobody"), "nobody"),
        (lambda: PlugIn((0.1, 0)).start(3, 10), "3"),
    ],
)
def test_wrong_parameters_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
