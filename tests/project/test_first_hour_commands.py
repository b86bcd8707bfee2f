"""What a newcomer types in the first hour works, or says what to type in its place."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shrunk
from fairbandits.cli.main import main
from fairbandits.data.store import read_footer, read_table, write_table
from fairbandits.replication.datasets import collect
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [README, *(file.read_text(encoding="utf-8") for file in (ROOT / "docs").glob("*.md"))]
#: What is copied of a checkout for a claim of one's own.
COPIED = ("config", "papers", "src", "workflow", "audit")
NEW = '''

@paper.claim("qualitative", "none", exploratory=True, readings=LAWS)
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
    done = subprocess.run(
        ["sh", "-c", f". {shlex.quote(sys.prefix)}/bin/activate && fairbandits --version"],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
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
        name, *words = shlex.split(line)[1:]
        if words or name != "figure":
            command = main.get_command(None, name)
            command.make_context(name, words, resilient_parsing="FILE" in line)


@pytest.mark.workflow
def test_a_look_ahead_writes_nothing(tmp_path):
    change = ["--set", "oracle_lfg.banditq.V_exponent=0.6", "--replicates", "3"]
    words = ["replicate", "--dry-run", "banditq_fig7", *change, "--out", str(tmp_path / "v")]
    done = subprocess.run(
        [sys.executable, "-m", "fairbandits.cli.main", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "3 jobs, less than a minute on " in " ".join(lines)
    assert "  figures: 1 (banditq_fig7)" in lines
    assert list(tmp_path.iterdir()) == []


class Copy:
    """A copy of the project, with a small dataset that was drawn for the committed claims."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name)
        shutil.copy(ROOT / "Snakefile", folder)
        settings = shrunk.settings(["banditq"], "ledger", replicates=12, chunk=12)
        config = build_config(settings, "test")
        one = config.experiment("banditq", "suite_full_five_arms")
        seed = config.seed_of(one)
        files = shrunk.chunks_of(one, folder / "chunks", seed)
        self.data = folder / "results" / one.dataset
        collect(files, one.facts(), seed, self.data, config.ledger_of(one))

    def files(self):
        """Return all files but those that Python compiles to."""
        found = self.folder.rglob("*.*")
        return sorted(file for file in found if "__pycache__" not in file.parts)

    def run(self, *words, code=0):
        done = subprocess.run(
            [sys.executable, "-m", "fairbandits.cli.main", *words],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder / "src"), "COLUMNS": "140"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy to which a claim was added, as docs/adding-a-claim.md says."""
    copy = Copy(tmp_path_factory.mktemp("first_hour"))
    with (copy.folder / "papers" / "banditq" / "claims.py").open("a") as file:
        file.write(NEW)
    return copy


@pytest.mark.slow
def test_a_new_claim_is_judged_on_the_data_at_hand(project):
    assert "papers/banditq/claims.py: " in project.run("check-claims")
    lines = project.run("audit", "banditq", "--only", "banditq-new").splitlines()
    assert sum("  reproduced" in line for line in lines) == 2


@pytest.mark.slow
def test_a_symbol_that_a_glossary_has_twice_is_found_with_the_claims(project):
    file = project.folder / "papers" / "banditq" / "glossary.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("terms:\n", "terms:\n  $T$: the horizon\n", 1), encoding="utf-8")
    said = project.run("check-claims", code=1)
    file.write_text(text, encoding="utf-8")
    assert "papers/banditq/glossary.yaml has key '$T$' twice, again in line " in said


@pytest.mark.slow
def test_another_margin_is_one_command_and_writes_nothing(project):
    before = project.files()
    text = project.run("claims", "banditq-new", "--set", "level=0.95")
    assert "What if level = 0.95?" in text
    names = [line.split()[:2] for line in text.splitlines()]
    assert names.count(["as", "it"]) == names.count(["what", "if"]) == 3
    line = project.run("claims", "banditq-new", "--set", "margin=0.05", code=1)
    assert "--set margin: no deciding test of banditq-new has this setting" in line
    assert "level" in line
    assert project.files() == before


@pytest.mark.slow
def test_data_of_a_chosen_seed_are_not_judged_by_the_ledger(project):
    """They have no digest of a ledger; those of another ledger are judged as exploratory."""
    kept, footer = project.data.read_bytes(), read_footer(project.data)
    own = {key: one for key, one in footer.items() if key not in ("schema", "packages", "commit")}
    write_table(project.data, read_table(project.data), own | {"ledger": None, "seed": 5})
    try:
        text = project.run("audit", "banditq", "--only", "banditq-new")
    finally:
        project.data.write_bytes(kept)
    assert "Exploratory" not in text
    assert "does not belong here: its seed is " in text
