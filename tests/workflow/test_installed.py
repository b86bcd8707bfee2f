"""The package as a user has it who installs the wheel into an environment of their own."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path
from time import perf_counter

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import own_policy
from commands import Copy, process
from fairbandits.cli.main import REPLICATE
from fairbandits.data.provenance import CHECKOUT
from fairbandits.data.store import read_footer
from small import SEED, small_config

pytestmark = pytest.mark.slow

NEED_CHECKOUT = {"audit": ["banditq"], "claims": [], "replicate": ["figures"]}
#: Prints a hash of the numbers of a run.
HASH = """
import fairbandits as fb
from fairbandits.data.store import content_hash

arms = fb.Instance(means=(0.2, 0.5, 0.7), law="beta")
frame = fb.run(fb.UCB1(), arms, horizon=300, replicates=2).to_frame()
print(content_hash({name: frame[name].to_numpy() for name in frame}))
"""


LENDER = Path(sysconfig.get_path("purelib"))
MOST_PACKAGES, SLOWEST_IMPORT = 28, 0.5  # packages, seconds


def dependencies() -> set[str]:
    """Return the distributions that the package brings without extras."""
    names, waiting = set(), ["fairbandits"]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            requirements = map(Requirement, distribution(name).requires or ())
            waiting += [
                canonicalize_name(requirement.name)
                for requirement in requirements
                if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            ]
    return names - {"fairbandits"}


def tops_of(name: str) -> set[str]:
    """Return the modules and folders that a distribution has at the top."""
    return {file.parts[0] for file in distribution(name).files} - {"..", "__pycache__"}


#: Lets an environment see the packages of another one, after its own.
LENT = "import os, sys; sys.path += filter(None, [os.environ.get('LENT')])\n"


class Installed:
    """A fresh environment with the wheel and what it depends on, and a folder to work in."""

    def __init__(self, folder: Path):
        self.home = folder / "home"
        self.home.mkdir()
        self.bin = folder / "venv" / "bin"
        tool = [sys.executable, "-m"]
        process(*tool, "hatchling", "build", "-t", "wheel", "-d", folder, cwd=CHECKOUT)
        offline = ["--no-download", "--no-periodic-update", "--app-data", folder / "seed"]
        process(*tool, "virtualenv", *offline, folder / "venv")
        (wheel,) = folder.glob("*.whl")
        install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel]
        process(self.bin / "python", "-m", "pip", *install)
        # What the package depends on is lent; editable installs are not lent along.
        self.packages = Path(self.python("import sysconfig; print(sysconfig.get_path('purelib'))"))
        for top in set().union(*map(tops_of, dependencies())):
            (self.packages / top).symlink_to(LENDER / top)
        (self.packages / "lent.pth").write_text(LENT)

    def run(self, *arguments, code=0, folder=None, **environment) -> subprocess.CompletedProcess:
        """Run a program of the environment, in a folder that is no part of the project."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment = clean | {"NUMBA_DISABLE_JIT": "1", **environment}
        how = {"code": code, "cwd": folder or self.home, "env": environment}
        return process(self.bin / arguments[0], *arguments[1:], **how)

    def python(self, code: str) -> str:
        return self.run("python", "-W", "error", "-c", code).stdout.strip()

    def refused(self, *arguments, folder=None) -> str:
        """Return the one line that a command says which cannot be carried out."""
        done = self.run("fairbandits", *arguments, code=1, folder=folder)
        (line,) = done.stderr.splitlines()
        assert done.stdout == ""
        return line


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def replicating(installed, monkeypatch):
    """The same environment with every package of the one that runs the tests."""
    monkeypatch.setenv("LENT", str(LENDER))
    return installed


def test_it_is_few_packages_and_nothing_of_the_workflow():
    assert len(dependencies()) <= MOST_PACKAGES, sorted(dependencies())
    assert not dependencies() & {"snakemake", "jupyter", "sphinx", "sympy"}


def test_the_import_is_quick_and_loads_nothing_of_the_workflow():
    times = []
    for _ in range(5):
        begin = perf_counter()
        process(sys.executable, "-c", "import fairbandits")
        times.append(perf_counter() - begin)
    assert min(times) < SLOWEST_IMPORT
    code = (
        # seaborn takes up Jupyter's widgets where they are
        "import sys, seaborn; seaborns = set(sys.modules);"
        " import fairbandits, fairbandits.audit.own, fairbandits.report.entrant; fairbandits.UCB1;"
        f" print(sorted(set({REPLICATE!r}) & (set(sys.modules) - seaborns)))"
    )
    assert process(sys.executable, "-c", code).stdout.strip() == "[]"


def test_a_type_checker_finds_what_it_reads(installed):
    there = installed.packages / "fairbandits"
    assert [*there.rglob("py.typed")] == [there / "py.typed"]
    stubs = {path.relative_to(there).as_posix() for path in there.rglob("*.pyi")}
    assert stubs == {"__init__.pyi", "metrics.pyi", "policies/parameters.pyi"}


