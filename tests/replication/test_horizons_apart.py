"""Horizons apart, shares of the first arms: from configuration to dataset, and refused."""

import copy
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

import real
import shrunk
from fairbandits import BanditQ, Instance, run
from fairbandits.audit.evidence import Evidence
from fairbandits.data.store import StoreError, read_footer, read_table, write_table
from fairbandits.library.simulation import checkpoint_grid
from fairbandits.replication.datasets import collect, load_dataset
from fairbandits.replication.recorded import runs_of
from fairbandits.replication.simulate import simulate_chunk, write_chunk
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ROOT, ConfigError

SEED = 20240930
REPLICATES = 3
HORIZONS = [6300, 6901]
GRID = {"linear": 6, "log": 4}
FILE = ROOT / "papers" / "banditq" / "audit.yaml"


def experiment_of(name, horizon=HORIZONS[-1], chunk=2):
    limits = {"horizon": horizon, "chunk": chunk, "checkpoints": GRID}
    return shrunk.experiment_of("banditq", name, SEED, **limits)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the experiment, its chunks and its dataset, horizons with a sweep in each."""
    folder = tmp_path_factory.mktemp("apart")
    experiment = experiment_of("trade_off")
    files = shrunk.chunks_of(experiment, folder, SEED)
    out = folder / "banditq" / "trade_off.parquet"
    collect(files, experiment.facts(), SEED, out)
    return experiment, files, out


def test_each_horizon_has_its_rounds_and_its_rewards(made):
    experiment, _, out = made
    found = list(runs_of(*load_dataset(out)))
    assert len(found) == 2 * len(HORIZONS) * 3
    for one in found:
        horizon, exponent = int(one.cell["horizon"]), one.cell["V_exponent"]
        alone = run(
            BanditQ(experiment.targets, one.policy, V_exponent=exponent),
            Instance(experiment.means, "uniform02"),
            horizon,
            REPLICATES,
            seed=SEED,
            stream=f"banditq/trade_off/{horizon}",
            checkpoints=checkpoint_grid(horizon, **GRID),
        )
        assert one.rounds.tolist() == alone.rounds.tolist()
        assert np.array_equal(one.values["plays"], alone.plays)
        assert np.array_equal(one.values["reward"], alone.rewards)
    assert len({one.rounds.size for one in found}) > 1  # so that even parts would be wrong


def test_dataset_is_the_same_however_it_is_cut(made, tmp_path):
    table, _ = load_dataset(made[2])
    for chunk in (1, 3):
        experiment = experiment_of("trade_off", chunk=chunk)
        out = tmp_path / f"{chunk}.parquet"
        files = shrunk.chunks_of(experiment, tmp_path / str(chunk), SEED)
        collect(files[::-1], experiment.facts(), SEED, out)
        assert load_dataset(out)[0].equals(table)


def test_cells_are_told_by_their_horizon(made):
    wanted = load_dataset(made[2], ["run", "round", "horizon", "reward"])
    assert [one.rounds.size for one in runs_of(*wanted)] == [
        one.rounds.size for one in runs_of(*load_dataset(made[2]))
    ]
    blind = load_dataset(made[2], ["run", "round", "reward"])
    with pytest.raises(ValueError, match="need the column horizon, got run, round, reward"):
        list(runs_of(*blind))


def test_rows_can_be_left_out(made):
    import pyarrow.compute as pc

    last = load_dataset(made[2], rows=lambda _: pc.field("round") == pc.field("horizon"))
    found = list(runs_of(*last))
    assert [one.rounds.tolist() for one in found] == [[one.cell["horizon"]] for one in found]
    assert {one.values["plays"].shape for one in found} == {(REPLICATES, 1, 5)}


def test_evidence_asks_for_the_horizon(made):
    folder = made[2].parents[1]
    evidence = Evidence(
        build_config(shrunk.settings(["banditq"], SEED, folder), "test"), "banditq", folder
    )
    found = evidence.one("trade_off", ["reward"]).runs
    assert {one.cell["horizon"] for one in found} == set(HORIZONS)
    assert {name for one in found for name in one.values} == {"reward"}


# ------------------------------------------------------------------------------ refused chunks


def without_a_horizon(columns):
    return {name: values[columns["horizon"] != HORIZONS[0]] for name, values in columns.items()}


def without_a_round(columns):
    keep = (columns["horizon"] != HORIZONS[0]) | (columns["round"] != 1)
    return {name: values[keep] for name, values in columns.items()}


def without_the_last_round(columns):
    keep = columns["round"] != HORIZONS[1]
    return {name: values[keep] for name, values in columns.items()}


def horizons_swapped(columns):
    return columns | {"horizon": columns["horizon"][::-1].copy()}


def cells_swapped(columns):
    return columns | {"V_exponent": columns["V_exponent"][::-1].copy()}


def of_another_horizon(columns):
    horizon = columns["horizon"].copy()
    horizon[horizon == HORIZONS[0]] = 9
    return columns | {"horizon": horizon}


def falling(columns):
    """Within a cell; that the next one starts anew is no fault."""
    plays = columns["plays"].copy()
    first = plays[:5].argmax()  # the arm pulled in round 1
    other = (first + 1) % 5
    plays[5 + other] += plays[5 + first]
    plays[5 + first] = 0
    return columns | {"plays": plays}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_a_horizon, "for each horizon of the sweep, for each V_exponent of the sweep"),
        (without_the_last_round, "for each horizon"),
        (horizons_swapped, "for each horizon"),
        (cells_swapped, "for each V_exponent"),
        (of_another_horizon, "for each horizon"),
        (falling, "that plays never falls"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_spoilt_chunks_are_refused(made, change, words, tmp_path):
    experiment, files, _ = made
    copies = []
    for file in files:
        copies.append(tmp_path / file.parent.name / file.name)
        table = read_table(file)
        columns = {name: table[name].to_numpy() for name in table.column_names}
        if file == files[-1]:
            columns = change(columns)
        write_table(copies[-1], pa.table(columns), read_footer(file))
    with pytest.raises(StoreError) as error:
        collect(copies, experiment.facts(), SEED, tmp_path / "out.parquet")
    assert str(error.value).startswith(str(copies[-1]))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("name", "column", "run_name"),
    [
        *(
            ("suite_full_five_arms", column, "banditq-uniform02")
            for column in ("starvation", "plays_sum")
        ),
        ("suite_full_bounds_five_arms", "squares", "banditq-uniform02"),
        *(
            ("pathwise_full_five_arms", f"{column}_excess", "pre_theorem-uniform02")
            for column in ("eq6", "eq8", "eq11", "eq12", "eq13", "queue", "floor")
        ),
        *(
            ("surrogate_bound_bandit_five_arms", column, "post-uniform02")
            for column in ("gain_squares", "gain_max")
        ),
        ("surrogate_paths", "gain_norm", "banditq-uniform02"),
    ],
)
def test_guard_finds_what_falls(name, column, run_name, tmp_path):
    experiment = experiment_of(name, horizon=60)
    spec = {one.name: one.spec for one in experiment.runs}[run_name]
    file = tmp_path / run_name / "0-0.parquet"
    write_chunk(spec, SEED, range(1), file)
    from fairbandits.replication.datasets import guard

    table = read_table(file)
    guard(table, spec, file)
    columns = {one: table[one].to_numpy().copy() for one in table.column_names}
    columns[column][-5:] = columns[column][-10:-5] - 1e-3
    with pytest.raises(StoreError, match=f"that {column} never falls fails first in replicate 0"):
        guard(pa.table(columns), spec, file)


# ----------------------------------------------------------------------------- configurations


def test_horizons_without_apart_meet_the_same_rewards():
    spec = experiment_of("trade_off").runs[0].spec
    together = replace(spec, apart=False)
    columns = simulate_chunk(together, SEED, [0])
    assert columns["round"].size == len(HORIZONS) * 3 * 5
    alone = run(
        BanditQ((0.1676, 0.0677, 0, 0, 0), "full", V_exponent=0),
        Instance(spec.means, "uniform02"),
        HORIZONS[0],
        1,
        seed=SEED,
        stream="banditq/trade_off",
        checkpoints=[HORIZONS[0]],
    )
    assert np.array_equal(columns["plays"][:5], alone.plays[0, 0])


def test_same_share_of_the_first_arms():
    config = real.config()
    arms = config.experiment("banditq", "arms_50")
    assert arms.targets[:20] == pytest.approx([mean / 60 for mean in arms.means[:20]], rel=1e-15)
    assert not any(arms.targets[20:])
    assert arms.runs[0].spec.target_shares == ("1/60",) * 20


def test_small_runs_have_a_round_for_each_arm():
    assert experiment_of("thousand_arms", horizon=60).horizon == 1000
    assert experiment_of("arms_200", horizon=60).horizon == 200
    assert experiment_of("arms_50", horizon=60).horizon == 60


def refused(tmp_path, change):
    """Return the message for a changed configuration of the audit."""
    content = copy.deepcopy(yaml.safe_load(FILE.read_text(encoding="utf-8")))
    change(content["experiments"])
    folder = tmp_path / "papers" / "banditq"
    folder.mkdir(parents=True)
    shutil.copy(FILE.with_name("experiments.yaml"), folder)
    (folder / FILE.name).write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError) as error:
        build_config(shrunk.settings(["banditq"], SEED), "test", Path(tmp_path))
    return str(error.value)


def sourced(value):
    return {"value": value, "provenance": "chosen", "source": "test"}


CHANGES = {
    "no horizons": (
        lambda all_: all_["bandit_far"]["policies"]["banditq"].update(apart=True),
        "experiments.bandit_far.policies.banditq.apart: there are no horizons; give them beside it",
    ),
    "listed rounds": (
        lambda all_: all_["trade_off"].update(checkpoints={"at": [2000000]}),
        "experiments.trade_off.policies.bandit.apart needs checkpoints for any horizon: linear and "
        "log, not at",
    ),
    "drawn means": (
        lambda all_: all_["thousand_arms"]["policies"]["full"].update(
            apart=True, horizons=sourced([2000, 3000])
        ),
        "experiments.thousand_arms.policies.full.apart needs fixed means; drawn ones belong to the "
        "replicate",
    ),
    "no truth": (
        lambda all_: all_["trade_off"]["policies"]["full"].update(apart="yes"),
        "experiments.trade_off.policies.full.apart: 'yes' is not of type 'boolean'",
    ),
    "shares of too many": (
        lambda all_: all_["arms"]["instances"]["5"].update(
            target_shares=sourced({"share": "1/9", "arms": 6})
        ),
        "experiments.arms_5.target_shares must have at most one entry per mean (5), got 6",
    ),
    "shares of none": (
        lambda all_: all_["arms"]["instances"]["5"].update(target_shares=sourced({"share": "1/9"})),
        "experiments.arms.target_shares.value: 'arms' is a required property",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_configuration_is_refused(name, tmp_path):
    change, words = CHANGES[name]
    message = refused(tmp_path, change)
    assert words in message
    assert message.startswith("papers/banditq/audit.yaml: ")
