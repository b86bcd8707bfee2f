"""Sweeps and quotas: from the configuration to the dataset, in every chunking, and refused."""

import copy
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

import shrunk
from fairbandits import FairLearn, Instance, run
from fairbandits.data.store import StoreError, read_footer, read_table, write_table
from fairbandits.library.simulation import checkpoint_grid
from fairbandits.replication.datasets import collect, load_dataset
from fairbandits.replication.recorded import runs_of
from fairbandits.replication.simulate import simulate_chunk
from fairbandits.replication.verify import replicate_hashes
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ROOT, ConfigError
from fairbandits.settings.spec import cells_of_sweep, swept

SEED = 20240802
REPLICATES = 3
HORIZON = 120
FILE = ROOT / "papers" / "fair_ucb" / "experiments.yaml"


def experiment_of(name, chunk=2):
    return shrunk.experiment_of("fair_ucb", name, SEED, horizon=HORIZON, chunk=chunk)


def respoiled(file, change):
    """Write a chunk again with changed columns, under its old footer."""
    table = read_table(file)
    columns = {name: table[name].to_numpy().copy() for name in table.column_names}
    write_table(file, pa.table(change(columns)), read_footer(file))


def refusal(files, experiment, out):
    with pytest.raises(StoreError) as error:
        collect(files, experiment.facts(), SEED, out)
    assert not out.exists()
    return str(error.value)


# ---------------------------------------------------------------------------------- what is run


def test_cells():
    assert cells_of_sweep({}) == [{}]
    assert cells_of_sweep({"tolerance": [0, 0.5]}) == [{"tolerance": 0}, {"tolerance": 0.5}]
    assert [swept(value) for value in (3, 0.5, "1/4")] == [3.0, 0.5, 0.25]


def test_each_cell_is_the_run_with_that_value():
    experiment = experiment_of("cost_of_fairness")
    spec = experiment.runs[0].spec
    columns = simulate_chunk(spec, SEED, [0, 2])
    tolerances = spec.sweep["tolerance"]
    size = columns["round"].size // len(tolerances)
    for place, tolerance in enumerate(tolerances):
        alone = run(
            FairLearn(**spec.parameters, tolerance=tolerance),
            Instance(spec.means),
            HORIZON,
            [0, 2],
            seed=SEED,
            stream="fair_ucb/cost_of_fairness",
            checkpoints=checkpoint_grid(HORIZON, **spec.checkpoints),
            quotas=experiment.quotas,
        ).columns()
        part = slice(place * size, (place + 1) * size)
        assert (columns["tolerance"][part] == tolerance).all()
        for name, values in alone.items():
            assert np.array_equal(columns[name][part], values), name


@pytest.mark.parametrize("name", ["cost_of_fairness", "r_regret", "fairness"])
def test_dataset_is_the_same_however_it_is_cut(name, tmp_path):
    tables = []
    for chunk in (1, 2, 3):
        experiment = experiment_of(name, chunk)
        out = tmp_path / f"{chunk}.parquet"
        files = shrunk.chunks_of(experiment, tmp_path / str(chunk), SEED)
        collect(files[::-1], experiment.facts(), SEED, out)
        tables.append(load_dataset(out)[0])
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def test_runs_of_a_dataset_are_the_cells_of_its_sweeps(tmp_path):
    experiment = experiment_of("r_regret")
    out = tmp_path / "data.parquet"
    collect(shrunk.chunks_of(experiment, tmp_path, SEED), experiment.facts(), SEED, out)
    found = list(runs_of(*load_dataset(out)))
    assert [(one.policy, one.cell) for one in found] == [
        ("fair_ucb", {}),
        *(("lfg", {"eta": eta}) for eta in (1, 10, 100, 1000, 10000)),
    ]
    rows = load_dataset(out)[0].to_pandas()
    for one in found:
        mine = rows[rows["run"] == one.name]
        if one.cell:
            mine = mine[mine["eta"] == one.cell["eta"]]
            assert "queue" in one.values
        assert np.array_equal(one.values["plays"].reshape(-1), mine["plays"])
        assert one.values["plays"].shape == (REPLICATES, one.rounds.size, 10)


def test_hash_of_a_replicate_holds_all_cells():
    spec = experiment_of("fairness").runs[1].spec
    columns = simulate_chunk(spec, SEED, [0, 1, 2])
    together = replicate_hashes(columns)
    assert sorted(together) == [0, 1, 2]
    for replicate, value in together.items():
        assert replicate_hashes(simulate_chunk(spec, SEED, [replicate])) == {replicate: value}
    last = columns["plays"].copy()
    last[-1] += 1
    after = replicate_hashes(columns | {"plays": last})
    assert [k for k in together if after[k] != together[k]] == [2]


# ------------------------------------------------------------------------------- refused chunks


def without_a_cell(columns):
    keep = columns["eta"] != 10
    return {name: values[keep] for name, values in columns.items()}


