"""The code's fingerprint, and the folder of Numba's cache that is named after it."""

import json
import os
import shutil
import subprocess
import sys
import time
import token
import tokenize

import numba
import pytest

from commands import process
from fairbandits import engine, policies
from fairbandits.data import provenance
from fairbandits.engine import protocol

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def copied(tmp_path, monkeypatch):
    package = copy_package(tmp_path)
    monkeypatch.setattr(provenance, "PACKAGE", package)
    forget()
    yield package
    forget()


def forget():
    for cached in (provenance.fingerprint, provenance.fingerprint_of_text, provenance._contents):
        cached.cache_clear()


def copy_package(folder):
    package = folder / "fairbandits"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(provenance.PACKAGE, package, ignore=ignored)
    return package


def fresh(*parts):
    forget()
    return provenance.fingerprint(*parts)


def of_text(text):
    (provenance.PACKAGE / "engine" / "one.py").write_text(text, encoding="utf-8")
    return fresh("engine/one.py")


def test_fingerprint_changes_with_every_file(copied):
    files = [path for part in provenance.COMPILED for path in (copied / part).rglob("*.py")]
    assert len(files) > 10
    seen = {fresh(*provenance.COMPILED)}
    for path in files:
        whole = path.read_text(encoding="utf-8")
        path.write_text(whole + "A\n", encoding="utf-8")
        seen.add(fresh(*provenance.COMPILED))
        path.write_text(whole, encoding="utf-8")
    assert len(seen) == 1 + len(files)


TEXT = '''"""A module."""

import math  # a library


class Thing:
    """A thing."""

    #: Its size.
    size = 1

    async def method(self):
        "Return ä."; return "ä"


def f(a, b=2):
    """Return a text.

    # not a comment
    """
    # a comment
    if a:
        return f"{a!r:>{b}} {{}} {'#'} {f'{b}'}" "?"
    g = [
        1,  # the first
    ]
    return f"""{a
        + b}
    """ + g
'''
#: The docstrings and comments of it left out, and set otherwise.
BARE = '''import math
class Thing:
  size = 1
  async def method(self):
   ("Other "
    "words."); return "ä"
def f( a,b = 2 ):

    if a:
# at another place
            return f"{a!r:>{b}} {{}} {'#'} {f'{b}'}" \\
                "?"
    g = [1,
    # the last
    ]
    return f"""{a
        + b}
    """ + g
'''


def test_comments_docstrings_and_blank_lines_do_not_count_on_any_python(copied):
    assert of_text(TEXT) == of_text(BARE) == "43211b211015558f"


def test_a_formatted_string_counts_whole_however_python_cuts_it(monkeypatch):
    """By a list of the tokens of Python 3.12, on every Python."""
    text = "a = f'''{b:{f'{c}'}}\n {d}''' 1\n"
    whole = [*provenance.tokens(text, [])]
    assert "STRING f'''{b:{f'{c}'}}\n {d}'''\0" in whole
    begin, end = 901, 902
    monkeypatch.setitem(tokenize.tok_name, begin, "FSTRING_START")
    monkeypatch.setitem(tokenize.tok_name, end, "FSTRING_END")
    cut = [
        *((token.NAME, "a", 1, 0), (token.OP, "=", 1, 2), (begin, "f'''", 1, 4)),
        *((token.OP, "{", 1, 8), (token.NAME, "b", 1, 9), (token.OP, ":", 1, 10)),
        *((token.OP, "{", 1, 11), (begin, "f'", 1, 12), (token.OP, "{", 1, 14)),
        *((token.NAME, "c", 1, 15), (token.OP, "}", 1, 16), (end, "'", 1, 17)),
        *((token.OP, "}", 1, 18), (token.OP, "}", 1, 19), (token.OP, "{", 2, 1)),
        *((token.NAME, "d", 2, 2), (token.OP, "}", 2, 3), (end, "'''", 2, 4)),
        *((token.NUMBER, "1", 2, 8), (token.NEWLINE, "\n", 2, 9), (token.ENDMARKER, "", 3, 0)),
    ]
    tokens = [
        tokenize.TokenInfo(kind, word, (row, at), (row, at + len(word)), "")
        for kind, word, row, at in cut
    ]
    monkeypatch.setattr(tokenize, "generate_tokens", lambda lines: tokens)
    assert [*provenance.tokens(text, [])] == whole


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("size = 1", "size = 2"),
        ("b=2", "b=02.0"),
        ('"?"', "'?'"),
        ("{'#'}", "{'# '}"),
        ("        + b}", "       + b}"),
        ("    g = [", "    'no docstring'\n    g = ["),
        ("    g = [", "        g = ["),
        ("    # a comment\n    if a", "    f'no docstring'\n    if a"),
        ("    #: Its size.\n    size = 1", "    size = 1\n    'no docstring'"),
        ('"""A module."""', '1\n"""A module."""'),
        ('"""A module."""', 'b"""A module."""'),
        ("1,  # the first", "1  # the first"),
    ],
)
def test_a_token_counts(copied, old, new):
    assert TEXT.count(old) == 1
    assert of_text(TEXT) != of_text(TEXT.replace(old, new))


def test_fingerprint_changes_with_names_and_borders(copied):
    seen, a, b = set(), "a = 1\n", "b = 2\n"
    for files in (
        {"one": a, "two": b},
        {"onetwo": a, "two": b},
        {"one": "", "two": a + b},
        {"two": a + b},
    ):
        paths = [copied / "engine" / f"{name}.py" for name in files]
        for path, text in zip(paths, files.values(), strict=True):
            path.write_text(text)
        seen.add(fresh("engine"))
        for path in paths:
            path.unlink()
    assert len(seen) == 4


