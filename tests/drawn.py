"""Random settings for the comparisons with naive twins, and both runs on the same streams."""

import numpy as np
import pytest

import naive
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


def twin_history(twin, instance, rounds=ROUNDS, replicate=REPLICATE, play=None):
    """Return the twin's history on the same streams as `recorded`."""
    if play is None:
        play = naive.run_bandit if hasattr(twin, "choose") else naive.run_full
    spread = {"beta": {"m": instance.spread}, "gaussian": {"sd": instance.spread}}
    address = (SEED, STREAM, replicate)
    law = instance.law
    return play(twin, instance.means, law, rounds, *address, **spread.get(law, {}))


def recorded(policy, instance, rounds=ROUNDS, replicates=(REPLICATE,), **options):
    """Return the result with a checkpoint at every round."""
    options = {"checkpoints": range(1, rounds + 1), **options}
    return run(policy, instance, rounds, replicates, seed=SEED, stream=STREAM, **options)


def arms_of(result, place=0):
    """Return the arm of every round."""
    pulls = np.diff(result.plays[place], axis=0, prepend=0)
    assert (pulls.sum(axis=1) == 1).all()
    return pulls.argmax(axis=1).tolist()


def column(history, name):
    return np.array([record[name] for record in history], dtype=float)


def assert_close(found, expected, rtol=1e-9, name=""):
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-3 * rtol * scale, err_msg=name)


def assert_agrees(result, history, rtol=1e-9, without=()):
    """Compare plays, rewards and every probe after every round with a twin's history."""
    if "arm" in history[0]:
        assert arms_of(result) == [record["arm"] for record in history]
    else:
        assert_close(np.diff(result.plays[0], axis=0, prepend=0), column(history, "x"))
    assert_close(result.rewards[0], column(history, "accrued"))
    for name, (values, *_) in result.probes.items():
        if name in without:
            continue
        if name == "queue_max":
            expected = np.maximum.accumulate(column(history, "queue"), axis=0)
        elif name == "probability":  # of a draw, which there is none of with full information
            drawn = "arm" in history[0]
            expected = column(history, "x").cumsum(axis=0) if drawn else np.zeros(values.shape)
        else:
            expected = column(history, name)
        assert_close(values, expected, rtol, name)


def assert_same_run(policy, twin, instance, rounds=ROUNDS, rtol=1e-9, **options):
    """Compare a policy's run with its twin's; return the twin's history."""
    history = twin_history(twin, instance, rounds)
    assert_agrees(recorded(policy, instance, rounds, **options), history, rtol)
    return history


def assert_same_choices(policy, twin, arms, rounds, history):
    """Compare what is chosen while both learn from arms and rewards that may not be their own."""
    state = policy.start(arms, rounds)
    for t, (forced, reward, coin) in enumerate(history, start=1):
        arm = protocol.choose(state, t, coin)
        assert arm == twin.choose(coin), t
        arm = arm if forced is None else forced
        protocol.learn(state, t, arm, reward)
        twin.advance(arm, reward)


def random_history(rng, arms, rounds, rewards, extreme=0.2):
    """Return arms, or None for that of the policy, some of the rewards, and coins, some extreme."""
    coins = rng.integers(0, streams.MASK, rounds, dtype=np.uint64, endpoint=True)
    coins = np.where(rng.random(rounds) < extreme, coins % 2 * np.uint64(streams.MASK), coins)
    pulled = np.where(rng.random(rounds) < 0.3, None, rng.integers(0, arms, rounds))
    given = np.where(rng.random(rounds) < 0.5, rng.random(rounds), rng.choice(rewards, rounds))
    return zip(pulled.tolist(), given.tolist(), coins.tolist(), strict=True)
