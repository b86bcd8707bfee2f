"""The command line: help for everything, one line for what goes wrong."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib import metadata

import pytest
import yaml
from click.testing import CliRunner

from fairbandits.cli import main
from fairbandits.experiments.config import build_config, load_config
from fairbandits.experiments.schemas import ROOT
from fairbandits.experiments.simulate import simulate_chunk
from fairbandits.store import content_hash, read_footer, read_table

SEED = 20240720
EXPERIMENT = "full_information"


def small_experiment():
    """Return an experiment of the real configuration, cut down as for a smoke run."""
    limits = {"horizon": 40, "replicates": 2, "chunk": 1, "checkpoints": {"linear": 10, "log": 5}}
    folders = dict.fromkeys(("results", "figures", "logs", "benchmarks"), "nowhere")
    settings = {"seed": SEED, "scale": "smoke", "papers": ["banditq"], "pathvars": folders}
    return build_config(settings | {"smoke": limits}, "test").experiment("banditq", EXPERIMENT)


@pytest.fixture
def block():
    return small_experiment().runs[0].block


def invoke(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def succeed(*words):
    """Run a command that must succeed; return what it says."""
    result = invoke(*words)
    assert result.exit_code == 0, result.output
    return result.output


def failure(*words, code=1):
    """Run a command that must fail without a traceback; return the line that says why."""
    result = invoke(*words)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    if code == 1:
        assert len(lines) == 1, result.stderr
    (line,) = (line for line in lines if line.startswith("Error: "))
    return line.removeprefix("Error: ")


def simulate(block, replicates, out, seed=SEED):
    words = ["--block", block if isinstance(block, str) else json.dumps(block), "--seed", seed]
    return ["simulate", *words, "--replicates", replicates, "--out", out]


# ------------------------------------------------------------------------------------------ help


@pytest.mark.parametrize("name", [None, *main.commands])
def test_every_command_has_help(name):
    words = [] if name is None else [name]
    text = succeed(*words, "--help")
    assert text.startswith("Usage: ")
    command = main if name is None else main.commands[name]
    assert command.help.split("\n")[0].rstrip(".") in " ".join(text.split())
    for parameter in command.params:
        for option in parameter.opts if parameter.param_type_name == "option" else []:
            assert option in text


def test_help_lists_every_command():
    text = succeed("--help")
    for name, command in main.commands.items():
        assert f"  {name} " in text
        assert command.get_short_help_str()


def test_version():
    assert succeed("--version").split()[-1] == metadata.version("fairbandits")


def test_unknown_command():
    assert "No such command 'simulat'" in failure("simulat", code=2)


# ------------------------------------------------------------------------- from chunk to figure


def test_commands_from_simulation_to_figure(tmp_path):
    experiment = small_experiment()
    chunks = []
    for run in experiment.runs:
        for chunk in run.chunks():
            chunks.append(tmp_path / "cache" / run.name / f"{chunk}.parquet")
            assert succeed(*simulate(run.block, chunk, chunks[-1])) == ""
    data = tmp_path / "data.parquet"
    facts = ["--experiment", json.dumps(experiment.facts()), "--seed", SEED]
    assert succeed("collect", *chunks, *facts, "--out", data) == ""
    files = {kind: tmp_path / f"fig1.{kind}" for kind in ("svg", "png", "table")}
    options = [word for kind, file in files.items() for word in (f"--{kind}", file)]
    assert succeed("figure", "banditq", "fig1", data, *options) == ""
    assert all(file.stat().st_size for file in files.values())
    assert read_footer(files["table"])["datasets"][0]["seed"] == SEED


def test_simulate_writes_what_the_function_returns(tmp_path, block):
    out = tmp_path / "1-2.parquet"
    succeed(*simulate(block, "1-2", out))
    table = read_table(out)
    found = {name: table[name].to_numpy() for name in table.column_names}
    assert content_hash(found) == content_hash(simulate_chunk(block, SEED, [1, 2]))
    footer = read_footer(out)
    assert footer["replicates"] == [1, 2]
    assert footer["block"] == block


def test_several_chunks_in_one_process(tmp_path, block):
    other = small_experiment().runs[1].block
    outs = [tmp_path / name / "0-1.parquet" for name in ("one", "other")]
    first, second = (
        simulate(*one)[1:] for one in ((block, "0-1", outs[0]), (other, "0-1", outs[1]))
    )
    assert succeed("simulate", *first, *second) == ""
    assert [read_footer(out)["block"] for out in outs] == [block, other]
    found = read_table(outs[1])
    columns = {name: found[name].to_numpy() for name in found.column_names}
    assert content_hash(columns) == content_hash(simulate_chunk(other, SEED, [0, 1]))
    line = failure("simulate", *first, "--out", outs[1], code=2)
    assert line == "--block, --replicates and --out must be given equally often, got 1, 1 and 2"


# ---------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("text", ["5", "", "3-1", "-3", "1-", "a-b", "1-2-3", "0.5-1", "²-³"])
def test_range_of_replicates(tmp_path, block, text):
    line = failure(*simulate(block, text, tmp_path / "out.parquet"), code=2)
    assert line == f"Invalid value for '--replicates': must be a range such as 0-49, got {text!r}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "policy: ucb1", "{'policy': 'ucb1'}"])
def test_block_that_is_no_json(tmp_path, text):
    line = failure(*simulate(text, "0-1", tmp_path / "out.parquet"), code=2)
    assert line.startswith("Invalid value for '--block': not valid JSON: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["[]", "3", '"policy"'])
def test_block_that_is_no_object(tmp_path, text):
    line = failure(*simulate(text, "0-1", tmp_path / "out.parquet"), code=2)
    assert line == f"Invalid value for '--block': must be a JSON object, got {text!r}"


def test_folder_that_cannot_be_made(tmp_path, block):
    (tmp_path / "file").write_text("")
    assert "File exists" in failure(*simulate(block, "0-0", tmp_path / "file" / "out.parquet"))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"policy": "bandit"}, "banditq/full_information: policy must be one of"),
        ({"law": "normal"}, "law must be one of"),
        ({"horizon": 3}, "horizon must be at least the number of arms (5), got 3"),
        ({"horizon": 40.0}, "horizon must be a whole number of at least 1, got 40.0"),
        ({"parameters": {"target": [0.1]}}, "policy banditq has no parameter 'target'"),
        ({"parameters": {}}, "missing 1 required positional argument: 'targets'"),
        ({"parameters": {"targets": [0.1]}}, "targets must have one entry per arm (5), got 1"),
    ],
)
def test_block_that_cannot_be_run(tmp_path, block, change, text):
    line = failure(*simulate(block | change, "0-1", tmp_path / "out.parquet"))
    assert text in line
    assert list(tmp_path.iterdir()) == []


def test_negative_seed(tmp_path, block):
    line = failure(*simulate(block, "0-1", tmp_path / "out.parquet", seed=-1), code=2)
    assert "-1 is not in the range x>=0" in line


@pytest.mark.parametrize("content", [None, b"", b"not Parquet"])
def test_collect_of_a_wrong_file(tmp_path, content):
    experiment = small_experiment()
    file = tmp_path / experiment.runs[0].name / "0-1.parquet"
    if content is not None:
        file.parent.mkdir()
        file.write_bytes(content)
    facts = ["--experiment", json.dumps(experiment.facts()), "--seed", SEED]
    line = failure("collect", file, *facts, "--out", tmp_path / "out.parquet")
    assert line.startswith(str(file))
    assert not (tmp_path / "out.parquet").exists()


def test_collect_of_instances_refuses_what_belongs_to_none(tmp_path):
    """Several instances share a folder of chunks; what is none of theirs would go unnoticed."""
    whole = small_experiment()
    options = []
    for name in ("one", "two"):
        instance = replace(whole, name=f"suite_{name}", suite="suite")
        for run in instance.runs:
            for chunk in run.chunks():
                file = tmp_path / "cache" / name / run.name / f"{chunk}.parquet"
                succeed(*simulate(run.block, chunk, file))
        out = tmp_path / f"{name}.parquet"
        options += ["--experiment", json.dumps(instance.facts()), "--out", out]
    collect = ["collect", tmp_path / "cache", "--seed", SEED, *options]
    succeed(*collect)
    for name in ("one", "two"):
        file = tmp_path / f"{name}.parquet"
        assert read_footer(file)["instance"] == name
        file.unlink()
    (tmp_path / "cache" / "two").rename(tmp_path / "cache" / "three")
    assert failure(*collect).endswith("does not belong here: there is no instance 'three'")
    assert not (tmp_path / "one.parquet").exists()


def test_figure_of_a_wrong_file(tmp_path):
    files = [word for kind in ("svg", "png", "table") for word in (f"--{kind}", tmp_path / kind)]
    line = failure("figure", "banditq", "fig1", tmp_path / "none", *files)
    assert line == f"{tmp_path / 'none'} does not exist; `fairbandits replicate` makes it"
    line = failure("figure", "banditq", "figure1", tmp_path / "none", *files)
    assert line.endswith("got 'banditq figure1'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["verify", "lock"])
def test_wrong_configuration(tmp_path, name):
    file = tmp_path / "mine.yaml"
    base = ROOT / "config" / "config.yaml"
    assert failure(name, "--config", file) == f"{file} does not exist"
    file.write_text("seed: [")
    assert failure(name, "--config", file).startswith(f"{file} is not valid YAML")
    file.write_text("sede: 3")
    line = failure(name, "--config", base, "--config", file)
    assert line == f"{base} + {file}: unknown key 'sede'; did you mean 'seed'?"


def test_later_configuration_files_win(tmp_path):
    """The lock of another seed is refused before any result is looked at."""
    mine, lock = tmp_path / "mine.yaml", tmp_path / "results.lock"
    mine.write_text(yaml.safe_dump({"seed": 5}))
    base = ROOT / "config" / "config.yaml"
    seed = load_config([base]).seed
    lock.write_text(json.dumps({"seed": seed, "runs": {}}))
    result = invoke("verify", "--config", base, "--config", mine, "--lock", lock)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"results.lock was made with seed {seed}, the configuration has 5",
        "Error: 1 problems",
    ]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["banditq-uai2023", "--arms", "5", "--feedback", "full"], "is not 'banditq-uai2024'"),
        (["banditq-uai2024", "--arms", "6", "--feedback", "full"], "'6' is not one of '5', '1000'"),
        (["banditq-uai2024", "--arms", "5", "--feedback", "half"], "'half' is not one of"),
        (["banditq-uai2024", "--arms", "5"], "Missing option '--feedback'"),
    ],
)
def test_replay_of_what_there_is_not(tmp_path, words, text):
    assert text in failure("replay", *words, "--out", tmp_path / "out.parquet", code=2)
    assert list(tmp_path.iterdir()) == []


def test_errors_have_no_traceback_in_a_real_shell(tmp_path):
    command = [sys.executable, "-m", "fairbandits.cli", "lock", "--config", tmp_path / "no.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"Error: {tmp_path / 'no.yaml'} does not exist\n"