def cells_swapped(columns):
    columns["eta"] = columns["eta"][::-1].copy()
    return columns


def one_pull_moved(columns):
    columns["plays"][-1] += 1
    columns["plays"][-2] -= 1
    return columns


def rounded_floor(columns):
    columns["floor_deficit"][5] += 1
    return columns


def shrunk_sup(columns):
    columns["deficit_sup"][-1] = columns["deficit"][-1] - 1
    return columns


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_a_cell, "for each eta of the sweep"),
        (cells_swapped, "for each eta of the sweep"),
        (one_pull_moved, "that floor_deficit = floor(quota * t) - plays"),
        (rounded_floor, "that floor_deficit = floor(quota * t) - plays"),
        (shrunk_sup, "that deficit_sup"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_spoilt_chunks_are_refused(change, words, tmp_path):
    experiment = experiment_of("fairness", 3)
    files = shrunk.chunks_of(experiment, tmp_path, SEED)
    respoiled(files[-1], change)
    message = refusal(files, experiment, tmp_path / "data.parquet")
    assert words in message
    assert str(files[-1]) in message


# ------------------------------------------------------------------------ refused configurations


def refused(tmp_path, change):
    """Return the message for a changed configuration of this paper."""
    content = copy.deepcopy(yaml.safe_load(FILE.read_text()))
    change(content["experiments"]["fairness"])
    place = tmp_path / "papers" / "fair_ucb" / "experiments.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError) as error:
        build_config(shrunk.settings(["fair_ucb"], SEED, horizon=HORIZON), "test", Path(tmp_path))
    return str(error.value)


def sourced(value):
    return {"value": value, "provenance": "chosen", "source": "test"}


def fair(block):
    return block["policies"]["fair_ucb"]


CHANGES = {
    "sum": (
        lambda block: block.update(quotas=sourced(["1/2", "1/4", "2/5"])),
        "experiments.fairness: quotas must sum to less than 1, got 23/20",
    ),
    "negative": (
        lambda block: block.update(quotas=sourced(["1/2", "-1/4", 0])),
        "quotas must be at least 0, got -1/4 for arm 2",
    ),
    "irrational": (
        lambda block: block.update(quotas=sourced(["pi/4", 0, 0])),
        "quotas must be a number such as 0.05 or \"1/3\", got 'pi/4'",
    ),
    "length": (
        lambda block: block.update(quotas=sourced(["1/2", "1/4"])),
        "experiments.fairness.quotas must have one entry per mean (3), got 2",
    ),
    "length of the policy's": (
        lambda block: fair(block)["parameters"].update(quotas=sourced(["1/2", "1/4"])),
        "policies.fair_ucb.parameters.quotas must have one entry per arm (3), got 2",
    ),
    "learner": (
        lambda block: fair(block)["parameters"].update(learner=sourced("ucb2")),
        "policies.fair_ucb.parameters.learner: 'ucb2' is unknown; did you mean 'ucb1'?",
    ),
    "learner's parameter": (
        lambda block: fair(block)["parameters"].update(learner_parameters=sourced({"clok": 1})),
        "parameters.learner_parameters: unknown key 'clok'; did you mean 'clock'?",
    ),
    "tolerance": (
        lambda block: fair(block)["parameters"].update(tolerance=sourced(-1)),
        "policies.fair_ucb.parameters: tolerance: -1 is less than the minimum of 0",
    ),
    "swept value": (
        lambda block: block["policies"]["lfg"].update(sweep={"eta": sourced([1, -10])}),
        "policies.lfg.parameters: eta: -10 is less than the minimum of 0",
    ),
    "swept name": (
        lambda block: block["policies"]["lfg"].update(sweep={"etta": sourced([1])}),
        "policies.lfg.parameters: unknown key 'etta'; did you mean 'eta'?",
    ),
    "swept twice": (
        lambda block: block["policies"]["lfg"].update(sweep={"cap": sourced([1])}),
        "policies.lfg.parameters: cap is also in sweep; give it once",
    ),
    "companion": (
        lambda block: block.update(companion_to=["fig5"]),
        "experiments.fairness.companion_to: 'fig5' is drawn from no experiment; did you mean",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_configuration_is_refused(name, tmp_path):
    change, words = CHANGES[name]
    message = refused(tmp_path, change)
    assert words in message
    assert re.match(r"papers/fair_ucb/experiments\.yaml", message)
    assert "\n" not in message


def test_quotas_need_pulls():
    from fairbandits import Hedge

    with pytest.raises(ValueError, match="quotas count pulls"):
        run(Hedge(), Instance((0.5, 0.25)), 10, quotas=("1/3", "1/3"))
    with pytest.raises(ValueError, match=r"quotas must have one entry per arm \(2\), got 1"):
        run(FairLearn((0, 0)), Instance((0.5, 0.25)), 10, quotas=("1/3",))
