"""Commands as a shell calls them: in this process, in another, or in a copy of the project."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from click.testing import CliRunner

from fairbandits.cli.main import main
from fairbandits.settings.schemas import ROOT


def invoke(*words):
    """Return what came of a command."""
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, [str(word) for word in words])


def said(*words):
    """Return what a command says that must succeed."""
    result = invoke(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def configured(folder, **folders):
    """Return the options of the project's configuration with other folders."""
    file = folder / "mine.yaml"
    file.write_text(json.dumps({"pathvars": {name: str(path) for name, path in folders.items()}}))
    return ["--config", ROOT / "config" / "config.yaml", "--config", file]


def refused(*words, code=1):
    """Run a command that must fail without a traceback; return the line that says why.

    A wrong use (2) shows how it is used before.
    """
    result = invoke(*words)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert isinstance(result.exception, SystemExit)
    *others, line = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert code == 2 or not others, result.stderr
    return line.removeprefix("Error: ")


def process(*words, code=0, **how):
    """Run a program in a process of its own, which must end with a code; return the process."""
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **how)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def wait_for(condition, seconds=600):
    """Wait until a condition holds; return what it gave."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.05)
    return found


class Copy:
    """A copy of some files and folders of the project, and programs that run its code."""

    def __init__(self, folder: Path, names):
        self.folder = folder
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, folder / name)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = os.environ | {"PATH": path, "PYTHONPATH": str(folder / "src")}

    def python(self, *words, code=0):
        """Run Python; return what it says, of an error the error."""
        environment = self.environment | {"PYTHONDONTWRITEBYTECODE": "1"}
        done = process(sys.executable, *words, code=code, cwd=self.folder, env=environment)
        return done.stderr if code else done.stdout

    def command(self, *words, code=0):
        """Run a command; return what it says, of an error the error."""
        return self.python("-m", "fairbandits.cli.main", *words, code=code)

    def change(self, file, old, new):
        """Replace a text that a file has once."""
        path = self.folder / file
        before = path.read_text(encoding="utf-8")
        assert before.count(old) == 1, (file, old)
        path.write_text(before.replace(old, new), encoding="utf-8")
