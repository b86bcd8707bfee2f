"""Rewards from a function or a table, and means that move."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fairbandits as fb
from fairbandits.engine.streams import unit

HORIZON = 200


def coins(arm, number, coin):
    return float(unit(coin) < (0.7, 0.4)[arm])


def rewards_of(policy, world, **more):
    result = fb.run(policy, world, HORIZON, 3, checkpoints=range(1, HORIZON + 1), **more)
    arms = np.diff(result.plays, axis=1, prepend=0).argmax(axis=2)
    return arms, np.diff(result.reward(), axis=1, prepend=0.0)


def test_the_nth_pull_of_an_arm_pays_every_policy_the_same():
    world = fb.World(coins, (0.7, 0.4))
    played = [rewards_of(policy, world) for policy in (fb.UCB1(), fb.EpsilonGreedy(0.5))]
    assert (played[0][0] != played[1][0]).any()
    for replicate in range(3):
        for arm in (0, 1):
            a, b = (g[replicate][p[replicate] == arm] for p, g in played)
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


def test_a_table_is_copied():
    buffer, worlds = np.zeros((100, 2)), []
    for gap in (0.0, 1.0):
        buffer[:, 0], buffer[:, 1] = gap, 0.5
        worlds.append(fb.World.from_table(buffer))
    frame = pd.DataFrame({"a": [1.0, 1.0], "b": [0.0, 0.0]})
    worlds.append(fb.World.from_table(frame))
    frame.loc[:] = 9.0
    for world, (first, second) in zip(worlds, [(0, 0.5), (1, 0.5), (1, 0)], strict=True):
        assert world.true_means.tolist() == [first, second]
        run = fb.run(fb.Uniform(), world, 100, 1, checkpoints=[100])
        assert (run.rewards == run.plays * [first, second]).all()


LOG = {"variation": ["B", "A", "C", "A", "B", "B"], "bought": [1, 0, 1, 1, 0, 1]}


def in_order(log):
    return pd.DataFrame(log).astype({"variation": pd.CategoricalDtype(["C", "B", "A"])})


def from_file(suffix):
    def write(log, folder):
        file = folder / f"log{suffix}"
        frame = pd.DataFrame(log)
        frame.to_parquet(file) if suffix == ".parquet" else frame.to_csv(file)
        return file if suffix == ".csv.gz" else str(file)

    return write


@pytest.mark.parametrize(
    "log",
    [
        lambda log, _: log,
        lambda log, _: pd.DataFrame(log),
        lambda log, _: pd.DataFrame(log).astype({"bought": bool}),
        lambda log, _: pd.DataFrame(log).convert_dtypes(),
        lambda log, _: pd.DataFrame(log).convert_dtypes(dtype_backend="pyarrow"),
        lambda log, _: pd.DataFrame(log).astype({"bought": object}).iloc[::-1],
        lambda log, _: pl.DataFrame(log),
        lambda log, _: pl.DataFrame(log, schema_overrides={"variation": pl.Categorical}),
        lambda log, _: pa.table(log),
        from_file(".csv"),
        from_file(".csv.gz"),
        from_file(".parquet"),
    ],
)
def test_a_log_pays_its_rewards_by_arm(log, tmp_path):
    world = fb.World.from_table(log(LOG, tmp_path), arm="variation", reward="bought")
    assert world.labels == ("A", "B", "C")
    assert world.true_means == pytest.approx([1 / 2, 2 / 3, 1])
    arms, gains = rewards_of(fb.EpsilonGreedy(1.0), world)
    assert (gains[arms == 2] == 1).all()
    assert gains[arms == 1].mean() == pytest.approx(2 / 3, abs=0.1)
    assert pickle.loads(pickle.dumps(world)) == world


def test_categories_are_in_their_order_and_numbers_are_names():
    world = fb.World.from_table(in_order(LOG), arm="variation", reward="bought")
    assert world.labels == ("C", "B", "A")
    numbered = pd.DataFrame({7: [10, 2, 10, 2], 8: [1, 0, 1, 0]})
    assert fb.World.from_table(numbered, arm=7, reward=8).labels == ("2", "10")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_what_is_missing_is_left_out_and_said(missing):
    log = {"arm": ["a", "b", missing, "b", "a"], "reward": [1, missing, 1, 0, 0.5]}
    with pytest.warns(UserWarning, match="2 of 5 rows without arm or reward left out"):
        world = fb.World.from_table(pd.DataFrame(log), arm="arm", reward="reward")
    assert "2 of 5 rows" in repr(world)
    assert world.true_means.tolist() == [0.75, 0]
    with pytest.warns(UserWarning, match="1 of 6 entries without a reward left out"):
        world = fb.World.from_table(pd.DataFrame({"x": [1, missing, 0.5], "y": [0, 1, 2]}))
    assert world.true_means.tolist() == [0.75, 1]
    unequal = fb.World.from_table({"x": [1, 0.5], "y": [0, 1, 2]})
    assert unequal == fb.World.from_table({"x": (1, 0.5), "y": np.arange(3)})
    assert unequal.true_means.tolist() == [0.75, 1]


DAYS = pd.date_range("2020-01-01", periods=2)
SOME = pd.DataFrame(LOG)


def table(*arguments, **named):
    return lambda: fb.World.from_table(*arguments, **named)


def log(rows, arm="variation", reward="bought", **named):
    return table(rows, arm=arm, reward=reward, **named)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fb.World(3, (0.5,)), TypeError, "pay must be a function .* got 3"),
        (lambda: fb.World(coins, lambda t: (1, 0)), ValueError, "need by='round'"),
        (lambda: fb.World(coins, (0.5,), by="arm"), ValueError, "by must be one of"),
        (lambda: fb.World(coins, {0: 0.5, 1: 0.3}), ValueError, "in the order of the arms"),
        (lambda: fb.World(coins, (0.5, 0.3), labels=["a"]), ValueError, "labels must have one"),
        (lambda: fb.World(coins, (0.5, 0.3), labels="ab"), ValueError, "a list, as .* got 'ab'"),
        (lambda: fb.World(coins, (0.5, 0.3), labels={"a", "b"}), ValueError, "labels must be a li"),
        (lambda: fb.World(coins, (0.5, 0.3), labels=None), ValueError, "labels must .* got None"),
        (lambda: fb.World(coins, (0.5, 0.3), labels=[1, "1"]), ValueError, "must differ .* '1' tw"),
        (lambda: fb.World(coins, (0.5, 0.3), rows="9"), ValueError, "rows must be .* got '9'"),
        (lambda: fb.World.moving(lambda t: (2, 0)), ValueError, "round 1"),
        (lambda: fb.World.moving(lambda t: None), ValueError, "round 1: means must .* got None"),
        *(
            (lambda means=means: fb.World(coins, lambda t: means, "round"), ValueError, says)
            for means, says in (
                ({0: 1}, "means must be finite numbers .* got {0: 1} in round 1"),
                (("0.5", "0.4"), r"got \('0.5', '0.4'\) in round 1"),
                ([[0.5], [0.5, 0.5]], r"got \[\[0.5\], \[0.5, 0.5\]\] in round 1"),
            )
        ),
        (table([]), ValueError, "a table is an array .* got \\[\\]"),
        (table(np.empty((0, 2))), ValueError, "must have rows"),
        (table([1, 2]), ValueError, "a table is an array with a column for each arm"),
        (table([[1, 2], [3]]), ValueError, "a table is an array with a column for each arm"),
        (table(np.ones((2, 2, 2))), ValueError, r"got ndarray of shape \(2, 2, 2\)"),
        (table(SOME["bought"]), ValueError, "a table is an array with a column for each arm"),
        (table(pl.DataFrame(LOG).lazy()), ValueError, "a table is an array .* got <LazyFrame"),
        (table(np.ones((3, 1))), ValueError, "at least 2 arms, got one column; of a log write"),
        (table("x.csv"), FileNotFoundError, "there is no file x.csv"),
        (table(__file__), ValueError, r"must end in .csv, .csv.gz or .parquet, got test_worlds.py"),
        (table([[1, np.nan], [0, np.nan]]), ValueError, "got none for column 2"),
        (table([[1, np.nan]], "round"), ValueError, "nan in row 1, column 2"),
        (table({"a": [1, 0], "b": [1]}, "round"), ValueError, "of one length, got {.*'b'\": 1}"),
        (table([[1, np.inf]]), ValueError, "rewards must be finite, got inf in row 1, column 2"),
        (table(np.ones((2, 2)) * 1j), ValueError, r"a number, got np.complex128\(1j\) in row 1"),
        (table({"a": DAYS, "b": DAYS}), ValueError, "number, got Timestamp.* row 1, column 'a'"),
        (table({"a": [1, 0], "name": ["x", "1"]}), ValueError, "'x' in row 1, column 'name'; of a"),
        (table({"a": [1, 0], "b": ["0", "1"]}), ValueError, "column 'b'; .*without quotes"),
        (table({"arm": [0, 1], "reward": [1, 0]}), ValueError, "got 'arm'; of a log write"),
        (table(pd.DataFrame([[1, 2]], columns=["a", "a"])), ValueError, "'a' twice"),
        (table({"a": [10**400], "b": [1]}), ValueError, "finite, got inf in row 1, column 'a'"),
        *(
            (table({"a": column, "b": [1, 2]}), ValueError, "a table is an array .* got {'a': ")
            for column in ({0: 1, 1: 2}, {1, 2}, b"12")
        ),
        (log({"variation": [1, "1"], "bought": [1, 0]}), ValueError, "must differ .* '1' twice"),
        (log({"variation": [], "bought": []}), ValueError, "at least 2 arms, got none"),
        (log(SOME, arm=["variation"]), ValueError, r"no column: \['variation'\]; did you"),
        (log([["x", 1]], arm="0", reward=1), ValueError, "no column: '0'; did you mean 0.; there"),
        (log(SOME, arm="variatoin"), ValueError, "arm names no column: .*mean 'variation'"),
        (log(SOME, reward=None), ValueError, "a log needs both arm and reward"),
        (log(SOME, reward="variation"), ValueError, "must be two columns"),
        (
            log(SOME, arm="bought", reward="variation"),
            ValueError,
            "'B' in row 1, column 'variation",
        ),
        (log({"variation": [[1], [2]], "bought": [1, 0]}), ValueError, "must be numbers or texts"),
        (log(SOME, by="round"), ValueError, "leave by='round' out"),
        (log(SOME[:1]), ValueError, "at least 2 arms, got 'B'$"),
        (log(in_order(LOG)[:2]), ValueError, "an arm must have a reward, got none for arm 'C'"),
    ],
)
def test_bad_worlds_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("a,a\n1,2\n", "a table must have each column once, got 'a' twice"),
        ("1,0\n0,1\n", r"first row must have the names of the columns, got \['1', '0'\]"),
        ("a,b\n1,2,3\n4,5\n", "Length of header or names does not match length of data"),
    ],
)
def test_a_file_whose_first_row_does_not_fit_is_refused(rows, says, tmp_path):
    (file := tmp_path / "table.csv").write_text(rows)
    with pytest.raises(ValueError, match=f"table.csv cannot be read: .*{says}"):
        fb.World.from_table(file)


@pytest.mark.parametrize("paid", ["1", b"1", None, [1.0], 1j, np.nan, 10**400])
def test_a_reward_is_a_finite_number(paid):
    with pytest.raises(
        ValueError, match=r"^pay must return a finite number, got .* for arm 2, pull"
    ):
        fb.run(fb.UCB1(), fb.World(lambda arm, number, coin: paid if arm else 1, (0.5, 0.5)), 20)


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2)])
@pytest.mark.parametrize("feedback", ["bandit", "full"])
def test_means_have_one_number_of_arms_in_all_rounds(sizes, feedback):
    def means(t):
        return (0.5, 0.4, 0.9)[: sizes[t >= 50]]

    policy = fb.UCB1() if feedback == "bandit" else fb.Hedge()
    by_function = fb.World(lambda arm, number, coin: 0.5, means, by="round")
    for world in (fb.World.moving(means), by_function):
        with pytest.raises(ValueError, match=r"means must .* round 50|round 50: means must"):
            fb.run(policy, world, 200, 2, checkpoints=[40, 200])
