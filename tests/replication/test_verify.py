"""The lock of results: it holds for good results, and names what is wrong with others."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml

import shrunk
from commands import invoke
from fairbandits.arena.settings import arena_config
from fairbandits.data.provenance import replay_code
from fairbandits.data.store import (
    DIGITS,
    StoreError,
    content_of_run,
    read_footer,
    read_table,
    table_hash,
    write_table,
)
from fairbandits.figures import figure_code
from fairbandits.replication import verify as check
from fairbandits.replication.code import code_of_all
from fairbandits.replication.datasets import collect
from fairbandits.replication.lock import read_lock
from fairbandits.replication.verify import replicate_hashes, summarised
from fairbandits.report import manifest
from fairbandits.settings.config import build_config

pytestmark = pytest.mark.slow


def verify(config, lock, sample, seed):
    return check.verify(config, lock, manifest.facts_of(config), sample, seed)


def write_lock(config, out):
    check.write_lock(config, {}, out)


REPLICATES = 3
RUN = "banditq/bandit_feedback/banditq-bernoulli"


def settings_in(folder):
    return shrunk.settings(["banditq"], "frozen", folder)


def config_in(folder):
    return build_config(settings_in(folder), "test")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    config = config_in(folder)
    for experiment in config.experiments:
        seed, chunks = config.root_seed, folder / "cache"
        files = shrunk.chunks_of(experiment, chunks, seed)
        collect(files, experiment.facts(), seed, folder / experiment.dataset)
        shutil.rmtree(chunks)
    write_lock(config, folder / "results.lock")
    return folder


@pytest.fixture
def config(made, tmp_path):
    """Return the small configuration, with a copy of its results that a test may spoil."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return config_in(tmp_path)


@pytest.fixture
def lock(made):
    return read_lock(made / "results.lock")


@pytest.fixture
def data(config):
    return config.results / "banditq" / "bandit_feedback.parquet"


def content_in(table):
    rows = table.filter(pc.equal(table["run"], RUN.rpartition("/")[2])).drop(
        ["run", "policy", "law"]
    )
    columns = {name: rows[name].to_numpy() for name in rows.column_names}
    return content_of_run(replicate_hashes(columns).values())


def rewritten(file, table, *, forged=False):
    """Write a dataset again with another table; if forged, its footer agrees with that."""
    footer = read_footer(file)
    if forged:
        footer["content"]["banditq-bernoulli"] = content_in(table)
    write_table(file, table, footer)


def with_another_end(file):
    table = read_table(file)
    values = table["probability"].to_numpy().copy()
    values[-1] = np.nextafter(values[-1], 1.0)
    at = table.column_names.index("probability")
    return table.set_column(at, "probability", pa.array(values))


def of_run(lock, key=RUN):
    return lock["runs"][key].split()


def test_every_damaged_file_is_named(config, lock, data):
    """With what else is wrong."""
    other, damaged = (data.with_name(f"{name}.parquet") for name in ("oracle_lfg", "controls"))
    for file in (data, damaged):
        file.write_bytes(b"PAR1")
    lock["runs"].pop("banditq/oracle_lfg/lfg-uniform02")
    problems = verify(config, lock, 0, 0)
    assert len(problems) == 3
    for file in (data, damaged):
        assert any(line.startswith(f"{file} is not a readable Parquet") for line in problems)
    assert f"{other}, lfg-uniform02 is not in results.lock" in problems


def test_a_footer_with_a_gap_is_named(config, lock, data):
    footer = read_footer(data)
    del footer["content"]
    write_table(data, read_table(data), footer)
    assert verify(config, lock, 0, 0) == [
        f"{data} is damaged (KeyError: 'content'); delete it and run again"
    ]


def simulated_again(config, lock):
    """Return the problems of replicates of one experiment, its two runs simulated again."""
    few = replace(config, experiments=(config.experiment("banditq", "bandit_feedback"),))
    problems = verify(few, lock, sample=10, seed=1)
    return [problem for problem in problems if "simulated again" in problem]