def test_fingerprint_of_nothing_is_refused(copied):
    with pytest.raises(FileNotFoundError, match=r"no source files below .*none"):
        fresh("engine", "none")


def test_compiled_code_must_be_inside_the_fingerprinted_folders():
    class State(tuple):
        def choose(state, t, coin):
            return 0

    for module in (__name__, "fairbanditsplus.policies", "fairbandits.settings", "fairbandits"):
        State.__module__ = module
        assert not protocol.is_implemented(State, "choose")
    State.__module__ = "fairbandits.policies.mine"
    assert protocol.is_implemented(State, "choose")
    assert not protocol.is_implemented(State, "learn")
    assert protocol.choose(State(), 1, 0) == 0


def test_methods_of_states_are_inside_the_fingerprinted_folders():
    assert all(policies.POLICIES[name] for name in policies.POLICIES)  # imported on first use
    folders = tuple(f"fairbandits.{part}." for part in provenance.COMPILED)
    states = [kind for kind in tuple.__subclasses__() if protocol.is_implemented(kind)]
    methods = (getattr(state, verb, None) for state in states for verb in protocol.VERBS)
    modules = {method.__module__ for method in methods if method}
    modules.discard("fairbandits.library.compiling")  # a user's policy, which no experiment has
    assert modules
    assert {module for module in modules if not module.startswith(folders)} == set()


def test_cache_folder_carries_the_fingerprint():
    name = f"numba-{numba.__version__}-{provenance.fingerprint(*provenance.COMPILED)}"
    assert os.path.basename(numba.config.CACHE_DIR) == name
    assert os.path.isdir(numba.config.CACHE_DIR)


def test_without_a_cache_that_can_be_written_a_process_has_its_own(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FAIRBANDITS_CACHE_DIR", str(tmp_path / "file"))
    root = provenance.cache_root()
    assert root.is_dir()
    assert root != tmp_path / "file"
    assert provenance.cache_root() == root
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("The cache cannot be used (")
    assert str(tmp_path / "file") in line


def test_a_user_without_a_home_has_a_cache_too(monkeypatch, capsys):
    for name in ("FAIRBANDITS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as where nobody is known
    assert provenance.cache_root().is_dir()
    assert "(there is no home folder)" in capsys.readouterr().err


def test_old_cache_folders_are_dropped(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", numba.config.CACHE_DIR)
    monkeypatch.setenv("FAIRBANDITS_CACHE_DIR", str(tmp_path))
    now = time.time()
    for age in range(1, 8):
        old = tmp_path / f"numba-0.0-{age}"
        (old / "inside").mkdir(parents=True)
        os.utime(old, (now - 60 * age, now - 60 * age))
    (tmp_path / "other").mkdir()
    engine._set_cache_folder(keep=4)
    ours = os.path.basename(numba.config.CACHE_DIR)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {ours, "numba-0.0-1", "numba-0.0-2", "numba-0.0-3", "other"}


SCRIPT = """
import json, sys
from fairbandits.data import provenance
if len(sys.argv) > 1:
    provenance.fingerprint = lambda *parts: sys.argv[1]
from fairbandits import UCB1, Instance, run
from fairbandits.engine.loops import bandit_rounds
result = run(UCB1(), Instance((0.5, 0.6)), 200, 2, checkpoints=[50, 200], compiled=True)
stats = bandit_rounds.stats
print(json.dumps({
    "file": provenance.__file__,
    "plays": result.plays.tolist(),
    "rewards": result.rewards.tolist(),
    "hits": sum(stats.cache_hits.values()),
    "misses": sum(stats.cache_misses.values()),
}))
"""


def in_another_process(folder, *arguments):
    """Run the script on the package in `folder`, with a Numba cache beside it."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["FAIRBANDITS_CACHE_DIR"] = str(folder / "cache")
    done = process(sys.executable, "-c", SCRIPT, *arguments, env=environment)
    report = json.loads(done.stdout)
    assert report.pop("file").startswith(str(folder))
    return report


@compiled_only
def test_a_changed_callee_is_compiled_anew(tmp_path):
    package = copy_package(tmp_path)
    first = in_another_process(tmp_path)
    assert (first["hits"], first["misses"]) == (0, 1)
    second = in_another_process(tmp_path)
    assert (second["hits"], second["misses"]) == (1, 0)
    assert second["rewards"] == first["rewards"]

    (cache,) = (tmp_path / "cache").glob("numba-*")
    laws = package / "engine" / "laws.py"
    text = laws.read_text(encoding="utf-8")
    edited = text.replace("where(unit(w) < first, 1.0,", "where(unit(w) < first, 2.0,")
    assert edited != text
    laws.write_text(edited, encoding="utf-8")
    third = in_another_process(tmp_path)
    assert (third["hits"], third["misses"]) == (0, 1)
    assert all(reward % 2 == 0 for reward in third["rewards"][0][0])
    assert third["rewards"] != first["rewards"]

    # the same folder for both, as Numba by itself would have it, brings the old numbers back
    stale = in_another_process(tmp_path, cache.name.rpartition("-")[2])
    assert (stale["hits"], stale["misses"]) == (1, 0)
    assert stale["rewards"] == first["rewards"]


def test_why_no_commit_is_known_is_said(tmp_path, monkeypatch, capsys):
    """Git is told that another user owns the folder, or cannot be found."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(provenance, "CHECKOUT", tmp_path)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    way = f"`git config --global --add safe.directory {tmp_path}` allows it"
    for why in (f"git refuses {tmp_path}, which another user owns; {way}", "git is not installed"):
        provenance.git_commit.cache_clear()
        assert provenance.git_commit() == "unknown"
        assert capsys.readouterr().err == f"Files will name no commit: {why}\n"
        monkeypatch.setenv("PATH", str(tmp_path))
    provenance.git_commit.cache_clear()
