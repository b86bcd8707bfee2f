"""The package as a user has it who installs the wheel into an environment of their own."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import own_policy
from fairbandits.data.provenance import CHECKOUT
from fairbandits.data.store import read_footer
from small import SEED, small_config

NEED_CHECKOUT = {"audit": ["banditq"], "certify": [], "claims": [], "replicate": ["figures"]}
#: Prints a hash of the numbers of a run.
HASH = """
import fairbandits as fb
from fairbandits.data.store import content_hash

arms = fb.Instance(means=(0.2, 0.5, 0.7), law="beta")
frame = fb.run(fb.UCB1(), arms, horizon=300, replicates=2).to_frame()
print(content_hash({name: frame[name].to_numpy() for name in frame}))
"""


class Installed:
    """A fresh environment with the wheel, and a folder to work in."""

    def __init__(self, folder: Path):
        self.home = folder / "home"
        self.home.mkdir()
        self.bin = folder / "venv" / "bin"
        run = {"check": True, "capture_output": True, "cwd": CHECKOUT}
        tool = [sys.executable, "-m"]
        subprocess.run([*tool, "hatchling", "build", "-t", "wheel", "-d", folder], **run)
        offline = ["--no-download", "--no-periodic-update", "--app-data", folder / "seed"]
        subprocess.run([*tool, "virtualenv", *offline, folder / "venv"], **run)
        (wheel,) = folder.glob("*.whl")
        install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel]
        subprocess.run([self.bin / "python", "-m", "pip", *install], **run)
        # What the package depends on is lent; editable installs are not lent along.
        self.packages = Path(self.python("import sysconfig; print(sysconfig.get_path('purelib'))"))
        (self.packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(self, *words, code=0, folder=None, **environment) -> subprocess.CompletedProcess:
        """Run a program of the environment, in a folder that is no part of the project."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        done = subprocess.run(
            [self.bin / words[0], *words[1:]],
            cwd=folder or self.home,
            env=clean | {"NUMBA_DISABLE_JIT": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def python(self, code: str) -> str:
        return self.run("python", "-W", "error", "-c", code).stdout.strip()

    def refused(self, *words, folder=None) -> str:
        """Return the one line that a command says which cannot be carried out."""
        done = self.run("fairbandits", *words, code=1, folder=folder)
        (line,) = done.stderr.splitlines()
        assert done.stdout == ""
        return line


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"))


def test_own_and_published_policies_run(installed):
    example = own_policy.SOURCE.replace("10_000", "200")
    _, caption, header, *lines = installed.python(example).splitlines()
    assert "T = 200, n = 20" in caption
    assert header.split()[:3] == ["policy", "metric", "mean"]
    assert [line.split()[0] for line in lines] == ["FairGreedy", "FairUCB", "LFG", "UCB1"] * 2
    assert (installed.home / "comparison.png").stat().st_size > 10_000


def test_a_run_gives_the_numbers_of_the_checkout(installed):
    here = subprocess.run(
        [sys.executable, "-c", HASH],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert installed.python(HASH) == here.stdout.strip()


@pytest.mark.slow
def test_commands_from_simulation_to_figure_need_no_checkout(installed):
    experiment = small_config(installed.home).experiment("banditq", "full_information")
    chunks = [
        {
            "name": run.key,
            "run": run.spec.to_json(),
            "replicates": run.chunks()[0],
            "out": f"cache/{run.name}/{run.chunks()[0]}.parquet",
        }
        for run in experiment.runs
    ]
    dataset = {"experiment": experiment.facts(), "ledger": "", "out": "data.parquet"}
    dataset["chunks"] = [chunk["out"] for chunk in chunks]
    for command, plan in (("simulate", {"chunks": chunks}), ("collect", {"datasets": [dataset]})):
        (installed.home / "plan.json").write_text(json.dumps({"seed": SEED, **plan}))
        installed.run("fairbandits", command, "plan.json")
    images = ["--svg", "fig1.svg", "--png", "fig1.png", "--table", "fig1.parquet"]
    installed.run("fairbandits", "figure", "banditq", "fig1", "data.parquet", *images)
    footer = read_footer(installed.home / "data.parquet")
    assert footer["commit"] == "unknown"
    assert all((installed.home / name).stat().st_size for name in images[1::2])
    replay = ["banditq-uai2024", "--arms", "5", "--feedback", "bandit", "--out", "replay.parquet"]
    installed.run("fairbandits", "replay", *replay, NUMBA_DISABLE_JIT="0")
    assert read_footer(installed.home / "replay.parquet")["commit"] == "unknown"


@pytest.mark.parametrize("command", NEED_CHECKOUT)
def test_what_needs_a_checkout_says_so(installed, command):
    line = installed.refused(command, *NEED_CHECKOUT[command])
    place = installed.packages / "fairbandits"
    assert line == (
        "Error: this needs a checkout of the project, with its configuration, claims and workflow: "
        f"the package in {place} is installed without one, and the current folder is in none; "
        "clone the repository and run this inside it"
    )
    assert not (installed.home / ".snakemake").exists()


@pytest.fixture
def elsewhere(tmp_path):
    """Return another checkout, with the code that is installed."""
    for name in ("Snakefile", "src", "config", "papers", "workflow"):
        copy = shutil.copytree if (CHECKOUT / name).is_dir() else shutil.copy
        copy(CHECKOUT / name, tmp_path / name)
    return tmp_path


def test_the_checkout_around_the_current_folder_is_used(installed, elsewhere):
    line = installed.refused("lock", folder=elsewhere / "papers" / "banditq")
    assert line.endswith(".parquet does not exist; `fairbandits replicate` makes it")


def test_a_checkout_with_other_code_is_refused(installed, elsewhere):
    file = elsewhere / "src" / "fairbandits" / "rationals.py"
    file.write_text(file.read_text(encoding="utf-8") + "EDITED = 1\n", encoding="utf-8")
    for words in (["lock"], ["replicate", "figures"]):
        assert installed.refused(*words, folder=elsewhere) == (
            f"Error: the package in {installed.packages / 'fairbandits'} has other code than the "
            f"checkout {elsewhere}, which the current folder is in; install that one, "
            f"`pip install {elsewhere}`, or run `make setup` there and use .venv/bin/fairbandits"
        )