def test_other_lock_is_found_in_files_and_in_new_simulations(config, lock, data):
    right = of_run(lock)
    wrong = ["0" * DIGITS] * REPLICATES
    lock["runs"][RUN] = " ".join(wrong)
    assert verify(config, lock, sample=0, seed=0) == [
        f"{data}, banditq-bernoulli: replicate 0 has content hash {right[0]}, "
        f"results.lock has {wrong[0]}; 2 more of its 3 replicates differ"
    ]
    again = simulated_again(config, lock)
    assert again
    for problem in again:
        assert problem.startswith(f"{RUN}, simulated again: replicate ")
        assert problem.endswith(f"results.lock has {wrong[0]}")


def test_a_dataset_with_another_hash_is_found(config, lock, data, tmp_path):
    footer = read_footer(data)
    content = footer["content"] | {"banditq-bernoulli": "0" * 16}
    write_table(data, read_table(data), footer | {"content": content})
    right = content_of_run(of_run(lock))
    assert verify(config, lock, 0, 0) == [
        f"{data}, banditq-bernoulli has content hash {right}, the footer says {'0' * 16}"
    ]
    with pytest.raises(StoreError, match="has content hash"):
        write_lock(config, tmp_path / "none.lock")


def without_a_replicate(table):
    return table.filter(pc.less(table["replicate"], REPLICATES - 1))


def of_another_law(table):
    laws = pa.array(["beta"] * table.num_rows).dictionary_encode()
    return table.set_column(table.column_names.index("law"), "law", laws)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without_a_replicate, ": its rows must be arms 1 to 5 of the same rounds"),
        (of_another_law, ": the law of banditq-uniform02 must be 'uniform02', got ['beta']"),
        (
            lambda table: table.drop(["reward"]),
            ", banditq-uniform02: replicate 0 has content hash ",
        ),
    ],
)
def test_a_dataset_of_another_form_is_found(config, lock, data, change, says):
    """Its footer agrees with what it holds."""
    rewritten(data, change(read_table(data)), forged=True)
    problem = verify(config, lock, 0, 0)[0]
    assert problem.startswith(f"{data}{says}")


def test_tables_of_figures_and_replays_are_checked(config, lock, tmp_path):
    experiment = config.experiment("banditq", "bandit_feedback")
    drawn = {"paper": experiment.paper, "experiment": experiment.name, "seed": config.root_seed}
    drawn["code"] = code_of_all(run.spec for run in experiment.runs)
    table = pa.table({"round": [1, 2], "mean": [0.5, None]})
    content = {"content": table_hash(table)}
    figure = tmp_path / "banditq" / "fig4.parquet"
    right = {"kind": "figure", "paper": "banditq", "figure": "fig4", "datasets": [drawn]}
    right |= {"code": figure_code("banditq")} | content
    write_table(figure, table, right)
    replay = tmp_path / config.replays[0].table
    write_table(replay, table, {"kind": "replay", "code": replay_code()} | content)
    assert verify(config, lock, 0, 0) == []

    write_table(replay, table.slice(1), {"kind": "replay", "code": replay_code()} | content)
    for change in ({"figure": "fig5"}, {"code": "a" * 16}, {"datasets": [drawn | {"seed": 1}]}):
        write_table(figure, table, right | change)
        first, second = verify(config, lock, 0, 0)
        assert first.startswith(f"{figure} ")
        assert str(*change.values()) in first or "had seed 1 when it was drawn" in first
        assert second.startswith(f"{replay} was changed: its content has hash ")


def test_many_problems_of_one_kind_are_summarised():
    many = [f"{paper}/one/run-{k}: is not in results.lock" for paper in "ab" for k in range(9)]
    problems = [*many[:4], "other words", *many[4:]]
    assert list(summarised(problems)) == [*many[:5], "... and 13 more like the last", "other words"]
    assert list(summarised(problems[:7])) == [*many[:6], "other words"]  # one more has a line


def test_the_lock_has_the_seed_of_all_that_is_drawn(config, lock):
    assert lock["seed"] == config.root_seed
    assert verify(replace(config, seed=3), lock, 0, 0) == [
        f"results.lock was made with seed {config.root_seed}, the configuration has 3"
    ]