def test_the_demo_needs_no_file(installed):
    said = installed.run("fairbandits", "demo", "--rounds", "200", "--replicates", "2").stdout
    assert said.splitlines()[-1] == "fairbandits-demo.png"
    assert (installed.home / "fairbandits-demo.png").stat().st_size > 10_000


def test_claims_of_ones_own_are_checked(installed):
    file = own_policy.shown("your-own-claims.md")["traffic.py"]
    (installed.home / "traffic.py").write_text(file, encoding="utf-8")
    said = installed.run("fairbandits", "judge", "traffic.py", "--check").stdout
    assert "2 claims" in said


def test_every_dependency_is_imported():
    sources = [file.read_text(encoding="utf-8") for file in (CHECKOUT / "src").rglob("*.py")]
    imported = {
        name for text in sources for name in re.findall(r"^\s*(?:import|from) (\w+)", text, re.M)
    }
    for line in distribution("fairbandits").requires:
        if "extra ==" not in line:
            assert tops_of(Requirement(line).name) & imported, line


def test_own_and_published_policies_run(installed):
    example = own_policy.SOURCE.replace("10_000", "200")
    _, caption, header, *lines = installed.python(example).splitlines()
    assert "n = 20 replicates at round T = 200" in caption
    assert header.split()[:3] == ["policy", "metric", "mean"]
    assert [line.split()[0] for line in lines] == ["FairGreedy", "FairUCB", "LFG", "UCB1"] * 2
    assert (installed.home / "comparison.png").stat().st_size > 10_000


def test_a_run_gives_the_numbers_of_the_checkout(installed):
    here = process(sys.executable, "-c", HASH, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    assert installed.python(HASH) == here.stdout.strip()


def test_commands_from_simulation_to_figure_need_no_checkout(replicating):
    experiment = small_config(replicating.home).experiment("banditq", "full_information")
    chunks = [
        {
            "run": run.spec.to_json(),
            "seed": SEED,
            "replicates": run.chunks()[0],
            "out": f"cache/{run.name}/{run.chunks()[0]}.parquet",
        }
        for run in experiment.runs
    ]
    dataset = {"experiment": experiment.facts(), "seed": SEED, "out": "data.parquet"}
    dataset["chunks"] = [chunk["out"] for chunk in chunks]
    for command, plan in (("simulate", chunks), ("collect", [dataset])):
        (replicating.home / "plan.json").write_text(json.dumps(plan))
        replicating.run("fairbandits", command, "plan.json")
    images = ["--svg", "fig1.svg", "--png", "fig1.png", "--table", "fig1.parquet"]
    replicating.run("fairbandits", "figure", "banditq", "fig1", "data.parquet", *images)
    footer = read_footer(replicating.home / "data.parquet")
    assert footer["commit"] == "unknown"
    assert all((replicating.home / name).stat().st_size for name in images[1::2])
    replay = ["banditq-uai2024", "--arms", "5", "--feedback", "bandit", "--out", "replay.parquet"]
    replicating.run("fairbandits", "replay", *replay, NUMBA_DISABLE_JIT="0")
    assert read_footer(replicating.home / "replay.parquet")["commit"] == "unknown"


def test_a_command_that_needs_more_packages_says_which(installed):
    assert installed.refused("replicate", "figures") == (
        'Error: this needs psutil: `pip install "fairbandits[replicate]"`, and a checkout of the '
        "project, where `make setup` installs all of it"
    )


@pytest.mark.parametrize("command", NEED_CHECKOUT)
def test_what_needs_a_checkout_says_so(replicating, command):
    line = replicating.refused(command, *NEED_CHECKOUT[command])
    folder = replicating.packages / "fairbandits"
    assert line == (
        "Error: this needs a checkout of the project, with its configuration, claims and workflow: "
        f"the package in {folder} is installed without one, and the current folder is in none; "
        "clone the repository and run this inside it"
    )
    assert not (replicating.home / ".snakemake").exists()


def test_the_checkout_around_the_current_folder_is_used_if_it_has_the_same_code(
    replicating, tmp_path
):
    elsewhere = Copy(tmp_path, ("Snakefile", "src", "config", "papers", "workflow")).folder
    line = replicating.refused("lock", folder=elsewhere / "papers" / "banditq")
    assert line.endswith(".parquet does not exist; `fairbandits replicate` makes it")
    file = elsewhere / "src" / "fairbandits" / "rationals.py"
    file.write_text(file.read_text(encoding="utf-8") + "EDITED = 1\n", encoding="utf-8")
    for arguments in (["lock"], ["replicate", "figures"]):
        assert replicating.refused(*arguments, folder=elsewhere) == (
            f"Error: the package in {replicating.packages / 'fairbandits'} has other code than the "
            f"checkout {elsewhere}, which the current folder is in; install that one, "
            f"`pip install {elsewhere}`, or run `make setup` there and use .venv/bin/fairbandits"
        )
