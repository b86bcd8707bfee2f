"""Rewards from a function or a table, and means that move."""

import numpy as np
import pandas as pd
import pytest

import fairbandits as fb
from fairbandits.engine.streams import unit

HORIZON = 200


def coins(arm, number, coin):
    return float(unit(coin) < (0.7, 0.4)[arm])


def rewards_of(policy, world, **more):
    found = fb.run(policy, world, HORIZON, 3, checkpoints=range(1, HORIZON + 1), **more)
    arms = np.diff(found.plays, axis=1, prepend=0).argmax(axis=2)
    return arms, np.diff(found.reward(), axis=1, prepend=0.0)


def test_the_nth_pull_of_an_arm_pays_every_policy_the_same():
    world = fb.World(coins, (0.7, 0.4))
    (one, first), (other, second) = (
        rewards_of(policy, world) for policy in (fb.UCB1(), fb.EpsilonGreedy(0.5))
    )
    assert (one != other).any()
    for replicate in range(3):
        for arm in (0, 1):
            a, b = (g[replicate][p[replicate] == arm] for p, g in ((one, first), (other, second)))
            shared = min(a.size, b.size)
            assert shared > 5
            np.testing.assert_allclose(a[:shared], b[:shared])


def test_a_table_in_turn_pays_its_rows():
    table = pd.DataFrame(np.random.default_rng(1).random((HORIZON, 2)), columns=["a", "b"])
    world = fb.World.from_table(table, by="round")
    np.testing.assert_allclose(world.true_means, table.mean())
    arms, gains = rewards_of(fb.UCB1(), world)
    wanted = table.to_numpy()[np.arange(HORIZON), arms]
    np.testing.assert_allclose(gains, wanted, atol=1e-12)
    with pytest.raises(ValueError, match="200"):
        fb.run(fb.UCB1(), world, HORIZON + 1)


def test_a_table_by_pull_pays_its_entries():
    table = [[0.1, 0.5], [0.2, 0.6], [0.3, 0.7]]
    arms, gains = rewards_of(fb.UCB1(), fb.World.from_table(table))
    for arm in (0, 1):
        assert set(gains[arms == arm].round(9)) <= {row[arm] for row in table}


def test_means_that_move_are_those_of_the_round():
    def means(t):
        return (0.9, 0.1) if t <= HORIZON // 2 else (0.1, 0.9)

    world = fb.World.moving(means)
    assert world.moves
    assert tuple(world.means_at(HORIZON)) == (0.1, 0.9)
    arms, gains = rewards_of(fb.EpsilonGreedy(1.0), world)
    late = gains[:, HORIZON // 2 :][arms[:, HORIZON // 2 :] == 1]
    assert late.mean() > 0.75
    with pytest.raises(ValueError, match=r"move|round"):
        world.true_means  # noqa: B018 - raises


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fb.World(3, (0.5,)), TypeError, "pay must be a function .* got 3"),
        (lambda: fb.World(coins, lambda t: (1, 0)), ValueError, "need by='round'"),
        (lambda: fb.World(coins, (0.5,), by="arm"), ValueError, "by must be one of"),
        (lambda: fb.World.from_table([]), ValueError, "must have rows"),
        (lambda: fb.World.from_table("x.csv"), TypeError, "array or a data frame, got 'x.csv'"),
        (lambda: fb.World.from_table([[1, np.nan]]), ValueError, "nan in row 1, column 2"),
        (lambda: fb.World.moving(lambda t: (2, 0)), ValueError, "round 1"),
    ],
)
def test_bad_worlds_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