def test_forged_results_are_found_by_simulating_again(config, data, tmp_path):
    """Files and lock agree with each other, but not with the program."""
    rewritten(data, with_another_end(data), forged=True)
    write_lock(config, tmp_path / "forged.lock")
    forged = read_lock(tmp_path / "forged.lock")
    assert verify(config, forged, sample=0, seed=0) == []
    problems = simulated_again(config, forged)
    assert problems
    for problem in problems:
        assert problem.startswith(f"{RUN}, simulated again: replicate 2 has content hash")


def test_a_lock_with_more_than_the_configuration_is_found(config, lock):
    lock["runs"][RUN] += " 01234567"
    other = "banditq/bandit_feedback/other-bernoulli"
    lock["runs"][other] = "0" * DIGITS
    assert verify(config, lock, 0, 0) == [
        f"{RUN}: results.lock has 4 replicates, the configuration 3",
        f"{other} is in results.lock but not in the configuration",
    ]


def test_no_lock_is_written_of_bad_results(config, data, tmp_path):
    data.unlink()
    before = (tmp_path / "results.lock").read_bytes()
    with pytest.raises(StoreError, match="does not exist"):
        write_lock(config, tmp_path / "results.lock")
    assert (tmp_path / "results.lock").read_bytes() == before


@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"seed: 3", b"\xff", b"{}", b"[]", b'{"seed": 3, "runs": []}']
)
def test_lock_that_cannot_be_read(tmp_path, content):
    file = tmp_path / "broken.lock"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(StoreError) as error:
        read_lock(file)
    text = str(error.value)
    assert text.startswith(f"{file} cannot be read as a lock of results: ")
    assert "\n" not in text


@pytest.fixture
def command(config, tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(settings_in(tmp_path)))

    def run(*arguments):
        return invoke(arguments[0], "--config", file, *arguments[1:])

    return run


def test_verify_command(command, config, tmp_path):
    result = command("verify", "--lock", tmp_path / "results.lock")
    assert result.exit_code == 0, result.output
    first, agree, again = result.output.splitlines()
    assert first.startswith(f"There is no {tmp_path}/manifest.sha256, since no run has made every")
    assert agree == f"{len(config.runs)} runs agree with results.lock"
    said = "2 replicates simulated again agree; --sample-seed "
    assert again.startswith(said)
    seeds = {again, command("verify", "--lock", tmp_path / "results.lock").output.splitlines()[-1]}
    assert len(seeds) == 2  # one in a million times they are the same
    # without a lock the datasets are compared with new simulations
    for lock in (["--lock", tmp_path / "results.lock"], []):
        result = command("verify", *lock, "--sample-seed", 7)
        assert result.output.endswith(f"{said}7 chooses the same replicates again\n"), lock


def test_what_python_runs_before_is_said(command, monkeypatch, tmp_path):
    before = command("verify", "--sample", 0).output
    file = tmp_path / "sitecustomize.py"
    monkeypatch.setitem(sys.modules, file.stem, SimpleNamespace(__file__=str(file)))
    line = f"{file} was run before all else, and can change what is computed\n"
    assert command("verify", "--sample", 0).output == before + line


def test_the_arena_is_in_the_lock_where_it_has_run(command, tmp_path):
    config = arena_config(settings_in(tmp_path), "test")
    file = Path(config.folders["results"], config.experiments[0].dataset)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"damaged")
    lock = tmp_path / "results.lock"
    for arguments in (["verify", "--lock", lock, "--all"], ["lock", "--out", "x"]):
        result = command(*arguments)
        assert result.exit_code == 1
        assert str(file) in result.stderr or "does not exist" in result.stderr


def test_an_edited_dataset_is_found(config, lock, data):
    assert verify(config, lock, 0, 0) == []
    rewritten(data, with_another_end(data))
    (problem,) = verify(config, lock, 0, 0)
    assert problem.startswith(f"{data}, banditq-bernoulli: replicate {REPLICATES - 1} has content")
