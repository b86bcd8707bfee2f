"""What a newcomer types in the first hour works, or says what to type in its place."""

import re
import shlex
import sys

import pytest

import shrunk
from commands import Copy, process
from fairbandits.cli.main import main
from fairbandits.data.store import read_footer, read_table, write_table
from fairbandits.replication.datasets import collect
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [README, *(file.read_text(encoding="utf-8") for file in (ROOT / "docs").glob("*.md"))]
#: What is copied of a checkout for a claim of one's own.
COPIED = ("config", "papers", "src", "workflow", "audit", "Snakefile")
NEW = '''

@paper.qualitative("none", reported=True, readings=LAWS)
def banditq_new(runs):
    """Each arm is pulled at all."""
    for run in runs("suite_full_five_arms", policy="uniform").each("T", reading="law"):
        phrase = "reward"
        yield mean(phrase, run.end("reward").sum(axis=1), at_least=1, unit="reward")
'''


def test_the_command_is_found_after_what_set_up_and_readme_say():
    first = README.index("\nfairbandits ")
    assert ". .venv/bin/activate" in README[:first]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert ". $(BIN)/activate" in makefile
    script = f". {shlex.quote(sys.prefix)}/bin/activate && fairbandits --version"
    done = process("sh", "-c", script, env={"PATH": "/usr/bin:/bin"})
    assert done.stdout.startswith("fairbandits, version ")


def test_commands_of_the_pages_can_be_typed():
    lines = [
        re.split(" (?:#|>) ", line)[0].strip()
        for page in PAGES
        for block in re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)
        for line in block.splitlines()
    ]
    lines += re.findall(r"`(fairbandits [a-z][^`]*)`", README.replace("\n", " "))
    commands = [line for line in lines if line.startswith("fairbandits ")]
    assert len(commands) > 20
    for line in commands:
        name, *arguments = shlex.split(line)[1:]
        if arguments or name != "figure":
            command = main.get_command(None, name)
            command.make_context(name, arguments, resilient_parsing="FILE" in line)


@pytest.mark.workflow
def test_a_look_ahead_writes_nothing(tmp_path):
    change = ["--set", "oracle_lfg.banditq.V_exponent=0.6", "--replicates", "3"]
    arguments = ["replicate", "--dry-run", "banditq_fig7", *change, "--out", str(tmp_path / "v")]
    done = process(sys.executable, "-m", "fairbandits.cli.main", *arguments, cwd=ROOT)
    lines = done.stdout.splitlines()
    assert "3 jobs, less than a minute on " in " ".join(lines)
    assert "  figures: 1 (banditq_fig7)" in lines
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy to which a claim was added, with a small dataset drawn for the committed claims."""
    copy = Copy(tmp_path_factory.mktemp("first_hour"), COPIED)
    copy.environment["COLUMNS"] = "140"
    settings = shrunk.settings(["banditq"], "frozen", replicates=12, chunk=12)
    config = build_config(settings, "test")
    experiment = config.experiment("banditq", "suite_full_five_arms")
    files = shrunk.chunks_of(experiment, copy.folder / "chunks", config.root_seed)
    copy.data = copy.folder / "results" / experiment.dataset
    collect(files, experiment.facts(), config.root_seed, copy.data)
    with (copy.folder / "papers" / "banditq" / "claims.py").open("a") as file:
        file.write(NEW)
    return copy


@pytest.mark.slow
def test_a_new_claim_is_judged_on_the_data_at_hand(project):
    assert "papers/banditq/claims.py: " in project.command("check-claims")
    lines = project.command("audit", "banditq", "--only", "banditq-new").splitlines()
    assert sum("  reproduced" in line for line in lines) == 2


@pytest.mark.slow
def test_a_symbol_that_a_glossary_has_twice_is_found_with_the_claims(project):
    file, usual = "papers/banditq/glossary.yaml", "terms:\n"
    twice = f"{usual}  $T$: the horizon\n"
    project.change(file, usual, twice)
    said = project.command("check-claims", code=1)
    project.change(file, twice, usual)
    assert "papers/banditq/glossary.yaml has key '$T$' twice, again in line " in said


@pytest.mark.slow
def test_another_margin_is_one_command_and_writes_nothing(project):
    before = sorted(project.folder.rglob("*.*"))
    text = project.command("claims", "banditq-new", "--set", "level=0.95")
    assert "What if level = 0.95?" in text
    names = [line.split()[:2] for line in text.splitlines()]
    assert names.count(["as", "it"]) == names.count(["what", "if"]) == 3
    line = project.command("claims", "banditq-new", "--set", "margin=0.05", code=1)
    assert "--set margin: no deciding test of banditq-new has this setting" in line
    assert "level" in line
    assert sorted(project.folder.rglob("*.*")) == before


@pytest.mark.slow
def test_data_of_another_seed_are_not_judged(project):
    kept, footer = project.data.read_bytes(), read_footer(project.data)
    facts = {key: footer[key] for key in footer.keys() - {"schema", "packages", "commit"}}
    write_table(project.data, read_table(project.data), facts | {"seed": 5})
    try:
        text = project.command("audit", "banditq", "--only", "banditq-new")
    finally:
        project.data.write_bytes(kept)
    assert "Exploratory" not in text
    assert "does not belong here: its seed is " in text
