"""Setting up: which Python is taken, what is fetched, and what is said where none fits."""

import os
import re
import shutil
from pathlib import Path

import pytest

from commands import process
from fairbandits.data.provenance import CHECKOUT

VERSION = "9.9.9"
UV = f".tools/uv-{VERSION}/bin/uv"
#: What the script itself needs of a system.
TOOLS = ("sed", "rm", "mkdir", "cp", "chmod", "grep")
#: Says what it is when asked for its version, has some modules, and installs uv by them.
INTERPRETER = """#!/bin/sh
case "$*" in
  *platform*) echo '{version}' ;;
  *'sys, ensurepip'*) {venv} ;;
  *'sys, pip'*) {pip} ;;
  '-m venv '*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  '-m pip install --quiet --require'*) cp uv-to-install "${{0%/*}}/uv"; echo venv has uv ;;
  '-m pip install --quiet --target '*)
    mkdir -p "$6/bin"; cp uv-to-install "$6/bin/uv"; echo pip has uv ;;
  *) exit 1 ;;
esac
"""
NEEDS = "Setting up needs a network and 1.5 GB, all in this folder"
PRINTING_UV = """#!/bin/sh
echo "uv $* $UV_PYTHON_DOWNLOADS $UV_PYTHON_INSTALL_DIR"
exit {code}
"""
FETCHING_NOTHING = {"UV_PYTHON_DOWNLOADS": "never", "UV_PYTHON_INSTALL_DIR": ""}


