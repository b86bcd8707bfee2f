"""Chunks become datasets: the same ones however they were cut, and none from bad chunks."""

import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import shrunk
from fairbandits.data.store import StoreError, read_footer, read_table, write_table
from fairbandits.replication import datasets
from fairbandits.replication.code import code_of, code_of_all
from fairbandits.replication.datasets import COMMON, collect, guard, load_dataset
from fairbandits.replication.simulate import simulate_chunk, write_chunk
from fairbandits.settings.spec import RunSpec

SEED = 20240716
REPLICATES = 4
HORIZON = 60


def small_experiment(name, chunk=2):
    """Return an experiment of the real configuration, cut down as for a smoke run."""
    grid = {"linear": 20, "log": 5}
    limits = {"horizon": HORIZON, "replicates": REPLICATES, "chunk": chunk, "checkpoints": grid}
    return shrunk.experiment_of("banditq", name, SEED, **limits)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of the chunks of the full-information experiment."""
    folder = tmp_path_factory.mktemp("chunks")
    shrunk.chunks_of(small_experiment("full_information"), folder, SEED)
    return folder


@pytest.fixture
def chunks(made, tmp_path):
    """Return a copy of the chunk files, to spoil."""
    shutil.copytree(made, tmp_path / "chunks")
    return sorted((tmp_path / "chunks").rglob("*.parquet"))


@pytest.fixture
def facts():
    return small_experiment("full_information").facts()


def rewritten(file, change=None, **footer):
    """Write a chunk again with changed columns or another footer."""
    columns = {name: values.to_numpy().copy() for name, values in zip_columns(read_table(file))}
    if change:
        change(columns)
    write_table(file, pa.table(columns), read_footer(file) | footer)


def zip_columns(table):
    return zip(table.column_names, table.columns, strict=True)


def refusal(chunks, facts, out, seed=SEED):
    """Return the message with which chunks are refused; nothing may be written."""
    with pytest.raises(StoreError) as error:
        collect(chunks, facts, seed, out)
    assert not out.exists()
    assert "\n" not in str(error.value)
    return str(error.value)


# ----------------------------------------------------------------------------------- collecting


@pytest.mark.parametrize("name", ["full_information", "oracle_lfg"])
def test_dataset_is_what_the_runs_give(tmp_path, name):
    experiment = small_experiment(name)
    out = tmp_path / "data.parquet"
    collect(shrunk.chunks_of(experiment, tmp_path / "chunks", SEED), experiment.facts(), SEED, out)
    table, footer = load_dataset(out)
    assert tuple(table.column_names[: len(COMMON)]) == COMMON
    specs = {run.name: run.spec for run in experiment.runs}
    assert footer["codes"] == {name: code_of(spec) for name, spec in specs.items()}
    assert footer["code"] == code_of_all(specs.values())
    assert footer["seed"] == SEED
    for key, value in experiment.facts().items():
        assert footer[key] == value
    assert list(footer["runs"]) == [run.name for run in experiment.runs]
    assert table["run"].to_pylist()[:: table.num_rows // len(experiment.runs)] == list(
        footer["runs"]
    )
    for run in experiment.runs:
        rows = table.filter(pc.equal(table["run"], run.name))
        assert set(rows["policy"].to_pylist()) == {run.spec.policy}
        assert set(rows["law"].to_pylist()) == {run.spec.law}
        for column, values in simulate_chunk(run.spec, SEED, range(REPLICATES)).items():
            np.testing.assert_array_equal(rows[column].to_numpy(), values)


def test_arms_and_rounds_start_at_one(made, facts, tmp_path):
    collect(list(made.rglob("*.parquet")), facts, SEED, tmp_path / "data.parquet")
    table, _ = load_dataset(tmp_path / "data.parquet", ["replicate", "round", "arm"])
    assert table.column_names == ["replicate", "round", "arm"]
    values = {name: np.unique(column.to_numpy()) for name, column in zip_columns(table)}
    assert values["arm"].tolist() == [1, 2, 3, 4, 5]
    assert values["replicate"].tolist() == list(range(REPLICATES))
    assert values["round"][[0, -1]].tolist() == [1, HORIZON]


def test_probes_that_only_some_policies_have_are_null_elsewhere(tmp_path):
    experiment = small_experiment("oracle_lfg")
    out = tmp_path / "data.parquet"
    collect(shrunk.chunks_of(experiment, tmp_path / "chunks", SEED), experiment.facts(), SEED, out)
    table, _ = load_dataset(out)
    rows = {run.name: table.filter(pc.equal(table["run"], run.name)) for run in experiment.runs}
    missing = {
        name: {column for column, values in zip_columns(part) if values.null_count}
        for name, part in rows.items()
    }
    assert missing["banditq-uniform02"] == set()
    assert missing["lfg-uniform02"] == {"idleness", "queue_max", "probability"}
    assert missing["static-uniform02"] == {"queue", "idleness", "queue_max", "probability"}


def test_order_of_the_files_does_not_matter(chunks, facts, tmp_path, rng):
    collect(chunks, facts, SEED, tmp_path / "sorted.parquet")
    wanted = (tmp_path / "sorted.parquet").read_bytes()
    for order in (chunks[::-1], [chunks[k] for k in rng.permutation(len(chunks))]):
        collect(order, facts, SEED, tmp_path / "other.parquet")
        assert (tmp_path / "other.parquet").read_bytes() == wanted


@pytest.mark.parametrize("chunk", [1, 3, REPLICATES])
def test_size_of_the_chunks_does_not_matter(made, facts, tmp_path, chunk):
    collect(list(made.rglob("*.parquet")), facts, SEED, tmp_path / "two.parquet")
    experiment = small_experiment("full_information", chunk)
    files = shrunk.chunks_of(experiment, tmp_path / "chunks", SEED)
    assert len(files) == len(experiment.runs) * -(-REPLICATES // chunk)
    collect(files, experiment.facts(), SEED, tmp_path / "other.parquet")
    assert load_dataset(tmp_path / "other.parquet")[0].equals(
        load_dataset(tmp_path / "two.parquet")[0]
    )


# --------------------------------------------------------------------------------- refused files


def test_other_seed(chunks, facts, tmp_path):
    text = refusal(chunks, facts, tmp_path / "data.parquet", seed=SEED + 1)
    assert text == (
        f"{chunks[2]} does not belong here: its seed is {SEED}, wanted {SEED + 1}; "
        f"delete {chunks[2]} and run again"
    )


@pytest.mark.parametrize(
    ("key", "value"), [("horizon", 61), ("law", "beta"), ("means", [0.1] * 5), ("stream", "other")]
)
def test_other_block(chunks, facts, tmp_path, key, value):
    run = read_footer(chunks[0])["run"]
    rewritten(chunks[0], run=run | {key: value})
    text = refusal(chunks, facts, tmp_path / "data.parquet")
    assert text.startswith(f"{chunks[0]} does not belong here: its run is")
    assert repr(value) in text


def test_dataset_in_place_of_a_chunk(chunks, facts, tmp_path):
    rewritten(chunks[0], kind="dataset")
    text = refusal(chunks, facts, tmp_path / "data.parquet")
    assert text == f"{chunks[0]} does not belong here: its kind is 'dataset', wanted 'chunk'"


def test_chunk_of_other_code(chunks, facts, tmp_path):
    code = code_of(RunSpec.from_json(read_footer(chunks[0])["run"]))
    rewritten(chunks[0], code="0123456789abcdef")
    text = refusal(chunks, facts, tmp_path / "data.parquet")
    assert text == (
        f"{chunks[0]} is stale: code 0123456789abcdef made it, this is "
        f"{code}; `fairbandits replicate` makes it anew"
    )


def test_truncated_chunk(chunks, facts, tmp_path):
    content = chunks[0].read_bytes()
    chunks[0].write_bytes(content[: len(content) // 2])
    text = refusal(chunks, facts, tmp_path / "data.parquet")
    assert text.startswith(f"{chunks[0]} is not a readable Parquet file")


def test_vanished_chunk(chunks, facts, tmp_path):
    chunks[0].unlink()
    text = refusal(chunks, facts, tmp_path / "data.parquet")
    assert text.startswith(f"{chunks[0]} does not exist")


def replicates_message(out, name, got):
    return (
        f"{out}: the chunks of {name} must hold replicates 0 to {REPLICATES - 1} once each, "
        f"in order; got {got}"
    )


def test_missing_chunk(chunks, facts, tmp_path):
    out = tmp_path / "data.parquet"
    name = chunks[0].parent.name
    assert refusal(chunks[1:], facts, out) == replicates_message(out, name, [2, 3])


def test_missing_run(chunks, facts, tmp_path):
    out = tmp_path / "data.parquet"
    name = chunks[0].parent.name
    left = [file for file in chunks if file.parent.name != name]
    assert refusal(left, facts, out) == replicates_message(out, name, [])


def test_chunk_given_twice(chunks, facts, tmp_path):
    out = tmp_path / "data.parquet"
    name = chunks[0].parent.name
    wanted = replicates_message(out, name, [0, 1, 0, 1, 2, 3])
    assert refusal([*chunks, chunks[0]], facts, out) == wanted


def test_chunk_too_many(chunks, facts, tmp_path):
    out = tmp_path / "data.parquet"
    run = small_experiment("full_information").runs[0]
    extra = chunks[0].parents[1] / run.name / "4-4.parquet"
    write_chunk(run.spec, SEED, range(4, 5), extra)
    wanted = replicates_message(out, run.name, [0, 1, 2, 3, 4])
    assert refusal([*chunks, extra], facts, out) == wanted


def test_chunk_of_no_run(chunks, facts, tmp_path):
    other = chunks[0].parents[1] / "banditq-beta" / chunks[0].name
    other.parent.mkdir()
    shutil.copy(chunks[0], other)
    text = refusal([*chunks, other], facts, tmp_path / "data.parquet")
    assert text == f"{other} does not belong here: there is no run 'banditq-beta'"


def test_chunk_with_a_damaged_page(chunks, facts, tmp_path):
    content = bytearray(chunks[0].read_bytes())
    content[len(content) // 3] ^= 1
    chunks[0].write_bytes(content)
    text = refusal(chunks, facts, tmp_path / "data.parquet")
    assert text.startswith(f"{chunks[0]} is damaged")


def without_last_row(columns):
    columns |= {name: values[:-1] for name, values in columns.items()}


def without_last_round(columns):
    columns |= {name: values[:-5] for name, values in columns.items()}


def without_last_round_of_all(columns):
    kept = columns["round"] < HORIZON
    columns |= {name: values[kept] for name, values in columns.items()}


def without_rows(columns):
    columns |= {name: values[:0] for name, values in columns.items()}


def of_another_replicate(columns):
    columns["replicate"] += 1


def of_another_arm(columns):
    columns["arm"][7] = 1


def in_another_order(columns):
    columns |= {name: values[::-1] for name, values in columns.items()}


MISPLACED = [
    without_last_row,
    without_last_round,
    without_last_round_of_all,
    without_rows,
    of_another_replicate,
    of_another_arm,
    in_another_order,
]


@pytest.mark.parametrize("change", MISPLACED, ids=lambda change: change.__name__)
def test_chunk_without_all_its_rows(chunks, facts, tmp_path, change):
    rewritten(chunks[0], change)
    text = refusal(chunks, facts, tmp_path / "data.parquet")
    assert text == (
        f"{chunks[0]}: its rows must be arms 1 to 5 of the same rounds, up to {HORIZON}, "
        f"of replicates 0 to 1; delete {chunks[0]} and run again"
    )


# ------------------------------------------------------------------------------------- the guard


@pytest.fixture(scope="module")
def recorded():
    """Return the spec and columns of a run of BanditQ with either feedback."""
    found = {}
    for feedback, name in (("full", "full_information"), ("bandit", "bandit_feedback")):
        spec = small_experiment(name).runs[0].spec
        found[feedback] = spec, simulate_chunk(spec, SEED, range(1, 4))
    return found


def spoil(recorded, feedback, column, change, replicate=2, t=30, arm=1):
    """Return a spec, and a table with one entry of one column changed."""
    spec, columns = recorded[feedback]
    columns = {name: values.copy() for name, values in columns.items()}
    assert t in columns["round"]
    row = np.flatnonzero(
        (columns["replicate"] == replicate) & (columns["round"] == t) & (columns["arm"] == arm)
    )
    if not np.can_cast(type(change), columns[column].dtype):
        columns[column] = columns[column].astype(float)
    columns[column][row] += change
    return spec, pa.table(columns)


@pytest.mark.parametrize("feedback", ["full", "bandit"])
def test_guard_lets_good_columns_pass(recorded, feedback):
    spec, columns = recorded[feedback]
    assert np.unique(columns["replicate"]).size > 1  # each of which starts from nothing
    guard(pa.table(columns), spec, "file")


@pytest.mark.parametrize("feedback", ["full", "bandit"])
@pytest.mark.parametrize("column", ["reward", "queue", "idleness", "queue_max", "probability"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_guard_finds_what_is_not_finite(recorded, feedback, column, value):
    spec, table = spoil(recorded, feedback, column, value, arm=5)
    wanted = f"file: that {column} is finite fails first in replicate 2, round 30"
    with pytest.raises(StoreError, match=rf"^{re.escape(wanted)}$"):
        guard(table, spec, "file")


@pytest.mark.parametrize(
    ("feedback", "change"), [("full", 1e-6), ("full", -1e-6), ("bandit", 1), ("bandit", -1)]
)
def test_guard_finds_plays_that_do_not_sum_to_the_round(recorded, feedback, change):
    spec, table = spoil(recorded, feedback, "plays", change, arm=4)
    wanted = "file: that plays sum to the round fails first in replicate 2, round 30"
    with pytest.raises(StoreError, match=rf"^{re.escape(wanted)}$"):
        guard(table, spec, "file")


@pytest.mark.parametrize(
    ("feedback", "column"),
    [
        *(("full", column) for column in ("plays", "queue_max", "idleness")),
        *(("bandit", column) for column in ("plays", "queue_max", "idleness", "probability")),
    ],
)
def test_guard_finds_what_falls(recorded, feedback, column):
    spec, table = spoil(recorded, feedback, column, 100, arm=1)
    if column == "plays":  # keep their sum
        _, other = spoil(recorded, feedback, column, -100, arm=2)
        both = table[column].to_numpy() + other[column].to_numpy() - recorded[feedback][1][column]
        table = table.set_column(table.column_names.index(column), column, pa.array(both))
    # arm 1 falls in the round after 30, arm 2 in round 30
    rounds = recorded[feedback][1]["round"]
    t = 30 if column == "plays" else rounds[rounds > 30].min()
    wanted = f"file: that {column} never falls fails first in replicate 2, round {t}"
    with pytest.raises(StoreError, match=rf"^{re.escape(wanted)}$"):
        guard(table, spec, "file")


@pytest.mark.parametrize("column", ["queue", "idleness", "reward"])
@pytest.mark.parametrize("feedback", ["full", "bandit"])
def test_guard_finds_a_broken_balance_of_queues(recorded, feedback, column):
    """E3: the reward still owed is the queue less its idleness."""
    spec, table = spoil(recorded, feedback, column, 1e-5, t=HORIZON, arm=1)
    wanted = (
        f"file: that owed reward = queue - idleness fails first in replicate 2, round {HORIZON}"
    )
    with pytest.raises(StoreError, match=rf"^{re.escape(wanted)}$"):
        guard(table, spec, "file")


@pytest.mark.parametrize("feedback", ["full", "bandit"])
def test_guard_leaves_the_rewards_of_unprotected_arms_alone(recorded, feedback):
    spec, table = spoil(recorded, feedback, "reward", 1.0, arm=4)
    guard(table, spec, "file")


def test_guard_is_asked_about_every_chunk(chunks, facts, tmp_path):
    def spoil_one(columns):
        columns["reward"][-1] = np.nan

    rewritten(chunks[-1], spoil_one)
    text = refusal(chunks, facts, tmp_path / "data.parquet")
    assert text == (
        f"{chunks[-1]}: that reward is finite fails first in replicate 3, round {HORIZON}; "
        f"delete {chunks[-1]} and run again"
    )


def test_policies_without_queues_for_targets_need_no_balance():
    experiment = small_experiment("oracle_lfg")
    for run in experiment.runs:
        guard(pa.table(simulate_chunk(run.spec, SEED, [0, 1])), run.spec, "file")


# -------------------------------------------------------------------------------- loading datasets


@pytest.fixture
def dataset(made, facts, tmp_path):
    out = tmp_path / "data.parquet"
    collect(list(made.rglob("*.parquet")), facts, SEED, out)
    return out


def test_stale_dataset(dataset, monkeypatch):
    load_dataset(dataset)
    footer = read_footer(dataset)
    monkeypatch.setattr(datasets, "code_of", lambda spec: "f" * 16)
    with pytest.raises(StoreError) as error:
        load_dataset(dataset)
    text = str(error.value)
    run, code = next(iter(footer["codes"].items()))
    assert text.startswith(f"{dataset} is stale: code {code} made {run}, this is {'f' * 16}; ")
    assert "\n" not in text


def test_chunk_is_no_dataset(chunks):
    with pytest.raises(StoreError, match="its kind is 'chunk', wanted 'dataset'"):
        load_dataset(chunks[0])


def test_foreign_dataset(tmp_path):
    pa.parquet.write_table(pa.table({"run": ["mine"]}), tmp_path / "mine.parquet")
    with pytest.raises(StoreError, match="was not written by fairbandits"):
        load_dataset(tmp_path / "mine.parquet")


def test_missing_dataset(tmp_path):
    with pytest.raises(StoreError, match="does not exist; `fairbandits replicate` makes it"):
        load_dataset(tmp_path / "none.parquet")
