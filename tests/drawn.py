"""Random settings for the comparisons with naive twins, and both runs on the same streams."""

import numpy as np
import pytest

import naive_fair_ucb as twins
from fairbandits import Instance, run
from fairbandits.engine import laws, protocol, streams

SEED, STREAM, REPLICATE, ROUNDS = 20240816, "twins", 3, 150
#: Every law comes once or twice; all else is drawn, seeded by the test's own id.
settings = pytest.mark.parametrize("setting", range(10))


def one_of(rng, *values):
    return values[rng.integers(len(values))]


def instance_of(setting, rng, arms=None, losses=True):
    """Return an instance with ties, sure rewards and, with `losses`, negative rewards at times."""
    law = list(laws.CODES)[setting % len(laws.CODES)]
    means = rng.uniform(0.1, 0.9, arms or rng.integers(2, 9))
    if setting % 4 == 3:
        means = means.round(1)
    if law == "gaussian" and losses:
        means = rng.normal(size=means.size)
    if law == "bernoulli" and setting >= len(laws.CODES):
        means[0], means[-1] = 0.0, 1.0
    return Instance(means, law, {"gaussian": 0.7}.get(law))


def as_texts(shares, denominator):
    """Return the quotas as they stand in a configuration file."""
    return tuple(f"{share}/{denominator}" for share in np.asarray(shares).tolist())


def random_quotas(rng, arms):
    """Return rational quotas of sum below 1, of any size."""
    denominator = int(rng.integers(arms + 1, 300))
    weights = rng.dirichlet(np.full(arms + 1, rng.choice([0.3, 1.0, 30.0])))
    return as_texts(rng.multinomial(denominator - 1, weights)[:arms], denominator)


def twin_history(twin, instance, rounds=ROUNDS, replicate=REPLICATE):
    """Return the twin's history on the same streams as `recorded`."""
    own = {"beta": {"m": instance.spread}, "gaussian": {"sd": instance.spread}}
    address = (SEED, STREAM, replicate)
    law = instance.law
    return twins.play(twin, instance.means, law, rounds, *address, **own.get(law, {}))


def recorded(policy, instance, rounds=ROUNDS, replicates=(REPLICATE,), **options):
    """Return the result with a checkpoint at every round."""
    options = {"checkpoints": range(1, rounds + 1), **options}
    return run(policy, instance, rounds, replicates, seed=SEED, stream=STREAM, **options)


def arms_of(result, place=0):
    """Return the arm of every round."""
    pulls = np.diff(result.plays[place], axis=0, prepend=0)
    assert (pulls.sum(axis=1) == 1).all()
    return pulls.argmax(axis=1).tolist()


def assert_same_run(policy, twin, instance, rounds=ROUNDS, **options):
    """Compare arms and rewards of every round; return the arms."""
    history = twin_history(twin, instance, rounds)
    result = recorded(policy, instance, rounds, **options)
    assert arms_of(result) == [record["arm"] for record in history]
    accrued = np.array([record["accrued"] for record in history])
    np.testing.assert_allclose(result.rewards[0], accrued, rtol=1e-9, atol=1e-12)
    return [record["arm"] for record in history]


def assert_same_choices(policy, twin, arms, rounds, history, number=lambda coin: coin):
    """Compare what is chosen while both learn from a history that they did not choose.

    The twin is given a `number` of each round's coin.
    """
    state = policy.start(arms, rounds)
    for t, (arm, reward, coin) in enumerate(history, start=1):
        assert protocol.choose(state, t, coin) == twin.choose(number(coin)), t
        protocol.learn(state, t, arm, reward)
        twin.advance(arm, reward)


def forced(rng, arms, rounds):
    """Return random arms, rewards in [0, 1] (some of them 0 or equal), and coins, some extreme."""
    rewards = np.where(rng.random(rounds) < 0.5, rng.random(rounds), rng.integers(0, 3, rounds) / 2)
    coins = rng.integers(0, streams.MASK, rounds, dtype=np.uint64, endpoint=True)
    coins[rng.random(rounds) < 0.1] = streams.MASK
    coins[rng.random(rounds) < 0.1] = 0
    pulled = rng.integers(0, arms, rounds)
    return zip(pulled.tolist(), rewards.tolist(), coins.tolist(), strict=True)