class System:
    """A folder with the script, and a search path with nothing but what a test puts there."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name in TOOLS:
            (self.bin / name).symlink_to(shutil.which(name))
        (folder / "workflow").mkdir()
        for name in ("setup.sh", "uv.txt"):
            shutil.copy(CHECKOUT / "workflow" / name, folder / "workflow")
        shutil.copy(CHECKOUT / "pyproject.toml", folder)
        self.write("uv-to-install", PRINTING_UV.format(code=0))
        self.write(UV, PRINTING_UV.format(code=0))

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def python(self, name: str, version: str, venv: bool = True, pip: bool = True) -> str:
        has = {"venv": "exit 0" if venv else "exit 1", "pip": "exit 0" if pip else "exit 1"}
        path = name if "/" in name else f"bin/{name}"
        return str(self.write(path, INTERPRETER.format(version=version, **has)))

    def setup(self, named: str = "", code: int = 0) -> list[str]:
        """Run the script; return what it says, errors last."""
        venv = self.folder / ".venv" / "bin"
        environment = {"PATH": f"{venv}:{self.bin}", "PYTHON": named} | FETCHING_NOTHING
        command = ["/bin/sh", "workflow/setup.sh", VERSION]
        done = process(*command, code=code, cwd=self.folder, env=environment)
        return [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]


@pytest.fixture
def system(tmp_path):
    return System(tmp_path)


def taken(python):
    return f"uv sync --frozen --extra replicate --python {python} never"


@pytest.mark.parametrize("minor", [11, 14])
def test_the_python_of_the_system_is_taken(system, minor):
    python = system.python("python3", f"CPython 3.{minor}.1")
    system.python("python3.12", "CPython 3.12.7")
    assert system.setup() == [
        NEEDS,
        f"Installing the locked environment into .venv, with python3: CPython 3.{minor}.1",
        taken(python),
    ]


@pytest.mark.parametrize(
    "unfit",
    [
        *("CPython 3.10.13", "CPython 3.15.0", "CPython 2.7.18", "CPython 4.12.0"),
        *("CPython 3.14.0 free-threading build", "PyPy 3.11.9", ""),
    ],
)
def test_another_is_taken_where_that_does_not_fit(system, unfit):
    system.python("python3", unfit)
    for minor in (11, 12, 14):
        system.python(f"python3.{minor}", f"CPython 3.{minor}.0")
    assert system.setup()[-1] == taken(system.bin / "python3.12")


@pytest.mark.parametrize("version", ["CPython 3.10.13", "PyPy 3.11.9", "", None])
def test_a_named_one_that_does_not_fit_is_refused(system, version):
    system.python("python3", "CPython 3.13.0")
    if version is not None:
        system.python("mine", version)
    assert system.setup("mine", code=1) == [
        f"error: Python 3.11 to 3.14 is needed; mine is {version or 'nothing that runs'}",
        "       Name another, e.g. make setup PYTHON=/path/to/python3, or none: make setup",
    ]


def test_where_none_fits_one_is_fetched_and_said_so(system):
    system.python("python3", "CPython 3.9.2")
    system.python("python", "CPython 2.7.18")
    assert system.setup() == [
        NEEDS,
        "Python 3.11 to 3.14 is needed; found python3: CPython 3.9.2, python: CPython 2.7.18",
        "Fetching Python 3.13 into .tools/python for the locked environment in .venv",
        f"uv sync --frozen --extra replicate --python 3.13 automatic {system.folder}/.tools/python",
    ]
    fetched = system.python(".tools/python/cpython-3.13/bin/python3", "CPython 3.13.9")
    assert system.setup()[-1] == taken(Path(fetched).relative_to(system.folder))


def test_what_to_do_where_a_package_cannot_be_built(system):
    system.write(UV, PRINTING_UV.format(code=2))
    system.python("python3", "CPython 3.14.0")
    assert system.setup(code=1)[-3:] == [
        "error: on Python 3.14 one package is built, with a C compiler",
        "       Debian, Ubuntu: apt install gcc libc6-dev python3-dev",
        "       Another Python needs none: make setup PYTHON=python3.13",
    ]
    system.python("python3", "CPython 3.13.0")
    assert taken(system.bin / "python3") in system.setup(code=1)


def test_what_to_do_where_uv_cannot_be_installed(system):
    shutil.rmtree(system.folder / ".tools")
    advice = "       Debian, Ubuntu: apt install python3 python3-venv"
    said = "error: Python 3.11 to 3.14 is needed, with venv or pip; found"
    assert system.setup(code=1)[-2:] == [f"{said} none", advice]
    system.python("python3", "CPython 3.13.5", venv=False, pip=False)
    assert system.setup(code=1)[-2:] == [f"{said} python3: CPython 3.13.5", advice]


@pytest.mark.parametrize("venv", [True, False])
def test_without_a_network_one_line_says_so(system, venv):
    shutil.rmtree(system.folder / ".tools")
    python = Path(system.python("python3", "CPython 3.13.5", venv))
    failing = "echo WARNING: Retrying >&2; exit 1"
    python.write_text(re.sub("echo (venv|pip) has uv", failing, python.read_text()))
    assert system.setup(code=1) == [
        NEEDS,
        f"Installing uv {VERSION} into .tools",
        f"error: uv {VERSION} could not be fetched: is there a network? (.tools/pip.log)",
    ]
    assert "Retrying" in (system.folder / ".tools" / "pip.log").read_text()
    assert not (system.folder / UV).exists()
    system.write(UV, PRINTING_UV.format(code=2))
    assert system.setup(code=1)[-1].endswith("fetched, as said above: is there a network?")


def test_another_file_than_that_of_the_hash_is_not_taken(system):
    shutil.rmtree(system.folder / ".tools")
    python = Path(system.python("python3", "CPython 3.13.5"))
    forged = "echo THESE PACKAGES DO NOT MATCH THE HASHES >&2; exit 1"
    python.write_text(re.sub("echo venv has uv", forged, python.read_text()))
    said = f"error: what was fetched as uv {VERSION} is not what workflow/uv.txt says"
    assert system.setup(code=1)[-1] == f"{said} (.tools/pip.log)"
    assert not (system.folder / UV).exists()


def test_withdrawn_packages_are_named(system):
    system.python("python3", "CPython 3.13.0")
    said = "warning: one==1.0 is yanked (reason: wrong)"
    system.write(UV, f'#!/bin/sh\ncase "$*" in "pip compile"*) echo "{said}" >&2 ;; esac\n')
    assert system.setup()[-1] == said


def test_a_folder_that_was_moved_gets_a_new_environment(system):
    system.python("python3", "CPython 3.13.0")
    script = system.write(".venv/bin/snakemake", "#!/somewhere/else/.venv/bin/python\n")
    stamp = system.write(".venv/.setup-done", f"{system.folder}\n")
    assert system.setup()[-1] == taken(system.bin / "python3")
    assert script.exists()
    stamp.write_text("/somewhere/else\n")
    said, *_, last = system.setup()
    assert said == "This folder was /somewhere/else; .venv is made anew"
    assert last == taken(system.bin / "python3")
    assert not script.exists()


@pytest.mark.parametrize("name", ["a:b", "a*b", "a\nb"])
def test_a_folder_in_which_nothing_can_be_installed_is_refused_at_once(tmp_path, name):
    (folder := tmp_path / name).mkdir()
    shutil.copy(CHECKOUT / "pyproject.toml", folder)
    done = process("sh", CHECKOUT / "workflow" / "setup.sh", VERSION, code=1, cwd=folder)
    said = "error: Python's tools cannot work in a folder with : or * or a line break in its path: "
    assert done.stderr.startswith(f"{said}{folder}\n")


@pytest.mark.parametrize("home", ["", "/nonexistent"])
@pytest.mark.parametrize("name", ["it's (mine)", 'a"b`c\\d $e;f&g%h#i ü ~'])
def test_any_other_folder_and_home_will_do(tmp_path, name, home):
    """The stamp names the folder, and is found again; caches lie here without a home."""
    (folder := tmp_path / name).mkdir()
    system = System(folder)
    system.write(f".tools/uv-{VERSION}/bin/uv", '#!/bin/sh\necho "home $HOME"\n')
    system.python(".venv/bin/python", "CPython 3.13.0")
    for part in ("Makefile", "uv.lock"):
        shutil.copy(CHECKOUT / part, folder)
    environment = {"PATH": os.environ["PATH"], "HOME": home, "XDG_CACHE_HOME": ""}
    for said in (f"home {folder}/.cache/home", "Nothing to be done for 'setup'"):
        done = process("make", "setup", f"UV_VERSION={VERSION}", cwd=folder, env=environment)
        assert said in done.stdout
    assert (folder / ".venv/.setup-done").read_text() == f"{folder}\n"


def test_make_sets_up_again_when_it_must(system):
    for name in ("Makefile", "uv.lock"):
        shutil.copy(CHECKOUT / name, system.folder)
    interpreter = system.write(".venv/bin/python", "")
    stamp = system.write(".venv/.setup-done", f"{system.folder}\n")

    def would_run(*arguments):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHON"}
        done = process("make", "-n", "setup", *arguments, cwd=system.folder, env=environment)
        return "workflow/setup.sh" in done.stdout

    assert not would_run()
    assert would_run("PYTHON=python3")
    for before in ("/somewhere/else\n", ""):
        stamp.write_text(before)
        assert would_run()
    stamp.write_text(f"{system.folder}\n")
    interpreter.unlink()
    interpreter.symlink_to("nowhere")  # its Python was uninstalled
    assert would_run()


def test_what_is_added_later_leaves_the_environment_as_it_is():
    added = re.findall(r"\(UV\) sync .*", (CHECKOUT / "Makefile").read_text(encoding="utf-8"))
    assert ["--inexact --extra replicate --group" in line for line in added] == [True, True]
