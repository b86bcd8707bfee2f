"""The command line: help for everything, one line for what goes wrong."""

import itertools
import json
import shlex
import sys
from dataclasses import replace

import pytest
import yaml

import shrunk
from commands import invoke, process
from commands import refused as failure
from commands import said as succeed
from fairbandits.cli import launch, replicate
from fairbandits.cli.main import FILES, main
from fairbandits.settings.config import load_config
from fairbandits.settings.schemas import ROOT

SEED = 20240720


@pytest.fixture
def spec():
    return shrunk.experiment_of("banditq", "full_information", SEED).runs[0].spec


@pytest.mark.parametrize(
    ("arguments", "files"),
    [(["--version"], set()), (["claims", "--help"], {"audit"}), (["--help"], set(FILES))],
)
def test_help_imports_the_files_it_shows_and_nothing_that_takes_long(arguments, files):
    code = (
        "import sys; from fairbandits.cli.main import main;"
        "main(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
    )
    done = process(sys.executable, "-c", code, *arguments)
    imported = set(done.stdout.splitlines()[-1].split())
    assert imported.isdisjoint({"numpy", "numba", "pandas", "pyarrow", "scipy", "matplotlib"})
    assert {file for file in FILES if f"fairbandits.cli.{file}" in imported} == files


@pytest.mark.parametrize("name", main.commands)
def test_examples_of_help_can_be_typed(name):
    command = main.get_command(None, name)
    examples = command.epilog
    assert examples.startswith("\b\nExamples:\n")
    assert examples.removeprefix("\b\n").splitlines()[-1] in succeed(name, "--help")
    for line in examples.splitlines()[2:]:
        program, called, *rest = shlex.split(line.partition(" > ")[0])
        assert (program, called) == ("fairbandits", name)
        command.make_context(name, rest)


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("figure banditq fig1", ("--svg", "--png", "--table")),
        ("replay banditq-uai2024", ("--arms", "--feedback", "--out")),
        ("site index.ipynb", ("--figures", "--out")),
        ("verdicts banditq.parquet", ("--joint", "--out")),
        ("export", ("--format",)),
    ],
)
def test_what_a_step_needs_is_named(command, needed):
    values = {"--arms": "5", "--feedback": "full"}
    for missing in needed:
        given = [(name, values.get(name, "x")) for name in needed if name != missing]
        result = invoke(*command.split(), *itertools.chain(*given))
        assert result.exit_code == 2
        assert f"Missing option '{missing}'" in result.output


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["simulat"], "'simulate'"),
        (["replicate", "--smoek"], "--smoke"),
        (["claims", "--papr", "banditq"], "--paper"),
    ],
)
def test_unknown_words_name_the_nearest(arguments, meant):
    line = failure(*arguments, code=2)
    assert "Did you mean" in line
    assert meant in line


@pytest.fixture
def base(tmp_path, monkeypatch):
    """The project's configuration with one of its papers, for short tests."""
    file = tmp_path / "config.yaml"
    whole = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    file.write_text(yaml.safe_dump(whole | {"papers": ["banditq"]}))
    monkeypatch.setattr(replicate, "DEFAULT_CONFIG", (file,))
    return file


@pytest.fixture
def launched(base, monkeypatch):
    """A list of what the workflow would be started with; it is not."""
    calls = []
    monkeypatch.setattr(launch, "launch", lambda *names, **options: calls.append((names, options)))
    return calls


def test_a_target_that_there_is_not(launched):
    line = failure("replicate", "banditq_fig99")
    assert line == "there is nothing called 'banditq_fig99' to make; did you mean 'banditq_fig9'?"
    assert launched == []


def test_scales_are_files_of_the_configuration(base, launched):
    succeed("replicate")
    assert launched.pop()[1]["files"] == []
    for name in ("smoke", "preview", "large"):
        succeed("replicate", f"--{name}", "--cores", "3")
        assert launched.pop()[1]["files"] == [base, ROOT / "config" / f"{name}.yaml"]


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--set", "a.b=1"], ["--replicates", "5"], ["--out", "x"], ["--replicates", "1"]),
        *(["--seed", "7"], ["--smoke", "--preview"]),
    ],
)
def test_a_variant_needs_a_folder_and_a_change_and_scales_exclude_each_other(launched, arguments):
    failure("replicate", *arguments, code=2)
    assert launched == []


