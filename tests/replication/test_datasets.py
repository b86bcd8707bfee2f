"""Chunks become datasets: the same ones however they were cut, and none from bad chunks."""

import itertools
import os
import re
import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import shrunk
from fairbandits.data.dictionary import RECORDED
from fairbandits.data.store import StoreError, read_footer
from fairbandits.replication.code import code_of, code_of_all
from fairbandits.replication.datasets import COMMON, collect, guard, load_dataset
from fairbandits.replication.simulate import simulate_chunk, write_chunk
from fairbandits.replication.verify import replicate_hashes
from fairbandits.settings.spec import OF_INSTANCE

SEED = 20240716
REPLICATES = 3
HORIZON = 60
#: Horizons of `trade_off`, which are apart.
APART, FEW = [6300, 6901], {"linear": 6, "log": 4}
#: Kind of dataset -> paper, experiment, and limits of its small run.
KINDS = {
    "plain": ("banditq", "full_information", {"horizon": HORIZON}),
    "probes of some": ("banditq", "oracle_lfg", {"horizon": HORIZON}),
    "swept": ("fair_ucb", "fairness", {"horizon": 120}),
    "drawn means, horizons": ("ht_ucb", "regret_5_02", {"horizon": 1200}),
    "horizons apart": ("banditq", "trade_off", {"horizon": APART[-1], "checkpoints": FEW}),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def experiment_of(kind, chunk=2):
    paper, name, limits = KINDS[kind]
    limits = {"replicates": REPLICATES, "checkpoints": {"linear": 20, "log": 5}} | limits
    return shrunk.experiment_of(paper, name, SEED, chunk=chunk, **limits)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a function that gives the chunks of a kind, to be left as they are."""

    @cache
    def chunks(kind):
        return shrunk.chunks_of(experiment_of(kind), tmp_path_factory.mktemp("chunks"), SEED)

    return chunks


@pytest.fixture
def chunks(made, tmp_path):
    """Return a copy of the plain chunk files, to spoil."""
    return copies_of(made("plain"), tmp_path / "chunks")


def copies_of(files, folder):
    for file in files:
        (folder / file.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / file.parent.name)
    return sorted(folder.rglob("*.parquet"))


@pytest.fixture
def facts():
    return experiment_of("plain").facts()


def refusal(chunks, facts, out):
    """Return the message with which chunks are refused; nothing may be written."""
    with pytest.raises(StoreError) as error:
        collect(chunks, facts, SEED, out)
    assert not out.exists()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.slow
@every_kind
def test_dataset_is_what_the_runs_give_however_they_are_cut(made, kind, tmp_path):
    experiment = experiment_of(kind)
    collect(made(kind), experiment.facts(), SEED, tmp_path / "2.parquet")
    table, footer = load_dataset(tmp_path / "2.parquet")
    assert tuple(table.column_names[: len(COMMON)]) == COMMON
    specs = {run.name: run.spec for run in experiment.runs}
    assert footer["codes"] == {name: code_of(spec) for name, spec in specs.items()}
    assert footer["code"] == code_of_all(specs.values())
    assert footer["seed"] == SEED
    assert experiment.facts().items() <= footer.items()
    assert list(footer["runs"]) == table["run"].unique().to_pylist() == list(specs)
    for name, spec in specs.items():
        rows = table.filter(pc.equal(table["run"], name))
        assert set(rows["policy"].to_pylist()) == {spec.policy}
        assert set(rows["law"].to_pylist()) == {spec.law}
        columns = simulate_chunk(spec, SEED, range(REPLICATES))
        for column, values in columns.items():
            np.testing.assert_array_equal(rows[column].to_numpy(), values)
        # a replicate has the hash that it has alone
        together = replicate_hashes(columns)
        alone = replicate_hashes(simulate_chunk(spec, SEED, [1]))
        assert alone == {1: together[1]} != {1: together[0]}
    for chunk in (1, 3):
        other = tmp_path / f"{chunk}.parquet"
        files = shrunk.chunks_of(experiment_of(kind, chunk), tmp_path / str(chunk), SEED)
        assert len(files) == len(specs) * -(-REPLICATES // chunk)
        collect(sorted(files, reverse=chunk == 1), experiment.facts(), SEED, other)
        assert load_dataset(other)[0].select(table.column_names).equals(table)


def first_run(chunks, facts):
    return [file for file in chunks if file.parent.name == next(iter(facts["runs"]))]


def with_a_flipped_bit(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)


def of_another(**changes):
    return lambda file: shrunk.rewritten(file, run=read_footer(file)["run"] | changes)


def with_footer(**footer):
    return lambda file: shrunk.rewritten(file, **footer)


@pytest.mark.parametrize(
    ("damage", "message_of"),
    [
        (of_another(horizon=61), " does not belong here: its run is .*61"),
        (of_another(stream="other"), " does not belong here: its run is .*'other'"),
        (with_footer(seed=3), f" .* its seed is 3, wanted {SEED}; delete .*"),
        (
            with_footer(code="0" * 16),
            " is stale: code 0{16} made it, this is .*replicate` makes it",
        ),
        (lambda file: os.truncate(file, 2000), " is not a readable Parquet file"),
        (with_a_flipped_bit, " is damaged"),
        (os.remove, " does not exist"),
    ],
)
def test_damaged_chunk(chunks, facts, tmp_path, damage, message_of):
    damage(chunks[0])
    message = refusal(chunks, facts, tmp_path / "data.parquet")
    assert re.match(f"{re.escape(str(chunks[0]))}{message_of}", message), message


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (lambda files: files[1:], [2]),
        (lambda files: [], []),
        (lambda files: [*files, files[0]], [0, 1, 0, 1, 2]),
        (lambda files: [*files, files[0].with_name("3-3.parquet")], [0, 1, 2, 3]),
    ],
    ids=["one missing", "all missing", "twice", "too many"],
)
def test_chunks_must_have_each_replicate_once(chunks, facts, tmp_path, given, got):
    files, out = first_run(chunks, facts), tmp_path / "data.parquet"
    run = experiment_of("plain").runs[0]
    write_chunk(run.spec, SEED, range(3, 4), files[0].with_name("3-3.parquet"))
    others = [file for file in chunks if file not in files]
    assert refusal([*given(files), *others], facts, out) == (
        f"{out}: the chunks of {run.name} must hold replicates 0 to {REPLICATES - 1} once each, "
        f"in order; got {got}"
    )


def test_chunk_of_no_run(chunks, facts, tmp_path):
    other = chunks[0].parents[1] / "banditq-beta" / chunks[0].name
    other.parent.mkdir()
    shutil.copy(chunks[0], other)
    text = refusal([*chunks, other], facts, tmp_path / "data.parquet")
    assert text == f"{other} does not belong here: there is no run 'banditq-beta'"


def rows(which):
    return lambda columns: {name: values[which(columns)] for name, values in columns.items()}


def without(name, value):
    return rows(lambda columns: columns[name] != value)


def moved(name, index, by):
    def change(columns):
        columns[name][index] += by

    return change


def turned_round(name):
    return lambda columns: columns | {name: columns[name][::-1].copy()}


def everywhere(name, value):
    return lambda columns: columns | {name: np.full_like(columns[name], value)}


def one_pull_moved(columns):
    columns["plays"][-1] += 1
    columns["plays"][-2] -= 1


def falling(columns):
    """Within a cell; that the next one starts anew is no fault."""
    first = columns["plays"][:5].argmax()  # the arm pulled in round 1
    columns["plays"][5 + (first + 1) % 5] += columns["plays"][5 + first]
    columns["plays"][5 + first] = 0


ROWS = "its rows must be arms 1 to"
SWEPT = "of replicates 0 to 1, for each eta of the sweep"
HORIZONS = "for each horizon of the sweep, for each"
#: Kind, run, change of its first chunk, and what is said of it.
SPOILT = [
    ("plain", "", rows(lambda columns: slice(-1)), ROWS),
    ("plain", "", rows(lambda columns: columns["round"] < HORIZON), ROWS),
    ("plain", "", rows(lambda columns: slice(None, None, -1)), ROWS),
    ("plain", "", moved("replicate", slice(None), 1), ROWS),
    ("plain", "", everywhere("reward", np.nan), "that reward is finite fails first in replicate 0"),
    ("swept", "lfg", without("eta", 10), SWEPT),
    ("swept", "lfg", turned_round("eta"), SWEPT),
    ("swept", "", one_pull_moved, "that floor_deficit = floor(quota * t) - plays"),
    ("swept", "", moved("floor_deficit", 5, 1), "that floor_deficit = floor(quota * t) - plays"),
    ("swept", "", moved("deficit_sup", -1, -100), "that deficit_sup"),
    ("drawn means, horizons", "ucb1", moved("mean", -1, 1e-9), "that a replicate keeps its means"),
    ("drawn means, horizons", "ucb1", everywhere("mean", 1.5), "that means are in their range"),
    ("drawn means, horizons", "ucb1", everywhere("mean", 0.5), "ucb1-gaussian have other means"),
    ("drawn means, horizons", "lfg", turned_round("horizon"), f"{HORIZONS} eta_exponent"),
    ("drawn means, horizons", "lfg", without("horizon", 1200), f"{HORIZONS} eta_exponent"),
    ("horizons apart", "", without("horizon", APART[0]), f"{HORIZONS} V_exponent"),
    ("horizons apart", "", without("round", APART[1]), HORIZONS),
    ("horizons apart", "", turned_round("horizon"), HORIZONS),
    ("horizons apart", "", falling, "that plays never falls"),
]


@pytest.mark.parametrize(("kind", "run", "change", "phrase"), SPOILT)
def test_spoilt_chunks_are_refused(made, kind, run, change, phrase, tmp_path):
    files = copies_of(made(kind), tmp_path / "chunks")
    file = next(file for file in files if file.parent.name.startswith(run))
    shrunk.rewritten(file, change)
    message = refusal(files, experiment_of(kind).facts(), tmp_path / "data.parquet")
    assert phrase in message
    if "have other means" not in phrase:
        assert message.startswith(f"{file}: ")
        assert message.endswith(f"; delete {file} and run again")


@pytest.fixture(scope="module")
def recorded():
    """Return the spec and columns of a run of BanditQ with either feedback."""
    tables = {}
    for feedback, name in (("full", "full_information"), ("bandit", "bandit_feedback")):
        spec = shrunk.experiment_of("banditq", name, SEED, horizon=HORIZON).runs[0].spec
        tables[feedback] = spec, simulate_chunk(spec, SEED, range(1, 4))
    return tables


either_feedback = pytest.mark.parametrize("feedback", ["full", "bandit"])


def spoil(recorded, feedback, column, change, replicate=2, t=None, arm=1):
    """Return a spec, a table with one entry of one column changed, and the round of that."""
    spec, columns = recorded[feedback]
    columns = {name: values.copy() for name, values in columns.items()}
    rounds = np.unique(columns["round"])
    t = rounds[rounds.size // 2] if t is None else t
    row = (columns["replicate"] == replicate) & (columns["round"] == t) & (columns["arm"] == arm)
    assert row.sum() == 1
    if not np.can_cast(type(change), columns[column].dtype):
        columns[column] = columns[column].astype(float)
    columns[column][row] += change
    return spec, pa.table(columns), t


def refused(table, spec, what, t):
    wanted = f"file: that {what} fails first in replicate 2, round {t}"
    with pytest.raises(StoreError, match=rf"^{re.escape(wanted)}$"):
        guard(table, spec, "file")


@either_feedback
def test_guard_lets_good_columns_pass(recorded, feedback):
    spec, columns = recorded[feedback]
    assert np.unique(columns["replicate"]).size > 1  # each of which starts from nothing
    guard(pa.table(columns), spec, "file")
    unprotected = spoil(recorded, feedback, "reward", 1.0, arm=4)
    guard(unprotected[1], spec, "file")
    for run in experiment_of("probes of some").runs:  # without queues for targets: no balance
        guard(pa.table(simulate_chunk(run.spec, SEED, [0, 1])), run.spec, "file")


@pytest.mark.parametrize("shares", [False, True])
def test_guard_knows_targets_of_the_instance(shares):
    config = shrunk.config(["banditq"], SEED, horizon=HORIZON)
    specs = (run.spec for run in config.runs if run.spec.policy == "banditq")
    asking = (spec for spec in specs if spec.parameters["targets"] == OF_INSTANCE)
    spec = replace(next(each for each in asking if bool(each.target_shares) == shares), record=None)
    columns = simulate_chunk(spec, SEED, [1, 2])
    guard(pa.table(columns), spec, "file")
    columns["queue"][-spec.n_arms] += 1e-5
    refused(pa.table(columns), spec, BALANCE, columns["round"][-1])


FINITE = itertools.product(
    ("reward", "queue", "idleness", "queue_max", "probability"), (np.nan, np.inf, -np.inf)
)
TOTAL, BALANCE = "plays sum to the round", "owed reward = queue - idleness"  # the latter is E3
#: Column, change, place of it, and what then does not hold.
SPOILT_ENTRIES = [
    *((column, value, {"arm": 5}, f"{column} is finite") for column, value in FINITE),
    *(("plays", change, {"arm": 4}, TOTAL) for change in (1, -1)),
    *((column, 1e-5, {"t": HORIZON}, BALANCE) for column in ("queue", "idleness", "reward")),
]


@either_feedback
@pytest.mark.parametrize(("column", "change", "index", "what"), SPOILT_ENTRIES)
def test_guard_finds_a_spoilt_entry(recorded, feedback, column, change, index, what):
    small = 1e-6 if column == "plays" and feedback == "full" else 1  # plays are probabilities
    spec, table, t = spoil(recorded, feedback, column, change * small, **index)
    refused(table, spec, what, t)


#: Experiment and run that record columns that never fall.
GROWING = {
    ("banditq", "full_information", "banditq-uniform02"): ["queue_max", "idleness"],
    ("banditq", "bandit_feedback", "banditq-uniform02"): ["probability"],
    ("fair_ucb", "fairness", "fair_ucb-bernoulli"): ["deficit_sup"],
    ("banditq", "suite_full_five_arms", "banditq-uniform02"): ["starvation"],
    ("banditq", "at_risk_near_best", "full-bernoulli"): ["plays_sum"],
    ("banditq", "suite_full_bounds_five_arms", "banditq-uniform02"): ["squares"],
    ("banditq", "pathwise_full_five_arms", "pre_theorem-uniform02"): [
        f"{name}_excess" for name in ("eq6", "eq8", "eq11", "eq12", "eq13", "queue", "floor")
    ],
    ("banditq", "surrogate_bound_bandit_five_arms", "post-uniform02"): ["gain_squares", "gain_max"],
    ("banditq", "surrogate_paths", "banditq-uniform02"): ["gain_norm"],
}


def test_each_column_that_never_falls_is_tried():
    tried = {"plays", *(name for names in GROWING.values() for name in names)}
    assert tried == {name for name, column in RECORDED.items() if column.grows}


@pytest.mark.parametrize("key", GROWING, ids="-".join)
def test_guard_finds_what_falls(key):
    paper, name, run = key
    experiment = shrunk.experiment_of(paper, name, SEED, horizon=HORIZON)
    spec = {run_of.name: run_of.spec for run_of in experiment.runs}[run]
    columns = simulate_chunk(spec, SEED, range(1))
    guard(pa.table(columns), spec, "file")
    n_arms = spec.n_arms
    for column in GROWING[key]:
        fallen = columns[column].copy()
        fallen[-n_arms:] = fallen[-2 * n_arms : -n_arms] - 1e-3
        table = pa.table(columns | {column: fallen})
        with pytest.raises(StoreError, match=f"that {column} never falls fails first in replicate"):
            guard(table, spec, "file")


def test_a_chunk_is_no_dataset(chunks):
    with pytest.raises(StoreError, match="its kind is 'chunk', wanted 'dataset'"):
        load_dataset(chunks[0])