def test_a_variant_is_launched_from_its_own_folder(tmp_path, base, launched):
    out = tmp_path / "v06"
    change = "oracle_lfg.banditq.V_exponent"
    line = failure("replicate", "--set", f"{change}=x", "--out", out)
    assert line.endswith("parameters: policy banditq: V_exponent must be a number, got 'x'")
    assert not out.exists()
    for _ in range(2):  # the second takes up what the first began
        succeed("replicate", "--set", f"{change}=0.6", "--replicates", "20", "--out", out)
    (arguments, options), again = launched
    assert again == (arguments, options)
    assert options["files"] == [base, out / "variant.yaml"]
    assert {"banditq_fig1", "banditq_fig7"} <= set(arguments[0])
    variant = load_config(options["files"])
    run = shrunk.run_of(variant, "banditq/oracle_lfg/banditq-bernoulli")
    assert run.spec.parameters["V_exponent"] == 0.6
    assert all(folder.startswith(str(out)) for folder in variant.folders.values())


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("claims nosuch-claim", "no claim 'nosuch-claim'; `fairbandits claims` lists all"),
        ("audit banditq --only x", "no claim 'x'; `fairbandits claims --paper banditq` lists all"),
        ("rejudge --paper foo", "--paper: 'foo' is unknown; known: banditq, "),
        ("rejudge nosuch-claim", "no claim 'nosuch-claim'; `fairbandits claims` lists all"),
    ],
)
def test_unknown_claims_name_those_near_and_what_lists_all(command, says):
    line = failure(*command.split())
    assert says in line
    assert len(line) < 200


def test_a_picture_needs_a_folder_before_anything_runs(tmp_path):
    out = tmp_path / "none" / "x.png"
    assert failure("demo", "--out", out, code=2) == f"--out {out}: there is no folder {out.parent}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "again"), [("judge", "continues"), ("describe", "starts again")])
def test_an_interrupted_command_says_so(monkeypatch, name, again):
    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(main.get_command(None, name), "callback", interrupt)
    result = invoke(name, *["x.py"][: name == "judge"])
    assert result.exit_code == 130
    assert result.stderr == f"Interrupted. The same command {again}.\n"


NO_PLAN = "it needs chunks, each with run, seed, replicates, out"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "does not exist; the workflow writes it"),
        ("{'seed': 1}", "cannot be read as a plan: "),
        *((text, f"is no plan: {NO_PLAN}") for text in ("3", "[3]", '[{"run": 3}]')),
        ('[{"seed": 1, "out": "a"}]', f"is no plan: {NO_PLAN}"),
    ],
)
def test_what_is_no_plan(text, says, tmp_path):
    file = tmp_path / "plan.json"
    if text is not None:
        file.write_text(text)
    assert failure("simulate", file).startswith(f"{file} {says}")


@pytest.mark.parametrize("replicates", ["5", "", "3-1", "-3", "1-", "a-b", "1-2-3", "0.5-1", "²-³"])
def test_plan_of_no_replicates(tmp_path, spec, replicates):
    says = f"cannot be read as a plan: replicates must be a range such as 0-49, got {replicates!r}"
    assert planned(tmp_path, spec, replicates) == f"{tmp_path / 'plan.json'} {says}"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"policy": "bandit"}, "no 'bandit'; did you mean 'banditq'?"),
        ({"parameters": {"targets": [0.1]}}, "targets must have one entry per arm (5), got 1"),
    ],
)
def test_run_that_cannot_be_run(tmp_path, spec, change, text):
    assert text in planned(tmp_path, replace(spec, **change), "0-1")


def planned(folder, spec, replicates):
    """Return why a run of some replicates is refused, which leaves nothing behind."""
    file, out = folder / "plan.json", folder / "out.parquet"
    task = {"run": spec.to_json(), "seed": SEED, "replicates": replicates, "out": str(out)}
    file.write_text(json.dumps([task]))
    why = failure("simulate", file)
    assert [*folder.iterdir()] == [file]
    return why


@pytest.mark.parametrize(
    ("paper", "figure", "says"),
    [
        ("banditq", "fig1", "none does not exist; `fairbandits replicate` makes it"),
        ("banditq", "figure1", "banditq has no figure 'figure1'; did you mean 'fig1'?"),
        ("bandit", "fig1", "there are no figures of 'bandit'; did you mean 'banditq'?"),
    ],
)
def test_what_cannot_be_drawn(paper, figure, says, tmp_path):
    files = [word for kind in ("svg", "png", "table") for word in (f"--{kind}", tmp_path / kind)]
    assert failure("figure", paper, figure, tmp_path / "none", *files).endswith(says)
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
